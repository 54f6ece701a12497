// SPDX-License-Identifier: Apache-2.0
// Queues: a command queue of Metal each, so that streams encode side by side, nobody locks anything for it, and none
// waits for another's commands (engine/buffered_queue.h). An event tells the host of a command buffer's end.
#include "base/clock.h"
#include "base/status.h"
#include "hal/metal/metal.h"

#define SLICE_MS 100u // so long a wait sleeps before it looks whether what it waits for has failed

struct slri_mt_queue {
    struct slri_buffered_queue base;
    slri_mt_id queue, event;
    slri_mt_id open;                      // the command buffer that is encoded into; NULL: none
    uint64_t value;                       // of the event, behind the newest that was committed
    slri_mt_id submit[SLRI_MOST_SUBMITS]; // command buffers that were committed
    struct slri_mt_recorder recorder;
};

static struct slri_mt_queue *of(struct slri_buffered_queue *queue)
{
    return (struct slri_mt_queue *)queue;
}

// ---- life ----------------------------------------------------------------------------------------------------------

static void drop_open(struct slri_metal *metal, struct slri_mt_queue *queue)
{
    if (queue->recorder.encoder)
        slri_mt_recorder_end(&queue->recorder);
    slri_mt_release(metal, queue->open);
    queue->open = NULL;
}

static void free_queue(struct slri_buffered_queue *base)
{
    struct slri_mt_queue *queue = of(base);
    struct slri_metal *metal = queue->recorder.metal;
    if (!slri_hangs(&metal->base.loss)) {
        drop_open(metal, queue);
        for (uint32_t i = 0; i < base->submits; ++i)
            slri_mt_release(metal, queue->submit[i]);
        slri_mt_release(metal, queue->recorder.stage.buffer);
        slri_mt_release(metal, queue->event);
        slri_mt_release(metal, queue->queue);
    }
    slri_buffered_free(base);
}

// ---- committing ----------------------------------------------------------------------------------------------------

static slr_status begin_encoder(struct slri_metal *metal, struct slri_mt_queue *queue)
{
    slri_mt_id encoder = SLRI_MT(metal->mt, queue->open, encoder);
    if (!encoder)
        return slri_mt_nothing(metal, "computeCommandEncoder");
    slri_mt_recorder_begin(&queue->recorder, SLRI_MT(metal->mt, encoder, retain));
    slri_count(&metal->counts.encoders, 1);
    return SLR_OK;
}

static slr_status open_commands(struct slri_buffered_queue *base)
{
    struct slri_mt_queue *queue = of(base);
    struct slri_metal *metal = queue->recorder.metal;
    slri_mt_id commands = SLRI_MT(metal->mt, queue->queue, command_buffer);
    if (!commands)
        return slri_mt_nothing(metal, "commandBuffer");
    queue->open = SLRI_MT(metal->mt, commands, retain);
    slri_count(&metal->counts.command_buffers, 1);
    slr_status status = begin_encoder(metal, queue);
    if (status != SLR_OK)
        drop_open(metal, queue);
    return status;
}

static slr_status commit(struct slri_buffered_queue *base)
{
    struct slri_mt_queue *queue = of(base);
    const struct slri_mt_runtime *mt = queue->recorder.metal->mt;
    slri_mt_recorder_end(&queue->recorder);
    SLRI_MT_WITH(mt, queue->open, signal, queue->event, ++queue->value);
    SLRI_MT(mt, queue->open, commit);
    queue->submit[base->submits] = queue->open;
    queue->open = NULL;
    return SLR_OK;
}

// ---- waiting -------------------------------------------------------------------------------------------------------

static slr_status await_event(struct slri_metal *metal, struct slri_mt_queue *queue, uint64_t deadline_ns)
{
    slri_mt_id last = queue->submit[queue->base.submits - 1];
    for (;;) {
        const uint64_t now_ns = slri_now_ns();
        const uint64_t left_ms = deadline_ns > now_ns ? (deadline_ns - now_ns) / 1000000 + 1 : 0;
        if (SLRI_MT_WITH(metal->mt, queue->event, await, queue->value, left_ms < SLICE_MS ? left_ms : SLICE_MS) ||
            SLRI_MT(metal->mt, last, status) >= SLRI_MT_COMPLETED) // what has failed may never signal
            return SLR_OK;
        if (left_ms == 0)
            return slri_lose_hung(&metal->base.loss, NULL);
    }
}

// The device is at the end of what it was given: the wait is for Metal to say so.
static slr_status await_begun(struct slri_buffered_queue *base, uint64_t deadline_ns)
{
    struct slri_mt_queue *queue = of(base);
    struct slri_metal *metal = queue->recorder.metal;
    SLRI_TRY(await_event(metal, queue, deadline_ns));
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < base->submits; ++i) {
        SLRI_MT(metal->mt, queue->submit[i], wait);
        const slr_status one = slri_mt_check(metal, queue->submit[i]);
        status = status == SLR_OK || one == SLR_DEVICE_LOST ? one : status;
    }
    return status;
}

// Metal says seconds: a tick is a nanosecond.
static slr_status read_ticks(struct slri_buffered_queue *base, uint32_t submit, uint64_t *from, uint64_t *to)
{
    const struct slri_mt_queue *queue = of(base);
    const struct slri_mt_runtime *mt = queue->recorder.metal->mt;
    const double began_s = SLRI_MT(mt, queue->submit[submit], began),
                 ended_s = SLRI_MT(mt, queue->submit[submit], ended);
    if (ended_s > 0) {
        *from = (uint64_t)(began_s * 1e9);
        *to = (uint64_t)(ended_s * 1e9);
    }
    return SLR_OK;
}

