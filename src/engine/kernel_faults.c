// SPDX-License-Identifier: Apache-2.0
// Faults of `__global__` kernels: a word each, which the kernel writes and the host reads when the kernel is done.
#include "engine/stream.h"

#include "base/alloc.h"
#include "base/status.h"
#include "engine/code.h"
#include "ir/blame.h"

static const uint64_t zeros[2];

static uint64_t word_bytes(const struct slri_queue_device *of)
{
    return of->facts.faults == SLRI_FAULTS_PACKED ? sizeof(uint64_t) : sizeof(struct slri_fault_fields);
}

static size_t bytes_for(uint32_t room)
{
    return sizeof(struct slri_faults) + room * sizeof(const struct slri_ready_kernel *);
}

static enum slri_memory_kind words_kind(const struct slri_queue_device *of)
{
    return of->has_words ? SLRI_MEMORY_WORDS : SLRI_MEMORY_DEVICE;
}

static slr_status take_words(struct slri_faults *faults)
{
    const struct slri_queue_device *of = faults->of;
    faults->can_see = of->has_words || of->is_unified;
    return slri_queue_device_memory(of, words_kind(of), faults->room * faults->stride, (void **)&faults->word);
}

slr_status slri_faults_create(struct slri_queue_device *of, uint32_t room, struct slri_faults **out)
{
    struct slri_faults *made = slri_alloc(of->allocator, bytes_for(room));
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for the faults of %u kernels", of->backend->name, room);
    made->of = of;
    made->room = room;
    made->stride = of->facts.fault_alignment > word_bytes(of) ? of->facts.fault_alignment : word_bytes(of);
    slr_status status = take_words(made);
    if (status == SLR_OK)
        *out = made;
    else
        slri_free(of->allocator, made, bytes_for(room));
    return status;
}

void slri_faults_destroy(struct slri_faults *faults)
{
    if (!faults)
        return;
    const struct slri_queue_device *of = faults->of;
    of->backend->memory_destroy(of->device, words_kind(of), faults->word, faults->room * faults->stride);
    slri_free(of->allocator, faults, bytes_for(faults->room));
}

void *slri_faults_add(struct slri_faults *faults, const struct slri_ready_kernel *ready)
{
    faults->ready[faults->count] = ready;
    return faults->word + faults->stride * faults->count++;
}

static struct slri_blame blame_of(const struct slri_queue_device *of, const void *word)
{
    if (of->facts.faults == SLRI_FAULTS_PACKED) {
        uint64_t packed;
        memcpy(&packed, word, sizeof packed);
        return (struct slri_blame){.fault = SLRI_FAULT_OF_WORD(packed),
                                   .where = {SLRI_FILE_OF_WORD(packed), SLRI_LINE_OF_WORD(packed), 0}};
    }
    struct slri_fault_fields fields;
    memcpy(&fields, word, sizeof fields);
    return (struct slri_blame){.fault = fields.fault, .where = {fields.file, fields.line, 0}};
}

static slr_status clear(struct slri_faults *faults, struct slri_stream *stream, unsigned char *word)
{
    if (!faults->can_see)
        return slri_stream_copy(stream, word, (void *)zeros, word_bytes(faults->of), true);
    memcpy(word, zeros, word_bytes(faults->of));
    return SLR_OK;
}

static slr_status look_at_word(struct slri_faults *faults, struct slri_stream *stream, const unsigned char *seen,
                               slr_status before)
{
    slr_status status = before;
    for (uint32_t i = 0; i < faults->count; ++i) {
        const struct slri_blame blame = blame_of(faults->of, seen + i * faults->stride);
        const struct slri_ready_kernel *ready = faults->ready[i];
        if (blame.fault == SLRI_FAULT_NONE)
            continue;
        slr_status cleared = clear(faults, stream, faults->word + i * faults->stride);
        faults->is_unknown = faults->is_unknown || cleared != SLR_OK;
        if (status == SLR_OK)
            status = cleared == SLR_OK ? slri_ready_faulted(ready, &blame, NULL) : cleared;
    }
    return status;
}

slr_status slri_faults_look(struct slri_faults *faults, struct slri_stream *stream, slr_status before)
{
    const struct slri_queue_device *of = faults->of;
    uint64_t bytes = faults->count * faults->stride;
    if (before == SLR_DEVICE_LOST || faults->count == 0)
        return before;
    if (faults->can_see) // plainly: the kernels were waited for
        return look_at_word(faults, stream, faults->word, before);
    unsigned char *seen = slri_alloc(of->allocator, bytes);
    if (!seen) {
        faults->is_unknown = true;
        return before != SLR_OK ? before
                                : SLRI_FAIL(NO_MEMORY, "device '%s': no memory for the faults of %u kernels",
                                            of->backend->name, faults->count);
    }
    slr_status status = slri_stream_copy(stream, faults->word, seen, bytes, false);
    faults->is_unknown = status != SLR_OK;
    status = look_at_word(faults, stream, seen, before == SLR_OK ? status : before);
    slri_free(of->allocator, seen, bytes);
    return status;
}
