// SPDX-License-Identifier: Apache-2.0
// Acquiring buffers from a pool, and what becomes of them when they are let go of.
#include "memory/pool.h"

#include "base/alloc.h"
#include "base/sized.h"
#include "base/status.h"
#include "engine/observe.h"
#include "memory/store.h"
#include "memory/heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_KEEP_BYTES ((uint64_t)256 << 20)
#define LARGEST ((uint64_t)1 << 40)

// ---- classes -------------------------------------------------------------------------------------------------------

struct size_class {
    unsigned index;
    uint64_t bytes; // of its buffers
};

static inline unsigned shift_of(uint64_t units)
{
    return 63 - (unsigned)__builtin_clzll(units | (uint64_t)1 << SLRI_POOL_CLASS_BITS) - SLRI_POOL_CLASS_BITS;
}

// The smallest class whose buffers have so many bytes.
static inline struct size_class class_that_fits(uint64_t bytes)
{
    uint64_t units = (bytes + 63) / 64;
    unsigned shift = shift_of(units);
    units = (units + ((uint64_t)1 << shift) - 1) >> shift << shift;
    shift = shift_of(units); // rounded up, it may be the next power of two
    return (struct size_class){(shift << SLRI_POOL_CLASS_BITS) + (unsigned)(units >> shift), units * 64};
}

uint64_t slri_pool_class_bytes(uint64_t bytes)
{
    return class_that_fits(bytes).bytes;
}

// ---- life ----------------------------------------------------------------------------------------------------------

// The pool's buffers are to be slices of this one.
static slr_status settle_within(slr_pool *pool, slr_buffer *within)
{
    if (within->device != pool->device)
        return SLRI_FAIL(INVALID, "pool '%s': slr_pool_desc.within is a buffer of another device", pool->name);
    pool->pieces = slri_alloc(pool->device->allocator, sizeof *pool->pieces);
    if (!pool->pieces)
        return SLRI_FAIL(NO_MEMORY, "no memory for a pool");
    slri_pieces_begin(pool->pieces, pool->device->allocator, false);
    pool->chunk = (struct slri_chunk){.memory = within->memory, .bytes = within->bytes / SLRI_UNIT * SLRI_UNIT};
    if (pool->chunk.bytes != 0 && !slri_pieces_add(pool->pieces, &pool->chunk))
        return SLRI_FAIL(NO_MEMORY, "no memory for a pool");
    slri_buffer_hold(within);
    pool->within = within;
    return SLR_OK;
}

// Of the pool itself.
static void dispose(slr_pool *pool)
{
    const slr_allocator *allocator = pool->device->allocator;
    if (pool->pieces)
        slri_pieces_end(pool->pieces);
    slri_free(allocator, pool->pieces, sizeof *pool->pieces);
    if (pool->within)
        slri_buffer_release(pool->within); // the device is held still
    slri_free(allocator, pool, sizeof *pool);
}

slr_status slri_pool_create(slr_device *device, const slr_pool_desc *desc, slr_pool **out)
{
    slr_pool_desc whole;
    SLRI_TRY(SLRI_TAKE_DESC(slr_pool_desc, &whole, desc));
    desc = &whole;
    slr_pool *pool = slri_alloc(device->allocator, sizeof *pool);
    if (!pool)
        return SLRI_FAIL(NO_MEMORY, "no memory for a pool");
    pool->device = device;
    pool->max_bytes = desc->max_bytes ? desc->max_bytes : UINT64_MAX;
    pool->keep_bytes = desc->keep_bytes ? desc->keep_bytes : DEFAULT_KEEP_BYTES;
    snprintf(pool->name, sizeof pool->name, "%s", desc->name ? desc->name : "pool");
    slr_status status = desc->within ? settle_within(pool, desc->within) : SLR_OK;
    if (status != SLR_OK) {
        dispose(pool);
        return status;
    }
    *out = pool;
    return SLR_OK;
}

void slri_pool_free(slr_pool *pool)
{
    slr_device *device = pool->device;
    bool is_devices = pool->is_devices;
    dispose(pool);
    if (!is_devices)
        slri_device_release(device);
}

