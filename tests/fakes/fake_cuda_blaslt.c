// SPDX-License-Identifier: Apache-2.0
// A cuBLASLt that computes on the host, and rounds where the real one does on an H100: parts of a sum by its reduction
// scheme, and a product before its bias is added. It refuses what the manual does: layouts that do not fit, pointers
// that are less aligned than was said, too little workspace, a stream of another context; and it counts that as wrong.
// Its algorithm is the one whose sums are the least exact of those that are let.
#include "fake_cuda_math.h"

#include "ops/cublaslt_api.h"

#include <stdlib.h>
#include <string.h>

#define DECLARE_LT(result, name, parameters) SEEN result cublasLt##name parameters;
SLRI_CUBLASLT_FUNCTIONS(DECLARE_LT)

#define WORKSPACE 1024 // bytes that its algorithms need

enum { LAYOUT_TYPE = 16, LAYOUT_ROWS, LAYOUT_COLUMNS, LAYOUT_STRIDE }; // behind the attributes
enum { PRODUCT_COMPUTE = 16, PRODUCT_SCALE };

size_t cublasLtGetVersion(void)
{
    return 130100;
}

int cublasLtCreate(void **handle)
{
    LOCKED(math_make("cublasLtCreate", LT_HANDLE, handle));
    return error;
}

int cublasLtDestroy(void *handle)
{
    LOCKED(math_drop("cublasLtDestroy", LT_HANDLE, handle));
    return error;
}

int cublasLtMatmulDescCreate(void **desc, int compute, int scale)
{
    LOCKED(math_make("cublasLtMatmulDescCreate", LT_PRODUCT, desc));
    if (error == 0) {
        struct math_object *made = *desc;
        made->value[PRODUCT_COMPUTE] = compute, made->value[PRODUCT_SCALE] = scale;
        made->value[SLRI_LT_EPILOGUE] = SLRI_LT_EPILOGUE_NONE;
    }
    return error;
}

int cublasLtMatmulDescDestroy(void *desc)
{
    LOCKED(math_drop("cublasLtMatmulDescDestroy", LT_PRODUCT, desc));
    return error;
}

// Where all is well, the attribute's bytes, which must be as many as it has.
static int32_t set(const char *name, void *object, enum math_kind kind, int attribute, const void *value, size_t bytes,
                   size_t wanted)
{
    int32_t error = next_call(name);
    if (error != 0)
        return error;
    if (!math_is(object, kind) || attribute < 0 || attribute > 15 || bytes != wanted)
        return refuse(name, INVALID_BY_LT);
    struct math_object *of = object;
    of->value[attribute] = 0;
    memcpy(&of->value[attribute], value, bytes);
    return 0;
}

int cublasLtMatmulDescSetAttribute(void *desc, int attribute, const void *value, size_t bytes)
{
    LOCKED(set("cublasLtMatmulDescSetAttribute", desc, LT_PRODUCT, attribute, value, bytes,
               attribute == SLRI_LT_BIAS ? 8 : 4));
    return error;
}

int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns, int64_t stride)
{
    LOCKED(math_make("cublasLtMatrixLayoutCreate", LT_LAYOUT, layout));
    if (error == 0) {
        struct math_object *made = *layout;
        made->value[LAYOUT_TYPE] = type, made->value[LAYOUT_STRIDE] = stride;
        made->value[LAYOUT_ROWS] = (int64_t)rows, made->value[LAYOUT_COLUMNS] = (int64_t)columns;
        made->value[SLRI_LT_BATCH] = 1;
    }
    return error;
}

int cublasLtMatrixLayoutDestroy(void *layout)
{
    LOCKED(math_drop("cublasLtMatrixLayoutDestroy", LT_LAYOUT, layout));
    return error;
}

int cublasLtMatrixLayoutSetAttribute(void *layout, int attribute, const void *value, size_t bytes)
{
    LOCKED(set("cublasLtMatrixLayoutSetAttribute", layout, LT_LAYOUT, attribute, value, bytes,
               attribute == SLRI_LT_BATCH ? 4 : 8));
    return error;
}

