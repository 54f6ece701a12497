// SPDX-License-Identifier: Apache-2.0
// Random convolutions and pooling beside references in double, forward and backward.
#ifndef TESTS_OPS_CONVOLUTIONS_H
#define TESTS_OPS_CONVOLUTIONS_H

#include "tests/ops/ops_test.h"

struct convolution {
    slr_convolution_desc desc;
    bool is_flat;
    int n, c, h, w, k, r, s, p, q, groups, stride[2], padding[2], dilation[2];
    struct data x, weights, bias, y, pre;
    slr_activation activation;
    bool has_bias;
};

static int places(int length, int window, int stride, int padding, int dilation)
{
    int room = length + 2 * padding - (dilation * (window - 1) + 1);
    return room < 0 ? 0 : room / stride + 1;
}

static void convolve(const void *what, double *out)
{
    const struct convolution *d = what;
    int channels = d->c / d->groups;
    for (int n = 0; n < d->n; ++n)
        for (int k = 0; k < d->k; ++k)
            for (int p = 0; p < d->p; ++p)
                for (int q = 0; q < d->q; ++q) {
                    double sum = d->has_bias ? d->bias.value[k] : 0;
                    for (int c = 0; c < channels; ++c)
                        for (int r = 0; r < d->r; ++r)
                            for (int s = 0; s < d->s; ++s) {
                                int h = p * d->stride[0] - d->padding[0] + r * d->dilation[0];
                                int w = q * d->stride[1] - d->padding[1] + s * d->dilation[1];
                                int from = k / (d->k / d->groups) * channels + c;
                                if (h >= 0 && h < d->h && w >= 0 && w < d->w)
                                    sum += d->x.value[((n * d->c + from) * d->h + h) * d->w + w] *
                                           d->weights.value[((k * channels + c) * d->r + r) * d->s + s];
                            }
                    *out++ = activated(d->activation, sum);
                }
}

static void draw_convolution(struct convolution *d)
{
    static const slr_activation kinds[] = {0, 0, SLR_TANH, SLR_GELU, SLR_SILU, SLR_SIGMOID};
    do {
        *d = (struct convolution){
            .n = 1 + (int)draw(3), .groups = draw(3) ? 1 : 1 + (int)draw(4), .is_flat = draw(3) == 0};
        bool depth_wise = draw(5) == 0;
        d->c = d->groups * (1 + (int)draw(6)), d->k = d->groups * (1 + (int)draw(6));
        if (depth_wise)
            d->groups = d->c, d->k = d->c * (1 + (int)draw(2));
        d->h = d->is_flat ? 1 : 1 + (int)draw(17), d->w = 1 + (int)draw(33);
        d->r = d->is_flat ? 1 : 1 + (int)draw(4), d->s = 1 + (int)draw(4);
        for (int i = 0; i < 2; ++i) {
            bool fixed = i == 0 && d->is_flat;
            d->stride[i] = fixed ? 1 : 1 + (int)draw(3);
            d->padding[i] = fixed ? 0 : (int)draw(3);
            d->dilation[i] = fixed ? 1 : 1 + (int)draw(2);
        }
        d->p = places(d->h, d->r, d->stride[0], d->padding[0], d->dilation[0]);
        d->q = places(d->w, d->s, d->stride[1], d->padding[1], d->dilation[1]);
    } while (d->p < 1 || d->q < 1);
    d->activation = kinds[draw(6)];
    d->has_bias = draw(2);
}

static struct data make_image(struct fixture *f, bool is_flat, int a, int b, int c, int d)
{
    return is_flat ? make(f, 3, (uint32_t)a, (uint32_t)b, (uint32_t)d, 1)
                   : make(f, 4, (uint32_t)a, (uint32_t)b, (uint32_t)c, (uint32_t)d);
}

