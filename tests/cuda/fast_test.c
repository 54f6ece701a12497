// SPDX-License-Identifier: Apache-2.0
// The fast path of a block that stays (cu_fast.h) and the general one: the same messages through both give the same
// replies, in the same order, and the same counts.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/fake_driver.h"

#include "tests/ring/ring_test.h"

#include <string.h>

// `port`: how many replies, and 256 where it faults behind them.
static const char source[] = "struct message { unsigned value, port; };\n"
                             "struct tally { unsigned handled, sum; };\n"
                             "__ring__ void answers(struct tally *self, const struct message *in)\n"
                             "{\n"
                             "    self->handled += 1u;\n"
                             "    self->sum = self->sum * 31u + in->value;\n"
                             "    for (unsigned i = 0; i < (in->port & 255u); ++i) {\n"
                             "        struct message out = {in->value * 4u + i, self->sum};\n"
                             "        ring_reply(&out);\n"
                             "    }\n"
                             "    self->handled /= in->port > 255u ? 0u : 1u;\n"
                             "}\n"
                             "__ring__ void sums(struct tally *self, const struct message *in)\n"
                             "{\n"
                             "    self->sum += in->value;\n"
                             "    self->handled += 1u;\n"
                             "    self->handled /= in->port > 255u ? 0u : 1u;\n"
                             "}\n"
                             "__ring__ void passes(const struct message *in) { ring_reply(in); }\n";

enum { MOST_PORTS = 3, MOST_MESSAGES = 512, INSTANCES = 12 };

enum taken { ALL_GENERAL, SOME_FAST, EITHER };

struct traffic {
    const char *what;
    uint32_t ports, messages, replies, fault_each, queue, priorities, stamps, timed;
    enum taken taken;
    bool pauses; // all lie there when the first is taken
};

// What was sent to an instance, in the order in which it is handled, and the replies that are due.
struct due {
    uint32_t value[MOST_MESSAGES], priority[MOST_MESSAGES], sent;
    uint32_t at, left, got; // the message whose replies come, how many more, and replies so far
    uint32_t sum;
};

struct bench {
    const struct traffic *trial;
    slr_device *device;
    slr_program *program;
    slr_ring *ring;
    slr_port *port[MOST_PORTS];
    struct due due[INSTANCES]; // of one port each
};

static uint32_t instance_of(const struct bench *b, uint32_t value)
{
    uint32_t own = INSTANCES / b->trial->ports; // a port's: what one sends is handled in the order of its sending
    return value % b->trial->ports * own + value * value % own;
}

static uint32_t replies_to(const struct bench *b, uint32_t value)
{
    return b->trial->replies != 0 ? value * 7 / 3 % (b->trial->replies + 1) : 0;
}

static bool faults(const struct bench *b, uint32_t value)
{
    return b->trial->fault_each != 0 && value % b->trial->fault_each == b->trial->fault_each - 1;
}

static uint32_t priority_of(const struct bench *b, uint32_t value)
{
    return 100 + (b->trial->priorities != 0 ? value * value / 5 % b->trial->priorities : 0);
}

// The message whose reply is due next, behind those that give none; UINT32_MAX: there is none.
static uint32_t next_due(const struct bench *b, struct due *due)
{
    while (due->left == 0 && due->at < due->sent) {
        uint32_t value = due->value[due->at++];
        due->sum = due->sum * 31 + value;
        due->got = 0;
        due->left = faults(b, value) ? b->trial->replies != 0 : replies_to(b, value);
        if (faults(b, value) && due->left == 0)
            due->sum = 0;
    }
    return due->left != 0 ? due->value[due->at - 1] : UINT32_MAX;
}

static bool is_due(struct bench *b, uint32_t p)
{
    uint32_t own = INSTANCES / b->trial->ports;
    for (uint32_t k = 0; k < own; ++k)
        if (next_due(b, &b->due[p * own + k]) != UINT32_MAX)
            return true;
    return false;
}

