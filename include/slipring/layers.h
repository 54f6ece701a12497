// SPDX-License-Identifier: Apache-2.0
/// A sequence is a list of the layers of a neural network, for training. A sequence keeps only some activations
/// (outputs of layers) in memory. When the gradients need activations that the sequence did not keep, the sequence
/// computes them again. slr_ops_plan gives the memory that a sequence needs. Contract: docs/contract/ops.md.
#ifndef SLIPRING_LAYERS_H
#define SLIPRING_LAYERS_H

#include <slipring/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

/// An slr_layer_forward is a function of the program that appends the work of one layer to the stream: the layer
/// computes the tensor y from the tensor x. The layer must give the same bits for the same x each time.
typedef slr_status slr_layer_forward(void *user, slr_stream *stream, const slr_tensor *x, const slr_tensor *y);

/// An slr_layer_backward is a function of the program that appends the computation of one layer's gradients to the
/// stream. From `dy`, the gradient of y, the layer computes `dx`, the gradient of x, and the gradients of its own
/// weights. `dx` is NULL if the gradient of x is not needed.
typedef slr_status slr_layer_backward(void *user, slr_stream *stream, const slr_tensor *x, const slr_tensor *y,
                                      const slr_tensor *dy, const slr_tensor *dx);

/// slr_layer describes one layer of a sequence.
typedef struct slr_layer {
    slr_layer_forward *forward;
    slr_layer_backward *backward;
    void *user;        ///< argument of `forward` and of `backward`
    slr_tensor output; ///< type and shape of the layer's output; slipring ignores `output.buffer`
} slr_layer;

/// slr_sequence_desc describes a sequence of layers. slr_sequence_create copies the description and its layers.
typedef struct slr_sequence_desc {
    uint32_t struct_size;
    uint32_t count;          ///< number of layers, 1 to 65,536
    const slr_layer *layers; ///< the layers, in the order of computation
    slr_tensor input;        ///< type and shape of the first layer's input x; slipring ignores `input.buffer`
    /// The sequence keeps the output of one layer in `every` layers. If `every` is 1, the sequence keeps all outputs.
    /// By default, `every` is the square root of `count`, rounded down.
    uint32_t every;
    uint32_t reserved; ///< ignored
} slr_sequence_desc;
#ifdef __cplusplus
static inline slr_sequence_desc slr_sequence_desc_init(void)
{
    slr_sequence_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_SEQUENCE_DESC_INIT slr_sequence_desc_init()
#else
#define SLR_SEQUENCE_DESC_INIT                                                                                         \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_sequence_desc)                                                             \
    }
#endif

/// slr_sequence is a sequence of layers. The sequence takes the memory for its activations and gradients from the
/// device's pool (<slipring/pool.h>).
typedef struct slr_sequence slr_sequence;

/// Makes a sequence of layers.
/// Threads: any.  Blocks: no.  Owns: the caller gets the sequence, and frees it by slr_sequence_destroy before
/// slr_ops_destroy.
/// Errors: INVALID (a NULL argument; no layer or more than 65,536 layers; a shape or type that no operation takes),
///   NO_MEMORY.
SLR_API slr_status slr_sequence_create(slr_ops *ops, const slr_sequence_desc *desc, slr_sequence **out);

/// Releases the sequence object. Work that was submitted before slr_sequence_destroy still runs. If `sequence` is NULL,
/// slr_sequence_destroy does nothing.
/// Threads: any, once for each sequence.  Blocks: no.
SLR_API void slr_sequence_destroy(slr_sequence *sequence);

/// Appends the work of all layers to the stream. The first layer reads the tensor `x`. The tensor `y` gets the output
/// of the last layer.
/// Threads: one thread at a time for each sequence.  Blocks: as long as the functions of the sequence's layers block.
/// Errors: INVALID (a NULL argument; a tensor whose type or shape differs from slr_sequence_desc), and those that a
///   layer's function returns.
SLR_API slr_status slr_sequence_forward(slr_sequence *sequence, slr_stream *stream, const slr_tensor *x,
                                        const slr_tensor *y);

/// Appends the computation of the gradients of all layers, the last layer first. slr_sequence_backward also appends the
/// work of the layers whose outputs must be computed again for the gradients. `x` and `y` must be the tensors that the
/// program passed to slr_sequence_forward, with unchanged contents. `dy` is the gradient of `y`. `dx` gets the gradient
/// of `x`; `dx` may be NULL.
/// Threads, Blocks: as for slr_sequence_forward.
/// Errors: those of slr_sequence_forward; WRONG_STATE (no slr_sequence_forward since the last slr_sequence_backward).
SLR_API slr_status slr_sequence_backward(slr_sequence *sequence, slr_stream *stream, const slr_tensor *x,
                                         const slr_tensor *y, const slr_tensor *dy, const slr_tensor *dx);

/// slr_plan_bytes gives the most bytes that a sequence takes from the device's pool (docs/contract/pools.md).
typedef struct slr_plan_bytes {
    uint64_t plain;        ///< the bytes if the sequence keeps all activations
    uint64_t checkpointed; ///< the bytes if the sequence keeps only one in slr_plan.every activations
} slr_plan_bytes;

/// slr_plan gives the memory that a sequence needs for activations and gradients. This memory does not include x, y and
/// their gradients, the weights, or memory that the layers allocate themselves.
typedef struct slr_plan {
    uint32_t every;      ///< slr_sequence_desc.every, or its default
    uint32_t recomputed; ///< number of layers that the sequence computes twice
    /// With activations of the types that the layers' descriptions (slr_layer.output) give.
    slr_plan_bytes as_described;
    slr_plan_bytes f32, half; ///< `f32`: with activations in SLR_F32; `half`: with activations in SLR_F16 or SLR_BF16
    // The next two fields are like `f32` and `half`, but for tensors whose first dimension is half as large, rounded
    // up.
    slr_plan_bytes f32_half_batch, half_half_batch;
} slr_plan;

/// Computes how much memory a sequence needs. slr_ops_plan needs no open device.
/// Threads: any.  Blocks: no.  Errors: those of slr_sequence_create, except NO_MEMORY. The functions `forward` and
/// `backward` of the layers may be NULL.
SLR_API slr_status slr_ops_plan(const slr_sequence_desc *desc, slr_plan *out);

/// The macro slr_ops_plan calls slr_ops_plan_sized with sizeof(slr_plan) as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_ops_plan_sized(const slr_sequence_desc *desc, slr_plan *out, size_t bytes);
#define slr_ops_plan(desc, out) slr_ops_plan_sized((desc), (out), sizeof(slr_plan))

#ifdef __cplusplus
}
#endif
#endif
