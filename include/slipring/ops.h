// SPDX-License-Identifier: Apache-2.0
/// Operations of networks on tensors, forward and backward: products, convolutions, norms, losses, optimisers.
/// Contract: docs/contract/ops.md.
///
///     slr_ops *ops;
///     slr_ops_create(device, NULL, &ops);
///     slr_tensor x = slr_tensor_2d(SLR_F32, x_buffer, 32, 784), w = slr_tensor_2d(SLR_F32, w_buffer, 784, 10);
///     slr_tensor y = slr_tensor_2d(SLR_F32, y_buffer, 32, 10);
///     slr_matmul_desc desc = SLR_MATMUL_DESC_INIT;
///     desc.a = &x, desc.b = &w, desc.c = &y;
///     slr_ops_matmul(ops, stream, &desc, NULL);
#ifndef SLIPRING_OPS_H
#define SLIPRING_OPS_H

#include <slipring/fuse.h>
#include <slipring/stream.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- tensors --------------------------------------------------------------------------------------------------------

/// A buffer with type and shape. Types are SLR_F32, SLR_F16 and SLR_BF16, one for all of a call; every sum is an
/// SLR_F32. Exceptions are named: indices and labels are SLR_I32. Its elements are the buffer's first ones; the last
/// dimension is contiguous ("rows"). Images are n, channels, height, width; signals are n, channels, length. At most
/// 2^31 - 1 elements.
typedef struct slr_tensor {
    slr_buffer *buffer;
    slr_scalar dtype;
    uint32_t rank; ///< 1 to SLR_BUFFER_MOST_DIMENSIONS
    uint64_t shape[SLR_BUFFER_MOST_DIMENSIONS];
} slr_tensor;

static inline slr_tensor slr_tensor_4d(slr_scalar dtype, slr_buffer *buffer, uint64_t a, uint64_t b, uint64_t c,
                                       uint64_t d)
{
    slr_tensor tensor = {buffer, dtype, 4, {a, b, c, d, 0, 0, 0, 0}};
    return tensor;
}

static inline slr_tensor slr_tensor_3d(slr_scalar dtype, slr_buffer *buffer, uint64_t a, uint64_t b, uint64_t c)
{
    slr_tensor tensor = {buffer, dtype, 3, {a, b, c, 0, 0, 0, 0, 0}};
    return tensor;
}

static inline slr_tensor slr_tensor_2d(slr_scalar dtype, slr_buffer *buffer, uint64_t rows, uint64_t columns)
{
    slr_tensor tensor = {buffer, dtype, 2, {rows, columns, 0, 0, 0, 0, 0, 0}};
    return tensor;
}

static inline slr_tensor slr_tensor_1d(slr_scalar dtype, slr_buffer *buffer, uint64_t n)
{
    slr_tensor tensor = {buffer, dtype, 1, {n, 0, 0, 0, 0, 0, 0, 0}};
    return tensor;
}

// ---- the operations of a device -------------------------------------------------------------------------------------

/// Compiled operations, and what is known about their speed.
typedef struct slr_ops slr_ops;

/// How an algorithm is chosen where an operation has several.
typedef enum slr_choice {
    SLR_CHOICE_HEURISTIC = 1, ///< by the backend and the shape
    SLR_CHOICE_BENCHMARK      ///< the first call of a shape times all algorithms; later processes use the winner
} slr_choice;

typedef struct slr_ops_desc {
    uint32_t struct_size;
    uint32_t choice;          ///< slr_choice; default: HEURISTIC
    uint64_t workspace_bytes; ///< most for one call, from the device's pool; default: 256 MiB
    uint32_t deterministic;   ///< 1: only algorithms whose results have the same bits in every run
    uint32_t reserved;        ///< ignored
} slr_ops_desc;
#ifdef __cplusplus
static inline slr_ops_desc slr_ops_desc_init(void)
{
    slr_ops_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_OPS_DESC_INIT slr_ops_desc_init()
#else
#define SLR_OPS_DESC_INIT                                                                                              \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_ops_desc)                                                                  \
    }
#endif

/// Makes the operations of a device. `desc` may be NULL. Kernels are compiled when they are first used.
///
/// Threads: any.  Blocks: no.  Owns: the caller gets them: slr_ops_destroy, before the device closes.
/// Errors: INVALID (NULL, no such choice), NO_MEMORY.
SLR_API slr_status slr_ops_create(slr_device *device, const slr_ops_desc *desc, slr_ops **out);

/// Submitted work still runs. NULL does nothing.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_ops_destroy(slr_ops *ops);

