// SPDX-License-Identifier: Apache-2.0
// Host cases of __ring_batch__ handlers together with keys, states, dead letters, priorities, routes and little room.
#include "host.h"

#include <string.h>

enum { MESSAGES = 120, KEYS = 24, INSTANCES = 5 };

struct place { // a reply of "batch_sum"
    int sum, at, of, calls;
};

struct total { // its state
    int sum, calls;
};

static struct place receive_sum(cts *c, slr_port *port, slr_reply *reply)
{
    struct place place = {0};
    CTS_OK(c, slr_receive(port, reply, &place, sizeof place, CTS_LONG(c)));
    CTS_SAME(c, reply->status, SLR_OK);
    return place;
}

// ---- keys -----------------------------------------------------------------------------------------------------------

static int key_at(int message)
{
    return message / 3 * 7 % KEYS;
}

// Message i has the value i + 1. What is evicted was idle: no key meets the state of another.
static void keys_are_evicted_between_calls(cts *c)
{
    struct place place[MESSAGES] = {{0}};
    int sum[KEYS] = {0}, begun = 0;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.keys = SLR_KEYS_U64;
    desc.key_limit = SLR_KEY_LIMIT_EVICT_IDLE;
    desc.instances = INSTANCES;
    desc.max_batch = 8;
    slr_port *port = cts_port(c);
    slr_ring *ring = cts_ring(c, "batch_sum", &desc);
    for (int i = 0; i < MESSAGES; i++) {
        const int value = i + 1;
        const slr_send_options options = {.correlation = (uint32_t)value};
        CTS_OK(c, slr_send_key(port, cts_address(c, ring, 0), slr_key_u64((uint64_t)key_at(i)), &value, sizeof value,
                               &options, CTS_COMPILED(c)));
    }
    for (int i = 0; i < MESSAGES; i++) { // those of several instances come in any order
        slr_reply reply;
        struct place got = receive_sum(c, port, &reply);
        CTS_TRUE(c, reply.correlation >= 1 && reply.correlation <= MESSAGES);
        place[reply.correlation - 1] = got;
    }
    for (int i = 0; i < MESSAGES; i++) {
        int *before = &sum[key_at(i)];
        bool begins = place[i].sum == i + 1;
        CTS_TRUE(c, begins || place[i].sum == *before + i + 1);
        *before = place[i].sum;
        begun += begins;
    }
    const slr_ring_stats stats = cts_stats_at_rest(c, ring);
    CTS_SAME(c, stats.handled, MESSAGES);
    CTS_SAME(c, stats.keys, INSTANCES);
    CTS_SAME(c, stats.evicted + INSTANCES, begun);
    CTS_TRUE(c, stats.evicted != 0);
}

// ---- states ---------------------------------------------------------------------------------------------------------

static struct total snapshot(cts *c, slr_ring *ring)
{
    struct total total;
    CTS_OK(c, slr_ring_snapshot(ring, 0, &total, sizeof total, CTS_LONG(c)));
    return total;
}

static void states_are_read_and_written_between_calls(cts *c)
{
    struct total total = {1000, 7};
    slr_reply reply;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.max_batch = 6;
    slr_port *port = cts_port(c);
    slr_ring *ring = cts_ring_launched(c, "batch_sum", &desc);
    for (int i = 1; i <= 10; i++)
        cts_send_int(c, port, cts_address(c, ring, 0), i, -1);
    CTS_SAME(c, snapshot(c, ring).sum, 0);
    CTS_OK(c, slr_ring_restore(ring, 0, &total, sizeof total, CTS_LONG(c)));
    CTS_OK(c, slr_ring_activate(ring, CTS_COMPILED(c)));
    for (int i = 1; i <= 10; i++)
        CTS_SAME(c, receive_sum(c, port, &reply).sum, 1000 + i * (i + 1) / 2);
    CTS_SAME(c, cts_stats_at_rest(c, ring).handled, 10);
    total = snapshot(c, ring);
    CTS_SAME(c, total.sum, 1055);
    CTS_SAME(c, total.calls, 7 + 2);
    total = (struct total){5, 0};
    CTS_OK(c, slr_ring_restore(ring, 0, &total, sizeof total, CTS_LONG(c)));
    cts_send_int(c, port, cts_address(c, ring, 0), 1, -1);
    CTS_SAME(c, receive_sum(c, port, &reply).sum, 6);
    CTS_SAME(c, snapshot(c, ring).calls, 1);
}

// ---- dead letters ---------------------------------------------------------------------------------------------------

// Of three calls of four messages the second faults, at its second message.
static void messages_of_a_call_that_faults_are_dead_letters(cts *c)
{
    static const int value[] = {1, 2, 3, 4, 5, 0, 7, 8, 9, 10, 11, 12};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.max_batch = 4;
    desc.dead_letters = 16;
    slr_port *port = cts_port(c);
    slr_ring *ring = cts_ring_launched(c, "batch_faults", &desc);
    for (int i = 0; i < 12; i++)
        cts_send_int(c, port, cts_address(c, ring, 0), value[i], 17);
    CTS_OK(c, slr_ring_activate(ring, CTS_COMPILED(c)));
    for (int i = 0, sum = 0; i < 12; i++) {
        const bool dies = i / 4 == 1;
        slr_reply reply;
        int back = 0;
        CTS_OK(c, slr_receive(port, &reply, &back, sizeof back, CTS_LONG(c)));
        CTS_SAME(c, reply.status, dies ? SLR_HANDLER_FAULT : SLR_OK);
        CTS_SAME(c, reply.correlation, i + 1);
        sum = dies ? 0 : sum + 100 / value[i]; // the third call finds the initial state
        CTS_SAME(c, back, sum);
    }
    const slr_ring_stats stats = cts_stats_at_rest(c, ring);
    slr_dead_letter letter[16];
    int message[16] = {0};
    uint32_t taken = 0;
    CTS_SAME(c, stats.faulted, 4);
    CTS_SAME(c, stats.handled, 8);
    CTS_OK(c, slr_ring_take_dead_letters(ring, letter, message, sizeof message[0], 16, &taken));
    CTS_SAME(c, taken, 4);
    for (uint32_t i = 0; i < taken; i++) {
        CTS_SAME(c, letter[i].reason, SLR_DEAD_LETTER_FAULTED);
        CTS_SAME(c, message[i], value[4 + i]);
        CTS_SAME(c, letter[i].correlation, 5 + i);
        CTS_SAME(c, letter[i].priority, 17);
    }
    CTS_SAME(c, stats.dead_letters_lost, 0);
    cts_check_sum(c, ring);
}

