// SPDX-License-Identifier: Apache-2.0
// A bias is put into y first, and the convolution added to it. cuDNN may round what it adds (docs/contract/ops.md).
#include "ops/cudnn.h"
#include "ops/provider.h"
#include "ops/submit.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

static struct {
#define POINTER(type, name, parameters) type(*name) parameters;
    SLRI_CUDNN_FUNCTIONS(POINTER)
#undef POINTER
} dnn;

static char path[256], version[64];

static slr_status start_cudnn(slri_dl *library, const char *found)
{
    slri_text missing = SLRI_TEXT_INIT;
#define FIND(type, name, parameters) dnn.name = (type(*) parameters)slri_dl_find(library, "cudnn" #name, &missing);
    SLRI_CUDNN_FUNCTIONS(FIND)
#undef FIND
    SLRI_TRY(slri_dl_all_found(SLR_UNSUPPORTED, found, "cuDNN of version 9", &missing));
    const unsigned number = (unsigned)dnn.GetVersion();
    if (number / 10000 != 9)
        return SLRI_FAIL(UNSUPPORTED, "%s says that its version is %u; expected one of 9", found, number);
    snprintf(path, sizeof path, "%s", found);
    snprintf(version, sizeof version, "cuDNN %u.%u.%u", number / 10000, number / 100 % 100, number % 100);
    return SLR_OK;
}

const slr_provider *slri_cudnn_describe(void)
{
    static struct slri_ops_library library = {
        .vendor = {.variable = "SLIPRING_CUDNN_LIB",
                   .places = {"libcudnn.so.9", "/usr/local/cuda/lib64/libcudnn.so.9"},
                   .hint = "it is NVIDIA's package cuDNN, of version 9",
                   .absent = SLR_UNSUPPORTED,
                   .start = start_cudnn,
                   .lock = SLRI_MUTEX_INIT},
        .told = {"cudnn", path, version, "it was not looked for"}};
    return slri_ops_library_describe(&library);
}

// ---- plans ---------------------------------------------------------------------------------------------------------

enum { X = SLRI_WINDOW_X, W = SLRI_WINDOW_W, Y = SLRI_WINDOW_Y, TENSORS = SLRI_WINDOW_TENSORS };

// All that the library's choice of an algorithm depends on.
struct dnn_key {
    struct slri_window window;
    uint32_t pass, dtype, has_bias, deterministic;
    uint64_t workspace_bytes; // at most
};

struct slri_cudnn_plan {
    struct slri_nvidia_plan plan;
    struct dnn_key key;
    void *tensor[TENSORS], *bias, *convolution; // that of the weights is a filter; `bias` may be NULL
    struct slri_cudnn_choice choice;
};

