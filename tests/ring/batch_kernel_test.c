// SPDX-License-Identifier: Apache-2.0
// `__ring_batch__` handlers, which get many messages a call, beside `__ring__` handlers that do the same with each
// message: what their instances become, what senders receive, faults and policies, routes, and what is refused.
#include "tests/ring/ring_test.h"

static const char *const engines[] = {"cpu?engine=compiled&threads=1", "cpu?engine=interpreted&threads=1"};

static const char source[] =
    "struct task { unsigned value, port; };\n"
    "struct tally { unsigned count, last, table[5]; };\n"
    "struct answer { unsigned value, of, count, last; };\n"
    "__device__ unsigned mixed(const struct task *in, unsigned last) { return (last ^ in->value) * 2654435761u; }\n"
    // value % 3 replies; a value of 13 divides by zero.
    "#define STEP(message, reply) \\\n"
    "    struct answer a = {message.value, ring_instance(), self->count, self->last}; \\\n"
    "    self->count += 1u; \\\n"
    "    self->last = mixed(&message, self->last) + weights[message.value & 3u] + add; \\\n"
    "    self->table[message.value % 5u] += 7u / (message.value == 13u ? 0u : 1u); \\\n"
    "    for (unsigned r = 0; r < message.value % 3u; r++) { a.of += r; reply; }\n"
    "__ring__ void each(struct tally *self, const struct task *in, const unsigned *weights, unsigned add)\n"
    "{ STEP((*in), ring_reply(&a)) }\n"
    "__ring_batch__ void many(struct tally *self, const struct task *in, unsigned n, const unsigned *weights,\n"
    "                         unsigned add)\n"
    "{ for (unsigned i = 0; i < n; i++) { STEP(in[i], ring_reply_to(i, &a)) } }\n"
    // The sum of a call goes to its last message; 99 is not replied to.
    "__ring_batch__ void sums(const struct task *in, int n)\n"
    "{\n"
    "    struct task out = {0, (unsigned)n};\n"
    "    for (int i = 0; i < n; i++) out.value += in[i].value;\n"
    "    if (in[n - 1].value != 99u) ring_reply_to(n - 1, &out);\n"
    "}\n"
    "__ring_batch__ void plus(const struct task *in, unsigned n)\n"
    "{ for (unsigned i = 0; i < n; i++) { struct task out = {in[i].value + 1u, n}; ring_reply_to(i, &out); } }\n"
    // Device code has these loops twice, for fuel that suffices and for fuel that may not.
    "__ring_batch__ void rests(const struct task *in, unsigned n)\n"
    "{\n"
    "    struct task out[128];\n"
    "    for (unsigned i = 0; i < n; i++) out[i].value = in[i].value % 7u;\n"
    "    for (unsigned i = 0; i < n; i++) ring_reply_to(i, &out[i]);\n"
    "}\n"
    "__ring__ void sum_of_rests(const struct task *in)\n"
    "{\n"
    "    struct task out = {0, 0};\n"
    "    for (unsigned i = 0; i < in->value; i++) out.value += i % 7u;\n"
    "    ring_reply(&out);\n"
    "}\n"
    "__ring__ void rest_of_variable(const struct task *in)\n"
    "{ unsigned by = 7u; struct task out = {in->value % by, by}; ring_reply(&out); }\n"
    "__ring__ void twice(const struct task *in) { struct task out = {in->value * 2u, in->port}; ring_reply(&out); }\n";

struct answer {
    uint32_t value, of, count, last;
};

struct world {
    slr_device *device;
    slr_program *program;
    slr_buffer *weights;
    slr_binding binding[2];
    uint32_t add;
};

static void open_world(struct world *w, const char *spec)
{
    static const uint32_t weights[4] = {100, 200, 300, 400};
    *w = (struct world){.add = 5};
    w->device = open_device(spec);
    must(slr_program_from_text(w->device, "many.cu", source, NULL, &w->program));
    must(slr_buffer_create(w->device, sizeof weights, &w->weights));
    must(slr_buffer_write(w->weights, 0, weights, sizeof weights));
    w->binding[0] = (slr_binding){.name = "weights", .buffer = w->weights};
    w->binding[1] = (slr_binding){.name = "add", .scalar = &w->add, .bytes = sizeof w->add};
}

