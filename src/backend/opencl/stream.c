// SPDX-License-Identifier: Apache-2.0
// Streams: an in-order command queue each. The front half's queue (device/queue.h) says what may begin; a thread of the
// pool then gives the device the commands of one submission and waits for them together.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "backend/opencl/opencl.h"
#include "device/observe.h"

#include <string.h>

// So many are begun before the first is waited for.
#define MOST_BEGUN 32

struct slri_cl_stream {
    slri_cl_queue queue;
    struct slri_cl_bell *bell;
    slri_cl_event begun[MOST_BEGUN];
    uint32_t count;
    void *printed; // SLRI_PRINTED_ROOM bytes of the device, for what its kernel prints; NULL: none has yet
    // Words of the device for a fault of each of `begun`, `fault_stride` apart; NULL: no kernel that may have one yet.
    unsigned char *faulted;
    const void *checked[MOST_BEGUN]; // what was dispatched with them; NULL: nothing
    uint32_t checks;                 // none is checked from there on
    uint32_t timed;                  // 1 + which of `begun` is a ring kernel's dispatch; 0: none is
    uint64_t dispatch_ns;            // how long that took, by the driver; 0: the driver does not say
};

// ---- life ----------------------------------------------------------------------------------------------------------

static slri_cl_queue make_queue(struct slri_opencl *opencl, uint32_t priority, int32_t *error)
{
    const struct slri_cl *cl = opencl->cl;
    uint64_t level = priority > SLR_DEFAULT_PRIORITY   ? SLRI_CL_QUEUE_PRIORITY_HIGH
                     : priority < SLR_DEFAULT_PRIORITY ? SLRI_CL_QUEUE_PRIORITY_LOW
                                                       : SLRI_CL_QUEUE_PRIORITY_MEDIUM;
    const uint64_t properties[] = {SLRI_CL_QUEUE_PROPERTIES, SLRI_CL_QUEUE_PROFILING_ENABLE, SLRI_CL_QUEUE_PRIORITY_KHR,
                                   level, 0};
    if (opencl->facts.priorities && cl->CreateCommandQueueWithProperties)
        return cl->CreateCommandQueueWithProperties(opencl->context, opencl->id, properties, error);
    return cl->CreateCommandQueue(opencl->context, opencl->id, SLRI_CL_QUEUE_PROFILING_ENABLE, error);
}

slr_status slri_cl_stream_create(struct slri_opencl *opencl, uint32_t priority, struct slri_cl_stream **out)
{
    int32_t error;
    struct slri_cl_stream *stream = slri_alloc(opencl->allocator, sizeof *stream);
    if (!stream)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a stream", opencl->name);
    stream->bell = slri_alloc(opencl->allocator, sizeof *stream->bell);
    stream->queue = stream->bell ? make_queue(opencl, priority, &error) : NULL;
    if (!stream->bell) {
        slri_free(opencl->allocator, stream, sizeof *stream);
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a stream", opencl->name);
    }
    if (!stream->queue) {
        slri_free(opencl->allocator, stream->bell, sizeof *stream->bell);
        slri_free(opencl->allocator, stream, sizeof *stream);
        return slri_cl_failed(opencl->name, "CreateCommandQueue", error);
    }
    *out = stream;
    return SLR_OK;
}

// Where a part of a memory object may begin.
static uint64_t fault_stride(const struct slri_opencl *opencl)
{
    return opencl->facts.base_alignment > SLRI_CL_FAULT_BYTES ? opencl->facts.base_alignment : SLRI_CL_FAULT_BYTES;
}

static void forget_faults(struct slri_opencl *opencl, struct slri_cl_stream *stream)
{
    if (stream->faulted)
        slri_cl_buffer_destroy(opencl, stream->faulted, MOST_BEGUN * fault_stride(opencl));
    stream->faulted = NULL;
}

void slri_cl_stream_destroy(struct slri_opencl *opencl, struct slri_cl_stream *stream)
{
    if (!stream)
        return;
    if (!slri_cl_is_lost(opencl)) // where that waits for ever, maybe
        opencl->cl->ReleaseCommandQueue(stream->queue);
    if (stream->printed)
        slri_cl_buffer_destroy(opencl, stream->printed, SLRI_PRINTED_ROOM);
    forget_faults(opencl, stream);
    if (__atomic_load_n(&stream->bell->rung, __ATOMIC_ACQUIRE) == stream->bell->asked) // else it is still to ring
        slri_free(opencl->allocator, stream->bell, sizeof *stream->bell);
    slri_free(opencl->allocator, stream, sizeof *stream);
}

