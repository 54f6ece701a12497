// SPDX-License-Identifier: Apache-2.0
// Ring kernels: spans of those messages that are timed (one in latency_every), how many are in the mailbox at their
// end, and sends that found no place. Nothing is on the way of a message that is not timed.
#include "ring/ring.h"

#include "base/alloc.h"
#include "engine/owner.h"
#include "engine/resident.h"
#include "observe/events.h"
#include "observe/launch.h"
#include "observe/names.h"
#include "observe/observe.h"

#include <stdio.h>

static struct slri_row *row_of(slr_ring *ring, uint32_t kind)
{
    return slri_row(kind, slri_name(ring->name), slri_device_name(ring->device), 0);
}

static uint32_t ring_track(slr_ring *ring)
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
static void trace_messages(struct slri_own *own, slr_ring *ring, const uint32_t *S, uint64_t duration_ns)
{
    uint32_t depth = (MB_LOAD(MB_ACCEPTED) - mb_retired(S)) & MB_COUNT;
    const struct slri_trace_event event = {.begin_ns = slri_tick_ns() - duration_ns,
                                           .duration_ns = duration_ns,
                                           .a = depth,
                                           .b = S[MB_CAPACITY],
                                           .track = ring_track(ring),
                                           .name = slri_name(ring->name),
                                           .kind = SLRI_EVENT_MESSAGE,
                                           .category = SLR_PROFILE_MESSAGE};
    slri_events_add(own, &event);
}

// Counts it in the ring kernel's row. NULL, or where an event of it goes.
static struct slri_own *count_messages(slr_ring *ring, uint32_t kind, uint64_t duration_ns)
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

void slri_note_message(const struct slri_shard *shard, uint64_t duration_ns)
{
    struct slri_own *own = count_messages(shard->ring, SLR_PROFILE_MESSAGE, duration_ns);
    if (own)
        trace_messages(own, shard->ring, shard->shared, duration_ns);
}

// Their spans are not known, so the trace has none of them.
void slri_note_messages(const struct slri_shard *shard, const struct slri_histogram *now, struct slri_histogram *told)
{
    uint32_t watchers = __atomic_load_n(&slri_observed, __ATOMIC_ACQUIRE); // as slri_is_observed
    struct slri_own *own = watchers & SLRI_OBSERVE_PROFILE && shard->ring ? slri_own() : NULL;
    struct slri_row *row = own ? row_of(shard->ring, SLR_PROFILE_MESSAGE) : NULL;
    if (row)
        slri_row_tell(row, own, now, told);
    else
        slri_histogram_tell(NULL, now, told);
}

// Batches of one shard follow one another; those of several overlap.
static uint32_t track_of_shard(struct slri_shard *shard)
{
    slr_ring *ring = shard->ring;
    if (shard->watch.track == 0) {
        const struct slri_track made = {SLRI_TRACK_SHARD, slri_name(ring->name), slri_device_name(ring->device),
                                        shard->number};
        shard->watch.track = slri_track(&made);
    }
    return shard->watch.track;
}

// ---- batches -------------------------------------------------------------------------------------------------------

// Who runs the shard's handlers, as a row's name.
static uint32_t owner_name(const struct slri_shard *shard)
{
    char name[32] = "dispatches";
    if (shard->mode == SLR_RING_PERSISTENT && shard->group.resident)
        snprintf(name, sizeof name, "group %u", shard->group.resident->number);
    else if (!shard->relaunch && shard->host.worker)
        snprintf(name, sizeof name, "worker %u", (unsigned)(shard->host.worker - shard->host.worker->owners->worker));
    return slri_name(name);
}

