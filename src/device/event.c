// SPDX-License-Identifier: Apache-2.0
// Events: a stamp in a stream, and who waits for it.
#include <slipring/event.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "device/stream.h"
#include "engine/observe.h"

struct slr_event {
    slr_device *device;
    uint32_t holds;          // the user's, and a record's that is still to be made
    slr_point point;         // of the record; its stream is held
    struct slri_stamp stamp; // reached before `point` passes
};

// Its stream may still want to tell it when the next work begins.
static void forget_record(struct slr_event *event)
{
    if (!event->point.stream)
        return;
    slri_queue_forget_stamp(&event->point.stream->queue, &event->stamp);
    slri_stream_release(event->point.stream);
    event->point = (slr_point){0};
}

static void release(struct slr_event *event)
{
    if (!slri_let_go(&event->holds))
        return;
    forget_record(event);
    slr_device *device = event->device;
    slri_free(device->allocator, event, sizeof *event);
    slri_device_release(device);
}

static void settle_event(void *user)
{
    release(user);
}

slr_status slr_event_create(slr_device *device, slr_event **out)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_event_create: %s is NULL", device ? "out" : "device");
    struct slr_event *event = slri_alloc(device->allocator, sizeof *event);
    if (!event)
        return SLRI_FAIL(NO_MEMORY, "no memory for an event");
    slri_device_hold(device);
    event->device = device;
    event->holds = 1;
    *out = event;
    return SLR_OK;
}

void slr_event_destroy(slr_event *event)
{
    if (event && !slri_device_is_anothers(event->device))
        release(event);
}

slr_status slr_event_record(slr_event *event, slr_stream *stream, slr_point *out)
{
    if (!event || !stream)
        return SLRI_FAIL(INVALID, "slr_event_record: %s is NULL", event ? "stream" : "event");
    if (stream->device != event->device)
        return SLRI_FAIL(INVALID, "slr_event_record: the event belongs to another device than the stream");
    if (!slr_point_passed(event->point))
        return SLRI_FAIL(WRONG_STATE, "slr_event_record: the event's earlier record is still pending");
    struct slri_command command = {.op = SLRI_STAMP, .stamp = &event->stamp};
    struct slri_work work = {.command = &command, .commands = 1, .settle = settle_event, .user = event};
    slr_point point;
    if (event->point.stream)
        slri_queue_forget_stamp(&event->point.stream->queue, &event->stamp);
    const struct slri_stamp earlier = event->stamp;
    event->stamp = (struct slri_stamp){0};
    slri_hold(&event->holds);
    slr_status status = slri_stream_submit(stream, &work, &point);
    if (status != SLR_OK) {
        event->stamp = earlier;
        release(event);
        return status;
    }
    slri_stream_hold(stream);
    if (event->point.stream)
        slri_stream_release(event->point.stream);
    event->point = point;
    if (out)
        *out = point;
    return SLR_OK;
}

slr_status slr_event_wait(slr_event *event, uint64_t timeout_ns)
{
    SLRI_OBSERVE_SITE(false);
    if (!event)
        return SLRI_FAIL(INVALID, "slr_event_wait: event is NULL");
    if (!event->point.stream)
        return SLRI_FAIL(WRONG_STATE, "slr_event_wait: the event was never recorded");
    return slri_queue_wait(&event->point.stream->queue, event->point.value, slri_deadline_after(timeout_ns));
}

slr_status slr_event_time_ns(const slr_event *event, uint64_t *out)
{
    if (!event || !out)
        return SLRI_FAIL(INVALID, "slr_event_time_ns: %s is NULL", event ? "out" : "event");
    if (!event->point.stream || !slr_point_passed(event->point))
        return SLRI_FAIL(WRONG_STATE, "the event %s",
                         event->point.stream ? "is still pending: call slr_event_wait" : "was never recorded");
    *out = event->stamp.reached_ns;
    return SLR_OK;
}

// For how long the first work behind `from` was ready and the device did other things, where that is before `to`.
static uint64_t queued_between(const slr_event *from, const slr_event *to)
{
    // Acquire: what was written before it. It may come later than the record, but then behind `to`, and does not count.
    uint64_t began_ns = __atomic_load_n(&from->stamp.began_ns, __ATOMIC_ACQUIRE);
    if (from->point.stream != to->point.stream || began_ns == 0 || began_ns > to->stamp.reached_ns)
        return 0;
    return __atomic_load_n(&from->stamp.queued_ns, __ATOMIC_RELAXED);
}

slr_status slr_event_elapsed_ns(const slr_event *from, const slr_event *to, int64_t *out)
{
    uint64_t from_ns, to_ns;
    if (!out)
        return SLRI_FAIL(INVALID, "slr_event_elapsed_ns: out is NULL");
    SLRI_TRY(slr_event_time_ns(from, &from_ns));
    SLRI_TRY(slr_event_time_ns(to, &to_ns));
    *out = (int64_t)(to_ns - from_ns - queued_between(from, to) + queued_between(to, from));
    return SLR_OK;
}
