// SPDX-License-Identifier: Apache-2.0
// Advice that the order of events gives: what stands between two launches, and what runs at once.
#include "profile/advice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOME = 50, PAIRS = 20 };

void advice_transfers_in_loop(advising *a)
{
    const profile_total *total = a->profile->total, *up = &total[SLR_PROFILE_UPLOAD],
                        *down = &total[SLR_PROFILE_DOWNLOAD];
    uint64_t launches = total[SLR_PROFILE_KERNEL].n;
    uint64_t least = up->n < down->n ? up->n : down->n; // a stream of new data goes one way
    if (launches < SOME || 10 * least < 9 * launches)
        return;
    advice_give(a, "transfers in a loop",
                "%llu launches came with %llu copies to the device and %llu back, of %.1f KB and %.1f KB on average: "
                "%.2f ms. What stays the same, or is read by the next launch only, can stay on the device: write it "
                "before the loop and read it after (slr_buffer_write, slr_buffer_read).",
                (unsigned long long)launches, (unsigned long long)up->n, (unsigned long long)down->n,
                (double)up->bytes / 1e3 / (double)up->n, (double)down->bytes / 1e3 / (double)down->n,
                advice_ms(up->total_ns + down->total_ns));
}

void advice_contention(advising *a)
{
    const profile *p = a->profile;
    if (p->workers == 0 || 4 * p->contended_ns < p->span_ns || p->span_ns == 0)
        return;
    advice_give(a, "contention",
                "For %.1f ms, %.0f %% of the traced time, more streams and ring kernels had work than %s has workers "
                "(%u): they took turns, and each waited for the others. Use fewer streams, or launches of more blocks "
                "on one.",
                advice_ms(p->contended_ns), advice_percent((double)p->contended_ns, (double)p->span_ns), p->device,
                p->workers);
}

static const slr_profile_row *row_of(const profile *p, const char *kernel)
{
    for (size_t i = 0; kernel && i < p->row_count; i++) // a sum may have no name
        if (p->rows[i].kind == SLR_PROFILE_KERNEL && strcmp(p->rows[i].name, kernel) == 0)
            return &p->rows[i];
    return NULL;
}

// Few operations for what it moves, and as many threads: an element each.
static bool is_light(const slr_profile_row *row)
{
    return row->counted != SLR_COUNTED_NOT && row->bytes > 0 && row->intensity < 1 && row->n > 0;
}

void advice_fusable(advising *a)
{
    const profile *p = a->profile;
    const slr_profile_row *first = row_of(p, p->pair.first), *second = row_of(p, p->pair.second);
    if (p->pair.n < PAIRS || first == NULL || second == NULL || first == second || !is_light(first) ||
        !is_light(second) || first->threads / first->n != second->threads / second->n)
        return;
    advice_give(a, "kernels that could be one",
                "'%s' was followed by '%s' on the same stream %llu times, over as many threads (%llu), and both move "
                "more bytes than they compute: %.1f MB in all. 'slipring kernel fuse FILE:%s FILE:%s' makes one kernel "
                "of them, or says why not; slr_graph_fuse does it to a recorded list.",
                first->name, second->name, (unsigned long long)p->pair.n,
                (unsigned long long)(first->threads / first->n), (double)(first->bytes + second->bytes) / 1e6,
                first->name, second->name);
}

static int by_value(const void *a, const void *b)
{
    double x = ((const trace_sample *)a)->value, y = ((const trace_sample *)b)->value;
    return (x > y) - (x < y);
}

// The messages in a ring kernel's mailbox, as half of its timed messages found them. 0: the trace has none.
static double median_depth(const profile *p, const char *ring)
{
    char name[256];
    snprintf(name, sizeof name, "depth: %s", ring);
    for (size_t i = 0; i < p->trace.counter_count; i++) {
        const trace_counter *c = &p->trace.counters[i];
        if (strcmp(c->name, name) != 0 || c->sample_count == 0)
            continue;
        trace_sample *sorted = malloc(c->sample_count * sizeof *sorted);
        if (sorted == NULL)
            return 0;
        memcpy(sorted, c->samples, c->sample_count * sizeof *sorted);
        qsort(sorted, c->sample_count, sizeof *sorted, by_value);
        double median = sorted[c->sample_count / 2].value;
        free(sorted);
        return median;
    }
    return 0;
}

// Longer than any burst that a mailbox is for.
#define DEEP 64

// The depth is counted: time alone would also accuse a short mailbox on a machine with much other work.
void advice_queue_too_large(advising *a)
{
    const profile *p = a->profile;
    for (size_t i = 0; i < p->row_count; i++) {
        const slr_profile_row *row = &p->rows[i];
        if (row->kind != SLR_PROFILE_MESSAGE || row->n < ADVICE_MANY || row->p50_ns < 1000000)
            continue;
        double depth = median_depth(p, row->name);
        if (depth < DEEP)
            continue;
        advice_give(a, "queue too large",
                    "Half of the messages to '%s' took more than %.2f ms, with %.0f messages or more in the mailbox. "
                    "A larger mailbox only makes them older. Lower queue_size, so that senders wait or are rejected, "
                    "or handle more at once (instances, workers).",
                    row->name, advice_ms(row->p50_ns), depth);
        return;
    }
}
