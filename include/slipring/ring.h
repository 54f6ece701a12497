// SPDX-License-Identifier: Apache-2.0
/// A ring kernel is a message handler with a mailbox (a queue of messages) and one state for each of its instances.
/// Each message is addressed to one instance. A ring kernel is divided into shards (groups of instances); a thread or
/// work-group, the owner of a shard, takes the shard's messages. docs/glossary.md explains further words.
/// Contracts: docs/contract/lifecycle.md, docs/contract/delivery.md, docs/contract/failure.md.
///
///     created --launch--> launched --activate--> active <--deactivate/reactivate--> paused
///     active or paused --close_input--> draining --(nothing pending)--> terminated
///     any but terminated --terminate--> terminated
///     active, paused or draining --(faults)--> failed --restart--> its previous state
#ifndef SLIPRING_RING_H
#define SLIPRING_RING_H

#include <slipring/buffer.h>
#include <slipring/key.h>
#include <slipring/program.h>
#include <slipring/slice.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_ring slr_ring;

/// The destination of a message: a ring kernel and one of its instances. An address means the same on the host and on a
/// device. A send to the address of a destroyed ring kernel fails with RING_DEAD.
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

/// The overflow policy says what happens to a new message when the mailbox is full.
typedef enum slr_overflow {
    SLR_OVERFLOW_BLOCK = 1,       ///< backpressure: the send waits for room until its deadline (the default)
    SLR_OVERFLOW_REJECT = 2,      ///< refuses the new message: the send returns SLR_FULL at once
    SLR_OVERFLOW_DROP_OLDEST = 3, ///< accepts the message, and drops the earliest accepted message that waits
    /// slipring accepts a new message even if the mailbox is full, and drops the earliest message of the lowest
    /// priority, which may be the new message.
    SLR_OVERFLOW_DROP_LOWEST = 4
} slr_overflow;

/// The fault policy says what happens to a ring kernel when the handler faults (stops early with an error) for a
/// message. If slipring abandons a handler because it ran longer than handler_timeout_ns, the ring kernel fails with
/// every fault policy.
typedef enum slr_fault_policy {
    SLR_FAULT_GO_ON = 1, ///< only the message fails, and the ring kernel handles the next message (the default)
    SLR_FAULT_FAIL = 2,  ///< the ring kernel fails at the first fault
    SLR_FAULT_LIMIT = 3  ///< the ring kernel fails at more than fault_limit faults within fault_window_ns
} slr_fault_policy;

/// The enum says which state the instances of a ring kernel have after slr_ring_restart.
typedef enum slr_restart_from {
    SLR_RESTART_INITIAL = 1,   ///< the initial state (slr_ring_desc.initial_state)
    SLR_RESTART_CHECKPOINT = 2 ///< the state of the last slr_ring_checkpoint
} slr_restart_from;

/// With the value SLR_LATENCY_OFF of slr_ring_desc.latency_every, slipring measures the latency of no message.
#define SLR_LATENCY_OFF UINT32_MAX

/// slr_delivery is the argument of a host handler: it names one message, the state of the message's instance, and the
/// context for replies.
typedef struct slr_delivery {
    const void *message; ///< valid until the handler returns; aligned to 8 bytes
    void *state;         ///< the instance's state; NULL if state_bytes is 0
    uint32_t bytes;      ///< size of the message
    uint32_t instance;
    void *reply_context;            ///< slr_reply_to needs it
    uint32_t correlation, priority; ///< the message's correlation number, which its replies also carry; its priority
    /// In a loop: a number, never 0, that identifies the call of slr_take that returned this message. For a handler: 0.
    uint64_t ticket;
} slr_delivery;

/// A host handler is a C function, whereas a kernel handler is a function in kernel source. A host handler runs on the
/// device's worker threads. For each instance, a host handler handles one message at a time. If a host handler returns
/// a result other than SLR_OK, the message faults: its instance is reset to the initial state, its replies are dropped,
/// and the fault is counted.
typedef slr_status slr_on_message(void *user, const slr_delivery *delivery);

/// A batch handler is a host handler that handles a batch of up to max_batch messages per call, in the order in which
/// the shard's owner took them. Several messages of one batch may be for the same instance, and share this instance's
/// state. A batch handler may reply to any message of its batch, in any order of the messages. If a batch handler
/// returns a result other than SLR_OK, all messages of its batch fault. A batch handler calls slr_fail
/// (<slipring/loop.h>) to let a single message fault.
typedef slr_status slr_on_batch(void *user, const slr_delivery *deliveries, uint32_t count);

