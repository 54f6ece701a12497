// SPDX-License-Identifier: Apache-2.0
// A device that is lost and opened again, on a driver that is simulated: ring kernels fail and are restarted, with what
// was pending, and, where it was asked for, with what was in doubt.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/residence.h"

#include "base/clock.h"
#include "base/thread.h"

#define RELAUNCHED "cuda:0?ring=relaunch"
#define PERSISTENT "cuda:0?ring=persistent"

// A ring kernel beside the residence's own, paused, with 5 messages in its mailbox.
static slr_ring *start_paused(struct residence *r, const char *name, uint32_t redeliver)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.handler = "counts";
    desc.program = r->program;
    desc.redeliver = redeliver;
    slr_ring *ring = start_ring(r->device, &desc);
    must(slr_ring_deactivate(ring, LONG));
    for (uint32_t i = 0; i < 5; ++i)
        must(send_value(r->port, address_of(ring, 0), i, LONG));
    return ring;
}

// Past what is told once: that ring kernels have failed, and that those before have ended.
static slr_status receive(struct residence *r, slr_reply *reply, struct message *message, uint64_t timeout_ns)
{
    slr_status status = SLR_RING_FAILED;
    while (status == SLR_RING_FAILED || status == SLR_END)
        status = slr_receive(r->port, reply, message, sizeof *message, timeout_ns);
    return status;
}

static void check_replies(struct residence *r, uint32_t from, uint32_t to, uint32_t redelivered)
{
    struct message message;
    slr_reply reply;
    for (uint32_t i = from; i < to; ++i) {
        must(receive(r, &reply, &message, LONG));
        assert_int_equal(message.value, i + 1);
        assert_int_equal(reply.redelivered, redelivered);
    }
}

static void what_is_in_doubt_is_counted_or_redelivered(void **state)
{
    (void)state;
    for (uint32_t redeliver = 0; redeliver < 2; ++redeliver) {
        struct residence r = {.max_bytes = 4096};
        reset();
        must(launch(&r, RELAUNCHED));
        slr_ring *ring = start_paused(&r, "doubtful", redeliver);
        fake->fail_at = fake->calls + 3; // a dispatch: its context, its copy, its launch
        must(slr_ring_reactivate(ring, LONG));
        must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
        slr_ring_stats stats = stats_of(ring);
        check_sum(&stats);
        assert_string_equal(fake->failed, "LaunchKernel");
        assert_int_equal(stats.in_doubt, redeliver ? 0 : 5);
        assert_int_equal(stats.pending, redeliver ? 5 : 0);
        assert_int_equal(stats.redelivered, redeliver ? 5 : 0);
        must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
        must(send_value(r.port, address_of(ring, 0), 5, LONG));
        if (redeliver)
            check_replies(&r, 0, 5, 1);
        check_replies(&r, 5, 6, 0);
        stats = stats_when_pending(ring, 0);
        check_sum(&stats);
        assert_int_equal(stats.handled, redeliver ? 6 : 1);
        assert_int_equal(stats.in_doubt, redeliver ? 0 : 5);
        slr_ring_destroy(ring);
        end(&r);
        nothing_is_left("doubt");
    }
}

static slr_status reopen(struct residence *r)
{
    slr_buffer_destroy(r->buffer);
    r->buffer = NULL;
    return slr_device_reopen(r->device, LONG);
}

// Everything but the states is as it was: addresses, ports, what is pending, a kernel that was loaded before.
static void goes_on(const char *spec, bool keeps_pins)
{
    struct residence r = {.max_bytes = 4096};
    slr_kernel *kernel;
    slr_stream *stream;
    int words[8] = {0};
    reset();
    fake->keeps_pins = keeps_pins;
    must(launch(&r, spec));
    must(slr_program_get_kernel(r.program, "add", &kernel));
    for (uint32_t i = 0; i < 3; ++i) {
        uint32_t contexts = fake->contexts, handled = (uint32_t)stats_when_pending(r.ring, 0).handled;
        must(slr_stream_default(r.device, &stream));
        must(slr_buffer_create(r.device, sizeof words, &r.buffer));
        must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 8, 0), r.buffer, 5));
        must(slr_stream_finish(stream, LONG));
        slr_buffer_destroy(r.buffer);
        must(ask(&r, 1));
        assert_int_equal(stats_when_pending(r.ring, 0).handled, handled + 1); // else it is in doubt
        slr_ring *waits = start_paused(&r, "waits", 0);
        lose_device(&r);
        refuses(slr_device_reopen(r.device, LONG), WRONG_STATE, "buffers of the device still exist");
        must(reopen(&r));
        assert_int_equal(fake->contexts, contexts + 1);
        refuses(slr_device_reopen(r.device, LONG), WRONG_STATE, "is not lost");
        assert_int_equal(slr_ring_get_state(r.ring), SLR_RING_IN_FAILURE);
        assert_int_equal(stats_of(waits).pending, 5);
        must(slr_ring_restart(r.ring, SLR_RESTART_INITIAL, LONG));
        must(slr_ring_restart(waits, SLR_RESTART_INITIAL, LONG));
        must(slr_ring_reactivate(waits, LONG));
        check_replies(&r, 0, 5, 0);
        must(ask(&r, 2));
        assert_int_equal(stats_when_pending(r.ring, 0).handled, handled + 2);
        slr_ring_destroy(waits);
    }
    slr_kernel_destroy(kernel);
    end(&r);
    nothing_is_left("reopened");
}

