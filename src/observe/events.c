// SPDX-License-Identifier: Apache-2.0
// The rings of events.
#include "observe/events.h"

#include "base/alloc.h"
#include "base/forks.h"
#include "base/futex.h"
#include "base/thread.h"
#include "base/thread_end.h"
#include "observe/names.h"
#include "observe/own.h"

// `head` and `tail` only grow, each on its writer's cache line.
struct slri_ring {
    struct slri_trace_event *event;
    uint32_t mask;
    uint32_t track;                              // of the thread that has it
    struct slri_ring *next;                      // behind it in the list, as it was made
    bool owned;                                  // under the lock: by a thread that has not ended
    uint64_t head __attribute__((aligned(128))); // atomic: the owner's
    uint64_t tail_seen, dropped;                 // the owner's; `dropped` is atomic
    uint64_t tail __attribute__((aligned(128))); // atomic: the writer's
    uint64_t dropped_before;                     // the writer's: of earlier traces
};

#define RINGS 256u // threads at a time; the events of others are dropped

static struct slri_ring *rings; // atomic: a list that only grows
static slri_mutex lock = SLRI_MUTEX_INIT;
static uint32_t ring_count; // under it
SLRI_RENEW_IN_CHILD(renew_lock, &lock, NULL)
static uint32_t ring_mask = 65536 - 1; // atomic: of new rings
static uint64_t dropped_without;       // atomic: by threads without a ring
uint32_t slri_events_pressing;

// ---- tracks --------------------------------------------------------------------------------------------------------

static struct slri_track track_table[SLRI_TRACKS + 1];
static uint32_t track_count; // atomic; written under the lock

uint32_t slri_tracks(void)
{
    return __atomic_load_n(&track_count, __ATOMIC_ACQUIRE); // what they are was written before
}

const struct slri_track *slri_track_at(uint32_t track)
{
    return &track_table[track];
}

static uint32_t add_track(const struct slri_track *track)
{
    uint32_t number = track_count;
    if (number == SLRI_TRACKS)
        return number;
    track_table[++number] = *track;
    if (number == SLRI_TRACKS)
        track_table[number].name = slri_name("(others)");
    __atomic_store_n(&track_count, number, __ATOMIC_RELEASE);
    return number;
}

uint32_t slri_track(const struct slri_track *track)
{
    slri_mutex_lock(&lock);
    uint32_t number = add_track(track);
    slri_mutex_unlock(&lock);
    return number;
}

// ---- a thread's ring -----------------------------------------------------------------------------------------------

void slri_events_leave(struct slri_ring *ring)
{
    if (!ring)
        return;
    slri_mutex_lock(&lock);
    ring->owned = false; // what is in it stays: an event says which track it is of
    slri_mutex_unlock(&lock);
}

static struct slri_ring *make_ring(void)
{
    if (ring_count == RINGS)
        return NULL;
    struct slri_ring *ring = slri_alloc(NULL, sizeof *ring);
    if (!ring)
        return NULL;
    ring->event = slri_alloc(NULL, (ring_mask + (size_t)1) * sizeof *ring->event);
    if (!ring->event) {
        slri_free(NULL, ring, sizeof *ring);
        return NULL;
    }
    ring->mask = ring_mask;
    ring->next = rings;
    __atomic_store_n(&rings, ring, __ATOMIC_RELEASE); // filled in, for the writer
    ++ring_count;
    return ring;
}

// One that a thread has left behind, or a new one. Its own is of another size, or is none.
static struct slri_ring *get(struct slri_own *own)
{
    char name[16];
    slri_events_leave(own->ring);
    slri_thread_name(name);
    const struct slri_track track = {SLRI_TRACK_THREAD, slri_name(name), 0, slri_thread_id()};
    slri_mutex_lock(&lock);
    struct slri_ring *ring = rings;
    while (ring && (ring->owned || ring->mask != ring_mask))
        ring = ring->next;
    if (!ring)
        ring = make_ring();
    if (ring) {
        ring->owned = true;
        ring->track = add_track(&track);
    }
    slri_mutex_unlock(&lock);
    own->ring = ring;
    own->has_no_ring = !ring;
    return ring;
}

static void press(void)
{
    __atomic_fetch_add(&slri_events_pressing, 1, __ATOMIC_RELAXED); // a hint
    slri_futex_wake(&slri_events_pressing, 1);
}

void slri_events_add(struct slri_own *own, const struct slri_trace_event *event)
{
    struct slri_ring *ring = own->ring;
    bool fits = ring && ring->mask == __atomic_load_n(&ring_mask, __ATOMIC_RELAXED);
    if (__builtin_expect(!fits, 0) && !own->has_no_ring)
        ring = get(own);
    if (!ring) {
        __atomic_fetch_add(&dropped_without, 1, __ATOMIC_RELAXED); // a count
        return;
    }
    uint64_t head = ring->head;
    if (head - ring->tail_seen > ring->mask) {
        ring->tail_seen = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE); // the writer has read what lies there
        if (head - ring->tail_seen > ring->mask) {
            __atomic_store_n(&ring->dropped, ring->dropped + 1, __ATOMIC_RELAXED); // a count with one writer
            return;
        }
    }
    struct slri_trace_event *at = &ring->event[head & ring->mask];
    *at = *event;
    if (at->track == 0)
        at->track = ring->track;
    __atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE); // the event, for the writer
    if (__builtin_expect((head & ring->mask) == ring->mask / 2, 0))
        press();
}

// ---- the writer ----------------------------------------------------------------------------------------------------

void slri_events_begin(uint32_t room)
{
    slri_mutex_lock(&lock);
    __atomic_store_n(&ring_mask, room - 1, __ATOMIC_RELAXED); // a number
    for (struct slri_ring *ring = rings; ring; ring = ring->next) {
        // Relaxed: nothing of them is read.
        __atomic_store_n(&ring->tail, __atomic_load_n(&ring->head, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
        ring->dropped_before = __atomic_load_n(&ring->dropped, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&dropped_without, 0, __ATOMIC_RELAXED);
    slri_mutex_unlock(&lock);
}

static uint64_t take_from(struct slri_ring *ring, void (*take)(const struct slri_trace_event *event))
{
    uint64_t tail = ring->tail, head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE); // the events before it
    for (; tail != head; ++tail)
        take(&ring->event[tail & ring->mask]);
    __atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE); // read: the places are the owner's again
    return __atomic_load_n(&ring->dropped, __ATOMIC_RELAXED) - ring->dropped_before;
}

uint64_t slri_events_take(void (*take)(const struct slri_trace_event *event))
{
    uint64_t dropped = __atomic_load_n(&dropped_without, __ATOMIC_RELAXED); // a count
    for (struct slri_ring *ring = __atomic_load_n(&rings, __ATOMIC_ACQUIRE); ring; ring = ring->next)
        dropped += take_from(ring, take);
    return dropped;
}
