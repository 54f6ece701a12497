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
    const uint64_t most = webgpu->facts.limits.maxBufferSize;
    SLRI_TRY(slri_loss_check(&webgpu->loss));
    if (bytes > most)
        return SLRI_FAIL(NO_MEMORY, "device '%s' has no buffers of %llu B; its longest have %llu B", webgpu->name,
                         (unsigned long long)bytes, (unsigned long long)most);
    WGPUBuffer made = webgpu->lib->DeviceCreateBuffer(webgpu->device, &how);
    slr_status status = slri_wg_check(webgpu, "DeviceCreateBuffer");
    if (status == SLR_OK && !made)
        status = SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a buffer of %llu B", webgpu->name,
                           (unsigned long long)bytes);
    if (status == SLR_OK)
        *out = made;
    else if (made)
        webgpu->lib->BufferRelease(made);
    return status;
}

void slri_wg_buffer_free(struct slri_webgpu *webgpu, WGPUBuffer buffer)
{
    if (!buffer || slri_hangs(&webgpu->loss))
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
    slri_places_find(&webgpu->chunks, address, &found, offset);
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
    slr_status status = slri_places_add_anywhere(&webgpu->chunks, &chunk, SLRI_PLACE_STEP);
    if (status == SLR_OK)
        *memory = (void *)(uintptr_t)chunk.key;
    else
        slri_wg_buffer_free(webgpu, chunk.buffer);
    return status;
}

void slri_wg_memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes)
{
    struct slri_webgpu *webgpu = device;
    (void)kind, (void)bytes;
    if (slri_is_lost(&webgpu->loss)) // it goes with the device
        return;
    struct slri_wg_chunk chunk;
    slri_places_take(&webgpu->chunks, memory, &chunk);
    slri_wg_buffer_free(webgpu, chunk.buffer);
}

void slri_wg_memory_forget(struct slri_webgpu *webgpu)
{
    const struct slri_wg_chunk *chunk = webgpu->chunks.entry;
    for (uint32_t i = 0; i < webgpu->chunks.count; ++i)
        slri_wg_buffer_free(webgpu, chunk[i].buffer);
    slri_places_clear(&webgpu->chunks);
    slri_wg_buffer_free(webgpu, webgpu->none);
    webgpu->none = NULL;
}
