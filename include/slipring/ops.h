// SPDX-License-Identifier: Apache-2.0
/// This header declares operations of neural networks on tensors, forward and backward: products, convolutions, norms,
/// losses and optimisers. Contract: docs/contract/ops.md.
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

/// A tensor is a buffer with a type and a shape. The type of the elements is SLR_F32, SLR_F16 or SLR_BF16. All tensors
/// of a call have the same type, except where a function names another type: indices and labels are SLR_I32. All
/// operations compute sums in SLR_F32. The tensor's elements are the first elements of the buffer. A tensor has at most
/// 2^31 - 1 elements. The elements along the last dimension are contiguous and form a row. The dimensions of a tensor
/// of images are, in this order: n (the number of images), the number of channels, the height and the width. The
/// dimensions of a tensor of signals are n (the number of signals), the number of channels and the length.
typedef struct slr_tensor {
    slr_buffer *buffer;
    slr_scalar dtype;
    uint32_t rank; ///< number of dimensions, 1 to SLR_BUFFER_MOST_DIMENSIONS
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

/// slr_ops holds the operations of one device: the compiled kernels, and measurements of their speed.
typedef struct slr_ops slr_ops;

/// The enum slr_choice says how slipring chooses an algorithm if an operation has several algorithms.
typedef enum slr_choice {
    SLR_CHOICE_HEURISTIC = 1, ///< slipring decides by the kind of device and by the shapes of the tensors
    /// The first call with a shape measures the times of all algorithms; later calls with this shape use the fastest.
    SLR_CHOICE_BENCHMARK
} slr_choice;

typedef struct slr_ops_desc {
    uint32_t struct_size;
    uint32_t choice; ///< slr_choice; default: SLR_CHOICE_HEURISTIC
    /// The most temporary memory (workspace), in bytes, that one call of an operation takes from the device's pool;
    /// default: 256 MiB.
    uint64_t workspace_bytes;
    /// 1: slipring uses only algorithms whose results have the same bits in every run; 0: any algorithm.
    uint32_t deterministic;
    uint32_t reserved; ///< ignored
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

/// Makes the object that holds the operations of a device. `desc` may be NULL. slipring compiles each kernel at its
/// first use.
///
/// Threads: any.  Blocks: no.  Owns: the caller frees the operations by slr_ops_destroy, before the device closes.
/// Errors: INVALID (a NULL argument, a `choice` that is no slr_choice), NO_MEMORY.
SLR_API slr_status slr_ops_create(slr_device *device, const slr_ops_desc *desc, slr_ops **out);

/// Frees the object that holds the operations of a device. Work that was submitted before slr_ops_destroy still runs.
/// If `ops` is NULL, slr_ops_destroy does nothing.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_ops_destroy(slr_ops *ops);

/// slr_algorithm describes an algorithm that slipring timed for a call, or that cannot do this call.
typedef struct slr_algorithm {
    const char *name;     ///< name of the algorithm, such as "own.panel"
    const char *provider; ///< who wrote the algorithm: "own" (slipring), or a library such as "openblas" or "onednn"
    /// Time of the call in nanoseconds, the shortest of several runs; 0: the algorithm cannot do this call.
    uint64_t ns;
    double flops; ///< number of floating-point operations of one call
    uint64_t workspace_bytes;
    uint32_t deterministic; ///< 1: the results have the same bits in every run
    uint32_t chosen;        ///< 1: later calls with tensors of the same shapes use this algorithm
    const char *why_not;    ///< why the algorithm cannot do this call; else ""
} slr_algorithm;

/// The texts in slr_algorithm are valid until the visitor returns.
typedef void slr_algorithm_visitor(void *user, const slr_algorithm *algorithm);

/// slr_provider describes a library that operations may use. slipring opens the library at its first use.
typedef struct slr_provider {
    const char *name;
    const char *path;    ///< path of the opened library; "" if none was opened
    const char *version; ///< version of the library, as the library itself reports it
    const char *why_not; ///< why the library cannot be used; "" if it can be used
} slr_provider;

/// The texts in slr_provider live as long as the process.
typedef void slr_provider_visitor(void *user, const slr_provider *provider);

/// Calls the visitor for each library that operations may use. The environment variable SLIPRING_OPENBLAS_LIB names a
/// file that slipring opens instead of libopenblas.so.0. The environment variable SLIPRING_ONEDNN_LIB names a file that
/// slipring opens instead of libdnnl.so.2.
/// Threads: any.  Blocks: while a library is opened.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_ops_visit_providers(slr_provider_visitor *visit, void *user);

/// The visitor gets the name of a group of operations, and the kernel source of the group as slipring compiles it.
/// `name` and `text` are valid until the visitor returns.
typedef void slr_ops_source_visitor(void *user, const char *name, const char *text);

/// Calls the visitor for each kernel source of the operations. The sources use only the language of
/// docs/contract/kernels.md, so they run on every device.
/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument), NO_MEMORY.
SLR_API slr_status slr_ops_visit_sources(slr_ops_source_visitor *visit, void *user);

// Each operation below appends its work to the stream. `out` gets a point (a place in the stream's order of work) that
// passes when the operation has completed; `out` may be NULL. The following rules hold for all operations:
//
// Threads: any.  Blocks: while kernels compile; with SLR_CHOICE_BENCHMARK also while the first call of a shape times
// the algorithms.
// Owns: slipring keeps the buffers alive until the work ends, and copies tensors and descriptions.
// Errors: INVALID (a NULL argument; a shape or type that does not fit: the error message has both; a buffer too small),
//   UNSUPPORTED (the device cannot do the operation, or not with this type or shape), COMPILE, NO_MEMORY.

// ---- matrix product -------------------------------------------------------------------------------------------------

/// slr_matmul_desc describes the matrix product c = activation(alpha * op(a) op(b) + beta * c + bias). op(a) is a, or
/// the transpose of a if transpose_a is 1; the same holds for b.
typedef struct slr_matmul_desc {
    uint32_t struct_size;
    uint32_t transpose_a, transpose_b;
    slr_activation activation; ///< function that is applied to each result; 0: none
    float alpha;               ///< factor for the product; 0 means 1
    float beta;                ///< factor for the earlier contents of c; 0, the default: the product does not read them
    /// The matrices a, b and c of a product have rank 2. In a batch of products they have rank 3, and the first
    /// dimension counts the products. If a and c have rank 3 and b has rank 2, each matrix of a is multiplied by the
    /// same matrix b.
    const slr_tensor *a, *b, *c;
    const slr_tensor *bias; ///< a tensor of rank 1 with one number per column of c; or NULL
    const slr_tensor *pre;  ///< a tensor of the shape of c, which gets the values before the activation; or NULL
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

/// Computes the gradients of a, b and bias of a matrix product from the gradient of c. Each of the three tensors for
/// the gradients (`da`, `db`, `dbias`) may be NULL. `desc` is the description of the forward call, but with beta 0. If
/// the product has an activation, slr_ops_matmul_backward needs the tensor desc->pre.
SLR_API slr_status slr_ops_matmul_backward(slr_ops *ops, slr_stream *stream, const slr_matmul_desc *desc,
                                           const slr_tensor *dc, const slr_tensor *da, const slr_tensor *db,
                                           const slr_tensor *dbias, slr_point *out);

/// Calls the visitor for each algorithm for matrix products. If an algorithm can compute the product `desc`,
/// slr_ops_matmul_bench measures its time; if not, slr_algorithm.why_not has the reason. The timed runs of the
/// algorithms write their results to temporary buffers. Later products of the same shape use the algorithm that
/// slr_ops_matmul_bench has chosen.
/// Blocks: while the algorithms run.
SLR_API slr_status slr_ops_matmul_bench(slr_ops *ops, slr_stream *stream, const slr_matmul_desc *desc,
                                        slr_algorithm_visitor *visit, void *user);

// ---- convolution and pooling ----------------------------------------------------------------------------------------

/// slr_convolution_desc describes the convolution y = activation(x * weights + bias), where * is a convolution without
/// flipping the weights. If the tensors have rank 4, x has the dimensions n (images), c (channels), h (height), w
/// (width). The weights have the dimensions k (filters), c / groups, r (height of a filter), s (width of a filter). The
/// output y has the dimensions n, k, p (height), q (width). If the tensors have rank 3, the dimensions h, r and p are
/// left out, and slipring ignores the first element of the arrays `stride`, `padding` and `dilation`. If `groups` is c,
/// each channel has filters of its own (a depth-wise convolution).
typedef struct slr_convolution_desc {
    uint32_t struct_size;
    uint32_t stride[2];   ///< step of the filter over x: [0] down, in rows; [1] across, in columns; 0 means 1
    uint32_t padding[2];  ///< [0]: rows of zeros above x, and as many below; [1]: columns of zeros on each side of x
    uint32_t dilation[2]; ///< distance in x between neighbouring weights: [0] in rows, [1] in columns; 0 means 1
    uint32_t groups;      ///< number of groups into which the channels and the filters are divided; 0 means 1
    slr_activation activation; ///< function that is applied to each result; 0: none
    uint32_t reserved;         ///< ignored
    const slr_tensor *x, *weights, *y;
    const slr_tensor *bias; ///< a tensor of rank 1 with one number per filter; or NULL
    const slr_tensor *pre;  ///< a tensor of the shape of y, which gets the values before the activation; or NULL
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

/// Computes the gradients of x, weights and bias of a convolution from the gradient of y. Each of the three tensors for
/// the gradients (`dx`, `dweights`, `dbias`) may be NULL. If the convolution has an activation,
/// slr_ops_convolution_backward needs the tensor desc->pre.
SLR_API slr_status slr_ops_convolution_backward(slr_ops *ops, slr_stream *stream, const slr_convolution_desc *desc,
                                                const slr_tensor *dy, const slr_tensor *dx, const slr_tensor *dweights,
                                                const slr_tensor *dbias, slr_point *out);

/// Measures the time of all algorithms for a convolution, and calls the visitor, as slr_ops_matmul_bench does for
/// products.
SLR_API slr_status slr_ops_convolution_bench(slr_ops *ops, slr_stream *stream, const slr_convolution_desc *desc,
                                             slr_algorithm_visitor *visit, void *user);
/// Measures the time of the algorithms for one gradient of a convolution: the gradient of x if `dx` is given, or the
/// gradient of the weights if `dweights` is given. The caller must give exactly one of the tensors `dx` and `dweights`.
SLR_API slr_status slr_ops_convolution_backward_bench(slr_ops *ops, slr_stream *stream,
                                                      const slr_convolution_desc *desc, const slr_tensor *dy,
                                                      const slr_tensor *dx, const slr_tensor *dweights,
                                                      slr_algorithm_visitor *visit, void *user);

typedef enum slr_pool_kind {
    SLR_POOL_LARGEST = 1,
    SLR_POOL_MEAN ///< the mean of those elements of the window that lie inside x; zeros of the padding do not count
} slr_pool_kind;

/// slr_pooling_desc describes a pooling from the tensor x to the tensor y. If the tensors have rank 4, the input x of a
/// pooling has the dimensions n (images), c (channels), h (height), w (width), and the output y has n, c, p (height), q
/// (width). If the tensors have rank 3, the dimensions h and p are left out, and slipring ignores the first element of
/// the arrays `window`, `stride` and `padding`.
typedef struct slr_pooling_desc {
    uint32_t struct_size;
    slr_pool_kind kind;
    /// [0] is a number of rows of x, [1] of columns. A stride of 0 means the window's size; the padding must be less
    /// than the window.
    uint32_t window[2], stride[2], padding[2];
    const slr_tensor *x, *y;
    /// The tensor `indices`, with the shape of y and the type SLR_I32, says for each element of y which element of x
    /// was the largest in the window: the number of this element in its plane of h rows and w columns.
    /// slr_ops_pooling_backward needs these indices if `kind` is SLR_POOL_LARGEST. Otherwise `indices` may be NULL.
    const slr_tensor *indices;
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

// ---- element by element, and along rows (the last dimension) -------------------------------------------------------

SLR_API slr_status slr_ops_activation(slr_ops *ops, slr_stream *stream, slr_activation kind, const slr_tensor *x,
                                      const slr_tensor *y, slr_point *out);
/// Computes the gradient `dx` of the input from the gradient `dy` of the output. The tensor `x` is the input that the
/// program passed to slr_ops_activation.
SLR_API slr_status slr_ops_activation_backward(slr_ops *ops, slr_stream *stream, slr_activation kind,
                                               const slr_tensor *x, const slr_tensor *dy, const slr_tensor *dx,
                                               slr_point *out);

SLR_API slr_status slr_ops_softmax(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *y,
                                   slr_point *out);
SLR_API slr_status slr_ops_softmax_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *y, const slr_tensor *dy,
                                            const slr_tensor *dx, slr_point *out);

/// Normalizes each row: y = (x - mean) / sqrt(variance + epsilon) * gamma + beta. `means` and `scales` get each row's
/// mean and 1 / sqrt(variance + epsilon), as one SLR_F32 number per row.
SLR_API slr_status slr_ops_layer_norm(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *gamma,
                                      const slr_tensor *beta, float epsilon, const slr_tensor *y,
                                      const slr_tensor *means, const slr_tensor *scales, slr_point *out);
/// `means` and `scales` are the results of slr_ops_layer_norm. The program may pass NULL for both gradients `dgamma`
/// and `dbeta`, but not for only one of them.
SLR_API slr_status slr_ops_layer_norm_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *x,
                                               const slr_tensor *gamma, const slr_tensor *means,
                                               const slr_tensor *scales, const slr_tensor *dy, const slr_tensor *dx,
                                               const slr_tensor *dgamma, const slr_tensor *dbeta, slr_point *out);

typedef enum slr_reduction {
    SLR_REDUCTION_SUM = 1,
    SLR_REDUCTION_MEAN,
    SLR_REDUCTION_LARGEST ///< maximum; if several elements are the largest, the first of them gets the gradient
} slr_reduction;

#define SLR_EVERY_AXIS 0xFFFFFFFFu

/// Combines the elements of `x` along one axis, or along all axes with SLR_EVERY_AXIS. The tensor `y` has as many
/// elements as `x` would have without that axis, or one element with SLR_EVERY_AXIS.
SLR_API slr_status slr_ops_reduce(slr_ops *ops, slr_stream *stream, slr_reduction kind, uint32_t axis,
                                  const slr_tensor *x, const slr_tensor *y, slr_point *out);
SLR_API slr_status slr_ops_reduce_backward(slr_ops *ops, slr_stream *stream, slr_reduction kind, uint32_t axis,
                                           const slr_tensor *x, const slr_tensor *y, const slr_tensor *dy,
                                           const slr_tensor *dx, slr_point *out);

#define SLR_SCAN_REVERSE 1u   ///< the sum runs from the last element to the first
#define SLR_SCAN_EXCLUSIVE 2u ///< the running sum leaves out the element itself

/// Computes running sums along each row. The gradient of a scan is a scan of the gradient, with the flag
/// SLR_SCAN_REVERSE inverted.
SLR_API slr_status slr_ops_scan(slr_ops *ops, slr_stream *stream, uint32_t flags, const slr_tensor *x,
                                const slr_tensor *y, slr_point *out);

/// Gives the k largest elements of each row of `x` in falling order, and their indices in the row as SLR_I32. The last
/// dimension of `values` and `indices` is k. Equal elements keep the order that they have in the row.
SLR_API slr_status slr_ops_top_k(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *values,
                                 const slr_tensor *indices, slr_point *out);
SLR_API slr_status slr_ops_top_k_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *indices,
                                          const slr_tensor *dvalues, const slr_tensor *dx, slr_point *out);

/// For each index (SLR_I32), copies the row of `table` with that index to `y`. If an index is not the number of a row
/// of the table, all elements of the row of `y` for this index are 0.
SLR_API slr_status slr_ops_embedding(slr_ops *ops, slr_stream *stream, const slr_tensor *table,
                                     const slr_tensor *indices, const slr_tensor *y, slr_point *out);
SLR_API slr_status slr_ops_embedding_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *indices,
                                              const slr_tensor *dy, const slr_tensor *dtable, slr_point *out);

