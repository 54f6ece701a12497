// SPDX-License-Identifier: Apache-2.0
// A ring kernel spread over devices, for the files of this folder.
#ifndef SLRI_CLUSTER_RING_H
#define SLRI_CLUSTER_RING_H

#include "cluster/cluster.h"

#include <slipring/cluster_ring.h>

struct slri_cluster_ring_part { // of one device
    slr_ring *ring;
    slr_address address; // of its instance 0
    uint32_t first, instances;
};

struct slr_cluster_ring {
    slr_cluster *cluster;
    uint32_t count, instances, keys;
    struct slri_cluster_ring_part part[];
};

struct slr_cluster_port {
    const slr_cluster_ring *ring;
    uint32_t next; // whose turn it is to be looked at
    struct {
        slr_port *port;
        bool was_used, is_over;
    } of[]; // one a device
};

#endif
