// SPDX-License-Identifier: Apache-2.0
// Buffers: checked here, stored by the backend.
#include "base/alloc.h"
#include "base/status.h"
#include "device/device.h"

#define LARGEST ((uint64_t)1 << 40)

slr_status slr_buffer_create(slr_device *device, uint64_t bytes, slr_buffer **out)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_buffer_create: %s is NULL", device ? "out" : "device");
    if (bytes == 0 || bytes > LARGEST)
        return SLRI_FAIL(INVALID, "a buffer of %llu B was asked for; 1 to 2^40 are possible",
                         (unsigned long long)bytes);
    slr_buffer *buffer = slri_alloc(device->allocator, sizeof *buffer);
    if (!buffer)
        return SLRI_FAIL(NO_MEMORY, "no memory for a buffer");
    slr_status status = device->backend->buffer_create(device->self, bytes, &buffer->memory);
    if (status != SLR_OK) {
        slri_free(device->allocator, buffer, sizeof *buffer);
        return status;
    }
    slri_device_hold(device);
    buffer->device = device;
    buffer->bytes = bytes;
    buffer->holds = 1;
    *out = buffer;
    return SLR_OK;
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
    device->backend->buffer_destroy(device->self, buffer->memory, buffer->bytes);
    slri_free(device->allocator, buffer, sizeof *buffer);
    slri_device_release(device);
}

void slr_buffer_destroy(slr_buffer *buffer)
{
    if (buffer)
        slri_buffer_release(buffer);
}

static slr_status check_range(const slr_buffer *buffer, uint64_t offset, const void *host, uint64_t bytes,
                              const char *call)
{
    if (!buffer || (!host && bytes != 0))
        return SLRI_FAIL(INVALID, "%s: %s is NULL", call, buffer ? "the host's memory" : "buffer");
    if (offset > buffer->bytes || bytes > buffer->bytes - offset)
        return SLRI_FAIL(INVALID, "%s: bytes %llu to %llu were asked for, the buffer has %llu", call,
                         (unsigned long long)offset, (unsigned long long)(offset + bytes),
                         (unsigned long long)buffer->bytes);
    return SLR_OK;
}

static slr_status copy(slr_buffer *buffer, uint64_t offset, void *host, uint64_t bytes, bool in)
{
    struct slri_command command = {.op = in ? SLRI_COPY_IN : SLRI_COPY_OUT,
                                   .device = buffer->memory ? (char *)buffer->memory + offset : NULL,
                                   .host = host,
                                   .bytes = bytes};
    return buffer->device->backend->submit(buffer->device->self, &command, 1);
}

slr_status slr_buffer_write(slr_buffer *buffer, uint64_t offset, const void *from, uint64_t bytes)
{
    SLRI_TRY(check_range(buffer, offset, from, bytes, "slr_buffer_write"));
    return copy(buffer, offset, (void *)from, bytes, true);
}

slr_status slr_buffer_read(slr_buffer *buffer, uint64_t offset, void *to, uint64_t bytes)
{
    SLRI_TRY(check_range(buffer, offset, to, bytes, "slr_buffer_read"));
    return copy(buffer, offset, to, bytes, false);
}

uint64_t slr_buffer_size(const slr_buffer *buffer)
{
    return buffer ? buffer->bytes : 0;
}
