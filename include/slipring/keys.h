// SPDX-License-Identifier: Apache-2.0
/// With the functions of this header, a program sends messages to an instance (a state) of a ring kernel by the
/// instance's key, and adds, finds and removes keys. Contract: docs/contract/keys.md.
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
/// instance is free, slr_ring_desc.key_limit decides whether slipring refuses the new key, or evicts an idle key:
/// slipring then gives the idle key's instance to the new key. `to` is the address of any instance of the ring kernel;
/// slipring ignores the instance in `to`. Except for the choice of the instance, slr_send_key works like slr_send_with.
///
/// Threads: the port's owner (`port` must not be NULL).
/// Blocks: for at most `timeout_ns`, while the mailbox is full or a new key waits for a key that can be evicted. The
/// time that the program's function slr_on_evicted takes does not count.
/// Owns: nothing; slipring copies a text key.
/// Errors: those of slr_send; INVALID (the ring kernel has no keys, or keys of the other kind; a text longer than
///   slr_ring_desc.key_bytes), FULL (every instance has a key, and slr_ring_desc.key_limit is SLR_KEY_LIMIT_REFUSE: the
///   error message names the key and the number of instances; or no key is idle, and `timeout_ns` is 0), TIMEOUT,
///   DEVICE_LOST (slipring could not set a new key's state in the device's memory).
SLR_API slr_status slr_send_key(slr_port *port, slr_address to, slr_key key, const void *message, size_t bytes,
                                const slr_send_options *options, uint64_t timeout_ns);

/// Sends `count` messages with the ring kernel's default priority: message k goes to the instance of the key keys[k].
/// The messages lie one after another in memory, with `bytes` bytes each. slipring makes all messages of one call
/// visible to the ring kernel together, which takes less time per message than single sends. `accepted` gets the number
/// of accepted messages, also after an error. The accepted messages are the first ones in `messages`. The pointer
/// `accepted` may be NULL. The messages of one call get consecutive correlation numbers.
/// Threads, Blocks, Errors: as for slr_send_key; after an error, slipring has sent only the accepted messages.
SLR_API slr_status slr_send_many_keys(slr_port *port, slr_address to, const slr_key *keys, const void *messages,
                                      size_t bytes, uint32_t count, uint64_t timeout_ns, uint32_t *accepted);

/// Sends a message to the instance of a key, and waits for the reply to this message.
/// Threads: the port's owner (`port` must not be NULL).  Blocks: for at most `timeout_ns`.  Errors: those of
/// slr_send_key and slr_call.
SLR_API slr_status slr_call_key(slr_port *port, slr_address to, slr_key key, const void *message, size_t bytes,
                                void *reply, size_t reply_bytes, uint64_t timeout_ns);

/// Gives a new key an instance. The instance gets the state `state`, which has `bytes` bytes, or the initial state if
/// `state` is NULL. slr_ring_add_key can restore a key that was evicted or forgotten. `instance` gets the number of the
/// instance; the pointer `instance` may be NULL.
/// Threads: any.  Blocks: for at most `timeout_ns`, as slr_send_key.
/// Errors: WRONG_STATE (the key has an instance already; the ring kernel was not launched), FULL, TIMEOUT, INVALID (a
///   wrong size of the state, a wrong kind of key).
SLR_API slr_status slr_ring_add_key(slr_ring *ring, slr_key key, const void *state, size_t bytes, uint64_t timeout_ns,
                                    uint32_t *instance);

/// Gives the number of the instance that a key has now.
/// Threads: any.  Blocks: no.  Errors: NOT_FOUND (the key has no instance), WRONG_STATE (the ring kernel was not
/// launched), INVALID (a NULL argument; the ring kernel has no keys, or keys of the other kind).
SLR_API slr_status slr_ring_find_key(slr_ring *ring, slr_key key, uint32_t *instance);

/// Gives the key that an instance has now. For example, a program can find the key of the instance that sent a reply.
/// slr_ring_get_key copies the bytes of a text key to `text`, which has room for `capacity` bytes, and sets out->text
/// to `text`. For a number key, `text` may be NULL and `capacity` 0.
/// Threads: any.  Blocks: no.
/// Errors: NOT_FOUND (the instance has no key), WRONG_STATE (the ring kernel was not launched), INVALID (`capacity` is
///   too small for the key, an instance out of range).
SLR_API slr_status slr_ring_get_key(slr_ring *ring, uint32_t instance, slr_key *out, char *text, size_t capacity);

/// Waits until all messages to a key are handled, and then frees the key's instance. slr_ring_forget_key copies the
/// last state of the key's instance to `state`, which has `bytes` bytes; if `state` is NULL, slipring drops the last
/// state. The next message to a forgotten key starts a new instance.
/// Threads: any.  Blocks: for at most `timeout_ns`.
/// Errors: NOT_FOUND (the key has no instance), TIMEOUT (the key still had pending messages), WRONG_STATE (the ring
///   kernel was not launched), INVALID (a wrong size of the state).
SLR_API slr_status slr_ring_forget_key(slr_ring *ring, slr_key key, void *state, size_t bytes, uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif
#endif
