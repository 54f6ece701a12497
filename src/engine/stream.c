// SPDX-License-Identifier: Apache-2.0
// Streams: what a queue's thread does with the commands of a submission. It gives the device one after the other and
// waits for them together, unless one of them must see the others done.
#include "engine/queue.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/forks.h"
#include "base/status.h"
#include "engine/code.h"
#include "engine/loss.h"
#include "engine/observe.h"
#include "engine/printed.h"
#include "engine/resident.h"

// Kernels that may fault and are begun before the first is waited for.
#define MOST_FAULTS 64

// ---- life ----------------------------------------------------------------------------------------------------------

slr_status slri_stream_open(struct slri_stream *stream, struct slri_queue_device *of, struct slri_queue *queue,
                            uint32_t priority)
{
    void *native = NULL;
    if (of->backend->queue_create)
        SLRI_TRY(slri_loss_seen(of->loss, of->backend->queue_create(of->device, priority, &native)));
    *stream = (struct slri_stream){.of = of, .queue = queue, .native = native};
    return SLR_OK;
}

slr_status slri_queue_device_memory(const struct slri_queue_device *of, enum slri_memory_kind kind, uint64_t bytes,
                                    void **memory)
{
    return slri_loss_seen(of->loss, of->backend->memory_create(of->device, kind, bytes, memory));
}

// The backend's queue goes first: what a lost device was given may still touch the memory.
void slri_stream_close(struct slri_stream *stream)
{
    struct slri_queue_device *of = stream->of;
    if (stream->native)
        of->backend->queue_destroy(of->device, stream->native);
    if (stream->printed)
        of->backend->memory_destroy(of->device, SLRI_MEMORY_DEVICE, stream->printed, SLRI_PRINTED_ROOM);
    slri_faults_destroy(stream->faults);
    *stream = (struct slri_stream){.of = of};
}

slr_status slri_queue_device_open(struct slri_queue_device *of, const struct slri_backend *backend, void *device,
                                  const slr_allocator *allocator)
{
    struct slri_facts facts;
    SLRI_TRY(backend->facts(device, 0, &facts, NULL));
    *of = (struct slri_queue_device){.backend = backend,
                                     .device = device,
                                     .allocator = allocator,
                                     .facts = facts.queue,
                                     .hang_timeout_ns = facts.hang_timeout_ns,
                                     .loss = facts.loss,
                                     .is_unified = facts.unified,
                                     .has_words = facts.has_words,
                                     .keeps_host = facts.keeps_host,
                                     .residents = facts.residents,
                                     .own = {.of = of},
                                     .forks = slri_forks_count()};
    SLRI_TRY(slri_queue_device_renew(of));
    slri_mutex_init(&of->own_lock);
    slri_mutex_init(&of->bounce_lock);
    if (of->facts.threads != 0)
        slri_queue_pool_init(&of->pool, of->facts.threads, allocator);
    return SLR_OK;
}

void slri_queue_device_lose(struct slri_queue_device *of)
{
    slri_stream_close(&of->own);
    if (of->bounce)
        of->backend->memory_destroy(of->device, SLRI_MEMORY_DEVICE, of->bounce, SLRI_BOUNCE_BYTES);
    of->bounce = NULL;
}

// The bounce now: once kernels stay on the device, taking memory may wait for them.
slr_status slri_queue_device_renew(struct slri_queue_device *of)
{
    SLRI_TRY(slri_stream_open(&of->own, of, NULL, SLR_DEFAULT_PRIORITY));
    if (of->facts.moves_over)
        return SLR_OK;
    slr_status status = slri_queue_device_memory(of, SLRI_MEMORY_DEVICE, SLRI_BOUNCE_BYTES, &of->bounce);
    if (status != SLR_OK)
        slri_stream_close(&of->own);
    return status;
}

void slri_queue_device_close(struct slri_queue_device *of)
{
    if (of->facts.threads != 0)
        slri_queue_pool_stop(&of->pool);
    slri_queue_device_lose(of);
    slri_mutex_destroy(&of->bounce_lock);
    slri_mutex_destroy(&of->own_lock);
}

// ---- what was begun ------------------------------------------------------------------------------------------------

static bool wants_times(const struct slri_stream *stream)
{
    // Relaxed: a hint.
    return stream->queue && (__atomic_load_n(&stream->queue->is_timed, __ATOMIC_RELAXED) || slri_is_observed());
}

