// SPDX-License-Identifier: Apache-2.0
// Ring kernels of a device that is opened again: they fail, are quiet, and let go of what lay in its memory. A restart
// makes that anew.
#include "base/clock.h"
#include "base/status.h"
#include "engine/resident.h"
#include "ring/ring.h"

static slr_status refuse(const slr_ring *ring, const char *why)
{
    return SLRI_FAIL(WRONG_STATE, "slr_device_reopen: ring kernel '%s' %s", ring->name, why);
}

static slri_mutex *home_of(const slr_device *device)
{
    return &device->facts.residents->home;
}

// Under its lock: nobody sends it to work, and none of its shards works.
static slr_status let_go(slr_ring *ring)
{
    if (ring->failure.restarting)
        return refuse(ring, "is just restarted");
    slri_near_lose(ring);
    if (ring->relaunch)
        slri_relaunch_drop(ring->relaunch);
    return SLR_OK;
}

static slr_status lose(slr_ring *ring, uint64_t deadline_ns)
{
    slr_ring_state state = slr_ring_get_state(ring);
    if (ring->mode == SLR_RING_ON_HOST || !ring->S)
        return SLR_OK;
    if (state == SLR_RING_LAUNCHED)
        return refuse(ring, "is launched, and not active: terminate it");
    slri_ring_fail(ring, "its device was lost");
    slri_mutex_lock(&ring->lock);
    uint32_t number = slri_ring_current_command(ring);
    slri_mutex_unlock(&ring->lock);
    SLRI_TRY(slri_ring_await(ring, number, deadline_ns, "slr_device_reopen"));
    slri_mutex *home = home_of(ring->device); // sources, which may not have failed yet, have words there, too
    slri_mutex_lock(home);
    slri_mutex_lock(&ring->lock);
    slr_status status = slri_ring_current_command(ring) == number ? let_go(ring) : refuse(ring, "is just changed");
    slri_mutex_unlock(&ring->lock);
    slri_mutex_unlock(home);
    return status;
}

slr_status slri_rings_lose(slr_device *device, uint64_t deadline_ns)
{
    slr_ring *ring;
    for (uint32_t slot = 0; slri_table_next(device, &slot, &ring);) {
        slr_status status = lose(ring, deadline_ns);
        slri_ring_release(ring);
        SLRI_TRY(status);
    }
    return SLR_OK;
}

void slri_rings_renew(slr_device *device)
{
    slr_ring *ring;
    for (uint32_t slot = 0; slri_table_next(device, &slot, &ring);) {
        slri_mutex_lock(home_of(device));
        slri_mutex_lock(&ring->lock); // a terminate in another thread
        bool moves = ring->mode == SLR_RING_PERSISTENT && device->backend->shard_reopened;
        for (uint32_t i = 0; moves && ring->shard && i < ring->shards; ++i)
            device->backend->shard_reopened(device->self, &ring->shard[i]);
        slri_near_renew(ring);
        slri_mutex_unlock(&ring->lock);
        slri_mutex_unlock(home_of(device));
        slri_ring_release(ring);
    }
}
