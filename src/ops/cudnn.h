// SPDX-License-Identifier: Apache-2.0
// Convolutions of cuDNN 9, where it is installed.
#ifndef SLRI_OPS_CUDNN_H
#define SLRI_OPS_CUDNN_H

#include "ops/convolution.h"
#include "ops/cudnn_api.h"
#include "ops/nvidia.h"

// What slr_ops_visit_providers tells; opens the library with the first call.
const slr_provider *slri_cudnn_describe(void);

// The plan of a pass; NULL where there is none, with the reason, which lives as long as the operations.
const struct slri_cudnn_plan *slri_cudnn_plan_of(const struct slri_convolution *convolution, const char **why_not);
uint64_t slri_cudnn_workspace(const struct slri_cudnn_plan *plan);
bool slri_cudnn_is_deterministic(const struct slri_cudnn_plan *plan);

// The pass without the activation.
slr_status slri_cudnn_submit(const struct slri_convolution *convolution, const struct slri_cudnn_plan *plan,
                             slr_point *out);

#endif
