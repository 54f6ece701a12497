// SPDX-License-Identifier: Apache-2.0
// Queues: a non-blocking CUDA stream each, never the NULL stream, which would wait for all others.
#include "base/alloc.h"
#include "base/status.h"
#include "hal/cuda/cuda.h"

#include <string.h>

struct slri_cu_queue {
    slri_cu_stream stream;
    bool begun;         // something that has not been waited for
    const char *kernel; // of what was begun, the last: kept by its program until it has been waited for
    struct {
        slri_cu_event event; // NULL: the mark was not used yet
        bool is_put;
        const char *kernel; // the last before it
    } mark[SLRI_CU_MARKS];
};

static slri_cu_pointer address(const void *memory)
{
    return (slri_cu_pointer)(uintptr_t)memory;
}

// ---- life ----------------------------------------------------------------------------------------------------------

// 0 to 255, the highest first, onto the driver's range, whose highest is its lowest number.
static int32_t native_priority(const struct slri_cuda *cuda, uint32_t priority)
{
    uint32_t steps = (uint32_t)(cuda->least - cuda->greatest) + 1;
    return cuda->least - (int32_t)(priority * steps / 256);
}

// In the context.
static slr_status create_stream(struct slri_cuda *cuda, uint32_t priority, slri_cu_stream *out)
{
    int32_t error =
        cuda->cu->StreamCreateWithPriority(out, SLRI_CU_STREAM_NON_BLOCKING, native_priority(cuda, priority));
    return slri_cuda_check(cuda, "StreamCreateWithPriority", NULL, error);
}

