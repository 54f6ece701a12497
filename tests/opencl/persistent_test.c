// SPDX-License-Identifier: Apache-2.0
// Ring kernels that are kernels which never return, on whatever OpenCL is here (PoCL in CI): their owners are groups of
// the device, and a thread of the host only watches them. SLIPRING_TEST_RING_DEVICE names another device: on Vulkan one
// ring kernel at a time stays.
#include "tests/opencl/staying.h"

#include "engine/resident.h"
#include "ring/ring.h"

// Gives its state's count, and what its bindings hold. 0xdead faults; 0xbeef runs for as many turns as `port` says.
static const char source[] =
    "struct message { unsigned value, port; };\n"
    "struct count { unsigned one, other; };\n"
    "__ring__ void counts(struct count *self, const struct message *in, const unsigned *table, unsigned add)\n"
    "{\n"
    "    self->one += 1;\n"
    "    for (unsigned i = 0; i < (in->value == 0xbeefu ? in->port : 0u); ++i) self->other ^= i * self->one;\n"
    "    unsigned divisor = in->value == 0xdeadu ? 0u : 1u;\n"
    "    self->other = self->one / divisor;\n"
    "    struct message out = {in->value + table[in->value % 4u] + add, self->one};\n"
    "    ring_reply(&out);\n"
    "}\n"
    // A block of 48: the sum of what its threads make of the value, told by the last one, which faults at 13.
    "__ring_block__ void __launch_bounds__(48) block(struct count *self, const struct message *in)\n"
    "{\n"
    "    __shared__ unsigned sum;\n"
    "    atomicAdd(&sum, in->value + threadIdx.x);\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x == 0) self->one += 1;\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x < 47) return;\n"
    "    struct message out = {sum / (in->value - 13u ? 1u : 0u), self->one};\n"
    "    ring_reply(&out);\n"
    "}\n"
    "__global__ void add_one(unsigned *to) { to[threadIdx.x] += 1u; }\n";

struct bench { // a device, the program, its bindings
    slr_device *device;
    slr_program *program;
    slr_buffer *table;
    slr_binding binding[2];
    uint32_t add;
    bool has_one; // group, for one ring kernel
    bool has_clock;
};

static struct bench bench;

// Skips where there is no OpenCL, or none on which a kernel can stay.
static int set_up(void **state)
{
    static const uint32_t table[4] = {100, 200, 300, 400};
    (void)state;
    const char *instead = getenv("SLIPRING_TEST_RING_DEVICE"), *spec = instead ? instead : "opencl:0?ring=persistent";
    if ((SANITIZED && !instead) || !is_here(spec))
        return 0;
    bench = (struct bench){.add = 5};
    bench.device = open_where_kernels_stay(spec);
    if (!bench.device)
        return 0;
    slr_device_info info;
    must(slr_device_get_info(bench.device, &info));
    bench.has_one = strcmp(info.backend, "vulkan") == 0;
    bench.has_clock = strcmp(info.backend, "cuda") == 0 || strstr(info.features, "device_clock") != NULL;
    must(slr_program_from_text(bench.device, "counts.cu", source, NULL, &bench.program));
    must(slr_buffer_create(bench.device, sizeof table, &bench.table));
    must(slr_buffer_write(bench.table, 0, table, sizeof table));
    bench.binding[0] = (slr_binding){.name = "table", .buffer = bench.table};
    bench.binding[1] = (slr_binding){.name = "add", .scalar = &bench.add, .bytes = sizeof bench.add};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (!bench.device)
        return 0;
    slr_buffer_destroy(bench.table);
    slr_program_destroy(bench.program);
    slr_device_close(bench.device);
    bench.device = NULL;
    return 0;
}

static slr_ring_desc describe(const char *name, uint32_t instances)
{
    if (!bench.device)
        skip();
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.program = bench.program;
    desc.handler = "counts";
    desc.bindings = bench.binding;
    desc.binding_count = 2;
    desc.instances = instances;
    return desc;
}

static uint32_t ask(slr_port *port, slr_address to, uint32_t value, uint32_t *count)
{
    struct message message = {.value = value}, reply = {0};
    must(slr_call(port, to, &message, sizeof message, &reply, sizeof reply, LONG));
    *count = reply.port;
    return reply.value;
}

