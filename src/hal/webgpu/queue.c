// SPDX-License-Identifier: Apache-2.0
// Queues. What is encoded is recorded, and submitted at the last command before a wait, when there is much of it, or
// when it is waited for. All of a device's share its one WebGPU queue. Each submission has a read-back buffer of its
// own: what is copied out and the time stamps lie in it, and one map gives both.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "engine/kept_list.h"
#include "hal/webgpu/webgpu.h"

#include <stdio.h>

#define MOST_SUBMITS 8u   // before the first is waited for
#define MOST_RECORDED 64u // commands of one submission
#define MOST_BACKS 256u   // copies out that the host completes
#define READ_BYTES 65536u // of a read-back buffer at first, without the stamps
#define STAGE_BYTES 1048576u
#define MOST_PART 33554432u // of a copy at once
#define STAMP_BYTES (2u * SLRI_WG_MOST_PASSES * 8u)
#define TAIL_BYTES (STAMP_BYTES + 16u) // of a read-back buffer: behind the stamps the word by which kernels tell
#define END_NS UINT64_C(2000000000)    // for what a lost device still does
#define LOOK_NS 50000u                 // so long a wait looks again at once
#define LONGEST_NAP_NS 1000000u

enum state { // of a submission; atomic
    NONE,
    PENDING,
    DONE,
    FAILED
};

struct slri_wg_queue {
    struct slri_wg_recorder recorder;
    uint32_t submits, recorded; // since the last wait; in the open submission
    bool is_open;               // there is something to submit
    struct submit {
        uint32_t state, stamped; // `state` is the library's while it is PENDING
        bool is_mapped;
        const char *told_by; // NULL, or a kernel that tells of loops
        WGPUBuffer read;     // NULL: none yet
        uint64_t read_bytes, read_used;
    } submit[MOST_SUBMITS];

    WGPUBuffer stage; // what the host has written behind the first command of a submission
    unsigned char *stage_shadow;
    uint64_t stage_bytes, stage_serial, staged, stage_sent;
    struct back {
        unsigned char *to;
        uint64_t at, bytes; // in the read-back buffer
        uint32_t submit;
    } back[MOST_BACKS];
    uint32_t backs, sent_backs;     // the latter are of what was submitted
    WGPUBuffer resolved;            // time stamps on their way
    uint64_t first_tick, last_tick; // of what was stamped since the last wait; the former is greater: none
    struct slri_wg_queue *next;     // of those that have gone, and whose states the library still writes
};

// ---- life ----------------------------------------------------------------------------------------------------------

static void free_queue(struct slri_webgpu *webgpu, struct slri_wg_queue *queue)
{
    slri_wg_recorder_close(&queue->recorder);
    for (uint32_t i = 0; i < MOST_SUBMITS; ++i)
        slri_wg_buffer_free(webgpu, queue->submit[i].read);
    slri_wg_buffer_free(webgpu, queue->stage);
    slri_wg_buffer_free(webgpu, queue->resolved);
    slri_free(webgpu->allocator, queue->stage_shadow, queue->stage_bytes);
    bool is_written = false;
    for (uint32_t i = 0; i < MOST_SUBMITS; ++i)
        is_written |= __atomic_load_n(&queue->submit[i].state, __ATOMIC_ACQUIRE) == PENDING;
    if (!is_written) {
        slri_free(webgpu->allocator, queue, sizeof *queue);
        return;
    }
    slri_mutex_lock(&webgpu->memory_lock);
    queue->next = webgpu->buried;
    webgpu->buried = queue;
    slri_mutex_unlock(&webgpu->memory_lock);
}

void slri_wg_queues_forget(struct slri_webgpu *webgpu)
{
    for (struct slri_wg_queue *each = webgpu->buried, *next; each; each = next) {
        next = each->next;
        slri_free(webgpu->allocator, each, sizeof *each);
    }
    webgpu->buried = NULL;
}

