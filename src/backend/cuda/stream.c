// SPDX-License-Identifier: Apache-2.0
// Streams: a non-blocking CUDA stream each, never the NULL stream, which would wait for all others. The front half's
// queue (device/queue.h) says what may begin; a thread of the pool then gives the device the commands of one submission
// and waits for them together.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "backend/cuda/cuda.h"

#include <string.h>

// Kernels that may fault and are begun before the first is waited for.
#define MOST_FAULTS 64

struct slri_cu_queue {
    slri_cu_stream stream;
    bool begun;         // something that has not been waited for
    const char *kernel; // of what was begun, the last: kept by its program until it has been waited for
    void *printed;      // SLRI_PRINTED_ROOM bytes of the device, for what its kernel prints; NULL: none has yet
    struct slri_cu_faults *faults; // of what was begun; NULL: no kernel that may fault yet
};

static slri_cu_pointer address(const void *memory)
{
    return (slri_cu_pointer)(uintptr_t)memory;
}

// ---- life: in the context ------------------------------------------------------------------------------------------

// 0 to 255, the highest first, onto the driver's range, whose highest is its lowest number.
static int32_t native_priority(const struct slri_cuda *cuda, uint32_t priority)
{
    uint32_t steps = (uint32_t)(cuda->least - cuda->greatest) + 1;
    return cuda->least - (int32_t)(priority * steps / 256);
}

