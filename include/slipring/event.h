// SPDX-License-Identifier: Apache-2.0
/// An event records the time at which a stream (a queue of work that a device does in order) has completed the work
/// submitted so far. Contract: docs/contract/streams.md.
#ifndef SLIPRING_EVENT_H
#define SLIPRING_EVENT_H

#include <slipring/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_event slr_event;

/// Makes an event for a device.
/// Threads: any.  Blocks: no.  Owns: the caller gets the event, and frees it by slr_event_destroy.  Errors: INVALID (a
/// NULL argument), NO_MEMORY.
SLR_API slr_status slr_event_create(slr_device *device, slr_event **out);

/// Releases the event object. If the program destroys an event before the event's record is complete, no time is
/// recorded. If `event` is NULL, slr_event_destroy does nothing.
/// Threads: any, once for each event.  Blocks: no.
SLR_API void slr_event_destroy(slr_event *event);

/// Records in the event the time at which the stream has completed all work that was submitted to it before this call.
/// The record is complete when the stream has completed that work. A new record replaces the event's earlier record.
/// `out` gets a point that passes when the record is complete; `out` may be NULL.
/// Threads: any, but only one thread at a time for each event.  Blocks: no.
/// Errors: INVALID (a NULL argument, a stream of another device), WRONG_STATE (the event's earlier record is not yet
///   complete), NO_MEMORY.
SLR_API slr_status slr_event_record(slr_event *event, slr_stream *stream, slr_point *out);

/// Waits until the event's record is complete.
/// Threads: any.  Blocks: for at most `timeout_ns`.
/// Errors: WRONG_STATE (the event was never recorded), and those of slr_point_wait.
SLR_API slr_status slr_event_wait(slr_event *event, uint64_t timeout_ns);

/// Gives the time of the event's record, in nanoseconds of the machine's monotonic clock.
/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument), WRONG_STATE (the event was never recorded, or its
/// record is not yet complete).
SLR_API slr_status slr_event_time_ns(const slr_event *event, uint64_t *out);

/// Gives the nanoseconds from the record of `from` to the record of `to`. If the time of `to` is the earlier one, the
/// result is negative. For two records of the same stream, the result does not include times in which the stream's work
/// was ready, but waited because the device ran other streams.
/// Threads: any.  Blocks: no.  Errors: those of slr_event_time_ns.
SLR_API slr_status slr_event_elapsed_ns(const slr_event *from, const slr_event *to, int64_t *out);

#ifdef __cplusplus
}
#endif
#endif
