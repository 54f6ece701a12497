// SPDX-License-Identifier: Apache-2.0
/// Routes between ring kernels of different devices, by a thread of the host. On one device use <slipring/route.h>,
/// whose routes need none. Contract: docs/contract/cluster.md.
#ifndef SLIPRING_CLUSTER_ROUTE_H
#define SLIPRING_CLUSTER_ROUTE_H

#include <slipring/key.h>
#include <slipring/route.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_cluster_route slr_cluster_route;

/// Zero is the default in every field.
typedef struct slr_cluster_route_desc {
    uint32_t struct_size;
    uint32_t instance_at;       ///< as slr_route_desc.instance_at
    uint32_t key_at;            ///< SLR_INSTANCE_AT of a 64-bit number in the reply: the key, where `to` has such keys
    uint32_t close_with_source; ///< 1: closes the input of `to` when `from` has ended and its replies are passed on
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

/// The replies that went along it. received = sent + unrouted + those in its hands.
typedef struct slr_cluster_route_stats {
    uint64_t received; ///< from `from`; it counts them in slr_ring_stats.routed
    uint64_t sent;     ///< accepted by `to`
    uint64_t unrouted; ///< `to` had ended, or lacks the instance or the key
} slr_cluster_route_stats;

/// Makes a route: from now on the replies of `from` become messages of `to`, in their order, with correlation and
/// priority of the original message, and no longer go to the sender. Where `to` is full, `from` waits. The replies of
/// `to` to these messages are discarded, unless it has routes of its own. `desc` may be NULL.
///
/// Threads: any; not from a handler.  Blocks: as slr_route_to_port.
/// Owns: the caller gets the route: slr_cluster_route_destroy, before either device is closed.
/// Errors: as slr_route_to_port; LAYOUT (a reply of `from` has another size than a message of `to`), INVALID (NULL;
///   instance_at or key_at outside the reply; keys without key_at, or key_at without keys), SYSTEM (no thread).
SLR_API slr_status slr_cluster_route_create(slr_ring *from, slr_ring *to, const slr_cluster_route_desc *desc,
                                            slr_cluster_route **out);

/// Threads: any.  Blocks: no.  Errors: INVALID (NULL).
SLR_API slr_status slr_cluster_route_get_stats(const slr_cluster_route *route, slr_cluster_route_stats *out);

/// The macro slr_cluster_route_get_stats calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_cluster_route_get_stats_sized(const slr_cluster_route *route, slr_cluster_route_stats *out,
                                                     size_t bytes);
#define slr_cluster_route_get_stats(route, out)                                                                        \
    slr_cluster_route_get_stats_sized((route), (out), sizeof(slr_cluster_route_stats))

/// Ends the route after the replies that have come so far are passed on, for which it waits at most `timeout_ns`; then
/// those in its hands are unrouted. `stats` (may be NULL) gets the last counts. NULL does nothing.
/// Threads: any, once; not from a handler.  Blocks: until then.
SLR_API void slr_cluster_route_destroy(slr_cluster_route *route, uint64_t timeout_ns, slr_cluster_route_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
