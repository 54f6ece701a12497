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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_that_take_turns_contend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