static void receive_from(struct bench *b, slr_port *port)
{
    slr_reply reply;
    struct message is = {0};
    must(slr_receive(port, &reply, &is, sizeof is, LONG));
    struct due *due = &b->due[reply.from.instance];
    uint32_t value = next_due(b, due);
    assert_int_equal(reply.correlation, value);
    assert_true(b->trial->stamps == 0 || reply.sent_ns != 0);
    assert_int_equal(reply.status, faults(b, value) ? SLR_HANDLER_FAULT : SLR_OK);
    if (faults(b, value)) {
        due->sum = 0;
    } else {
        assert_int_equal(is.value, value * 4 + due->got);
        assert_int_equal(is.port, due->sum);
    }
    ++due->got;
    --due->left;
}

// Where there is no room it makes some: a reply lane that is full keeps messages from being handled.
static void send_one(struct bench *b, uint32_t value)
{
    uint32_t p = value % b->trial->ports, priority = priority_of(b, value);
    struct due *due = &b->due[instance_of(b, value)];
    uint32_t at = due->sent;
    struct message message = {value, replies_to(b, value) | (faults(b, value) ? 256 : 0)};
    slr_send_options options = {.priority = SLR_PRIORITY(priority), .correlation = value};
    slr_address to = address_of(b->ring, instance_of(b, value));
    for (;;) {
        slr_status status = slr_send_with(b->port[p], to, &message, sizeof message, &options, 0);
        if (status == SLR_OK)
            break;
        assert_true(status == SLR_FULL || status == SLR_TIMEOUT);
        for (uint32_t k = 0; k < b->trial->ports; ++k)
            if (is_due(b, k))
                receive_from(b, b->port[k]);
    }
    for (; at > 0 && b->trial->pauses && due->priority[at - 1] < priority; --at) {
        due->value[at] = due->value[at - 1];
        due->priority[at] = due->priority[at - 1];
    }
    due->value[at] = value;
    due->priority[at] = priority;
    ++due->sent;
}

static void open_all(struct bench *b, const struct traffic *trial, uint32_t general)
{
    *b = (struct bench){.trial = trial};
    reset();
    fake->general = general;
    must(slr_device_open("cuda:0?ring=persistent", NULL, &b->device));
    must(slr_program_from_text(b->device, "fast.cu", source, NULL, &b->program));
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = desc.handler = trial->replies != 0 ? "answers" : "sums";
    desc.program = b->program;
    desc.instances = INSTANCES;
    desc.queue_size = trial->queue;
    desc.max_ports = 4;
    desc.max_replies = trial->replies;
    desc.time_stamps = trial->stamps;
    desc.latency_every = trial->timed;
    b->ring = start_ring(b->device, &desc);
    for (uint32_t p = 0; p < trial->ports; ++p)
        b->port[p] = open_port(b->device);
}

static void close_all(struct bench *b)
{
    for (uint32_t p = 0; p < b->trial->ports; ++p)
        slr_port_close(b->port[p]);
    slr_ring_destroy(b->ring);
    slr_program_destroy(b->program);
    slr_device_close(b->device);
    nothing_is_left(b->trial->what);
}

static void check_counts(struct bench *b)
{
    slr_ring_stats stats;
    uint32_t faulted = 0, replied = 0;
    for (uint32_t value = 0; value < b->trial->messages; ++value) {
        faulted += faults(b, value);
        replied += faults(b, value) ? b->trial->replies != 0 : replies_to(b, value);
    }
    stats_when_pending(b->ring, 0);
    must(slr_ring_terminate(b->ring, LONG, NULL, NULL, &stats));
    assert_int_equal(stats.handled, b->trial->messages - faulted);
    assert_int_equal(stats.faulted, faulted);
    assert_int_equal(stats.replied, replied);
    check_sum(&stats);
}

