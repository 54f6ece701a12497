// SPDX-License-Identifier: Apache-2.0
// Emitted OpenCL C built by whatever OpenCL is here (Debian: pocl-opencl-icd), and the kernels of examples/kernels run
// with it beside the interpreter. Without OpenCL the test is skipped, and CTest says so.
#include "base/status.h"
#include "examples/kernels/kernel_cases.h"
#include "emit/opencl/emit_opencl.h"
#include "lang/compile_file_test.h"
#include "emit/cuda/math_kernel_test.h"

#include <dlfcn.h>
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SKIPPED = 77, BUILD_LOG = 0x1183, DEVICE_VERSION = 0x102f, COPY_HOST = 1 | 32 };
#define SECOND UINT64_C(1000000000)

// ---- OpenCL --------------------------------------------------------------------------------------------------------

typedef void *handle;

// X(result, name, parameters)
#define FUNCTIONS(X)                                                                                                   \
    X(int32_t, clGetPlatformIDs, (uint32_t, handle *, uint32_t *))                                                     \
    X(int32_t, clGetDeviceIDs, (handle, uint64_t, uint32_t, handle *, uint32_t *))                                     \
    X(int32_t, clGetDeviceInfo, (handle, uint32_t, size_t, void *, size_t *))                                          \
    X(handle, clCreateContext, (const intptr_t *, uint32_t, const handle *, void *, void *, int32_t *))                \
    X(handle, clCreateCommandQueue, (handle, handle, uint64_t, int32_t *))                                             \
    X(handle, clCreateProgramWithSource, (handle, uint32_t, const char **, const size_t *, int32_t *))                 \
    X(int32_t, clBuildProgram, (handle, uint32_t, const handle *, const char *, void *, void *))                       \
    X(int32_t, clGetProgramBuildInfo, (handle, handle, uint32_t, size_t, void *, size_t *))                            \
    X(handle, clCreateKernel, (handle, const char *, int32_t *))                                                       \
    X(handle, clCreateBuffer, (handle, uint64_t, size_t, void *, int32_t *))                                           \
    X(int32_t, clSetKernelArg, (handle, uint32_t, size_t, const void *))                                               \
    X(int32_t, clEnqueueNDRangeKernel,                                                                                 \
      (handle, handle, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, const handle *, handle *))  \
    X(int32_t, clEnqueueReadBuffer,                                                                                    \
      (handle, handle, uint32_t, size_t, size_t, void *, uint32_t, const handle *, handle *))                          \
    X(int32_t, clReleaseMemObject, (handle))                                                                           \
    X(int32_t, clReleaseKernel, (handle))                                                                              \
    X(int32_t, clReleaseProgram, (handle))

static struct {
    handle device, context, queue;
    bool is_old; // less than OpenCL 3
#define MEMBER(result, name, parameters) result(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
} cl;

