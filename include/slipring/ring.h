// SPDX-License-Identifier: Apache-2.0
/// Ring kernels: message handlers that stay, with their mailbox and their state.
/// Contracts: docs/contract/lifecycle.md, docs/contract/delivery.md, docs/contract/failure.md.
///
///     created --launch--> launched --activate--> active <--deactivate/reactivate--> paused
///     active or paused --close_input--> draining --(nothing pending)--> terminated
///     any but terminated --terminate--> terminated
///     active, paused or draining --(faults)--> failed --restart--> what it was
#ifndef SLIPRING_RING_H
#define SLIPRING_RING_H

#include <slipring/buffer.h>
#include <slipring/key.h>
#include <slipring/program.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_ring slr_ring;

/// Where messages go: a ring kernel and one of its instances. Valid on host and device; a stale one gives RING_DEAD.
typedef struct slr_address {
    uint32_t place, slot, generation, instance;
} slr_address;

typedef enum slr_ring_state {
    SLR_RING_CREATED = 1,
    SLR_RING_LAUNCHED = 2,
    SLR_RING_ACTIVE = 4,
    SLR_RING_PAUSED = 8,
    SLR_RING_DRAINING = 16,
    SLR_RING_TERMINATED = 32,
    SLR_RING_IN_FAILURE = 64
} slr_ring_state;

/// What happens to a message that finds the mailbox full.
typedef enum slr_overflow {
    SLR_OVERFLOW_BLOCK = 1,       ///< the sender waits until its deadline (the default)
    SLR_OVERFLOW_REJECT = 2,      ///< SLR_FULL at once
    SLR_OVERFLOW_DROP_OLDEST = 3, ///< it is accepted, and of those that wait the earliest accepted is dropped
    SLR_OVERFLOW_DROP_LOWEST = 4  ///< likewise the earliest of the lowest priority, which may be the new one
} slr_overflow;

/// What becomes of a ring kernel when a message faults. An abandoned handler (handler_timeout_ns) always fails it.
typedef enum slr_fault_policy {
    SLR_FAULT_GO_ON = 1, ///< nothing: the message has failed, the next is handled (the default)
    SLR_FAULT_FAIL = 2,  ///< it fails at the first fault
    SLR_FAULT_LIMIT = 3  ///< it fails at more than fault_limit faults within fault_window_ns
} slr_fault_policy;

/// What the instances begin with after a restart.
typedef enum slr_restart_from {
    SLR_RESTART_INITIAL = 1,   ///< the initial state
    SLR_RESTART_CHECKPOINT = 2 ///< the state that the last slr_ring_checkpoint kept
} slr_restart_from;

/// No message is timed: slr_ring_desc.latency_every.
#define SLR_LATENCY_OFF UINT32_MAX

/// What a host handler is given: one message, its instance's state, and a way to reply.
typedef struct slr_delivery {
    const void *message; ///< borrowed until the handler returns; aligned to 8
    void *state;         ///< the instance's, NULL when state_bytes is 0
    uint32_t bytes;      ///< of the message
    uint32_t instance;
    void *reply_context;            ///< for slr_reply_to
    uint32_t correlation, priority; ///< the message's
    uint64_t ticket;                ///< in a loop: which taking it came from, never 0; else 0
} slr_delivery;

/// A host handler: a C function on the device's worker threads, one message at a time an instance.
/// Anything but SLR_OK faults the message: its instance is reset, its replies are dropped, the fault is counted.
typedef slr_status slr_on_message(void *user, const slr_delivery *delivery);

/// The same for up to max_batch messages a call, in the order of service; several may be of one instance, and then
/// share its state. Replies may be sent to any of them, in any order. Anything but SLR_OK faults all of them; slr_fail
/// faults one.
typedef slr_status slr_on_batch(void *user, const slr_delivery *deliveries, uint32_t count);

/// A host ring kernel in loop form: runs on a thread of its own from activation on, and takes its messages itself.
/// What it may do, and what its return means: <slipring/loop.h>.
typedef struct slr_context slr_context;
typedef slr_status slr_main(void *user, slr_context *context);

/// A value for one of the handler's parameters after its message.
typedef struct slr_binding {
    const char *name;   ///< the parameter's
    slr_buffer *buffer; ///< for a buffer
    const void *scalar; ///< for a scalar: `bytes` bytes of exactly its type, copied
    uint64_t bytes;
} slr_binding;

