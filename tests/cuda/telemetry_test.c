// SPDX-License-Identifier: Apache-2.0
// What a kernel that stays tells of its batches and of its messages, on a driver that is simulated, whose clock is two
// hours ahead of the host's: rows of the profiler, slices of the trace, records without room, and latencies.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/residence.h"

#include "base/tick.h"
#include "observe/observe_test.h"

#include <slipring/telemetry.h>

#define PERSISTENT "cuda:0?ring=persistent"

// No kernel runs behind this: all that they have told is read.
static void hear_all(struct residence *r)
{
    must(slr_device_park(r->device, LONG));
    must(slr_device_resume(r->device));
}

static void profiler_has_a_row_of_a_ring_kernels_batches(void **state)
{
    (void)state;
    struct residence r = {.max_bytes = 4096};
    reset();
    must(launch(&r, PERSISTENT));
    for (uint32_t i = 0; i < 30; ++i)
        must(ask(&r, i));
    must(slr_profile_start()); // while it runs
    for (uint32_t i = 0; i < 300; ++i)
        must(ask(&r, i));
    hear_all(&r); // also of a launch that did not know that somebody watches
    for (uint32_t i = 0; i < 30; ++i)
        must(ask(&r, i));
    hear_all(&r);
    slr_profile_row row = row_of(SLR_PROFILE_BATCH, "counts");
    // Each call is a batch. A launch that a busy machine ends before it has compared the clocks has its records counted
    // as dropped, because nobody knows when they were (resident_trace.c).
    const uint64_t dropped = stats_of(r.ring).records_dropped;
    assert_true(row.n > 0 && row.n + dropped >= 30 && row.n + dropped <= 330);
    assert_true(row.min_ns > 0 && row.max_ns < LONG);
    slr_profile_stop();
    slr_profile_clear();
    hear_all(&r);
    for (uint32_t i = 0; i < 30; ++i)
        must(ask(&r, i));
    hear_all(&r);
    assert_int_equal(row_of(SLR_PROFILE_BATCH, "counts").n, 0);
    end(&r);
    nothing_is_left("profiler");
}

static uint64_t number_after(const char *line, const char *member)
{
    const char *at = strstr(line, member);
    holds(at);
    return strtoull(at + strlen(member), NULL, 10);
}

static void trace_shows_batches_by_the_hosts_clock(void **state)
{
    (void)state;
    struct residence r = {.max_bytes = 4096};
    const char *path = file_in_folder("trace.json");
    reset();
    must(slr_trace_start(path, NULL));
    uint64_t begin_ns = slri_tick_ns(), messages = 0;
    must(launch(&r, PERSISTENT));
    for (uint32_t i = 0; i < 60; ++i)
        must(send_value(r.port, address_of(r.ring, i % 3), i, LONG));
    for (uint32_t i = 0, value; i < 60; ++i)
        must(receive_value(r.port, &value, LONG));
    hear_all(&r);
    uint64_t end_ns = slri_tick_ns();
    end(&r);
    must(slr_trace_stop(NULL));
    char line[4096];
    FILE *file = fopen(path, "r");
    holds(file);
    while (fgets(line, sizeof line, file)) {
        if (!has_text(line, "cat", "batch"))
            continue;
        uint64_t at_ns = ns_after(line, "\"ts\":"), width_ns = end_ns - begin_ns;
        assert_true(has_text(line, "name", "counts"));
        assert_true(at_ns >= begin_ns - width_ns && at_ns <= end_ns + width_ns); // no comparison took longer than all
        messages += number_after(line, "\"messages\":");
    }
    fclose(file);
    assert_int_equal(messages, 60);
    assert_true(sum_of(path, "batch", "counts").n >= 3); // a shard each
    nothing_is_left("trace");
}

// The poller waits in a call, and reads nothing.
static void records_without_room_are_counted_and_nothing_waits(void **state)
{
    (void)state;
    struct residence r = {.max_bytes = 4096};
    const uint32_t batches = 1024 + 510; // some may be read before the poller waits
    reset();
    must(slr_profile_start());
    must(launch(&r, PERSISTENT "&stall_ms=0"));
    fake->most_idle = UINT32_MAX;
    must(ask(&r, 0));
    hear_all(&r); // and it is launched again, not to end by being idle
    must(ask(&r, 0));
    __atomic_store_n(&fake->held, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&fake->stalls_in, "cuStreamQuery", __ATOMIC_RELEASE);
    while (__atomic_load_n(&fake->holds, __ATOMIC_RELAXED) == 0)
        slri_sleep_ns(1000000); // a question comes with every 64th look
    for (uint32_t i = 0; i < batches; ++i) {
        uint32_t value;
        must(send_value(r.port, address_of(r.ring, 0), i, LONG));
        while (receive_value(r.port, &value, 0) != SLR_OK)
            slri_yield(); // nobody wakes who sleeps
        assert_int_equal(value, i + 1);
    }
    __atomic_store_n(&fake->stalls_in, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&fake->held, 0, __ATOMIC_RELEASE);
    hear_all(&r);
    slr_ring_stats stats = stats_of(r.ring);
    uint64_t told = row_of(SLR_PROFILE_BATCH, "counts").n;
    assert_int_equal(stats.handled, batches + 2);
    assert_true(stats.records_dropped >= 500);
    assert_int_equal(told + stats.records_dropped, batches + 2);
    slr_profile_stop();
    end(&r);
    nothing_is_left("room");
}

