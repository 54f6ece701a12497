// SPDX-License-Identifier: Apache-2.0
// Queues (engine/buffered_queue.h). All of a device's share its one WebGPU queue. Each submission has a read-back
// buffer of its own: what is copied out and the time stamps lie in it, and one map gives both.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "hal/webgpu/webgpu.h"

#include <stdio.h>

#define READ_BYTES 65536u   // of a read-back buffer at first, without the stamps
#define MOST_PART 33554432u // of what the library writes by itself at once
#define STAMP_BYTES (2u * SLRI_WG_MOST_PASSES * 8u)
#define TAIL_BYTES (STAMP_BYTES + 16u) // of a read-back buffer: behind the stamps the word by which kernels tell
#define LOOK_NS 50000u                 // so long a wait looks again at once
#define LONGEST_NAP_NS 1000000u

enum state { // of a submission; atomic
    NONE,    // it could not be submitted
    PENDING,
    DONE,
    FAILED
};

struct slri_wg_queue {
    struct slri_buffered_queue base;
    struct slri_wg_recorder recorder;
    struct submit {
        uint32_t state, stamped; // `state` is the library's while it is PENDING
        bool is_mapped;
        const char *told_by; // NULL, or a kernel that tells of loops
        WGPUBuffer read;     // NULL: none yet
        uint64_t read_bytes, read_used;
    } submit[SLRI_MOST_SUBMITS];

    WGPUBuffer stage; // what the host has written behind the first command of a submission: its shadow is base.stage
    uint64_t stage_serial, stage_sent;
    WGPUBuffer resolved;        // time stamps on their way
    struct slri_wg_queue *next; // of those that have gone, and whose states the library still writes
};

static struct slri_wg_queue *of(struct slri_buffered_queue *queue)
{
    return (struct slri_wg_queue *)queue;
}

static struct submit *open_submit(struct slri_wg_queue *queue)
{
    return &queue->submit[queue->base.submits];
}

// ---- life ----------------------------------------------------------------------------------------------------------

static void free_queue(struct slri_buffered_queue *base)
{
    struct slri_wg_queue *queue = of(base);
    struct slri_webgpu *webgpu = queue->recorder.webgpu;
    slri_wg_recorder_close(&queue->recorder);
    for (uint32_t i = 0; i < SLRI_MOST_SUBMITS; ++i)
        slri_wg_buffer_free(webgpu, queue->submit[i].read);
    slri_wg_buffer_free(webgpu, queue->stage);
    slri_wg_buffer_free(webgpu, queue->resolved);
    slri_free(webgpu->base.allocator, base->stage.host, base->stage.bytes);
    bool is_written = false;
    for (uint32_t i = 0; i < SLRI_MOST_SUBMITS; ++i)
        is_written |= __atomic_load_n(&queue->submit[i].state, __ATOMIC_ACQUIRE) == PENDING;
    if (!is_written) {
        slri_buffered_free(base);
        return;
    }
    slri_mutex_lock(&webgpu->buried_lock);
    queue->next = webgpu->buried;
    webgpu->buried = queue;
    slri_mutex_unlock(&webgpu->buried_lock);
}

void slri_wg_queues_forget(struct slri_webgpu *webgpu)
{
    for (struct slri_wg_queue *each = webgpu->buried, *next; each; each = next) {
        next = each->next;
        slri_buffered_free(&each->base);
    }
    webgpu->buried = NULL;
}

// ---- submissions ---------------------------------------------------------------------------------------------------

// Nothing is made before it is needed: what the library writes by itself needs no encoder.
static slr_status open_commands(struct slri_buffered_queue *base)
{
    struct submit *submit = open_submit(of(base));
    submit->state = NONE;
    submit->is_mapped = false;
    submit->stamped = 0;
    submit->told_by = NULL;
    submit->read_used = 0;
    return SLR_OK;
}

// The library calls them while somebody polls the device: their words come before the state.
static void note_mapped(uint32_t status, WGPUStringView message, void *user, void *unused)
{
    struct submit *submit = user;
    (void)message, (void)unused;
    __atomic_store_n(&submit->state, status == WGPUMapAsyncStatus_Success ? DONE : FAILED, __ATOMIC_RELEASE);
}

static void note_done(uint32_t status, WGPUStringView message, void *user, void *unused)
{
    struct submit *submit = user;
    (void)message, (void)unused;
    __atomic_store_n(&submit->state, status == WGPUQueueWorkDoneStatus_Success ? DONE : FAILED, __ATOMIC_RELEASE);
}

