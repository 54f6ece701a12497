// SPDX-License-Identifier: Apache-2.0
/// A stream is a queue of work that a device does in order, concurrently with the caller and with other streams. A
/// point (stream, value) marks a place in this order of work. Contract: docs/contract/streams.md.
#ifndef SLIPRING_STREAM_H
#define SLIPRING_STREAM_H

#include <slipring/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_stream slr_stream;

/// A point has passed when its stream has completed all work up to submission number `value`. A point is valid as long
/// as its stream exists.
typedef struct slr_point {
    slr_stream *stream;
    uint64_t value;
} slr_point;

typedef struct slr_stream_desc {
    uint32_t struct_size;
    /// The priority of the stream, SLR_PRIORITY(0..255). If several streams have work, the device starts the work of
    /// the stream with the highest priority first. The default priority of a stream is 128. The device ignores
    /// priorities if slr_device_info.features lacks "priorities".
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

/// Makes a stream of a device. `desc` may be NULL.
///
/// Threads: any.  Blocks: no. The device cpu starts a thread when its first stream is made.
/// Owns: the caller gets the stream, and frees it by slr_stream_destroy.
/// Errors: INVALID (a NULL argument, a priority out of range), NO_MEMORY, SYSTEM (the thread could not be started).
SLR_API slr_status slr_stream_create(slr_device *device, const slr_stream_desc *desc, slr_stream **out);

/// Releases the stream object. Work that was submitted before slr_stream_destroy still runs. After slr_stream_destroy,
/// the stream's points are invalid, but other streams that wait for these points still wait. slr_stream_destroy does
/// nothing for NULL and for a device's default stream.
/// Threads: any, once for each stream; also a host function.  Blocks: no.
SLR_API void slr_stream_destroy(slr_stream *stream);

/// Gives the device's default stream. The first call of slr_stream_default makes the default stream, and
/// slr_device_close destroys that stream.
/// Threads: any.  Blocks: no.  Owns: the stream belongs to the device.  Errors: those of slr_stream_create.
SLR_API slr_status slr_stream_default(slr_device *device, slr_stream **out);

// ---- points --------------------------------------------------------------------------------------------------------

/// Gives the point that passes when the stream has completed all work submitted so far.
/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_stream_signal(slr_stream *stream, slr_point *out);

/// Delays the stream: work that is submitted to the stream after this call starts only when `point` has passed. The
/// point may belong to any stream of any device in this process.
/// Threads: any.  Blocks: no.
/// Errors: INVALID (a NULL argument; a point whose work is not submitted yet: therefore no cycle of waits is possible),
///   NO_MEMORY.
SLR_API slr_status slr_stream_wait(slr_stream *stream, slr_point point);

/// Returns 1 if the point has passed or has no stream, and 0 otherwise. If slr_point_passed returns 1, the host sees
/// all writes of the stream's work before the point.
/// Threads: any.  Blocks: no.
SLR_API int slr_point_passed(slr_point point);

/// Waits until a point has passed. After the wait, the host sees all writes of the stream's work before the point.
///
/// Threads: any. A host function of a stream may wait, too, but slipring refuses its wait for work that comes after the
/// host function in the same stream.
/// Blocks: for at most `timeout_ns`.
/// Errors: TIMEOUT, INVALID (the work before the point is not submitted yet), WRONG_STATE (the caller would wait for
///   itself), or the error of the stream's work before the point; the error message then describes that failure.
SLR_API slr_status slr_point_wait(slr_point point, uint64_t timeout_ns);

/// Waits until the stream has completed all work submitted so far. Threads, Blocks, Errors: as for slr_point_wait.
SLR_API slr_status slr_stream_finish(slr_stream *stream, uint64_t timeout_ns);

/// Waits until all streams of the device have completed all work submitted so far.
/// Threads: any, except a host function of one of the device's streams (WRONG_STATE).  Blocks: for at most
/// `timeout_ns`.
/// Errors: TIMEOUT, or the first failure that the call finds.
SLR_API slr_status slr_device_finish(slr_device *device, uint64_t timeout_ns);

/// Clears the failure of a stream, so that the stream runs later work again. From the failure of a stream until
/// slr_stream_recover, the stream does no work except calls of host functions (slr_stream_call). During this time, each
/// wait for a later point of the stream returns the error of the failed work.
/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_stream_recover(slr_stream *stream);

// ---- work. `out` gets a point that passes when the function's work has completed. `out` may be NULL ---------------

/// slr_stream_function is the type of a host function that a stream calls. The host function gets `status`: SLR_OK, or
/// an earlier failure of the stream. After a failure of the stream, the data that the host function expects may be
/// missing. The host function may call slipring and submit work to its own stream. The host function should not wait
/// long, because the stream's later work waits for the host function.
typedef void slr_stream_function(void *user, slr_status status);

/// The stream calls `function(user, status)` once after all work submitted so far, also after a failure of the stream.
/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument), NO_MEMORY.
SLR_API slr_status slr_stream_call(slr_stream *stream, slr_stream_function *function, void *user, slr_point *out);

