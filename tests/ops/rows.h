// SPDX-License-Identifier: Apache-2.0
// Random operations along rows and on elements, beside references in double, forward and backward.
#ifndef TESTS_OPS_ROWS_H
#define TESTS_OPS_ROWS_H

#include "tests/ops/ops_test.h"

// What a reference needs: operands, and the shape as rows of n, or as [outer][n][inner].
struct work {
    const struct data *x, *more, *most;
    uint32_t rows, n, inner;
    int kind;
    uint32_t flags;
};

// ---- soft-max -------------------------------------------------------------------------------------------------------

static void softmax(const void *what, double *out)
{
    const struct work *w = what;
    for (uint32_t r = 0; r < w->rows; ++r) {
        const double *x = w->x->value + (size_t)r * w->n;
        double most = x[0], sum = 0;
        for (uint32_t i = 1; i < w->n; ++i)
            most = fmax(most, x[i]);
        for (uint32_t i = 0; i < w->n; ++i)
            sum += exp(x[i] - most);
        for (uint32_t i = 0; i < w->n; ++i)
            *out++ = exp(x[i] - most) / sum;
    }
}

static void check_softmax(struct fixture *f)
{
    struct work w = {.rows = draw_size(), .n = draw_size()};
    struct data x = make(f, 2, w.rows, w.n, 1, 1), y = make_like(f, &x), dy = make_like(f, &x), dx = make_like(f, &x);
    double *want = malloc(x.n * sizeof *want);
    w.x = &x;
    softmax(&w, want);
    must(slr_ops_softmax(f->ops, f->stream, &x.tensor, &y.tensor, NULL));
    expect(f, "softmax", &y, want, 0, w.n + 16);
    must(slr_ops_softmax_backward(f->ops, f->stream, &y.tensor, &dy.tensor, &dx.tensor, NULL));
    expect_gradient(f, "softmax dx", softmax, &w, x.n, &dy, &x, &dx, 4 * (w.n + 16) * EPS);
    free(want);
    drop(&x), drop(&y), drop(&dy), drop(&dx);
}

// ---- layer norm -----------------------------------------------------------------------------------------------------

static void layer_norm(const void *what, double *out)
{
    const struct work *w = what;
    for (uint32_t r = 0; r < w->rows; ++r) {
        const double *x = w->x->value + (size_t)r * w->n;
        double mean = 0, square = 0;
        for (uint32_t i = 0; i < w->n; ++i)
            mean += x[i] / w->n;
        for (uint32_t i = 0; i < w->n; ++i)
            square += (x[i] - mean) * (x[i] - mean) / w->n;
        for (uint32_t i = 0; i < w->n; ++i)
            *out++ = (x[i] - mean) / sqrt(square + (double)1e-2f) * w->more->value[i] + w->most->value[i];
    }
}

static void check_layer_norm(struct fixture *f)
{
    struct work w = {.rows = draw_size(), .n = draw_size()};
    struct data x = make(f, 2, w.rows, w.n, 1, 1), gamma = make(f, 1, w.n, 1, 1, 1), beta = make_like(f, &gamma);
    struct data y = make_like(f, &x), means = make_floats(f, w.rows), scales = make_floats(f, w.rows);
    struct data dy = make_like(f, &x), dx = make_like(f, &x), dgamma = make_like(f, &gamma),
                dbeta = make_like(f, &gamma);
    double *want = malloc(x.n * sizeof *want);
    w.x = &x, w.more = &gamma, w.most = &beta;
    layer_norm(&w, want);
    must(slr_ops_layer_norm(f->ops, f->stream, &x.tensor, &gamma.tensor, &beta.tensor, 1e-2f, &y.tensor, &means.tensor,
                            &scales.tensor, NULL));
    expect(f, "layer norm", &y, want, 40 * (w.n + 8) * EPS, 16);
    must(slr_ops_layer_norm_backward(f->ops, f->stream, &x.tensor, &gamma.tensor, &means.tensor, &scales.tensor,
                                     &dy.tensor, &dx.tensor, &dgamma.tensor, &dbeta.tensor, NULL));
    double bound = 200 * (w.n + w.rows + 8) * EPS;
    expect_gradient(f, "layer norm dx", layer_norm, &w, x.n, &dy, &x, &dx, bound);
    expect_gradient(f, "dgamma", layer_norm, &w, x.n, &dy, &gamma, &dgamma, bound);
    expect_gradient(f, "dbeta", layer_norm, &w, x.n, &dy, &beta, &dbeta, bound);
    free(want);
    drop(&x), drop(&gamma), drop(&beta), drop(&y), drop(&means), drop(&scales);
    drop(&dy), drop(&dx), drop(&dgamma), drop(&dbeta);
}

