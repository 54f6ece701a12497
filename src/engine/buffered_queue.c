// SPDX-License-Identifier: Apache-2.0
// When commands are submitted and waited for, and how the host's memory is copied: once for all drivers of command
// buffers.
#include "engine/buffered_queue.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "engine/kept_list.h"

#define MOST_RECORDED 64u             // commands of one submission
#define STAGE_BYTES UINT64_C(1048576) // at first; it doubles up to a part of a copy
#define ROUND 64u                     // to which places in the stage begin
#define END_NS UINT64_C(2000000000)   // for what a lost device still does

// ---- life ----------------------------------------------------------------------------------------------------------

slr_status slri_buffered_create(const struct slri_buffered_calls *call, struct slri_loss *loss,
                                const slr_allocator *allocator, size_t size, void **queue)
{
    SLRI_TRY(slri_loss_check(loss));
    struct slri_buffered_queue *made = slri_alloc(allocator, size);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a queue", loss->name);
    made->call = call;
    made->loss = loss;
    made->allocator = allocator;
    made->size = size;
    *queue = made;
    return SLR_OK;
}

void slri_buffered_free(struct slri_buffered_queue *queue)
{
    slri_free(queue->allocator, queue, queue->size);
}

// Of a lost device it may have what nobody has waited for.
void slri_buffered_destroy(void *device, void *queue)
{
    struct slri_buffered_queue *dying = queue;
    (void)device;
    if (dying->submits != 0 && !slri_hangs(dying->loss))
        (void)dying->call->await(dying, slri_deadline_after(END_NS));
    dying->call->free(dying);
}

// ---- submissions ---------------------------------------------------------------------------------------------------

static slr_status submit_open(struct slri_buffered_queue *queue)
{
    if (!queue->is_open)
        return SLR_OK;
    queue->is_open = false;
    queue->recorded = 0;
    slr_status status = queue->call->submit(queue);
    if (status != SLR_OK)
        queue->is_timed[queue->submits] = false; // the device does not come to it
    ++queue->submits;
    if (status == SLR_OK)
        queue->sent_backs = queue->backs;
    else
        queue->backs = queue->sent_backs; // the others are not done
    return status;
}

static slr_status bring_back(struct slri_buffered_queue *queue)
{
    for (uint32_t i = 0; i < queue->backs; ++i) {
        const struct slri_back *back = &queue->back[i];
        const void *from = queue->stage.host + back->at;
        if (queue->call->view)
            SLRI_TRY(queue->call->view(queue, back, &from));
        memcpy(back->to, from, back->bytes);
    }
    return SLR_OK;
}

static slr_status read_times(struct slri_buffered_queue *queue)
{
    for (uint32_t i = 0; i < queue->submits; ++i) {
        uint64_t from = UINT64_MAX, to = 0;
        if (queue->is_timed[i])
            SLRI_TRY(queue->call->read_ticks(queue, i, &from, &to));
        if (from != UINT64_MAX)
            slri_buffered_note_ticks(queue, from, to);
    }
    return SLR_OK;
}

// Also where what is open cannot be submitted: what was, is waited for.
static slr_status finish_submits(struct slri_buffered_queue *queue, uint64_t deadline_ns)
{
    slr_status status = submit_open(queue);
    slr_status waited = SLR_OK;
    if (queue->submits != 0) {
        waited = queue->call->await(queue, deadline_ns);
        if (waited == SLR_OK)
            waited = bring_back(queue);
        if (waited == SLR_OK)
            waited = read_times(queue);
        waited = queue->call->settle(queue, waited);
    }
    queue->submits = queue->backs = queue->sent_backs = 0;
    queue->stage.used = 0;
    return status == SLR_OK ? waited : status;
}

// A clock of few bits begins again.
static bool comes_first(const struct slri_ticks *ticks, uint64_t a, uint64_t b)
{
    return a != b && ((b - a) & ticks->mask) <= ticks->mask / 2;
}