/// An algorithm as it was timed, or considered.
typedef struct slr_algorithm {
    const char *name;     ///< "own.panel"
    const char *provider; ///< "own", "openblas" or "onednn"
    uint64_t ns;          ///< of a call; the least of several, measured in turn. 0: it cannot do this
    double flops;         ///< of a call
    uint64_t workspace_bytes;
    uint32_t deterministic; ///< 1: the same bits in every run
    uint32_t chosen;        ///< 1: later calls of this shape use it
    const char *why_not;    ///< of one that cannot do this: the reason; else ""
} slr_algorithm;

/// The texts are valid during the call.
typedef void slr_algorithm_visitor(void *user, const slr_algorithm *algorithm);

/// A library that operations may use. It is opened when it is first asked for.
typedef struct slr_provider {
    const char *name;
    const char *path;    ///< that was opened; "" if it was not
    const char *version; ///< as it describes itself
    const char *why_not; ///< "" if it is usable
} slr_provider;

/// The texts live as long as the process.
typedef void slr_provider_visitor(void *user, const slr_provider *provider);

/// Visits the libraries that operations may use. SLIPRING_OPENBLAS_LIB names another file than libopenblas.so.0,
/// SLIPRING_ONEDNN_LIB than libdnnl.so.2.
/// Threads: any.  Blocks: while a library is opened.  Errors: INVALID (NULL).
SLR_API slr_status slr_ops_visit_providers(slr_provider_visitor *visit, void *user);

/// The kernel source of a group of operations, as it is compiled. The texts are valid during the call.
typedef void slr_ops_source_visitor(void *user, const char *name, const char *text);

/// Visits the sources of all operations: they are in the subset, and run on every device.
/// Threads: any.  Blocks: no.  Errors: INVALID (NULL), NO_MEMORY.
SLR_API slr_status slr_ops_visit_sources(slr_ops_source_visitor *visit, void *user);

// Each operation below appends its work to the stream; `out` may be NULL, and gets the point after it. All of them:
//
// Threads: any.  Blocks: while kernels compile; with SLR_CHOICE_BENCHMARK for the first call of a shape.
// Owns: slipring holds the buffers until the work ends; tensors and descriptions are copied.
// Errors: INVALID (NULL; a shape or type that does not fit: the message has both; a buffer too small), UNSUPPORTED (the
//   type or device), COMPILE, NO_MEMORY.

// ---- matrix product -------------------------------------------------------------------------------------------------

/// c = activation(alpha * op(a) op(b) + beta * c + bias).
typedef struct slr_matmul_desc {
    uint32_t struct_size;
    uint32_t transpose_a, transpose_b;
    slr_activation activation; ///< 0: none
    float alpha;               ///< 0: 1
    float beta;                ///< default 0: c is only written
    const slr_tensor *a, *b,
        *c;                 ///< of rank 2; or all of rank 3, where the first is a batch. b may be of rank 2 for all
    const slr_tensor *bias; ///< of rank 1: a number a column; or NULL
    const slr_tensor *pre;  ///< as c: gets the values before the activation; or NULL
} slr_matmul_desc;
#ifdef __cplusplus
static inline slr_matmul_desc slr_matmul_desc_init(void)
{
    slr_matmul_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_MATMUL_DESC_INIT slr_matmul_desc_init()
#else
#define SLR_MATMUL_DESC_INIT                                                                                           \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_matmul_desc)                                                               \
    }
#endif

SLR_API slr_status slr_ops_matmul(slr_ops *ops, slr_stream *stream, const slr_matmul_desc *desc, slr_point *out);

/// The gradients of a, b and bias, from that of c; each may be NULL. `desc` is the forward call's, with beta 0. With an
/// activation the call needs `pre`.
SLR_API slr_status slr_ops_matmul_backward(slr_ops *ops, slr_stream *stream, const slr_matmul_desc *desc,
                                           const slr_tensor *dc, const slr_tensor *da, const slr_tensor *db,
                                           const slr_tensor *dbias, slr_point *out);

/// Times all algorithms for this call, on buffers of its own for the results, and visits each. The chosen one is kept.
/// Blocks: for all of that.
SLR_API slr_status slr_ops_matmul_bench(slr_ops *ops, slr_stream *stream, const slr_matmul_desc *desc,
                                        slr_algorithm_visitor *visit, void *user);

// ---- convolution and pooling ----------------------------------------------------------------------------------------

