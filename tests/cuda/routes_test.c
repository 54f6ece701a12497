// SPDX-License-Identifier: Apache-2.0
// Routes between ring kernels that stay on a GPU, on a driver that is simulated: what lies in the device's memory, how
// it comes home, and what becomes of it when the device is lost. What routes do is tests/opencl/routes_test.c.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/residence.h"

#include "hal/cuda/cuda.h"
#include "device/device.h"
#include "engine/resident_layout.h"
#include "ring/ring.h"
#include "tests/ring/route_test.h"

#define PERSISTENT "cuda:0?ring=persistent"

static const char picky_cu[] =
    "struct message { unsigned value, port; };\n"
    "__ring__ void picky(const struct message *in)\n"
    "{ struct message out = {in->value / (in->value == 13u ? 0u : 1u), 7u}; ring_reply(&out); }\n";

// Another ring kernel of the same handler.
static slr_status start_counting(struct residence *r, const char *name, uint32_t max_ports, slr_ring **ring)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.handler = "counts";
    desc.program = r->program;
    desc.instances = 3;
    desc.queue_size = 64;
    desc.max_ports = max_ports;
    slr_status status = slr_ring_create(r->device, &desc, ring);
    TRY_EACH(slr_ring_launch(*ring));
    TRY_EACH(slr_ring_activate(*ring, LONG));
    return status;
}

// One to which the residence's has a route.
static slr_status start_next(struct residence *r, slr_ring **next)
{
    slr_status status = start_counting(r, "next", 4, next);
    TRY_EACH(slr_route(r->ring, *next, NULL));
    return status;
}

static void send_to_all_of(slr_port *port, slr_ring *ring, uint32_t messages)
{
    for (uint32_t i = 0; i < messages; ++i)
        must(send_value(port, address_of(ring, i % 3), i, LONG));
}

static void send_to_all(struct residence *r, uint32_t messages)
{
    send_to_all_of(r->port, r->ring, messages);
}

static uint32_t near_lanes(const slr_ring *ring)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < slri_ports_opened(ring); ++i)
        lanes += slri_lane_at(ring, i)->is_near;
    return lanes;
}

// Of the lane of a port, whether it has ever shown a message in the mailbox's arena.
static bool is_untouched(const slr_ring *ring, uint32_t port)
{
    const uint32_t *S = ring->S;
    for (uint32_t s = 0; s < ring->shards; ++s)
        for (uint32_t k = 0; k <= S[MB_LANE_MASK]; ++k)
            if (MB_ACQUIRE(mb_lane_slot(S, mb_lane(S, s, port), k) + MB_SEQUENCE) != 0)
                return false;
    return true;
}

static void end_with(struct residence *r, slr_ring *next, const char *what)
{
    slr_ring_stats stats = stats_of(next);
    check_sum(&stats);
    slr_ring_destroy(next);
    end(r);
    nothing_is_left(what);
}

static void messages_between_ring_kernels_lie_in_the_devices_memory(void **state)
{
    (void)state;
    struct residence r = {0};
    slr_ring *next;
    reset();
    must(launch(&r, PERSISTENT));
    must(start_next(&r, &next));
    assert_int_equal(near_lanes(next), r.ring->shards);
    send_to_all(&r, 20);
    wait_handled(next, 20);
    for (uint32_t i = 0; i < slri_ports_opened(next); ++i)
        assert_true(!slri_lane_at(next, i)->is_near || is_untouched(next, i));
    must(slr_device_park(r.device, LONG));
    send_to_all(&r, 5);
    must(slr_device_resume(r.device));
    wait_handled(next, 25);
    must(slr_unroute(r.ring, next));
    must(slr_route(r.ring, next, NULL)); // the same lanes, where they stand
    send_to_all(&r, 10);
    wait_handled(next, 35);
    must(slr_unroute(r.ring, next));
    slr_port *port[4];
    for (uint32_t i = 0; i < 4; ++i) { // each takes a lane, as ports of the host do
        uint32_t value;
        port[i] = open_port(r.device);
        must(send_value(port[i], address_of(next, 0), i, LONG));
        must(receive_value(port[i], &value, LONG));
        assert_int_equal(value, i + 1);
    }
    assert_int_equal(near_lanes(next), 0);
    for (uint32_t i = 0; i < 4; ++i)
        slr_port_close(port[i]);
    end_with(&r, next, "near");
}

