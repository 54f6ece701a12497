// SPDX-License-Identifier: Apache-2.0
// Kernels compiled ahead, in the background. Each call is a task of a stream of its own, so that a failure is told at
// its point and at no other; streams whose tasks went well are used again. One compilation at a time a device: the
// background takes one core, whatever is asked for.
#include "base/alloc.h"
#include "base/sized.h"
#include "base/status.h"
#include "device/kernel.h"
#include "device/stream.h"
#include "engine/code.h"

#include <stdio.h>
#include <string.h>

#define LEVELS 2u // of optimisation

struct slri_prefetch_stream {
    slr_stream *stream;
    struct slri_prefetch_stream *next;
};

struct item {
    slr_kernel *kernel; // held
    struct slri_kernel_shape shape;
};

struct job {
    size_t bytes;
    slr_device *device;
    slr_program *program; // held: a kernel that was tuned does not hold it
    uint32_t items;
    struct item item[];
};

// ---- in the background ---------------------------------------------------------------------------------------------

static slr_status compile(const struct job *job, const struct item *item)
{
    slr_device *device = job->device;
    const struct slri_ready_kernel *ready;
    slr_status status;
    slri_mutex_lock(&device->prefetch_lock);
    if (__atomic_load_n(&device->closing, __ATOMIC_RELAXED)) // nothing is read on its strength
        status = SLRI_FAIL(WRONG_STATE, "kernel %s was not compiled in advance: the device is being closed",
                           item->kernel->info.name);
    else
        status =
            slri_code_prepare(item->kernel->program->code, item->kernel->entry, &item->shape, &device->closing, &ready);
    slri_mutex_unlock(&device->prefetch_lock);
    return status;
}

// One that fails keeps none behind it from being compiled. The first failure counts.
static slr_status run(void *user)
{
    const struct job *job = user;
    slr_status first = SLR_OK;
    char why[512];
    for (uint32_t i = 0; i < job->items; ++i) {
        slr_status status = compile(job, &job->item[i]);
        if (status == SLR_OK || first != SLR_OK)
            continue;
        first = status;
        snprintf(why, sizeof why, "%s", slr_error_message());
    }
    return first == SLR_OK ? SLR_OK : (slri_fail(first, "%s", why), first);
}

static void settle_prefetch(void *user)
{
    struct job *job = user;
    const slr_allocator *allocator = job->device->allocator;
    for (uint32_t i = 0; i < job->items; ++i)
        slri_kernel_release(job->item[i].kernel);
    slr_program *program = job->program;
    slri_free(allocator, job, job->bytes);
    slri_program_release(program);
}

// ---- what is asked for ---------------------------------------------------------------------------------------------

static slr_status check_prefetch(const slr_program *program, const slr_prefetch_desc *desc)
{
    if (!program)
        return SLRI_FAIL(INVALID, "slr_program_prefetch: program is NULL");
    SLRI_TRY(slri_device_check_process(program->device));
    if (desc->optimize > SLR_OPTIMIZE_BOTH)
        return SLRI_FAIL(INVALID, "slr_prefetch_desc.optimize is %u; expected 1, 2 or SLR_OPTIMIZE_BOTH",
                         desc->optimize);
    if (desc->shape_count != 0 && !desc->shapes)
        return SLRI_FAIL(INVALID, "slr_prefetch_desc: shape_count is not 0 and shapes is NULL");
    if (!program->device->backend->code_kernel)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' runs no __global__ kernels", program->device->backend->name);
    if (__atomic_load_n(&program->device->closing, __ATOMIC_RELAXED))
        return SLRI_FAIL(WRONG_STATE, "slr_program_prefetch: the device has been closed");
    return SLR_OK;
}

// The kernel for one shape, in each level asked for. A shape without threads is nothing.
static slr_status add_shape(struct job *job, slr_kernel *kernel, slr_shape shape, uint32_t optimize)
{
    bool none;
    kernel = slri_tuned_settle(kernel, &shape); // as a launch does
    uint32_t own = kernel->program->level;
    SLRI_TRY(slri_shape_settle_by(kernel, &shape, false, &none));
    for (uint32_t level = 1; level <= LEVELS && !none; ++level) {
        if (optimize != SLR_OPTIMIZE_BOTH && level != (optimize ? optimize : own))
            continue;
        struct item *item = &job->item[job->items++];
        item->kernel = kernel;
        item->shape = (struct slri_kernel_shape){.width = shape.vector_width, .level = level};
        memcpy(item->shape.block, shape.block, sizeof item->shape.block);
        slri_kernel_hold(kernel);
    }
    return SLR_OK;
}

