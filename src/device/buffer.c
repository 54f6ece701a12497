// SPDX-License-Identifier: Apache-2.0
// Buffers: checked here, stored by the backend or the user. What the host and the device do with one: map.c, submit.c.
#include "base/alloc.h"
#include "base/memory_map.h"
#include "base/sized.h"
#include "base/status.h"
#include "device/coherence.h"
#include "device/given.h"
#include "device/away.h"
#include "device/store.h"
#include "device/stream.h"
#include "engine/observe.h"

#define LARGEST ((uint64_t)1 << 40)
#define ALIGNMENT 64u

// ---- what is asked for ---------------------------------------------------------------------------------------------

// The bytes that dtype and shape make; 0 where no shape is given.
static slr_status shape_bytes(const slr_buffer_desc *desc, uint64_t *out)
{
    *out = 0;
    if (desc->rank > SLR_BUFFER_MOST_DIMENSIONS)
        return SLRI_FAIL(INVALID, "a buffer of %u dimensions was asked for; expected up to %d", desc->rank,
                         SLR_BUFFER_MOST_DIMENSIONS);
    if (desc->dtype != 0 && slri_scalar_bytes(desc->dtype) == 0)
        return SLRI_FAIL(INVALID, "slr_buffer_desc.dtype is %d, which is not an slr_scalar", (int)desc->dtype);
    if (desc->rank == 0)
        return SLR_OK;
    if (desc->dtype == 0)
        return SLRI_FAIL(INVALID, "slr_buffer_desc has a shape but no dtype");
    uint64_t bytes = slri_scalar_bytes(desc->dtype);
    for (uint32_t i = 0; i < desc->rank; ++i) {
        if (desc->shape[i] == 0 || desc->shape[i] > LARGEST / bytes)
            return SLRI_FAIL(INVALID,
                             "dimension %u of the buffer is %llu; all dimensions together allow 1 to 2^40 bytes", i,
                             (unsigned long long)desc->shape[i]);
        bytes *= desc->shape[i];
    }
    *out = bytes;
    return SLR_OK;
}

static slr_status check_size(const slr_buffer_desc *desc, uint64_t *bytes)
{
    uint64_t shaped;
    SLRI_TRY(shape_bytes(desc, &shaped));
    *bytes = desc->bytes ? desc->bytes : shaped;
    if (*bytes == 0 || *bytes > LARGEST)
        return SLRI_FAIL(INVALID, "a buffer of %llu B was asked for; expected 1 to 2^40", (unsigned long long)*bytes);
    if (shaped != 0 && shaped != *bytes)
        return SLRI_FAIL(INVALID, "a buffer of %llu B was asked for, but its dtype and shape need %llu B",
                         (unsigned long long)*bytes, (unsigned long long)shaped);
    uint32_t element = slri_scalar_bytes(desc->dtype);
    if (element != 0 && *bytes % element != 0)
        return SLRI_FAIL(INVALID, "a buffer of %llu B was asked for, which is not a multiple of its element size, %u B",
                         (unsigned long long)*bytes, element);
    return SLR_OK;
}

static slr_status check_pinned(const slr_device *device, const slr_buffer_desc *desc)
{
    if (desc->pinned > 1)
        return SLRI_FAIL(INVALID, "slr_buffer_desc.pinned is %u; expected 0 or 1", desc->pinned);
    if (desc->pinned && desc->import && (device->facts.unified || !device->facts.has_pinned))
        return SLRI_FAIL(INVALID, "slr_buffer_desc: imported memory must be pinned by its owner");
    if (desc->pinned && device->facts.pinning == SLRI_PINNED_NEVER)
        return SLRI_FAIL(UNSUPPORTED, "device '%s': its memory pages move and cannot be pinned", device->backend->name);
    return SLR_OK;
}

static slr_status check_storage(const slr_device *device, const slr_buffer_desc *desc)
{
    const bool is_private = desc->storage == SLR_STORAGE_PRIVATE;
    if ((uint32_t)desc->storage > SLR_STORAGE_PRIVATE)
        return SLRI_FAIL(INVALID, "slr_buffer_desc.storage is %d; default, shared and private are 0 to 2",
                         (int)desc->storage);
    if (desc->storage == SLR_STORAGE_SHARED && !device->facts.unified)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' shares no memory with the host: a buffer cannot be shared",
                         device->backend->name);
    if (is_private && (desc->import || desc->pinned || desc->mode == SLR_BUFFER_UNIFIED))
        return SLRI_FAIL(INVALID, "slr_buffer_desc: a private buffer cannot be %s, for it has no side of the host's",
                         desc->import   ? "imported"
                         : desc->pinned ? "pinned"
                                        : "unified");
    return SLR_OK;
}

