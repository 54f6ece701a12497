// SPDX-License-Identifier: Apache-2.0
// Queues: a command queue of Metal each, so that streams encode side by side, nobody locks anything for it, and none
// waits for another's commands. A command buffer is committed at the last command before a wait, when it has much, or
// when it is waited for. An event tells the host of its end.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "engine/kept_list.h"
#include "hal/metal/metal.h"

#include <string.h>

#define MOST_SUBMITS 8u             // before the first is waited for
#define MOST_RECORDED 64u           // commands of one command buffer; a list counts as one
#define MOST_BACKS 256u             // copies out that the host completes
#define END_NS UINT64_C(2000000000) // for what a lost device still does
#define SLICE_MS 100u               // so long a wait sleeps before it looks whether what it waits for has failed

struct slri_mt_queue {
    slri_mt_id queue, event;
    slri_mt_id open;   // the command buffer that is encoded into; NULL: none
    bool is_timed;     // that one
    uint64_t value;    // of the event, behind the newest that was committed
    uint32_t recorded; // in the open one
    struct submit {
        slri_mt_id commands;
        bool is_timed;
    } submit[MOST_SUBMITS];
    uint32_t submits;    // since the last wait
    double from_s, to_s; // when the device was at what was timed, since the last wait; 0: at nothing
    struct slri_mt_recorder recorder;
    struct back {
        unsigned char *to;
        uint64_t at, bytes; // in the stage
    } back[MOST_BACKS];
    uint32_t backs;
};

// ---- life ----------------------------------------------------------------------------------------------------------

static void drop_open(struct slri_metal *metal, struct slri_mt_queue *queue)
{
    if (queue->recorder.encoder)
        slri_mt_recorder_end(&queue->recorder);
    slri_mt_release(metal, queue->open);
    queue->open = NULL;
}

static void free_objects(struct slri_metal *metal, struct slri_mt_queue *queue)
{
    if (!slri_mt_hangs(metal)) {
        drop_open(metal, queue);
        for (uint32_t i = 0; i < queue->submits; ++i)
            slri_mt_release(metal, queue->submit[i].commands);
        slri_mt_release(metal, queue->recorder.stage.buffer);
        slri_mt_release(metal, queue->event);
        slri_mt_release(metal, queue->queue);
    }
    slri_free(metal->allocator, queue, sizeof *queue);
}