static slr_status add_kernel(struct job *job, slr_program *program, const char *name, const slr_prefetch_desc *desc)
{
    slr_kernel *kernel;
    SLRI_TRY(slr_program_get_kernel(program, name, &kernel));
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < desc->shape_count && status == SLR_OK; ++i)
        status = add_shape(job, kernel, desc->shapes[i], desc->optimize);
    slr_kernel_destroy(kernel); // the items keep it
    return status;
}

static slr_status add_kernels(struct job *job, slr_program *program, const slr_prefetch_desc *desc)
{
    const struct slri_module *module = program->module;
    if (desc->kernel)
        return add_kernel(job, program, desc->kernel, desc);
    for (uint32_t i = 0; i < module->entries; ++i)
        if (module->entry[i].kind == SLRI_ENTRY_KERNEL)
            SLRI_TRY(add_kernel(job, program, module->entry[i].name, desc));
    return SLR_OK;
}

static slr_status make_job(slr_program *program, const slr_prefetch_desc *desc, struct job **out)
{
    const slr_allocator *allocator = program->device->allocator;
    uint32_t kernels = desc->kernel ? 1 : program->module->entries;
    size_t bytes = sizeof(struct job) + (size_t)kernels * desc->shape_count * LEVELS * sizeof(struct item);
    struct job *job = slri_alloc(allocator, bytes);
    if (!job)
        return SLRI_FAIL(NO_MEMORY, "no memory to compile %s in advance", program->module->name);
    job->bytes = bytes;
    job->device = program->device;
    job->program = program;
    slri_program_hold(program);
    slr_status status = add_kernels(job, program, desc);
    if (status == SLR_OK)
        *out = job;
    else
        settle_prefetch(job);
    return status;
}

// ---- streams -------------------------------------------------------------------------------------------------------

static bool is_idle(const struct slri_queue *queue)
{
    return queue->failed == SLR_OK && !queue->first && !queue->claimed;
}

// An idle one is taken out of the program's list, so that no other call takes it too.
static struct slri_prefetch_stream *take_idle(slr_program *program)
{
    slri_queues_lock();
    struct slri_prefetch_stream **at = &program->prefetch, *found;
    while (*at && !is_idle(&(*at)->stream->queue))
        at = &(*at)->next;
    found = *at;
    if (found)
        *at = found->next;
    slri_queues_unlock();
    return found;
}

static void put_back(slr_program *program, struct slri_prefetch_stream *stream)
{
    slri_queues_lock();
    stream->next = program->prefetch;
    program->prefetch = stream;
    slri_queues_unlock();
}

static slr_status make_stream(slr_program *program, struct slri_prefetch_stream **out)
{
    slr_stream_desc desc = SLR_STREAM_DESC_INIT;
    desc.priority = SLR_PRIORITY(0);
    struct slri_prefetch_stream *made = slri_alloc(program->device->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for a stream");
    slr_status status = slr_stream_create(program->device, &desc, &made->stream);
    if (status == SLR_OK)
        *out = made;
    else
        slri_free(program->device->allocator, made, sizeof *made);
    return status;
}

void slri_prefetch_free(slr_program *program)
{
    while (program->prefetch) {
        struct slri_prefetch_stream *each = program->prefetch;
        program->prefetch = each->next;
        slr_stream_destroy(each->stream);
        slri_free(program->device->allocator, each, sizeof *each);
    }
}

static slr_status submit_prefetch(slr_program *program, struct job *job, slr_point *out)
{
    struct slri_command command = {.op = SLRI_TASK, .task = {run, job}};
    struct slri_work work = {.command = &command, .commands = 1, .settle = settle_prefetch, .user = job};
    struct slri_prefetch_stream *stream = take_idle(program);
    if (!stream)
        SLRI_TRY(make_stream(program, &stream));
    slr_status status = slri_stream_submit(stream->stream, &work, out);
    put_back(program, stream);
    return status;
}

slr_status slr_program_prefetch(slr_program *program, const slr_prefetch_desc *desc, slr_point *out)
{
    // One of each block that SLR_1D chooses.
    const slr_shape usual[] = {SLR_1D(256), SLR_1D(512), SLR_1D(1024), SLR_1D(1000000)};
    slr_prefetch_desc all;
    struct job *job;
    SLRI_TRY(SLRI_TAKE_DESC(slr_prefetch_desc, &all, desc));
    SLRI_TRY(check_prefetch(program, &all));
    if (all.shape_count == 0) {
        all.shapes = usual;
        all.shape_count = sizeof usual / sizeof *usual;
    }
    slri_program_hold(program); // its kernels may be done with before this is
    slr_status status = make_job(program, &all, &job);
    if (status == SLR_OK) {
        status = submit_prefetch(program, job, out);
        if (status != SLR_OK)
            settle_prefetch(job);
    }
    slri_program_release(program);
    return status;
}
