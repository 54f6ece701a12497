// SPDX-License-Identifier: Apache-2.0
// What the host does with a buffer: maps, copies in and out, explicit moves; and buffers that ring kernels are bound
// to.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "device/coherence.h"
#include "device/stream.h"
#include "engine/observe.h"

// Whether the host's view is what counts between two submissions.
static bool through_view(const slr_buffer *root)
{
    return slri_buffer_is_lazy(root) && root->host && root->bound == 0;
}

// Two memories, and the user moves between them: then the host's view is his, and nothing stands against it.
static bool is_users(const slr_buffer *root)
{
    return root->mode == SLR_BUFFER_EXPLICIT && !slri_buffer_is_one(root);
}

static struct slri_range range_in_root(const slr_buffer *buffer, uint64_t offset, uint64_t bytes)
{
    return (struct slri_range){buffer->offset + offset, buffer->offset + offset + bytes};
}

static void count(slr_buffer *root, bool in, uint64_t bytes)
{
    if (slri_buffer_is_one(root))
        return;
    slri_queues_lock();
    *(in ? &root->moved.uploads : &root->moved.downloads) += 1;
    *(in ? &root->moved.uploaded_bytes : &root->moved.downloaded_bytes) += bytes;
    slri_queues_unlock();
}

static slr_status copy_straight(slr_buffer *root, struct slri_range range, void *host, bool in)
{
    uint64_t bytes = range.end - range.begin;
    struct slri_command command = {.op = in ? SLRI_COPY_IN : SLRI_COPY_OUT,
                                   .copy = {slri_buffer_at(root, range.begin), host, bytes}};
    SLRI_TRY(slri_device_run(root->device, &command, 1));
    count(root, in, bytes);
    return in && slri_buffer_is_lazy(root) ? slri_range_written(root, range, SLRI_AT_DEVICE) : SLR_OK;
}

static slr_status copy_view(slr_buffer *root, struct slri_range range, void *host, bool in)
{
    unsigned char *view = root->host + range.begin;
    if (in) {
        memcpy(view, host, range.end - range.begin);
        return slri_range_written(root, range, SLRI_AT_HOST);
    }
    SLRI_TRY(slri_range_move(root, range, SLRI_AT_HOST));
    memcpy(host, view, range.end - range.begin);
    return SLR_OK;
}

static slr_status copy(slr_buffer *buffer, uint64_t offset, void *host, uint64_t bytes, bool in, const char *call)
{
    SLRI_TRY(slri_buffer_check_range(buffer, offset, bytes, call));
    if (!host && bytes != 0)
        return SLRI_FAIL(INVALID, "%s: the host's memory is NULL", call);
    if (bytes == 0)
        return SLR_OK;
    slr_buffer *root = slri_buffer_root(buffer);
    struct slri_mapping mapping = {
        .range = range_in_root(buffer, offset, bytes), .access = in ? SLR_MAP_DISCARD : SLR_MAP_READ, .brief = true};
    SLRI_TRY(slri_mapping_enter(root, &mapping, SLRI_FOREVER));
    slri_queues_lock();
    bool view = through_view(root);
    slri_queues_unlock();
    slr_status status = view ? copy_view(root, mapping.range, host, in) : copy_straight(root, mapping.range, host, in);
    slri_mapping_leave(root, &mapping);
    return status;
}

slr_status slr_buffer_write(slr_buffer *buffer, uint64_t offset, const void *from, uint64_t bytes)
{
    SLRI_OBSERVE_SITE(false);
    return copy(buffer, offset, (void *)from, bytes, true, "slr_buffer_write");
}

slr_status slr_buffer_read(slr_buffer *buffer, uint64_t offset, void *to, uint64_t bytes)
{
    SLRI_OBSERVE_SITE(false);
    return copy(buffer, offset, to, bytes, false, "slr_buffer_read");
}

// ---- maps ----------------------------------------------------------------------------------------------------------

static void *host_address(const slr_buffer *root, struct slri_range range)
{
    return (slri_buffer_is_one(root) ? (unsigned char *)root->memory : root->host) + range.begin;
}

