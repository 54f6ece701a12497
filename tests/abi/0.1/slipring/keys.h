// SPDX-License-Identifier: Apache-2.0
/// Sending to instances by key, and asking about keys. Contract: docs/contract/keys.md.
///
///     desc.keys = SLR_KEYS_U64;
///     desc.instances = 1000000; // the most keys at a time
///     slr_send_key(port, to, slr_key_u64(account), &payment, sizeof payment, NULL, timeout_ns);
#ifndef SLIPRING_KEYS_H
#define SLIPRING_KEYS_H

#include <slipring/port.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Sends one message to the instance of a key. A key that is new gets an instance in its initial state, as long as
/// there are any; then slr_ring_desc.key_limit decides. `to` is the address of any instance of the ring kernel. For the
/// rest as slr_send_with.
///
/// Threads: the port's owner (NULL is not allowed).  Blocks: until `timeout_ns` for credit, or for an instance to
/// become idle, where it may evict; longer only in slr_on_evicted.  Owns: nothing (a text is copied). Errors: as
/// slr_send; INVALID (the ring kernel has no keys or keys of the other sort; a text longer than key_bytes), FULL (the
/// key is one more than `instances`: names both; or no instance is idle, and not to wait), TIMEOUT, DEVICE_LOST (a new
/// key's state, in memory that only the device reaches, could not be set).
SLR_API slr_status slr_send_key(slr_port *port, slr_address to, slr_key key, const void *message, size_t bytes,
                                const slr_send_options *options, uint64_t timeout_ns);

/// Sends `count` messages that lie one behind the other, `bytes` each, all of default priority, message k to the
/// instance of keys[k]. Published together, so cheaper a message. `accepted` (may be NULL) is always set: the first so
/// many were accepted. Correlations are running numbers. Threads, Blocks, Errors: as slr_send_key; the rest was not
/// sent.
SLR_API slr_status slr_send_many_keys(slr_port *port, slr_address to, const slr_key *keys, const void *messages,
                                      size_t bytes, uint32_t count, uint64_t timeout_ns, uint32_t *accepted);

/// Sends a message to the instance of a key and waits for its reply.
/// Threads: the port's owner (NULL is not allowed).  Blocks: until `timeout_ns`.  Errors: as slr_send_key and slr_call.
SLR_API slr_status slr_call_key(slr_port *port, slr_address to, slr_key key, const void *message, size_t bytes,
                                void *reply, size_t reply_bytes, uint64_t timeout_ns);

/// Gives a key that is new an instance, whose state begins as `state` (`bytes` bytes; NULL: as the initial state): how
/// what was evicted or forgotten comes back. `instance` (may be NULL) gets its number.
/// Threads: any.  Blocks: until `timeout_ns`, as slr_send_key.
/// Errors: WRONG_STATE (the key has an instance already; not launched), FULL, TIMEOUT, INVALID (size, sort of key).
SLR_API slr_status slr_ring_add_key(slr_ring *ring, slr_key key, const void *state, size_t bytes, uint64_t timeout_ns,
                                    uint32_t *instance);

/// The instance that a key has now.
/// Threads: any.  Blocks: no.  Errors: NOT_FOUND, WRONG_STATE (not launched), INVALID.
SLR_API slr_status slr_ring_find_key(slr_ring *ring, slr_key key, uint32_t *instance);

/// The key that an instance has now, for example one that a reply names. Of a text the bytes are copied to `text`
/// (`capacity` bytes; of a number neither is used), and out->text is `text`.
/// Threads: any.  Blocks: no.  Errors: NOT_FOUND (it has none), WRONG_STATE (not launched), INVALID (capacity, instance
/// out of range).
SLR_API slr_status slr_ring_get_key(slr_ring *ring, uint32_t instance, slr_key *out, char *text, size_t capacity);

/// Takes a key's instance away as soon as nothing of it is pending, and copies its last state to `state` (`bytes`
/// bytes; NULL: it is dropped). The next message to that key begins a new instance. Threads: any.  Blocks: until
/// `timeout_ns`.  Errors: NOT_FOUND, TIMEOUT (messages of the key stayed pending), WRONG_STATE (not launched), INVALID
/// (size).
SLR_API slr_status slr_ring_forget_key(slr_ring *ring, slr_key key, void *state, size_t bytes, uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif
#endif
