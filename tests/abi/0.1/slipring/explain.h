// SPDX-License-Identifier: Apache-2.0
/// What a thread of a kernel does, counted in its source, and what it takes of a GPU, read from its machine code.
/// Contract: docs/contract/kernels.md.
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
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: NOT_FOUND (no such name), INVALID (a NULL), UNSUPPORTED (a raw program), NO_MEMORY.
SLR_API slr_status slr_program_explain(const slr_program *program, const char *name, slr_explanation *out);

#define SLR_RESOURCE_UNKNOWN UINT32_MAX

/// What a kernel takes of a multiprocessor of an NVIDIA GPU.
typedef struct slr_resources {
    uint32_t compiler_major, compiler_minor; ///< of the NVRTC that compiled it
    uint32_t capability;                     ///< that it is compiled for: 90 is 9.0
    uint32_t registers;                      ///< a thread
    uint32_t stack_bytes;                    ///< a thread: arrays that are in no register, and spilled registers
    uint32_t spills;       ///< instructions that store or load a spilled register; SLR_RESOURCE_UNKNOWN: before CUDA 13
    uint32_t shared_bytes; ///< a block: static
    uint32_t
        constant_bytes; ///< parameters with what the driver keeps before them, the file's variables, the compiler's
    uint32_t parameter_bytes;
    uint32_t barriers;     ///< a block
    uint32_t most_threads; ///< a block, as `__launch_bounds__` says; 0: it is not there
    uint32_t code_bytes;
} slr_resources;

/// Compiles a kernel for a compute capability and reads what it takes from the machine code. No GPU is needed, but
/// CUDA's compiler: what SLIPRING_NVRTC_LIB names, else the newest libnvrtc.so that is found.
///
/// Threads: any.  Blocks: for as long as the compiler takes.  Owns: nothing.
/// Errors: NOT_FOUND (no such name), INVALID (a NULL), UNSUPPORTED (no compiler, one that does not know the capability,
/// or a handler, which is no kernel: the message says which), COMPILE, NO_MEMORY.
SLR_API slr_status slr_program_get_resources(const slr_program *program, const char *name, uint32_t capability,
                                             slr_resources *out);

#ifdef __cplusplus
}
#endif
#endif