static void close_world(struct world *w)
{
    slr_buffer_destroy(w->weights);
    slr_program_destroy(w->program);
    slr_device_close(w->device);
}

static slr_ring_desc describe(struct world *w, const char *handler)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = w->program;
    desc.handler = handler;
    if (strcmp(handler, "each") == 0 || strcmp(handler, "many") == 0) {
        desc.bindings = w->binding;
        desc.binding_count = 2;
        desc.max_replies = 2;
    }
    return desc;
}

// ---- beside a handler of one message -------------------------------------------------------------------------------

enum { INSTANCES = 70, MESSAGES = 3000, KEPT = 400 };

struct played {
    uint32_t count[INSTANCES]; // replies of each instance
    struct answer answer[INSTANCES][KEPT];
    uint32_t replies;
    uint32_t state[INSTANCES][7];
    slr_ring_stats stats;
};

static uint32_t value_at(uint32_t i)
{
    uint32_t value = (i * 2654435761u >> 20) % 50;
    return value == 13 ? 14 : value;
}

static uint32_t instance_at(uint32_t i)
{
    return i < 300 ? i % 7 : (i * 1664525u >> 16) % INSTANCES; // first a few that have long batches
}

// Sends while it is paused, so that every batch is as large as can be; then what came of it.
static void play(struct world *w, const char *handler, uint32_t policy, struct played *out)
{
    slr_ring_desc desc = describe(w, handler);
    desc.instances = INSTANCES;
    desc.max_batch = 128;
    desc.fault_policy = policy;
    slr_ring *ring = launch_ring(w->device, &desc);
    slr_port *port = open_port(w->device);
    uint32_t replies = 0;
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < MESSAGES; ++i) {
        must(send_value(port, address_of(ring, instance_at(i)), value_at(i), LONG));
        replies += value_at(i) % 3;
    }
    must(slr_ring_activate(ring, LONG));
    for (; out->replies < replies; ++out->replies) {
        slr_reply reply;
        struct answer answer;
        must(slr_receive(port, &reply, &answer, sizeof answer, LONG));
        must(reply.status);
        uint32_t of = reply.from.instance;
        assert_true(of < INSTANCES && out->count[of] < KEPT);
        out->answer[of][out->count[of]++] = answer;
    }
    out->stats = stats_when_pending(ring, 0);
    check_sum(&out->stats);
    for (uint32_t i = 0; i < INSTANCES; ++i)
        must(slr_ring_snapshot(ring, i, out->state[i], sizeof out->state[i], LONG));
    slr_port_close(port);
    slr_ring_destroy(ring);
}

static void batches_leave_what_messages_leave_one_by_one(void **state)
{
    (void)state;
    static struct played each, many;
    for (size_t e = 0; e < 2; ++e) {
        struct world w;
        open_world(&w, engines[e]);
        play(&w, "each", SLR_FAULT_GO_ON, &each);
        for (int stops = 0; stops < 2; ++stops) {
            play(&w, "many", stops ? SLR_FAULT_FAIL : SLR_FAULT_GO_ON, &many);
            assert_memory_equal(each.count, many.count, sizeof each.count);
            assert_memory_equal(each.answer, many.answer, sizeof each.answer);
            assert_memory_equal(each.state, many.state, sizeof each.state);
            assert_int_equal(many.stats.handled, MESSAGES);
            assert_int_equal(many.stats.replied, each.replies);
        }
        close_world(&w);
    }
}

// ---- calls ---------------------------------------------------------------------------------------------------------

static void gather(slr_ring *ring, slr_port *port, const uint32_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        must(send_value(port, address_of(ring, 0), values[i], LONG));
    must(slr_ring_activate(ring, LONG));
}

static void replies_are_those_to_the_messages_that_the_handler_names(void **state)
{
    (void)state;
    for (size_t e = 0; e < 2; ++e) {
        struct world w;
        open_world(&w, engines[e]);
        slr_ring_desc desc = describe(&w, "sums");
        desc.max_batch = 4;
        slr_ring *ring = launch_ring(w.device, &desc);
        slr_port *port = open_port(w.device);
        static const uint32_t values[] = {1, 2, 3, 4, 10, 20, 30, 99, 7, 8};
        uint32_t value;
        gather(ring, port, values, 10);
        must(receive_value(port, &value, LONG));
        assert_int_equal(value, 1 + 2 + 3 + 4);
        must(receive_value(port, &value, LONG)); // to the second call's none
        assert_int_equal(value, 7 + 8);
        slr_ring_stats stats = stats_when_pending(ring, 0);
        assert_int_equal(stats.handled, 10);
        assert_int_equal(stats.replied, 2);
        gives(receive_value(port, &value, 0), TIMEOUT);
        slr_port_close(port);
        slr_ring_destroy(ring);
        close_world(&w);
    }
}