static void end(slr_ring *ring, uint64_t handled, uint64_t faulted)
{
    must(slr_ring_close_input(ring));
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
    slr_ring_stats stats = stats_of(ring);
    check_sum(&stats);
    assert_int_equal(stats.handled, handled);
    assert_int_equal(stats.faulted, faulted);
    assert_int_equal(stats.pending, 0);
    slr_ring_destroy(ring);
}

// ---- messages ------------------------------------------------------------------------------------------------------

static void messages_of_an_instance_are_handled_in_order_each_once(void **state)
{
    (void)state;
    enum { MESSAGES = 20000, INSTANCES = 7 };
    slr_ring_desc desc = describe("order", INSTANCES);
    desc.queue_size = 64;
    desc.max_batch = 128; // more than such an owner claims
    slr_ring *ring = start_ring(bench.device, &desc);
    slr_ring_stats stats = stats_of(ring);
    assert_int_equal(stats.mode, SLR_RING_PERSISTENT);
    assert_string_equal(stats.mode_reason, "");
    slr_port *port = open_port(bench.device);
    uint32_t received = 0, next[INSTANCES] = {0};
    for (uint32_t sent = 0; received < MESSAGES;) {
        struct message message = {.value = sent}, reply;
        slr_reply head;
        uint64_t wait_ns = received == sent ? LONG : 0; // there may be no room for a moment longer
        if (sent < MESSAGES &&
            slr_send(port, address_of(ring, sent % INSTANCES), &message, sizeof message, wait_ns) == SLR_OK) {
            ++sent;
            continue;
        }
        must(slr_receive(port, &head, &reply, sizeof reply, LONG));
        uint32_t instance = head.from.instance, k = next[instance]++, value = k * INSTANCES + instance;
        assert_int_equal(reply.port, k + 1);
        assert_int_equal(reply.value, value + 100 + value % 4 * 100 + 5);
        ++received;
    }
    slr_latency latency;
    must(slr_ring_get_latency(ring, &latency));
    assert_int_equal(latency.every, bench.has_clock ? 256 : 0); // nobody times them: absent, not 0 ns
    slr_port_close(port);
    end(ring, MESSAGES, 0);
}

// More of them than groups: some groups serve several, and each is launched again when it gets one more.
static void a_block_handles_message_after_message(void **state)
{
    (void)state;
    enum { MESSAGES = 300, INSTANCES = 3 };
    slr_ring_desc desc = describe("block", INSTANCES);
    desc.handler = "block";
    desc.binding_count = 0;
    desc.queue_size = 2 * MESSAGES;
    slr_ring *ring = start_ring(bench.device, &desc);
    assert_int_equal(stats_of(ring).mode, SLR_RING_PERSISTENT);
    slr_port *port = open_port(bench.device);
    uint32_t faulted = 0, count[INSTANCES] = {0}, next[INSTANCES];
    for (uint32_t i = 0; i < MESSAGES; ++i)
        must(send_value(port, address_of(ring, i % INSTANCES), i % 50, LONG));
    for (uint32_t i = 0; i < INSTANCES; ++i)
        next[i] = i;
    for (uint32_t i = 0; i < MESSAGES; ++i) {
        struct message reply;
        slr_reply head;
        must(slr_receive(port, &head, &reply, sizeof reply, LONG));
        uint32_t instance = head.from.instance, value = next[instance] % 50;
        next[instance] += INSTANCES;
        assert_int_equal(head.status, value == 13 ? SLR_HANDLER_FAULT : SLR_OK);
        count[instance] = value == 13 ? 0 : count[instance] + 1;
        faulted += value == 13;
        if (value == 13)
            continue;
        assert_int_equal(reply.value, 48 * value + 47 * 48 / 2);
        assert_int_equal(reply.port, count[instance]);
    }
    slr_ring_stats stats = stats_of(ring);
    assert_non_null(strstr(stats.last_fault, "division by zero"));
    slr_port_close(port);
    end(ring, MESSAGES - faulted, faulted);
}