slr_status slri_wg_queue_create(void *device, uint32_t priority, void **queue)
{
    struct slri_webgpu *webgpu = device;
    (void)priority; // a device has one queue
    SLRI_TRY(slri_loss_check(&webgpu->loss));
    struct slri_wg_queue *made = slri_alloc(webgpu->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a queue", webgpu->name);
    made->first_tick = UINT64_MAX;
    slr_status status = slri_wg_recorder_open(&made->recorder, webgpu);
    if (status == SLR_OK && made->recorder.stamps)
        status = slri_wg_buffer_make(webgpu, STAMP_BYTES, WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc,
                                     &made->resolved);
    if (status == SLR_OK)
        *queue = made;
    else
        free_queue(webgpu, made);
    return status;
}

// ---- submissions ---------------------------------------------------------------------------------------------------

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
    slri_wg_count(&webgpu->counts.timestamp_resolves, 1);
    return SLR_OK;
}

static slr_status end_commands(struct slri_webgpu *webgpu, struct slri_wg_queue *queue, WGPUCommandBuffer *out)
{
    struct slri_wg_recorder *recorder = &queue->recorder;
    struct submit *submit = &queue->submit[queue->submits];
    submit->stamped = 0;
    submit->told_by = NULL;
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
    struct submit *submit = &queue->submit[queue->submits];
    const struct slri_wg_library *lib = webgpu->lib;
    slri_wg_recorder_send(&queue->recorder);
    if (queue->stage_sent != queue->staged)
        lib->QueueWriteBuffer(webgpu->queue, queue->stage, queue->stage_sent, queue->stage_shadow + queue->stage_sent,
                              queue->staged - queue->stage_sent);
    queue->stage_sent = queue->staged;
    SLRI_TRY(slri_wg_check(webgpu, "QueueWriteBuffer"));
    lib->QueueSubmit(webgpu->queue, commands ? 1 : 0, &commands);
    SLRI_TRY(slri_wg_check(webgpu, "QueueSubmit"));
    slri_wg_count(&webgpu->counts.submits, 1);
    const bool has_tail = submit->stamped != 0 || submit->told_by;
    submit->is_mapped = submit->read_used != 0 || has_tail;
    submit->state = PENDING;
    ++queue->submits;
    if (submit->is_mapped) {
        const WGPUBufferMapCallbackInfo then = {
            .mode = WGPUCallbackMode_AllowSpontaneous, .callback = note_mapped, .userdata1 = submit};
        const uint64_t bytes = has_tail ? submit->read_bytes + TAIL_BYTES : submit->read_used;
        slri_wg_count(&webgpu->counts.maps, 1);
        lib->BufferMapAsync(submit->read, WGPUMapMode_Read, 0, bytes, then);
        return slri_wg_check(webgpu, "BufferMapAsync");
    }
    const WGPUQueueWorkDoneCallbackInfo then = {
        .mode = WGPUCallbackMode_AllowSpontaneous, .callback = note_done, .userdata1 = submit};
    lib->QueueOnSubmittedWorkDone(webgpu->queue, then);
    return slri_wg_check(webgpu, "QueueOnSubmittedWorkDone");
}

static slr_status submit_open(struct slri_webgpu *webgpu, struct slri_wg_queue *queue)
{
    WGPUCommandBuffer commands;
    if (!queue->is_open)
        return SLR_OK;
    queue->is_open = false;
    queue->recorded = 0;
    slr_status status = end_commands(webgpu, queue, &commands);
    if (status == SLR_OK)
        status = send(webgpu, queue, commands);
    if (commands && !slri_wg_hangs(webgpu))
        webgpu->lib->CommandBufferRelease(commands);
    if (status == SLR_OK)
        queue->sent_backs = queue->backs;
    else
        queue->backs = queue->sent_backs; // the others are not done
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
        if (state == DONE)
            return complaint;
        if (state == FAILED)
            return slri_is_lost(&webgpu->loss) ? slri_loss_say(&webgpu->loss)
                                               : slri_lose(&webgpu->loss, "what was submitted was given up");
        webgpu->lib->DevicePoll(webgpu->device, 0, NULL);
        slr_status status = slri_wg_check(webgpu, "DevicePoll");
        if (status == SLR_DEVICE_LOST)
            return status;
        complaint = complaint == SLR_OK ? status : complaint;
        if (__atomic_load_n(&submit->state, __ATOMIC_ACQUIRE) != PENDING)
            continue;
        const uint64_t now_ns = slri_now_ns();
        if (now_ns >= deadline_ns) {
            __atomic_store_n(&webgpu->hangs, true, __ATOMIC_RELAXED);
            return slri_lose(&webgpu->loss, "a command did not end in time");
        }
        nap(now_ns - began_ns);
    }
}

