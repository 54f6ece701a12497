// SPDX-License-Identifier: Apache-2.0
// Each rule of the advice on made-up figures: a profile that has the bottleneck, and a near miss.
#include "profile/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static slr_profile_row rows[4];

static profile make(void)
{
    memset(rows, 0, sizeof rows);
    return (profile){.rows = rows, .span_ns = 1000 * MS, .busy_ns = 900 * MS, .workers = 2, .device = "cpu"};
}

// Adds a row, and to the totals.
static slr_profile_row *add(profile *p, uint32_t kind, uint64_t n, uint64_t total_ns)
{
    slr_profile_row *row = &rows[p->row_count++];
    *row = (slr_profile_row){.kind = kind, .n = n, .total_ns = total_ns, .name = "it", .device = "cpu", .file = ""};
    p->total[kind].n += n;
    p->total[kind].total_ns += total_ns;
    return row;
}

static bool gives(const profile *p, const char *rule)
{
    profile_advice advice[PROFILE_ADVICE];
    unsigned count = profile_advise(p, advice);
    for (unsigned i = 0; i < count; i++)
        if (strcmp(advice[i].rule, rule) == 0)
            return true;
    return false;
}

static void senders_that_waited_long_or_often_are_named(void **state)
{
    (void)state;
    profile p = make();
    slr_profile_row *full = add(&p, SLR_PROFILE_FULL, 99, 249 * MS);
    assert_false(gives(&p, "queue too small"));
    full->total_ns = 1250 * MS; // of all threads together: more than the time traced
    assert_true(gives(&p, "queue too small"));
    full->total_ns = 1;
    full->n = 100;
    assert_true(gives(&p, "queue too small"));
}

static void a_mailbox_is_too_large_by_its_depth_and_not_by_time_alone(void **state)
{
    (void)state;
    profile p = make();
    slr_profile_row *messages = add(&p, SLR_PROFILE_MESSAGE, 1500, 30000 * MS);
    trace_sample samples[3] = {{1, 1500}, {2, 64}, {3, 0}};
    trace_counter depth[2] = {{.name = "depth: other", .samples = samples, .sample_count = 1},
                              {.name = "depth: it", .samples = samples, .sample_count = 3}};
    messages->p50_ns = 20 * MS; // as on a machine whose other programs keep this one waiting
    assert_false(gives(&p, "queue too large"));
    p.trace = (trace_file){.counters = depth, .counter_count = 2};
    assert_true(gives(&p, "queue too large"));
    samples[1].value = 63;
    assert_false(gives(&p, "queue too large"));
    samples[1].value = 64;
    messages->p50_ns = MS - 1;
    assert_false(gives(&p, "queue too large"));
}

static void a_device_that_idles_is_named(void **state)
{
    (void)state;
    profile p = make();
    add(&p, SLR_PROFILE_BATCH, 20, 40 * MS);
    p.busy_ns = 40 * MS;
    assert_true(gives(&p, "device idle"));
    p.busy_ns = 500 * MS;
    assert_false(gives(&p, "device idle"));
    p.busy_ns = 40 * MS;
    add(&p, SLR_PROFILE_COMPILE, 1, 930 * MS); // what is left is busy enough
    assert_false(gives(&p, "device idle"));
}

static void more_streams_than_workers_can_serve_are_named(void **state)
{
    (void)state;
    profile p = make();
    p.streams = 8;
    assert_false(gives(&p, "oversubscription"));
    p.streams = 32;
    assert_true(gives(&p, "oversubscription"));
}

// Kernels of 10 ms, one after the other, whose streams take turns: all streams but one wait.
static void streams_that_take_turns_contend(void **state)
{
    (void)state;
    enum { STREAMS = 4, SLICES = 40 };
    char category[] = "kernel";
    trace_sum sum = {.category = category};
    trace_track tracks[STREAMS] = {{0}};
    trace_slice slices[SLICES];
    for (uint64_t gap_ms = 0; gap_ms <= 5; gap_ms += 5) {
        for (uint32_t i = 0; i < SLICES; i++)
            slices[i] = (trace_slice){i * (10 + gap_ms) * MS, 10 * MS, i % STREAMS, 0};
        profile p = make();
        p.trace = (trace_file){.tracks = tracks,
                               .track_count = STREAMS,
                               .slices = slices,
                               .slice_count = SLICES,
                               .sums = &sum,
                               .sum_count = 1};
        p.span_ns = SLICES * (10 + gap_ms) * MS;
        profile_measure_contention(&p);
        if (gap_ms == 0) // all but the begin, where streams come, and the end, where they go
            assert_true(p.contended_ns == 360 * MS);
        else // the device had time for more
            assert_true(p.contended_ns == 0);
        assert_true(gives(&p, "contention") == (gap_ms == 0));
        p.contended_ns = 0;
        p.workers = STREAMS;
        profile_measure_contention(&p);
        assert_true(p.contended_ns == 0);
    }
}

static void a_run_that_compiles_is_named(void **state)
{
    (void)state;
    profile p = make();
    slr_profile_row *compile = add(&p, SLR_PROFILE_COMPILE, 3, 99 * MS);
    assert_false(gives(&p, "compiling"));
    p.total[compile->kind].total_ns = 101 * MS;
    assert_true(gives(&p, "compiling"));
    p.span_ns = 2000 * MS;
    assert_false(gives(&p, "compiling"));
}

static void a_heap_in_pieces_is_named(void **state)
{
    (void)state;
    profile p = make();
    add(&p, SLR_PROFILE_MEMORY, 1, 0);
    assert_false(gives(&p, "fragmented heap"));
    add(&p, SLR_PROFILE_FRAGMENTED, 1, 0)->bytes = 2048;
    assert_true(gives(&p, "fragmented heap"));
}

static void a_kernel_far_from_its_roof_is_named(void **state)
{
    (void)state;
    profile p = make();
    slr_profile_row *kernel = add(&p, SLR_PROFILE_KERNEL, 10, 500 * MS);
    kernel->counted = SLR_COUNTED_EXACT;
    kernel->instructions = 1000000000;
    kernel->bytes = 350 * 1000 * 1000; // 0.7 GB/s of 10: a transpose computes nothing
    p.has_ceilings = true;
    p.ceilings = (slr_ceilings){
        .bytes_per_second = 10e9, .flops_per_second = 50e9, .flops64_per_second = 25e9, .launch_ns = 1000};
    assert_true(gives(&p, "far from its roof"));
    kernel->bytes *= 5;
    assert_false(gives(&p, "far from its roof"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(senders_that_waited_long_or_often_are_named),
        cmocka_unit_test(a_mailbox_is_too_large_by_its_depth_and_not_by_time_alone),
        cmocka_unit_test(a_device_that_idles_is_named),
        cmocka_unit_test(more_streams_than_workers_can_serve_are_named),
        cmocka_unit_test(streams_that_take_turns_contend),
        cmocka_unit_test(a_run_that_compiles_is_named),
        cmocka_unit_test(a_heap_in_pieces_is_named),
        cmocka_unit_test(a_kernel_far_from_its_roof_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
