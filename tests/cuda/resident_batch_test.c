// SPDX-License-Identifier: Apache-2.0
// What the lanes of a block that stays handle together: order, replies and faults are those of a message at a time. And
// what of it the host finds when the device is lost.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/fake_driver.h"

#include "ring/ring.h"
#include "tests/ring/ring_test.h"

#include <string.h>

// Up to three replies a message; a value of 6 modulo 7 faults behind them.
static const char source[] = "struct message { unsigned value, port; };\n"
                             "struct tally { unsigned handled, sum; };\n"
                             "__ring__ void answers(struct tally *self, const struct message *in)\n"
                             "{\n"
                             "    self->handled += 1u;\n"
                             "    self->sum = self->sum * 31u + in->value;\n"
                             "    for (unsigned i = 0; i < in->value % 4u; ++i) {\n"
                             "        struct message out = {in->value * 4u + i, self->sum};\n"
                             "        ring_reply(&out);\n"
                             "    }\n"
                             "    self->handled /= in->value % 7u == 6u ? 0u : 1u;\n"
                             "}\n"
                             "struct page { unsigned word[300]; };\n"
                             "__ring__ void echo(const struct page *in) { ring_reply(in); }\n"
                             "__ring__ void digest(const struct page *in)\n"
                             "{\n"
                             "    struct message out = {0, in->word[0]};\n"
                             "    for (unsigned i = 0; i < 300; ++i) out.value = out.value * 31u + in->word[i];\n"
                             "    ring_reply(&out);\n"
                             "}\n"
                             "__ring_batch__ void sizes(const struct message *in, unsigned n)\n"
                             "{\n"
                             "    for (unsigned i = 0; i < n; i++) {\n"
                             "        struct message out = {n, in[i].value};\n"
                             "        ring_reply_to(i, &out);\n"
                             "    }\n"
                             "}\n";

struct bench {
    slr_device *device;
    slr_program *program;
    slr_ring *ring;
};

static slr_ring_desc describe_on(struct bench *b, const char *spec, const char *handler, uint32_t instances)
{
    reset();
    must(slr_device_open(spec, NULL, &b->device));
    must(slr_program_from_text(b->device, "batch.cu", source, NULL, &b->program));
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = desc.handler = handler;
    desc.program = b->program;
    desc.instances = instances;
    desc.queue_size = 1024;
    desc.max_ports = 4;
    return desc;
}

static slr_ring_desc describe(struct bench *b, const char *handler, uint32_t instances)
{
    return describe_on(b, "cuda:0?ring=persistent", handler, instances);
}

static void end(struct bench *b)
{
    slr_ring_destroy(b->ring);
    slr_program_destroy(b->program);
    slr_device_close(b->device);
    nothing_is_left("batch");
}

// ---- together ------------------------------------------------------------------------------------------------------

enum { INSTANCES = 32, PORTS = 2, MESSAGES = 600 };

// Half of a shard's instances are one port's: each block has messages of both.
static uint32_t port_of(uint32_t instance)
{
    return instance / 8 % PORTS;
}

static uint32_t instance_of(uint32_t i)
{
    return i * i % INSTANCES; // some often, some never
}

struct tally {
    uint32_t sum, sent[MESSAGES], count, seen, left; // `seen`: replies come of the message; `left`: so many more
};

// The next reply of an instance is the next that a message at a time would have given.
static void check_reply(struct tally *t, const slr_reply *reply, const struct message *is)
{
    while (t->left == 0) {
        uint32_t value = t->sent[t->seen++];
        assert_true(t->seen <= t->count);
        bool faults = value % 7 == 6;
        t->sum = t->sum * 31 + value;
        t->left = faults ? 1 : value % 4;
    }
    uint32_t value = t->sent[t->seen - 1];
    if (value % 7 == 6) {
        assert_int_equal(reply->status, SLR_HANDLER_FAULT);
        t->sum = 0;
    } else {
        assert_int_equal(reply->status, SLR_OK);
        assert_int_equal(is->value, value * 4 + value % 4 - t->left);
        assert_int_equal(is->port, t->sum);
    }
    --t->left;
}