/// In loop form, a ring kernel has a main function instead of a handler; slr_main is the type of this function. The
/// main function runs on its own thread from activation on, and takes messages by slr_take. <slipring/loop.h> has the
/// rules for the main function, and the meaning of its result.
typedef struct slr_context slr_context;
typedef slr_status slr_main(void *user, slr_context *context);

/// slr_binding gives a value for one of the handler's parameters after the message parameter.
typedef struct slr_binding {
    const char *name;   ///< the name of the handler's parameter
    slr_buffer *buffer; ///< for a parameter that is a buffer: the buffer
    const void *scalar; ///< for a parameter that is a number: `bytes` bytes of exactly its type, which slipring copies
    uint64_t bytes;
} slr_binding;

/// slr_same describes a member whose offset must be the same in the host's struct and in the kernel's struct.
/// For example, SLR_SAME(struct beat, rr_s) describes the member `rr_s` of the host's `struct beat`.
typedef struct slr_same {
    const char *type, *field;
    uint64_t offset, bytes;
} slr_same;
#define SLR_SAME(type, field)                                                                                          \
    {                                                                                                                  \
#type, #field, offsetof(type, field), sizeof(((type *)0)->field)                                               \
    }

/// The formula below gives the most host memory, in bytes, that a ring kernel needs (docs/contract/memory.md):
///
///     1 KiB + shards * (33 KiB + I * state_bytes + queue_size * (M + 8) + max_ports * P), P = 3 KiB + Q * (M + R + 1)
///
/// In the formula for memory, M is 16 + message_bytes, and R is 16 + reply_bytes. slipring rounds M, R and state_bytes
/// in the formula for memory up to a multiple of 16. In the formula for memory, Q is queue_size, rounded up to a power
/// of two, and I is the number of instances per shard, rounded up. The number of shards is the number of the device's
/// worker threads, but at most the number of instances. slipring allocates each part of a ring kernel's memory when
/// that part is first used. A ring kernel with one port and a queue of 4 messages of 64 B uses 4 KB of memory, also
/// after its first message and reply. A port uses no memory until its first send, however large max_ports is.
typedef struct slr_ring_desc {
    uint32_t struct_size;
    /// queue_size is the capacity of the mailbox: the exact maximum of messages that are accepted and not yet retired
    /// (counted as ended). With an `overflow` policy that drops messages, queue_size limits only the waiting messages.
    /// The value of queue_size is from 1 to 1,048,576; the default is 4,096.
    uint32_t queue_size;
    const char *name; ///< the ring kernel's name, unique per device; default: the handler's name
    // For a handler in kernel source, set the following fields:
    slr_program *program; ///< the program that has the handler
    const char *handler;  ///< the handler's name in the program; default: the only handler
    const slr_binding *bindings;
    uint32_t binding_count;
    // For a host handler, set the following fields instead:
    uint32_t reserved0;
    slr_on_message *on_message;
    void *user;
    // The sizes of messages, states and replies, in bytes. For a handler in kernel source, each size is the size of the
    // host's struct, or 0 if slipring need not compare the sizes. If the kernel's struct has another size than the
    // host's struct, slr_ring_create fails with LAYOUT. For a host handler, set the sizes of a message (at least 1), a
    // state (0: none) and a reply (0: the handler never replies).
    uint32_t message_bytes, state_bytes, reply_bytes;
    uint32_t same_count;
    /// Members whose offsets slr_ring_create also compares, between the host's and the kernel's struct.
    const slr_same *same;
    uint32_t instances; ///< number of instances, 1 to 16,777,216; default 1, or 65,536 with keys
    uint32_t priority;  ///< priority of messages that are sent without a priority: SLR_PRIORITY(0..255); default 128
    uint32_t overflow;  ///< an slr_overflow; default SLR_OVERFLOW_BLOCK
    /// The maximum number of replies to one message, 1 to 64; the default is 1. slipring reserves space for the replies
    /// before a handler takes the message.
    uint32_t max_replies;
    uint32_t max_ports; ///< the most ports that are connected to this ring kernel at a time, 1 to 256; default 64
    /// If time_stamps is 1, messages carry the time at which they were sent, and replies return that time. For each
    /// message that carries its time, slipring reads the clock once.
    uint32_t time_stamps;
    /// The first state of each instance, also after a restart: state_bytes bytes, which slipring copies. By default all
    /// bytes of the first state are zero.
    const void *initial_state;
    uint64_t fuel; ///< limit on loop iterations per message in a kernel handler; default 2^32
    // Instead of on_message, a program can set one of the following fields. The other fields, such as `user` and the
    // sizes, have the same meaning as for on_message.
    slr_on_batch *on_batch; ///< a batch handler, which handles many messages per call
    slr_main *main;         ///< the main function of a loop
    // The following fields apply to host handlers and to kernel handlers. A loop ignores max_batch and linger_ns: its
    // main function passes such values to each call of slr_take.
    /// The most messages that the owner of a shard claims at once and passes to on_batch or to a `__ring_batch__`
    /// handler, 1 to 128. The default is 32. In batched mode the default is 128 if the ring kernel has more than 32
    /// instances, no linger_ns and no `__ring_batch__` handler. The owner of a shard of a persistent ring kernel claims
    /// at most 32 messages at once. If max_batch is above 32, a ring kernel with a `__ring_batch__` handler on a device
    /// runs in batched mode, unless the program requests persistent mode.
    uint32_t max_batch;
    uint32_t reserved1;
    /// The longest time that the first message of a batch waits for more messages while fewer than max_batch messages
    /// are present. By default linger_ns is 0, so no message waits for others. While the first message of a batch waits
    /// for more, the worker thread reads the mailbox again and again.
    uint64_t linger_ns;
    /// The most dead letters (messages that were accepted and not handled) that a shard keeps for
    /// slr_ring_take_dead_letters, up to 1,048,576. By default a shard keeps no dead letters.
    uint32_t dead_letters;
    /// The requested mode of a kernel handler on a device: SLR_RING_RELAUNCHED (a launch for each batch of messages) or
    /// SLR_RING_PERSISTENT (a kernel that runs all the time). If the requested mode is not available, slr_ring_create
    /// fails with UNSUPPORTED and the reason. The default mode is persistent, if persistent mode is available. On a cpu
    /// device, SLR_RING_RELAUNCHED has no effect.
    uint32_t mode;
    // The kind of the ring kernel's keys (docs/contract/keys.md). With keys, `instances` is the maximum number of keys
    // at a time.
    uint32_t keys;      ///< an slr_keys; default 0: instances are addressed by number
    uint32_t key_limit; ///< an slr_key_limit; default SLR_KEY_LIMIT_REFUSE
    uint32_t key_bytes; ///< length of the longest text key in bytes, 1 to 4,092; default 60
    uint32_t reserved3;
    /// Called with each evicted key (removed to make room for a new key) and its state; NULL: both are dropped.
    slr_on_evicted *on_evicted;
    void *evicted_user;
    /// The time limit of a handler on the host, in nanoseconds. slipring abandons a handler that exceeds the limit: the
    /// handler's message faults and the ring kernel fails. The limit for a handler is at least 1,000,000 ns; by default
    /// there is no limit. With a time limit, slipring reads the clock twice for each message, and copies the message
    /// and its replies. Handlers on a device have no time limit, but a limit on loop iterations (`fuel`).
    uint64_t handler_timeout_ns;
    uint32_t fault_policy;    ///< an slr_fault_policy; default SLR_FAULT_GO_ON
    uint32_t fault_limit;     ///< for SLR_FAULT_LIMIT: number of faults, 1 to 65,536; default 10
    uint64_t fault_window_ns; ///< for SLR_FAULT_LIMIT: the time in which faults count together; default 1 s
    /// How often slipring times a message (docs/contract/telemetry.md): of the messages of a port, one in
    /// latency_every. latency_every is a power of two up to 65,536 (1: all), or SLR_LATENCY_OFF. latency_every is 256
    /// by default.
    uint32_t latency_every;
    /// The most messages that a kernel handler may send to other ring kernels through each of its output channels, for
    /// each message that it handles: 1 to 64. The default of max_sends is 1 message for each channel. slipring reserves
    /// space for the messages before the handler runs.
    uint32_t max_sends;
    /// If `redeliver` is 1, messages that are in doubt after the loss of a device (nobody knows whether they were
    /// handled) stay pending, and a restart handles them, perhaps for the second time. By default, slipring handles no
    /// message twice.
    uint32_t redeliver;
    uint32_t reserved4;
    /// `references` lists the fields of messages and replies that are slices. A slice names bytes of a buffer. slipring
    /// checks the slices at every send (docs/contract/references.md). By default no field is a slice. slipring copies
    /// the array `references`.
    const slr_reference *references;
    uint32_t reference_count; ///< length of `references`, up to SLR_MOST_REFERENCES
    /// If publish_each is 1, slipring publishes replies and counts after each message instead of each batch, so no
    /// reply waits for the handling of a later message. The option publish_each works only for handlers that run on
    /// threads of the host and take one message per call: for `on_message`, and on a cpu device for handlers in kernel
    /// source. publish_each does not work with routes to other ring kernels, because replies along routes are published
    /// per batch. By default slipring publishes replies and counts after each batch.
    uint32_t publish_each;
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

/// The mode of a ring kernel says where and how its handler runs (docs/contract/modes.md).
typedef enum slr_ring_mode {
    SLR_RING_ON_HOST = 1, ///< on threads of the host, because the handler is a C function or the device is a cpu
    /// Batched launches: one launch handles one batch of messages; the states stay on the device.
    SLR_RING_RELAUNCHED = 2,
    /// Persistent kernel: one kernel runs all the time on the device, and takes messages from the mailbox.
    SLR_RING_PERSISTENT = 3
} slr_ring_mode;
#define SLR_MODE_REASON_BYTES 160

/// slr_ring_stats counts a ring kernel's messages since slr_ring_launch. At any time the counts of a ring kernel
/// satisfy: accepted = handled + faulted + dropped + undelivered + in_doubt + pending.
typedef struct slr_ring_stats {
    uint64_t accepted; ///< messages that the mailbox accepted
    uint64_t handled;  ///< messages whose handler completed
    uint64_t faulted;  ///< messages whose handler stopped early, or returned an error
    uint64_t dropped;  ///< messages dropped by the overflow policy
    /// Messages that were still unhandled when the ring kernel terminated; slr_ring_terminate passes them to
    /// on_undelivered.
    uint64_t undelivered;
    uint64_t in_doubt; ///< messages of which nobody knows whether a lost device handled them (0 on a cpu)
    uint64_t pending;  ///< messages that wait in the mailbox or that the owner of a shard has claimed
    /// Sends that failed with FULL, or with TIMEOUT at their deadline: the mailbox was full, a new key found no
    /// instance, or the port found no place. The sum above leaves them out.
    uint64_t refused;
    uint64_t replied; ///< replies, including notices (replies without payload)
    slr_ring_state state;
    slr_ring_mode mode;
    /// The last fault: its line in the source if it has one, its instance and its cause; "" before the first fault. A
    /// shard whose device was lost while it recorded a fault has no last fault. In a text of this struct that would be
    /// too long, "..." replaces the middle of the longest path, and the end of the text if that is not enough.
    char last_fault[192];
    /// Parts of `dropped`: messages dropped as the oldest, and messages dropped as the lowest in priority.
    uint64_t dropped_oldest, dropped_lowest;
    /// Unhandled messages that were not kept, because their shard already kept slr_ring_desc.dead_letters messages.
    uint64_t dead_letters_lost;
    uint64_t keys;          ///< keys that have an instance now
    uint64_t evicted;       ///< keys that slipring removed, because another key needed their instance
    uint64_t failures;      ///< number of times that the ring kernel failed
    uint64_t restarts;      ///< number of times that the ring kernel was restarted
    char last_failure[192]; ///< reason of the ring kernel's last failure; "" before the first failure
    uint64_t routed;        ///< replies and messages sent along routes to ring kernels, counted once per route
    /// The number of replies and sent messages that reached no destination, because the destination had ended or lacks
    /// the instance, or the output channel has no route.
    uint64_t unrouted;
    uint64_t running_ns; ///< time from the first activation to this reading, or to the end of the ring kernel
    /// mode_reason says why a ring kernel is not persistent, although its device has its own memory or can run
    /// persistent kernels; otherwise mode_reason is "".
    char mode_reason[SLR_MODE_REASON_BYTES];
    uint64_t redelivered; ///< messages in doubt that became pending again; a message counts each time
    /// Batches of a persistent ring kernel that are missing in profile and trace, because there was no room to record
    /// them.
    uint64_t records_dropped;
    /// The first fault since launch: its line in the source if it has one, and its cause; "" if there was no fault.
    /// Later faults do not change first_fault.
    char first_fault[256];
    /// The time from the first activation to the first fault. If the handler ran on a device, first_fault_ns is 0,
    /// because a device lacks the host's clock.
    uint64_t first_fault_ns;
    uint32_t first_fault_instance;
    /// The number of the first message that faulted. Each shard (a part of the ring kernel with one owner) numbers its
    /// messages 1, 2, ..., modulo 2^32. A ring kernel with one instance has one shard.
    uint32_t first_fault_message;
    uint64_t printed;     ///< printf calls of the ring kernel's handler that were passed to slr_device_desc.on_print
    uint64_t prints_lost; ///< printf calls whose text was lost for lack of room; a handler never waits for room
} slr_ring_stats;

/// slr_undelivered describes an accepted message that no handler will handle. The struct slr_undelivered is valid only
/// during the call of `on_undelivered`.
typedef struct slr_undelivered {
    const void *message;
    uint32_t bytes, instance, correlation, priority;
    const char *reason;
} slr_undelivered;
typedef void slr_on_undelivered(void *user, const slr_undelivered *undelivered);

/// Makes a ring kernel in the state `created`: slr_ring_create checks the description and reserves the name. After
/// slr_ring_create the handler does not run yet.
///
/// Threads: any.  Blocks: no, with two exceptions: on opencl the first slr_ring_create waits for a test of persistent
/// kernels, and on cuda each slr_ring_create compiles its handler.
/// Owns: the caller gets the ring kernel, and frees it by slr_ring_destroy. slipring copies `desc` and all that it
/// points to, except the program and the buffers, which slipring keeps alive.
/// Errors: INVALID (a field out of range: the error message has its name, value and range; the ring kernel's name is
///   taken), NOT_FOUND (no such handler), LAYOUT (sizes or offsets differ: the error message has both), COMPILE (on
///   cuda: the handler does not compile), NO_MEMORY, UNSUPPORTED (the device runs no ring kernels, or not this one, or
///   not in the requested mode: the error message gives the reason).
SLR_API slr_status slr_ring_create(slr_device *device, const slr_ring_desc *desc, slr_ring **out);

/// The first phase of the start: slr_ring_launch allocates memory, connects the handler's parameters with the values of
/// slr_ring_desc.bindings, and sets every instance to its initial state. After slr_ring_launch the ring kernel accepts
/// messages.
/// Threads: any.  Blocks: no. For a handler on a device, slr_ring_launch blocks while the device compiles the handler,
/// except for persistent kernels on cuda, which slr_ring_create compiled.
/// Errors: WRONG_STATE (the error message names ring kernel, state and call), NO_MEMORY, SYSTEM, DEVICE_LOST, and
///   COMPILE and UNSUPPORTED from a device's compiler.
SLR_API slr_status slr_ring_launch(slr_ring *ring);

/// The second phase of the start: with slr_ring_activate the ring kernel begins to handle messages. slr_ring_activate
/// needs a ring kernel in the state `launched`.
/// Threads: any.  Blocks: until the owners of all shards have acknowledged the activation.  Errors: WRONG_STATE,
/// TIMEOUT.
SLR_API slr_status slr_ring_activate(slr_ring *ring, uint64_t timeout_ns);

/// Pauses the ring kernel. When slr_ring_deactivate has returned SLR_OK, no handler runs and no loop takes a message
/// until slr_ring_reactivate. A paused ring kernel still accepts messages. slr_ring_deactivate needs a ring kernel in
/// the state `active`.
/// Threads: any.  Blocks: until the messages in flight (docs/contract/lifecycle.md) are handled.
/// Errors: WRONG_STATE, TIMEOUT (the owner of a shard has not answered by the deadline, most often because a handler
///   still runs; the ring kernel is paused nevertheless, and handles only the messages that are in flight).
SLR_API slr_status slr_ring_deactivate(slr_ring *ring, uint64_t timeout_ns);

/// Ends the pause of a ring kernel, which then handles messages again, in order. slr_ring_reactivate needs a ring
/// kernel in the state `paused`. slr_ring_restart of another ring kernel may have failed to make its route to this one,
/// because this one was paused and its mailbox full. slr_ring_reactivate makes these routes, too. While
/// slr_ring_reactivate makes routes, it may block as slr_route does, and fail with the errors of slr_route.
/// Threads: any.  Blocks: until the shards' owners have acknowledged the end of the pause.
/// Errors: WRONG_STATE, TIMEOUT.
SLR_API slr_status slr_ring_reactivate(slr_ring *ring, uint64_t timeout_ns);

/// Closes the input of a ring kernel, which then refuses further messages with CLOSED and handles its pending messages.
/// When all messages are handled, every port that has used the ring kernel receives END, and the state becomes
/// `terminated`. slr_ring_close_input needs a ring kernel in the state `active` or `paused`. If the ring kernel is
/// paused, slr_ring_close_input ends the pause.
/// Threads: any.  Blocks: no; slr_ring_wait waits for the end.  Errors: WRONG_STATE.
SLR_API slr_status slr_ring_close_input(slr_ring *ring);

/// Closes the input of a ring kernel, lets it handle pending messages for at most `timeout_ns` nanoseconds, and then
/// stops it after the messages in flight (docs/contract/lifecycle.md). If `timeout_ns` is 0, slr_ring_terminate stops
/// it at once. slr_ring_terminate passes each accepted message that was not handled to `on_undelivered` once, on the
/// calling thread; `on_undelivered` may be NULL.
/// When a ring kernel terminates, threads that are blocked in a send or a receive return. `stats` gets the final
/// counts; `stats` may be NULL. slr_ring_terminate works in any state, but a failed ring kernel handles no more
/// messages. If the ring kernel has already terminated, or another thread terminates it, slr_ring_terminate returns
/// SLR_OK with the final counts.
///
/// Threads: any, several at once; but a handler must not terminate a ring kernel of its own device.
/// Blocks: for at most `timeout_ns`, and then until running handlers have returned. The wait for running handlers takes
/// at most 10 s, or the device's hang timeout (docs/contract/opencl.md) if the hang timeout is shorter.
/// Errors: INVALID (a NULL argument), TIMEOUT (a handler or a sender has not returned by the deadline; the program can
///   call slr_ring_terminate again).
SLR_API slr_status slr_ring_terminate(slr_ring *ring, uint64_t timeout_ns, slr_on_undelivered *on_undelivered,
                                      void *user, slr_ring_stats *stats);

/// The macro slr_ring_terminate calls slr_ring_terminate_sized with `sizeof(slr_ring_stats)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_ring_terminate_sized(slr_ring *ring, uint64_t timeout_ns, slr_on_undelivered *on_undelivered,
                                            void *user, slr_ring_stats *stats, size_t bytes);
