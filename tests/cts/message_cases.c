// SPDX-License-Identifier: Apache-2.0
// Host cases of mailboxes, priorities and overflow: docs/contract/delivery.md and overflow.md.
#include "host.h"

#include <stdio.h>
#include <string.h>

// ---- mailboxes ------------------------------------------------------------------------------------------------------

static void a_call_gets_its_reply(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = cts_ring(c, "echo", &desc);
    for (int i = 0; i < 50; i++) {
        int back = 0;
        CTS_OK(c, slr_call(NULL, cts_address(c, ring, 0), &i, sizeof i, &back, sizeof back, CTS_LONG(c)));
        CTS_SAME(c, back, i);
    }
    CTS_SAME(c, cts_stats_at_rest(c, ring).handled, 50);
}

static void replies_come_in_the_order_sent(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = cts_ring(c, "echo", &desc);
    slr_port *port = cts_port(c);
    for (int i = 0; i < 500; i++)
        cts_send_int(c, port, cts_address(c, ring, 0), i, -1);
    for (int i = 0; i < 500; i++)
        CTS_SAME(c, cts_receive_int(c, port, NULL), i);
}

static void a_reply_names_what_it_answers(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = cts_ring(c, "echo", &desc);
    slr_port *port = cts_port(c);
    slr_send_options options = {.priority = SLR_PRIORITY(77), .correlation = 4711};
    slr_reply reply;
    int value = 9;
    CTS_OK(c, slr_send_with(port, cts_address(c, ring, 0), &value, sizeof value, &options, CTS_LONG(c)));
    CTS_SAME(c, cts_receive_int(c, port, &reply), 9);
    CTS_SAME(c, reply.correlation, 4711);
    CTS_SAME(c, reply.priority, 77);
    CTS_SAME(c, reply.from.instance, 0);
}

static void correlations_run_from_one(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = cts_ring(c, "echo", &desc);
    slr_port *port = cts_port(c);
    slr_reply reply;
    for (int i = 1; i <= 3; i++)
        cts_send_int(c, port, cts_address(c, ring, 0), i, -1);
    for (uint32_t i = 1; i <= 3; i++) {
        cts_receive_int(c, port, &reply);
        CTS_SAME(c, reply.correlation, i);
    }
}

static void a_batch_arrives_whole_and_in_order(cts *c)
{
    enum { COUNT = 300 };
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = cts_ring(c, "echo", &desc);
    slr_port *port = cts_port(c);
    int values[COUNT], back[COUNT];
    slr_reply replies[COUNT];
    uint32_t accepted = 0, got = 0;
    for (int i = 0; i < COUNT; i++)
        values[i] = i * 3;
    CTS_OK(c,
           slr_send_many(port, cts_address(c, ring, 0), NULL, values, sizeof *values, COUNT, CTS_LONG(c), &accepted));
    CTS_SAME(c, accepted, COUNT);
    while (got < COUNT) {
        uint32_t more = 0;
        CTS_OK(c, slr_receive_many(port, replies + got, back + got, sizeof *back, COUNT - got, CTS_LONG(c), &more));
        got += more;
    }
    for (int i = 0; i < COUNT; i++)
        CTS_SAME(c, back[i], i * 3);
}

static void a_message_may_have_several_replies(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.max_replies = 8;
    slr_ring *ring = cts_ring(c, "several", &desc);
    slr_port *port = cts_port(c);
    static const int counts[] = {3, 0, 8, 1};
    for (int i = 0; i < 4; i++)
        cts_send_int(c, port, cts_address(c, ring, 0), counts[i], -1);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < counts[i]; j++)
            CTS_SAME(c, cts_receive_int(c, port, NULL), j);
    CTS_SAME(c, cts_stats_at_rest(c, ring).replied, 12);
}

