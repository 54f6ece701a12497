// SPDX-License-Identifier: Apache-2.0
// Launching from C: what is converted, what is refused and in which words, which block is chosen, and what happens to
// a launch that goes wrong.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <slipring/slipring.h>

#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)
#define N 1000

static const char source[] =
    "struct pair { int a; float b; };\n"
    "__global__ void saxpy(float a, const float *x, float *y, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] = a * x[i] + y[i];\n}\n"
    "__global__ void reverse(int *x) {\n"
    "    extern __shared__ int s[];\n"
    "    s[threadIdx.x] = x[threadIdx.x];\n    __syncthreads();\n"
    "    x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];\n}\n"
    "__global__ void kinds(long long *out, bool b, char c, unsigned char u, short s, unsigned n, long long l,\n"
    "                      unsigned long long m, float f, double d, struct pair p) {\n"
    "    out[0] = b; out[1] = c; out[2] = u; out[3] = s; out[4] = n; out[5] = l; out[6] = m; out[7] = f;\n"
    "    out[8] = d; out[9] = p.a; out[10] = p.b;\n}\n"
    "__global__ void shape(unsigned *out) {\n"
    "    if (threadIdx.x == 0 && threadIdx.y == 0 && blockIdx.x == 0 && blockIdx.y == 0) {\n"
    "        out[0] = blockDim.x; out[1] = blockDim.y; out[2] = gridDim.x; out[3] = gridDim.y; }\n}\n"
    "__launch_bounds__(96) __global__ void bounded(unsigned *out) { out[0] = blockDim.x; }\n"
    "__global__ void divide(int *out, int by) { out[threadIdx.x] = 7 / by; }\n"
    "__global__ void both(const float *__restrict__ x, float *__restrict__ y) { y[threadIdx.x] = x[threadIdx.x]; }\n"
    "__global__ void nothing(void) {}\n"
    "__constant__ int band[3] = {1, 2, 3};\n"
    "__global__ void outside(int *out, int at, int in_band) {\n"
    "    out[at] = in_band >= 0 ? band[in_band] : 0;\n}\n";

static const char *const engines[] = {"cpu?engine=compiled", "cpu?engine=interpreted"};

struct world {
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_buffer *buffer;
};

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) != SLR_OK)                                                                                          \
            fail_msg("%s:%d: %s", __FILE__, __LINE__, slr_error_message());                                            \
    } while (0)

static void open_world(struct world *w, const char *spec)
{
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    desc.optimize = 1;
    CHECK(slr_device_open(spec, NULL, &w->device));
    CHECK(slr_stream_default(w->device, &w->stream));
    CHECK(slr_program_from_text(w->device, "launch.cu", source, &desc, &w->program));
    CHECK(slr_buffer_create(w->device, N * 8, &w->buffer));
}

static void close_world(struct world *w)
{
    slr_buffer_destroy(w->buffer);
    slr_program_destroy(w->program);
    slr_device_close(w->device);
}

static slr_kernel *kernel_of(struct world *w, const char *name)
{
    slr_kernel *kernel;
    CHECK(slr_program_get_kernel(w->program, name, &kernel));
    return kernel;
}

#define REFUSED(call, words)                                                                                           \
    do {                                                                                                               \
        assert_int_equal((call), SLR_INVALID);                                                                         \
        if (!strstr(slr_error_message(), words))                                                                       \
            fail_msg("'%s' does not say '%s'", slr_error_message(), words);                                            \
    } while (0)

// ---- running -------------------------------------------------------------------------------------------------------

static void saxpy_runs_on_both_engines(void **unused)
{
    (void)unused;
    for (int e = 0; e < 2; e++) {
        struct world w;
        float x[N], y[N];
        slr_buffer *on_device;
        open_world(&w, engines[e]);
        for (int i = 0; i < N; i++)
            x[i] = (float)i, y[i] = 0.5f;
        CHECK(slr_buffer_create(w.device, sizeof y, &on_device));
        CHECK(slr_buffer_write(w.buffer, 0, x, sizeof x));
        CHECK(slr_buffer_write(on_device, 0, y, sizeof y));
        slr_kernel *saxpy = kernel_of(&w, "saxpy");
        size_t n = N - 1;
        CHECK(SLR_LAUNCH(w.stream, saxpy, SLR_1D(n), 2.0, w.buffer, on_device, n));
        slr_kernel_destroy(saxpy); // the launch keeps what it needs
        CHECK(slr_stream_finish(w.stream, 60 * SECOND));
        CHECK(slr_buffer_read(on_device, 0, y, sizeof y));
        for (int i = 0; i < N - 1; i++)
            assert_float_equal(y[i], 2.0f * (float)i + 0.5f, 0);
        assert_float_equal(y[N - 1], 0.5f, 0);
        slr_buffer_destroy(on_device);
        close_world(&w);
    }
}

