// SPDX-License-Identifier: Apache-2.0
// Kernels that nobody prepared: shapes and sizes come from the file's host code and the kernel's own text, and what may
// be the fault of what was made up is a warning that says what to give.
#include <slipring/slipring.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static slr_device *device;
static slr_check *check;

static void check_text(const char *text, const slr_check_desc *desc)
{
    slr_program *program;
    slr_kernel *kernel = NULL;
    slr_check_destroy(check);
    check = NULL;
    if (slr_program_from_text(device, "text.cu", text, NULL, &program) != SLR_OK ||
        slr_program_get_kernel(program, "k", &kernel) != SLR_OK || slr_kernel_check(kernel, desc, &check) != SLR_OK)
        fail_msg("%s", slr_error_message());
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
}

// The only finding of that number; NULL: there is none.
static const slr_check_finding *finding_of(unsigned code)
{
    static slr_check_finding finding;
    for (uint32_t i = 0; slr_check_get_finding(check, i, &finding) == SLR_OK; i++)
        if (finding.code == code)
            return &finding;
    return NULL;
}

static void assert_error(unsigned code)
{
    const slr_check_finding *finding = finding_of(code);
    assert_non_null(finding);
    if (finding->level != SLR_CHECK_ERROR)
        fail_msg("no error: %s", finding->message);
    assert_null(finding->give);
}

static void assert_warning(unsigned code, const char *give)
{
    const slr_check_finding *finding = finding_of(code);
    assert_non_null(finding);
    if (finding->level != SLR_CHECK_WARNING)
        fail_msg("no warning: %s", finding->message);
    assert_string_equal(finding->give, give);
    assert_non_null(strstr(finding->message, "generated values: give "));
    assert_non_null(strstr(finding->message, give));
}

static slr_check_launch launch_of(uint32_t number)
{
    slr_check_launch launch;
    assert_int_equal(slr_check_get_launch(check, number, &launch), SLR_OK);
    return launch;
}

#define SCALE                                                                                                          \
    "__global__ void k(float *x, const float *y, int n, float a) {\n"                                                  \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"

static void what_the_host_launches_is_checked(void **unused)
{
    (void)unused;
    check_text(SCALE "    x[i] = a * y[i];\n}\n"
                     "int main() {\n"
                     "    const int n = 1000;\n"
                     "    float *x, *y;\n"
                     "    cudaMalloc(&x, n * sizeof(float));\n"
                     "    cudaMalloc(&y, 1024 * sizeof(float));\n"
                     "    k<<<(n + 127) / 128, 128>>>(x, y, n, 2.5f);\n"
                     "}\n",
               NULL);
    slr_check_launch launch = launch_of(0);
    assert_int_equal(launch.grid[0], 8);
    assert_int_equal(launch.block[0], 128);
    assert_string_equal(launch.from, "line 10: k<<<(n + 127) / 128, 128>>>(x, y, n, 2.5f)");
    assert_string_equal(launch.arguments[0], "x = float[1000], random (as the host allocates)");
    assert_string_equal(launch.arguments[2], "n = 1000");
    assert_string_equal(launch.arguments[3], "a = 2.5");
    assert_error(1); // nothing of it is made up
    assert_string_equal(finding_of(1)->message, "thread 104 of block 7 writes x[1000], and x has 1000 elements");
    assert_int_equal(slr_check_get_launch(check, 1, &launch), SLR_NOT_FOUND);
}

