// SPDX-License-Identifier: Apache-2.0
// Handlers that run past handler_timeout_ns: abandoned, while everything else goes on.
#include "tests/ring/failure_test.h"

// A handler that takes no notice of anybody: value 1 is answered at once; 2 overruns until it is let go, then replies,
// writes its state and its message's copy is read again.
struct sleeper {
    uint32_t held, inside, returned; // atomic
    uint32_t misread;                // messages that changed under the handler
    uint32_t late;                   // replies of theirs that were taken, to go nowhere
};

static slr_status sleep_on(void *user, const slr_delivery *delivery)
{
    struct sleeper *s = user;
    const uint32_t *value = delivery->message;
    uint32_t *state = delivery->state;
    if (value[0] != 2) {
        ++*state;
        return slr_reply_to(delivery, state, sizeof *state);
    }
    uint32_t told = value[1];
    __atomic_fetch_add(&s->inside, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&s->held, __ATOMIC_ACQUIRE))
        slri_sleep_ns(MS);
    *state = 1000000; // to nobody's harm
    if (value[0] != 2 || value[1] != told)
        __atomic_fetch_add(&s->misread, 1, __ATOMIC_RELAXED);
    if (slr_reply_to(delivery, state, sizeof *state) == SLR_OK)
        __atomic_fetch_add(&s->late, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&s->returned, 1, __ATOMIC_ACQ_REL);
    return SLR_OK;
}

static struct sleeper s;

static slr_ring_desc describe(const char *name)
{
    memset(&s, 0, sizeof s);
    s.held = 1;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.on_message = sleep_on;
    desc.user = &s;
    desc.message_bytes = 8;
    desc.reply_bytes = desc.state_bytes = 4;
    desc.handler_timeout_ns = 300 * MS;
    return desc;
}

static slr_status send_two(slr_port *port, slr_address to, uint32_t first, uint32_t second)
{
    return slr_send(port, to, (uint32_t[]){first, second}, 8, LONG);
}

static slr_status call_two(slr_port *port, slr_address to, uint32_t first, uint32_t *reply)
{
    return slr_call(port, to, (uint32_t[]){first, 0}, 8, reply, 4, LONG);
}

static void overrunning_handler_fails_its_ring_kernel_and_nobody_else(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=1"); // so that all share a worker
    static struct counter c;
    memset(&c, 0, sizeof c);
    slr_ring_desc desc = describe("stuck"), other_desc = describe_counter("other", &c);
    slr_ring *ring = start_ring(device, &desc), *other = start_ring(device, &other_desc);
    slr_port *port = open_port(device);
    slr_address to = address_of(ring, 0);
    uint32_t reply;
    slr_reply about;
    must(call_two(port, to, 1, &reply));
    must(slr_ring_deactivate(ring, LONG));
    for (uint32_t i = 0; i < 5; ++i) // one batch
        must(send_two(port, to, i == 2 ? 2 : 1, i));
    must(slr_ring_reactivate(ring, LONG));
    must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG)); // the handler still runs
    wait_until_is(&s.inside, 1);
    for (uint32_t i = 1; i <= 100; ++i)
        assert_int_equal(call_word(port, address_of(other, 0), i), i);
    slr_ring_stats stats = stats_of(ring);
    assert_int_equal(stats.handled, 3);
    assert_int_equal(stats.faulted, 1);
    assert_int_equal(stats.pending, 2);
    check_sum(&stats);
    assert_non_null(strstr(stats.last_failure, "ran for more than 300000000 ns"));
    assert_string_equal(stats.last_fault, "instance 0: the handler ran past handler_timeout_ns and was abandoned");
    refuses(slr_ring_checkpoint(ring, LONG), WRONG_STATE, "restart the ring kernel first");
    refuses(slr_ring_snapshot(ring, 0, &reply, sizeof reply, LONG), WRONG_STATE, "restart the ring kernel first");
    refuses(slr_ring_restore(ring, 0, NULL, 0, LONG), WRONG_STATE, "restart the ring kernel first");
    for (uint32_t i = 0; i < 3; ++i) {
        must(slr_receive(port, &about, &reply, 4, LONG));
        assert_int_equal(about.status, i == 2 ? SLR_HANDLER_FAULT : SLR_OK);
    }
    gives(slr_receive(port, &about, &reply, 4, LONG), RING_FAILED);

    must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG)); // the handler runs even now
    for (uint32_t i = 1; i <= 2; ++i) {
        must(slr_receive(port, &about, &reply, 4, LONG));
        assert_int_equal(reply, i);
    }
    for (uint32_t i = 3; i < 50; ++i) {
        must(call_two(port, to, 1, &reply));
        assert_int_equal(reply, i);
    }
    assert_int_equal(__atomic_load_n(&s.returned, __ATOMIC_ACQUIRE), 0);
    __atomic_store_n(&s.held, 0, __ATOMIC_RELEASE);
    wait_until_is(&s.returned, 1);
    for (uint32_t i = 50; i < 100; ++i) {
        must(call_two(port, to, 1, &reply));
        assert_int_equal(reply, i); // what the late one wrote went nowhere
    }
    assert_int_equal(s.misread, 0);
    assert_int_equal(s.late, 1);
    stats = stats_of(ring);
    assert_int_equal(stats.faulted, 1);
    check_sum(&stats);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_ring_destroy(other);
    slr_device_close(device);
}