static void batches_are_handled_as_one_message_at_a_time(void **state)
{
    (void)state;
    struct bench b = {0};
    slr_ring_desc desc = describe(&b, "answers", INSTANCES);
    desc.max_replies = 3;
    b.ring = start_ring(b.device, &desc);
    slr_port *port[PORTS] = {open_port(b.device), open_port(b.device)};
    static struct tally tally[INSTANCES];
    memset(tally, 0, sizeof tally);
    uint32_t replies[PORTS] = {0}, faults = 0;
    must(slr_ring_deactivate(b.ring, LONG)); // so that they are taken as batches
    for (uint32_t i = 0; i < MESSAGES; ++i) {
        struct tally *t = &tally[instance_of(i)];
        must(send_value(port[port_of(instance_of(i))], address_of(b.ring, instance_of(i)), i, LONG));
        t->sent[t->count++] = i;
        faults += i % 7 == 6;
        replies[port_of(instance_of(i))] += i % 7 == 6 ? 1 : i % 4;
    }
    must(slr_ring_reactivate(b.ring, LONG));
    for (uint32_t p = 0; p < PORTS; ++p)
        for (uint32_t n = 0; n < replies[p]; ++n) {
            slr_reply reply;
            struct message message = {0};
            must(slr_receive(port[p], &reply, &message, sizeof message, LONG));
            check_reply(&tally[reply.from.instance], &reply, &message);
        }
    slr_ring_stats stats;
    must(slr_ring_terminate(b.ring, LONG, NULL, NULL, &stats));
    assert_int_equal(stats.handled, MESSAGES - faults);
    assert_int_equal(stats.faulted, faults);
    assert_non_null(strstr(stats.first_fault, "batch.cu:"));
    assert_non_null(strstr(stats.first_fault, ": integer division by zero"));
    assert_true(stats.first_fault_message >= 1 && stats.first_fault_message < 64); // the last faults are far behind it
    assert_int_equal(stats.first_fault_ns, 0);                                     // a block has no clock of the host's
    assert_int_equal(stats.replied, replies[0] + replies[1]);
    for (uint32_t p = 0; p < PORTS; ++p)
        slr_port_close(port[p]);
    end(&b);
}

// Pages of which a batch does not fit beside the lanes; nor do their replies, where they are pages.
static void use_pages(const char *handler, bool whole)
{
    struct bench b = {0};
    slr_ring_desc desc = describe(&b, handler, 1);
    b.ring = start_ring(b.device, &desc);
    slr_port *port = open_port(b.device);
    static uint32_t page[300], back[300];
    must(slr_ring_deactivate(b.ring, LONG));
    for (uint32_t i = 0; i < 100; ++i) {
        for (uint32_t k = 0; k < 300; ++k)
            page[k] = i * 1000 + k;
        must(slr_send(port, address_of(b.ring, 0), page, sizeof page, LONG));
    }
    must(slr_ring_reactivate(b.ring, LONG));
    for (uint32_t i = 0; i < 100; ++i) {
        slr_reply reply;
        uint32_t digest = 0;
        must(slr_receive(port, &reply, back, sizeof back, LONG));
        for (uint32_t k = 0; k < 300; ++k) {
            assert_true(!whole || back[k] == i * 1000 + k);
            digest = digest * 31 + i * 1000 + k;
        }
        assert_true(whole || (back[0] == digest && back[1] == i * 1000));
    }
    slr_port_close(port);
    end(&b);
}

static void messages_and_replies_that_do_not_fit_are_handled_where_they_lie(void **state)
{
    (void)state;
    use_pages("echo", true);
    use_pages("digest", false);
}

// ---- handlers of many messages -------------------------------------------------------------------------------------

// Gives the mode, and how many messages its first call gets of 100.
static slr_ring_mode run_sizes(const char *spec, uint32_t max_batch, slr_ring_mode asked, uint32_t *first)
{
    struct bench b = {0};
    slr_ring_desc desc = describe_on(&b, spec, "sizes", 1);
    desc.max_batch = max_batch;
    desc.mode = asked;
    b.ring = launch_ring(b.device, &desc);
    slr_port *port = open_port(b.device);
    for (uint32_t i = 0; i < 100; ++i)
        must(send_value(port, address_of(b.ring, 0), i, LONG));
    must(slr_ring_activate(b.ring, LONG));
    must(receive_value(port, first, LONG));
    const slr_ring_stats stats = stats_when_pending(b.ring, 0);
    slr_port_close(port);
    end(&b);
    return stats.mode;
}

static void calls_of_more_than_32_messages_are_batched_unless_asked_otherwise(void **state)
{
    (void)state;
    uint32_t first;
    assert_int_equal(run_sizes("cuda:0", 0, 0, &first), SLR_RING_PERSISTENT);
    assert_int_equal(first, 32);
    assert_int_equal(run_sizes("cuda:0", 100, 0, &first), SLR_RING_RELAUNCHED);
    assert_int_equal(first, 100);
    assert_int_equal(run_sizes("cuda:0", 100, SLR_RING_PERSISTENT, &first), SLR_RING_PERSISTENT);
    assert_int_equal(first, 32);
    assert_int_equal(run_sizes("cuda:0?ring=persistent", 100, 0, &first), SLR_RING_PERSISTENT);
    assert_int_equal(first, 32);
}