static slr_status grow_read(struct slri_webgpu *webgpu, struct submit *submit, uint64_t bytes)
{
    uint64_t room = READ_BYTES;
    WGPUBuffer larger;
    while (room < bytes)
        room *= 2;
    if (submit->read_bytes >= room)
        return SLR_OK;
    SLRI_TRY(
        slri_wg_buffer_make(webgpu, room + TAIL_BYTES, WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, &larger));
    slri_wg_buffer_free(webgpu, submit->read);
    submit->read = larger;
    submit->read_bytes = room;
    return SLR_OK;
}

static slr_status take_word(struct slri_webgpu *webgpu, struct slri_wg_queue *queue, struct submit *submit)
{
    struct slri_wg_recorder *recorder = &queue->recorder;
    submit->told_by = recorder->told_by;
    recorder->told_by = NULL;
    if (!submit->told_by)
        return SLR_OK;
    SLRI_TRY(grow_read(webgpu, submit, 1));
    webgpu->lib->CommandEncoderCopyBufferToBuffer(recorder->encoder, recorder->ended, 0, submit->read,
                                                  submit->read_bytes + STAMP_BYTES, 16);
    return SLR_OK;
}

// The stamps lie behind what is copied out.
static slr_status take_stamps(struct slri_webgpu *webgpu, struct slri_wg_queue *queue, struct submit *submit)
{
    const struct slri_wg_library *lib = webgpu->lib;
    const struct slri_wg_recorder *recorder = &queue->recorder;
    submit->stamped = recorder->stamped;
    if (submit->stamped == 0)
        return SLR_OK;
    SLRI_TRY(grow_read(webgpu, submit, 1));
    lib->CommandEncoderResolveQuerySet(recorder->encoder, recorder->stamps, 0, 2 * submit->stamped, queue->resolved, 0);
    lib->CommandEncoderCopyBufferToBuffer(recorder->encoder, queue->resolved, 0, submit->read, submit->read_bytes,
                                          16 * (uint64_t)submit->stamped);
    slri_count(&webgpu->counts.timestamp_resolves, 1);
    return SLR_OK;
}

static slr_status end_commands(struct slri_webgpu *webgpu, struct slri_wg_queue *queue, WGPUCommandBuffer *out)
{
    struct slri_wg_recorder *recorder = &queue->recorder;
    struct submit *submit = open_submit(queue);
    *out = NULL;
    if (!recorder->encoder)
        return SLR_OK;
    slri_wg_recorder_end_pass(recorder);
    slr_status status = take_stamps(webgpu, queue, submit);
    if (status == SLR_OK)
        status = take_word(webgpu, queue, submit);
    *out = webgpu->lib->CommandEncoderFinish(recorder->encoder, NULL);
    webgpu->lib->CommandEncoderRelease(recorder->encoder);
    recorder->encoder = NULL;
    recorder->stamped = 0;
    slr_status finished = slri_wg_check(webgpu, "CommandEncoderFinish");
    return status == SLR_OK ? finished : status;
}

static slr_status send(struct slri_webgpu *webgpu, struct slri_wg_queue *queue, WGPUCommandBuffer commands)
{
    struct submit *submit = open_submit(queue);
    const struct slri_stage *stage = &queue->base.stage;
    const struct slri_wg_library *lib = webgpu->lib;
    slri_wg_recorder_send(&queue->recorder);
    if (queue->stage_sent != stage->used)
        lib->QueueWriteBuffer(webgpu->queue, queue->stage, queue->stage_sent, stage->host + queue->stage_sent,
                              stage->used - queue->stage_sent);
    queue->stage_sent = stage->used;
    SLRI_TRY(slri_wg_check(webgpu, "QueueWriteBuffer"));
    lib->QueueSubmit(webgpu->queue, commands ? 1 : 0, &commands);
    SLRI_TRY(slri_wg_check(webgpu, "QueueSubmit"));
    slri_count(&webgpu->counts.submits, 1);
    const bool has_tail = submit->stamped != 0 || submit->told_by;
    submit->is_mapped = submit->read_used != 0 || has_tail;
    submit->state = PENDING;
    if (submit->is_mapped) {
        const WGPUBufferMapCallbackInfo then = {
            .mode = WGPUCallbackMode_AllowSpontaneous, .callback = note_mapped, .userdata1 = submit};
        const uint64_t bytes = has_tail ? submit->read_bytes + TAIL_BYTES : submit->read_used;
        slri_count(&webgpu->counts.maps, 1);
        lib->BufferMapAsync(submit->read, WGPUMapMode_Read, 0, bytes, then);
        return slri_wg_check(webgpu, "BufferMapAsync");
    }
    const WGPUQueueWorkDoneCallbackInfo then = {
        .mode = WGPUCallbackMode_AllowSpontaneous, .callback = note_done, .userdata1 = submit};
    lib->QueueOnSubmittedWorkDone(webgpu->queue, then);
    return slri_wg_check(webgpu, "QueueOnSubmittedWorkDone");
}

