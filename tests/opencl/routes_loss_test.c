// SPDX-License-Identifier: Apache-2.0
// Routes between ring kernels that stay, on a library that is simulated: their groups die or hang while they pass
// messages on. Nothing is lost uncounted, nobody waits for ever, and what comes back goes on.
#include "tests/opencl/fake_library.h"

#include "ring/ring.h"
#include "tests/ring/route_test.h"

#include "base/kept.h"
#include "base/thread.h"

// Of the fake each passes on what it was sent. A group is a handler's: these three die or hang each for itself.
static const char source[] =
    "struct message { unsigned value, port; };\n"
    "__ring__ void first(const struct message *in) { struct message out = *in; ring_reply(&out); }\n"
    "__ring__ void second(const struct message *in) { struct message out = *in; ring_reply(&out); }\n"
    "__ring__ void third(const struct message *in) { struct message out = *in; ring_reply(&out); }\n";

static const char *const handlers[] = {"first", "second", "third"};

enum { RINGS = 3 };

static struct line { // a device and ring kernels, from the first of which a route leads to the second
    slr_device *device;
    slr_program *program;
    slr_port *port;
    slr_ring *ring[RINGS];
} line;

static void begin(const char *spec, uint32_t redeliver)
{
    reset();
    fake->stays = 1;
    fake->units = 16;
    line = (struct line){0};
    line.device = open_device(spec);
    must(slr_program_from_text(line.device, "line.cu", source, NULL, &line.program));
    for (uint32_t i = 0; i < RINGS; ++i) {
        slr_ring_desc desc = SLR_RING_DESC_INIT;
        desc.name = desc.handler = handlers[i];
        desc.program = line.program;
        desc.queue_size = 256;
        desc.max_ports = 4;
        desc.redeliver = redeliver;
        line.ring[i] = start_ring(line.device, &desc);
        assert_int_equal(stats_of(line.ring[i]).mode, SLR_RING_PERSISTENT);
    }
    line.port = open_port(line.device);
    must(slr_route(line.ring[0], line.ring[1], NULL));
}

static void send_some(slr_ring *to, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        must(send_value(line.port, address_of(to, 0), i, LONG));
}

static slr_ring_stats ends_well(slr_ring *ring)
{
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, LONG, NULL, NULL, &stats));
    check_sum(&stats);
    assert_int_equal(stats.pending, 0);
    assert_int_equal(stats.undelivered, 0);
    return stats;
}

static void close_all(void)
{
    slr_port_close(line.port);
    for (uint32_t i = 0; i < RINGS; ++i)
        slr_ring_destroy(line.ring[i]);
    slr_program_destroy(line.program);
    slr_device_close(line.device);
}

static void end(void)
{
    for (uint32_t i = 0; i < RINGS; ++i)
        ends_well(line.ring[i]);
    close_all();
    assert_int_equal(fake->live, 0);
    assert_int_equal(fake->wrong, 0);
}

static void hang(uint32_t hangs)
{
    __atomic_store_n(&fake->hang, hangs, __ATOMIC_RELEASE);
}

// ---- groups that die -----------------------------------------------------------------------------------------------

enum { MESSAGES = 50, BATCH = 32 };

// `ring`, which has a batch in hand when it goes on, dies in it.
static void dies(slr_ring *ring, uint32_t how)
{
    __atomic_store_n(&fake->kill, how, __ATOMIC_RELEASE);
    slr_ring_reactivate(ring, LONG); // may not be answered any more
    must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
    assert_int_equal(__atomic_load_n(&fake->kill, __ATOMIC_ACQUIRE), 0);
}