static bool open_opencl(void)
{
    const char *asked = getenv("SLIPRING_OPENCL_LIB");
    void *library = dlopen(asked ? asked : "libOpenCL.so.1", RTLD_NOW);
    bool all = library != NULL;
#define LOAD(result, name, parameters)                                                                                 \
    *(void **)(void *)&cl.name = all ? dlsym(library, #name) : NULL;                                                   \
    all = all && cl.name != NULL;
    FUNCTIONS(LOAD)
#undef LOAD
    handle platform;
    if (!all || cl.clGetPlatformIDs(1, &platform, NULL) != 0 ||
        cl.clGetDeviceIDs(platform, 0xffffffffu, 1, &cl.device, NULL) != 0)
        return false;
    char version[128] = "";
    cl.clGetDeviceInfo(cl.device, DEVICE_VERSION, sizeof version, version, NULL);
    cl.is_old = strncmp(version, "OpenCL 3", 8) < 0;
    cl.context = cl.clCreateContext(NULL, 1, &cl.device, NULL, NULL, NULL);
    cl.queue = cl.context ? cl.clCreateCommandQueue(cl.context, cl.device, 0, NULL) : NULL;
    return cl.queue != NULL;
}

// A program, or NULL and its log on standard error.
static handle build(const char *name, const char *text, bool c11)
{
    int32_t error = 0;
    handle program = cl.clCreateProgramWithSource(cl.context, 1, &text, NULL, &error);
    assert_int_equal(error, 0);
    if (cl.clBuildProgram(program, 1, &cl.device, c11 ? "-cl-std=CL3.0" : "-cl-std=CL1.2", NULL, NULL) == 0)
        return program;
    static char log[1 << 16];
    cl.clGetProgramBuildInfo(program, cl.device, BUILD_LOG, sizeof log, log, NULL);
    const char *first = strstr(log, "error");
    print_error("%s: %.3000s\n", name, first && first - log > 200 ? first - 200 : log);
    cl.clReleaseProgram(program);
    return NULL;
}

// ---- texts ---------------------------------------------------------------------------------------------------------

// One entry at a time: what one of them does that OpenCL cannot is no matter of the others'.
static uint32_t build_entries(const char *path, const char *text, bool c11)
{
    struct slri_module *module = compile(path, text);
    struct slri_opencl_options options = {.c11_atomics = c11, .loops_over_threads = true};
    uint32_t failed = 0;
    for (uint32_t i = 0; i < module->entries; i++) {
        struct slri_text emitted = SLRI_TEXT_INIT;
        slr_status status = slri_emit_opencl(module, &module->entry[i], &options, &emitted);
        if (status == SLR_UNSUPPORTED) {
            assert_non_null(strstr(slr_error_message(), "OpenCL cannot synchronise here"));
        } else {
            assert_int_equal(status, SLR_OK);
            handle program = build(module->entry[i].name, slri_text_view(&emitted), c11);
            failed += program == NULL;
            if (program)
                cl.clReleaseProgram(program);
        }
        slri_text_free(&emitted);
    }
    slri_module_destroy(module);
    return failed;
}

static void files_build(const char *pattern, bool c11)
{
    glob_t found;
    uint32_t failed = 0;
    if (c11 && cl.is_old)
        return;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        failed += build_entries(found.gl_pathv[i], NULL, c11);
    globfree(&found);
    assert_int_equal(failed, 0);
}

static void every_word_builds(void **state)
{
    (void)state;
    files_build(SLIPRING_SOURCE_DIR "/tests/cuda/words.cu", false);
    files_build(SLIPRING_SOURCE_DIR "/tests/cuda/words.cu", true);
}

static void every_file_builds(void **state)
{
    (void)state;
    files_build(SLIPRING_SOURCE_DIR "/examples/*/*.cu", true);
    files_build(SLIPRING_SOURCE_DIR "/tests/*/*.cu", false);
}

static void handlers_build(void **state)
{
    (void)state;
    files_build(SLIPRING_SOURCE_DIR "/examples/ward/ward.cu", true);
    files_build(SLIPRING_SOURCE_DIR "/examples/send/triage.cu", false);
}

static void every_math_function_builds(void **state)
{
    (void)state;
    struct slri_text text = SLRI_TEXT_INIT;
    put_math_kernel(&text);
    assert_int_equal(build_entries("math.cu", slri_text_view(&text), false), 0);
    slri_text_free(&text);
}

// ---- runs ----------------------------------------------------------------------------------------------------------

static unsigned buffers_of(const kernel_case *what)
{
    unsigned count = 0;
    while (count < KERNEL_BUFFERS && what->buffer[count].times)
        count++;
    return count;
}

static void fill_all(const kernel_case *what, void **memory)
{
    for (unsigned i = 0; i < buffers_of(what); i++) {
        memory[i] = calloc(kernel_case_elements(what, i, what->small), 4);
        kernel_case_fill(what, i, what->small, memory[i]);
    }
}

static void set_arguments(const kernel_case *what, handle kernel, handle *buffer)
{
    const float two = 2.0f;
    const int n = what->small;
    for (uint32_t i = 0; what->arguments[i]; i++) {
        char letter = what->arguments[i];
        const void *value = letter == 'n'   ? (const void *)&n
                            : letter == 'f' ? (const void *)&two
                                            : &buffer[letter - '0'];
        assert_int_equal(cl.clSetKernelArg(kernel, i, letter == 'n' || letter == 'f' ? 4 : sizeof(handle), value), 0);
    }
}

static bool run_opencl(const kernel_case *what, void **memory)
{
    struct slri_module *module = compile(what->name, what->source);
    slr_shape shape = kernel_case_shape(what, what->small);
    struct slri_opencl_options options = {.loops_over_threads = true, .block = shape.block};
    struct slri_text text = SLRI_TEXT_INIT;
    slr_status status = slri_emit_opencl(module, NULL, &options, &text);
    if (status == SLR_UNSUPPORTED) {
        slri_module_destroy(module);
        return false;
    }
    assert_int_equal(status, SLR_OK);
    handle program = build(what->name, slri_text_view(&text), false), buffer[KERNEL_BUFFERS];
    assert_non_null(program);
    char name[64];
    snprintf(name, sizeof name, SLRI_OPENCL_KERNEL_PREFIX "%s", what->name);
    handle kernel = cl.clCreateKernel(program, name, NULL);
    assert_non_null(kernel);
    fill_all(what, memory);
    for (unsigned i = 0; i < buffers_of(what); i++)
        buffer[i] =
            cl.clCreateBuffer(cl.context, COPY_HOST, kernel_case_elements(what, i, what->small) * 4, memory[i], NULL);
    set_arguments(what, kernel, buffer);
    size_t global[3], local[3];
    for (int i = 0; i < 3; i++) {
        local[i] = shape.block[i];
        global[i] = (size_t)shape.grid[i] * shape.block[i];
    }
    assert_int_equal(cl.clEnqueueNDRangeKernel(cl.queue, kernel, 3, NULL, global, local, 0, NULL, NULL), 0);
    for (unsigned i = 0; i < buffers_of(what); i++) {
        assert_int_equal(cl.clEnqueueReadBuffer(cl.queue, buffer[i], 1, 0,
                                                kernel_case_elements(what, i, what->small) * 4, memory[i], 0, NULL,
                                                NULL),
                         0);
        cl.clReleaseMemObject(buffer[i]);
    }
    cl.clReleaseKernel(kernel);
    cl.clReleaseProgram(program);
    slri_text_free(&text);
    slri_module_destroy(module);
    return true;
}

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) != SLR_OK)                                                                                          \
            fail_msg("%s:%d: %s", __FILE__, __LINE__, slr_error_message());                                            \
    } while (0)

