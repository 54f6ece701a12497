// SPDX-License-Identifier: Apache-2.0
// What the profiler has counted of one thing on one device: a kernel, a way of copying, a wait. A row is there for ever
// once it is made, so that it can be reached by a pointer from wherever its next sample comes.
#ifndef SLRI_OBSERVE_ROW_H
#define SLRI_OBSERVE_ROW_H

#include "base/histogram.h"
#include "base/lock.h"
#include "observe/own.h"

#include <slipring/profile.h>

// What the threads of one slot have counted: one writer, any readers.
struct slri_row_part {
    uint32_t generation; // atomic: of another than the rows' it is out of date, and its writer empties it first
    slri_lock lock;      // of writers that may be several
    // Atomic. `others`: launches of which it is not known what they are made of.
    uint64_t bytes, flops, flops64, instructions, threads, blocks, others, messages, pinned_bytes;
    struct slri_histogram time;
};

struct slri_row {
    // As it was made.
    uint32_t kind, name, device; // SLR_PROFILE_..., and two names
    uint64_t source;             // what tells kernels of the same name apart
    struct slri_row *next, *next_of_chain;
    const char *file;                       // of a kernel: its source's name
    struct slri_launch_count *launches;     // atomic; of a kernel: launch.h
    struct slri_row_part *part[SLRI_SLOTS]; // atomic: NULL until there is something
};

// The row, made where it is not there. There are at most SLRI_ROWS; what comes behind counts in one that says so. NULL:
// no memory.
#define SLRI_ROWS 1024u
struct slri_row *slri_row(uint32_t kind, uint32_t name, uint32_t device, uint64_t source);

extern uint32_t slri_row_generation; // atomic

struct slri_launch_count;

// One thing that was done: how long it took, what it moved, and of a launch what it is made of, where that is known.
struct slri_sample {
    uint64_t ns, bytes;
    const struct slri_launch_count *launch; // of a launch, or of one call of a handler
    bool is_launch;                         // or a batch
    bool is_pinned;                         // of a copy: the host's memory is page-locked
    uint32_t messages;                      // of a batch: so many calls of the handler
};

// By the part's one writer.
void slri_row_part_count(struct slri_row_part *part, const struct slri_sample *sample);

static inline void slri_row_part_add(struct slri_row_part *part, const struct slri_sample *sample)
{
    slri_histogram_add(&part->time, sample->ns);
    __atomic_store_n(&part->bytes, part->bytes + sample->bytes, __ATOMIC_RELAXED);
    if (sample->is_launch)
        slri_row_part_count(part, sample);
    if (sample->is_pinned)
        __atomic_store_n(&part->pinned_bytes, part->pinned_bytes + sample->bytes, __ATOMIC_RELAXED);
}

// Many things that somebody else has timed: what `now` holds and `told` does not (slri_histogram_tell).
void slri_row_tell(struct slri_row *row, const struct slri_own *own, const struct slri_histogram *now,
                   struct slri_histogram *told);

// Also where there is no part yet, or one that several threads share.
void slri_row_add_slowly(struct slri_row *row, const struct slri_own *own, const struct slri_sample *sample);

static inline void slri_row_add(struct slri_row *row, const struct slri_own *own, const struct slri_sample *sample)
{
    struct slri_row_part *part = __atomic_load_n(&row->part[own->slot], __ATOMIC_ACQUIRE); // it was empty
    if (__builtin_expect(part && own->slot != SLRI_SLOT_SHARED &&
                             part->generation == __atomic_load_n(&slri_row_generation, __ATOMIC_RELAXED), // a number
                         1))
        slri_row_part_add(part, sample);
    else
        slri_row_add_slowly(row, own, sample);
}

struct slri_row *slri_rows(void); // the first of them
void slri_rows_clear(void);
void slri_row_read(const struct slri_row *row, slr_profile_row *out);

#endif
