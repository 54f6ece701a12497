// SPDX-License-Identifier: Apache-2.0
// Operations, as they share kernels, workspace and checks.
#ifndef SLRI_OPS_OPERATIONS_H
#define SLRI_OPS_OPERATIONS_H

#include "base/status.h"
#include "base/thread.h"
#include "device/device.h"

#include <slipring/kernel.h>
#include <slipring/ops.h>

#include <stdbool.h>

enum slri_ops_source { SLRI_OPS_MATMUL, SLRI_OPS_ROWS, SLRI_OPS_EACH, SLRI_OPS_CONVOLUTION, SLRI_OPS_SOURCES };

// X(constant, source, name)
#define SLRI_OPS_KERNELS(X)                                                                                            \
    X(MATMUL_TILE, MATMUL, "matmul_tile")                                                                              \
    X(MATMUL_BLOCK, MATMUL, "matmul_block")                                                                            \
    X(PACK_ROWS, MATMUL, "matmul_pack_rows")                                                                           \
    X(PACK_COLUMNS, MATMUL, "matmul_pack_columns")                                                                     \
    X(MATMUL_PANEL, MATMUL, "matmul_panel")                                                                            \
    X(MATMUL_FINISH, MATMUL, "matmul_finish")                                                                          \
    X(SOFTMAX, ROWS, "softmax")                                                                                        \
    X(SOFTMAX_BACKWARD, ROWS, "softmax_backward")                                                                      \
    X(LAYER_NORM, ROWS, "layer_norm")                                                                                  \
    X(LAYER_NORM_BACKWARD, ROWS, "layer_norm_backward")                                                                \
    X(LAYER_NORM_WEIGHTS, ROWS, "layer_norm_weights")                                                                  \
    X(CROSS_ENTROPY, ROWS, "cross_entropy")                                                                            \
    X(CROSS_ENTROPY_BACKWARD, ROWS, "cross_entropy_backward")                                                          \
    X(REDUCE_ROW, ROWS, "reduce_row")                                                                                  \
    X(REDUCE_COLUMN, ROWS, "reduce_column")                                                                            \
    X(REDUCE_BACKWARD, ROWS, "reduce_backward")                                                                        \
    X(SCAN, ROWS, "scan")                                                                                              \
    X(TOP_K, ROWS, "top_k")                                                                                            \
    X(TOP_K_BACKWARD, ROWS, "top_k_backward")                                                                          \
    X(TO_FLOAT, EACH, "to_float")                                                                                      \
    X(FROM_FLOAT, EACH, "from_float")                                                                                  \
    X(ACTIVATION, EACH, "activation")                                                                                  \
    X(ACTIVATION_BACKWARD, EACH, "activation_backward")                                                                \
    X(SQUARE_ERROR, EACH, "square_error")                                                                              \
    X(SQUARE_ERROR_BACKWARD, EACH, "square_error_backward")                                                            \
    X(EMBEDDING, EACH, "embedding")                                                                                    \
    X(EMBEDDING_BACKWARD, EACH, "embedding_backward")                                                                  \
    X(SGD, EACH, "sgd")                                                                                                \
    X(UNSCALE, EACH, "unscale")                                                                                        \
    X(ADAM, EACH, "adam")                                                                                              \
    X(CONVOLUTION, CONVOLUTION, "convolution")                                                                         \
    X(CONVOLUTION_INPUT, CONVOLUTION, "convolution_input")                                                             \
    X(CONVOLUTION_WEIGHTS, CONVOLUTION, "convolution_weights")                                                         \
    X(CONVOLUTION_BIAS, CONVOLUTION, "convolution_bias")                                                               \
    X(CONVOLUTION_COLUMNS, CONVOLUTION, "convolution_columns")                                                         \
    X(POOL, CONVOLUTION, "pool")                                                                                       \
    X(POOL_BACKWARD, CONVOLUTION, "pool_backward")

enum slri_ops_kernel {
#define SLRI_OPS_KERNEL(constant, source, name) SLRI_K_##constant,
    SLRI_OPS_KERNELS(SLRI_OPS_KERNEL)
#undef SLRI_OPS_KERNEL
        SLRI_OPS_KERNEL_COUNT
};

struct slri_picked;
struct slri_nvidia;

#define SLRI_OPS_TYPES 3          // SLR_F32, SLR_F16, SLR_BF16: T in the sources
#define SLRI_REAL ((slr_scalar)0) // of an operand: any of these, the same for all of a call

struct slr_ops {
    slr_device *device;
    slr_ops_desc desc; // with the defaults filled in
    slri_mutex lock;
    // Under the lock; made when they are first used.
    slr_program *program[SLRI_OPS_TYPES][SLRI_OPS_SOURCES];
    slr_kernel *kernel[SLRI_OPS_TYPES][SLRI_OPS_KERNEL_COUNT];
    struct slri_picked *picked;
    struct slri_nvidia *nvidia; // NULL until a library of NVIDIA's is asked for
};

#define SLRI_OPS_GROUP 64u // as GROUP in the sources

