// SPDX-License-Identifier: Apache-2.0
// Ring kernels of a device that is opened again: they fail, are quiet, and let go of what lay in its memory. A restart
// makes that anew.
#include "base/clock.h"
#include "base/status.h"
#include "engine/resident_groups.h"
#include "ring/ring.h"

static slr_status refuse(const slr_ring *ring, const char *why)
{
    return SLRI_FAIL(WRONG_STATE, "slr_device_reopen: ring kernel '%s' %s", ring->name, why);
}

// A device without persistent kernels has no host copies to lock.
static void lock_home(const slr_device *device)
{
    if (device->facts.residents)
        slri_mutex_lock(&device->facts.residents->home);
}

static void unlock_home(const slr_device *device)
{
    if (device->facts.residents)
        slri_mutex_unlock(&device->facts.residents->home);
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

// Of one that could not be started: what was started of it ends, and the rest acknowledges nothing.
static slr_status await_over(slr_ring *ring, uint64_t deadline_ns)
{
    while (!__atomic_load_n(&ring->over, __ATOMIC_ACQUIRE)) {
        if (slri_passed(deadline_ns))
            return SLRI_FAIL(TIMEOUT, "slr_device_reopen: ring kernel '%s' has not ended yet", ring->name);
        slri_ring_wait_event(ring, deadline_ns);
    }
    return SLR_OK;
}

static slr_status await_quiet(slr_ring *ring, uint32_t number, bool was_started, uint64_t deadline_ns)
{
    return was_started ? slri_ring_await(ring, number, deadline_ns, "slr_device_reopen")
                       : await_over(ring, deadline_ns);
}

static slr_status lose_reopen(slr_ring *ring, uint64_t deadline_ns)
{
    slr_ring_state state = slr_ring_get_state(ring);
    if (ring->mode == SLR_RING_ON_HOST || !ring->S)
        return SLR_OK;
    if (state == SLR_RING_LAUNCHED)
        return refuse(ring, "is launched, and not active: terminate it");
    slri_ring_fail(ring, "its device was lost");
    slri_mutex_lock(&ring->lock);
    uint32_t number = slri_ring_current_command(ring);
    bool was_started = ring->failure.from != 0;
    slri_mutex_unlock(&ring->lock);
    SLRI_TRY(await_quiet(ring, number, was_started, deadline_ns));
    lock_home(ring->device); // sources, which may not have failed yet, have words there, too
    slri_mutex_lock(&ring->lock);
    slr_status status = slri_ring_current_command(ring) == number ? let_go(ring) : refuse(ring, "is just changed");
    slri_mutex_unlock(&ring->lock);
    unlock_home(ring->device);
    return status;
}

slr_status slri_rings_lose(slr_device *device, uint64_t deadline_ns)
{
    slr_ring *ring;
    for (uint32_t slot = 0; slri_table_next(device, &slot, &ring);) {
        slr_status status = lose_reopen(ring, deadline_ns);
        slri_ring_release(ring);
        SLRI_TRY(status);
    }
    return SLR_OK;
}

void slri_rings_renew(slr_device *device)
{
    slr_ring *ring;
    for (uint32_t slot = 0; slri_table_next(device, &slot, &ring);) {
        lock_home(device);
        slri_mutex_lock(&ring->lock); // a terminate in another thread
        for (uint32_t i = 0; ring->mode == SLR_RING_PERSISTENT && ring->shard && i < ring->shards; ++i)
            slri_groups_shard_reopened(device->facts.residents, &ring->shard[i]);
        slri_near_renew(ring);
        slri_mutex_unlock(&ring->lock);
        unlock_home(device);
        slri_ring_release(ring);
    }
}