// ---- reductions -----------------------------------------------------------------------------------------------------

static void reduce(const void *what, double *out)
{
    const struct work *w = what;
    for (uint32_t r = 0; r < w->rows; ++r)
        for (uint32_t j = 0; j < w->inner; ++j) {
            const double *x = w->x->value + (size_t)r * w->n * w->inner + j;
            double v = x[0];
            for (uint32_t i = 1; i < w->n; ++i) {
                double next = x[(size_t)i * w->inner];
                v = w->kind == SLR_REDUCTION_LARGEST ? fmax(v, next) : v + next;
            }
            *out++ = w->kind == SLR_REDUCTION_MEAN ? v / w->n : v;
        }
}

static void check_reduce(struct fixture *f)
{
    uint32_t shape[3] = {draw_size(), draw_size(), draw_size()}, axis = draw(4);
    struct work w = {.rows = 1, .n = shape[0] * shape[1] * shape[2], .inner = 1, .kind = 1 + (int)draw(3)};
    struct data x = make(f, 3, shape[0], shape[1], shape[2], 1), dx = make_like(f, &x);
    if (axis < 3) {
        w.n = shape[axis];
        w.rows = axis > 0 ? shape[0] * (axis > 1 ? shape[1] : 1) : 1;
        w.inner = axis < 2 ? shape[2] * (axis < 1 ? shape[1] : 1) : 1;
    }
    struct data y = make(f, 1, w.rows * w.inner, 1, 1, 1), dy = make_like(f, &y);
    double *want = malloc(y.n * sizeof *want);
    for (size_t i = 0; i < x.n && w.kind == SLR_REDUCTION_LARGEST; ++i)
        x.value[i] = (double)(i * 7919 % 1046527) / 65536; // apart
    store(&x);
    w.x = &x;
    reduce(&w, want);
    uint32_t along = axis < 3 ? axis : SLR_EVERY_AXIS;
    must(slr_ops_reduce(f->ops, f->stream, (slr_reduction)w.kind, along, &x.tensor, &y.tensor, NULL));
    expect(f, "reduce", &y, want, 2 * EPS * w.n * (w.kind == SLR_REDUCTION_SUM ? w.n : 1), 4);
    must(slr_ops_reduce_backward(f->ops, f->stream, (slr_reduction)w.kind, along, &x.tensor, &y.tensor, &dy.tensor,
                                 &dx.tensor, NULL));
    if (x.n < 40000 && (w.kind != SLR_REDUCTION_LARGEST || type == SLR_F32)) // halves have ties
        expect_gradient(f, "reduce dx", reduce, &w, y.n, &dy, &x, &dx, 1e-5);
    free(want);
    drop(&x), drop(&dx), drop(&y), drop(&dy);
}

// ---- scan -----------------------------------------------------------------------------------------------------------

static void scan(const void *what, double *out)
{
    const struct work *w = what;
    for (uint32_t r = 0; r < w->rows; ++r) {
        double sum = 0;
        for (uint32_t i = 0; i < w->n; ++i) {
            size_t at = (size_t)r * w->n + (w->flags & SLR_SCAN_REVERSE ? w->n - 1 - i : i);
            double v = w->x->value[at];
            out[at] = w->flags & SLR_SCAN_EXCLUSIVE ? sum : sum + v;
            sum += v;
        }
    }
}

