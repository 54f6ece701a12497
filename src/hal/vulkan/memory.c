// SPDX-License-Identifier: Apache-2.0
// Memory: one buffer over all of each piece. The layers above know a piece of the device's by its device address, and
// one that the host sees by the host's; both add offsets. Which piece that is must be found for a copy alone.
#include "base/status.h"
#include "hal/vulkan/vulkan.h"

#include <string.h>

// ---- lists of chunks -----------------------------------------------------------------------------------------------

bool slri_vk_find(struct slri_places *chunks, const void *address, struct slri_hazard_use *use)
{
    struct slri_vk_chunk chunk;
    uint64_t at;
    if (!slri_places_find(chunks, address, &chunk, &at) || at > chunk.bytes || use->bytes > chunk.bytes - at)
        return false;
    use->memory = (uint64_t)chunk.buffer;
    use->at = chunk.lead + at;
    use->is_viewed = chunk.host != NULL;
    return true;
}

// No API of ours hands the VkBuffer out.
void slri_vk_locate(void *device, const void *memory, struct slri_memory_place *out)
{
    struct slri_vulkan *vulkan = device;
    struct slri_vk_chunk chunk = {0};
    *out = (struct slri_memory_place){0};
    slri_places_find(&vulkan->base.chunks, memory, &chunk, &out->offset);
    out->host = chunk.host ? chunk.host + out->offset : NULL;
}

uint64_t slri_vk_seen_address(struct slri_vulkan *vulkan, const void *host)
{
    struct slri_vk_chunk chunk;
    uint64_t offset;
    return slri_places_find(&vulkan->base.seen, host, &chunk, &offset) ? chunk.address + chunk.lead + offset : 0;
}

// ---- pieces --------------------------------------------------------------------------------------------------------

#define NEAR VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define SEEN (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
#define CACHED VK_MEMORY_PROPERTY_HOST_CACHED_BIT

// What memory is to be like. The type that has all of `must`, and most of `wish`.
struct wish {
    VkMemoryPropertyFlags must, wish;
    void *import; // NULL: new memory
};

static bool choose_type(const struct slri_vulkan *vulkan, uint32_t bits, const struct wish *wish, uint32_t *out)
{
    const VkPhysicalDeviceMemoryProperties *memory = &vulkan->facts.memory;
    int best = -1;
    for (uint32_t i = 0; i < memory->memoryTypeCount; ++i) {
        const VkMemoryPropertyFlags flags = memory->memoryTypes[i].propertyFlags;
        const VkMemoryPropertyFlags odd = VK_MEMORY_PROPERTY_PROTECTED_BIT | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT |
                                          VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD;
        const int fits = __builtin_popcount(flags & wish->wish);
        if (!(bits >> i & 1) || (flags & wish->must) != wish->must || (flags & odd) || fits <= best)
            continue;
        best = fits;
        *out = i;
    }
    return best >= 0;
}

static slr_status make_buffer(struct slri_vulkan *vulkan, bool imports, struct slri_vk_chunk *chunk)
{
    const VkExternalMemoryBufferCreateInfo external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                       .handleTypes =
                                                           VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT};
    const VkBufferCreateInfo create = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .pNext = imports ? &external : NULL,
                                       .size = chunk->bytes,
                                       .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                                VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                                VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    SLRI_VK_TRY(vulkan, CreateBuffer, vulkan->device, &create, NULL, &chunk->buffer);
    return SLR_OK;
}

static slr_status import_types(struct slri_vulkan *vulkan, const void *import, uint32_t *bits)
{
    VkMemoryHostPointerPropertiesEXT types = {.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    SLRI_VK_TRY(vulkan, GetMemoryHostPointerPropertiesEXT, vulkan->device,
                VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT, import, &types);
    *bits &= types.memoryTypeBits;
    return SLR_OK;
}

static slr_status allocate(struct slri_vulkan *vulkan, const struct wish *wish, struct slri_vk_chunk *chunk)
{
    const VkImportMemoryHostPointerInfoEXT import = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
                                                     .handleType =
                                                         VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
                                                     .pHostPointer = wish->import};
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .pNext = wish->import ? &import : NULL,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryRequirements needs;
    vulkan->call.GetBufferMemoryRequirements(vulkan->device, chunk->buffer, &needs);
    VkMemoryAllocateInfo how = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                .pNext = &flags,
                                .allocationSize = wish->import ? chunk->bytes : needs.size};
    if (wish->import)
        SLRI_TRY(import_types(vulkan, wish->import, &needs.memoryTypeBits));
    if (!choose_type(vulkan, needs.memoryTypeBits, wish, &how.memoryTypeIndex))
        return SLRI_FAIL(UNSUPPORTED, "device '%s' has no memory of the kind that is needed", vulkan->base.name);
    SLRI_VK_TRY(vulkan, AllocateMemory, vulkan->device, &how, NULL, &chunk->memory);
    SLRI_VK_TRY(vulkan, BindBufferMemory, vulkan->device, chunk->buffer, chunk->memory, 0);
    return SLR_OK;
}

