// SPDX-License-Identifier: Apache-2.0
// Rules about mailboxes. Of one ring kernel at most one of the two holds: its depth decides.
#include "diagnose/rules.h"

#include <stdio.h>
#include <string.h>

// Longer than any burst that a mailbox is for.
#define DEEP 64
#define OLD_NS 1000000u

// Whether another device has a ring kernel of that name: a trace counts the depths of both as one.
static bool is_twin(const struct slri_diagnosing *d, const slr_profile_row *of)
{
    for (uint32_t i = 0; i < d->rows; ++i) {
        const slr_profile_row *row = &d->row[i];
        if ((row->kind == SLR_PROFILE_MESSAGE || row->kind == SLR_PROFILE_FULL) && strcmp(row->name, of->name) == 0 &&
            strcmp(row->device, of->device) != 0)
            return true;
    }
    return false;
}

// False: it was not traced, or not by itself.
static bool find_depth(const struct slri_diagnosing *d, const slr_profile_row *ring, double *median)
{
    const slr_timeline *t = &d->timeline;
    if (is_twin(d, ring))
        return false;
    for (uint32_t i = 0; i < t->depth_count; ++i)
        if (t->depths[i].ring && strcmp(t->depths[i].ring, ring->name) == 0) {
            *median = t->depths[i].median;
            return true;
        }
    return false;
}

// The depth is counted: time alone would also accuse a short mailbox on a machine with much other work.
static bool is_too_large(const struct slri_diagnosing *d, const slr_profile_row *messages, double *depth)
{
    return messages->kind == SLR_PROFILE_MESSAGE && messages->n >= SLRI_MANY && messages->p50_ns >= OLD_NS &&
           find_depth(d, messages, depth) && *depth >= DEEP;
}

static const slr_profile_row *row_beside(const struct slri_diagnosing *d, uint32_t kind, const slr_profile_row *of)
{
    for (uint32_t i = 0; i < d->rows; ++i)
        if (d->row[i].kind == kind && strcmp(d->row[i].name, of->name) == 0 &&
            strcmp(d->row[i].device, of->device) == 0)
            return &d->row[i];
    return NULL;
}

// A mailbox that is full for half of the time holds no burst, but what the handler is behind: with a longer one senders
// wait as often, and the messages grow older.
static bool holds_a_backlog(const struct slri_diagnosing *d, const slr_profile_row *full)
{
    double depth;
    const slr_profile_row *messages = row_beside(d, SLR_PROFILE_MESSAGE, full);
    return messages && is_too_large(d, messages, &depth);
}

// Senders that waited for a quarter of the time. Without a time, their number alone decides.
static bool waited_long(const struct slri_diagnosing *d, const slr_profile_row *full)
{
    return d->timeline.span_ns > 0 && 4 * full->total_ns >= d->timeline.span_ns;
}

void slri_rule_queue_small(struct slri_diagnosing *d)
{
    for (uint32_t i = 0; i < d->rows; ++i) {
        const slr_profile_row *row = &d->row[i];
        char depth_text[160] = "";
        double depth;
        const bool is_often = row->n >= SLRI_MANY;
        if (row->kind != SLR_PROFILE_FULL || (!is_often && !waited_long(d, row)) || holds_a_backlog(d, row))
            continue;
        if (find_depth(d, row, &depth))
            snprintf(depth_text, sizeof depth_text,
                     "It held %.0f messages, median; from %d on, if half of them took 1 ms, it would be too large. ",
                     depth, DEEP);
        const struct slri_verdict verdict = {
            .bottleneck = SLR_BOTTLENECK_QUEUE_SMALL,
            .figure = is_often ? (double)row->n : slri_ratio((double)row->total_ns, (double)d->timeline.span_ns),
            .limit = is_often ? SLRI_MANY : 0.25,
            .measure = is_often ? "sends that found the mailbox full" : "senders' waits / time",
            .change = "desc.queue_size = 4096; // slr_ring_desc; or more instances"};
        slri_diagnosis_give(
            d, &verdict,
            "Backpressure: senders found the mailbox of '%s' full %llu time%s and waited %.2f ms. %sFor bursts of "
            "messages, raise queue_size. Under constant load the handler is slower than the senders: use more "
            "instances or workers, or an overflow policy that drops messages.",
            row->name, (unsigned long long)row->n, row->n == 1 ? "" : "s", slri_milliseconds(row->total_ns),
            depth_text);
        return; // the one with the most time: rows are in that order
    }
}

void slri_rule_queue_large(struct slri_diagnosing *d)
{
    for (uint32_t i = 0; i < d->rows; ++i) {
        const slr_profile_row *row = &d->row[i], *full;
        char full_text[96] = "";
        double depth;
        if (!is_too_large(d, row, &depth))
            continue;
        if ((full = row_beside(d, SLR_PROFILE_FULL, row)))
            snprintf(full_text, sizeof full_text, "Senders found it full %llu times all the same. ",
                     (unsigned long long)full->n);
        const struct slri_verdict verdict = {.bottleneck = SLR_BOTTLENECK_QUEUE_LARGE,
                                             .figure = depth,
                                             .limit = DEEP,
                                             .measure = "messages in the mailbox, median",
                                             .change = "desc.queue_size = 64; // slr_ring_desc"};
        slri_diagnosis_give(
            d, &verdict,
            "Half of the messages to '%s' took more than %.2f ms, with %.0f messages or more in the mailbox. "
            "%sA larger mailbox only makes them older. Lower queue_size, so that senders wait or are rejected, "
            "or handle more at once (instances, workers).",
            row->name, slri_milliseconds(row->p50_ns), depth, full_text);
        return;
    }
}
