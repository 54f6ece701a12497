// SPDX-License-Identifier: Apache-2.0
// Every kernel of the table against plain C, compiled and interpreted; and the two against each other, bit for bit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "examples/kernels/kernel_cases.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) != SLR_OK)                                                                                          \
            fail_msg("%s:%d: %s", __FILE__, __LINE__, slr_error_message());                                            \
    } while (0)

static unsigned buffers_of(const kernel_case *what)
{
    unsigned count = 0;
    while (count < KERNEL_BUFFERS && what->buffer[count].times)
        count++;
    return count;
}

// The memory of all buffers behind the kernel; to be freed.
static void fill_all(const kernel_case *what, void **memory)
{
    for (unsigned i = 0; i < buffers_of(what); i++) {
        memory[i] = calloc(kernel_case_elements(what, i, what->small), 4);
        assert_non_null(memory[i]);
        kernel_case_fill(what, i, what->small, memory[i]);
    }
}

static void free_all(const kernel_case *what, void **memory)
{
    for (unsigned i = 0; i < buffers_of(what); i++)
        free(memory[i]);
}

static void run(const kernel_case *what, const char *spec, void **memory)
{
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_kernel *kernel;
    slr_buffer *buffer[KERNEL_BUFFERS];
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    desc.optimize = 1;
    CHECK(slr_device_open(spec, NULL, &device));
    CHECK(slr_stream_default(device, &stream));
    CHECK(slr_program_from_text(device, what->name, what->source, &desc, &program));
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

static void compare(const kernel_case *what, unsigned buffer, const void *got, const void *wanted)
{
    size_t elements = kernel_case_elements(what, buffer, what->small);
    const float *a = got, *b = wanted;
    const int *p = got, *q = wanted;
    for (size_t i = 0; i < elements; i++) {
        bool fine = what->tolerance > 0
                        ? fabs((double)a[i] - (double)b[i]) <= what->tolerance * fmax(1.0, fabs((double)b[i]))
                        : p[i] == q[i];
        if (!fine)
            fail_msg("%s: buffer %u, element %zu: %.9g (%d), plain C has %.9g (%d)", what->name, buffer, i,
                     (double)a[i], p[i], (double)b[i], q[i]);
    }
}

// OpenCL compiles for seconds: a few of the kernels here, all with an argument.
static const char *const on_opencl[] = {"saxpy", "reduce_shared", "histogram", "transpose"};
static bool all_on_opencl;

static bool runs_on_opencl(const kernel_case *what)
{
    slr_device *device;
    bool wanted = all_on_opencl;
    for (size_t i = 0; i < sizeof on_opencl / sizeof *on_opencl; i++)
        wanted = wanted || strcmp(on_opencl[i], what->name) == 0;
    if (!wanted || slr_device_open("opencl:0", NULL, &device) != SLR_OK)
        return false;
    slr_device_close(device);
    return true;
}

static void compare_on_opencl(const kernel_case *what, const char *spec, void **interpreted)
{
    void *got[KERNEL_BUFFERS];
    run(what, spec, got);
    for (unsigned i = buffers_of(what) - what->written; i < buffers_of(what); i++)
        if (what->tolerance > 0) // its math functions are the device's
            compare(what, i, got[i], interpreted[i]);
        else
            assert_memory_equal(got[i], interpreted[i], kernel_case_elements(what, i, what->small) * 4);
    free_all(what, got);
}

static void kernel_gives_what_plain_c_gives(void **state)
{
    const kernel_case *what = *state;
    void *compiled[KERNEL_BUFFERS], *interpreted[KERNEL_BUFFERS], *plain[KERNEL_BUFFERS];
    run(what, "cpu?engine=compiled", compiled);
    run(what, "cpu?engine=interpreted", interpreted);
    fill_all(what, plain);
    what->plain(plain, what->small);
    unsigned count = buffers_of(what);
    for (unsigned i = count - what->written; i < count; i++) {
        assert_memory_equal(compiled[i], interpreted[i], kernel_case_elements(what, i, what->small) * 4);
        compare(what, i, compiled[i], plain[i]);
    }
    if (runs_on_opencl(what)) {
        compare_on_opencl(what, "opencl:0", interpreted);
        compare_on_opencl(what, "opencl:0?memory=plain", interpreted);
    }
    free_all(what, compiled);
    free_all(what, interpreted);
    free_all(what, plain);
}

int main(int argc, char **argv)
{
    (void)argv;
    all_on_opencl = argc > 1;
    struct CMUnitTest *tests = calloc(kernel_case_count, sizeof *tests);
    for (size_t i = 0; i < kernel_case_count; i++)
        tests[i] = (struct CMUnitTest){kernel_cases[i].name, kernel_gives_what_plain_c_gives, NULL, NULL,
                                       (void *)&kernel_cases[i]};
    int failed = _cmocka_run_group_tests("kernels", tests, kernel_case_count, NULL, NULL);
    free(tests);
    return failed;
}
