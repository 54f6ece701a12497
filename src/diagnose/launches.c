// SPDX-License-Identifier: Apache-2.0
// Rules about launches: how small, how many, how they follow each other, and how many streams share the workers.
#include "diagnose/rules.h"

#include <stdio.h>
#include <string.h>

enum { PAIRS = 20 };

struct small {
    uint64_t n, ns, instructions;
};

static struct small small_launches(const struct slri_diagnosing *d)
{
    struct small small = {0};
    for (uint32_t i = 0; i < d->rows; ++i) {
        const slr_profile_row *row = &d->row[i];
        if (row->kind != SLR_PROFILE_KERNEL || !slri_row_is_short(row))
            continue;
        small.n += row->n;
        small.ns += row->total_ns;
        small.instructions += row->instructions;
    }
    return small;
}

void slri_rule_launches(struct slri_diagnosing *d)
{
    const struct small small = small_launches(d);
    const uint64_t all = d->total[SLR_PROFILE_KERNEL].n;
    if (small.n < SLRI_MANY || 2 * small.n < all)
        return;
    char cost[64] = "";
    if (d->has_ceilings)
        snprintf(cost, sizeof cost, "; an empty launch costs %.1f us here", d->ceilings.launch_ns / 1e3);
    const struct slri_verdict verdict = {.bottleneck = SLR_BOTTLENECK_LAUNCHES,
                                         .figure = slri_ratio((double)small.n, (double)all),
                                         .limit = 0.5,
                                         .measure = "small launches / launches",
                                         .change = "SLR_LAUNCH(stream, kernel, SLR_1D(n * rounds), ...); // one launch",
                                         .caller = slri_caller_of(d, "launch")};
    slri_diagnosis_give(
        d, &verdict,
        "%llu of %llu launches are small: %.0f operations and %.1f us on average%s. Combine launches (a larger grid, "
        "a loop in the kernel), record them once (slr_graph), or send messages to a ring kernel.",
        (unsigned long long)small.n, (unsigned long long)all, (double)small.instructions / (double)small.n,
        (double)small.ns / (double)small.n / 1e3, cost);
}

#define LOOP 500u

// One place, and many times as many launches as make a program launch-bound.
void slri_rule_launch_loop(struct slri_diagnosing *d)
{
    const slr_profile_row *place = slri_caller_of(d, "launch");
    const uint64_t all = d->total[SLR_PROFILE_KERNEL].n, small = small_launches(d).n;
    if (!place || place->n < LOOP || 2 * place->n < all || 2 * small < all)
        return;
    const struct slri_verdict verdict = {
        .bottleneck = SLR_BOTTLENECK_LAUNCH_LOOP,
        .figure = (double)place->n,
        .limit = LOOP,
        .measure = "launches at one place",
        .change = "slr_graph_launch(graph, stream, NULL, 0, NULL); // the loop recorded once, by slr_graph_begin",
        .caller = place};
    slri_diagnosis_give(
        d, &verdict,
        "%llu of %llu launches come from one place in the program, and most launches are small. Record the loop once "
        "and launch the list (slr_graph_begin, slr_graph_launch), do the loop in the kernel, or send messages to a "
        "ring kernel, which is launched once.",
        (unsigned long long)place->n, (unsigned long long)all);
}

// ---- kernels that could be one -------------------------------------------------------------------------------------

static const slr_profile_row *row_of(const struct slri_diagnosing *d, const char *kernel)
{
    for (uint32_t i = 0; kernel && i < d->rows; ++i)
        if (d->row[i].kind == SLR_PROFILE_KERNEL && strcmp(d->row[i].name, kernel) == 0)
            return &d->row[i];
    return NULL;
}

// Few operations for what it moves, and as many threads: an element each.
static bool is_light(const slr_profile_row *row)
{
    return row->counted != SLR_COUNTED_NOT && row->bytes > 0 && row->intensity < 1 && row->n > 0;
}