int cublasLtMatmulPreferenceCreate(void **preference)
{
    LOCKED(math_make("cublasLtMatmulPreferenceCreate", LT_PREFERENCE, preference));
    if (error == 0) {
        struct math_object *made = *preference;
        made->value[SLRI_LT_REDUCTIONS] =
            SLRI_LT_REDUCTION_IN_PLACE | SLRI_LT_REDUCTION_IN_FLOAT | SLRI_LT_REDUCTION_OF_RESULTS;
        for (int i = SLRI_LT_ALIGNMENT_A; i <= SLRI_LT_ALIGNMENT_D; ++i)
            made->value[i] = 256;
    }
    return error;
}

int cublasLtMatmulPreferenceDestroy(void *preference)
{
    LOCKED(math_drop("cublasLtMatmulPreferenceDestroy", LT_PREFERENCE, preference));
    return error;
}

int cublasLtMatmulPreferenceSetAttribute(void *preference, int attribute, const void *value, size_t bytes)
{
    LOCKED(set("cublasLtMatmulPreferenceSetAttribute", preference, LT_PREFERENCE, attribute, value, bytes,
               attribute == SLRI_LT_MOST_WORKSPACE ? 8 : 4));
    return error;
}

// ---- a product -----------------------------------------------------------------------------------------------------

// What an algorithm is: what it was chosen for.
enum { ALGORITHM_MARK, ALGORITHM_ALIGNMENTS, ALGORITHM_REDUCTION, ALGORITHM_WORKSPACE };
#define MARK_LT 0x4c54u

static int64_t rows_of(const struct math_object *layout, int64_t operation)
{
    return layout->value[operation == SLRI_LT_OPERATION_T ? LAYOUT_COLUMNS : LAYOUT_ROWS];
}

static int64_t columns_of(const struct math_object *layout, int64_t operation)
{
    return layout->value[operation == SLRI_LT_OPERATION_T ? LAYOUT_ROWS : LAYOUT_COLUMNS];
}

static bool is_layout(const struct math_object *layout, int64_t type, int64_t batch)
{
    return math_is(layout, LT_LAYOUT) && layout->value[LAYOUT_TYPE] == type && layout->value[SLRI_LT_BATCH] == batch &&
           layout->value[LAYOUT_STRIDE] >= layout->value[LAYOUT_ROWS];
}

// As the manual says that they must.
static bool fits(const struct math_object *p, const struct math_object *a, const struct math_object *b,
                 const struct math_object *d)
{
    if (!math_is(p, LT_PRODUCT) || !math_is(d, LT_LAYOUT) || p->value[PRODUCT_COMPUTE] != SLRI_LT_COMPUTE_32F ||
        p->value[PRODUCT_SCALE] != 0)
        return false;
    int64_t type = d->value[LAYOUT_TYPE], batch = d->value[SLRI_LT_BATCH];
    int64_t ta = p->value[SLRI_LT_TRANSPOSE_A], tb = p->value[SLRI_LT_TRANSPOSE_B];
    return is_layout(d, type, batch) && is_layout(a, type, batch) && is_layout(b, type, batch) &&
           rows_of(a, ta) == d->value[LAYOUT_ROWS] && columns_of(b, tb) == d->value[LAYOUT_COLUMNS] &&
           columns_of(a, ta) == rows_of(b, tb);
}