static void ring_kernels_of_one_handler_share_groups(void **state)
{
    (void)state;
    enum { RINGS = 20 };
    slr_ring *ring[RINGS];
    slr_port *port = NULL;
    const uint32_t turns = messages_of(50);
    if (bench.has_one)
        skip();
    for (uint32_t i = 0; i < RINGS; ++i) {
        char name[16];
        snprintf(name, sizeof name, "share%u", i);
        slr_ring_desc desc = describe(name, 2);
        ring[i] = start_ring(bench.device, &desc);
    }
    port = open_port(bench.device);
    for (uint32_t turn = 1; turn <= turns; ++turn)
        for (uint32_t i = 0; i < RINGS; ++i) {
            uint32_t count;
            assert_int_equal(ask(port, address_of(ring[i], 1), 4, &count), 109);
            assert_int_equal(count, turn);
        }
    slr_port_close(port);
    for (uint32_t i = 0; i < RINGS; ++i)
        end(ring[i], turns, 0);
}

static void idle_group_ends_and_the_next_message_starts_it_again(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("idle", 1);
    slr_ring *ring = start_ring(bench.device, &desc);
    slr_port *port = open_port(bench.device);
    uint32_t count;
    for (uint32_t turn = 1; turn <= 3; ++turn) {
        ask(port, address_of(ring, 0), 1, &count);
        assert_int_equal(count, turn);
        wait_until_is(&ring->shard[0].asleep, SLRI_ASLEEP);
        assert_int_equal(ring->shard[0].group.resident->running, 0);
    }
    slr_port_close(port);
    end(ring, 3, 0);
}

// ---- control -------------------------------------------------------------------------------------------------------

static void paused_ring_kernel_keeps_its_messages_until_it_goes_on(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("pause", 1);
    slr_ring *ring = start_ring(bench.device, &desc);
    slr_port *port = open_port(bench.device);
    uint32_t value;
    for (uint32_t turn = 0; turn < 20; ++turn) {
        must(slr_ring_deactivate(ring, LONG));
        if (turn == 5) // also where its group has gone meanwhile
            wait_until_is(&ring->shard[0].asleep, SLRI_ASLEEP_PAUSED);
        must(send_value(port, address_of(ring, 0), 4, LONG));
        assert_int_equal(stats_of(ring).handled, turn);
        must(slr_ring_reactivate(ring, LONG));
        must(receive_value(port, &value, LONG));
        assert_int_equal(value, 109);
    }
    slr_port_close(port);
    end(ring, 20, 0);
}

static void count_undelivered(void *user, const slr_undelivered *message)
{
    (void)message;
    ++*(uint32_t *)user;
}

static void terminate_hands_back_what_was_not_handled(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("terminate", 1);
    slr_ring *ring = start_ring(bench.device, &desc);
    slr_port *port = open_port(bench.device);
    uint32_t count, back = 0;
    ask(port, address_of(ring, 0), 1, &count);
    must(slr_ring_deactivate(ring, LONG));
    const struct message busy = {.value = 0xbeef, .port = getenv("SLIPRING_TEST_RING_DEVICE") ? 20000 : 2000000};
    for (uint32_t i = 0; i < 100; ++i)
        must(slr_send(port, address_of(ring, 0), &busy, sizeof busy, LONG));
    must(slr_ring_reactivate(ring, LONG)); // each takes some ms; handlers are interpreted on a simulated device
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, 1, count_undelivered, &back, &stats));
    check_sum(&stats);
    assert_int_equal(stats.accepted, 101);
    assert_int_equal(stats.undelivered, back);
    assert_true(back > 0);
    assert_int_equal(stats.handled, 101 - back);
    slr_port_close(port);
    slr_ring_destroy(ring);
}

static void states_are_read_and_written_between_two_messages(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("states", 2);
    const uint32_t initial[2] = {1000, 1000};
    desc.initial_state = initial;
    slr_ring *ring = start_ring(bench.device, &desc);
    slr_port *port = open_port(bench.device);
    uint32_t pair[2], sent = 0, count;
    for (uint32_t turn = 0; turn < 200; ++turn) {
        for (; sent < (turn + 1) * 20; ++sent)
            must(send_value(port, address_of(ring, 1), 1, LONG));
        must(slr_ring_snapshot(ring, 1, pair, sizeof pair, LONG)); // while they are handled
        assert_int_equal(pair[0], pair[1]);
        assert_true(pair[0] >= 1000 && pair[0] <= 1000 + sent);
        for (uint32_t value, i = 0; i < 20; ++i)
            must(receive_value(port, &value, LONG));
    }
    must(slr_ring_snapshot(ring, 1, pair, sizeof pair, LONG));
    assert_int_equal(pair[0], 1000 + sent);
    must(slr_ring_checkpoint(ring, LONG));
    must(slr_ring_restore(ring, 1, (uint32_t[2]){7, 7}, 8, LONG));
    ask(port, address_of(ring, 1), 1, &count);
    assert_int_equal(count, 8);
    must(slr_ring_restore(ring, 1, NULL, 0, LONG));
    ask(port, address_of(ring, 1), 1, &count);
    assert_int_equal(count, 1001);
    slr_port_close(port);
    end(ring, sent + 2, 0);
}