static void device_that_was_lost_is_opened_again_with_its_ring_kernels(void **state)
{
    (void)state;
    goes_on(RELAUNCHED, false);
    goes_on("cuda:0?ring=relaunch&memory=mapped", false);
    goes_on(PERSISTENT, false);
    goes_on(PERSISTENT, true); // whether what is registered outlives a context nobody says
}

// It stays lost, and the next try has all that it needs. So does a restart that fails.
static uint32_t fail_at_each_call(const char *spec)
{
    uint32_t failures = 0;
    struct residence r = {.max_bytes = 4096};
    reset();
    must(launch(&r, spec));
    for (bool failed = true; failed;) {
        must(ask(&r, 1));
        lose_device(&r);
        must(slr_device_park(r.device, LONG)); // no call of the poller's between ours
        fake->failed = NULL;
        fake->fail_at = fake->calls + failures + 1;
        slr_status reopened = reopen(&r);
        slr_status restarted = reopened == SLR_OK ? slr_ring_restart(r.ring, SLR_RESTART_INITIAL, LONG) : reopened;
        failed = fake->failed != NULL;
        fake->fail_at = 0;
        must(slr_device_resume(r.device));
        assert_int_equal(restarted != SLR_OK, failed);
        if (reopened != SLR_OK) {
            refuses(slr_buffer_create(r.device, 64, &r.buffer), DEVICE_LOST, "was lost: ");
            must(slr_device_reopen(r.device, LONG));
        }
        if (failed)
            must(slr_ring_restart(r.ring, SLR_RESTART_INITIAL, LONG));
        failures += failed;
        must(ask(&r, 2));
    }
    end(&r);
    nothing_is_left("k");
    return failures;
}

static void reopening_that_fails_at_any_call_can_be_tried_again(void **state)
{
    (void)state;
    assert_true(fail_at_each_call(RELAUNCHED) > 40);
    assert_true(fail_at_each_call(PERSISTENT) > 14);
}

// The kernel dies between any two of its steps. Nothing is lost then, and no message has two replies.
static void all_that_a_dead_kernel_had_is_handled_where_it_is_redelivered(void **state)
{
    (void)state;
    struct residence r = {.max_bytes = 4096};
    uint64_t redelivered = 0;
    reset();
    must(launch(&r, PERSISTENT));
    for (uint32_t i = 0; i < 10; ++i) {
        slr_ring *ring = start_paused(&r, "dies", 1);
        must(slr_ring_reactivate(ring, LONG));
        for (uint32_t k = 5; k < 20; ++k)
            must(send_value(r.port, address_of(ring, 0), k, LONG));
        lose_device(&r);
        must(reopen(&r));
        must(slr_ring_restart(r.ring, SLR_RESTART_INITIAL, LONG));
        must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
        struct message message;
        slr_reply reply;
        for (uint32_t k = 0; k < 20; ++k) {
            must(receive(&r, &reply, &message, LONG));
            assert_int_equal(message.value, k + 1);
            redelivered -= reply.redelivered;
        }
        gives(receive(&r, &reply, &message, 0), TIMEOUT);
        slr_ring_stats stats = stats_of(ring);
        check_sum(&stats);
        assert_int_equal(stats.accepted, 20);
        assert_int_equal(stats.in_doubt, 0);
        redelivered += stats.redelivered;
        slr_ring_destroy(ring);
    }
    assert_int_equal(redelivered, 0);
    end(&r);
    nothing_is_left("dead");
}

// ---- threads of the driver that get no core ------------------------------------------------------------------------

