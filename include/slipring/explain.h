// SPDX-License-Identifier: Apache-2.0
/// The functions of this header give figures of a kernel without a run of the kernel. slr_program_explain counts the
/// operations of one thread in the source. slr_program_get_resources reads the GPU resources that the kernel uses, such
/// as registers, from the machine code. Contract: docs/contract/kernels.md.
#ifndef SLIPRING_EXPLAIN_H
#define SLIPRING_EXPLAIN_H

#include <slipring/program.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// slr_counts has the numbers of operations of one thread, counted in the source. Of the two sides of an `if`, slipring
/// counts only the side with more operations; of a `switch`, slipring counts every case.
typedef struct slr_counts {
    uint64_t flops;      ///< float and double additions, multiplications, divisions; a fused multiply-add counts as two
    uint64_t math_calls; ///< calls of math functions; fma, fabs, fmin and fmax count in `flops` instead
    uint64_t integer_ops; ///< integer operations, including comparisons, conversions and index arithmetic
    // Accesses to buffers and to a handler's state: the number of loads and stores, and their bytes.
    uint64_t global_loads, global_stores, global_load_bytes, global_store_bytes;
    uint64_t shared_loads, shared_stores; ///< accesses to shared memory
    uint64_t atomics, barriers, warp_functions;
} slr_counts;

/// slr_explanation has the counts of one function: a kernel or a handler.
typedef struct slr_explanation {
    /// The counts of the whole function; a loop whose number of iterations is not in the source counts as one
    /// iteration.
    slr_counts thread;
    /// The part of the counts `thread` that comes from loops whose number of iterations is not in the source.
    slr_counts loops;
    // The number of loops whose number of iterations is in the source, and the number of all other loops.
    uint32_t loops_counted, loops_uncounted;
    /// The floating-point operations per byte of global memory. The counts come from `loops` if `loops` has any access
    /// to global memory, else from `thread`. 0 means no access to global memory.
    double intensity;
} slr_explanation;

/// Counts the operations of a kernel or handler, and of the functions that it calls.
///
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: NOT_FOUND (no such name), INVALID (a NULL argument), UNSUPPORTED (a raw program), NO_MEMORY.
SLR_API slr_status slr_program_explain(const slr_program *program, const char *name, slr_explanation *out);

/// The macro slr_program_explain calls slr_program_explain_sized with sizeof(slr_explanation) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_program_explain_sized(const slr_program *program, const char *name, slr_explanation *out,
                                             size_t bytes);
#define slr_program_explain(program, name, out)                                                                        \
    slr_program_explain_sized((program), (name), (out), sizeof(slr_explanation))

#define SLR_RESOURCE_UNKNOWN UINT32_MAX

/// slr_resources has the resources of an NVIDIA multiprocessor that a kernel uses.
typedef struct slr_resources {
    uint32_t compiler_major, compiler_minor; ///< version of the NVRTC that compiled the kernel
    uint32_t capability;                     ///< compute capability of the machine code: 90 means 9.0
    uint32_t registers;                      ///< registers per thread
    uint32_t stack_bytes; ///< bytes of stack per thread: arrays that are not in registers, and spilled registers
    /// The number of instructions that store or load spilled registers. Before CUDA 13, `spills` is
    /// SLR_RESOURCE_UNKNOWN.
    uint32_t spills;
    uint32_t shared_bytes; ///< bytes of static shared memory per block
    /// The bytes of constant memory: for parameters, for the driver, for the file's variables, and for the compiler's
    /// constants.
    uint32_t constant_bytes;
    uint32_t parameter_bytes; ///< size of all parameters
    uint32_t barriers;        ///< number of barriers that a block uses
    uint32_t most_threads;    ///< the most threads per block, from `__launch_bounds__`; 0: the source gives none
    uint32_t code_bytes;      ///< size of the machine code
} slr_resources;

/// Compiles a kernel for a compute capability, and reads the kernel's resources from the machine code.
/// slr_program_get_resources needs the CUDA compiler, but no GPU. The compiler is the library that SLIPRING_NVRTC_LIB
/// names, else the newest libnvrtc.so on this machine.
///
/// Threads: any.  Blocks: while the call compiles.  Owns: nothing.
/// Errors: NOT_FOUND (no such name), INVALID (a NULL argument), COMPILE, NO_MEMORY, UNSUPPORTED (no compiler; a
///   capability that the compiler does not know; a handler instead of a kernel: the error message gives the reason).
SLR_API slr_status slr_program_get_resources(const slr_program *program, const char *name, uint32_t capability,
                                             slr_resources *out);

/// The macro slr_program_get_resources calls slr_program_get_resources_sized with sizeof(slr_resources) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_program_get_resources_sized(const slr_program *program, const char *name, uint32_t capability,
                                                   slr_resources *out, size_t bytes);
#define slr_program_get_resources(program, name, capability, out)                                                      \
    slr_program_get_resources_sized((program), (name), (capability), (out), sizeof(slr_resources))

#ifdef __cplusplus
}
#endif
#endif
