// SPDX-License-Identifier: Apache-2.0
// Taking and giving spans: the lock, the chunks, the limit.
#include "memory/heap.h"

#include "base/alloc.h"
#include "base/sized.h"
#include "base/status.h"
#include "device/device.h"
#include "memory/behind.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_CHUNK_BYTES ((uint64_t)64 << 20)
#define LARGEST_SPAN ((uint64_t)1 << 40)
#define LARGEST_ALIGNMENT ((uint64_t)1 << 30)

// ---- life ----------------------------------------------------------------------------------------------------------

static slr_status check_desc(const slr_heap_desc *desc)
{
    if (desc->keep_apart > 1)
        return SLRI_FAIL(INVALID, "slr_heap_desc.keep_apart is %u; expected 0 or 1", desc->keep_apart);
    if (desc->max_bytes % SLRI_UNIT != 0)
        return SLRI_FAIL(INVALID, "slr_heap_desc.max_bytes is %" PRIu64 "; expected a multiple of 64", desc->max_bytes);
    if (desc->chunk_bytes != 0 && (desc->chunk_bytes < SLRI_UNIT || desc->chunk_bytes > LARGEST_SPAN))
        return SLRI_FAIL(INVALID, "slr_heap_desc.chunk_bytes is %" PRIu64 "; expected 64 to 2^40", desc->chunk_bytes);
    return SLR_OK;
}

slr_status slri_heap_create(const struct slri_heap_source *source, const slr_allocator *allocator,
                            const slr_heap_desc *desc, slr_heap **out)
{
    slr_heap_desc whole;
    SLRI_TRY(SLRI_TAKE_DESC(slr_heap_desc, &whole, desc));
    desc = &whole;
    SLRI_TRY(check_desc(desc));
    slr_heap *heap = slri_alloc(allocator, sizeof *heap);
    if (!heap)
        return SLRI_FAIL(NO_MEMORY, "no memory for a heap");
    heap->holds = 1;
    heap->source = *source;
    heap->allocator = allocator;
    slri_pieces_begin(&heap->pieces, allocator, desc->keep_apart);
    heap->max_bytes = desc->max_bytes ? desc->max_bytes : UINT64_MAX;
    heap->chunk_bytes = desc->chunk_bytes ? desc->chunk_bytes / SLRI_UNIT * SLRI_UNIT : DEFAULT_CHUNK_BYTES;
    heap->keep_bytes = desc->keep_bytes ? desc->keep_bytes : heap->chunk_bytes;
    heap->on_memory = desc->on_memory;
    heap->memory_user = desc->memory_user;
    snprintf(heap->name, sizeof heap->name, "%s", desc->name ? desc->name : "heap");
    *out = heap;
    return SLR_OK;
}

// ---- chunks --------------------------------------------------------------------------------------------------------

static void drop_chunk(slr_heap *heap, struct slri_chunk *chunk)
{
    slri_pieces_remove(&heap->pieces, chunk);
    heap->source.destroy(heap->source.self, chunk->memory, chunk->bytes);
    heap->held_bytes -= chunk->bytes;
    --heap->chunks;
    if (chunk->empty)
        heap->empty_bytes -= chunk->bytes;
    slri_free(heap->allocator, chunk, sizeof *chunk);
}

static uint64_t drop_empty_chunks(slr_heap *heap)
{
    uint64_t before = heap->held_bytes;
    for (struct slri_chunk *chunk = heap->pieces.chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        if (chunk->empty)
            drop_chunk(heap, chunk);
    }
    return before - heap->held_bytes;
}

static slr_status make_chunk(slr_heap *heap, uint64_t bytes)
{
    struct slri_chunk *chunk = slri_alloc(heap->allocator, sizeof *chunk);
    if (!chunk)
        return SLRI_FAIL(NO_MEMORY, "no memory for a chunk's header");
    chunk->bytes = bytes;
    slr_status status = heap->source.create(heap->source.self, bytes, &chunk->memory);
    if (status == SLR_OK && !slri_pieces_add(&heap->pieces, chunk)) {
        heap->source.destroy(heap->source.self, chunk->memory, bytes);
        status = SLRI_FAIL(NO_MEMORY, "no memory for a chunk's pieces");
    }
    if (status != SLR_OK) {
        slri_free(heap->allocator, chunk, sizeof *chunk);
        return status;
    }
    chunk->empty = true;
    heap->empty_bytes += bytes;
    heap->held_bytes += bytes;
    ++heap->chunks;
    return SLR_OK;
}

