// SPDX-License-Identifier: Apache-2.0
// From an address or a name to a ring kernel. A slot that is used again has another generation, so that an old address
// is known as stale. Slow path only: a port remembers what it has found.
#include "base/alloc.h"
#include "base/status.h"
#include "ring/ring.h"

#include <string.h>

slr_status slri_ring_device_get(slr_device *device, struct slri_ring_device **out)
{
    slri_mutex_lock(&device->ring_lock);
    if (!device->ring) {
        device->ring = slri_alloc(device->allocator, sizeof *device->ring);
        if (device->ring)
            slri_key_secret_make(&device->ring->secret); // names may be strangers'
    }
    *out = device->ring;
    slri_mutex_unlock(&device->ring_lock);
    return *out ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for the table of ring kernels");
}

// ---- names and free slots, under ring_lock -------------------------------------------------------------------------

// The first slot of the name's chain, 1 + its number; 0: none.
static uint32_t *chain_of(const struct slri_ring_device *table, const char *name)
{
    uint64_t hash = slri_key_hash_bytes(&table->secret, name, strlen(name));
    return &table->chain[hash & (table->slots - 1)];
}

static slr_ring *find_name(const struct slri_ring_device *table, const char *name)
{
    if (table->slots == 0)
        return NULL;
    for (uint32_t at = *chain_of(table, name); at != 0; at = table->slot[at - 1].next)
        if (strcmp(table->slot[at - 1].ring->name, name) == 0)
            return table->slot[at - 1].ring;
    return NULL;
}

static void put_in(struct slri_ring_device *table, uint32_t slot)
{
    uint32_t *chain = chain_of(table, table->slot[slot].ring->name);
    table->slot[slot].next = *chain;
    *chain = slot + 1;
}

static void take_out(struct slri_ring_device *table, uint32_t slot)
{
    uint32_t *at = chain_of(table, table->slot[slot].ring->name);
    while (*at != slot + 1)
        at = &table->slot[*at - 1].next;
    *at = table->slot[slot].next;
}

static void free_slots(const slr_device *device, struct slri_ring_device *table)
{
    slri_free(device->allocator, table->slot, table->slots * sizeof *table->slot);
    slri_free(device->allocator, table->chain, table->slots * sizeof *table->chain);
}

// A slot and a chain for each: as many again.
static slr_status grow(slr_device *device)
{
    struct slri_ring_device *table = device->ring;
    struct slri_ring_device grown = *table;
    grown.slots = table->slots ? table->slots * 2 : 16;
    grown.slot = slri_alloc(device->allocator, grown.slots * sizeof *grown.slot);
    grown.chain = slri_alloc(device->allocator, grown.slots * sizeof *grown.chain);
    if (!grown.slot || !grown.chain) {
        free_slots(device, &grown);
        return SLRI_FAIL(NO_MEMORY, "no memory for a table of %u ring kernels", grown.slots);
    }
    if (table->slots)
        memcpy(grown.slot, table->slot, table->slots * sizeof *table->slot);
    for (uint32_t i = 0; i < table->slots; ++i) // all of them are taken
        put_in(&grown, i);
    for (uint32_t i = grown.slots; i-- > table->slots;) {
        grown.slot[i].next = grown.free;
        grown.free = i + 1;
    }
    free_slots(device, table);
    *table = grown;
    return SLR_OK;
}

static slr_status enter_table(slr_ring *ring)
{
    struct slri_ring_device *table = ring->device->ring;
    if (find_name(table, ring->name))
        return SLRI_FAIL(INVALID, "the device has a ring kernel named '%s' already; set slr_ring_desc.name",
                         ring->name);
    if (table->free == 0)
        SLRI_TRY(grow(ring->device));
    uint32_t slot = table->free - 1;
    table->free = table->slot[slot].next;
    // One count for all devices: a place, too, is used again, and a closed device's addresses must stay stale.
    static uint32_t generations;
    ring->generation = __atomic_add_fetch(&generations, 1, __ATOMIC_RELAXED);
    table->slot[slot] = (struct slri_table_slot){.ring = ring, .generation = ring->generation};
    put_in(table, slot);
    ring->place = ring->device->place;
    ring->slot = slot;
    return SLR_OK;
}

slr_status slri_table_enter(slr_ring *ring)
{
    slri_mutex_lock(&ring->device->ring_lock);
    slr_status status = enter_table(ring);
    slri_mutex_unlock(&ring->device->ring_lock);
    return status;
}

void slri_table_leave(slr_ring *ring)
{
    slri_mutex_lock(&ring->device->ring_lock);
    struct slri_ring_device *table = ring->device->ring;
    if (table && table->slot[ring->slot].ring == ring) {
        take_out(table, ring->slot);
        table->slot[ring->slot].ring = NULL;
        table->slot[ring->slot].next = table->free;
        table->free = ring->slot + 1;
    }
    slri_mutex_unlock(&ring->device->ring_lock);
}

slr_status slri_table_find(slr_address address, slr_ring **out)
{
    slr_ring *found = NULL;
    slr_device *device = slri_device_at(address.place);
    *out = NULL;
    if (device && slri_device_is_anothers(device)) {
        slr_status status = slri_device_check_process(device);
        slri_device_release(device);
        return status;
    }
    if (device) {
        slri_mutex_lock(&device->ring_lock);
        if (device->ring && address.slot < device->ring->slots &&
            device->ring->slot[address.slot].generation == address.generation)
            found = device->ring->slot[address.slot].ring;
        if (found)
            slri_ring_hold(found);
        slri_mutex_unlock(&device->ring_lock);
        slri_device_release(device); // what was found holds it
    }
    *out = found;
    return found ? SLR_OK
                 : SLRI_FAIL(RING_DEAD, "no ring kernel has the address %u:%u generation %u; it may have ended",
                             address.place, address.slot, address.generation);
}

slr_status slr_ring_find(slr_device *device, const char *name, slr_address *out)
{
    if (!device || !name || !out)
        return SLRI_FAIL(INVALID, "slr_ring_find: %s is NULL", !device ? "device" : !name ? "name" : "out");
    SLRI_TRY(slri_device_check_process(device));
    slri_mutex_lock(&device->ring_lock);
    const slr_ring *ring = device->ring ? find_name(device->ring, name) : NULL;
    if (ring)
        *out = (slr_address){.place = ring->place, .slot = ring->slot, .generation = ring->generation};
    slri_mutex_unlock(&device->ring_lock);
    return ring ? SLR_OK : SLRI_FAIL(NOT_FOUND, "the device has no ring kernel named '%s'", name);
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

void slri_rings_close(slr_device *device)
{
    if (!device->ring)
        return;
    slr_ring *ring;
    for (uint32_t slot = 0; slri_table_next(device, &slot, &ring);) {
        slr_ring_terminate(ring, 0, NULL, NULL, NULL);
        slri_table_leave(ring);
        slri_ring_release(ring);
    }
    slri_mutex_lock(&device->ring_lock);
    struct slri_ring_device *table = device->ring;
    device->ring = NULL;
    slri_mutex_unlock(&device->ring_lock);
    if (table->shared) // behind the ends, of which its callers learn through it
        slri_shared_port_release(table->shared);
    free_slots(device, table);
    slri_free(device->allocator, table, sizeof *table);
}