static void a_barrier_kernel_with_dynamic_shared_memory_runs_on_both_engines(void **unused)
{
    (void)unused;
    for (int e = 0; e < 2; e++) {
        struct world w;
        int x[200];
        open_world(&w, engines[e]);
        for (int i = 0; i < 200; i++)
            x[i] = i;
        CHECK(slr_buffer_write(w.buffer, 0, x, sizeof x));
        slr_kernel *reverse = kernel_of(&w, "reverse");
        CHECK(SLR_LAUNCH(w.stream, reverse, SLR_GRID(1, 200, sizeof x), w.buffer));
        CHECK(slr_stream_finish(w.stream, 60 * SECOND));
        CHECK(slr_buffer_read(w.buffer, 0, x, sizeof x));
        for (int i = 0; i < 200; i++)
            assert_int_equal(x[i], 199 - i);
        slr_kernel_destroy(reverse);
        close_world(&w);
    }
}

static void arguments_arrive_as_what_the_parameters_are(void **unused)
{
    (void)unused;
    struct world w;
    long long out[11];
    struct {
        int a;
        float b;
    } pair = {-5, 6.0f};
    open_world(&w, engines[0]);
    slr_kernel *kinds = kernel_of(&w, "kinds");
    CHECK(SLR_LAUNCH(w.stream, kinds, SLR_GRID(1, 1, 0), w.buffer, 1, -128, 255ull, (short)-32768, 4294967295ll, -7,
                     (uint64_t)1 << 63, 16777216, -3, SLR_VALUE(pair)));
    CHECK(slr_stream_finish(w.stream, 60 * SECOND));
    CHECK(slr_buffer_read(w.buffer, 0, out, sizeof out));
    const long long wanted[11] = {1, -128, 255, -32768, 4294967295ll, -7, INT64_MIN, 16777216, -3, -5, 6};
    for (int i = 0; i < 11; i++)
        assert_int_equal(out[i], wanted[i]);
    slr_kernel_destroy(kinds);
    close_world(&w);
}

static void a_launch_of_no_threads_does_nothing(void **unused)
{
    (void)unused;
    struct world w;
    open_world(&w, engines[0]);
    slr_kernel *nothing = kernel_of(&w, "nothing");
    CHECK(SLR_LAUNCH(w.stream, nothing, SLR_1D(0)));
    CHECK(SLR_LAUNCH(w.stream, nothing, SLR_1D(1)));
    CHECK(slr_stream_finish(w.stream, 60 * SECOND));
    slr_kernel_destroy(nothing);
    close_world(&w);
}

// ---- what is refused -----------------------------------------------------------------------------------------------

static void wrong_arguments_are_refused_naming_the_parameter(void **unused)
{
    (void)unused;
    struct world w;
    slr_device *other;
    slr_buffer *elsewhere, *tiny;
    open_world(&w, engines[0]);
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    desc.bytes = 64;
    desc.mode = SLR_BUFFER_EXPLICIT; // others come by themselves: tests/cluster/move_test.c
    CHECK(slr_device_open("cpu?unified=0", NULL, &other));
    CHECK(slr_buffer_create_with(other, &desc, &elsewhere));
    CHECK(slr_buffer_create(w.device, 2, &tiny));
    slr_kernel *k = kernel_of(&w, "saxpy");
    slr_shape s = SLR_1D(10);
    REFUSED(SLR_LAUNCH(w.stream, k, s, 2.0, w.buffer, w.buffer), "takes 4 arguments, but got 3");
    REFUSED(SLR_LAUNCH(w.stream, k, s, 0.1, w.buffer, w.buffer, 1), "parameter 1 'a' is float, which cannot hold 0.1");
    REFUSED(SLR_LAUNCH(w.stream, k, s, 16777217, w.buffer, w.buffer, 1), "parameter 1 'a' is float, which cannot");
    REFUSED(SLR_LAUNCH(w.stream, k, s, w.buffer, w.buffer, w.buffer, 1), "parameter 1 'a' is float, and a buffer");
    REFUSED(SLR_LAUNCH(w.stream, k, s, 2.0, 3, w.buffer, 1), "parameter 2 'x' is a pointer and takes a buffer, and an");
    REFUSED(SLR_LAUNCH(w.stream, k, s, 2.0, elsewhere, w.buffer, 1),
            "a buffer belongs to another device than the program, and is explicit");
    REFUSED(SLR_LAUNCH(w.stream, k, s, 2.0, w.buffer, tiny, 1), "parameter 3 'y': a buffer of 2 bytes");
    REFUSED(SLR_LAUNCH(w.stream, k, s, 2.0, w.buffer, w.buffer, (size_t)1 << 31), "parameter 4 'n' is int32_t");
    REFUSED(SLR_LAUNCH(w.stream, k, s, 2.0, w.buffer, w.buffer, 1.0), "parameter 4 'n' is int32_t, and a floating");
    slr_kernel_destroy(k);
    k = kernel_of(&w, "both");
    REFUSED(SLR_LAUNCH(w.stream, k, s, w.buffer, w.buffer), "'x' and 'y' are __restrict__");
    slr_kernel_destroy(k);
    slr_buffer_destroy(elsewhere);
    slr_buffer_destroy(tiny);
    slr_device_close(other);
    close_world(&w);
}

