// SPDX-License-Identifier: Apache-2.0
// The OpenCL C emitter: kernels and handlers of a module become one OpenCL C file. It needs nothing but the compiler
// behind clBuildProgram, cl_khr_fp64 where the source has doubles, and cl_khr_int64_*_atomics where it has such
// atomics.
//
// A `__global__` kernel NAME becomes `__kernel void slrk_NAME(...)`. Its arguments, in this order:
//   for each of the entry's bindings, in their order
//     a buffer     one `__global` pointer (clSetKernelArg with a cl_mem, or clSetKernelArgSVMPointer); a NULL cl_mem
//                  where the launch gives none;
//     a scalar     by value, slri_kind_bytes(type->kind) bytes of it;
//     a struct     by value, type->bytes bytes;
//   then, where entry->function->uses has SLRI_USES_GLOBAL, the program's memory for its variables: a buffer;
//   then, where it has SLRI_USES_PRINT, memory for what this launch prints (engine/printed.h), or a NULL cl_mem;
//   then, where slri_kernel_may_fault, three words, zero, of which the first thread that divides by zero, or whose
//   assertion fails, or that traps, makes enum slri_fault, file and line; it goes on, and what it divides is 0;
//   then, where it has SLRI_USES_DYNAMIC, the `extern __shared__` memory, aligned to 16: clSetKernelArg(.., bytes,
//   NULL), with bytes at least 1.
// `__shared__` objects of known size are declared in the kernel. threadIdx, blockIdx, blockDim and gridDim are
// get_local_id, get_group_id, get_local_size and get_num_groups: enqueue grid * block work-items with a local size of
// block. Accesses are not checked (docs/rationale.md).
//
// A handler NAME becomes `uint slre_NAME(struct slri_call *call, __local uchar *shared)`, to be called from a kernel
// that stands behind it in the same file: by one work-item a message for `__ring__`, by all of a work-group for
// `__ring_block__`, whose entry->max_threads it must have. struct slri_call is in prelude/slr_opencl_ring.h; `shared`
// are slri_opencl_shared_bytes(entry) bytes of local memory of the group, aligned to 16 (a `__ring__` handler uses
// none). The result is an enum slri_fault; of a block's work-items each gives what it met itself.
#ifndef SLRI_EMIT_OPENCL_EMIT_OPENCL_H
#define SLRI_EMIT_OPENCL_EMIT_OPENCL_H

#include "base/text.h"
#include "ir/ir.h"

#include <slipring/status.h>

#define SLRI_OPENCL_KERNEL_PREFIX "slrk_"

// What the functions of a warp are made of.
enum slri_opencl_warps {
    SLRI_OPENCL_LOCAL_MEMORY,     // and barriers of the group
    SLRI_OPENCL_SUB_GROUPS,       // cl_khr_subgroup_ballot and _shuffle; each sub-group must be 32 threads, in order
    SLRI_OPENCL_SUB_GROUPS_OF_32, // likewise, and the kernel asks for that size: cl_intel_required_subgroup_size
};

struct slri_opencl_options {
    enum slri_opencl_warps warps;
    bool c11_atomics; // OpenCL 3.0's atomic_*_explicit; false: 1.2's, volatile and fences
    bool has_clock;   // the compiler has a counter that is the host's: what CLOCK reads (hal/opencl/device/cl_clock.h)
    bool svm_scope;   // memory_scope_all_svm_devices is known; false: the system is taken for the device
    bool loops_over_threads; // the device runs the threads of a group in a loop (whole.h)
    const uint32_t *block;   // NULL, or the shape of all launches: reqd_work_group_size
};

// Appends the file: of one entry, or of all of the module's where `entry` is NULL. `#line` maps every statement to
// where the user wrote it. The module must pass slri_module_verify. Compile with -cl-std=CL3.0 for c11_atomics, else
// -cl-std=CL1.2, and without -cl-fast-relaxed-math or -cl-mad-enable. `options` NULL: all as 0.
// Errors: UNSUPPORTED (a barrier that OpenCL cannot wait at, emit_opencl_check.h; the message names the place),
// NO_MEMORY.
slr_status slri_emit_opencl(const struct slri_module *module, const struct slri_entry *entry,
                            const struct slri_opencl_options *options, struct slri_text *out);

// The words that emitted text is made of, with such options: what a probe of the device is written in.
void slri_opencl_words(const struct slri_opencl_options *options, struct slri_text *out);

uint64_t slri_opencl_dump_bytes(const struct slri_module *module); // of a handler's slri_call.dump, aligned to 16
uint64_t slri_opencl_shared_bytes(const struct slri_entry *entry); // of a handler's `shared`; at least 8

#endif
