// SPDX-License-Identifier: Apache-2.0
// The one way in for work: what is submitted, what it needs moved and must wait for, and what it holds until it is
// done.
#include "base/alloc.h"
#include "base/status.h"
#include "base/thread.h"
#include "device/graph.h"
#include "engine/observe.h"

// A submission and all it points to, in one block; in a second one where bytes have to be moved or others waited for.
struct record {
    struct slri_submission submission; // the first member
    size_t bytes, more_bytes;
    slr_device *device;
    void (*settle)(void *user);
    void *user, *more;
    struct slri_buffer_use *use;
    uint32_t uses;
};

static void settle(struct slri_submission *submission)
{
    struct record *record = (struct record *)submission;
    if (record->settle)
        record->settle(record->user);
    for (uint32_t i = 0; i < record->uses; ++i)
        slri_buffer_release(record->use[i].buffer);
}

static void forget(struct slri_submission *submission)
{
    struct record *record = (struct record *)submission;
    const slr_allocator *allocator = record->device->allocator;
    slri_free(allocator, record->more, record->more_bytes);
    slri_spares_give(&record->device->spares, allocator, record, record->bytes);
}

// Room for more commands, in front, and more waits, behind. Gives where the new ones go.
static slr_status grow(struct record *record, uint32_t moves, uint32_t waits, struct slri_command **command,
                       struct slri_after **wait)
{
    const struct slri_submission *s = &record->submission;
    record->more_bytes = (moves + s->commands) * sizeof **command + (waits + s->waits) * sizeof **wait;
    record->more = slri_alloc(record->device->allocator, record->more_bytes);
    if (!record->more)
        return SLRI_FAIL(NO_MEMORY, "no memory for a submission with %u copies before it", moves);
    *command = record->more;
    *wait = (struct slri_after *)(*command + moves + s->commands);
    for (uint32_t i = 0; i < s->waits; ++i)
        (*wait)[i] = s->wait[i];
    return SLR_OK;
}

static slr_status prepare_made(struct slri_submission *s)
{
    struct record *record = (struct record *)s;
    uint32_t moves = 0, conflicts = 0, commands = 0, waits = s->waits;
    for (uint32_t i = 0; i < record->uses; ++i)
        SLRI_TRY(slri_use_check(&record->use[i], record->uses, s->queue, &moves, &conflicts));
    struct slri_command *command = NULL;
    struct slri_after *wait = s->wait;
    if (moves != 0 || conflicts != 0)
        SLRI_TRY(grow(record, moves, conflicts, &command, &wait));
    for (uint32_t i = 0; i < record->uses; ++i)
        slri_use_move(&record->use[i], command, &commands);
    for (uint32_t i = 0; i < record->uses; ++i)
        slri_use_enter(&record->use[i], s->queue, s->value, wait, &waits);
    s->wait = wait;
    s->waits = waits;
    if (!command)
        return SLR_OK;
    for (uint32_t i = 0; i < s->commands; ++i)
        command[commands + i] = s->command[i];
    s->command = command;
    s->commands += commands;
    return SLR_OK;
}

static void fill_record(struct record *record, slr_stream *stream, const struct slri_work *work)
{
    struct slri_command *command = (struct slri_command *)(record + 1);
    struct slri_after *wait = (struct slri_after *)(command + work->commands);
    record->use = (struct slri_buffer_use *)(wait + work->waits);
    for (uint32_t i = 0; i < work->commands; ++i)
        command[i] = work->command[i];
    for (uint32_t i = 0; i < work->waits; ++i)
        wait[i] = (struct slri_after){&work->wait[i].stream->queue, work->wait[i].value};
    for (uint32_t i = 0; i < work->uses; ++i) {
        record->use[i] = work->use[i];
        slri_buffer_hold(work->use[i].buffer);
    }
    struct slri_site site = {0};
    if (slri_is_observed())
        site = slri_site;
    record->device = stream->device;
    record->uses = work->uses;
    record->settle = work->settle;
    record->user = work->user;
    record->submission = (struct slri_submission){.command = command,
                                                  .commands = work->commands,
                                                  .wait = wait,
                                                  .waits = work->waits,
                                                  .queue = &stream->queue,
                                                  .prepare = work->uses ? prepare_made : NULL,
                                                  .settle = settle,
                                                  .forget = forget,
                                                  .site = site};
}

// Undoes a record that was not submitted.
static void drop_made(struct record *record)
{
    record->settle = NULL; // its work stays the caller's
    settle(&record->submission);
    forget(&record->submission);
}

static slr_status submit_made(slr_stream *stream, const struct slri_work *work, slr_point *out)
{
    slr_device *device = stream->device;
    size_t bytes = sizeof(struct record) + work->commands * sizeof(struct slri_command) +
                   work->waits * sizeof(struct slri_after) + work->uses * sizeof(struct slri_buffer_use);
    struct record *record = slri_spares_take(&device->spares, device->allocator, bytes);
    if (!record)
        return SLRI_FAIL(NO_MEMORY, "no memory for a submission of %u commands", work->commands);
    record->bytes = bytes;
    fill_record(record, stream, work);
    uint64_t value = 0;
    record->submission.told = out ? &value : NULL;
    slr_status status = slri_queue_push(&record->submission);
    if (status != SLR_OK)
        drop_made(record);
    else if (out)
        *out = (slr_point){stream, value};
    return status;
}

slr_status slri_stream_submit(slr_stream *stream, const struct slri_work *work, slr_point *out)
{
    SLRI_TRY(slri_queue_device_check_process(&stream->device->queues)); // before any lock, as in buffer.c
    // Acquire: what slr_graph_begin has prepared. Without the lock: a change at the same time may come before or after.
    struct slr_graph *graph = __atomic_load_n(&stream->recording, __ATOMIC_ACQUIRE);
    slr_status status;
    if (graph) {
        SLRI_TRY(slri_graph_append(graph, work));
        return out ? slr_stream_signal(stream, out) : SLR_OK;
    }
    while ((status = submit_made(stream, work, out)) == SLRI_BUSY)
        slri_yield(); // another thread is in the middle of a copy
    return status;
}

// One by one, so that each is timed.
static __attribute__((noinline)) slr_status run_watched(slr_device *device, const struct slri_command *command,
                                                        uint32_t commands)
{
    uint64_t begin = slri_tick();
    for (uint32_t i = 0; i < commands; ++i) {
        SLRI_TRY(slri_queue_device_run(&device->queues, &command[i], 1));
        begin = slri_observe_command(device, NULL, &command[i], begin);
    }
    return SLR_OK;
}

slr_status slri_device_run(slr_device *device, const struct slri_command *command, uint32_t commands)
{
    if (slri_is_observed())
        return run_watched(device, command, commands);
    return slri_queue_device_run(&device->queues, command, commands);
}
