// SPDX-License-Identifier: Apache-2.0
// The library counts down columns, and a row of ours is a column of its: it multiplies the transposed matrices, whose
// product is ours transposed. So its A is our b, and its bias, a number a row, is ours, a number a column.
#include "ops/cublaslt.h"
#include "ops/provider.h"
#include "ops/submit.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

static struct {
#define POINTER(type, name, parameters) type(*name) parameters;
    SLRI_CUBLASLT_FUNCTIONS(POINTER)
#undef POINTER
} lt;

static char path[256], version[64];

static slr_status start_cublaslt(slri_dl *library, const char *found)
{
    slri_text missing = SLRI_TEXT_INIT;
#define FIND(type, name, parameters) lt.name = (type(*) parameters)slri_dl_find(library, "cublasLt" #name, &missing);
    SLRI_CUBLASLT_FUNCTIONS(FIND)
#undef FIND
    SLRI_TRY(slri_dl_all_found(SLR_UNSUPPORTED, found, "cuBLASLt", &missing));
    unsigned number = (unsigned)lt.GetVersion();
    snprintf(path, sizeof path, "%s", found);
    snprintf(version, sizeof version, "cuBLASLt %u.%u.%u", number / 10000, number / 100 % 100, number % 100);
    return SLR_OK;
}

const slr_provider *slri_cublaslt_describe(void)
{
    static struct slri_ops_library library = {
        .vendor = {.variable = "SLIPRING_CUBLASLT_LIB",
                   .places = {"libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so"},
                   .hint = "it comes with the CUDA toolkit, 12 or later",
                   .absent = SLR_UNSUPPORTED,
                   .start = start_cublaslt,
                   .lock = SLRI_MUTEX_INIT},
        .told = {"cublaslt", path, version, "it was not looked for"}};
    return slri_ops_library_describe(&library);
}

// ---- plans ---------------------------------------------------------------------------------------------------------

enum { A, B, C, MATRICES };

// All that the library's choice of an algorithm depends on.
struct lt_key {
    uint32_t dtype, m, n, k, batch, a_shared, b_shared, transpose_a, transpose_b;
    uint32_t epilogue, alignment[MATRICES], bias_alignment;
    uint64_t workspace_bytes; // at most
    uint32_t deterministic, zero;
};

struct slri_cublaslt_plan {
    struct slri_nvidia_plan plan;
    struct lt_key key;
    void *product, *layout[MATRICES];
    struct slri_cublaslt_choice choice;
    bool is_deterministic;
};

// What a buffer's address is a multiple of.
static uint32_t alignment_of(const slr_buffer *buffer)
{
    uintptr_t at = (uintptr_t)slri_library_at(buffer) | 256;
    return (uint32_t)(at & -at);
}

static bool is_fused(const struct slri_product *p)
{
    return !p->pre && p->activation == (int)SLR_RELU;
}

static struct lt_key key_of(const slr_ops *ops, const struct slri_product *p)
{
    return (struct lt_key){.dtype = (uint32_t)p->dtype,
                           .m = p->m,
                           .n = p->n,
                           .k = p->k,
                           .batch = p->batch,
                           .a_shared = p->a_count == 1,
                           .b_shared = p->b_count == 1,
                           .transpose_a = p->transpose_a,
                           .transpose_b = p->transpose_b,
                           .epilogue =
                               (p->bias ? SLRI_LT_EPILOGUE_BIAS : 0) | (is_fused(p) ? SLRI_LT_EPILOGUE_RELU : 0),
                           .alignment = {alignment_of(p->a), alignment_of(p->b), alignment_of(p->c)},
                           .bias_alignment = p->bias ? alignment_of(p->bias) : 0,
                           .workspace_bytes = ops->desc.workspace_bytes,
                           .deterministic = ops->desc.deterministic != 0};
}

