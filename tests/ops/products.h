// SPDX-License-Identifier: Apache-2.0
// Random matrix products beside a reference in double, forward and backward.
#ifndef TESTS_OPS_PRODUCTS_H
#define TESTS_OPS_PRODUCTS_H

#include "tests/ops/ops_test.h"

struct product {
    uint32_t m, n, k, batch;
    bool transpose_a, transpose_b, shares_b;
    slr_activation activation;
    double alpha, beta;
    struct data a, b, c, bias, pre;
    bool has_bias, has_pre;
};

static double product_at(const struct data *data, uint32_t matrix, uint32_t rows, uint32_t columns, uint32_t row,
                         uint32_t column, bool transposed)
{
    size_t place = transposed ? (size_t)column * rows + row : (size_t)row * columns + column;
    return data->value[(size_t)matrix * rows * columns + place];
}

// The value before the activation, and the sum of all magnitudes that go into it.
static double product_element(const struct product *p, uint32_t z, uint32_t i, uint32_t j, double *size)
{
    double sum = 0, sizes = 0;
    for (uint32_t q = 0; q < p->k; ++q) {
        double term = product_at(&p->a, z, p->m, p->k, i, q, p->transpose_a) *
                      product_at(&p->b, p->shares_b ? 0 : z, p->k, p->n, q, j, p->transpose_b);
        sum += term;
        sizes += fabs(term);
    }
    size_t place = ((size_t)z * p->m + i) * p->n + j;
    double old = p->beta * p->c.value[place], bias = p->has_bias ? p->bias.value[j] : 0;
    *size = fabs(p->alpha) * sizes + fabs(old) + fabs(bias);
    return p->alpha * sum + old + bias;
}

static void multiply(const void *what, double *out)
{
    const struct product *p = what;
    double size;
    for (uint32_t z = 0; z < p->batch; ++z)
        for (uint32_t i = 0; i < p->m; ++i)
            for (uint32_t j = 0; j < p->n; ++j)
                *out++ = activated(p->activation, product_element(p, z, i, j, &size));
}

static void draw_product(struct product *p)
{
    static const slr_activation kinds[] = {0,        0,        0,        SLR_RELU,      SLR_SIGMOID,
                                           SLR_TANH, SLR_GELU, SLR_SILU, SLR_LEAKY_RELU};
    *p = (struct product){.m = draw_size(), .n = draw_size(), .k = draw_size(), .batch = draw(3) ? 1 : 2 + draw(3)};
    p->transpose_a = draw(2), p->transpose_b = draw(2);
    p->shares_b = p->batch > 1 && draw(2);
    p->activation = kinds[draw(9)];
    p->alpha = draw(2) ? 1 : 0.5;
    p->beta = draw(3) ? 0 : -1.5;
    p->has_bias = draw(2), p->has_pre = draw(2);
}

static struct data make_matrices(struct fixture *f, const struct product *p, bool shared, uint32_t rows,
                                 uint32_t columns, bool transposed)
{
    uint32_t first = transposed ? columns : rows, second = transposed ? rows : columns;
    return p->batch > 1 && !shared ? make(f, 3, p->batch, first, second, 1) : make(f, 2, first, second, 1, 1);
}

static void make_product(struct fixture *f, struct product *p)
{
    p->a = make_matrices(f, p, false, p->m, p->k, p->transpose_a);
    p->b = make_matrices(f, p, p->shares_b, p->k, p->n, p->transpose_b);
    p->c = make_matrices(f, p, false, p->m, p->n, false);
    p->pre = make_matrices(f, p, false, p->m, p->n, false);
    p->bias = make(f, 1, p->n, 1, 1, 1);
}

static void drop_product(struct product *p)
{
    drop(&p->a);
    drop(&p->b);
    drop(&p->c);
    drop(&p->pre);
    drop(&p->bias);
}

static slr_matmul_desc describe_product(const struct product *p)
{
    slr_matmul_desc desc = SLR_MATMUL_DESC_INIT;
    desc.transpose_a = p->transpose_a, desc.transpose_b = p->transpose_b;
    desc.activation = p->activation;
    desc.alpha = (float)p->alpha, desc.beta = (float)p->beta;
    desc.a = &p->a.tensor, desc.b = &p->b.tensor, desc.c = &p->c.tensor;
    desc.bias = p->has_bias ? &p->bias.tensor : NULL;
    desc.pre = p->has_pre ? &p->pre.tensor : NULL;
    return desc;
}