// ---- what was begun ------------------------------------------------------------------------------------------------

static slr_status look_for_fault(struct slri_opencl *opencl, struct slri_cl_stream *stream, uint32_t at)
{
    struct slri_cl_fault fault;
    void *memory = stream->faulted + at * fault_stride(opencl);
    if (opencl->memory == SLRI_CL_FINE)
        memcpy(&fault, memory, sizeof fault); // the kernel was waited for
    else
        SLRI_TRY(slri_cl_stream_copy_now(opencl, stream, memory, &fault, sizeof fault, false));
    return fault.fault == SLRI_FAULT_NONE ? SLR_OK : slri_cl_say_fault(stream->checked[at], &fault);
}

// Of kernels that are done: gives the first, or `before` where that is one already.
static slr_status look_for_faults(struct slri_opencl *opencl, struct slri_cl_stream *stream, slr_status before)
{
    slr_status status = before;
    for (uint32_t i = 0; i < stream->checks && status == SLR_OK; ++i)
        if (stream->checked[i])
            status = look_for_fault(opencl, stream, i);
    if (status != SLR_OK) // some words are not zero any more: the next kernel finds new ones
        forget_faults(opencl, stream);
    memset(stream->checked, 0, sizeof stream->checked);
    stream->checks = 0;
    return status;
}

// How long a command that is done took, by the driver's clock; 0: the driver does not say.
static uint64_t took_ns(const struct slri_cl *cl, slri_cl_event event)
{
    uint64_t from, to;
    int32_t error = cl->GetEventProfilingInfo(event, SLRI_CL_PROFILING_COMMAND_START, sizeof from, &from, NULL);
    if (error == SLRI_CL_SUCCESS)
        error = cl->GetEventProfilingInfo(event, SLRI_CL_PROFILING_COMMAND_END, sizeof to, &to, NULL);
    return error == SLRI_CL_SUCCESS && to > from ? to - from : 0;
}

uint64_t slri_cl_stream_dispatch_ns(const struct slri_cl_stream *stream)
{
    return stream->dispatch_ns;
}

slr_status slri_cl_stream_finish(struct slri_opencl *opencl, struct slri_cl_stream *stream)
{
    if (stream->count == 0)
        return SLR_OK;
    slr_status status =
        slri_cl_await(opencl, stream->queue, stream->bell, opencl->patience_ns, stream->count, stream->begun);
    if (status == SLR_DEVICE_LOST && slri_cl_is_lost(opencl))
        return status; // they stay
    if (stream->timed != 0)
        stream->dispatch_ns = slri_is_observed() ? took_ns(opencl->cl, stream->begun[stream->timed - 1]) : 0;
    for (uint32_t i = 0; i < stream->count; ++i)
        opencl->cl->ReleaseEvent(stream->begun[i]);
    stream->count = stream->timed = 0;
    return stream->checks == 0 ? status : look_for_faults(opencl, stream, status);
}

// Takes a command that `call` has begun, or its failure.
static slr_status begun(struct slri_opencl *opencl, struct slri_cl_stream *stream, const char *call, int32_t error,
                        slri_cl_event event)
{
    if (error != SLRI_CL_SUCCESS)
        return slri_cl_failed(opencl->name, call, error);
    stream->begun[stream->count++] = event;
    return stream->count == MOST_BEGUN ? slri_cl_stream_finish(opencl, stream) : SLR_OK;
}

// ---- commands ------------------------------------------------------------------------------------------------------

static bool has_addresses(const struct slri_opencl *opencl)
{
    return opencl->memory <= SLRI_CL_COARSE;
}

static slr_status copy_svm(struct slri_opencl *opencl, struct slri_cl_stream *stream, void *to, const void *from,
                           uint64_t bytes)
{
    slri_cl_event event;
    int32_t error = opencl->cl->EnqueueSVMMemcpy(stream->queue, 0, to, from, bytes, 0, NULL, &event);
    return begun(opencl, stream, "EnqueueSVMMemcpy", error, event);
}

slr_status slri_cl_stream_copy_in(struct slri_opencl *opencl, struct slri_cl_stream *stream, void *device,
                                  const void *host, uint64_t bytes)
{
    uint64_t offset;
    slri_cl_event event;
    if (has_addresses(opencl))
        return copy_svm(opencl, stream, device, host, bytes);
    slri_cl_mem mem = slri_cl_find_memory(opencl, device, &offset);
    int32_t error = opencl->cl->EnqueueWriteBuffer(stream->queue, mem, 0, offset, bytes, host, 0, NULL, &event);
    return begun(opencl, stream, "EnqueueWriteBuffer", error, event);
}