static void what_a_lost_source_had_in_hand_is_passed_on_or_in_doubt(void **state)
{
    (void)state;
    static const uint32_t passed[] = {[FAKE_KILL_BEGUN] = 0, [FAKE_KILL_HALF] = BATCH / 2, [FAKE_KILL_SHOWN] = BATCH};
    for (uint32_t how = FAKE_KILL_BEGUN; how <= FAKE_KILL_SHOWN; ++how)
        for (uint32_t redeliver = 0; redeliver < 2; ++redeliver) {
            begin("opencl:0?ring=persistent", redeliver);
            slr_ring *from = line.ring[0], *to = line.ring[1];
            must(slr_ring_deactivate(from, LONG));
            send_some(from, MESSAGES);
            dies(from, how);
            uint32_t doubted = BATCH - passed[how];
            slr_ring_stats stats = stats_of(from);
            check_sum(&stats);
            assert_int_equal(stats.handled, passed[how]);
            assert_int_equal(stats.routed, passed[how]);
            assert_int_equal(stats.in_doubt, redeliver ? 0 : doubted);
            assert_int_equal(stats.redelivered, redeliver ? doubted : 0);
            assert_int_equal(stats.pending, MESSAGES - passed[how] - (redeliver ? 0 : doubted));
            wait_handled(to, passed[how]); // another group's
            gives(send_value(line.port, address_of(from, 0), 0, 0), RING_FAILED);
            must(slr_ring_restart(from, SLR_RESTART_INITIAL, LONG));
            uint32_t all = MESSAGES - (redeliver ? 0 : doubted);
            wait_handled(to, all);
            assert_int_equal(ends_well(from).routed, all);
            assert_int_equal(ends_well(to).accepted, all);
            assert_int_equal(to->grants.credits, 0);
            end();
        }
}

// Its source goes on while there is room, and its messages wait for the restart.
static void what_a_lost_destination_had_in_hand_is_handled_or_in_doubt(void **state)
{
    (void)state;
    for (uint32_t how = FAKE_KILL_BEGUN; how <= FAKE_KILL_SHOWN; ++how) {
        begin("opencl:0?ring=persistent", 0);
        slr_ring *from = line.ring[0], *to = line.ring[1];
        must(slr_ring_deactivate(to, LONG));
        send_some(from, BATCH); // its grant
        wait_handled(from, BATCH);
        dies(to, how);
        uint32_t done = how == FAKE_KILL_BEGUN ? 0 : how == FAKE_KILL_HALF ? BATCH / 2 : BATCH;
        slr_ring_stats stats = stats_of(to);
        check_sum(&stats);
        assert_int_equal(stats.handled, done);
        assert_int_equal(stats.in_doubt, BATCH - done);
        send_some(from, MESSAGES);
        wait_handled(from, 2 * BATCH); // what has gone has left room for as many
        assert_int_equal(stats_of(to).pending, BATCH);
        must(slr_ring_restart(to, SLR_RESTART_INITIAL, LONG));
        wait_handled(to, MESSAGES + done);
        wait_handled(from, MESSAGES + BATCH);
        assert_int_equal(ends_well(from).unrouted, 0);
        end();
    }
}