static void structs_keep_the_hosts_layout(cts *c)
{
    struct wide {
        char tag;
        long long number;
        double real;
        short list[5];
    };
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    static const slr_same same[] = {SLR_SAME(struct wide, number), SLR_SAME(struct wide, list)};
    desc.message_bytes = desc.reply_bytes = (uint32_t)sizeof(struct wide);
    desc.same = same;
    desc.same_count = 2;
    slr_ring *ring = cts_ring(c, "wide", &desc);
    struct wide in = {'x', INT64_C(1) << 40, 1.25, {1, 2, 3, 4, 500}}, out;
    CTS_OK(c, slr_call(NULL, cts_address(c, ring, 0), &in, sizeof in, &out, sizeof out, CTS_LONG(c)));
    CTS_SAME(c, out.tag, 'x');
    CTS_SAME(c, out.number, (INT64_C(1) << 40) + 500);
    CTS_TRUE(c, out.real == 2.5);
    CTS_SAME(c, out.list[4], 500);
}

static void a_wrong_size_is_refused(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = cts_ring(c, "echo", &desc);
    long long large = 0;
    CTS_GIVES(c, SLR_INVALID, slr_send(cts_port(c), cts_address(c, ring, 0), &large, sizeof large, 0));
    CTS_TRUE(c, strstr(slr_error_message(), "8") != NULL);
}

static void bindings_reach_the_handler(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    int weights[8] = {1, 2, 4, 8, 16, 32, 64, 128}, counts[8] = {0}, scale = 10, back = 0;
    slr_buffer *from = cts_buffer(c, sizeof weights), *to = cts_buffer(c, sizeof counts);
    cts_write_ints(c, from, weights, 8);
    cts_write_ints(c, to, counts, 8);
    const slr_binding bindings[] = {{.name = "weights", .buffer = from},
                                    {.name = "counts", .buffer = to},
                                    {.name = "scale", .scalar = &scale, .bytes = sizeof scale}};
    desc.bindings = bindings;
    desc.binding_count = 3;
    slr_ring *ring = cts_ring(c, "table", &desc);
    for (int i = 0; i < 12; i++) {
        CTS_OK(c, slr_call(NULL, cts_address(c, ring, 0), &i, sizeof i, &back, sizeof back, CTS_LONG(c)));
        CTS_SAME(c, back, weights[i % 8] * 10);
    }
    cts_read_ints(c, to, counts, 8);
    CTS_SAME(c, counts[3], 2);
    CTS_SAME(c, counts[7], 1);
}

static void the_host_may_change_a_bound_buffer(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    int weights[8] = {0}, one = 1, back = 0;
    slr_buffer *from = cts_buffer(c, sizeof weights);
    const slr_binding binding = {.name = "weights", .buffer = from};
    desc.bindings = &binding;
    desc.binding_count = 1;
    slr_ring *ring = cts_ring(c, "index", &desc);
    for (int i = 1; i <= 20; i++) {
        weights[1] = i * i;
        cts_write_ints(c, from, weights, 8);
        CTS_OK(c, slr_call(NULL, cts_address(c, ring, 0), &one, sizeof one, &back, sizeof back, CTS_LONG(c)));
        CTS_SAME(c, back, i * i);
    }
}

static void two_ports_get_their_own_replies(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = cts_ring(c, "echo", &desc);
    slr_port *one = cts_port(c), *two = cts_port(c);
    for (int i = 0; i < 100; i++)
        cts_send_int(c, i % 2 ? one : two, cts_address(c, ring, 0), i, -1);
    for (int i = 0; i < 100; i++)
        CTS_SAME(c, cts_receive_int(c, i % 2 ? one : two, NULL), i);
}

enum { ROUND = 32, WORDS = 8 };

// Messages of two ports or more, one after the other. The word k of the n-th is WORDS * n + k.
static void send_in_turn(cts *c, slr_port *const *port, int ports, slr_address to, int first)
{
    for (int i = 0; i < ROUND; i++) {
        int message[WORDS];
        for (int k = 0; k < WORDS; k++)
            message[k] = (first + i) * WORDS + k;
        CTS_OK(c, slr_send(port[i % ports], to, message, sizeof message, CTS_LONG(c)));
    }
}

static void receive_in_turn(cts *c, slr_port *const *port, int ports, int first)
{
    for (int i = 0; i < ROUND; i++)
        CTS_SAME(c, cts_receive_int(c, port[i % ports], NULL), (first + i) * WORDS);
}

