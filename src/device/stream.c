// SPDX-License-Identifier: Apache-2.0
// Streams: their life and their points. What is done when is engine/queue.c's rule, work comes in by device/submit.c.
//
// A stream that was given up while busy stays in its device's list; whoever makes or destroys the next one, or closes
// the device, frees it. The thread that does its work never does: it would free the device that it runs on.
#include "device/stream.h"
#include "engine/observe.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sized.h"
#include "base/status.h"

// ---- life ----------------------------------------------------------------------------------------------------------

static bool may_go(const struct slr_stream *stream)
{
    return stream->given_up && !stream->queue.first && !stream->queue.claimed && stream->queue.awaited == 0;
}

// Of those that were given up while busy a few are looked at each time, so that the next stream costs the same however
// many there are: more than can be added meanwhile.
#define LOOKS 4u

// Takes up to `most` streams that may go out of the device's lists, under the lock, into `gone`.
static void take_gone(slr_device *device, uint32_t most, struct slri_link *gone)
{
    struct slri_link *busy = NULL; // the first that stays
    for (uint32_t i = 0; i < most; ++i) {
        struct slri_link *link = slri_links_first(&device->given_up);
        if (!link || link == busy)
            return;
        struct slr_stream *each = SLRI_LINKED(struct slr_stream, in_given_up, link);
        bool goes = may_go(each);
        if (goes)
            slri_unlink(&each->of_device);
        slri_link_last(goes ? gone : &device->given_up, link);
        busy = busy || goes ? busy : link;
    }
}

static void drop(struct slr_stream *stream)
{
    slri_queue_close(&stream->queue);
    slri_free(NULL, stream, sizeof *stream);
}

static void reap(slr_device *device, uint32_t most)
{
    struct slri_link gone;
    slri_links_init(&gone);
    slri_queues_lock();
    take_gone(device, most, &gone);
    slri_queues_unlock();
    for (struct slri_link *link; (link = slri_links_first(&gone)) != NULL;) {
        slri_unlink(link);
        drop(SLRI_LINKED(struct slr_stream, in_given_up, link));
    }
}

// Under the lock.
static void give_up(slr_device *device, struct slr_stream *stream)
{
    stream->given_up = true;
    slri_link_first(&device->given_up, &stream->in_given_up); // looked at first: most are idle
}

// From malloc, not from the device's hook: a wait of another device's stream may outlive the device.
static slr_status make(slr_device *device, uint32_t priority, struct slr_stream **out)
{
    struct slr_stream *stream = slri_alloc(NULL, sizeof *stream);
    if (!stream)
        return SLRI_FAIL(NO_MEMORY, "no memory for a stream");
    stream->device = device;
    stream->queue.priority = priority;
    slr_status status = slri_queue_open(&stream->queue, &device->queues);
    if (status != SLR_OK) {
        slri_free(NULL, stream, sizeof *stream);
        return status;
    }
    *out = stream;
    return SLR_OK;
}

static void enlist(slr_device *device, struct slr_stream *stream)
{
    slri_link_last(&device->streams, &stream->of_device);
}

slr_status slr_stream_create(slr_device *device, const slr_stream_desc *desc, slr_stream **out)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_stream_create: %s is NULL", device ? "out" : "device");
    SLRI_TRY(slri_device_check_process(device));
    slr_stream_desc whole;
    SLRI_TRY(SLRI_TAKE_DESC(slr_stream_desc, &whole, desc));
    if (whole.priority > SLR_PRIORITY(255))
        return SLRI_FAIL(INVALID, "slr_stream_desc.priority is %u; expected SLR_PRIORITY(0) to SLR_PRIORITY(255)",
                         whole.priority);
    struct slr_stream *stream;
    SLRI_TRY(make(device, whole.priority ? whole.priority - 1 : SLR_DEFAULT_PRIORITY, &stream));
    slri_device_hold(device);
    reap(device, LOOKS);
    slri_queues_lock();
    enlist(device, stream);
    slri_queues_unlock();
    *out = stream;
    return SLR_OK;
}