// A chunk in which `bytes` can be aligned: one of the usual size where the limit and the device allow it. False: none;
// `why` is then what the device said, with a message, or OK: the limit alone is in the way.
static bool grow(slr_heap *heap, uint64_t bytes, uint64_t alignment, slr_status *why)
{
    uint64_t room = (heap->max_bytes - heap->held_bytes) / SLRI_UNIT * SLRI_UNIT;
    uint64_t least = bytes + alignment - SLRI_UNIT; // the chunk may begin anywhere
    if (least > room)
        least = room;
    if (least < bytes)
        return false;
    uint64_t usual = heap->chunk_bytes < room ? heap->chunk_bytes : room;
    if (usual > least && make_chunk(heap, usual) == SLR_OK)
        return true;
    *why = make_chunk(heap, least);
    return *why == SLR_OK;
}

// ---- taking --------------------------------------------------------------------------------------------------------

slr_status slri_heap_check_process(const slr_heap *heap)
{
    return heap->device ? slri_device_check_process(heap->device) : SLR_OK;
}

static slr_status check_take(const slr_heap *heap, uint64_t bytes, uint64_t alignment, const slr_span *out)
{
    if (!heap || !out)
        return SLRI_FAIL(INVALID, "slr_heap_take: %s is NULL", heap ? "out" : "heap");
    if (bytes == 0 || bytes > LARGEST_SPAN)
        return SLRI_FAIL(INVALID, "heap '%s': %" PRIu64 " B were asked for; expected 1 to 2^40", heap->name, bytes);
    if ((alignment & (alignment - 1)) != 0 || alignment > LARGEST_ALIGNMENT)
        return SLRI_FAIL(INVALID, "heap '%s': an alignment of %" PRIu64 "; expected a power of two up to 2^30",
                         heap->name, alignment);
    return slri_heap_check_process(heap);
}

// Unlocks. `asked`: why there is no further chunk, with the thread's message, or OK. A device that is lost is not one
// without memory: the caller is told so.
static slr_status refuse_heap(slr_heap *heap, uint64_t bytes, uint64_t alignment, const char *file, uint32_t line,
                              slr_status asked)
{
    slr_status status = asked == SLR_DEVICE_LOST ? SLR_DEVICE_LOST : SLR_NO_MEMORY;
    const char *why = asked != SLR_OK ? slr_error_message() : "";
    ++heap->refused;
    slr_memory_event event = slri_heap_event(heap, SLR_MEMORY_REFUSED, NULL, bytes, file, line);
    uint64_t largest = slri_pieces_largest(&heap->pieces), held = heap->held_bytes;
    uint64_t free_bytes = held - heap->live_bytes - heap->behind_bytes, max = heap->max_bytes;
    slri_lock_give(&heap->lock);
    slri_heap_tell(heap, &event);
    char limit[48] = "no limit";
    if (max != UINT64_MAX)
        snprintf(limit, sizeof limit, "a limit of %" PRIu64 " B", max);
    slri_fail(status,
              "heap '%s': %" PRIu64 " B at a multiple of %" PRIu64 " were asked for; %" PRIu64
              " B are free, the longest piece has %" PRIu64 " B; it holds %" PRIu64 " B of its device, with %s%s%s",
              heap->name, bytes, alignment, free_bytes, largest, held, limit, *why ? ": " : "", why);
    return status;
}

static struct slri_piece *take_piece(slr_heap *heap, uint64_t bytes, uint64_t alignment, uint64_t *stale,
                                     slr_status *asked)
{
    *asked = SLR_OK;
    struct slri_piece *piece = slri_pieces_take(&heap->pieces, bytes, alignment, stale);
    if (__builtin_expect(piece != NULL, 1))
        return piece;
    if (heap->behind && slri_heap_reap(heap)) {
        piece = slri_pieces_take(&heap->pieces, bytes, alignment, stale);
        if (piece)
            return piece;
    }
    if (grow(heap, bytes, alignment, asked) || (drop_empty_chunks(heap) > 0 && grow(heap, bytes, alignment, asked))) {
        *asked = SLR_OK;
        piece = slri_pieces_take(&heap->pieces, bytes, alignment, stale);
    }
    return piece;
}