/// y = activation(x * weights + bias), without flipping the weights. Rank 4: x is n, c, h, w; weights are k, c /
/// groups, r, s; y is n, k, p, q. Rank 3: without h, r and p; then the first of each pair is ignored. groups = c is
/// depth-wise.
typedef struct slr_convolution_desc {
    uint32_t struct_size;
    uint32_t stride[2];        ///< down and across; 0: 1
    uint32_t padding[2];       ///< zeros on both sides
    uint32_t dilation[2];      ///< 0: 1
    uint32_t groups;           ///< 0: 1
    slr_activation activation; ///< 0: none
    uint32_t reserved;         ///< ignored
    const slr_tensor *x, *weights, *y;
    const slr_tensor *bias; ///< of rank 1: a number a filter; or NULL
    const slr_tensor *pre;  ///< as y: gets the values before the activation; or NULL
} slr_convolution_desc;
#ifdef __cplusplus
static inline slr_convolution_desc slr_convolution_desc_init(void)
{
    slr_convolution_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_CONVOLUTION_DESC_INIT slr_convolution_desc_init()
#else
#define SLR_CONVOLUTION_DESC_INIT                                                                                      \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_convolution_desc)                                                          \
    }
#endif

SLR_API slr_status slr_ops_convolution(slr_ops *ops, slr_stream *stream, const slr_convolution_desc *desc,
                                       slr_point *out);

/// The gradients of x, weights and bias, from that of y; each may be NULL. With an activation it needs `pre`.
SLR_API slr_status slr_ops_convolution_backward(slr_ops *ops, slr_stream *stream, const slr_convolution_desc *desc,
                                                const slr_tensor *dy, const slr_tensor *dx, const slr_tensor *dweights,
                                                const slr_tensor *dbias, slr_point *out);

/// As slr_ops_matmul_bench.
SLR_API slr_status slr_ops_convolution_bench(slr_ops *ops, slr_stream *stream, const slr_convolution_desc *desc,
                                             slr_algorithm_visitor *visit, void *user);
/// As slr_ops_matmul_bench, for one gradient: that of x where `dx` is given, that of the weights where `dweights` is.
/// Exactly one of the two must be given.
SLR_API slr_status slr_ops_convolution_backward_bench(slr_ops *ops, slr_stream *stream,
                                                      const slr_convolution_desc *desc, const slr_tensor *dy,
                                                      const slr_tensor *dx, const slr_tensor *dweights,
                                                      slr_algorithm_visitor *visit, void *user);

typedef enum slr_pool_kind {
    SLR_POOL_LARGEST = 1,
    SLR_POOL_MEAN ///< of the elements of a window that are not padding
} slr_pool_kind;

/// Rank 4: x is n, c, h, w, y is n, c, p, q. Rank 3: without h and p; then the first of each pair is ignored.
typedef struct slr_pooling_desc {
    uint32_t struct_size;
    slr_pool_kind kind;
    uint32_t window[2], stride[2], padding[2]; ///< stride 0: the window's; padding: less than the window
    const slr_tensor *x, *y;
    const slr_tensor *indices; ///< as y, SLR_I32: where in its plane each largest is. Needed for its gradient; or NULL
} slr_pooling_desc;
#ifdef __cplusplus
static inline slr_pooling_desc slr_pooling_desc_init(void)
{
    slr_pooling_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_POOLING_DESC_INIT slr_pooling_desc_init()
#else
#define SLR_POOLING_DESC_INIT                                                                                          \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_pooling_desc)                                                              \
    }
#endif

SLR_API slr_status slr_ops_pooling(slr_ops *ops, slr_stream *stream, const slr_pooling_desc *desc, slr_point *out);
SLR_API slr_status slr_ops_pooling_backward(slr_ops *ops, slr_stream *stream, const slr_pooling_desc *desc,
                                            const slr_tensor *dy, const slr_tensor *dx, slr_point *out);

// ---- element by element, and along rows. A row is the last dimension.
// ------------------------------------------------

SLR_API slr_status slr_ops_activation(slr_ops *ops, slr_stream *stream, slr_activation kind, const slr_tensor *x,
                                      const slr_tensor *y, slr_point *out);
/// `x` is the input of the forward call.
SLR_API slr_status slr_ops_activation_backward(slr_ops *ops, slr_stream *stream, slr_activation kind,
                                               const slr_tensor *x, const slr_tensor *dy, const slr_tensor *dx,
                                               slr_point *out);

SLR_API slr_status slr_ops_softmax(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *y,
                                   slr_point *out);
SLR_API slr_status slr_ops_softmax_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *y, const slr_tensor *dy,
                                            const slr_tensor *dx, slr_point *out);

/// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, by rows. `means` and `scales` (SLR_F32, a number a row)
/// get the mean and 1 / sqrt(variance + epsilon).
SLR_API slr_status slr_ops_layer_norm(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *gamma,
                                      const slr_tensor *beta, float epsilon, const slr_tensor *y,
                                      const slr_tensor *means, const slr_tensor *scales, slr_point *out);
/// `dgamma` and `dbeta` may both be NULL.
SLR_API slr_status slr_ops_layer_norm_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *x,
                                               const slr_tensor *gamma, const slr_tensor *means,
                                               const slr_tensor *scales, const slr_tensor *dy, const slr_tensor *dx,
                                               const slr_tensor *dgamma, const slr_tensor *dbeta, slr_point *out);

typedef enum slr_reduction {
    SLR_REDUCTION_SUM = 1,
    SLR_REDUCTION_MEAN,
    SLR_REDUCTION_LARGEST ///< its gradient goes to the first element that has the value
} slr_reduction;

#define SLR_EVERY_AXIS 0xFFFFFFFFu

/// Reduces one axis, or all. `y` has as many elements as x has without the axis.
SLR_API slr_status slr_ops_reduce(slr_ops *ops, slr_stream *stream, slr_reduction kind, uint32_t axis,
                                  const slr_tensor *x, const slr_tensor *y, slr_point *out);
SLR_API slr_status slr_ops_reduce_backward(slr_ops *ops, slr_stream *stream, slr_reduction kind, uint32_t axis,
                                           const slr_tensor *x, const slr_tensor *y, const slr_tensor *dy,
                                           const slr_tensor *dx, slr_point *out);

#define SLR_SCAN_REVERSE 1u   ///< from the last element to the first
#define SLR_SCAN_EXCLUSIVE 2u ///< without the element itself

/// Running sums along rows. The gradient of a scan is the same scan of the gradient, with SLR_SCAN_REVERSE changed.
SLR_API slr_status slr_ops_scan(slr_ops *ops, slr_stream *stream, uint32_t flags, const slr_tensor *x,
                                const slr_tensor *y, slr_point *out);

/// The k largest elements of each row, in falling order, and where they are (SLR_I32). Of equal ones the first is
/// first.
SLR_API slr_status slr_ops_top_k(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *values,
                                 const slr_tensor *indices, slr_point *out);
SLR_API slr_status slr_ops_top_k_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *indices,
                                          const slr_tensor *dvalues, const slr_tensor *dx, slr_point *out);

/// For each index (SLR_I32), copies that row of `table` to `y`. If the table has no such row, the row of `y` is zeros.
SLR_API slr_status slr_ops_embedding(slr_ops *ops, slr_stream *stream, const slr_tensor *table,
                                     const slr_tensor *indices, const slr_tensor *y, slr_point *out);
SLR_API slr_status slr_ops_embedding_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *indices,
                                              const slr_tensor *dy, const slr_tensor *dtable, slr_point *out);

/// Converts elements between SLR_F32, SLR_F16 and SLR_BF16, rounded to nearest even.
SLR_API slr_status slr_ops_cast(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *y,
                                slr_point *out);

// ---- losses: `loss` is one SLR_F32. A gradient is multiplied by `scale`: 1, or what the loss was.
// ---------------------

/// The mean of -log(softmax(logits)[label]). A label (SLR_I32) that is no class counts as 0.
SLR_API slr_status slr_ops_cross_entropy(slr_ops *ops, slr_stream *stream, const slr_tensor *logits,
                                         const slr_tensor *labels, const slr_tensor *loss, slr_point *out);
SLR_API slr_status slr_ops_cross_entropy_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *logits,
                                                  const slr_tensor *labels, float scale, const slr_tensor *dlogits,
                                                  slr_point *out);

/// The mean of (x - target)^2.
SLR_API slr_status slr_ops_mean_square(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *target,
                                       const slr_tensor *loss, slr_point *out);
SLR_API slr_status slr_ops_mean_square_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *x,
                                                const slr_tensor *target, float scale, const slr_tensor *dx,
                                                slr_point *out);

// ---- optimisers: weights and their state are SLR_F32
// ------------------------------------------------------------------

/// d = gradient + decay * weights; velocity = momentum * velocity + d; weights -= rate * velocity.
/// `velocity` NULL: no momentum.
SLR_API slr_status slr_ops_sgd(slr_ops *ops, slr_stream *stream, const slr_tensor *weights, const slr_tensor *gradient,
                               const slr_tensor *velocity, float rate, float momentum, float decay, slr_point *out);

