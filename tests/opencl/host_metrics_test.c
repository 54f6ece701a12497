// SPDX-License-Identifier: Apache-2.0
// Metrics of devices that compute on the host's cores: cpu, and OpenCL's on a CPU.
#include "device/device_test.h"

#include "base/thread.h"

static int64_t metric(const slr_device *device, const char *name)
{
    slr_metrics metrics;
    must(slr_device_get_metrics(device, &metrics));
    for (uint32_t i = 0; i < metrics.count; ++i)
        if (strcmp(metrics.metric[i].name, name) == 0)
            return (int64_t)metrics.metric[i].value;
    return -1;
}

static void spin(uint64_t ns)
{
    for (uint64_t until = slri_now_ns() + ns; slri_now_ns() < until;) {
    }
}

static void looks_at(const char *spec)
{
    slr_device *device;
    slr_device_info info;
    if (slr_device_open(spec, NULL, &device) != SLR_OK)
        return;
    must(slr_device_get_info(device, &info));
    if (info.device_class == SLR_DEVICE_CPU || info.device_class == SLR_DEVICE_SOFTWARE) {
        assert_true(metric(device, "memory_bytes") > 0);
        assert_true(metric(device, "memory_used_bytes") > 0);
        assert_true(metric(device, "memory_used_bytes") < metric(device, "memory_bytes"));
        (void)metric(device, "busy_percent");
        spin(100 * MS); // this core is busy, at least
        int64_t busy = metric(device, "busy_percent");
        assert_true(busy > 0 && busy <= 100);
    }
    slr_device_close(device);
}

static void the_cores_load_and_memory_are_read(void **state)
{
    (void)state;
    looks_at("cpu?engine=interpreted");
    looks_at("opencl:0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_cores_load_and_memory_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