slr_status slri_cl_stream_copy_out(struct slri_opencl *opencl, struct slri_cl_stream *stream, void *host,
                                   const void *device, uint64_t bytes)
{
    uint64_t offset;
    slri_cl_event event;
    if (has_addresses(opencl))
        return copy_svm(opencl, stream, host, device, bytes);
    slri_cl_mem mem = slri_cl_find_memory(opencl, device, &offset);
    int32_t error = opencl->cl->EnqueueReadBuffer(stream->queue, mem, 0, offset, bytes, host, 0, NULL, &event);
    return begun(opencl, stream, "EnqueueReadBuffer", error, event);
}

static slr_status move(struct slri_opencl *opencl, struct slri_cl_stream *stream, void *to, const void *from,
                       uint64_t bytes)
{
    uint64_t to_offset, from_offset;
    slri_cl_event event;
    if (has_addresses(opencl))
        return copy_svm(opencl, stream, to, from, bytes);
    slri_cl_mem to_mem = slri_cl_find_memory(opencl, to, &to_offset);
    slri_cl_mem from_mem = slri_cl_find_memory(opencl, from, &from_offset);
    int32_t error =
        opencl->cl->EnqueueCopyBuffer(stream->queue, from_mem, to_mem, from_offset, to_offset, bytes, 0, NULL, &event);
    return begun(opencl, stream, "EnqueueCopyBuffer", error, event);
}

// OpenCL copies no ranges that overlap: by way of a third.
static slr_status move_over_itself(struct slri_opencl *opencl, struct slri_cl_stream *stream, void *to,
                                   const void *from, uint64_t bytes)
{
    void *between;
    SLRI_TRY(slri_cl_buffer_create(opencl, bytes, &between));
    slr_status status = move(opencl, stream, between, from, bytes);
    if (status == SLR_OK)
        status = move(opencl, stream, to, between, bytes);
    slr_status waited = slri_cl_stream_finish(opencl, stream);
    slri_cl_buffer_destroy(opencl, between, bytes);
    return status == SLR_OK ? waited : status;
}

static slr_status fill_aligned(struct slri_opencl *opencl, struct slri_cl_stream *stream, void *to, uint64_t bytes,
                               const void *pattern, uint32_t pattern_bytes)
{
    uint64_t offset;
    slri_cl_event event;
    int32_t error;
    if (bytes == 0)
        return SLR_OK;
    if (has_addresses(opencl)) {
        error = opencl->cl->EnqueueSVMMemFill(stream->queue, to, pattern, pattern_bytes, bytes, 0, NULL, &event);
        return begun(opencl, stream, "EnqueueSVMMemFill", error, event);
    }
    slri_cl_mem mem = slri_cl_find_memory(opencl, to, &offset);
    error = opencl->cl->EnqueueFillBuffer(stream->queue, mem, pattern, pattern_bytes, offset, bytes, 0, NULL, &event);
    return begun(opencl, stream, "EnqueueFillBuffer", error, event);
}

// OpenCL fills from multiples of the pattern's size only. From elsewhere: the pattern's beginning up to such a place,
// then the pattern turned by as much, then its end. The command keeps the pattern until it is done.
static slr_status fill(struct slri_opencl *opencl, struct slri_cl_stream *stream, const struct slri_command *command)
{
    unsigned char *to = command->fill.device, turned[16];
    const unsigned char *pattern = command->fill.pattern;
    uint32_t size = command->fill.pattern_bytes;
    uint32_t head = (uint32_t)((size - (uintptr_t)to % size) % size); // chunks begin at multiples of 16
    if (head == 0)
        return fill_aligned(opencl, stream, to, command->fill.bytes, pattern, size);
    for (uint32_t i = 0; i < size; ++i)
        turned[i] = pattern[(head + i) % size];
    uint64_t middle = command->fill.bytes - size;
    SLRI_TRY(slri_cl_stream_copy_in(opencl, stream, to, pattern, head));
    SLRI_TRY(fill_aligned(opencl, stream, to + head, middle, turned, size));
    return slri_cl_stream_copy_in(opencl, stream, to + head + middle, pattern + head, size - head);
}