// ---- a device that is lost -----------------------------------------------------------------------------------------

struct back {
    uint32_t count, first; // undelivered; the lowest value
};

static void note_back(void *user, const slr_undelivered *undelivered)
{
    struct back *back = user;
    const struct message *message = undelivered->message;
    if (back->count++ == 0 || message->value < back->first)
        back->first = message->value;
}

// By a command that faults. What that needs was made before: for that kernels are kept from running.
static void lose_device(slr_stream *stream, slr_buffer *buffer)
{
    __atomic_store_n(&fake->fault_at, __atomic_load_n(&fake->commands, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    slr_stream_fill(stream, buffer, 0, 64, "a", 1, NULL);
    gives(slr_stream_finish(stream, LONG), DEVICE_LOST);
}

// The device goes while the kernel works: it has no room for the replies to all messages, and a kernel that has handled
// all of them hears of a loss with the next message only. What is undelivered and what is in doubt is what was not
// handled, each once: of one priority, a message is handled, in doubt or undelivered in the order sent.
static void lose_with(const char *handler, uint32_t room, uint32_t priorities, uint32_t before)
{
    enum { SENT = 500 };
    struct bench b = {0};
    slr_ring_desc desc = describe(&b, handler, 1);
    desc.max_replies = 3;
    desc.queue_size = room;
    b.ring = start_ring(b.device, &desc);
    slr_port *port = open_port(b.device);
    slr_stream *stream;
    slr_buffer *buffer;
    must(slr_stream_default(b.device, &stream));
    must(slr_buffer_create(b.device, 64, &buffer));
    slr_stream_fill(stream, buffer, 0, 64, "a", 1, NULL);
    must(slr_stream_finish(stream, LONG));
    for (uint32_t i = 0; i < SENT; ++i)
        must(send_at(port, address_of(b.ring, 0), i, i % priorities));
    slr_status received = SLR_OK; // who sleeps for lack of room is woken by this, and finds the loss
    uint32_t replies = 0;
    for (uint32_t value; received == SLR_OK || received == SLR_HANDLER_FAULT; ++replies) {
        if (replies == before)
            lose_device(stream, buffer);
        received = receive_value(port, &value, LONG);
    }
    assert_int_equal(received, SLR_RING_FAILED);
    struct back back = {0};
    slr_ring_stats stats;
    must(slr_ring_terminate(b.ring, LONG, note_back, &back, &stats));
    check_sum(&stats);
    assert_true(stats.in_doubt <= MB_BATCH);
    assert_int_equal(stats.undelivered, back.count);
    assert_int_equal(stats.handled + stats.faulted + stats.in_doubt + back.count, SENT);
    if (back.count != 0 && priorities == 1)
        assert_int_equal(back.first, SENT - back.count);
    assert_int_equal(b.ring->shard[0].own[MBP_PORT(0) + MBQ_PUBLISHED], stats.replied);
    slr_port_close(port);
    slr_buffer_destroy(buffer);
    end(&b);
}

static void lost_device_gives_back_what_waits(void **state)
{
    (void)state;
    lose_with("answers", 512, 1, 71);
    lose_with("answers", 512, 5, 71);
    lose_with("sizes", 256, 1, 71);
    lose_with("sizes", 256, 5, 71);
}

// States are at home when it has ended.
static void states_are_there_behind_the_end(void **state)
{
    (void)state;
    struct bench b = {0};
    slr_ring_desc desc = describe(&b, "answers", 2);
    b.ring = start_ring(b.device, &desc);
    slr_port *port = open_port(b.device);
    for (uint32_t i = 0; i < 5; ++i)
        must(send_value(port, address_of(b.ring, 1), 28 * i + 8, LONG)); // no replies, no faults
    must(slr_ring_close_input(b.ring));
    must(slr_ring_wait(b.ring, SLR_RING_TERMINATED, LONG));
    const uint32_t *words = slri_shard_state(&b.ring->shard[1], 1); // nobody owns it any more
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 5; ++i)
        sum = sum * 31 + 28 * i + 8;
    assert_int_equal(words[0], 5);
    assert_int_equal(words[1], sum);
    slr_port_close(port);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(batches_are_handled_as_one_message_at_a_time, load_fake),
        cmocka_unit_test(messages_and_replies_that_do_not_fit_are_handled_where_they_lie),
        cmocka_unit_test(calls_of_more_than_32_messages_are_batched_unless_asked_otherwise),
        cmocka_unit_test(lost_device_gives_back_what_waits),
        cmocka_unit_test(states_are_there_behind_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
