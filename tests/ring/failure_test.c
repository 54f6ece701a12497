// SPDX-License-Identifier: Apache-2.0
// Failing by policy, what others see of it, checkpoints and restart.
#include "tests/ring/failure_test.h"

#include "ring/ring.h"

static struct counter c;

static slr_ring_desc describe(const char *name, uint32_t policy)
{
    memset(&c, 0, sizeof c);
    slr_ring_desc desc = describe_counter(name, &c);
    desc.fault_policy = policy;
    return desc;
}

// ---- policies -----------------------------------------------------------------------------------------------------
static void description_of_failures_is_checked(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring *ring;
    slr_ring_desc desc = describe("checked", 4);
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "fault_policy is 4");
    desc.fault_policy = SLR_FAULT_FAIL;
    desc.fault_limit = 3;
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "SLR_FAULT_LIMIT");
    desc.fault_policy = SLR_FAULT_LIMIT;
    desc.fault_limit = 65537;
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "fault_limit is 65537");
    desc.fault_limit = 0;
    desc.handler_timeout_ns = 999999;
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "handler_timeout_ns is 999999");
    slr_device_close(device);
}

static void faults_do_not_fail_a_ring_kernel_that_is_to_go_on(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("on", 0);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 100; ++i)
        must(send_word(port, address_of(ring, 0), i % 2 ? POISON : i));
    must(slr_ring_close_input(ring));
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
    slr_ring_stats stats = stats_of(ring);
    assert_int_equal(stats.handled, 50);
    assert_int_equal(stats.faulted, 50);
    assert_int_equal(stats.failures, 0);
    assert_string_equal(stats.last_failure, "");
    check_sum(&stats);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// 40 messages, the poison among them; they are one batch or more.
static void preload(slr_ring *ring, slr_port *port, const uint32_t *poisoned, uint32_t poisons)
{
    must(slr_ring_deactivate(ring, LONG));
    for (uint32_t i = 0; i < 40; ++i) {
        bool bad = false;
        for (uint32_t k = 0; k < poisons; ++k)
            bad = bad || poisoned[k] == i;
        must(send_word(port, address_of(ring, 0), bad ? POISON : i));
    }
    must(slr_ring_reactivate(ring, LONG));
}

