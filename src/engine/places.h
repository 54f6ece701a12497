// SPDX-License-Identifier: Apache-2.0
// A device's memory by address: of backends that give their driver a buffer and an offset, where the layers above have
// an address. Many threads may call these at once.
#ifndef SLRI_ENGINE_PLACES_H
#define SLRI_ENGINE_PLACES_H

#include "base/thread.h"

#include <slipring/allocator.h>
#include <slipring/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Entries of a backend's own type. Each begins with its key, a uint64_t: the first address.
struct slri_places {
    const slr_allocator *allocator;
    const char *device; // its name, for messages
    slri_mutex lock;    // of the next
    void *entry;        // `count` of them, by key
    size_t bytes;       // of an entry
    uint32_t count, room;
};

void slri_places_init(struct slri_places *places, const slr_allocator *allocator, const char *device, size_t bytes);
void slri_places_clear(struct slri_places *places); // forgets all: nobody else calls
void slri_places_destroy(struct slri_places *places);

// Adds a copy of the entry, behind those of the same key. Errors: NO_MEMORY.
slr_status slri_places_add(struct slri_places *places, const void *entry);
// Likewise of an entry that begins with its key and its length, two uint64_t, to which it gives an address that no
// other has, from `from` on: a multiple of SLRI_PLACE_STEP. Its end is no address of another, either. Errors:
// NO_MEMORY.
#define SLRI_PLACE_STEP UINT64_C(4096)
slr_status slri_places_add_anywhere(struct slri_places *places, void *entry, uint64_t from);
// A copy of the last entry that begins at or before the address, and how far behind its key that is. False: there is
// none.
bool slri_places_find(struct slri_places *places, const void *address, void *out, uint64_t *offset);
// Takes the last entry of that key out. `bytes`: 0; or, of entries that begin with key and length, the length of the
// one that is meant. False: there is none, and nothing has changed.
bool slri_places_take(struct slri_places *places, const void *key, uint64_t bytes, void *out);

// Under the lock, which the caller has. The last entry that begins at or before the address, or NULL.
void *slri_places_at(const struct slri_places *places, uint64_t key);

#endif
