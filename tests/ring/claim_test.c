// SPDX-License-Identifier: Apache-2.0
// Claiming a batch, with a message that comes between the owner's look and its claim. The ring kernel is launched and
// never activated: the test is its owner.
#include "ring/ring.h"
#include "tests/ring/ring_test.h"

static void claim_and_finish(struct slri_shard *shard)
{
    uint32_t *S = shard->shared, *P = shard->own;
    mb_claim_straight(S, P, mb_look(S, P));
    assert_int_equal(P[MBP_BATCH_COUNT], 1);
    mb_handled(S, P, 0, 0, 0);
    mb_finish(S, P);
}

static void less_urgent_message_that_comes_after_the_look_waits_for_the_next_claim(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=1");
    static struct handler h;
    h = (struct handler){0};
    slr_ring_desc desc = describe_ring("claim", &h);
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *low = open_port(device), *high = open_port(device);
    slr_address to = address_of(ring, 0);
    struct slri_shard *shard = &ring->shard[0];
    uint32_t *S = shard->shared, *P = shard->own;

    must(send_at(low, to, 1, 3)); // now its lane is known, empty, and of priority 3
    mb_reread_ports(S, P, MB_ACQUIRE(MB_PORT_EPOCH));
    claim_and_finish(shard);
    must(send_at(high, to, 2, 9));
    mb_reread_ports(S, P, MB_ACQUIRE(MB_PORT_EPOCH));
    claim_and_finish(shard);

    must(send_at(high, to, 3, 9));
    uint32_t look = mb_look(S, P);
    assert_int_equal(look, 9 + 1);
    P[MBP_TURN] = 0; // the low one's turn
    must(send_at(low, to, 4, 3));
    mb_claim_straight(S, P, look);
    assert_int_equal(P[MBP_BATCH_COUNT], 1);
    assert_int_equal(S[P[MBP_BATCH(0) + 1] + MB_PAYLOAD], 3);
    mb_handled(S, P, 0, 0, 0);
    mb_finish(S, P);
    claim_and_finish(shard); // and then it comes
    assert_int_equal(mb_retired(S), 4);

    slr_port_close(low);
    slr_port_close(high);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(less_urgent_message_that_comes_after_the_look_waits_for_the_next_claim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