static slr_status check_desc(const slr_device *device, const slr_buffer_desc *desc, uint64_t *bytes)
{
    if ((uint32_t)desc->mode > SLR_BUFFER_UNIFIED)
        return SLRI_FAIL(INVALID, "slr_buffer_desc.mode is %d; automatic, explicit and unified are 1 to 3",
                         (int)desc->mode);
    if (desc->mode == SLR_BUFFER_UNIFIED && !device->facts.unified)
        return SLRI_FAIL(UNSUPPORTED,
                         "device '%s' has its own memory: a buffer must be automatic or explicit, not unified",
                         device->backend->name);
    if (desc->mode == SLR_BUFFER_UNIFIED && desc->import && !device->facts.imports)
        return SLRI_FAIL(
            UNSUPPORTED,
            "device '%s' cannot use imported memory directly, only a copy: the buffer must be automatic or explicit",
            device->backend->name);
    if ((uintptr_t)desc->import % ALIGNMENT != 0)
        return SLRI_FAIL(INVALID, "slr_buffer_desc.import is not aligned to %u bytes", ALIGNMENT);
    SLRI_TRY(check_pinned(device, desc));
    SLRI_TRY(check_storage(device, desc));
    return check_size(desc, bytes);
}

// ---- life ----------------------------------------------------------------------------------------------------------

// Whether its memory is of the device's private heap.
static bool is_of_private_heap(const slr_buffer *buffer)
{
    return buffer->storage == SLR_STORAGE_PRIVATE && buffer->device->private_heap;
}

// The memory: the user's own, where the device can use it as it is; else the device's.
static slr_status get_memory(slr_buffer *buffer, void *import, bool pinned, const char *file, uint32_t line)
{
    slr_device *device = buffer->device;
    buffer->imported = import != NULL;
    buffer->apart = (import && device->facts.unified && !device->facts.imports) || is_of_private_heap(buffer);
    if (import && slri_buffer_is_one(buffer)) {
        buffer->memory = import;
        return SLR_OK;
    }
    bool on_a_page = pinned && (device->facts.unified || !device->host_heap);
    SLRI_TRY(slri_store_take(device, is_of_private_heap(buffer), buffer->bytes, on_a_page ? slri_page_bytes() : 0, file,
                             line, &buffer->span));
    buffer->memory = buffer->span.memory;
    if (!import)
        return SLR_OK;
    buffer->host = import;
    slr_status status = slri_range_written(buffer, (struct slri_range){0, buffer->bytes}, SLRI_AT_HOST);
    if (status != SLR_OK)
        slri_store_give(device, false, &buffer->span);
    return status;
}

// By the operating system. No page has two buffers on it that are pinned, so that one may be unlocked.
static slr_status pin_by_system(slr_buffer *buffer)
{
    if (!buffer->device->facts.unified)
        SLRI_TRY(slri_host_view(buffer));
    return slri_memory_lock(buffer->device->facts.unified ? buffer->memory : buffer->host, buffer->bytes);
}

static slr_status pin_imported(slr_buffer *buffer)
{
    const slr_device *device = buffer->device;
    void *memory = buffer->host;
    return slri_queue_device_memory(&device->queues, SLRI_MEMORY_GIVEN, buffer->bytes, &memory);
}

// The host's side of it.
static slr_status pin(slr_buffer *buffer)
{
    slr_device *device = buffer->device;
    slr_status status = SLR_OK;
    if (buffer->imported)
        status = pin_imported(buffer);
    else if (!device->facts.unified && device->host_heap)
        status = slri_host_view_pinned(buffer);
    else if (device->facts.pinning == SLRI_PINNED_BY_SYSTEM)
        status = pin_by_system(buffer);
    if (status == SLR_OK)
        buffer->locked = device->facts.unified ? buffer->memory : buffer->host;
    return status;
}

static void unpin(slr_buffer *buffer)
{
    slr_device *device = buffer->device;
    if (buffer->locked && buffer->imported)
        device->backend->memory_destroy(device->self, SLRI_MEMORY_GIVEN, buffer->locked, buffer->bytes);
    else if (!buffer->host_span.piece && device->facts.pinning == SLRI_PINNED_BY_SYSTEM)
        slri_memory_unlock(buffer->locked, buffer->bytes);
}

static void describe_buffer(slr_buffer *buffer, const slr_buffer_desc *desc)
{
    buffer->mode = desc->mode ? desc->mode : SLR_BUFFER_AUTOMATIC;
    buffer->storage = desc->storage;
    buffer->dtype = desc->dtype;
    buffer->rank = desc->rank;
    memcpy(buffer->shape, desc->shape, desc->rank * sizeof *desc->shape);
    buffer->release = desc->release;
    buffer->user = desc->user;
}