slr_status slri_mt_queue_create(void *device, uint32_t priority, void **queue)
{
    struct slri_metal *metal = device;
    (void)priority; // Metal has none
    SLRI_TRY(slri_loss_check(&metal->loss));
    struct slri_mt_queue *made = slri_alloc(metal->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a queue", metal->name);
    void *pool = metal->mt->push_pool();
    made->recorder.metal = metal;
    made->queue = SLRI_MT_WITH(metal->mt, metal->device, new_queue, MOST_SUBMITS + 1);
    made->event = made->queue ? SLRI_MT(metal->mt, metal->device, new_event) : NULL;
    metal->mt->pop_pool(pool);
    if (made->event) {
        *queue = made;
        return SLR_OK;
    }
    slr_status status = slri_mt_nothing(metal, made->queue ? "newSharedEvent" : "newCommandQueue");
    free_objects(metal, made);
    return status;
}

// ---- committing ----------------------------------------------------------------------------------------------------

static slr_status begin_encoder(struct slri_metal *metal, struct slri_mt_queue *queue)
{
    slri_mt_id encoder = SLRI_MT(metal->mt, queue->open, encoder);
    if (!encoder)
        return slri_mt_nothing(metal, "computeCommandEncoder");
    slri_mt_recorder_begin(&queue->recorder, SLRI_MT(metal->mt, encoder, retain));
    slri_mt_count(&metal->counts.encoders);
    return SLR_OK;
}

static slr_status open_commands(struct slri_metal *metal, struct slri_mt_queue *queue)
{
    if (queue->open)
        return SLR_OK;
    slri_mt_id commands = SLRI_MT(metal->mt, queue->queue, command_buffer);
    if (!commands)
        return slri_mt_nothing(metal, "commandBuffer");
    queue->open = SLRI_MT(metal->mt, commands, retain);
    queue->is_timed = false;
    slri_mt_count(&metal->counts.command_buffers);
    slr_status status = begin_encoder(metal, queue);
    if (status != SLR_OK)
        drop_open(metal, queue);
    return status;
}

static void commit(struct slri_metal *metal, struct slri_mt_queue *queue)
{
    if (!queue->open)
        return;
    slri_mt_recorder_end(&queue->recorder);
    SLRI_MT_WITH(metal->mt, queue->open, signal, queue->event, ++queue->value);
    SLRI_MT(metal->mt, queue->open, commit);
    queue->submit[queue->submits++] = (struct submit){queue->open, queue->is_timed};
    queue->open = NULL;
    queue->recorded = 0;
}

// ---- waiting -------------------------------------------------------------------------------------------------------

static slr_status await_event(struct slri_metal *metal, struct slri_mt_queue *queue, uint64_t deadline_ns)
{
    slri_mt_id last = queue->submit[queue->submits - 1].commands;
    for (;;) {
        const uint64_t now_ns = slri_now_ns();
        const uint64_t left_ms = deadline_ns > now_ns ? (deadline_ns - now_ns) / 1000000 + 1 : 0;
        if (SLRI_MT_WITH(metal->mt, queue->event, await, queue->value, left_ms < SLICE_MS ? left_ms : SLICE_MS) ||
            SLRI_MT(metal->mt, last, status) >= SLRI_MT_COMPLETED) // what has failed may never signal
            return SLR_OK;
        if (left_ms == 0) {
            __atomic_store_n(&metal->hangs, true, __ATOMIC_RELAXED);
            return slri_lose(&metal->loss, "a command did not end in time");
        }
    }
}

static void note_times(const struct slri_metal *metal, struct slri_mt_queue *queue, const struct submit *submit)
{
    if (!submit->is_timed)
        return;
    const double from_s = SLRI_MT(metal->mt, submit->commands, began),
                 to_s = SLRI_MT(metal->mt, submit->commands, ended);
    queue->from_s = queue->to_s == 0 || from_s < queue->from_s ? from_s : queue->from_s;
    queue->to_s = to_s > queue->to_s ? to_s : queue->to_s;
}

// The device is at the end of what it was given: the wait is for Metal to say so.
static slr_status await_begun(struct slri_metal *metal, struct slri_mt_queue *queue, uint64_t deadline_ns)
{
    SLRI_TRY(await_event(metal, queue, deadline_ns));
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < queue->submits; ++i) {
        SLRI_MT(metal->mt, queue->submit[i].commands, wait);
        const slr_status one = slri_mt_check(metal, queue->submit[i].commands);
        status = status == SLR_OK || one == SLR_DEVICE_LOST ? one : status;
        note_times(metal, queue, &queue->submit[i]);
        slri_mt_release(metal, queue->submit[i].commands);
    }
    queue->submits = 0;
    return status;
}

static slr_status finish(struct slri_metal *metal, struct slri_mt_queue *queue, uint64_t deadline_ns)
{
    slr_status status = SLR_OK;
    commit(metal, queue);
    if (queue->submits != 0)
        status = await_begun(metal, queue, deadline_ns);
    for (uint32_t i = 0; status == SLR_OK && i < queue->backs; ++i)
        memcpy(queue->back[i].to, queue->recorder.stage.host + queue->back[i].at, queue->back[i].bytes);
    queue->backs = 0;
    queue->recorder.staged = 0;
    return status;
}

// The device's clock is not the host's, so what it did ends now.
slr_status slri_mt_wait(void *device, void *queue, uint64_t deadline_ns, struct slri_times *times)
{
    struct slri_metal *metal = device;
    struct slri_mt_queue *of = queue;
    SLRI_TRY(slri_loss_check(&metal->loss));
    void *pool = metal->mt->push_pool();
    slr_status status = finish(metal, of, deadline_ns);
    metal->mt->pop_pool(pool);
    if (status == SLR_OK && times && of->to_s != 0) {
        times->to_ns = slri_now_ns();
        times->from_ns = times->to_ns - (uint64_t)((of->to_s - of->from_s) * 1e9);
    }
    of->from_s = of->to_s = 0;
    return status;
}

// Of a lost device it may have what nobody has waited for.
void slri_mt_queue_destroy(void *device, void *queue)
{
    struct slri_metal *metal = device;
    struct slri_mt_queue *dying = queue;
    void *pool = metal->mt->push_pool();
    if (dying->submits != 0 && !slri_mt_hangs(metal))
        (void)await_begun(metal, dying, slri_deadline_after(END_NS));
    free_objects(metal, dying);
    metal->mt->pop_pool(pool);
}

// ---- copies through the stage --------------------------------------------------------------------------------------

// In the midst of encoding, for room.
static slr_status drain(struct slri_metal *metal, struct slri_mt_queue *queue)
{
    const bool is_timed = queue->is_timed;
    SLRI_TRY(finish(metal, queue, slri_deadline_after(SLRI_MT_PATIENCE_NS)));
    SLRI_TRY(open_commands(metal, queue));
    queue->is_timed = is_timed;
    return SLR_OK;
}