// So messages gather in all lanes, and what comes first in a lane says nothing of what lies behind it.
static void messages_of_ports_in_turn_arrive_whole(cts *c)
{
    enum { ROUNDS = 8, PORTS = 4 };
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_port *port[PORTS];
    desc.queue_size = ROUND; // few slots, which are used again
    slr_ring *ring = cts_ring(c, "whole", &desc);
    for (int p = 0; p < PORTS; p++)
        port[p] = cts_port(c);
    for (int round = 0; round < ROUNDS; round++) {
        send_in_turn(c, port, PORTS, cts_address(c, ring, 0), round * ROUND);
        receive_in_turn(c, port, PORTS, round * ROUND);
    }
}

// Nobody reads until there are as many replies as there are places for, and as many messages wait for places. That the
// replies have been read is all that tells the owner that it may go on.
static void replies_that_are_read_make_room(cts *c)
{
    enum { TIMES = 3, PORTS = 2 };
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.queue_size = ROUND;
    slr_ring *ring = cts_ring(c, "whole", &desc);
    slr_port *port[PORTS] = {cts_port(c), cts_port(c)};
    for (int round = 0; round < TIMES * (PORTS + 1); round += PORTS + 1) {
        for (int i = 0; i <= PORTS; i++) {
            send_in_turn(c, port, PORTS, cts_address(c, ring, 0), (round + i) * ROUND);
            if (i < PORTS)
                cts_stats_at_rest(c, ring);
        }
        for (int i = 0; i <= PORTS; i++)
            receive_in_turn(c, port, PORTS, (round + i) * ROUND);
    }
}

static void messages_wait_for_activation(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = cts_ring_launched(c, "echo", &desc);
    slr_port *port = cts_port(c);
    slr_reply reply;
    int value = 0;
    cts_send_int(c, port, cts_address(c, ring, 0), 5, -1);
    CTS_GIVES(c, SLR_TIMEOUT, slr_receive(port, &reply, &value, sizeof value, CTS_SECOND / 200));
    CTS_SAME(c, cts_stats(c, ring).pending, 1);
    CTS_OK(c, slr_ring_activate(ring, CTS_LONG(c)));
    CTS_SAME(c, cts_receive_int(c, port, NULL), 5);
}

// More ports than a word has bits: what gathers before the start by priority, then what comes, then one message at a
// time.
static void forty_ports(cts *c)
{
    enum { PORTS = 40 };
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = cts_ring_launched(c, "echo", &desc);
    slr_port *port[PORTS];
    for (int i = 0; i < PORTS; i++) {
        port[i] = cts_port(c);
        cts_send_int(c, port[i], cts_address(c, ring, 0), i, 100 + i % 3);
    }
    CTS_OK(c, slr_ring_activate(ring, CTS_LONG(c)));
    for (int i = 0; i < PORTS; i++)
        CTS_SAME(c, cts_receive_int(c, port[i], NULL), i);
    for (int i = 0; i < PORTS; i++)
        cts_send_int(c, port[i], cts_address(c, ring, 0), 100 + i, -1);
    for (int i = 0; i < PORTS; i++)
        CTS_SAME(c, cts_receive_int(c, port[i], NULL), 100 + i);
    CTS_SAME(c, cts_stats_at_rest(c, ring).handled, 2 * PORTS);
    for (int i = PORTS - 8; i < PORTS; i++) {
        cts_send_int(c, port[i], cts_address(c, ring, 0), i, -1);
        CTS_SAME(c, cts_receive_int(c, port[i], NULL), i);
    }
}

static void a_pause_holds_messages_back(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = cts_ring(c, "echo", &desc);
    slr_port *port = cts_port(c);
    slr_reply reply;
    int value = 0;
    CTS_OK(c, slr_ring_deactivate(ring, CTS_LONG(c)));
    for (int i = 0; i < 10; i++)
        cts_send_int(c, port, cts_address(c, ring, 0), i, -1);
    CTS_GIVES(c, SLR_TIMEOUT, slr_receive(port, &reply, &value, sizeof value, CTS_SECOND / 200));
    CTS_OK(c, slr_ring_reactivate(ring, CTS_LONG(c)));
    for (int i = 0; i < 10; i++)
        CTS_SAME(c, cts_receive_int(c, port, NULL), i);
}