static bool note(struct slri_cudnn_plan *plan, const char *call, int error)
{
    if (error != 0)
        snprintf(plan->plan.why_not, sizeof plan->plan.why_not, "cudnn%s gives %d", call, error);
    return error != 0;
}
#define DNN_TRY(call, ...)                                                                                             \
    if (note(plan, #call, dnn.call(__VA_ARGS__)))                                                                      \
    return false

static bool describe_tensor(struct slri_cudnn_plan *plan, int which, int type)
{
    int64_t s[4];
    slri_window_shape(&plan->key.window, which, s);
    if (which == W) {
        DNN_TRY(CreateFilterDescriptor, &plan->tensor[W]);
        DNN_TRY(SetFilter4dDescriptor, plan->tensor[W], type, SLRI_DNN_NCHW, (int)s[0], (int)s[1], (int)s[2],
                (int)s[3]);
        return true;
    }
    DNN_TRY(CreateTensorDescriptor, &plan->tensor[which]);
    DNN_TRY(SetTensor4dDescriptor, plan->tensor[which], SLRI_DNN_NCHW, type, (int)s[0], (int)s[1], (int)s[2],
            (int)s[3]);
    return true;
}

static bool describe_convolution(struct slri_cudnn_plan *plan)
{
    const struct slri_window *d = &plan->key.window;
    slr_scalar dtype = (slr_scalar)plan->key.dtype;
    int type = slri_cudnn_type(dtype);
    for (int i = 0; i < TENSORS; ++i)
        if (!describe_tensor(plan, i, type))
            return false;
    if (plan->key.has_bias) {
        DNN_TRY(CreateTensorDescriptor, &plan->bias);
        DNN_TRY(SetTensor4dDescriptor, plan->bias, SLRI_DNN_NCHW, type, 1, d->k, 1, 1);
    }
    DNN_TRY(CreateConvolutionDescriptor, &plan->convolution);
    DNN_TRY(SetConvolution2dDescriptor, plan->convolution, d->pad_h, d->pad_w, d->stride_h, d->stride_w, d->dilation_h,
            d->dilation_w, SLRI_DNN_CROSS_CORRELATION, slri_cudnn_type(SLR_F32));
    DNN_TRY(SetConvolutionMathType, plan->convolution, dtype == SLR_F32 ? SLRI_DNN_FMA : SLRI_DNN_TENSOR_OP);
    DNN_TRY(SetConvolutionGroupCount, plan->convolution, d->groups);
    return true;
}

// The library's, the one that it takes for the fastest first.
static bool list_choices(void *handle, struct slri_cudnn_plan *plan, struct slri_cudnn_choice *choice, int *count)
{
    void *x = plan->tensor[X], *w = plan->tensor[W], *y = plan->tensor[Y], *how = plan->convolution;
    int most = SLRI_DNN_MOST_CHOICES;
    switch (plan->key.pass) {
    case SLRI_TO_INPUT:
        DNN_TRY(GetConvolutionBackwardDataAlgorithm_v7, handle, w, y, how, x, most, count, choice);
        return true;
    case SLRI_TO_WEIGHTS:
        DNN_TRY(GetConvolutionBackwardFilterAlgorithm_v7, handle, x, y, how, w, most, count, choice);
        return true;
    default:
        DNN_TRY(GetConvolutionForwardAlgorithm_v7, handle, x, w, how, y, most, count, choice);
        return true;
    }
}

// Whether each of its sums is one of products of elements, in float. Those by transforms (Winograd's, Fourier's) are
// not: their errors grow with all of a tile. Nor are gradients of halves by atomic additions: each is rounded to a
// half.
static bool is_exact(const struct dnn_key *key, const struct slri_cudnn_choice *choice)
{
    static const uint32_t sums[] = {[SLRI_FORWARD] =
                                        1u << 0 | 1u << 1 | 1u << 2 | 1u << 3, // GEMM, in three ways; direct
                                    [SLRI_TO_INPUT] = 1u << 0 | 1u << 1,
                                    [SLRI_TO_WEIGHTS] = 1u << 0 | 1u << 1 | 1u << 3};
    static const uint32_t atomic[] = {[SLRI_TO_INPUT] = 1u << 0, [SLRI_TO_WEIGHTS] = 1u << 0 | 1u << 3};
    bool is_float = key->dtype == SLR_F32;
    uint32_t let = sums[key->pass] & ~(is_float ? 0 : atomic[key->pass]);
    bool is_by_tensor_cores = choice->math != SLRI_DNN_DEFAULT && choice->math != SLRI_DNN_FMA;
    return choice->algorithm >= 0 && choice->algorithm < 32 && (let >> choice->algorithm & 1) != 0 &&
           !(is_float && is_by_tensor_cores); // which would round floats to 10 bits
}

// An algorithm is one with its kind of arithmetic: with another it need not work, or needs more workspace.
static bool take_choice(struct slri_cudnn_plan *plan, const struct slri_cudnn_choice *choice)
{
    plan->choice = *choice;
    if (plan->key.dtype != SLR_F32)
        DNN_TRY(SetConvolutionMathType, plan->convolution, choice->math);
    return true;
}

static bool fill_dnn_plan(void *handle, struct slri_nvidia_plan *begin)
{
    struct slri_cudnn_plan *plan = (struct slri_cudnn_plan *)begin;
    struct slri_cudnn_choice choice[SLRI_DNN_MOST_CHOICES];
    const struct dnn_key *key = &plan->key;
    int count = 0;
    if (!describe_convolution(plan) || !list_choices(handle, plan, choice, &count))
        return false;
    for (int i = 0; i < count && i < SLRI_DNN_MOST_CHOICES; ++i)
        if (choice[i].status == 0 && choice[i].workspace_bytes <= key->workspace_bytes && is_exact(key, &choice[i]) &&
            (!key->deterministic || choice[i].deterministic == SLRI_DNN_DETERMINISTIC))
            return take_choice(plan, &choice[i]);
    snprintf(plan->plan.why_not, sizeof plan->plan.why_not, "cuDNN has no algorithm for this shape%s%s",
             key->deterministic ? ", with the same bits in every run" : "", count ? ", in this workspace" : "");
    return false;
}

static void empty_dnn_plan(struct slri_nvidia_plan *begin)
{
    struct slri_cudnn_plan *plan = (struct slri_cudnn_plan *)begin;
    if (plan->convolution)
        dnn.DestroyConvolutionDescriptor(plan->convolution);
    if (plan->tensor[W])
        dnn.DestroyFilterDescriptor(plan->tensor[W]);
    void *tensors[] = {plan->tensor[X], plan->tensor[Y], plan->bias};
    for (int i = 0; i < 3; ++i)
        if (tensors[i])
            dnn.DestroyTensorDescriptor(tensors[i]);
    plan->convolution = plan->bias = NULL;
    memset(plan->tensor, 0, sizeof plan->tensor);
}

static int create_dnn(void **handle)
{
    return dnn.Create(handle);
}

static void destroy_dnn(void *handle)
{
    dnn.Destroy(handle);
}

static const struct slri_nvidia_library dnn_library = {.kind = SLRI_CUDNN,
                                                       .plan_bytes = sizeof(struct slri_cudnn_plan),
                                                       .key_at = offsetof(struct slri_cudnn_plan, key),
                                                       .key_bytes = sizeof(struct dnn_key),
                                                       .create = create_dnn,
                                                       .destroy = destroy_dnn,
                                                       .fill = fill_dnn_plan,
                                                       .empty = empty_dnn_plan};

const struct slri_cudnn_plan *slri_cudnn_plan_of(const struct slri_convolution *c, const char **why_not)
{
    const slr_ops *ops = c->ops;
    const struct dnn_key key = {.window = c->window,
                                .pass = c->pass,
                                .dtype = (uint32_t)c->dtype,
                                .has_bias = c->bias != NULL,
                                .deterministic = ops->desc.deterministic != 0,
                                .workspace_bytes = ops->desc.workspace_bytes};
    *why_not = NULL;
    if (strcmp(ops->device->backend->name, "cuda") != 0)
        *why_not = "this device is no cuda";
    else if (*slri_cudnn_describe()->why_not)
        *why_not = slri_cudnn_describe()->why_not;
    if (*why_not)
        return NULL;
    return (const struct slri_cudnn_plan *)slri_nvidia_plan_of(c->ops, &dnn_library, &key, why_not);
}

uint64_t slri_cudnn_workspace(const struct slri_cudnn_plan *plan)
{
    return plan->choice.workspace_bytes;
}

bool slri_cudnn_is_deterministic(const struct slri_cudnn_plan *plan)
{
    return plan->choice.deterministic == SLRI_DNN_DETERMINISTIC;
}

// ---- running -------------------------------------------------------------------------------------------------------

enum { READ_A, READ_B, READ_BIAS, WRITTEN };

// Under the lock: the handle has this call's stream.
static int run_pass(const struct slri_library_call *call, void *queue)
{
    static const float one = 1.0f, zero = 0.0f;
    const struct slri_cudnn_plan *plan = call->plan;
    void *a = slri_library_at(call->buffer[READ_A]), *b = slri_library_at(call->buffer[READ_B]);
    void *bias = slri_library_at(call->buffer[READ_BIAS]), *written = slri_library_at(call->buffer[WRITTEN]);
    void *const *t = plan->tensor, *handle = call->nvidia->shelf[SLRI_CUDNN].handle,
                *workspace = slri_library_workspace(call);
    int algorithm = plan->choice.algorithm, error = dnn.SetStream(handle, queue);
    size_t bytes = plan->choice.workspace_bytes;
    if (error != 0)
        return error;
    if (plan->key.pass == SLRI_TO_INPUT)
        return dnn.ConvolutionBackwardData(handle, &one, t[W], a, t[Y], b, plan->convolution, algorithm, workspace,
                                           bytes, &zero, t[X], written);
    if (plan->key.pass == SLRI_TO_WEIGHTS)
        return dnn.ConvolutionBackwardFilter(handle, &one, t[X], a, t[Y], b, plan->convolution, algorithm, workspace,
                                             bytes, &zero, t[W], written);
    if (bias)
        error = dnn.AddTensor(handle, &one, plan->bias, bias, &zero, t[Y], written);
    return error ? error
                 : dnn.ConvolutionForward(handle, &one, t[X], a, t[W], b, plan->convolution, algorithm, workspace,
                                          bytes, bias ? &one : &zero, t[Y], written);
}

enum { NO_HOST_MEMORY = 4003, NO_DEVICE_MEMORY = 4004, EXECUTION_FAILED = 5000 }; // cudnnStatus_t; the last, and on

static slr_status run_cudnn_plan(const struct slri_library_call *call, struct slri_native_queue *queue)
{
    slri_mutex_lock(&call->nvidia->lock);
    int error = run_pass(call, queue->queue);
    slri_mutex_unlock(&call->nvidia->lock);
    if (error == 0)
        return SLR_OK;
    slr_status status = error == NO_HOST_MEMORY || error == NO_DEVICE_MEMORY ? SLR_NO_MEMORY
                        : error >= EXECUTION_FAILED                          ? SLR_DEVICE_LOST
                                                                             : SLR_UNSUPPORTED;
    slri_fail(status, "a convolution of cuDNN gives %d", error);
    return status;
}

slr_status slri_cudnn_submit(const struct slri_convolution *c, const struct slri_cudnn_plan *plan, slr_point *out)
{
    int written = slri_window_writes(c->pass);
    struct slri_library_call call = {.name = "cudnn.convolution",
                                     .run = run_cudnn_plan,
                                     .plan = plan,
                                     .workspace_bytes = plan->choice.workspace_bytes,
                                     .buffer = {[READ_BIAS] = c->bias, [WRITTEN] = c->tensor[written]},
                                     .reads = WRITTEN,
                                     .is_native = true,
                                     .nvidia = slri_nvidia_of(c->ops)};
    for (int i = 0, read = READ_A; i < TENSORS; ++i)
        if (i != written)
            call.buffer[read++] = c->tensor[i];
    return slri_library_submit(c->ops, c->stream, &call, out);
}
