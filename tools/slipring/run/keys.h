// SPDX-License-Identifier: Apache-2.0
/// Keys to instances: the first key that appears gets instance 0, the next one 1, up to a limit. A key is its text: 7
/// and 07 are two keys.
#ifndef KEYS_H
#define KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A key: its text, not NUL-terminated. `is_number`: it was written as a whole number where that is something else.
typedef struct key_text {
    const char *text;
    size_t bytes;
    bool is_number;
} key_text;

typedef struct keys {
    uint32_t *slots; // instance + 1, 0: empty; a power of two of them, at most half full
    uint32_t slot_count;
    struct key *entries; // by instance
    uint32_t count, capacity, limit;
    char *text; // all keys, one behind the other
    size_t text_bytes, text_capacity;
} keys;

void keys_open(keys *keys, uint32_t limit);
void keys_close(keys *keys);

/// The instance of a key, given to it now where it is new. False where it is new and the limit is reached.
bool keys_find_or_add(keys *keys, key_text key, uint32_t *instance);

/// Takes back the newest key, such as that of a bad row: its instance goes to the next new key.
void keys_forget_newest(keys *keys);

/// The key of an instance, as it was first written; valid until the next key is added.
key_text keys_text(const keys *keys, uint32_t instance);

#endif