static void closing_the_input_drains_and_ends(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = cts_ring(c, "echo", &desc);
    slr_port *port = cts_port(c);
    slr_reply reply;
    int value = 1;
    for (int i = 0; i < 40; i++)
        cts_send_int(c, port, cts_address(c, ring, 0), i, -1);
    CTS_OK(c, slr_ring_close_input(ring));
    slr_status late = slr_send(port, cts_address(c, ring, 0), &value, sizeof value, 0);
    CTS_TRUE(c, late == SLR_CLOSED || late == SLR_RING_DEAD);
    for (int i = 0; i < 40; i++)
        CTS_SAME(c, cts_receive_int(c, port, NULL), i);
    CTS_GIVES(c, SLR_END, slr_receive(port, &reply, &value, sizeof value, CTS_LONG(c)));
    CTS_OK(c, slr_ring_wait(ring, SLR_RING_TERMINATED, CTS_LONG(c)));
    cts_check_sum(c, ring);
}

typedef struct handed {
    int count, sum;
} handed;

static void note_undelivered(void *user, const slr_undelivered *undelivered)
{
    handed *h = user;
    int value = 0;
    memcpy(&value, undelivered->message, sizeof value);
    h->count++;
    h->sum += value;
}

static void terminate_hands_back_what_was_not_handled(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = cts_ring(c, "echo", &desc);
    slr_port *port = cts_port(c);
    slr_ring_stats stats;
    handed h = {0};
    CTS_OK(c, slr_ring_deactivate(ring, CTS_LONG(c)));
    for (int i = 1; i <= 10; i++)
        cts_send_int(c, port, cts_address(c, ring, 0), i, -1);
    CTS_OK(c, slr_ring_terminate(ring, 0, note_undelivered, &h, &stats));
    CTS_SAME(c, stats.handled + stats.undelivered, 10);
    CTS_SAME(c, h.count, stats.undelivered);
    CTS_SAME(c, stats.pending, 0);
    cts_check_sum(c, ring);
}

static void a_stale_address_is_refused(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = cts_ring(c, "echo", &desc);
    slr_port *port = cts_port(c);
    slr_address to = cts_address(c, ring, 0);
    int value = 1;
    to.generation++;
    CTS_GIVES(c, SLR_RING_DEAD, slr_send(port, to, &value, sizeof value, 0));
}

static void a_call_gives_up_at_its_deadline(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = cts_ring(c, "echo", &desc);
    slr_port *port = cts_port(c);
    int value = 1, back = 0;
    CTS_OK(c, slr_ring_deactivate(ring, CTS_LONG(c)));
    CTS_GIVES(c, SLR_TIMEOUT,
              slr_call(port, cts_address(c, ring, 0), &value, sizeof value, &back, sizeof back, CTS_SECOND / 200));
    CTS_OK(c, slr_ring_reactivate(ring, CTS_LONG(c)));
    value = 2; // the late reply to 1 is not taken for this one's
    CTS_OK(c, slr_call(port, cts_address(c, ring, 0), &value, sizeof value, &back, sizeof back, CTS_LONG(c)));
    CTS_SAME(c, back, 2);
}

static void names_find_ring_kernels(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "the one";
    slr_ring *ring = cts_ring(c, "echo", &desc);
    slr_address found, own = cts_address(c, ring, 0);
    CTS_OK(c, slr_ring_find(c->device, "the one", &found));
    CTS_SAME(c, memcmp(&found, &own, sizeof own), 0);
    CTS_GIVES(c, SLR_NOT_FOUND, slr_ring_find(c->device, "another", &found));
}

static void stamps_come_back(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.time_stamps = 1;
    slr_ring *ring = cts_ring(c, "echo", &desc);
    slr_port *port = cts_port(c);
    slr_reply reply;
    uint64_t before = cts_now_ns();
    cts_send_int(c, port, cts_address(c, ring, 0), 1, -1);
    cts_receive_int(c, port, &reply);
    CTS_TRUE(c, reply.sent_ns >= before && reply.sent_ns <= cts_now_ns());
}

