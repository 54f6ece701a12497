// SPDX-License-Identifier: Apache-2.0
/// Keys: what the instances of a keyed ring kernel are called. Contract: docs/contract/keys.md.
#ifndef SLIPRING_KEY_H
#define SLIPRING_KEY_H

#include <slipring/api.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a ring kernel's keys are: slr_ring_desc.keys. 0: it has none, its instances are addressed by number.
typedef enum slr_keys {
    SLR_KEYS_U64 = 1, ///< 64-bit numbers
    SLR_KEYS_TEXT = 2 ///< any bytes, up to slr_ring_desc.key_bytes of them
} slr_keys;

/// What a new key does where every instance has a key already.
typedef enum slr_key_limit {
    SLR_KEY_LIMIT_REFUSE = 1,    ///< SLR_FULL at once (the default)
    SLR_KEY_LIMIT_EVICT_IDLE = 2 ///< takes the instance of a key that is idle: one not used lately, nothing pending
} slr_key_limit;

/// One key: a number, or text (which need not be terminated).
typedef struct slr_key {
    uint64_t number; ///< where `text` is NULL
    const char *text;
    size_t bytes; ///< of the text
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

/// Called for each key that is evicted, with its instance's last state (NULL where the handler has none). `key` and
/// `state` are borrowed for the length of the call. Runs on the thread whose send needed the instance, under no lock;
/// nothing of the key is pending, and a message to it that comes meanwhile begins a new instance.
typedef void slr_on_evicted(void *user, const slr_key *key, const void *state, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
