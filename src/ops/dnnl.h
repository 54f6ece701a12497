// SPDX-License-Identifier: Apache-2.0
// Convolutions of oneDNN, where it is installed.
#ifndef SLRI_OPS_DNNL_H
#define SLRI_OPS_DNNL_H

#include "ops/window.h"

#include <stdbool.h>

// What slr_ops_visit_providers tells; opens the library with the first call.
const slr_provider *slri_dnnl_describe(void);
static inline bool slri_dnnl_is_there(void)
{
    return *slri_dnnl_describe()->why_not == '\0';
}

// A convolution of one shape in oneDNN's own layouts. It lives as long as the process.
typedef struct slri_dnnl_plan slri_dnnl_plan;

// The plan of a shape, on this many threads; NULL where there is none, with the reason, which lives as long as the
// process.
const slri_dnnl_plan *slri_dnnl_plan_of(const struct slri_window *window, bool has_bias, int threads,
                                        const char **why_not);
// Bytes for tensors in oneDNN's layouts.
uint64_t slri_dnnl_workspace(const slri_dnnl_plan *plan);

// The convolution of a call by that plan, on a device whose memory is the host's.
struct slri_dnnl_call {
    const slri_dnnl_plan *plan;
    slr_buffer *x, *weights, *bias, *y; // bias may be NULL
};
slr_status slri_dnnl_submit(slr_ops *ops, slr_stream *stream, const struct slri_dnnl_call *call, slr_point *out);

// y = x * weights + bias. NaN where the library fails, which then has no memory.
void slri_dnnl_convolve(const slri_dnnl_plan *plan, void *x, void *weights, void *bias, void *y, void *workspace);

#endif
