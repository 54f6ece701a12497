// SPDX-License-Identifier: Apache-2.0
// What buffers are cut from. The layers above know memory by its address, and add offsets to it. SVM has addresses;
// memory objects are given some: address space that is reserved and, but for host memory, never touched.
#include "base/alloc.h"
#include "base/memory_map.h"
#include "base/status.h"
#include "hal/opencl/opencl.h"

#include <string.h>

const char *slri_cl_memory_name(enum slri_cl_memory memory)
{
    static const char *const name[SLRI_CL_MEMORIES] = {
        [SLRI_CL_FINE] = "fine", [SLRI_CL_COARSE] = "coarse", [SLRI_CL_HOST] = "host", [SLRI_CL_PLAIN] = "plain"};
    return name[memory];
}

// ---- the list of chunks: under its lock ----------------------------------------------------------------------------

static slr_status insert(struct slri_opencl *opencl, struct slri_cl_chunk *chunk)
{
    chunk->key = (uintptr_t)chunk->address;
    chunk->opened = opencl->opened;
    return slri_places_add(&opencl->chunks, chunk);
}

// Under the lock, as long as it is held.
static struct slri_cl_chunk *chunk_of(const struct slri_opencl *opencl, const void *address)
{
    return slri_places_at(&opencl->chunks, (uintptr_t)address);
}

slri_cl_mem slri_cl_find_memory(struct slri_opencl *opencl, const void *address, uint64_t *offset)
{
    struct slri_cl_chunk chunk;
    slri_places_find(&opencl->chunks, address, &chunk, offset);
    return chunk.mem;
}

uint64_t slri_cl_memory_bytes(struct slri_opencl *opencl)
{
    uint64_t bytes = 0;
    slri_mutex_lock(&opencl->chunks.lock);
    const struct slri_cl_chunk *chunk = opencl->chunks.entry;
    for (uint32_t i = 0; i < opencl->chunks.count; ++i)
        bytes += chunk[i].bytes;
    slri_mutex_unlock(&opencl->chunks.lock);
    return bytes;
}

// ---- making and freeing --------------------------------------------------------------------------------------------

static slr_status no_memory(const struct slri_opencl *opencl, uint64_t bytes)
{
    return SLRI_FAIL(NO_MEMORY, "device '%s' has no memory for %llu B; the limit per allocation is %llu", opencl->name,
                     (unsigned long long)bytes, (unsigned long long)opencl->facts.most_buffer_bytes);
}

static slr_status make_svm(struct slri_opencl *opencl, struct slri_cl_chunk *chunk)
{
    bool fine = opencl->memory == SLRI_CL_FINE;
    uint64_t flags = SLRI_CL_MEM_READ_WRITE | (fine ? SLRI_CL_MEM_SVM_FINE_GRAIN_BUFFER : 0);
    chunk->address = opencl->cl->SVMAlloc(opencl->context, flags, chunk->bytes, 0);
    if (!chunk->address)
        return no_memory(opencl, chunk->bytes);
    if (fine) {
        memset(chunk->address, 0, chunk->bytes);
        return SLR_OK;
    }
    slr_status status = slri_cl_zero_at_once(opencl, chunk->address, chunk->bytes);
    if (status != SLR_OK)
        opencl->cl->SVMFree(opencl->context, chunk->address);
    return status;
}

// The reserved pages are zeros, so they are also what the object begins with.
static slr_status make_object(struct slri_opencl *opencl, struct slri_cl_chunk *chunk)
{
    int32_t error;
    chunk->address = slri_map_reserve(chunk->bytes);
    if (!chunk->address)
        return no_memory(opencl, chunk->bytes);
    uint64_t flags = opencl->memory == SLRI_CL_HOST ? SLRI_CL_MEM_USE_HOST_PTR : SLRI_CL_MEM_COPY_HOST_PTR;
    chunk->mem =
        opencl->cl->CreateBuffer(opencl->context, SLRI_CL_MEM_READ_WRITE | flags, chunk->bytes, chunk->address, &error);
    if (chunk->mem)
        return SLR_OK;
    slri_map_release(chunk->address, chunk->bytes);
    return slri_cl_failed(opencl->name, "CreateBuffer", error);
}

static void free_chunk(struct slri_opencl *opencl, const struct slri_cl_chunk *chunk)
{
    if (!chunk->mem) {
        opencl->cl->SVMFree(opencl->context, chunk->address);
        return;
    }
    opencl->cl->ReleaseMemObject(chunk->mem);
    slri_map_release(chunk->address, chunk->bytes);
}

slr_status slri_cl_buffer_create(void *device, uint64_t bytes, void **memory)
{
    struct slri_opencl *opencl = device;
    struct slri_cl_chunk chunk = {.bytes = bytes};
    SLRI_TRY(slri_cl_check_lost(opencl)); // it would be kept
    if (bytes > opencl->facts.most_buffer_bytes)
        return no_memory(opencl, bytes);
    SLRI_TRY(opencl->memory <= SLRI_CL_COARSE ? make_svm(opencl, &chunk) : make_object(opencl, &chunk));
    slr_status status = insert(opencl, &chunk);
    if (status != SLR_OK) {
        free_chunk(opencl, &chunk);
        return status;
    }
    *memory = chunk.address;
    return SLR_OK;
}

