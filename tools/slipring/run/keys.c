// SPDX-License-Identifier: Apache-2.0
// A hash table from keys to instances: open addressing, linear probes, the texts in one piece of memory.
#include "run/keys.h"

#include "checksum.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

struct key {
    uint64_t hash;
    size_t at; // in the text
    uint32_t bytes : 31, is_number : 1;
};

enum { FIRST_SLOTS = 1024 };

void keys_open(keys *keys, uint32_t limit)
{
    *keys =
        (struct keys){.slot_count = FIRST_SLOTS, .capacity = FIRST_SLOTS / 2, .limit = limit, .text_capacity = 4096};
    keys->slots = memory_take(keys->slot_count, sizeof *keys->slots);
    keys->entries = memory_take(keys->capacity, sizeof *keys->entries);
    keys->text = memory_take(keys->text_capacity, 1);
}

void keys_close(keys *keys)
{
    free(keys->slots);
    free(keys->entries);
    free(keys->text);
}

// The high half is folded in: the low bits choose the slot.
static uint64_t hash_of(const char *text, size_t bytes)
{
    uint64_t hash = checksum(CHECKSUM_START, text, bytes);
    return hash ^ hash >> 32;
}

// The slot of the key, or the empty one where it belongs.
static uint32_t *find_slot(const keys *keys, const char *text, size_t bytes, uint64_t hash)
{
    for (uint64_t probe = hash;; probe++) {
        uint32_t *slot = &keys->slots[probe & (keys->slot_count - 1)];
        if (*slot == 0)
            return slot;
        const struct key *key = &keys->entries[*slot - 1];
        if (key->hash == hash && key->bytes == bytes && memcmp(keys->text + key->at, text, bytes) == 0)
            return slot;
    }
}

static void double_slots(keys *keys)
{
    free(keys->slots);
    keys->slot_count *= 2;
    keys->capacity *= 2;
    keys->slots = memory_take(keys->slot_count, sizeof *keys->slots);
    keys->entries = memory_grow(keys->entries, keys->capacity, sizeof *keys->entries);
    for (uint32_t i = 0; i < keys->count; i++) {
        const struct key *key = &keys->entries[i];
        *find_slot(keys, keys->text + key->at, key->bytes, key->hash) = i + 1;
    }
}

static size_t append_text(keys *keys, const char *text, size_t bytes)
{
    size_t at = keys->text_bytes;
    while (at + bytes > keys->text_capacity) {
        keys->text_capacity *= 2;
        keys->text = memory_grow(keys->text, keys->text_capacity, 1);
    }
    memcpy(keys->text + at, text, bytes);
    keys->text_bytes += bytes;
    return at;
}

bool keys_find_or_add(keys *keys, key_text key, uint32_t *instance)
{
    uint64_t hash = hash_of(key.text, key.bytes);
    uint32_t *slot = find_slot(keys, key.text, key.bytes, hash);
    if (*slot == 0) {
        if (keys->count == keys->limit)
            return false;
        if (keys->count == keys->capacity) {
            double_slots(keys);
            slot = find_slot(keys, key.text, key.bytes, hash);
        }
        // A key is part of a record, which has INTAKE_MAX bytes at most.
        uint32_t bytes = (uint32_t)key.bytes & 0x7fffffff;
        keys->entries[keys->count] =
            (struct key){hash, append_text(keys, key.text, key.bytes), .bytes = bytes, .is_number = key.is_number};
        *slot = ++keys->count;
    }
    *instance = *slot - 1;
    return true;
}

// No probe for another key goes over the slot: the key there is the last one that was put into the table.
void keys_forget_newest(keys *keys)
{
    const struct key *key = &keys->entries[keys->count - 1];
    *find_slot(keys, keys->text + key->at, key->bytes, key->hash) = 0;
    keys->text_bytes = key->at;
    keys->count--;
}

key_text keys_text(const keys *keys, uint32_t instance)
{
    const struct key *key = &keys->entries[instance];
    return (key_text){keys->text + key->at, key->bytes, key->is_number};
}