// A device with a clock of its own times no message before the two clocks have been compared, and none where the host
// cannot read it.
static void the_latency_of_messages_is_measured(cts *c)
{
    enum { COUNT = 100 };
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_latency before, latency = {0};
    uint64_t end = cts_now_ns() + CTS_LONG(c);
    desc.latency_every = 1;
    slr_ring *ring = cts_ring(c, "echo", &desc);
    slr_port *port = cts_port(c);
    CTS_OK(c, slr_ring_get_latency(ring, &latency));
    if (latency.every == 0)
        return;
    do {
        before = latency;
        for (int i = 0; i < COUNT; i++)
            cts_send_int(c, port, cts_address(c, ring, 0), i, -1);
        for (int i = 0; i < COUNT; i++)
            CTS_SAME(c, cts_receive_int(c, port, NULL), i);
        cts_stats_at_rest(c, ring);
        CTS_OK(c, slr_ring_get_latency(ring, &latency));
        if (cts_now_ns() > end)
            cts_leave(c, CTS_HUNG, "%llu messages were timed", (unsigned long long)latency.count);
    } while (latency.count - before.count < COUNT / 2);
    CTS_TRUE(c, latency.count <= cts_stats(c, ring).handled);
    CTS_TRUE(c, latency.min_ns <= latency.mean_ns && latency.mean_ns <= latency.max_ns);
}

// ---- priority -------------------------------------------------------------------------------------------------------

// Sends values at priorities to a paused ring kernel and lets it go; the values as handled must be these.
static void check_order(cts *c, const int (*sent)[2], int count, const int *wanted)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = cts_ring_launched(c, "echo", &desc);
    slr_port *port = cts_port(c);
    for (int i = 0; i < count; i++)
        cts_send_int(c, port, cts_address(c, ring, 0), sent[i][0], sent[i][1]);
    CTS_OK(c, slr_ring_activate(ring, CTS_LONG(c)));
    for (int i = 0; i < count; i++)
        CTS_SAME(c, cts_receive_int(c, port, NULL), wanted[i]);
}

static void the_highest_goes_first_then_as_sent(cts *c)
{
    static const int sent[][2] = {{1, 100}, {2, 200}, {3, 100}, {4, 150}}, wanted[] = {2, 4, 1, 3};
    check_order(c, sent, 4, wanted);
}

static void both_ends_of_the_scale(cts *c)
{
    static const int sent[][2] = {{1, 0}, {2, 255}, {3, 1}, {4, 254}, {5, 0}, {6, 255}}, wanted[] = {2, 6, 4, 3, 1, 5};
    check_order(c, sent, 6, wanted);
}

static void the_default_is_128(cts *c)
{
    static const int sent[][2] = {{1, 127}, {2, -1}, {3, 129}, {4, 128}}, wanted[] = {3, 2, 4, 1};
    check_order(c, sent, 4, wanted);
}

static void neighbouring_priorities_are_told_apart(cts *c)
{
    int sent[64][2], wanted[64];
    for (int i = 0; i < 64; i++) {
        sent[i][0] = (i * 29) % 64; // a permutation
        sent[i][1] = 20 + sent[i][0];
        wanted[i] = 63 - i;
    }
    check_order(c, (const int(*)[2])sent, 64, wanted);
}

static void a_ring_kernel_has_a_default_of_its_own(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.priority = SLR_PRIORITY(0);
    slr_ring *ring = cts_ring_launched(c, "echo", &desc);
    slr_port *port = cts_port(c);
    slr_reply reply;
    cts_send_int(c, port, cts_address(c, ring, 0), 1, -1);
    cts_send_int(c, port, cts_address(c, ring, 0), 2, 1);
    CTS_OK(c, slr_ring_activate(ring, CTS_LONG(c)));
    CTS_SAME(c, cts_receive_int(c, port, NULL), 2);
    CTS_SAME(c, cts_receive_int(c, port, &reply), 1);
    CTS_SAME(c, reply.priority, 0);
}

// ---- overflow -------------------------------------------------------------------------------------------------------

static slr_ring *small_mailbox(cts *c, slr_overflow overflow, uint32_t size, uint32_t letters)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.overflow = overflow;
    desc.queue_size = size;
    desc.dead_letters = letters;
    return cts_ring_launched(c, "echo", &desc);
}

