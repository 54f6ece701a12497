// SPDX-License-Identifier: Apache-2.0
// Memory: a buffer each. The layers above know it by an address, and add to that: the host's own where the host sees
// the memory, and shared memory is all that they ask for then; else an address that nothing has. A new buffer is zero.
#include "base/alloc.h"
#include "base/status.h"
#include "hal/metal/metal.h"

#define NOBODYS (UINT64_C(1) << 63) // no address of a process is as high
#define STEP 16u                    // of lengths

// ---- buffers -------------------------------------------------------------------------------------------------------

slr_status slri_mt_buffer_make(struct slri_metal *metal, uint64_t bytes, bool is_seen, struct slri_mt_chunk *out)
{
    const uint64_t most = metal->facts.most_buffer_bytes;
    const uint64_t whole = bytes ? (bytes + STEP - 1) / STEP * STEP : STEP;
    SLRI_TRY(slri_loss_check(&metal->loss));
    if (whole > most)
        return SLRI_FAIL(NO_MEMORY, "device '%s' has no buffers of %llu B; its longest have %llu B", metal->name,
                         (unsigned long long)bytes, (unsigned long long)most);
    slri_mt_id made =
        SLRI_MT_WITH(metal->mt, metal->device, new_buffer, whole, is_seen ? SLRI_MT_SHARED : SLRI_MT_PRIVATE);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': newBuffer gives nothing: no memory for %llu B", metal->name,
                         (unsigned long long)bytes);
    *out = (struct slri_mt_chunk){.bytes = whole,
                                  .address = SLRI_MT(metal->mt, made, gpu_address),
                                  .host = is_seen ? SLRI_MT(metal->mt, made, contents) : NULL,
                                  .buffer = made};
    return SLR_OK;
}

static void free_buffer(const struct slri_metal *metal, slri_mt_id buffer)
{
    if (!slri_hangs(&metal->loss))
        slri_mt_release(metal, buffer);
}

// ---- chunks by address: under their lock ---------------------------------------------------------------------------

static slr_status insert(struct slri_metal *metal, struct slri_mt_chunk *chunk)
{
    slri_mutex_lock(&metal->memory_lock);
    chunk->key = (uintptr_t)chunk->host;
    slr_status status =
        chunk->host
            ? slri_places_add(&metal->chunks, metal->allocator, metal->name, chunk, sizeof *chunk)
            : slri_places_add_anywhere(&metal->chunks, metal->allocator, metal->name, chunk, sizeof *chunk, NOBODYS);
    slri_mutex_unlock(&metal->memory_lock);
    return status;
}

struct slri_mt_chunk slri_mt_find(struct slri_metal *metal, const void *address, uint64_t *offset)
{
    slri_mutex_lock(&metal->memory_lock);
    const struct slri_mt_chunk found =
        *(const struct slri_mt_chunk *)slri_places_find(&metal->chunks, (uintptr_t)address);
    slri_mutex_unlock(&metal->memory_lock);
    *offset = (uintptr_t)address - found.key;
    return found;
}

// ---- slots ---------------------------------------------------------------------------------------------------------

slr_status slri_mt_memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory)
{
    struct slri_metal *metal = device;
    struct slri_mt_chunk chunk;
    void *pool = metal->mt->push_pool();
    slr_status status =
        slri_mt_buffer_make(metal, bytes, metal->facts.is_unified && kind != SLRI_MEMORY_PRIVATE, &chunk);
    metal->mt->pop_pool(pool);
    SLRI_TRY(status);
    status = insert(metal, &chunk);
    if (status == SLR_OK)
        *memory = (void *)(uintptr_t)chunk.key;
    else
        free_buffer(metal, chunk.buffer);
    return status;
}

void slri_mt_memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes)
{
    struct slri_metal *metal = device;
    (void)kind, (void)bytes;
    if (slri_is_lost(&metal->loss)) // it goes with the device
        return;
    slri_mutex_lock(&metal->memory_lock);
    const struct slri_mt_chunk *at = slri_places_find(&metal->chunks, (uintptr_t)memory);
    slri_mt_id buffer = at->buffer;
    slri_places_remove(&metal->chunks, at);
    slri_mutex_unlock(&metal->memory_lock);
    free_buffer(metal, buffer);
}

void slri_mt_memory_forget(struct slri_metal *metal)
{
    const struct slri_mt_chunk *chunk = metal->chunks.entry;
    for (uint32_t i = 0; i < metal->chunks.count; ++i)
        free_buffer(metal, chunk[i].buffer);
    slri_places_free(&metal->chunks, metal->allocator);
}

void slri_mt_locate(void *device, const void *memory, struct slri_memory_place *out)
{
    *out = (struct slri_memory_place){0};
    out->native = slri_mt_find(device, memory, &out->offset).buffer;
}