static void make_convolution(struct fixture *f, struct convolution *d)
{
    d->x = make_image(f, d->is_flat, d->n, d->c, d->h, d->w);
    d->weights = make_image(f, d->is_flat, d->k, d->c / d->groups, d->r, d->s);
    d->y = make_image(f, d->is_flat, d->n, d->k, d->p, d->q);
    d->pre = make_like(f, &d->y);
    d->bias = make(f, 1, (uint32_t)d->k, 1, 1, 1);
    slr_convolution_desc desc = SLR_CONVOLUTION_DESC_INIT;
    for (int i = 0; i < 2; ++i) {
        desc.stride[i] = (uint32_t)d->stride[i], desc.padding[i] = (uint32_t)d->padding[i];
        desc.dilation[i] = (uint32_t)d->dilation[i];
    }
    desc.groups = (uint32_t)d->groups, desc.activation = d->activation;
    desc.x = &d->x.tensor, desc.weights = &d->weights.tensor, desc.y = &d->y.tensor, desc.pre = &d->pre.tensor;
    desc.bias = d->has_bias ? &d->bias.tensor : NULL;
    d->desc = desc;
}

static void drop_convolution(struct convolution *d)
{
    drop(&d->x), drop(&d->weights), drop(&d->y), drop(&d->pre), drop(&d->bias);
}

static void check_convolution_gradients(struct fixture *f, struct convolution *d)
{
    struct data dy = make_like(f, &d->y), dx = make_like(f, &d->x), dweights = make_like(f, &d->weights),
                dbias = make_like(f, &d->bias);
    must(slr_ops_convolution_backward(f->ops, f->stream, &d->desc, &dy.tensor, &dx.tensor, &dweights.tensor,
                                      &dbias.tensor, NULL));
    double bound = 8 * (d->c * d->r * d->s + d->n * d->p * d->q + 16) * EPS;
    expect_gradient(f, "dx", convolve, d, d->y.n, &dy, &d->x, &dx, bound);
    expect_gradient(f, "dweights", convolve, d, d->y.n, &dy, &d->weights, &dweights, bound);
    if (d->has_bias)
        expect_gradient(f, "dbias", convolve, d, d->y.n, &dy, &d->bias, &dbias, bound);
    drop(&dy), drop(&dx), drop(&dweights), drop(&dbias);
}

__attribute__((unused)) static void check_convolution(struct fixture *f, bool and_gradients)
{
    struct convolution d;
    draw_convolution(&d);
    make_convolution(f, &d);
    double *want = malloc(d.y.n * sizeof *want), *sum = malloc(d.y.n * sizeof *sum);
    struct convolution linear = d;
    linear.activation = 0;
    convolve(&d, want);
    convolve(&linear, sum);
    must(slr_ops_convolution(f->ops, f->stream, &d.desc, NULL));
    double depth = d.c / d.groups * d.r * d.s + 1;
    float *got = fetch_floats(f, &d.y);
    // A library's sum may be rounded before the activation, and cuDNN's before the bias.
    const bool may_twice = d.has_bias && type != SLR_F32 && is_cuda(f);
    for (size_t i = 0; i < d.y.n; ++i) {
        const double unbiased = may_twice ? fabs(sum[i] - d.bias.value[i / (d.p * d.q) % d.k]) : 0;
        expect_near("convolution", i, (double)got[i], want[i],
                    2 * (depth + 4) * EPS * depth + (8 * EPS + 1.01 * unit()) * fabs(want[i]) +
                        1.2 * unit() * unbiased + (d.activation ? 1.2 * unit() * fabs(sum[i]) : 0) +
                        (type == SLR_F16 ? 0x1p-24 : 0));
    }
    free(got);
    free(sum);
    if (and_gradients)
        check_convolution_gradients(f, &d);
    free(want);
    drop_convolution(&d);
}

__attribute__((unused)) static void check_convolutions(const char *spec, const slr_ops_desc *desc, int cases)
{
    struct fixture f = open_ops_with(spec, desc);
    for (int i = 0; i < cases; ++i)
        check_convolution(&f, !desc);
    close_ops(&f);
}

// ---- pooling --------------------------------------------------------------------------------------------------------

struct pooling {
    slr_pooling_desc desc;
    bool is_flat;
    int n, c, h, w, p, q, window[2], stride[2], padding[2];
    struct data x, y, indices;
};

