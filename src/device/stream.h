// SPDX-License-Identifier: Apache-2.0
// Streams, for the layers above and for what submits to them.
#ifndef SLRI_DEVICE_STREAM_H
#define SLRI_DEVICE_STREAM_H

#include "base/links.h"
#include "device/coherence.h"

#include <slipring/stream.h>

struct slr_stream {
    struct slri_queue queue;
    slr_device *device;
    // Under the lock of all queues.
    bool given_up;               // destroyed by its owner: freed when it is idle and nobody awaits it
    struct slr_graph *recording; // or NULL: what is submitted goes there; atomic, and changed under the lock
    struct slri_link of_device, in_given_up; // in the device's lists
    uint32_t track;                          // observe's; atomic: 0 until it is first seen
};

// What is to be submitted. All of it is copied. The buffers used are held until it is done; what they need moved is put
// before it, and submissions of other streams that use the same bytes, and write or are written to, are waited for.
struct slri_work {
    const struct slri_command *command;
    const slr_point *wait;             // begins after these too
    const struct slri_buffer_use *use; // of one command: in the order of its addresses (graph.c follows it)
    uint32_t commands, waits, uses;
    void (*settle)(void *user); // NULL, or called once when the commands are done, and before the point has passed
    void *user;
};

// The one way in. `out` may be NULL. On an error `settle` is not called.
// Errors: NO_MEMORY, WRONG_STATE (a range used is mapped).
slr_status slri_stream_submit(slr_stream *stream, const struct slri_work *work, slr_point *out);

// Does commands at once, in the calling thread.
slr_status slri_device_run(slr_device *device, const struct slri_command *command, uint32_t commands);

// Whether everything up to `value` is done; what it wrote is visible.
static inline bool slri_stream_passed(const slr_stream *stream, uint64_t value)
{
    return slri_queue_passed(&stream->queue, value);
}

// Keeps the stream's points valid, also behind its destroy. Not a hold on the device.
void slri_stream_hold(slr_stream *stream);
void slri_stream_release(slr_stream *stream);

// At close: ends what is compiled ahead, and waits until all work of the device's streams is done. False, and nothing
// done: the caller is in a host function of one of them, and would wait for itself.
bool slri_streams_close(slr_device *device);
// Drops the default stream of a lost device; the next is another. Errors: WRONG_STATE (there are others, or it is
// waited for).
slr_status slri_streams_reset(slr_device *device);
void slri_streams_free(slr_device *device); // when nothing holds the device any more

#endif