static void check_scan(struct fixture *f)
{
    struct work w = {.rows = draw_size(), .n = draw_size(), .flags = draw(4)};
    struct data x = make(f, 2, w.rows, w.n, 1, 1), y = make_like(f, &x), dy = make_like(f, &x), dx = make_like(f, &x);
    double *want = malloc(x.n * sizeof *want);
    w.x = &x;
    scan(&w, want);
    must(slr_ops_scan(f->ops, f->stream, w.flags, &x.tensor, &y.tensor, NULL));
    expect(f, "scan", &y, want, EPS * w.n * w.n, 0);
    must(slr_ops_scan(f->ops, f->stream, w.flags ^ SLR_SCAN_REVERSE, &dy.tensor, &dx.tensor, NULL));
    expect_gradient(f, "scan dx", scan, &w, x.n, &dy, &x, &dx, 4 * w.n * EPS + 1e-6);
    free(want);
    drop(&x), drop(&y), drop(&dy), drop(&dx);
}

// ---- top-k ----------------------------------------------------------------------------------------------------------

// Each value is at least the next; all that is left out is no larger than the last; a tie goes to the earlier one.
static void check_top_k(struct fixture *f)
{
    uint32_t rows = draw_size(), n = draw_size(), k = 1 + draw(n);
    struct data x = make(f, 2, rows, n, 1, 1), dx = make_like(f, &x), values = make(f, 2, rows, k, 1, 1);
    struct data indices = make_indices(f, rows * k, 1), dvalues = make_like(f, &values);
    indices.tensor = (slr_tensor){indices.tensor.buffer, SLR_I32, 2, {rows, k}};
    must(slr_ops_top_k(f->ops, f->stream, &x.tensor, &values.tensor, &indices.tensor, NULL));
    must(slr_ops_top_k_backward(f->ops, f->stream, &indices.tensor, &dvalues.tensor, &dx.tensor, NULL));
    float *got = fetch_floats(f, &values), *gradient = fetch_floats(f, &dx);
    int32_t *where = malloc(indices.n * 4);
    must(slr_buffer_read(indices.tensor.buffer, 0, where, indices.n * 4));
    for (uint32_t r = 0; r < rows; ++r) {
        double *want = calloc(n, sizeof *want);
        for (uint32_t j = 0; j < k; ++j) {
            uint32_t at = (uint32_t)where[r * k + j];
            assert_true(at < n && (double)got[r * k + j] == (double)(float)x.value[r * n + at]);
            if (j > 0)
                assert_true(got[r * k + j] < got[r * k + j - 1] ||
                            (got[r * k + j] == got[r * k + j - 1] && where[r * k + j] > where[r * k + j - 1]));
            want[at] = dvalues.value[r * k + j];
        }
        uint32_t larger = 0;
        for (uint32_t i = 0; i < n; ++i) {
            larger += (float)x.value[r * n + i] > got[r * k + k - 1];
            assert_true(gradient[r * n + i] == (float)want[i]);
        }
        assert_true(larger < k);
        free(want);
    }
    free(where);
    free(got);
    free(gradient);
    drop(&x), drop(&dx), drop(&values), drop(&indices), drop(&dvalues);
}

// ---- losses ---------------------------------------------------------------------------------------------------------

static void cross_entropy(const void *what, double *out)
{
    const struct work *w = what;
    double loss = 0;
    for (uint32_t r = 0; r < w->rows; ++r) {
        const double *x = w->x->value + (size_t)r * w->n;
        double most = x[0], sum = 0;
        for (uint32_t i = 1; i < w->n; ++i)
            most = fmax(most, x[i]);
        for (uint32_t i = 0; i < w->n; ++i)
            sum += exp(x[i] - most);
        loss += log(sum) + most - x[(uint32_t)w->more->value[r]];
    }
    *out = loss / w->rows;
}

