// SPDX-License-Identifier: Apache-2.0
// What happens before what. A barrier orders all that the threads of a block did before it and do behind it; __syncwarp
// does that for the lanes of its mask; a fence, then an atomic, and another thread's atomic on the same word, then what
// that thread does. Nothing else orders: neither the lanes of a warp among each other, nor the numbers of blocks.
//
// A thread's time is its block's epoch (barriers lifted so far) and, within that, its own count of points that others
// may know of.
#ifndef SLRI_CHECK_ORDER_H
#define SLRI_CHECK_ORDER_H

#include "ir/ir.h"

struct slri_mark {  // one access: who, when, and by which instruction
    uint32_t block; // its number + 1; 0: there is none
    uint32_t epoch, sub;
    uint32_t code;
    uint16_t thread;
    uint8_t is_atomic;
};

// What is known of other threads: all that a thread did before (epoch, sub). Thread SLRI_WHOLE_BLOCK: all that any
// thread of the block did before that epoch.
#define SLRI_WHOLE_BLOCK UINT32_MAX
struct slri_knowledge {
    struct slri_known {
        uint32_t block, thread, epoch, sub;
    } * list;
    uint32_t count, room;
};

struct slri_order_thread {
    uint32_t sub;
    uint32_t lane[SLRI_WARP_THREADS]; // of the lanes of the own warp, since the last barrier: known before this sub
    struct slri_knowledge known;      // by acquiring
    struct slri_knowledge fenced;     // what an atomic of it now would publish
    bool has_fence;                   // in this epoch
};

struct slri_ordering { // of one block
    struct slri_region *region;
    uint32_t block, threads;
    uint32_t epoch;
    struct slri_order_thread *thread;
    struct slri_knowledge known, fenced; // of all of its threads, since the last barrier
    bool is_full;                        // memory has run out: what is ordered is no longer known
};

void slri_order_open(struct slri_ordering *order, uint32_t block);
void slri_order_barrier(struct slri_ordering *order);
void slri_order_warp(struct slri_ordering *order, uint32_t first, uint32_t lanes);
void slri_order_fence(struct slri_ordering *order, uint32_t thread);

// An atomic on a word whose past is `word`: takes what it holds, and leaves what the thread has fenced.
void slri_order_atomic(struct slri_ordering *order, uint32_t thread, struct slri_knowledge *word, bool reads,
                       bool writes);

// Does `mark` happen before what the thread does now?
bool slri_order_before(const struct slri_ordering *order, uint32_t thread, const struct slri_mark *mark);

#endif
