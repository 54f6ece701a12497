// SPDX-License-Identifier: Apache-2.0
/// Events: timestamps of places in streams. Contract: docs/contract/streams.md.
#ifndef SLIPRING_EVENT_H
#define SLIPRING_EVENT_H

#include <slipring/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_event slr_event;

/// Makes an event of a device.
/// Threads: any.  Blocks: no.  Owns: the caller gets the event: slr_event_destroy.  Errors: INVALID (NULL), NO_MEMORY.
SLR_API slr_status slr_event_create(slr_device *device, slr_event **out);

/// Releases the event. A pending record has no effect. NULL does nothing.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_event_destroy(slr_event *event);

/// Records the time at which the stream has completed everything submitted so far. A new record replaces the earlier
/// one.
/// Threads: one at a time per event.  Blocks: no.
/// Errors: INVALID (NULL, a stream of another device), WRONG_STATE (the earlier record is pending), NO_MEMORY.
SLR_API slr_status slr_event_record(slr_event *event, slr_stream *stream, slr_point *out);

/// Waits until the record is complete.
/// Threads: any.  Blocks: until `timeout_ns`.
/// Errors: TIMEOUT, WRONG_STATE (never recorded; or as slr_point_wait).
SLR_API slr_status slr_event_wait(slr_event *event, uint64_t timeout_ns);

/// The time of the record, in nanoseconds of the machine's monotonic clock.
/// Threads: any.  Blocks: no.  Errors: INVALID (NULL), WRONG_STATE (never recorded, or still pending).
SLR_API slr_status slr_event_time_ns(const slr_event *event, uint64_t *out);

/// Nanoseconds from one record to another; negative if `to` came first. For two records of one stream, the result
/// excludes time in which the stream's next work was ready but the device was busy with other streams.
/// Threads: any.  Blocks: no.  Errors: as slr_event_time_ns.
SLR_API slr_status slr_event_elapsed_ns(const slr_event *from, const slr_event *to, int64_t *out);

#ifdef __cplusplus
}
#endif
#endif
