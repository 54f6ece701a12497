// SPDX-License-Identifier: Apache-2.0
// A cache whose sets drop the line that was not used for the longest time.
#include "run/core_cache.h"

#include <string.h>

// Cores look for a set and for a page's address at the same time. So each way is as large as a page: x86 has no other
// first caches.
enum { LINE_BYTES = 64, WAY_BYTES = 4096, SETS = WAY_BYTES / LINE_BYTES, MOST_WAYS = 32, PLACE_SHIFT = 24 };
static const uint32_t barrier = UINT32_MAX;

struct cache {
    uint32_t ways, filled[SETS];
    uint32_t line[SETS][MOST_WAYS]; // the last one used first
};

static bool note(struct slri_core_cache_trace *trace, uint32_t what)
{
    if (trace->accesses == SLRI_CORE_CACHE_ACCESSES)
        return false;
    trace->access[trace->accesses++] = what;
    return true;
}

bool slri_core_cache_note(struct slri_core_cache_trace *trace, uint32_t place, uint64_t at)
{
    const uint32_t line = (uint32_t)(at / LINE_BYTES) & ((1u << PLACE_SHIFT) - 1);
    return note(trace, place << PLACE_SHIFT | line);
}

bool slri_core_cache_note_barrier(struct slri_core_cache_trace *trace)
{
    return note(trace, barrier);
}

void slri_core_cache_end_thread(struct slri_core_cache_trace *trace, bool is_whole)
{
    if (is_whole && trace->threads < SLRI_CORE_CACHE_THREADS)
        trace->end[trace->threads++] = trace->accesses;
    else
        trace->accesses = trace->threads ? trace->end[trace->threads - 1] : 0;
}

static bool misses(struct cache *cache, uint32_t line)
{
    uint32_t set = line % SETS, at = 0, *lines = cache->line[set];
    while (at < cache->filled[set] && lines[at] != line)
        ++at;
    bool is_missing = at == cache->filled[set];
    if (is_missing && cache->filled[set] < cache->ways)
        ++cache->filled[set];
    else if (is_missing)
        --at;
    memmove(lines + 1, lines, at * sizeof *lines);
    lines[0] = line;
    return is_missing;
}

// One thread's accesses up to its next barrier.
static uint64_t run_thread(struct cache *cache, const struct slri_core_cache_trace *trace, uint32_t end, uint32_t *at)
{
    uint64_t missed = 0;
    for (; *at < end && trace->access[*at] != barrier; ++*at)
        missed += misses(cache, trace->access[*at]);
    *at += *at < end; // behind the barrier
    return missed;
}

uint64_t slri_core_cache_misses(const struct slri_core_cache_trace *trace, uint64_t cache_bytes)
{
    const uint64_t ways = cache_bytes / WAY_BYTES;
    struct cache cache = {.ways = ways < 1 ? 1 : ways > MOST_WAYS ? MOST_WAYS : (uint32_t)ways};
    uint32_t at[SLRI_CORE_CACHE_THREADS];
    uint64_t missed = 0;
    for (uint32_t i = 0; i < trace->threads; i++)
        at[i] = i ? trace->end[i - 1] : 0;
    for (bool is_left = true; is_left;) {
        is_left = false;
        for (uint32_t i = 0; i < trace->threads; i++) {
            missed += run_thread(&cache, trace, trace->end[i], &at[i]);
            is_left |= at[i] < trace->end[i];
        }
    }
    return missed;
}
