// SPDX-License-Identifier: Apache-2.0
/// A sequence is the list of a neural network's layers, for training. The sequence keeps only some activations (outputs
/// of layers) in memory, and computes the others again for the gradients. slr_ops_plan gives the memory that a sequence
/// needs. Contract: docs/contract/ops.md.
#ifndef SLIPRING_LAYERS_H
#define SLIPRING_LAYERS_H

#include <slipring/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A function of the program that appends the work of one layer to the stream: the layer computes y from x. Each time
/// slipring computes a layer from the same x, the layer must give the same bits.
typedef slr_status slr_layer_forward(void *user, slr_stream *stream, const slr_tensor *x, const slr_tensor *y);

/// A function of the program that appends the computation of the layer's gradients to the stream: dx, the gradient of
/// x, and the gradients of the layer's own weights. `dx` is NULL if nobody needs the gradient of x.
typedef slr_status slr_layer_backward(void *user, slr_stream *stream, const slr_tensor *x, const slr_tensor *y,
                                      const slr_tensor *dy, const slr_tensor *dx);

typedef struct slr_layer {
    slr_layer_forward *forward;
    slr_layer_backward *backward;
    void *user;
    slr_tensor output; ///< type and shape of the layer's output; the buffer is ignored
} slr_layer;

/// slr_sequence_desc describes a sequence of layers. slr_sequence_create copies the description and its layers.
typedef struct slr_sequence_desc {
    uint32_t struct_size;
    uint32_t count; ///< number of layers, 1 to 65,536
    const slr_layer *layers;
    slr_tensor input;  ///< type and shape of the first layer's x; the buffer is ignored
    uint32_t every;    ///< one layer in `every` layers keeps its output. 1: all layers keep their outputs; default: the
                       ///< square root of `count`
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

/// A sequence is a list of layers; its activations and gradients use memory of the device's pool.
typedef struct slr_sequence slr_sequence;

/// Makes a sequence of layers.
/// Threads: any.  Blocks: no.  Owns: the caller gets the sequence, and frees it by slr_sequence_destroy before
/// slr_ops_destroy.
/// Errors: INVALID (a NULL argument; no layer or too many; a shape or type that no operation takes), NO_MEMORY.
SLR_API slr_status slr_sequence_create(slr_ops *ops, const slr_sequence_desc *desc, slr_sequence **out);

/// Releases the sequence object. Work that was submitted before slr_sequence_destroy still runs. If `sequence` is NULL,
/// slr_sequence_destroy does nothing.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_sequence_destroy(slr_sequence *sequence);

/// Appends the work of all layers to the stream. The tensor `y` gets the output of the last layer.
/// Threads: one at a time per sequence.  Blocks: as long as the functions of the sequence's layers block.
/// Errors: INVALID (a NULL argument, a type or shape that does not fit), and those of the layers.
SLR_API slr_status slr_sequence_forward(slr_sequence *sequence, slr_stream *stream, const slr_tensor *x,
                                        const slr_tensor *y);

/// Appends the computation of the gradients of all layers, the last layer first. slr_sequence_backward also appends the
/// layers that must be computed again for the gradients. `x` and `y` must be the tensors that the program passed to
/// slr_sequence_forward, with unchanged contents. `dx` may be NULL.
/// Threads, Blocks: as for slr_sequence_forward.
/// Errors: those of slr_sequence_forward; WRONG_STATE (no slr_sequence_forward since the last slr_sequence_backward).
SLR_API slr_status slr_sequence_backward(slr_sequence *sequence, slr_stream *stream, const slr_tensor *x,
                                         const slr_tensor *y, const slr_tensor *dy, const slr_tensor *dx);

/// slr_plan_bytes gives the bytes that a sequence takes from the device's pool at most (docs/contract/pools.md).
typedef struct slr_plan_bytes {
    uint64_t plain;        ///< bytes if the sequence keeps every activation
    uint64_t checkpointed; ///< bytes if it keeps only one in `every` activations
} slr_plan_bytes;

/// slr_plan gives the memory that a sequence needs for activations and gradients. The memory that slr_ops_plan reports
/// does not include x, y, their gradients, the weights, and memory that the layers allocate themselves.
typedef struct slr_plan {
    uint32_t every;      ///< slr_sequence_desc.every, or its default
    uint32_t recomputed; ///< number of layers that are computed twice
    slr_plan_bytes as_described;
    slr_plan_bytes f32, half;                       ///< with activations in SLR_F32; in SLR_F16 or SLR_BF16
    slr_plan_bytes f32_half_batch, half_half_batch; ///< bytes if the first dimension were half as large, rounded up
} slr_plan;

/// Computes how much memory a sequence needs. slr_ops_plan needs no open device.
/// Threads: any.  Blocks: no.  Errors: those of slr_sequence_create, without NO_MEMORY. For slr_ops_plan, the functions
/// of the layers may be NULL.
SLR_API slr_status slr_ops_plan(const slr_sequence_desc *desc, slr_plan *out);

/// The macro slr_ops_plan calls slr_ops_plan_sized with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_ops_plan_sized(const slr_sequence_desc *desc, slr_plan *out, size_t bytes);
#define slr_ops_plan(desc, out) slr_ops_plan_sized((desc), (out), sizeof(slr_plan))

#ifdef __cplusplus
}
#endif
#endif
