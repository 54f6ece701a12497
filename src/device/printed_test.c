// SPDX-License-Identifier: Apache-2.0
#include "engine/printed.h"
#include "device/device_test.h"

struct heard {
    uint32_t calls;
    uint64_t lost;
    char last[32];
};

static void hear(void *user, const slr_print *print)
{
    struct heard *heard = user;
    heard->calls++;
    heard->lost += print->lost;
    if (!print->lost)
        snprintf(heard->last, sizeof heard->last, "%s", print->text);
}

static void records_that_a_kernel_has_written_over_are_lost_and_told(void **state)
{
    (void)state;
    struct slri_format format[2] = {{"%d+%d"}, {"x"}};
    const struct slri_module module = {.format = format, .formats = 2};
    const struct slri_entry entry = {.name = "k"};
    const uint64_t two = UINT64_C(2) << 32;
    // A format that there is not; more values than any printf has; more than are there. Behind a good record each.
    const uint64_t wrong[] = {2, UINT64_C(33) << 32, UINT64_C(3) << 32};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        struct heard heard = {0};
        const struct slri_printer printer = {hear, &heard};
        const struct slri_print_to to = {.printer = &printer, .module = &module, .entry = &entry};
        const uint64_t records[] = {two, 3, 4, wrong[i], 5, 6};
        slri_print_records(&to, (const unsigned char *)records, sizeof records, 10);
        assert_int_equal(heard.calls, 2);
        assert_int_equal(heard.lost, 11);
        assert_string_equal(heard.last, "3+4");
    }
}

static void what_finds_no_room_is_counted_on_each_device(void **state)
{
    (void)state;
    static const char *const specs[] = {"cpu", "opencl:0", "opencl:0?memory=plain"};
    EACH_HERE(i, specs)
    {
        if (i > 0 && SANITIZED)
            break;
        struct heard heard = {0};
        slr_device_desc desc = SLR_DEVICE_DESC_INIT;
        slr_program_desc quick = SLR_PROGRAM_DESC_INIT;
        slr_device *device;
        slr_stream *stream;
        slr_program *program;
        slr_kernel *kernel;
        desc.on_print = hear;
        desc.print_user = &heard;
        quick.optimize = 1;
        must(slr_device_open(specs[i], &desc, &device));
        must(slr_stream_default(device, &stream));
        must(slr_program_from_text(device, "print.cu",
                                   "__global__ void k(int n) { for (int i = 0; i < n; i++) printf(\"%d\", n); }\n",
                                   &quick, &program));
        must(slr_program_get_kernel(program, "k", &kernel));
        for (uint64_t launches = 1; launches < 3; ++launches) {            // each has all the room
            must(SLR_LAUNCH(stream, kernel, SLR_1D_BLOCKS(128, 32), 600)); // 76,800 of 16 bytes: 65,536 fit
            must(slr_stream_finish(stream, LONG));
            assert_int_equal(heard.calls, launches * (65536 + 1));
            assert_int_equal(heard.lost, launches * (76800 - 65536));
            assert_string_equal(heard.last, "600");
        }
        slr_kernel_destroy(kernel);
        slr_program_destroy(program);
        slr_device_close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_that_a_kernel_has_written_over_are_lost_and_told),
        cmocka_unit_test(what_finds_no_room_is_counted_on_each_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
