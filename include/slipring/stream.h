// SPDX-License-Identifier: Apache-2.0
/// Streams: work that a device does in order, concurrently with the caller and with other streams. A point (stream,
/// value) marks a place in a stream. Contract: docs/contract/streams.md.
#ifndef SLIPRING_STREAM_H
#define SLIPRING_STREAM_H

#include <slipring/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_stream slr_stream;

/// Has passed when the stream has completed everything up to its submission number `value`. Valid as long as the
/// stream.
typedef struct slr_point {
    slr_stream *stream;
    uint64_t value;
} slr_point;

typedef struct slr_stream_desc {
    uint32_t struct_size;
    /// SLR_PRIORITY(0..255): work of a stream with higher priority starts first if there is a choice. Default 128. No
    /// effect on the device itself if slr_device_info.features lacks "priorities".
    uint32_t priority;
} slr_stream_desc;
#ifdef __cplusplus
static inline slr_stream_desc slr_stream_desc_init(void)
{
    slr_stream_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_STREAM_DESC_INIT slr_stream_desc_init()
#else
#define SLR_STREAM_DESC_INIT                                                                                           \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_stream_desc)                                                               \
    }
#endif

/// Makes a stream. `desc` may be NULL.
///
/// Threads: any.  Blocks: no (the cpu starts a thread with the device's first stream).
/// Owns: the caller gets the stream: slr_stream_destroy.
/// Errors: INVALID (NULL, priority out of range), NO_MEMORY, SYSTEM (no thread).
SLR_API slr_status slr_stream_create(slr_device *device, const slr_stream_desc *desc, slr_stream **out);

/// Releases the stream. Submitted work still runs. Its points become invalid, but other streams' waits for them remain.
/// Nothing happens for NULL and for a device's default stream.
/// Threads: any, once; also a host function.  Blocks: no.
SLR_API void slr_stream_destroy(slr_stream *stream);

/// The device's default stream, made by the first call and destroyed with the device.
/// Threads: any.  Blocks: no.  Owns: the device keeps it.  Errors: as slr_stream_create.
SLR_API slr_status slr_stream_default(slr_device *device, slr_stream **out);

// ---- points --------------------------------------------------------------------------------------------------------

/// The point after everything submitted so far.
/// Threads: any.  Blocks: no.  Errors: INVALID (NULL).
SLR_API slr_status slr_stream_signal(slr_stream *stream, slr_point *out);

/// Later work of the stream starts after `point`, which may be of any stream of any device in this process.
/// Threads: any.  Blocks: no.
/// Errors: INVALID (NULL; a point that is not submitted yet, so a cycle of waits is impossible), NO_MEMORY.
SLR_API slr_status slr_stream_wait(slr_stream *stream, slr_point point);

/// Returns 1 if the point has passed, else 0; 1 for a point without a stream. Earlier writes are visible after 1.
/// Threads: any.  Blocks: no.
SLR_API int slr_point_passed(slr_point point);

/// Waits for a point. Earlier writes are visible afterwards.
///
/// Threads: any; also a host function of a stream, where a wait for work after that function is refused.
/// Blocks: until `timeout_ns`.
/// Errors: TIMEOUT, INVALID (not submitted yet), WRONG_STATE (it would wait for itself), or the stream's failure before
///   the point, with its message.
SLR_API slr_status slr_point_wait(slr_point point, uint64_t timeout_ns);

/// Waits for everything submitted to the stream so far. Threads, Blocks, Errors: as slr_point_wait.
SLR_API slr_status slr_stream_finish(slr_stream *stream, uint64_t timeout_ns);

/// Waits for everything submitted so far to all streams of the device.
/// Threads: any, except a host function of one of its streams (WRONG_STATE).  Blocks: until `timeout_ns`.
/// Errors: TIMEOUT, or the first failure found.
SLR_API slr_status slr_device_finish(slr_device *device, uint64_t timeout_ns);