#define slr_ring_terminate(ring, timeout_ns, on_undelivered, user, stats)                                              \
    slr_ring_terminate_sized((ring), (timeout_ns), (on_undelivered), (user), (stats), sizeof(slr_ring_stats))

/// Terminates the ring kernel at once, unless it has already terminated, and releases the handle. After
/// slr_ring_destroy, the addresses of the ring kernel are no longer valid. If `ring` is NULL, slr_ring_destroy does
/// nothing.
/// Threads: any thread, but not a handler of the ring kernel's device; only one call for each ring kernel.
/// Blocks: until the ring kernel's running handlers have returned, but for at most about 10 s, or for the device's hang
/// timeout if this is shorter. A handler that has not returned when slr_ring_destroy returns keeps the memory that it
/// may access.
SLR_API void slr_ring_destroy(slr_ring *ring);

/// Makes a checkpoint: copies the state of every instance for slr_ring_restart, and replaces the previous checkpoint.
/// slipring takes the copy between messages: an active ring kernel pauses for the copy and then continues.
///
/// Threads: any.  Blocks: until the messages in flight are handled, and while the call copies the states.
/// Errors: WRONG_STATE (the ring kernel's state is none of launched, active, paused and failed, or changes during the
///   call; its instances have no state; the ring kernel is a loop or has keys; a handler was abandoned since the last
///   restart), TIMEOUT (the owner of a shard has not answered by the deadline), NO_MEMORY. After TIMEOUT there is no
///   new checkpoint, and an active ring kernel continues. With a timeout of 0 also an idle ring kernel gives TIMEOUT.
SLR_API slr_status slr_ring_checkpoint(slr_ring *ring, uint64_t timeout_ns);

