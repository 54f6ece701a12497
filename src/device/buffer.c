// SPDX-License-Identifier: Apache-2.0
// Buffers: checked here, stored by the backend.
#include "base/alloc.h"
#include "base/status.h"
#include "device/store.h"
#include "device/stream.h"

#define LARGEST ((uint64_t)1 << 40)

slr_status slr_buffer_create_at(slr_device *device, uint64_t bytes, const char *file, uint32_t line, slr_buffer **out)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_buffer_create: %s is NULL", device ? "out" : "device");
    if (bytes == 0 || bytes > LARGEST)
        return SLRI_FAIL(INVALID, "a buffer of %llu B was asked for; 1 to 2^40 are possible",
                         (unsigned long long)bytes);
    slr_buffer *buffer = slri_alloc(device->allocator, sizeof *buffer);
    if (!buffer)
        return SLRI_FAIL(NO_MEMORY, "no memory for a buffer");
    slr_status status = slri_store_take(device, bytes, file, line, &buffer->span);
    if (status != SLR_OK) {
        slri_free(device->allocator, buffer, sizeof *buffer);
        return status;
    }
    slri_device_hold(device);
    buffer->device = device;
    buffer->bytes = bytes;
    buffer->memory = buffer->span.memory;
    buffer->holds = 1;
    *out = buffer;
    return SLR_OK;
}

slr_status(slr_buffer_create)(slr_device *device, uint64_t bytes, slr_buffer **out)
{
    return slr_buffer_create_at(device, bytes, NULL, 0, out);
}

void slri_buffer_hold(slr_buffer *buffer)
{
    slri_hold(&buffer->holds);
}

void slri_buffer_release(slr_buffer *buffer)
{
    if (!slri_let_go(&buffer->holds))
        return;
    slr_device *device = buffer->device;
    slri_store_give(device, &buffer->span);
    slri_free(device->allocator, buffer, sizeof *buffer);
    slri_device_release(device);
}

void slr_buffer_destroy(slr_buffer *buffer)
{
    if (buffer)
        slri_buffer_release(buffer);
}

slr_status slri_buffer_check_range(const slr_buffer *buffer, uint64_t offset, uint64_t bytes, const char *call)
{
    if (!buffer)
        return SLRI_FAIL(INVALID, "%s: buffer is NULL", call);
    if (offset > buffer->bytes || bytes > buffer->bytes - offset)
        return SLRI_FAIL(INVALID, "%s: bytes %llu to %llu were asked for, the buffer has %llu", call,
                         (unsigned long long)offset, (unsigned long long)(offset + bytes),
                         (unsigned long long)buffer->bytes);
    return SLR_OK;
}

slr_status slri_buffer_copy_command(slr_buffer *buffer, uint64_t offset, void *host, uint64_t bytes,
                                    enum slri_command_op op, const char *call, struct slri_command *out)
{
    SLRI_TRY(slri_buffer_check_range(buffer, offset, bytes, call));
    if (!host && bytes != 0)
        return SLRI_FAIL(INVALID, "%s: the host's memory is NULL", call);
    *out = (struct slri_command){.op = op, .copy = {slri_buffer_at(buffer, offset), host, bytes}};
    return SLR_OK;
}

slr_status slr_buffer_write(slr_buffer *buffer, uint64_t offset, const void *from, uint64_t bytes)
{
    struct slri_command command;
    SLRI_TRY(slri_buffer_copy_command(buffer, offset, (void *)from, bytes, SLRI_COPY_IN, "slr_buffer_write", &command));
    return slri_device_run(buffer->device, &command, 1);
}

slr_status slr_buffer_read(slr_buffer *buffer, uint64_t offset, void *to, uint64_t bytes)
{
    struct slri_command command;
    SLRI_TRY(slri_buffer_copy_command(buffer, offset, to, bytes, SLRI_COPY_OUT, "slr_buffer_read", &command));
    return slri_device_run(buffer->device, &command, 1);
}

uint64_t slr_buffer_size(const slr_buffer *buffer)
{
    return buffer ? buffer->bytes : 0;
}