// ---- faults --------------------------------------------------------------------------------------------------------

static void fault_resets_its_instance_and_tells_its_sender(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("faults", 2);
    const uint32_t initial[2] = {10, 10};
    desc.initial_state = initial;
    slr_ring *ring = start_ring(bench.device, &desc);
    slr_port *port = open_port(bench.device);
    struct message bad = {.value = 0xdead}, reply;
    uint32_t count;
    for (uint32_t turn = 1; turn <= 5; ++turn) {
        ask(port, address_of(ring, 1), 1, &count);
        gives(slr_call(port, address_of(ring, 0), &bad, sizeof bad, &reply, sizeof reply, LONG), HANDLER_FAULT);
        ask(port, address_of(ring, 0), 1, &count);
        assert_int_equal(count, 11);
    }
    ask(port, address_of(ring, 1), 1, &count);
    assert_int_equal(count, 16);
    assert_non_null(strstr(stats_of(ring).last_fault, "counts.cu:8: instance 0: integer division by zero"));
    slr_port_close(port);
    end(ring, 11, 5);
}

// What is behind the fault is not handled before the host has judged it.
static void fault_fails_the_ring_kernel_where_its_policy_says_so(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("fails", 1);
    desc.fault_policy = SLR_FAULT_FAIL;
    slr_ring *ring = start_ring(bench.device, &desc);
    slr_port *port = open_port(bench.device);
    uint32_t value, count;
    ask(port, address_of(ring, 0), 1, &count);
    must(slr_ring_checkpoint(ring, LONG));
    must(slr_ring_deactivate(ring, LONG));
    for (uint32_t i = 0; i < 10; ++i)
        must(send_value(port, address_of(ring, 0), i == 4 ? 0xdead : 1, LONG));
    must(slr_ring_reactivate(ring, LONG));
    must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
    slr_ring_stats stats = stats_of(ring);
    check_sum(&stats);
    assert_int_equal(stats.handled, 5);
    assert_int_equal(stats.faulted, 1);
    assert_int_equal(stats.pending, 5);
    must(slr_ring_restart(ring, SLR_RESTART_CHECKPOINT, LONG));
    for (uint32_t i = 0; i < 10; ++i) {
        slr_status status = receive_value(port, &value, LONG);
        if (status == SLR_RING_FAILED) // is told once
            status = receive_value(port, &value, LONG);
        if (i == 4)
            gives(status, HANDLER_FAULT);
        else
            must(status);
    }
    ask(port, address_of(ring, 0), 1, &count);
    assert_int_equal(count, 1 + 5 + 1);
    slr_port_close(port);
    end(ring, 11, 1);
}

// ---- beside ordinary kernels ---------------------------------------------------------------------------------------

