// SPDX-License-Identifier: Apache-2.0
// What is known of pairs of devices: their copies, counted, and what was measured.
#ifndef SLRI_DEVICE_PEER_RECORD_H
#define SLRI_DEVICE_PEER_RECORD_H

#include "device/peer.h"
#include "device/store.h"

enum slri_peer_path {
    SLRI_PATH_SAME,    // a copy on one device
    SLRI_PATH_IN,      // the destination's queue copies in: the source lies in the host's memory
    SLRI_PATH_OUT,     // the source's queue copies out
    SLRI_PATH_BACKEND, // the destination's queue copies from one memory to the other
    SLRI_PATH_STAGED
};

void slri_peer_counts(const slr_device *from, const slr_device *to, slr_peer_info *out);
void slri_peer_count(const struct slri_peer_copy *copy, uint64_t chunks); // 0: it was direct

#endif