// `file` and `line`: who asks, for the device's watcher.
static slr_status create(slr_device *device, const slr_buffer_desc *desc, const char *file, uint32_t line,
                         slr_buffer **out)
{
    uint64_t bytes;
    SLRI_TRY(check_desc(device, desc, &bytes));
    slr_buffer *buffer = slri_alloc(device->allocator, sizeof *buffer);
    if (!buffer)
        return SLRI_FAIL(NO_MEMORY, "no memory for a buffer");
    buffer->device = device;
    buffer->bytes = buffer->validity.bytes = bytes;
    buffer->holds = 1;
    describe_buffer(buffer, desc);
    slr_status status = get_memory(buffer, desc->import, desc->pinned != 0, file, line);
    if (status != SLR_OK) {
        slri_free(device->allocator, buffer, sizeof *buffer);
        return status;
    }
    slri_mutex_init(&buffer->move_lock);
    slri_device_hold(device);
    status = desc->pinned ? pin(buffer) : SLR_OK;
    if (status == SLR_OK) {
        *out = buffer;
        return SLR_OK;
    }
    buffer->release = NULL; // there was no buffer
    slri_buffer_release(buffer);
    return status;
}

slr_status slr_buffer_create_with(slr_device *device, const slr_buffer_desc *desc, slr_buffer **out)
{
    SLRI_OBSERVE_SITE(false);
    if (!device || !desc || !out)
        return SLRI_FAIL(INVALID, "slr_buffer_create_with: %s is NULL", !device ? "device" : !desc ? "desc" : "out");
    slr_buffer_desc whole;
    SLRI_TRY(SLRI_TAKE_DESC(slr_buffer_desc, &whole, desc));
    SLRI_TRY(slri_device_check_process(device));
    return create(device, &whole, NULL, 0, out);
}

slr_status slri_buffer_check_elements(const slr_buffer *buffer, slr_scalar scalar, const char *what, const char *name,
                                      const char *parameter)
{
    static const char *const names[] = {
        [SLR_BOOL] = "bool", [SLR_I8] = "i8",   [SLR_U8] = "u8",    [SLR_I16] = "i16", [SLR_U16] = "u16",
        [SLR_I32] = "i32",   [SLR_U32] = "u32", [SLR_I64] = "i64",  [SLR_U64] = "u64", [SLR_F32] = "f32",
        [SLR_F64] = "f64",   [SLR_F16] = "f16", [SLR_BF16] = "bf16"};
    bool differ = (buffer->dtype >= SLR_F32) != (scalar >= SLR_F32) ||
                  slri_scalar_bytes(buffer->dtype) != slri_scalar_bytes(scalar);
    if (buffer->dtype == 0 || scalar == 0 || !differ)
        return SLR_OK;
    return SLRI_FAIL(INVALID, "%s '%s': the elements of parameter '%s' are %s, and the buffer's dtype is %s", what,
                     name, parameter, names[scalar], names[buffer->dtype]);
}

uint32_t slri_scalar_bytes(slr_scalar scalar)
{
    static const uint8_t bytes[] = {
        [SLR_BOOL] = 1, [SLR_I8] = 1,  [SLR_U8] = 1,  [SLR_I16] = 2, [SLR_U16] = 2, [SLR_I32] = 4, [SLR_U32] = 4,
        [SLR_I64] = 8,  [SLR_U64] = 8, [SLR_F32] = 4, [SLR_F64] = 8, [SLR_F16] = 2, [SLR_BF16] = 2};
    return (uint32_t)scalar < sizeof bytes ? bytes[scalar] : 0;
}

slr_status slr_buffer_create_at(slr_device *device, uint64_t bytes, const char *file, uint32_t line, slr_buffer **out)
{
    SLRI_OBSERVE_SITE(false);
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_buffer_create: %s is NULL", device ? "out" : "device");
    SLRI_TRY(slri_device_check_process(device));
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    desc.bytes = bytes;
    return create(device, &desc, file, line, out);
}

slr_status(slr_buffer_create)(slr_device *device, uint64_t bytes, slr_buffer **out)
{
    return slr_buffer_create_at(device, bytes, NULL, 0, out);
}

slr_status slr_buffer_slice(slr_buffer *buffer, uint64_t offset, uint64_t bytes, slr_buffer **out)
{
    if (!out)
        return SLRI_FAIL(INVALID, "slr_buffer_slice: out is NULL");
    SLRI_TRY(slri_buffer_check_range(buffer, offset, bytes, "slr_buffer_slice"));
    if (bytes == 0 || offset % ALIGNMENT != 0)
        return SLRI_FAIL(INVALID,
                         "slr_buffer_slice: %llu bytes from %llu; expected at least 1 byte at a multiple of %u",
                         (unsigned long long)bytes, (unsigned long long)offset, ALIGNMENT);
    return slri_buffer_part(buffer, offset, bytes, out);
}

