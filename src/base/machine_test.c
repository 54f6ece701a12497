// SPDX-License-Identifier: Apache-2.0
// Readings from folders that are made here, and from this machine's.
#include "base/forks.h"
#include "base/machine.h"
#include "base/thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/slipring-machine-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void write_file(const char *name, const char *text)
{
    char path[256], command[320];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(command, sizeof command, "mkdir -p $(dirname %s)", path);
    assert_int_equal(system(command), 0);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

// -1: it is left out.
static int64_t value_of(const slr_metrics *metrics, const char *name)
{
    for (uint32_t i = 0; i < metrics->count; ++i)
        if (strcmp(metrics->metric[i].name, name) == 0)
            return (int64_t)metrics->metric[i].value;
    return -1;
}

static slr_metrics read_machine(void)
{
    slr_metrics metrics = {0};
    slri_machine_read(folder, folder, &metrics);
    return metrics;
}

// All cores that there may be, each with the same ticks.
static void write_ticks(unsigned busy, unsigned idle)
{
    static char text[1 << 16];
    size_t length = (size_t)snprintf(text, sizeof text, "cpu  1 2 3 4 5 6 7 8\n");
    for (int i = 0; i < 512; ++i)
        length += (size_t)snprintf(text + length, sizeof text - length, "cpu%d %u 0 0 %u 0 0 0 0 0 0\n", i, busy, idle);
    write_file("stat", text);
}

static void busy_is_what_has_passed_since_the_last_reading(void **state)
{
    (void)state;
    slr_metrics metrics;
    write_ticks(100, 100);
    metrics = read_machine();
    assert_int_equal(value_of(&metrics, "busy_percent"), -1); // nothing to compare with
    write_ticks(130, 110);
    metrics = read_machine();
    assert_int_equal(value_of(&metrics, "busy_percent"), 75);
    metrics = read_machine(); // no time has passed
    assert_int_equal(value_of(&metrics, "busy_percent"), -1);
    write_ticks(130, 210);
    metrics = read_machine();
    assert_int_equal(value_of(&metrics, "busy_percent"), 0); // a 0 is measured
    write_ticks(0, 0);                                       // counters that begin anew
    metrics = read_machine();
    assert_int_equal(value_of(&metrics, "busy_percent"), -1);
}

static void temperature_and_clock_are_there_where_the_system_says_them(void **state)
{
    (void)state;
    slr_metrics metrics = read_machine();
    assert_int_equal(value_of(&metrics, "temperature_c"), -1);
    assert_int_equal(value_of(&metrics, "clock_mhz"), -1);
    write_file("cpuinfo", "processor : 0\ncpu MHz\t\t: 2596.134\n\nprocessor : 1\ncpu MHz\t\t: 3100.5\n");
    write_file("class/thermal/thermal_zone0/type", "acpitz\n");
    write_file("class/thermal/thermal_zone0/temp", "20000\n");
    metrics = read_machine();
    assert_int_equal(value_of(&metrics, "clock_mhz"), 3100);
    assert_int_equal(value_of(&metrics, "temperature_c"), -1); // of the board
    write_file("class/thermal/thermal_zone1/type", "x86_pkg_temp\n");
    write_file("class/thermal/thermal_zone1/temp", "54500\n");
    metrics = read_machine();
    assert_int_equal(value_of(&metrics, "temperature_c"), 54);
    assert_true(value_of(&metrics, "memory_bytes") > 0);
    assert_true(value_of(&metrics, "memory_used_bytes") > 0);
    assert_true(value_of(&metrics, "memory_used_bytes") < value_of(&metrics, "memory_bytes"));
}

static void write_package(int number, const char *name, const char *energy, const char *range)
{
    static const char *const files[] = {"name", "energy_uj", "max_energy_range_uj"};
    const char *const texts[] = {name, energy, range};
    char path[128];
    for (int i = 0; i < 3; ++i) {
        snprintf(path, sizeof path, "class/powercap/intel-rapl:%d/%s", number, files[i]);
        write_file(path, texts[i]);
    }
}

static int64_t energy(void)
{
    slr_metrics metrics = read_machine();
    return value_of(&metrics, "energy_mj");
}

static void energy_is_the_sum_of_the_packages_and_goes_on_where_a_counter_begins_anew(void **state)
{
    (void)state;
    assert_int_equal(energy(), -1);
    write_package(0, "package-0\n", "900000\n", "1000000\n");
    assert_int_equal(energy(), 900);
    write_package(1, "package-1\n", "50000\n", "1000000\n");
    write_package(2, "psys\n", "77000000\n", "100000000\n"); // the whole board, the packages once more
    assert_int_equal(energy(), 950);
    write_file("class/powercap/intel-rapl:0/energy_uj", "20000\n"); // 100 mJ to the end, then 20
    assert_int_equal(energy(), 1070);
    write_file("class/powercap/intel-rapl:0/energy_uj", "980000\n");
    assert_int_equal(energy(), 2030);
    write_file("class/powercap/intel-rapl:1/energy_uj", "\n"); // as one that cannot be read: half a sum is none
    assert_int_equal(energy(), -1);
    write_file("class/powercap/intel-rapl:1/energy_uj", "60000\n");
    assert_int_equal(energy(), 2040);
}

static void a_gpu_is_read_from_its_own_folder(void **state)
{
    (void)state;
    char gpu[64];
    slr_metrics metrics = {0};
    snprintf(gpu, sizeof gpu, "%s/gpu", folder);
    assert_int_equal(slri_machine_read_gpu(gpu, &metrics), SLR_NOT_FOUND);
    assert_int_equal(metrics.count, 0);
    write_file("gpu/gpu_busy_percent", "37\n");
    write_file("gpu/mem_info_vram_used", "268435456\n");
    write_file("gpu/mem_info_vram_total", "1073741824\n");
    write_file("gpu/hwmon/hwmon3/temp1_input", "41000\n");
    write_file("gpu/hwmon/hwmon3/power1_average", "123456000\n");
    write_file("gpu/hwmon/hwmon3/energy1_input", "9876543\n");
    write_file("gpu/hwmon/hwmon3/freq1_input", "1980000000\n");
    assert_int_equal(slri_machine_read_gpu(gpu, &metrics), SLR_OK);
    assert_int_equal(metrics.count, 7);
    assert_int_equal(value_of(&metrics, "busy_percent"), 37);
    assert_int_equal(value_of(&metrics, "memory_used_bytes"), 268435456);
    assert_int_equal(value_of(&metrics, "memory_bytes"), 1073741824);
    assert_int_equal(value_of(&metrics, "temperature_c"), 41);
    assert_int_equal(value_of(&metrics, "power_mw"), 123456);
    assert_int_equal(value_of(&metrics, "energy_mj"), 9876);
    assert_int_equal(value_of(&metrics, "clock_mhz"), 1980);
    assert_int_equal(value_of(&metrics, "memory_busy_percent"), -1);
    slr_metrics intel = {0};
    write_file("intel/drm/card1/gt_act_freq_mhz", "1150\n");
    snprintf(gpu, sizeof gpu, "%s/intel", folder);
    assert_int_equal(slri_machine_read_gpu(gpu, &intel), SLR_OK);
    assert_int_equal(intel.count, 1);
    assert_int_equal(value_of(&intel, "clock_mhz"), 1150);
}

static uint32_t is_over; // atomic

static void watch(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
        slri_machine_watch();
}

static void a_child_waits_for_no_thread_that_was_reading(void **state)
{
    (void)state;
    enum { CHILDREN = 100 };
    slri_thread thread;
    int how = 0;
    pid_t child = 0, ended = 0;
    (void)slri_forks_count();
    assert_int_equal(slri_thread_start(&thread, "watches", watch, NULL), SLR_OK);
    for (int i = 0; i < CHILDREN && child == ended && how == 0; ++i) {
        child = fork();
        if (child == 0) {
            alarm(60);
            slri_machine_watch();
            _exit(0);
        }
        ended = waitpid(child, &how, 0);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    slri_thread_join(&thread);
    assert_int_equal(ended, child);
    assert_int_equal(how, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_is_what_has_passed_since_the_last_reading),
        cmocka_unit_test(temperature_and_clock_are_there_where_the_system_says_them),
        cmocka_unit_test(a_child_waits_for_no_thread_that_was_reading),
        cmocka_unit_test(energy_is_the_sum_of_the_packages_and_goes_on_where_a_counter_begins_anew),
        cmocka_unit_test(a_gpu_is_read_from_its_own_folder),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
