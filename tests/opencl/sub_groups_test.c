// SPDX-License-Identifier: Apache-2.0
// Functions of a warp where a device says that it has sub-groups: used where they are warps, and only there, and the
// results are the interpreter's. tests/fakes/fake_sub_groups.c makes them, on whatever OpenCL is here.
#include "device/device_test.h"

#include <stdlib.h>
#include <string.h>

static const char source[] =
    "__global__ void mixed(const int *in, int *out)\n"
    "{\n"
    "    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), v = in[t];\n"
    "    unsigned all = __activemask(), odd = __ballot_sync(all, v & 1);\n"
    "    long long wide = __shfl_down_sync(all, (long long)v << 33, 3);\n"
    "    v += __shfl_up_sync(all, v + t, 2, 8) + __shfl_sync(all, v ^ t, 5) + (int)(wide >> 33);\n"
    "    v += __shfl_xor_sync(all, v, 9) + __any_sync(all, v == 7) + 2 * __all_sync(all, v > 0);\n"
    "    v ^= (int)odd;\n"
    "    __syncwarp();\n"
    "    out[t] = v;\n"
    "}\n"
    // The first warp alone comes to the second sum; the rest has returned.
    "__global__ void block_sum(const int *in, int *out)\n"
    "{\n"
    "    __shared__ int part[32];\n"
    "    int t = threadIdx.x, v = in[t];\n"
    "    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);\n"
    "    if (t % 32 == 0) part[t / 32] = v;\n"
    "    __syncthreads();\n"
    "    out[t] = v;\n"
    "    if (t >= 32) return;\n"
    "    v = t < (int)blockDim.x / 32 ? part[t] : 0;\n"
    "    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);\n"
    "    out[t] = v;\n"
    "}\n"
    "struct message { unsigned value; };\n"
    "__ring_block__ void __launch_bounds__(64) places(const struct message *in)\n"
    "{\n"
    "    __shared__ unsigned part[2];\n"
    "    unsigned v = in->value * threadIdx.x;\n"
    "    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);\n"
    "    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;\n"
    "    __syncthreads();\n"
    "    struct message out = {part[0] * 3u + part[1]};\n"
    "    if (threadIdx.x == 0) ring_reply(&out);\n"
    "}\n";

enum { MOST = 256 };

static void run(const char *spec, const char *name, const uint32_t block[3], int out[MOST])
{
    int in[MOST];
    for (int i = 0; i < MOST; ++i)
        in[i] = i * 7919 % 1000;
    memset(out, 0, sizeof(int[MOST]));
    slr_device *device;
    slr_program *program;
    slr_kernel *kernel;
    slr_stream *stream;
    slr_buffer *from, *to;
    must(slr_device_open(spec, NULL, &device));
    must(slr_program_from_text(device, "warps.cu", source, NULL, &program));
    must(slr_program_get_kernel(program, name, &kernel));
    must(slr_stream_create(device, NULL, &stream));
    must(slr_buffer_create(device, sizeof in, &from));
    must(slr_buffer_create(device, sizeof in, &to));
    must(slr_buffer_write(from, 0, in, sizeof in));
    must(slr_buffer_write(to, 0, out, sizeof in));
    slr_shape shape = {.grid = {1, 1, 1}, .block = {block[0], block[1], block[2]}};
    must(SLR_LAUNCH(stream, kernel, shape, from, to));
    must(slr_stream_finish(stream, LONG));
    must(slr_buffer_read(to, 0, out, sizeof in));
    slr_buffer_destroy(from);
    slr_buffer_destroy(to);
    slr_stream_destroy(stream);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    slr_device_close(device);
}

// ---- cases ---------------------------------------------------------------------------------------------------------

static bool is_possible;

static int set_up(void **state)
{
    (void)state;
    const char *fake = getenv("SLIPRING_FAKE_SUB_GROUPS");
    if (!SANITIZED && fake && setenv("FAKE_SUB_GROUPS", "in_order", 1) == 0 &&
        setenv("SLIPRING_OPENCL_LIB", fake, 1) == 0)
        is_possible = is_here("opencl:0");
    return 0;
}

static bool has(const char *mode, const char *word)
{
    slr_device *device;
    slr_device_info info;
    setenv("FAKE_SUB_GROUPS", mode, 1);
    must(slr_device_open("opencl:0", NULL, &device));
    must(slr_device_get_info(device, &info));
    slr_device_close(device);
    return strstr(info.features, word) != NULL;
}

static void sub_groups_are_used_where_they_are_warps(void **state)
{
    (void)state;
    if (!is_possible)
        skip();
    assert_true(has("in_order", " warps=sub_groups "));
    assert_true(has("rows", " warps=sub_groups "));
    assert_true(has("of_16", " warps=local_memory "));
    assert_true(has("reversed", " warps=local_memory "));
}

static void results_are_those_of_the_interpreter(void **state)
{
    static const struct {
        const char *mode, *name;
        uint32_t block[3];
    } cases[] = {{"in_order", "mixed", {40, 1, 1}},
                 {"in_order", "block_sum", {MOST, 1, 1}},
                 {"rows", "mixed", {5, 3, 3}}}; // of which device and shape say different things
    (void)state;
    if (!is_possible)
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        int wanted[MOST], got[MOST];
        setenv("FAKE_SUB_GROUPS", cases[i].mode, 1);
        run("cpu?engine=interpreted", cases[i].name, cases[i].block, wanted);
        run("opencl:0", cases[i].name, cases[i].block, got);
        for (uint32_t k = 0; k < MOST; ++k)
            if (got[k] != wanted[k])
                fail_msg("%s, %s: out[%u] is %d, not %d", cases[i].name, cases[i].mode, k, got[k], wanted[k]);
    }
}

static void handlers_of_a_block_have_them(void **state)
{
    static const char *const specs[] = {"opencl:0?ring=relaunch", "opencl:0?ring=persistent"};
    (void)state;
    if (!is_possible)
        skip();
    setenv("FAKE_SUB_GROUPS", "in_order", 1);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; ++i) {
        slr_device *device;
        slr_program *program;
        slr_ring *ring;
        slr_address to;
        uint32_t value = 10, got = 0;
        slr_ring_desc desc = SLR_RING_DESC_INIT;
        must(slr_device_open(specs[i], NULL, &device));
        must(slr_program_from_text(device, "warps.cu", source, NULL, &program));
        desc.name = desc.handler = "places";
        desc.program = program;
        must(slr_ring_create(device, &desc, &ring));
        must(slr_ring_launch(ring));
        must(slr_ring_activate(ring, LONG));
        must(slr_ring_get_address(ring, 0, &to));
        must(slr_call(NULL, to, &value, sizeof value, &got, sizeof got, LONG));
        assert_int_equal(got, 10 * (3 * 496 + 1520)); // of 0 to 31, and of 32 to 63
        slr_ring_destroy(ring);
        slr_program_destroy(program);
        slr_device_close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sub_groups_are_used_where_they_are_warps),
        cmocka_unit_test(results_are_those_of_the_interpreter),
        cmocka_unit_test(handlers_of_a_block_have_them),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
