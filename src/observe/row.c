// SPDX-License-Identifier: Apache-2.0
// The rows: a list that only grows, and a table of chains to find one in.
#include "observe/row.h"

#include "base/alloc.h"
#include "base/forks.h"
#include "base/thread.h"
#include "observe/caller.h"
#include "observe/launch.h"
#include "observe/names.h"

#define CHAINS 256u // a region asks for its row each time, and there may be hundreds

static struct slri_row *first;         // atomic
static struct slri_row *chain[CHAINS]; // atomic: their first
static slri_mutex lock = SLRI_MUTEX_INIT;
static uint32_t rows; // under it
SLRI_RENEW_IN_CHILD(renew_lock, &lock, NULL)

struct slri_row *slri_rows(void)
{
    // Acquire: what a row is was written before it came into the list.
    return __atomic_load_n(&first, __ATOMIC_ACQUIRE);
}

// Names are numbers that begin at 1: the rows of different names are in different chains, as far as that goes.
static struct slri_row **chain_of(uint32_t name)
{
    return &chain[name % CHAINS];
}

static struct slri_row *look_up_row(uint32_t kind, uint32_t name, uint32_t device, uint64_t source)
{
    // Acquire: as above.
    for (struct slri_row *row = __atomic_load_n(chain_of(name), __ATOMIC_ACQUIRE); row; row = row->next_of_chain)
        if (row->name == name && row->kind == kind && row->device == device && row->source == source)
            return row;
    return NULL;
}

static struct slri_row *add_row(uint32_t kind, uint32_t name, uint32_t device, uint64_t source)
{
    struct slri_row *row = slri_alloc(NULL, sizeof *row);
    if (!row)
        return NULL;
    row->kind = kind;
    row->name = name;
    row->device = device;
    row->source = source;
    row->next = first;
    row->next_of_chain = *chain_of(name);
    ++rows;
    __atomic_store_n(&first, row, __ATOMIC_RELEASE);
    __atomic_store_n(chain_of(name), row, __ATOMIC_RELEASE);
    return row;
}

struct slri_row *slri_row(uint32_t kind, uint32_t name, uint32_t device, uint64_t source)
{
    struct slri_row *row = look_up_row(kind, name, device, source);
    if (row)
        return row;
    slri_mutex_lock(&lock);
    if (rows >= SLRI_ROWS - SLR_PROFILE_UNTIMED) { // one of each kind is left; that is the last one
        name = slri_name("(others)");
        device = 0;
        source = 0;
    }
    row = look_up_row(kind, name, device, source);
    if (!row)
        row = add_row(kind, name, device, source);
    slri_mutex_unlock(&lock);
    return row;
}

// ---- counting ------------------------------------------------------------------------------------------------------

uint32_t slri_row_generation = 1;

// One of several writers at a time; readers at any.
static void raise_to(uint64_t *count, uint64_t by)
{
    __atomic_store_n(count, *count + by, __ATOMIC_RELAXED);
}

void slri_row_part_count(struct slri_row_part *part, const struct slri_sample *sample)
{
    const struct slri_launch_count *launch = sample->launch;
    const uint64_t times = sample->messages != 0 ? sample->messages : 1;
    raise_to(&part->messages, sample->messages);
    if (!launch || launch->count.counted == SLRI_COUNT_UNKNOWN)
        raise_to(&part->others, 1);
    if (!launch)
        return;
    raise_to(&part->threads, times * launch->threads);
    raise_to(&part->blocks, times * launch->blocks);
    raise_to(&part->bytes, times * launch->count.bytes);
    raise_to(&part->flops, times * launch->count.flops);
    raise_to(&part->flops64, times * launch->count.flops64);
    raise_to(&part->instructions, times * launch->count.instructions);
}

// Emptied by stores that readers may meet: all behind the lock.
static void empty(struct slri_row_part *part, uint32_t now)
{
    uint64_t *const first = &part->bytes, *const end = (uint64_t *)(part + 1);
    for (uint64_t *word = first; word < end; ++word)
        __atomic_store_n(word, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&part->generation, now, __ATOMIC_RELEASE); // it is empty, for readers
}

