// SPDX-License-Identifier: Apache-2.0
// Ring kernels whose batches are dispatched, on whatever OpenCL is here (PoCL in CI): what a dispatch of many shards
// does, beside the cpu. The tests of src/ring run there too (cmake/SlipringTests.cmake).
#include "tests/ring/ring_test.h"

static const char *const devices[] = {"opencl:0?ring=relaunch", "opencl:0?memory=coarse&ring=relaunch",
                                      "opencl:0?memory=host&ring=relaunch", "opencl:0?memory=plain&ring=relaunch"};

static const char source[] =
    "struct task { unsigned value, of; };\n"
    "struct tally { unsigned count, last, odd[3]; };\n"
    "struct answer { unsigned value, of, count, last; };\n"
    // Replies with what it has seen before; value 13 divides by zero behind its first reply and a change of state.
    "__ring__ void each(struct tally *self, const struct task *in, const unsigned *table, unsigned add)\n"
    "{\n"
    "    struct answer a = {in->value, ring_instance(), self->count, self->last};\n"
    "    self->count += 1;\n"
    "    self->last = in->value + table[in->value & 3u] + add;\n"
    "    ring_reply(&a);\n"
    "    unsigned zero = in->value == 13u ? 0u : 1u;\n"
    "    self->odd[in->value % 3u] += 7u / zero;\n"
    "}\n"
    "__ring__ void pass(const struct task *in) { struct task on = {in->value + 1u, in->of}; ring_reply(&on); }\n"
    // 3 + 3 * value turns.
    "__ring__ void nest(struct tally *self, const struct task *in)\n"
    "{\n"
    "    unsigned sum = 0;\n"
    "    for (int i = 0; i < 3; i++)\n"
    "        for (unsigned k = 0; k < in->value; k++) sum += k * i;\n"
    "    struct answer a = {in->value, ring_instance(), sum, self->count++};\n"
    "    ring_reply(&a);\n"
    "}\n"
    // Sums the squares of 0 to value by a block, over shared memory.
    "__ring_block__ void __launch_bounds__(64) block(struct tally *self, const struct task *in)\n"
    "{\n"
    "    __shared__ unsigned part[64];\n"
    "    unsigned sum = 0;\n"
    "    for (unsigned i = threadIdx.x; i <= in->value; i += 64u) sum += i * i;\n"
    "    part[threadIdx.x] = sum;\n"
    "    __syncthreads();\n"
    "    for (unsigned s = 32; s; s /= 2) {\n"
    "        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    if (threadIdx.x == 0) {\n"
    "        self->count += 1;\n"
    "        struct answer a = {in->value, ring_instance(), self->count, part[0]};\n"
    "        ring_reply(&a);\n"
    "    }\n"
    "}\n";

enum { NEST_FUEL = 100, NEST_MOST = 32 }; // a turn that takes the last of it faults

struct answer {
    uint32_t value, of, count, last;
};

struct world {
    slr_device *device;
    slr_program *program;
    slr_buffer *table;
    slr_binding binding[2];
    uint32_t add;
};

static void open_world(struct world *w, const char *spec)
{
    static const uint32_t table[4] = {100, 200, 300, 400};
    *w = (struct world){.add = 5};
    w->device = open_device(spec);
    must(slr_program_from_text(w->device, "relaunch.cu", source, NULL, &w->program));
    must(slr_buffer_create(w->device, sizeof table, &w->table));
    must(slr_buffer_write(w->table, 0, table, sizeof table));
    w->binding[0] = (slr_binding){.name = "table", .buffer = w->table};
    w->binding[1] = (slr_binding){.name = "add", .scalar = &w->add, .bytes = sizeof w->add};
}

static void close_world(struct world *w)
{
    slr_buffer_destroy(w->table);
    slr_program_destroy(w->program);
    slr_device_close(w->device);
}

static slr_ring_desc describe(struct world *w, const char *handler, uint32_t instances)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = w->program;
    desc.handler = handler;
    desc.instances = instances;
    desc.max_batch = strcmp(handler, "each") == 0 ? 128 : 0;
    if (strcmp(handler, "nest") == 0)
        desc.fuel = NEST_FUEL;
    if (strcmp(handler, "each") == 0) {
        desc.bindings = w->binding;
        desc.binding_count = 2;
    }
    return desc;
}

// ---- what a device gives, beside the cpu ---------------------------------------------------------------------------

enum { INSTANCES = 150, MESSAGES = 4000 };

struct played {
    uint32_t count[INSTANCES]; // replies of each instance
    struct answer answer[INSTANCES][MESSAGES / 8];
    uint32_t faults;
    slr_ring_stats stats;
    uint32_t state[INSTANCES][5];
};

