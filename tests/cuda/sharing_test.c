// SPDX-License-Identifier: Apache-2.0
// What makes it unwise to keep kernels on a GPU: ring kernels are relaunched then, and say why, unless it is asked for.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/residence.h"

#include "hal/cuda/cuda.h"
#include "hal/cuda/sharing.h"
#include "base/file.h"
#include "base/folder.h"
#include "device/device.h"

// The reason is the ring kernel's and the device's; a device, and a ring kernel, that are asked for have none.
static void check(const char *reason, bool can_be_asked_for)
{
    struct residence r = {0};
    slr_device_info info;
    must(launch(&r, "cuda:0"));
    must(ask(&r, 1));
    slr_ring_stats stats = stats_of(r.ring);
    assert_int_equal(stats.mode, *reason ? SLR_RING_RELAUNCHED : SLR_RING_PERSISTENT);
    assert_string_equal(stats.mode_reason, reason);
    must(slr_device_get_info(r.device, &info));
    assert_string_equal(info.relaunch_reason, reason);
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring;
    desc.name = "asked";
    desc.handler = "counts";
    desc.program = r.program;
    desc.mode = SLR_RING_PERSISTENT;
    if (can_be_asked_for) {
        must(slr_ring_create(r.device, &desc, &ring));
        assert_int_equal(stats_of(ring).mode, SLR_RING_PERSISTENT);
        slr_ring_destroy(ring);
    } else {
        refuses(slr_ring_create(r.device, &desc, &ring), UNSUPPORTED, reason);
    }
    end(&r);
    if (can_be_asked_for) {
        must(launch(&r, "cuda:0?ring=persistent"));
        assert_int_equal(stats_of(r.ring).mode, SLR_RING_PERSISTENT);
        must(ask(&r, 1));
        end(&r);
    }
    nothing_is_left(reason);
}

static void what_the_driver_says_is_heard(void **state)
{
    (void)state;
    reset();
    check("", true);
    reset();
    fake->old = 1; // it does not know of MPS
    check("", true);
    reset();
    fake->mps = 1;
    check("MPS shares the GPU with other processes without a reservation", true);
    reset();
    fake->display = 1;
    check("the device drives a display and ends long-running kernels", false);
}

static void other_processes_count_once_and_this_one_does_not(void **state)
{
    (void)state;
    reset();
    setenv("SLIPRING_NVML_LIB", getenv("SLIPRING_FAKE_NVML"), 1);
    check("", true);
    setenv("FAKE_NVML_OTHERS", "1", 1);
    check("1 other process shares the GPU", true);
    setenv("FAKE_NVML_OTHERS", "3", 1);
    check("3 other processes share the GPU", true);
    setenv("FAKE_NVML_OTHERS", "100", 1); // more than anybody counts
    check("63 other processes share the GPU", true);
    setenv("FAKE_NVML_OTHERS", "0", 1);
    setenv("FAKE_NVML_VIRTUAL", "1", 1);
    check("the GPU is virtual and time-sliced with others", true);
    unsetenv("FAKE_NVML_OTHERS");
    unsetenv("FAKE_NVML_VIRTUAL");
}

// A second handler, of another program, beside one that has the only block.
static slr_ring *another(const struct residence *r, slr_program **program, slr_ring_mode mode)
{
    static const char source[] = "struct message { unsigned value; };\n"
                                 "__ring__ void last(const struct message *in) { ring_reply(in); }\n";
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring;
    must(slr_program_from_text(r->device, "last.cu", source, NULL, program));
    desc.program = *program;
    desc.mode = mode;
    return slr_ring_create(r->device, &desc, &ring) == SLR_OK ? ring : NULL;
}