slr_status slr_pool_create(slr_device *device, const slr_pool_desc *desc, slr_pool **out)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_pool_create: %s is NULL", device ? "out" : "device");
    SLRI_TRY(slri_device_check_process(device));
    SLRI_TRY(slri_pool_create(device, desc, out));
    slri_device_hold(device);
    return SLR_OK;
}

slr_status slr_device_get_pool(slr_device *device, slr_pool **out)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_device_get_pool: %s is NULL", device ? "out" : "device");
    *out = device->pool;
    return SLR_OK;
}

// ---- what waits ----------------------------------------------------------------------------------------------------

// Under the lock: the buffer is the pool's no more, and nobody uses it.
static void let_go(slr_pool *pool, slr_buffer *buffer)
{
    if (pool->within)
        slri_pieces_give(pool->pieces, buffer->span.piece);
    buffer->pool = NULL;
}

// Takes buffers that wait out of the pool, the largest first, until at most `keep_bytes` do; adds them to `gone`.
static void take_waiting(slr_pool *pool, uint64_t keep_bytes, slr_buffer **gone)
{
    for (unsigned class = SLRI_POOL_CLASSES; class -- > 0 && pool->kept_bytes > keep_bytes;) {
        while (pool->waiting[class] && pool->kept_bytes > keep_bytes) {
            slr_buffer *buffer = pool->waiting[class];
            pool->waiting[class] = buffer->next_waiting;
            pool->kept_bytes -= buffer->span.bytes;
            --pool->kept;
            let_go(pool, buffer);
            buffer->next_waiting = *gone;
            *gone = buffer;
        }
    }
}

// Without the lock.
static void release_all(slr_buffer *gone)
{
    while (gone) {
        slr_buffer *next = gone->next_waiting;
        slri_buffer_release(gone);
        gone = next;
    }
}

uint64_t slr_pool_trim(slr_pool *pool, uint64_t keep_bytes)
{
    if (!pool || slri_device_is_anothers(pool->device))
        return 0;
    slr_buffer *gone = NULL;
    slri_lock_take(&pool->lock);
    uint64_t before = pool->kept_bytes;
    take_waiting(pool, keep_bytes, &gone);
    uint64_t bytes = before - pool->kept_bytes;
    slri_lock_give(&pool->lock);
    release_all(gone);
    return bytes;
}

void slri_pool_close(slr_pool *pool)
{
    slri_lock_take(&pool->lock);
    pool->closed = true;
    slri_lock_give(&pool->lock);
    slr_pool_trim(pool, 0);
}

void slr_pool_destroy(slr_pool *pool)
{
    if (!pool || slri_device_is_anothers(pool->device))
        return;
    slr_buffer *gone = NULL;
    slri_lock_take(&pool->lock);
    pool->closed = true;
    take_waiting(pool, 0, &gone);
    bool last = pool->live == 0;
    slri_lock_give(&pool->lock);
    release_all(gone); // each holds the device, not the pool
    if (last)
        slri_pool_free(pool);
}

bool slri_pool_keep(slr_buffer *buffer)
{
    slr_pool *pool = buffer->pool;
    uint64_t bytes = buffer->span.bytes;
    slri_lock_take(&pool->lock);
    pool->live_bytes -= bytes;
    --pool->live;
    // One that is still mapped would be refused to its next user.
    bool keeps = !pool->closed && !buffer->mappings && pool->kept_bytes + bytes <= pool->keep_bytes;
    if (keeps) {
        buffer->holds = 1;
        buffer->next_waiting = pool->waiting[buffer->pool_class];
        pool->waiting[buffer->pool_class] = buffer;
        pool->kept_bytes += bytes;
        ++pool->kept;
    } else {
        let_go(pool, buffer);
    }
    bool last = pool->closed && pool->live == 0 && !pool->is_devices;
    slri_lock_give(&pool->lock);
    if (last)
        slri_pool_free(pool); // the buffer still holds the device
    return keeps;
}

