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

/// The enum slr_keys lists the kinds of key. The field slr_ring_desc.keys has a value of slr_keys, or 0: then the ring
/// kernel has no keys, and programs address its instances by number.
typedef enum slr_keys {
    SLR_KEYS_U64 = 1, ///< each key is a 64-bit number
    SLR_KEYS_TEXT = 2 ///< each key is a text of any bytes, at most slr_ring_desc.key_bytes long
} slr_keys;

/// The enum slr_key_limit says what slipring does with a message to a new key when every instance already has a key.
typedef enum slr_key_limit {
    SLR_KEY_LIMIT_REFUSE = 1, ///< the send returns SLR_FULL at once (the default)
    /// slipring evicts an idle key, and gives its instance to the new key. An idle key is a key that was not recently
    /// used, and whose messages have all been handled.
    SLR_KEY_LIMIT_EVICT_IDLE = 2
} slr_key_limit;

/// slr_key is one key: a number or a text. The text does not have to end with a NUL.
typedef struct slr_key {
    uint64_t number;  ///< the key, if it is a number; used only if `text` is NULL
    const char *text; ///< the key, if it is a text; else NULL
    size_t bytes;     ///< length of the text, in bytes
} slr_key;

// Stores `number` and `text` by one store of 16 bytes. GCC later loads both by one load. If two separate stores had
// written them, this load would wait some 10 cycles.
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

/// slr_on_evicted is a function of the program. A key is evicted when slipring gives its instance to another key.
/// slipring calls slr_on_evicted for each evicted key. `state` is the last state of the key's instance, `bytes` bytes
/// long, or NULL if the handler has no state. The arguments `key` and `state` are valid only until slr_on_evicted
/// returns. slipring calls slr_on_evicted on the thread whose send needed the instance, and holds no lock during the
/// call. The evicted key has no unhandled messages. If a message to the evicted key is sent while slr_on_evicted runs,
/// the key gets a new instance.
typedef void slr_on_evicted(void *user, const slr_key *key, const void *state, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