/// An offset that host and kernel must agree on: SLR_SAME(struct beat, rr_s).
typedef struct slr_same {
    const char *type, *field;
    uint64_t offset, bytes;
} slr_same;
#define SLR_SAME(type, field)                                                                                          \
    {                                                                                                                  \
#type, #field, offsetof(type, field), sizeof(((type *)0)->field)                                               \
    }

typedef struct slr_ring_desc {
    uint32_t struct_size;
    uint32_t queue_size; ///< messages accepted and not yet retired, exactly (where `overflow` drops: that wait);
                         ///< 1 to 1,048,576; default 4,096
    const char *name;    ///< unique a device; default: the handler's name
    // A kernel handler:
    slr_program *program; ///< and
    const char *handler;  ///< its name in the program; default: the only one
    const slr_binding *bindings;
    uint32_t binding_count;
    // Or a host handler:
    uint32_t reserved0;
    slr_on_message *on_message;
    void *user;
    // Sizes, in bytes. Of a kernel handler: 0, or what the host believes, refused at launch (LAYOUT) when it differs.
    // Of a host handler: its message (at least 1), its state (0: none) and its replies (0: it never replies).
    uint32_t message_bytes, state_bytes, reply_bytes;
    uint32_t same_count;
    const slr_same *same; ///< offsets to check as well
    uint32_t instances;   ///< 1 to 16,777,216; default 1, with keys 65,536
    uint32_t priority;    ///< SLR_PRIORITY(0..255) of messages that name none; default 128
    uint32_t overflow;    ///< an slr_overflow; default SLR_OVERFLOW_BLOCK
    uint32_t max_replies; ///< a message may cause, 1 to 64; default 1. Room for them is reserved before it is taken
    uint32_t max_ports;   ///< ports that may send to it, 1 to 256; default 64
    uint32_t time_stamps; ///< 1: messages carry the time sent and replies return it (costs a clock read a message)
    const void
        *initial_state; ///< state_bytes bytes that each instance starts and restarts from; default all zero. Copied
    uint64_t fuel;      ///< loop iterations a message may take in a kernel handler; default 2^32
    // Instead of on_message; `user`, sizes and the rest as there:
    slr_on_batch *on_batch; ///< a host handler of many messages a call, or
    slr_main *main;         ///< a loop
    // Of handlers, kernel ones too; a loop says both at each take:
    uint32_t max_batch; ///< messages claimed, and given to on_batch, at once, 1 to 32; default 32
    uint32_t reserved1;
    uint64_t linger_ns;    ///< how long the first message of a batch may wait for others while fewer than max_batch are
                           ///< there; default 0. While it waits its worker polls
    uint32_t dead_letters; ///< how many messages that were not handled a shard keeps for slr_ring_take_dead_letters,
                           ///< to 1,048,576; default: none
    uint32_t mode; ///< SLR_RING_RELAUNCHED or SLR_RING_PERSISTENT, of a kernel handler; UNSUPPORTED, with the reason,
                   ///< where it cannot be. Default: persistent where it can be. On a cpu, relaunched asks for nothing
    // Keys (docs/contract/keys.md): `instances` is then the most that there are at a time.
    uint32_t keys;      ///< an slr_keys; default 0: instances are addressed by number
    uint32_t key_limit; ///< an slr_key_limit; default SLR_KEY_LIMIT_REFUSE
    uint32_t key_bytes; ///< of the longest text, 1 to 4,092; default 60
    uint32_t reserved3;
    slr_on_evicted *on_evicted; ///< gets each key that is evicted, with its state; NULL: they are dropped
    void *evicted_user;
    uint64_t handler_timeout_ns; ///< a handler that runs longer is abandoned: its message faults, the ring kernel
                                 ///< fails. At least 1,000,000; default none. On the host alone (slr_ring_mode): a
                                 ///< device's have `fuel`. Costs two clock reads' time and copies of
                                 ///< the message and its replies
    uint32_t fault_policy;       ///< an slr_fault_policy; default SLR_FAULT_GO_ON
    uint32_t fault_limit;        ///< of SLR_FAULT_LIMIT: 1 to 65,536; default 10
    uint64_t fault_window_ns;    ///< likewise; default 1 s
    uint32_t latency_every;      ///< of so many messages of a port one is timed (docs/contract/telemetry.md): a power
                                 ///< of two to 65,536 (1: all), or SLR_LATENCY_OFF; default 256
    uint32_t max_sends; ///< messages that a kernel handler may send through each of its outlets for each that it
                        ///< handles, 1 to 64; default 1. Room for them is reserved before it runs
    uint32_t redeliver; ///< 1: messages that were in doubt when the device was lost are not counted so: they stay
                        ///< pending, and a restart has them handled (again, perhaps). Default: none is handled twice
    uint32_t reserved4;
} slr_ring_desc;
#ifdef __cplusplus
static inline slr_ring_desc slr_ring_desc_init(void)
{
    slr_ring_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_RING_DESC_INIT slr_ring_desc_init()
#else
#define SLR_RING_DESC_INIT                                                                                             \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_ring_desc)                                                                 \
    }