// What one call of the handler is made of, counted once a row. NULL: a function of the host, or no memory.
static const struct slri_launch_count *count_call(const struct slri_shard *shard, struct slri_row *row)
{
    const slr_ring *ring = shard->ring;
    const struct slri_launch_count *known = __atomic_load_n(&row->launches, __ATOMIC_ACQUIRE); // what it says
    if (known || !ring->program || !shard->entry)
        return known;
    uint32_t threads = shard->entry->kind == SLRI_ENTRY_BLOCK ? shard->entry->max_threads : 1;
    const uint32_t grid[3] = {1, 1, 1}, block[3] = {threads, 1, 1};
    const struct slri_count_launch call = {ring->program->module, shard->entry, grid, block, shard->bound, {0}};
    struct slri_launch_count *made = slri_alloc(NULL, sizeof *made), *other = NULL;
    if (!made)
        return NULL;
    made->blocks = 1;
    made->threads = threads;
    slri_count(&call, &made->count);
    // Release: what it says. The owner of another shard may have been first.
    if (__atomic_compare_exchange_n(&row->launches, &other, made, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
        return made;
    slri_free(NULL, made, sizeof *made);
    return other;
}

// Ring kernels of one name are told apart by their source, as kernels are.
static struct slri_row *find_batch_row(const slr_ring *ring)
{
    uint64_t source = 0;
    if (ring->program)
        memcpy(&source, ring->program->module->source_hash, sizeof source);
    struct slri_row *row = slri_row(SLR_PROFILE_BATCH, slri_name(ring->name), slri_device_name(ring->device), source);
    if (row && ring->program)
        __atomic_store_n(&row->file, slri_name_text(slri_name(ring->program->module->file[0])), __ATOMIC_RELAXED);
    return row;
}

// Once a shard. False: no memory for its rows.
static bool find_rows(struct slri_shard *shard)
{
    const slr_ring *ring = shard->ring;
    if (shard->watch.batch_row && shard->watch.owner_row)
        return true;
    shard->watch.batch_row = find_batch_row(ring);
    shard->watch.owner_row = slri_row(SLR_PROFILE_OWNER, owner_name(shard), slri_device_name(ring->device), 0);
    if (!shard->watch.batch_row || !shard->watch.owner_row)
        return false;
    shard->watch.call_count = count_call(shard, shard->watch.batch_row);
    return true;
}

static void count_batch(struct slri_shard *shard, struct slri_own *own, const struct slri_batch_seen *batch)
{
    if (!find_rows(shard))
        return;
    const struct slri_sample handled = {
        .ns = batch->handlers_ns, .launch = shard->watch.call_count, .is_launch = true, .messages = batch->messages};
    slri_row_add(shard->watch.batch_row, own, &handled);
    const struct slri_sample owned = {.ns = batch->duration_ns, .is_launch = true, .messages = batch->messages};
    slri_row_add(shard->watch.owner_row, own, &owned);
}

// A sample each, so that the row's n is their number.
static void count_without_times(const struct slri_shard *shard, struct slri_own *own, uint32_t kind, uint32_t count)
{
    const struct slri_sample one = {0};
    struct slri_row *row = row_of(shard->ring, kind);
    for (uint32_t i = 0; row && i < count; ++i)
        slri_row_add(row, own, &one);
}

void slri_note_batch(struct slri_shard *shard, const struct slri_batch_seen *batch)
{
    uint32_t watchers = __atomic_load_n(&slri_observed, __ATOMIC_ACQUIRE); // as slri_is_observed
    struct slri_own *own = slri_own();
    if (!own || !shard->ring)
        return;
    if (batch->missing != 0 || batch->untimed != 0) {
        if (watchers & SLRI_OBSERVE_PROFILE && batch->missing != 0)
            count_without_times(shard, own, SLR_PROFILE_MISSING, batch->missing);
        if (watchers & SLRI_OBSERVE_PROFILE && batch->untimed != 0)
            count_without_times(shard, own, SLR_PROFILE_UNTIMED, batch->untimed);
        return;
    }
    if (watchers & SLRI_OBSERVE_PROFILE)
        count_batch(shard, own, batch);
    if (!(watchers & SLRI_OBSERVE_TRACE))
        return;
    const struct slri_trace_event event = {.begin_ns = batch->begin_ns,
                                           .duration_ns = batch->duration_ns,
                                           .a = batch->messages,
                                           .track = track_of_shard(shard),
                                           .name = slri_name(((slr_ring *)shard->ring)->name),
                                           .kind = SLRI_EVENT_BATCH,
                                           .category = SLR_PROFILE_BATCH};
    slri_events_add(own, &event);
}

void slri_note_handled(struct slri_shard *shard, uint64_t begin, uint32_t messages)
{
    uint64_t end = slri_tick(), ns = end > begin ? slri_ticks_ns(end - begin) : 0;
    const struct slri_batch_seen batch = {
        .begin_ns = slri_tick_time_ns(begin), .duration_ns = ns, .handlers_ns = ns, .messages = messages};
    slri_note_batch(shard, &batch);
}

// ---- senders and callers -------------------------------------------------------------------------------------------

void slri_note_reply(slr_address to, uint64_t begin)
{
    slr_ring *ring;
    if (slri_table_find(to, &ring) != SLR_OK)
        return; // it is gone
    slri_observe_slice(row_of(ring, SLR_PROFILE_REPLY), 0, begin, slri_tick(), 0);
    slri_ring_release(ring);
}

void slri_note_full(slr_ring *ring, uint64_t begin)
{
    slri_observe_slice(row_of(ring, SLR_PROFILE_FULL), 0, begin, slri_tick(), 0);
}