/// Restarts a failed ring kernel in the state that it had before the failure: active, paused or draining. A restarted
/// ring kernel keeps its address, ports, counts and pending messages, and handles the messages in order. At a restart
/// every instance gets its initial state or its state in the last checkpoint, as `from` says.
///
/// Threads: any, but not a handler of the ring kernel's device.  Blocks: until the ring kernel's running handlers have
/// returned.
/// Errors: WRONG_STATE (the ring kernel has not failed, is being terminated or restarted, has no checkpoint, or was
///   never started), TIMEOUT (a handler is still running: the ring kernel remains failed), NO_MEMORY. slr_ring_restart
///   also makes the routes for calls of slr_advertise and slr_subscribe that the program made while the ring kernel had
///   failed. If slr_ring_restart cannot make a route, the ring kernel has restarted nevertheless, and the result is the
///   error of slr_route. If the destination of a route is paused and its mailbox is full, this is no error:
///   slr_ring_reactivate of the destination makes the route later.
SLR_API slr_status slr_ring_restart(slr_ring *ring, slr_restart_from from, uint64_t timeout_ns);

/// Waits until the ring kernel is in one of the states `states`, which are slr_ring_state values combined with |.
/// Threads: any.  Blocks: for at most `timeout_ns`.  Errors: TIMEOUT (the error message has the current state),
/// INVALID (`states` is 0, or has a bit that is no slr_ring_state).
SLR_API slr_status slr_ring_wait(slr_ring *ring, uint32_t states, uint64_t timeout_ns);

