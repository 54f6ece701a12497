// SPDX-License-Identifier: Apache-2.0
/// A sequence of equal layers, products and activations by turns, to plan and to measure.
#ifndef BENCH_CHAIN_H
#define BENCH_CHAIN_H

#include <slipring/slipring.h>

typedef struct chain {
    slr_ops *ops;
    slr_stream *stream; // its own
    slr_sequence *sequence;
    slr_tensor x, y, dy, dx, weights, gradient;
    slr_layer *layers;
    uint32_t layer_count, rows, width;
    uint32_t computed; // layers, forward
    struct chain_layer *each;
} chain;

/// The description of such a sequence, without functions: for slr_ops_plan. `layers` has room for all of them.
slr_sequence_desc chain_describe(uint32_t rows, uint32_t width, uint32_t every, slr_layer *layers, uint32_t count);

/// Makes one on a device. Products take no workspace. Close it also after a failure.
slr_status chain_open(slr_device *device, uint32_t rows, uint32_t width, uint32_t every, uint32_t count, chain *out);
void chain_close(chain *chain);

/// Appends the layers; and their gradients.
slr_status chain_forward(chain *chain);
slr_status chain_backward(chain *chain);

/// The most bytes that a device's pool had in use.
slr_status chain_peak(slr_device *device, uint64_t *out);

#endif
