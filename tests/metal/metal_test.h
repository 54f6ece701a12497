// SPDX-License-Identifier: Apache-2.0
// For tests on the simulated Metal of tests/fakes/metal.
#ifndef TESTS_METAL_METAL_TEST_H
#define TESTS_METAL_METAL_TEST_H

#include "tests/fakes/load.h"
#include "tests/fakes/metal/fake_metal.h"

#include "base/clock.h"
#include "base/thread.h"
#include "hal/metal/api.h"

#include <stdio.h>

static struct fake_metal *metal;
static const struct slri_mt_runtime *mt; // its functions, as the backend calls them

// Before anything else of a test program.
static inline int load_metal(void **state)
{
    (void)state;
    const char *path = getenv("SLIPRING_FAKE_METAL");
    if (!path || setenv("SLIPRING_METAL_LIB", path, 1) != 0)
        return -1;
    metal = ((struct fake_metal * (*)(void)) function_of_fake("SLIPRING_FAKE_METAL", "fake_metal_words"))();
    must(slri_mt_load(&mt));
    return 0;
}

// A command buffer is the queue's thread's, too, for a while after it has ended.
static inline bool all_has_gone(void)
{
    const uint64_t deadline = slri_deadline_after(LONG);
    while (__atomic_load_n(&metal->live, __ATOMIC_ACQUIRE) != 0 && !slri_passed(deadline))
        slri_sleep_ns(100000);
    return metal->live == 0 && metal->wrong == 0;
}

// Behind each test.
static inline int nothing_is_left(void **state)
{
    (void)state;
    if (all_has_gone())
        return 0;
    print_error("%d objects are left, %u calls were wrong: %s\n", metal->live, metal->wrong, metal->first_wrong);
    return -1;
}

static inline uint64_t metric(const slr_device *device, const char *name)
{
    slr_metrics metrics;
    must(slr_device_get_metrics(device, &metrics));
    for (uint32_t i = 0; i < metrics.count; ++i)
        if (strcmp(metrics.metric[i].name, name) == 0)
            return metrics.metric[i].value;
    fail_msg("no metric '%s'", name);
    return 0;
}

// Compiled kernels are stored in a folder of the test's own, which begins empty.
static char cache_folder[] = "/tmp/slipring-metal-XXXXXX";

static inline void forget_stored(void)
{
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s/*", cache_folder);
    assert_int_equal(system(command), 0);
}

static inline int make_cache(void **state)
{
    if (!mkdtemp(cache_folder) || setenv("SLIPRING_CACHE_DIR", cache_folder, 1) != 0)
        return -1;
    return load_metal(state);
}

static inline int remove_cache(void **state)
{
    char command[80];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", cache_folder);
    return system(command);
}

#endif