void slri_buffered_note_ticks(struct slri_buffered_queue *queue, uint64_t from, uint64_t to)
{
    struct slri_ticks *ticks = &queue->ticks;
    if (to < from && ticks->mask == UINT64_MAX) // the counter was reset between the two, as WebGPU allows
        return;
    if (!ticks->are_noted || comes_first(ticks, from, ticks->from))
        ticks->from = from;
    if (!ticks->are_noted || comes_first(ticks, ticks->to, to))
        ticks->to = to;
    ticks->are_noted = true;
}

static slr_status tell_times(struct slri_buffered_queue *queue, struct slri_times *times)
{
    struct slri_ticks *ticks = &queue->ticks;
    const bool are_noted = ticks->are_noted;
    ticks->are_noted = false;
    if (!times || !are_noted)
        return SLR_OK;
    uint64_t tick = ticks->to, now_ns = slri_now_ns();
    if (queue->call->read_clocks)
        SLRI_TRY(queue->call->read_clocks(queue, &tick, &now_ns));
    times->from_ns = now_ns - (uint64_t)((double)((tick - ticks->from) & ticks->mask) * ticks->ns_a_tick);
    times->to_ns = now_ns - (uint64_t)((double)((tick - ticks->to) & ticks->mask) * ticks->ns_a_tick);
    return SLR_OK;
}

slr_status slri_buffered_wait(void *device, void *queue, uint64_t deadline_ns, struct slri_times *times)
{
    struct slri_buffered_queue *of = queue;
    (void)device;
    SLRI_TRY(slri_loss_check(of->loss));
    slr_status status = finish_submits(of, deadline_ns);
    slr_status told = tell_times(of, status == SLR_OK ? times : NULL);
    return status == SLR_OK ? told : status;
}

slr_status slri_buffered_drain(struct slri_buffered_queue *queue)
{
    SLRI_TRY(finish_submits(queue, slri_deadline_after(SLRI_HANG_TIMEOUT_NS)));
    return slri_buffered_begin(queue);
}

slr_status slri_buffered_cut(struct slri_buffered_queue *queue)
{
    SLRI_TRY(submit_open(queue));
    return slri_buffered_begin(queue);
}

// What is timed is a whole submission.
static slr_status set_timed(struct slri_buffered_queue *queue)
{
    bool *is_timed = &queue->is_timed[queue->submits];
    if (!queue->call->read_ticks || queue->ticks.mask == 0 || *is_timed == queue->wants_times)
        return SLR_OK;
    if (queue->recorded != 0)
        return slri_buffered_cut(queue);
    *is_timed = queue->wants_times;
    return *is_timed && queue->call->time ? queue->call->time(queue) : SLR_OK;
}

slr_status slri_buffered_begin(struct slri_buffered_queue *queue)
{
    if (!queue->is_open) {
        if (queue->submits == SLRI_MOST_SUBMITS)
            SLRI_TRY(finish_submits(queue, slri_deadline_after(SLRI_HANG_TIMEOUT_NS)));
        SLRI_TRY(queue->call->open(queue));
        queue->is_open = true;
        queue->is_timed[queue->submits] = false;
    }
    return set_timed(queue);
}

// ---- copies through the stage --------------------------------------------------------------------------------------

slr_status slri_buffered_take(struct slri_buffered_queue *queue, uint64_t bytes, uint64_t *at)
{
    struct slri_stage *stage = &queue->stage;
    uint64_t room = STAGE_BYTES;
    if (stage->used + bytes > stage->bytes && stage->used != 0)
        SLRI_TRY(slri_buffered_drain(queue));
    while (room < bytes)
        room *= 2;
    if (bytes > stage->bytes)
        SLRI_TRY(queue->call->grow(queue, room));
    *at = stage->used;
    stage->used += (bytes + ROUND - 1) / ROUND * ROUND;
    return SLR_OK;
}

static slr_status copy_part(struct slri_buffered_queue *queue, bool in, void *device, void *host, uint64_t bytes)
{
    const struct slri_buffered_calls *call = queue->call;
    const uint64_t lead = (uintptr_t)device % 4;
    uint64_t at;
    if (!in && queue->backs == SLRI_MOST_BACKS)
        SLRI_TRY(slri_buffered_drain(queue));
    SLRI_TRY((in || !call->take_read ? slri_buffered_take : call->take_read)(queue, lead + bytes, &at));
    at += lead;
    if (in)
        memcpy(queue->stage.host + at, host, bytes);
    SLRI_TRY(call->copy(queue, in, device, at, bytes));
    if (!in)
        queue->back[queue->backs++] = (struct slri_back){host, at, bytes, queue->submits};
    return SLR_OK;
}

