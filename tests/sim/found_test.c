// SPDX-License-Identifier: Apache-2.0
// What random programs have found, each as a small program that finds it again.
#include "tests/ring/ring_test.h"

#include "base/sim.h"
#include "ring/ring.h"

enum { SEEDS = 100 };

// Its shard may have ended, with nothing left to do, a moment before it is made to fail.
static void one_that_fails_while_it_drains_ends_behind_its_restart(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; ++seed) {
        struct handler h = {0};
        must(slri_sim_begin(seed));
        slr_device *device = open_device("cpu?engine=interpreted");
        slr_ring_desc desc = describe_ring("draining", &h);
        slr_ring *ring = start_ring(device, &desc);
        must(slr_ring_close_input(ring));
        slri_sleep_ns(seed * 100);
        if (slri_ring_fail(ring, "the test"))
            must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
        must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
        slr_ring_destroy(ring);
        slr_device_close(device);
        assert_int_equal(slri_sim_end(), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_fails_while_it_drains_ends_behind_its_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