slr_status slr_stream_default(slr_device *device, slr_stream **out)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_stream_default: %s is NULL", device ? "out" : "device");
    SLRI_TRY(slri_device_check_process(device));
    slri_queues_lock();
    struct slr_stream *stream = device->default_stream, *made = NULL;
    slri_queues_unlock();
    if (!stream) {
        SLRI_TRY(make(device, SLR_DEFAULT_PRIORITY, &made));
        slri_queues_lock();
        if (!device->default_stream) { // nobody else was first
            device->default_stream = made;
            enlist(device, made);
            made = NULL;
        }
        stream = device->default_stream;
        slri_queues_unlock();
        if (made)
            drop(made);
    }
    *out = stream;
    return SLR_OK;
}

void slr_stream_destroy(slr_stream *stream)
{
    if (!stream || slri_device_is_anothers(stream->device))
        return;
    slr_device *device = stream->device;
    slri_queues_lock();
    bool is_default = stream == device->default_stream;
    if (!is_default)
        give_up(device, stream);
    slri_queues_unlock();
    if (is_default)
        return;
    reap(device, LOOKS);
    slri_device_release(device);
}

void slri_stream_hold(slr_stream *stream)
{
    slri_queues_lock();
    ++stream->queue.awaited;
    slri_queues_unlock();
}

void slri_stream_release(slr_stream *stream)
{
    slri_queues_lock();
    slri_queue_forgo(&stream->queue);
    slri_queues_unlock();
}

static bool inside_host_function_of(const slr_device *device)
{
    const struct slri_queue *current = slri_queue_current();
    return current && ((const struct slr_stream *)current)->device == device; // the queue is its first member
}

// Waits for each of the device's streams in turn; the first failure counts.
static slr_status finish_all(slr_device *device, uint64_t deadline_ns)
{
    slr_status status = SLR_OK;
    slri_queues_lock();
    for (struct slri_link *link = slri_links_first(&device->streams); link && status != SLR_TIMEOUT;) {
        struct slr_stream *stream = SLRI_LINKED(struct slr_stream, of_device, link);
        uint64_t value = stream->queue.submitted;
        ++stream->queue.awaited; // so it stays in the list
        slri_queues_unlock();
        slr_status got = slri_queue_wait(&stream->queue, value, deadline_ns);
        status = status == SLR_OK || got == SLR_TIMEOUT ? got : status;
        slri_queues_lock();
        link = slri_links_next(&device->streams, link);
        slri_queue_forgo(&stream->queue);
    }
    slri_queues_unlock();
    return status;
}

bool slri_streams_close(slr_device *device)
{
    if (inside_host_function_of(device))
        return false;
    __atomic_store_n(&device->closing, 1, __ATOMIC_RELAXED); // nothing is read on its strength
    finish_all(device, SLRI_FOREVER);
    reap(device, UINT32_MAX);
    return true;
}

slr_status slri_streams_reset(slr_device *device)
{
    reap(device, UINT32_MAX); // a buffer that was destroyed after its stream held that until now
    slri_queues_lock();
    struct slr_stream *stream = device->default_stream;
    struct slri_link *first = slri_links_first(&device->streams);
    bool alone =
        stream ? first == &stream->of_device && !slri_links_next(&device->streams, first) && stream->queue.awaited == 0
               : !first;
    if (alone && stream) {
        give_up(device, stream);
        device->default_stream = NULL;
    }
    slri_queues_unlock();
    if (!alone)
        return SLRI_FAIL(WRONG_STATE, "slr_device_reopen: streams of the device still exist");
    reap(device, UINT32_MAX);
    return SLR_OK;
}

static void free_orphan(struct slri_queue *queue)
{
    slri_free(NULL, queue, sizeof(struct slr_stream));
}

