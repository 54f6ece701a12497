// SPDX-License-Identifier: Apache-2.0
// Events on their way to the file: a ring of them a thread, which the thread alone fills and the writer alone empties.
// A full ring drops the event and counts it.
#ifndef SLRI_OBSERVE_EVENTS_H
#define SLRI_OBSERVE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

enum slri_trace_event_kind {
    SLRI_EVENT_SLICE,   // of a track, from begin_ns for duration_ns; a: bytes moved
    SLRI_EVENT_MEMORY,  // category: SLR_MEMORY_...; a: bytes, b: live ones; in duration_ns the file's name and the line
    SLRI_EVENT_MESSAGE, // of a ring kernel's track, a slice; a: messages in the mailbox, b: room for them
    SLRI_EVENT_BATCH,   // of a shard's track, a slice; a: messages
    SLRI_EVENT_KINDS
};

struct slri_trace_event {
    uint64_t begin_ns, duration_ns;
    uint64_t a, b;  // by kind
    uint32_t track; // 0: the thread's own
    uint32_t name;
    uint16_t kind;
    uint16_t category; // SLR_PROFILE_...
};

struct slri_own;

// Adds one to the calling thread's ring, making that with the first event. Never blocks, but then.
void slri_events_add(struct slri_own *own, const struct slri_trace_event *event);

// The thread ends. NULL is fine.
struct slri_ring;
void slri_events_leave(struct slri_ring *ring);

// ---- the writer's --------------------------------------------------------------------------------------------------

// From here on new rings have room for so many; what is in old ones is forgotten.
void slri_events_begin(uint32_t room);

// Takes what has come: `take` is called for each event, those of a thread in order. Gives how many were dropped so far.
uint64_t slri_events_take(void (*take)(const struct slri_trace_event *event));

// A futex that changes when a ring is half full.
extern uint32_t slri_events_pressing;

// ---- tracks --------------------------------------------------------------------------------------------------------

enum slri_track_kind { SLRI_TRACK_THREAD, SLRI_TRACK_STREAM, SLRI_TRACK_RING, SLRI_TRACK_SHARD };

struct slri_track {
    enum slri_track_kind kind;
    uint32_t name, device; // names
    uint32_t number;       // the thread's of the system, the stream's or the shard's
};

// A new one: from 1; at most SLRI_TRACKS. Behind them all share the last, which is called "(others)".
#define SLRI_TRACKS 8192u
uint32_t slri_track(const struct slri_track *track);
uint32_t slri_tracks(void);                             // how many there are
const struct slri_track *slri_track_at(uint32_t track); // from 1

#endif
