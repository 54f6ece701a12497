// SPDX-License-Identifier: Apache-2.0
// The memory model, observed: two blocks meet at many places, and what both have seen is counted. An outcome that
// orders forbid fails; those that they allow are counted and shown, because which of them come is the device's affair.
#include "host.h"

#include <stdio.h>

enum {
    PLACES = 1000,
    APART = 16,  // ints: a cache line each, so that places do not meet by accident
    WARM = 65536 // elements of a kernel in front of it
};

typedef struct litmus {
    const char *section; ///< of kernels/host.cu
    const char *first;   ///< what the two numbers of an outcome are
    uint32_t forbidden;  ///< a bit for each outcome, first * 4 + second
} litmus;

static void note(cts *c, const litmus *what, const unsigned *count)
{
    int at = snprintf(c->note, sizeof c->note, "%s:", what->first);
    for (int i = 0; i < 16; i++)
        if (count[i] && at > 0 && (size_t)at < sizeof c->note)
            at += snprintf(c->note + at, sizeof c->note - (size_t)at, " %d%d %u", i / 4, i % 4, count[i]);
}

static void observe(cts *c, const litmus *what)
{
    slr_stream *stream = cts_stream(c);
    slr_kernel *kernel = cts_kernel(c, what->section);
    slr_buffer *x = cts_buffer(c, PLACES * APART * sizeof(int)), *y = cts_buffer(c, PLACES * APART * sizeof(int));
    slr_buffer *out = cts_buffer(c, (2 * PLACES + 1) * sizeof(int)), *work = cts_buffer(c, WARM * sizeof(int));
    slr_kernel *warm = cts_kernel(c, "add_one");
    int *seen = cts_memory(c, 2 * PLACES * sizeof(int)), zero = 0;
    unsigned count[16] = {0};
    for (uint32_t round = 0; round < c->options->rounds; round++) {
        CTS_OK(c, slr_stream_fill(stream, x, 0, slr_buffer_size(x), &zero, sizeof zero, NULL));
        CTS_OK(c, slr_stream_fill(stream, y, 0, slr_buffer_size(y), &zero, sizeof zero, NULL));
        CTS_OK(c, slr_stream_fill(stream, out, 0, slr_buffer_size(out), &zero, sizeof zero, NULL));
        CTS_OK(c, SLR_LAUNCH(stream, warm, SLR_1D(WARM), work, WARM)); // so that every core is awake
        CTS_OK(c, SLR_LAUNCH(stream, kernel, SLR_GRID(2, 1, 0), x, y, out, PLACES));
        CTS_OK(c, slr_stream_finish(stream, c->options->patience_ns));
        cts_read_ints(c, out, seen, 2 * PLACES);
        for (int i = 0; i < PLACES; i++) {
            int outcome = seen[2 * i] * 4 + seen[2 * i + 1];
            CTS_TRUE(c, outcome >= 0 && outcome < 16);
            count[outcome]++;
        }
    }
    note(c, what, count);
    for (int i = 0; i < 16; i++)
        if (what->forbidden >> i & 1 && count[i])
            cts_leave(c, CTS_FAILED, "%s: %d%d, which is forbidden, %u times in %u", what->first, i / 4, i % 4,
                      count[i], PLACES * c->options->rounds);
}

#define BIT(first, second) (1u << ((first)*4 + (second)))

static void message_passing_by_release_and_acquire(cts *c)
{
    observe(c, &(litmus){"message_passing", "flag, data", BIT(1, 0)});
}

static void message_passing_by_fences(cts *c)
{
    observe(c, &(litmus){"message_passing_by_fences", "flag, data", BIT(1, 0)});
}

static void message_passing_by_an_exchange(cts *c)
{
    observe(c, &(litmus){"message_passing_by_exchange", "flag, data", BIT(1, 0)});
}

static void store_buffering_sequentially_consistent(cts *c)
{
    observe(c, &(litmus){"store_buffering", "x, y", BIT(0, 0)});
}

static void store_buffering_by_fences(cts *c)
{
    observe(c, &(litmus){"store_buffering_by_fences", "x, y", BIT(0, 0)});
}

static void store_buffering_relaxed_is_counted(cts *c)
{
    observe(c, &(litmus){"store_buffering_relaxed", "x, y", 0});
}

static void load_buffering_by_release_and_acquire(cts *c)
{
    observe(c, &(litmus){"load_buffering", "x, y", BIT(1, 1)});
}

static void load_buffering_relaxed_is_counted(cts *c)
{
    observe(c, &(litmus){"load_buffering_relaxed", "x, y", 0});
}

static void coherence_of_two_reads(cts *c)
{
    observe(c, &(litmus){"coherence", "first, second read", BIT(1, 0) | BIT(2, 0) | BIT(2, 1)});
}

static void coherence_of_a_write_and_a_read(cts *c)
{
    observe(c, &(litmus){"coherence_of_own_write", "own read", BIT(0, 0)});
}

// clang-format off
const cts_case cts_order_cases[] = {
    CTS_HOST("ordering", message_passing_by_release_and_acquire),
    CTS_HOST("ordering", message_passing_by_fences),
    CTS_HOST("ordering", message_passing_by_an_exchange),
    CTS_HOST("ordering", store_buffering_sequentially_consistent),
    CTS_HOST("ordering", store_buffering_by_fences),
    CTS_HOST("ordering", store_buffering_relaxed_is_counted),
    CTS_HOST("ordering", load_buffering_by_release_and_acquire),
    CTS_HOST("ordering", load_buffering_relaxed_is_counted),
    CTS_HOST("ordering", coherence_of_two_reads),
    CTS_HOST("ordering", coherence_of_a_write_and_a_read),
};
// clang-format on
const size_t cts_order_case_count = sizeof cts_order_cases / sizeof *cts_order_cases;
