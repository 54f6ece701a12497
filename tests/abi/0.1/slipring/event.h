// SPDX-License-Identifier: Apache-2.0
/// Events: when a stream came to a place. Contract: docs/contract/streams.md.
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

/// Gives the event up; a record that is still to come is made into nothing. NULL is fine.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_event_destroy(slr_event *event);

/// Notes the time at which the stream has done everything submitted so far. Again: forgets the earlier record.
/// Threads: one at a time an event.  Blocks: no.
/// Errors: INVALID (NULL, a stream of another device), WRONG_STATE (the earlier record has not been made), NO_MEMORY.
SLR_API slr_status slr_event_record(slr_event *event, slr_stream *stream, slr_point *out);

/// Waits until the record has been made. Threads: any.  Blocks: until `timeout_ns`.
/// Errors: TIMEOUT, WRONG_STATE (never recorded; or as slr_point_wait).
SLR_API slr_status slr_event_wait(slr_event *event, uint64_t timeout_ns);

/// The time of the record, in nanoseconds of the machine's monotonic clock.
/// Threads: any.  Blocks: no.  Errors: INVALID (NULL), WRONG_STATE (never recorded, or not yet made).
SLR_API slr_status slr_event_time_ns(const slr_event *event, uint64_t *out);

/// From one record to a later one; negative when `to` came first.
/// Threads: any.  Blocks: no.  Errors: as slr_event_time_ns.
SLR_API slr_status slr_event_elapsed_ns(const slr_event *from, const slr_event *to, int64_t *out);

#ifdef __cplusplus
}
#endif
#endif