void slri_streams_free(slr_device *device)
{
    slri_queues_lock();
    if (device->default_stream)
        give_up(device, device->default_stream);
    slri_queues_unlock();
    reap(device, UINT32_MAX);
    slri_queues_lock();
    for (struct slri_link *link; (link = slri_links_first(&device->streams)) != NULL;) {
        struct slr_stream *stream = SLRI_LINKED(struct slr_stream, of_device, link);
        slri_unlink(link);
        slri_unlink(&stream->in_given_up); // the device's lists go with it
        slri_queue_close(&stream->queue);  // it is empty, and its device goes
        stream->queue.orphaned = free_orphan;
    }
    slri_queues_unlock();
}

// ---- points --------------------------------------------------------------------------------------------------------

slr_status slr_stream_signal(slr_stream *stream, slr_point *out)
{
    if (!stream || !out)
        return SLRI_FAIL(INVALID, "slr_stream_signal: %s is NULL", stream ? "out" : "stream");
    SLRI_TRY(slri_device_check_process(stream->device));
    slri_queues_lock();
    *out = (slr_point){stream, stream->queue.submitted};
    slri_queues_unlock();
    return SLR_OK;
}

// A point that is still to be submitted might never come, and could close a cycle of waits.
static slr_status check_point(slr_point point, const char *call)
{
    if (!point.stream)
        return SLRI_FAIL(INVALID, "%s: the point's stream is NULL", call);
    slri_queues_lock();
    uint64_t submitted = point.stream->queue.submitted;
    slri_queues_unlock();
    if (point.value > submitted)
        return SLRI_FAIL(INVALID, "%s: point %llu has not been submitted; the stream's newest is %llu", call,
                         (unsigned long long)point.value, (unsigned long long)submitted);
    return SLR_OK;
}

slr_status slr_stream_wait(slr_stream *stream, slr_point point)
{
    if (!stream)
        return SLRI_FAIL(INVALID, "slr_stream_wait: stream is NULL");
    SLRI_TRY(check_point(point, "slr_stream_wait"));
    struct slri_work work = {.wait = &point, .waits = 1};
    return slri_stream_submit(stream, &work, NULL);
}

int slr_point_passed(slr_point point)
{
    return !point.stream || slri_stream_passed(point.stream, point.value);
}

slr_status slr_point_wait(slr_point point, uint64_t timeout_ns)
{
    SLRI_OBSERVE_SITE(false);
    SLRI_TRY(check_point(point, "slr_point_wait"));
    return slri_queue_wait(&point.stream->queue, point.value, slri_deadline_after(timeout_ns));
}

slr_status slr_stream_finish(slr_stream *stream, uint64_t timeout_ns)
{
    SLRI_OBSERVE_SITE(false);
    slr_point point;
    if (!stream)
        return SLRI_FAIL(INVALID, "slr_stream_finish: stream is NULL");
    SLRI_TRY(slr_stream_signal(stream, &point));
    return slri_queue_wait(&stream->queue, point.value, slri_deadline_after(timeout_ns));
}

slr_status slr_device_finish(slr_device *device, uint64_t timeout_ns)
{
    SLRI_OBSERVE_SITE(false);
    if (!device)
        return SLRI_FAIL(INVALID, "slr_device_finish: device is NULL");
    SLRI_TRY(slri_device_check_process(device));
    if (inside_host_function_of(device))
        return SLRI_FAIL(WRONG_STATE,
                         "slr_device_finish: a host function of one of the device's streams would wait for "
                         "itself");
    return finish_all(device, slri_deadline_after(timeout_ns));
}

slr_status slr_stream_recover(slr_stream *stream)
{
    if (!stream)
        return SLRI_FAIL(INVALID, "slr_stream_recover: stream is NULL");
    SLRI_TRY(slri_device_check_process(stream->device));
    slri_queues_lock();
    __atomic_store_n(&stream->queue.failed, SLR_OK, __ATOMIC_RELAXED); // read without the lock, too
    slri_queues_unlock();
    return SLR_OK;
}
