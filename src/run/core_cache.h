// SPDX-License-Identifier: Apache-2.0
// How well the threads of a block use the first cache of a core that runs them one after the other, each up to the next
// barrier: their accesses are noted thread by thread, then gone through in the core's order.
#ifndef SLRI_RUN_CORE_CACHE_H
#define SLRI_RUN_CORE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define SLRI_CORE_CACHE_ACCESSES (1u << 20) // that are noted
#define SLRI_CORE_CACHE_THREADS 1024u

struct slri_core_cache_trace {
    uint32_t accesses, threads;
    uint32_t end[SLRI_CORE_CACHE_THREADS];     // of each thread: where the next one's accesses begin
    uint32_t access[SLRI_CORE_CACHE_ACCESSES]; // a line, or that the thread waits at a barrier
};

// False: there is no room. `place`: which memory, below 127, whose byte 0 begins a page; `at`: the byte that is
// accessed.
bool slri_core_cache_note(struct slri_core_cache_trace *trace, uint32_t place, uint64_t at);
bool slri_core_cache_note_barrier(struct slri_core_cache_trace *trace);
// The accesses since the last call were those of a thread; without `is_whole` they are forgotten.
void slri_core_cache_end_thread(struct slri_core_cache_trace *trace, bool is_whole);

// How many accesses of all threads do not find their line in a cache of so many bytes.
uint64_t slri_core_cache_misses(const struct slri_core_cache_trace *trace, uint64_t cache_bytes);

#endif