// ---- acquiring -----------------------------------------------------------------------------------------------------

static slr_status refuse(slr_pool *pool, uint64_t bytes, const char *why)
{
    slr_pool_stats stats;
    slri_lock_take(&pool->lock);
    ++pool->refused;
    slri_lock_give(&pool->lock);
    slr_pool_get_stats(pool, &stats);
    char limit[48] = "no limit";
    if (stats.max_bytes != UINT64_MAX)
        snprintf(limit, sizeof limit, "a limit of %" PRIu64 " B", stats.max_bytes);
    return SLRI_FAIL(NO_MEMORY,
                     "pool '%s': a buffer of %" PRIu64 " B was asked for; %" PRIu64 " B are in use and %" PRIu64
                     " B free, with %s%s%s",
                     pool->name, bytes, stats.live_bytes, stats.kept_bytes, limit, *why ? ": " : "", why);
}

// Makes room under the limit, out of what waits, and counts a buffer as live that is about to be made.
static bool reserve(slr_pool *pool, uint64_t bytes)
{
    slr_buffer *gone = NULL;
    slri_lock_take(&pool->lock);
    uint64_t room = pool->max_bytes - pool->live_bytes;
    bool fits = bytes <= room;
    if (fits) {
        take_waiting(pool, room - bytes, &gone);
        ++pool->misses;
        ++pool->live;
        pool->live_bytes += bytes;
    }
    slri_lock_give(&pool->lock);
    release_all(gone);
    return fits;
}

static void unreserve(slr_pool *pool, uint64_t bytes)
{
    slri_lock_take(&pool->lock);
    --pool->misses;
    --pool->live;
    pool->live_bytes -= bytes;
    slri_lock_give(&pool->lock);
}

// A slice of the buffer that the pool is in.
static slr_status cut(slr_pool *pool, uint64_t bytes, slr_buffer **out)
{
    uint64_t stale;
    slri_lock_take(&pool->lock);
    struct slri_piece *piece = slri_pieces_take(pool->pieces, bytes, SLRI_UNIT, &stale);
    slri_lock_give(&pool->lock);
    if (!piece)
        return SLRI_FAIL(NO_MEMORY, "the buffer that it is in, of %" PRIu64 " B, has no such piece free",
                         pool->within->bytes);
    slr_status status = slr_buffer_slice(pool->within, piece->offset, bytes, out);
    if (status == SLR_OK) {
        (*out)->span = (slr_span){.memory = (*out)->memory, .bytes = bytes, .offset = piece->offset, .piece = piece};
        return SLR_OK;
    }
    slri_lock_take(&pool->lock);
    slri_pieces_give(pool->pieces, piece);
    slri_lock_give(&pool->lock);
    return status;
}

static slr_status fetch(slr_pool *pool, uint64_t bytes, const char *file, uint32_t line, slr_buffer **out)
{
    return pool->within ? cut(pool, bytes, out) : slr_buffer_create_at(pool->device, bytes, file, line, out);
}

static slr_status make(slr_pool *pool, struct size_class class, const char *file, uint32_t line, slr_buffer **out)
{
    if (!reserve(pool, class.bytes))
        return refuse(pool, class.bytes, "");
    slr_status status = fetch(pool, class.bytes, file, line, out);
    if (status == SLR_NO_MEMORY && slr_pool_trim(pool, 0) > 0)
        status = fetch(pool, class.bytes, file, line, out);
    if (status != SLR_OK) {
        unreserve(pool, class.bytes);
        return status == SLR_NO_MEMORY ? refuse(pool, class.bytes, slr_error_message()) : status;
    }
    (*out)->pool = pool;
    (*out)->pool_class = class.index;
    slri_lock_take(&pool->lock);
    if (pool->live_bytes > pool->peak_bytes)
        pool->peak_bytes = pool->live_bytes;
    slri_lock_give(&pool->lock);
    return SLR_OK;
}