// What was sent is counted there a moment after it was handled here.
static void wait_held(slr_ring *from, slr_ring *next, uint32_t messages)
{
    assert_int_equal(stats_when_pending(next, messages).pending, messages);
    assert_int_equal(stats_when_pending(from, 0).pending, 0);
}

// Both, and so many messages of the first one that the next, which is paused, has not looked at.
static slr_ring *start_holding(struct residence *r, uint32_t messages)
{
    slr_ring *next;
    reset();
    must(launch(r, PERSISTENT));
    must(start_next(r, &next));
    must(slr_ring_deactivate(next, LONG));
    send_to_all(r, messages);
    wait_held(r->ring, next, messages);
    return next;
}

static void note_value(void *user, const slr_undelivered *undelivered)
{
    struct message message;
    memcpy(&message, undelivered->message, sizeof message);
    *(uint32_t *)user += message.value;
}

// It is asleep, and no kernel serves it: one begins, to bring home what only it can reach.
static void terminate_hands_back_what_no_kernel_has_looked_at(void **state)
{
    (void)state;
    for (uint32_t parked = 0; parked < 2; ++parked) {
        struct residence r = {0};
        slr_ring *next = start_holding(&r, 6);
        slr_ring_stats stats;
        uint32_t sum = 0;
        if (parked) {
            must(slr_device_park(r.device, LONG));
            must(slr_device_resume(r.device));
        }
        must(slr_ring_terminate(next, 0, note_value, &sum, &stats));
        check_sum(&stats);
        assert_int_equal(stats.undelivered, 6);
        assert_int_equal(sum, 1 + 2 + 3 + 4 + 5 + 6);
        end_with(&r, next, "handed back");
    }
}

// The rest of a batch stays claimed while the host judges a fault in it, also when the kernel ends meanwhile.
static void judged_fault_keeps_the_rest_of_its_batch(void **state)
{
    (void)state;
    struct residence r = {0};
    slr_program *program;
    slr_ring_stats stats;
    reset();
    must(launch(&r, PERSISTENT));
    must(slr_program_from_text(r.device, "picky.cu", picky_cu, NULL, &program));
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "picky";
    desc.handler = "picky";
    desc.program = program;
    desc.fault_policy = SLR_FAULT_FAIL;
    slr_ring *picky = start_ring(r.device, &desc);
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.reply_too = 1;
    must(slr_route(r.ring, picky, &route));
    must(slr_ring_deactivate(picky, LONG));
    send_to_all(&r, 20); // 13 is one of their replies
    wait_held(r.ring, picky, 20);
    must(slr_ring_reactivate(picky, LONG));
    must(slr_ring_wait(picky, SLR_RING_IN_FAILURE, LONG));
    must(slr_device_park(r.device, LONG));
    must(slr_device_resume(r.device));
    stats = stats_of(picky);
    check_sum(&stats);
    assert_int_equal(stats.faulted, 1);
    must(slr_ring_restart(picky, SLR_RESTART_INITIAL, LONG));
    wait_handled(picky, 19);
    stats = stats_of(picky);
    check_sum(&stats);
    assert_int_equal(stats.accepted, 20);
    assert_int_equal(stats.pending, 0);
    slr_ring_destroy(picky);
    slr_program_destroy(program);
    end(&r);
    nothing_is_left("judged");
}

// Nothing of it is kept.
static void lose_device_alone(struct residence *r)
{
    lose_device(r);
    slr_buffer_destroy(r->buffer);
    r->buffer = NULL;
}

