// SPDX-License-Identifier: Apache-2.0
// What the host does for a mailbox that drops: tells ports of their dropped messages, and stands in for the owners
// before there are any.
#include "ring/ring.h"

void slri_ring_evicted(struct slri_shard *shard)
{
    slr_ring *ring = shard->ring;
    uint32_t *P = shard->own;
    if (P[MBP_EVICTED] == 0)
        return;
    if (shard->calls.settled)
        slri_slices_evicted(shard);
    P[MBP_EVICTED] = 0;
    for (uint32_t port = 0; port < ring->max_ports; ++port) {
        uint32_t *word = &P[MBP_NOTICED(port >> 5)];
        uint32_t bit = 1u << (port & 31);
        if (!(*word & bit))
            continue;
        *word &= ~bit;
        slri_lane_tell(slri_lane_at(ring, port));
    }
}

void slri_ring_evict_launched(slr_ring *ring)
{
    uint32_t *S = ring->S;
    if (slri_device_is_anothers(ring->device)) // a child has sent in vain by a port of its parent
        return;
    slri_mutex_lock(&ring->lock); // the shards are started, and given up, under it
    for (uint32_t i = 0; i < ring->shards && slr_ring_get_state(ring) == SLR_RING_LAUNCHED; ++i) {
        struct slri_shard *shard = &ring->shard[i];
        uint32_t *P = shard->own;
        uint32_t epoch = MB_ACQUIRE(MB_PORT_EPOCH);
        if (epoch != P[MBP_EPOCH])
            mb_reread_ports(S, P, epoch);
        mb_keep(S, P);
        slri_ring_tell(shard, 0);
    }
    slri_mutex_unlock(&ring->lock);
    slri_routes_wake(ring);
}