static inline slr_buffer *take_one(slr_pool *pool, struct size_class class)
{
    slri_lock_take(&pool->lock);
    slr_buffer *buffer = pool->waiting[class.index];
    if (buffer) {
        pool->waiting[class.index] = buffer->next_waiting;
        ++pool->hits;
        ++pool->live;
        --pool->kept;
        pool->kept_bytes -= class.bytes;
        pool->live_bytes += class.bytes;
        if (pool->live_bytes > pool->peak_bytes)
            pool->peak_bytes = pool->live_bytes;
    }
    slri_lock_give(&pool->lock);
    return buffer;
}

static slr_status check(const slr_pool *pool, uint64_t count, slr_scalar scalar, slr_buffer *const *out,
                        uint64_t *bytes)
{
    if (!pool || !out)
        return SLRI_FAIL(INVALID, "slr_pool_acquire: %s is NULL", pool ? "out" : "pool");
    SLRI_TRY(slri_device_check_process(pool->device));
    uint64_t each = slri_scalar_bytes(scalar);
    if (each == 0)
        return SLRI_FAIL(INVALID, "pool '%s': %d is not an slr_scalar", pool->name, (int)scalar);
    if (count == 0 || count > LARGEST / each)
        return SLRI_FAIL(INVALID, "pool '%s': %" PRIu64 " scalars of %" PRIu64 " B; expected 1 to 2^40 B", pool->name,
                         count, each);
    *bytes = count * each;
    return SLR_OK;
}

// For its new user. What is valid where is as the last one left it.
static inline void set_up(slr_buffer *buffer, uint64_t count, slr_scalar scalar, uint64_t bytes)
{
    buffer->bytes = bytes;
    buffer->dtype = scalar;
    buffer->rank = 1;
    buffer->shape[0] = count;
    memset(&buffer->moved, 0, sizeof buffer->moved);
}

slr_status slr_pool_acquire_at(slr_pool *pool, uint64_t count, slr_scalar scalar, const char *file, uint32_t line,
                               slr_buffer **out)
{
    SLRI_OBSERVE_SITE(false);
    uint64_t bytes;
    SLRI_TRY(check(pool, count, scalar, out, &bytes));
    struct size_class class = class_that_fits(bytes);
    slr_buffer *buffer = take_one(pool, class);
    if (__builtin_expect(!buffer, 0))
        SLRI_TRY(make(pool, class, file, line, &buffer));
    else if (!pool->within && slri_heap_is_watched(pool->device->heap))
        slri_heap_note(pool->device->heap, &buffer->span, file, line);
    set_up(buffer, count, scalar, bytes);
    *out = buffer;
    return SLR_OK;
}

slr_status(slr_pool_acquire)(slr_pool *pool, uint64_t count, slr_scalar scalar, slr_buffer **out)
{
    return slr_pool_acquire_at(pool, count, scalar, NULL, 0, out);
}

slr_status slr_pool_get_stats_sized(slr_pool *pool, slr_pool_stats *out, size_t bytes)
{
    if (!pool || !out)
        return SLRI_FAIL(INVALID, "slr_pool_get_stats: %s is NULL", pool ? "out" : "pool");
    SLRI_TRY(slri_device_check_process(pool->device));
    slri_lock_take(&pool->lock);
    slr_pool_stats whole = {.max_bytes = pool->max_bytes,
                            .live_bytes = pool->live_bytes,
                            .live = pool->live,
                            .peak_bytes = pool->peak_bytes,
                            .kept_bytes = pool->kept_bytes,
                            .kept = pool->kept,
                            .hits = pool->hits,
                            .misses = pool->misses,
                            .refused = pool->refused};
    slri_lock_give(&pool->lock);
    if (whole.hits + whole.misses > 0)
        whole.hit_rate = (double)whole.hits / (double)(whole.hits + whole.misses);
    return SLRI_GIVE_REPORT(slr_pool_stats, out, bytes, &whole);
}

slr_status(slr_pool_get_stats)(slr_pool *pool, slr_pool_stats *out)
{
    return slr_pool_get_stats_sized(pool, out, SLRI_FIRST_slr_pool_stats);
}
