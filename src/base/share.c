// SPDX-License-Identifier: Apache-2.0
// Slabs: mappings for things of one shape. Part by part: where the first thing's lies, then the others'.
#include "base/forks.h"
#include "base/round.h"
#include "base/share.h"

#include "base/alloc.h"
#include "base/asan.h"
#include "base/memory_map.h"
#include "base/thread.h"

#include <string.h>

#ifdef SLRI_HAS_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#define POISON(at, bytes) __asan_poison_memory_region(at, bytes)
#define UNPOISON(at, bytes) __asan_unpoison_memory_region(at, bytes)
// What is left for a handler that does not return is held by what lies here.
#define HOLDS(at, bytes) __lsan_register_root_region(at, bytes)
#define HOLDS_NO_MORE(at, bytes) __lsan_unregister_root_region(at, bytes)
#define SLAB_BYTES ((uint64_t)256 << 10) // its shadow is written throughout
#define DOUBLINGS 4u
#else
#if defined(__EMSCRIPTEN__)
#define SLAB_BYTES ((uint64_t)256 << 10) // a page's memory is there as soon as it is taken
#define DOUBLINGS 4u
#else
#define SLAB_BYTES ((uint64_t)4 << 20) // of a shape's first; each further one is twice as large
#define DOUBLINGS 8u
#endif
#define POISON(at, bytes) ((void)(at), (void)(bytes))
#define UNPOISON(at, bytes) ((void)(at), (void)(bytes))
#define HOLDS(at, bytes) ((void)(at), (void)(bytes))
#define HOLDS_NO_MORE(at, bytes) ((void)(at), (void)(bytes))
#endif

#define LINE 128u
#define THINGS_MOST 65536u
#define GUARDED_BYTES ((uint64_t)1 << 20) // of all its copies: from there on they are address space until opened

struct slri_slab {
    unsigned char *memory;
    uint64_t bytes;
    struct kind *kind;
    struct slri_slab *next, *before; // of those of the kind that have room
    uint64_t part_at[SLRI_SHARE_PARTS], each_at[SLRI_SHARE_COPIED], copies_at, stride;
    uint32_t things, used, opened; // the last: copies that may be used; atomic
    uint32_t look;                 // no thing is free in the words before this one
    uint64_t taken[];              // a bit a thing
};

struct kind {
    struct slri_shape shape; // sizes of whole lines
    struct slri_slab *roomy;
    uint32_t slabs;
    struct kind *next;
};

static slri_mutex lock = SLRI_MUTEX_INIT; // of all that follows
static struct kind *kinds;
static struct slri_share_count counted;
static bool apart;

// A thread of the parent may have been changing the lists. What they had is the parent's objects', which a child does
// not free.
static void forget_slabs(void)
{
    kinds = NULL;
    counted = (struct slri_share_count){0};
}

SLRI_RENEW_IN_CHILD(renew_lock, &lock, forget_slabs)

static uint64_t copy_bytes(const struct slri_shape *shape)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < SLRI_SHARE_COPIED; ++i)
        bytes += shape->each[i];
    return bytes;
}

static uint64_t thing_bytes(const struct slri_shape *shape, uint32_t copies)
{
    uint64_t bytes = copy_bytes(shape) * copies;
    for (uint32_t i = 0; i < SLRI_SHARE_PARTS; ++i)
        bytes += shape->part[i];
    return bytes;
}

// ---- slabs ---------------------------------------------------------------------------------------------------------

static void lay_out(struct slri_slab *slab, bool guarded)
{
    const struct slri_shape *shape = &slab->kind->shape;
    uint64_t at = 0, page = slri_page_bytes();
    for (uint32_t i = 0; i < SLRI_SHARE_PARTS; ++i) {
        slab->part_at[i] = at;
        at += shape->part[i] * slab->things;
    }
    slab->copies_at = guarded ? slri_round_up(at, page) : at;
    at = slab->copies_at;
    for (uint32_t i = 0; i < SLRI_SHARE_COPIED; ++i) {
        slab->each_at[i] = at;
        at += shape->each[i] * slab->things;
    }
    slab->stride = slri_round_up(copy_bytes(shape) * slab->things, guarded ? page : 1);
    slab->opened = guarded ? 0 : shape->copies;
    slab->bytes = slri_round_up(slab->copies_at + slab->stride * shape->copies, page);
}

// Copies of a guarded slab are no memory for the system: it refuses no program for them.
static bool map(struct slri_slab *slab, bool guarded)
{
    lay_out(slab, guarded);
    void *memory = guarded ? slri_map_keep(slab->bytes) : slri_map_reserve(slab->bytes);
    if (!memory)
        return false;
    if (guarded && slab->copies_at && !slri_map_open(memory, slab->copies_at)) {
        slri_map_release(memory, slab->bytes);
        return false;
    }
    slab->memory = memory;
    HOLDS(memory, slab->bytes);
    if (slab->things > 1) // a large page would make memory of what lies between the things that are used
        slri_map_small_pages(memory, slab->bytes);
    return true;
}

