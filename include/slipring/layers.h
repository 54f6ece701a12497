// SPDX-License-Identifier: Apache-2.0
/// Sequences of layers that keep few activations and compute the others again, and how much memory they need.
/// Contract: docs/contract/ops.md.
#ifndef SLIPRING_LAYERS_H
#define SLIPRING_LAYERS_H

#include <slipring/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Appends a layer to the stream: y from x. It gives the same bits each time.
typedef slr_status slr_layer_forward(void *user, slr_stream *stream, const slr_tensor *x, const slr_tensor *y);

/// Appends its gradients: dx, and those of its own weights. `dx` is NULL where nobody wants it.
typedef slr_status slr_layer_backward(void *user, slr_stream *stream, const slr_tensor *x, const slr_tensor *y,
                                      const slr_tensor *dy, const slr_tensor *dx);

typedef struct slr_layer {
    slr_layer_forward *forward;
    slr_layer_backward *backward;
    void *user;
    slr_tensor output; ///< type and shape of what it gives; its buffer is ignored
} slr_layer;

/// Layers one after the other. All is copied.
typedef struct slr_sequence_desc {
    uint32_t struct_size;
    uint32_t count; ///< of layers: 1 to 65,536
    const slr_layer *layers;
    slr_tensor input;  ///< type and shape of the first layer's x; its buffer is ignored
    uint32_t every;    ///< keeps the output of every so many layers. 1: of all; default: the root of `count`
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

/// A sequence with the memory for its activations and gradients, from the device's pool.
typedef struct slr_sequence slr_sequence;

/// Threads: any.  Blocks: no.  Owns: the caller gets the sequence: slr_sequence_destroy, before its operations.
/// Errors: INVALID (NULL; no layer or too many; a shape or type that no operation takes), NO_MEMORY.
SLR_API slr_status slr_sequence_create(slr_ops *ops, const slr_sequence_desc *desc, slr_sequence **out);

/// Submitted work still runs. NULL does nothing.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_sequence_destroy(slr_sequence *sequence);

/// Appends all layers: `y` is the last one's output.
/// Threads: one at a time per sequence.  Blocks: as its layers.
/// Errors: INVALID (NULL, a type or shape that does not fit), those of the layers.
SLR_API slr_status slr_sequence_forward(slr_sequence *sequence, slr_stream *stream, const slr_tensor *x,
                                        const slr_tensor *y);

/// Appends the gradients of all layers, the last one first, and the layers that must be computed again for them. `x`
/// and `y` are those of slr_sequence_forward, unchanged. `dx` may be NULL.
/// Threads, Blocks: as slr_sequence_forward.
/// Errors: as slr_sequence_forward; WRONG_STATE (no slr_sequence_forward since the last call).
SLR_API slr_status slr_sequence_backward(slr_sequence *sequence, slr_stream *stream, const slr_tensor *x,
                                         const slr_tensor *y, const slr_tensor *dy, const slr_tensor *dx);

/// Bytes of the device's pool, as its high-water mark counts them (docs/contract/pools.md).
typedef struct slr_plan_bytes {
    uint64_t plain;        ///< with every activation kept
    uint64_t checkpointed; ///< as the description says
} slr_plan_bytes;

/// What a sequence needs for activations and gradients. x, y, their gradients, weights and what its layers take
/// themselves come on top.
typedef struct slr_plan {
    uint32_t every;      ///< the value that a sequence of this description has
    uint32_t recomputed; ///< layers that are computed twice
    slr_plan_bytes as_described;
    slr_plan_bytes f32, half;                       ///< with activations of SLR_F32; of SLR_F16 or SLR_BF16
    slr_plan_bytes f32_half_batch, half_half_batch; ///< and with half of the first dimension, rounded up
} slr_plan;

/// Plans without a device.
/// Threads: any.  Blocks: no.  Errors: as slr_sequence_create, without NO_MEMORY. Functions of layers may be NULL.
SLR_API slr_status slr_ops_plan(const slr_sequence_desc *desc, slr_plan *out);

/// The macro slr_ops_plan calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_ops_plan_sized(const slr_sequence_desc *desc, slr_plan *out, size_t bytes);
#define slr_ops_plan(desc, out) slr_ops_plan_sized((desc), (out), sizeof(slr_plan))

#ifdef __cplusplus
}
#endif
#endif
