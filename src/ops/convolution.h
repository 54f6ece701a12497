// SPDX-License-Identifier: Apache-2.0
// One pass of a convolution: its results, or a gradient.
#ifndef SLRI_OPS_CONVOLUTION_H
#define SLRI_OPS_CONVOLUTION_H

#include "ops/window.h"

struct slri_convolution {
    slr_ops *ops;
    slr_stream *stream;
    enum slri_window_pass pass;
    slr_scalar dtype;
    struct slri_window window;
    slr_buffer *tensor[SLRI_WINDOW_TENSORS]; // x, weights, y; the pass writes one of them: slri_window_writes
    slr_buffer *bias, *pre;                  // forward alone; each may be NULL
    int activation;                          // likewise
};

// By the algorithm that the operations' choice gives. Errors: UNSUPPORTED (no algorithm), and those of launches.
slr_status slri_convolution_run(const struct slri_convolution *convolution, slr_point *out);
// The algorithms side by side.
slr_status slri_convolution_bench(const struct slri_convolution *convolution, slr_algorithm_visitor *visit, void *user);

#endif
