// SPDX-License-Identifier: Apache-2.0
/// Peers: copies from one device's memory to another's. Contract: docs/contract/cluster.md.
#ifndef SLIPRING_PEER_H
#define SLIPRING_PEER_H

#include <slipring/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What lies between two devices.
typedef enum slr_link {
    SLR_LINK_SAME = 1, ///< nothing: it is one device, or both are the host
    SLR_LINK_NVLINK,   ///< NVIDIA's, between GPUs
    SLR_LINK_PCIE,     ///< the bus between two GPUs that reach each other
    SLR_LINK_HOST      ///< the host's memory
} slr_link;

/// How bytes get from one device to another.
typedef enum slr_peer_way {
    SLR_PEER_ANY = 1, ///< direct where that is possible, else staged
    SLR_PEER_DIRECT,  ///< one copy, without memory between
    SLR_PEER_STAGED   ///< through memory of the host, in two copies that overlap
} slr_peer_way;

/// A pair of devices, in one direction, and the copies made so far.
typedef struct slr_peer_info {
    uint32_t direct_access;  ///< 1: SLR_PEER_DIRECT is possible
    uint32_t atomics;        ///< 1: atomic functions of one device's kernels work on the other's memory
    uint32_t staged;         ///< 1: SLR_PEER_ANY is staged
    uint32_t link;           ///< slr_link
    double bytes_per_second; ///< by slr_peer_measure, the way of SLR_PEER_ANY; 0: not measured
    char reason[160];        ///< why it is not direct, or how it is
    uint64_t direct_copies, direct_bytes;
    uint64_t staged_copies, staged_bytes;
    uint64_t staged_chunks;      ///< pieces of staged copies
    uint64_t moves, moved_bytes; ///< of these copies, those that launches needed for buffers of the other device
} slr_peer_info;

/// Threads: any.  Blocks: no.  Errors: INVALID (NULL).
SLR_API slr_status slr_peer_get_info(slr_device *from, slr_device *to, slr_peer_info *out);

/// The macro slr_peer_get_info calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_peer_get_info_sized(slr_device *from, slr_device *to, slr_peer_info *out, size_t bytes);
#define slr_peer_get_info(from, to, out) slr_peer_get_info_sized((from), (to), (out), sizeof(slr_peer_info))

/// Copies from one device's buffer to another's. `stream` is of one of the two devices; the copy comes after its
/// earlier work and before its later work. What the other device must do is done in a stream of its own. Both buffers
/// keep their order with other work, as in slr_stream_copy. On one device it is slr_stream_copy.
///
/// Threads: any.  Blocks: no.  Owns: slipring holds the buffers until the work ends.
/// Errors: INVALID (NULL, the range leaves a buffer, a stream of neither device, an unknown way), UNSUPPORTED
///   (SLR_PEER_DIRECT where it is not possible: says why; a stream that is being recorded), WRONG_STATE (mapped),
///   NO_MEMORY.
SLR_API slr_status slr_peer_copy(slr_stream *stream, slr_buffer *to, uint64_t to_offset, slr_buffer *from,
                                 uint64_t from_offset, uint64_t bytes, slr_peer_way way, slr_point *out);

/// Zero is the default in every field.
typedef struct slr_peer_desc {
    uint32_t struct_size;
    uint32_t way;         ///< slr_peer_way; default SLR_PEER_ANY
    uint64_t chunk_bytes; ///< of a staged copy's pieces; default 1 MiB
    void *staging; ///< host memory of 2 * chunk_bytes, which must stay until the copy is done; default: slipring's
} slr_peer_desc;
#ifdef __cplusplus
static inline slr_peer_desc slr_peer_desc_init(void)
{
    slr_peer_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_PEER_DESC_INIT slr_peer_desc_init()
#else
#define SLR_PEER_DESC_INIT                                                                                             \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_peer_desc)                                                                 \
    }
#endif

/// slr_peer_copy with options; `desc` may be NULL. The rest as there.
SLR_API slr_status slr_peer_copy_with(slr_stream *stream, slr_buffer *to, uint64_t to_offset, slr_buffer *from,
                                      uint64_t from_offset, uint64_t bytes, const slr_peer_desc *desc, slr_point *out);

/// Measures a direction with copies of `bytes` bytes (0: 16 MiB): the best of five, for slr_peer_get_info. `out` may be
/// NULL. A SLR_PEER_STAGED of a pair that is direct is measured, and not kept.
/// Threads: any.  Blocks: until `timeout_ns`.  Errors: as slr_peer_copy, TIMEOUT.
SLR_API slr_status slr_peer_measure(slr_device *from, slr_device *to, slr_peer_way way, uint64_t bytes,
                                    uint64_t timeout_ns, double *out);

#ifdef __cplusplus
}
#endif
#endif
