// SPDX-License-Identifier: Apache-2.0
// What a cubin says that a kernel takes, beside what ptxas says (-v) as it makes the same cubin: examples and tests for
// several capabilities. Where NVRTC is not found the test is skipped, and CTest says so.
#define _POSIX_C_SOURCE 200809L
#include "tests/kernel/nvrtc.h"
#include "hal/cuda/cubin.h"
#include "base/status.h"
#include "emit/cuda/emit_cuda.h"
#include "lang/kernel.h"

#include <slipring/slipring.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define UNKNOWN_OPTION 5 // NVRTC: it knows no such capability yet

static const unsigned capabilities[] = {75, 80, 90, 120};
enum { CAPABILITIES = sizeof capabilities / sizeof *capabilities };
static struct nvrtc nvrtc;
static bool all; // every file for every capability; else each for one of them in turn
static uint32_t turn, kernels_seen, spills_seen, stacks_seen, shared_seen;

struct made {
    char *cubin, *log;
    size_t bytes;
};

static struct made compile(const char *text, unsigned capability, const char *option)
{
    struct made made = {0};
    char arch[40];
    const char *options[] = {arch, "--fmad=false", "--ptxas-options=-v", option};
    nvrtc_program *program;
    size_t log_bytes = 0;
    snprintf(arch, sizeof arch, "--gpu-architecture=sm_%u", capability);
    assert_int_equal(nvrtc.create(&program, text, "slipring.cu", 0, NULL, NULL), 0);
    int error = nvrtc.compile(program, option ? 4 : 3, options);
    if (error == UNKNOWN_OPTION) { // it knows no such capability yet
        nvrtc.destroy(&program);
        return made;
    }
    assert_int_equal(error, 0);
    assert_int_equal(nvrtc.log_size(program, &log_bytes), 0);
    assert_int_equal(nvrtc.cubin_size(program, &made.bytes), 0);
    made.log = calloc(log_bytes + 1, 1);
    made.cubin = malloc(made.bytes);
    assert_int_equal(nvrtc.log(program, made.log), 0);
    assert_int_equal(nvrtc.cubin(program, made.cubin), 0);
    nvrtc.destroy(&program);
    return made;
}

// The number in front of `what`, in the text up to `end`; `otherwise` where it is not there.
static uint32_t number_before(const char *text, const char *end, const char *what, uint32_t otherwise)
{
    const char *at = strstr(text, what);
    if (!at || at > end)
        return otherwise;
    while (at > text && (at[-1] == ' ' || (at[-1] >= '0' && at[-1] <= '9')))
        --at;
    return (uint32_t)strtoul(at, NULL, 10);
}

static void compare(const char *file, const char *kernel, const char *said, const char *end, const struct made *made,
                    unsigned capability)
{
    slr_resources r;
    if (slri_cubin_read(made->cubin, made->bytes, kernel, &r) != SLR_OK)
        fail_msg("%s, %s: %s", file, kernel, slr_error_message());
    uint32_t frame = number_before(said, end, " bytes stack frame", 0);
    uint32_t spilled = number_before(said, end, " bytes spill stores", 0);
    spilled += number_before(said, end, " bytes spill loads", 0);
    assert_int_equal(r.capability, capability);
    assert_int_equal(r.registers, number_before(said, end, " registers", 0));
    assert_int_equal(r.stack_bytes, number_before(said, end, " bytes cumulative stack size", frame));
    assert_int_equal(r.shared_bytes, number_before(said, end, " bytes smem", 0));
    assert_int_equal(r.barriers, number_before(said, end, " barriers", r.barriers)); // CUDA 12 does not say it
    if (r.spills != SLR_RESOURCE_UNKNOWN) // an instruction moves 4, 8 or 16 bytes
        assert_in_range(r.spills, (spilled + 15) / 16, spilled / 4);
    const char *first = strstr(made->log, "Compiling entry"); // before it: what is the file's
    uint32_t constants = 0;
    for (char bank[] = " bytes cmem[0]"; bank[12] <= '9'; bank[12]++)
        constants += number_before(made->log, first, bank, 0) + number_before(said, end, bank, 0);
    if (number_before(said, end, " bytes cmem[0]", 0) != 0) // it is not said from 9.0 on
        assert_int_equal(r.constant_bytes, constants);
    ++kernels_seen;
    spills_seen += r.spills != 0 && r.spills != SLR_RESOURCE_UNKNOWN;
    stacks_seen += r.stack_bytes != 0;
    shared_seen += r.shared_bytes != 0;
}