static void ordinary_launches_are_done_beside_resident_ring_kernels(void **state)
{
    (void)state;
    enum { RINGS = 4, LAUNCHES = 1000 };
    slr_ring *ring[RINGS];
    const uint32_t rings = bench.has_one ? 1 : RINGS, launches = bench.has_one ? 20 : LAUNCHES; // each ends the group
    for (uint32_t i = 0; i < rings; ++i) {
        char name[16];
        snprintf(name, sizeof name, "beside%u", i);
        slr_ring_desc desc = describe(name, 1);
        ring[i] = start_ring(bench.device, &desc);
    }
    slr_port *port = open_port(bench.device);
    slr_kernel *kernel;
    slr_buffer *buffer;
    slr_stream *stream;
    uint32_t words[32], count;
    must(slr_program_get_kernel(bench.program, "add_one", &kernel));
    must(slr_buffer_create(bench.device, sizeof words, &buffer));
    must(slr_stream_create(bench.device, NULL, &stream));
    for (uint32_t i = 0; i < launches; ++i) {
        must(SLR_LAUNCH(stream, kernel, slr_shape_1d_blocks(32, 32), buffer));
        ask(port, address_of(ring[i % rings], 0), 1, &count);
        assert_int_equal(count, i / rings + 1);
    }
    must(slr_stream_finish(stream, LONG));
    must(slr_buffer_read(buffer, 0, words, sizeof words));
    for (uint32_t i = 0; i < 32; ++i)
        assert_int_equal(words[i], launches);
    slr_stream_destroy(stream);
    slr_buffer_destroy(buffer);
    slr_kernel_destroy(kernel);
    slr_port_close(port);
    for (uint32_t i = 0; i < rings; ++i)
        end(ring[i], launches / rings, 0);
}

// ---- what cannot be ------------------------------------------------------------------------------------------------

static void what_needs_the_host_is_refused_with_the_reason(void **state)
{
    (void)state;
    slr_ring *ring;
    slr_ring_desc desc = describe("refused", 4);
    desc.linger_ns = 1000;
    refuses(slr_ring_create(bench.device, &desc, &ring), UNSUPPORTED, "it has linger_ns");
    desc.linger_ns = 0;
    desc.handler_timeout_ns = 1000000;
    refuses(slr_ring_create(bench.device, &desc, &ring), UNSUPPORTED, "it has handler_timeout_ns");
    desc.handler_timeout_ns = 0;
    desc.overflow = SLR_OVERFLOW_DROP_OLDEST;
    refuses(slr_ring_create(bench.device, &desc, &ring), UNSUPPORTED, "its overflow policy drops messages");
    if (bench.has_one)
        return;
    slr_ring_desc from = describe("from", 1), to = describe("to", 1);
    slr_ring *first = launch_ring(bench.device, &from), *second = launch_ring(bench.device, &to);
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    if (!bench.device->facts.passes_on)
        refuses(slr_route(first, second, &route), UNSUPPORTED, "set slr_ring_desc.mode to SLR_RING_RELAUNCHED");
    slr_ring_destroy(first);
    slr_ring_destroy(second);
}

// On a device where one ring kernel at a time stays: the next one does when that is over.
static void a_second_ring_kernel_is_refused_until_the_first_is_over(void **state)
{
    (void)state;
    slr_ring_desc desc = describe("one", 1);
    slr_ring *ring, *second;
    if (!bench.has_one)
        skip();
    for (uint32_t turn = 0; turn < 2; ++turn) {
        uint32_t count;
        ring = start_ring(bench.device, &desc);
        refuses(slr_ring_create(bench.device, &desc, &second), UNSUPPORTED, "only resident work-group");
        slr_port *port = open_port(bench.device);
        ask(port, address_of(ring, 0), 1, &count);
        assert_int_equal(count, 1);
        slr_port_close(port);
        end(ring, 1, 0);
    }
    must(slr_ring_create(bench.device, &desc, &ring)); // one that is never started keeps nothing
    must(slr_ring_launch(ring));
    slr_ring_destroy(ring);
    end(start_ring(bench.device, &desc), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_handles_message_after_message), // first: the others' handler keeps all groups
        cmocka_unit_test(messages_of_an_instance_are_handled_in_order_each_once),
        cmocka_unit_test(ring_kernels_of_one_handler_share_groups),
        cmocka_unit_test(idle_group_ends_and_the_next_message_starts_it_again),
        cmocka_unit_test(paused_ring_kernel_keeps_its_messages_until_it_goes_on),
        cmocka_unit_test(terminate_hands_back_what_was_not_handled),
        cmocka_unit_test(states_are_read_and_written_between_two_messages),
        cmocka_unit_test(fault_resets_its_instance_and_tells_its_sender),
        cmocka_unit_test(fault_fails_the_ring_kernel_where_its_policy_says_so),
        cmocka_unit_test(ordinary_launches_are_done_beside_resident_ring_kernels),
        cmocka_unit_test(what_needs_the_host_is_refused_with_the_reason),
        cmocka_unit_test(a_second_ring_kernel_is_refused_until_the_first_is_over),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
