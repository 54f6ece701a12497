// SPDX-License-Identifier: Apache-2.0
// From an address or a name to a ring kernel. A slot that is used again has another generation, so that an old address
// is known as stale. Slow path only: a port remembers what it has found.
#include "base/alloc.h"
#include "base/status.h"
#include "ring/ring.h"

#include <string.h>

static void close_all(slr_device *device);

slr_status slri_ring_device_get(slr_device *device, struct slri_ring_device **out)
{
    slri_mutex_lock(&device->ring_lock);
    if (!device->ring) {
        device->ring = slri_alloc(device->allocator, sizeof *device->ring);
        __atomic_store_n(&slri_ring_device_close, close_all, __ATOMIC_RELEASE);
        __atomic_store_n(&slri_ring_device_lost, slri_rings_lose, __ATOMIC_RELEASE);
        __atomic_store_n(&slri_ring_device_reopened, slri_rings_renew, __ATOMIC_RELEASE);
    }
    *out = device->ring;
    slri_mutex_unlock(&device->ring_lock);
    return *out ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for the table of ring kernels");
}

// Under ring_lock.
static slr_status grow(slr_device *device)
{
    struct slri_ring_device *table = device->ring;
    uint32_t slots = table->slots ? table->slots * 2 : 16;
    struct slri_table_slot *slot = slri_alloc(device->allocator, slots * sizeof *slot);
    if (!slot)
        return SLRI_FAIL(NO_MEMORY, "no memory for a table of %u ring kernels", slots);
    if (table->slots)
        memcpy(slot, table->slot, table->slots * sizeof *slot);
    slri_free(device->allocator, table->slot, table->slots * sizeof *slot);
    table->slot = slot;
    table->slots = slots;
    return SLR_OK;
}

// Under ring_lock.
static slr_status enter(slr_ring *ring)
{
    struct slri_ring_device *table = ring->device->ring;
    uint32_t free_slot = table->slots;
    for (uint32_t i = 0; i < table->slots; ++i) {
        if (!table->slot[i].ring)
            free_slot = i < free_slot ? i : free_slot;
        else if (strcmp(table->slot[i].ring->name, ring->name) == 0)
            return SLRI_FAIL(INVALID, "the device has a ring kernel named '%s' already; set slr_ring_desc.name",
                             ring->name);
    }
    if (free_slot == table->slots)
        SLRI_TRY(grow(ring->device));
    // One count for all devices: a place, too, is used again, and a closed device's addresses must stay stale.
    static uint32_t generations;
    ring->generation = __atomic_add_fetch(&generations, 1, __ATOMIC_RELAXED);
    table->slot[free_slot] = (struct slri_table_slot){ring, ring->generation};
    ring->place = ring->device->place;
    ring->slot = free_slot;
    return SLR_OK;
}

slr_status slri_table_enter(slr_ring *ring)
{
    slri_mutex_lock(&ring->device->ring_lock);
    slr_status status = enter(ring);
    slri_mutex_unlock(&ring->device->ring_lock);
    return status;
}

void slri_table_leave(slr_ring *ring)
{
    slri_mutex_lock(&ring->device->ring_lock);
    struct slri_ring_device *table = ring->device->ring;
    if (table && table->slot[ring->slot].ring == ring)
        table->slot[ring->slot].ring = NULL;
    slri_mutex_unlock(&ring->device->ring_lock);
}

slr_status slri_table_find(slr_address address, slr_ring **out)
{
    slr_ring *found = NULL;
    slr_device *device = slri_device_at(address.place);
    if (device) {
        slri_mutex_lock(&device->ring_lock);
        if (device->ring && address.slot < device->ring->slots &&
            device->ring->slot[address.slot].generation == address.generation)
            found = device->ring->slot[address.slot].ring;
        if (found)
            slri_ring_hold(found);
        slri_mutex_unlock(&device->ring_lock);
    }
    *out = found;
    return found ? SLR_OK
                 : SLRI_FAIL(RING_DEAD, "no ring kernel has the address %u:%u generation %u (any more)", address.place,
                             address.slot, address.generation);
}

slr_status slr_ring_find(slr_device *device, const char *name, slr_address *out)
{
    if (!device || !name || !out)
        return SLRI_FAIL(INVALID, "slr_ring_find: %s is NULL", !device ? "device" : !name ? "name" : "out");
    slr_status status = SLR_NOT_FOUND;
    slri_mutex_lock(&device->ring_lock);
    for (uint32_t i = 0; device->ring && i < device->ring->slots && status != SLR_OK; ++i) {
        const slr_ring *ring = device->ring->slot[i].ring;
        if (!ring || strcmp(ring->name, name) != 0)
            continue;
        *out = (slr_address){.place = ring->place, .slot = ring->slot, .generation = ring->generation};
        status = SLR_OK;
    }
    slri_mutex_unlock(&device->ring_lock);
    return status == SLR_OK ? SLR_OK : SLRI_FAIL(NOT_FOUND, "the device has no ring kernel named '%s'", name);
}

bool slri_table_next(slr_device *device, uint32_t *slot, slr_ring **out)
{
    slr_ring *found = NULL;
    slri_mutex_lock(&device->ring_lock);
    while (device->ring && *slot < device->ring->slots && !found)
        found = device->ring->slot[(*slot)++].ring;
    if (found)
        slri_ring_hold(found);
    slri_mutex_unlock(&device->ring_lock);
    *out = found;
    return found != NULL;
}

// Any ring kernel still in the table, held, or NULL.
static slr_ring *any_ring(slr_device *device)
{
    uint32_t slot = 0;
    slr_ring *found;
    slri_table_next(device, &slot, &found);
    return found;
}

// The device is closing: no ring kernel may run on.
static void close_all(slr_device *device)
{
    if (!device->ring)
        return;
    slri_shared_port_close(device);
    for (slr_ring *ring = any_ring(device); ring; ring = any_ring(device)) {
        slr_ring_terminate(ring, 0, NULL, NULL, NULL);
        slri_table_leave(ring);
        slri_ring_release(ring);
    }
    slri_mutex_lock(&device->ring_lock);
    struct slri_ring_device *table = device->ring;
    device->ring = NULL;
    slri_mutex_unlock(&device->ring_lock);
    slri_free(device->allocator, table->slot, table->slots * sizeof *table->slot);
    slri_free(device->allocator, table, sizeof *table);
}
