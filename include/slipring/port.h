// SPDX-License-Identifier: Apache-2.0
/// A port connects a sender with ring kernels (message handlers, each with a queue of messages, its mailbox): it
/// carries the sender's messages to ring kernels, and the ring kernels' replies back. Contract:
/// docs/contract/delivery.md.
#ifndef SLIPRING_PORT_H
#define SLIPRING_PORT_H

#include <slipring/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_port slr_port;

/// Opens a port. A port belongs to one thread at a time, which is called its owner.
/// Threads: any.  Blocks: no.  Owns: the caller gets the port, and frees it by slr_port_close.  Errors: NO_MEMORY,
/// SYSTEM.
SLR_API slr_status slr_port_open(slr_device *device, slr_port **out);

/// Closes a port. Ring kernels still handle the messages that were sent before slr_port_close. slr_port_close discards
/// the replies that the program has not received. If `port` is NULL, slr_port_close does nothing.
/// Threads: the owner, once.  Blocks: no.
SLR_API void slr_port_close(slr_port *port);

/// The options of a send. A zero in any field of slr_send_options means the default.
typedef struct slr_send_options {
    /// Priority of the message, SLR_PRIORITY(0..255); default: slr_ring_desc.priority of the ring kernel. SLR_PRIORITY
    /// adds 1, because a zero here means the default; slr_reply.priority is the priority itself.
    uint32_t priority;
    /// correlation is a number that the message carries, and that every reply to the message returns. The default
    /// correlation of a message is the port's next number. The port's numbers start with 1 and count the accepted
    /// messages for which the program set no correlation. After the number 2^31 - 1, a port continues with 0.
    uint32_t correlation;
} slr_send_options;

/// Sends one message to an instance (one of the states) of a ring kernel.
///
/// slipring copies `message`; `bytes` must equal the ring kernel's message size. If slr_send returns SLR_OK, the
/// message was accepted. An accepted message ends with one outcome: handled, faulted, dropped, undelivered or in doubt.
/// slr_ring_stats counts the outcomes and explains them. Messages from one port to one instance with the same priority
/// are handled in the order of sending. If `port` is NULL, slr_send uses the device's shared port, which a lock
/// protects. On the shared port, only slr_call gets the replies to its messages; all other replies are discarded.
///
/// Threads: the port's owner; if `port` is NULL, any.
/// Blocks: for at most `timeout_ns` (0: never) while the mailbox is full; never if the ring kernel's policy is to
/// reject.
/// Owns: nothing.
/// Errors: FULL (the mailbox is full, and the call must not wait), TIMEOUT (the mailbox is still full at the deadline),
///   RING_DEAD (the ring kernel has terminated or was destroyed), CLOSED (the ring kernel's input is closed),
///   RING_FAILED, WRONG_STATE (the ring kernel is not launched), INVALID (a wrong size; an instance or priority out of
///   range; max_ports other ports use the ring kernel). A closed port still counts as one of the max_ports ports until
///   its messages have completed. If one of the max_ports other ports is such a closed port, the first message of a
///   port gives FULL or TIMEOUT instead of INVALID.
SLR_API slr_status slr_send(slr_port *port, slr_address to, const void *message, size_t bytes, uint64_t timeout_ns);

/// Sends a message as slr_send does, but with a priority and a correlation number of the caller's choice. If `options`
/// is NULL, all options have their defaults.
SLR_API slr_status slr_send_with(slr_port *port, slr_address to, const void *message, size_t bytes,
                                 const slr_send_options *options, uint64_t timeout_ns);

/// Sends `count` messages with default priority. Message k goes to instance `instances[k]`, or to `to.instance` if
/// `instances` is NULL. The messages lie one after another in memory, with `bytes` bytes each. slipring makes all
/// messages of one call visible to the ring kernel together, which takes less time per message than single sends.
/// `accepted` gets the number n, also after an error: the first n messages were accepted. The pointer `accepted` may be
/// NULL. The messages of one call get consecutive correlation numbers.
///
/// Threads, Blocks: as for slr_send, but `port` must not be NULL.
/// Errors: those of slr_send; after an error the remaining messages were not sent.
SLR_API slr_status slr_send_many(slr_port *port, slr_address to, const uint32_t *instances, const void *messages,
                                 size_t bytes, uint32_t count, uint64_t timeout_ns, uint32_t *accepted);