/// Copies bytes from the host into a buffer, as work of the stream. The bytes at `from` must not change until the point
/// in `out` has passed.
/// Threads: any.  Blocks: no.  Owns: slipring keeps the buffer alive until the copy has ended.
/// Errors: INVALID (a NULL argument, the range exceeds the buffer, a buffer of another device), WRONG_STATE (the range
///   is mapped), NO_MEMORY.
SLR_API slr_status slr_stream_write(slr_stream *stream, slr_buffer *buffer, uint64_t offset, const void *from,
                                    uint64_t bytes, slr_point *out);

/// Copies bytes from a buffer to the host, as work of the stream. The bytes at `to` are complete when the point in
/// `out` has passed.
/// Threads, Blocks, Owns, Errors: as for slr_stream_write.
SLR_API slr_status slr_stream_read(slr_stream *stream, slr_buffer *buffer, uint64_t offset, void *to, uint64_t bytes,
                                   slr_point *out);

/// Copies bytes from one buffer of the device to another, as work of the stream. The source range and the destination
/// range may overlap.
/// Threads, Blocks, Owns, Errors: as for slr_stream_write.
SLR_API slr_status slr_stream_copy(slr_stream *stream, slr_buffer *to, uint64_t to_offset, slr_buffer *from,
                                   uint64_t from_offset, uint64_t bytes, slr_point *out);

/// Fills a range of a buffer with a pattern of 1, 2, 4, 8 or 16 bytes. `bytes` must be a multiple of `pattern_bytes`.
/// Threads, Blocks, Owns, Errors: as for slr_stream_write.
SLR_API slr_status slr_stream_fill(slr_stream *stream, slr_buffer *buffer, uint64_t offset, uint64_t bytes,
                                   const void *pattern, uint32_t pattern_bytes, slr_point *out);

/// Copies bytes of a buffer before they are needed, to the place `to`: to the device, the bytes that the host has
/// written; or to the host, the bytes that the device has written. If host and device share memory, slr_stream_prefetch
/// copies nothing.
/// Threads: any.  Blocks: no.  Owns: slipring keeps the buffer alive until the copy has ended.
/// Errors: INVALID (a NULL argument, a wrong range, a buffer of another device), WRONG_STATE (a buffer in explicit
///   mode, or a range that is mapped), NO_MEMORY.
SLR_API slr_status slr_stream_prefetch(slr_stream *stream, slr_buffer *buffer, uint64_t offset, uint64_t bytes,
                                       slr_place to, slr_point *out);

// ---- several streams -----------------------------------------------------------------------------------------------

/// An slr_stream_set is a set of streams of one device; the program uses the streams in rotation.
typedef struct slr_stream_set slr_stream_set;

/// Makes a set of 1 to 64 streams. Threads, Blocks, Errors: as for slr_stream_create. Owns: the caller gets the set,
/// and frees it by slr_stream_set_destroy.
SLR_API slr_status slr_stream_set_create(slr_device *device, uint32_t streams, const slr_stream_desc *desc,
                                         slr_stream_set **out);

/// Returns the next stream of the set, in rotation. If `set` is NULL, the result is NULL.  Threads: any.
/// Blocks: no.  Owns: the stream belongs to the set.
SLR_API slr_stream *slr_stream_set_next(slr_stream_set *set);

/// Waits until each stream of the set has completed all work submitted so far.
/// Threads, Blocks, Errors: as for slr_stream_finish.
SLR_API slr_status slr_stream_set_finish(slr_stream_set *set, uint64_t timeout_ns);

/// Destroys each stream of the set, as slr_stream_destroy does.
SLR_API void slr_stream_set_destroy(slr_stream_set *set);

#ifdef __cplusplus
}
#endif
#endif