static void wrong_shapes_are_refused(void **unused)
{
    (void)unused;
    struct world w;
    open_world(&w, engines[0]);
    slr_kernel *k = kernel_of(&w, "nothing");
    REFUSED(SLR_LAUNCH(w.stream, k, SLR_GRID(1, 1025, 0)), "1025 threads");
    REFUSED(SLR_LAUNCH(w.stream, k, SLR_GRID(1, 32, 64)), "no extern __shared__ object");
    REFUSED(SLR_LAUNCH(w.stream, k, SLR_1D_BLOCKS((uint64_t)1 << 40, 32)), "at most 2^31 - 1");
    slr_shape odd = SLR_1D(10);
    odd.vector_width = 5;
    REFUSED(SLR_LAUNCH(w.stream, k, odd), "vector_width of 5");
    slr_kernel_destroy(k);
    k = kernel_of(&w, "bounded");
    REFUSED(SLR_LAUNCH(w.stream, k, SLR_GRID(1, 128, 0), w.buffer), "__launch_bounds__");
    slr_kernel_destroy(k);
    close_world(&w);
}

static void a_kernel_that_is_not_there_is_refused_with_those_that_are(void **unused)
{
    (void)unused;
    struct world w;
    slr_kernel *k;
    open_world(&w, engines[0]);
    assert_int_equal(slr_program_get_kernel(w.program, "saxpi", &k), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "no kernel 'saxpi'; it has: saxpy, reverse"));
    assert_int_equal(slr_program_get_kernel(w.program, NULL, &k), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "several kernels"));
    close_world(&w);
}

static void a_fault_fails_the_stream_and_names_the_line(void **unused)
{
    (void)unused;
    for (int e = 0; e < 2; e++) {
        struct world w;
        open_world(&w, engines[e]);
        slr_kernel *divide = kernel_of(&w, "divide");
        CHECK(SLR_LAUNCH(w.stream, divide, SLR_GRID(1, 4, 0), w.buffer, 0));
        assert_int_equal(slr_stream_finish(w.stream, 60 * SECOND), SLR_HANDLER_FAULT);
        assert_non_null(strstr(slr_error_message(), "kernel divide: integer division by zero, at launch.cu:22"));
        CHECK(slr_stream_recover(w.stream));
        CHECK(SLR_LAUNCH(w.stream, divide, SLR_GRID(1, 4, 0), w.buffer, 7));
        CHECK(slr_stream_finish(w.stream, 60 * SECOND));
        slr_kernel_destroy(divide);
        close_world(&w);
    }
}

static void an_interpreted_fault_names_what_was_indexed_and_how_far(void **unused)
{
    (void)unused;
    static const struct {
        int at, in_band;
        const char *says;
    } wrong[] = {{2000, -1, "access outside a bound buffer: index 2000 of 2000 in buffer 'out', at launch.cu:27:13, "},
                 {0, 3, "index outside its array: index 3 of 3 in 'band', at launch.cu:27:35, block (0, 0, 0)"}};
    for (int i = 0; i < 2; i++) {
        struct world w;
        open_world(&w, "cpu?engine=interpreted");
        slr_kernel *outside = kernel_of(&w, "outside");
        CHECK(SLR_LAUNCH(w.stream, outside, SLR_GRID(1, 1, 0), w.buffer, wrong[i].at, wrong[i].in_band));
        assert_int_equal(slr_stream_finish(w.stream, 60 * SECOND), SLR_HANDLER_FAULT);
        if (!strstr(slr_error_message(), wrong[i].says))
            fail_msg("\"%s\" does not say \"%s\"", slr_error_message(), wrong[i].says);
        slr_kernel_destroy(outside);
        close_world(&w);
    }
}

