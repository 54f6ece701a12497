// SPDX-License-Identifier: Apache-2.0
// Variables of a program: what kernels keep in them, and what the host writes and reads.
#include "engines.h"

static const char text[] =
    "__constant__ float filter[5];\n"
    "__constant__ float scale = 2.0f;\n"
    "struct tally { unsigned launches; int most; };\n"
    "__device__ struct tally tally = { 100, -5 };\n"
    "__device__ int sums[4];\n"
    "__device__ unsigned arrived;\n"
    "static __device__ const int odd[2] = { 1, 3 };\n"
    "__device__ float blur(const float *weight, const int *in, int i) {\n"
    "  float sum = 0;\n  for (int k = 0; k < 5; k++) sum += weight[k] * in[i + k];\n  return sum * scale;\n}\n"
    "__global__ void k(const int *in, int *out, int n) {\n"
    "  __shared__ int last;\n"
    "  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n"
    "  out[i] = (int)blur(filter, in, i) + odd[t & 1];\n"
    "  atomicAdd(&sums[t & 3], n + t);\n  atomicMax(&tally.most, in[i]);\n"
    "  __threadfence();\n"
    "  if (t == 0) last = atomicAdd(&arrived, 1u) == gridDim.x - 1;\n"
    "  __syncthreads();\n"
    "  if (last && t == 0) { arrived = 0; tally.launches++; }\n}\n";

struct answer {
    int out[64], sums[4];
    struct {
        unsigned launches;
        int most;
    } tally;
};

static void play(const char *engine, struct answer *answer)
{
    static const float filter[5] = {1, -2, 3, 0.5f, 4};
    static const float other = 8;
    struct engine e = {0};
    slr_shape shape = SLR_1D_BLOCKS(64, 16);
    engine_open(&e, engine, text, 256, 1);
    CHECK(slr_stream_write_symbol(e.stream, e.program, "filter", 0, filter, sizeof filter, NULL));
    assert_int_equal(engine_try(&e, shape, 1), SLR_OK);
    CHECK(slr_stream_write_symbol(e.stream, e.program, "filter", 4, &other, sizeof other, NULL));
    assert_int_equal(engine_try(&e, shape, 2), SLR_OK);
    memcpy(answer->out, e.result, sizeof answer->out);
    CHECK(slr_stream_read_symbol(e.stream, e.program, "sums", 0, answer->sums, sizeof answer->sums, NULL));
    CHECK(slr_stream_read_symbol(e.stream, e.program, "tally", 0, &answer->tally, sizeof answer->tally, NULL));
    CHECK(slr_stream_finish(e.stream, 60 * SECOND));
    engine_close(&e);
}

static void kernels_share_variables_from_launch_to_launch(void **unused)
{
    (void)unused;
    struct answer compiled, interpreted;
    play("cpu?engine=compiled", &compiled);
    play("cpu?engine=interpreted", &interpreted);
    assert_memory_equal(&compiled, &interpreted, sizeof compiled);
    assert_int_equal(compiled.tally.launches, 102);
    assert_true(compiled.tally.most > 0);
    for (int q = 0; q < 4; q++) // 16 threads of 64 in each, n = 1 and 2
        assert_int_equal(compiled.sums[q], 2 * 4 * (q + q + 4 + q + 8 + q + 12) + 16 * 3);
}

static void programs_have_their_own(void **unused)
{
    (void)unused;
    struct engine a = {0}, b = {0};
    engine_open(&a, "cpu?engine=interpreted", text, 256, 1);
    engine_open(&b, "cpu?engine=interpreted", text, 256, 1);
    assert_int_equal(engine_try(&a, SLR_1D_BLOCKS(64, 16), 1), SLR_OK);
    unsigned launches[2];
    CHECK(slr_stream_read_symbol(a.stream, a.program, "tally", 0, &launches[0], 4, NULL));
    CHECK(slr_stream_read_symbol(b.stream, b.program, "tally", 0, &launches[1], 4, NULL));
    CHECK(slr_stream_finish(a.stream, 60 * SECOND));
    CHECK(slr_stream_finish(b.stream, 60 * SECOND));
    assert_int_equal(launches[0], 101);
    assert_int_equal(launches[1], 100);
    engine_close(&a);
    engine_close(&b);
}

static void refuses(slr_status got, slr_status wanted, const char *words)
{
    assert_int_equal(got, wanted);
    if (!strstr(slr_error_message(), words))
        fail_msg("'%s' is not in: %s", words, slr_error_message());
}

static void what_cannot_be_written_is_refused_by_name(void **unused)
{
    (void)unused;
    struct engine e = {0};
    float f[8] = {0};
    engine_open(&e, "cpu?engine=interpreted", text, 256, 1);
    refuses(slr_stream_write_symbol(e.stream, e.program, "filters", 0, f, 4, NULL), SLR_NOT_FOUND, "'filters'");
    refuses(slr_stream_write_symbol(e.stream, e.program, "scale", 0, f, 4, NULL), SLR_INVALID, "values in the source");
    refuses(slr_stream_write_symbol(e.stream, e.program, "filter", 0, f, 24, NULL), SLR_INVALID, "which has 20");
    refuses(slr_stream_read_symbol(e.stream, e.program, "filter", UINT64_MAX, f, 2, NULL), SLR_INVALID, "which has 20");
    refuses(slr_stream_read_symbol(e.stream, NULL, "filter", 0, f, 4, NULL), SLR_INVALID, "program is NULL");
    engine_close(&e);
}

static void does_not_compile(const char *source, const char *words)
{
    slr_device *device;
    slr_program *program;
    CHECK(slr_device_open("cpu?engine=interpreted", NULL, &device));
    refuses(slr_program_from_text(device, "wrong.cu", source, NULL, &program), SLR_COMPILE, words);
    slr_device_close(device);
}

static void wrong_variables_are_errors(void **unused)
{
    (void)unused;
    does_not_compile("__constant__ int c[2];\n__global__ void k(int *p) { c[0] = p[0]; }\n", "const");
    does_not_compile("struct m { int x; };\n__device__ int count;\n"
                     "__ring__ void h(const struct m *in) { count += in->x; }\n",
                     "a variable of the file in the handler 'h'");
    does_not_compile("__device__ int *p;\n__global__ void k(int *q) { q[0] = 1; p = q; }\n", "pointer at file scope");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_share_variables_from_launch_to_launch),
        cmocka_unit_test(programs_have_their_own),
        cmocka_unit_test(what_cannot_be_written_is_refused_by_name),
        cmocka_unit_test(wrong_variables_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