#endif

/// How a ring kernel is kept going (docs/contract/devices.md).
typedef enum slr_ring_mode {
    SLR_RING_ON_HOST = 1,    ///< its handler runs on threads of the host: on a cpu, or because it is a C function
    SLR_RING_RELAUNCHED = 2, ///< batches of its messages are dispatched to the device, where its state stays
    SLR_RING_PERSISTENT = 3  ///< a kernel that never returns serves its mailbox
} slr_ring_mode;
#define SLR_MODE_REASON_BYTES 160

/// Counts of messages since launch. At any time
/// accepted = handled + faulted + dropped + undelivered + in_doubt + pending.
typedef struct slr_ring_stats {
    uint64_t accepted;    ///< by the mailbox
    uint64_t handled;     ///< the handler ran to its end
    uint64_t faulted;     ///< the handler stopped early, or a host handler returned an error
    uint64_t dropped;     ///< evicted by an overflow policy
    uint64_t undelivered; ///< handed back by terminate
    uint64_t in_doubt;    ///< what a lost device may or may not have finished (0 on a cpu)
    uint64_t pending;     ///< waiting, or being handled
    uint64_t refused;     ///< sends that were not accepted: FULL or past their deadline. Not part of the sum
    uint64_t replied;     ///< replies written, notices included
    slr_ring_state state;
    slr_ring_mode mode;
    char last_fault[192];                    ///< what and where, "" before the first
    uint64_t dropped_oldest, dropped_lowest; ///< `dropped` by reason
    uint64_t dead_letters_lost; ///< messages that found no room among the dead letters; counted above all the same
    uint64_t keys;              ///< that have an instance now
    uint64_t evicted;           ///< keys that have lost theirs to another
    uint64_t failures;          ///< how often it has failed
    uint64_t restarts;          ///< how often it was restarted
    char last_failure[192];     ///< why it failed last, "" before the first
    uint64_t routed;            ///< replies and messages sent that went along routes, one for each route
    uint64_t unrouted;   ///< that a route could not take: its destination had ended, or has no such instance; and
                         ///< messages sent through an outlet that has no route
    uint64_t running_ns; ///< since it was first activated, until it was read or until it ended
    char mode_reason[SLR_MODE_REASON_BYTES]; ///< why it is not persistent, on a device that has memory of its own, or
                                             ///< could have; else ""
    uint64_t redelivered;                    ///< messages that were in doubt and became pending again, each time
    uint64_t records_dropped; ///< batches of a persistent one that the profiler and the trace lack: there was no room
} slr_ring_stats;

/// A message that was accepted and will not be handled. Borrowed for the length of the call.
typedef struct slr_undelivered {
    const void *message;
    uint32_t bytes, instance, correlation, priority;
    const char *reason;
} slr_undelivered;
typedef void slr_on_undelivered(void *user, const slr_undelivered *undelivered);

