// SPDX-License-Identifier: Apache-2.0
// Host cases of __ring_batch__ handlers: docs/contract/kernels.md.
#include "host.h"

#include <string.h>

enum { MOST = 100, MESSAGES = 250, INSTANCES = 5 };

struct place { // of a message in its call
    int sum, at, of, calls;
};

static struct place receive_place(cts *c, slr_port *port, slr_reply *reply)
{
    struct place place = {0};
    CTS_OK(c, slr_receive(port, reply, &place, sizeof place, CTS_LONG(c)));
    CTS_SAME(c, reply->status, SLR_OK);
    CTS_SAME(c, reply->bytes, sizeof place);
    return place;
}

// Sends while the ring kernel is paused: message i is i + 1, for instance i % instances.
static slr_ring *gather(cts *c, slr_port *port, const char *handler, slr_ring_desc *desc, int messages)
{
    slr_ring *ring = cts_ring_launched(c, handler, desc);
    const uint32_t instances = desc->instances ? desc->instances : 1;
    for (int i = 0; i < messages; i++)
        cts_send_int(c, port, cts_address(c, ring, (uint32_t)i % instances), i + 1, -1);
    CTS_OK(c, slr_ring_activate(ring, CTS_COMPILED(c)));
    return ring;
}

// The places of an instance's messages follow each other from call to call, and so do its sums. Gives how many calls it
// has had when the last of `messages` replies is there.
struct follow {
    int sum, at, of, calls;
};

static void follow_reply(cts *c, struct follow *f, const struct place *place, int value)
{
    bool begins = f->at + 1 >= f->of;
    f->sum += value;
    CTS_SAME(c, place->sum, f->sum);
    CTS_SAME(c, place->at, begins ? 0 : f->at + 1);
    CTS_SAME(c, place->calls, begins ? f->calls + 1 : f->calls);
    CTS_TRUE(c, place->of >= 1 && place->of <= MOST && (begins || place->of == f->of));
    *f = (struct follow){f->sum, place->at, place->of, place->calls};
}

static void a_call_gets_the_messages_that_wait(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.max_batch = MOST;
    slr_port *port = cts_port(c);
    slr_ring *ring = gather(c, port, "batch_sum", &desc, MESSAGES);
    struct follow f = {0};
    slr_reply reply;
    int most = 0;
    for (int i = 0; i < MESSAGES; i++) {
        struct place place = receive_place(c, port, &reply);
        follow_reply(c, &f, &place, i + 1);
        most = place.of > most ? place.of : most;
    }
    const slr_ring_stats stats = cts_stats_at_rest(c, ring);
    CTS_SAME(c, f.at + 1, f.of);
    CTS_SAME(c, stats.handled, MESSAGES);
    CTS_TRUE(c, most > 1);
    if (stats.mode != SLR_RING_PERSISTENT) {
        CTS_SAME(c, most, MOST);
        CTS_SAME(c, f.calls, 3);
    }
    cts_check_sum(c, ring);
}

static void a_call_has_the_messages_of_one_instance(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.max_batch = MOST;
    desc.instances = INSTANCES;
    slr_port *port = cts_port(c);
    slr_ring *ring = gather(c, port, "batch_sum", &desc, MESSAGES);
    struct follow f[INSTANCES] = {0};
    int count[INSTANCES] = {0};
    slr_reply reply;
    for (int i = 0; i < MESSAGES; i++) {
        struct place place = receive_place(c, port, &reply);
        uint32_t of = reply.from.instance;
        CTS_TRUE(c, of < INSTANCES);
        follow_reply(c, &f[of], &place, count[of]++ * INSTANCES + (int)of + 1);
    }
    for (int i = 0; i < INSTANCES; i++) {
        CTS_SAME(c, count[i], MESSAGES / INSTANCES);
        CTS_SAME(c, f[i].at + 1, f[i].of);
    }
    cts_check_sum(c, ring);
}

static void messages_are_read_and_answered_in_any_order(cts *c)
{
    static const int table[] = {10, 20, 30, 40};
    const int add = 5;
    slr_buffer *buffer = cts_buffer(c, sizeof table);
    const slr_binding binding[] = {{.name = "table", .buffer = buffer},
                                   {.name = "add", .scalar = &add, .bytes = sizeof add}};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_port *port = cts_port(c);
    cts_write_ints(c, buffer, table, 4);
    desc.bindings = binding;
    desc.binding_count = 2;
    desc.max_batch = 4;
    gather(c, port, "batch_backwards", &desc, 8);
    for (int i = 0; i < 8; i++) { // replies come sorted by message
        int value = cts_receive_int(c, port, NULL), of = i + 1, rest = value - of * 1000 - of / 2 - add;
        CTS_TRUE(c, rest % 10 == 0 && rest >= 10 && rest <= 40);
    }
}