// Several at a time, of all workers, each let go only when everything it belonged to is gone.
static void what_an_abandoned_handler_uses_outlives_ring_kernel_and_device(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=2");
    slr_ring_desc desc = describe("gone");
    desc.instances = 4;
    desc.handler_timeout_ns = 10 * MS;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t round = 1; round <= 3; ++round) {
        for (uint32_t i = 0; i < 4; ++i)
            send_two(port, address_of(ring, i), i < 2 ? 2 : 1, 0); // may be refused: it has failed already
        must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
        slr_ring_stats stats = stats_of(ring);
        check_sum(&stats);
        if (round < 3)
            must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
    }
    for (uint64_t deadline = slri_deadline_after(LONG); __atomic_load_n(&s.inside, __ATOMIC_ACQUIRE) < 3;) {
        assert_false(slri_passed(deadline)); // one may have been abandoned before its first line
        slri_sleep_ns(MS);
    }
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
    __atomic_store_n(&s.held, 0, __ATOMIC_RELEASE);
    for (uint64_t deadline = slri_deadline_after(LONG);
         __atomic_load_n(&s.returned, __ATOMIC_ACQUIRE) != __atomic_load_n(&s.inside, __ATOMIC_ACQUIRE);) {
        assert_false(slri_passed(deadline));
        slri_sleep_ns(MS);
    }
    assert_int_equal(s.misread, 0);
}

static void terminate_does_not_wait_for_an_abandoned_handler(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=1");
    slr_ring_desc desc = describe("ending");
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 3; ++i)
        must(send_two(port, address_of(ring, 0), i == 0 ? 2 : 1, 0));
    wait_until_is(&s.inside, 1);
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, LONG, NULL, NULL, &stats)); // draining when it is abandoned
    assert_int_equal(stats.state, SLR_RING_TERMINATED);
    assert_int_equal(stats.faulted, 1);
    assert_int_equal(stats.undelivered, 2);
    check_sum(&stats);
    __atomic_store_n(&s.held, 0, __ATOMIC_RELEASE);
    wait_until_is(&s.returned, 1);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void handlers_within_their_time_are_left_alone(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("good");
    desc.handler_timeout_ns = 20 * SECOND;
    desc.max_replies = 2;
    desc.instances = 3;
    s.held = 0;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    uint32_t reply;
    for (uint32_t i = 0; i < 20000; ++i) {
        must(call_two(port, address_of(ring, i % 3), 1, &reply));
        assert_int_equal(reply, i / 3 + 1);
    }
    must(call_two(port, address_of(ring, 0), 2, &reply));
    assert_int_equal(reply, 1000000);
    must(slr_ring_checkpoint(ring, LONG));
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void overrun_kernel_handler_on(const char *spec, uint64_t fuel)
{
    static const char source[] = "struct task { int turns; };\n"
                                 "struct tally { int runs; };\n"
                                 "__ring__ void work(struct tally *tally, const struct task *task, int *out)\n"
                                 "{\n"
                                 "    tally->runs += 1;\n"
                                 "    for (int i = 0; i < task->turns; i++) out[i & 3] += i;\n"
                                 "    ring_reply(&tally->runs);\n"
                                 "}\n";
    slr_device *device = open_device(spec);
    slr_program *program;
    slr_buffer *out;
    must(slr_program_from_text(device, "long.cu", source, NULL, &program));
    must(slr_buffer_create(device, 16, &out));
    slr_binding binding = {.name = "out", .buffer = out};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = program;
    desc.bindings = &binding;
    desc.binding_count = 1;
    desc.handler_timeout_ns = 100 * MS;
    desc.fuel = fuel; // ends it, well past that
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    int turns = 2000000000, runs;
    slr_status status = slr_call(port, address_of(ring, 0), &turns, 4, &runs, 4, LONG);
    assert_int_equal(status, SLR_HANDLER_FAULT);
    must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
    must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
    turns = 0;
    for (int i = 1; i < 100; ++i) {
        must(slr_call(port, address_of(ring, 0), &turns, 4, &runs, 4, LONG));
        assert_int_equal(runs, i);
    }
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_program_destroy(program); // the abandoned handler's thread holds what it runs on
    slr_buffer_destroy(out);
    slr_device_close(device);
}

static void kernel_handler_that_overruns_is_abandoned_too(void **state)
{
    (void)state;
    skip_on_another_ring_device();
    overrun_kernel_handler_on("cpu?engine=compiled", 1u << 30);
    overrun_kernel_handler_on("cpu?engine=interpreted", 1u << 26);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overrunning_handler_fails_its_ring_kernel_and_nobody_else),
        cmocka_unit_test(what_an_abandoned_handler_uses_outlives_ring_kernel_and_device),
        cmocka_unit_test(terminate_does_not_wait_for_an_abandoned_handler),
        cmocka_unit_test(handlers_within_their_time_are_left_alone),
        cmocka_unit_test(kernel_handler_that_overruns_is_abandoned_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
