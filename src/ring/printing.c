// SPDX-License-Identifier: Apache-2.0
// The thread looks by itself, because a handler that woke it would make a system call on the way of a message.
#include "ring/printing.h"
#include "abi/prints.h"
#include "base/alloc.h"
#include "base/futex.h"
#include "base/memory_map.h"
#include "base/status.h"
#include "engine/printed.h"
#include "ir/format.h"

#include <stdio.h>

#define WORDS (SLRI_PRINTED_BYTES / 8) // of a shard: what a launch of a kernel has
#define BUSY_NS 1000000u               // from one look to the next, where the last one found something
#define IDLE_NS 20000000u
#define STOP 1u // of `asked`, below the number of the last flush

struct source {
    struct slri_prints prints;
    uint64_t told_lost;
    struct source *next;
};

struct slri_printing {
    slr_ring *ring;
    slri_thread thread;
    bool started;
    struct source *first; // atomic: only ever grows, at its front
    uint32_t asked, done; // atomic, futexes
    uint64_t told, lost;  // atomic: printfs
};

bool slri_printing_is_wanted(const slr_ring *ring)
{
    return ring->entry && (ring->entry->function->uses & SLRI_USES_PRINT) && ring->device->printer.function;
}

// ---- telling -------------------------------------------------------------------------------------------------------

static void tell_record(struct slri_printing *printing, const struct slri_prints *from, uint64_t at)
{
    union slri_scalar value[SLRI_PRINT_MAX_VALUES] = {{0}};
    const slr_ring *ring = printing->ring;
    uint64_t head = from->word[at & from->mask], who = from->word[(at + 1) & from->mask];
    struct slri_print_to to = {.printer = &ring->device->printer,
                               .module = ring->program->module,
                               .entry = ring->entry,
                               .ring = ring->name,
                               .instance = (uint32_t)who,
                               .thread = (uint32_t)(who >> 32)};
    for (uint64_t i = 0; i < head >> 32; ++i)
        value[i].u64 = from->word[(at + SLRI_PRINTS_HEAD + i) & from->mask];
    slri_print_one(&to, (uint32_t)head, value);
    __atomic_fetch_add(&printing->told, 1, __ATOMIC_RELAXED); // a count alone
}

static void tell_lost(struct slri_printing *printing, struct source *source)
{
    uint64_t lost = __atomic_load_n(&source->prints.lost, __ATOMIC_RELAXED); // a count alone
    const slr_ring *ring = printing->ring;
    const struct slri_print_to to = {
        .printer = &ring->device->printer, .module = ring->program->module, .entry = ring->entry, .ring = ring->name};
    if (lost == source->told_lost)
        return;
    slri_print_records(&to, NULL, 0, lost - source->told_lost);
    __atomic_fetch_add(&printing->lost, lost - source->told_lost, __ATOMIC_RELAXED);
    source->told_lost = lost;
}

static bool tell_printing(struct slri_printing *printing, struct source *source)
{
    struct slri_prints *from = &source->prints;
    uint64_t at = __atomic_load_n(&from->read, __ATOMIC_RELAXED);     // this thread's own
    uint64_t end = __atomic_load_n(&from->written, __ATOMIC_ACQUIRE); // the records before it
    bool any = at != end;
    while (at != end) {
        uint64_t words = SLRI_PRINTS_HEAD + (from->word[at & from->mask] >> 32);
        tell_record(printing, from, at);
        at += words;
        __atomic_store_n(&from->read, at, __ATOMIC_RELEASE); // it has been copied: the owner may write there
    }
    tell_lost(printing, source);
    return any;
}

static bool tell_all(struct slri_printing *printing)
{
    bool any = false;
    // Acquire: what a source holds, by who has put it in front.
    for (struct source *s = __atomic_load_n(&printing->first, __ATOMIC_ACQUIRE); s; s = s->next)
        any |= tell_printing(printing, s);
    return any;
}

