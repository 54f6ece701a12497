// SPDX-License-Identifier: Apache-2.0
// The C emitter: a module becomes one C17 file that needs nothing but a compiler which knows gcc's __builtin_*
// functions.
#ifndef SLRI_EMIT_C_EMIT_C_H
#define SLRI_EMIT_C_EMIT_C_H

#include "base/hash.h"
#include "base/text.h"
#include "ir/ir.h"

#include <slipring/status.h>

// What stands before an entry's name in the symbol that a file exports for it: a slri_handler (abi/handler.h).
#define SLRI_ENTRY_SYMBOL_PREFIX "slre_"

// Appends the file. `#line` maps every statement to where the user wrote it. What an emitted handler does beyond its
// source: the faults of abi/handler.h, with their place; fuel, which is taken at once for a loop whose trip count is
// known on entry, so that the compiler can vectorise it. It expects that a binding's memory is neither the state's nor
// the message's. Must be compiled with -fwrapv, -fno-strict-aliasing and -ffp-contract=off. The module must pass
// slri_module_verify. A `__ring_block__` handler runs its block's threads as emit_c_kernel.h says. `__global__` kernels
// are left out. Errors: NO_MEMORY; of a `__ring_block__` handler UNSUPPORTED, as slri_emit_c_kernel's.
slr_status slri_emit_c(const struct slri_module *module, struct slri_text *out);

// ---- link.c: several emitted files in one library ------------------------------------------------------------------

// What a text is, wherever its source lies: a hash of all but its #line.
void slri_emit_c_key(const struct slri_text *text, char key[SLRI_HASH_HEX_BYTES]);

// Adds the key to the names of what an emitted file exports: "slre_detect_KEY". `entry`: of a kernel's file, or NULL.
// Errors: NO_MEMORY.
slr_status slri_emit_c_link(const struct slri_module *module, const struct slri_entry *entry, struct slri_text *text);

#endif
