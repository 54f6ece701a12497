// SPDX-License-Identifier: Apache-2.0
// The record of a buffer, kept.
#include "device/coherence.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/memory_map.h"
#include "base/status.h"
#include "device/away.h"
#include "device/store.h"
#include "device/stream.h"

// Nothing overlaps an empty range, wherever it is.
static bool overlap(struct slri_range a, struct slri_range b)
{
    uint64_t begin = a.begin > b.begin ? a.begin : b.begin, end = a.end < b.end ? a.end : b.end;
    return begin < end;
}

static struct slri_range range_of(const struct slri_buffer_use *use)
{
    uint64_t begin = use->buffer->offset + use->offset;
    return (struct slri_range){begin, begin + use->bytes};
}

// ---- what is in flight: under the lock -----------------------------------------------------------------------------

// What has failed is not over: who comes to it is to learn of it.
static bool is_over(const struct slri_flight *flight)
{
    const struct slri_queue *queue = flight->queue;
    return slri_queue_passed(queue, flight->value) && (queue->failed == SLR_OK || flight->value < queue->failed_value);
}

static void forget_what_is_over(slr_buffer *root)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < root->flights; ++i) {
        if (is_over(&root->flight[i]))
            slri_queue_forgo(root->flight[i].queue);
        else
            root->flight[kept++] = root->flight[i];
    }
    root->flights = kept;
}

static slr_status reserve_flight(slr_buffer *root, uint32_t more)
{
    if (root->flights + more <= root->flight_room)
        return SLR_OK;
    uint32_t room = 2 * (root->flights + more) + 2;
    struct slri_flight *flight = slri_alloc(root->device->allocator, room * sizeof *flight);
    if (!flight)
        return SLRI_FAIL(NO_MEMORY, "no memory for a buffer's record of %u submissions", room);
    if (root->flights != 0)
        memcpy(flight, root->flight, root->flights * sizeof *flight);
    slri_free(root->device->allocator, root->flight, root->flight_room * sizeof *flight);
    root->flight = flight;
    root->flight_room = room;
    return SLR_OK;
}

static bool conflict(const struct slri_flight *flight, struct slri_range range, bool writing)
{
    return (flight->writes || writing) && overlap(flight->range, range);
}

static void note_flight(slr_buffer *root, struct slri_queue *queue, uint64_t value, struct slri_range range,
                        bool writing)
{
    for (uint32_t i = 0; i < root->flights; ++i) { // the same again, as in a loop
        struct slri_flight *flight = &root->flight[i];
        if (flight->queue != queue || flight->range.begin != range.begin || flight->range.end != range.end)
            continue;
        flight->value = value;
        flight->writes = flight->writes || writing;
        return;
    }
    ++queue->awaited;
    root->flight[root->flights++] = (struct slri_flight){queue, value, range, writing};
}

// ---- submissions: under the lock -----------------------------------------------------------------------------------

static slr_status check_mappings(slr_buffer *root, struct slri_range range, bool writing)
{
    for (struct slri_mapping *m = root->mappings; m; m = m->next) {
        bool stands_against =
            !m->users && overlap(m->range, range) && (writing || m->access & (SLR_MAP_WRITE | SLR_MAP_DISCARD));
        if (stands_against && m->brief)
            return SLRI_BUSY;
        if (stands_against)
            return SLRI_FAIL(WRONG_STATE,
                             "bytes %llu to %llu of the buffer are mapped by the host: call slr_buffer_unmap first",
                             (unsigned long long)m->range.begin, (unsigned long long)m->range.end);
    }
    return SLR_OK;
}

static uint32_t count_missing(const slr_buffer *root, struct slri_range range, uint32_t place)
{
    struct slri_range run;
    uint32_t runs = 0;
    for (; slri_validity_missing(&root->validity, range, place, &run); range.begin = run.end)
        ++runs;
    return runs;
}

static uint32_t moves_of(const slr_buffer *root, const struct slri_buffer_use *use)
{
    if (!slri_buffer_is_lazy(root) || !root->host || use->how == SLRI_OVERWRITES)
        return 0;
    return count_missing(root, range_of(use), use->how == SLRI_TO_HOST ? SLRI_AT_HOST : SLRI_AT_DEVICE);
}

static bool is_writing(const struct slri_buffer_use *use)
{
    return (use->how & (SLRI_WRITES | SLRI_OVERWRITES)) != 0 || use->moves;
}

slr_status slri_use_check(struct slri_buffer_use *use, uint32_t uses, const struct slri_queue *queue, uint32_t *moves,
                          uint32_t *waits)
{
    slr_buffer *root = slri_buffer_root(use->buffer);
    struct slri_range range = range_of(use);
    uint32_t mine = moves_of(root, use);
    *moves += mine;
    use->moves = mine != 0;
    // What is moved to the device is only read here.
    SLRI_TRY(check_mappings(root, range, use->how == SLRI_READS ? false : is_writing(use)));
    forget_what_is_over(root);
    SLRI_TRY(reserve_flight(root, uses)); // all may be of this buffer; likewise below
    if (slri_buffer_is_lazy(root) && root->host)
        SLRI_TRY(slri_validity_reserve(&root->validity, root->device->allocator, *moves + uses));
    for (uint32_t i = 0; i < root->flights; ++i)
        *waits += root->flight[i].queue != queue && conflict(&root->flight[i], range, is_writing(use));
    return SLR_OK;
}

