// SPDX-License-Identifier: Apache-2.0
// What "auto" opens: by what devices are, on simulated drivers. The one of CUDA says that it is simulated.
#include "fake_library.h"

#include "device/automatic.h"
#include "tests/fakes/fake_cuda.h"

static struct fake_cuda *fake_gpu;

static int load_both(void **state)
{
    const char *path = getenv("SLIPRING_FAKE_CUDA");
    if (setenv("SLIPRING_CUDA_LIB", path, 1) != 0 || setenv("SLIPRING_NVRTC_LIB", path, 1) != 0 ||
        setenv("SLIPRING_HIP_LIB", "/nowhere", 1) != 0 || setenv("SLIPRING_VULKAN_LIB", "/nowhere", 1) != 0 ||
        setenv("SLIPRING_WEBGPU_LIB", "/nowhere", 1) != 0 || setenv("SLIPRING_METAL_LIB", "/nowhere", 1) != 0)
        return -1;
    fake_gpu = ((struct fake_cuda * (*)(void)) function_of_fake("SLIPRING_FAKE_CUDA", "fake_cuda_words"))();
    fake_gpu->devices = 1;
    unsetenv("SLIPRING_DEVICE");
    return load_fake(state);
}

static void begin(void)
{
    reset();
    fake->stays = 1; // so that trying that is soon over
}

static slr_device_info opened(const char *spec)
{
    slr_device *device = open_device(spec);
    slr_device_info info;
    must(slr_device_get_info(device, &info));
    slr_device_close(device);
    return info;
}

static void each_class_goes_before_the_next(void **state)
{
    (void)state;
    static const struct {
        uint64_t type;
        uint32_t unified;
        const char *name, *chosen;
        uint32_t device_class;
    } cases[] = {
        {4, 0, "opencl", "'auto' requested; opencl opened: a GPU", SLR_DEVICE_GPU},
        {4, 1, "opencl", "'auto' requested; opencl opened: an integrated GPU", SLR_DEVICE_INTEGRATED_GPU},
        {2, 1, "cpu", "'auto' requested; cpu opened: this machine's cores", SLR_DEVICE_CPU},
        {8, 0, "cpu", "'auto' requested; cpu opened: this machine's cores", SLR_DEVICE_CPU},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        reset();
        fake->svm = 0;
        fake->stays = 1; // so that trying that is soon over
        fake->type = (uint32_t)cases[i].type;
        fake->host_unified = cases[i].unified;
        for (int k = 0; k < 2; ++k) { // no name is the same
            slr_device_info info = opened(k == 0 ? "auto" : NULL);
            assert_string_equal(info.backend, cases[i].name);
            assert_memory_equal(info.chosen, cases[i].chosen, strlen(cases[i].chosen));
            assert_memory_equal(info.chosen + strlen(cases[i].chosen), "; not ", strlen("; not "));
            assert_int_equal(info.device_class, cases[i].device_class);
        }
    }
}

static void what_does_not_open_is_passed_over_with_its_reason(void **state)
{
    (void)state;
    begin();
    fake->type = 4;
    fake->available = 0;
    slr_device_info info = opened("auto");
    assert_string_equal(info.backend, "cpu");
    assert_non_null(strstr(info.chosen, "'auto' requested; cpu opened: this machine's cores; not "));
    assert_non_null(strstr(info.chosen, "opencl: device 'opencl:0'"));
    assert_non_null(strstr(info.chosen, "lacks a device that is available"));
}

static void devices_say_what_they_are(void **state)
{
    (void)state;
    reset();
    fake->stays = 1;                                                      // so that trying that is soon over
    assert_int_equal(opened("opencl").device_class, SLR_DEVICE_SOFTWARE); // the host's cores, by another's driver
    fake->type = 8;
    assert_int_equal(opened("opencl").device_class, SLR_DEVICE_OTHER);
    assert_int_equal(opened("cuda").device_class, SLR_DEVICE_SOFTWARE);
    assert_int_equal(opened("cpu").device_class, SLR_DEVICE_CPU);
    assert_string_equal(opened("cpu").chosen, ""); // one that was asked for
}

static void of_one_class_the_vendors_own_goes_first_and_the_lower_number(void **state)
{
    (void)state;
    static const char *const wanted[] = {"cpu", "cuda:0", "cuda:1", "opencl"};
    struct slri_candidates found;
    slri_text why = SLRI_TEXT_INIT;
    begin();
    fake_gpu->devices = 2;
    slri_find_candidates(&found, &why);
    fake_gpu->devices = 1;
    slri_text_free(&why);
    assert_int_equal(found.count, 4);
    for (uint32_t i = 0; i < 4; ++i)
        assert_string_equal(found.candidate[i].spec, wanted[i]);
}

static void SLIPRING_DEVICE_goes_before_all(void **state)
{
    (void)state;
    begin();
    fake->type = 4;
    setenv("SLIPRING_DEVICE", "cuda:0", 1);
    assert_string_equal(opened(NULL).backend, "cuda");
    assert_string_equal(opened("auto").backend, "opencl"); // which is said goes before what is set
    unsetenv("SLIPRING_DEVICE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_class_goes_before_the_next),
        cmocka_unit_test(what_does_not_open_is_passed_over_with_its_reason),
        cmocka_unit_test(devices_say_what_they_are),
        cmocka_unit_test(of_one_class_the_vendors_own_goes_first_and_the_lower_number),
        cmocka_unit_test(SLIPRING_DEVICE_goes_before_all),
    };
    return cmocka_run_group_tests(tests, load_both, NULL);
}