static void first_fault_fails_it_and_what_is_pending_is_handled_in_order_after_a_restart(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("first", SLR_FAULT_FAIL);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    preload(ring, port, (uint32_t[]){10}, 1);
    must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
    slr_ring_stats stats = stats_of(ring);
    assert_int_equal(c.count, 10); // nothing behind it, though it was in the same batch
    assert_int_equal(stats.accepted, 40);
    assert_int_equal(stats.handled, 10);
    assert_int_equal(stats.faulted, 1);
    assert_int_equal(stats.pending, 29);
    assert_int_equal(stats.failures, 1);
    assert_string_equal(stats.last_failure, "a message faulted");
    refuses(send_word(port, address_of(ring, 0), 1), RING_FAILED, "'first' has failed: a message faulted");
    refuses(send_word(NULL, address_of(ring, 0), 1), RING_FAILED, "'first' has failed: a message faulted");
    slr_port *late = open_port(device);
    gives(send_word(late, address_of(ring, 0), 1), RING_FAILED);
    gives(slr_ring_reactivate(ring, 0), WRONG_STATE);
    gives(slr_ring_close_input(ring), WRONG_STATE);
    must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
    assert_int_equal(slr_ring_get_state(ring), SLR_RING_ACTIVE);
    assert_int_equal(call_word(port, address_of(ring, 0), 1000), 30); // 29 and itself, from the initial state
    for (uint32_t i = 0; i < 39; ++i)
        assert_int_equal(c.value[i], i < 10 ? i : i + 1);
    stats = stats_when_pending(ring, 0);
    assert_int_equal(stats.accepted, 41);
    assert_int_equal(stats.handled, 40);
    assert_int_equal(stats.faulted, 1);
    assert_int_equal(stats.restarts, 1);
    check_sum(&stats);
    slr_port_close(port);
    slr_port_close(late);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void more_faults_than_the_limit_within_the_window_fail_it(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("limit", SLR_FAULT_LIMIT);
    desc.fault_limit = 3;
    desc.fault_window_ns = 1000 * SECOND;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    slr_address to = address_of(ring, 0);
    for (uint32_t round = 1; round <= 2; ++round) { // a restart begins a new window
        preload(ring, port, (uint32_t[]){3, 5, 7, 9}, 4);
        must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
        slr_ring_stats stats = stats_of(ring);
        assert_int_equal(stats.faulted, 4 * round);
        assert_int_equal(stats.handled, 6 + 37 * (round - 1));
        assert_int_equal(stats.pending, 30);
        assert_int_equal(stats.failures, round);
        assert_non_null(strstr(stats.last_failure, "more than 3 messages faulted"));
        must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
        assert_int_equal(call_word(port, to, 1), 31);
        stats = stats_when_pending(ring, 0);
        assert_int_equal(stats.handled, 37 * round);
        check_sum(&stats);
    }
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void faults_further_apart_than_the_window_do_not_fail_it(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("apart", SLR_FAULT_LIMIT);
    desc.fault_limit = 1;
    desc.fault_window_ns = 1 * MS;
    slr_ring *ring = start_ring(device, &desc);
    uint32_t value = POISON, reply;
    for (uint32_t i = 0; i < 6; ++i) {
        gives(slr_call(NULL, address_of(ring, 0), &value, 4, &reply, 4, LONG), HANDLER_FAULT);
        slri_sleep_ns(40 * MS);
    }
    assert_int_equal(stats_when_pending(ring, 0).faulted, 6);
    assert_int_equal(stats_of(ring).state, SLR_RING_ACTIVE);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- texts --------------------------------------------------------------------------------------------------------

// A path of more bytes than a report's field has: what happened, and where in the file, is told all the same.
static void a_long_path_does_not_displace_the_reason(void **state)
{
    (void)state;
    char path[400] = "/", why[512];
    slr_device *device = open_device("cpu");
    slr_program *program;
    slr_ring_stats stats;
    slr_dead_letter letter;
    uint32_t zero = 0, taken;
    while (strlen(path) < 300)
        strcat(path, "a-folder/");
    strcat(path, "divide.cu");
    must(slr_program_from_text(device, path,
                               "struct m { unsigned by; };\n"
                               "__ring__ void divide(const struct m *in)\n"
                               "{ struct m out = {7u / in->by}; ring_reply(&out); }\n",
                               NULL, &program));
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = program;
    desc.dead_letters = 4;
    slr_ring *ring = start_ring(device, &desc);
    must(slr_send(NULL, address_of(ring, 0), &zero, sizeof zero, LONG));
    stats = stats_when_pending(ring, 0);
    assert_int_equal(stats.faulted, 1);
    assert_int_equal(strlen(stats.last_fault), sizeof stats.last_fault - 1);
    assert_non_null(strstr(stats.last_fault, "..."));
    assert_non_null(strstr(stats.last_fault, "/divide.cu:3: instance 0: integer division by zero"));
    assert_non_null(strstr(stats.first_fault, "/divide.cu:3:"));
    assert_non_null(strstr(stats.first_fault, ": instance 0: integer division by zero"));
    must(slr_ring_take_dead_letters(ring, &letter, &zero, sizeof zero, 1, &taken));
    assert_int_equal(taken, 1);
    assert_string_equal(letter.fault, stats.last_fault);
    snprintf(why, sizeof why, "the driver cannot open '%s': no such file", path);
    assert_true(slri_ring_fail(ring, why));
    stats = stats_of(ring);
    assert_int_equal(strlen(stats.last_failure), sizeof stats.last_failure - 1);
    assert_non_null(strstr(stats.last_failure, "the driver cannot open '/a-folder/"));
    assert_non_null(strstr(stats.last_failure, "/divide.cu': no such file"));
    slr_ring_destroy(ring);
    slr_program_destroy(program);
    slr_device_close(device);
}

// ---- who waits ----------------------------------------------------------------------------------------------------
struct waiter {
    slri_thread thread;
    slr_device *device;
    slr_ring *ring;
    uint32_t ready; // atomic
    slr_status status, again;
    slr_address from;
};

static void receive_until_it_fails(void *arg)
{
    struct waiter *w = arg;
    slr_port *port = open_port(w->device);
    uint32_t value;
    slr_reply reply;
    must(send_word(port, address_of(w->ring, 0), 1));
    must(slr_receive(port, &reply, &value, sizeof value, LONG));
    __atomic_store_n(&w->ready, 1, __ATOMIC_RELEASE);
    w->status = slr_receive(port, &reply, &value, sizeof value, LONG);
    w->from = reply.from;
    w->again = slr_receive(port, &reply, &value, sizeof value, 0);
    slr_port_close(port);
}

static void call_until_it_fails(void *arg)
{
    struct waiter *w = arg;
    uint32_t value = 2, reply;
    __atomic_store_n(&w->ready, 1, __ATOMIC_RELEASE);
    w->status = slr_call(NULL, address_of(w->ring, 0), &value, sizeof value, &reply, sizeof reply, LONG);
}

static void call_on_a_port_until_it_fails(void *arg)
{
    struct waiter *w = arg;
    slr_port *port = open_port(w->device);
    uint32_t value = 2, reply;
    __atomic_store_n(&w->ready, 1, __ATOMIC_RELEASE);
    w->status = slr_call(port, address_of(w->ring, 0), &value, sizeof value, &reply, sizeof reply, LONG);
    slr_port_close(port);
}

static void send_until_it_fails(void *arg)
{
    struct waiter *w = arg;
    slr_port *port = open_port(w->device);
    __atomic_store_n(&w->ready, 1, __ATOMIC_RELEASE);
    do
        w->status = send_word(port, address_of(w->ring, 0), 3);
    while (w->status == SLR_OK);
    slr_port_close(port);
}

static void waiters_of_all_sorts_learn_of_a_failure(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("seen", SLR_FAULT_FAIL);
    desc.queue_size = 16;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    struct waiter w[4];
    void (*const bodies[])(void *) = {receive_until_it_fails, call_until_it_fails, call_on_a_port_until_it_fails,
                                      send_until_it_fails};
    for (uint32_t i = 0; i < 4; ++i) {
        w[i] = (struct waiter){.device = device, .ring = ring};
        start_thread(&w[i].thread, bodies[i], &w[i]);
        wait_until_is(&w[i].ready, 1);
        if (i == 0) { // the poison goes first, and is held
            __atomic_store_n(&c.held, 1, __ATOMIC_RELEASE);
            must(send_word(port, address_of(ring, 0), POISON));
            wait_until_is(&c.inside, 1);
        }
    }
    while (stats_of(ring).pending != 16) // the sender waits for credit
        slri_sleep_ns(100000);
    slri_sleep_ns(2 * MS);
    __atomic_store_n(&c.held, 0, __ATOMIC_RELEASE);
    must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
    for (uint32_t i = 0; i < 4; ++i) {
        slri_thread_join(&w[i].thread);
        assert_int_equal(w[i].status, SLR_RING_FAILED);
    }
    slr_address to = address_of(ring, 0);
    assert_memory_equal(&w[0].from, &to, sizeof to);
    assert_int_equal(w[0].again, SLR_TIMEOUT); // told once
    slr_ring_stats stats = stats_of(ring);
    check_sum(&stats);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void each_failure_is_told_once_to_each_port_behind_its_replies(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("told", SLR_FAULT_FAIL);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    uint32_t value;
    slr_reply reply;
    for (uint32_t round = 0; round < 20; ++round) {
        must(send_word(port, address_of(ring, 0), round));
        must(send_word(port, address_of(ring, 0), POISON));
        must(slr_receive(port, &reply, &value, sizeof value, LONG));
        assert_int_equal(value, 1);
        must(slr_receive(port, &reply, &value, sizeof value, LONG));
        assert_int_equal(reply.status, SLR_HANDLER_FAULT);
        refuses(slr_receive(port, &reply, &value, sizeof value, LONG), RING_FAILED,
                "'told' has failed: a message faulted");
        assert_int_equal(reply.status, SLR_RING_FAILED);
        gives(slr_receive(port, &reply, &value, sizeof value, 0), TIMEOUT);
        must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
    }
    assert_int_equal(stats_of(ring).failures, 20);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- checkpoints --------------------------------------------------------------------------------------------------
static void restart_begins_from_the_checkpoint_or_from_the_initial_state(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("kept", SLR_FAULT_FAIL);
    uint32_t first = 50;
    desc.initial_state = &first;
    desc.instances = 5;
    slr_ring *ring = NULL;
    must(slr_ring_create(device, &desc, &ring));
    refuses(slr_ring_checkpoint(ring, 0), WRONG_STATE, "'kept' is created");
    must(slr_ring_launch(ring));
    must(slr_ring_activate(ring, LONG));
    gives(slr_ring_restart(ring, SLR_RESTART_INITIAL, 0), WRONG_STATE);
    for (uint32_t i = 0; i < 5; ++i)
        for (uint32_t k = 0; k <= i; ++k)
            assert_int_equal(call_word(NULL, address_of(ring, i), 1), 51 + k);
    poison(ring);
    refuses(slr_ring_restart(ring, SLR_RESTART_CHECKPOINT, LONG), WRONG_STATE, "needs a checkpoint");
    must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
    for (uint32_t i = 0; i < 5; ++i)
        for (uint32_t k = 0; k <= i; ++k)
            assert_int_equal(call_word(NULL, address_of(ring, i), 1), 51 + k);
    must(slr_ring_checkpoint(ring, LONG)); // while it runs
    assert_int_equal(slr_ring_get_state(ring), SLR_RING_ACTIVE);
    for (uint32_t i = 0; i < 5; ++i)
        assert_int_equal(call_word(NULL, address_of(ring, i), 1), 52 + i);
    for (uint32_t round = 0; round < 2; ++round) { // it is kept
        poison(ring);
        must(slr_ring_restart(ring, SLR_RESTART_CHECKPOINT, LONG));
        for (uint32_t i = 0; i < 5; ++i)
            assert_int_equal(call_word(NULL, address_of(ring, i), 1), 52 + i);
    }
    must(slr_ring_deactivate(ring, LONG));
    must(slr_ring_checkpoint(ring, LONG)); // while paused: the last one counts
    must(slr_ring_reactivate(ring, LONG));
    poison(ring);
    must(slr_ring_restart(ring, SLR_RESTART_CHECKPOINT, LONG));
    assert_int_equal(call_word(NULL, address_of(ring, 4), 1), 57);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void checkpoint_that_times_out_leaves_it_running(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("slow", 0);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    c.held = 1;
    must(send_word(port, address_of(ring, 0), 1));
    wait_until_is(&c.inside, 1);
    gives(slr_ring_checkpoint(ring, 5 * MS), TIMEOUT);
    __atomic_store_n(&c.held, 0, __ATOMIC_RELEASE);
    assert_int_equal(call_word(port, address_of(ring, 0), 2), 2);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- other states -------------------------------------------------------------------------------------------------
static void restart_of_a_draining_one_goes_on_draining(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("drain", SLR_FAULT_FAIL);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    must(slr_ring_deactivate(ring, LONG));
    for (uint32_t i = 0; i < 10; ++i)
        must(send_word(port, address_of(ring, 0), i == 4 || i == 9 ? POISON : i));
    must(slr_ring_close_input(ring));
    for (uint32_t round = 0; round < 2; ++round) {
        must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
        __atomic_store_n(&c.held, 1, __ATOMIC_RELEASE);
        must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
        if (round == 0)
            gives(send_word(port, address_of(ring, 0), 1), CLOSED);
        __atomic_store_n(&c.held, 0, __ATOMIC_RELEASE);
    }
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
    slr_ring_stats stats = stats_of(ring);
    assert_int_equal(stats.handled, 8);
    assert_int_equal(stats.faulted, 2);
    check_sum(&stats);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void count_undelivered(void *user, const slr_undelivered *undelivered)
{
    (void)undelivered;
    ++*(uint32_t *)user;
}

static void terminate_of_a_failed_one_hands_back_what_is_pending_without_waiting(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("ended", SLR_FAULT_FAIL);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    preload(ring, port, (uint32_t[]){5}, 1);
    must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
    uint32_t count = 0;
    slr_ring_stats stats;
    uint64_t before = slri_now_ns();
    must(slr_ring_terminate(ring, 60 * SECOND, count_undelivered, &count, &stats));
    assert_true(slri_now_ns() - before < 30 * SECOND); // handles nothing: no reason to use the time up
    assert_int_equal(count, 34);
    assert_int_equal(stats.undelivered, 34);
    assert_int_equal(stats.handled, 5);
    assert_int_equal(stats.pending, 0);
    check_sum(&stats);
    refuses(slr_ring_restart(ring, SLR_RESTART_INITIAL, 0), WRONG_STATE, "terminated");
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void kernel_handlers_trap_fails_and_restarts_on(const char *spec)
{
    static const char source[] = "struct task { int by; };\n"
                                 "struct tally { int runs; };\n"
                                 "__ring__ void work(struct tally *tally, const struct task *task)\n"
                                 "{\n"
                                 "    tally->runs += 1;\n"
                                 "    int result = tally->runs + 0 / task->by;\n"
                                 "    ring_reply(&result);\n"
                                 "}\n";
    slr_device *device = open_device(spec);
    slr_program *program;
    must(slr_program_from_text(device, "trap.cu", source, NULL, &program));
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = program;
    desc.instances = 3;
    desc.fault_policy = SLR_FAULT_FAIL;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    int by = 1, result;
    for (uint32_t round = 0; round < 3; ++round) {
        for (uint32_t k = 0; k < 4; ++k)
            must(slr_call(port, address_of(ring, 2), &by, 4, &result, 4, LONG));
        assert_int_equal(result, 4);
        gives(slr_call(port, address_of(ring, 1), &(int){0}, 4, &result, 4, LONG), HANDLER_FAULT);
        must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
        must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
    }
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_program_destroy(program);
    slr_device_close(device);
}

static void kernel_handlers_trap_fails_it_too(void **state)
{
    (void)state;
    kernel_handlers_trap_fails_and_restarts_on("cpu?engine=compiled");
    kernel_handlers_trap_fails_and_restarts_on("cpu?engine=interpreted");
    static const char *const specs[] = {"opencl:0?ring=persistent"};
    EACH_HERE(i, specs)
    kernel_handlers_trap_fails_and_restarts_on(specs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(description_of_failures_is_checked),
        cmocka_unit_test(faults_do_not_fail_a_ring_kernel_that_is_to_go_on),
        cmocka_unit_test(a_long_path_does_not_displace_the_reason),
        cmocka_unit_test(first_fault_fails_it_and_what_is_pending_is_handled_in_order_after_a_restart),
        cmocka_unit_test(more_faults_than_the_limit_within_the_window_fail_it),
        cmocka_unit_test(faults_further_apart_than_the_window_do_not_fail_it),
        cmocka_unit_test(waiters_of_all_sorts_learn_of_a_failure),
        cmocka_unit_test(each_failure_is_told_once_to_each_port_behind_its_replies),
        cmocka_unit_test(restart_begins_from_the_checkpoint_or_from_the_initial_state),
        cmocka_unit_test(checkpoint_that_times_out_leaves_it_running),
        cmocka_unit_test(restart_of_a_draining_one_goes_on_draining),
        cmocka_unit_test(terminate_of_a_failed_one_hands_back_what_is_pending_without_waiting),
        cmocka_unit_test(kernel_handlers_trap_fails_it_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