static uint32_t word(const uint32_t *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static void await_word(const uint32_t *at, uint32_t least)
{
    uint64_t end = slri_deadline_after(LONG);
    while (word(at) < least) {
        assert_false(slri_passed(end));
        slri_sleep_ns(1 * MS);
    }
}

// Blocks of the kernel that stays stop where they stand, with messages that they have not looked at.
static void start_stalled(struct residence *r)
{
    must(launch(r, PERSISTENT));
    must(ask(r, 1));
    stats_when_pending(r->ring, 0);
    __atomic_store_n(&fake->stall, 1, __ATOMIC_RELEASE);
    await_word(&fake->stalled, 1);
    for (uint32_t i = 0; i < 3; ++i) // one for each block that there may be
        must(send_value(r->port, address_of(r->ring, i), i, LONG));
}

// A driver whose errors say nothing of what runs.
static void reset_lingering(void)
{
    reset();
    fake->most_idle = UINT32_MAX; // kernels run on without work
    fake->lingers = 1;
    fake->error = 999;
    fake->lost = 1;
}

// Every call fails from here on.
static void lose_driver(void)
{
    __atomic_store_n(&fake->fail_at, __atomic_load_n(&fake->calls, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
}

static void find_driver(void)
{
    __atomic_store_n(&fake->fail_at, 0, __ATOMIC_RELEASE);
}

static uint32_t unheard(const slr_device *device)
{
    slr_device_info info;
    must(slr_device_get_info(device, &info));
    return info.unheard;
}

// What it had in hand is counted when it has gone, and not before: until then it may yet handle it.
static void group_that_nobody_answers_for_keeps_its_shards_until_it_has_gone(void **state)
{
    (void)state;
    struct residence r = {.max_bytes = 4096};
    reset_lingering();
    start_stalled(&r);
    lose_driver();
    must(slr_ring_wait(r.ring, SLR_RING_IN_FAILURE, LONG));
    assert_non_null(strstr(stats_of(r.ring).last_failure, "cuda:0"));
    assert_int_equal(unheard(r.device), 1);
    assert_int_equal(stats_of(r.ring).pending, 3);
    assert_int_equal(stats_of(r.ring).in_doubt, 0);
    gives(slr_device_reopen(r.device, 10 * MS), TIMEOUT); // the driver waits for what runs
    __atomic_store_n(&fake->stall, 0, __ATOMIC_RELEASE);
    find_driver();
    must(slr_device_reopen(r.device, LONG));
    assert_int_equal(unheard(r.device), 0);
    must(slr_ring_restart(r.ring, SLR_RESTART_INITIAL, LONG));
    must(ask(&r, 2));
    slr_ring_stats stats = stats_when_pending(r.ring, 0);
    check_sum(&stats);
    assert_int_equal(stats.handled + stats.in_doubt, 5);
    end(&r);
    nothing_is_left("unheard");
}

static void let_blocks_go_on(void *arg)
{
    (void)arg;
    await_word(&fake->destroyed, 1);
    slri_sleep_ns(20 * MS); // time for what might wrongly be unmapped
    __atomic_store_n(&fake->stall, 0, __ATOMIC_RELEASE);
}

// Its ring kernel is over, and so it holds up nobody. Its table and the mailbox are in memory that goes last.
static void memory_of_a_lost_device_goes_behind_its_context(void **state)
{
    (void)state;
    struct residence r = {.max_bytes = 4096};
    slri_thread later;
    reset_lingering();
    must(launch(&r, PERSISTENT));
    must(ask(&r, 1));
    stats_when_pending(r.ring, 0);
    slr_port_close(r.port);
    slr_ring_destroy(r.ring);
    r.port = NULL;
    r.ring = NULL;
    __atomic_store_n(&fake->stall, 1, __ATOMIC_RELEASE);
    must(slri_thread_start(&later, "later", let_blocks_go_on, NULL));
    lose_driver();
    end(&r);
    slri_thread_join(&later);
    find_driver();
    nothing_is_left("behind");
}

static void what_cannot_be_opened_again_is_refused(void **state)
{
    (void)state;
    struct residence r = {.max_bytes = 4096};
    slr_stream *stream;
    slr_graph *graph;
    slr_heap *heap;
    slr_device *cpu = open_device("cpu");
    reset();
    refuses(slr_device_reopen(NULL, LONG), INVALID, "device is NULL");
    refuses(slr_device_reopen(cpu, LONG), UNSUPPORTED, "'cpu' is never lost");
    slr_device_close(cpu);
    must(launch(&r, RELAUNCHED));
    refuses(slr_device_reopen(r.device, LONG), WRONG_STATE, "is not lost");
    must(slr_stream_create(r.device, NULL, &stream));
    must(slr_graph_create(r.device, &graph));
    must(slr_heap_create(r.device, NULL, &heap));
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring;
    desc.name = "launched";
    desc.handler = "counts";
    desc.program = r.program;
    must(slr_ring_create(r.device, &desc, &ring));
    must(slr_ring_launch(ring));
    lose_device(&r);
    refuses(reopen(&r), WRONG_STATE, "2 recorded lists and heaps of the device still exist");
    slr_graph_destroy(graph);
    refuses(reopen(&r), WRONG_STATE, "1 recorded lists and heaps");
    slr_heap_destroy(heap);
    refuses(reopen(&r), WRONG_STATE, "streams of the device still exist");
    slr_stream_destroy(stream);
    refuses(reopen(&r), WRONG_STATE, "ring kernel 'launched' is launched, and not active");
    slr_ring_destroy(ring);
    must(reopen(&r));
    must(slr_ring_restart(r.ring, SLR_RESTART_INITIAL, LONG));
    must(ask(&r, 1));
    end(&r);
    nothing_is_left("refused");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_is_in_doubt_is_counted_or_redelivered, load_fake),
        cmocka_unit_test(device_that_was_lost_is_opened_again_with_its_ring_kernels),
        cmocka_unit_test(reopening_that_fails_at_any_call_can_be_tried_again),
        cmocka_unit_test(all_that_a_dead_kernel_had_is_handled_where_it_is_redelivered),
        cmocka_unit_test(group_that_nobody_answers_for_keeps_its_shards_until_it_has_gone),
        cmocka_unit_test(memory_of_a_lost_device_goes_behind_its_context),
        cmocka_unit_test(what_cannot_be_opened_again_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
