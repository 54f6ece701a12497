// SPDX-License-Identifier: Apache-2.0
// A device's own heap, which the memory of its buffers comes from, and its own pool.
#include "memory/store.h"

#include "base/memory_map.h"
#include "base/status.h"
#include "device/stream.h"
#include "memory/heap.h"
#include "memory/pool.h"

#include <string.h>

#define HOST_CHUNK_BYTES ((uint64_t)4 << 20) // pages that are locked are lost to everybody else

static slr_status create_pinned(void *self, uint64_t bytes, void **memory)
{
    const slr_device *device = self;
    return slri_queue_device_memory(&device->queues, SLRI_MEMORY_PINNED, bytes, memory);
}

static void destroy_pinned(void *self, void *memory, uint64_t bytes)
{
    const slr_device *device = self;
    device->backend->memory_destroy(device->self, SLRI_MEMORY_PINNED, memory, bytes);
}

// Pinned memory in chunks too: a driver's call for each would cost more than most copies, and may wait for the device.
static slr_status open_host_heap(slr_device *device)
{
    slr_heap_desc desc = SLR_HEAP_DESC_INIT;
    desc.name = "pinned";
    desc.chunk_bytes = HOST_CHUNK_BYTES;
    const struct slri_heap_source source = {create_pinned, destroy_pinned, device};
    return slri_heap_create(&source, device->allocator, &desc, &device->host_heap);
}

static slr_status create_private(void *self, uint64_t bytes, void **memory)
{
    const slr_device *device = self;
    return slri_queue_device_memory(&device->queues, SLRI_MEMORY_PRIVATE, bytes, memory);
}

static void destroy_private(void *self, void *memory, uint64_t bytes)
{
    const slr_device *device = self;
    device->backend->memory_destroy(device->self, SLRI_MEMORY_PRIVATE, memory, bytes);
}

// As the heap of other buffers, of which the limit is one for each of the two.
static slr_status open_private_heap(slr_device *device, slr_heap_desc *desc)
{
    desc->name = "private";
    const struct slri_heap_source source = {create_private, destroy_private, device};
    SLRI_TRY(slri_heap_create(&source, device->allocator, desc, &device->private_heap));
    device->private_heap->device = device;
    return SLR_OK;
}

slr_status slri_device_heap_open(slr_device *device, const slr_device_desc *desc)
{
    slr_heap_desc heap = SLR_HEAP_DESC_INIT;
    heap.name = "buffers";
    if (desc) {
        heap.max_bytes = desc->max_memory_bytes;
        heap.on_memory = desc->on_memory;
        heap.memory_user = desc->memory_user;
    }
    const struct slri_heap_source source = slri_heap_source_of(device);
    SLRI_TRY(slri_pool_create(device, NULL, &device->pool)); // neither holds the device
    device->pool->is_devices = true;
    slr_status status = slri_heap_create(&source, device->allocator, &heap, &device->heap);
    if (status != SLR_OK) {
        slri_pool_free(device->pool);
        return status;
    }
    device->heap->device = device;
    status = device->facts.has_pinned ? open_host_heap(device) : SLR_OK;
    if (status == SLR_OK && device->facts.has_private)
        status = open_private_heap(device, &heap);
    if (status != SLR_OK)
        slri_device_heap_free(device);
    return status;
}

void slri_device_heap_report(slr_device *device)
{
    slri_pool_close(device->pool); // what waits in it is no leak
    slri_heap_report(device->heap);
    if (device->private_heap)
        slri_heap_report(device->private_heap);
}

static uint64_t trimmed(slr_heap *heap)
{
    slr_heap_stats stats = {0};
    if (!heap)
        return 0;
    slr_heap_trim(heap);
    slr_heap_get_stats(heap, &stats);
    return stats.held_bytes;
}

slr_status slri_device_heap_reset(slr_device *device)
{
    slr_pool_trim(device->pool, 0);
    uint64_t left = trimmed(device->heap) + trimmed(device->host_heap) + trimmed(device->private_heap);
    return left == 0 ? SLR_OK
                     : SLRI_FAIL(WRONG_STATE, "slr_device_reopen: buffers of the device still exist, in %llu B",
                                 (unsigned long long)left);
}

void slri_device_heap_free(slr_device *device)
{
    slri_pool_free(device->pool);
    slri_heap_destroy(device->heap);
    if (device->host_heap)
        slri_heap_destroy(device->host_heap);
    if (device->private_heap)
        slri_heap_destroy(device->private_heap);
}

slr_status slri_device_heap_take(slr_device *device, bool is_private, uint64_t bytes, uint64_t alignment,
                                 const char *file, uint32_t line, slr_span *out)
{
    slr_heap *heap = is_private ? device->private_heap : device->heap;
    slr_span span;
    if (alignment < device->facts.alignment)
        alignment = device->facts.alignment;
    slr_status status = slr_heap_take_at(heap, bytes, alignment, file, line, &span);
    if (status == SLR_NO_MEMORY && slr_pool_trim(device->pool, 0) > 0)
        status = slr_heap_take_at(heap, bytes, alignment, file, line, &span);
    SLRI_TRY(status);
    if (span.stale > 0 && span.memory) {
        struct slri_command fill = {.op = SLRI_FILL, .fill = {span.memory, span.stale, 1, {0}}};
        status = slri_device_run(device, &fill, 1);
        if (status != SLR_OK) {
            slr_heap_give(heap, &span);
            return status;
        }
    }
    *out = span;
    return SLR_OK;
}

void slri_device_heap_give(slr_device *device, bool is_private, const slr_span *span)
{
    slr_heap_give(is_private ? device->private_heap : device->heap, span);
}

slr_status slri_device_heap_take_host(slr_device *device, uint64_t bytes, slr_span *out)
{
    SLRI_TRY(slr_heap_take_at(device->host_heap, bytes, slri_page_bytes(), NULL, 0, out));
    memset(out->memory, 0, out->stale);
    return SLR_OK;
}

void slri_device_heap_give_host(slr_device *device, const slr_span *span)
{
    slr_heap_give(device->host_heap, span);
}

slr_status slr_device_get_heap(slr_device *device, slr_heap **out)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_device_get_heap: %s is NULL", device ? "out" : "device");
    *out = device->heap;
    return SLR_OK;
}