// Makes the bytes of an entered range right for the access.
static slr_status fetch(slr_buffer *root, struct slri_mapping *mapping)
{
    if (!slri_buffer_is_one(root))
        SLRI_TRY(slri_host_view(root));
    slri_queues_lock();
    bool bound = root->bound != 0;
    slri_queues_unlock();
    if (!slri_buffer_is_lazy(root) || mapping->access & SLR_MAP_DISCARD)
        return SLR_OK;
    if (bound) // a handler may have written since
        SLRI_TRY(slri_range_written(root, mapping->range, SLRI_AT_DEVICE));
    return slri_range_move(root, mapping->range, SLRI_AT_HOST);
}

// In a user's view nothing stands against a mapping: it is only kept to be found again.
static slr_status enter_map(slr_buffer *root, struct slri_mapping *mapping, uint64_t deadline_ns)
{
    if (!is_users(root))
        return slri_mapping_enter(root, mapping, deadline_ns);
    mapping->users = true;
    slri_queues_lock();
    mapping->next = root->mappings;
    root->mappings = mapping;
    slri_queues_unlock();
    return SLR_OK;
}

// From here on any thread may unmap it.
static void offer(struct slri_mapping *mapping, void *at)
{
    slri_queues_lock();
    mapping->at = at;
    slri_queues_unlock();
}

slr_status slr_buffer_map(slr_buffer *buffer, uint64_t offset, uint64_t bytes, uint32_t access, uint64_t timeout_ns,
                          void **out)
{
    SLRI_OBSERVE_SITE(false);
    SLRI_TRY(slri_buffer_check_range(buffer, offset, bytes, "slr_buffer_map"));
    if (!out || bytes == 0)
        return SLRI_FAIL(INVALID, "slr_buffer_map: %s", out ? "no bytes were asked for" : "out is NULL");
    SLRI_TRY(slri_buffer_check_side(slri_buffer_root(buffer), "slr_buffer_map"));
    if (access == 0 || access > (SLR_MAP_READ | SLR_MAP_WRITE | SLR_MAP_DISCARD) ||
        (access & SLR_MAP_READ && access & SLR_MAP_DISCARD))
        return SLRI_FAIL(INVALID, "slr_buffer_map: access %u; expected SLR_MAP_READ, _WRITE, both, or _DISCARD",
                         access);
    slr_buffer *root = slri_buffer_root(buffer);
    const slr_allocator *allocator = root->device->allocator;
    struct slri_mapping *mapping = slri_alloc(allocator, sizeof *mapping);
    if (!mapping)
        return SLRI_FAIL(NO_MEMORY, "no memory for a mapping");
    mapping->range = range_in_root(buffer, offset, bytes);
    mapping->access = access;
    slr_status status = enter_map(root, mapping, slri_deadline_after(timeout_ns));
    if (status == SLR_OK) {
        status = fetch(root, mapping);
        if (status == SLR_OK) {
            *out = host_address(root, mapping->range);
            offer(mapping, *out);
            return SLR_OK;
        }
        slri_mapping_leave(root, mapping);
    }
    slri_free(allocator, mapping, sizeof *mapping);
    return status;
}

// Takes a mapping that begins there, so that no other thread ends it too. Of several, which all only read, the
// shortest: those that are left keep at least what their owners may still read.
static struct slri_mapping *take_map(slr_buffer *root, const void *mapped)
{
    struct slri_mapping *shortest = NULL;
    slri_queues_lock();
    for (struct slri_mapping *m = root->mappings; m && mapped; m = m->next)
        if (m->at == mapped && (!shortest || m->range.end < shortest->range.end))
            shortest = m;
    if (shortest)
        shortest->at = NULL;
    slri_queues_unlock();
    return shortest;
}

// What was written is valid on the host; where a ring kernel is bound, the device must have it now.
static slr_status publish(slr_buffer *root, const struct slri_mapping *mapping)
{
    if (!slri_buffer_is_lazy(root) || !(mapping->access & (SLR_MAP_WRITE | SLR_MAP_DISCARD)))
        return SLR_OK;
    slri_queues_lock();
    bool bound = root->bound != 0;
    slri_queues_unlock();
    return bound ? copy_straight(root, mapping->range, host_address(root, mapping->range), true)
                 : slri_range_written(root, mapping->range, SLRI_AT_HOST);
}

