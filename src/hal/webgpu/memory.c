// SPDX-License-Identifier: Apache-2.0
// Memory. WebGPU has no addresses, so a buffer gets one that nothing has (engine/places.h): the layers above add to it,
// and nobody follows it. A new buffer is zero.
#include "base/alloc.h"
#include "base/status.h"
#include "hal/webgpu/webgpu.h"

#define STEP 16u // of lengths

// ---- buffers -------------------------------------------------------------------------------------------------------

slr_status slri_wg_buffer_make(struct slri_webgpu *webgpu, uint64_t bytes, WGPUFlags usage, WGPUBuffer *out)
{
    const WGPUBufferDescriptor how = {.usage = usage, .size = bytes};
    SLRI_TRY(slri_buffered_check_bytes(&webgpu->base, bytes, webgpu->facts.limits.maxBufferSize));
    WGPUBuffer made = webgpu->lib->DeviceCreateBuffer(webgpu->device, &how);
    slr_status status = slri_wg_check(webgpu, "DeviceCreateBuffer");
    if (status == SLR_OK && !made)
        status = SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a buffer of %llu B", webgpu->base.name,
                           (unsigned long long)bytes);
    if (status == SLR_OK)
        *out = made;
    else if (made)
        webgpu->lib->BufferRelease(made);
    return status;
}

void slri_wg_buffer_free(struct slri_webgpu *webgpu, WGPUBuffer buffer)
{
    if (!buffer || slri_hangs(&webgpu->base.loss))
        return;
    webgpu->lib->BufferDestroy(buffer); // bind groups that are kept still name it
    webgpu->lib->BufferRelease(buffer);
}

// ---- chunks by address ---------------------------------------------------------------------------------------------

// Relaxed: only that no two are the same counts.
uint64_t slri_wg_serial(struct slri_webgpu *webgpu)
{
    return __atomic_add_fetch(&webgpu->serials, 1, __ATOMIC_RELAXED);
}

struct slri_wg_chunk slri_wg_find(struct slri_webgpu *webgpu, const void *address, uint64_t *offset)
{
    struct slri_wg_chunk found;
    slri_places_find(&webgpu->base.chunks, address, &found, offset);
    return found;
}

// ---- slots ---------------------------------------------------------------------------------------------------------

slr_status slri_wg_memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory)
{
    struct slri_webgpu *webgpu = device;
    struct slri_wg_chunk chunk = {.bytes = bytes ? (bytes + STEP - 1) / STEP * STEP : STEP};
    (void)kind; // it has one
    SLRI_TRY(slri_wg_buffer_make(webgpu, chunk.bytes,
                                 WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst,
                                 &chunk.buffer));
    chunk.serial = slri_wg_serial(webgpu);
    return slri_buffered_keep(&webgpu->base, &webgpu->base.chunks, &chunk, SLRI_PLACE_STEP, memory);
}

void slri_wg_chunk_free(void *device, const void *freed)
{
    const struct slri_wg_chunk *chunk = freed;
    slri_wg_buffer_free(device, chunk->buffer);
}
