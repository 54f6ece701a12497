// SPDX-License-Identifier: Apache-2.0
// Matrix products of cuBLASLt, where it is installed.
#ifndef SLRI_OPS_CUBLASLT_H
#define SLRI_OPS_CUBLASLT_H

#include "ops/cublaslt_api.h"
#include "ops/nvidia.h"
#include "ops/product.h"

// What slr_ops_visit_providers tells; opens the library with the first call.
const slr_provider *slri_cublaslt_describe(void);

// The plan of a product on these operations; NULL where there is none, with the reason, which lives as long as the
// operations.
const struct slri_cublaslt_plan *slri_cublaslt_plan_of(slr_ops *ops, const struct slri_product *product,
                                                       const char **why_not);
uint64_t slri_cublaslt_workspace(const struct slri_cublaslt_plan *plan);
bool slri_cublaslt_is_deterministic(const struct slri_cublaslt_plan *plan);

// The product without the activation, unless that is fused: then *finished.
slr_status slri_cublaslt_submit(slr_ops *ops, slr_stream *stream, const struct slri_cublaslt_plan *plan,
                                const struct slri_product *product, slr_point *out, bool *finished);

#endif
