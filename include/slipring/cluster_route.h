// SPDX-License-Identifier: Apache-2.0
/// A cluster route connects two ring kernels (message handlers) of different devices: it passes the replies of the ring
/// kernel `from` to the ring kernel `to` as messages. A thread of the host carries the messages between the devices. If
/// both ring kernels are on one device, use the routes of <slipring/route.h>, which need no thread. Contract:
/// docs/contract/cluster.md.
#ifndef SLIPRING_CLUSTER_ROUTE_H
#define SLIPRING_CLUSTER_ROUTE_H

#include <slipring/key.h>
#include <slipring/route.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_cluster_route slr_cluster_route;

/// slr_cluster_route_desc has the options of a cluster route. A zero in any field of slr_cluster_route_desc means the
/// default.
typedef struct slr_cluster_route_desc {
    uint32_t struct_size;
    uint32_t instance_at; ///< which member of a reply selects the instance of `to`, as in slr_route_desc.instance_at
    /// If the destination `to` has keys of the kind SLR_KEYS_U64, `key_at` is SLR_INSTANCE_AT(...) of the member of the
    /// reply that holds the 64-bit key.
    uint32_t key_at;
    /// If close_with_source is 1, the route closes the input of the destination `to` when the source `from` has ended
    /// and the route has passed on all replies of `from`.
    uint32_t close_with_source;
} slr_cluster_route_desc;
#ifdef __cplusplus
static inline slr_cluster_route_desc slr_cluster_route_desc_init(void)
{
    slr_cluster_route_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_CLUSTER_ROUTE_DESC_INIT slr_cluster_route_desc_init()
#else
#define SLR_CLUSTER_ROUTE_DESC_INIT                                                                                    \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_cluster_route_desc)                                                        \
    }
#endif

/// slr_cluster_route_stats counts the replies that a route carries. At any time, received = sent + unrouted + the
/// replies that the route holds at this time.
typedef struct slr_cluster_route_stats {
    uint64_t received; ///< replies that the route got from the source `from`; slr_ring_stats.routed of `from` has the
                       ///< same count
    uint64_t sent;     ///< messages that the destination `to` accepted
    uint64_t unrouted; ///< replies that the route could not deliver: `to` had ended, or has no such instance or key
} slr_cluster_route_stats;

/// Connects two ring kernels by a route. Once the route exists, the replies of the source `from` become messages of the
/// destination `to`, in order, and no longer go to the sender of the original message. A message of the route has the
/// correlation number and the priority of the message to which the source replied. If the mailbox of the destination is
/// full, the source waits. slipring discards the destination's replies to messages of the route, unless the destination
/// has routes of its own. `desc` may be NULL.
///
/// Threads: any; not from a handler.  Blocks: as slr_route_to_port.
/// Owns: the caller frees the route by slr_cluster_route_destroy, before it closes either device.
/// Errors: those of slr_route_to_port; LAYOUT (a reply of `from` has another size than a message of `to`), INVALID (a
///   NULL argument; instance_at or key_at outside the reply; `to` has keys and key_at is 0; `to` has no keys and key_at
///   is not 0), SYSTEM (the host could start no thread for the route).
SLR_API slr_status slr_cluster_route_create(slr_ring *from, slr_ring *to, const slr_cluster_route_desc *desc,
                                            slr_cluster_route **out);

/// Gives the counts of a route.
/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_cluster_route_get_stats(const slr_cluster_route *route, slr_cluster_route_stats *out);

/// The macro slr_cluster_route_get_stats calls slr_cluster_route_get_stats_sized with sizeof(slr_cluster_route_stats)
/// as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_cluster_route_get_stats_sized(const slr_cluster_route *route, slr_cluster_route_stats *out,
                                                     size_t bytes);
#define slr_cluster_route_get_stats(route, out)                                                                        \
    slr_cluster_route_get_stats_sized((route), (out), sizeof(slr_cluster_route_stats))

/// Ends the route between two ring kernels. Before the route ends, slr_cluster_route_destroy waits, for at most
/// `timeout_ns`, until the route has passed on all replies that the source has sent so far. If the route still holds
/// replies after `timeout_ns`, these replies count as unrouted. `stats` gets the last counts of the route; `stats` may
/// be NULL. If `route` is NULL, slr_cluster_route_destroy does nothing.
/// Threads: any, once for each route; not from a handler.  Blocks: for at most `timeout_ns`.
SLR_API void slr_cluster_route_destroy(slr_cluster_route *route, uint64_t timeout_ns, slr_cluster_route_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
