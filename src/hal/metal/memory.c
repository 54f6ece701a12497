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
    const uint64_t whole = bytes ? (bytes + STEP - 1) / STEP * STEP : STEP;
    SLRI_TRY(slri_buffered_check_bytes(&metal->base, whole, metal->facts.most_buffer_bytes));
    slri_mt_id made =
        SLRI_MT_WITH(metal->mt, metal->device, new_buffer, whole, is_seen ? SLRI_MT_SHARED : SLRI_MT_PRIVATE);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': newBuffer gives nothing: no memory for %llu B", metal->base.name,
                         (unsigned long long)bytes);
    *out = (struct slri_mt_chunk){.bytes = whole,
                                  .address = SLRI_MT(metal->mt, made, gpu_address),
                                  .host = is_seen ? SLRI_MT(metal->mt, made, contents) : NULL,
                                  .buffer = made};
    return SLR_OK;
}

void slri_mt_chunk_free(void *device, const void *freed)
{
    const struct slri_metal *metal = device;
    const struct slri_mt_chunk *chunk = freed;
    if (!slri_hangs(&metal->base.loss))
        slri_mt_release(metal, chunk->buffer);
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
    chunk.key = (uintptr_t)chunk.host;
    return slri_buffered_keep(&metal->base, &metal->base.chunks, &chunk, chunk.host ? 0 : NOBODYS, memory);
}

void slri_mt_locate(void *device, const void *memory, struct slri_memory_place *out)
{
    struct slri_metal *metal = device;
    struct slri_mt_chunk chunk;
    *out = (struct slri_memory_place){0};
    slri_places_find(&metal->base.chunks, memory, &chunk, &out->offset);
    out->native = chunk.buffer;
}
