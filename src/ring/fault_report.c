// SPDX-License-Identifier: Apache-2.0
// Faults in words: the last one, the first, and those of dead letters, from what the owners of the shards have left
// (engine/fault.c).
#include "base/text.h"
#include "base/thread.h"
#include "ir/blame.h"
#include "ir/ir_names.h"
#include "ring/ring.h"

#include <stdio.h>
#include <string.h>

enum { TRIES = 200 };

struct fault {
    struct slri_blame blame;
    uint32_t instance, number;
    uint64_t time_ns;
};

static uint64_t load_wide(const uint32_t *S, uint32_t at)
{
    return MB_LOAD(at) | (uint64_t)MB_LOAD(at + 1) << 32;
}

// From MB_FAULT_KIND on, as they lie there and in a dead letter.
static struct slri_blame blame_of(const uint32_t word[MB_LETTER_FAULT_WORDS])
{
    return (struct slri_blame){
        .fault = word[MB_FAULT_KIND - MB_FAULT_KIND],
        .where = {.file = word[MB_FAULT_FILE - MB_FAULT_KIND],
                  .line = word[MB_FAULT_LINE - MB_FAULT_KIND],
                  .column = word[MB_FAULT_COLUMN - MB_FAULT_KIND]},
        .index = word[MB_FAULT_INDEX - MB_FAULT_KIND] | (uint64_t)word[MB_FAULT_INDEX + 1 - MB_FAULT_KIND] << 32,
        .size = word[MB_FAULT_SIZE - MB_FAULT_KIND] | (uint64_t)word[MB_FAULT_SIZE + 1 - MB_FAULT_KIND] << 32};
}

_Static_assert(MB_FAULT_SIZE + 2 - MB_FAULT_KIND == MB_LETTER_FAULT_WORDS, "a dead letter has all of them");

// Whether no fault was being noted meanwhile. The words are acquired, so that if one of them is a later fault's, the
// second look at the turn finds what that fault's owner made of it before (mb_begin_fault).
static bool try_last(const uint32_t *S, uint32_t owner, struct fault *out, uint32_t *when)
{
    uint32_t turn = MB_ACQUIRE(owner + MB_FAULT_TURN), word[MB_LETTER_FAULT_WORDS];
    for (uint32_t k = 0; k < MB_LETTER_FAULT_WORDS; ++k)
        word[k] = MB_ACQUIRE(owner + MB_FAULT_KIND + k);
    *out = (struct fault){.blame = blame_of(word), .instance = MB_ACQUIRE(owner + MB_FAULT_INSTANCE)};
    *when = MB_ACQUIRE(owner + MB_FAULT_WHEN);
    return turn % 2 == 0 && MB_LOAD(owner + MB_FAULT_TURN) == turn;
}

// False where there was none. An owner notes one in less than a microsecond, unless it loses its core in between: hence
// the yields. If it has lost its device there, the words stay as they are, and are never shown.
static bool load_last(const uint32_t *S, uint32_t owner, struct fault *out, uint32_t *when)
{
    for (uint32_t tries = 0; !try_last(S, owner, out, when); ++tries) {
        if (tries == TRIES)
            return false;
        slri_yield();
    }
    return out->blame.fault != SLRI_FAULT_NONE;
}

static struct fault load_first(const uint32_t *S, uint32_t owner)
{
    uint32_t kind = MB_ACQUIRE(owner + MB_FIRST_KIND); // written last: where it is there, so is the rest
    return (struct fault){
        .blame = {kind,
                  {MB_LOAD(owner + MB_FIRST_FILE), MB_LOAD(owner + MB_FIRST_LINE), MB_LOAD(owner + MB_FIRST_COLUMN)},
                  load_wide(S, owner + MB_FIRST_INDEX),
                  load_wide(S, owner + MB_FIRST_SIZE)},
        .instance = MB_LOAD(owner + MB_FIRST_INSTANCE),
        .number = MB_LOAD(owner + MB_FIRST_NUMBER),
        .time_ns = load_wide(S, owner + MB_FIRST_TIME)};
}