// Sends while it is paused, so that every dispatch is as large as can be; then what came of it.
static void play(const char *spec, const char *handler, uint32_t policy, struct played *out)
{
    struct world w;
    open_world(&w, spec);
    slr_ring_desc desc = describe(&w, handler, INSTANCES);
    desc.fault_policy = policy;
    slr_ring *ring = launch_ring(w.device, &desc);
    slr_port *port = open_port(w.device);
    memset(out, 0, sizeof *out);
    uint32_t random = 1;
    for (uint32_t i = 0; i < MESSAGES; ++i) {
        random = random * 1664525u + 1013904223u;
        uint32_t instance = i < 300 ? i % 7 : (random >> 8) % INSTANCES; // first a few that have long chains
        must(send_value(port, address_of(ring, instance), (random >> 20) % 50, LONG));
    }
    must(slr_ring_activate(ring, LONG));
    for (uint32_t n = 0; n < MESSAGES; ++n) {
        slr_reply reply;
        struct answer answer;
        must(slr_receive(port, &reply, &answer, sizeof answer, LONG));
        uint32_t of = reply.from.instance;
        if (reply.status == SLR_HANDLER_FAULT)
            ++out->faults;
        else
            out->answer[of][out->count[of]++] = answer;
        if (reply.status == SLR_HANDLER_FAULT && policy == SLR_FAULT_FAIL) {
            must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
            break;
        }
    }
    out->stats = stats_when_pending(ring, 0);
    check_sum(&out->stats);
    for (uint32_t i = 0; i < INSTANCES; ++i)
        must(slr_ring_snapshot(ring, i, out->state[i], sizeof out->state[i], LONG));
    slr_port_close(port);
    slr_ring_destroy(ring);
    close_world(&w);
}

static struct played wanted, got;

static void compare_on(const char *handler)
{
    play("cpu?engine=interpreted&threads=1", handler, 0, &wanted);
    assert_int_equal(wanted.stats.handled + wanted.stats.faulted, MESSAGES);
    EACH_HERE(i, devices)
    {
        play(devices[i], handler, 0, &got);
        assert_int_equal(got.stats.mode, SLR_RING_RELAUNCHED);
        assert_int_equal(got.stats.handled, wanted.stats.handled);
        assert_int_equal(got.faults, wanted.faults);
        assert_memory_equal(got.count, wanted.count, sizeof wanted.count);
        assert_memory_equal(got.answer, wanted.answer, sizeof wanted.answer);
        assert_memory_equal(got.state, wanted.state, sizeof wanted.state);
    }
}

static void instances_have_their_messages_in_order_and_faults_reset_them(void **state)
{
    (void)state;
    compare_on("each");
    assert_true(wanted.faults > 20);
}

static void blocks_handle_messages_as_on_the_cpu(void **state)
{
    (void)state;
    compare_on("block");
    assert_int_equal(wanted.faults, 0);
}

// Paid at once, and where it does not suffice turn by turn: the same messages fault as on the cpu.
static void fuel_of_loops_within_loops_suffices_for_as_many_turns(void **state)
{
    (void)state;
    uint32_t most = 0;
    compare_on("nest");
    assert_true(wanted.faults > 20);
    for (uint32_t i = 0; i < INSTANCES; ++i)
        for (uint32_t k = 0; k < wanted.count[i]; ++k)
            most = wanted.answer[i][k].value > most ? wanted.answer[i][k].value : most;
    assert_int_equal(most, NEST_MOST);
}

// ---- faults that are judged ----------------------------------------------------------------------------------------

static void nothing_behind_a_judged_fault_is_handled(void **state)
{
    (void)state;
    EACH_HERE(i, devices)
    {
        struct world w;
        open_world(&w, devices[i]);
        slr_ring_desc desc = describe(&w, "each", 1);
        desc.fault_policy = SLR_FAULT_FAIL;
        slr_ring *ring = launch_ring(w.device, &desc);
        slr_port *port = open_port(w.device);
        slr_reply reply;
        struct answer answer;
        for (uint32_t n = 10; n < 20; ++n)
            must(send_value(port, address_of(ring, 0), n, LONG));
        must(slr_ring_activate(ring, LONG));
        must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
        slr_ring_stats stats = stats_of(ring);
        check_sum(&stats);
        assert_int_equal(stats.handled, 3);
        assert_int_equal(stats.faulted, 1);
        assert_int_equal(stats.pending, 6);
        assert_non_null(strstr(stats.last_fault, "relaunch.cu:11: instance 0: integer division by zero"));
        must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
        for (uint32_t n = 0; n < 10; ++n) { // from the initial state on, twice
            slr_status status = slr_receive(port, &reply, &answer, sizeof answer, LONG);
            if (status == SLR_RING_FAILED) // is told once, before or behind some of them
                status = slr_receive(port, &reply, &answer, sizeof answer, LONG);
            must(status);
            assert_int_equal(reply.status, n == 3 ? SLR_HANDLER_FAULT : SLR_OK);
            if (n == 3)
                continue;
            assert_int_equal(answer.value, 10 + n);
            assert_int_equal(answer.count, n < 3 ? n : n - 4);
        }
        slr_port_close(port);
        slr_ring_destroy(ring);
        close_world(&w);
    }
}