// A launch of the kernel for elements of that type, with the arguments after `out`, each made by slr_arg_*.
#define SLRI_OPS_LAUNCH(ops, stream, kernel, dtype, shape, out, ...)                                                   \
    slri_ops_launch((ops), (stream), (kernel), (dtype), (shape), (const slr_arg[]){__VA_ARGS__},                       \
                    (uint32_t)(sizeof((const slr_arg[]){__VA_ARGS__}) / sizeof(slr_arg)), (out))
slr_status slri_ops_launch(slr_ops *ops, slr_stream *stream, enum slri_ops_kernel kernel, slr_scalar dtype,
                           slr_shape shape, const slr_arg *args, uint32_t count, slr_point *out);
static inline slr_arg slri_arg_real(double value) // rounded to a float
{
    return slr_arg_float((double)(float)value);
}

static inline slr_arg slri_arg_of(const slr_tensor *tensor) // NULL is none
{
    return slr_arg_buffer(tensor ? tensor->buffer : NULL);
}
static inline slr_arg slri_arg_n(uint64_t n)
{
    return slr_arg_unsigned(n);
}
// A thread an element.
static inline slr_shape slri_shape_each(uint64_t n)
{
    return SLR_1D(n);
}
// A block of SLRI_OPS_GROUP threads a row.
static inline slr_shape slri_shape_rows(uint64_t rows)
{
    return SLR_GRID((uint32_t)rows, SLRI_OPS_GROUP, 0);
}

// Memory for one call, of the device's pool: destroy it when the call's work is submitted. NULL for 0 bytes.
// Errors: NO_MEMORY (beyond desc.workspace_bytes, too).
slr_status slri_ops_workspace(slr_ops *ops, uint64_t bytes, slr_buffer **out);

// The whole source of a group of operations, to free(). NULL: no memory.
char *slri_ops_source(enum slri_ops_source source);
const char *slri_ops_source_name(enum slri_ops_source source);

// ---- tensors --------------------------------------------------------------------------------------------------------

// A tensor of a call, for what is said about it.
struct slri_operand {
    const char *name;
    const slr_tensor *tensor; // NULL: it was not given
    slr_scalar dtype;         // that it must have, or SLRI_REAL: the first such one of a call decides for all
    bool may_be_null;
};

// Whether the stream and each tensor are there, of this device, of the right type, and no larger than their buffers.
// Errors: INVALID.
slr_status slri_operands_check(const slr_ops *ops, const slr_stream *stream, const char *call,
                               const struct slri_operand *operand, uint32_t count);
#define SLRI_OPERANDS_CHECK(ops, stream, call, ...)                                                                    \
    slri_operands_check((ops), (stream), (call), (const struct slri_operand[]){__VA_ARGS__},                           \
                        (uint32_t)(sizeof((const struct slri_operand[]){__VA_ARGS__}) / sizeof(struct slri_operand)))

const char *slri_real_name(slr_scalar dtype); // "f32", "f16", "bf16"
uint64_t slri_tensor_elements(const slr_tensor *tensor);
// Without the last dimension; its length.
static inline uint64_t slri_tensor_row(const slr_tensor *tensor)
{
    return tensor->shape[tensor->rank - 1];
}
static inline uint64_t slri_tensor_rows(const slr_tensor *tensor)
{
    return slri_tensor_elements(tensor) / slri_tensor_row(tensor);
}
// INVALID with both shapes where they differ. A NULL `tensor` is fine.
slr_status slri_tensor_same(const char *call, const char *name, const slr_tensor *tensor, const char *than_name,
                            const slr_tensor *than);
// INVALID with both shapes where `tensor` has other dimensions than these. A NULL `tensor` is fine. `because` is what
// they follow from: "x [2, 3] and weights [4, 3]"; an expression, evaluated only where they differ, for each call of an
// operation comes by here, and text takes microseconds.
#define SLRI_TENSOR_SHAPED(call, name, tensor, rank, shape, because)                                                   \
    (slri_tensor_fits(tensor, rank, shape) ? SLR_OK : slri_tensor_misfit(call, name, tensor, rank, shape, because))
#define SLRI_SHAPE_BYTES 192
const char *slri_because_of(const char *name, const slr_tensor *tensor, char out[SLRI_SHAPE_BYTES + 32]); // "x [2, 3]"
bool slri_tensor_fits(const slr_tensor *tensor, uint32_t rank, const uint64_t *shape);
slr_status slri_tensor_misfit(const char *call, const char *name, const slr_tensor *tensor, uint32_t rank,
                              const uint64_t *shape, const char *because);
// As slri_tensor_shaped, for a tensor of which only the number of elements counts.
slr_status slri_tensor_sized(const char *call, const char *name, const slr_tensor *tensor, uint64_t elements,
                             const char *than_name, const slr_tensor *than);

const char *slri_shape_text(uint32_t rank, const uint64_t *shape, char out[SLRI_SHAPE_BYTES]);

// INVALID where there is no such activation; 0 is one.
slr_status slri_activation_check(const char *call, slr_activation activation);

#endif