slr_status slri_buffer_part(slr_buffer *buffer, uint64_t offset, uint64_t bytes, slr_buffer **out)
{
    slr_buffer *slice = slri_alloc(buffer->device->allocator, sizeof *slice);
    if (!slice)
        return SLRI_FAIL(NO_MEMORY, "no memory for a slice of a buffer");
    slice->device = buffer->device;
    slice->parent = slri_buffer_root(buffer);
    slice->offset = buffer->offset + offset;
    slice->bytes = bytes;
    slice->memory = slri_buffer_at(buffer, offset);
    slice->holds = 1;
    slice->dtype = bytes % (buffer->dtype ? slri_scalar_bytes(buffer->dtype) : 1) == 0 ? buffer->dtype : 0;
    slri_buffer_hold(slice->parent);
    slri_device_hold(slice->device);
    *out = slice;
    return SLR_OK;
}

void slri_buffer_hold(slr_buffer *buffer)
{
    slri_hold(&buffer->holds);
}

static void free_root(slr_buffer *buffer)
{
    slr_device *device = buffer->device;
    unpin(buffer);
    slri_coherence_free(buffer);
    if (!(buffer->imported && slri_buffer_is_one(buffer)))
        slri_store_give(device, is_of_private_heap(buffer), &buffer->span);
    if (buffer->release)
        buffer->release(buffer->user);
}

void slri_buffer_release(slr_buffer *buffer)
{
    if (!slri_let_go(&buffer->holds))
        return;
    if (buffer->away)
        slri_away_drop_of(buffer);
    if (buffer->pool && slri_store_keep(buffer))
        return;
    slr_device *device = buffer->device;
    slr_buffer *parent = buffer->parent;
    if (buffer->given)
        slri_given_forget(buffer);
    if (!parent)
        free_root(buffer);
    slri_free(device->allocator, buffer, sizeof *buffer);
    if (parent)
        slri_buffer_release(parent);
    slri_device_release(device);
}

void slr_buffer_destroy(slr_buffer *buffer)
{
    if (buffer && !slri_device_is_anothers(buffer->device))
        slri_buffer_release(buffer);
}

// ---- questions -----------------------------------------------------------------------------------------------------

slr_status slri_buffer_check_range(const slr_buffer *buffer, uint64_t offset, uint64_t bytes, const char *call)
{
    if (!buffer)
        return SLRI_FAIL(INVALID, "%s: buffer is NULL", call);
    // Before any lock: a thread of the parent may have held one when it forked.
    SLRI_TRY(slri_device_check_process(buffer->device));
    if (offset > buffer->bytes || bytes > buffer->bytes - offset)
        return SLRI_FAIL(INVALID, "%s: %llu bytes from byte %llu on were asked for, the buffer has %llu", call,
                         (unsigned long long)bytes, (unsigned long long)offset, (unsigned long long)buffer->bytes);
    return SLR_OK;
}

slr_status slri_buffer_check_side(const slr_buffer *root, const char *call)
{
    return root->storage != SLR_STORAGE_PRIVATE
               ? SLR_OK
               : SLRI_FAIL(WRONG_STATE, "%s: the buffer is private: slr_buffer_write and slr_buffer_read copy", call);
}

uint64_t slr_buffer_size(const slr_buffer *buffer)
{
    return buffer ? buffer->bytes : 0;
}

slr_status slr_buffer_get_info_sized(const slr_buffer *buffer, slr_buffer_info *out, size_t bytes)
{
    if (!buffer || !out)
        return SLRI_FAIL(INVALID, "slr_buffer_get_info: %s is NULL", buffer ? "out" : "buffer");
    SLRI_TRY(slri_device_check_process(buffer->device));
    const slr_buffer *root = buffer->parent ? buffer->parent : buffer;
    slr_buffer_info whole = {.mode = root->mode,
                             .unified = slri_buffer_is_one(root),
                             .bytes = buffer->bytes,
                             .dtype = buffer->dtype,
                             .rank = buffer->rank,
                             .pinned = root->locked != NULL,
                             .storage = root->storage};
    memcpy(whole.shape, buffer->shape, sizeof whole.shape);
    slri_queues_lock();
    whole.uploads = root->moved.uploads;
    whole.uploaded_bytes = root->moved.uploaded_bytes;
    whole.downloads = root->moved.downloads;
    whole.downloaded_bytes = root->moved.downloaded_bytes;
    slri_queues_unlock();
    return SLRI_GIVE_REPORT(slr_buffer_info, out, bytes, &whole);
}

slr_status(slr_buffer_get_info)(const slr_buffer *buffer, slr_buffer_info *out)
{
    return slr_buffer_get_info_sized(buffer, out, SLRI_FIRST_slr_buffer_info);
}
