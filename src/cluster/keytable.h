// SPDX-License-Identifier: Apache-2.0
/// Keys to instances: the first key gets instance 0, the next one 1. A key never loses its instance.
#ifndef SLRI_CLUSTER_KEYTABLE_H
#define SLRI_CLUSTER_KEYTABLE_H

#include "base/key_hash.h"

#include <slipring/key.h>
#include <slipring/status.h>

#include <stdbool.h>

typedef struct slri_keytable {
    struct slri_key_secret secret;
    uint32_t kind; // an slr_keys
    uint32_t count, capacity, slot_count;
    uint32_t *slots; // instance + 1, 0: empty
    slr_key *keys;   // by instance; texts lie in pieces
    struct slri_keytable_piece *pieces;
} slri_keytable;

slr_status slri_keytable_open(slri_keytable *table, uint32_t kind);
void slri_keytable_close(slri_keytable *table);

/// The key's bytes as they are stored: a number's eight, or its text. `number` stays as long as they are used.
const char *slri_keytable_bytes(const slri_keytable *table, const slr_key *key, size_t *bytes);

/// The key that stored bytes are.
slr_key slri_keytable_key(const slri_keytable *table, const char *bytes, size_t count);

bool slri_keytable_find(const slri_keytable *table, const slr_key *key, uint32_t *instance);

/// Gives a key that is not there the next instance. Errors: NO_MEMORY.
slr_status slri_keytable_add(slri_keytable *table, const slr_key *key);

/// Takes back the keys from instance `count` on.
void slri_keytable_shrink(slri_keytable *table, uint32_t count);

#endif