static int32_t choose(void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference, int most,
                      struct slri_cublaslt_choice *choice, int *count)
{
    static const char name[] = "cublasLtMatmulAlgoGetHeuristic";
    int32_t error = next_in_context(name);
    *count = 0;
    if (error != 0)
        return error;
    if (!math_is(handle, LT_HANDLE) || !math_is(preference, LT_PREFERENCE) || most < 1 || c != d ||
        !fits(desc, a, b, d))
        return refuse(name, INVALID_BY_LT);
    const struct math_object *by = preference;
    if (by->value[SLRI_LT_MOST_WORKSPACE] < WORKSPACE)
        return NOT_SUPPORTED_BY_LT;
    int64_t let = by->value[SLRI_LT_REDUCTIONS];
    *choice = (struct slri_cublaslt_choice){.workspace_bytes = WORKSPACE};
    uint64_t *data = choice->algorithm.data;
    data[ALGORITHM_MARK] = MARK_LT;
    for (int i = SLRI_LT_ALIGNMENT_A; i <= SLRI_LT_ALIGNMENT_D; ++i)
        data[ALGORITHM_ALIGNMENTS] |= (uint64_t)by->value[i] << (i - SLRI_LT_ALIGNMENT_A) * 16;
    data[ALGORITHM_REDUCTION] = let & SLRI_LT_REDUCTION_IN_PLACE     ? SLRI_LT_REDUCTION_IN_PLACE
                                : let & SLRI_LT_REDUCTION_OF_RESULTS ? SLRI_LT_REDUCTION_OF_RESULTS
                                                                     : SLRI_LT_REDUCTION_IN_FLOAT;
    data[ALGORITHM_WORKSPACE] = WORKSPACE;
    *count = 1;
    return 0;
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference,
                                   int most, struct slri_cublaslt_choice *choice, int *count)
{
    LOCKED(choose(handle, desc, a, b, c, d, preference, most, choice, count));
    return error;
}

int cublasLtMatmulAlgoConfigGetAttribute(const struct slri_cublaslt_algorithm *algorithm, int attribute, void *value,
                                         size_t bytes, size_t *written)
{
    LOCKED(next_call("cublasLtMatmulAlgoConfigGetAttribute"));
    uint32_t reduction = (uint32_t)algorithm->data[ALGORITHM_REDUCTION];
    if (error == 0 && (attribute != SLRI_LT_REDUCTION || bytes != sizeof reduction))
        return INVALID_BY_LT;
    memcpy(value, &reduction, bytes);
    *written = bytes;
    return error;
}

struct lt_operands {
    const struct math_object *product, *layout[4]; // a, b, c, d
    const void *at[3];
    void *d;
    double alpha, beta;
    uint64_t reduction; // of two parts of each sum
};

static size_t matrices_of(const struct math_object *layout)
{
    return layout->value[SLRI_LT_BATCH_STRIDE] == 0 ? 1 : (size_t)layout->value[SLRI_LT_BATCH];
}

static bool are_aligned(const struct lt_operands *o, const struct slri_cublaslt_algorithm *algorithm)
{
    const void *const at[4] = {o->at[0], o->at[1], o->at[2], o->d};
    for (int i = 0; i < 4; ++i)
        if ((uintptr_t)at[i] % (algorithm->data[ALGORITHM_ALIGNMENTS] >> i * 16 & 0xFFFF) != 0)
            return false;
    return true;
}

static bool are_reached(const struct lt_operands *o, slri_cu_stream stream)
{
    const void *const at[4] = {o->at[0], o->at[1], o->at[2], o->d};
    const struct math_object *d = o->layout[3];
    for (int i = 0; i < 4; ++i)
        if (!math_reaches(at[i], d->value[LAYOUT_TYPE],
                          matrices_of(o->layout[i]) *
                              (size_t)(o->layout[i]->value[LAYOUT_STRIDE] * o->layout[i]->value[LAYOUT_COLUMNS]),
                          stream))
            return false;
    bool has_bias = (o->product->value[SLRI_LT_EPILOGUE] & SLRI_LT_EPILOGUE_BIAS) != 0;
    return !has_bias || math_reaches((const void *)(uintptr_t)o->product->value[SLRI_LT_BIAS], d->value[LAYOUT_TYPE],
                                     (size_t)d->value[LAYOUT_ROWS], stream);
}