static slr_status create(struct slri_cuda *cuda, uint32_t priority, struct slri_cu_queue **out)
{
    struct slri_cu_queue *made = slri_alloc(cuda->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a stream", cuda->name);
    int32_t error =
        cuda->cu->StreamCreateWithPriority(&made->stream, SLRI_CU_STREAM_NON_BLOCKING, native_priority(cuda, priority));
    slr_status status = slri_cuda_check(cuda, "StreamCreateWithPriority", NULL, error);
    if (status == SLR_OK)
        *out = made;
    else
        slri_free(cuda->allocator, made, sizeof *made);
    return status;
}

static void destroy(struct slri_cuda *cuda, struct slri_cu_queue *queue)
{
    if (queue->printed)
        slri_cuda_near_destroy(cuda, queue->printed, SLRI_PRINTED_ROOM);
    slri_cu_faults_destroy(cuda, queue->faults);
    if (slri_cuda_enter(cuda) == SLR_OK) { // else it goes with the context
        cuda->cu->StreamDestroy_v2(queue->stream);
        slri_cuda_leave(cuda);
    }
    slri_free(cuda->allocator, queue, sizeof *queue);
}

slr_status slri_cuda_own_open(struct slri_cuda *cuda)
{
    return create(cuda, SLR_DEFAULT_PRIORITY, &cuda->own);
}

void slri_cuda_own_close(struct slri_cuda *cuda)
{
    destroy(cuda, cuda->own);
    cuda->own = NULL;
}

// ---- what was begun ------------------------------------------------------------------------------------------------

static slr_status wait_for_begun(struct slri_cuda *cuda, struct slri_cu_queue *queue)
{
    if (!queue->begun)
        return SLR_OK;
    const char *kernel = queue->kernel;
    queue->begun = false;
    queue->kernel = NULL;
    slr_status status = slri_cuda_check(cuda, "StreamSynchronize", kernel, cuda->cu->StreamSynchronize(queue->stream));
    if (!queue->faults)
        return status;
    status = slri_cu_faults_look(queue->faults, status);
    queue->faults->count = 0;
    return status;
}

static slr_status begun(struct slri_cuda *cuda, struct slri_cu_queue *queue, const char *call, int32_t error)
{
    queue->begun = true; // also where it failed: an error may be one of a command before it
    return slri_cuda_check(cuda, call, NULL, error);
}

// ---- commands ------------------------------------------------------------------------------------------------------

static slr_status run_copy_in(struct slri_cuda *cuda, struct slri_cu_queue *queue, const struct slri_command *command)
{
    return begun(cuda, queue, "MemcpyHtoDAsync",
                 cuda->cu->MemcpyHtoDAsync_v2(address(command->copy.device), command->copy.host, command->copy.bytes,
                                              queue->stream));
}

static slr_status run_copy_out(struct slri_cuda *cuda, struct slri_cu_queue *queue, const struct slri_command *command)
{
    return begun(cuda, queue, "MemcpyDtoHAsync",
                 cuda->cu->MemcpyDtoHAsync_v2(command->copy.host, address(command->copy.device), command->copy.bytes,
                                              queue->stream));
}

static slr_status copy(struct slri_cuda *cuda, struct slri_cu_queue *queue, slri_cu_pointer to, slri_cu_pointer from,
                       uint64_t bytes)
{
    return begun(cuda, queue, "MemcpyDtoDAsync", cuda->cu->MemcpyDtoDAsync_v2(to, from, bytes, queue->stream));
}

// One piece of a copy over itself.
static slr_status copy_by_bounce(struct slri_cuda *cuda, struct slri_cu_queue *queue, slri_cu_pointer to,
                                 slri_cu_pointer from, uint64_t bytes)
{
    SLRI_TRY(copy(cuda, queue, cuda->bounce, from, bytes));
    return copy(cuda, queue, to, cuda->bounce, bytes);
}

// The driver copies no ranges that overlap. Piece by piece, from that end at which no piece covers what a later one
// reads; pieces no longer than the way do not overlap themselves.
static slr_status copy_pieces(struct slri_cuda *cuda, struct slri_cu_queue *queue, slri_cu_pointer to,
                              slri_cu_pointer from, uint64_t bytes)
{
    uint64_t apart = to > from ? to - from : from - to;
    bool direct = apart >= SLRI_CU_BOUNCE_BYTES;
    uint64_t most = direct ? apart : SLRI_CU_BOUNCE_BYTES;
    for (uint64_t done = 0; done < bytes;) {
        uint64_t piece = bytes - done < most ? bytes - done : most;
        uint64_t at = to > from ? bytes - done - piece : done;
        SLRI_TRY((direct ? copy : copy_by_bounce)(cuda, queue, to + at, from + at, piece));
        done += piece;
    }
    return SLR_OK;
}

// What goes through the bounce is waited for, so that the next stream may have it.
static slr_status copy_over_itself(struct slri_cuda *cuda, struct slri_cu_queue *queue, slri_cu_pointer to,
                                   slri_cu_pointer from, uint64_t bytes)
{
    slri_mutex_lock(&cuda->bounce_lock);
    slr_status status = copy_pieces(cuda, queue, to, from, bytes);
    slr_status waited = wait_for_begun(cuda, queue);
    slri_mutex_unlock(&cuda->bounce_lock);
    return status == SLR_OK ? waited : status;
}

static slr_status run_move(struct slri_cuda *cuda, struct slri_cu_queue *queue, const struct slri_command *command)
{
    slri_cu_pointer to = address(command->move.to), from = address(command->move.from);
    uint64_t bytes = command->move.bytes, apart = to > from ? to - from : from - to;
    if (apart == 0)
        return SLR_OK;
    return (apart < bytes ? copy_over_itself : copy)(cuda, queue, to, from, bytes);
}

// ---- fills ---------------------------------------------------------------------------------------------------------

static slr_status fill_words(struct slri_cuda *cuda, struct slri_cu_queue *queue, slri_cu_pointer to, uint64_t bytes,
                             const unsigned char *pattern, uint32_t pattern_bytes)
{
    uint16_t half;
    uint32_t word;
    switch (pattern_bytes) {
    case 1:
        return begun(cuda, queue, "MemsetD8Async", cuda->cu->MemsetD8Async(to, pattern[0], bytes, queue->stream));
    case 2:
        memcpy(&half, pattern, sizeof half);
        return begun(cuda, queue, "MemsetD16Async", cuda->cu->MemsetD16Async(to, half, bytes / 2, queue->stream));
    default:
        memcpy(&word, pattern, sizeof word);
        return begun(cuda, queue, "MemsetD32Async", cuda->cu->MemsetD32Async(to, word, bytes / 4, queue->stream));
    }
}

// The driver knows no patterns of more than 4 bytes, and none from odd places: the pattern once, then what is there
// copied behind itself, twice as much each time. The command keeps the pattern until it is done.
static slr_status fill_by_copies(struct slri_cuda *cuda, struct slri_cu_queue *queue,
                                 const struct slri_command *command)
{
    slri_cu_pointer to = address(command->fill.device);
    uint64_t bytes = command->fill.bytes, there = command->fill.pattern_bytes;
    SLRI_TRY(begun(cuda, queue, "MemcpyHtoDAsync",
                   cuda->cu->MemcpyHtoDAsync_v2(to, command->fill.pattern, there, queue->stream)));
    for (; there < bytes; there *= 2)
        SLRI_TRY(copy(cuda, queue, to + there, to, bytes - there < there ? bytes - there : there));
    return SLR_OK;
}

static slr_status run_fill(struct slri_cuda *cuda, struct slri_cu_queue *queue, const struct slri_command *command)
{
    uint32_t size = command->fill.pattern_bytes;
    slri_cu_pointer to = address(command->fill.device);
    if (size > 4 || to % size != 0)
        return fill_by_copies(cuda, queue, command);
    return fill_words(cuda, queue, to, command->fill.bytes, command->fill.pattern, size);
}

slr_status slri_cuda_zero_at_once(struct slri_cuda *cuda, slri_cu_pointer memory, uint64_t bytes)
{
    static const unsigned char zero;
    slri_mutex_lock(&cuda->own_lock);
    slr_status status = fill_words(cuda, cuda->own, memory, bytes, &zero, 1);
    slr_status waited = wait_for_begun(cuda, cuda->own);
    slri_mutex_unlock(&cuda->own_lock);
    return status == SLR_OK ? waited : status;
}

slr_status slri_cuda_write_at_once(void *device, void *memory, void *host, uint64_t bytes)
{
    struct slri_cuda *cuda = device;
    const struct slri_command in = {.op = SLRI_COPY_IN, .copy = {memory, host, bytes}};
    slri_mutex_lock(&cuda->own_lock);
    slr_status status = slri_cuda_enter(cuda);
    if (status == SLR_OK) {
        status = run_copy_in(cuda, cuda->own, &in);
        slr_status waited = wait_for_begun(cuda, cuda->own);
        slri_cuda_leave(cuda);
        status = status == SLR_OK ? waited : status;
    }
    slri_mutex_unlock(&cuda->own_lock);
    return status;
}

slr_status slri_cuda_fetch_at_once(struct slri_cuda *cuda, void *host, slri_cu_pointer memory, uint64_t bytes)
{
    slri_mutex_lock(&cuda->own_lock);
    slr_status status =
        begun(cuda, cuda->own, "MemcpyDtoHAsync", cuda->cu->MemcpyDtoHAsync_v2(host, memory, bytes, cuda->own->stream));
    slr_status waited = wait_for_begun(cuda, cuda->own);
    slri_mutex_unlock(&cuda->own_lock);
    return status == SLR_OK ? waited : status;
}

static slr_status run_dispatch(struct slri_cuda *cuda, struct slri_cu_queue *queue, const struct slri_command *command)
{
    queue->kernel = command->dispatch.entry->name;
    const struct slri_cu_told told = {
        .printed = slri_print_is_heard(command) ? queue->printed : NULL,
        .faulted = slri_cuda_may_fault(command) ? slri_cu_faults_add(queue->faults, command) : NULL};
    return begun(cuda, queue, "LaunchKernel", slri_cuda_launch(cuda, queue->stream, command, &told));
}

static slr_status run_list(struct slri_cuda *cuda, struct slri_cu_queue *queue, const struct slri_command *command)
{
    int32_t error = slri_cuda_list_launch(cuda, queue->stream, command->list, &queue->kernel);
    slr_status status = begun(cuda, queue, "GraphLaunch", error);
    struct slri_cu_faults *faults = slri_cuda_list_faults(command->list);
    if (faults && status == SLR_OK)
        status = slri_cu_faults_look(faults, wait_for_begun(cuda, queue));
    slri_cuda_list_leave(command->list);
    return status;
}

// ---- commands by their tags ----------------------------------------------------------------------------------------

typedef slr_status run_function(struct slri_cuda *cuda, struct slri_cu_queue *queue,
                                const struct slri_command *command);

static run_function *const run_of[SLRI_OPS] = {
    [SLRI_COPY_IN] = run_copy_in, [SLRI_COPY_OUT] = run_copy_out, [SLRI_COPY] = run_move,
    [SLRI_FILL] = run_fill,       [SLRI_DISPATCH] = run_dispatch, [SLRI_LIST] = run_list,
};

slri_cu_stream slri_cuda_own_stream(const struct slri_cuda *cuda)
{
    return cuda->own->stream;
}

slr_status slri_cuda_put(struct slri_cuda *cuda, slri_cu_stream stream, const struct slri_command *command,
                         struct slri_cu_faults *faults)
{
    // Nothing of it runs, so that nothing is waited for.
    struct slri_cu_queue queue = {.stream = stream, .faults = faults};
    return slri_command_moves_nothing(command) ? SLR_OK : run_of[command->op](cuda, &queue, command);
}

static slr_status run_in_context(struct slri_cuda *cuda, struct slri_cu_queue *queue,
                                 const struct slri_command *command)
{
    SLRI_TRY(slri_cuda_enter(cuda));
    slr_status status = run_of[command->op](cuda, queue, command);
    slri_cuda_leave(cuda);
    return status;
}

static slr_status wait_in_context(struct slri_cuda *cuda, struct slri_cu_queue *queue)
{
    if (!queue->begun)
        return SLR_OK;
    SLRI_TRY(slri_cuda_enter(cuda));
    slr_status status = wait_for_begun(cuda, queue);
    slri_cuda_leave(cuda);
    return status;
}

// What was begun before it is done first, and its failure told. The context is not the thread's while it runs.
static slr_status call(struct slri_cuda *cuda, struct slri_cu_queue *queue, const struct slri_command *command,
                       slr_status before)
{
    slr_status waited = wait_in_context(cuda, queue);
    slri_queue_pool_call(&cuda->pool, command, before == SLR_OK ? waited : before);
    return waited;
}

static slr_status task(struct slri_cuda *cuda, struct slri_cu_queue *queue, const struct slri_command *command)
{
    SLRI_TRY(wait_in_context(cuda, queue));
    return slri_queue_pool_task(&cuda->pool, command);
}

static slr_status stamp(struct slri_cuda *cuda, struct slri_cu_queue *queue, const struct slri_command *command)
{
    slr_status waited = wait_in_context(cuda, queue);
    *command->stamp = slri_now_ns();
    return waited;
}

// ---- kernels that print --------------------------------------------------------------------------------------------

struct reader {
    struct slri_cuda *cuda;
    struct slri_cu_queue *queue;
};

static slr_status read_printed(void *self, void *host, const void *device, uint64_t bytes)
{
    const struct reader *reader = self;
    const struct slri_command out = {.op = SLRI_COPY_OUT, .copy = {(void *)device, host, bytes}};
    slr_status status = run_in_context(reader->cuda, reader->queue, &out);
    slr_status waited = wait_in_context(reader->cuda, reader->queue);
    return status == SLR_OK ? waited : status;
}

// It is waited for, so that what it has printed is told before it is done.
static slr_status dispatch_heard(struct slri_cuda *cuda, struct slri_cu_queue *queue,
                                 const struct slri_command *command)
{
    const struct slri_print_to to = slri_cuda_printer_of(command);
    struct reader reader = {cuda, queue};
    if (!queue->printed)
        SLRI_TRY(slri_cuda_near_create(cuda, SLRI_PRINTED_ROOM, &queue->printed));
    const struct slri_command begin = {
        .op = SLRI_COPY_IN, .copy = {queue->printed, (void *)&slri_printed_begin, sizeof slri_printed_begin}};
    SLRI_TRY(run_in_context(cuda, queue, &begin));
    SLRI_TRY(run_in_context(cuda, queue, command));
    return slri_print_fetch(&to, cuda->allocator, queue->printed, read_printed, &reader, wait_in_context(cuda, queue));
}

// Not in the context: taking memory may let kernels that stay end first.
static slr_status make_room_for_fault(struct slri_cuda *cuda, struct slri_cu_queue *queue,
                                      const struct slri_command *command)
{
    if (!slri_cuda_may_fault(command))
        return SLR_OK;
    if (!queue->faults)
        return slri_cu_faults_create(cuda, MOST_FAULTS, &queue->faults);
    return queue->faults->count < queue->faults->room ? SLR_OK : wait_in_context(cuda, queue);
}

// The stream that the calling thread works for; without one the device's own, which the caller has locked.
static struct slri_cu_queue *queue_here(struct slri_cuda *cuda)
{
    return slri_queue_native(cuda, cuda->own);
}

static slr_status run(void *device, const struct slri_command *command, slr_status before)
{
    struct slri_cuda *cuda = device;
    struct slri_cu_queue *queue = queue_here(cuda);
    switch (command->op) {
    case SLRI_CALL:
        return call(cuda, queue, command, before);
    case SLRI_TASK:
        return task(cuda, queue, command);
    case SLRI_STAMP:
        return stamp(cuda, queue, command);
    case SLRI_DISPATCH:
        SLRI_TRY(make_room_for_fault(cuda, queue, command));
        return slri_print_is_heard(command) ? dispatch_heard(cuda, queue, command)
                                            : run_in_context(cuda, queue, command);
    default:
        return slri_command_moves_nothing(command) ? SLR_OK : run_in_context(cuda, queue, command);
    }
}

static slr_status finish(void *device)
{
    struct slri_cuda *cuda = device;
    return wait_in_context(cuda, queue_here(cuda));
}

static void ready(struct slri_queue *queue)
{
    struct slri_cuda *cuda = queue->device;
    slri_queue_pool_add(&cuda->pool, queue);
}

static const struct slri_queue_runner runner = {ready, run, finish};

// ---- for the front half --------------------------------------------------------------------------------------------

slr_status slri_cuda_queue_open(void *device, struct slri_queue *queue)
{
    struct slri_cuda *cuda = device;
    struct slri_cu_queue *native = NULL;
    SLRI_TRY(slri_queue_pool_start(&cuda->pool));
    SLRI_TRY(slri_cuda_enter(cuda));
    slr_status status = create(cuda, queue->priority, &native);
    slri_cuda_leave(cuda);
    SLRI_TRY(status);
    queue->device = device;
    queue->native = native;
    queue->runner = &runner;
    return SLR_OK;
}

void slri_cuda_queue_close(void *device, struct slri_queue *queue)
{
    destroy(device, queue->native);
    queue->native = NULL;
}

slr_status slri_cuda_submit(void *device, struct slri_submission *submission)
{
    struct slri_cuda *cuda = device;
    return slri_queue_submit(device, submission, &runner, &cuda->own_lock);
}