static struct slri_slab *create_slab(struct kind *kind, uint32_t things, bool guarded)
{
    uint32_t words = (things + 63) / 64;
    struct slri_slab *slab = slri_alloc(NULL, sizeof *slab + words * sizeof *slab->taken);
    if (!slab)
        return NULL;
    slab->kind = kind;
    slab->things = things;
    if (things % 64)
        slab->taken[words - 1] = ~(uint64_t)0 << things % 64; // there are none
    if (map(slab, guarded))
        return slab;
    slri_free(NULL, slab, sizeof *slab + words * sizeof *slab->taken);
    return NULL;
}

static void enter(struct slri_slab *slab)
{
    struct kind *kind = slab->kind;
    slab->before = NULL;
    slab->next = kind->roomy;
    if (slab->next)
        slab->next->before = slab;
    kind->roomy = slab;
}

static void leave(struct slri_slab *slab)
{
    if (slab->next)
        slab->next->before = slab->before;
    if (slab->before)
        slab->before->next = slab->next;
    else
        slab->kind->roomy = slab->next;
}

// Larger from slab to slab, so that few mappings do for any number of things; smaller where the system has no room.
static struct slri_slab *add_slab(struct kind *kind)
{
    uint64_t bytes = thing_bytes(&kind->shape, kind->shape.copies);
    uint64_t want = SLAB_BYTES << (kind->slabs < DOUBLINGS ? kind->slabs : DOUBLINGS);
    uint64_t things = apart ? 1 : want / bytes;
    things = things < 1 ? 1 : things > THINGS_MOST ? THINGS_MOST : things;
    bool guarded = !apart && copy_bytes(&kind->shape) * kind->shape.copies * things >= GUARDED_BYTES;
    struct slri_slab *slab;
    while ((slab = create_slab(kind, (uint32_t)things, guarded)) == NULL && things > 1)
        things /= 2;
    if (!slab)
        return NULL;
    if (slab->things > 1)
        POISON(slab->memory, slab->bytes);
    kind->slabs++;
    counted.mappings++;
    enter(slab);
    return slab;
}

// Of a slab that nobody finds any more: without the lock.
static void destroy_slab(struct slri_slab *slab)
{
    UNPOISON(slab->memory, slab->bytes); // the addresses may be anybody's next
    HOLDS_NO_MORE(slab->memory, slab->bytes);
    slri_map_release(slab->memory, slab->bytes);
    slri_free(NULL, slab, sizeof *slab + (slab->things + 63) / 64 * sizeof *slab->taken);
}

// ---- kinds ---------------------------------------------------------------------------------------------------------

static struct kind *find_kind(const struct slri_shape *shape)
{
    struct slri_shape lines = {.copies = shape->copies};
    for (uint32_t i = 0; i < SLRI_SHARE_PARTS; ++i)
        lines.part[i] = slri_round_up(shape->part[i], LINE);
    for (uint32_t i = 0; i < SLRI_SHARE_COPIED; ++i)
        lines.each[i] = slri_round_up(shape->each[i], LINE);
    for (struct kind **at = &kinds; *at; at = &(*at)->next) {
        struct kind *kind = *at;
        if (memcmp(kind->shape.part, lines.part, sizeof lines.part) != 0 ||
            memcmp(kind->shape.each, lines.each, sizeof lines.each) != 0 || kind->shape.copies != lines.copies)
            continue;
        *at = kind->next; // the first from now on: who makes one thing makes more of its kind
        kind->next = kinds;
        return kinds = kind;
    }
    struct kind *kind = slri_alloc(NULL, sizeof *kind);
    if (!kind)
        return NULL;
    kind->shape = lines;
    kind->next = kinds;
    return kinds = kind;
}

static void drop_if_unused(struct kind *kind)
{
    struct kind **at = &kinds;
    if (kind->slabs != 0)
        return;
    while (*at != kind)
        at = &(*at)->next;
    *at = kind->next;
    slri_free(NULL, kind, sizeof *kind);
}

// ---- things --------------------------------------------------------------------------------------------------------

static void take_from(struct slri_slab *slab, struct slri_share *out)
{
    while (slab->taken[slab->look] == ~(uint64_t)0)
        slab->look++;
    uint32_t bit = (uint32_t)__builtin_ctzll(~slab->taken[slab->look]);
    slab->taken[slab->look] |= (uint64_t)1 << bit;
    *out = (struct slri_share){slab, slab->look * 64 + bit};
    if (++slab->used == slab->things)
        leave(slab);
    counted.things++;
    counted.bytes += thing_bytes(&slab->kind->shape, 0);
}

static void unpoison_parts(const struct slri_share *share)
{
    for (uint32_t i = 0; i < SLRI_SHARE_PARTS; ++i)
        UNPOISON(slri_share_part(share, i), share->slab->kind->shape.part[i]);
}

static void unpoison_copy(const struct slri_share *share, uint32_t copy)
{
    for (uint32_t i = 0; i < SLRI_SHARE_COPIED; ++i)
        UNPOISON(slri_share_copy(share, i, copy), share->slab->kind->shape.each[i]);
}

