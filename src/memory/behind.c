// SPDX-License-Identifier: Apache-2.0
// Spans that are given back behind a point: nobody gets them before it has passed, but the stream itself, whose work
// comes after what used them anyway.
#include "memory/behind.h"

#include "base/alloc.h"
#include "base/status.h"
#include "device/stream.h"

#include <inttypes.h>

static struct slri_behind **find(slr_heap *heap, const slr_stream *stream)
{
    struct slri_behind **at = &heap->behind;
    while (*at && (*at)->stream != stream)
        at = &(*at)->next;
    return at;
}

static slr_status find_or_make(slr_heap *heap, slr_stream *stream, struct slri_behind **out)
{
    *out = *find(heap, stream);
    if (*out)
        return SLR_OK;
    struct slri_behind *made = slri_alloc(heap->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "heap '%s': no memory for spans freed after a stream's point", heap->name);
    slri_stream_hold(stream); // so that its points stay valid
    made->stream = stream;
    made->next = heap->behind;
    heap->behind = *out = made;
    return SLR_OK;
}

static void drop(slr_heap *heap, struct slri_behind **at)
{
    struct slri_behind *gone = *at;
    *at = gone->next;
    slri_stream_release(gone->stream);
    slri_free(heap->allocator, gone, sizeof *gone);
}

// ---- giving --------------------------------------------------------------------------------------------------------

static void append(slr_heap *heap, struct slri_behind *behind, struct slri_piece *piece, uint64_t value)
{
    piece->state = SLRI_PIECE_BEHIND;
    piece->as.behind.next = NULL;
    piece->as.behind.value = value;
    if (behind->last)
        behind->last->as.behind.next = piece;
    else
        behind->first = piece;
    behind->last = piece;
    heap->behind_bytes += piece->bytes;
}

// Those at the front whose points have passed.
static void give_passed(slr_heap *heap, struct slri_behind *behind)
{
    while (behind->first && slri_stream_passed(behind->stream, behind->first->as.behind.value)) {
        struct slri_piece *piece = behind->first;
        behind->first = piece->as.behind.next;
        heap->behind_bytes -= piece->bytes;
        slri_heap_join(heap, piece);
    }
    if (!behind->first)
        behind->last = NULL;
}

bool slri_heap_reap(slr_heap *heap)
{
    uint64_t before = heap->behind_bytes;
    for (struct slri_behind **at = &heap->behind; *at;) {
        give_passed(heap, *at);
        if ((*at)->first)
            at = &(*at)->next;
        else
            drop(heap, at);
    }
    return heap->behind_bytes < before;
}

static slr_status check_point(const slr_heap *heap, slr_point point)
{
    slr_point newest;
    if (heap->device && point.stream->device != heap->device)
        return SLRI_FAIL(INVALID, "heap '%s': the point is of another device's stream", heap->name);
    SLRI_TRY(slr_stream_signal(point.stream, &newest));
    if (point.value > newest.value)
        return SLRI_FAIL(INVALID,
                         "heap '%s': point %" PRIu64 " has not been submitted; the stream's newest is %" PRIu64,
                         heap->name, point.value, newest.value);
    return SLR_OK;
}

slr_status slr_heap_give_behind(slr_heap *heap, const slr_span *span, slr_point point)
{
    if (!heap || slr_point_passed(point))
        return slr_heap_give(heap, span);
    SLRI_TRY(check_point(heap, point));
    struct slri_behind *behind;
    struct slri_given given;
    SLRI_TRY(slri_heap_begin_give(heap, span, &given)); // locks
    slr_status status = find_or_make(heap, point.stream, &behind);
    if (status != SLR_OK) {
        slri_lock_give(&heap->lock);
        return status;
    }
    give_passed(heap, behind);
    slri_heap_account_given(heap, span->bytes);
    append(heap, behind, span->piece, point.value);
    slri_heap_end_give(heap, span, &given);
    return SLR_OK;
}

// ---- taking --------------------------------------------------------------------------------------------------------

enum { LOOKS = 32 };

// Takes `piece`, behind `before` in the list, out of it. What is longer than `bytes` stays.
static void take_out(slr_heap *heap, struct slri_behind *behind, struct slri_piece *before, struct slri_piece *piece,
                     uint64_t bytes)
{
    struct slri_piece *next = piece->as.behind.next, *rest = slri_pieces_cut(&heap->pieces, piece, bytes);
    heap->behind_bytes -= bytes;
    if (rest) {
        rest->state = SLRI_PIECE_BEHIND;
        rest->as.behind.next = next;
        rest->as.behind.value = piece->as.behind.value;
        next = rest;
    }
    if (before)
        before->as.behind.next = next;
    else
        behind->first = next;
    if (behind->last == piece)
        behind->last = rest ? rest : before;
}

struct slri_piece *slri_heap_take_behind(slr_heap *heap, const slr_stream *stream, uint64_t bytes, uint64_t alignment)
{
    struct slri_behind *behind = *find(heap, stream);
    struct slri_piece *before = NULL, *piece = behind ? behind->first : NULL;
    for (int i = 0; piece && i < LOOKS; ++i, before = piece, piece = piece->as.behind.next) {
        if (piece->bytes < bytes || !slri_piece_is_aligned(piece, alignment))
            continue;
        if (piece->bytes > bytes && !slri_pieces_reserve(&heap->pieces))
            return NULL;
        take_out(heap, behind, before, piece, bytes);
        piece->state = SLRI_PIECE_TAKEN;
        return piece;
    }
    return NULL;
}

// ---- the end -------------------------------------------------------------------------------------------------------

// Called on its stream's thread, when all that was submitted before is done.
static void settled(void *user)
{
    slri_heap_release(user);
}

void slri_heap_end_behind(slr_heap *heap)
{
    for (struct slri_behind *behind = heap->behind; behind; behind = behind->next)
        ++heap->holds; // all before the first can be settled
    for (struct slri_behind *behind = heap->behind, *next; behind; behind = next) {
        const struct slri_work work = {.settle = settled, .user = heap};
        next = behind->next;
        // Where that fails the hold stays, and the memory with it: it may still be in use.
        slri_stream_submit(behind->stream, &work, NULL);
    }
}

void slri_heap_drop_behind(slr_heap *heap)
{
    while (heap->behind)
        drop(heap, &heap->behind);
}