/// Converts elements between SLR_F32, SLR_F16 and SLR_BF16, and rounds to the nearest value, with ties to even.
SLR_API slr_status slr_ops_cast(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *y,
                                slr_point *out);

// ---- losses ---------------------------------------------------------------------------------------------------------
// The tensor `loss` has one element, of type SLR_F32. The backward function of a loss multiplies the gradient by
// `scale`, which is 1 or the factor by which the program multiplied the loss.

/// Computes the loss of a classifier: the mean of -log(softmax(logits)[label]) over the rows. A row whose label
/// (SLR_I32) is not the number of a class adds 0 to the sum, but counts as a row of the mean.
SLR_API slr_status slr_ops_cross_entropy(slr_ops *ops, slr_stream *stream, const slr_tensor *logits,
                                         const slr_tensor *labels, const slr_tensor *loss, slr_point *out);
SLR_API slr_status slr_ops_cross_entropy_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *logits,
                                                  const slr_tensor *labels, float scale, const slr_tensor *dlogits,
                                                  slr_point *out);

/// Computes the mean of (x - target)^2 over all elements.
SLR_API slr_status slr_ops_mean_square(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *target,
                                       const slr_tensor *loss, slr_point *out);
SLR_API slr_status slr_ops_mean_square_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *x,
                                                const slr_tensor *target, float scale, const slr_tensor *dx,
                                                slr_point *out);

