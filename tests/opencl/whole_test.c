// SPDX-License-Identifier: Apache-2.0
// `if (i < n)` is written twice for devices that run a group's threads in a loop (emit/opencl/whole.h): the same
// threads work as ever, whatever n is, and wherever the index wraps.
#include "device/device_test.h"

static const char source[] = "__global__ void below(unsigned *p, unsigned bound, unsigned from)\n"
                             "{\n"
                             "    const int n = bound;\n"
                             "    const unsigned b = blockIdx.x * blockDim.x + from;\n"
                             "    const int i = b + threadIdx.x;\n"
                             "    if (i < n) p[blockIdx.x * blockDim.x + threadIdx.x] = 1u;\n"
                             "}\n"
                             "__global__ void below_unsigned(unsigned *p, unsigned n, unsigned from)\n"
                             "{\n"
                             "    const unsigned b = blockIdx.x * blockDim.x + from;\n"
                             "    if (b + threadIdx.x < n) p[blockIdx.x * blockDim.x + threadIdx.x] = 1u;\n"
                             "}\n";

static void the_same_threads_work(void **state)
{
    enum { BLOCK = 64, THREADS = 3 * BLOCK };
    static const uint32_t bounds[] = {0,   1,   63,  64,         65,         127,        128,        191,
                                      192, 193, 500, 0x7fffffff, 0x80000000, 0x80000040, 0xffffffff, 0xffffffc0};
    static const uint32_t starts[] = {0, 1, 0x7fffffc0, 0x7fffff80, 0x80000000, 0xffffffc0, 0xffffffff, 0xffffff80};
    static const char *const names[] = {"below", "below_unsigned"};
    static const char *const specs[] = {"cpu", "opencl:0"};
    (void)state;
    EACH_HERE(s, specs)
    {
        slr_device *device;
        slr_program *program;
        slr_stream *stream;
        slr_buffer *buffer;
        must(slr_device_open(specs[s], NULL, &device));
        must(slr_program_from_text(device, "below.cu", source, NULL, &program));
        must(slr_stream_default(device, &stream));
        must(slr_buffer_create(device, THREADS * 4, &buffer));
        for (int k = 0; k < 2; ++k) {
            slr_kernel *kernel;
            must(slr_program_get_kernel(program, names[k], &kernel));
            for (size_t n = 0; n < sizeof bounds / 4; ++n)
                for (size_t from = 0; from < sizeof starts / 4; ++from) {
                    uint32_t found[THREADS] = {0};
                    must(slr_buffer_write(buffer, 0, found, sizeof found));
                    must(SLR_LAUNCH(stream, kernel, SLR_GRID(3, BLOCK, 0), buffer, bounds[n], starts[from]));
                    must(slr_stream_finish(stream, LONG));
                    must(slr_buffer_read(buffer, 0, found, sizeof found));
                    for (uint32_t t = 0; t < THREADS; ++t) {
                        const uint32_t i = starts[from] + t;
                        const bool works = k == 0 ? (int32_t)i < (int32_t)bounds[n] : i < bounds[n];
                        assert_int_equal(found[t], works);
                    }
                }
            slr_kernel_destroy(kernel);
        }
        slr_buffer_destroy(buffer);
        slr_program_destroy(program);
        slr_device_close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_threads_work)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
