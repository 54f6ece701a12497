// SPDX-License-Identifier: Apache-2.0
// What the order of a trace's slices says: how long more had work than there are workers, and which kernel follows
// which on the same stream.
#include "profile/profile.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

// ---- at once -------------------------------------------------------------------------------------------------------

typedef struct stretch {
    uint64_t from, to;
    uint64_t before; // of merged ones: busy time before it
} stretch;

static int by_begin(const void *a, const void *b)
{
    const stretch *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static int by_time(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool is_run(const profile *p, const trace_slice *slice)
{
    const char *category = p->trace.sums[slice->sum].category;
    return strcmp(category, "kernel") == 0 || strcmp(category, "batch") == 0;
}

// The union of what runs; how many pieces.
static size_t merge_runs(const profile *p, stretch *out)
{
    size_t count = 0;
    for (size_t i = 0; i < p->trace.slice_count; i++) { // in order of their begins
        const trace_slice *slice = &p->trace.slices[i];
        uint64_t from = slice->begin_ns, to = from + slice->duration_ns;
        if (!is_run(p, slice))
            continue;
        stretch *last = count > 0 ? &out[count - 1] : NULL;
        if (last != NULL && from <= last->to)
            last->to = to > last->to ? to : last->to;
        else
            out[count++] = (stretch){from, to, last != NULL ? last->before + (last->to - last->from) : 0};
    }
    return count;
}

static uint64_t busy_before(const stretch *merged, size_t count, uint64_t at)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (merged[middle].from < at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    const stretch *last = &merged[low - 1];
    return last->before + ((at < last->to ? at : last->to) - last->from);
}

// A track has work from the begin of a slice on to its end; to the begin of its next, where others ran meanwhile: then
// that waited for them.
static size_t find_work(const profile *p, const stretch *merged, size_t pieces, stretch *out)
{
    size_t count = 0;
    size_t *last = memory_take(p->trace.track_count + 1, sizeof *last); // its index in `out`, and 1
    for (size_t i = 0; i < p->trace.slice_count; i++) {
        const trace_slice *slice = &p->trace.slices[i];
        uint64_t from = slice->begin_ns, to = from + slice->duration_ns;
        if (!is_run(p, slice))
            continue;
        if (last[slice->track] != 0) {
            stretch *before = &out[last[slice->track] - 1];
            uint64_t gap = from > before->to ? from - before->to : 0;
            uint64_t busy = busy_before(merged, pieces, from) - busy_before(merged, pieces, before->to);
            if (gap > 0 && 10 * busy >= 9 * gap)
                before->to = from;
        }
        out[count++] = (stretch){from, to, 0};
        last[slice->track] = count;
    }
    free(last);
    return count;
}

// Begins and ends, each in order: between two of them the number that has work is known.
void profile_measure_contention(profile *out)
{
    size_t room = out->trace.slice_count + 1;
    stretch *merged = memory_take(room, sizeof *merged), *work = memory_take(room, sizeof *work);
    size_t runs = find_work(out, merged, merge_runs(out, merged), work);
    uint64_t *ends = memory_take(room, sizeof *ends);
    for (size_t i = 0; i < runs; i++)
        ends[i] = work[i].to;
    qsort(work, runs, sizeof *work, by_begin);
    qsort(ends, runs, sizeof *ends, by_time);
    size_t begun = 0, ended = 0;
    for (uint64_t last = 0; ended < runs;) {
        bool begins = begun < runs && work[begun].from < ends[ended];
        uint64_t now = begins ? work[begun].from : ends[ended];
        if (begun - ended > out->workers)
            out->contended_ns += now - last;
        last = now;
        *(begins ? &begun : &ended) += 1;
    }
    free(merged);
    free(work);
    free(ends);
}

// ---- one after the other -------------------------------------------------------------------------------------------

// Those that find no place among PROFILE_PAIRS different ones are left out.
static void count_pair(profile *out, const char *first, const char *second)
{
    uint32_t i = 0;
    while (i < out->pair_count &&
           (strcmp(out->pairs[i].first, first) != 0 || strcmp(out->pairs[i].second, second) != 0))
        i++;
    if (i == PROFILE_PAIRS)
        return;
    if (i == out->pair_count)
        out->pairs[out->pair_count++] = (slr_timeline_pair){.first = first, .second = second};
    out->pairs[i].count++;
}

static int by_count(const void *a, const void *b)
{
    const slr_timeline_pair *x = a, *y = b;
    return (x->count < y->count) - (x->count > y->count);
}

// A copy between two kernels breaks the pair, a wait of the host does not: it is on the host's own track.
void profile_find_pairs(profile *out)
{
    uint32_t *last = memory_take(out->trace.track_count + 1, sizeof *last); // a sum's index and 1
    for (size_t i = 0; i < out->trace.slice_count; i++) {
        const trace_slice *slice = &out->trace.slices[i];
        const trace_sum *sums = out->trace.sums;
        bool is_kernel = strcmp(sums[slice->sum].category, "kernel") == 0;
        if (is_kernel && last[slice->track] != 0 && last[slice->track] != slice->sum + 1)
            count_pair(out, sums[last[slice->track] - 1].name, sums[slice->sum].name);
        last[slice->track] = is_kernel ? slice->sum + 1 : 0;
    }
    qsort(out->pairs, out->pair_count, sizeof *out->pairs, by_count);
    free(last);
}