slr_status slri_stream_await(struct slri_stream *stream, struct slri_times *times)
{
    const struct slri_queue_device *of = stream->of;
    stream->begun = 0;
    if (!stream->native) // of a device that could not be opened again; `encode` has reported that it is lost
        return SLR_OK;
    uint64_t deadline_ns = of->hang_timeout_ns != 0 ? slri_deadline_after(of->hang_timeout_ns) : SLRI_FOREVER;
    return slri_loss_seen(of->loss, of->backend->wait(of->device, stream->native, deadline_ns, times));
}

// `timed`: what was begun counts as the device's work for the queue.
static slr_status wait_for_begun(struct slri_stream *stream, bool timed)
{
    struct slri_times times = {0};
    slr_status status = slri_stream_await(stream, timed ? &times : NULL);
    if (status == SLR_OK && times.from_ns != 0)
        slri_queue_note_span(stream->queue, times.from_ns, times.to_ns);
    return status;
}

slr_status slri_stream_finish(struct slri_stream *stream)
{
    if (stream->begun == 0)
        return SLR_OK;
    slr_status status = wait_for_begun(stream, wants_times(stream));
    if (!stream->faults)
        return status;
    status = slri_faults_look(stream->faults, stream, status);
    stream->faults->count = 0;
    if (stream->faults->is_unknown) { // the next kernel gets new words
        slri_faults_destroy(stream->faults);
        stream->faults = NULL;
    }
    return status;
}

slr_status slri_stream_begin(struct slri_stream *stream, const struct slri_command *command,
                             const struct slri_extras *extras, uint32_t commands)
{
    const struct slri_queue_device *of = stream->of;
    struct slri_extras marked;
    if (stream->mark != 0) { // of one command: who sets it begins no more at a time
        marked = *extras;
        marked.mark = stream->mark;
        stream->mark = 0;
        extras = &marked;
    }
    slr_status status =
        slri_loss_seen(of->loss, of->backend->encode(of->device, stream->native, command, extras, commands));
    if (!of->backend->wait)
        return status;
    stream->begun += commands; // also where it failed: an error may be one of a command before it
    if (status == SLR_OK && of->facts.most_begun != 0 && stream->begun >= of->facts.most_begun)
        return slri_stream_finish(stream);
    return status;
}

static slr_status begin(void *user, const struct slri_command *command)
{
    struct slri_stream *stream = user;
    const struct slri_extras extras = {.wants_times = wants_times(stream)};
    return slri_stream_begin(stream, command, &extras, 1);
}

// ---- copies that are waited for ------------------------------------------------------------------------------------

void slri_queue_device_free(struct slri_queue_device *of, void *memory, uint64_t bytes)
{
    if (of->keeps_host)
        of->backend->memory_destroy(of->device, SLRI_MEMORY_HOST, memory, bytes);
    else
        slri_free(of->allocator, memory, bytes);
}

// By way of memory that stays where a lost device may still copy when the caller's has gone. The user has not asked for
// the copy, so the queue's times do not have it.
slr_status slri_stream_copy(struct slri_stream *stream, void *memory, void *host, uint64_t bytes, bool in)
{
    struct slri_queue_device *of = stream->of;
    const struct slri_extras untimed = {0};
    void *between = slri_alloc(of->allocator, bytes);
    if (!between)
        return SLRI_FAIL(NO_MEMORY, "no memory to copy %llu B", (unsigned long long)bytes);
    if (in)
        memcpy(between, host, bytes);
    const struct slri_command copy = {.op = in ? SLRI_COPY_IN : SLRI_COPY_OUT, .copy = {memory, between, bytes}};
    slr_status status = slri_stream_begin(stream, &copy, &untimed, 1);
    slr_status waited = stream->begun != 0 ? wait_for_begun(stream, false) : SLR_OK;
    status = status == SLR_OK ? waited : status;
    if (status == SLR_OK && !in)
        memcpy(host, between, bytes);
    slri_queue_device_free(of, between, bytes);
    return status;
}

static slr_status read_printed(void *self, void *host, const void *memory, uint64_t bytes)
{
    struct slri_stream *stream = self;
    if (!stream->of->is_unified)
        return slri_stream_copy(stream, (void *)(uintptr_t)memory, host, bytes, false);
    memcpy(host, memory, bytes); // the kernel was waited for
    return SLR_OK;
}

// ---- commands ------------------------------------------------------------------------------------------------------

