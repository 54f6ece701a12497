// SPDX-License-Identifier: Apache-2.0
// The C emitter for `__global__` kernels: one kernel, for one shape of block, becomes one C17 file that needs nothing
// but a compiler which knows gcc's __builtin_* functions.
//
// The threads of a block become loops. What is the same for all of them is computed once, loops and branches that all
// take together stand outside, and between two barriers the threads are an innermost loop over x, which compilers
// vectorise, within a loop over y and z. A value of a thread that is needed in more than one such loop is an array. A
// condition `i < n` on a thread's index becomes the loop's bound. emit_c_plan.h says how that is decided.
#ifndef SLRI_EMIT_C_KERNEL_H
#define SLRI_EMIT_C_KERNEL_H

#include "base/text.h"
#include "ir/ir.h"

#include <slipring/status.h>

// The one symbol that a file exports: a slri_kernel_blocks (abi/launch.h).
#define SLRI_KERNEL_SYMBOL "slrk_blocks"

// Appends the file. Results are the interpreter's, bit for bit, of every kernel that has no fault there: accesses and
// indices are not checked (docs/rationale.md); a division by zero gives 0 and is noted in the launch. Flags as for
// slri_emit_c. The module must pass slri_module_verify.
// Errors: UNSUPPORTED (a return in the middle of a function that is put in, __activemask under a condition in a loop,
// or more private memory than a block may have; the message names the place), NO_MEMORY.
slr_status slri_emit_c_kernel(const struct slri_module *module, const struct slri_entry *entry, const uint32_t block[3],
                              struct slri_text *out);

#endif
