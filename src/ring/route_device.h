// SPDX-License-Identifier: Apache-2.0
// Routes from persistent ring kernels: what grant.c and route_device.c share.
#ifndef SLRI_RING_ROUTE_DEVICE_H
#define SLRI_RING_ROUTE_DEVICE_H

#include "engine/loss.h"
#include "engine/resident_layout.h"
#include "ring/ring.h"

// One shard's way along one route. Kept while the route lasts, whatever table lists it.
struct slri_passage {
    slr_ring *from, *to;        // `to`: of a route to a port `from` itself
    struct slri_outlet *outlet; // where its counts are
    struct slri_connection *c;  // whose lanes it has
    uint32_t *words;            // O of passage.h
    uint32_t *lanes, *retired;  // L and R; NULL to a port
    struct slri_piece *near;    // NULL, or where the kernels have copies of the words, of all the route's shards
    uint64_t near_at;           // this one's part of it
    uint32_t grant;             // credits
    uint32_t first;             // O's count of messages when they were granted
    uint32_t seen;              // and at the last look: who looks wakes the destination
    uint32_t routed, unrouted;  // O's counts, as last brought forward: under from->count_lock
    bool attached;              // has its credits: under to->count_lock
    bool leaving;               // `detach` or `remove` is on its way, or has been: under route_lock
    bool silent_behind;         // senders receive no replies when it is gone
    struct slri_operation detach, remove;
    struct slri_passage *next_in, *next_out; // in to->grants and from->grants
};

// Its device is, with all that lies in its memory.
static inline bool slri_ring_is_lost(const slr_ring *ring)
{
    const struct slri_loss *loss = ring->device->facts.loss;
    return loss && slri_is_lost(loss);
}

// Memory of a persistent ring kernel's device, zeroed, at one address for both.
static inline slr_status slri_passage_memory_create(const slr_ring *ring, uint64_t bytes, void **out)
{
    const slr_device *device = ring->device;
    return device->backend->memory_create(device->self, SLRI_MEMORY_SHARED, bytes, out);
}

static inline void slri_passage_memory_destroy(const slr_ring *ring, void *memory, uint64_t bytes)
{
    if (memory)
        ring->device->backend->memory_destroy(ring->device->self, SLRI_MEMORY_SHARED, memory, bytes);
}

static inline uint64_t slri_passage_round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

// near.c: what of it lies near the groups of the device, if that has such memory.
slr_status slri_near_words_create(struct slri_passage *passages, uint32_t count, uint64_t bytes); // of each
void slri_near_words_destroy(struct slri_passage *passages);
// Where the groups find all that a passage has: there or in the host's memory.
struct slri_resident_outlet slri_near_outlet(const struct slri_passage *p);
// The words at home of a source that did not bring them there: its group is lost.
void slri_near_resolve(struct slri_passage *p);

void slri_passages_renew(slr_ring *ring); // route_device.c: what lies near may be elsewhere

// near.c: of the messages of a lane's ports that have credits of their own, how many are retired, modulo 2^32.
uint32_t slri_lane_retired(const slr_ring *ring, uint32_t lane);
// grant.c: messages sent along routes from persistent ring kernels, modulo 2^32. Under count_lock.
uint32_t slri_grants_sent(const slr_ring *ring);
// Gives up what a passage has of its destination. At rest: what was sent is final.
void slri_passage_detach(struct slri_passage *p);

#endif