/// Adam with decoupled weight decay.
typedef struct slr_adam_desc {
    uint32_t struct_size;
    uint32_t step; ///< from 1
    float rate;
    float beta1;   ///< 0: 0.9
    float beta2;   ///< 0: 0.999
    float epsilon; ///< 0: 1e-8
    float decay;
    uint32_t reserved; ///< ignored
    const slr_tensor *weights, *gradient, *mean, *square;
} slr_adam_desc;
#ifdef __cplusplus
static inline slr_adam_desc slr_adam_desc_init(void)
{
    slr_adam_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_ADAM_DESC_INIT slr_adam_desc_init()
#else
#define SLR_ADAM_DESC_INIT                                                                                             \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_adam_desc)                                                                 \
    }
#endif

SLR_API slr_status slr_ops_adam(slr_ops *ops, slr_stream *stream, const slr_adam_desc *desc, slr_point *out);

// ---- loss scaling: gradients that SLR_F16 would lose
// ------------------------------------------------------------------

/// Multiplies a loss, so that small gradients are numbers in half precision, and divides them again in SLR_F32.
typedef struct slr_scaler slr_scaler;

typedef struct slr_scaler_desc {
    uint32_t struct_size;
    uint32_t growth_interval; ///< good steps until the scale grows; 0: 2,000
    float initial;            ///< 0: 65,536
    float growth;             ///< 0: 2; 1 for a fixed scale, with backoff 1
    float backoff;            ///< of the scale after a step with a gradient that is not finite; 0: 0.5
    uint32_t reserved;        ///< ignored
} slr_scaler_desc;
#ifdef __cplusplus
static inline slr_scaler_desc slr_scaler_desc_init(void)
{
    slr_scaler_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_SCALER_DESC_INIT slr_scaler_desc_init()
#else
#define SLR_SCALER_DESC_INIT                                                                                           \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_scaler_desc)                                                               \
    }
#endif

typedef struct slr_scaler_info {
    float scale;         ///< for the gradients to come
    uint32_t good_steps; ///< since the scale has changed
    uint64_t steps, skipped;
    uint64_t halves, zeros; ///< gradients of the last step that came in SLR_F16; those of them that were 0
    const char *advice;     ///< "", or what to do where half of them or more were 0; lives as long as the process
} slr_scaler_info;

/// `desc` may be NULL.
/// Threads: any.  Blocks: no.  Owns: the caller gets the scaler: slr_scaler_destroy, before its operations.
/// Errors: INVALID (NULL, a number out of range), NO_MEMORY.
SLR_API slr_status slr_scaler_create(slr_ops *ops, const slr_scaler_desc *desc, slr_scaler **out);

/// Submitted work still runs. NULL does nothing.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_scaler_destroy(slr_scaler *scaler);

/// to = gradient / scale, in SLR_F32, and whether all of that is finite, in one pass. Call it for each gradient of a
/// step. `to` may be `gradient` if that is of SLR_F32.
/// Threads: one at a time per scaler.  Errors: as operations.
SLR_API slr_status slr_scaler_unscale(slr_scaler *scaler, slr_stream *stream, const slr_tensor *gradient,
                                      const slr_tensor *to, slr_point *out);

/// Appends a step of an optimiser to the stream.
typedef slr_status slr_scaler_function(void *user, slr_stream *stream);

/// Calls `step` if all gradients since the last step were finite; else the step is skipped, which is no error, and the
/// scale is reduced. `skipped` (may be NULL) gets 1 or 0.
///
/// Threads: one at a time per scaler.  Blocks: until the stream's work is done.  Owns: nothing.
/// Errors: INVALID (NULL), WRONG_STATE (no slr_scaler_unscale since the last step), those of the stream and of `step`.
SLR_API slr_status slr_scaler_step(slr_scaler *scaler, slr_stream *stream, slr_scaler_function *step, void *user,
                                   uint32_t *skipped);

/// Threads: one at a time per scaler.  Blocks: no.  Errors: INVALID (NULL).
SLR_API slr_status slr_scaler_get_info(const slr_scaler *scaler, slr_scaler_info *out);

/// The macro slr_scaler_get_info calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_scaler_get_info_sized(const slr_scaler *scaler, slr_scaler_info *out, size_t bytes);
#define slr_scaler_get_info(scaler, out) slr_scaler_get_info_sized((scaler), (out), sizeof(slr_scaler_info))

#ifdef __cplusplus
}
#endif
#endif
