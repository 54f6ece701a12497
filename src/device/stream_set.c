// SPDX-License-Identifier: Apache-2.0
// Several streams used in turn.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "device/stream.h"
#include "engine/observe.h"

#define MOST 64

struct slr_stream_set {
    slr_device *device;
    uint32_t streams;
    uint32_t turn; // atomic
    slr_stream *stream[MOST];
};

slr_status slr_stream_set_create(slr_device *device, uint32_t streams, const slr_stream_desc *desc,
                                 slr_stream_set **out)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_stream_set_create: %s is NULL", device ? "out" : "device");
    if (streams < 1 || streams > MOST)
        return SLRI_FAIL(INVALID, "a set of %u streams was asked for; expected 1 to %d", streams, MOST);
    struct slr_stream_set *set = slri_alloc(device->allocator, sizeof *set);
    if (!set)
        return SLRI_FAIL(NO_MEMORY, "no memory for a set of streams");
    slri_device_hold(device);
    set->device = device;
    for (; set->streams < streams; ++set->streams) {
        slr_status status = slr_stream_create(device, desc, &set->stream[set->streams]);
        if (status == SLR_OK)
            continue;
        slr_stream_set_destroy(set);
        return status;
    }
    *out = set;
    return SLR_OK;
}

slr_stream *slr_stream_set_next(slr_stream_set *set)
{
    // Relaxed: any order of turns will do.
    return set ? set->stream[__atomic_fetch_add(&set->turn, 1, __ATOMIC_RELAXED) % set->streams] : NULL;
}

slr_status slr_stream_set_finish(slr_stream_set *set, uint64_t timeout_ns)
{
    SLRI_OBSERVE_SITE(false);
    if (!set)
        return SLRI_FAIL(INVALID, "slr_stream_set_finish: set is NULL");
    uint64_t deadline_ns = slri_deadline_after(timeout_ns);
    for (uint32_t i = 0; i < set->streams; ++i) {
        slr_point point;
        SLRI_TRY(slr_stream_signal(set->stream[i], &point));
        SLRI_TRY(slri_queue_wait(&point.stream->queue, point.value, deadline_ns));
    }
    return SLR_OK;
}

void slr_stream_set_destroy(slr_stream_set *set)
{
    if (!set || slri_device_is_anothers(set->device))
        return;
    for (uint32_t i = 0; i < set->streams; ++i)
        slr_stream_destroy(set->stream[i]);
    slr_device *device = set->device;
    slri_free(device->allocator, set, sizeof *set);
    slri_device_release(device);
}
