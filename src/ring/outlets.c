// SPDX-License-Identifier: Apache-2.0
// What owners that are threads of the host work with: a table of outlets for each shard, exchanged as a whole when
// routes change. Those of persistent ring kernels are route_device.c's.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "ring/ring.h"

static size_t table_bytes(uint32_t count)
{
    return sizeof(struct slri_outlets) + count * sizeof(struct slri_outlet *);
}

void slri_outlets_free(const slr_ring *ring, struct slri_outlets *table)
{
    while (table) {
        struct slri_outlets *older = table->older;
        slri_free(ring->device->allocator, table->aside, (size_t)table->aside_slots * table->aside_stride);
        slri_free(ring->device->allocator, table, table_bytes(table->count));
        table = older;
    }
}

// In the order of the destinations' slots; see slri_outlets.
static void enter_outlets(struct slri_outlets *table, struct slri_outlet *outlet)
{
    uint32_t i = table->count++;
    for (; i > 0 && table->outlet[i - 1]->c->ring->slot > outlet->c->ring->slot; --i)
        table->outlet[i] = table->outlet[i - 1];
    table->outlet[i] = outlet;
}

// The table of one shard, from the ring kernel's list of routes. Where that is empty, so is the table: the replies go
// to who sent the messages.
static struct slri_outlets *new_table(const slr_ring *ring, uint32_t shard)
{
    uint32_t count = 0;
    for (const struct slri_route *r = ring->routes.out; r; r = r->next_out)
        ++count;
    struct slri_outlets *table = slri_alloc(ring->device->allocator, table_bytes(count));
    if (!table)
        return NULL;
    *table = (struct slri_outlets){.aside_slots = 1, .aside_stride = (ring->reply_bytes + 16) / 16 * 16};
    while (table->aside_slots < ring->max_replies)
        table->aside_slots *= 2;
    table->aside = slri_alloc(ring->device->allocator, (size_t)table->aside_slots * table->aside_stride);
    for (struct slri_route *r = ring->routes.out; r; r = r->next_out) {
        table->reply_too = table->reply_too || (r->reply_too && r->parameter == 0);
        enter_outlets(table, &r->outlet[shard]);
    }
    for (uint32_t i = count; i-- > 0;)
        if (table->outlet[i]->parameter == 0)
            table->first = table->outlet[i];
    table->reply_too = table->reply_too || !table->first;
    if (table->aside)
        return table;
    slri_outlets_free(ring, table);
    return NULL;
}

// Whether a shard works with its newest table, or will never work again. Acquire: it has finished with those before.
static bool has_taken_up(const slr_ring *ring, uint32_t shard)
{
    const struct slri_shard *s = &ring->shard[shard];
    return __atomic_load_n(&s->route.outlets, __ATOMIC_ACQUIRE) == s->route.next_outlets ||
           __atomic_load_n(&ring->over, __ATOMIC_ACQUIRE);
}

slr_status slri_outlets_exchange(slr_ring *ring)
{
    struct slri_outlets **fresh = slri_alloc(ring->device->allocator, ring->shards * sizeof *fresh);
    uint32_t made = 0;
    while (fresh && made < ring->shards && (fresh[made] = new_table(ring, made)))
        ++made;
    bool complete = made == ring->shards;
    for (uint32_t s = 0; s < made; ++s) {
        if (!complete) {
            slri_outlets_free(ring, fresh[s]);
            continue;
        }
        fresh[s]->older = ring->shard[s].route.next_outlets;
        __atomic_store_n(&ring->shard[s].route.next_outlets, fresh[s], __ATOMIC_RELEASE); // the table
    }
    slri_free(ring->device->allocator, fresh, ring->shards * sizeof *fresh);
    return complete ? SLR_OK : SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for a route", ring->name);
}

slr_status slri_outlets_begin(slr_ring *ring)
{
    for (uint32_t s = 0; s < ring->shards; ++s) {
        ring->shard[s].route.next_outlets = new_table(ring, s);
        if (ring->shard[s].route.next_outlets)
            continue;
        while (s-- > 0)
            slri_outlets_free(ring, ring->shard[s].route.next_outlets);
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for its routes", ring->name);
    }
    return SLR_OK;
}

// Under the lock: slr_ring_activate holds the lock from the first owner's start until the state says so. An owner that
// starts later takes up the newest table before its first message.
static bool has_no_owner(slr_ring *ring)
{
    slri_mutex_lock(&ring->lock);
    bool launched = slr_ring_get_state(ring) == SLR_RING_LAUNCHED;
    slri_mutex_unlock(&ring->lock);
    return launched;
}

slr_status slri_outlets_await(slr_ring *ring, uint64_t deadline_ns)
{
    struct slri_backoff backoff = {.until.deadline_ns = deadline_ns};
    if (has_no_owner(ring))
        return SLR_OK;
    for (uint32_t s = 0; s < ring->shards; ++s) {
        slri_ring_wake_shard(&ring->shard[s]);
        while (!has_taken_up(ring, s))
            SLRI_TRY(slri_route_wait(ring, &backoff));
        struct slri_outlets *table = ring->shard[s].route.next_outlets;
        if (__atomic_load_n(&ring->shard[s].route.outlets, __ATOMIC_ACQUIRE) != table)
            continue; // over: the older ones go with the ring kernel
        slri_outlets_free(ring, table->older);
        table->older = NULL;
    }
    return SLR_OK;
}
