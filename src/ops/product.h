// SPDX-License-Identifier: Apache-2.0
// Products of matrices: what matmul is, and what convolutions become.
#ifndef SLRI_OPS_PRODUCT_H
#define SLRI_OPS_PRODUCT_H

#include "ops/operations.h"

// c[z] = activation(alpha * op(a[z % a_count]) op(b[z % b_count]) + beta * c[z] + bias), for each z below `batch`.
struct slri_product {
    slr_scalar dtype; // SLR_F32, SLR_F16 or SLR_BF16; sums are floats
    uint32_t m, n, k, batch, a_count, b_count;
    bool transpose_a, transpose_b;
    bool bias_by_row; // a number a row of all matrices a; else a number a column of c
    float alpha, beta;
    int activation;
    slr_buffer *a, *b, *c, *bias, *pre; // the last two may be NULL
};

// Errors: UNSUPPORTED (no algorithm), and those of launches.
slr_status slri_product_run(slr_ops *ops, slr_stream *stream, const struct slri_product *product, slr_point *out);
// The algorithms side by side.
slr_status slri_product_bench(slr_ops *ops, slr_stream *stream, const struct slri_product *product,
                              slr_algorithm_visitor *visit, void *user);

#endif
