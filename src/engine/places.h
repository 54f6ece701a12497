// SPDX-License-Identifier: Apache-2.0
// A device's memory by address: of backends that give their driver a buffer and an offset, where the layers above have
// an address. Not thread-safe: whoever has the list has a lock for it.
#ifndef SLRI_ENGINE_PLACES_H
#define SLRI_ENGINE_PLACES_H

#include <slipring/allocator.h>
#include <slipring/status.h>

#include <stddef.h>
#include <stdint.h>

// Entries of a backend's own type. Each begins with its key, a uint64_t: the first address. All zero is empty.
struct slri_places {
    void *entry;  // `count` of them, by key
    size_t bytes; // of an entry
    uint32_t count, room;
};

// The last entry that begins at or before the address, or NULL. Stays where it is until the list changes.
void *slri_places_find(const struct slri_places *places, uint64_t key);
// Adds a copy of the entry, behind those of the same key. `device`: its name, for messages. Errors: NO_MEMORY.
slr_status slri_places_add(struct slri_places *places, const slr_allocator *allocator, const char *device,
                           const void *entry, size_t bytes);
// Likewise of an entry that begins with its key and its length, two uint64_t, to which it gives an address that no
// other has, from `from` on: a multiple of SLRI_PLACE_STEP. Its end is no address of another, either. Errors:
// NO_MEMORY.
#define SLRI_PLACE_STEP UINT64_C(4096)
slr_status slri_places_add_anywhere(struct slri_places *places, const slr_allocator *allocator, const char *device,
                                    void *entry, size_t bytes, uint64_t from);
void slri_places_remove(struct slri_places *places, const void *entry); // that slri_places_find gave
void slri_places_free(struct slri_places *places, const slr_allocator *allocator);

#endif