static void run(void *arg)
{
    struct slri_printing *printing = arg;
    for (;;) {
        uint32_t asked = __atomic_load_n(&printing->asked, __ATOMIC_ACQUIRE); // what was printed before it was asked
        bool any = tell_all(printing);
        if (asked != printing->done) {
            __atomic_store_n(&printing->done, asked, __ATOMIC_RELEASE); // that it has been told
            slri_futex_wake(&printing->done, UINT32_MAX);
        }
        if (asked & STOP)
            return;
        slri_futex_wait(&printing->asked, asked, slri_deadline_after(any ? BUSY_NS : IDLE_NS));
    }
}

// ---- making --------------------------------------------------------------------------------------------------------

slr_status slri_printing_outfit(slr_ring *ring, struct slri_shard *shard)
{
    const slr_allocator *allocator = ring->device->allocator;
    if (!ring->printing) {
        ring->printing = slri_alloc(allocator, sizeof *ring->printing);
        if (!ring->printing)
            return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for its printf output", ring->name);
        *ring->printing = (struct slri_printing){.ring = ring};
    }
    struct source *source = slri_alloc(allocator, sizeof *source);
    void *words = source ? slri_map_reserve(WORDS * 8) : NULL;
    if (!words) {
        slri_free(allocator, source, sizeof *source);
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for its printf output", ring->name);
    }
    *source = (struct source){.prints = {.word = words, .mask = WORDS - 1}, .next = ring->printing->first};
    __atomic_store_n(&ring->printing->first, source, __ATOMIC_RELEASE); // what it holds
    shard->prints = &source->prints;
    return SLR_OK;
}

slr_status slri_printing_start(slr_ring *ring)
{
    char name[16];
    if (!ring->printing || ring->printing->started)
        return SLR_OK;
    snprintf(name, sizeof name, "prt-%.11s", ring->name);
    SLRI_TRY(slri_thread_start(&ring->printing->thread, name, run, ring->printing));
    ring->printing->started = true;
    return SLR_OK;
}

void slri_printing_flush(slr_ring *ring, uint64_t deadline_ns)
{
    struct slri_printing *printing = ring->printing;
    if (!printing || !printing->started)
        return;
    // Release: what the caller knows to have been printed.
    uint32_t wanted = __atomic_add_fetch(&printing->asked, 2, __ATOMIC_RELEASE), done;
    slri_futex_wake(&printing->asked, 1);
    while ((int32_t)((done = __atomic_load_n(&printing->done, __ATOMIC_ACQUIRE)) - wanted) < 0 &&
           !slri_passed(deadline_ns))
        slri_futex_wait(&printing->done, done, deadline_ns);
}

void slri_printing_finish(slr_ring *ring)
{
    struct slri_printing *printing = ring->printing;
    if (!printing || !printing->started)
        return;
    __atomic_fetch_or(&printing->asked, STOP, __ATOMIC_RELEASE);
    slri_futex_wake(&printing->asked, 1);
    slri_thread_join(&printing->thread);
    printing->started = false;
}

void slri_printing_dispose(slr_ring *ring)
{
    const slr_allocator *allocator = ring->device->allocator;
    struct slri_printing *printing = ring->printing;
    if (!printing)
        return;
    slri_printing_finish(ring); // of one that could not be launched
    for (struct source *s = printing->first, *next; s; s = next) {
        next = s->next;
        slri_map_release(s->prints.word, WORDS * 8);
        slri_free(allocator, s, sizeof *s);
    }
    slri_free(allocator, printing, sizeof *printing);
    ring->printing = NULL;
}

void slri_printing_count(const slr_ring *ring, slr_ring_stats *out)
{
    if (!ring->printing)
        return;
    out->printed = __atomic_load_n(&ring->printing->told, __ATOMIC_RELAXED);
    out->prints_lost = __atomic_load_n(&ring->printing->lost, __ATOMIC_RELAXED);
}
