// SPDX-License-Identifier: Apache-2.0
// fmin and fmax on OpenCL, beside the interpreter: the same bits of zeros, infinities, subnormal numbers and numbers
// beside a NaN, where both operands are read and where one stands in the source.
#include "device/device_test.h"

#include <math.h>

enum { SPECIALS = 9, N = SPECIALS * SPECIALS, WAYS = 10 };

static const char source[] =
    "__device__ unsigned bits_of(float x) { return x != x ? 0x7fc00000u : __float_as_uint(x); }\n"
    "__device__ unsigned long long bits_of_double(double x)\n"
    "{ return x != x ? 1ull : (unsigned long long)__double_as_longlong(x); }\n"
    "__global__ void floats(const float *a, const float *b, unsigned *out, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i >= n) return;\n"
    "    float x = a[i], y = b[i], way[10] = {fminf(x, y), fmaxf(x, y), fminf(x, 0.0f), fmaxf(x, 0.0f),\n"
    "        fminf(-0.0f, y), fmaxf(-0.0f, y), fminf(x, 2.0f), fmaxf(-1.0f, y), min(x, y), fmaxf(x, 0.0f / 0.0f)};\n"
    "    for (int k = 0; k < 10; k++) out[10 * i + k] = bits_of(way[k]);\n"
    "}\n"
    "__global__ void doubles(const float *a, const float *b, unsigned long long *out, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i >= n) return;\n"
    "    double x = a[i], y = b[i], way[10] = {fmin(x, y), fmax(x, y), fmin(x, 0.0), fmax(x, 0.0), fmin(-0.0, y),\n"
    "        fmax(-0.0, y), fmin(x, 2.0), fmax(-1.0, y), max(x, y), fmin(y, x)};\n"
    "    for (int k = 0; k < 10; k++) out[10 * i + k] = bits_of_double(way[k]);\n"
    "}\n";

static void run(const char *spec, const char *kernel, const float *a, const float *b, void *out, size_t bytes)
{
    slr_device *device = NULL;
    slr_program *program = NULL;
    slr_kernel *made = NULL;
    slr_stream *stream = NULL;
    slr_buffer *buffer[3];
    must(slr_device_open(spec, NULL, &device));
    must(slr_program_from_text(device, "extremes.cu", source, NULL, &program));
    must(slr_program_get_kernel(program, kernel, &made));
    must(slr_stream_create(device, NULL, &stream));
    must(slr_buffer_create(device, N * sizeof *a, &buffer[0]));
    must(slr_buffer_create(device, N * sizeof *b, &buffer[1]));
    must(slr_buffer_create(device, bytes, &buffer[2]));
    must(slr_buffer_write(buffer[0], 0, a, N * sizeof *a));
    must(slr_buffer_write(buffer[1], 0, b, N * sizeof *b));
    must(SLR_LAUNCH(stream, made, SLR_1D(N), buffer[0], buffer[1], buffer[2], N));
    must(slr_stream_finish(stream, LONG));
    must(slr_buffer_read(buffer[2], 0, out, bytes));
    for (int i = 0; i < 3; ++i)
        slr_buffer_destroy(buffer[i]);
    slr_stream_destroy(stream);
    slr_kernel_destroy(made);
    slr_program_destroy(program);
    slr_device_close(device);
}

static void extremes_have_the_interpreters_bits(void **state)
{
    (void)state;
    static const float special[SPECIALS] = {0.0f, -0.0f, 1.0f, -1.0f, 1e-42f, -1e-42f, INFINITY, -INFINITY, NAN};
    static float a[N], b[N];
    static uint64_t wanted[N * WAYS], got[N * WAYS];
    if (!is_here("opencl:0"))
        skip();
    for (int i = 0; i < N; ++i) {
        a[i] = special[i % SPECIALS];
        b[i] = special[i / SPECIALS];
    }
    static const struct {
        const char *kernel;
        size_t bytes;
    } kinds[] = {{"floats", 4}, {"doubles", 8}};
    for (size_t k = 0; k < 2; ++k) {
        run("cpu?engine=interpreted", kinds[k].kernel, a, b, wanted, kinds[k].bytes * N * WAYS);
        run("opencl:0", kinds[k].kernel, a, b, got, kinds[k].bytes * N * WAYS);
        for (size_t i = 0; i < N * WAYS; ++i)
            if (memcmp((char *)wanted + i * kinds[k].bytes, (char *)got + i * kinds[k].bytes, kinds[k].bytes) != 0)
                fail_msg("%s: way %zu of %g and %g differs", kinds[k].kernel, i % WAYS, (double)a[i / WAYS],
                         (double)b[i / WAYS]);
    }
    assert_int_equal(((uint32_t *)wanted)[0], 0); // of the doubles: fmin(0, 0)
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(extremes_have_the_interpreters_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