static void reject_refuses_at_once(cts *c)
{
    slr_ring *ring = small_mailbox(c, SLR_OVERFLOW_REJECT, 3, 0);
    slr_port *port = cts_port(c);
    int value = 9;
    for (int i = 0; i < 3; i++)
        cts_send_int(c, port, cts_address(c, ring, 0), i, -1);
    CTS_GIVES(c, SLR_FULL, slr_send(port, cts_address(c, ring, 0), &value, sizeof value, CTS_LONG(c)));
    CTS_OK(c, slr_ring_activate(ring, CTS_LONG(c)));
    for (int i = 0; i < 3; i++)
        CTS_SAME(c, cts_receive_int(c, port, NULL), i);
    CTS_SAME(c, cts_stats(c, ring).refused, 1);
    cts_check_sum(c, ring);
}

static void block_waits_until_the_deadline(cts *c)
{
    slr_ring *ring = small_mailbox(c, SLR_OVERFLOW_BLOCK, 2, 0);
    slr_port *port = cts_port(c);
    int value = 9;
    cts_send_int(c, port, cts_address(c, ring, 0), 1, -1);
    cts_send_int(c, port, cts_address(c, ring, 0), 2, -1);
    CTS_GIVES(c, SLR_FULL, slr_send(port, cts_address(c, ring, 0), &value, sizeof value, 0));
    CTS_GIVES(c, SLR_TIMEOUT, slr_send(port, cts_address(c, ring, 0), &value, sizeof value, CTS_SECOND / 200));
    CTS_OK(c, slr_ring_activate(ring, CTS_LONG(c)));
    CTS_OK(c, slr_send(port, cts_address(c, ring, 0), &value, sizeof value, CTS_LONG(c)));
    CTS_SAME(c, cts_receive_int(c, port, NULL), 1);
}

static void capacity_of_an_odd_size_is_exact(cts *c)
{
    slr_ring *ring = small_mailbox(c, SLR_OVERFLOW_REJECT, 37, 0);
    slr_port *one = cts_port(c), *two = cts_port(c);
    int value = 0, accepted = 0;
    for (; accepted < 100; accepted++)
        if (slr_send(accepted % 2 ? one : two, cts_address(c, ring, 0), &value, sizeof value, 0) != SLR_OK)
            break;
    CTS_SAME(c, accepted, 37);
}

// What is left of a full mailbox once its owner has looked.
static void check_drops(cts *c, slr_overflow overflow, slr_dead_letter_reason reason, const int (*sent)[2], int count,
                        const int *kept, int dropped)
{
    slr_ring *ring = small_mailbox(c, overflow, 2, 16);
    slr_port *port = cts_port(c);
    int values[16] = {0}, seen = 0;
    slr_dead_letter letters[16];
    uint32_t taken = 0;
    for (int i = 0; i < count; i++)
        cts_send_int(c, port, cts_address(c, ring, 0), sent[i][0], sent[i][1]);
    CTS_OK(c, slr_ring_activate(ring, CTS_LONG(c)));
    for (int i = 0; i < count; i++) { // notices of what was dropped among the replies
        slr_reply reply;
        int value = 0;
        CTS_OK(c, slr_receive(port, &reply, &value, sizeof value, CTS_LONG(c)));
        if (reply.status == SLR_OK)
            CTS_SAME(c, value, kept[seen++]);
        else
            CTS_SAME(c, reply.status, SLR_DROPPED);
    }
    CTS_SAME(c, seen, 2);
    CTS_OK(c, slr_ring_take_dead_letters(ring, letters, values, sizeof *values, 16, &taken));
    CTS_SAME(c, taken, count - 2);
    CTS_SAME(c, values[0], dropped);
    CTS_SAME(c, letters[0].reason, reason);
    CTS_SAME(c, cts_stats(c, ring).dropped, count - 2);
    cts_check_sum(c, ring);
}

static void drop_oldest_keeps_the_newest(cts *c)
{
    static const int sent[][2] = {{1, 255}, {2, 1}, {3, 3}}, kept[] = {3, 2};
    check_drops(c, SLR_OVERFLOW_DROP_OLDEST, SLR_DEAD_LETTER_DROPPED_OLDEST, sent, 3, kept, 1);
}