// All of them, unless the device is lost: the place of one that the library still writes is not another's.
static slr_status await_begun(struct slri_webgpu *webgpu, struct slri_wg_queue *queue, uint64_t deadline_ns)
{
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < queue->submits && status != SLR_DEVICE_LOST; ++i) {
        const slr_status one = await_one(webgpu, &queue->submit[i], deadline_ns);
        status = status == SLR_OK || one == SLR_DEVICE_LOST ? one : status;
    }
    return status;
}

static slr_status read_back(struct slri_webgpu *webgpu, const struct submit *submit, uint64_t at, uint64_t bytes,
                            const void **out)
{
    *out = webgpu->lib->BufferGetConstMappedRange(submit->read, at, bytes);
    return *out ? SLR_OK : slri_lose(&webgpu->loss, "wgpuBufferGetConstMappedRange gives nothing");
}

// What was stamped, also where it is waited for in the midst of encoding, to which nobody listens.
static slr_status note_stamps(struct slri_webgpu *webgpu, struct slri_wg_queue *queue)
{
    uint64_t tick[2 * SLRI_WG_MOST_PASSES];
    for (uint32_t i = 0; i < queue->submits; ++i) {
        const struct submit *submit = &queue->submit[i];
        const void *stamps;
        if (submit->stamped == 0)
            continue;
        SLRI_TRY(read_back(webgpu, submit, submit->read_bytes, 16 * (uint64_t)submit->stamped, &stamps));
        memcpy(tick, stamps, 16 * (size_t)submit->stamped);
        for (uint32_t k = 0; k < submit->stamped; ++k) {
            queue->first_tick = tick[2 * k] < queue->first_tick ? tick[2 * k] : queue->first_tick;
            queue->last_tick = tick[2 * k + 1] > queue->last_tick ? tick[2 * k + 1] : queue->last_tick;
        }
    }
    return SLR_OK;
}

static void forget_stamps(struct slri_wg_queue *queue)
{
    queue->first_tick = UINT64_MAX;
    queue->last_tick = 0;
}

// From the first pass to the last one; the device's clock is not the host's, so it ends now.
static void tell_times(const struct slri_webgpu *webgpu, const struct slri_wg_queue *queue, struct slri_times *times)
{
    if (queue->last_tick < queue->first_tick)
        return;
    const double ticks = (double)(queue->last_tick - queue->first_tick);
    times->to_ns = slri_now_ns();
    times->from_ns = times->to_ns - (uint64_t)(ticks * (double)webgpu->facts.ns_a_tick);
}

static slr_status bring_back(struct slri_webgpu *webgpu, const struct slri_wg_queue *queue)
{
    for (uint32_t i = 0; i < queue->backs; ++i) {
        const struct back *back = &queue->back[i];
        const uint64_t lead = back->at % 8;
        const void *from;
        SLRI_TRY(
            read_back(webgpu, &queue->submit[back->submit], back->at - lead, (lead + back->bytes + 3) / 4 * 4, &from));
        memcpy(back->to, (const unsigned char *)from + lead, back->bytes);
    }
    return SLR_OK;
}