/// Threads: any.  Blocks: no.
SLR_API slr_ring_state slr_ring_get_state(const slr_ring *ring);

/// Returns the name of a state, such as "active".  Threads: any.  Blocks: no.
SLR_API const char *slr_ring_state_name(slr_ring_state state);

/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_ring_get_stats(slr_ring *ring, slr_ring_stats *out);

/// The macro slr_ring_get_stats calls slr_ring_get_stats_sized with `sizeof(slr_ring_stats)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_ring_get_stats_sized(slr_ring *ring, slr_ring_stats *out, size_t bytes);
#define slr_ring_get_stats(ring, out) slr_ring_get_stats_sized((ring), (out), sizeof(slr_ring_stats))

/// Gives the address of an instance of a ring kernel. An instance's address is valid from slr_ring_launch on.
/// Threads: any.  Blocks: no.  Errors: INVALID (an instance out of range: the error message has the range), WRONG_STATE
/// (the ring kernel was not launched).
SLR_API slr_status slr_ring_get_address(const slr_ring *ring, uint32_t instance, slr_address *out);

/// Copies the state of an instance to `state`, at a moment between two messages. The argument `bytes` is the size of
/// the whole state. slr_ring_snapshot does not wait for pending messages. slr_ring_snapshot works in every state from
/// `launched` on, and does not pause the ring kernel. After the ring kernel has terminated, slr_ring_snapshot gives the
/// instance's last state.
/// Threads: any, but not a handler of this ring kernel.  Blocks: until the ring kernel's running handlers have
/// returned, but for at most `timeout_ns`.
/// Errors: TIMEOUT, INVALID (a wrong size; an instance out of range), NOT_FOUND (in a ring kernel with keys, the
///   instance has no key now), WRONG_STATE (the ring kernel was not launched), UNSUPPORTED (a loop, whose main function
///   controls messages and states).
SLR_API slr_status slr_ring_snapshot(slr_ring *ring, uint32_t instance, void *state, size_t bytes, uint64_t timeout_ns);

/// Replaces the state of an instance, at a moment between two messages. If `state` is NULL and `bytes` is 0,
/// slr_ring_restore sets the initial state.
/// Threads, Blocks, Errors: as for slr_ring_snapshot.
SLR_API slr_status slr_ring_restore(slr_ring *ring, uint32_t instance, const void *state, size_t bytes,
                                    uint64_t timeout_ns);

/// Gives the address of instance 0 of the ring kernel with the name `name`.
/// Threads: any.  Blocks: no.  Errors: NOT_FOUND.
SLR_API slr_status slr_ring_find(slr_device *device, const char *name, slr_address *out);

/// Sends a reply from a host handler or a loop, at most max_replies for each message. `reply` is `reply_bytes` bytes
/// long, and slipring copies the bytes. slipring publishes the reply when the message completes: when the handler
/// returns, or at slr_done.
/// Threads: the thread that runs the handler, before the handler returns, or the thread that runs main.  Blocks: no.
/// Errors: INVALID (more than max_replies replies to the message; the ring kernel declared no reply; the loop has
///   already ended the message).
SLR_API slr_status slr_reply_to(const slr_delivery *delivery, const void *reply, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