static slr_status begin_dispatch(struct slri_stream *stream, const struct slri_command *command, void *printed)
{
    const struct slri_queue_device *of = stream->of;
    const struct slri_ready_kernel *ready = command->dispatch.ready;
    struct slri_extras extras = {.printed = printed, .wants_times = wants_times(stream)};
    if (of->facts.faults != SLRI_FAULTS_RETURNED && ready->kernel.may_fault) {
        if (!stream->faults)
            SLRI_TRY(slri_faults_create(stream->of, MOST_FAULTS, &stream->faults));
        if (stream->faults->count == stream->faults->room)
            SLRI_TRY(slri_stream_finish(stream));
        extras.faulted = slri_faults_add(stream->faults, ready);
    }
    return slri_stream_begin(stream, command, &extras, 1);
}

// It is waited for, so that what it has printed is told before it is done.
static slr_status dispatch_heard(struct slri_stream *stream, const struct slri_command *command)
{
    const struct slri_queue_device *of = stream->of;
    const struct slri_print_to to = slri_print_to_of(command);
    if (!stream->printed)
        SLRI_TRY(slri_queue_device_memory(of, SLRI_MEMORY_DEVICE, SLRI_PRINTED_ROOM, &stream->printed));
    const struct slri_command head = {
        .op = SLRI_COPY_IN, .copy = {stream->printed, (void *)&slri_printed_begin, sizeof slri_printed_begin}};
    SLRI_TRY(begin(stream, &head));
    slr_status status = begin_dispatch(stream, command, stream->printed);
    if (status == SLR_OK)
        status = slri_stream_finish(stream);
    return slri_print_fetch(&to, of->allocator, stream->printed, read_printed, stream, status);
}

static slr_status dispatch(struct slri_stream *stream, const struct slri_command *command)
{
    bool reports = stream->of->facts.faults != SLRI_FAULTS_RETURNED;
    return reports && slri_print_is_heard(command) ? dispatch_heard(stream, command)
                                                   : begin_dispatch(stream, command, NULL);
}

// What goes through the bounce is waited for, so that the next stream may have it.
static slr_status move_over_itself(struct slri_stream *stream, const struct slri_command *command)
{
    struct slri_queue_device *of = stream->of;
    slri_mutex_lock(&of->bounce_lock);
    slr_status status = slri_move_in_pieces(command, of->bounce, begin, stream);
    slr_status waited = slri_stream_finish(stream);
    slri_mutex_unlock(&of->bounce_lock);
    return status == SLR_OK ? waited : status;
}

static slr_status move(struct slri_stream *stream, const struct slri_command *command)
{
    uintptr_t to = (uintptr_t)command->move.to, from = (uintptr_t)command->move.from;
    uint64_t apart = to > from ? to - from : from - to;
    if (stream->of->facts.moves_over || apart >= command->move.bytes)
        return begin(stream, command);
    return apart == 0 ? SLR_OK : move_over_itself(stream, command);
}

static slr_status fill(struct slri_stream *stream, const struct slri_command *command)
{
    uint32_t most = stream->of->facts.most_pattern;
    return most == 0 ? begin(stream, command) : slri_fill_in_pieces(command, most, begin, stream);
}

// What was begun before it is done first, and its failure told.
static slr_status call(struct slri_stream *stream, const struct slri_command *command, slr_status before)
{
    struct slri_queue_device *of = stream->of;
    slr_status waited = slri_stream_finish(stream);
    if (before == SLR_OK)
        before = waited;
    if (of->facts.threads != 0)
        slri_queue_pool_call(&of->pool, command, before);
    else
        command->call.function(command->call.user, before);
    return waited;
}

// Of a lost device none is done, also where nothing was begun: it may call what is lost.
static slr_status task(struct slri_stream *stream, const struct slri_command *command)
{
    struct slri_queue_device *of = stream->of;
    SLRI_TRY(slri_stream_finish(stream));
    if (of->backend->wait)
        SLRI_TRY(wait_for_begun(stream, false));
    return of->facts.threads != 0 ? slri_queue_pool_task(&of->pool, command)
                                  : command->task.function(command->task.user);
}

static slr_status run_list(struct slri_stream *stream, const struct slri_command *command);

slr_status slri_stream_run(struct slri_stream *stream, const struct slri_command *command, slr_status before)
{
    if (slri_command_moves_nothing(command))
        return SLR_OK;
    switch (command->op) {
    case SLRI_CALL:
        return call(stream, command, before);
    case SLRI_TASK:
        return task(stream, command);
    case SLRI_COPY:
        return move(stream, command);
    case SLRI_FILL:
        return fill(stream, command);
    case SLRI_DISPATCH:
        return dispatch(stream, command);
    case SLRI_LIST:
        return run_list(stream, command);
    default:
        return begin(stream, command);
    }
}

