// SPDX-License-Identifier: Apache-2.0
// What the order of a made-up trace's slices says.
#include "profile/profile.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

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
        profile p = {.workers = 2};
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
        p.contended_ns = 0;
        p.workers = STREAMS;
        profile_measure_contention(&p);
        assert_true(p.contended_ns == 0);
    }
}

// A step of a loop is three kernels; the host's track and a copy are none of it.
static void all_pairs_are_counted_by_falling_frequency(void **state)
{
    (void)state;
    char kernel[] = "kernel", copy[] = "copy", wave[] = "wave", damp[] = "damp", drive[] = "drive";
    trace_sum sums[] = {{.category = kernel, .name = wave},
                        {.category = kernel, .name = damp},
                        {.category = kernel, .name = drive},
                        {.category = copy, .name = copy}};
    static const uint32_t order[] = {0, 1, 2, 0, 1, 2, 0, 1, 3, 2, 2};
    enum { SLICES = sizeof order / sizeof *order };
    trace_track track = {0};
    trace_slice slices[SLICES];
    for (uint32_t i = 0; i < SLICES; i++)
        slices[i] = (trace_slice){i * MS, MS, 0, order[i]};
    static profile p;
    p.trace = (trace_file){
        .tracks = &track, .track_count = 1, .slices = slices, .slice_count = SLICES, .sums = sums, .sum_count = 4};
    profile_find_pairs(&p);
    assert_int_equal(p.pair_count, 3);
    assert_string_equal(p.pairs[0].first, "wave");
    assert_string_equal(p.pairs[0].second, "damp");
    assert_int_equal(p.pairs[0].count, 3);
    assert_int_equal(p.pairs[1].count, 2);
    assert_int_equal(p.pairs[2].count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_that_take_turns_contend),
        cmocka_unit_test(all_pairs_are_counted_by_falling_frequency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