// What was lost may touch it.
static bool is_of_before(struct slri_opencl *opencl, const void *memory)
{
    slri_mutex_lock(&opencl->chunks.lock);
    const struct slri_cl_chunk *chunk = chunk_of(opencl, memory);
    bool is = chunk->opened != opencl->opened && !chunk->is_ring;
    slri_mutex_unlock(&opencl->chunks.lock);
    return is;
}

void slri_cl_buffer_destroy(void *device, void *memory, uint64_t bytes)
{
    struct slri_opencl *opencl = device;
    (void)bytes; // the chunk knows
    bool is_lost = slri_cl_is_lost(opencl);
    if (is_lost || is_of_before(opencl, memory)) {
        slri_cl_buffer_give_up(opencl, memory);
        if (!is_lost) // else when it is opened again, or closed: not all may be in the list yet
            slri_cl_settle(opencl);
        return;
    }
    struct slri_cl_chunk chunk;
    if (slri_places_take(&opencl->chunks, memory, 0, &chunk))
        free_chunk(opencl, &chunk);
}

// ---- of a device that was lost: what hangs may touch it -------------------------------------------------------------

void slri_cl_buffer_give_up(struct slri_opencl *opencl, void *memory)
{
    slri_mutex_lock(&opencl->chunks.lock);
    chunk_of(opencl, memory)->given_up = true;
    slri_mutex_unlock(&opencl->chunks.lock);
}

void slri_cl_free_given_up(struct slri_opencl *opencl)
{
    uint32_t kept = 0;
    slri_mutex_lock(&opencl->chunks.lock);
    struct slri_cl_chunk *chunk = opencl->chunks.entry;
    for (uint32_t i = 0; i < opencl->chunks.count; ++i)
        if (chunk[i].given_up)
            free_chunk(opencl, &chunk[i]);
        else
            chunk[kept++] = chunk[i];
    opencl->chunks.count = kept;
    slri_mutex_unlock(&opencl->chunks.lock);
}

uint64_t slri_cl_given_up_bytes(struct slri_opencl *opencl)
{
    uint64_t bytes = 0;
    slri_mutex_lock(&opencl->chunks.lock);
    const struct slri_cl_chunk *chunk = opencl->chunks.entry;
    for (uint32_t i = 0; i < opencl->chunks.count; ++i)
        bytes += chunk[i].given_up ? chunk[i].bytes : 0;
    slri_mutex_unlock(&opencl->chunks.lock);
    return bytes;
}

// ---- for ring kernels ----------------------------------------------------------------------------------------------

// Mailboxes are large and mostly never touched. What the driver gives fresh from the system is zeros already, and
// pages that are only read cost nothing: so look first.
static void clear(unsigned char *memory, uint64_t bytes)
{
    enum { PAGE = 4096 };
    static const unsigned char zeros[PAGE];
    for (uint64_t at = 0; at < bytes; at += PAGE) {
        size_t here = bytes - at < PAGE ? (size_t)(bytes - at) : PAGE;
        if (memcmp(memory + at, zeros, here) != 0)
            memset(memory + at, 0, here);
    }
}

slr_status slri_cl_ring_memory_create(void *device, uint64_t bytes, void **memory)
{
    struct slri_opencl *opencl = device;
    struct slri_cl_chunk chunk = {.bytes = bytes};
    SLRI_TRY(slri_cl_check_lost(opencl)); // it would be kept
    if (bytes > opencl->facts.most_buffer_bytes)
        return no_memory(opencl, bytes);
    chunk.address = opencl->cl->SVMAlloc(opencl->context, SLRI_CL_MEM_READ_WRITE | SLRI_CL_MEM_SVM_FINE_GRAIN_BUFFER,
                                         bytes, 128); // two lines (MB_LINE); PoCL has no more
    if (!chunk.address)
        return no_memory(opencl, bytes);
    clear(chunk.address, bytes);
    chunk.is_ring = true;
    slr_status status = insert(opencl, &chunk);
    if (status != SLR_OK) {
        free_chunk(opencl, &chunk);
        return status;
    }
    *memory = chunk.address;
    return SLR_OK;
}

// ---- the slots -----------------------------------------------------------------------------------------------------

slr_status slri_cl_memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory)
{
    return kind == SLRI_MEMORY_SHARED ? slri_cl_ring_memory_create(device, bytes, memory)
                                      : slri_cl_buffer_create(device, bytes, memory);
}

void slri_cl_memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes)
{
    if (kind == SLRI_MEMORY_HOST)
        slri_cl_let_go(device, SLRI_CL_HEAP, memory, bytes);
    else
        slri_cl_buffer_destroy(device, memory, bytes);
}