static slr_status submit_open(struct slri_buffered_queue *base)
{
    struct slri_wg_queue *queue = of(base);
    struct slri_webgpu *webgpu = queue->recorder.webgpu;
    WGPUCommandBuffer commands;
    slr_status status = end_commands(webgpu, queue, &commands);
    if (status == SLR_OK)
        status = send(webgpu, queue, commands);
    if (commands && !slri_hangs(&webgpu->base.loss))
        webgpu->lib->CommandBufferRelease(commands);
    return status;
}

// ---- waiting -------------------------------------------------------------------------------------------------------

static void nap(uint64_t waited_ns)
{
    if (waited_ns < LOOK_NS)
        slri_yield();
    else
        slri_sleep_ns(waited_ns / 8 < LONGEST_NAP_NS ? waited_ns / 8 : LONGEST_NAP_NS);
}

// The library's own waiting knows no deadline, and what hangs would never come back from it: so it is asked again and
// again. What a poll complains of is told when the submission has ended: until then the library writes its state.
static slr_status await_one(struct slri_webgpu *webgpu, struct submit *submit, uint64_t deadline_ns)
{
    const uint64_t began_ns = slri_now_ns();
    slr_status complaint = SLR_OK;
    for (;;) {
        const uint32_t state = __atomic_load_n(&submit->state, __ATOMIC_ACQUIRE);
        if (state == DONE || state == NONE)
            return complaint;
        if (state == FAILED)
            return slri_is_lost(&webgpu->base.loss) ? slri_loss_say(&webgpu->base.loss)
                                                    : slri_lose(&webgpu->base.loss, "what was submitted was given up");
        webgpu->lib->DevicePoll(webgpu->device, 0, NULL);
        slr_status status = slri_wg_check(webgpu, "DevicePoll");
        if (status == SLR_DEVICE_LOST)
            return status;
        complaint = complaint == SLR_OK ? status : complaint;
        if (__atomic_load_n(&submit->state, __ATOMIC_ACQUIRE) != PENDING)
            continue;
        const uint64_t now_ns = slri_now_ns();
        if (now_ns >= deadline_ns)
            return slri_lose_hung(&webgpu->base.loss, NULL);
        nap(now_ns - began_ns);
    }
}

// All of them, unless the device is lost: the place of one that the library still writes is not another's.
static slr_status await_begun(struct slri_buffered_queue *base, uint64_t deadline_ns)
{
    struct slri_wg_queue *queue = of(base);
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < base->submits && status != SLR_DEVICE_LOST; ++i) {
        const slr_status one = await_one(queue->recorder.webgpu, &queue->submit[i], deadline_ns);
        status = status == SLR_OK || one == SLR_DEVICE_LOST ? one : status;
    }
    return status;
}

static slr_status read_back(struct slri_webgpu *webgpu, const struct submit *submit, uint64_t at, uint64_t bytes,
                            const void **out)
{
    *out = webgpu->lib->BufferGetConstMappedRange(submit->read, at, bytes);
    return *out ? SLR_OK : slri_lose(&webgpu->base.loss, "wgpuBufferGetConstMappedRange gives nothing");
}

// What was stamped, also where it is waited for in the midst of encoding, to which nobody listens.
static slr_status note_stamps(struct slri_webgpu *webgpu, struct slri_wg_queue *queue)
{
    uint64_t tick[2 * SLRI_WG_MOST_PASSES];
    for (uint32_t i = 0; i < queue->base.submits; ++i) {
        const struct submit *submit = &queue->submit[i];
        const void *stamps;
        if (!submit->is_mapped || submit->stamped == 0)
            continue;
        SLRI_TRY(read_back(webgpu, submit, submit->read_bytes, 16 * (uint64_t)submit->stamped, &stamps));
        memcpy(tick, stamps, 16 * (size_t)submit->stamped);
        for (uint32_t k = 0; k < submit->stamped; ++k)
            slri_buffered_note_ticks(&queue->base, tick[2 * k], tick[2 * k + 1]);
    }
    return SLR_OK;
}