/// Makes a ring kernel in state `created`: checks the description, reserves the name. Nothing runs yet.
///
/// Threads: any.  Blocks: no; on opencl the first time while it is tried whether kernels can stay, on cuda for the
/// compiler.  Owns: the caller gets the ring kernel: slr_ring_destroy. Everything in `desc` is copied but the program
/// and the buffers, which are held. Errors: INVALID (a field out of range: names it, its value and the
/// range; name taken), NOT_FOUND (no such handler), LAYOUT (sizes or offsets differ: names both), UNSUPPORTED (the
/// device runs no ring kernels, or not this one, or not in the mode that it was opened for: says why), COMPILE (cuda),
/// NO_MEMORY.
SLR_API slr_status slr_ring_create(slr_device *device, const slr_ring_desc *desc, slr_ring **out);

/// Phase 1: takes memory, binds, sets every instance to its initial state. From here on messages are accepted.
/// Threads: any.  Blocks: no; where its handler runs on a device, for the device's compiler (on cuda a persistent one
/// has waited for it in slr_ring_create).  Errors: WRONG_STATE (names ring kernel, state and call), NO_MEMORY, SYSTEM;
/// of a device's compiler COMPILE and UNSUPPORTED; DEVICE_LOST.
SLR_API slr_status slr_ring_launch(slr_ring *ring);

/// Phase 2: starts handling. From `launched`.  Threads: any.  Blocks: until acknowledged.  Errors: WRONG_STATE,
/// TIMEOUT.
SLR_API slr_status slr_ring_activate(slr_ring *ring, uint64_t timeout_ns);

/// Pauses: on OK no handler runs and none will until reactivate, and a loop is handed nothing; messages are still
/// accepted. From `active`. Threads: any.  Blocks: until handlers in progress have returned.  Errors: WRONG_STATE,
/// TIMEOUT (still taking effect).
SLR_API slr_status slr_ring_deactivate(slr_ring *ring, uint64_t timeout_ns);

/// Handles again, in order. From `paused`.  Threads: any.  Blocks: until acknowledged.  Errors: WRONG_STATE, TIMEOUT.
SLR_API slr_status slr_ring_reactivate(slr_ring *ring, uint64_t timeout_ns);

/// Refuses further messages (CLOSED); what is pending is handled, then every port that has used this ring kernel
/// receives END and the state becomes `terminated`. From `active` or `paused` (it ends the pause). Threads: any.
/// Blocks: no (slr_ring_wait).  Errors: WRONG_STATE.
SLR_API slr_status slr_ring_close_input(slr_ring *ring);

/// Closes the input, lets what is pending finish until the deadline, then stops (`timeout_ns` 0: at once, behind what
/// is in hand): each message that was accepted and not handled is given to `on_undelivered` (may be NULL), once, on
/// this thread. Blocked senders and receivers are released. `stats` (may be NULL) gets the final counts. A ring kernel
/// that has terminated already, or is being terminated by another thread, gives OK and the final counts. From any
/// state; a failed one handles nothing more.
///
/// Threads: any, several at once; not from a handler of the same device.
/// Blocks: until `timeout_ns` plus the time of handlers in progress, at most 10 s, or the device's `patience`
/// (docs/contract/devices.md).  Errors: INVALID (NULL), TIMEOUT (a handler has not returned by then; try again).
SLR_API slr_status slr_ring_terminate(slr_ring *ring, uint64_t timeout_ns, slr_on_undelivered *on_undelivered,
                                      void *user, slr_ring_stats *stats);

/// The same for a struct of `bytes` bytes (docs/contract/abi.md). slr_ring_terminate is a macro for this.
SLR_API slr_status slr_ring_terminate_sized(slr_ring *ring, uint64_t timeout_ns, slr_on_undelivered *on_undelivered,
                                            void *user, slr_ring_stats *stats, size_t bytes);
#define slr_ring_terminate(ring, timeout_ns, on_undelivered, user, stats)                                              \
    slr_ring_terminate_sized((ring), (timeout_ns), (on_undelivered), (user), (stats), sizeof(slr_ring_stats))

/// Terminates at once if that has not been done, and gives up the handle. Its addresses become stale. NULL is fine.
/// Threads: any, once; not from a handler of the same device.  Blocks: until handlers in progress have returned, at
/// most some 10 s, or the device's `patience`: what has not returned then keeps the memory that it may touch.
SLR_API void slr_ring_destroy(slr_ring *ring);

