// SPDX-License-Identifier: Apache-2.0
/// What a thread of a kernel does, counted in its source. Contract: docs/contract/kernels.md.
#ifndef SLIPRING_EXPLAIN_H
#define SLIPRING_EXPLAIN_H

#include <slipring/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Operations of one thread that takes every branch: the larger side of an if, all of a switch.
typedef struct slr_counts {
    uint64_t flops;       ///< float and double additions, multiplications, divisions; a fused one is two
    uint64_t math_calls;  ///< functions of the math library but for fused multiply-adds, absolute values and the like
    uint64_t integer_ops; ///< also comparisons and conversions, indices among them
    uint64_t global_loads, global_stores, global_load_bytes, global_store_bytes; ///< buffers, and a handler's state
    uint64_t shared_loads, shared_stores;
    uint64_t atomics, barriers, warp_functions;
} slr_counts;

typedef struct slr_explanation {
    slr_counts thread;                       ///< all of it; loops whose trip count is not in the source count once
    slr_counts loops;                        ///< of that, what is inside such loops
    uint32_t loops_counted, loops_uncounted; ///< with a trip count in the source, and without
    double
        intensity; ///< flops a byte of global memory, in those loops if they reach any, else of all; 0: it reaches none
} slr_explanation;

/// Counts a kernel or handler, with what it calls.
///
/// Threads: any.  Blocks: no.  Owns: nothing.  Errors: NOT_FOUND (no such name), INVALID (a NULL), NO_MEMORY.
SLR_API slr_status slr_program_explain(const slr_program *program, const char *name, slr_explanation *out);

#ifdef __cplusplus
}
#endif
#endif
