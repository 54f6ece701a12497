// SPDX-License-Identifier: Apache-2.0
// Launching: everything is checked and converted here, then one dispatch is appended to the stream.
#include "base/alloc.h"
#include "base/status.h"
#include "device/away.h"
#include "device/kernel.h"
#include "engine/code.h"
#include "engine/observe.h"
#include "device/stream.h"

#include <string.h>

// What a launch keeps until it is done: what its arguments point to.
struct kept {
    size_t bytes;
    slr_kernel *kernel;
    slr_program *program; // of a tuned kernel: whose choice it is; else NULL
    struct slri_buffer_use *use;
    uint32_t uses;
    struct slri_bound bound[];
};

static void settle_launch(void *user)
{
    struct kept *kept = user;
    slr_kernel *kernel = kept->kernel;
    slr_program *program = kept->program;
    slr_device *device = kernel->program->device;
    slri_spares_give(&device->spares, device->allocator, kept, kept->bytes);
    slri_kernel_release(kernel);
    if (program)
        slri_program_release(program);
}

static uint64_t room_of(const struct slri_binding_info *parameter)
{
    return parameter->is_buffer ? 0 : (parameter->type->bytes + 15) / 16 * 16;
}

static size_t bytes_of(const slr_kernel *kernel)
{
    size_t bytes =
        sizeof(struct kept) + kernel->entry->bindings * (sizeof(struct slri_bound) + sizeof(struct slri_buffer_use));
    bytes = (bytes + 15) / 16 * 16;
    for (uint32_t i = 0; i < kernel->entry->bindings; ++i)
        bytes += room_of(&kernel->entry->binding[i]);
    return bytes;
}

// With a hold of the kernel, and of the program whose choice it is. To settle().
static slr_status make_kept(slr_kernel *kernel, slr_program *program, struct kept **out)
{
    size_t bytes = bytes_of(kernel);
    slr_device *device = kernel->program->device;
    struct kept *kept = slri_spares_take(&device->spares, device->allocator, bytes);
    if (!kept)
        return SLRI_FAIL(NO_MEMORY, "no memory to launch %s", kernel->info.name);
    *kept = (struct kept){.bytes = bytes, .kernel = kernel, .program = program};
    slri_kernel_hold(kernel);
    if (program)
        slri_program_hold(program);
    *out = kept;
    return SLR_OK;
}

// A parameter that promises to be the only way to its buffer is believed when it is compiled.
static slr_status check_restrict(const slr_kernel *kernel, const slr_arg *args, uint32_t index)
{
    const struct slri_binding_info *binding = kernel->entry->binding;
    for (uint32_t i = 0; i < index; ++i)
        if (args[i].kind == SLR_ARG_BUFFER && args[i].value.buffer == args[index].value.buffer &&
            (binding[i].is_restrict || binding[index].is_restrict) && !(binding[i].is_const && binding[index].is_const))
            return SLRI_FAIL(INVALID, "kernel %s: parameters '%s' and '%s' are __restrict__, but got the same buffer",
                             kernel->info.name, binding[i].name, binding[index].name);
    return SLR_OK;
}

static slr_status fill(struct kept *kept, const slr_arg *args)
{
    slr_kernel *kernel = kept->kernel;
    uint32_t count = kernel->entry->bindings;
    kept->use = (struct slri_buffer_use *)(kept->bound + count);
    uintptr_t room = ((uintptr_t)(kept->use + count) + 15) / 16 * 16;
    for (uint32_t i = 0; i < count; ++i) {
        SLRI_TRY(slri_argument_settle(kernel->program, kernel->entry, i, &args[i], (void *)room, &kept->bound[i]));
        room += room_of(&kernel->entry->binding[i]);
        if (!kernel->entry->binding[i].is_buffer)
            continue;
        slr_buffer *buffer = args[i].value.buffer;
        if (!buffer)
            continue;
        SLRI_TRY(check_restrict(kernel, args, i));
        uint32_t how = kernel->entry->binding[i].is_const ? SLRI_READS : SLRI_WRITES;
        kept->use[kept->uses++] = (struct slri_buffer_use){buffer, 0, buffer->bytes, how, false};
    }
    return SLR_OK;
}

static slr_status prepare(const slr_kernel *kernel, const slr_shape *shape, const struct slri_ready_kernel **ready)
{
    struct slri_kernel_shape wanted = {.width = shape->vector_width, .level = kernel->program->level};
    memcpy(wanted.block, shape->block, sizeof wanted.block);
    return slri_code_prepare(kernel->program->code, kernel->entry, &wanted, NULL, ready);
}

