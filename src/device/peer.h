// SPDX-License-Identifier: Apache-2.0
// Copies between devices, for launches and for clusters.
#ifndef SLRI_DEVICE_PEER_H
#define SLRI_DEVICE_PEER_H

#include "device/stream.h"

#include <slipring/peer.h>

struct slri_peer_copy {
    slr_buffer *to, *from;
    uint64_t to_offset, from_offset, bytes;
    slr_peer_way way;
    uint64_t chunk_bytes; // 0: the default
    void *staging;        // NULL: taken
    bool is_move;         // counted as one
    uint64_t pieces;      // set: as how many it was submitted
};

// slr_peer_copy of ranges that have been checked.
slr_status slri_peer_copy(slr_stream *stream, struct slri_peer_copy *copy, slr_point *out);

// A failure of copies by the device's own stream for them is over; who has asked for them knows of it.
void slri_peer_recover(slr_device *device);

void slri_peer_close(slr_device *device);  // its stream for copies, before all streams must be gone
void slri_peer_forget(slr_device *device); // when nothing holds it any more

#endif