static void check_cross_entropy(struct fixture *f)
{
    struct work w = {.rows = draw_size(), .n = draw_size()};
    struct data x = make(f, 2, w.rows, w.n, 1, 1), labels = make_indices(f, w.rows, w.n), dx = make_like(f, &x);
    struct data loss = make_floats(f, 1), one = make_floats(f, 1);
    double want;
    w.x = &x, w.more = &labels;
    one.value[0] = 0.5;
    cross_entropy(&w, &want);
    must(slr_ops_cross_entropy(f->ops, f->stream, &x.tensor, &labels.tensor, &loss.tensor, NULL));
    expect(f, "cross entropy", &loss, &want, 8 * EPS, 2 * (w.n + w.rows));
    must(slr_ops_cross_entropy_backward(f->ops, f->stream, &x.tensor, &labels.tensor, 0.5f, &dx.tensor, NULL));
    expect_gradient(f, "dlogits", cross_entropy, &w, 1, &one, &x, &dx, 4 * (w.n + 16) * EPS);
    drop(&x), drop(&labels), drop(&dx), drop(&loss), drop(&one);
}

static void mean_square(const void *what, double *out)
{
    const struct work *w = what;
    double sum = 0;
    for (size_t i = 0; i < w->x->n; ++i)
        sum += (w->x->value[i] - w->more->value[i]) * (w->x->value[i] - w->more->value[i]);
    *out = sum / (double)w->x->n;
}

static void check_mean_square(struct fixture *f)
{
    struct data x = make(f, 2, draw_size(), draw_size() * 129, 1, 1), target = make_like(f, &x), dx = make_like(f, &x);
    struct data loss = make_floats(f, 1), one = make_floats(f, 1);
    struct work w = {.x = &x, .more = &target};
    double want;
    one.value[0] = 4;
    mean_square(&w, &want);
    must(slr_ops_mean_square(f->ops, f->stream, &x.tensor, &target.tensor, &loss.tensor, NULL));
    expect(f, "mean square", &loss, &want, 0, 600);
    must(slr_ops_mean_square_backward(f->ops, f->stream, &x.tensor, &target.tensor, 4, &dx.tensor, NULL));
    expect_gradient(f, "mean square dx", mean_square, &w, 1, &one, &x, &dx, 1e-5);
    drop(&x), drop(&target), drop(&dx), drop(&loss), drop(&one);
}

// ---- activations ----------------------------------------------------------------------------------------------------

static void activate(const void *what, double *out)
{
    const struct work *w = what;
    for (size_t i = 0; i < w->x->n; ++i)
        out[i] = activated((slr_activation)w->kind, w->x->value[i]);
}

static void check_activation(struct fixture *f)
{
    struct work w = {.kind = 1 + (int)draw(6)};
    struct data x = make(f, 3, draw_size(), draw_size(), 1 + draw(3), 1), y = make_like(f, &x), dy = make_like(f, &x),
                dx = make_like(f, &x);
    double *want = malloc(x.n * sizeof *want);
    w.x = &x;
    activate(&w, want);
    must(slr_ops_activation(f->ops, f->stream, (slr_activation)w.kind, &x.tensor, &y.tensor, NULL));
    expect(f, "activation", &y, want, 4 * EPS, 8);
    must(slr_ops_activation_backward(f->ops, f->stream, (slr_activation)w.kind, &x.tensor, &dy.tensor, &dx.tensor,
                                     NULL));
    expect_gradient(f, "activation dx", activate, &w, x.n, &dy, &x, &dx, 1e-5);
    free(want);
    drop(&x), drop(&y), drop(&dy), drop(&dx);
}

// ---- embedding ------------------------------------------------------------------------------------------------------

static void embedding(const void *what, double *out)
{
    const struct work *w = what;
    for (uint32_t r = 0; r < w->rows; ++r)
        for (uint32_t i = 0; i < w->n; ++i)
            *out++ = w->x->value[(size_t)w->more->value[r] * w->n + i];
}

