// SPDX-License-Identifier: Apache-2.0
// Convolutions of oneDNN, where it is installed.
#ifndef SLRI_OPS_DNNL_H
#define SLRI_OPS_DNNL_H

#include "ops/convolution.h"

#include <stdbool.h>

// What slr_ops_visit_providers tells; opens the library with the first call.
const slr_provider *slri_dnnl_describe(void);
static inline bool slri_dnnl_is_there(void)
{
    return *slri_dnnl_describe()->why_not == '\0';
}

// A pass of a convolution of one shape in oneDNN's own layouts. It lives as long as the process.
typedef struct slri_dnnl_plan slri_dnnl_plan;

struct slri_dnnl_shape {
    struct slri_window window;
    enum slri_window_pass pass;
    bool has_bias;
    int threads;
};

// The plan of a shape; NULL where there is none, with the reason, which lives as long as the process.
const slri_dnnl_plan *slri_dnnl_plan_of(const struct slri_dnnl_shape *shape, const char **why_not);
// Bytes for tensors in oneDNN's layouts.
uint64_t slri_dnnl_workspace(const slri_dnnl_plan *plan);

// The pass by that plan, without activation, on a device whose memory is the host's. Where the library fails, which
// then has no memory, the results are NaN.
slr_status slri_dnnl_submit(const struct slri_convolution *convolution, const slri_dnnl_plan *plan, slr_point *out);

#endif
