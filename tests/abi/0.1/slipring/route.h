// SPDX-License-Identifier: Apache-2.0
/// Routes: ring kernels that feed one another, without host code in between. Contract: docs/contract/routes.md.
#ifndef SLIPRING_ROUTE_H
#define SLIPRING_ROUTE_H

#include <slipring/port.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How the replies of one ring kernel become messages of another; zero is the default in every field.
typedef struct slr_route_desc {
    uint32_t struct_size;
    uint32_t instance_at; ///< SLR_INSTANCE_AT(struct beat, patient): where in a reply the number of the instance that
                          ///< it is for stands, a u32; default: the instance that replied, or 0 where `to` has only one
    uint32_t reply_too;   ///< 1: who sent the message receives its replies as well
    uint32_t
        close_with_source; ///< 1: the input of `to` is closed when every ring kernel that has such a route to it ended
    const char *outlet;    ///< instead of its replies, what the handler of `from` sends through this parameter of its,
                           ///< a `ring_to(struct message)`, by ring_send; default NULL: its replies
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

/// A place in a reply, in a field whose zero means "default".
#define SLR_INSTANCE_AT(type, field) ((uint32_t)offsetof(type, field) + 1u)

/// From here on the replies of `from` go to `to` as messages, with the correlation, the priority and the time sent of
/// the message that they answer, and no longer to who sent that. Several routes from one ring kernel: each reply goes
/// along all of them. Several to one: each has its own order. A handler runs when `to` has room for all it may reply,
/// so a full `to` slows `from`, and nothing is lost on the way; one whose policy is to drop takes all and evicts.
///
/// With an `outlet` the same holds of what the handler sends through it, max_sends messages at most for each that it
/// handles; instance_at is for those that ring_send_at gives no instance. Its replies go where they went before.
///
/// The route lasts until slr_unroute, or until `from` is destroyed. It takes one of `to`'s max_ports for each shard of
/// `from`. desc NULL: defaults.
///
/// Threads: any; not from a handler of the same device.  Blocks: until handlers in progress have returned.
/// Owns: nothing; the route holds the memory of `to`.
/// Errors: INVALID (NULL, other device, `from` never replies or has a main, `to` is keyed, routed already, max_replies
/// or max_sends above `to`'s queue_size, instance_at outside the reply, no port left, no part of a queue_size left for
/// a persistent `from`: names it), UNSUPPORTED (`from` is persistent and `to` is not, or they would form a circle),
/// NOT_FOUND (`from` has no such outlet), LAYOUT (a reply, or a message sent, is not a message of `to`: names both),
/// WRONG_STATE (one is not launched, has failed, or has ended), NO_MEMORY, DEVICE_LOST (`from` is persistent), TIMEOUT
/// (a handler has not returned within 10 s, or the device's `patience`; the route takes effect when it has).
SLR_API slr_status slr_route(slr_ring *from, slr_ring *to, const slr_route_desc *desc);

/// From here on `port` receives the replies of `from`, whoever sent the message; beside slr_route, as one more
/// destination. `from` runs while the port has room for its replies. It lasts until the port is closed.
///
/// Threads: the port's owner; not from a handler of the same device.  Blocks, Errors: as slr_route.
SLR_API slr_status slr_route_to_port(slr_ring *from, slr_port *port, const slr_route_desc *desc);

/// Takes a route away; what was sent along it is handled. With its last route gone, `from` replies to its senders
/// again. In any state of the two, and also where their device is lost.
/// Threads: any; not from a handler of the same device.  Blocks: until handlers in progress have returned.
/// Errors: NOT_FOUND (no such route), INVALID (NULL), TIMEOUT (as slr_route).
SLR_API slr_status slr_unroute(slr_ring *from, slr_ring *to);

#ifdef __cplusplus
}
#endif
#endif
