// SPDX-License-Identifier: Apache-2.0
// Rules about mailboxes.
#include "diagnose/rules.h"

#include <string.h>

void slri_rule_queue_small(struct slri_diagnosing *d)
{
    for (uint32_t i = 0; i < d->rows; ++i) {
        const slr_profile_row *row = &d->row[i];
        if (row->kind != SLR_PROFILE_FULL || (row->n < SLRI_MANY && 4 * row->total_ns < d->timeline.span_ns))
            continue;
        const struct slri_verdict verdict = {.bottleneck = SLR_BOTTLENECK_QUEUE_SMALL,
                                             .figure = (double)row->n,
                                             .limit = SLRI_MANY,
                                             .measure = "sends that found the mailbox full",
                                             .change = "desc.queue_size = 4096; // slr_ring_desc; or more instances"};
        slri_diagnosis_give(
            d, &verdict,
            "Backpressure: senders found the mailbox of '%s' full %llu times and waited %.2f ms. For bursts of "
            "messages, raise queue_size. Under constant load the handler is slower than the senders: use more "
            "instances or workers, or an overflow policy that drops messages.",
            row->name, (unsigned long long)row->n, slri_milliseconds(row->total_ns));
        return; // the one with the most time: rows are in that order
    }
}

static double median_depth(const slr_timeline *t, const char *ring)
{
    for (uint32_t i = 0; i < t->depth_count; ++i)
        if (t->depths[i].ring && strcmp(t->depths[i].ring, ring) == 0)
            return t->depths[i].median;
    return 0;
}

// Longer than any burst that a mailbox is for.
#define DEEP 64
#define OLD_NS 1000000u

// The depth is counted: time alone would also accuse a short mailbox on a machine with much other work.
void slri_rule_queue_large(struct slri_diagnosing *d)
{
    for (uint32_t i = 0; i < d->rows; ++i) {
        const slr_profile_row *row = &d->row[i];
        if (row->kind != SLR_PROFILE_MESSAGE || row->n < SLRI_MANY || row->p50_ns < OLD_NS)
            continue;
        double depth = median_depth(&d->timeline, row->name);
        if (depth < DEEP)
            continue;
        const struct slri_verdict verdict = {.bottleneck = SLR_BOTTLENECK_QUEUE_LARGE,
                                             .figure = depth,
                                             .limit = DEEP,
                                             .measure = "messages in the mailbox, median",
                                             .change = "desc.queue_size = 64; // slr_ring_desc"};
        slri_diagnosis_give(
            d, &verdict,
            "Half of the messages to '%s' took more than %.2f ms, with %.0f messages or more in the mailbox. "
            "A larger mailbox only makes them older. Lower queue_size, so that senders wait or are rejected, "
            "or handle more at once (instances, workers).",
            row->name, slri_milliseconds(row->p50_ns), depth);
        return;
    }
}
