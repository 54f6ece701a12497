// SPDX-License-Identifier: Apache-2.0
#include "engine/places.h"

#include "base/alloc.h"
#include "base/status.h"

#include <string.h>

#define FIRST_ROOM 16u

static unsigned char *entry_at(const struct slri_places *places, uint32_t i)
{
    return (unsigned char *)places->entry + i * places->bytes;
}

static uint64_t key_of(const void *entry)
{
    return *(const uint64_t *)entry;
}

// How many begin at or before the address.
static uint32_t rank_of(const struct slri_places *places, uint64_t key)
{
    uint32_t low = 0, high = places->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (key_of(entry_at(places, middle)) <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void slri_places_init(struct slri_places *places, const slr_allocator *allocator, const char *device, size_t bytes)
{
    *places = (struct slri_places){.allocator = allocator, .device = device, .bytes = bytes};
    slri_mutex_init(&places->lock);
}

void slri_places_clear(struct slri_places *places)
{
    slri_free(places->allocator, places->entry, places->room * places->bytes);
    places->entry = NULL;
    places->count = places->room = 0;
}

void slri_places_destroy(struct slri_places *places)
{
    slri_places_clear(places);
    slri_mutex_destroy(&places->lock);
}

// ---- under the lock ------------------------------------------------------------------------------------------------

void *slri_places_at(const struct slri_places *places, uint64_t key)
{
    const uint32_t rank = rank_of(places, key);
    return rank != 0 ? entry_at(places, rank - 1) : NULL;
}

static slr_status make_room(struct slri_places *places)
{
    if (places->count < places->room)
        return SLR_OK;
    const uint32_t room = places->room ? places->room * 2 : FIRST_ROOM;
    void *grown = slri_alloc(places->allocator, room * places->bytes);
    if (!grown)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a list of %u pieces of memory", places->device, room);
    if (places->count != 0)
        memcpy(grown, places->entry, places->count * places->bytes);
    slri_free(places->allocator, places->entry, places->room * places->bytes);
    places->entry = grown;
    places->room = room;
    return SLR_OK;
}

static slr_status add_place(struct slri_places *places, const void *entry)
{
    const size_t bytes = places->bytes;
    SLRI_TRY(make_room(places));
    const uint32_t rank = rank_of(places, key_of(entry));
    memmove(entry_at(places, rank + 1), entry_at(places, rank), (places->count - rank) * bytes);
    memcpy(entry_at(places, rank), entry, bytes);
    ++places->count;
    return SLR_OK;
}

static slr_status choose_key(const struct slri_places *places, uint64_t *key, uint64_t from)
{
    const uint64_t end = UINTPTR_MAX; // of addresses
    uint64_t at = from;
    for (uint32_t i = rank_of(places, from - 1); i < places->count; ++i) {
        const uint64_t *other = (const uint64_t *)(const void *)entry_at(places, i);
        if (other[0] > at && other[0] - at > key[1])
            break;
        at = (other[0] + other[1]) / SLRI_PLACE_STEP * SLRI_PLACE_STEP + SLRI_PLACE_STEP;
    }
    if (at < from || at >= end || end - at < key[1])
        return SLRI_FAIL(NO_MEMORY, "device '%s' has no addresses left for %llu B more", places->device,
                         (unsigned long long)key[1]);
    key[0] = at;
    return SLR_OK;
}

// ---- with it -------------------------------------------------------------------------------------------------------

slr_status slri_places_add(struct slri_places *places, const void *entry)
{
    slri_mutex_lock(&places->lock);
    slr_status status = add_place(places, entry);
    slri_mutex_unlock(&places->lock);
    return status;
}

slr_status slri_places_add_anywhere(struct slri_places *places, void *entry, uint64_t from)
{
    slri_mutex_lock(&places->lock);
    slr_status status = choose_key(places, entry, from);
    if (status == SLR_OK)
        status = add_place(places, entry);
    slri_mutex_unlock(&places->lock);
    return status;
}

bool slri_places_find(struct slri_places *places, const void *address, void *out, uint64_t *offset)
{
    slri_mutex_lock(&places->lock);
    const void *entry = slri_places_at(places, (uintptr_t)address);
    if (entry) {
        memcpy(out, entry, places->bytes);
        *offset = (uintptr_t)address - key_of(entry);
    }
    slri_mutex_unlock(&places->lock);
    return entry != NULL;
}

static bool is_meant(const void *entry, uint64_t bytes)
{
    return bytes == 0 || ((const uint64_t *)entry)[1] == bytes;
}

bool slri_places_take(struct slri_places *places, const void *key, uint64_t bytes, void *out)
{
    slri_mutex_lock(&places->lock);
    uint32_t rank = rank_of(places, (uintptr_t)key);
    while (rank != 0 && key_of(entry_at(places, rank - 1)) == (uintptr_t)key &&
           !is_meant(entry_at(places, rank - 1), bytes))
        --rank;
    const bool is_there = rank != 0 && key_of(entry_at(places, rank - 1)) == (uintptr_t)key;
    if (is_there) {
        memcpy(out, entry_at(places, rank - 1), places->bytes);
        memmove(entry_at(places, rank - 1), entry_at(places, rank), (places->count - rank) * places->bytes);
        --places->count;
    }
    slri_mutex_unlock(&places->lock);
    return is_there;
}