static slr_status make_stage_room(struct slri_metal *metal, struct slri_mt_queue *queue, uint64_t bytes)
{
    struct slri_mt_recorder *recorder = &queue->recorder;
    if (!recorder->stage.buffer)
        SLRI_TRY(slri_mt_buffer_make(metal, SLRI_MT_STAGE_BYTES, true, &recorder->stage));
    if (bytes > SLRI_MT_STAGE_BYTES)
        return SLRI_FAIL(UNSUPPORTED, "device '%s': a launch has %llu B of arguments; at most %llu fit", metal->name,
                         (unsigned long long)bytes, (unsigned long long)SLRI_MT_STAGE_BYTES);
    return recorder->staged + bytes <= SLRI_MT_STAGE_BYTES && queue->backs < MOST_BACKS ? SLR_OK : drain(metal, queue);
}

static bool waits_for_back(const struct slri_mt_queue *queue, const unsigned char *host, uint64_t bytes)
{
    for (uint32_t i = 0; i < queue->backs; ++i)
        if (queue->back[i].to < host + bytes && host < queue->back[i].to + queue->back[i].bytes)
            return true;
    return false;
}

static slr_status copy_staged(struct slri_metal *metal, struct slri_mt_queue *queue, const struct slri_command *command)
{
    struct slri_mt_recorder *recorder = &queue->recorder;
    const bool in = command->op == SLRI_COPY_IN;
    unsigned char *device = command->copy.device, *host = command->copy.host;
    uint64_t part;
    if (in && waits_for_back(queue, host, command->copy.bytes))
        SLRI_TRY(drain(metal, queue));
    for (uint64_t left = command->copy.bytes; left != 0; left -= part) {
        part = left < SLRI_MT_STAGE_BYTES ? left : SLRI_MT_STAGE_BYTES;
        SLRI_TRY(make_stage_room(metal, queue, part));
        const uint64_t at = recorder->staged;
        recorder->staged += (part + 63) / 64 * 64;
        if (in)
            memcpy(recorder->stage.host + at, host, part);
        SLRI_TRY(slri_mt_record_staged(recorder, in, device, at, part));
        if (!in)
            queue->back[queue->backs++] = (struct back){host, at, part};
        device += part;
        host += part;
    }
    return SLR_OK;
}

// ---- encoding ------------------------------------------------------------------------------------------------------

static slr_status run(struct slri_metal *metal, struct slri_mt_queue *queue, const struct slri_command *command,
                      const struct slri_extras *extras)
{
    if (command->op <= SLRI_COPY_OUT)
        return copy_staged(metal, queue, command);
    const uint64_t bytes = slri_mt_record_needs(command);
    if (bytes != 0)
        SLRI_TRY(make_stage_room(metal, queue, bytes));
    return slri_mt_record(&queue->recorder, command, extras);
}

static slr_status run_list(struct slri_metal *metal, struct slri_mt_queue *queue, const struct slri_kept_list *list)
{
    for (uint32_t i = 0; i < list->count; ++i)
        SLRI_TRY(run(metal, queue, &list->part[i].command, &list->part[i].extras));
    return SLR_OK;
}

static slr_status encode_one(struct slri_metal *metal, struct slri_mt_queue *queue, const struct slri_command *command,
                             const struct slri_extras *extras)
{
    if (!queue->open && queue->submits == 0 && slri_mt_do_at_once(metal, command))
        return SLR_OK;
    if (queue->open && queue->is_timed != extras->wants_times && queue->recorded != 0)
        commit(metal, queue);
    if (queue->submits == MOST_SUBMITS)
        SLRI_TRY(finish(metal, queue, slri_deadline_after(SLRI_MT_PATIENCE_NS)));
    SLRI_TRY(open_commands(metal, queue));
    queue->is_timed = extras->wants_times;
    SLRI_TRY(command->op == SLRI_LIST ? run_list(metal, queue, command->list) : run(metal, queue, command, extras));
    if (++queue->recorded >= MOST_RECORDED || extras->is_last)
        commit(metal, queue);
    return SLR_OK;
}

slr_status slri_mt_encode(void *device, void *queue, const struct slri_command *command,
                          const struct slri_extras *extras, uint32_t commands)
{
    struct slri_metal *metal = device;
    slr_status status = slri_loss_check(&metal->loss);
    void *pool = metal->mt->push_pool();
    for (uint32_t i = 0; status == SLR_OK && i < commands; ++i)
        status = encode_one(metal, queue, &command[i], &extras[i]);
    metal->mt->pop_pool(pool);
    return status;
}
