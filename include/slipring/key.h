// SPDX-License-Identifier: Apache-2.0
/// Keys: names for the instances of a keyed ring kernel. Contract: docs/contract/keys.md.
#ifndef SLIPRING_KEY_H
#define SLIPRING_KEY_H

#include <slipring/api.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Kinds of key: slr_ring_desc.keys. 0: no keys; instances are addressed by number.
typedef enum slr_keys {
    SLR_KEYS_U64 = 1, ///< 64-bit numbers
    SLR_KEYS_TEXT = 2 ///< any bytes, up to slr_ring_desc.key_bytes of them
} slr_keys;

/// Policy for a new key when every instance already has a key.
typedef enum slr_key_limit {
    SLR_KEY_LIMIT_REFUSE = 1,    ///< returns SLR_FULL at once (the default)
    SLR_KEY_LIMIT_EVICT_IDLE = 2 ///< takes the instance of an idle key: one not recently used, with no pending message
} slr_key_limit;

/// One key: a number, or text (which need not be NUL-terminated).
typedef struct slr_key {
    uint64_t number; ///< used if `text` is NULL
    const char *text;
    size_t bytes; ///< length of the text
} slr_key;

static inline slr_key slr_key_u64(uint64_t number)
{
    slr_key key;
    key.number = number;
    key.text = NULL;
    key.bytes = 0;
    return key;
}

static inline slr_key slr_key_text(const char *text, size_t bytes)
{
    slr_key key;
    key.number = 0;
    key.text = text;
    key.bytes = bytes;
    return key;
}

/// Called for each evicted key, with the last state of its instance (NULL if the handler has no state). `key` and
/// `state` are borrowed for the length of the call. The call runs on the thread whose send needed the instance, without
/// locks. The key has no pending messages. A message to the key during the call starts a new instance.
typedef void slr_on_evicted(void *user, const slr_key *key, const void *state, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
