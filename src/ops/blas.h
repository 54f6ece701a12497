// SPDX-License-Identifier: Apache-2.0
// OpenBLAS, where it is installed.
#ifndef SLRI_OPS_BLAS_H
#define SLRI_OPS_BLAS_H

#include <slipring/ops.h>

#include <stdbool.h>

// What slr_ops_visit_providers tells; opens the library with the first call.
const slr_provider *slri_blas_describe(void);
static inline bool slri_blas_is_there(void)
{
    return *slri_blas_describe()->why_not == '\0';
}

// c = alpha * op(a) op(b) + beta * c of matrices with contiguous rows, on this many threads. Only where it is there.
struct slri_blas_product {
    bool transpose_a, transpose_b;
    int m, n, k;
    float alpha, beta;
    const float *a, *b;
    float *c;
};
void slri_blas_multiply(const struct slri_blas_product *products, uint32_t count, int threads);

#endif
