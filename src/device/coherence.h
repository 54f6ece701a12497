// SPDX-License-Identifier: Apache-2.0
// The record of a buffer: which of its bytes are valid where, what is in flight on them, and who has them mapped. One
// record a buffer, whichever slices of it are used; all under the lock of all queues, so that a submission's place in
// its queue and in the records is taken in one step.
#ifndef SLRI_DEVICE_COHERENCE_H
#define SLRI_DEVICE_COHERENCE_H

#include "device/device.h"
#include "engine/queue.h"

// What a submission does with a range of a buffer.
#define SLRI_READS 1u
#define SLRI_WRITES 2u     // some of it, or all; may read it too
#define SLRI_OVERWRITES 4u // every byte, and reads none
#define SLRI_TO_HOST 8u    // moves to the host what is not valid there

struct slri_buffer_use {
    slr_buffer *buffer;
    uint64_t offset, bytes;
    uint32_t how; // one of the above
    bool moves;   // set by slri_use_check: bytes have to be moved first
};

// A range that the host works on.
struct slri_mapping {
    struct slri_mapping *next;
    struct slri_range range;
    uint32_t access; // SLR_MAP_...
    bool users;      // of a view that is the user's alone: nothing stands against it
    bool brief;      // for the length of a call of slipring: others wait for it; else they are refused
    void *at;        // NULL until it is the user's
};

static inline slr_buffer *slri_buffer_root(slr_buffer *buffer)
{
    return buffer->parent ? buffer->parent : buffer;
}

// Whether host and device have memory of their own, and the record moves bytes between them.
static inline bool slri_buffer_is_lazy(const slr_buffer *root)
{
    return root->mode == SLR_BUFFER_AUTOMATIC && !slri_buffer_is_one(root);
}

// ---- submissions: under the lock -----------------------------------------------------------------------------------

// Whether the use, one of `uses` in a submission, may be: 0, and adds to `moves` and `waits` how many it may need at
// most, and keeps room for what follows. Else the status, or SLRI_BUSY.
slr_status slri_use_check(struct slri_buffer_use *use, uint32_t uses, const struct slri_queue *queue, uint32_t *moves,
                          uint32_t *waits);
#define SLRI_BUSY ((slr_status)-1) // a mapping that is brief is in the way: try again without the lock

// Appends the copies that the use needs first, then the points that it must wait for; and notes it.
void slri_use_move(const struct slri_buffer_use *use, struct slri_command *command, uint32_t *commands);
void slri_use_enter(const struct slri_buffer_use *use, struct slri_queue *queue, uint64_t value,
                    struct slri_after *wait, uint32_t *waits);

// ---- the host: takes the lock --------------------------------------------------------------------------------------

// Waits until what is in flight on the range does not stand against the access, then keeps such work off it, until
// slri_mapping_leave. Errors: WRONG_STATE (mapped by others; would wait for itself), TIMEOUT, what failed in flight.
slr_status slri_mapping_enter(slr_buffer *root, struct slri_mapping *mapping, uint64_t deadline_ns);
void slri_mapping_leave(slr_buffer *root, struct slri_mapping *mapping);

// Whether a handler that begins now would find what the host has written in the range of the buffer. Nothing to ask
// where memory is one. Errors: WRONG_STATE (mapped to be written; a stream's work that writes it is in flight).
slr_status slri_range_check_seen(slr_buffer *buffer, uint64_t offset, uint64_t bytes);

slr_status slri_host_view(slr_buffer *root); // makes it, where there is none yet
// The same in page-locked memory of the device's, for a buffer that nobody knows yet.
slr_status slri_host_view_pinned(slr_buffer *root);
// Moves what is not valid in the place, with the range entered. Counts.
slr_status slri_range_move(slr_buffer *root, struct slri_range range, uint32_t place);
// Notes that the range was written in the place. Errors: NO_MEMORY, before anything is changed.
slr_status slri_range_written(slr_buffer *root, struct slri_range range, uint32_t place);

void slri_coherence_free(slr_buffer *root);

#endif