static void pool(const void *what, double *out)
{
    const struct pooling *d = what;
    for (int plane = 0; plane < d->n * d->c; ++plane)
        for (int p = 0; p < d->p; ++p)
            for (int q = 0; q < d->q; ++q) {
                double most = -INFINITY, sum = 0;
                int count = 0;
                for (int r = 0; r < d->window[0]; ++r)
                    for (int s = 0; s < d->window[1]; ++s) {
                        int h = p * d->stride[0] - d->padding[0] + r, w = q * d->stride[1] - d->padding[1] + s;
                        if (h < 0 || h >= d->h || w < 0 || w >= d->w)
                            continue;
                        double v = d->x.value[(plane * d->h + h) * d->w + w];
                        most = fmax(most, v), sum += v, count++;
                    }
                *out++ = d->desc.kind == SLR_POOL_LARGEST ? most : sum / count;
            }
}

static void draw_pooling(struct fixture *f, struct pooling *d)
{
    do {
        *d = (struct pooling){.n = 1 + (int)draw(3), .c = 1 + (int)draw(5), .is_flat = draw(3) == 0};
        d->h = d->is_flat ? 1 : 1 + (int)draw(20), d->w = 1 + (int)draw(33);
        for (int i = 0; i < 2; ++i) {
            bool fixed = i == 0 && d->is_flat;
            d->window[i] = fixed ? 1 : 1 + (int)draw(4), d->stride[i] = fixed ? 1 : 1 + (int)draw(3);
            d->padding[i] = fixed ? 0 : (int)draw((uint32_t)d->window[i] / 2 + 1);
        }
        d->p = places(d->h, d->window[0], d->stride[0], d->padding[0], 1);
        d->q = places(d->w, d->window[1], d->stride[1], d->padding[1], 1);
    } while (d->p < 1 || d->q < 1);
    d->x = make_image(f, d->is_flat, d->n, d->c, d->h, d->w);
    d->y = make_image(f, d->is_flat, d->n, d->c, d->p, d->q);
    d->indices = make_indices(f, (uint32_t)d->y.n, 1);
    d->indices.tensor = (slr_tensor){d->indices.tensor.buffer, SLR_I32, d->y.tensor.rank, {0}};
    memcpy(d->indices.tensor.shape, d->y.tensor.shape, sizeof d->y.tensor.shape);
    slr_pooling_desc desc = SLR_POOLING_DESC_INIT;
    desc.kind = draw(2) ? SLR_POOL_LARGEST : SLR_POOL_MEAN;
    for (int i = 0; i < 2; ++i) {
        desc.window[i] = (uint32_t)d->window[i], desc.stride[i] = (uint32_t)d->stride[i];
        desc.padding[i] = (uint32_t)d->padding[i];
    }
    desc.x = &d->x.tensor, desc.y = &d->y.tensor, desc.indices = &d->indices.tensor;
    d->desc = desc;
}

// Values that are apart, so that a difference does not change which one is the largest.
static void spread(struct fixture *f, struct data *x)
{
    for (size_t i = 0; i < x->n; ++i)
        x->value[i] = (double)(i * 7919 % 104729) / 65536;
    store(x);
    must(slr_stream_finish(f->stream, COMPILED));
}

// Of `type`.
__attribute__((unused)) static void check_pooling(struct fixture *f)
{
    struct pooling d;
    draw_pooling(f, &d);
    spread(f, &d.x);
    double *want = malloc(d.y.n * sizeof *want);
    struct data dy = make_like(f, &d.y), dx = make_like(f, &d.x);
    pool(&d, want);
    must(slr_ops_pooling(f->ops, f->stream, &d.desc, NULL));
    expect(f, "pooling", &d.y, want, 0, 64);
    must(slr_ops_pooling_backward(f->ops, f->stream, &d.desc, &dy.tensor, &dx.tensor, NULL));
    if (type == SLR_F32 || d.desc.kind == SLR_POOL_MEAN) // else there are ties
        expect_gradient(f, "pooling dx", pool, &d, d.y.n, &dy, &d.x, &dx, 1e-5);
    free(want);
    drop(&dy), drop(&dx), drop(&d.x), drop(&d.y), drop(&d.indices);
}

#endif
