// SPDX-License-Identifier: Apache-2.0
// A port with many ring kernels of a device: their owners, or who watches them, mark the connections. On a driver that
// is simulated.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/residence.h"

#include "ring/ring.h"

enum { COUNT = 7 };

static void check_many(const char *spec)
{
    struct residence r = {.max_bytes = 4096};
    slr_ring *ring[COUNT];
    reset();
    must(launch(&r, spec));
    for (uint32_t i = 0; i < COUNT; ++i) {
        char name[32];
        slr_ring_desc desc = SLR_RING_DESC_INIT;
        snprintf(name, sizeof name, "many-%u", i);
        desc.name = name;
        desc.handler = "counts";
        desc.program = r.program;
        ring[i] = start_ring(r.device, &desc);
        must(send_value(r.port, address_of(ring[i], 0), 0, LONG));
    }
    assert_true(r.port->is_marked);
    uint32_t value, seen[COUNT] = {0};
    for (uint32_t i = 0; i < COUNT; ++i)
        must(receive_value(r.port, &value, LONG));
    for (uint32_t turn = 1; turn < 4; ++turn) {
        for (uint32_t i = 0; i < COUNT; ++i)
            must(send_value(r.port, address_of(ring[i], 0), turn * COUNT + i, LONG));
        for (uint32_t i = 0; i < COUNT; ++i) {
            must(receive_value(r.port, &value, LONG));
            assert_in_range(value, turn * COUNT + 1, turn * COUNT + COUNT);
            assert_int_equal(++seen[value - 1 - turn * COUNT], turn);
        }
    }
    gives(receive_value(r.port, &value, MS), TIMEOUT);
    // The marks alone, without the looks at owners that publish without the host.
    while (slri_links_first(&r.port->polled))
        slri_unlink(slri_links_first(&r.port->polled));
    r.port->polled_count = 0;
    for (uint32_t i = 0; i < COUNT; ++i)
        must(send_value(r.port, address_of(ring[i], 0), i, LONG));
    for (uint32_t i = 0; i < COUNT; ++i)
        must(receive_value(r.port, &value, LONG));
    for (uint32_t i = 0; i < COUNT; ++i)
        must(slr_ring_terminate(ring[i], LONG, NULL, NULL, NULL));
    for (uint32_t i = 0; i < COUNT; ++i)
        gives(receive_value(r.port, &value, LONG), END);
    for (uint32_t i = 0; i < COUNT; ++i)
        slr_ring_destroy(ring[i]);
    end(&r);
}

static void dispatched_ring_kernels_are_marked(void **state)
{
    (void)state;
    check_many("cuda:0?ring=relaunch");
}

static void ring_kernels_that_stay_are_marked(void **state)
{
    (void)state;
    check_many("cuda:0?ring=persistent");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(dispatched_ring_kernels_are_marked, load_fake),
        cmocka_unit_test(ring_kernels_that_stay_are_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
