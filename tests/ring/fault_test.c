// SPDX-License-Identifier: Apache-2.0
// A handler that faults: that message, and nothing else. Host handlers, and kernel handlers on both engines.
#include "tests/ring/ring_test.h"

// ---- host handlers ------------------------------------------------------------------------------------------------

// Replies with its state and counts it up; a message of 0 replies, then ends with an error.
static slr_status refuse_zero(void *user, const slr_delivery *delivery)
{
    uint32_t *count = delivery->state;
    const uint32_t *value = delivery->message;
    (void)user;
    must(slr_reply_to(delivery, count, 4));
    ++*count;
    return *value ? SLR_OK : SLR_UNSUPPORTED;
}

static void error_of_a_host_handler_faults_its_message_alone(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    uint32_t first = 50, got = 0;
    desc.name = "host";
    desc.on_message = refuse_zero;
    desc.message_bytes = desc.reply_bytes = desc.state_bytes = 4;
    desc.initial_state = &first;
    desc.instances = 3;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    slr_address to = address_of(ring, 1), other = address_of(ring, 2);
    assert_string_equal(stats_of(ring).last_fault, "");
    must(slr_call(port, other, &(uint32_t){1}, 4, &got, 4, LONG));
    for (uint32_t i = 0; i < 5; ++i) {
        must(slr_call(port, to, &(uint32_t){1}, 4, &got, 4, LONG));
        assert_int_equal(got, 50 + i);
    }
    slr_send_options options = {.correlation = 99, .priority = SLR_PRIORITY(7)};
    must(slr_send_with(port, to, &(uint32_t){0}, 4, &options, 0));
    slr_reply notice;
    must(slr_receive(port, &notice, NULL, 0, LONG)); // needs no room
    assert_int_equal(notice.status, SLR_HANDLER_FAULT);
    assert_int_equal(notice.bytes, 0);
    assert_int_equal(notice.correlation, 99);
    assert_int_equal(notice.priority, 7);
    assert_memory_equal(&notice.from, &to, sizeof to);
    refuses(slr_call(port, to, &(uint32_t){0}, 4, &got, 4, LONG), HANDLER_FAULT, "ring kernel 'host'");
    gives(slr_call(NULL, to, &(uint32_t){0}, 4, &got, 4, LONG), HANDLER_FAULT);
    must(slr_call(port, to, &(uint32_t){1}, 4, &got, 4, LONG));
    assert_int_equal(got, 50); // its instance began anew
    must(slr_call(port, other, &(uint32_t){1}, 4, &got, 4, LONG));
    assert_int_equal(got, 51); // the others went on
    slr_ring_stats stats = stats_when_pending(ring, 0);
    assert_int_equal(stats.state, SLR_RING_ACTIVE);
    assert_int_equal(stats.faulted, 3);
    assert_int_equal(stats.handled, 8);
    assert_int_equal(stats.replied, 11);
    assert_string_equal(stats.last_fault, "instance 1: the host function returned an error: SLR_UNSUPPORTED");
    check_sum(&stats);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void fault_is_one_notice_even_where_several_replies_were_written(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct handler h;
    h = (struct handler){.replies = 3, .fail_each = 2};
    slr_ring_desc desc = describe_ring("notices", &h);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 200; ++i) {
        uint32_t value;
        must(send_value(port, address_of(ring, 0), i, 0));
        if (i % 2) {
            gives(receive_value(port, &value, LONG), HANDLER_FAULT);
            continue;
        }
        for (uint32_t k = 0; k < 3; ++k) {
            must(receive_value(port, &value, LONG));
            assert_int_equal(value, i);
        }
    }
    slr_ring_stats stats = stats_when_pending(ring, 0);
    assert_int_equal(stats.faulted, 100);
    assert_int_equal(stats.replied, 400);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- kernel handlers ----------------------------------------------------------------------------------------------

static const char source[] = "#include <slipring/device.h>\n"
                             "struct task { int what, by; };\n"
                             "struct tally { int runs; int table[8]; };\n"
                             "__ring__ void work(struct tally *tally, const struct task *task, const int *data)\n"
                             "{\n"
                             "    tally->runs += 1;\n"
                             "    int result = tally->runs;\n"
                             "    if (task->what == 1) result = 100 / task->by;\n"
                             "    if (task->what == 2) tally->table[task->by] = 1;\n"
                             "    if (task->what == 3) result = data[task->by];\n"
                             "    if (task->what == 4) while (task->by != 0) result += 1;\n"
                             "    ring_reply(&result);\n"
                             "    if (task->what == 5) ring_reply(&result);\n"
                             "}\n";

struct task {
    int what, by;
};

static const struct fault_case {
    struct task task;
    uint32_t line;
    const char *says;
} cases[] = {
    {{1, 0}, 8, "integer division by zero"},
    {{2, 8}, 9, "index outside its array"},
    {{2, -1}, 9, "index outside its array"},
    {{3, 4}, 10, "access outside a bound buffer"},
    {{4, 1}, 11, "out of fuel"},
    {{5, 0}, 13, "more replies than the ring kernel's max_replies"},
};

static void check_fault(slr_ring *ring, slr_port *port, const struct fault_case *c)
{
    int result;
    slr_address to = address_of(ring, 1), other = address_of(ring, 0);
    struct task plain = {0, 0};
    must(slr_call(port, other, &plain, sizeof plain, &result, 4, LONG));
    int others = result;
    must(slr_call(port, to, &plain, sizeof plain, &result, 4, LONG));
    uint64_t before = stats_when_pending(ring, 0).faulted;
    gives(slr_call(port, to, &c->task, sizeof c->task, &result, 4, LONG), HANDLER_FAULT);
    slr_ring_stats stats = stats_when_pending(ring, 0);
    assert_int_equal(stats.faulted, before + 1);
    assert_int_equal(stats.state, SLR_RING_ACTIVE);
    check_sum(&stats);
    char place[64];
    snprintf(place, sizeof place, "faults.cu:%u: instance 1: ", c->line);
    if (!strstr(stats.last_fault, place) || !strstr(stats.last_fault, c->says))
        fail_msg("\"%s\" is not \"%s%s\"", stats.last_fault, place, c->says);
    must(slr_call(port, to, &plain, sizeof plain, &result, 4, LONG));
    assert_int_equal(result, 1); // reset
    must(slr_call(port, other, &plain, sizeof plain, &result, 4, LONG));
    assert_int_equal(result, others + 1); // untouched
}

static void check_faults_on(const char *spec)
{
    slr_device *device = open_device(spec);
    slr_program *program;
    slr_buffer *data;
    must(slr_program_from_text(device, "faults.cu", source, NULL, &program));
    must(slr_buffer_create(device, 4 * sizeof(int), &data));
    slr_binding binding = {.name = "data", .buffer = data};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = program;
    desc.bindings = &binding;
    desc.binding_count = 1;
    desc.instances = 2;
    desc.fuel = 1000;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    slr_program_destroy(program); // the ring kernel holds both
    slr_buffer_destroy(data);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        check_fault(ring, port, &cases[i]);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void kernel_handlers_fault_is_its_message_alone_compiled(void **state)
{
    (void)state;
    check_faults_on("cpu?engine=compiled");
}

static void kernel_handlers_fault_is_its_message_alone_interpreted(void **state)
{
    (void)state;
    check_faults_on("cpu?engine=interpreted");
}

static void kernel_handlers_fault_is_its_message_alone_on_a_device_that_keeps_it(void **state)
{
    (void)state;
    static const char *const specs[] = {"opencl:0?ring=persistent"};
    EACH_HERE(i, specs)
    check_faults_on(specs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_of_a_host_handler_faults_its_message_alone),
        cmocka_unit_test(fault_is_one_notice_even_where_several_replies_were_written),
        cmocka_unit_test(kernel_handlers_fault_is_its_message_alone_compiled),
        cmocka_unit_test(kernel_handlers_fault_is_its_message_alone_interpreted),
        cmocka_unit_test(kernel_handlers_fault_is_its_message_alone_on_a_device_that_keeps_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