static int32_t check_product(void *handle, const struct lt_operands *o, const struct slri_cublaslt_algorithm *algorithm,
                             const void *workspace, size_t bytes, slri_cu_stream stream)
{
    static const char name[] = "cublasLtMatmul";
    int32_t error = next_command(name, stream);
    if (error != 0)
        return error;
    if (!math_is(handle, LT_HANDLE) || !fits(o->product, o->layout[0], o->layout[1], o->layout[3]) ||
        o->layout[2] != o->layout[3] || algorithm->data[ALGORITHM_MARK] != MARK_LT || !are_aligned(o, algorithm) ||
        !are_reached(o, stream) || bytes < algorithm->data[ALGORITHM_WORKSPACE] || (uintptr_t)workspace % 256 != 0 ||
        !math_reaches(workspace, 0, bytes / 4, stream))
        return refuse(name, INVALID_BY_LT);
    return 0;
}

static double element_of(const struct lt_operands *o, int which, size_t matrix, int64_t row, int64_t column,
                         int64_t operation)
{
    const struct math_object *layout = o->layout[which];
    if (operation == SLRI_LT_OPERATION_T) {
        int64_t kept = row;
        row = column, column = kept;
    }
    return math_read(
        o->at[which], layout->value[LAYOUT_TYPE],
        (size_t)((int64_t)matrix * layout->value[SLRI_LT_BATCH_STRIDE] + column * layout->value[LAYOUT_STRIDE] + row));
}

static void multiply_one(const struct lt_operands *o, size_t matrix, int64_t row, int64_t column)
{
    const struct math_object *p = o->product, *d = o->layout[3];
    int64_t ta = p->value[SLRI_LT_TRANSPOSE_A], tb = p->value[SLRI_LT_TRANSPOSE_B];
    int64_t epilogue = p->value[SLRI_LT_EPILOGUE], type = d->value[LAYOUT_TYPE];
    int64_t depth = columns_of(o->layout[0], ta), parts = o->reduction == SLRI_LT_REDUCTION_IN_FLOAT ? 0 : type;
    double part[2] = {0};
    for (int64_t k = 0; k < depth; ++k)
        part[k < depth / 2] += element_of(o, 0, matrix, row, k, ta) * element_of(o, 1, matrix, k, column, tb);
    double sum = o->alpha * math_rounded(parts, part[0]) + o->alpha * math_rounded(parts, part[1]);
    if (o->beta != 0)
        sum += o->beta * element_of(o, 2, matrix, row, column, SLRI_LT_OPERATION_N);
    if (epilogue & SLRI_LT_EPILOGUE_BIAS)
        sum = math_rounded(type, sum) + math_read((const void *)(uintptr_t)p->value[SLRI_LT_BIAS], type, (size_t)row);
    if ((epilogue & SLRI_LT_EPILOGUE_RELU) && sum < 0)
        sum = 0;
    math_write(o->d, type,
               (size_t)((int64_t)matrix * d->value[SLRI_LT_BATCH_STRIDE] + column * d->value[LAYOUT_STRIDE] + row),
               sum);
}

int cublasLtMatmul(void *handle, void *desc, const void *alpha, const void *a, void *a_layout, const void *b,
                   void *b_layout, const void *beta, const void *c, void *c_layout, void *d, void *d_layout,
                   const struct slri_cublaslt_algorithm *algorithm, void *workspace, size_t workspace_bytes,
                   void *stream)
{
    float scale[2];
    memcpy(&scale[0], alpha, sizeof *scale);
    memcpy(&scale[1], beta, sizeof *scale);
    const struct lt_operands o = {desc,
                                  {a_layout, b_layout, c_layout, d_layout},
                                  {a, b, c},
                                  d,
                                  (double)scale[0],
                                  (double)scale[1],
                                  algorithm->data[ALGORITHM_REDUCTION]};
    LOCKED(check_product(handle, &o, algorithm, workspace, workspace_bytes, (slri_cu_stream)stream));
    if (error != 0)
        return error;
    const struct math_object *layout = d_layout;
    memset(workspace, 0xA5, workspace_bytes); // which is nobody else's now
    for (size_t z = 0; z < (size_t)layout->value[SLRI_LT_BATCH]; ++z)
        for (int64_t column = 0; column < layout->value[LAYOUT_COLUMNS]; ++column)
            for (int64_t row = 0; row < layout->value[LAYOUT_ROWS]; ++row)
                multiply_one(&o, z, row, column);
    return 0;
}
