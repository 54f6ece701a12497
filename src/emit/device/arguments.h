// SPDX-License-Identifier: Apache-2.0
// The argument block of a kernel that reaches memory by address: SPIR-V's and Metal's. It lies at a multiple of 16,
// each value at a multiple of its alignment:
//   for each of the entry's bindings, in their order
//     a buffer    its device address, 8 bytes; 0 where the launch gives none
//     a scalar    its value, at a multiple of 4 at least; what is left of 4 bytes is 0
//     a struct    its bytes, type->bytes of them, at a multiple of its alignment and of 8
//   then, each 8 bytes, the device address of
//     the program's variables, where entry->function->uses has SLRI_USES_GLOBAL
//     what this launch prints (engine/printed.h), where it has SLRI_USES_PRINT; 0: nobody hears it
//     three words for a fault (enum slri_fault, file, line), zero before, where slri_kernel_may_fault: the first
//     thread that divides by zero, fails an assertion or traps fills them in; it goes on, and what it divides is 0
#ifndef SLRI_EMIT_DEVICE_ARGUMENTS_H
#define SLRI_EMIT_DEVICE_ARGUMENTS_H

#include "ir/ir.h"

#include <slipring/status.h>

#define SLRI_ARGUMENT_NONE UINT32_MAX

struct slri_arguments {
    uint32_t bytes;                     // of the block; at least 8
    uint32_t globals, printed, faulted; // offsets in it; SLRI_ARGUMENT_NONE: not there
    bool has_dynamic;                   // the kernel uses `extern __shared__` memory
};

// Where binding `index` of the kernel lies in the block.
uint32_t slri_argument(const struct slri_entry *entry, uint32_t index);

// Errors: NO_MEMORY.
slr_status slri_arguments_find(const struct slri_module *module, const struct slri_entry *entry,
                               struct slri_arguments *out);

#endif
