// SPDX-License-Identifier: Apache-2.0
// A hash table from keys to instances: open addressing, linear probes, under a secret.
#include "cluster/keytable.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_KEYS = 512, PIECE_BYTES = 1 << 16 };

// Texts, one behind the other; they never move.
struct slri_keytable_piece {
    struct slri_keytable_piece *next;
    size_t used, capacity;
    char text[];
};

slr_status slri_keytable_open(slri_keytable *table, uint32_t kind)
{
    *table = (slri_keytable){.kind = kind, .capacity = FIRST_KEYS, .slot_count = 2 * FIRST_KEYS};
    slri_key_secret_make(&table->secret);
    table->slots = calloc(table->slot_count, sizeof *table->slots);
    table->keys = calloc(table->capacity, sizeof *table->keys);
    return table->slots && table->keys ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for a table of keys");
}

void slri_keytable_close(slri_keytable *table)
{
    while (table->pieces) {
        struct slri_keytable_piece *piece = table->pieces;
        table->pieces = piece->next;
        free(piece);
    }
    free(table->slots);
    free(table->keys);
    *table = (slri_keytable){0};
}

const char *slri_keytable_bytes(const slri_keytable *table, const slr_key *key, size_t *bytes)
{
    bool is_text = table->kind == SLR_KEYS_TEXT;
    *bytes = is_text ? key->bytes : sizeof key->number;
    return is_text ? key->text : (const char *)&key->number;
}

slr_key slri_keytable_key(const slri_keytable *table, const char *bytes, size_t count)
{
    if (table->kind == SLR_KEYS_TEXT)
        return slr_key_text(bytes, count);
    slr_key key = slr_key_u64(0);
    if (count == sizeof key.number)
        memcpy(&key.number, bytes, sizeof key.number);
    return key;
}

static bool same_key(const slri_keytable *table, const slr_key *a, const slr_key *b)
{
    if (table->kind != SLR_KEYS_TEXT)
        return a->number == b->number;
    return a->bytes == b->bytes && (a->bytes == 0 || memcmp(a->text, b->text, a->bytes) == 0);
}

static uint32_t *find_slot(const slri_keytable *table, const slr_key *key)
{
    uint64_t hash = table->kind == SLR_KEYS_TEXT ? slri_key_hash_bytes(&table->secret, key->text, key->bytes)
                                                 : slri_key_hash_u64(&table->secret, key->number);
    for (;; ++hash) {
        uint32_t *slot = &table->slots[hash & (table->slot_count - 1)];
        if (*slot == 0 || same_key(table, &table->keys[*slot - 1], key))
            return slot;
    }
}

bool slri_keytable_find(const slri_keytable *table, const slr_key *key, uint32_t *instance)
{
    const uint32_t *slot = find_slot(table, key);
    *instance = *slot - 1;
    return *slot != 0;
}

static void fill_slots(slri_keytable *table)
{
    memset(table->slots, 0, table->slot_count * sizeof *table->slots);
    for (uint32_t i = 0; i < table->count; ++i)
        *find_slot(table, &table->keys[i]) = i + 1;
}

static slr_status grow(slri_keytable *table)
{
    uint32_t *slots = calloc(2 * (size_t)table->slot_count, sizeof *slots);
    slr_key *keys = realloc(table->keys, 2 * (size_t)table->capacity * sizeof *keys);
    if (keys)
        table->keys = keys;
    if (!slots || !keys) {
        free(slots);
        return SLRI_FAIL(NO_MEMORY, "no memory for more than %u keys", table->count);
    }
    free(table->slots);
    table->slots = slots;
    table->slot_count *= 2;
    table->capacity *= 2;
    fill_slots(table);
    return SLR_OK;
}

static const char *keep_text(slri_keytable *table, const char *text, size_t bytes)
{
    struct slri_keytable_piece *piece = table->pieces;
    if (!piece || piece->capacity - piece->used < bytes) {
        size_t capacity = bytes > PIECE_BYTES ? bytes : PIECE_BYTES;
        piece = malloc(sizeof *piece + capacity);
        if (!piece)
            return NULL;
        *piece = (struct slri_keytable_piece){.next = table->pieces, .capacity = capacity};
        table->pieces = piece;
    }
    char *kept = piece->text + piece->used;
    if (bytes)
        memcpy(kept, text, bytes);
    piece->used += bytes;
    return kept;
}

slr_status slri_keytable_add(slri_keytable *table, const slr_key *key)
{
    if (table->count == table->capacity)
        SLRI_TRY(grow(table));
    slr_key kept = *key;
    if (table->kind == SLR_KEYS_TEXT) {
        kept.text = keep_text(table, key->text, key->bytes);
        if (!kept.text)
            return SLRI_FAIL(NO_MEMORY, "no memory for a key of %zu B", key->bytes);
    }
    *find_slot(table, &kept) = table->count + 1;
    table->keys[table->count++] = kept;
    return SLR_OK;
}

void slri_keytable_shrink(slri_keytable *table, uint32_t count)
{
    if (count >= table->count)
        return;
    table->count = count;
    fill_slots(table);
}