// ---- ahead ---------------------------------------------------------------------------------------------------------

static bool tells_nothing(const struct slri_stream *stream, const struct slri_command *command)
{
    return stream->of->facts.faults != SLRI_FAULTS_RETURNED && !command->dispatch.ready->kernel.may_fault &&
           !slri_print_is_heard(command);
}

static bool list_tells_nothing(const struct slri_command *command);

static bool goes_ahead(const struct slri_stream *stream, const struct slri_command *command)
{
    if (slri_command_moves_nothing(command)) // it is not begun, and so has no mark
        return false;
    switch (command->op) {
    case SLRI_FILL:
    case SLRI_NATIVE:
        return true;
    case SLRI_COPY_IN:
    case SLRI_COPY_OUT:
        return command->is_pinned; // else the call that begins it lasts until it has copied
    case SLRI_COPY:
        return stream->of->facts.moves_over || !slri_move_overlaps(command);
    case SLRI_DISPATCH:
        return tells_nothing(stream, command);
    case SLRI_LIST:
        return list_tells_nothing(command);
    default:
        return false;
    }
}

bool slri_stream_goes_ahead(const struct slri_stream *stream, const struct slri_submission *submission)
{
    if (stream->of->facts.marks == 0 || !stream->native || submission->commands == 0 ||
        slri_is_observed()) // watched, each takes what it takes
        return false;
    for (uint32_t i = 0; i < submission->commands; ++i)
        if (!goes_ahead(stream, &submission->command[i]))
            return false;
    return true;
}

// Not beside persistent kernels: the driver may wait for those, at a kernel's first launch for one.
bool slri_stream_begins_at_once(const struct slri_stream *stream, const struct slri_submission *submission)
{
    const struct slri_residents *residents = stream->of->residents;
    // Relaxed: a hint. A call that waits ends persistent kernels after a while.
    if (residents && __atomic_load_n(&residents->running, __ATOMIC_RELAXED) != 0)
        return false;
    for (uint32_t i = 0; i < submission->commands; ++i)
        if (submission->command[i].op != SLRI_DISPATCH && submission->command[i].op != SLRI_LIST)
            return false;
    return slri_stream_goes_ahead(stream, submission);
}

slr_status slri_stream_await_mark(struct slri_stream *stream, uint32_t mark)
{
    struct slri_times times = {.mark = mark};
    slr_status status = slri_stream_await(stream, &times);
    stream->begun = 1; // something comes after the mark
    return status;
}

// ---- at once -------------------------------------------------------------------------------------------------------

static slr_status run_own(struct slri_queue_device *of, const struct slri_command *command, uint32_t commands)
{
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < commands && status == SLR_OK; ++i)
        status = slri_stream_run(&of->own, &command[i], SLR_OK);
    slr_status waited = slri_stream_finish(&of->own);
    return status == SLR_OK ? waited : status;
}

slr_status slri_queue_device_check_process(const struct slri_queue_device *of)
{
    return !slri_has_forked(of->forks)
               ? SLR_OK
               : SLRI_FAIL(WRONG_STATE,
                           "device '%s' was opened by a process of which this one is a child, made by fork(): only the "
                           "process that opened it can use it",
                           of->backend->name);
}

slr_status slri_queue_device_run(struct slri_queue_device *of, const struct slri_command *command, uint32_t commands)
{
    SLRI_TRY(slri_queue_device_check_process(of));
    if (!of->backend->wait) // what is encoded is done: there is nothing to lock
        return run_own(of, command, commands);
    slri_mutex_lock(&of->own_lock);
    slr_status status = run_own(of, command, commands);
    slri_mutex_unlock(&of->own_lock);
    return status;
}

slr_status slri_queue_device_copy(struct slri_queue_device *of, void *memory, void *host, uint64_t bytes, bool in)
{
    slri_mutex_lock(&of->own_lock);
    slr_status status = slri_stream_copy(&of->own, memory, host, bytes, in);
    slri_mutex_unlock(&of->own_lock);
    return status;
}

// ---- lists ---------------------------------------------------------------------------------------------------------

struct slri_list {
    struct slri_queue_device *of;
    void *native;
    slri_mutex lock;            // for one thread at a time, until its fault words have been looked at
    struct slri_faults *faults; // NULL: no kernel of it may fault
    size_t bytes;
    struct slri_command command[]; // copies: the pieces of a fill point to its pattern
};