// Products of halves with a bias on CUDA; and those of which a value is further off than by one rounding: cuBLASLt may
// round a product before it adds a bias (docs/contract/ops.md).
static uint32_t biased_halves, rounded_twice;

static bool may_round_twice(struct fixture *f, const struct product *p)
{
    return p->has_bias && type != SLR_F32 && is_cuda(f);
}

static void check_product(struct fixture *f, const struct product *p)
{
    slr_matmul_desc desc = describe_product(p);
    must(slr_ops_matmul(f->ops, f->stream, &desc, NULL));
    float *got = fetch_floats(f, &p->c), *pre = fetch_floats(f, &p->pre);
    bool may_twice = may_round_twice(f, p), is_twice = false;
    for (size_t i = 0; i < p->c.n; ++i) {
        size_t row = i / p->n;
        double size,
            v = product_element(p, (uint32_t)(row / p->m), (uint32_t)(row % p->m), (uint32_t)(i % p->n), &size);
        double bound = 2 * (p->k + 4) * EPS * size, once = bound + 1.01 * unit() * (fabs(v) + 0x1p-14);
        bound += may_twice ? 1.01 * unit() * fabs(v - p->bias.value[i % p->n]) : 0;
        is_twice |= may_twice && p->has_pre && fabs((double)pre[i] - v) > once;
        expect_near("c", i, (double)got[i], activated(p->activation, v),
                    1.2 * bound + 8 * EPS + 1.01 * unit() * (fabs(v) + fabs(activated(p->activation, v)) + 0x1p-14));
        if (p->has_pre)
            expect_near("pre", i, (double)pre[i], v, bound + 1.01 * unit() * (fabs(v) + 0x1p-14));
    }
    biased_halves += may_twice && p->has_pre, rounded_twice += is_twice;
    free(got);
    free(pre);
}

#define NARROW 256u // bytes of workspace: none for panels, nor for the gradient behind an activation

// Where a relu's kink is near, differences say nothing: those activations are left to the operation's own test.
static void check_product_gradients(struct fixture *f, struct product *p, bool is_narrow)
{
    if (p->beta != 0 || (p->activation && is_narrow) || (p->shares_b && p->transpose_a) || p->activation == SLR_RELU ||
        p->activation == SLR_LEAKY_RELU)
        return;
    p->has_pre = true;
    slr_matmul_desc desc = describe_product(p);
    struct data dc = make_like(f, &p->c), da = make_like(f, &p->a), db = make_like(f, &p->b),
                dbias = make_like(f, &p->bias);
    must(slr_ops_matmul(f->ops, f->stream, &desc, NULL));
    must(slr_ops_matmul_backward(f->ops, f->stream, &desc, &dc.tensor, &da.tensor, &db.tensor,
                                 p->has_bias ? &dbias.tensor : NULL, NULL));
    double bound = 4 * (p->m * p->batch + p->n + p->k) * EPS;
    expect_gradient(f, "da", multiply, p, p->c.n, &dc, &p->a, &da, bound);
    expect_gradient(f, "db", multiply, p, p->c.n, &dc, &p->b, &db, bound);
    if (p->has_bias)
        expect_gradient(f, "dbias", multiply, p, p->c.n, &dc, &p->bias, &dbias, bound);
    drop(&dc);
    drop(&da);
    drop(&db);
    drop(&dbias);
}

__attribute__((unused)) static void check_products(const char *spec, const slr_ops_desc *desc, int cases)
{
    struct fixture f = open_ops_with(spec, desc);
    for (int i = 0; i < cases; ++i) {
        struct product p;
        draw_product(&p);
        make_product(&f, &p);
        check_product(&f, &p);
        if ((uint64_t)p.m * p.n * p.k * p.batch < 100000)
            check_product_gradients(&f, &p, desc && desc->workspace_bytes == NARROW);
        drop_product(&p);
    }
    close_ops(&f);
}

#endif
