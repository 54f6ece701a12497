// SPDX-License-Identifier: Apache-2.0
/// Ports: one sender's way in and way back. Contract: docs/contract/delivery.md.
#ifndef SLIPRING_PORT_H
#define SLIPRING_PORT_H

#include <slipring/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_port slr_port;

/// Opens a port. A port belongs to one thread at a time: its owner.
/// Threads: any.  Blocks: no.  Owns: the caller gets the port: slr_port_close.  Errors: NO_MEMORY, SYSTEM.
SLR_API slr_status slr_port_open(slr_device *device, slr_port **out);

/// Closes a port. Messages it has sent are handled all the same; replies to it that were not received are discarded.
/// NULL is fine.  Threads: the owner, once.  Blocks: no.
SLR_API void slr_port_close(slr_port *port);

/// How a message is sent; zero is the default in every field.
typedef struct slr_send_options {
    uint32_t priority;    ///< SLR_PRIORITY(0..255); default: the ring kernel's
    uint32_t correlation; ///< returned in every reply to the message; default: the port's running number, which begins
                          ///< with 1 and counts the messages accepted that took it (behind 2^31 - 1 comes 0)
} slr_send_options;

/// Sends one message to an instance of a ring kernel.
///
/// `message` is copied; `bytes` must equal the ring kernel's message size. On OK the message is accepted: it ends as
/// handled, faulted, dropped, undelivered or in doubt, and is counted there. Messages of one port to one instance with
/// one priority are handled in the order sent. `port` NULL: the device's shared port, behind a lock; replies that come
/// to it are only for slr_call, others are discarded.
///
/// Threads: the port's owner (NULL: any).  Blocks: until `timeout_ns` (0: never), and not at all where the ring
/// kernel's policy is to reject.  Owns: nothing. Errors: FULL (no credit and not to wait), TIMEOUT (no credit by the
/// deadline), RING_DEAD (stale address), CLOSED (input closed), RING_FAILED, WRONG_STATE (not launched), INVALID (size,
/// instance or priority out of range; more ports than max_ports).
SLR_API slr_status slr_send(slr_port *port, slr_address to, const void *message, size_t bytes, uint64_t timeout_ns);

/// The same with options (NULL: defaults).
SLR_API slr_status slr_send_with(slr_port *port, slr_address to, const void *message, size_t bytes,
                                 const slr_send_options *options, uint64_t timeout_ns);

/// Sends `count` messages that lie one behind the other, `bytes` each, all of default priority: message k to instance
/// `instances[k]`, or all to `to.instance` when `instances` is NULL. Published together, so cheaper a message.
/// `accepted` (may be NULL) is always set: the first so many were accepted. Correlations are running numbers.
///
/// Threads, Blocks: as slr_send (NULL is not allowed).  Errors: as slr_send; the rest was not sent.
SLR_API slr_status slr_send_many(slr_port *port, slr_address to, const uint32_t *instances, const void *messages,
                                 size_t bytes, uint32_t count, uint64_t timeout_ns, uint32_t *accepted);

/// What comes with a reply.
typedef struct slr_reply {
    slr_address from;     ///< the ring kernel and instance that replied
    slr_status status;    ///< SLR_OK; of a notice, which has no payload: SLR_HANDLER_FAULT, SLR_DROPPED
    uint32_t correlation; ///< of the message that it answers
    uint32_t priority;    ///< likewise
    uint32_t bytes;       ///< of the payload
    uint64_t sent_ns;     ///< when that message was sent (CLOCK_MONOTONIC), where the ring kernel stamps; else 0
    uint32_t redelivered; ///< 1: that message may have been handled before (slr_ring_desc.redeliver)
    uint32_t reserved;
} slr_reply;

/// Receives the next reply to this port. `payload` (capacity bytes) gets the reply's bytes.
///
/// SLR_OK: a reply, or a notice (see reply->status). SLR_END: a ring kernel that this port has used has ended;
/// reply->from says which, once each; when none is left, END again at every call. What it has left for the port is kept
/// until then, or until the port is closed: a port that is never received from keeps the mailboxes of all that have
/// ended. SLR_RING_FAILED: a ring kernel that this port uses has failed; reply->from says which, once a failure. It may
/// be restarted: the port stays connected. Threads: the owner.  Blocks: until `timeout_ns`.  Owns: nothing. Errors:
/// TIMEOUT, INVALID (capacity smaller than the reply; it stays to be received).
SLR_API slr_status slr_receive(slr_port *port, slr_reply *reply, void *payload, size_t capacity, uint64_t timeout_ns);

/// Receives up to `most` replies, the payload of reply k at payloads + k * stride. Waits for the first only.
/// `received` is set on OK, to at least 1. Threads, Blocks, Errors: as slr_receive.
SLR_API slr_status slr_receive_many(slr_port *port, slr_reply *replies, void *payloads, size_t stride, uint32_t most,
                                    uint64_t timeout_ns, uint32_t *received);

/// Sends a message and waits for its reply; other replies to the port are kept for slr_receive (or, on the shared port,
/// for their own callers), and so are replies to others' messages that the port collects (slr_route_to_port). A reply
/// that comes after its caller's deadline is discarded and not mistaken for another's. `port` NULL: the device's shared
/// port; any number of threads may call at once.
///
/// Threads: the port's owner (NULL: any).  Blocks: until `timeout_ns`, for sending and receiving together.
/// Errors: as slr_send; TIMEOUT, HANDLER_FAULT, DROPPED, END (terminated before it was handled), RING_FAILED (it failed
/// meanwhile; the message, if it is pending, stays so, and its late reply is discarded), INVALID (reply size).
SLR_API slr_status slr_call(slr_port *port, slr_address to, const void *message, size_t bytes, void *reply,
                            size_t reply_bytes, uint64_t timeout_ns);

/// A descriptor for poll(2): readable when a reply has come since the last slr_receive that gave TIMEOUT. Receive with
/// a timeout of 0 until TIMEOUT, then poll. The port's; do not read or close it. Threads: the owner.  Blocks: no.
/// Errors: SYSTEM, INVALID.
SLR_API slr_status slr_port_get_fd(slr_port *port, int *out);

#ifdef __cplusplus
}
#endif
#endif
