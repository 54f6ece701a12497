// SPDX-License-Identifier: Apache-2.0
/// Peers are two devices of one process; the functions below copy memory from one device to the other. Contract:
/// docs/contract/cluster.md.
#ifndef SLIPRING_PEER_H
#define SLIPRING_PEER_H

#include <slipring/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The enum slr_link lists the kinds of connection between two devices.
typedef enum slr_link {
    SLR_LINK_SAME = 1, ///< no connection: both are one device, or both use the host's memory
    SLR_LINK_NVLINK,   ///< NVIDIA's NVLink, between GPUs
    SLR_LINK_PCIE,     ///< the PCIe bus: the two GPUs access each other's memory over the bus
    SLR_LINK_HOST      ///< no link between the two devices: copies go through the host's memory
} slr_link;

/// The enum slr_peer_way lists the ways to copy bytes from one device to another.
typedef enum slr_peer_way {
    SLR_PEER_ANY = 1, ///< SLR_PEER_DIRECT if possible, else SLR_PEER_STAGED
    SLR_PEER_DIRECT,  ///< one copy from device to device
    /// Through memory of the host, piece by piece: while one piece is copied to the host, the previous one is copied to
    /// the destination.
    SLR_PEER_STAGED
} slr_peer_way;

/// The struct slr_peer_info says how bytes get from one device to another, and counts the copies so far.
typedef struct slr_peer_info {
    uint32_t direct_access; ///< 1: SLR_PEER_DIRECT is possible
    uint32_t atomics;       ///< 1: atomic functions in kernels of one device work on memory of the other device
    uint32_t staged;        ///< 1: copies with SLR_PEER_ANY are staged
    uint32_t link;          ///< kind of the connection: an slr_link
    /// Rate of copies with SLR_PEER_ANY in bytes per second, as slr_peer_measure measured it; 0: not measured.
    double bytes_per_second;
    char reason[160]; ///< why copies are not direct, or how direct copies are possible
    uint64_t direct_copies, direct_bytes;
    uint64_t staged_copies, staged_bytes;
    uint64_t staged_chunks; ///< number of pieces that the staged copies consisted of
    /// `moves`: copies that slipring made because a launch used a buffer of the other device; `moved_bytes`: their
    /// bytes.
    uint64_t moves, moved_bytes;
} slr_peer_info;

/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_peer_get_info(slr_device *from, slr_device *to, slr_peer_info *out);

/// The macro slr_peer_get_info calls slr_peer_get_info_sized with `sizeof(slr_peer_info)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_peer_get_info_sized(slr_device *from, slr_device *to, slr_peer_info *out, size_t bytes);
#define slr_peer_get_info(from, to, out) slr_peer_get_info_sized((from), (to), (out), sizeof(slr_peer_info))

/// Copies bytes from a buffer of one device to a buffer of another device. The stream `stream` belongs to the source
/// device or to the destination device. A copy between devices runs after the stream's earlier work and before its
/// later work. A copy between devices keeps its order with other work on the source and on the destination, as a copy
/// by slr_stream_copy does. If the source and destination buffers are on one device, slr_peer_copy does the same as
/// slr_stream_copy.
///
/// Threads: any.  Blocks: no.  Owns: slipring keeps the buffers alive until the copy has completed.
/// Errors: INVALID (a NULL argument, the range exceeds a buffer, a stream of neither device, a `way` that is no
///   slr_peer_way), UNSUPPORTED (SLR_PEER_DIRECT if direct copies are impossible: the error message gives the reason; a
///   stream that is being recorded), WRONG_STATE (a buffer is mapped), NO_MEMORY.
SLR_API slr_status slr_peer_copy(slr_stream *stream, slr_buffer *to, uint64_t to_offset, slr_buffer *from,
                                 uint64_t from_offset, uint64_t bytes, slr_peer_way way, slr_point *out);

/// A zero in any field of slr_peer_desc means the default.
typedef struct slr_peer_desc {
    uint32_t struct_size;
    uint32_t way;         ///< an slr_peer_way; default SLR_PEER_ANY
    uint64_t chunk_bytes; ///< size of a staged copy's pieces in bytes; default 1 MiB
    /// Host memory for the two pieces of a staged copy that are under way, 2 * chunk_bytes bytes long. The memory must
    /// stay valid until the copy has completed. Default: memory of slipring.
    void *staging;
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

/// Copies as slr_peer_copy does, but with options. `desc` may be NULL.
/// Threads, Blocks, Owns, Errors: as for slr_peer_copy.
SLR_API slr_status slr_peer_copy_with(slr_stream *stream, slr_buffer *to, uint64_t to_offset, slr_buffer *from,
                                      uint64_t from_offset, uint64_t bytes, const slr_peer_desc *desc, slr_point *out);

/// Measures the rate of copies of `bytes` bytes (0: 16 MiB) in one direction. `out` gets the best of five rates, in
/// bytes per second; `out` may be NULL. slr_peer_get_info then reports the measured rate. For devices with direct
/// copies, slr_peer_get_info reports only the rate of direct copies, not a measured rate of SLR_PEER_STAGED.
/// Threads: any.  Blocks: for at most `timeout_ns`.  Errors: those of slr_peer_copy, and TIMEOUT.
SLR_API slr_status slr_peer_measure(slr_device *from, slr_device *to, slr_peer_way way, uint64_t bytes,
                                    uint64_t timeout_ns, double *out);

#ifdef __cplusplus
}
#endif
#endif