// ---- what is refused -----------------------------------------------------------------------------------------------

static void what_a_dispatch_cannot_do_is_refused_with_the_reason(void **state)
{
    (void)state;
    EACH_HERE(i, devices)
    {
        struct world w;
        open_world(&w, devices[i]);
        slr_ring *ring;
        slr_ring_desc desc = describe(&w, "each", 1);
        desc.handler_timeout_ns = 10 * MS;
        refuses(slr_ring_create(w.device, &desc, &ring), UNSUPPORTED, "by slr_ring_desc.fuel");
        close_world(&w);
    }
}

// Where the device has the choice, the ring kernel may make it: one that is relaunched has routes.
static void mode_is_chosen_for_one_ring_kernel(void **state)
{
    (void)state;
    if (!is_here("opencl:0"))
        skip();
    struct world w;
    open_world(&w, "opencl:0");
    slr_ring_desc from = describe(&w, "pass", 4), to = describe(&w, "each", 4);
    from.name = "from";
    from.mode = SLR_RING_RELAUNCHED;
    to.name = "to";
    slr_ring *first = launch_ring(w.device, &from), *second = launch_ring(w.device, &to);
    slr_ring_stats stats = stats_of(first);
    assert_int_equal(stats.mode, SLR_RING_RELAUNCHED);
    assert_non_null(strstr(stats.mode_reason, "the program requested batched mode"));
    must(slr_route(first, second, NULL));
    must(slr_ring_activate(first, LONG));
    must(slr_ring_activate(second, LONG));
    slr_port *port = open_port(w.device);
    for (uint32_t i = 0; i < 1000; ++i) {
        const uint32_t task[2] = {i * 3, i}; // not 13 behind the first
        must(slr_send(port, address_of(first, i % 4), task, sizeof task, LONG));
    }
    must(slr_ring_terminate(first, LONG, NULL, NULL, NULL));
    must(slr_ring_terminate(second, LONG, NULL, NULL, &stats));
    assert_int_equal(stats.handled + stats.faulted, 1000);
    assert_int_equal(stats.faulted, 1); // 12 + 1
    slr_port_close(port);
    slr_ring_destroy(first);
    slr_ring_destroy(second);
    close_world(&w);
}

// What decided it, also where something else would have led to the same mode.
static void the_reason_of_the_mode_names_who_requested_it(void **state)
{
    static const char *const here[] = {"opencl:0", "vulkan:0", "webgpu:0", "cuda:0"};
    static const struct {
        const char *option, *why;
        slr_ring_mode mode;
        uint32_t keys;
    } cases[] = {
        {"", "the program requested batched mode by slr_ring_desc.mode", SLR_RING_RELAUNCHED, 0},
        {"", "the program requested batched mode by slr_ring_desc.mode", SLR_RING_RELAUNCHED, SLR_KEYS_U64},
        {"?ring=relaunch", "the program requested batched mode by slr_ring_desc.mode", SLR_RING_RELAUNCHED, 0},
        {"?ring=relaunch", "the device option ring=relaunch requests batched mode", 0, 0},
        {"?ring=relaunch", "the device option ring=relaunch requests batched mode", 0, SLR_KEYS_U64},
        {"", NULL, 0, SLR_KEYS_U64}, // what it has, unless none could be persistent here
    };
    (void)state;
    EACH_HERE(i, here)
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        struct world w;
        char spec[64];
        slr_ring *ring;
        snprintf(spec, sizeof spec, "%s%s", here[i], cases[k].option);
        open_world(&w, spec);
        slr_ring_desc desc = describe(&w, "each", 4);
        desc.mode = cases[k].mode;
        desc.keys = cases[k].keys;
        must(slr_ring_create(w.device, &desc, &ring));
        assert_int_equal(stats_of(ring).mode, SLR_RING_RELAUNCHED);
        bool never = strncmp(here[i], "webgpu", 6) == 0;
        assert_string_equal(stats_of(ring).mode_reason, cases[k].why ? cases[k].why
                                                        : never ? "WebGPU shows the host no memory while a kernel runs"
                                                                : "it has keys");
        slr_ring_destroy(ring);
        close_world(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instances_have_their_messages_in_order_and_faults_reset_them),
        cmocka_unit_test(blocks_handle_messages_as_on_the_cpu),
        cmocka_unit_test(fuel_of_loops_within_loops_suffices_for_as_many_turns),
        cmocka_unit_test(nothing_behind_a_judged_fault_is_handled),
        cmocka_unit_test(mode_is_chosen_for_one_ring_kernel),
        cmocka_unit_test(the_reason_of_the_mode_names_who_requested_it),
        cmocka_unit_test(what_a_dispatch_cannot_do_is_refused_with_the_reason),
    };
    if (SANITIZED)
        return 77; // skipped
    return cmocka_run_group_tests(tests, NULL, NULL);
}