static void what_is_large_is_checked_smaller_and_said(void **unused)
{
    (void)unused;
    static const char text[] = SCALE "    if (i < n) x[i] = a * y[i];\n}\n"
                                     "int main() { int n = 1 << 20; k<<<n / 256, 256>>>(x, y, n, 1); }\n";
    check_text(text, NULL);
    assert_non_null(strstr(launch_of(0).from, "; its sizes divided by 32"));
    assert_int_equal(launch_of(0).grid[0], 128);
    assert_null(finding_of(1));
    check_text(SCALE "    if (i < n) x[i] = a * y[i];\n}\n"
                     "int main() { k<<<4096, 256>>>(x, y, 1 << 20, 1); }\n",
               NULL);
    assert_non_null(strstr(launch_of(0).from, "; of its 4096 blocks 128"));
    check_text(SCALE "    if (i < n) x[i] = a * y[i];\n}\n"
                     "int main() { float *x; cudaMalloc(&x, 3ull << 30); k<<<4, 64>>>(x, y, 1 << 28, 1); }\n",
               NULL);
    assert_string_equal(launch_of(0).from, "line 5: k<<<4, 64>>>(x, y, 1 << 28, 1); not followed: it is too large");
    slr_check_desc desc = SLR_CHECK_DESC_INIT; // what is given goes first
    desc.grid[0] = 3;
    desc.block[0] = 32;
    check_text(text, &desc);
    assert_int_equal(launch_of(0).grid[0], 3);
    assert_int_equal(launch_of(0).block[0], 32);
}

static void a_size_that_threads_of_a_block_are_compared_with_is_made_smaller(void **unused)
{
    (void)unused;
    check_text("__global__ void k(float *a, int n) {\n"
               "    __shared__ float s[64];\n"
               "    if (threadIdx.x >= n) return;\n"
               "    s[threadIdx.x] = a[threadIdx.x];\n"
               "    __syncthreads();\n"
               "    a[threadIdx.x] = s[63 - threadIdx.x];\n"
               "}",
               NULL);
    assert_string_equal(launch_of(0).arguments[1], "n = 64");
    assert_string_equal(launch_of(1).arguments[1], "n = 59");
    assert_non_null(finding_of(20)); // what nobody wrote is read
    assert_non_null(finding_of(32)); // a barrier without those that returned
    check_text("__global__ void k(float *a, int radius) { if (threadIdx.x < radius) a[threadIdx.x] = 1; }", NULL);
    slr_check_launch launch;
    assert_int_equal(slr_check_get_launch(check, 1, &launch), SLR_NOT_FOUND); // no size
}

static void the_kernels_own_text_implies_its_block(void **unused)
{
    (void)unused;
    check_text("__global__ void k(float *x) { int i = blockIdx.x * 96 + threadIdx.x; x[i] = 1; }", NULL);
    assert_int_equal(launch_of(0).block[0], 96);
    assert_null(launch_of(0).from);
    check_text("#define TX 8\n#define TY 4\n"
               "__global__ void k(float *x, int w) {\n"
               "    int c = threadIdx.x + TX * blockIdx.x, r = blockIdx.y * TY + threadIdx.y;\n"
               "    x[r * w + c] = 1;\n}\n",
               NULL);
    assert_int_equal(launch_of(0).block[0], 8);
    assert_int_equal(launch_of(0).block[1], 4);
    check_text("__global__ void k(float *x) {\n"
               "    __shared__ float tile[12][17];\n"
               "    tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 16 + threadIdx.x];\n"
               "    __syncthreads();\n"
               "    x[threadIdx.y * 16 + threadIdx.x] = tile[11 - threadIdx.y][threadIdx.x];\n}\n",
               NULL);
    assert_int_equal(launch_of(0).block[0], 16);
    assert_int_equal(launch_of(0).block[1], 12);
    assert_null(finding_of(2));
    assert_null(finding_of(10));
    assert_null(finding_of(20));
}

static void what_holds_for_made_up_sizes_alone_is_a_warning(void **unused)
{
    (void)unused;
    check_text(SCALE "    if (i <= n) x[i] = a;\n}\n", NULL);
    assert_warning(1, "--arg x=..., --arg n=..., --block ..., --grid ...");
    check_text("__global__ void k(float *x, int n) {\n" // a loop that a made-up number bounds
               "    float part[8];\n"
               "    for (int i = 0; i < n; i++) part[i] = i;\n"
               "    x[threadIdx.x] = part[threadIdx.x & 7];\n}\n",
               NULL);
    assert_warning(2, "--arg n=...");
    check_text("__global__ void k(float *x, int stride) { x[threadIdx.x % stride] = threadIdx.x; }", NULL);
    assert_warning(11, "--arg stride=...");
    check_text("__global__ void k(float *x) { x[0] += 1; }", NULL); // for a launch of one thread, perhaps
    assert_warning(11, "--block ...");
    slr_check_desc desc = SLR_CHECK_DESC_INIT;
    desc.fuel = 1000;
    check_text("__global__ void k(int *x, int n) { while (x[1] >= 0) x[threadIdx.x] = n; }", &desc);
    assert_warning(50, "--arg x=..., --arg n=...");
    check_text("#include <assert.h>\n__global__ void k(int *x, int n) { assert(n == 77); x[threadIdx.x] = n; }", NULL);
    assert_non_null(finding_of(51)->give);
}