static void budget_bounds_the_blocks_that_stay(void **state)
{
    (void)state;
    struct residence r = {0};
    slr_device *device;
    slr_program *program;
    reset();
    refuses(slr_device_open("cuda:0?sm_budget=0", NULL, &device), INVALID, "sm_budget '0'; expected 1 to 100");
    refuses(slr_device_open("cuda:0?sm_budget=101", NULL, &device), INVALID, "sm_budget '101'");
    refuses(slr_device_open("cuda:0?sm_budget=0.5", NULL, &device), INVALID, "sm_budget '0.5'");
    must(launch(&r, "cuda:0?sm_budget=1")); // of 132 multiprocessors
    slr_device_info info;
    must(slr_device_get_info(r.device, &info));
    assert_string_equal(info.name, "cuda:0?sm_budget=1");
    assert_non_null(strstr(info.features, " persistent_blocks=1 "));
    assert_int_equal(stats_of(r.ring).mode, SLR_RING_PERSISTENT);
    must(ask(&r, 1));
    slr_ring *ring = another(&r, &program, 0);
    assert_int_equal(stats_of(ring).mode, SLR_RING_RELAUNCHED);
    assert_string_equal(stats_of(ring).mode_reason, "all resident work-groups are in use by other handlers");
    slr_ring_destroy(ring);
    slr_program_destroy(program);
    assert_null(another(&r, &program, SLR_RING_PERSISTENT));
    assert_non_null(strstr(slr_error_message(), "all resident work-groups are in use by other handlers"));
    slr_program_destroy(program);
    end(&r);
    nothing_is_left("budget");
}

// As no calculator knows the simulated driver's kernels, by the function that compares the two.
static void driver_and_calculator_that_differ_are_both_told(void **state)
{
    (void)state;
    slr_device_info info;
    reset();
    slr_device *device = open_device("cuda:0");
    assert_int_equal(slri_cuda_fewer_blocks(device->self, 16, 16), 16);
    must(slr_device_get_info(device, &info));
    assert_null(strstr(info.features, "blocks_differ"));
    assert_int_equal(slri_cuda_fewer_blocks(device->self, 16, 10), 10);
    must(slr_device_get_info(device, &info));
    assert_non_null(strstr(info.features, " blocks_differ=16/10"));
    assert_int_equal(slri_cuda_fewer_blocks(device->self, 8, 9), 8);
    must(slr_device_get_info(device, &info));
    assert_non_null(strstr(info.features, " blocks_differ=8/9"));
    slr_device_close(device);
}

static void wsl_is_known_by_its_kernel(void **state)
{
    (void)state;
    static const struct {
        const char *release;
        bool is_wsl;
    } cases[] = {{"5.15.90.1-microsoft-standard-WSL2\n", true},
                 {"4.19.128-Microsoft-standard\n", true},
                 {"6.1.0-18-amd64\n", false},
                 {"", false}};
    char path[256], reason[160];
    slri_folder *folder;
    must(slri_folder_open_private(&folder));
    snprintf(path, sizeof path, "%s/osrelease", slri_folder_path(folder));
    assert_false(slri_cu_is_wsl(path)); // there is none
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        must(slri_file_write_atomic(path, cases[i].release, strlen(cases[i].release)));
        assert_int_equal(slri_cu_is_wsl(path), cases[i].is_wsl);
    }
    slri_file_remove(path);
    slri_folder_discard(folder);
    assert_true(slri_cu_unwise(&(struct slri_cu_sharing){.is_wsl = true, .others = 1}, reason, sizeof reason));
    assert_string_equal(reason, "the GPU is behind Windows (WSL2), where host writes arrive late");
    assert_false(slri_cu_unwise(&(struct slri_cu_sharing){0}, reason, sizeof reason));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_the_driver_says_is_heard, load_fake),
        cmocka_unit_test(other_processes_count_once_and_this_one_does_not),
        cmocka_unit_test(budget_bounds_the_blocks_that_stay),
        cmocka_unit_test(driver_and_calculator_that_differ_are_both_told),
        cmocka_unit_test(wsl_is_known_by_its_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
