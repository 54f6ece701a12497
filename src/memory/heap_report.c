// SPDX-License-Identifier: Apache-2.0
// What a heap says of itself: figures, what is taken, and to its watcher what happens.
#include "base/sized.h"
#include "base/status.h"
#include "engine/observe.h"
#include "memory/behind.h"

// ---- watching ------------------------------------------------------------------------------------------------------

slr_memory_event slri_heap_event(const slr_heap *heap, uint32_t what, void *memory, uint64_t bytes, const char *file,
                                 uint32_t line)
{
    return (slr_memory_event){.what = what,
                              .line = line,
                              .file = file,
                              .heap = heap->name,
                              .memory = memory,
                              .bytes = bytes,
                              .live_bytes = heap->live_bytes,
                              .number = heap->taken + heap->given + heap->refused + heap->reused};
}

void slri_heap_tell(const slr_heap *heap, const slr_memory_event *event)
{
    if (heap->on_memory)
        heap->on_memory(heap->memory_user, event);
    if (slri_is_observed())
        slri_observe_memory((slr_heap *)heap, event);
}

void slri_heap_unlock_and_tell(slr_heap *heap, uint32_t what, const slr_span *span, const char *file, uint32_t line)
{
    slr_memory_event event = slri_heap_event(heap, what, span->memory, span->bytes, file, line);
    slri_lock_give(&heap->lock);
    slri_heap_tell(heap, &event);
}

void slri_heap_note(slr_heap *heap, const slr_span *span, const char *file, uint32_t line)
{
    struct slri_piece *piece = span->piece;
    slri_lock_take(&heap->lock);
    ++heap->reused;
    piece->as.taken.file = file;
    piece->as.taken.line = line;
    slri_heap_unlock_and_tell(heap, SLR_MEMORY_REUSED, span, file, line);
}

static void tell_leak(void *user, const slr_live_span *span)
{
    const slr_heap *heap = user;
    slr_memory_event event =
        slri_heap_event(heap, SLR_MEMORY_LEAKED, span->memory, span->bytes, span->file, span->line);
    event.number = 0;
    slri_heap_tell(heap, &event);
}

void slri_heap_report(slr_heap *heap)
{
    if (heap->on_memory)
        slr_heap_visit(heap, tell_leak, heap);
}

// ---- figures -------------------------------------------------------------------------------------------------------

slr_status slr_heap_get_stats_sized(slr_heap *heap, slr_heap_stats *out, size_t bytes)
{
    if (!heap || !out)
        return SLRI_FAIL(INVALID, "slr_heap_get_stats: %s is NULL", heap ? "out" : "heap");
    SLRI_TRY(slri_heap_check_process(heap));
    slri_lock_take(&heap->lock);
    slri_heap_reap(heap);
    slr_heap_stats whole = {.max_bytes = heap->max_bytes,
                            .held_bytes = heap->held_bytes,
                            .live_bytes = heap->live_bytes,
                            .peak_bytes = heap->peak_bytes,
                            .behind_bytes = heap->behind_bytes,
                            .free_bytes = heap->held_bytes - heap->live_bytes - heap->behind_bytes,
                            .largest_free_bytes = slri_pieces_largest(&heap->pieces),
                            .chunks = heap->chunks,
                            .live_spans = heap->taken - heap->given,
                            .taken = heap->taken,
                            .given = heap->given,
                            .refused = heap->refused};
    slri_lock_give(&heap->lock);
    if (whole.free_bytes > 0)
        whole.fragmentation = 1.0 - (double)whole.largest_free_bytes / (double)whole.free_bytes;
    return SLRI_GIVE_REPORT(slr_heap_stats, out, bytes, &whole);
}

slr_status(slr_heap_get_stats)(slr_heap *heap, slr_heap_stats *out)
{
    return slr_heap_get_stats_sized(heap, out, SLRI_FIRST_slr_heap_stats);
}

slr_status slr_heap_visit(slr_heap *heap, void (*visit)(void *user, const slr_live_span *span), void *user)
{
    if (!heap || !visit)
        return SLRI_FAIL(INVALID, "slr_heap_visit: %s is NULL", heap ? "visit" : "heap");
    SLRI_TRY(slri_heap_check_process(heap));
    slri_lock_take(&heap->lock);
    for (const struct slri_chunk *chunk = heap->pieces.chunks; chunk; chunk = chunk->next) {
        for (const struct slri_piece *piece = chunk->first; piece; piece = piece->behind) {
            if (piece->state != SLRI_PIECE_TAKEN)
                continue;
            char *memory = chunk->memory;
            slr_live_span live = {memory ? memory + piece->offset : NULL, piece->bytes, piece->offset,
                                  piece->as.taken.file, piece->as.taken.line};
            visit(user, &live);
        }
    }
    slri_lock_give(&heap->lock);
    return SLR_OK;
}