static void what_holds_whatever_is_given_is_an_error(void **unused)
{
    (void)unused;
    check_text("__global__ void k(int *x, int n) { x[threadIdx.x] = x[threadIdx.x - 1] + n; }", NULL);
    assert_error(1); // thread 0 reads x[-1]
    check_text("__global__ void k(int *x, int n) {\n"
               "    __shared__ int first;\n"
               "    if (threadIdx.x == 0) first = n;\n"
               "    x[threadIdx.x] = first;\n}\n",
               NULL);
    assert_error(10);
    check_text("__global__ void k(int *x) { int a[4]; a[threadIdx.x & 7] = 1; x[threadIdx.x] = a[0]; }", NULL);
    assert_error(2);
    check_text("__global__ void k(int *x) { int a; if (threadIdx.x > 3) a = 1; x[threadIdx.x] = a; }", NULL);
    assert_error(21);
    check_text("__global__ void k(int *x) { int a; if (threadIdx.x % 32 == 0) a = x[0];\n"
               "    x[threadIdx.x] = __shfl_sync(0xffffffffu, a, 0); }",
               NULL);
    assert_null(finding_of(21)); // only lane 0's is read
    check_text("__global__ void k(int *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] = 100 / i; }", NULL);
    assert_error(42); // in thread 0, whatever the block is
    check_text("__global__ void k(int *x) { int a; if (x[threadIdx.x] > 3) a = 1; x[threadIdx.x] = a; }", NULL);
    assert_error(21);
    check_text("__global__ void k(int *x) { if (x[threadIdx.x] & 1) __syncthreads(); x[threadIdx.x] = 1; }", NULL);
    assert_error(31);
    check_text("__global__ void k(int *x) { __shared__ int never; x[threadIdx.x] = never; }", NULL);
    assert_error(20);
    check_text("__global__ void k(int *x) { x[0] += blockIdx.x * blockDim.x + threadIdx.x; }", NULL);
    assert_error(11);
}

static void what_is_given_makes_a_warning_an_error(void **unused)
{
    (void)unused;
    slr_check_argument given[] = {{0, 0, slr_arg_signed(0)}, {2, 0, slr_arg_signed(64)}};
    slr_check_desc desc = SLR_CHECK_DESC_INIT;
    slr_buffer *x;
    assert_int_equal(slr_buffer_create(device, 64 * sizeof(float), &x), SLR_OK);
    given[0].arg = slr_arg_buffer(x);
    desc.arguments = given;
    desc.argument_count = 2;
    desc.grid[0] = 3;
    desc.block[0] = 32;
    check_text(SCALE "    if (i <= n) x[i] = a;\n}\n", &desc);
    assert_error(1);
    slr_buffer_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_host_launches_is_checked),
        cmocka_unit_test(what_is_large_is_checked_smaller_and_said),
        cmocka_unit_test(a_size_that_threads_of_a_block_are_compared_with_is_made_smaller),
        cmocka_unit_test(the_kernels_own_text_implies_its_block),
        cmocka_unit_test(what_holds_for_made_up_sizes_alone_is_a_warning),
        cmocka_unit_test(what_holds_whatever_is_given_is_an_error),
        cmocka_unit_test(what_is_given_makes_a_warning_an_error),
    };
    if (slr_device_open("cpu?engine=interpreted", NULL, &device) != SLR_OK)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    slr_check_destroy(check);
    slr_device_close(device);
    return failed;
}
