// SPDX-License-Identifier: Apache-2.0
/// Keys are names for the instances (states) of a keyed ring kernel, a message handler with one state for each key.
/// Contract: docs/contract/keys.md.
#ifndef SLIPRING_KEY_H
#define SLIPRING_KEY_H

#include <slipring/api.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The enum lists the kinds of key, for slr_ring_desc.keys. The value 0 means that the ring kernel has no keys:
/// programs address instances by number.
typedef enum slr_keys {
    SLR_KEYS_U64 = 1, ///< 64-bit numbers
    SLR_KEYS_TEXT = 2 ///< any bytes, up to slr_ring_desc.key_bytes of them
} slr_keys;

/// The enum says what slipring does with a new key when every instance already has a key.
typedef enum slr_key_limit {
    SLR_KEY_LIMIT_REFUSE = 1,    ///< returns SLR_FULL at once (the default)
    SLR_KEY_LIMIT_EVICT_IDLE = 2 ///< takes the instance of a key that was not recently used and whose messages are
                                 ///< handled
} slr_key_limit;

/// slr_key is one key: a number, or a text, which does not have to end with a NUL.
typedef struct slr_key {
    uint64_t number; ///< used if `text` is NULL
    const char *text;
    size_t bytes; ///< length of the text
} slr_key;

// GCC passes a key by copies of 16 bytes. Such a copy waits some 10 cycles if the two words were stored one by one.
static inline slr_key slri_make_key(uint64_t number, const char *text, size_t bytes)
{
    slr_key key;
#if defined __GNUC__ && !defined __clang__ && defined __x86_64__ && defined __LP64__
    typedef uint64_t slri_two_words __attribute__((vector_size(16)));
    const slri_two_words words = {number, (uint64_t)text};
    __builtin_memcpy(&key, &words, sizeof words);
#else
    key.number = number;
    key.text = text;
#endif
    key.bytes = bytes;
    return key;
}

static inline slr_key slr_key_u64(uint64_t number)
{
    return slri_make_key(number, NULL, 0);
}

static inline slr_key slr_key_text(const char *text, size_t bytes)
{
    return slri_make_key(0, text, bytes);
}

/// A key is evicted when its instance goes to another key. slipring calls slr_on_evicted for each evicted key, with the
/// last state of its instance (NULL if the handler has no state). The arguments `key` and `state` are valid only until
/// slr_on_evicted returns. slipring calls slr_on_evicted without locks, on the thread whose send needed the instance.
/// The evicted key has no unhandled messages. If a message to the evicted key is sent while slr_on_evicted runs, the
/// key gets a new instance.
typedef void slr_on_evicted(void *user, const slr_key *key, const void *state, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