static struct slri_command move_command(slr_buffer *root, struct slri_range run, uint32_t place)
{
    bool in = place == SLRI_AT_DEVICE;
    uint64_t bytes = run.end - run.begin;
    if (in) {
        ++root->moved.uploads;
        root->moved.uploaded_bytes += bytes;
    } else {
        ++root->moved.downloads;
        root->moved.downloaded_bytes += bytes;
    }
    return (struct slri_command){.op = in ? SLRI_COPY_IN : SLRI_COPY_OUT,
                                 .is_pinned = root->locked != NULL,
                                 .copy = {slri_buffer_at(root, run.begin), root->host + run.begin, bytes}};
}

void slri_use_move(const struct slri_buffer_use *use, struct slri_command *command, uint32_t *commands)
{
    slr_buffer *root = slri_buffer_root(use->buffer);
    struct slri_range range = range_of(use), run;
    uint32_t place = use->how == SLRI_TO_HOST ? SLRI_AT_HOST : SLRI_AT_DEVICE;
    if (!use->moves)
        return;
    for (; slri_validity_missing(&root->validity, range, place, &run); range.begin = run.end) {
        command[(*commands)++] = move_command(root, run, place);
        slri_validity_moved(&root->validity, run, place);
    }
}

void slri_use_enter(const struct slri_buffer_use *use, struct slri_queue *queue, uint64_t value,
                    struct slri_after *wait, uint32_t *waits)
{
    slr_buffer *root = slri_buffer_root(use->buffer);
    struct slri_range range = range_of(use);
    bool writing = is_writing(use);
    for (uint32_t i = 0; i < root->flights; ++i)
        if (root->flight[i].queue != queue && conflict(&root->flight[i], range, writing))
            wait[(*waits)++] = (struct slri_after){root->flight[i].queue, root->flight[i].value};
    note_flight(root, queue, value, range, writing);
    bool writes_device = (use->how & (SLRI_WRITES | SLRI_OVERWRITES)) != 0;
    if (writes_device)
        slri_away_written(root, range);
    if (!writes_device || !slri_buffer_is_lazy(root))
        return;
    if (root->host)
        slri_validity_written(&root->validity, range, SLRI_AT_DEVICE);
    else
        root->written_without_view = true;
}

// ---- the host ------------------------------------------------------------------------------------------------------

// One look, under the lock: OK, and the mapping is entered; SLRI_BUSY, and `after` names what to wait for, if anything.
static slr_status try_enter(slr_buffer *root, struct slri_mapping *mapping, struct slri_after *after)
{
    bool writing = (mapping->access & (SLR_MAP_WRITE | SLR_MAP_DISCARD)) != 0;
    SLRI_TRY(check_mappings(root, mapping->range, writing));
    for (uint32_t i = 0; i < root->flights; ++i) {
        const struct slri_flight *flight = &root->flight[i];
        if (is_over(flight) || !conflict(flight, mapping->range, writing))
            continue;
        ++flight->queue->awaited;
        *after = (struct slri_after){flight->queue, flight->value};
        return SLRI_BUSY;
    }
    mapping->next = root->mappings;
    root->mappings = mapping;
    return SLR_OK;
}

slr_status slri_mapping_enter(slr_buffer *root, struct slri_mapping *mapping, uint64_t deadline_ns)
{
    for (;;) {
        struct slri_after after = {0};
        slri_queues_lock();
        slr_status status = try_enter(root, mapping, &after);
        slri_queues_unlock();
        if (status != SLRI_BUSY)
            return status;
        status = SLR_OK;
        if (after.queue) {
            status = slri_queue_wait(after.queue, after.value, deadline_ns);
            slri_queues_lock();
            slri_queue_forgo(after.queue);
            slri_queues_unlock();
        } else if (slri_passed(deadline_ns)) {
            status = SLRI_FAIL(TIMEOUT, "another thread copies into or out of the buffer");
        } else {
            slri_yield();
        }
        if (status != SLR_OK)
            return status;
    }
}

void slri_mapping_leave(slr_buffer *root, struct slri_mapping *mapping)
{
    slri_queues_lock();
    struct slri_mapping **at = &root->mappings;
    while (*at != mapping)
        at = &(*at)->next;
    *at = mapping->next;
    if (mapping->access & (SLR_MAP_WRITE | SLR_MAP_DISCARD))
        slri_away_written(root, mapping->range);
    slri_queues_unlock();
}

