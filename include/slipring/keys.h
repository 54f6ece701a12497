// SPDX-License-Identifier: Apache-2.0
/// This header has the functions that send messages to an instance (a state) of a ring kernel by its key, and
/// operations on keys. Contract: docs/contract/keys.md.
///
///     desc.keys = SLR_KEYS_U64;
///     desc.instances = 1000000; // the maximum number of keys at a time
///     slr_send_key(port, to, slr_key_u64(account), &payment, sizeof payment, NULL, timeout_ns);
#ifndef SLIPRING_KEYS_H
#define SLIPRING_KEYS_H

#include <slipring/port.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Sends one message to the instance that has the key `key`. A new key gets a free instance in its initial state. If no
/// instance is free, slr_ring_desc.key_limit decides whether slipring refuses the new key or evicts an idle key, that
/// is, gives its instance to the new key. The address `to` may name any instance of the ring kernel. Except for the
/// choice of the instance, slr_send_key works like slr_send_with.
///
/// Threads: the port's owner (`port` must not be NULL).
/// Blocks: while the mailbox is full, or no idle key can be evicted, at most `timeout_ns`; slr_on_evicted may take
/// longer.
/// Owns: nothing; slipring copies a text key.
/// Errors: those of slr_send; INVALID (the ring kernel has no keys or keys of the other kind; a text longer than
///   key_bytes), FULL (one key more than `instances`: the error message has both numbers; or no key is idle and the
///   call must not wait), TIMEOUT, DEVICE_LOST (a new key's state, in device memory, could not be set).
SLR_API slr_status slr_send_key(slr_port *port, slr_address to, slr_key key, const void *message, size_t bytes,
                                const slr_send_options *options, uint64_t timeout_ns);

/// Sends `count` messages with default priority: message k goes to the instance of the key keys[k]. The messages lie
/// one after another in memory, with `bytes` bytes each. slipring makes all messages of one call visible to the ring
/// kernel together, which takes less time per message than single sends. `accepted` gets the number n, also after an
/// error: the first n messages were accepted. The pointer `accepted` may be NULL. The messages of one call get
/// consecutive correlation numbers.
/// Threads, Blocks, Errors: as for slr_send_key; after an error the remaining messages were not sent.
SLR_API slr_status slr_send_many_keys(slr_port *port, slr_address to, const slr_key *keys, const void *messages,
                                      size_t bytes, uint32_t count, uint64_t timeout_ns, uint32_t *accepted);

/// Sends a message to the instance of a key and waits for its reply.
/// Threads: the port's owner (`port` must not be NULL).  Blocks: until `timeout_ns`.  Errors: those of slr_send_key and
/// slr_call.
SLR_API slr_status slr_call_key(slr_port *port, slr_address to, slr_key key, const void *message, size_t bytes,
                                void *reply, size_t reply_bytes, uint64_t timeout_ns);

/// Gives a new key an instance with the state `state` of `bytes` bytes; NULL means the initial state. slr_ring_add_key
/// can restore a key that was evicted or forgotten. `instance` gets the number of the instance; the pointer may be
/// NULL.
/// Threads: any.  Blocks: until `timeout_ns`, as slr_send_key.
/// Errors: WRONG_STATE (the key has an instance already; the ring kernel was not launched), FULL, TIMEOUT, INVALID (a
///   wrong size or kind of key).
SLR_API slr_status slr_ring_add_key(slr_ring *ring, slr_key key, const void *state, size_t bytes, uint64_t timeout_ns,
                                    uint32_t *instance);

/// Gives the current instance of a key.
/// Threads: any.  Blocks: no.  Errors: NOT_FOUND, WRONG_STATE (the ring kernel was not launched), INVALID.
SLR_API slr_status slr_ring_find_key(slr_ring *ring, slr_key key, uint32_t *instance);

/// Gives the key that an instance has now, such as the instance that sent a reply. slr_ring_get_key copies the bytes of
/// a text key to `text`, which has room for `capacity` bytes, and sets out->text to `text`. For a number key, the
/// caller needs neither `text` nor `capacity`.
/// Threads: any.  Blocks: no.
/// Errors: NOT_FOUND (the instance has no key), WRONG_STATE (the ring kernel was not launched), INVALID (a wrong
///   capacity, an instance out of range).
SLR_API slr_status slr_ring_get_key(slr_ring *ring, uint32_t instance, slr_key *out, char *text, size_t capacity);

/// Frees the instance of a key as soon as all messages to the key are handled. slr_ring_forget_key copies the last
/// state of the key's instance to `state` (`bytes` bytes); NULL drops the state. The next message to a forgotten key
/// starts a new instance.
/// Threads: any.  Blocks: until `timeout_ns`.
/// Errors: NOT_FOUND, TIMEOUT (the key still had pending messages), WRONG_STATE (the ring kernel was not launched),
///   INVALID (a wrong size).
SLR_API slr_status slr_ring_forget_key(slr_ring *ring, slr_key key, void *state, size_t bytes, uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif
#endif