/// slr_reply describes a reply that a port received, without the reply's payload.
typedef struct slr_reply {
    slr_address from;  ///< the ring kernel and instance that replied
    slr_status status; ///< SLR_OK for a reply; SLR_HANDLER_FAULT or SLR_DROPPED for a notice (a reply without payload)
    uint32_t correlation; ///< correlation number of the original message
    uint32_t priority;    ///< priority of the original message, 0 to 255, without the 1 that SLR_PRIORITY adds
    uint32_t bytes;       ///< size of the payload
    /// When the original message was sent (CLOCK_MONOTONIC), if slr_ring_desc.time_stamps is 1; else 0.
    uint64_t sent_ns;
    uint32_t redelivered; ///< 1: the original message may have been handled before (slr_ring_desc.redeliver)
    uint32_t reserved;
} slr_reply;

/// Receives the next reply to this port. `payload` gets the bytes of the reply and has room for `capacity` bytes.
/// slr_receive returns one of the following results:
///
///   SLR_OK: the port has received a reply, or a notice: a reply without payload that says what became of a message
///   (see reply->status).
///
///   SLR_END: a ring kernel that this port has used has ended (terminated). reply->from names the ring kernel. The port
///   receives one END for each ring kernel. When all ring kernels that the port has used have ended, every further call
///   of slr_receive returns END.
///
///   SLR_RING_FAILED: a ring kernel that this port uses has failed. The port gets SLR_RING_FAILED once per failure, and
///   reply->from names the ring kernel. The port stays connected to the failed ring kernel, because the ring kernel may
///   be restarted.
///
/// A ring kernel that has ended keeps the port's replies until the port receives END or is closed. If a program never
/// receives on a port, the mailboxes of all ended ring kernels that the port has used stay in memory.
///
/// Threads: the owner.  Blocks: for at most `timeout_ns`.  Owns: nothing.
/// Errors: TIMEOUT, INVALID (`capacity` is smaller than the reply; a call with more room can still receive the reply).
SLR_API slr_status slr_receive(slr_port *port, slr_reply *reply, void *payload, size_t capacity, uint64_t timeout_ns);

/// Receives up to `most` replies in one call. slr_receive_many copies the payload of reply k to payloads + k * stride.
/// slr_receive_many waits for the first reply, and then takes the replies that have already arrived. If
/// slr_receive_many returns SLR_OK, `received` is at least 1.
/// Threads, Blocks, Errors: as for slr_receive.
SLR_API slr_status slr_receive_many(slr_port *port, slr_reply *replies, void *payloads, size_t stride, uint32_t most,
                                    uint64_t timeout_ns, uint32_t *received);

/// Sends a message and waits for its reply. Meanwhile, the port keeps other replies for slr_receive, including replies
/// that slr_route_to_port sends to the port. The shared port keeps each reply for the thread that waits for it. A reply
/// that arrives after its caller's deadline is discarded. If `port` is NULL, slr_call uses the device's shared port,
/// and any number of threads may call slr_call at once.
///
/// Threads: the port's owner; if `port` is NULL, any.
/// Blocks: for at most `timeout_ns`, for sending and receiving together.
/// Errors: those of slr_send; TIMEOUT, HANDLER_FAULT, DROPPED, END (the ring kernel terminated before it handled the
///   message), INVALID (a wrong size of the reply), RING_FAILED (the ring kernel failed during the call; a message that
///   was not yet handled stays in the mailbox, and its late reply is discarded).
SLR_API slr_status slr_call(slr_port *port, slr_address to, const void *message, size_t bytes, void *reply,
                            size_t reply_bytes, uint64_t timeout_ns);

/// Gives a file descriptor on which the system call poll(2) can wait for replies. After slr_receive has returned
/// TIMEOUT, the descriptor becomes readable as soon as a reply arrives. On Windows, slr_port_get_fd gives the handle of
/// an event object, for WaitForMultipleObjects. Before each poll(2), the program calls slr_receive with a timeout of 0
/// until the result is TIMEOUT. The port owns the descriptor: the program must not read or close it.
/// Threads: the owner.  Blocks: no.  Errors: SYSTEM, INVALID.
SLR_API slr_status slr_port_get_fd(slr_port *port, int *out);

#ifdef __cplusplus
}
#endif
#endif
