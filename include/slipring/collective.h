// SPDX-License-Identifier: Apache-2.0
/// Collectives: one operation over a buffer on each device of a cluster. Contract: docs/contract/cluster.md.
///
/// The device of index r in the cluster is rank r, and buffers[r] is on it. Points pass when all ranks are done; they
/// are valid as long as the cluster. Work that was submitted before for these buffers comes before, and later work
/// after.
#ifndef SLIPRING_COLLECTIVE_H
#define SLIPRING_COLLECTIVE_H

#include <slipring/cluster.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How slr_all_reduce combines elements: in the order of the ranks, so that every rank gets the same bits each time.
typedef enum slr_reduce {
    SLR_REDUCE_SUM = 1, ///< whole numbers wrap around
    SLR_REDUCE_MIN,
    SLR_REDUCE_MAX,
    SLR_REDUCE_AVERAGE ///< the sum, divided once by the number of ranks; of whole numbers towards zero
} slr_reduce;

/// Combines element i of all ranks' buffers, for each i below `count`, and writes the result to all of them. `scalar`
/// is SLR_I32, SLR_U32, SLR_I64, SLR_U64, SLR_F32 or SLR_F64.
/// Threads: one at a time per cluster.  Blocks: no.
/// Owns: slipring holds the buffers until the work ends; `out` may be NULL.
/// Errors: INVALID (NULL, a buffer of another device than its rank or too small, an unknown type or operation),
/// NO_MEMORY.
SLR_API slr_status slr_all_reduce(slr_cluster *cluster, slr_buffer *const *buffers, slr_scalar scalar, uint64_t count,
                                  slr_reduce reduce, slr_point *out);

/// Copies the first `bytes` bytes of rank `root`'s buffer to the others.
/// Threads, Blocks, Owns: as slr_all_reduce.  Errors: as slr_peer_copy; INVALID (root; as slr_all_reduce).
SLR_API slr_status slr_broadcast(slr_cluster *cluster, slr_buffer *const *buffers, uint32_t root, uint64_t bytes,
                                 slr_point *out);

/// Copies the first `bytes` bytes of each rank's buffer to `to`, a buffer of any device, one rank's after the other's.
/// Threads, Blocks, Owns: as slr_all_reduce.  Errors: as slr_peer_copy; INVALID (`to` is too small; as slr_all_reduce).
SLR_API slr_status slr_gather(slr_cluster *cluster, slr_buffer *const *buffers, uint64_t bytes, slr_buffer *to,
                              slr_point *out);

#ifdef __cplusplus
}
#endif
#endif