static void what_lay_there_is_in_doubt_when_the_device_is_lost(void **state)
{
    (void)state;
    struct residence r = {.max_bytes = 4096};
    slr_ring *next;
    reset();
    must(launch(&r, PERSISTENT));
    must(start_next(&r, &next));
    uint32_t handled = 0, doubt = 0;
    for (uint32_t turn = 0; turn < 3; ++turn) {
        send_to_all(&r, 4);
        wait_handled(next, handled += 4);
        must(slr_ring_deactivate(next, LONG));
        send_to_all(&r, 9);
        wait_held(r.ring, next, 9);
        doubt += 9;
        lose_device_alone(&r);
        must(slr_device_reopen(r.device, LONG));
        slr_ring_stats stats = stats_of(next);
        check_sum(&stats);
        assert_int_equal(stats.in_doubt, doubt);
        assert_int_equal(stats.accepted, handled + doubt);
        must(slr_ring_restart(r.ring, SLR_RESTART_INITIAL, LONG));
        must(slr_ring_restart(next, SLR_RESTART_INITIAL, LONG));
        must(slr_ring_reactivate(next, LONG));
        assert_int_equal(near_lanes(next), r.ring->shards);
    }
    send_to_all(&r, 30); // their credits have come back
    wait_handled(next, handled + 30);
    end_with(&r, next, "in doubt");
}

static void restart_all(slr_ring *const *ring, uint32_t rings)
{
    for (uint32_t i = 0; i < rings; ++i)
        must(slr_ring_restart(ring[i], SLR_RESTART_INITIAL, LONG));
}

// The last batch before the device is lost is another source's: what its owner had done with of the first one's is
// still done with, whether more lies there or not, and its credits come back.
static void lane_that_was_emptied_before_the_device_is_lost_keeps_its_credits(void **state)
{
    (void)state;
    struct residence r = {.max_bytes = 4096};
    slr_ring *next, *other;
    reset();
    must(launch(&r, PERSISTENT));
    must(start_counting(&r, "next", 8, &next));
    must(start_counting(&r, "other", 4, &other));
    must(slr_route(r.ring, next, NULL));
    must(slr_route(other, next, NULL));
    slr_ring *const rings[] = {r.ring, other, next};
    uint32_t handled = 0, doubt = 0;
    for (uint32_t turn = 0; turn < 8; ++turn) {
        must(slr_buffer_create(r.device, 64, &r.buffer)); // it may have the kernel end, to bring home what it has
        send_to_all(&r, 15);
        wait_handled(next, handled += 15);
        send_to_all_of(r.port, other, 3);
        wait_handled(next, handled += 3);
        if (turn % 2) {
            must(slr_ring_deactivate(next, LONG));
            send_to_all(&r, 9);
            wait_held(r.ring, next, 9);
            doubt += 9;
        }
        lose_device_at_work(&r);
        slr_buffer_destroy(r.buffer);
        r.buffer = NULL;
        must(slr_device_reopen(r.device, LONG));
        slr_ring_stats stats = stats_of(next);
        check_sum(&stats);
        assert_int_equal(stats.in_doubt, doubt);
        assert_int_equal(stats.accepted, handled + doubt);
        restart_all(rings, 3);
        if (turn % 2)
            must(slr_ring_reactivate(next, LONG));
    }
    send_to_all(&r, 60);
    wait_handled(next, handled + 60);
    must(slr_ring_terminate(next, LONG, NULL, NULL, NULL));
    slr_ring_destroy(other);
    end_with(&r, next, "emptied");
}

static void lost_destination_ends_with_its_counts_whole(void **state)
{
    (void)state;
    struct residence r = {.max_bytes = 4096};
    slr_ring *next = start_holding(&r, 9);
    slr_ring_stats stats;
    lose_device_alone(&r);
    must(slr_ring_terminate(next, 0, NULL, NULL, &stats));
    check_sum(&stats);
    assert_int_equal(stats.accepted, 9);
    assert_int_equal(stats.in_doubt, 9);
    end_with(&r, next, "lost");
}

// The host, which owns a paused ring kernel's words while no kernel runs, does not see what lies there.
static void lane_with_messages_is_not_another_routes_before_they_are_handled(void **state)
{
    (void)state;
    struct residence r = {0};
    slr_ring *next = start_holding(&r, 9);
    must(slr_unroute(r.ring, next));
    must(slr_device_park(r.device, LONG));
    must(slr_device_resume(r.device));
    refuses(slr_route(r.ring, next, NULL), TIMEOUT, "all max_ports = 4 places are in use; 3 belong to closed ports");
    must(slr_ring_reactivate(next, LONG));
    wait_handled(next, 9);
    must(slr_route(r.ring, next, NULL));
    send_to_all(&r, 30);
    wait_handled(next, 39);
    end_with(&r, next, "not another's");
}