slr_status slr_buffer_unmap(slr_buffer *buffer, void *mapped)
{
    SLRI_OBSERVE_SITE(false);
    if (!buffer)
        return SLRI_FAIL(INVALID, "slr_buffer_unmap: buffer is NULL");
    SLRI_TRY(slri_device_check_process(buffer->device));
    slr_buffer *root = slri_buffer_root(buffer);
    struct slri_mapping *mapping = take_map(root, mapped);
    if (!mapping)
        return SLRI_FAIL(INVALID, "slr_buffer_unmap: %p is not the start of a mapping of this buffer", mapped);
    slr_status status = publish(root, mapping);
    if (status != SLR_OK) { // it stays mapped
        offer(mapping, mapped);
        return status;
    }
    slri_mapping_leave(root, mapping);
    slri_free(root->device->allocator, mapping, sizeof *mapping);
    return SLR_OK;
}

// ---- explicit moves ------------------------------------------------------------------------------------------------

slr_status slr_buffer_sync(slr_buffer *buffer, uint64_t offset, uint64_t bytes, slr_place to, uint64_t timeout_ns)
{
    SLRI_OBSERVE_SITE(false);
    SLRI_TRY(slri_buffer_check_range(buffer, offset, bytes, "slr_buffer_sync"));
    slr_buffer *root = slri_buffer_root(buffer);
    if (to != SLR_AT_HOST && to != SLR_AT_DEVICE)
        return SLRI_FAIL(INVALID, "slr_buffer_sync: place %d; expected SLR_AT_HOST or SLR_AT_DEVICE", (int)to);
    SLRI_TRY(slri_buffer_check_side(root, "slr_buffer_sync"));
    if (root->mode != SLR_BUFFER_EXPLICIT)
        return SLRI_FAIL(WRONG_STATE, "slr_buffer_sync: the buffer is not explicit; slr_stream_prefetch moves ahead");
    if (bytes == 0 || slri_buffer_is_one(root))
        return SLR_OK;
    SLRI_TRY(slri_host_view(root));
    struct slri_mapping mapping = {.range = range_in_root(buffer, offset, bytes),
                                   .access = to == SLR_AT_DEVICE ? SLR_MAP_DISCARD : SLR_MAP_READ,
                                   .brief = true};
    SLRI_TRY(slri_mapping_enter(root, &mapping, slri_deadline_after(timeout_ns)));
    slr_status status = copy_straight(root, mapping.range, root->host + mapping.range.begin, to == SLR_AT_DEVICE);
    slri_mapping_leave(root, &mapping);
    return status;
}

// ---- ring kernels --------------------------------------------------------------------------------------------------

slr_status slri_buffer_bind(slr_buffer *buffer)
{
    slr_buffer *root = slri_buffer_root(buffer);
    struct slri_mapping mapping = {.range = {0, root->bytes}, .access = SLR_MAP_WRITE, .brief = true};
    slr_status status = SLR_OK;
    if (slri_buffer_is_lazy(root)) {
        SLRI_TRY(slri_mapping_enter(root, &mapping, SLRI_FOREVER));
        status = slri_range_move(root, mapping.range, SLRI_AT_DEVICE); // nothing, where there is no view yet
    }
    slri_queues_lock();
    root->bound += status == SLR_OK;
    slri_queues_unlock();
    if (slri_buffer_is_lazy(root))
        slri_mapping_leave(root, &mapping);
    return status;
}

void slri_buffer_unbind(slr_buffer *buffer)
{
    slr_buffer *root = slri_buffer_root(buffer);
    slri_queues_lock();
    --root->bound;
    if (!root->host)
        root->written_without_view = true;
    else if (slri_buffer_is_lazy(root))
        slri_validity_all(&root->validity, SLRI_AT_DEVICE);
    slri_queues_unlock();
}