static void compare_all(const char *file, const char *text, unsigned capability, const char *option)
{
    static const char begin[] = "Compiling entry function '";
    struct made made = compile(text, capability, option);
    for (char *at = made.log ? strstr(made.log, begin) : NULL; at;) {
        char kernel[200], *next = strstr(at + 1, begin);
        at += strlen(begin);
        snprintf(kernel, sizeof kernel, "%.*s", (int)strcspn(at, "'"), at);
        compare(file, kernel, at, next ? next : at + strlen(at), &made, capability);
        at = next;
    }
    free(made.cubin);
    free(made.log);
}

static void compare_file(const char *path)
{
    static const char *const folders[] = {SLIPRING_SOURCE_DIR "/src", SLIPRING_SOURCE_DIR "/include"};
    struct slri_source source = {.path = path, .include = folders, .includes = 2};
    struct slri_module *module = NULL;
    struct slri_text text = SLRI_TEXT_INIT;
    assert_int_equal(slri_kernel_compile(&source, &module), SLR_OK);
    assert_int_equal(slri_emit_cuda(module, NULL, &text), SLR_OK);
    turn++;
    for (uint32_t i = 0; i < (all ? CAPABILITIES : 1); i++)
        compare_all(path, slri_text_view(&text), capabilities[(turn + i) % CAPABILITIES], NULL);
    slri_text_free(&text);
    slri_module_destroy(module);
}

static void cubins_say_what_ptxas_says(void **state)
{
    (void)state;
    static const char *const patterns[] = {SLIPRING_SOURCE_DIR "/examples/*/*.cu",
                                           SLIPRING_SOURCE_DIR "/tests/cuda/*.cu"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        glob_t found;
        assert_int_equal(glob(patterns[i], 0, NULL, &found), 0);
        for (size_t f = 0; f < found.gl_pathc; f++)
            compare_file(found.gl_pathv[f]);
        globfree(&found);
    }
    assert_true(kernels_seen >= 20 && shared_seen >= 3);
}

// One that spills, one with an array that is in no register, and both at once.
static const char tight[] =
    "__constant__ float table[4];\n"
    "extern \"C\" __global__ void spills(float *x, int n)\n"
    "{ float v[40]; for (int i = 0; i < 40; i++) v[i] = x[i * n]; __syncthreads();\n"
    "  for (int i = 0; i < 40; i++) x[i * n] = v[i] * v[(i + 7) % 40]; }\n"
    "extern \"C\" __global__ void array(float *x, int n)\n"
    "{ float v[40]; for (int i = 0; i < 40; i++) v[i] = x[i * n]; x[n] = v[n % 40] + table[n & 3]; }\n"
    "extern \"C\" __global__ void __launch_bounds__(128) both(double *x, int n)\n"
    "{ __shared__ double s[77]; double v[40], w[40]; for (int i = 0; i < 40; i++) { v[i] = x[i * n]; w[i] = x[i]; }\n"
    "  s[threadIdx.x % 77] = v[n % 40]; __syncthreads();\n"
    "  for (int i = 0; i < 40; i++) x[i * n] = w[i] * w[(i + 7) % 40] + s[i]; x[0] += sin(x[1]); }\n";