slr_status slri_buffered_copy(struct slri_buffered_queue *queue, bool in, void *device, void *host, uint64_t bytes)
{
    uint64_t part;
    for (uint64_t done = 0; done < bytes; done += part) {
        const uint64_t most = SLRI_STAGE_PART - ROUND; // it begins at the remainder of its device memory
        part = bytes - done < most ? bytes - done : most;
        SLRI_TRY(copy_part(queue, in, (unsigned char *)device + done, (unsigned char *)host + done, part));
    }
    return SLR_OK;
}

// ---- encoding ------------------------------------------------------------------------------------------------------

static bool waits_for_back(const struct slri_buffered_queue *queue, const struct slri_command *command)
{
    const unsigned char *host = command->copy.host;
    for (uint32_t i = 0; command->op == SLRI_COPY_IN && i < queue->backs; ++i)
        if (queue->back[i].to < host + command->copy.bytes && host < queue->back[i].to + queue->back[i].bytes)
            return true;
    return false;
}

static slr_status run_one(struct slri_buffered_queue *queue, const struct slri_command *command,
                          const struct slri_extras *extras)
{
    const struct slri_buffered_calls *call = queue->call;
    if (call->ready)
        SLRI_TRY(call->ready(queue, command));
    if (command->op > SLRI_COPY_OUT)
        return call->record(queue, command, extras);
    if (waits_for_back(queue, command))
        SLRI_TRY(slri_buffered_drain(queue));
    return call->reaches && call->reaches(queue, command)
               ? call->record(queue, command, extras)
               : slri_buffered_copy(queue, command->op == SLRI_COPY_IN, command->copy.device, command->copy.host,
                                    command->copy.bytes);
}

static slr_status run_parts(struct slri_buffered_queue *queue, const struct slri_kept_list *list)
{
    for (uint32_t i = 0; i < list->count; ++i) {
        struct slri_extras extras = list->part[i].extras;
        extras.wants_times = queue->wants_times;
        if (queue->recorded >= MOST_RECORDED)
            SLRI_TRY(slri_buffered_cut(queue));
        SLRI_TRY(run_one(queue, &list->part[i].command, &extras));
        queue->recorded += queue->call->splits_lists;
    }
    return SLR_OK;
}

static bool copy_at_once(struct slri_buffered_queue *queue, const struct slri_command *command)
{
    if (!queue->call->seen || queue->is_open || queue->submits != 0 || command->op > SLRI_COPY_OUT)
        return false;
    unsigned char *device = queue->call->seen(queue, command->copy.device);
    if (device && command->op == SLRI_COPY_IN)
        memcpy(device, command->copy.host, command->copy.bytes);
    else if (device)
        memcpy(command->copy.host, device, command->copy.bytes);
    return device != NULL;
}

static slr_status encode_one(struct slri_buffered_queue *queue, const struct slri_command *command,
                             const struct slri_extras *extras)
{
    const struct slri_kept_list *list = command->op == SLRI_LIST ? command->list : NULL;
    if (copy_at_once(queue, command))
        return SLR_OK;
    queue->wants_times = extras->wants_times;
    SLRI_TRY(slri_buffered_begin(queue));
    SLRI_TRY(list && !list->native ? run_parts(queue, list) : run_one(queue, command, extras));
    return ++queue->recorded >= MOST_RECORDED || extras->is_last ? submit_open(queue) : SLR_OK;
}

slr_status slri_buffered_encode(void *device, void *queue, const struct slri_command *command,
                                const struct slri_extras *extras, uint32_t commands)
{
    struct slri_buffered_queue *of = queue;
    (void)device;
    SLRI_TRY(slri_loss_check(of->loss));
    for (uint32_t i = 0; i < commands; ++i)
        SLRI_TRY(encode_one(of, &command[i], &extras[i]));
    return SLR_OK;
}