// Before the device is opened again, behind that, and where it never is. The route's credits come back, what lay along
// it is in doubt, and a new one goes on in the same lanes.
static void route_is_taken_away_with_a_device_that_is_lost(void **state)
{
    (void)state;
    enum { BEFORE, BEHIND, NEVER, CASES };
    for (uint32_t when = BEFORE; when < CASES; ++when) {
        struct residence r = {.max_bytes = 4096};
        slr_ring *next = start_holding(&r, 9);
        slr_port *last = open_port(r.device);
        must(slr_route_to_port(r.ring, last, NULL));
        lose_device_alone(&r);
        if (when == BEHIND)
            must(slr_device_reopen(r.device, LONG));
        uint32_t grants = next->grants.credits;
        assert_true(grants != 0);
        must(slr_unroute(r.ring, next));
        gives(slr_unroute(r.ring, next), NOT_FOUND);
        assert_int_equal(next->grants.credits, 0);
        slr_status again = slr_route(r.ring, next, NULL); // it may not have seen yet that it has failed
        assert_true(again == SLR_DEVICE_LOST || again == SLR_WRONG_STATE);
        again = slr_route_to_port(r.ring, r.port, NULL);
        assert_true(again == SLR_DEVICE_LOST || again == SLR_WRONG_STATE);
        assert_int_equal(next->grants.credits, 0);
        slr_port_close(last);
        if (when == BEFORE)
            must(slr_device_reopen(r.device, LONG));
        if (when != NEVER) {
            slr_ring_stats stats = stats_of(next);
            check_sum(&stats);
            assert_int_equal(stats.in_doubt, 9);
            must(slr_ring_restart(r.ring, SLR_RESTART_INITIAL, LONG));
            must(slr_ring_restart(next, SLR_RESTART_INITIAL, LONG));
            must(slr_ring_reactivate(next, LONG));
            must(slr_route(r.ring, next, NULL));
            assert_int_equal(next->grants.credits, grants);
            send_to_all(&r, 100);
            wait_handled(next, 100);
        }
        end_with(&r, next, "taken away");
    }
}

// Takes as much of the mailboxes' memory as makes up for what lies at `was`, and fills it with addresses of nothing.
enum { MOST_PIECES = 256, PIECE = 1024 };

static uint32_t reuse(slr_device *device, const void *was, void **piece)
{
    for (uint32_t n = 0; n < MOST_PIECES; ++n) {
        must(slri_cuda_ring_memory_create(device->self, PIECE, &piece[n]));
        memset(piece[n], 0xa5, PIECE);
        if ((uintptr_t)was - (uintptr_t)piece[n] < PIECE)
            return n + 1;
    }
    fail_msg("what was freed is not reused");
    return 0;
}

static void ask_often(slr_port *port, const slr_ring *ring)
{
    for (uint32_t i = 0; i < 20; ++i) {
        uint32_t got;
        must(send_value(port, address_of(ring, 0), i, LONG));
        must(receive_value(port, &got, LONG));
        assert_int_equal(got, i + 1);
    }
}

// Of two that share a block the first one ends: while the kernel runs, which has it in its table still, and while none
// does, behind which its entry is free in the next launch.
static void memory_of_a_source_that_has_left_is_not_read(void **state)
{
    (void)state;
    for (uint32_t asleep = 0; asleep < 2; ++asleep) {
        struct residence r = {0};
        slr_ring *next;
        void *piece[MOST_PIECES];
        reset();
        fake->most_idle = asleep ? 16 : 0; // each pass yields: the usual number takes minutes on a machine that is busy
        must(launch(&r, PERSISTENT "&sm_budget=1"));
        must(start_next(&r, &next));
        send_to_all(&r, 6);
        wait_handled(next, 6);
        const void *passage = r.ring->shard[0].route.passage;
        assert_non_null(passage);
        if (asleep)
            wait_until_is(&r.ring->shard[0].asleep, SLRI_ASLEEP);
        slr_ring_destroy(r.ring);
        r.ring = NULL;
        uint32_t pieces = reuse(r.device, passage, piece);
        slr_port *port = open_port(r.device); // the other one is told of the end
        ask_often(port, next);
        must(slr_device_park(r.device, LONG));
        must(slr_device_resume(r.device));
        ask_often(port, next);
        while (pieces != 0)
            slri_cuda_ring_memory_destroy(r.device->self, piece[--pieces], PIECE);
        slr_port_close(port);
        end_with(&r, next, "left");
    }
}