// Every call fails from then on. What a route has is given back without one.
static void routes_are_taken_away_where_every_call_fails(void **state)
{
    (void)state;
    begin("opencl:0?ring=persistent", 0);
    slr_ring *from = line.ring[0], *to = line.ring[1];
    slr_port *last = open_port(line.device);
    must(slr_route_to_port(from, last, NULL));
    send_some(from, 3);
    wait_handled(to, 3);
    fake->lost = 1;
    __atomic_store_n(&fake->fail_at, __atomic_load_n(&fake->calls, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
    must(slr_unroute(from, to));
    assert_int_equal(to->grants.credits, 0);
    gives(slr_unroute(from, to), NOT_FOUND);
    for (uint64_t end = slri_deadline_after(LONG); slr_route(from, to, NULL) == SLR_OK; must(slr_unroute(from, to)))
        assert_false(slri_passed(end)); // its group answers for as long as nobody has asked the device for anything
    assert_int_equal(to->grants.credits, 0);
    // Its group has ended, and cannot be launched again; that may be known by now.
    bool sent = send_value(line.port, address_of(from, 0), 3, LONG) == SLR_OK;
    must(slr_ring_wait(from, SLR_RING_IN_FAILURE, LONG));
    refuses(slr_route(from, to, NULL), WRONG_STATE, "ring kernel 'first' is failed; slr_route needs it launched");
    refuses(slr_route_to_port(from, line.port, NULL), WRONG_STATE, "'first' is failed");
    slr_port_close(last);
    assert_int_equal(stats_of(from).pending, sent);
    uint64_t kept = slri_kept_bytes();
    close_all();
    assert_int_equal(fake->live != 0, slri_kept_bytes() != kept); // nobody says what has ended, so it stays
    join_fake();
    assert_int_equal(fake->wrong, 0);
}

// ---- groups that hang ----------------------------------------------------------------------------------------------

// A handler of its does not return.
static void hangs(slr_ring *ring)
{
    hang(1);
    send_some(ring, 1);
    wait_until_is(&fake->hung, 1);
}

static void change_that_no_group_answers_fails_and_takes_effect_later(void **state)
{
    (void)state;
    begin("opencl:0?ring=persistent&patience=1", 0);
    slr_ring *from = line.ring[0], *to = line.ring[1], *other = line.ring[2];
    hangs(from);
    refuses(slr_route(from, other, NULL), TIMEOUT,
            "ring kernel 'first': a handler has not returned within 1 s; its routes change when it has");
    refuses(slr_unroute(from, to), TIMEOUT, "a handler has not returned within 1 s");
    refuses(slr_unroute(from, to), NOT_FOUND, "'first' has no route to 'second'");
    refuses(slr_route(from, other, NULL), INVALID, "has a route to 'third' already");
    hang(0);
    wait_handled(to, 1); // it was in hand
    send_some(from, 10);
    wait_handled(other, 10);
    must(slr_route(from, to, NULL));
    send_some(from, 10);
    wait_handled(other, 20);
    wait_handled(to, 11);
    assert_int_equal(ends_well(from).routed, 31);
    end();
}

static void end_that_no_group_answers_fails_and_can_be_tried_again(void **state)
{
    (void)state;
    begin("opencl:0?ring=persistent&patience=1", 0);
    slr_ring *from = line.ring[0], *to = line.ring[1];
    slr_ring_stats stats;
    hangs(from);
    refuses(slr_ring_terminate(from, 0, NULL, NULL, NULL), TIMEOUT,
            "ring kernel 'first': a handler has not returned within 1 s of the deadline");
    refuses(slr_ring_terminate(to, 0, NULL, NULL, NULL), TIMEOUT,
            "ring kernel 'second': a handler that sends to it has not returned within 1 s of the deadline");
    hang(0);
    must(slr_ring_terminate(from, LONG, NULL, NULL, &stats));
    assert_int_equal(stats.handled, 1);
    must(slr_ring_terminate(to, LONG, NULL, NULL, &stats));
    check_sum(&stats);
    assert_int_equal(stats_of(from).routed + stats_of(from).unrouted, 1);
    assert_int_equal(stats.accepted, stats_of(from).routed);
    close_all();
    assert_int_equal(fake->live, 0);
    assert_int_equal(fake->wrong, 0);
}

// What the group and who watches it may touch stays, to the end of the process: there is no other test behind it.
static void all_can_be_closed_while_a_group_hangs(void **state)
{
    (void)state;
    begin("opencl:0?ring=persistent&patience=1", 0);
    hangs(line.ring[0]);
    close_all();
    assert_true(fake->live > 0);
    assert_int_equal(fake->wrong, 0);
}

static void handlers_of_the_host_are_waited_for_as_long(void **state)
{
    (void)state;
    reset();
    slr_device *device = open_device("opencl:0?patience=1");
    struct stage one = {.replies = 1, .held = 1}, two = {0};
    slr_ring *from = start_stage(device, "from", &one, 8), *to = start_stage(device, "to", &two, 8);
    must(slr_route(from, to, NULL));
    must(send_value(NULL, address_of(from, 0), 1, LONG));
    wait_until_is(&one.inside, 1);
    refuses(slr_unroute(from, to), TIMEOUT, "ring kernel 'from': a handler has not returned within 1 s; its routes");
    __atomic_store_n(&one.held, 0, __ATOMIC_RELEASE);
    wait_handled(to, 1);
    ends_well(from);
    ends_well(to);
    slr_ring_destroy(from);
    slr_ring_destroy(to);
    slr_device_close(device);
    assert_int_equal(fake->live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_a_lost_source_had_in_hand_is_passed_on_or_in_doubt, load_fake),
        cmocka_unit_test(what_a_lost_destination_had_in_hand_is_handled_or_in_doubt),
        cmocka_unit_test(routes_are_taken_away_where_every_call_fails),
        cmocka_unit_test(change_that_no_group_answers_fails_and_takes_effect_later),
        cmocka_unit_test(end_that_no_group_answers_fails_and_can_be_tried_again),
        cmocka_unit_test(handlers_of_the_host_are_waited_for_as_long),
        cmocka_unit_test(all_can_be_closed_while_a_group_hangs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