// Whether the driver has ended a loop of what was submitted.
static slr_status look(struct slri_webgpu *webgpu, const struct slri_wg_queue *queue)
{
    static const uint32_t none[4];
    for (uint32_t i = 0; i < queue->submits; ++i) {
        const struct submit *submit = &queue->submit[i];
        const void *told;
        uint32_t word;
        char kernel[96];
        if (!submit->told_by)
            continue;
        SLRI_TRY(read_back(webgpu, submit, submit->read_bytes + STAMP_BYTES, 16, &told));
        memcpy(&word, told, sizeof word);
        if (word == 0)
            continue;
        webgpu->lib->QueueWriteBuffer(webgpu->queue, queue->recorder.ended, 0, none, sizeof none);
        snprintf(kernel, sizeof kernel, "kernel %s, or one before it", submit->told_by);
        return slri_canary_ended(&webgpu->canary, webgpu->name, kernel);
    }
    return SLR_OK;
}

static void settle(struct slri_webgpu *webgpu, struct slri_wg_queue *queue)
{
    for (uint32_t i = 0; i < queue->submits; ++i) {
        struct submit *submit = &queue->submit[i];
        if (submit->is_mapped && __atomic_load_n(&submit->state, __ATOMIC_ACQUIRE) == DONE)
            webgpu->lib->BufferUnmap(submit->read);
        submit->is_mapped = false;
    }
    for (uint32_t i = 0; i < MOST_SUBMITS; ++i)
        queue->submit[i].read_used = 0;
    queue->submits = 0;
    queue->backs = queue->sent_backs = 0;
    queue->staged = queue->stage_sent = 0;
}

// Also where what is open cannot be submitted: what was, is waited for.
static slr_status finish(struct slri_webgpu *webgpu, struct slri_wg_queue *queue, uint64_t deadline_ns)
{
    slr_status status = submit_open(webgpu, queue);
    slr_status waited = await_begun(webgpu, queue, deadline_ns);
    if (waited == SLR_OK)
        waited = bring_back(webgpu, queue);
    if (waited == SLR_OK)
        waited = note_stamps(webgpu, queue);
    if (waited == SLR_OK)
        waited = look(webgpu, queue);
    if (!slri_wg_hangs(webgpu))
        settle(webgpu, queue);
    return status == SLR_OK ? waited : status;
}

slr_status slri_wg_wait(void *device, void *queue, uint64_t deadline_ns, struct slri_times *times)
{
    struct slri_webgpu *webgpu = device;
    SLRI_TRY(slri_loss_check(&webgpu->loss));
    slr_status status = finish(webgpu, queue, deadline_ns);
    if (status == SLR_OK && times)
        tell_times(webgpu, queue, times);
    forget_stamps(queue);
    return status;
}

// Of a lost device it may have what nobody has waited for.
void slri_wg_queue_destroy(void *device, void *queue)
{
    struct slri_webgpu *webgpu = device;
    struct slri_wg_queue *dying = queue;
    if (dying->submits != 0 && !slri_wg_hangs(webgpu))
        (void)await_begun(webgpu, dying, slri_deadline_after(END_NS));
    free_queue(webgpu, dying);
}

// In the midst of encoding, for room.
static slr_status drain(struct slri_webgpu *webgpu, struct slri_wg_queue *queue)
{
    return finish(webgpu, queue, slri_deadline_after(SLRI_WG_PATIENCE_NS));
}

// ---- copies in -----------------------------------------------------------------------------------------------------

static bool waits_for_back(const struct slri_wg_queue *queue, const unsigned char *host, uint64_t bytes)
{
    for (uint32_t i = 0; i < queue->backs; ++i)
        if (queue->back[i].to < host + bytes && host < queue->back[i].to + queue->back[i].bytes)
            return true;
    return false;
}

