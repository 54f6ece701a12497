// SPDX-License-Identifier: Apache-2.0
// Operations beside a reference in double: a fixture, tensors with a copy in double, and gradients by differences.
#ifndef TESTS_OPS_OPS_TEST_H
#define TESTS_OPS_OPS_TEST_H

#ifndef TESTS_OPS_WITHOUT_CMOCKA // tests/gpu/operations.c has its own of all that is taken from it
#include "device/device_test.h"
#endif

#include <slipring/ops.h>

#include "ir/math/slr_math.h"
#include "ir/math/slr_half.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define COMPILED (240 * SECOND) // a wait that drivers which compile on a busy machine do not use up
#define EPS 0x1p-24             // half a unit in the last place of 1

#if SANITIZED
static const char *const specs[] = {"cpu"};
#else
static const char *const specs[] = {"cpu", "opencl:0"};
#endif

// The type of the tensors to come, and half a unit in its last place of 1.
static slr_scalar type = SLR_F32;
static const slr_scalar types[] = {SLR_F32, SLR_F16, SLR_BF16};

__attribute__((unused)) static double unit(void)
{
    return type == SLR_F16 ? 0x1p-11 : type == SLR_BF16 ? 0x1p-8 : 0;
}

struct fixture {
    slr_device *device;
    slr_stream *stream;
    slr_ops *ops;
};

__attribute__((unused)) static bool is_cuda(struct fixture *f)
{
    slr_device_info info;
    must(slr_device_get_info(f->device, &info));
    return strcmp(info.backend, "cuda") == 0;
}

__attribute__((unused)) static struct fixture open_ops_with(const char *spec, const slr_ops_desc *desc)
{
    struct fixture f;
    f.device = open_device(spec);
    must(slr_stream_create(f.device, NULL, &f.stream));
    must(slr_ops_create(f.device, desc, &f.ops));
    return f;
}

__attribute__((unused)) static struct fixture open_ops(const char *spec)
{
    return open_ops_with(spec, NULL);
}

__attribute__((unused)) static void close_ops(struct fixture *f)
{
    must(slr_stream_finish(f->stream, COMPILED));
    slr_ops_destroy(f->ops);
    slr_stream_destroy(f->stream);
    slr_device_close(f->device);
}

// ---- numbers that a seed determines --------------------------------------------------------------------------------

static uint64_t seed = 1;
static uint32_t doing; // the number of the case, of tests that count them

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33) % below;
}

// Of -1 to 1, in 2^-12: sums of products of them are not exact in float.
static double draw_real(void)
{
    return ((double)draw(8192) - 4096 + 0.5) / 4096;
}

__attribute__((unused)) static uint32_t draw_size(void)
{
    static const uint32_t odd[] = {1, 7, 33, 129, 2, 16, 31};
    uint32_t which = draw(10);
    return which < 7 ? odd[which] : 1 + draw(40);
}

// ---- tensors -------------------------------------------------------------------------------------------------------

struct data {
    slr_tensor tensor;
    size_t n;
    double *value; // what is in it
};

static size_t elements_of(const slr_tensor *tensor)
{
    size_t n = 1;
    for (uint32_t i = 0; i < tensor->rank; ++i)
        n *= tensor->shape[i];
    return n;
}

static size_t bytes_of(slr_scalar dtype)
{
    return dtype == SLR_F16 || dtype == SLR_BF16 ? 2 : 4;
}

// Stores the values, rounded to the tensor's type, which they then are.
__attribute__((unused)) static void store(struct data *data)
{
    slr_scalar dtype = data->tensor.dtype;
    size_t bytes = data->n * bytes_of(dtype);
    float *floats = malloc(data->n * 4);
    uint16_t *halves = (uint16_t *)floats;
    for (size_t i = 0; i < data->n; ++i) {
        float value = (float)data->value[i];
        if (dtype == SLR_F32)
            floats[i] = value;
        else
            halves[i] = dtype == SLR_F16 ? slri_f16_to_bits(value) : slri_bf16_to_bits(value);
        data->value[i] = (double)(dtype == SLR_F32   ? value
                                  : dtype == SLR_F16 ? slri_f16_from_bits(halves[i])
                                                     : slri_bf16_from_bits(halves[i]));
    }
    must(slr_buffer_write(data->tensor.buffer, 0, floats, bytes));
    free(floats);
}

// Of random values.
__attribute__((unused)) static struct data make(struct fixture *f, uint32_t rank, uint32_t a, uint32_t b, uint32_t c,
                                                uint32_t d)
{
    struct data data = {.tensor = {NULL, type, rank, {a, b, c, d}}};
    data.n = elements_of(&data.tensor);
    data.value = malloc(data.n * sizeof *data.value);
    for (size_t i = 0; i < data.n; ++i)
        data.value[i] = draw_real();
    must(slr_buffer_create(f->device, data.n * bytes_of(type), &data.tensor.buffer));
    store(&data);
    return data;
}