static struct slri_row_part *make_part(struct slri_row *row, uint32_t slot)
{
    struct slri_row_part *part = slri_alloc(NULL, sizeof *part), *other = NULL;
    if (!part)
        return NULL;
    // Release: it is empty. Of threads that share the slot one was first.
    if (__atomic_compare_exchange_n(&row->part[slot], &other, part, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
        return part;
    slri_free(NULL, part, sizeof *part);
    return other;
}

// Its one writer's until the lock is given back; NULL: no memory.
static struct slri_row_part *take_part(struct slri_row *row, const struct slri_own *own)
{
    struct slri_row_part *part = __atomic_load_n(&row->part[own->slot], __ATOMIC_ACQUIRE); // it was empty
    if (!part && !(part = make_part(row, own->slot)))
        return NULL;
    slri_lock_take(&part->lock);
    uint32_t now = __atomic_load_n(&slri_row_generation, __ATOMIC_RELAXED); // a number
    if (part->generation != now)
        empty(part, now);
    return part;
}

void slri_row_add_slowly(struct slri_row *row, const struct slri_own *own, const struct slri_sample *sample)
{
    struct slri_row_part *part = take_part(row, own);
    if (!part)
        return;
    slri_row_part_add(part, sample);
    slri_lock_give(&part->lock);
}

void slri_row_tell(struct slri_row *row, const struct slri_own *own, const struct slri_histogram *now,
                   struct slri_histogram *told)
{
    struct slri_row_part *part = take_part(row, own);
    if (!part)
        return;
    slri_histogram_tell(&part->time, now, told);
    slri_lock_give(&part->lock);
}

void slri_rows_clear(void)
{
    __atomic_fetch_add(&slri_row_generation, 1, __ATOMIC_RELAXED);
}

// ---- reading -------------------------------------------------------------------------------------------------------

static double per_second(uint64_t what, uint64_t ns)
{
    return ns ? (double)what * 1e9 / (double)ns : 0;
}

// All parts together; `into` is the caller's alone.
static void merge(const struct slri_row *row, struct slri_row_part *into)
{
    for (uint32_t i = 0; i < SLRI_SLOTS; ++i) {
        const struct slri_row_part *part = __atomic_load_n(&row->part[i], __ATOMIC_ACQUIRE); // as above
        if (!part || __atomic_load_n(&part->generation, __ATOMIC_ACQUIRE) !=                 // it was emptied
                         __atomic_load_n(&slri_row_generation, __ATOMIC_RELAXED))
            continue;
        slri_histogram_merge(&into->time, &part->time);
        const uint64_t *const from[] = {&part->bytes,        &part->flops,    &part->flops64,
                                        &part->instructions, &part->threads,  &part->blocks,
                                        &part->others,       &part->messages, &part->pinned_bytes};
        uint64_t *const to[] = {&into->bytes,  &into->flops,  &into->flops64,  &into->instructions, &into->threads,
                                &into->blocks, &into->others, &into->messages, &into->pinned_bytes};
        for (size_t k = 0; k < sizeof from / sizeof *from; ++k)
            *to[k] += __atomic_load_n(from[k], __ATOMIC_RELAXED); // counts, each by itself
    }
}

// Whether it is of something whose work is counted in the intermediate form.
static bool is_counted(const struct slri_row *row)
{
    return row->kind == SLR_PROFILE_KERNEL || row->kind == SLR_PROFILE_BATCH;
}

// Of all its launches the least that can be said.
static uint32_t counted(const struct slri_row *row, const struct slri_row_part *all)
{
    uint32_t least = SLR_COUNTED_EXACT;
    const struct slri_launch_count *each = __atomic_load_n(&row->launches, __ATOMIC_ACQUIRE); // what it says
    if (!is_counted(row) || !each || all->others != 0)
        return SLR_COUNTED_NOT;
    for (; each; each = each->next)
        if (each->count.counted != SLRI_COUNT_UNKNOWN && (uint32_t)each->count.counted < least)
            least = (uint32_t)each->count.counted;
    return least;
}

_Static_assert(SLR_COUNTED_EXACT == (int)SLRI_COUNT_EXACT && SLR_COUNTED_AT_MOST == (int)SLRI_COUNT_AT_MOST,
               "the public numbers");
_Static_assert(SLR_PROFILE_LINES == SLRI_COUNT_LINES, "the public number of lines");

// Those of the launch that was counted first.
static void read_lines(const struct slri_row *row, slr_profile_row *out)
{
    const struct slri_launch_count *first = __atomic_load_n(&row->launches, __ATOMIC_ACQUIRE); // what it says
    while (first && first->next)
        first = first->next;
    const char *file = __atomic_load_n(&row->file, __ATOMIC_RELAXED); // each time the same text
    out->file = file ? file : "";
    for (uint32_t i = 0; first && i < SLRI_COUNT_LINES && first->count.line[i].line != 0; ++i)
        out->lines[i] = (slr_profile_line){first->count.line[i].line, first->count.line[i].share};
}

static void read_time(const struct slri_histogram *time, slr_profile_row *out)
{
    out->n = slri_histogram_count(time);
    out->total_ns = time->sum;
    out->min_ns = slri_histogram_least(time);
    out->mean_ns = slri_histogram_mean(time);
    out->p50_ns = slri_histogram_quantile(time, 0.5);
    out->p95_ns = slri_histogram_quantile(time, 0.95);
    out->p99_ns = slri_histogram_quantile(time, 0.99);
    out->max_ns = time->most;
}

void slri_row_read(const struct slri_row *row, slr_profile_row *out)
{
    struct slri_row_part all = {0}; // 30 KiB
    merge(row, &all);
    *out = (slr_profile_row){.kind = row->kind,
                             .counted = counted(row, &all),
                             .name = slri_name_text(row->name),
                             .device = slri_name_text(row->device)};
    read_time(&all.time, out);
    read_lines(row, out);
    bool known = !is_counted(row) || out->counted != SLR_COUNTED_NOT;
    out->messages = all.messages;
    out->pinned_bytes = all.pinned_bytes;
    if (row->kind == SLR_PROFILE_CALLER)
        slri_caller_read(row, out);
    out->threads = all.threads;
    out->blocks = all.blocks;
    if (!known)
        return;
    out->bytes = all.bytes;
    out->flops = all.flops;
    out->flops64 = all.flops64;
    out->instructions = all.instructions;
    out->bytes_per_second = per_second(all.bytes, all.time.sum);
    out->flops_per_second = per_second(all.flops + all.flops64, all.time.sum);
    out->intensity = all.bytes ? (double)(all.flops + all.flops64) / (double)all.bytes : 0;
}