/// Clears a failure. After a failure a stream does no work, and each wait returns the failure, until this call.
/// Threads: any.  Blocks: no.  Errors: INVALID (NULL).
SLR_API slr_status slr_stream_recover(slr_stream *stream);

// ---- work. `out` may be NULL, and gets the point after the work. ---------------------------------------------------

/// A host function that a stream calls. `status` is SLR_OK, or the earlier failure; then the expected data may be
/// missing. The function may call slipring and submit to its own stream. It should not wait long for anything else.
typedef void slr_stream_function(void *user, slr_status status);

/// Calls `function(user, status)` once after everything submitted so far, also after a failure.
/// Threads: any.  Blocks: no.  Errors: INVALID (NULL), NO_MEMORY.
SLR_API slr_status slr_stream_call(slr_stream *stream, slr_stream_function *function, void *user, slr_point *out);

/// Copies into a buffer. `from` must not change until the point has passed.
/// Threads: any.  Blocks: no.  Owns: slipring holds the buffer until the work ends.
/// Errors: INVALID (NULL, the range leaves the buffer, a buffer of another device), WRONG_STATE (the range is mapped),
///   NO_MEMORY.
SLR_API slr_status slr_stream_write(slr_stream *stream, slr_buffer *buffer, uint64_t offset, const void *from,
                                    uint64_t bytes, slr_point *out);

/// Copies out of a buffer. `to` is complete when the point has passed. The rest as slr_stream_write.
SLR_API slr_status slr_stream_read(slr_stream *stream, slr_buffer *buffer, uint64_t offset, void *to, uint64_t bytes,
                                   slr_point *out);

/// Copies on the device. The ranges may overlap. The rest as slr_stream_write.
SLR_API slr_status slr_stream_copy(slr_stream *stream, slr_buffer *to, uint64_t to_offset, slr_buffer *from,
                                   uint64_t from_offset, uint64_t bytes, slr_point *out);

/// Fills on the device with a pattern of 1, 2, 4, 8 or 16 bytes; `bytes` must be a multiple of it. The rest as
/// slr_stream_write.
SLR_API slr_status slr_stream_fill(slr_stream *stream, slr_buffer *buffer, uint64_t offset, uint64_t bytes,
                                   const void *pattern, uint32_t pattern_bytes, slr_point *out);

/// Copies bytes ahead of their use: to the device those that the host has written, to the host those that the device
/// has. Copies nothing if host and device share memory.
/// Threads: any.  Blocks: no.  Owns: slipring holds the buffer until the work ends.
/// Errors: INVALID (NULL, range, a buffer of another device), WRONG_STATE (an explicit buffer; mapped), NO_MEMORY.
SLR_API slr_status slr_stream_prefetch(slr_stream *stream, slr_buffer *buffer, uint64_t offset, uint64_t bytes,
                                       slr_place to, slr_point *out);

// ---- several streams -----------------------------------------------------------------------------------------------

/// Several streams of one device, used in rotation.
typedef struct slr_stream_set slr_stream_set;

/// Makes 1 to 64 streams. Threads, Blocks, Errors: as slr_stream_create.  Owns: slr_stream_set_destroy.
SLR_API slr_status slr_stream_set_create(slr_device *device, uint32_t streams, const slr_stream_desc *desc,
                                         slr_stream_set **out);

/// The next stream in rotation. NULL for NULL.  Threads: any.  Blocks: no.  Owns: the set keeps it.
SLR_API slr_stream *slr_stream_set_next(slr_stream_set *set);

/// Waits for everything submitted so far to each stream. The rest as slr_stream_finish.
SLR_API slr_status slr_stream_set_finish(slr_stream_set *set, uint64_t timeout_ns);

/// As slr_stream_destroy, for each stream.
SLR_API void slr_stream_set_destroy(slr_stream_set *set);

#ifdef __cplusplus
}
#endif
#endif