static void handler_divides_by_a_literal(void **state)
{
    (void)state;
    static const char *const handlers[] = {"rests", "sum_of_rests", "rest_of_variable"};
    for (size_t e = 0; e < 6; ++e) {
        struct world w;
        open_world(&w, engines[e / 3]);
        slr_ring_desc desc = describe(&w, handlers[e % 3]);
        desc.max_batch = 100;
        slr_ring *ring = launch_ring(w.device, &desc);
        slr_port *port = open_port(w.device);
        for (uint32_t i = 0; i < 200; ++i)
            must(send_value(port, address_of(ring, 0), i, LONG));
        must(slr_ring_activate(ring, LONG));
        for (uint32_t i = 0, sum = 0; i < 200; sum += i % 7, ++i) {
            uint32_t value;
            must(receive_value(port, &value, LONG));
            assert_int_equal(value, e % 3 == 1 ? sum : i % 7);
        }
        slr_port_close(port);
        slr_ring_destroy(ring);
        close_world(&w);
    }
}

// The sender names no lane: of two ports, in turn, each gets its own.
static void each_sender_receives_the_replies_to_its_own_messages(void **state)
{
    (void)state;
    for (size_t e = 0; e < 2; ++e) {
        struct world w;
        open_world(&w, engines[e]);
        slr_ring_desc desc = describe(&w, "plus");
        slr_ring *ring = launch_ring(w.device, &desc);
        slr_port *port[2] = {open_port(w.device), open_port(w.device)};
        for (uint32_t i = 0; i < 20; ++i)
            must(send_value(port[i % 2], address_of(ring, 0), i, LONG));
        must(slr_ring_activate(ring, LONG));
        for (uint32_t i = 0; i < 20; ++i) {
            uint32_t value;
            must(receive_value(port[i % 2], &value, LONG));
            assert_int_equal(value, i + 1);
        }
        for (int i = 0; i < 2; ++i)
            slr_port_close(port[i]);
        slr_ring_destroy(ring);
        close_world(&w);
    }
}

// ---- faults --------------------------------------------------------------------------------------------------------

static void fault_fails_its_call_and_no_other(void **state)
{
    (void)state;
    for (size_t e = 0; e < 2; ++e) {
        struct world w;
        open_world(&w, engines[e]);
        slr_ring_desc desc = describe(&w, "many");
        desc.max_batch = 3;
        slr_ring *ring = launch_ring(w.device, &desc);
        slr_port *port = open_port(w.device);
        static const uint32_t values[] = {1, 1, 1, 1, 13, 1, 1, 1, 1};
        gather(ring, port, values, 9);
        for (uint32_t i = 0; i < 9; ++i) {
            slr_reply reply;
            struct answer answer;
            must(slr_receive(port, &reply, &answer, sizeof answer, LONG));
            assert_int_equal(reply.status, i / 3 == 1 ? SLR_HANDLER_FAULT : SLR_OK);
            if (reply.status == SLR_OK) // behind the fault the instance has begun anew
                assert_int_equal(answer.count, i % 3);
        }
        slr_ring_stats stats = stats_when_pending(ring, 0);
        assert_int_equal(stats.handled, 6);
        assert_int_equal(stats.faulted, 3);
        assert_non_null(strstr(stats.last_fault, "many.cu:"));
        assert_non_null(strstr(stats.last_fault, "instance 0: integer division by zero"));
        check_sum(&stats);
        slr_port_close(port);
        slr_ring_destroy(ring);
        close_world(&w);
    }
}

