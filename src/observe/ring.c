// SPDX-License-Identifier: Apache-2.0
// Ring kernels: spans of those messages that are timed (one in latency_every), how many are in the mailbox at their
// end, and sends that found no place. Nothing is on the way of a message that is not timed.
#include "ring/ring.h"
#include "observe/events.h"
#include "observe/names.h"
#include "observe/observe.h"

static struct slri_row *row_of(slr_ring *ring, uint32_t kind)
{
    return slri_row(kind, slri_name(ring->name), slri_device_name(ring->device), 0);
}

static uint32_t track_of(slr_ring *ring)
{
    uint32_t track = __atomic_load_n(&ring->track, __ATOMIC_RELAXED); // a number; the writer acquires what it is
    if (track != 0)
        return track;
    const struct slri_track made = {SLRI_TRACK_RING, slri_name(ring->name), slri_device_name(ring->device), 0};
    track = slri_track(&made);
    uint32_t other = 0; // an owner of another shard may have been first
    return __atomic_compare_exchange_n(&ring->track, &other, track, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ? track
                                                                                                               : other;
}

// The messages' times are of the one clock, ours of the other: so the end is now, and the begin as long before.
static void trace(struct slri_own *own, slr_ring *ring, const uint32_t *S, uint64_t duration_ns)
{
    uint32_t depth = (MB_LOAD(MB_ACCEPTED) - mb_retired(S)) & MB_COUNT;
    const struct slri_trace_event event = {.begin_ns = slri_tick_ns() - duration_ns,
                                           .duration_ns = duration_ns,
                                           .a = depth,
                                           .b = S[MB_CAPACITY],
                                           .track = track_of(ring),
                                           .name = slri_name(ring->name),
                                           .kind = SLRI_EVENT_MESSAGE,
                                           .category = SLR_PROFILE_MESSAGE};
    slri_events_add(own, &event);
}

// Counts it in the ring kernel's row. NULL, or where an event of it goes.
static struct slri_own *count(slr_ring *ring, uint32_t kind, uint64_t duration_ns)
{
    uint32_t watchers = __atomic_load_n(&slri_observed, __ATOMIC_ACQUIRE); // as slri_is_observed
    struct slri_own *own = slri_own();
    if (!own)
        return NULL;
    const struct slri_sample sample = {.ns = duration_ns};
    struct slri_row *row = watchers & SLRI_OBSERVE_PROFILE ? row_of(ring, kind) : NULL;
    if (row)
        slri_row_add(row, own, &sample);
    return watchers & SLRI_OBSERVE_TRACE ? own : NULL;
}

void slri_observe_message(const struct slri_shard *shard, uint64_t duration_ns)
{
    struct slri_own *own = count(shard->ring, SLR_PROFILE_MESSAGE, duration_ns);
    if (own)
        trace(own, shard->ring, shard->shared, duration_ns);
}

// Batches of one shard follow one another; those of several overlap.
static uint32_t track_of_shard(struct slri_shard *shard)
{
    slr_ring *ring = shard->ring;
    if (shard->track == 0) {
        const struct slri_track made = {SLRI_TRACK_SHARD, slri_name(ring->name), slri_device_name(ring->device),
                                        shard->number};
        shard->track = slri_track(&made);
    }
    return shard->track;
}

void slri_observe_batch(struct slri_shard *shard, uint64_t begin_ns, uint64_t duration_ns, uint32_t messages)
{
    slr_ring *ring = shard->ring;
    struct slri_own *own = count(ring, SLR_PROFILE_BATCH, duration_ns);
    if (!own)
        return;
    const struct slri_trace_event event = {.begin_ns = begin_ns,
                                           .duration_ns = duration_ns,
                                           .a = messages,
                                           .track = track_of_shard(shard),
                                           .name = slri_name(ring->name),
                                           .kind = SLRI_EVENT_BATCH,
                                           .category = SLR_PROFILE_BATCH};
    slri_events_add(own, &event);
}

void slri_observe_full(slr_ring *ring, uint64_t begin)
{
    slri_observe_slice(row_of(ring, SLR_PROFILE_FULL), 0, begin, slri_tick(), 0);
}