// Notes what failed.
static bool failed(struct slri_cublaslt_plan *plan, const char *call, int error)
{
    if (error != 0)
        snprintf(plan->plan.why_not, sizeof plan->plan.why_not, "cublasLt%s gives %d", call, error);
    return error != 0;
}
#define LT_TRY(call, ...)                                                                                              \
    if (failed(plan, #call, lt.call(__VA_ARGS__)))                                                                     \
    return false

static bool make_layout(struct slri_cublaslt_plan *plan, int which, uint32_t rows, uint32_t columns, bool is_shared)
{
    int32_t batch = (int32_t)plan->key.batch;
    int64_t stride = is_shared ? 0 : (int64_t)rows * columns;
    LT_TRY(MatrixLayoutCreate, &plan->layout[which], slri_cuda_type((slr_scalar)plan->key.dtype), rows, columns, rows);
    LT_TRY(MatrixLayoutSetAttribute, plan->layout[which], SLRI_LT_BATCH, &batch, sizeof batch);
    LT_TRY(MatrixLayoutSetAttribute, plan->layout[which], SLRI_LT_BATCH_STRIDE, &stride, sizeof stride);
    return true;
}

static bool make_product(struct slri_cublaslt_plan *plan)
{
    const struct lt_key *key = &plan->key;
    int32_t a = key->transpose_a ? SLRI_LT_OPERATION_T : SLRI_LT_OPERATION_N;
    int32_t b = key->transpose_b ? SLRI_LT_OPERATION_T : SLRI_LT_OPERATION_N;
    uint32_t epilogue = key->epilogue ? key->epilogue : SLRI_LT_EPILOGUE_NONE;
    LT_TRY(MatmulDescCreate, &plan->product, SLRI_LT_COMPUTE_32F, slri_cuda_type(SLR_F32));
    LT_TRY(MatmulDescSetAttribute, plan->product, SLRI_LT_TRANSPOSE_A, &b, sizeof b);
    LT_TRY(MatmulDescSetAttribute, plan->product, SLRI_LT_TRANSPOSE_B, &a, sizeof a);
    LT_TRY(MatmulDescSetAttribute, plan->product, SLRI_LT_EPILOGUE, &epilogue, sizeof epilogue);
    if (key->bias_alignment != 0) { // nothing is read there: it is how the library learns of an alignment
        const void *bias = (const void *)(uintptr_t)key->bias_alignment;
        LT_TRY(MatmulDescSetAttribute, plan->product, SLRI_LT_BIAS, &bias, sizeof bias);
    }
    return make_layout(plan, A, key->transpose_a ? key->m : key->k, key->transpose_a ? key->k : key->m,
                       key->a_shared != 0) &&
           make_layout(plan, B, key->transpose_b ? key->k : key->n, key->transpose_b ? key->n : key->k,
                       key->b_shared != 0) &&
           make_layout(plan, C, key->n, key->m, false);
}

static bool set_preference(struct slri_cublaslt_plan *plan, void *preference)
{
    const struct lt_key *key = &plan->key;
    // Parts of a sum stay floats. Two in place come in any order.
    uint32_t in_place = key->dtype == SLR_F32 && !key->deterministic ? SLRI_LT_REDUCTION_IN_PLACE : 0;
    uint32_t reductions = SLRI_LT_REDUCTION_IN_FLOAT | in_place;
    const uint32_t *at = key->alignment;
    LT_TRY(MatmulPreferenceSetAttribute, preference, SLRI_LT_MOST_WORKSPACE, &key->workspace_bytes, 8);
    LT_TRY(MatmulPreferenceSetAttribute, preference, SLRI_LT_REDUCTIONS, &reductions, sizeof reductions);
    LT_TRY(MatmulPreferenceSetAttribute, preference, SLRI_LT_ALIGNMENT_A, &at[B], sizeof *at);
    LT_TRY(MatmulPreferenceSetAttribute, preference, SLRI_LT_ALIGNMENT_B, &at[A], sizeof *at);
    LT_TRY(MatmulPreferenceSetAttribute, preference, SLRI_LT_ALIGNMENT_C, &at[C], sizeof *at);
    LT_TRY(MatmulPreferenceSetAttribute, preference, SLRI_LT_ALIGNMENT_D, &at[C], sizeof *at);
    return true;
}

static bool choose_algorithm(void *handle, struct slri_cublaslt_plan *plan, void *preference)
{
    int count = 0;
    uint32_t reduction = 0;
    size_t written;
    LT_TRY(MatmulAlgoGetHeuristic, handle, plan->product, plan->layout[B], plan->layout[A], plan->layout[C],
           plan->layout[C], preference, 1, &plan->choice, &count);
    if (count < 1 || plan->choice.state != 0) {
        snprintf(plan->plan.why_not, sizeof plan->plan.why_not, "cuBLASLt has no algorithm for this shape");
        return false;
    }
    LT_TRY(MatmulAlgoConfigGetAttribute, &plan->choice.algorithm, SLRI_LT_REDUCTION, &reduction, sizeof reduction,
           &written);
    plan->is_deterministic = reduction != SLRI_LT_REDUCTION_IN_PLACE;
    return true;
}

static bool fill_lt_plan(void *handle, struct slri_nvidia_plan *begin)
{
    struct slri_cublaslt_plan *plan = (struct slri_cublaslt_plan *)begin;
    void *preference = NULL;
    if (!make_product(plan))
        return false;
    LT_TRY(MatmulPreferenceCreate, &preference);
    bool made = set_preference(plan, preference) && choose_algorithm(handle, plan, preference);
    lt.MatmulPreferenceDestroy(preference);
    return made;
}

static void empty_lt_plan(struct slri_nvidia_plan *begin)
{
    struct slri_cublaslt_plan *plan = (struct slri_cublaslt_plan *)begin;
    for (int i = 0; i < MATRICES; ++i)
        if (plan->layout[i])
            lt.MatrixLayoutDestroy(plan->layout[i]);
    if (plan->product)
        lt.MatmulDescDestroy(plan->product);
    plan->product = NULL;
    memset(plan->layout, 0, sizeof plan->layout);
}

static int create_lt(void **handle)
{
    return lt.Create(handle);
}

static void destroy_lt(void *handle)
{
    lt.Destroy(handle);
}

static const struct slri_nvidia_library lt_library = {.kind = SLRI_CUBLASLT,
                                                      .plan_bytes = sizeof(struct slri_cublaslt_plan),
                                                      .key_at = offsetof(struct slri_cublaslt_plan, key),
                                                      .key_bytes = sizeof(struct lt_key),
                                                      .create = create_lt,
                                                      .destroy = destroy_lt,
                                                      .fill = fill_lt_plan,
                                                      .empty = empty_lt_plan};

static const char *why_no_product(const slr_ops *ops, const struct slri_product *p)
{
    if (strcmp(ops->device->backend->name, "cuda") != 0)
        return "this device is no cuda";
    if (p->bias && p->bias_by_row)
        return "its bias is a number a column";
    if ((p->a_count != 1 && p->a_count != p->batch) || (p->b_count != 1 && p->b_count != p->batch))
        return "a matrix would serve some of the batch, and not all";
    const slr_provider *library = slri_cublaslt_describe();
    return *library->why_not ? library->why_not : NULL;
}

const struct slri_cublaslt_plan *slri_cublaslt_plan_of(slr_ops *ops, const struct slri_product *product,
                                                       const char **why_not)
{
    *why_not = why_no_product(ops, product);
    if (*why_not)
        return NULL;
    const struct lt_key key = key_of(ops, product);
    return (const struct slri_cublaslt_plan *)slri_nvidia_plan_of(ops, &lt_library, &key, why_not);
}

uint64_t slri_cublaslt_workspace(const struct slri_cublaslt_plan *plan)
{
    return plan->choice.workspace_bytes;
}

bool slri_cublaslt_is_deterministic(const struct slri_cublaslt_plan *plan)
{
    return plan->is_deterministic;
}

// ---- running -------------------------------------------------------------------------------------------------------

enum { IN_A, IN_B, IN_BIAS, OUT };
enum { NO_ROOM = 3, EXECUTION_FAILED = 13, INTERNAL_ERROR = 14 }; // cublasStatus_t

// Under the lock: the descriptor has the bias of this call.
static slr_status multiply_by_plan(const struct slri_library_call *call, struct slri_native_queue *queue)
{
    const struct slri_cublaslt_plan *plan = call->plan;
    const void *bias = slri_library_at(call->buffer[IN_BIAS]);
    void *c = slri_library_at(call->buffer[OUT]);
    struct slri_nvidia *nvidia = call->nvidia;
    slri_mutex_lock(&nvidia->lock);
    int error = bias ? lt.MatmulDescSetAttribute(plan->product, SLRI_LT_BIAS, &bias, sizeof bias) : 0;
    if (error == 0)
        error = lt.Matmul(nvidia->shelf[SLRI_CUBLASLT].handle, plan->product, &call->alpha,
                          slri_library_at(call->buffer[IN_B]), plan->layout[B], slri_library_at(call->buffer[IN_A]),
                          plan->layout[A], &call->beta, c, plan->layout[C], c, plan->layout[C], &plan->choice.algorithm,
                          slri_library_workspace(call), plan->choice.workspace_bytes, queue->queue);
    slri_mutex_unlock(&nvidia->lock);
    if (error == 0)
        return SLR_OK;
    slr_status status = error == NO_ROOM                                       ? SLR_NO_MEMORY
                        : error == EXECUTION_FAILED || error == INTERNAL_ERROR ? SLR_DEVICE_LOST
                                                                               : SLR_UNSUPPORTED;
    slri_fail(status, "cublasLtMatmul of %u by %u by %u gives %d", plan->key.m, plan->key.n, plan->key.k, error);
    return status;
}

slr_status slri_cublaslt_submit(slr_ops *ops, slr_stream *stream, const struct slri_cublaslt_plan *plan,
                                const struct slri_product *product, slr_point *out, bool *finished)
{
    struct slri_library_call call = {.name = "cublaslt.matmul",
                                     .run = multiply_by_plan,
                                     .plan = plan,
                                     .workspace_bytes = plan->choice.workspace_bytes,
                                     .buffer = {product->a, product->b, product->bias, product->c},
                                     .reads = OUT,
                                     .alpha = product->alpha,
                                     .beta = product->beta,
                                     .is_native = true,
                                     .nvidia = slri_nvidia_of(ops)};
    *finished = !product->pre && (!product->activation || is_fused(product));
    return slri_library_submit(ops, stream, &call, *finished ? out : NULL);
}