// A policy that is to judge a fault sees it before a message behind the call is handled.
static void policy_is_applied_behind_the_call_that_faulted(void **state)
{
    (void)state;
    for (size_t e = 0; e < 2; ++e) {
        struct world w;
        open_world(&w, engines[e]);
        slr_ring_desc desc = describe(&w, "many");
        desc.fault_policy = SLR_FAULT_FAIL;
        desc.instances = 64;
        slr_ring *ring = launch_ring(w.device, &desc);
        slr_port *port = open_port(w.device);
        static const uint32_t values[] = {1, 1, 1, 13, 1, 1}, instances[] = {0, 0, 32, 32, 0, 32}; // of one shard
        for (uint32_t i = 0; i < 6; ++i)
            must(send_value(port, address_of(ring, instances[i]), values[i], LONG));
        must(slr_ring_activate(ring, LONG));
        must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
        slr_ring_stats stats = stats_of(ring);
        assert_int_equal(stats.handled, 2);
        assert_int_equal(stats.faulted, 2);
        assert_int_equal(stats.pending, 2);
        must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
        stats = stats_when_pending(ring, 0);
        assert_int_equal(stats.handled, 4);
        check_sum(&stats);
        slr_port_close(port);
        slr_ring_destroy(ring);
        close_world(&w);
    }
}

// ---- what goes with other parts ------------------------------------------------------------------------------------

static void route_passes_the_replies_on(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, "cpu");
    slr_ring_desc desc = describe(&w, "plus"), next = describe(&w, "twice");
    slr_ring *from = launch_ring(w.device, &desc), *to = launch_ring(w.device, &next);
    slr_port *port = open_port(w.device), *collects = open_port(w.device);
    uint32_t sum = 0, value;
    must(slr_route(from, to, NULL));
    must(slr_route_to_port(to, collects, NULL));
    must(slr_ring_activate(to, LONG));
    for (uint32_t i = 0; i < 40; ++i)
        must(send_value(port, address_of(from, 0), i, LONG));
    must(slr_ring_activate(from, LONG));
    for (uint32_t i = 0; i < 40; ++i) {
        must(receive_value(collects, &value, LONG));
        sum += value;
    }
    assert_int_equal(sum, 2 * (40 * 39 / 2 + 40));
    slr_ring_destroy(from);
    slr_ring_destroy(to);
    slr_port_close(port);
    slr_port_close(collects);
    close_world(&w);
}

static void program_says_that_it_takes_batches(void **state)
{
    (void)state;
    struct world w;
    slr_function_info info;
    slr_handler_info handler;
    open_world(&w, "cpu");
    must(slr_program_get_function(w.program, 1, &info));
    assert_string_equal(info.name, "many");
    assert_int_equal(info.kind, SLR_FUNCTION_RING_BATCH);
    assert_int_equal(info.parameter_count, 2);
    assert_string_equal(info.parameters[0].name, "weights");
    must(slr_program_get_handler(w.program, 1, &handler));
    assert_string_equal(handler.message.name, "task");
    assert_int_equal(handler.message.bytes, 8);
    close_world(&w);
}

static void what_needs_one_message_a_call_is_refused(void **state)
{
    (void)state;
    struct world w;
    slr_ring *ring = NULL;
    open_world(&w, "cpu");
    slr_ring_desc desc = describe(&w, "plus");
    desc.handler_timeout_ns = SECOND;
    refuses(slr_ring_create(w.device, &desc, &ring), INVALID, "handler_timeout_ns needs a handler of one message");
    desc = describe(&w, "plus");
    desc.publish_each = 1;
    refuses(slr_ring_create(w.device, &desc, &ring), INVALID, "publish_each needs a handler of one message");
    desc = describe(&w, "plus");
    desc.mode = SLR_RING_PERSISTENT;
    if (!getenv("SLIPRING_TEST_RING_DEVICE")) // on another device it may be
        refuses(slr_ring_create(w.device, &desc, &ring), UNSUPPORTED, "cannot be persistent: its handler");
    assert_null(ring);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_leave_what_messages_leave_one_by_one),
        cmocka_unit_test(replies_are_those_to_the_messages_that_the_handler_names),
        cmocka_unit_test(handler_divides_by_a_literal),
        cmocka_unit_test(each_sender_receives_the_replies_to_its_own_messages),
        cmocka_unit_test(fault_fails_its_call_and_no_other),
        cmocka_unit_test(policy_is_applied_behind_the_call_that_faulted),
        cmocka_unit_test(route_passes_the_replies_on),
        cmocka_unit_test(program_says_that_it_takes_batches),
        cmocka_unit_test(what_needs_one_message_a_call_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