static void a_fault_fails_the_messages_of_its_call(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.instances = 2;
    desc.max_batch = 8;
    slr_port *port = cts_port(c);
    slr_ring *ring = cts_ring_launched(c, "batch_faults", &desc);
    static const int value[] = {1, 10, 50, 0, 20, 4}; // of instance 0 and 1 in turn
    for (int i = 0; i < 6; i++)
        cts_send_int(c, port, cts_address(c, ring, (uint32_t)i % 2), value[i], -1);
    CTS_OK(c, slr_ring_activate(ring, CTS_COMPILED(c)));
    int sums = 0, faults = 0;
    for (int i = 0; i < 6; i++) {
        slr_reply reply;
        int sum = 0;
        CTS_OK(c, slr_receive(port, &reply, &sum, sizeof sum, CTS_LONG(c)));
        faults += reply.status == SLR_HANDLER_FAULT && reply.from.instance == 1;
        sums += reply.status == SLR_OK && reply.from.instance == 0 ? sum : 0;
    }
    const slr_ring_stats stats = cts_stats_at_rest(c, ring);
    const bool persistent = stats.mode == SLR_RING_PERSISTENT; // where a call has neighbours alone
    CTS_SAME(c, sums, 100 + 102 + 107);
    if (!persistent)
        CTS_SAME(c, faults, 3);
    CTS_TRUE(c, faults >= 1);
    CTS_SAME(c, stats.faulted, faults);
    CTS_TRUE(c, strstr(stats.last_fault, "division by zero") != NULL);
    CTS_TRUE(c, strstr(stats.last_fault, ":7: instance 1: ") != NULL);
    if (!persistent)
        CTS_SAME(c, cts_call_int(c, ring, 1, 50), 2); // it has begun anew
    CTS_SAME(c, cts_call_int(c, ring, 0, 50), 109);
    cts_check_sum(c, ring);
}

static slr_status call_both(cts *c, const char *name, int first, int second, slr_ring_stats *stats)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    slr_port *port = cts_port(c);
    slr_ring *ring = cts_ring_launched(c, "batch_beyond", &desc);
    slr_reply reply;
    int value = 0;
    cts_send_int(c, port, cts_address(c, ring, 0), first, -1);
    cts_send_int(c, port, cts_address(c, ring, 0), second, -1);
    CTS_OK(c, slr_ring_activate(ring, CTS_COMPILED(c)));
    CTS_OK(c, slr_receive(port, &reply, &value, sizeof value, CTS_LONG(c)));
    *stats = cts_stats_at_rest(c, ring);
    CTS_TRUE(c, reply.status != SLR_OK || value == second);
    return reply.status;
}

static void a_message_that_is_not_there_is_a_fault(cts *c)
{
    slr_ring_stats stats;
    CTS_SAME(c, call_both(c, "inside", 0, 7, &stats), SLR_OK);
    CTS_SAME(c, stats.handled, 2);
    CTS_SAME(c, call_both(c, "reads", 1, 7, &stats), SLR_HANDLER_FAULT); // it reads message 2 of 2
    CTS_SAME(c, stats.faulted, 2);
    CTS_TRUE(c, strstr(stats.last_fault, "index outside its array") != NULL);
    CTS_SAME(c, call_both(c, "replies", -1, 7, &stats), SLR_HANDLER_FAULT); // it replies to message 2 of 2
    CTS_SAME(c, stats.faulted, 2);
}

static void each_message_of_a_call_has_max_replies(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.max_replies = 2;
    desc.max_batch = 3;
    slr_port *port = cts_port(c);
    slr_ring *ring = cts_ring_launched(c, "batch_twice", &desc);
    static const int replies[] = {2, 0, 1, 1, 3, 1}; // the second call has one too many
    for (int i = 0; i < 6; i++)
        cts_send_int(c, port, cts_address(c, ring, 0), replies[i], -1);
    CTS_OK(c, slr_ring_activate(ring, CTS_COMPILED(c)));
    CTS_SAME(c, cts_receive_int(c, port, NULL), 0);
    CTS_SAME(c, cts_receive_int(c, port, NULL), 1);
    CTS_SAME(c, cts_receive_int(c, port, NULL) % 10, 0);
    const slr_ring_stats stats = cts_stats_at_rest(c, ring);
    CTS_TRUE(c, stats.faulted >= 1 && stats.faulted <= 3);
    if (stats.mode != SLR_RING_PERSISTENT)
        CTS_SAME(c, stats.faulted, 3);
    CTS_TRUE(c, strstr(stats.last_fault, "max_replies") != NULL);
}

static void a_call_has_the_fuel_of_its_messages(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.fuel = 100;
    desc.max_batch = 4;
    slr_ring *ring = cts_ring(c, "batch_spin", &desc);
    int back = 0, value = 100;
    CTS_SAME(c, cts_call_int(c, ring, 0, 90), 1); // 1 more for the replies
    CTS_GIVES(c, SLR_HANDLER_FAULT,
              slr_call(NULL, cts_address(c, ring, 0), &value, sizeof value, &back, sizeof back, CTS_LONG(c)));
    CTS_TRUE(c, strstr(cts_stats_at_rest(c, ring).last_fault, "fuel") != NULL);
    slr_port *port = cts_port(c);
    desc.name = "gathered";
    slr_ring *gathered = cts_ring_launched(c, "batch_spin", &desc);
    for (int i = 0; i < 4; i++)
        cts_send_int(c, port, cts_address(c, gathered, 0), 390, -1);
    CTS_OK(c, slr_ring_activate(gathered, CTS_COMPILED(c)));
    for (int i = 0; i < 4; i++)
        CTS_SAME(c, cts_receive_int(c, port, NULL), 4);
}

// clang-format off
const cts_case cts_batch_cases[] = {
    CTS_HOST("batches", a_call_gets_the_messages_that_wait),
    CTS_HOST("batches", a_call_has_the_messages_of_one_instance),
    CTS_HOST("batches", messages_are_read_and_answered_in_any_order),
    CTS_HOST("batches", a_fault_fails_the_messages_of_its_call),
    CTS_HOST("batches", a_message_that_is_not_there_is_a_fault),
    CTS_HOST("batches", each_message_of_a_call_has_max_replies),
    CTS_HOST("batches", a_call_has_the_fuel_of_its_messages),
};
// clang-format on
const size_t cts_batch_case_count = sizeof cts_batch_cases / sizeof *cts_batch_cases;
