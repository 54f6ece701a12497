// SPDX-License-Identifier: Apache-2.0
// A cuDNN 9 that computes convolutions on the host: sums in double, each result rounded once. What the manual forbids
// it refuses and counts as wrong: descriptors that do not fit, a stream of another context, too little workspace, an
// algorithm with another kind of arithmetic than it was listed with, tensors that are not at multiples of 16 bytes. The
// algorithms that it lists first are less exact than docs/contract/ops.md promises.
#include "fake_cuda_math.h"

#include "ops/cudnn_api.h"

#include <stdlib.h>
#include <string.h>

#define DECLARE_DNN(result, name, parameters) SEEN result cudnn##name parameters;
SLRI_CUDNN_FUNCTIONS(DECLARE_DNN)

#define WORKSPACE 2048

enum { TYPE, DIM, GROUPS = 8, MATH, WINDOW = 16 }; // of a descriptor; DIM, WINDOW: several

size_t cudnnGetVersion(void)
{
    return 91900;
}

int cudnnCreate(void **handle)
{
    LOCKED(math_make("cudnnCreate", DNN_HANDLE, handle));
    return error;
}

int cudnnDestroy(void *handle)
{
    LOCKED(math_drop("cudnnDestroy", DNN_HANDLE, handle));
    return error;
}

static int32_t set_stream(void *handle, slri_cu_stream stream)
{
    int32_t error = next_in_context("cudnnSetStream");
    struct object *object = (void *)stream;
    if (error != 0)
        return error;
    if (!math_is(handle, DNN_HANDLE) || !object || object->kind != STREAM || object->context != current())
        return refuse("cudnnSetStream", INVALID_BY_DNN);
    ((struct math_object *)handle)->stream = stream;
    return 0;
}

int cudnnSetStream(void *handle, void *stream)
{
    LOCKED(set_stream(handle, (slri_cu_stream)stream));
    return error;
}