static bool could_be_one(const struct slri_diagnosing *d, const slr_timeline_pair *pair)
{
    const slr_profile_row *first = row_of(d, pair->first), *second = row_of(d, pair->second);
    return pair->count >= PAIRS && first && second && first != second && is_light(first) && is_light(second) &&
           first->threads / first->n == second->threads / second->n;
}

// The most frequent pair of those that could be one: often the pairs of a loop all come equally often.
static slr_timeline_pair find_pair(const struct slri_diagnosing *d)
{
    const slr_timeline *t = &d->timeline;
    slr_timeline_pair most = {t->first, t->second, t->pairs};
    if (!could_be_one(d, &most))
        most.count = 0;
    for (uint32_t i = 0; i < t->following_count; ++i)
        if (t->following[i].count > most.count && could_be_one(d, &t->following[i]))
            most = t->following[i];
    return most;
}

void slri_rule_apart(struct slri_diagnosing *d)
{
    const slr_timeline_pair pair = find_pair(d);
    if (pair.count == 0)
        return;
    const slr_profile_row *first = row_of(d, pair.first), *second = row_of(d, pair.second);
    char change[256];
    snprintf(change, sizeof change, "slr_graph_fuse(graph, &info); // or: slipring kernel fuse %s:%s %s:%s",
             first->file, first->name, second->file, second->name);
    const struct slri_verdict verdict = {.bottleneck = SLR_BOTTLENECK_APART,
                                         .figure = (double)pair.count,
                                         .limit = PAIRS,
                                         .measure = "times that one followed the other",
                                         .change = change,
                                         .file = second->file};
    slri_diagnosis_give(
        d, &verdict,
        "'%s' was followed by '%s' on the same stream %llu times, over as many threads (%llu), and both move "
        "more bytes than they compute: %.1f MB in all. 'slipring kernel fuse FILE:%s FILE:%s' makes one kernel "
        "of them, or says why not; slr_graph_fuse does it to a recorded list.",
        first->name, second->name, (unsigned long long)pair.count, (unsigned long long)(first->threads / first->n),
        (double)(first->bytes + second->bytes) / 1e6, first->name, second->name);
}

// ---- blocks and workers --------------------------------------------------------------------------------------------

void slri_rule_few_blocks(struct slri_diagnosing *d)
{
    uint64_t ns = 0;
    const slr_profile_row *worst = NULL;
    for (uint32_t i = 0; i < d->rows; ++i) {
        const slr_profile_row *row = &d->row[i];
        if (row->kind != SLR_PROFILE_KERNEL || row->blocks == 0 || row->blocks >= (uint64_t)d->workers * row->n)
            continue;
        ns += row->total_ns;
        worst = !worst || row->total_ns > worst->total_ns ? row : worst;
    }
    const uint64_t all_ns = d->total[SLR_PROFILE_KERNEL].total_ns;
    if (!worst || slri_row_is_short(worst) || 2 * ns < all_ns)
        return;
    const struct slri_verdict verdict = {
        .bottleneck = SLR_BOTTLENECK_FEW_BLOCKS,
        .figure = (double)worst->blocks / (double)worst->n,
        .limit = d->workers,
        .measure = "blocks a launch, for so many workers",
        .change = "SLR_LAUNCH(stream, kernel, SLR_1D(n), ...); // a thread an element, and the block by size",
        .file = worst->file};
    slri_diagnosis_give(
        d, &verdict,
        "%.0f %% of all kernel time is in launches with fewer blocks than workers: '%s' has %.1f blocks, and %s has "
        "%u workers, so some workers are idle. Divide the work into more, smaller blocks.",
        slri_percent((double)ns, (double)all_ns), worst->name, (double)worst->blocks / (double)worst->n, d->name,
        d->workers);
}