static void check_embedding(struct fixture *f)
{
    struct work w = {.rows = draw_size(), .n = draw_size()};
    uint32_t words = draw_size();
    struct data table = make(f, 2, words, w.n, 1, 1), indices = make_indices(f, w.rows, words);
    struct data y = make(f, 2, w.rows, w.n, 1, 1), dy = make_like(f, &y), dtable = make_like(f, &table);
    double *want = malloc(y.n * sizeof *want);
    w.x = &table, w.more = &indices;
    embedding(&w, want);
    must(slr_ops_embedding(f->ops, f->stream, &table.tensor, &indices.tensor, &y.tensor, NULL));
    expect(f, "embedding", &y, want, 0, 0);
    must(slr_ops_embedding_backward(f->ops, f->stream, &indices.tensor, &dy.tensor, &dtable.tensor, NULL));
    expect_gradient(f, "dtable", embedding, &w, y.n, &dy, &table, &dtable, 4 * w.rows * EPS);
    free(want);
    drop(&table), drop(&indices), drop(&y), drop(&dy), drop(&dtable);
}

// ---- optimisers -----------------------------------------------------------------------------------------------------

static void check_optimisers(struct fixture *f)
{
    struct data g = make(f, 1, draw_size() * 3, 1, 1, 1), w = make_floats(f, (uint32_t)g.n),
                m = make_floats(f, (uint32_t)g.n), v = make_floats(f, (uint32_t)g.n);
    double *want = malloc(w.n * sizeof *want);
    must(slr_ops_sgd(f->ops, f->stream, &w.tensor, &g.tensor, &m.tensor, 0.125f, 0.5f, 0.25f, NULL));
    for (size_t i = 0; i < w.n; ++i) {
        m.value[i] = 0.5 * m.value[i] + (g.value[i] + 0.25 * w.value[i]);
        w.value[i] = want[i] = w.value[i] - 0.125 * m.value[i];
    }
    expect(f, "sgd", &w, want, 8 * EPS, 0);
    for (size_t i = 0; i < v.n; ++i)
        v.value[i] = fabs(v.value[i]);
    store(&v);
    slr_adam_desc desc = SLR_ADAM_DESC_INIT;
    desc.weights = &w.tensor, desc.gradient = &g.tensor, desc.mean = &m.tensor, desc.square = &v.tensor;
    desc.rate = 0.0625f, desc.step = 3, desc.decay = 0.125f;
    must(slr_ops_adam(f->ops, f->stream, &desc, NULL));
    double b1 = (double)0.9f, b2 = (double)0.999f;
    for (size_t i = 0; i < w.n; ++i) {
        double mean = b1 * m.value[i] + (1 - b1) * g.value[i],
               square = b2 * v.value[i] + (1 - b2) * g.value[i] * g.value[i];
        want[i] = w.value[i] - 0.0625 * (mean / (1 - pow(b1, 3)) / (sqrt(square / (1 - pow(b2, 3))) + (double)1e-8f) +
                                         0.125 * w.value[i]);
    }
    expect(f, "adam", &w, want, 64 * EPS, 0);
    free(want);
    drop(&w), drop(&g), drop(&m), drop(&v);
}

// ---- types ----------------------------------------------------------------------------------------------------------

// From each type to each: rounded once.
static void check_cast(struct fixture *f)
{
    slr_scalar kept = type;
    for (int t = 0; t < 3; ++t) {
        type = kept;
        struct data x = make(f, 2, draw_size(), draw_size(), 1, 1);
        type = types[t];
        struct data y = make_like(f, &x), want = make_like(f, &x);
        memcpy(want.value, x.value, x.n * sizeof *x.value);
        store(&want); // rounds
        must(slr_ops_cast(f->ops, f->stream, &x.tensor, &y.tensor, NULL));
        float *got = fetch_floats(f, &y);
        for (size_t i = 0; i < y.n; ++i)
            assert_true((double)got[i] == want.value[i]);
        free(got);
        drop(&x), drop(&y), drop(&want);
    }
    type = kept;
}

#endif