static slr_status begin_dispatch(struct slri_opencl *opencl, struct slri_cl_stream *stream,
                                 const struct slri_command *command, void *printed)
{
    slri_cl_event event;
    struct slri_cl_told told = {.printed = printed};
    bool checks = slri_cl_may_fault(command);
    if (checks) {
        if (!stream->faulted)
            SLRI_TRY(slri_cl_buffer_create(opencl, MOST_BEGUN * fault_stride(opencl), (void **)&stream->faulted));
        told.faulted = stream->faulted + stream->count * fault_stride(opencl);
    }
    SLRI_TRY(slri_cl_dispatch(opencl, stream->queue, command, &told, &event));
    if (checks) {
        stream->checked[stream->count] = command->dispatch.ready;
        stream->checks = stream->count + 1;
    }
    return begun(opencl, stream, "EnqueueNDRangeKernel", SLRI_CL_SUCCESS, event);
}

struct reader {
    struct slri_opencl *opencl;
    struct slri_cl_stream *stream;
};

static slr_status read_printed(void *self, void *host, const void *device, uint64_t bytes)
{
    const struct reader *reader = self;
    SLRI_TRY(slri_cl_stream_copy_out(reader->opencl, reader->stream, host, device, bytes));
    return slri_cl_stream_finish(reader->opencl, reader->stream);
}

// It is waited for, so that what it has printed is told before it is done.
static slr_status dispatch_heard(struct slri_opencl *opencl, struct slri_cl_stream *stream,
                                 const struct slri_command *command)
{
    const struct slri_print_to to = slri_cl_printer_of(command);
    struct reader reader = {opencl, stream};
    if (!stream->printed)
        SLRI_TRY(slri_cl_buffer_create(opencl, SLRI_PRINTED_ROOM, &stream->printed));
    SLRI_TRY(slri_cl_stream_copy_in(opencl, stream, stream->printed, &slri_printed_begin, sizeof slri_printed_begin));
    slr_status status = begin_dispatch(opencl, stream, command, stream->printed);
    if (status == SLR_OK)
        status = slri_cl_stream_finish(opencl, stream);
    return slri_print_fetch(&to, opencl->allocator, stream->printed, read_printed, &reader, status);
}

static slr_status dispatch(struct slri_opencl *opencl, struct slri_cl_stream *stream,
                           const struct slri_command *command, slr_status before)
{
    (void)before;
    return slri_print_is_heard(command) ? dispatch_heard(opencl, stream, command)
                                        : begin_dispatch(opencl, stream, command, NULL);
}

// ---- for ring kernels ----------------------------------------------------------------------------------------------

slr_status slri_cl_stream_enqueue(struct slri_opencl *opencl, struct slri_cl_stream *stream, slri_cl_kernel kernel,
                                  size_t groups, size_t group)
{
    const size_t global = groups * group;
    slri_cl_event event;
    int32_t error = opencl->cl->EnqueueNDRangeKernel(stream->queue, kernel, 1, NULL, &global, &group, 0, NULL, &event);
    stream->timed = error == SLRI_CL_SUCCESS ? stream->count + 1 : 0;
    return begun(opencl, stream, "EnqueueNDRangeKernel", error, event);
}

slr_status slri_cl_stream_flush(struct slri_opencl *opencl, struct slri_cl_stream *stream)
{
    int32_t error = opencl->cl->Flush(stream->queue);
    return error == SLRI_CL_SUCCESS ? SLR_OK : slri_cl_failed(opencl->name, "Flush", error);
}

// Nothing is noted in the stream: its owner may be at work in it.
slr_status slri_cl_stream_copy_now(struct slri_opencl *opencl, struct slri_cl_stream *stream, void *device, void *host,
                                   uint64_t bytes, bool in)
{
    struct slri_cl_stream own = {.queue = stream->queue};
    SLRI_TRY(slri_cl_check_lost(opencl));
    SLRI_TRY(in ? slri_cl_stream_copy_in(opencl, &own, device, host, bytes)
                : slri_cl_stream_copy_out(opencl, &own, host, device, bytes));
    return slri_cl_stream_finish(opencl, &own);
}

// ---- commands by their tags ----------------------------------------------------------------------------------------

typedef slr_status run_function(struct slri_opencl *opencl, struct slri_cl_stream *stream,
                                const struct slri_command *command, slr_status before);

static slr_status run_copy_in(struct slri_opencl *opencl, struct slri_cl_stream *stream,
                              const struct slri_command *command, slr_status before)
{
    (void)before;
    return slri_cl_stream_copy_in(opencl, stream, command->copy.device, command->copy.host, command->copy.bytes);
}

static slr_status run_copy_out(struct slri_opencl *opencl, struct slri_cl_stream *stream,
                               const struct slri_command *command, slr_status before)
{
    (void)before;
    return slri_cl_stream_copy_out(opencl, stream, command->copy.host, command->copy.device, command->copy.bytes);
}

