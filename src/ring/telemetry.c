// SPDX-License-Identifier: Apache-2.0
// What a ring kernel says of itself beside its counts (ring.c): how long it has run, and how long its messages take.
#include "base/clock.h"
#include "base/histogram.h"
#include "base/sized.h"
#include "base/status.h"
#include "ring/ring.h"

#include <slipring/telemetry.h>

#define EVERY_DEFAULT 256u
#define EVERY_MOST 65536u

_Static_assert(SLR_LATENCY_BUCKETS == HG_BUCKETS, "the public number of buckets");

slr_status slri_telemetry_describe(slr_ring *ring, const slr_ring_desc *desc)
{
    uint32_t every = desc->latency_every ? desc->latency_every : EVERY_DEFAULT;
    ring->latency_every = every == SLR_LATENCY_OFF ? 0 : every;
    if (ring->latency_every > EVERY_MOST || (ring->latency_every & (ring->latency_every - 1)))
        return SLRI_FAIL(INVALID,
                         "ring kernel '%s': latency_every is %u; expected a power of two up to %u, or SLR_LATENCY_OFF",
                         ring->name, every, EVERY_MOST);
    return SLR_OK;
}

// Relaxed: the times are for statistics, and a state's own store follows.
void slri_telemetry_note_state(slr_ring *ring, slr_ring_state state)
{
    if (state == SLR_RING_ACTIVE && __atomic_load_n(&ring->activated_ns, __ATOMIC_RELAXED) == 0)
        __atomic_store_n(&ring->activated_ns, slri_now_ns(), __ATOMIC_RELAXED);
    if (state == SLR_RING_TERMINATED)
        __atomic_store_n(&ring->ended_ns, slri_now_ns(), __ATOMIC_RELAXED);
}

void slri_telemetry_count(const slr_ring *ring, slr_ring_stats *out)
{
    uint64_t begun = __atomic_load_n(&ring->activated_ns, __ATOMIC_RELAXED);
    uint64_t ended = __atomic_load_n(&ring->ended_ns, __ATOMIC_RELAXED);
    if (begun != 0)
        out->running_ns = (ended != 0 ? ended : slri_now_ns()) - begun;
}

// What all shards have noted by now. Behind the counts: what they say is handled is in here, where it was timed.
static void merge(slr_ring *ring, struct slri_histogram *out)
{
    if (slr_ring_get_state(ring) == SLR_RING_CREATED || !ring->S)
        return;
    slri_ring_extend(ring); // acquires the shards' counts
    for (uint32_t i = 0; i < ring->shards && ring->latency_every; ++i)
        slri_shard_merge_latency(&ring->shard[i], out);
}

static void summarise(const struct slri_histogram *h, uint32_t every, slr_latency *out)
{
    *out = (slr_latency){.count = slri_histogram_count(h),
                         .every = every,
                         .min_ns = slri_histogram_least(h),
                         .mean_ns = slri_histogram_mean(h),
                         .p50_ns = slri_histogram_quantile(h, 0.5),
                         .p99_ns = slri_histogram_quantile(h, 0.99),
                         .p999_ns = slri_histogram_quantile(h, 0.999),
                         .max_ns = h->most};
}

slr_status slr_ring_get_latency_sized(slr_ring *ring, slr_latency *out, size_t bytes)
{
    if (!ring || !out)
        return SLRI_FAIL(INVALID, "slr_ring_get_latency: %s is NULL", ring ? "out" : "ring");
    SLRI_TRY(slri_ring_check_process(ring));
    struct slri_histogram all = {0};
    merge(ring, &all);
    slr_latency whole;
    summarise(&all, ring->latency_every, &whole);
    for (uint32_t i = 0; whole.count != 0 && i < ring->shards; ++i) {
        uint32_t off_ns = __atomic_load_n(&ring->shard[i].notes.latency_off_ns, __ATOMIC_RELAXED);
        whole.off_ns = off_ns > whole.off_ns ? off_ns : whole.off_ns;
    }
    return SLRI_GIVE_REPORT(slr_latency, out, bytes, &whole);
}

slr_status(slr_ring_get_latency)(slr_ring *ring, slr_latency *out)
{
    return slr_ring_get_latency_sized(ring, out, SLRI_FIRST_slr_latency);
}

slr_status slr_ring_get_latency_buckets(slr_ring *ring, slr_latency_bucket *out, uint32_t most, uint32_t *count)
{
    if (!ring || !out || !count)
        return SLRI_FAIL(INVALID, "slr_ring_get_latency_buckets: %s is NULL", !ring ? "ring" : !out ? "out" : "count");
    SLRI_TRY(slri_ring_check_process(ring));
    struct slri_histogram all = {0};
    uint32_t held = 0, given = 0;
    merge(ring, &all);
    for (uint32_t i = 0; i < HG_BUCKETS; ++i)
        held += all.bucket[i] != 0;
    if (held > most)
        return SLRI_FAIL(INVALID, "ring kernel '%s': %u buckets are not empty; the array has %u", ring->name, held,
                         most);
    for (uint32_t i = 0; i < HG_BUCKETS; ++i)
        if (all.bucket[i] != 0)
            out[given++] = (slr_latency_bucket){slri_histogram_first(i), slri_histogram_last(i), all.bucket[i]};
    *count = held;
    return SLR_OK;
}

slr_status slr_latency_summarise_sized(const slr_latency_bucket *buckets, uint32_t count, slr_latency *out,
                                       size_t bytes)
{
    if (!buckets || !out)
        return SLRI_FAIL(INVALID, "slr_latency_summarise: %s is NULL", buckets ? "out" : "buckets");
    struct slri_histogram all = {0};
    for (uint32_t i = 0; i < count; ++i) {
        const slr_latency_bucket *b = &buckets[i];
        if (b->count == 0)
            continue;
        all.bucket[hg_bucket(b->first_ns)] += b->count;
        all.sum += b->count * (b->first_ns + (b->last_ns - b->first_ns) / 2);
        all.most = b->last_ns > all.most ? b->last_ns : all.most;
        all.least_inverted = ~b->first_ns > all.least_inverted ? ~b->first_ns : all.least_inverted;
    }
    slr_latency whole;
    summarise(&all, 0, &whole);
    return SLRI_GIVE_REPORT(slr_latency, out, bytes, &whole);
}

slr_status(slr_latency_summarise)(const slr_latency_bucket *buckets, uint32_t count, slr_latency *out)
{
    return slr_latency_summarise_sized(buckets, count, out, SLRI_FIRST_slr_latency);
}

// Reads fields of version 0.1 only: the program's readings may be of an earlier version than the library.
double slr_ring_rate(const slr_ring_stats *from, const slr_ring_stats *to)
{
    const slr_ring_stats zero = {0};
    if (!from)
        from = &zero;
    if (!to || to->running_ns <= from->running_ns)
        return 0;
    uint64_t done = to->handled + to->faulted - from->handled - from->faulted;
    return (double)done * 1e9 / (double)(to->running_ns - from->running_ns);
}