bool slri_share_take(const struct slri_shape *shape, struct slri_share *out)
{
    slri_mutex_lock(&lock);
    struct kind *kind = find_kind(shape);
    struct slri_slab *slab = kind ? kind->roomy ? kind->roomy : add_slab(kind) : NULL;
    if (slab) {
        take_from(slab, out);
        unpoison_parts(out);
    } else if (kind) {
        drop_if_unused(kind);
    }
    slri_mutex_unlock(&lock);
    return slab != NULL;
}

void *slri_share_part(const struct slri_share *share, uint32_t part)
{
    const struct slri_slab *slab = share->slab;
    return slab->memory + slab->part_at[part] + slab->kind->shape.part[part] * share->index;
}

void *slri_share_copy(const struct slri_share *share, uint32_t each, uint32_t copy)
{
    const struct slri_slab *slab = share->slab;
    return slab->memory + slab->each_at[each] + slab->stride * copy + slab->kind->shape.each[each] * share->index;
}

uint64_t slri_share_stride(const struct slri_share *share)
{
    return share->slab->stride;
}

bool slri_share_open(const struct slri_share *share, uint32_t copy)
{
    struct slri_slab *slab = share->slab;
    bool fine = true;
    slri_mutex_lock(&lock);
    if (copy >= slab->opened) { // of all its things
        uint64_t from = slab->copies_at + slab->stride * slab->opened;
        uint64_t bytes = slab->stride * (copy + 1 - slab->opened);
        fine = slri_map_open(slab->memory + from, bytes);
        slab->opened = fine ? copy + 1 : slab->opened;
    }
    if (fine) {
        unpoison_copy(share, copy);
        counted.bytes += copy_bytes(&slab->kind->shape);
    }
    slri_mutex_unlock(&lock);
    return fine;
}

// Without making memory of what was never touched: to read it takes none.
static void zero_lines(unsigned char *at, const unsigned char *end)
{
    static const unsigned char zeros[LINE];
    for (; at < end; at += LINE)
        if (memcmp(at, zeros, LINE) != 0)
            memset(at, 0, LINE);
}

static void zero(unsigned char *at, uint64_t bytes)
{
    uintptr_t page = slri_page_bytes();
    unsigned char *end = at + bytes;
    unsigned char *first = at + (page - (uintptr_t)at % page) % page, *last = end - (uintptr_t)end % page;
    if (bytes < 4 * page || !slri_map_forget(first, (size_t)(last - first))) {
        zero_lines(at, end);
        return;
    }
    zero_lines(at, first);
    zero_lines(last, end);
}

static void zero_thing(const struct slri_share *share, uint32_t copies)
{
    const struct slri_shape *shape = &share->slab->kind->shape;
    for (uint32_t i = 0; i < SLRI_SHARE_PARTS; ++i)
        if (shape->part[i]) {
            zero(slri_share_part(share, i), shape->part[i]);
            POISON(slri_share_part(share, i), shape->part[i]);
        }
    for (uint32_t copy = 0; copy < copies; ++copy)
        for (uint32_t i = 0; i < SLRI_SHARE_COPIED; ++i) {
            zero(slri_share_copy(share, i, copy), shape->each[i]);
            POISON(slri_share_copy(share, i, copy), shape->each[i]);
        }
}

// Under the lock. Gives the slab where this was its last thing.
static struct slri_slab *put_back(const struct slri_share *share)
{
    struct slri_slab *slab = share->slab;
    struct kind *kind = slab->kind;
    slab->taken[share->index / 64] &= ~((uint64_t)1 << share->index % 64);
    if (share->index / 64 < slab->look)
        slab->look = share->index / 64;
    if (slab->used-- == slab->things)
        enter(slab);
    if (slab->used != 0)
        return NULL;
    leave(slab);
    kind->slabs--;
    counted.mappings--;
    drop_if_unused(kind);
    return slab;
}

void slri_share_give(struct slri_share *share, uint32_t copies)
{
    const struct slri_slab *slab = share->slab;
    if (!slab)
        return;
    if (slab->things > 1)
        zero_thing(share, copies); // nobody else has it, so without the lock
    slri_mutex_lock(&lock);
    counted.things--;
    counted.bytes -= thing_bytes(&slab->kind->shape, copies);
    struct slri_slab *over = put_back(share);
    slri_mutex_unlock(&lock);
    if (over)
        destroy_slab(over);
    *share = (struct slri_share){0};
}

void *slri_share_bytes(uint64_t bytes, struct slri_share *out)
{
    struct slri_shape shape = {.part = {bytes}};
    return slri_share_take(&shape, out) ? slri_share_part(out, 0) : NULL;
}

struct slri_share_count slri_share_counted(void)
{
    slri_mutex_lock(&lock);
    struct slri_share_count now = counted;
    slri_mutex_unlock(&lock);
    return now;
}

void slri_share_apart(void)
{
    apart = true;
}