// The host is told before its lane can be another's: that one gets nothing twice when the device is lost.
static void closed_port_stays_closed_when_the_device_is_lost(void **state)
{
    (void)state;
    struct residence r = {.max_bytes = 4096};
    slr_port *port[4];
    uint32_t value;
    reset();
    must(launch(&r, PERSISTENT));
    must(ask(&r, 1)); // takes the first of four lanes
    for (uint32_t i = 1; i < 4; ++i) {
        port[i] = open_port(r.device);
        must(send_value(port[i], address_of(r.ring, 0), i, LONG));
        must(receive_value(port[i], &value, LONG));
    }
    must(slr_route_to_port(r.ring, port[3], NULL));
    must(send_value(port[1], address_of(r.ring, 0), 1, LONG)); // so that the kernel runs
    must(receive_value(port[3], &value, LONG));
    slr_port_close(port[3]);
    port[3] = open_port(r.device);
    must(slr_route_to_port(r.ring, port[3], NULL)); // in the same lane
    lose_device_alone(&r);
    must(slr_device_reopen(r.device, LONG));
    must(slr_ring_restart(r.ring, SLR_RESTART_INITIAL, LONG));
    must(send_value(port[1], address_of(r.ring, 0), 1, LONG));
    wait_handled(r.ring, 6);
    slr_status status;
    uint32_t replies = 0;
    while ((status = receive_value(port[3], &value, 10 * MS)) != SLR_TIMEOUT) // the failure is told, too
        replies += status == SLR_OK;
    assert_int_equal(replies, 1); // along its own route
    slr_ring_stats stats = stats_of(r.ring);
    assert_int_equal(stats.routed, 2);
    assert_int_equal(stats.unrouted, 1);
    for (uint32_t i = 1; i < 4; ++i)
        slr_port_close(port[i]);
    end(&r);
    nothing_is_left("closed");
}

static slr_status use_route(struct residence *r, slr_ring **next)
{
    slr_status status = launch(r, PERSISTENT);
    TRY_EACH(start_next(r, next));
    for (uint32_t i = 0; i < 6 && status == SLR_OK; ++i)
        TRY_EACH(send_value(r->port, address_of(r->ring, i % 3), i, LONG));
    TRY_EACH(slr_unroute(r->ring, *next));
    return status;
}

static uint32_t fail_at_each(int32_t error, bool lost)
{
    uint32_t told = 0;
    for (uint32_t k = 1;; ++k) {
        struct residence r = {0};
        slr_ring *next = NULL;
        reset();
        fake->error = error;
        fake->fail_at = k;
        fake->lost = lost;
        slr_status status = use_route(&r, &next);
        told += status != SLR_OK;
        slr_ring_destroy(next);
        end(&r);
        nothing_is_left("k");
        if (!fake->failed) {
            assert_int_equal(status, SLR_OK);
            return told;
        }
    }
}

static void call_that_fails_leaves_nothing(void **state)
{
    (void)state;
    assert_true(fail_at_each(2, false) > 40);
    assert_true(fail_at_each(700, true) > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(messages_between_ring_kernels_lie_in_the_devices_memory, load_fake),
        cmocka_unit_test(terminate_hands_back_what_no_kernel_has_looked_at),
        cmocka_unit_test(judged_fault_keeps_the_rest_of_its_batch),
        cmocka_unit_test(what_lay_there_is_in_doubt_when_the_device_is_lost),
        cmocka_unit_test(lane_that_was_emptied_before_the_device_is_lost_keeps_its_credits),
        cmocka_unit_test(lost_destination_ends_with_its_counts_whole),
        cmocka_unit_test(lane_with_messages_is_not_another_routes_before_they_are_handled),
        cmocka_unit_test(route_is_taken_away_with_a_device_that_is_lost),
        cmocka_unit_test(memory_of_a_source_that_has_left_is_not_read),
        cmocka_unit_test(closed_port_stays_closed_when_the_device_is_lost),
        cmocka_unit_test(call_that_fails_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