static slr_status fill_chunk(struct slri_vulkan *vulkan, const struct wish *wish, struct slri_vk_chunk *chunk)
{
    void *host = wish->import;
    SLRI_TRY(make_buffer(vulkan, wish->import != NULL, chunk));
    SLRI_TRY(allocate(vulkan, wish, chunk));
    if (wish->must & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT && !wish->import)
        SLRI_VK_TRY(vulkan, MapMemory, vulkan->device, chunk->memory, 0, VK_WHOLE_SIZE, 0, &host);
    chunk->host = host;
    const VkBufferDeviceAddressInfo of = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                          .buffer = chunk->buffer};
    chunk->address = vulkan->call.GetBufferDeviceAddress(vulkan->device, &of);
    return SLR_OK;
}

void slri_vk_chunk_free(void *device, const void *freed)
{
    struct slri_vulkan *vulkan = device;
    const struct slri_vk_chunk *chunk = freed;
    if (!chunk->buffer ||
        slri_hangs(&vulkan->base.loss)) // without one nothing was made, and perhaps no device is there
        return;
    vulkan->call.DestroyBuffer(vulkan->device, chunk->buffer, NULL);
    vulkan->call.FreeMemory(vulkan->device, chunk->memory, NULL);
}

static slr_status make_chunk(struct slri_vulkan *vulkan, const struct wish *wish, struct slri_vk_chunk *chunk)
{
    SLRI_TRY(slri_buffered_check_bytes(&vulkan->base, chunk->bytes, vulkan->facts.most_buffer_bytes));
    slr_status status = fill_chunk(vulkan, wish, chunk);
    if (status != SLR_OK) {
        slri_vk_chunk_free(vulkan, chunk);
        chunk->buffer = VK_NULL_HANDLE;
        chunk->memory = VK_NULL_HANDLE;
    }
    return status;
}

slr_status slri_vk_chunk_make_seen(struct slri_vulkan *vulkan, uint64_t bytes, bool is_read, struct slri_vk_chunk *out)
{
    const struct wish wish = {.must = SEEN, .wish = is_read ? CACHED : NEAR};
    *out = (struct slri_vk_chunk){.bytes = bytes};
    return make_chunk(vulkan, &wish, out);
}

// ---- kinds ---------------------------------------------------------------------------------------------------------

// The host reads a buffer that it sees, which takes long where it has no cache: without one it does not see the buffer.
static struct wish wish_of(const struct slri_vulkan *vulkan, enum slri_memory_kind kind)
{
    const struct wish pinned = {.must = SEEN, .wish = CACHED}, viewed = {.must = SEEN | CACHED, .wish = NEAR};
    uint32_t type;
    if (kind == SLRI_MEMORY_SEEN && choose_type(vulkan, UINT32_MAX, &viewed, &type))
        return viewed;
    return kind == SLRI_MEMORY_SEEN || kind == SLRI_MEMORY_DEVICE ? (struct wish){.must = NEAR} : pinned;
}

// Whole pages, as the driver asks for: those around the application's memory, too.
static slr_status find_pages(const struct slri_vulkan *vulkan, void *given, uint64_t bytes, struct wish *wish,
                             struct slri_vk_chunk *chunk)
{
    const uint64_t page = vulkan->facts.host.minImportedHostPointerAlignment;
    if (page == 0)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' cannot use memory that the application made: its driver lacks %s",
                         vulkan->base.name, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    const uint64_t lead = (uintptr_t)given % page;
    *chunk =
        (struct slri_vk_chunk){.key = (uintptr_t)given, .lead = lead, .bytes = (lead + bytes + page - 1) / page * page};
    *wish = (struct wish){.must = SEEN, .import = (unsigned char *)given - lead};
    return SLR_OK;
}

static slr_status zero(struct slri_vulkan *vulkan, const struct slri_vk_chunk *chunk)
{
    if (!chunk->host)
        return slri_vk_zero_at_once(vulkan, chunk);
    memset(chunk->host, 0, chunk->bytes);
    return SLR_OK;
}

slr_status slri_vk_memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory)
{
    struct slri_vulkan *vulkan = device;
    struct slri_places *places = slri_buffered_places(&vulkan->base, kind);
    struct slri_vk_chunk chunk = {.bytes = (bytes + 3) / 4 * 4}; // it is zeroed by words, and a kernel may take it so
    struct wish wish = wish_of(vulkan, kind);
    if (kind == SLRI_MEMORY_GIVEN)
        SLRI_TRY(find_pages(vulkan, *memory, bytes, &wish, &chunk));
    SLRI_TRY(make_chunk(vulkan, &wish, &chunk));
    if (kind != SLRI_MEMORY_GIVEN) {
        chunk.key = places == &vulkan->base.seen ? (uintptr_t)chunk.host : chunk.address;
        slr_status status = zero(vulkan, &chunk);
        if (status != SLR_OK) {
            slri_vk_chunk_free(vulkan, &chunk);
            return status;
        }
    }
    if (places == &vulkan->base.seen)
        chunk.bytes = bytes; // by which it is found again
    SLRI_TRY(slri_buffered_keep(&vulkan->base, places, &chunk, 0, memory));
    if (kind == SLRI_MEMORY_SHARED)
        __atomic_fetch_add(&vulkan->stay.pieces, 1, __ATOMIC_RELAXED);
    return SLR_OK;
}

void slri_vk_memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes)
{
    struct slri_vulkan *vulkan = device;
    if (kind == SLRI_MEMORY_SHARED)
        __atomic_fetch_sub(&vulkan->stay.pieces, 1, __ATOMIC_RELAXED);
    slri_buffered_memory_destroy(device, kind, memory, bytes);
}