// Of a kernel's handler, which has a place in a source: not of a host function, nor of one that was abandoned.
static bool has_place(const slr_ring *ring, uint32_t fault)
{
    return ring->program && fault != SLRI_FAULT_OVERRUN && fault != SLRI_FAULT_STATUS;
}

static void describe_what(const slr_ring *ring, const struct slri_blame *blame, char out[SLRI_BLAME_BYTES])
{
    if (has_place(ring, blame->fault))
        slri_blame_text(ring->program->module, ring->entry, blame, out);
    else if (blame->fault == SLRI_FAULT_STATUS)
        snprintf(out, SLRI_BLAME_BYTES, "%s: %s", slri_fault_text(blame->fault),
                 slr_status_name((slr_status)blame->where.line));
    else
        snprintf(out, SLRI_BLAME_BYTES, "%s", slri_fault_text(blame->fault));
}

static const char *file_of(const slr_ring *ring, const struct slri_where *where)
{
    const struct slri_module *module = ring->program->module;
    return where->file < module->files ? module->file[where->file] : "?";
}

// The latest of the shards' last ones: the difference of two times, because they wrap.
static bool find_last(const slr_ring *ring, struct fault *out)
{
    bool any = false;
    uint32_t latest = 0;
    for (uint32_t i = 0; i < ring->shards; ++i) {
        struct fault last;
        uint32_t when;
        if (!load_last(ring->S, mb_owner(ring->S, i), &last, &when) || (any && (int32_t)(when - latest) < 0))
            continue;
        *out = last;
        latest = when;
        any = true;
    }
    return any;
}

// A file's path may have any length.
static void describe_fault(const slr_ring *ring, const struct fault *fault, bool with_column, char *out, size_t bytes)
{
    char what[SLRI_BLAME_BYTES];
    const struct slri_where *where = &fault->blame.where;
    struct slri_text text = SLRI_TEXT_INIT;
    describe_what(ring, &fault->blame, what);
    if (has_place(ring, fault->blame.fault)) {
        slri_text_printf(&text, "%s:%u", file_of(ring, where), where->line);
        if (with_column && where->column != 0)
            slri_text_printf(&text, ":%u", where->column);
        slri_text_puts(&text, ": ");
    }
    slri_text_printf(&text, "instance %u: %s", fault->instance, what);
    slri_text_fit(out, bytes, slri_text_view(&text));
    slri_text_free(&text);
}

void slri_letter_describe(const slr_ring *ring, uint32_t at, char *out, size_t bytes)
{
    const uint32_t *S = ring->S;
    const struct fault fault = {.blame = blame_of(&S[at + S[MB_SLOT_WORDS]]), .instance = S[at + MB_INSTANCE]};
    describe_fault(ring, &fault, false, out, bytes);
}

// The earliest of the shards' first ones; of those without a time, that of the first shard.
static bool find_first(const slr_ring *ring, struct fault *out)
{
    bool any = false;
    for (uint32_t i = 0; i < ring->shards; ++i) {
        struct fault first = load_first(ring->S, mb_owner(ring->S, i));
        if (first.blame.fault == SLRI_FAULT_NONE || (any && first.time_ns >= out->time_ns))
            continue;
        *out = first;
        any = true;
    }
    return any;
}

static void describe_first(const slr_ring *ring, slr_ring_stats *out)
{
    struct fault first;
    uint64_t begun_ns = __atomic_load_n(&ring->activated_ns, __ATOMIC_RELAXED); // a time for a report
    if (!find_first(ring, &first))
        return;
    describe_fault(ring, &first, true, out->first_fault, sizeof out->first_fault);
    out->first_fault_instance = first.instance;
    out->first_fault_message = first.number;
    if (first.time_ns > begun_ns)
        out->first_fault_ns = first.time_ns - begun_ns;
}

void slri_faults_describe(const slr_ring *ring, slr_ring_stats *out)
{
    struct fault last;
    if (find_last(ring, &last))
        describe_fault(ring, &last, false, out->last_fault, sizeof out->last_fault);
    describe_first(ring, out);
    if (ring->loop)
        slri_loop_describe(ring->loop, out->last_fault, sizeof out->last_fault);
}