// ---- which block ---------------------------------------------------------------------------------------------------

static void expect_shape(struct world *w, slr_kernel *kernel, slr_shape shape, uint32_t block_x, uint32_t block_y,
                         uint32_t grid_x, uint32_t grid_y)
{
    uint32_t out[4];
    CHECK(SLR_LAUNCH(w->stream, kernel, shape, w->buffer));
    CHECK(slr_stream_finish(w->stream, 60 * SECOND));
    CHECK(slr_buffer_read(w->buffer, 0, out, sizeof out));
    assert_int_equal(out[0], block_x);
    assert_int_equal(out[1], block_y);
    assert_int_equal(out[2], grid_x);
    assert_int_equal(out[3], grid_y);
}

static void a_block_is_chosen_by_size_and_an_explicit_one_wins(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t out;
    open_world(&w, engines[0]);
    slr_kernel *k = kernel_of(&w, "shape");
    expect_shape(&w, k, SLR_1D(100), 64, 1, 2, 1);
    expect_shape(&w, k, SLR_1D(1000), 128, 1, 8, 1);
    expect_shape(&w, k, SLR_1D(100000), 256, 1, 391, 1);
    expect_shape(&w, k, SLR_1D(100001), 512, 1, 196, 1);
    expect_shape(&w, k, SLR_1D_BLOCKS(1000, 100), 100, 1, 10, 1);
    expect_shape(&w, k, SLR_2D(100, 20), 32, 8, 4, 3);
    expect_shape(&w, k, SLR_GRID_2D(2, 3, 4, 5), 4, 5, 2, 3);
    slr_kernel_destroy(k);
    k = kernel_of(&w, "bounded");
    CHECK(SLR_LAUNCH(w.stream, k, SLR_1D(1000000), w.buffer));
    CHECK(slr_stream_finish(w.stream, 60 * SECOND));
    CHECK(slr_buffer_read(w.buffer, 0, &out, sizeof out));
    assert_int_equal(out, 64);
    slr_kernel_destroy(k);
    close_world(&w);
}

static void a_kernel_says_what_it_is(void **unused)
{
    (void)unused;
    struct world w;
    slr_kernel_info info;
    open_world(&w, engines[1]);
    slr_kernel *k = kernel_of(&w, "saxpy");
    CHECK(slr_kernel_get_info(k, &info));
    assert_string_equal(info.name, "saxpy");
    assert_int_equal(info.parameter_count, 4);
    assert_string_equal(info.parameters[1].name, "x");
    assert_true(info.parameters[1].is_buffer && info.parameters[1].is_const);
    assert_int_equal(info.parameters[3].scalar, SLR_I32);
    assert_int_equal(info.max_threads, 1024);
    assert_false(info.takes_dynamic_shared);
    slr_kernel_destroy(k);
    k = kernel_of(&w, "reverse");
    CHECK(slr_kernel_get_info(k, &info));
    assert_true(info.takes_dynamic_shared);
    slr_kernel_destroy(k);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saxpy_runs_on_both_engines),
        cmocka_unit_test(a_barrier_kernel_with_dynamic_shared_memory_runs_on_both_engines),
        cmocka_unit_test(arguments_arrive_as_what_the_parameters_are),
        cmocka_unit_test(a_launch_of_no_threads_does_nothing),
        cmocka_unit_test(wrong_arguments_are_refused_naming_the_parameter),
        cmocka_unit_test(wrong_shapes_are_refused),
        cmocka_unit_test(a_kernel_that_is_not_there_is_refused_with_those_that_are),
        cmocka_unit_test(a_fault_fails_the_stream_and_names_the_line),
        cmocka_unit_test(an_interpreted_fault_names_what_was_indexed_and_how_far),
        cmocka_unit_test(a_block_is_chosen_by_size_and_an_explicit_one_wins),
        cmocka_unit_test(a_kernel_says_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
