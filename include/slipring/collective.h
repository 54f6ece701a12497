// SPDX-License-Identifier: Apache-2.0
/// A collective is one operation on several buffers: one buffer on each device of a cluster (a group of devices,
/// <slipring/cluster.h>). Contract: docs/contract/cluster.md.
///
/// The device with index r in the cluster has rank r, and buffers[r] is a buffer of that device. Each call of a
/// collective gives a point in `out`. A program can wait for this point until all ranks have completed the collective;
/// the point is valid as long as the cluster exists. A collective runs after all earlier work on its buffers, and
/// before all later work on its buffers.
#ifndef SLIPRING_COLLECTIVE_H
#define SLIPRING_COLLECTIVE_H

#include <slipring/cluster.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The enum slr_reduce says how slr_all_reduce combines elements. slr_all_reduce combines the elements in the order of
/// the ranks, so every rank gets the same bits in every run.
typedef enum slr_reduce {
    SLR_REDUCE_SUM = 1, ///< the sum; integers wrap around
    SLR_REDUCE_MIN,     ///< the smallest element
    SLR_REDUCE_MAX,     ///< the largest element
    SLR_REDUCE_AVERAGE  ///< the sum divided by the number of ranks; integers are rounded towards zero
} slr_reduce;

/// For each i below `count`, combines the elements with index i of all ranks' buffers, and writes the result to element
/// i of all these buffers. The elements' type `scalar` is SLR_I32, SLR_U32, SLR_I64, SLR_U64, SLR_F32 or SLR_F64.
/// Threads: one thread at a time for each cluster.  Blocks: no.
/// Owns: slipring keeps the buffers alive until the work ends; `out` may be NULL.
/// Errors: INVALID (a NULL argument, a buffer that is too small or does not belong to its rank's device, an unknown
///   type or operation), NO_MEMORY.
SLR_API slr_status slr_all_reduce(slr_cluster *cluster, slr_buffer *const *buffers, slr_scalar scalar, uint64_t count,
                                  slr_reduce reduce, slr_point *out);

/// Copies the first `bytes` bytes of the buffer of rank `root` to the buffers of all other ranks.
/// Threads, Blocks, Owns: as for slr_all_reduce.  Errors: those of slr_peer_copy; INVALID (`root` is not a rank; and as
/// for slr_all_reduce).
SLR_API slr_status slr_broadcast(slr_cluster *cluster, slr_buffer *const *buffers, uint32_t root, uint64_t bytes,
                                 slr_point *out);

/// Copies the first `bytes` bytes of each rank's buffer into the buffer `to`, one after another in the order of the
/// ranks. `to` may be a buffer of any device.
/// Threads, Blocks, Owns: as for slr_all_reduce.  Errors: those of slr_peer_copy; INVALID (`to` is too small; and as
/// for slr_all_reduce).
SLR_API slr_status slr_gather(slr_cluster *cluster, slr_buffer *const *buffers, uint64_t bytes, slr_buffer *to,
                              slr_point *out);

#ifdef __cplusplus
}
#endif
#endif
