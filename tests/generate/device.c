// SPDX-License-Identifier: Apache-2.0
// A kernel on a device: buffers for what is bound, a launch, and the results back.
#include "device.h"

#include "base/status.h"

#include <slipring/slipring.h>

#include <string.h>

enum { MOST = 16 };
#define PATIENCE_NS UINT64_C(120000000000)

static slr_device *device;
static slr_stream *stream;

slr_status device_use(const char *spec)
{
    SLRI_TRY(slr_device_open(spec, NULL, &device));
    return slr_stream_create(device, NULL, &stream);
}

bool device_is_used(void)
{
    return device != NULL;
}

void device_release(void)
{
    slr_stream_destroy(stream);
    slr_device_close(device);
    device = NULL;
    stream = NULL;
}

static slr_arg value_of(const struct slri_binding_info *binding, const struct slri_bound *bound)
{
    float real;
    int number;
    switch (binding->type->kind) {
    case SLRI_F32:
        memcpy(&real, bound->data, sizeof real);
        return slr_arg_float(real);
    case SLRI_I32:
        memcpy(&number, bound->data, sizeof number);
        return slr_arg_signed(number);
    default:
        return slr_arg_bytes(bound->data, bound->bytes);
    }
}

static slr_status move_all(const struct slri_entry *entry, const struct slri_bound *bound, slr_buffer **buffer,
                           bool is_back)
{
    for (uint32_t i = 0; i < entry->bindings; i++) {
        if (!entry->binding[i].is_buffer)
            continue;
        if (is_back)
            SLRI_TRY(slr_buffer_read(buffer[i], 0, bound[i].data, bound[i].bytes));
        else
            SLRI_TRY(slr_buffer_write(buffer[i], 0, bound[i].data, bound[i].bytes));
    }
    return SLR_OK;
}

static slr_status launch(const subject *s, slr_kernel *kernel, const struct slri_bound *bound, slr_buffer **buffer)
{
    const struct slri_entry *entry = s->module->entry;
    const uint32_t *grid = s->program.grid, *block = s->program.block;
    slr_arg arg[MOST];
    for (uint32_t i = 0; i < entry->bindings; i++) {
        if (entry->binding[i].is_buffer)
            SLRI_TRY(slr_buffer_create(device, bound[i].bytes, &buffer[i]));
        arg[i] = entry->binding[i].is_buffer ? slr_arg_buffer(buffer[i]) : value_of(&entry->binding[i], &bound[i]);
    }
    SLRI_TRY(move_all(entry, bound, buffer, false));
    const slr_shape shape = {{0, 0, 0}, {block[0], block[1], block[2]}, {grid[0], grid[1], grid[2]}, 0, 0};
    SLRI_TRY(slr_launch(stream, kernel, shape, arg, entry->bindings, NULL));
    slr_status status = slr_stream_finish(stream, PATIENCE_NS);
    if (status != SLR_OK) {
        slr_stream_recover(stream);
        return status;
    }
    return move_all(entry, bound, buffer, true);
}

slr_status device_run(const subject *s, const struct slri_bound *bound, uint32_t count)
{
    slr_program *program = NULL;
    slr_kernel *kernel = NULL;
    slr_buffer *buffer[MOST] = {NULL};
    if (count > MOST || count != s->module->entry->bindings)
        return SLRI_FAIL(INTERNAL, "%u values are bound", count);
    slr_status status =
        slr_program_from_text(device, s->module->name, slri_text_view(&s->program.text), NULL, &program);
    if (status == SLR_OK)
        status = slr_program_get_kernel(program, s->module->entry->name, &kernel);
    if (status == SLR_OK)
        status = launch(s, kernel, bound, buffer);
    for (uint32_t i = 0; i < count; i++)
        slr_buffer_destroy(buffer[i]);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    return status;
}