slr_status slri_cuda_queue_create(void *device, uint32_t priority, void **queue)
{
    struct slri_cuda *cuda = device;
    struct slri_cu_queue *made = slri_alloc(cuda->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a stream", cuda->name);
    slr_status status = slri_cuda_enter(cuda);
    if (status == SLR_OK) {
        status = create_stream(cuda, priority, &made->stream);
        slri_cuda_leave(cuda);
    }
    if (status == SLR_OK)
        *queue = made;
    else
        slri_free(cuda->allocator, made, sizeof *made);
    return status;
}

void slri_cuda_queue_destroy(void *device, void *queue)
{
    struct slri_cuda *cuda = device;
    struct slri_cu_queue *dying = queue;
    if (slri_cuda_enter(cuda) == SLR_OK) { // else it goes with the context
        for (uint32_t i = 0; i < SLRI_CU_MARKS; ++i)
            if (dying->mark[i].event)
                cuda->cu->EventDestroy_v2(dying->mark[i].event);
        cuda->cu->StreamDestroy_v2(dying->stream);
        slri_cuda_leave(cuda);
    }
    slri_free(cuda->allocator, dying, sizeof *dying);
}

// ---- commands: in the context --------------------------------------------------------------------------------------

static slr_status copy_in(struct slri_cuda *cuda, slri_cu_stream stream, const struct slri_command *command)
{
    return slri_cuda_check(
        cuda, "MemcpyHtoDAsync", NULL,
        cuda->cu->MemcpyHtoDAsync_v2(address(command->copy.device), command->copy.host, command->copy.bytes, stream));
}

static slr_status begin_copy_out(struct slri_cuda *cuda, slri_cu_stream stream, const struct slri_command *command)
{
    return slri_cuda_check(
        cuda, "MemcpyDtoHAsync", NULL,
        cuda->cu->MemcpyDtoHAsync_v2(command->copy.host, address(command->copy.device), command->copy.bytes, stream));
}

static slr_status move(struct slri_cuda *cuda, slri_cu_stream stream, const struct slri_command *command)
{
    if (command->move.from_device)
        return slri_cuda_copy_peer(cuda, stream, command);
    return slri_cuda_check(cuda, "MemcpyDtoDAsync", NULL,
                           cuda->cu->MemcpyDtoDAsync_v2(address(command->move.to), address(command->move.from),
                                                        command->move.bytes, stream));
}

// Of at most 4 bytes, from a multiple of as much: the driver knows no others.
static slr_status fill(struct slri_cuda *cuda, slri_cu_stream stream, const struct slri_command *command)
{
    slri_cu_pointer to = address(command->fill.device);
    uint64_t bytes = command->fill.bytes;
    uint16_t half;
    uint32_t word;
    switch (command->fill.pattern_bytes) {
    case 1:
        return slri_cuda_check(cuda, "MemsetD8Async", NULL,
                               cuda->cu->MemsetD8Async(to, command->fill.pattern[0], bytes, stream));
    case 2:
        memcpy(&half, command->fill.pattern, sizeof half);
        return slri_cuda_check(cuda, "MemsetD16Async", NULL, cuda->cu->MemsetD16Async(to, half, bytes / 2, stream));
    default:
        memcpy(&word, command->fill.pattern, sizeof word);
        return slri_cuda_check(cuda, "MemsetD32Async", NULL, cuda->cu->MemsetD32Async(to, word, bytes / 4, stream));
    }
}

static slr_status dispatch(struct slri_cuda *cuda, slri_cu_stream stream, const struct slri_command *command,
                           const struct slri_extras *extras)
{
    return slri_cuda_check(cuda, "LaunchKernel", NULL, slri_cuda_launch(cuda, stream, command, extras));
}

// A library takes memory and loads kernels when it likes, and either may wait until no kernel stays.
static slr_status put_native(slri_cu_stream stream, const struct slri_command *command)
{
    slri_cu_library_begin();
    slr_status status = command->native.put(command->native.user, &(struct slri_native_queue){.queue = stream});
    slri_cu_library_end();
    return status;
}

slr_status slri_cuda_put(struct slri_cuda *cuda, slri_cu_stream stream, const struct slri_command *command,
                         const struct slri_extras *extras)
{
    switch (command->op) {
    case SLRI_COPY_IN:
        return copy_in(cuda, stream, command);
    case SLRI_COPY_OUT:
        return begin_copy_out(cuda, stream, command);
    case SLRI_COPY:
        return move(cuda, stream, command);
    case SLRI_FILL:
        return fill(cuda, stream, command);
    case SLRI_LIST:
        return slri_cuda_check(cuda, "GraphLaunch", NULL, slri_cuda_list_launch(cuda, stream, command->list));
    case SLRI_NATIVE:
        return put_native(stream, command);
    default:
        return dispatch(cuda, stream, command, extras);
    }
}

static const char *kernel_of(const struct slri_command *command, const char *before)
{
    return command->op == SLRI_DISPATCH ? command->dispatch.entry->name
           : command->op == SLRI_LIST   ? slri_cuda_list_kernel(command->list)
           : command->op == SLRI_NATIVE ? command->native.name
                                        : before;
}

// An event is made when its mark is first used: most streams have one submission at a time.
static slr_status put_mark(struct slri_cuda *cuda, struct slri_cu_queue *of, uint32_t mark)
{
    slri_cu_event *event = &of->mark[mark - 1].event;
    of->mark[mark - 1].is_put = false;
    if (!*event)
        SLRI_TRY(slri_cuda_check(cuda, "EventCreate", NULL, cuda->cu->EventCreate(event, SLRI_CU_EVENT_UNTIMED)));
    of->mark[mark - 1].kernel = of->kernel;
    SLRI_TRY(slri_cuda_check(cuda, "EventRecord", of->kernel, cuda->cu->EventRecord(*event, of->stream)));
    of->mark[mark - 1].is_put = true;
    return SLR_OK;
}

slr_status slri_cuda_encode(void *device, void *queue, const struct slri_command *command,
                            const struct slri_extras *extras, uint32_t commands)
{
    struct slri_cuda *cuda = device;
    struct slri_cu_queue *of = queue;
    slr_status status = SLR_OK;
    SLRI_TRY(slri_cuda_enter(cuda));
    of->begun = true; // also where it fails: an error may be one of a command before it
    for (uint32_t i = 0; i < commands && status == SLR_OK; ++i) {
        if (extras[i].mark)
            status = put_mark(cuda, of, extras[i].mark);
        of->kernel = kernel_of(&command[i], of->kernel);
        if (status == SLR_OK)
            status = slri_cuda_put(cuda, of->stream, &command[i], &extras[i]);
    }
    slri_cuda_leave(cuda);
    return status;
}

// Where the mark could not be put, nothing was begun after it.
static slr_status await_mark(struct slri_cuda *cuda, const struct slri_cu_queue *of, uint32_t mark)
{
    const char *kernel = of->mark[mark - 1].kernel;
    SLRI_TRY(slri_cuda_enter(cuda));
    slr_status status =
        of->mark[mark - 1].is_put
            ? slri_cuda_check(cuda, "EventSynchronize", kernel, cuda->cu->EventSynchronize(of->mark[mark - 1].event))
            : slri_cuda_check(cuda, "StreamSynchronize", kernel, cuda->cu->StreamSynchronize(of->stream));
    slri_cuda_leave(cuda);
    return status;
}

// The driver waits for as long as it takes: it says what has ended, also by a fault.
slr_status slri_cuda_wait(void *device, void *queue, uint64_t deadline_ns, struct slri_times *times)
{
    struct slri_cuda *cuda = device;
    struct slri_cu_queue *of = queue;
    const char *kernel = of->kernel;
    (void)deadline_ns;
    if (times && times->mark)
        return await_mark(cuda, of, times->mark);
    if (!of->begun)
        return slri_cuda_check_lost(cuda);
    SLRI_TRY(slri_cuda_enter(cuda));
    of->begun = false;
    of->kernel = NULL;
    slr_status status = slri_cuda_check(cuda, "StreamSynchronize", kernel, cuda->cu->StreamSynchronize(of->stream));
    slri_cuda_leave(cuda);
    return status;
}

// ---- at once: in the context, in a stream of their own
// ---------------------------------------------------------------

// What has failed to be put may have begun.
static slr_status put_and_wait(struct slri_cuda *cuda, slri_cu_stream stream, const struct slri_command *command)
{
    slr_status status = slri_cuda_put(cuda, stream, command, NULL);
    slr_status waited = slri_cuda_check(cuda, "StreamSynchronize", NULL, cuda->cu->StreamSynchronize(stream));
    return status == SLR_OK ? waited : status;
}

static slr_status run_at_once(struct slri_cuda *cuda, const struct slri_command *command)
{
    slri_cu_stream stream;
    SLRI_TRY(slri_cuda_own_stream(cuda, &stream));
    slr_status status = put_and_wait(cuda, stream, command);
    cuda->cu->StreamDestroy_v2(stream);
    return status;
}

slr_status slri_cuda_own_stream(struct slri_cuda *cuda, slri_cu_stream *out)
{
    return create_stream(cuda, SLR_DEFAULT_PRIORITY, out);
}

slr_status slri_cuda_zero_at_once(struct slri_cuda *cuda, slri_cu_pointer memory, uint64_t bytes)
{
    const struct slri_command zero = {.op = SLRI_FILL, .fill = {(void *)(uintptr_t)memory, bytes, 1, {0}}};
    return run_at_once(cuda, &zero);
}
