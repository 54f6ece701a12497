// SPDX-License-Identifier: Apache-2.0
/// Sends to instances by key, and operations on keys. Contract: docs/contract/keys.md.
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

/// Sends one message to the instance of a key. A new key gets a free instance in its initial state. If no instance is
/// free, slr_ring_desc.key_limit decides. `to` is the address of any instance of the ring kernel. Otherwise the call
/// is like slr_send_with.
///
/// Threads: the port's owner (NULL is not allowed).
/// Blocks: until `timeout_ns` for credit, or for an idle instance to evict; longer only in slr_on_evicted.
/// Owns: nothing (a text is copied).
/// Errors: as slr_send; INVALID (the ring kernel has no keys or keys of the other kind; a text longer than key_bytes),
///   FULL (one key more than `instances`: the message has both numbers; or no instance is idle and the call must not
///   wait), TIMEOUT, DEVICE_LOST (a new key's state, in device memory, could not be set).
SLR_API slr_status slr_send_key(slr_port *port, slr_address to, slr_key key, const void *message, size_t bytes,
                                const slr_send_options *options, uint64_t timeout_ns);

/// Sends `count` messages with default priority: message k goes to the instance of keys[k]. The messages are contiguous
/// in memory, `bytes` bytes each. slipring publishes the messages together, which costs less per message. `accepted`
/// (may be NULL) always gets a number n: the first n messages were accepted. Correlations are consecutive numbers.
/// Threads, Blocks, Errors: as slr_send_key; after an error the remaining messages were not sent.
SLR_API slr_status slr_send_many_keys(slr_port *port, slr_address to, const slr_key *keys, const void *messages,
                                      size_t bytes, uint32_t count, uint64_t timeout_ns, uint32_t *accepted);

/// Sends a message to the instance of a key and waits for its reply.
/// Threads: the port's owner (NULL is not allowed).  Blocks: until `timeout_ns`.  Errors: as slr_send_key and slr_call.
SLR_API slr_status slr_call_key(slr_port *port, slr_address to, slr_key key, const void *message, size_t bytes,
                                void *reply, size_t reply_bytes, uint64_t timeout_ns);

/// Gives a new key an instance with state `state` (`bytes` bytes; NULL: the initial state). The call can restore a key
/// that was evicted or forgotten. `instance` (may be NULL) gets the instance's number.
/// Threads: any.  Blocks: until `timeout_ns`, as slr_send_key.
/// Errors: WRONG_STATE (the key has an instance already; not launched), FULL, TIMEOUT, INVALID (size, kind of key).
SLR_API slr_status slr_ring_add_key(slr_ring *ring, slr_key key, const void *state, size_t bytes, uint64_t timeout_ns,
                                    uint32_t *instance);

/// Gives the current instance of a key.
/// Threads: any.  Blocks: no.  Errors: NOT_FOUND, WRONG_STATE (not launched), INVALID.
SLR_API slr_status slr_ring_find_key(slr_ring *ring, slr_key key, uint32_t *instance);

/// Gives the current key of an instance, such as an instance that replied. The bytes of a text are copied to `text`
/// (`capacity` bytes), and out->text is `text`. A number needs neither `text` nor `capacity`.
/// Threads: any.  Blocks: no.
/// Errors: NOT_FOUND (the instance has no key), WRONG_STATE (not launched), INVALID (capacity, instance out of range).
SLR_API slr_status slr_ring_get_key(slr_ring *ring, uint32_t instance, slr_key *out, char *text, size_t capacity);

/// Frees a key's instance as soon as the key has no pending messages, and copies its last state to `state` (`bytes`
/// bytes; NULL: the state is dropped). The next message to that key starts a new instance.
/// Threads: any.  Blocks: until `timeout_ns`.
/// Errors: NOT_FOUND, TIMEOUT (the key still had pending messages), WRONG_STATE (not launched), INVALID (size).
SLR_API slr_status slr_ring_forget_key(slr_ring *ring, slr_key key, void *state, size_t bytes, uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif
#endif
