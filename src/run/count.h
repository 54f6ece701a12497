// SPDX-License-Identifier: Apache-2.0
// How much work a launch of a kernel is, or one call of a handler, without running it: some of its threads are walked
// through the IR with the launch's scalars and their place in the grid, all that comes from memory being unknown. Loops
// whose ends are known that way are walked as often as they run. Behind a branch on something unknown both ways are
// counted, so that the count is at most; where the end of a loop hangs on it, the work is not known.
#ifndef SLRI_RUN_COUNT_H
#define SLRI_RUN_COUNT_H

#include "abi/handler.h"
#include "ir/ir.h"
#include "run/warp_trace.h"

struct slri_count_wanted {
    uint64_t most;        // instructions that are walked; 0: 400,000, some milliseconds
    uint64_t cache_bytes; // of a core that runs a block's threads one after the other; 0: its misses are not counted
    bool requests;        // count what the warps of a GPU ask of its memory
};

struct slri_count_launch {
    const struct slri_module *module;
    const struct slri_entry *entry; // a kernel, or a handler: then a grid of 1 and its block, or 1
    const uint32_t *grid, *block;   // three numbers each
    const struct slri_bound *bound; // one a binding
    struct slri_count_wanted wanted;
};

enum slri_counted {
    SLRI_COUNT_UNKNOWN, // nothing of the rest means anything
    SLRI_COUNT_AT_MOST, // of both ways of a branch
    SLRI_COUNT_SAMPLED, // threads differ: an average of those that were walked
    SLRI_COUNT_EXACT    // all that were walked did the same
};

#define SLRI_COUNT_LINES 8
#define SLRI_COUNT_BINDINGS 64u // the accesses of more are not counted

struct slri_count {
    enum slri_counted counted;
    // Of the whole launch.
    uint64_t instructions;   // of the IR
    uint64_t flops, flops64; // additions, multiplications, divisions, math functions (an fma is 2); in double precision
    uint64_t accessed_bytes; // of buffers, by all threads
    uint64_t
        common_bytes; // of these, loads of one place by all the threads of a row, which differ in threadIdx.x alone
    // Of the instructions, those whose result is the same in all threads of a row, or grows by the same from each
    // thread to the next. Code that runs a row's threads as lanes of vectors needs them once a row.
    uint64_t row_instructions;
    // Of the others, those that add to a register, as sums in loops do.
    uint64_t updates;
    // Accesses by which the threads of a row reach neither one place nor places side by side.
    uint64_t scattered;
    // Of the instructions, integer divisions and remainders by a value that does not follow from the source's constants
    // alone; and of these, those whose result is the same in all threads of a row.
    uint64_t divisions, row_divisions;
    uint64_t barriers;     // that threads come to, by all threads
    uint64_t missed_lines; // accesses that do not find their line in the core's cache; 0 also where that is not known
    struct slri_warp_requests warps; // of all warps, where asked for; 0 also where that is not known
    uint64_t bytes;                  // of the same, of each buffer once in and once out at the most: what must be moved
    uint64_t bytes_in, bytes_out;    // the two parts of that
    uint64_t loads, stores;          // bit i: of binding i something is read, something is written
    struct {
        uint32_t line;
        float share;          // of the instructions
    } line[SLRI_COUNT_LINES]; // of the source itself, the busiest first; line 0: no more
};

// Takes up to some milliseconds. Out of memory the work is unknown.
void slri_count(const struct slri_count_launch *launch, struct slri_count *out);

#endif
