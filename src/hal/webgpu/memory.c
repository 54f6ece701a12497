// SPDX-License-Identifier: Apache-2.0
// Memory. WebGPU has no addresses, so a piece gets one that means its place in a table and an offset: the layers above
// add to it, and nobody follows it. Where addresses have 32 bits a long piece takes several places behind one another.
// A new buffer is zero.
#include "base/alloc.h"
#include "base/status.h"
#include "hal/webgpu/webgpu.h"

#define OFFSET_BITS (sizeof(void *) == 8 ? 40 : 20)
#define MOST_PLACES (sizeof(void *) == 8 ? 1u << 23 : (1u << 12) - 1)
#define FIRST_ROOM 64u
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

// ---- the table: under its lock -------------------------------------------------------------------------------------

static uint32_t places_of(uint64_t bytes)
{
    return (uint32_t)((bytes + (UINT64_C(1) << OFFSET_BITS) - 1) >> OFFSET_BITS);
}

static slr_status grow_table(struct slri_webgpu *webgpu, uint32_t places)
{
    uint32_t room = webgpu->chunks != 0 ? webgpu->chunks : FIRST_ROOM;
    while (room < places)
        room *= 2;
    struct slri_wg_chunk *grown = slri_alloc(webgpu->allocator, room * sizeof *grown);
    if (!grown)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a list of %u pieces of memory", webgpu->name, room);
    if (webgpu->chunks != 0)
        memcpy(grown, webgpu->chunk, webgpu->chunks * sizeof *grown);
    slri_free(webgpu->allocator, webgpu->chunk, webgpu->chunks * sizeof *grown);
    webgpu->chunk = grown;
    webgpu->chunks = room;
    return SLR_OK;
}

// The first of `places` that are free.
static slr_status find_free_places(struct slri_webgpu *webgpu, uint32_t places, uint32_t *out)
{
    uint32_t place = 0, free = 0;
    for (; place < webgpu->chunks && free < places; ++place)
        free = webgpu->chunk[place].bytes == 0 ? free + 1 : 0;
    *out = place - free;
    if (*out + places > MOST_PLACES)
        return SLRI_FAIL(NO_MEMORY, "device '%s' has no addresses left for %u more pieces of memory", webgpu->name,
                         places);
    return *out + places <= webgpu->chunks ? SLR_OK : grow_table(webgpu, *out + places);
}

static slr_status take_place(struct slri_webgpu *webgpu, uint64_t bytes, uint32_t *out)
{
    const uint32_t places = places_of(bytes);
    slri_mutex_lock(&webgpu->memory_lock);
    slr_status status = find_free_places(webgpu, places, out);
    const uint64_t serial = ++webgpu->serials;
    for (uint32_t i = 0; status == SLR_OK && i < places; ++i)
        webgpu->chunk[*out + i] = (struct slri_wg_chunk){.bytes = bytes, .serial = serial, .behind = i};
    slri_mutex_unlock(&webgpu->memory_lock);
    return status;
}

uint64_t slri_wg_serial(struct slri_webgpu *webgpu)
{
    slri_mutex_lock(&webgpu->memory_lock);
    const uint64_t serial = ++webgpu->serials;
    slri_mutex_unlock(&webgpu->memory_lock);
    return serial;
}

static WGPUBuffer exchange(struct slri_webgpu *webgpu, uint32_t place, WGPUBuffer buffer, bool is_kept)
{
    slri_mutex_lock(&webgpu->memory_lock);
    WGPUBuffer before = webgpu->chunk[place].buffer;
    for (uint32_t i = places_of(webgpu->chunk[place].bytes); i-- > 0;) {
        webgpu->chunk[place + i].buffer = buffer;
        webgpu->chunk[place + i].bytes = is_kept ? webgpu->chunk[place + i].bytes : 0;
    }
    slri_mutex_unlock(&webgpu->memory_lock);
    return before;
}

static uint32_t place_of(const void *address)
{
    return (uint32_t)((uintptr_t)address >> OFFSET_BITS) - 1;
}

struct slri_wg_chunk slri_wg_find(struct slri_webgpu *webgpu, const void *address, uint64_t *offset)
{
    slri_mutex_lock(&webgpu->memory_lock);
    struct slri_wg_chunk found = webgpu->chunk[place_of(address)];
    slri_mutex_unlock(&webgpu->memory_lock);
    *offset = ((uintptr_t)address & (((uint64_t)1 << OFFSET_BITS) - 1)) + ((uint64_t)found.behind << OFFSET_BITS);
    return found;
}

// ---- pieces --------------------------------------------------------------------------------------------------------

slr_status slri_wg_memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory)
{
    struct slri_webgpu *webgpu = device;
    const uint64_t whole = (bytes + STEP - 1) / STEP * STEP;
    WGPUBuffer buffer;
    uint32_t place;
    (void)kind; // it has one
    SLRI_TRY(take_place(webgpu, whole ? whole : STEP, &place));
    slr_status status =
        slri_wg_buffer_make(webgpu, whole ? whole : STEP,
                            WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst, &buffer);
    (void)exchange(webgpu, place, status == SLR_OK ? buffer : NULL, status == SLR_OK);
    if (status == SLR_OK)
        *memory = (void *)(((uintptr_t)place + 1) << OFFSET_BITS);
    return status;
}

void slri_wg_memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes)
{
    struct slri_webgpu *webgpu = device;
    (void)kind, (void)bytes;
    if (slri_is_lost(&webgpu->loss)) // it goes with the device
        return;
    slri_wg_buffer_free(webgpu, exchange(webgpu, place_of(memory), NULL, false));
}

void slri_wg_memory_forget(struct slri_webgpu *webgpu)
{
    for (uint32_t i = 0; i < webgpu->chunks; ++i)
        if (webgpu->chunk[i].behind == 0)
            slri_wg_buffer_free(webgpu, webgpu->chunk[i].buffer);
    slri_wg_buffer_free(webgpu, webgpu->none);
    slri_free(webgpu->allocator, webgpu->chunk, webgpu->chunks * sizeof *webgpu->chunk);
    webgpu->chunk = NULL;
    webgpu->chunks = 0;
    webgpu->none = NULL;
}