// Nothing is in it.
static slr_status grow_stage(struct slri_webgpu *webgpu, struct slri_wg_queue *queue, uint64_t bytes)
{
    uint64_t room = STAGE_BYTES;
    WGPUBuffer larger;
    while (room < bytes)
        room *= 2;
    if (queue->stage_bytes >= room)
        return SLR_OK;
    unsigned char *shadow = slri_alloc(webgpu->allocator, room);
    if (!shadow)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory to copy by", webgpu->name);
    slr_status status = slri_wg_buffer_make(
        webgpu, room, WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst, &larger);
    if (status != SLR_OK) {
        slri_free(webgpu->allocator, shadow, room);
        return status;
    }
    slri_wg_buffer_free(webgpu, queue->stage);
    slri_free(webgpu->allocator, queue->stage_shadow, queue->stage_bytes);
    queue->stage = larger;
    queue->stage_shadow = shadow;
    queue->stage_bytes = room;
    queue->stage_serial = slri_wg_serial(webgpu);
    return SLR_OK;
}

static slr_status copy_in_staged(struct slri_webgpu *webgpu, struct slri_wg_queue *queue, struct slri_wg_range *to,
                                 const unsigned char *host)
{
    if (queue->staged + to->bytes + 4 > queue->stage_bytes) {
        SLRI_TRY(drain(webgpu, queue));
        SLRI_TRY(grow_stage(webgpu, queue, to->bytes + 4));
    }
    const struct slri_wg_range from = {queue->stage, queue->stage_serial, queue->staged, to->bytes};
    memcpy(queue->stage_shadow + queue->staged, host, to->bytes);
    queue->staged += (to->bytes + 15) / 16 * 16;
    queue->is_open = true;
    return slri_wg_record_copy(&queue->recorder, &from, to);
}

// What the library writes by itself lies in memory of its own until it is submitted: a long copy is so part by part.
static slr_status submit_part(struct slri_webgpu *webgpu, struct slri_wg_queue *queue)
{
    return queue->submits + 1 == MOST_SUBMITS ? drain(webgpu, queue) : submit_open(webgpu, queue);
}

// In front of all commands of a submission the library writes by itself; behind one, from the stage.
static slr_status copy_in(struct slri_webgpu *webgpu, struct slri_wg_queue *queue, const struct slri_command *command)
{
    const unsigned char *host = command->copy.host;
    uint64_t at, left = command->copy.bytes;
    const struct slri_wg_chunk chunk = slri_wg_find(webgpu, command->copy.device, &at);
    if (waits_for_back(queue, host, left))
        SLRI_TRY(drain(webgpu, queue));
    while (left != 0) {
        const uint64_t bytes = left < MOST_PART ? left : MOST_PART;
        struct slri_wg_range to = {chunk.buffer, chunk.serial, at, bytes};
        if (!queue->recorder.encoder && at % 4 == 0 && bytes % 4 == 0) {
            webgpu->lib->QueueWriteBuffer(webgpu->queue, chunk.buffer, at, host, bytes);
            queue->is_open = true;
            SLRI_TRY(slri_wg_check(webgpu, "QueueWriteBuffer"));
            if (bytes != left)
                SLRI_TRY(submit_part(webgpu, queue));
        } else {
            SLRI_TRY(copy_in_staged(webgpu, queue, &to, host));
        }
        host += bytes;
        at += bytes;
        left -= bytes;
    }
    return SLR_OK;
}

// ---- copies out ----------------------------------------------------------------------------------------------------

static slr_status make_read_room(struct slri_webgpu *webgpu, struct slri_wg_queue *queue, uint64_t bytes)
{
    const struct submit *submit = &queue->submit[queue->submits];
    if (queue->backs < MOST_BACKS && submit->read_used + bytes <= submit->read_bytes)
        return SLR_OK;
    if (queue->backs == MOST_BACKS || (submit->read_used != 0 && queue->submits + 1 == MOST_SUBMITS))
        SLRI_TRY(drain(webgpu, queue));
    else if (submit->read_used != 0)
        SLRI_TRY(submit_open(webgpu, queue));
    return grow_read(webgpu, &queue->submit[queue->submits], bytes);
}