// Whether the driver has ended a loop of what was submitted.
static slr_status look(struct slri_webgpu *webgpu, const struct slri_wg_queue *queue)
{
    static const uint32_t none[4];
    for (uint32_t i = 0; i < queue->base.submits; ++i) {
        const struct submit *submit = &queue->submit[i];
        const void *told;
        uint32_t word;
        char kernel[96];
        if (!submit->is_mapped || !submit->told_by)
            continue;
        SLRI_TRY(read_back(webgpu, submit, submit->read_bytes + STAMP_BYTES, 16, &told));
        memcpy(&word, told, sizeof word);
        if (word == 0)
            continue;
        webgpu->lib->QueueWriteBuffer(webgpu->queue, queue->recorder.ended, 0, none, sizeof none);
        snprintf(kernel, sizeof kernel, "kernel %s, or one before it", submit->told_by);
        return slri_canary_ended(&webgpu->base.canary, webgpu->base.name, kernel);
    }
    return SLR_OK;
}

static slr_status view_back(struct slri_buffered_queue *base, const struct slri_back *back, const void **bytes)
{
    struct slri_wg_queue *queue = of(base);
    const uint64_t lead = back->at % 8;
    const void *from;
    SLRI_TRY(read_back(queue->recorder.webgpu, &queue->submit[back->submit], back->at - lead,
                       (lead + back->bytes + 3) / 4 * 4, &from));
    *bytes = (const unsigned char *)from + lead;
    return SLR_OK;
}

// Its states are the library's where it hangs.
static slr_status settle(struct slri_buffered_queue *base, slr_status status)
{
    struct slri_wg_queue *queue = of(base);
    struct slri_webgpu *webgpu = queue->recorder.webgpu;
    if (status == SLR_OK)
        status = note_stamps(webgpu, queue);
    if (status == SLR_OK)
        status = look(webgpu, queue);
    queue->stage_sent = 0;
    for (uint32_t i = 0; !slri_hangs(&webgpu->base.loss) && i < base->submits; ++i) {
        struct submit *submit = &queue->submit[i];
        if (submit->is_mapped && __atomic_load_n(&submit->state, __ATOMIC_ACQUIRE) == DONE)
            webgpu->lib->BufferUnmap(submit->read);
        submit->is_mapped = false;
    }
    return status;
}

// ---- copies --------------------------------------------------------------------------------------------------------

static slr_status grow_stage(struct slri_buffered_queue *base, uint64_t bytes)
{
    struct slri_wg_queue *queue = of(base);
    struct slri_webgpu *webgpu = queue->recorder.webgpu;
    WGPUBuffer larger;
    unsigned char *shadow = slri_alloc(webgpu->base.allocator, bytes);
    if (!shadow)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory to copy by", webgpu->base.name);
    slr_status status = slri_wg_buffer_make(
        webgpu, bytes, WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst, &larger);
    if (status != SLR_OK) {
        slri_free(webgpu->base.allocator, shadow, bytes);
        return status;
    }
    slri_wg_buffer_free(webgpu, queue->stage);
    slri_free(webgpu->base.allocator, base->stage.host, base->stage.bytes);
    queue->stage = larger;
    queue->stage_serial = slri_wg_serial(webgpu);
    base->stage.host = shadow;
    base->stage.bytes = bytes;
    return SLR_OK;
}

// In the read-back buffer of the open submission.
static slr_status take_read(struct slri_buffered_queue *base, uint64_t bytes, uint64_t *at)
{
    struct slri_wg_queue *queue = of(base);
    const uint64_t words = (bytes + 7) / 8 * 8;
    if (open_submit(queue)->read_used != 0 && open_submit(queue)->read_used + words > open_submit(queue)->read_bytes)
        SLRI_TRY(slri_buffered_cut(base));
    struct submit *submit = open_submit(queue);
    SLRI_TRY(grow_read(queue->recorder.webgpu, submit, submit->read_used + words));
    *at = submit->read_used;
    submit->read_used += words;
    return SLR_OK;
}