// One that is of floats whatever the type is.
__attribute__((unused)) static struct data make_floats(struct fixture *f, uint32_t n)
{
    slr_scalar kept = type;
    type = SLR_F32;
    struct data data = make(f, 1, n, 1, 1, 1);
    type = kept;
    return data;
}

__attribute__((unused)) static struct data make_like(struct fixture *f, const struct data *of)
{
    const uint64_t *s = of->tensor.shape;
    return make(f, of->tensor.rank, (uint32_t)s[0], (uint32_t)s[1], (uint32_t)s[2], (uint32_t)s[3]);
}

// Whole numbers below `below`.
__attribute__((unused)) static struct data make_indices(struct fixture *f, uint32_t n, uint32_t below)
{
    struct data data = {.tensor = {NULL, SLR_I32, 1, {n}}, .n = n};
    data.value = malloc(n * sizeof *data.value);
    int32_t *values = malloc(n * sizeof *values);
    for (size_t i = 0; i < n; ++i) {
        values[i] = (int32_t)draw(below);
        data.value[i] = values[i];
    }
    must(slr_buffer_create(f->device, n * 4, &data.tensor.buffer));
    must(slr_buffer_write(data.tensor.buffer, 0, values, n * 4));
    free(values);
    return data;
}

__attribute__((unused)) static void drop(struct data *data)
{
    slr_buffer_destroy(data->tensor.buffer);
    free(data->value);
    *data = (struct data){0};
}

// What the device has in it now, to free().
__attribute__((unused)) static float *fetch_floats(struct fixture *f, const struct data *data)
{
    float *values = malloc(data->n * sizeof *values);
    uint16_t *halves = malloc(data->n * sizeof *halves);
    slr_scalar dtype = data->tensor.dtype;
    must(slr_stream_finish(f->stream, COMPILED));
    must(
        slr_buffer_read(data->tensor.buffer, 0, dtype == SLR_F32 ? (void *)values : halves, data->n * bytes_of(dtype)));
    for (size_t i = 0; i < data->n && dtype != SLR_F32; ++i)
        values[i] = dtype == SLR_F16 ? slri_f16_from_bits(halves[i]) : slri_bf16_from_bits(halves[i]);
    free(halves);
    return values;
}

__attribute__((unused)) static void expect_near(const char *what, size_t i, double got, double want, double bound)
{
    if (!(fabs(got - want) <= bound))
        fail_msg("case %u, %s: element %zu is %.9g, expected %.9g within %.3g", doing, what, i, got, want, bound);
}

// Each element within `bound`, and `times` EPS of itself, and rounded to its type.
__attribute__((unused)) static void expect(struct fixture *f, const char *what, const struct data *data,
                                           const double *want, double bound, double times)
{
    float *got = fetch_floats(f, data);
    for (size_t i = 0; i < data->n; ++i)
        expect_near(what, i, (double)got[i], want[i],
                    bound + (times * EPS + (data->tensor.dtype == SLR_F32 ? 0 : 1.01 * unit())) * fabs(want[i]) +
                        (data->tensor.dtype == SLR_F16 ? 0x1p-25 : 0));
    free(got);
}

// ---- gradients by central differences ------------------------------------------------------------------------------

// Computes all results, in double, from the operands' values.
typedef void reference(const void *what, double *out);

// `dx` must hold sum over results of dy * d result / d x. A few elements are tried: each costs two references.
__attribute__((unused)) static void expect_gradient(struct fixture *f, const char *name, reference *compute,
                                                    const void *what, size_t results, const struct data *dy,
                                                    struct data *x, const struct data *dx, double bound)
{
    float *got = fetch_floats(f, dx);
    double *above = malloc(results * sizeof *above), *below = malloc(results * sizeof *below);
    const double step = 1e-5;
    for (int tried = 0; tried < 6; ++tried) {
        size_t at = tried == 0 ? 0 : tried == 1 ? x->n - 1 : draw((uint32_t)x->n);
        double kept = x->value[at], sum = 0, size = 0;
        x->value[at] = kept + step;
        compute(what, above);
        x->value[at] = kept - step;
        compute(what, below);
        x->value[at] = kept;
        for (size_t i = 0; i < results; ++i) {
            double part = dy->value[i] * (above[i] - below[i]) / (2 * step);
            sum += part;
            size += fabs(part);
        }
        expect_near(name, at, (double)got[at], sum, bound * (size + 1e-3) + 1e-6 + unit() * (16 * size + 16));
    }
    free(got);
    free(above);
    free(below);
}

// ---- activations in double -----------------------------------------------------------------------------------------

__attribute__((unused)) static double activated(slr_activation kind, double x)
{
    switch ((int)kind) {
    case SLR_RELU:
        return x < 0 ? 0 : x;
    case SLR_SIGMOID:
        return 1 / (1 + exp(-x));
    case SLR_TANH:
        return tanh(x);
    case SLR_GELU:
        return x / 2 * (1 + erf(x * sqrt(0.5)));
    case SLR_SILU:
        return x / (1 + exp(-x));
    case SLR_LEAKY_RELU:
        return x < 0 ? x / 100 : x;
    default:
        return x;
    }
}

#endif
