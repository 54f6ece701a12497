// SPDX-License-Identifier: Apache-2.0
/// Routes connect ring kernels (message handlers, each with a queue of messages and one state for each of its
/// instances), so that one ring kernel sends to another without host code. Contract: docs/contract/routes.md.
#ifndef SLIPRING_ROUTE_H
#define SLIPRING_ROUTE_H

#include <slipring/port.h>

#ifdef __cplusplus
extern "C" {
#endif

/// slr_route_desc says how replies of one ring kernel become messages of another ring kernel. A zero in any field of
/// slr_route_desc means the default.
typedef struct slr_route_desc {
    uint32_t struct_size;
    /// `instance_at` names a member of the reply, a 32-bit number whose value selects the destination instance. For
    /// example, SLR_INSTANCE_AT(struct beat, patient) names the member `patient` of a reply `struct beat`. By default,
    /// the destination instance has the same number as the instance that replied. If the destination `to` has only one
    /// instance, the default is instance 0.
    uint32_t instance_at;
    /// 1: the sender of a message also receives the replies to this message, in addition to the destination.
    uint32_t reply_too;
    uint32_t close_with_source; ///< 1: closes the input of `to` when the sources of all routes to `to` with this flag
                                ///< have ended
    /// `outlet` is the name of an output channel. An output channel is a parameter `ring_to(struct message)` of the
    /// handler of the source `from`. If `outlet` is set, the route carries the messages that ring_send sends through
    /// that channel, instead of replies. If `outlet` is NULL, the default, the route carries replies.
    const char *outlet;
} slr_route_desc;
#ifdef __cplusplus
static inline slr_route_desc slr_route_desc_init(void)
{
    slr_route_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_ROUTE_DESC_INIT slr_route_desc_init()
#else
#define SLR_ROUTE_DESC_INIT                                                                                            \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_route_desc)                                                                \
    }
#endif

/// SLR_INSTANCE_AT gives the offset of a member in a reply, plus 1, for a field where zero means "default".
#define SLR_INSTANCE_AT(type, field) ((uint32_t)offsetof(type, field) + 1u)

/// Makes a route: from now on, replies of the source `from` become messages of the destination `to`, and no longer go
/// to the sender. A message of a route takes over three things from the message that the source handled: the
/// correlation number, the priority and the time of sending. If a ring kernel has several routes, slipring sends each
/// of its replies along all these routes. If several routes lead to one ring kernel, the messages of each route keep
/// their order, but there is no order between messages of different routes. The handler of the source runs only if the
/// destination has space for all possible replies of the handler. A full mailbox of the destination therefore slows the
/// source down, and no reply is lost. If the overflow policy of the destination drops messages, the destination accepts
/// every reply, and drops messages when its mailbox is full.
///
/// If `outlet` is set, the rules for replies hold for the messages that the handler sends through that output channel,
/// at most slr_ring_desc.max_sends messages for each message that it handles. For messages of ring_send, which names no
/// instance, `instance_at` selects the destination instance. A route with `outlet` does not affect replies.
///
/// A route lasts until slr_unroute or the destruction of the source. For each shard of the source (a part of the ring
/// kernel with one owner), the route counts as one of the ports that may send to the destination
/// (slr_ring_desc.max_ports). If `desc` is NULL, every option of the route has its default.
///
/// Threads: any, but not a handler of the same device.  Blocks: until running handlers of `from` have returned.
/// Owns: nothing; the route keeps the memory of `to` alive.
/// Errors: INVALID (a NULL argument; `from` and `to` are of different devices; `from` never replies or is in loop
///   form; `to` is keyed; a route from `from` to `to` exists; max_replies or max_sends above `to`'s queue_size;
///   instance_at outside the reply; `to` has max_ports ports already; too few free places in `to`'s mailbox for a
///   persistent `from`: the error message names the ring kernel), UNSUPPORTED (`from` is persistent and `to` is not;
///   persistent ring kernels would form a cycle), NOT_FOUND (`from` has no such output channel), LAYOUT (the reply or
///   sent message is not a message of `to`: the error message names both), WRONG_STATE (a ring kernel is not launched,
///   has failed, or has ended), NO_MEMORY, DEVICE_LOST (only if `from` is persistent), TIMEOUT (a handler has not
///   returned within 10 s or the device's hang timeout; the route takes effect when the handler returns).
SLR_API slr_status slr_route(slr_ring *from, slr_ring *to, const slr_route_desc *desc);

/// Sends all replies of the ring kernel `from` to the port `port`, no matter which port sent the message. The port
/// receives the replies in addition to the destinations of slr_route. The ring kernel `from` handles messages only
/// while the port has space for the replies to them. A route to a port lasts until the port is closed.
///
/// Threads: the port's owner, but not from a handler of the same device.  Blocks, Errors: as for slr_route.
SLR_API slr_status slr_route_to_port(slr_ring *from, slr_port *port, const slr_route_desc *desc);

/// Removes a route between two ring kernels. After slr_unroute, the destination still handles the messages that were
/// sent along the route. After the last route of the source is removed, the source replies to its senders again.
/// slr_unroute works in any state of the two ring kernels, and on a lost device.
/// Threads: any, but not a handler of the same device.  Blocks: until running handlers of `from` have returned.
/// Errors: NOT_FOUND (no such route), INVALID (a NULL argument), TIMEOUT (as for slr_route).
SLR_API slr_status slr_unroute(slr_ring *from, slr_ring *to);

#ifdef __cplusplus
}
#endif
#endif