void slri_rule_stalls(struct slri_diagnosing *d)
{
    const struct slri_total *waits = &d->total[SLR_PROFILE_WAIT], *kernels = &d->total[SLR_PROFILE_KERNEL];
    if (waits->n < SLRI_MANY || 10 * waits->n < 8 * kernels->n)
        return;
    const struct slri_verdict verdict = {.bottleneck = SLR_BOTTLENECK_STALLS,
                                         .figure = slri_ratio((double)waits->n, (double)(kernels->n ? kernels->n : 1)),
                                         .limit = 0.8,
                                         .measure = "waits of the host / launches",
                                         .change = "slr_stream_finish(stream, timeout_ns); // once, after the loop",
                                         .caller = slri_caller_of(d, "wait")};
    slri_diagnosis_give(
        d, &verdict,
        "The host waited %llu times for streams, %.2f ms in total, with %llu launches. It waits for about each launch "
        "before the next, and the device is idle in between. Submit several launches, then wait once for the last "
        "point. For order between streams use slr_stream_wait, not the host.",
        (unsigned long long)waits->n, slri_milliseconds(waits->total_ns), (unsigned long long)kernels->n);
}

// More than so many streams a worker take turns, and gain nothing.
#define STREAMS_A_WORKER 4u

void slri_rule_oversubscribed(struct slri_diagnosing *d)
{
    const uint32_t streams = d->timeline.streams;
    if (d->workers == 0 || streams <= STREAMS_A_WORKER * d->workers)
        return;
    const struct slri_verdict verdict = {.bottleneck = SLR_BOTTLENECK_OVERSUBSCRIBED,
                                         .figure = streams,
                                         .limit = STREAMS_A_WORKER * d->workers,
                                         .measure = "streams",
                                         .change = "slr_stream_set_create(device, info.workers, NULL, &streams);"};
    slri_diagnosis_give(
        d, &verdict,
        "%u streams share the %u workers of %s. Their kernels run alternately, and the time of each includes the "
        "others. Use about one stream per worker, and one more for copies.",
        streams, d->workers, d->name);
}

void slri_rule_contention(struct slri_diagnosing *d)
{
    const slr_timeline *t = &d->timeline;
    if (d->workers == 0 || 4 * t->contended_ns < t->span_ns || t->span_ns == 0)
        return;
    const struct slri_verdict verdict = {.bottleneck = SLR_BOTTLENECK_CONTENTION,
                                         .figure = slri_ratio((double)t->contended_ns, (double)t->span_ns),
                                         .limit = 0.25,
                                         .measure = "contended time / time",
                                         .change = "SLR_LAUNCH(streams[i % workers], kernel, shape, ...);",
                                         .caller = slri_caller_of(d, "launch")};
    slri_diagnosis_give(
        d, &verdict,
        "For %.1f ms, %.0f %% of the traced time, more streams and ring kernels had work than %s has workers "
        "(%u): they took turns, and each waited for the others. Use fewer streams, or launches of more blocks "
        "on one.",
        slri_milliseconds(t->contended_ns), slri_percent((double)t->contended_ns, (double)t->span_ns), d->name,
        d->workers);
}

#define LONG_NS 100000000u

void slri_rule_compiling(struct slri_diagnosing *d)
{
    const struct slri_total *compile = &d->total[SLR_PROFILE_COMPILE];
    if (compile->n == 0 || d->timeline.span_ns == 0 || 10 * compile->total_ns < d->timeline.span_ns ||
        compile->total_ns < LONG_NS)
        return;
    const struct slri_verdict verdict = {
        .bottleneck = SLR_BOTTLENECK_COMPILING,
        .figure = slri_ratio((double)compile->total_ns, (double)d->timeline.span_ns),
        .limit = 0.1,
        .measure = "time in compilers / time",
        .change = "slr_program_prefetch(program, NULL, &point); // at the start; or: slipring cache warm FILE.cu"};
    slri_diagnosis_give(
        d, &verdict,
        "Compilation took %.1f ms of %.1f ms, in %llu compilation%s. The next run finds the code in the cache. "
        "'slipring cache "
        "warm FILE.cu' compiles in advance, slr_program_prefetch compiles during the start, and fewer block shapes "
        "need fewer kernels.",
        slri_milliseconds(compile->total_ns), slri_milliseconds(d->timeline.span_ns), (unsigned long long)compile->n,
        compile->n == 1 ? "" : "s");
}