static void spills_and_stacks_are_told_apart(void **state)
{
    (void)state;
    static const char *const limits[] = {"--maxrregcount=24", "--maxrregcount=40", "--maxrregcount=255"};
    spills_seen = stacks_seen = 0;
    for (uint32_t i = 0; i < CAPABILITIES; i++)
        for (uint32_t l = 0; l < 3; l++)
            compare_all("tight", tight, capabilities[i], limits[l]);
    assert_true(stacks_seen > 8 && shared_seen > 3);
    print_message("%u kernels with a stack, %u that spill\n", stacks_seen, spills_seen);
}

static void program_says_what_its_kernels_take(void **state)
{
    (void)state;
    static const char text[] = "__global__ void __launch_bounds__(96) add(float *x, float y) { x[threadIdx.x] += y; }\n"
                               "struct m { int a; };\n"
                               "__ring__ void handle(const struct m *in) { ring_reply(in); }\n";
    slr_device *device;
    slr_program *program;
    slr_resources r = {0};
    assert_int_equal(slr_device_open("cpu?engine=interpreted", NULL, &device), SLR_OK);
    assert_int_equal(slr_program_from_text(device, "add.cu", text, NULL, &program), SLR_OK);
    assert_int_equal(slr_program_get_resources(program, "add", 86, &r), SLR_OK);
    assert_int_equal(r.capability, 86);
    assert_int_equal(r.most_threads, 96);
    assert_int_equal(r.parameter_bytes, 12);
    assert_in_range(r.registers, 4, 32);
    assert_true(r.compiler_major >= 11);
    assert_int_equal(slr_program_get_resources(program, "add", 9, &r), SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), "does not compile for compute capability 0.9"));
    assert_int_equal(slr_program_get_resources(program, "handle", 86, &r), SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), "handle is a handler"));
    assert_int_equal(slr_program_get_resources(program, "none", 86, &r), SLR_NOT_FOUND);
    assert_int_equal(slr_program_get_resources(program, NULL, 86, &r), SLR_INVALID);
    slr_program_destroy(program);
    slr_device_close(device);
}

// C++ that is not in the subset; the driver is simulated, and only asked which devices there are.
static void raw_program_is_compiled_as_it_is(void **state)
{
    (void)state;
    static const char text[] =
        "template <int N> struct Times { __device__ static float of(float x) { return N * x; } };\n"
        "extern \"C\" __global__ void scale(const float *__restrict__ in, float *out, unsigned n)\n"
        "{ auto i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = Times<FACTOR>::of(in[i]); }\n";
    static const char *const define[] = {"FACTOR=2"};
    slr_device *device;
    slr_program *program;
    slr_resources r = {0};
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    desc.raw = 1;
    setenv("SLIPRING_CUDA_LIB", getenv("SLIPRING_FAKE_CUDA"), 1);
    assert_int_equal(slr_device_open("cuda:0", NULL, &device), SLR_OK);
    assert_int_equal(slr_program_from_text(device, "scale.cu", text, &desc, &program), SLR_OK);
    assert_int_equal(slr_program_get_resources(program, "scale", 80, &r), SLR_COMPILE);
    assert_non_null(strstr(slr_error_message(), "FACTOR"));
    slr_program_destroy(program);
    desc.defines = define;
    desc.define_count = 1;
    assert_int_equal(slr_program_from_text(device, "scale.cu", text, &desc, &program), SLR_OK);
    assert_int_equal(slr_program_get_resources(program, "scale", 80, &r), SLR_OK);
    assert_int_equal(r.parameter_bytes, 20);
    slr_program_destroy(program);
    slr_device_close(device);
}

// With `all`: every file for every capability.
int main(int argc, char **argv)
{
    all = argc == 2 && strcmp(argv[1], "all") == 0;
    if (!nvrtc_is_here(&nvrtc))
        return NVRTC_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cubins_say_what_ptxas_says),
        cmocka_unit_test(spills_and_stacks_are_told_apart),
        cmocka_unit_test(program_says_what_its_kernels_take),
        cmocka_unit_test(raw_program_is_compiled_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