// ---- optimisers: weights and their state are SLR_F32 ---------------------------------------------------------------

/// Updates weights: d = gradient + decay * weights; velocity = momentum * velocity + d; weights -= rate * velocity. If
/// `velocity` is NULL, the update uses no momentum.
SLR_API slr_status slr_ops_sgd(slr_ops *ops, slr_stream *stream, const slr_tensor *weights, const slr_tensor *gradient,
                               const slr_tensor *velocity, float rate, float momentum, float decay, slr_point *out);

/// Updates weights by the method Adam with decoupled weight decay.
typedef struct slr_adam_desc {
    uint32_t struct_size;
    uint32_t step; ///< the number of this training step, counted from 1
    float rate;
    float beta1;   ///< decay of the mean of the gradients; 0 means 0.9
    float beta2;   ///< decay of the mean of the squared gradients; 0 means 0.999
    float epsilon; ///< number that is added to the divisor; 0 means 1e-8
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

// ---- loss scaling, for gradients that would be 0 in SLR_F16 --------------------------------------------------------

/// A scaler gives a factor (the scale), by which the program multiplies the loss, so that small gradients do not become
/// 0 in half precision. After the backward calls, slr_scaler_unscale divides the gradients by the same scale in
/// SLR_F32.
typedef struct slr_scaler slr_scaler;

typedef struct slr_scaler_desc {
    uint32_t struct_size;
    /// Number of steps in a row with finite gradients after which the scale grows; 0 means 2,000.
    uint32_t growth_interval;
    float initial;     ///< first value of the scale; 0 means 65,536
    float growth;      ///< factor by which the scale grows; 0 means 2. For a fixed scale, set growth and backoff to 1
    float backoff;     ///< factor by which the scale changes after a gradient that is not finite; 0 means 0.5
    uint32_t reserved; ///< ignored
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
    float scale;         ///< factor for the loss in the next step
    uint32_t good_steps; ///< steps with finite gradients since the scale last changed
    uint64_t steps, skipped;
    /// `halves` is the number of SLR_F16 elements in the last step's gradients, and `zeros` is how many of these
    /// elements were 0.
    uint64_t halves, zeros;
    /// Advice on a better scale or type, if at least half of the SLR_F16 elements were 0; else "". The text lives as
    /// long as the process.
    const char *advice;
} slr_scaler_info;

/// Makes a scaler for the loss. `desc` may be NULL.
/// Threads: any.  Blocks: no.  Owns: the caller gets the scaler, and frees it by slr_scaler_destroy before
/// slr_ops_destroy.
/// Errors: INVALID (a NULL argument, a number out of range), NO_MEMORY.
SLR_API slr_status slr_scaler_create(slr_ops *ops, const slr_scaler_desc *desc, slr_scaler **out);

/// Releases the scaler object. Work that was submitted before slr_scaler_destroy still runs. If `scaler` is NULL,
/// slr_scaler_destroy does nothing.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_scaler_destroy(slr_scaler *scaler);

/// Computes `to` = `gradient` / scale in SLR_F32, and records in the same pass whether all results are finite. The
/// program calls slr_scaler_unscale for each gradient of a training step. `to` may be the same tensor as `gradient` if
/// `gradient` has the type SLR_F32.
/// Threads: one at a time per scaler.  Errors: those that the rules for all operations (above) list.
SLR_API slr_status slr_scaler_unscale(slr_scaler *scaler, slr_stream *stream, const slr_tensor *gradient,
                                      const slr_tensor *to, slr_point *out);

/// slr_scaler_function is a function of the program that appends one step of an optimiser to the stream.
typedef slr_status slr_scaler_function(void *user, slr_stream *stream);

/// Calls the function `step` if all gradients since the last call of slr_scaler_step were finite. If a gradient was not
/// finite, slr_scaler_step does not call `step`, reduces the scale and returns SLR_OK. `skipped` gets 1 if the step was
/// skipped, else 0; `skipped` may be NULL.
///
/// Threads: one at a time per scaler.  Blocks: until the work submitted to the stream has completed.  Owns: nothing.
/// Errors: INVALID (a NULL argument), WRONG_STATE (the program has not called slr_scaler_unscale since the last
///   slr_scaler_step), the errors of the stream and of `step`.
SLR_API slr_status slr_scaler_step(slr_scaler *scaler, slr_stream *stream, slr_scaler_function *step, void *user,
                                   uint32_t *skipped);

/// Threads: one at a time per scaler.  Blocks: no.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_scaler_get_info(const slr_scaler *scaler, slr_scaler_info *out);

/// The macro slr_scaler_get_info calls slr_scaler_get_info_sized with `sizeof(slr_scaler_info)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_scaler_get_info_sized(const slr_scaler *scaler, slr_scaler_info *out, size_t bytes);
#define slr_scaler_get_info(scaler, out) slr_scaler_get_info_sized((scaler), (out), sizeof(slr_scaler_info))

#ifdef __cplusplus
}
#endif
#endif