static slr_status run_move(struct slri_opencl *opencl, struct slri_cl_stream *stream,
                           const struct slri_command *command, slr_status before)
{
    (void)before;
    uintptr_t to = (uintptr_t)command->move.to, from = (uintptr_t)command->move.from;
    uint64_t bytes = command->move.bytes, apart = to > from ? to - from : from - to;
    if (apart == 0)
        return SLR_OK;
    return (apart < bytes ? move_over_itself : move)(opencl, stream, command->move.to, command->move.from, bytes);
}

static slr_status run_fill(struct slri_opencl *opencl, struct slri_cl_stream *stream,
                           const struct slri_command *command, slr_status before)
{
    (void)before;
    return fill(opencl, stream, command);
}

// What was begun before it is done first, and its failure told.
static slr_status run_call(struct slri_opencl *opencl, struct slri_cl_stream *stream,
                           const struct slri_command *command, slr_status before)
{
    slr_status waited = slri_cl_stream_finish(opencl, stream);
    slri_queue_pool_call(&opencl->pool, command, before == SLR_OK ? waited : before);
    return waited;
}

static slr_status run_task(struct slri_opencl *opencl, struct slri_cl_stream *stream,
                           const struct slri_command *command, slr_status before)
{
    (void)before;
    SLRI_TRY(slri_cl_stream_finish(opencl, stream));
    return slri_queue_pool_task(&opencl->pool, command);
}

static slr_status run_stamp(struct slri_opencl *opencl, struct slri_cl_stream *stream,
                            const struct slri_command *command, slr_status before)
{
    (void)before;
    slr_status waited = slri_cl_stream_finish(opencl, stream);
    *command->stamp = slri_now_ns();
    return waited;
}

static run_function *const run_of[SLRI_OPS] = {
    [SLRI_COPY_IN] = run_copy_in, [SLRI_COPY_OUT] = run_copy_out, [SLRI_COPY] = run_move,     [SLRI_FILL] = run_fill,
    [SLRI_CALL] = run_call,       [SLRI_STAMP] = run_stamp,       [SLRI_DISPATCH] = dispatch, [SLRI_TASK] = run_task,
};

// The stream that the calling thread works for; without one the device's own, which the caller has locked.
static struct slri_cl_stream *stream_here(struct slri_opencl *opencl)
{
    return slri_queue_native(opencl, opencl->own);
}

static slr_status run(void *device, const struct slri_command *command, slr_status before)
{
    struct slri_opencl *opencl = device;
    if (slri_command_moves_nothing(command))
        return SLR_OK;
    if (command->op != SLRI_CALL) // which is told
        SLRI_TRY(slri_cl_check_lost(opencl));
    return run_of[command->op](opencl, stream_here(opencl), command, before);
}

static slr_status finish(void *device)
{
    struct slri_opencl *opencl = device;
    return slri_cl_stream_finish(opencl, stream_here(opencl));
}

static void ready(struct slri_queue *queue)
{
    struct slri_opencl *opencl = queue->device;
    slri_queue_pool_add(&opencl->pool, queue);
}

static const struct slri_queue_runner runner = {ready, run, finish};

slr_status slri_cl_queue_open(void *device, struct slri_queue *queue)
{
    struct slri_opencl *opencl = device;
    struct slri_cl_stream *stream = NULL;
    SLRI_TRY(slri_queue_pool_start(&opencl->pool));
    SLRI_TRY(slri_cl_stream_create(opencl, queue->priority, &stream));
    queue->device = device;
    queue->native = stream;
    queue->runner = &runner;
    return SLR_OK;
}

void slri_cl_queue_close(void *device, struct slri_queue *queue)
{
    slri_cl_stream_destroy(device, queue->native);
    queue->native = NULL;
}

slr_status slri_cl_submit(void *device, struct slri_submission *submission)
{
    struct slri_opencl *opencl = device;
    return slri_queue_submit(device, submission, &runner, &opencl->own_lock);
}

slr_status slri_cl_fill_at_once(struct slri_opencl *opencl, void *memory, uint64_t bytes, unsigned char value)
{
    SLRI_TRY(slri_cl_check_lost(opencl));
    slri_mutex_lock(&opencl->own_lock);
    slr_status status = fill_aligned(opencl, opencl->own, memory, bytes, &value, 1);
    slr_status waited = slri_cl_stream_finish(opencl, opencl->own);
    slri_mutex_unlock(&opencl->own_lock);
    return status == SLR_OK ? waited : status;
}
