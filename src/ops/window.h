// SPDX-License-Identifier: Apache-2.0
// What convolutions and pooling share: windows that move over images.
#ifndef SLRI_OPS_WINDOW_H
#define SLRI_OPS_WINDOW_H

#include "ops/operations.h"

// As in source/convolution.cu.
struct slri_window {
    int32_t n, c, h, w, k, r, s, p, q;
    int32_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups;
};

// The dimensions of x (n, c, h, w; rank 3: h is 1), and p and q, from the window, which is filled in.
// Errors: INVALID (a window that is larger than what it moves over; a number that is none).
slr_status slri_window_place(const char *call, const slr_tensor *x, struct slri_window *window);

static inline slr_arg slri_arg_window(const struct slri_window *window)
{
    return slr_arg_bytes(window, (uint32_t)sizeof *window);
}

#endif