static void account_taken(slr_heap *heap, struct slri_chunk *chunk, uint64_t bytes)
{
    if (chunk->empty) {
        chunk->empty = false;
        heap->empty_bytes -= chunk->bytes;
    }
    ++heap->taken;
    heap->live_bytes += bytes;
    if (heap->live_bytes > heap->peak_bytes)
        heap->peak_bytes = heap->live_bytes;
}

static void describe(struct slri_piece *piece, uint64_t stale, slr_span *out)
{
    char *memory = piece->chunk->memory;
    out->memory = memory ? memory + piece->offset : NULL;
    out->bytes = piece->bytes;
    out->offset = piece->offset;
    out->stale = stale;
    out->piece = piece;
}

static slr_status take(slr_heap *heap, uint64_t bytes, uint64_t alignment, const slr_stream *stream, const char *file,
                       uint32_t line, slr_span *out)
{
    SLRI_TRY(check_take(heap, bytes, alignment, out));
    bytes = (bytes + SLRI_UNIT - 1) / SLRI_UNIT * SLRI_UNIT;
    if (alignment < SLRI_UNIT)
        alignment = SLRI_UNIT;
    uint64_t stale = bytes;
    slr_status asked;
    slri_lock_take(&heap->lock);
    struct slri_piece *piece = stream ? slri_heap_take_behind(heap, stream, bytes, alignment) : NULL;
    if (!piece)
        piece = take_piece(heap, bytes, alignment, &stale, &asked);
    if (__builtin_expect(!piece, 0))
        return refuse_heap(heap, bytes, alignment, file, line, asked);
    describe(piece, stale, out);
    account_taken(heap, piece->chunk, bytes);
    piece->as.taken.file = file;
    piece->as.taken.line = line;
    if (slri_heap_is_watched(heap))
        slri_heap_unlock_and_tell(heap, SLR_MEMORY_TAKEN, out, file, line);
    else
        slri_lock_give(&heap->lock);
    return SLR_OK;
}

slr_status slr_heap_take_at(slr_heap *heap, uint64_t bytes, uint64_t alignment, const char *file, uint32_t line,
                            slr_span *out)
{
    return take(heap, bytes, alignment, NULL, file, line, out);
}

slr_status(slr_heap_take)(slr_heap *heap, uint64_t bytes, uint64_t alignment, slr_span *out)
{
    return take(heap, bytes, alignment, NULL, NULL, 0, out);
}

slr_status slr_heap_take_on_at(slr_heap *heap, uint64_t bytes, uint64_t alignment, slr_stream *stream, const char *file,
                               uint32_t line, slr_span *out)
{
    return take(heap, bytes, alignment, stream, file, line, out);
}

slr_status(slr_heap_take_on)(slr_heap *heap, uint64_t bytes, uint64_t alignment, slr_stream *stream, slr_span *out)
{
    return take(heap, bytes, alignment, stream, NULL, 0, out);
}

// ---- giving back ---------------------------------------------------------------------------------------------------

static bool is_taken(const slr_heap *heap, const slr_span *span)
{
    const struct slri_piece *piece = span->piece;
    return piece->state == SLRI_PIECE_TAKEN && piece->chunk->owner == &heap->pieces && piece->offset == span->offset &&
           piece->bytes == span->bytes;
}

static void note_empty(slr_heap *heap, struct slri_chunk *chunk)
{
    chunk->empty = true;
    heap->empty_bytes += chunk->bytes;
    // A chunk of its own for a large span is not kept: nobody else may ever need one of that size.
    if (chunk->bytes > heap->chunk_bytes || heap->empty_bytes > heap->keep_bytes)
        drop_chunk(heap, chunk);
}

