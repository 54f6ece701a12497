// SPDX-License-Identifier: Apache-2.0
/// Streams: work that a device does in order, beside the caller and beside other streams. A point (stream, value) says
/// "after this". Contract: docs/contract/streams.md.
#ifndef SLIPRING_STREAM_H
#define SLIPRING_STREAM_H

#include <slipring/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_stream slr_stream;

/// Passed when the stream has done everything up to its submission number `value`. Valid as long as the stream.
typedef struct slr_point {
    slr_stream *stream;
    uint64_t value;
} slr_point;

typedef struct slr_stream_desc {
    uint32_t struct_size;
    uint32_t priority; ///< SLR_PRIORITY(0..255): which stream's work begins first where there is a choice; default 128
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

/// Gives the stream up: what was submitted to it is done all the same. Its points must not be used afterwards; waits of
/// other streams for them stand. NULL, and a device's default stream, are fine: nothing happens.
/// Threads: any, once; also a host function.  Blocks: no.
SLR_API void slr_stream_destroy(slr_stream *stream);

/// The device's own stream, made when it is first asked for; it goes with the device.
/// Threads: any.  Blocks: no.  Owns: the device's.  Errors: as slr_stream_create.
SLR_API slr_status slr_stream_default(slr_device *device, slr_stream **out);

// ---- points --------------------------------------------------------------------------------------------------------

/// The point behind everything submitted so far.
/// Threads: any.  Blocks: no.  Errors: INVALID (NULL).
SLR_API slr_status slr_stream_signal(slr_stream *stream, slr_point *out);

/// What is submitted to the stream from here on begins after `point`, of any stream of any device of this process.
/// Threads: any.  Blocks: no.
/// Errors: INVALID (NULL; a point that was not submitted yet, which is why no cycle of waits can be made), NO_MEMORY.
SLR_API slr_status slr_stream_wait(slr_stream *stream, slr_point point);

/// 1 when the point has passed, else 0; 1 for a point without a stream. What was written before it is visible.
/// Threads: any.  Blocks: no.
SLR_API int slr_point_passed(slr_point point);

/// Waits for a point. What was written before it is visible.
///
/// Threads: any; also a host function of a stream, where a wait for what comes only after that function is refused.
/// Blocks: until `timeout_ns`.
/// Errors: TIMEOUT, INVALID (not submitted yet), WRONG_STATE (it would wait for itself), or what failed on the stream
/// up to the point, with its message.
SLR_API slr_status slr_point_wait(slr_point point, uint64_t timeout_ns);

/// Waits for everything submitted to the stream so far. As slr_point_wait.
SLR_API slr_status slr_stream_finish(slr_stream *stream, uint64_t timeout_ns);

/// Waits for everything submitted so far to all streams of the device.
/// Threads: any, not a host function of one of its streams (WRONG_STATE).  Blocks: until `timeout_ns`.
/// Errors: TIMEOUT, or the first failure found.
SLR_API slr_status slr_device_finish(slr_device *device, uint64_t timeout_ns);

/// Forgets a failure: behind one a stream does nothing more, and each wait for it gives the failure, until this call.
/// Threads: any.  Blocks: no.  Errors: INVALID (NULL).
SLR_API slr_status slr_stream_recover(slr_stream *stream);

// ---- work. `out`, which may be NULL, is set to the point behind it. ------------------------------------------------

/// What a stream calls on the host. `status` is SLR_OK, or what failed before it: then the data it may want is not
/// there. It may call slipring, also submit to its own stream; it should not wait long for what is not slipring's.
typedef void slr_stream_function(void *user, slr_status status);

/// Calls `function(user, status)` after everything submitted so far; once, whatever fails.
/// Threads: any.  Blocks: no.  Errors: INVALID (NULL), NO_MEMORY.
SLR_API slr_status slr_stream_call(slr_stream *stream, slr_stream_function *function, void *user, slr_point *out);

/// Copies into a buffer. `from` must stay as it is until the point has passed.
/// Threads: any.  Blocks: no.  Owns: holds the buffer until done.
/// Errors: INVALID (NULL, the range leaves the buffer, a buffer of another device), WRONG_STATE (the range is mapped),
/// NO_MEMORY.
SLR_API slr_status slr_stream_write(slr_stream *stream, slr_buffer *buffer, uint64_t offset, const void *from,
                                    uint64_t bytes, slr_point *out);

/// Copies out of a buffer, likewise: `to` is whole when the point has passed.
SLR_API slr_status slr_stream_read(slr_stream *stream, slr_buffer *buffer, uint64_t offset, void *to, uint64_t bytes,
                                   slr_point *out);

/// Copies on the device, likewise; the ranges may overlap.
SLR_API slr_status slr_stream_copy(slr_stream *stream, slr_buffer *to, uint64_t to_offset, slr_buffer *from,
                                   uint64_t from_offset, uint64_t bytes, slr_point *out);

/// Fills on the device with a pattern of 1, 2, 4, 8 or 16 bytes; `bytes` must be a multiple of it. Likewise.
SLR_API slr_status slr_stream_fill(slr_stream *stream, slr_buffer *buffer, uint64_t offset, uint64_t bytes,
                                   const void *pattern, uint32_t pattern_bytes, slr_point *out);

/// Moves what is not valid in the place, before it is needed there: to the device what the host has written, to the
/// host what the device has. Nothing is moved where memory is one. Threads: any.  Blocks: no.  Owns: holds the buffer
/// until done. Errors: INVALID (NULL, range, a buffer of another device), WRONG_STATE (an explicit buffer; mapped),
/// NO_MEMORY.
SLR_API slr_status slr_stream_prefetch(slr_stream *stream, slr_buffer *buffer, uint64_t offset, uint64_t bytes,
                                       slr_place to, slr_point *out);

// ---- several streams -----------------------------------------------------------------------------------------------

/// Several streams of one device, used in turn.
typedef struct slr_stream_set slr_stream_set;

/// Makes 1 to 64 streams. Threads, Blocks, Errors: as slr_stream_create.  Owns: slr_stream_set_destroy.
SLR_API slr_status slr_stream_set_create(slr_device *device, uint32_t streams, const slr_stream_desc *desc,
                                         slr_stream_set **out);

/// The next stream, in turn. NULL for NULL.  Threads: any.  Blocks: no.  Owns: the set's.
SLR_API slr_stream *slr_stream_set_next(slr_stream_set *set);

/// Waits for everything submitted so far to each. As slr_stream_finish.
SLR_API slr_status slr_stream_set_finish(slr_stream_set *set, uint64_t timeout_ns);

/// As slr_stream_destroy, for each.
SLR_API void slr_stream_set_destroy(slr_stream_set *set);

#ifdef __cplusplus
}
#endif
#endif