// Out: the whole words around.
static slr_status copy_staged(struct slri_buffered_queue *base, bool in, const void *device, uint64_t at,
                              uint64_t bytes)
{
    struct slri_wg_queue *queue = of(base);
    struct slri_wg_recorder *recorder = &queue->recorder;
    struct slri_wg_range there = {.bytes = bytes}, here = {queue->stage, queue->stage_serial, at, bytes};
    const struct slri_wg_chunk chunk = slri_wg_find(recorder->webgpu, device, &there.at);
    there.buffer = chunk.buffer;
    there.serial = chunk.serial;
    if (in)
        return slri_wg_record_copy(recorder, &here, &there);
    const uint64_t lead = at % 4;
    there.at -= lead;
    there.bytes = (lead + bytes + 3) / 4 * 4;
    here = (struct slri_wg_range){open_submit(queue)->read, 0, at - lead, there.bytes};
    return slri_wg_record_copy(recorder, &there, &here);
}

// In front of all commands of a submission the library writes whole words by itself.
static bool reaches(struct slri_buffered_queue *base, const struct slri_command *command)
{
    return command->op == SLRI_COPY_IN && !of(base)->recorder.encoder && (uintptr_t)command->copy.device % 4 == 0 &&
           command->copy.bytes >= 4;
}

// What it writes lies in memory of its own until it is submitted: a long copy is so part by part.
static slr_status write_words(struct slri_buffered_queue *base, const struct slri_command *command)
{
    struct slri_webgpu *webgpu = of(base)->recorder.webgpu;
    unsigned char *device = command->copy.device, *host = command->copy.host;
    const uint64_t words = command->copy.bytes / 4 * 4;
    uint64_t at;
    const struct slri_wg_chunk chunk = slri_wg_find(webgpu, device, &at);
    for (uint64_t done = 0; done < words; done += MOST_PART) {
        const uint64_t bytes = words - done < MOST_PART ? words - done : MOST_PART;
        if (done != 0)
            SLRI_TRY(slri_buffered_cut(base));
        webgpu->lib->QueueWriteBuffer(webgpu->queue, chunk.buffer, at + done, host + done, bytes);
        SLRI_TRY(slri_wg_check(webgpu, "QueueWriteBuffer"));
    }
    return slri_buffered_copy(base, true, device + words, host + words, command->copy.bytes - words);
}

// ---- encoding ------------------------------------------------------------------------------------------------------

static slr_status make_ready(struct slri_buffered_queue *base, const struct slri_command *command)
{
    struct slri_wg_recorder *recorder = &of(base)->recorder;
    if (!slri_wg_recorder_has_room(recorder, command)) {
        SLRI_TRY(slri_buffered_drain(base));
        slri_wg_recorder_clear(recorder);
    }
    if (!slri_wg_recorder_has_room(recorder, command))
        return slri_wg_recorder_refuse(recorder, command);
    return recorder->stamped == SLRI_WG_MOST_PASSES ? slri_buffered_cut(base) : SLR_OK;
}

static slr_status record_command(struct slri_buffered_queue *base, const struct slri_command *command,
                                 const struct slri_extras *extras)
{
    return command->op == SLRI_COPY_IN ? write_words(base, command)
                                       : slri_wg_record(&of(base)->recorder, command, extras);
}

static slr_status make_queue(void *device, uint32_t priority, void *made)
{
    struct slri_webgpu *webgpu = device;
    struct slri_wg_queue *queue = made;
    (void)priority; // a device has one queue
    queue->base.ticks.ns_a_tick = (double)webgpu->facts.ns_a_tick;
    queue->base.ticks.mask = UINT64_MAX;
    SLRI_TRY(slri_wg_recorder_open(&queue->recorder, webgpu));
    return queue->recorder.stamps
               ? slri_wg_buffer_make(webgpu, STAMP_BYTES, WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc,
                                     &queue->resolved)
               : SLR_OK;
}

const struct slri_buffered_calls slri_wg_queue_calls = {.bytes = sizeof(struct slri_wg_queue),
                                                        .make = make_queue,
                                                        .splits_lists = true,
                                                        .open = open_commands,
                                                        .ready = make_ready,
                                                        .record = record_command,
                                                        .submit = submit_open,
                                                        .await = await_begun,
                                                        .settle = settle,
                                                        .free = free_queue,
                                                        .grow = grow_stage,
                                                        .copy = copy_staged,
                                                        .take_read = take_read,
                                                        .view = view_back,
                                                        .reaches = reaches};