slr_status slri_heap_begin_give(slr_heap *heap, const slr_span *span, struct slri_given *given)
{
    if (!heap || !span || !span->piece)
        return SLRI_FAIL(INVALID, "slr_heap_give: %s is NULL", !heap ? "heap" : !span ? "span" : "the span's piece");
    SLRI_TRY(slri_heap_check_process(heap));
    slri_lock_take(&heap->lock);
    if (__builtin_expect(!is_taken(heap, span), 0)) {
        slri_lock_give(&heap->lock);
        return SLRI_FAIL(INVALID, "heap '%s': the span of %" PRIu64 " B at offset %" PRIu64 " is not taken", heap->name,
                         span->bytes, span->offset);
    }
    const struct slri_piece *piece = span->piece;
    *given = (struct slri_given){piece->as.taken.file, piece->as.taken.line};
    return SLR_OK;
}

void slri_heap_account_given(slr_heap *heap, uint64_t bytes)
{
    ++heap->given;
    heap->live_bytes -= bytes;
}

void slri_heap_join(slr_heap *heap, struct slri_piece *piece)
{
    piece = slri_pieces_give(&heap->pieces, piece);
    if (__builtin_expect(slri_piece_is_chunk(piece), 0))
        note_empty(heap, piece->chunk);
}

void slri_heap_end_give(slr_heap *heap, const slr_span *span, const struct slri_given *given)
{
    if (slri_heap_is_watched(heap))
        slri_heap_unlock_and_tell(heap, SLR_MEMORY_GIVEN, span, given->file, given->line);
    else
        slri_lock_give(&heap->lock);
}

slr_status slr_heap_give(slr_heap *heap, const slr_span *span)
{
    struct slri_given given;
    SLRI_TRY(slri_heap_begin_give(heap, span, &given));
    slri_heap_account_given(heap, span->bytes);
    slri_heap_join(heap, span->piece);
    slri_heap_end_give(heap, span, &given);
    return SLR_OK;
}

// ---- of a device ----------------------------------------------------------------------------------------------------

void slri_heap_release(slr_heap *heap)
{
    if (!slri_let_go(&heap->holds))
        return;
    slr_device *device = heap->holds_device ? heap->device : NULL;
    slri_heap_drop_behind(heap);
    while (heap->pieces.chunks)
        drop_chunk(heap, heap->pieces.chunks);
    slri_pieces_end(&heap->pieces);
    slri_free(heap->allocator, heap, sizeof *heap);
    if (!device)
        return;
    __atomic_fetch_sub(&device->fixtures, 1, __ATOMIC_RELAXED);
    slri_device_release(device);
}

void slri_heap_destroy(slr_heap *heap)
{
    slri_lock_take(&heap->lock);
    slri_heap_reap(heap);
    slri_lock_give(&heap->lock);
    slri_heap_end_behind(heap);
    slri_heap_release(heap);
}

static slr_status create_device(void *self, uint64_t bytes, void **memory)
{
    const slr_device *device = self;
    return slri_queue_device_memory(&device->queues, SLRI_MEMORY_DEVICE, bytes, memory);
}

static void destroy_device(void *self, void *memory, uint64_t bytes)
{
    const slr_device *device = self;
    device->backend->memory_destroy(device->self, SLRI_MEMORY_DEVICE, memory, bytes);
}

struct slri_heap_source slri_heap_source_of(slr_device *device)
{
    return (struct slri_heap_source){create_device, destroy_device, device};
}

slr_status slr_heap_create(slr_device *device, const slr_heap_desc *desc, slr_heap **out)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_heap_create: %s is NULL", device ? "out" : "device");
    SLRI_TRY(slri_device_check_process(device));
    const struct slri_heap_source source = slri_heap_source_of(device);
    SLRI_TRY(slri_heap_create(&source, device->allocator, desc, out));
    (*out)->device = device;
    (*out)->holds_device = true;
    __atomic_fetch_add(&device->fixtures, 1, __ATOMIC_RELAXED);
    slri_device_hold(device);
    return SLR_OK;
}

void slr_heap_destroy(slr_heap *heap)
{
    if (!heap || slri_device_is_anothers(heap->device))
        return;
    slri_heap_report(heap);
    slri_heap_destroy(heap);
}

uint64_t slr_heap_trim(slr_heap *heap)
{
    if (!heap || (heap->device && slri_device_is_anothers(heap->device)))
        return 0;
    slri_lock_take(&heap->lock);
    slri_heap_reap(heap);
    uint64_t bytes = drop_empty_chunks(heap);
    slri_lock_give(&heap->lock);
    return bytes;
}
