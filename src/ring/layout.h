// SPDX-License-Identifier: Apache-2.0
// The sizes of a mailbox's parts and where they lie.
#ifndef SLRI_RING_LAYOUT_H
#define SLRI_RING_LAYOUT_H

#include "base/round.h"
#include "base/share.h"
#include "ring/ring.h"

// The parts of a mailbox on the host: what an idle ring kernel has used is apart from what it may never use. The copies
// are its ports'. Offsets in S and in P only reach forward. Where a device has the mailbox the last part and the last
// of the copies are here alone.
enum {
    SLRI_PART_OWN,       // P of each shard, up to its lists
    SLRI_PART_LISTS,     // of P
    SLRI_PART_HISTOGRAM, // of the times that messages take
    SLRI_PART_HEADER,    // S
    SLRI_PART_OWNERS,    // a line a shard; with several shards, and what it keeps
    SLRI_PART_KEPT,      // with one shard: its pool, dead letters, and times of the pool
    SLRI_PART_SHARDS     // struct slri_shard of each
};
enum {
    SLRI_EACH_LANE,  // of each shard, from a port to its owner
    SLRI_EACH_REPLY, // and back; in its first line the port's words of P, so that only ports that came take such
    SLRI_EACH_PORT   // struct slri_lane, and its cursors
};
_Static_assert(SLRI_PART_SHARDS < SLRI_SHARE_PARTS && SLRI_EACH_PORT < SLRI_SHARE_COPIED, "there is room for all");

struct slri_layout { // in words, before it is known that they fit u32
    uint64_t credits, slot, lane_slots, reply_slot, reply_slots, letter_slots, times, times_shift;
    uint64_t header, lane, lane_at, lane_times_at, reply_lane; // lane_at: in its copy, the lane
    uint64_t kept, letters_at, node_times_at;                  // from the pool on
    uint64_t own, own_used, lists, histogram;                  // own_used: the rest of its last line is free
    uint64_t shard, total;                                     // of S, in one piece
    uint64_t lanes_at, lane_stride, lanes_stride, replies_at, reply_stride, replies_stride;
    uint64_t owners_at, owner_stride, kept_at; // the last: from an owner's line
    uint64_t lists_at;                         // from P, of the first shard
    uint64_t ports_at, port_stride;            // likewise: each port's words
    uint64_t lists_next, ports_next;           // what those are more of the next shard's P
};

uint64_t slri_power_of_two(uint64_t least);
uint64_t slri_slot_words(uint64_t bytes, uint32_t stamped, bool ticketed);

slr_status slri_layout_check(const slr_ring *ring); // INVALID where a mailbox of these sizes cannot be
struct slri_layout slri_layout_in_one(const slr_ring *ring);
struct slri_shape slri_layout_outside(const slr_ring *ring); // of what is not the mailbox
void slri_layout_shape(const slr_ring *ring, struct slri_layout *l, struct slri_shape *shape);
void slri_layout_place(const slr_ring *ring, struct slri_layout *l, const struct slri_share *share);
void slri_layout_write(const slr_ring *ring, const struct slri_layout *l); // into S

#endif