/// Keeps a copy of every instance's state, for slr_ring_restart; the last one counts. Taken between messages: an active
/// ring kernel is paused for it and goes on.
///
/// Threads: any.  Blocks: until handlers in progress have returned, and for the copy.
/// Errors: WRONG_STATE (not launched, active, paused or failed; or its state was changed meanwhile; or it has no state;
/// or a handler was abandoned and it has not been restarted), TIMEOUT (from active: it goes on), NO_MEMORY.
SLR_API slr_status slr_ring_checkpoint(slr_ring *ring, uint64_t timeout_ns);

/// Brings a failed ring kernel back to what it was before it failed: active, paused or draining. Its address, its ports
/// and what is pending stay, and are handled in order; its counts go on; every instance is set to the initial state or
/// to the last checkpoint.
///
/// Threads: any; not from a handler of the same device.
/// Blocks: until handlers in progress have returned.  Errors: WRONG_STATE (not failed, being terminated or restarted,
/// no checkpoint, or it could never be started), TIMEOUT (a handler is still running: it stays failed), NO_MEMORY.
/// Those of slr_route, where it runs again and a route could not be made for which others advertised or subscribed
/// meanwhile.
SLR_API slr_status slr_ring_restart(slr_ring *ring, slr_restart_from from, uint64_t timeout_ns);

/// Waits until the state is one of `states` (slr_ring_state values or'ed together).
/// Threads: any.  Blocks: until the deadline.  Errors: TIMEOUT (names the state it is in), INVALID.
SLR_API slr_status slr_ring_wait(slr_ring *ring, uint32_t states, uint64_t timeout_ns);

/// Threads: any.  Blocks: no.
SLR_API slr_ring_state slr_ring_get_state(const slr_ring *ring);

/// The name of a state: "active".  Threads: any.  Blocks: no.
SLR_API const char *slr_ring_state_name(slr_ring_state state);

/// Threads: any.  Blocks: no.  Errors: INVALID (NULL).
SLR_API slr_status slr_ring_get_stats(slr_ring *ring, slr_ring_stats *out);

/// The same for a struct of `bytes` bytes (docs/contract/abi.md). slr_ring_get_stats is a macro for this.
SLR_API slr_status slr_ring_get_stats_sized(slr_ring *ring, slr_ring_stats *out, size_t bytes);
#define slr_ring_get_stats(ring, out) slr_ring_get_stats_sized((ring), (out), sizeof(slr_ring_stats))

/// The address of an instance. Valid from launch on.
/// Threads: any.  Blocks: no.  Errors: INVALID (instance out of range: names the range), WRONG_STATE (not launched).
SLR_API slr_status slr_ring_get_address(const slr_ring *ring, uint32_t instance, slr_address *out);

/// Copies an instance's state (`bytes` bytes: all of it), as it is between two messages. Messages that are pending are
/// not waited for. Works in every state from `launched` on, without a pause; when terminated it is the last state.
/// Threads: any; not from a handler of the same ring kernel.  Blocks: until `timeout_ns`, for handlers in progress.
/// Errors: TIMEOUT, INVALID (size; instance out of range), NOT_FOUND (of a keyed one: the instance has no key now),
/// WRONG_STATE (not launched), UNSUPPORTED (a loop: its main holds messages and states as it likes).
SLR_API slr_status slr_ring_snapshot(slr_ring *ring, uint32_t instance, void *state, size_t bytes, uint64_t timeout_ns);

/// Replaces an instance's state, between two messages. `state` NULL (and `bytes` 0): by the initial state.
/// Threads, Blocks, Errors: as slr_ring_snapshot.
SLR_API slr_status slr_ring_restore(slr_ring *ring, uint32_t instance, const void *state, size_t bytes,
                                    uint64_t timeout_ns);

/// The address of instance 0 of the ring kernel of that name.
/// Threads: any.  Blocks: no.  Errors: NOT_FOUND.
SLR_API slr_status slr_ring_find(slr_device *device, const char *name, slr_address *out);

/// Sends a reply from a host handler or a loop; at most max_replies a message. `reply` is `reply_bytes` bytes and is
/// copied. It is received when the message is done with: the handler has returned, or slr_done. Threads: the handler's
/// own, before it returns; main's.  Blocks: no.  Errors: INVALID (past max_replies, the ring kernel declared no reply,
/// or the loop holds the message no more).
SLR_API slr_status slr_reply_to(const slr_delivery *delivery, const void *reply, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