static slr_status settle(struct slri_buffered_queue *base, slr_status status)
{
    struct slri_mt_queue *queue = of(base);
    struct slri_metal *metal = queue->recorder.metal;
    for (uint32_t i = 0; !slri_hangs(&metal->base.loss) && i < base->submits; ++i)
        slri_mt_release(metal, queue->submit[i]);
    return status;
}

// ---- copies through the stage --------------------------------------------------------------------------------------

static slr_status grow_stage(struct slri_buffered_queue *base, uint64_t bytes)
{
    struct slri_mt_recorder *recorder = &of(base)->recorder;
    struct slri_mt_chunk larger;
    SLRI_TRY(slri_mt_buffer_make(recorder->metal, bytes, true, &larger));
    slri_mt_release(recorder->metal, recorder->stage.buffer);
    recorder->stage = larger;
    base->stage.host = larger.host;
    base->stage.bytes = bytes;
    return SLR_OK;
}

static slr_status copy_staged(struct slri_buffered_queue *base, bool in, const void *device, uint64_t at,
                              uint64_t bytes)
{
    return slri_mt_record_staged(&of(base)->recorder, in, device, at, bytes);
}

// ---- encoding ------------------------------------------------------------------------------------------------------

static slr_status record_command(struct slri_buffered_queue *base, const struct slri_command *command,
                                 const struct slri_extras *extras)
{
    struct slri_mt_recorder *recorder = &of(base)->recorder;
    const uint64_t bytes = slri_mt_record_needs(command);
    if (bytes > SLRI_STAGE_PART)
        return SLRI_FAIL(UNSUPPORTED, "device '%s': a launch has %llu B of arguments; at most %llu fit",
                         recorder->metal->base.name, (unsigned long long)bytes, (unsigned long long)SLRI_STAGE_PART);
    if (bytes != 0)
        SLRI_TRY(slri_buffered_take(base, bytes, &recorder->block_at));
    return slri_mt_record(recorder, command, extras);
}

static unsigned char *seen(struct slri_buffered_queue *base, const void *device)
{
    uint64_t offset;
    struct slri_mt_chunk chunk;
    slri_places_find(&of(base)->recorder.metal->base.chunks, device, &chunk, &offset);
    return chunk.host ? chunk.host + offset : NULL;
}

static slr_status make_objects(struct slri_metal *metal, struct slri_mt_queue *queue)
{
    queue->recorder.metal = metal;
    queue->base.ticks.ns_a_tick = 1;
    queue->base.ticks.mask = UINT64_MAX;
    queue->queue = SLRI_MT_WITH(metal->mt, metal->device, new_queue, SLRI_MOST_SUBMITS + 1);
    if (!queue->queue)
        return slri_mt_nothing(metal, "newCommandQueue");
    queue->event = SLRI_MT(metal->mt, metal->device, new_event);
    return queue->event ? SLR_OK : slri_mt_nothing(metal, "newSharedEvent");
}

// ---- slots ---------------------------------------------------------------------------------------------------------

static slr_status make_queue(void *device, uint32_t priority, void *queue)
{
    struct slri_metal *metal = device;
    (void)priority; // Metal has none
    void *pool = metal->mt->push_pool();
    slr_status status = make_objects(metal, queue);
    metal->mt->pop_pool(pool);
    return status;
}

const struct slri_buffered_calls slri_mt_queue_calls = {.bytes = sizeof(struct slri_mt_queue),
                                                        .make = make_queue,
                                                        .open = open_commands,
                                                        .read_ticks = read_ticks,
                                                        .record = record_command,
                                                        .submit = commit,
                                                        .await = await_begun,
                                                        .settle = settle,
                                                        .free = free_queue,
                                                        .grow = grow_stage,
                                                        .copy = copy_staged,
                                                        .seen = seen};
slr_status slri_mt_queue_create(void *device, uint32_t priority, void **queue)
{
    const struct slri_metal *metal = device;
    void *pool = metal->mt->push_pool();
    slr_status status = slri_buffered_queue_create(device, priority, queue);
    metal->mt->pop_pool(pool);
    return status;
}

void slri_mt_queue_destroy(void *device, void *queue)
{
    const struct slri_metal *metal = device;
    void *pool = metal->mt->push_pool();
    slri_buffered_destroy(device, queue);
    metal->mt->pop_pool(pool);
}

slr_status slri_mt_wait(void *device, void *queue, uint64_t deadline_ns, struct slri_times *times)
{
    const struct slri_metal *metal = device;
    void *pool = metal->mt->push_pool();
    slr_status status = slri_buffered_wait(device, queue, deadline_ns, times);
    metal->mt->pop_pool(pool);
    return status;
}

slr_status slri_mt_encode(void *device, void *queue, const struct slri_command *command,
                          const struct slri_extras *extras, uint32_t commands)
{
    const struct slri_metal *metal = device;
    void *pool = metal->mt->push_pool();
    slr_status status = slri_buffered_encode(device, queue, command, extras, commands);
    metal->mt->pop_pool(pool);
    return status;
}
