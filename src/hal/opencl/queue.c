// SPDX-License-Identifier: Apache-2.0
// Command queues: in order, and the events of what was begun, by which it is waited for.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "hal/opencl/opencl.h"

struct slri_cl_stream {
    slri_cl_queue queue;
    struct slri_cl_bell *bell;
    slri_cl_event begun[SLRI_CL_MOST_BEGUN];
    uint32_t count;
    uint32_t first_timed, last_timed; // of `begun`, whose times are wanted
    uint64_t begun_ns;                // when the second of those was begun, at the latest; 0: there is none
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

static slr_status create_stream(struct slri_opencl *opencl, uint32_t priority, struct slri_cl_stream **out)
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

// What the stream has begun may still run: the device is lost.
static void leave_begun(struct slri_opencl *opencl, struct slri_cl_stream *stream)
{
    for (uint32_t i = 0; i < stream->count; ++i)
        slri_cl_let_go(opencl, SLRI_CL_EVENT, stream->begun[i], 0);
    stream->count = 0;
}

static void destroy_stream(struct slri_opencl *opencl, struct slri_cl_stream *stream)
{
    if (!stream)
        return;
    leave_begun(opencl, stream);
    slri_cl_let_go(opencl, SLRI_CL_QUEUE, stream->queue, 0); // of a lost device that waits for ever, maybe
    slri_cl_let_go(opencl, SLRI_CL_BELL, stream->bell, 0);
    slri_free(opencl->allocator, stream, sizeof *stream);
}

slr_status slri_cl_queue_create(void *device, uint32_t priority, void **queue)
{
    struct slri_cl_stream *stream = NULL;
    SLRI_TRY(create_stream(device, priority, &stream));
    *queue = stream;
    return SLR_OK;
}

void slri_cl_queue_destroy(void *device, void *queue)
{
    destroy_stream(device, queue);
}

// ---- what was begun ------------------------------------------------------------------------------------------------

static uint64_t ask_time(const struct slri_cl *cl, slri_cl_event event, uint32_t what)
{
    uint64_t ns;
    return cl->GetEventProfilingInfo(event, what, sizeof ns, &ns, NULL) == SLRI_CL_SUCCESS ? ns : 0;
}

// The times on the host's clock. The driver's clock lags behind that by at most as much as the last command seemed to
// lag when it was begun, and by at most as much as its end seems to lag now.
static void tell_times(const struct slri_cl *cl, const struct slri_cl_stream *stream, struct slri_times *times)
{
    slri_cl_event last = stream->begun[stream->last_timed];
    uint64_t now_ns = slri_now_ns(), queued = ask_time(cl, last, SLRI_CL_PROFILING_COMMAND_QUEUED);
    uint64_t from = ask_time(cl, stream->begun[stream->first_timed], SLRI_CL_PROFILING_COMMAND_START);
    uint64_t to = ask_time(cl, last, SLRI_CL_PROFILING_COMMAND_END);
    if (stream->begun_ns == 0 || queued == 0 || from == 0 || to < from || to < queued)
        return;
    uint64_t by_begin = stream->begun_ns - queued, by_end = now_ns - to; // either may be below 0
    uint64_t behind = (int64_t)by_begin < (int64_t)by_end ? by_begin : by_end;
    *times = (struct slri_times){.from_ns = from + behind, .to_ns = to + behind};
}

slr_status slri_cl_wait(void *device, void *queue, uint64_t deadline_ns, struct slri_times *times)
{
    struct slri_opencl *opencl = device;
    struct slri_cl_stream *stream = queue;
    if (stream->count == 0)
        return slri_cl_check_lost(opencl);
    slr_status status = slri_cl_await(opencl, stream->queue, stream->bell, deadline_ns, stream->count, stream->begun);
    if (status == SLR_DEVICE_LOST && slri_cl_is_lost(opencl)) {
        leave_begun(opencl, stream);
        return status;
    }
    if (status == SLR_OK && times)
        tell_times(opencl->cl, stream, times);
    for (uint32_t i = 0; i < stream->count; ++i)
        opencl->cl->ReleaseEvent(stream->begun[i]);
    stream->count = 0;
    stream->begun_ns = 0;
    return status;
}

// Takes a command that `call` has begun, or its failure.
static slr_status begun(struct slri_opencl *opencl, struct slri_cl_stream *stream, const char *call, int32_t error,
                        slri_cl_event event)
{
    if (error != SLRI_CL_SUCCESS)
        return slri_cl_failed(opencl->name, call, error);
    stream->begun[stream->count++] = event;
    return SLR_OK;
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

static slr_status copy_in(struct slri_opencl *opencl, struct slri_cl_stream *stream, const struct slri_command *command)
{
    void *device = command->copy.device;
    const void *host = command->copy.host;
    uint64_t offset, bytes = command->copy.bytes;
    slri_cl_event event;
    if (has_addresses(opencl))
        return copy_svm(opencl, stream, device, host, bytes);
    slri_cl_mem mem = slri_cl_find_memory(opencl, device, &offset);
    int32_t error = opencl->cl->EnqueueWriteBuffer(stream->queue, mem, 0, offset, bytes, host, 0, NULL, &event);
    return begun(opencl, stream, "EnqueueWriteBuffer", error, event);
}

static slr_status copy_out(struct slri_opencl *opencl, struct slri_cl_stream *stream,
                           const struct slri_command *command)
{
    const void *device = command->copy.device;
    void *host = command->copy.host;
    uint64_t offset, bytes = command->copy.bytes;
    slri_cl_event event;
    if (has_addresses(opencl))
        return copy_svm(opencl, stream, host, device, bytes);
    slri_cl_mem mem = slri_cl_find_memory(opencl, device, &offset);
    int32_t error = opencl->cl->EnqueueReadBuffer(stream->queue, mem, 0, offset, bytes, host, 0, NULL, &event);
    return begun(opencl, stream, "EnqueueReadBuffer", error, event);
}

static slr_status move(struct slri_opencl *opencl, struct slri_cl_stream *stream, const struct slri_command *command)
{
    void *to = command->move.to;
    const void *from = command->move.from;
    uint64_t to_offset, from_offset, bytes = command->move.bytes;
    slri_cl_event event;
    if (has_addresses(opencl))
        return copy_svm(opencl, stream, to, from, bytes);
    slri_cl_mem to_mem = slri_cl_find_memory(opencl, to, &to_offset);
    slri_cl_mem from_mem = slri_cl_find_memory(opencl, from, &from_offset);
    int32_t error =
        opencl->cl->EnqueueCopyBuffer(stream->queue, from_mem, to_mem, from_offset, to_offset, bytes, 0, NULL, &event);
    return begun(opencl, stream, "EnqueueCopyBuffer", error, event);
}

// From a multiple of the pattern's size: chunks begin at multiples of 16.
static slr_status fill(struct slri_opencl *opencl, struct slri_cl_stream *stream, const struct slri_command *command)
{
    void *to = command->fill.device;
    const unsigned char *pattern = command->fill.pattern;
    uint64_t offset, bytes = command->fill.bytes;
    uint32_t size = command->fill.pattern_bytes;
    slri_cl_event event;
    if (has_addresses(opencl)) {
        int32_t error = opencl->cl->EnqueueSVMMemFill(stream->queue, to, pattern, size, bytes, 0, NULL, &event);
        return begun(opencl, stream, "EnqueueSVMMemFill", error, event);
    }
    slri_cl_mem mem = slri_cl_find_memory(opencl, to, &offset);
    int32_t error = opencl->cl->EnqueueFillBuffer(stream->queue, mem, pattern, size, offset, bytes, 0, NULL, &event);
    return begun(opencl, stream, "EnqueueFillBuffer", error, event);
}

static slr_status dispatch(struct slri_opencl *opencl, struct slri_cl_stream *stream,
                           const struct slri_command *command, const struct slri_extras *extras)
{
    slri_cl_event event;
    SLRI_TRY(slri_cl_dispatch(opencl, stream->queue, command, extras, &event));
    return begun(opencl, stream, "EnqueueNDRangeKernel", SLRI_CL_SUCCESS, event);
}

static void *native_object(const struct slri_native_queue *queue, void *address, uint64_t bytes, uint64_t *offset)
{
    struct slri_opencl *opencl = queue->device;
    int32_t error;
    *offset = 0;
    if (!has_addresses(opencl))
        return slri_cl_find_memory(opencl, address, offset);
    return opencl->cl->CreateBuffer(opencl->context, SLRI_CL_MEM_READ_WRITE | SLRI_CL_MEM_USE_HOST_PTR, bytes, address,
                                    &error);
}

// The driver keeps it for as long as a command uses it.
static void native_release(const struct slri_native_queue *queue, void *object)
{
    const struct slri_opencl *opencl = queue->device;
    if (has_addresses(opencl) && object)
        opencl->cl->ReleaseMemObject(object);
}

// What a library has begun is waited for by a marker behind it, also where it failed in the midst.
static slr_status put_native(struct slri_opencl *opencl, struct slri_cl_stream *stream,
                             const struct slri_command *command)
{
    const struct slri_cl *cl = opencl->cl;
    struct slri_native_queue native = {.queue = stream->queue,
                                       .device = opencl,
                                       .identity = (void (*)(void))cl->Flush,
                                       .object = native_object,
                                       .release = native_release};
    slri_cl_event event;
    if (!cl->EnqueueMarkerWithWaitList)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' has no clEnqueueMarkerWithWaitList", opencl->name);
    slr_status status = command->native.put(command->native.user, &native);
    if (!native.begins)
        return status;
    int32_t error = cl->EnqueueMarkerWithWaitList(stream->queue, 0, NULL, &event);
    if (status != SLR_OK && error != SLRI_CL_SUCCESS)
        return status;
    slr_status marked = begun(opencl, stream, "EnqueueMarkerWithWaitList", error, event);
    return status == SLR_OK ? marked : status;
}

static slr_status run(struct slri_opencl *opencl, struct slri_cl_stream *stream, const struct slri_command *command,
                      const struct slri_extras *extras)
{
    switch (command->op) {
    case SLRI_COPY_IN:
        return copy_in(opencl, stream, command);
    case SLRI_COPY_OUT:
        return copy_out(opencl, stream, command);
    case SLRI_COPY:
        return move(opencl, stream, command);
    case SLRI_FILL:
        return fill(opencl, stream, command);
    case SLRI_NATIVE:
        return put_native(opencl, stream, command);
    default:
        return dispatch(opencl, stream, command, extras);
    }
}

static slr_status flush(struct slri_opencl *opencl, const struct slri_cl_stream *stream)
{
    int32_t error = opencl->cl->Flush(stream->queue);
    return error == SLRI_CL_SUCCESS ? SLR_OK : slri_cl_failed(opencl->name, "Flush", error);
}

static void note_timed(struct slri_cl_stream *stream)
{
    if (stream->begun_ns == 0)
        stream->first_timed = stream->count - 1;
    stream->last_timed = stream->count - 1;
    stream->begun_ns = slri_now_ns();
}

slr_status slri_cl_encode(void *device, void *queue, const struct slri_command *command,
                          const struct slri_extras *extras, uint32_t commands)
{
    struct slri_cl_stream *stream = queue;
    SLRI_TRY(slri_cl_check_lost(device));
    for (uint32_t i = 0; i < commands; ++i) {
        SLRI_TRY(run(device, stream, &command[i], &extras[i]));
        if (extras[i].wants_times && stream->count != 0)
            note_timed(stream);
    }
    return extras[commands - 1].is_last ? flush(device, stream) : SLR_OK;
}

// ---- at once, for new memory ---------------------------------------------------------------------------------------

slr_status slri_cl_zero_at_once(struct slri_opencl *opencl, void *memory, uint64_t bytes)
{
    const struct slri_command zero = {.op = SLRI_FILL, .fill = {memory, bytes, 1, {0}}};
    struct slri_cl_stream *stream = NULL;
    SLRI_TRY(slri_cl_check_lost(opencl));
    SLRI_TRY(create_stream(opencl, SLR_DEFAULT_PRIORITY, &stream));
    slr_status status = fill(opencl, stream, &zero);
    if (status == SLR_OK)
        status = slri_cl_wait(opencl, stream, slri_deadline_after(opencl->patience_ns), NULL);
    destroy_stream(opencl, stream);
    return status;
}