// ---- priorities -----------------------------------------------------------------------------------------------------

static void calls_get_the_highest_priority_first(cts *c)
{
    static const int level[] = {10, 200, 50};
    enum { EACH = 9, LEVELS = 3 };
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.max_batch = 5;
    slr_port *port = cts_port(c);
    slr_ring *ring = cts_ring_launched(c, "batch_sum", &desc);
    for (int i = 0; i < EACH * LEVELS; i++)
        cts_send_int(c, port, cts_address(c, ring, 0), i + 1, level[i % LEVELS]);
    CTS_OK(c, slr_ring_activate(ring, CTS_COMPILED(c)));
    static const int order[] = {1, 2, 0}; // of the levels
    int sum = 0;
    for (int i = 0; i < EACH * LEVELS; i++) {
        slr_reply reply;
        const int of = order[i / EACH], message = i % EACH * LEVELS + of;
        sum += message + 1;
        CTS_SAME(c, receive_sum(c, port, &reply).sum, sum);
        CTS_SAME(c, reply.priority, level[of]);
        CTS_SAME(c, reply.correlation, message + 1);
    }
    cts_check_sum(c, ring);
}

// ---- little room ----------------------------------------------------------------------------------------------------

static void await_handled(cts *c, slr_ring *ring, uint64_t handled)
{
    const uint64_t end = cts_now_ns() + CTS_LONG(c);
    while (cts_stats(c, ring).handled != handled && cts_now_ns() < end)
        ;
    CTS_SAME(c, cts_stats(c, ring).handled, handled);
}

// There is room for 16 replies that nobody has received, and each message may have two.
static void a_call_has_no_more_messages_than_there_is_room_for_replies(cts *c)
{
    static const int of[] = {8, 4, 2, 1, 1};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.queue_size = 16;
    desc.max_replies = 2;
    desc.max_batch = 100;
    slr_port *port = cts_port(c);
    slr_ring *ring = cts_ring_launched(c, "batch_sum", &desc);
    for (int i = 1; i <= 16; i++)
        cts_send_int(c, port, cts_address(c, ring, 0), i, -1);
    CTS_OK(c, slr_ring_activate(ring, CTS_COMPILED(c)));
    await_handled(c, ring, 15);
    for (int i = 0, call = 0, at = 0; i < 16; i++) {
        slr_reply reply;
        const struct place place = receive_sum(c, port, &reply);
        CTS_SAME(c, place.sum, (i + 1) * (i + 2) / 2);
        CTS_SAME(c, place.of, of[call]);
        CTS_SAME(c, place.at, at);
        CTS_SAME(c, place.calls, call + 1);
        at = at + 1 == of[call] ? 0 : at + 1;
        call += at == 0;
    }
    cts_check_sum(c, ring);
}

static void a_route_may_have_room_for_less_than_a_batch(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT, next = SLR_RING_DESC_INIT;
    slr_reply reply;
    desc.max_batch = 64;
    next.queue_size = 4;
    slr_port *port = cts_port(c), *collects = cts_port(c);
    slr_ring *from = cts_ring_launched(c, "batch_pass", &desc), *to = cts_ring(c, "batch_sum", &next);
    CTS_OK(c, slr_route(from, to, NULL));
    CTS_OK(c, slr_route_to_port(to, collects, NULL));
    for (int i = 1; i <= 60; i++)
        cts_send_int(c, port, cts_address(c, from, 0), i, -1);
    CTS_OK(c, slr_ring_activate(from, CTS_COMPILED(c)));
    for (int i = 1; i <= 60; i++) {
        const struct place place = receive_sum(c, collects, &reply);
        CTS_SAME(c, place.sum, i * (i + 1) / 2);
        CTS_TRUE(c, place.of <= 4);
    }
    CTS_SAME(c, cts_stats_at_rest(c, from).handled, 60);
    CTS_SAME(c, cts_stats_at_rest(c, to).handled, 60);
}

// clang-format off
const cts_case cts_batch_with_cases[] = {
    CTS_HOST("batches", keys_are_evicted_between_calls),
    CTS_HOST("batches", states_are_read_and_written_between_calls),
    CTS_HOST("batches", messages_of_a_call_that_faults_are_dead_letters),
    CTS_HOST("batches", calls_get_the_highest_priority_first),
    CTS_HOST("batches", a_call_has_no_more_messages_than_there_is_room_for_replies),
    CTS_HOST("batches", a_route_may_have_room_for_less_than_a_batch),
};
// clang-format on
const size_t cts_batch_with_case_count = sizeof cts_batch_with_cases / sizeof *cts_batch_with_cases;