// The whole words around.
static slr_status copy_out(struct slri_webgpu *webgpu, struct slri_wg_queue *queue, const struct slri_command *command)
{
    unsigned char *host = command->copy.host;
    uint64_t at, left = command->copy.bytes;
    const struct slri_wg_chunk chunk = slri_wg_find(webgpu, command->copy.device, &at);
    while (left != 0) {
        const uint64_t bytes = left < MOST_PART ? left : MOST_PART, lead = at % 4;
        const uint64_t words = (lead + bytes + 3) / 4 * 4;
        SLRI_TRY(make_read_room(webgpu, queue, words));
        struct submit *submit = &queue->submit[queue->submits];
        const struct slri_wg_range from = {chunk.buffer, chunk.serial, at - lead, words};
        const struct slri_wg_range to = {submit->read, 0, submit->read_used, words};
        queue->back[queue->backs++] = (struct back){host, submit->read_used + lead, bytes, queue->submits};
        submit->read_used += (words + 7) / 8 * 8;
        queue->is_open = true;
        SLRI_TRY(slri_wg_record_copy(&queue->recorder, &from, &to));
        host += bytes;
        at += bytes;
        left -= bytes;
    }
    return SLR_OK;
}

// ---- encoding ------------------------------------------------------------------------------------------------------

static slr_status make_ready(struct slri_webgpu *webgpu, struct slri_wg_queue *queue,
                             const struct slri_command *command)
{
    struct slri_wg_recorder *recorder = &queue->recorder;
    if (!slri_wg_recorder_has_room(recorder, command)) {
        SLRI_TRY(drain(webgpu, queue));
        slri_wg_recorder_clear(recorder);
    }
    if (!slri_wg_recorder_has_room(recorder, command))
        return slri_wg_recorder_refuse(recorder, command);
    if (recorder->stamped == SLRI_WG_MOST_PASSES)
        SLRI_TRY(submit_open(webgpu, queue));
    return queue->submits == MOST_SUBMITS ? drain(webgpu, queue) : SLR_OK;
}

static slr_status encode_one(struct slri_webgpu *webgpu, struct slri_wg_queue *queue,
                             const struct slri_command *command, const struct slri_extras *extras)
{
    if (command->op == SLRI_LIST) {
        const struct slri_kept_list *list = command->list;
        for (uint32_t i = 0; i < list->count; ++i) {
            struct slri_extras part = list->part[i].extras;
            part.wants_times = extras->wants_times;
            SLRI_TRY(encode_one(webgpu, queue, &list->part[i].command, &part));
        }
    } else {
        SLRI_TRY(make_ready(webgpu, queue, command));
        queue->is_open = true;
        SLRI_TRY(command->op == SLRI_COPY_IN    ? copy_in(webgpu, queue, command)
                 : command->op == SLRI_COPY_OUT ? copy_out(webgpu, queue, command)
                                                : slri_wg_record(&queue->recorder, command, extras));
    }
    queue->recorded += command->op != SLRI_LIST;
    return queue->recorded >= MOST_RECORDED || extras->is_last ? submit_open(webgpu, queue) : SLR_OK;
}

slr_status slri_wg_encode(void *device, void *queue, const struct slri_command *command,
                          const struct slri_extras *extras, uint32_t commands)
{
    struct slri_webgpu *webgpu = device;
    SLRI_TRY(slri_loss_check(&webgpu->loss));
    for (uint32_t i = 0; i < commands; ++i)
        SLRI_TRY(encode_one(webgpu, queue, &command[i], &extras[i]));
    return SLR_OK;
}

slr_status slri_wg_queue_count(struct slri_webgpu *webgpu, struct slri_wg_queue *queue, const void *to, uint32_t turns,
                               uint32_t few)
{
    struct slri_wg_range range = {.bytes = 16};
    const struct slri_wg_chunk chunk = slri_wg_find(webgpu, to, &range.at);
    const uint32_t job[4] = {0, turns, few, 0};
    range.buffer = chunk.buffer;
    range.serial = chunk.serial;
    queue->is_open = true;
    return slri_wg_record_tool(&queue->recorder, SLRI_WG_TOOL_COUNT, &range, NULL, job, 1);
}
