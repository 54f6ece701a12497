// SPDX-License-Identifier: Apache-2.0
// Matrix products of CLBlast, where it is installed.
#ifndef SLRI_OPS_CLBLAST_H
#define SLRI_OPS_CLBLAST_H

#include "ops/product.h"

// What slr_ops_visit_providers tells; opens the library with the first call.
const slr_provider *slri_clblast_describe(void);

// Whether it can do this product: NULL, or why not. `workspace_bytes` is what it then takes itself, not from the pool.
const char *slri_clblast_check(slr_ops *ops, const struct slri_product *product, uint64_t *workspace_bytes);

// The product without bias and activation.
slr_status slri_clblast_submit(slr_ops *ops, slr_stream *stream, const struct slri_product *product, slr_point *out);

#endif
