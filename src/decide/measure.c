// SPDX-License-Identifier: Apache-2.0
// The work on an open device: the same source compiled for it, copies of the buffers, and calls as a program would make
// them. What a device with memory of its own needs is copied for each call.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "decide/decide.h"
#include "device/kernel.h"
#include "engine/observe.h"

static const uint64_t call_timeout_ns = 60000000000u;

static bool has_bit(uint64_t bits, uint32_t i)
{
    return bits >> i & 1;
}

// The user's buffer as it is now.
static slr_status copy_buffer(struct slri_place *place, uint32_t i)
{
    slr_buffer *from = place->work->args[i].value.buffer;
    uint64_t bytes = from->bytes;
    place->host[i] = slri_alloc(NULL, bytes);
    if (!place->host[i])
        return SLRI_FAIL(NO_MEMORY, "no memory for a copy of %llu bytes", (unsigned long long)bytes);
    SLRI_TRY(slr_buffer_read(from, 0, place->host[i], bytes));
    SLRI_TRY(slr_buffer_create(place->candidate->device, bytes, &place->buffer[i]));
    place->args[i].value.buffer = place->buffer[i];
    return slr_buffer_write(place->buffer[i], 0, place->host[i], bytes);
}

static slr_status make_arguments(struct slri_place *place)
{
    const slr_work *work = place->work;
    const size_t count = work->arg_count + 1;
    place->args = slri_alloc(NULL, count * sizeof *place->args);
    place->buffer = slri_alloc(NULL, count * sizeof *place->buffer);
    place->host = slri_alloc(NULL, count * sizeof *place->host);
    if (!place->args || !place->buffer || !place->host)
        return SLRI_FAIL(NO_MEMORY, "no memory to measure a kernel");
    for (uint32_t i = 0; i < work->arg_count; ++i) {
        place->args[i] = work->args[i];
        if (work->args[i].kind != SLR_ARG_BUFFER)
            continue;
        if (!work->args[i].value.buffer)
            return SLRI_FAIL(UNSUPPORTED, "kernel %s: parameter '%s' has no buffer, so the work cannot be measured",
                             work->kernel->info.name, work->kernel->info.parameters[i].name);
        SLRI_TRY(copy_buffer(place, i));
    }
    return SLR_OK;
}

// ---- a call --------------------------------------------------------------------------------------------------------

static slr_status copy_in(struct slri_place *place)
{
    for (uint32_t i = 0; i < place->work->arg_count; ++i)
        if (place->buffer[i] && has_bit(place->count->loads, i))
            SLRI_TRY(slr_buffer_write(place->buffer[i], 0, place->host[i], place->buffer[i]->bytes));
    return SLR_OK;
}

static slr_status copy_out(struct slri_place *place)
{
    for (uint32_t i = 0; i < place->work->arg_count; ++i)
        if (place->buffer[i] && has_bit(place->count->stores, i))
            SLRI_TRY(slr_buffer_read(place->buffer[i], 0, place->host[i], place->buffer[i]->bytes));
    return SLR_OK;
}

slr_status slri_place_call(struct slri_place *place)
{
    if (place->candidate->call) {
        SLRI_OBSERVE_SITE_OF_PROGRAM();
        return place->candidate->call(place->candidate->user);
    }
    if (place->copies)
        SLRI_TRY(copy_in(place));
    for (uint64_t i = 0; i < place->count->figures.launches; ++i)
        SLRI_TRY(
            slr_launch(place->stream, place->kernel, place->work->shape, place->args, place->work->arg_count, NULL));
    SLRI_TRY(slr_stream_finish(place->stream, call_timeout_ns));
    return place->copies ? copy_out(place) : SLR_OK;
}

slr_status slri_place_sample(struct slri_place *place)
{
    uint64_t from = slri_now_ns();
    SLRI_TRY(slri_place_call(place));
    uint64_t took = slri_now_ns() - from;
    if (place->samples < SLRI_DECIDE_SAMPLES)
        place->sample[place->samples++] = took ? (double)took : 1;
    return SLR_OK;
}

// ---- its life ------------------------------------------------------------------------------------------------------

static slr_status open_device(struct slri_place *place)
{
    slr_kernel *kernel = place->work->kernel;
    slr_device *device = place->candidate->device;
    SLRI_TRY(slri_program_elsewhere(kernel->program, device, &place->program));
    SLRI_TRY(slr_program_get_kernel(place->program, kernel->info.name, &place->kernel));
    SLRI_TRY(slr_stream_create(device, NULL, &place->stream));
    place->copies = !device->facts.unified && !place->work->resident;
    return make_arguments(place);
}

slr_status slri_place_open(struct slri_place *place)
{
    if (place->candidate->device)
        SLRI_TRY(open_device(place));
    return slri_place_call(place);
}

void slri_place_close(struct slri_place *place)
{
    const size_t count = place->work->arg_count + 1;
    for (uint32_t i = 0; place->host && place->buffer && i < place->work->arg_count; ++i) {
        if (place->host[i])
            slri_free(NULL, place->host[i], place->work->args[i].value.buffer->bytes);
        slr_buffer_destroy(place->buffer[i]);
    }
    slri_free(NULL, place->host, count * sizeof *place->host);
    slri_free(NULL, place->buffer, count * sizeof *place->buffer);
    slri_free(NULL, place->args, count * sizeof *place->args);
    slr_stream_destroy(place->stream);
    slr_kernel_destroy(place->kernel);
    slr_program_destroy(place->program);
}