static void drop_lowest_keeps_the_highest(cts *c)
{
    static const int sent[][2] = {{1, 255}, {2, 1}, {3, 3}}, kept[] = {1, 3};
    check_drops(c, SLR_OVERFLOW_DROP_LOWEST, SLR_DEAD_LETTER_DROPPED_LOWEST, sent, 3, kept, 2);
}

static void drop_lowest_may_drop_the_new_one(cts *c)
{
    static const int sent[][2] = {{1, 9}, {2, 8}, {3, 3}}, kept[] = {1, 2};
    check_drops(c, SLR_OVERFLOW_DROP_LOWEST, SLR_DEAD_LETTER_DROPPED_LOWEST, sent, 3, kept, 3);
}

static void a_dropped_call_says_so(cts *c)
{
    slr_ring *ring = small_mailbox(c, SLR_OVERFLOW_DROP_OLDEST, 1, 0);
    slr_port *port = cts_port(c);
    int value = 1;
    slr_reply reply;
    cts_send_int(c, port, cts_address(c, ring, 0), 1, -1);
    cts_send_int(c, port, cts_address(c, ring, 0), 2, -1);
    CTS_OK(c, slr_receive(port, &reply, &value, sizeof value, CTS_LONG(c)));
    CTS_SAME(c, reply.status, SLR_DROPPED);
    CTS_SAME(c, reply.correlation, 1);
    CTS_SAME(c, reply.bytes, 0);
}

// clang-format off
const cts_case cts_message_cases[] = {
    CTS_HOST("mailboxes", a_call_gets_its_reply),
    CTS_HOST("mailboxes", replies_come_in_the_order_sent),
    CTS_HOST("mailboxes", a_reply_names_what_it_answers),
    CTS_HOST("mailboxes", correlations_run_from_one),
    CTS_HOST("mailboxes", a_batch_arrives_whole_and_in_order),
    CTS_HOST("mailboxes", a_message_may_have_several_replies),
    CTS_HOST("mailboxes", structs_keep_the_hosts_layout),
    CTS_HOST("mailboxes", a_wrong_size_is_refused),
    CTS_HOST("mailboxes", bindings_reach_the_handler),
    CTS_HOST("mailboxes", the_host_may_change_a_bound_buffer),
    CTS_HOST("mailboxes", two_ports_get_their_own_replies),
    CTS_HOST("mailboxes", messages_of_ports_in_turn_arrive_whole),
    CTS_HOST("mailboxes", replies_that_are_read_make_room),
    CTS_HOST("mailboxes", messages_wait_for_activation),
    CTS_HOST("mailboxes", forty_ports),
    CTS_HOST("mailboxes", a_pause_holds_messages_back),
    CTS_HOST("mailboxes", closing_the_input_drains_and_ends),
    CTS_HOST("mailboxes", terminate_hands_back_what_was_not_handled),
    CTS_HOST("mailboxes", a_stale_address_is_refused),
    CTS_HOST("mailboxes", a_call_gives_up_at_its_deadline),
    CTS_HOST("mailboxes", names_find_ring_kernels),
    CTS_HOST("mailboxes", stamps_come_back),
    CTS_HOST("mailboxes", the_latency_of_messages_is_measured),
    CTS_HOST("priority", the_highest_goes_first_then_as_sent),
    CTS_HOST("priority", both_ends_of_the_scale),
    CTS_HOST("priority", the_default_is_128),
    CTS_HOST("priority", neighbouring_priorities_are_told_apart),
    CTS_HOST("priority", a_ring_kernel_has_a_default_of_its_own),
    CTS_HOST("overflow", reject_refuses_at_once),
    CTS_HOST("overflow", block_waits_until_the_deadline),
    CTS_HOST("overflow", capacity_of_an_odd_size_is_exact),
    CTS_HOST("overflow", drop_oldest_keeps_the_newest),
    CTS_HOST("overflow", drop_lowest_keeps_the_highest),
    CTS_HOST("overflow", drop_lowest_may_drop_the_new_one),
    CTS_HOST("overflow", a_dropped_call_says_so),
};
// clang-format on
const size_t cts_message_case_count = sizeof cts_message_cases / sizeof *cts_message_cases;