// ---- how long messages take ----------------------------------------------------------------------------------------

static slr_latency latency_of(slr_ring *ring)
{
    slr_latency latency;
    must(slr_ring_get_latency(ring, &latency));
    return latency;
}

// Messages to each instance, until the group counts all of them: its clock is known.
static slr_latency await_times(struct residence *r)
{
    uint64_t deadline_ns = slri_deadline_after(LONG);
    slr_latency before, after = latency_of(r->ring);
    do {
        assert_false(slri_passed(deadline_ns));
        before = after;
        for (uint32_t i = 0; i < 3; ++i)
            must(ask(r, i));
        after = latency_of(r->ring);
    } while (after.count != before.count + 3);
    return after;
}

// None took longer than the host saw; and those that come before the clocks are known are not in it, or one of them
// would have taken two hours.
static void persistent_ring_kernels_say_how_long_their_messages_take(void **state)
{
    (void)state;
    enum { MESSAGES = 300 };
    struct residence r = {.max_bytes = 4096, .latency_every = 1};
    reset();
    uint64_t begin_ns = slri_now_ns();
    must(launch(&r, PERSISTENT));
    slr_latency before = await_times(&r);
    uint64_t asked_ns = slri_now_ns();
    for (uint32_t i = 0; i < MESSAGES; ++i)
        must(ask(&r, i));
    uint64_t end_ns = slri_now_ns();
    slr_latency after = latency_of(r.ring);
    assert_int_equal(after.every, 1);
    assert_int_equal(after.count, before.count + MESSAGES);
    assert_true(after.off_ns != 0);
    assert_true(after.max_ns <= end_ns - begin_ns + after.off_ns);
    uint64_t took_ns = after.mean_ns * after.count - before.mean_ns * before.count;
    assert_true(took_ns <= end_ns - asked_ns + after.count + MESSAGES * (uint64_t)after.off_ns); // means are cut off
    assert_true(after.min_ns <= after.p50_ns && after.p50_ns <= after.p99_ns && after.p99_ns <= after.max_ns);
    end(&r);
    nothing_is_left("latency");
}

// Time in the mailbox counts, also of what waits in the pending set, for it is of another priority than what came
// before.
static void messages_that_wait_take_so_long(void **state)
{
    (void)state;
    enum { WAIT = 30000000, MESSAGES = 40 };
    struct residence r = {.max_bytes = 4096, .latency_every = 1};
    reset();
    must(launch(&r, PERSISTENT));
    slr_latency before = await_times(&r);
    must(slr_ring_deactivate(r.ring, LONG));
    for (uint32_t i = 0; i < MESSAGES; ++i)
        must(send_at(r.port, address_of(r.ring, i % 3), i, i % 5));
    slri_sleep_ns(WAIT);
    must(slr_ring_reactivate(r.ring, LONG));
    for (uint32_t i = 0, value; i < MESSAGES; ++i)
        must(receive_value(r.port, &value, LONG));
    static slr_latency_bucket bucket[SLR_LATENCY_BUCKETS];
    uint32_t count, long_ones = 0;
    must(slr_ring_get_latency_buckets(r.ring, bucket, SLR_LATENCY_BUCKETS, &count));
    slr_latency after = latency_of(r.ring);
    for (uint32_t i = 0; i < count; ++i)
        if (bucket[i].last_ns + after.off_ns >= WAIT)
            long_ones += (uint32_t)bucket[i].count;
    assert_int_equal(after.count, before.count + MESSAGES);
    assert_true(long_ones >= MESSAGES);
    end(&r);
    nothing_is_left("waiting");
}

// The histogram is home when the kernel has gone, and goes on in the next launch.
static void times_go_on_in_the_next_launch(void **state)
{
    (void)state;
    struct residence r = {.max_bytes = 4096, .latency_every = 64};
    reset();
    must(launch(&r, PERSISTENT));
    uint64_t deadline_ns = slri_deadline_after(LONG);
    while (latency_of(r.ring).count == 0) {
        assert_false(slri_passed(deadline_ns));
        must(ask(&r, 0));
    }
    hear_all(&r);
    uint64_t count = latency_of(r.ring).count;
    for (uint32_t i = 0; i < 640; ++i)
        must(ask(&r, 0));
    uint64_t more = latency_of(r.ring).count - count;
    assert_true(more >= 8 && more <= 12); // 10 of 640, within what the golden ratio is uneven by
    end(&r);
    nothing_is_left("launches");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(profiler_has_a_row_of_a_ring_kernels_batches, load_fake),
        cmocka_unit_test(trace_shows_batches_by_the_hosts_clock),
        cmocka_unit_test(records_without_room_are_counted_and_nothing_waits),
        cmocka_unit_test(persistent_ring_kernels_say_how_long_their_messages_take),
        cmocka_unit_test(messages_that_wait_take_so_long),
        cmocka_unit_test(times_go_on_in_the_next_launch),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