#define MAKE_AND_DROP(name, kind)                                                                                      \
    int cudnnCreate##name##Descriptor(void **out)                                                                      \
    {                                                                                                                  \
        LOCKED(math_make("cudnnCreate" #name "Descriptor", kind, out));                                                \
        return error;                                                                                                  \
    }                                                                                                                  \
    int cudnnDestroy##name##Descriptor(void *object)                                                                   \
    {                                                                                                                  \
        LOCKED(math_drop("cudnnDestroy" #name "Descriptor", kind, object));                                            \
        return error;                                                                                                  \
    }
MAKE_AND_DROP(Tensor, DNN_TENSOR)
MAKE_AND_DROP(Filter, DNN_FILTER)
MAKE_AND_DROP(Convolution, DNN_CONVOLUTION)

static int32_t set_shape(const char *name, void *object, enum math_kind kind, int format, int type, const int dim[4])
{
    int32_t error = next_call(name);
    if (error != 0)
        return error;
    if (!math_is(object, kind) || format != SLRI_DNN_NCHW || (type != 0 && type != 2 && type != 9))
        return refuse(name, INVALID_BY_DNN);
    struct math_object *of = object;
    of->value[TYPE] = type == 9 ? 14 : type; // as math_read has them
    for (int i = 0; i < 4; ++i)
        of->value[DIM + i] = dim[i];
    return 0;
}

int cudnnSetTensor4dDescriptor(void *tensor, int format, int type, int n, int c, int h, int w)
{
    LOCKED(set_shape("cudnnSetTensor4dDescriptor", tensor, DNN_TENSOR, format, type, (const int[]){n, c, h, w}));
    return error;
}

int cudnnSetFilter4dDescriptor(void *filter, int type, int format, int k, int c, int h, int w)
{
    LOCKED(set_shape("cudnnSetFilter4dDescriptor", filter, DNN_FILTER, format, type, (const int[]){k, c, h, w}));
    return error;
}

static int32_t set_values(const char *name, void *object, int first, const int *value, int count)
{
    int32_t error = next_call(name);
    if (error != 0)
        return error;
    if (!math_is(object, DNN_CONVOLUTION))
        return refuse(name, INVALID_BY_DNN);
    for (int i = 0; i < count; ++i)
        ((struct math_object *)object)->value[first + i] = value[i];
    return 0;
}

int cudnnSetConvolution2dDescriptor(void *convolution, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h,
                                    int dilation_w, int mode, int compute)
{
    static const char name[] = "cudnnSetConvolution2dDescriptor";
    const int window[] = {pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w};
    LOCKED(compute != 0 || mode != SLRI_DNN_CROSS_CORRELATION ? refuse(name, INVALID_BY_DNN)
                                                              : set_values(name, convolution, WINDOW, window, 6));
    struct math_object *made = convolution;
    if (error == 0 && made->value[GROUPS] == 0)
        made->value[GROUPS] = 1; // until another number is set
    return error;
}

int cudnnSetConvolutionMathType(void *convolution, int math)
{
    LOCKED(set_values("cudnnSetConvolutionMathType", convolution, MATH, &math, 1));
    return error;
}

int cudnnSetConvolutionGroupCount(void *convolution, int groups)
{
    LOCKED(set_values("cudnnSetConvolutionGroupCount", convolution, GROUPS, &groups, 1));
    return error;
}

// ---- a convolution -------------------------------------------------------------------------------------------------

struct dnn_operands {
    const struct math_object *x, *w, *y, *how;
    void *at[3]; // of x, w, y
};
enum { AT_X, AT_W, AT_Y };

static bool is_length(const struct dnn_operands *o, int along)
{
    int64_t window = (o->w->value[DIM + 2 + along] - 1) * o->how->value[WINDOW + 4 + along] + 1;
    int64_t room = o->x->value[DIM + 2 + along] + 2 * o->how->value[WINDOW + along] - window;
    return room >= 0 && o->y->value[DIM + 2 + along] == room / o->how->value[WINDOW + 2 + along] + 1;
}

// As the manual says that they must. Floats by FMA: else they would be rounded to 10 bits.
static bool fits(const struct dnn_operands *o)
{
    if (!math_is(o->x, DNN_TENSOR) || !math_is(o->w, DNN_FILTER) || !math_is(o->y, DNN_TENSOR) ||
        !math_is(o->how, DNN_CONVOLUTION))
        return false;
    const int64_t *x = o->x->value + DIM, *w = o->w->value + DIM, *y = o->y->value + DIM;
    int64_t groups = o->how->value[GROUPS], type = o->x->value[TYPE];
    return type == o->w->value[TYPE] && type == o->y->value[TYPE] && groups > 0 && x[1] == w[1] * groups &&
           w[0] == y[1] && w[0] % groups == 0 && x[0] == y[0] && is_length(o, 0) && is_length(o, 1) &&
           (type != 0 || o->how->value[MATH] == SLRI_DNN_FMA);
}

// Its algorithms, as each pass numbers them: by transforms; by parts that are added in any order, in gradients as
// numbers of the result's type; and by plain sums.
enum { TRANSFORMED, IN_PARTS, PLAIN, KINDS_OF_ALGORITHMS };
static const int algorithms[3][KINDS_OF_ALGORITHMS] = {[AT_X] = {4, 0, 1}, [AT_W] = {5, 0, 1}, [AT_Y] = {6, 2, 0}};

static int math_of(const struct dnn_operands *o, int kind)
{
    return o->x->value[TYPE] == 0 ? SLRI_DNN_FMA : kind == PLAIN ? SLRI_DNN_DEFAULT : SLRI_DNN_TENSOR_OP;
}

static int32_t list(const char *name, void *handle, const struct dnn_operands *o, int written, int most, int *count,
                    struct slri_cudnn_choice *choice)
{
    int32_t error = next_in_context(name);
    *count = 0;
    if (error != 0)
        return error;
    if (!math_is(handle, DNN_HANDLE) || !fits(o) || most < KINDS_OF_ALGORITHMS + 1)
        return refuse(name, INVALID_BY_DNN);
    // With floats, first the one that rounds them.
    for (int i = o->x->value[TYPE] == 0 ? -1 : 0; i < KINDS_OF_ALGORITHMS; ++i)
        choice[(*count)++] = (struct slri_cudnn_choice){.algorithm = algorithms[written][i < 0 ? PLAIN : i],
                                                        .workspace_bytes = i == IN_PARTS ? WORKSPACE : 0,
                                                        .deterministic = i == IN_PARTS ? 0 : SLRI_DNN_DETERMINISTIC,
                                                        .math = i < 0 ? SLRI_DNN_TENSOR_OP : math_of(o, i)};
    return 0;
}

int cudnnGetConvolutionForwardAlgorithm_v7(void *handle, const void *x, const void *weights, const void *convolution,
                                           const void *y, int most, int *count, struct slri_cudnn_choice *choice)
{
    const struct dnn_operands o = {x, weights, y, convolution, {0}};
    LOCKED(list("cudnnGetConvolutionForwardAlgorithm_v7", handle, &o, AT_Y, most, count, choice));
    return error;
}

int cudnnGetConvolutionBackwardDataAlgorithm_v7(void *handle, const void *weights, const void *dy,
                                                const void *convolution, const void *dx, int most, int *count,
                                                struct slri_cudnn_choice *choice)
{
    const struct dnn_operands o = {dx, weights, dy, convolution, {0}};
    LOCKED(list("cudnnGetConvolutionBackwardDataAlgorithm_v7", handle, &o, AT_X, most, count, choice));
    return error;
}

int cudnnGetConvolutionBackwardFilterAlgorithm_v7(void *handle, const void *x, const void *dy, const void *convolution,
                                                  const void *dweights, int most, int *count,
                                                  struct slri_cudnn_choice *choice)
{
    const struct dnn_operands o = {x, dweights, dy, convolution, {0}};
    LOCKED(list("cudnnGetConvolutionBackwardFilterAlgorithm_v7", handle, &o, AT_W, most, count, choice));
    return error;
}

static size_t elements_of(const struct math_object *object)
{
    const int64_t *d = object->value + DIM;
    return (size_t)(d[0] * d[1] * d[2] * d[3]);
}

static int32_t check(const char *name, void *handle, const struct dnn_operands *o, int kind, const void *workspace,
                     size_t bytes)
{
    if (!math_is(handle, DNN_HANDLE))
        return refuse(name, INVALID_BY_DNN);
    slri_cu_stream stream = ((struct math_object *)handle)->stream;
    int32_t error = next_command(name, stream);
    if (error != 0)
        return error;
    const struct math_object *const shapes[] = {o->x, o->w, o->y};
    if (!fits(o) || kind == KINDS_OF_ALGORITHMS)
        return refuse(name, INVALID_BY_DNN);
    if (o->how->value[MATH] != math_of(o, kind))
        return refuse(name, NOT_SUPPORTED_BY_DNN);
    for (int i = 0; i < 3; ++i)
        if ((uintptr_t)o->at[i] % 16 != 0 ||
            !math_reaches(o->at[i], shapes[i]->value[TYPE], elements_of(shapes[i]), stream))
            return refuse(name, INVALID_BY_DNN);
    if (kind == IN_PARTS && (bytes < WORKSPACE || !math_reaches(workspace, 0, bytes / 4, stream)))
        return refuse(name, INVALID_BY_DNN);
    return 0;
}

typedef void term(void *user, size_t x, size_t w, size_t y);

// Calls for each product that goes into a result: where its elements are.
static void each_term(const struct dnn_operands *o, term *call, void *user)
{
    const int64_t *x = o->x->value + DIM, *w = o->w->value + DIM, *y = o->y->value + DIM, *how = o->how->value + WINDOW;
    int64_t per_group = w[0] / o->how->value[GROUPS];
    for (int64_t n = 0; n < y[0]; ++n)
        for (int64_t k = 0; k < y[1]; ++k)
            for (int64_t p = 0; p < y[2] * y[3]; ++p)
                for (int64_t c = 0; c < w[1]; ++c)
                    for (int64_t r = 0; r < w[2] * w[3]; ++r) {
                        int64_t row = p / y[3] * how[2] - how[0] + r / w[3] * how[4];
                        int64_t column = p % y[3] * how[3] - how[1] + r % w[3] * how[5];
                        if (row < 0 || row >= x[2] || column < 0 || column >= x[3])
                            continue;
                        int64_t channel = k / per_group * w[1] + c;
                        call(user, (size_t)(((n * x[1] + channel) * x[2] + row) * x[3] + column),
                             (size_t)((k * w[1] + c) * w[2] * w[3] + r), (size_t)((n * y[1] + k) * y[2] * y[3] + p));
                    }
}

struct sums {
    const struct dnn_operands *o;
    int written, kind;
    double *sum;
};

static void add_term(void *user, size_t x, size_t w, size_t y)
{
    struct sums *s = user;
    const size_t at[] = {x, w, y};
    double product = 1;
    for (int i = 0; i < 3; ++i)
        if (i != s->written)
            product *= math_read(s->o->at[i], s->o->x->value[TYPE], at[i]);
    double *sum = &s->sum[at[s->written]];
    *sum =
        s->kind == IN_PARTS && s->written != AT_Y ? math_rounded(s->o->x->value[TYPE], *sum + product) : *sum + product;
}

// So far off are the results of transforms.
static double off(int kind)
{
    return kind == TRANSFORMED ? 1 + 0x1p-12 : 1;
}

static int run(const char *name, void *handle, const struct dnn_operands *o, int written, int algorithm,
               void *workspace, size_t bytes, const void *alpha, const void *beta)
{
    float scale[2];
    int kind = 0;
    memcpy(&scale[0], alpha, sizeof *scale);
    memcpy(&scale[1], beta, sizeof *scale);
    while (kind < KINDS_OF_ALGORITHMS && algorithms[written][kind] != algorithm)
        ++kind;
    LOCKED(check(name, handle, o, kind, workspace, bytes));
    if (error != 0)
        return error;
    if (kind == IN_PARTS)
        memset(workspace, 0xA5, bytes);
    const struct math_object *const shapes[] = {o->x, o->w, o->y};
    size_t n = elements_of(shapes[written]);
    struct sums sums = {o, written, kind, calloc(n, sizeof(double))};
    each_term(o, add_term, &sums);
    for (size_t i = 0; i < n; ++i) {
        double old = scale[1] != 0.0f ? math_read(o->at[written], o->x->value[TYPE], i) : 0;
        math_write(o->at[written], o->x->value[TYPE], i,
                   (double)scale[0] * off(kind) * sums.sum[i] + (double)scale[1] * old);
    }
    free(sums.sum);
    return 0;
}

int cudnnConvolutionForward(void *handle, const void *alpha, const void *x_tensor, const void *x, const void *filter,
                            const void *weights, const void *convolution, int algorithm, void *workspace,
                            size_t workspace_bytes, const void *beta, const void *y_tensor, void *y)
{
    const struct dnn_operands o = {x_tensor, filter, y_tensor, convolution, {(void *)x, (void *)weights, y}};
    return run("cudnnConvolutionForward", handle, &o, AT_Y, algorithm, workspace, workspace_bytes, alpha, beta);
}

int cudnnConvolutionBackwardData(void *handle, const void *alpha, const void *filter, const void *weights,
                                 const void *dy_tensor, const void *dy, const void *convolution, int algorithm,
                                 void *workspace, size_t workspace_bytes, const void *beta, const void *dx_tensor,
                                 void *dx)
{
    const struct dnn_operands o = {dx_tensor, filter, dy_tensor, convolution, {dx, (void *)weights, (void *)dy}};
    return run("cudnnConvolutionBackwardData", handle, &o, AT_X, algorithm, workspace, workspace_bytes, alpha, beta);
}

int cudnnConvolutionBackwardFilter(void *handle, const void *alpha, const void *x_tensor, const void *x,
                                   const void *dy_tensor, const void *dy, const void *convolution, int algorithm,
                                   void *workspace, size_t workspace_bytes, const void *beta, const void *filter,
                                   void *dweights)
{
    const struct dnn_operands o = {x_tensor, filter, dy_tensor, convolution, {(void *)x, dweights, (void *)dy}};
    return run("cudnnConvolutionBackwardFilter", handle, &o, AT_W, algorithm, workspace, workspace_bytes, alpha, beta);
}

// ---- a bias --------------------------------------------------------------------------------------------------------

static int32_t check_add(void *handle, const struct math_object *a, const void *from, const struct math_object *c,
                         const void *to)
{
    static const char name[] = "cudnnAddTensor";
    if (!math_is(handle, DNN_HANDLE))
        return refuse(name, INVALID_BY_DNN);
    slri_cu_stream stream = ((struct math_object *)handle)->stream;
    int32_t error = next_command(name, stream);
    if (error != 0)
        return error;
    if (!math_is(a, DNN_TENSOR) || !math_is(c, DNN_TENSOR) || a->value[TYPE] != c->value[TYPE] || a->value[DIM] != 1 ||
        a->value[DIM + 1] != c->value[DIM + 1] || a->value[DIM + 2] != 1 || a->value[DIM + 3] != 1 ||
        !math_reaches(from, a->value[TYPE], elements_of(a), stream) ||
        !math_reaches(to, c->value[TYPE], elements_of(c), stream))
        return refuse(name, INVALID_BY_DNN);
    return 0;
}

// With alpha 1 and beta 0, as it is called.
int cudnnAddTensor(void *handle, const void *alpha, const void *a_tensor, const void *a, const void *beta,
                   const void *c_tensor, void *c)
{
    static const float one = 1.0f, zero = 0.0f;
    const struct math_object *from = a_tensor, *to = c_tensor;
    if (memcmp(alpha, &one, sizeof one) != 0 || memcmp(beta, &zero, sizeof zero) != 0)
        return INVALID_BY_DNN;
    LOCKED(check_add(handle, from, a, to, c));
    if (error != 0)
        return error;
    const int64_t *d = to->value + DIM;
    for (size_t i = 0; i < elements_of(to); ++i)
        math_write(c, to->value[TYPE], i, math_read(a, from->value[TYPE], i / (size_t)(d[2] * d[3]) % (size_t)d[1]));
    return 0;
}