static bool list_tells_nothing(const struct slri_command *command)
{
    return !((const struct slri_list *)command->list)->faults;
}

// The commands as the device has them. First they are counted, then they are put down.
struct pieces {
    struct slri_command *command; // NULL: they are counted
    uint32_t count;
};

static slr_status put(void *user, const struct slri_command *command)
{
    struct pieces *pieces = user;
    if (pieces->command)
        pieces->command[pieces->count] = *command;
    ++pieces->count;
    return SLR_OK;
}

static void put_all(const struct slri_list *list, uint32_t commands, struct pieces *pieces)
{
    uint32_t most = list->of->facts.most_pattern;
    pieces->count = 0;
    for (uint32_t i = 0; i < commands; ++i) {
        const struct slri_command *command = &list->command[i];
        if (slri_command_moves_nothing(command))
            continue;
        if (command->op == SLRI_FILL && most != 0)
            slri_fill_in_pieces(command, most, put, pieces);
        else
            put(pieces, command);
    }
}

static bool may_fault(const struct slri_list *list, const struct slri_command *command)
{
    return list->of->facts.faults != SLRI_FAULTS_RETURNED && command->op == SLRI_DISPATCH &&
           command->dispatch.ready->kernel.may_fault;
}

static slr_status make_faults(struct slri_list *list, const struct pieces *pieces)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < pieces->count; ++i)
        count += may_fault(list, &pieces->command[i]);
    return count ? slri_faults_create(list->of, count, &list->faults) : SLR_OK;
}

static slr_status make_list(struct slri_list *list, const struct pieces *pieces, struct slri_extras *extras)
{
    const struct slri_queue_device *of = list->of;
    SLRI_TRY(make_faults(list, pieces));
    for (uint32_t i = 0; i < pieces->count; ++i)
        if (may_fault(list, &pieces->command[i]))
            extras[i].faulted = slri_faults_add(list->faults, pieces->command[i].dispatch.ready);
    return slri_loss_seen(of->loss,
                          of->backend->list_create(of->device, pieces->command, extras, pieces->count, &list->native));
}

static slr_status fill_list(struct slri_list *list, uint32_t commands)
{
    const slr_allocator *allocator = list->of->allocator;
    struct pieces pieces = {0};
    put_all(list, commands, &pieces);
    size_t bytes = pieces.count * (sizeof *pieces.command + sizeof(struct slri_extras));
    pieces.command = slri_alloc(allocator, bytes);
    if (!pieces.command)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a list", list->of->backend->name);
    struct slri_extras *extras = (struct slri_extras *)(void *)(pieces.command + pieces.count);
    put_all(list, commands, &pieces);
    slr_status status = make_list(list, &pieces, extras);
    slri_free(allocator, pieces.command, bytes);
    return status;
}

slr_status slri_list_create(struct slri_queue_device *of, const struct slri_command *command, uint32_t commands,
                            struct slri_list **out)
{
    size_t bytes = sizeof(struct slri_list) + commands * sizeof *command;
    struct slri_list *made = slri_alloc(of->allocator, bytes);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a list", of->backend->name);
    made->of = of;
    made->bytes = bytes;
    memcpy(made->command, command, commands * sizeof *command);
    slr_status status = fill_list(made, commands);
    if (status != SLR_OK) {
        slri_faults_destroy(made->faults);
        slri_free(of->allocator, made, bytes);
        return status;
    }
    slri_mutex_init(&made->lock);
    *out = made;
    return SLR_OK;
}

void slri_list_destroy(struct slri_list *list)
{
    const struct slri_queue_device *of = list->of;
    of->backend->list_destroy(of->device, list->native);
    slri_faults_destroy(list->faults);
    slri_mutex_destroy(&list->lock);
    slri_free(of->allocator, list, list->bytes);
}

// The next launch reports by the same words: so they are looked at before it.
static slr_status run_list(struct slri_stream *stream, const struct slri_command *command)
{
    struct slri_list *list = command->list;
    const struct slri_command native = {.op = SLRI_LIST, .list = list->native};
    slri_mutex_lock(&list->lock);
    slr_status status = begin(stream, &native);
    if (list->faults && status == SLR_OK)
        status = slri_faults_look(list->faults, stream, slri_stream_finish(stream));
    slri_mutex_unlock(&list->lock);
    return status;
}