static void run_interpreted(const kernel_case *what, void **memory)
{
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_kernel *kernel;
    slr_buffer *buffer[KERNEL_BUFFERS];
    CHECK(slr_device_open("cpu?engine=interpreted", NULL, &device));
    CHECK(slr_stream_default(device, &stream));
    CHECK(slr_program_from_text(device, what->name, what->source, NULL, &program));
    CHECK(slr_program_get_kernel(program, what->name, &kernel));
    fill_all(what, memory);
    for (unsigned i = 0; i < buffers_of(what); i++) {
        size_t bytes = kernel_case_elements(what, i, what->small) * 4;
        CHECK(slr_buffer_create(device, bytes, &buffer[i]));
        CHECK(slr_buffer_write(buffer[i], 0, memory[i], bytes));
    }
    CHECK(kernel_case_launch(what, what->small, stream, kernel, buffer));
    CHECK(slr_stream_finish(stream, 60 * SECOND));
    for (unsigned i = 0; i < buffers_of(what); i++) {
        CHECK(slr_buffer_read(buffer[i], 0, memory[i], kernel_case_elements(what, i, what->small) * 4));
        slr_buffer_destroy(buffer[i]);
    }
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    slr_device_close(device);
}

// Bit for bit but for math functions, which are OpenCL's own, within the tolerance that the case has against plain C.
static void kernel_gives_what_the_interpreter_gives(void **state)
{
    const kernel_case *what = *state;
    void *device[KERNEL_BUFFERS], *wanted[KERNEL_BUFFERS];
    if (!run_opencl(what, device)) {
        assert_string_equal(what->name, "reduce_shuffle"); // its second shuffle is the first warp's alone
        return;
    }
    run_interpreted(what, wanted);
    unsigned count = buffers_of(what);
    for (unsigned i = 0; i < count; i++) {
        const float *a = device[i], *b = wanted[i];
        size_t elements = kernel_case_elements(what, i, what->small), wrong = 0;
        for (size_t k = 0; k < elements; k++)
            wrong += memcmp(&a[k], &b[k], 4) != 0 &&
                     !(what->tolerance > 0 && fabsf(a[k] - b[k]) <= what->tolerance * fmaxf(1.0f, fabsf(b[k])));
        if (wrong)
            print_error("%s: %zu of %zu elements of buffer %u differ\n", what->name, wrong, elements, i);
        assert_int_equal(wrong, 0);
        free(device[i]);
        free(wanted[i]);
    }
}

static bool is_quick(const kernel_case *what)
{
    static const char *const quick[] = {"saxpy", "reduce_shared", "matmul", "histogram", "softmax"};
    for (size_t i = 0; i < sizeof quick / sizeof *quick; i++)
        if (strcmp(what->name, quick[i]) == 0)
            return true;
    return false;
}

// With `all`: all kernels, and every .cu of the tree is built too.
int main(int argc, char **argv)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    puts("skipped: OpenCL's compilers do not run under sanitizers");
    return SKIPPED;
#endif
    if (!open_opencl()) {
        puts("skipped: no OpenCL here (Debian: pocl-opencl-icd)");
        return SKIPPED;
    }
    enum { OTHERS = 4 };
    struct CMUnitTest *tests = calloc(kernel_case_count + OTHERS, sizeof *tests);
    size_t count = 0;
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(every_word_builds);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(every_math_function_builds);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(handlers_build);
    bool all = argc == 2 && strcmp(argv[1], "all") == 0;
    if (all)
        tests[count++] = (struct CMUnitTest)cmocka_unit_test(every_file_builds);
    for (size_t i = 0; i < kernel_case_count; i++)
        if (all || is_quick(&kernel_cases[i]))
            tests[count++] = (struct CMUnitTest){kernel_cases[i].name, kernel_gives_what_the_interpreter_gives, NULL,
                                                 NULL, (void *)&kernel_cases[i]};
    int failed = _cmocka_run_group_tests("opencl", tests, count, NULL, NULL);
    free(tests);
    return failed;
}
