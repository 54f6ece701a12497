// SPDX-License-Identifier: Apache-2.0
/// Collectives: one operation over a buffer on each device of a cluster. Contract: docs/contract/cluster.md.
///
/// The device with index r in the cluster is rank r, and buffers[r] is a buffer of that device. A point passes when all
/// ranks have completed, and is valid as long as the cluster. A collective runs after earlier work on its buffers, and
/// before later work.
#ifndef SLIPRING_COLLECTIVE_H
#define SLIPRING_COLLECTIVE_H

#include <slipring/cluster.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How slr_all_reduce combines elements. The elements are combined in the order of the ranks, so every rank gets the
/// same bits in every run.
typedef enum slr_reduce {
    SLR_REDUCE_SUM = 1, ///< integers wrap around
    SLR_REDUCE_MIN,
    SLR_REDUCE_MAX,
    SLR_REDUCE_AVERAGE ///< the sum divided by the number of ranks; integers are rounded towards zero
} slr_reduce;

/// Combines element i of all ranks' buffers, for each i below `count`, and writes the result to all of them. `scalar`
/// is SLR_I32, SLR_U32, SLR_I64, SLR_U64, SLR_F32 or SLR_F64.
/// Threads: one at a time per cluster.  Blocks: no.
/// Owns: slipring holds the buffers until the work ends; `out` may be NULL.
/// Errors: INVALID (NULL, a buffer of another device than its rank or too small, an unknown type or operation),
///   NO_MEMORY.
SLR_API slr_status slr_all_reduce(slr_cluster *cluster, slr_buffer *const *buffers, slr_scalar scalar, uint64_t count,
                                  slr_reduce reduce, slr_point *out);

/// Copies the first `bytes` bytes of rank `root`'s buffer to the others.
/// Threads, Blocks, Owns: as slr_all_reduce.  Errors: as slr_peer_copy; INVALID (root; as slr_all_reduce).
SLR_API slr_status slr_broadcast(slr_cluster *cluster, slr_buffer *const *buffers, uint32_t root, uint64_t bytes,
                                 slr_point *out);

/// Copies the first `bytes` bytes of each rank's buffer into `to`, in the order of the ranks. `to` may be a buffer of
/// any device.
/// Threads, Blocks, Owns: as slr_all_reduce.  Errors: as slr_peer_copy; INVALID (`to` is too small; as slr_all_reduce).
SLR_API slr_status slr_gather(slr_cluster *cluster, slr_buffer *const *buffers, uint64_t bytes, slr_buffer *to,
                              slr_point *out);

#ifdef __cplusplus
}
#endif
#endif