static void check_path(const struct traffic *trial, uint32_t general)
{
    uint32_t fast = __atomic_load_n(&fake->fast, __ATOMIC_RELAXED);
    if (getenv("SLIPRING_FAKE_CUDA_BY")) // what is run then does not say
        return;
    if (general || trial->taken == ALL_GENERAL)
        assert_int_equal(fast, 0);
    else if (trial->taken == SOME_FAST)
        assert_true(fast > 0);
}

static void run(const struct traffic *trial, uint32_t general)
{
    static struct bench bench;
    struct bench *b = &bench;
    print_message("%s, %s\n", trial->what, general ? "general" : "fast");
    open_all(b, trial, general);
    if (trial->pauses)
        must(slr_ring_deactivate(b->ring, LONG));
    for (uint32_t value = 0; value < trial->messages; ++value)
        send_one(b, value);
    if (trial->pauses)
        must(slr_ring_reactivate(b->ring, LONG));
    for (uint32_t p = 0; p < trial->ports; ++p)
        while (is_due(b, p))
            receive_from(b, b->port[p]);
    check_counts(b);
    check_path(trial, general);
    close_all(b);
}

static void both_paths_give_the_same(void **state)
{
    (void)state;
    static const struct traffic trials[] = {
        {.what = "one port, a batch at a time",
         .ports = 1,
         .messages = 300,
         .replies = 1,
         .queue = 512,
         .pauses = true,
         .taken = SOME_FAST},
        {.what = "up to three replies",
         .ports = 1,
         .messages = 300,
         .replies = 3,
         .queue = 512,
         .pauses = true,
         .taken = SOME_FAST},
        {.what = "no replies", .ports = 1, .messages = 300, .queue = 512, .pauses = true, .taken = SOME_FAST},
        {.what = "time stamps, each message timed",
         .ports = 1,
         .messages = 300,
         .replies = 2,
         .queue = 512,
         .stamps = 1,
         .timed = 1,
         .pauses = true,
         .taken = SOME_FAST},
        {.what = "faults in the batch",
         .ports = 1,
         .messages = 300,
         .replies = 3,
         .queue = 512,
         .fault_each = 7,
         .pauses = true,
         .taken = SOME_FAST},
        {.what = "faults without replies",
         .ports = 1,
         .messages = 100,
         .queue = 512,
         .fault_each = 5,
         .pauses = true,
         .taken = SOME_FAST},
        {.what = "while they are sent", .ports = 1, .messages = 300, .replies = 2, .queue = 64, .taken = SOME_FAST},
        {.what = "reply lane that is full", .ports = 1, .messages = 300, .replies = 3, .queue = 4, .taken = SOME_FAST},
        {.what = "several ports at once",
         .ports = 3,
         .messages = 300,
         .replies = 2,
         .queue = 512,
         .pauses = true,
         .taken = EITHER},
        {.what = "several ports by and by", .ports = 3, .messages = 300, .replies = 2, .queue = 16, .taken = EITHER},
        {.what = "priorities",
         .ports = 1,
         .messages = 300,
         .replies = 2,
         .queue = 512,
         .priorities = 3,
         .pauses = true,
         .taken = ALL_GENERAL},
        {.what = "ports and priorities",
         .ports = 2,
         .messages = 300,
         .replies = 2,
         .queue = 512,
         .priorities = 3,
         .pauses = true,
         .taken = ALL_GENERAL},
    };
    for (size_t i = 0; i < sizeof trials / sizeof *trials; ++i)
        for (uint32_t general = 0; general < 2; ++general)
            run(&trials[i], general);
}

// ---- routes --------------------------------------------------------------------------------------------------------