// Under the lock.
static slr_status check_seen(slr_buffer *root, struct slri_range range)
{
    slr_status status = check_mappings(root, range, false);
    if (status != SLRI_BUSY && status != SLR_OK)
        return status; // a copy of another thread is not ordered with this one
    for (uint32_t i = 0; i < root->flights; ++i)
        if (!is_over(&root->flight[i]) && conflict(&root->flight[i], range, false))
            return SLRI_FAIL(
                WRONG_STATE, "work in flight writes bytes %llu to %llu of the buffer: call slr_point_wait first",
                (unsigned long long)root->flight[i].range.begin, (unsigned long long)root->flight[i].range.end);
    return SLR_OK;
}

slr_status slri_range_check_seen(slr_buffer *buffer, uint64_t offset, uint64_t bytes)
{
    slr_buffer *root = slri_buffer_root(buffer);
    struct slri_range range = {buffer->offset + offset, buffer->offset + offset + bytes};
    if (slri_buffer_is_one(root))
        return SLR_OK;
    slri_queues_lock();
    slr_status status = check_seen(root, range);
    slri_queues_unlock();
    return status;
}

// Takes up `*view`, and sets it to NULL, where there is no view yet.
static slr_status take_view(slr_buffer *root, unsigned char **view)
{
    slri_queues_lock();
    slr_status status = slri_validity_reserve(&root->validity, root->device->allocator, 1);
    if (status == SLR_OK && !root->host) {
        // Both begin as zeros.
        if (root->written_without_view)
            slri_validity_written(&root->validity, (struct slri_range){0, root->validity.bytes}, SLRI_AT_DEVICE);
        root->host = *view;
        *view = NULL;
    }
    slri_queues_unlock();
    return status;
}

slr_status slri_host_view(slr_buffer *root)
{
    slri_queues_lock();
    bool there = root->host != NULL;
    slri_queues_unlock();
    if (there)
        return SLR_OK;
    unsigned char *view = slri_map_reserve(root->validity.bytes);
    if (!view)
        return SLRI_FAIL(NO_MEMORY, "no memory for the host's view of a buffer of %llu B",
                         (unsigned long long)root->validity.bytes);
    slr_status status = take_view(root, &view);
    slri_map_release(view, root->validity.bytes);
    return status;
}

slr_status slri_host_view_pinned(slr_buffer *root)
{
    slr_span span;
    SLRI_TRY(slri_store_take_host(root->device, root->validity.bytes, &span));
    unsigned char *view = span.memory;
    slr_status status = take_view(root, &view);
    if (status == SLR_OK)
        root->host_span = span;
    else
        slri_store_give_host(root->device, &span);
    return status;
}

// Moves the next run: true where there was one.
static slr_status move_next(slr_buffer *root, struct slri_range *range, uint32_t place, bool *moved)
{
    struct slri_command command;
    struct slri_range run;
    slri_queues_lock();
    *moved = slri_validity_missing(&root->validity, *range, place, &run);
    if (*moved)
        command = move_command(root, run, place);
    slri_queues_unlock();
    if (!*moved)
        return SLR_OK;
    SLRI_TRY(slri_device_run(root->device, &command, 1));
    range->begin = run.end;
    slri_queues_lock();
    slr_status status = slri_validity_reserve(&root->validity, root->device->allocator, 1);
    if (status == SLR_OK)
        slri_validity_moved(&root->validity, run, place);
    slri_queues_unlock();
    return status;
}

slr_status slri_range_move(slr_buffer *root, struct slri_range range, uint32_t place)
{
    // Two threads may have the range mapped for reading; each byte is moved by one of them.
    slri_mutex_lock(&root->move_lock);
    slr_status status = SLR_OK;
    for (bool moved = true; moved && status == SLR_OK;)
        status = move_next(root, &range, place, &moved);
    slri_mutex_unlock(&root->move_lock);
    return status;
}

slr_status slri_range_written(slr_buffer *root, struct slri_range range, uint32_t place)
{
    slr_status status = SLR_OK;
    slri_queues_lock();
    if (!root->host)
        root->written_without_view = true;
    else if ((status = slri_validity_reserve(&root->validity, root->device->allocator, 1)) == SLR_OK)
        slri_validity_written(&root->validity, range, place);
    slri_queues_unlock();
    return status;
}

void slri_coherence_free(slr_buffer *root)
{
    const slr_allocator *allocator = root->device->allocator;
    slri_queues_lock();
    for (uint32_t i = 0; i < root->flights; ++i) // all have passed: their submissions held the buffer
        slri_queue_forgo(root->flight[i].queue);
    slri_queues_unlock();
    slri_free(allocator, root->flight, root->flight_room * sizeof *root->flight);
    slri_validity_free(&root->validity, allocator);
    if (root->host_span.piece)
        slri_store_give_host(root->device, &root->host_span);
    else if (!root->imported)
        slri_map_release(root->host, root->validity.bytes);
    slri_mutex_destroy(&root->move_lock);
}
