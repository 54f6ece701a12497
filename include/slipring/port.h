// SPDX-License-Identifier: Apache-2.0
/// Ports: a sender's connection to ring kernels, for messages and replies. Contract: docs/contract/delivery.md.
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

/// Closes a port. Messages sent earlier are still handled. Replies not yet received are discarded. NULL does nothing.
/// Threads: the owner, once.  Blocks: no.
SLR_API void slr_port_close(slr_port *port);

/// Options of a send. Zero is the default in every field.
typedef struct slr_send_options {
    uint32_t priority; ///< SLR_PRIORITY(0..255); default: the ring kernel's
    /// Returned in every reply to the message. Default: the port's next number. The numbers start with 1 and count the
    /// accepted messages that use them; 2^31 - 1 is followed by 0.
    uint32_t correlation;
} slr_send_options;

/// Sends one message to an instance of a ring kernel.
///
/// `message` is copied; `bytes` must equal the ring kernel's message size. On OK the message is accepted. It ends as
/// handled, faulted, dropped, undelivered or in doubt, and is counted so. Messages from one port to one instance with
/// one priority are handled in the order of sending. `port` NULL: the device's shared port, protected by a lock. Of
/// the shared port's replies, slr_call gets its own; all others are discarded.
///
/// Threads: the port's owner (NULL: any).
/// Blocks: until `timeout_ns` (0: never) for credit (backpressure); never if the ring kernel's policy is to reject.
/// Owns: nothing.
/// Errors: FULL (no credit, and the call must not wait), TIMEOUT (no credit by the deadline),
///   RING_DEAD (stale address), CLOSED (input closed), RING_FAILED, WRONG_STATE (not launched),
///   INVALID (size, instance or priority out of range; more ports than max_ports).
/// The first message of a port also gives FULL or TIMEOUT if all max_ports places are in use. A closed port uses its
/// place until its messages have completed.
SLR_API slr_status slr_send(slr_port *port, slr_address to, const void *message, size_t bytes, uint64_t timeout_ns);

/// As slr_send, with options (NULL: defaults).
SLR_API slr_status slr_send_with(slr_port *port, slr_address to, const void *message, size_t bytes,
                                 const slr_send_options *options, uint64_t timeout_ns);

/// Sends `count` messages that are contiguous in memory, `bytes` each, with default priority: message k to instance
/// `instances[k]`, or all to `to.instance` if `instances` is NULL. They are published together, which costs less per
/// message. `accepted` (may be NULL) is always set: that many first messages were accepted. Correlations are
/// consecutive numbers.
///
/// Threads, Blocks: as slr_send (NULL is not allowed).
/// Errors: as slr_send; after an error the remaining messages were not sent.
SLR_API slr_status slr_send_many(slr_port *port, slr_address to, const uint32_t *instances, const void *messages,
                                 size_t bytes, uint32_t count, uint64_t timeout_ns, uint32_t *accepted);

/// Describes a reply.
typedef struct slr_reply {
    slr_address from;     ///< the ring kernel and instance that replied
    slr_status status;    ///< SLR_OK; for a notice, which has no payload: SLR_HANDLER_FAULT, SLR_DROPPED
    uint32_t correlation; ///< of the original message
    uint32_t priority;    ///< of the original message
    uint32_t bytes;       ///< of the payload
    uint64_t sent_ns;     ///< when the original message was sent (CLOCK_MONOTONIC), with time_stamps; else 0
    uint32_t redelivered; ///< 1: the original message may have been handled before (slr_ring_desc.redeliver)
    uint32_t reserved;
} slr_reply;

/// Receives the next reply to this port. `payload` (`capacity` bytes) gets the reply's bytes. The results:
///
///   SLR_OK: a reply, or a notice (see reply->status).
///   SLR_END: a ring kernel that this port has used has ended; reply->from names it, once each. When none remains,
///   every call returns END.
///   SLR_RING_FAILED: a ring kernel that this port uses has failed; reply->from names it, once per failure. It may be
///   restarted: the port stays connected.
///
/// An ended ring kernel keeps the port's replies until END is received or the port is closed. A port that never
/// receives keeps the mailboxes of all ended ring kernels.
///
/// Threads: the owner.  Blocks: until `timeout_ns`.  Owns: nothing.
/// Errors: TIMEOUT, INVALID (`capacity` is smaller than the reply, which can still be received).
SLR_API slr_status slr_receive(slr_port *port, slr_reply *reply, void *payload, size_t capacity, uint64_t timeout_ns);

/// Receives up to `most` replies; the payload of reply k goes to payloads + k * stride. Waits only for the first.
/// `received` is set on OK, to at least 1.
/// Threads, Blocks, Errors: as slr_receive.
SLR_API slr_status slr_receive_many(slr_port *port, slr_reply *replies, void *payloads, size_t stride, uint32_t most,
                                    uint64_t timeout_ns, uint32_t *received);

/// Sends a message and waits for its reply. Other replies to the port are kept for slr_receive, or on the shared port
/// for their own callers. The same holds for replies to others' messages that the port collects (slr_route_to_port). A
/// reply that arrives after its caller's deadline is discarded. `port` NULL: the device's shared port, for any number
/// of threads at once.
///
/// Threads: the port's owner (NULL: any).  Blocks: until `timeout_ns`, for sending and receiving together.
/// Errors: as slr_send; TIMEOUT, HANDLER_FAULT, DROPPED, END (terminated before the message was handled), INVALID
///   (reply size),
///   RING_FAILED (it failed during the call; a pending message remains pending, and its late reply is discarded).
SLR_API slr_status slr_call(slr_port *port, slr_address to, const void *message, size_t bytes, void *reply,
                            size_t reply_bytes, uint64_t timeout_ns);

/// A file descriptor for poll(2): readable if a reply has arrived since the last slr_receive that returned TIMEOUT.
/// On Windows: the handle of an event object, for WaitForMultipleObjects, in the place of a descriptor.
/// First receive with a timeout of 0 until TIMEOUT, then poll. The descriptor is the port's: do not read or close it.
/// Threads: the owner.  Blocks: no.  Errors: SYSTEM, INVALID.
SLR_API slr_status slr_port_get_fd(slr_port *port, int *out);

#ifdef __cplusplus
}
#endif
#endif