// All replies are received from the port at the end, or those for instances that there are.
static uint32_t receive_routed(struct bench *b, slr_port *out, bool by_value)
{
    uint32_t unrouted = 0, routed = 0;
    for (uint32_t value = 0; by_value && value < b->trial->messages; ++value)
        for (uint32_t i = 0; i < replies_to(b, value); ++i) {
            routed += value * 4 + i < INSTANCES;
            unrouted += value * 4 + i >= INSTANCES;
        }
    for (uint32_t k = 0; k < routed; ++k) {
        slr_reply reply;
        struct message is;
        must(slr_receive(out, &reply, &is, sizeof is, LONG));
        assert_int_equal(reply.from.instance, is.value);
        assert_int_equal(reply.correlation, is.value / 4);
    }
    for (uint32_t i = 0; !by_value && i < INSTANCES; ++i)
        while (next_due(b, &b->due[i]) != UINT32_MAX)
            receive_from(b, out);
    return unrouted;
}

// From one ring kernel to another and from there to a port. `by_value`: a reply's value is the instance that it is for.
static void use_routes(bool by_value, uint32_t general)
{
    static const struct traffic trial = {.what = "routes", .ports = 1, .messages = 200, .replies = 2, .queue = 256};
    static struct bench bench;
    struct bench *b = &bench;
    open_all(b, &trial, general);
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = desc.handler = "passes";
    desc.program = b->program;
    desc.instances = INSTANCES;
    desc.queue_size = 512;
    slr_ring *next = launch_ring(b->device, &desc);
    slr_port *out = open_port(b->device);
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.instance_at = by_value ? SLR_INSTANCE_AT(struct message, value) : 0;
    must(slr_route(b->ring, next, &route));
    must(slr_ring_activate(next, LONG));
    must(slr_route_to_port(next, out, NULL));
    for (uint32_t value = 0; value < trial.messages; ++value)
        send_one(b, value);
    uint32_t unrouted = receive_routed(b, out, by_value);
    wait_handled(b->ring, trial.messages);
    assert_int_equal(stats_of(b->ring).unrouted, unrouted);
    uint32_t fast = __atomic_load_n(&fake->fast, __ATOMIC_RELAXED);
    if (!getenv("SLIPRING_FAKE_CUDA_BY"))
        assert_true(general ? fast == 0 : fast > 0);
    slr_ring_destroy(next);
    slr_port_close(out);
    close_all(b);
}

static void routes_pass_the_same_on_by_both_paths(void **state)
{
    (void)state;
    for (uint32_t general = 0; general < 2; ++general) {
        use_routes(false, general);
        use_routes(true, general);
    }
}

// ---- ports that go -------------------------------------------------------------------------------------------------

// A port that is closed with messages under way, and another that gets its lanes: all are handled, each has its own
// replies.
static void port_that_closes_leaves_nothing_to_the_next(void **state)
{
    (void)state;
    static const struct traffic trial = {.what = "closed", .ports = 1, .messages = 0, .replies = 1, .queue = 32};
    static struct bench bench;
    struct bench *b = &bench;
    for (uint32_t general = 0; general < 2; ++general) {
        open_all(b, &trial, general);
        for (uint32_t turn = 0; turn < 20; ++turn) {
            struct message message = {.value = turn, .port = 1};
            for (uint32_t k = 0; k < 20; ++k)
                must(slr_send(b->port[0], address_of(b->ring, k % INSTANCES), &message, sizeof message, LONG));
            slr_port_close(b->port[0]);
            b->port[0] = open_port(b->device);
            message.value = 1000 + turn;
            struct message is = {0};
            must(slr_call(b->port[0], address_of(b->ring, 0), &message, sizeof message, &is, sizeof is, LONG));
            assert_int_equal(is.value, (1000 + turn) * 4);
        }
        wait_handled(b->ring, 20 * 21);
        slr_ring_stats stats;
        must(slr_ring_terminate(b->ring, LONG, NULL, NULL, &stats));
        check_sum(&stats);
        close_all(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(both_paths_give_the_same, load_fake),
        cmocka_unit_test(routes_pass_the_same_on_by_both_paths),
        cmocka_unit_test(port_that_closes_leaves_nothing_to_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