static slr_status submit(slr_stream *stream, struct kept *kept, const slr_shape *shape, slr_point *out)
{
    struct slri_command command = {.op = SLRI_DISPATCH,
                                   .dispatch = {.entry = kept->kernel->entry,
                                                .bound = kept->bound,
                                                .dynamic_bytes = shape->shared_bytes,
                                                .kernel = kept->kernel}};
    const struct slri_printer *printer = &kept->kernel->program->device->printer;
    command.dispatch.printer = printer->function ? printer : NULL;
    memcpy(command.dispatch.grid, shape->grid, sizeof command.dispatch.grid);
    memcpy(command.dispatch.block, shape->block, sizeof command.dispatch.block);
    SLRI_TRY(prepare(kept->kernel, shape, &command.dispatch.ready));
    if (slri_is_observed())
        command.dispatch.count = slri_observe_launch(kept->kernel, shape->grid, shape->block, kept->bound);
    struct slri_work work = {.command = &command,
                             .commands = 1,
                             .use = kept->use,
                             .uses = kept->uses,
                             .settle = settle_launch,
                             .user = kept};
    return slri_stream_submit(stream, &work, out);
}

static slr_status check_launch(const slr_stream *stream, const slr_kernel *kernel, const slr_arg *args, uint32_t count)
{
    if (!stream || !kernel || (!args && count))
        return SLRI_FAIL(INVALID, "slr_launch: %s is NULL", !stream ? "stream" : !kernel ? "kernel" : "args");
    if (stream->device != kernel->program->device)
        return SLRI_FAIL(INVALID, "kernel %s belongs to another device than the stream", kernel->info.name);
    if (count != kernel->info.parameter_count)
        return SLRI_FAIL(INVALID, "kernel %s takes %u arguments, but got %u", kernel->info.name,
                         kernel->info.parameter_count, count);
    return SLR_OK;
}

slr_status slr_launch(slr_stream *stream, slr_kernel *kernel, slr_shape shape, const slr_arg *args, uint32_t count,
                      slr_point *out)
{
    SLRI_OBSERVE_SITE(false);
    bool none;
    struct kept *kept;
    SLRI_TRY(check_launch(stream, kernel, args, count));
    if (slri_away_has_far(kernel, args, count))
        return slri_away_launch(stream, kernel, &shape, args, count, out);
    slr_program *program = kernel->program;
    kernel = slri_tuned_settle(kernel, &shape);
    SLRI_TRY(slri_shape_settle(kernel, &shape, &none));
    SLRI_TRY(make_kept(kernel, kernel->label ? program : NULL, &kept));
    slr_status status = fill(kept, args);
    if (status == SLR_OK && !none)
        status = submit(stream, kept, &shape, out);
    if (status != SLR_OK || none)
        settle_launch(kept);
    if (status == SLR_OK && none && out)
        status = slr_stream_signal(stream, out);
    return status;
}

slr_status slr_kernel_prepare(slr_kernel *kernel, slr_shape shape)
{
    bool none;
    const struct slri_ready_kernel *ready;
    if (!kernel)
        return SLRI_FAIL(INVALID, "slr_kernel_prepare: kernel is NULL");
    kernel = slri_tuned_settle(kernel, &shape);
    SLRI_TRY(slri_shape_settle(kernel, &shape, &none));
    return none ? SLR_OK : prepare(kernel, &shape, &ready);
}

slr_status slri_launch_count(slr_kernel *kernel, const slr_shape *shape, const slr_arg *args,
                             const uint64_t *buffer_bytes, const struct slri_count_wanted *wanted,
                             struct slri_count *out)
{
    struct kept *kept;
    SLRI_TRY(make_kept(kernel, NULL, &kept));
    slr_status status = fill(kept, args);
    const struct slri_count_launch launch = {kernel->program->module,
                                             kernel->entry,
                                             shape->grid,
                                             shape->block,
                                             kept->bound,
                                             wanted ? *wanted : (struct slri_count_wanted){0}};
    for (uint32_t i = 0; status == SLR_OK && buffer_bytes && i < kernel->entry->bindings; ++i)
        if (kernel->entry->binding[i].is_buffer && !args[i].value.buffer)
            kept->bound[i].bytes = buffer_bytes[i];
    if (status == SLR_OK)
        slri_count(&launch, out);
    settle_launch(kept);
    return status;
}
