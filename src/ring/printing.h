// SPDX-License-Identifier: Apache-2.0
// What handlers on threads of the host print, told to the device's on_print by a thread of the ring kernel's own.
#ifndef SLRI_RING_PRINTING_H
#define SLRI_RING_PRINTING_H

#include "ring/ring.h"

// Whether its handler prints and somebody hears it.
bool slri_printing_is_wanted(const slr_ring *ring);

// What a shard's handlers print into, anew: what an abandoned handler has stays that handler's.
slr_status slri_printing_outfit(slr_ring *ring, struct slri_shard *shard);

// Starts the thread, when the shards are there. `finish`: it tells what is left and ends; not from on_print. `dispose`
// when no handler runs any more, abandoned ones neither.
slr_status slri_printing_start(slr_ring *ring);
void slri_printing_finish(slr_ring *ring);
void slri_printing_dispose(slr_ring *ring);

// Waits until what was printed before the call has been told, or until the deadline.
void slri_printing_flush(slr_ring *ring, uint64_t deadline_ns);

void slri_printing_count(const slr_ring *ring, slr_ring_stats *out);

#endif
