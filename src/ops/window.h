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

enum { SLRI_WINDOW_X, SLRI_WINDOW_W, SLRI_WINDOW_Y, SLRI_WINDOW_TENSORS };

// y from x and weights, the gradient of x from weights and that of y, or of the weights from x and that of y.
enum slri_window_pass { SLRI_FORWARD, SLRI_TO_INPUT, SLRI_TO_WEIGHTS };

static inline int slri_window_writes(enum slri_window_pass pass)
{
    return pass == SLRI_FORWARD ? SLRI_WINDOW_Y : pass == SLRI_TO_INPUT ? SLRI_WINDOW_X : SLRI_WINDOW_W;
}

// n, c, h, w of x; k, c / groups, r, s of the weights; n, k, p, q of y.
static inline void slri_window_shape(const struct slri_window *d, int tensor, int64_t shape[4])
{
    bool is_weights = tensor == SLRI_WINDOW_W, is_x = tensor == SLRI_WINDOW_X;
    shape[0] = is_weights ? d->k : d->n;
    shape[1] = is_weights ? d->c / d->groups : is_x ? d->c : d->k;
    shape[2] = is_weights ? d->r : is_x ? d->h : d->p;
    shape[3] = is_weights ? d->s : is_x ? d->w : d->q;
}
static inline uint64_t slri_window_elements(const struct slri_window *window, int tensor)
{
    int64_t shape[4];
    slri_window_shape(window, tensor, shape);
    return (uint64_t)(shape[0] * shape[1] * shape[2] * shape[3]);
}

// The dimensions of x (n, c, h, w; rank 3: h is 1), and p and q, from the window, which is filled in.
// Errors: INVALID (a window that is larger than what it moves over; a number that is none).
slr_status slri_window_place(const char *call, const slr_tensor *x, struct slri_window *window);

static inline slr_arg slri_arg_window(const struct slri_window *window)
{
    return slr_arg_bytes(window, (uint32_t)sizeof *window);
}

#endif
