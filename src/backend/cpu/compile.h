// SPDX-License-Identifier: Apache-2.0
// A module as machine code: emitted C, the machine's C compiler, the disk cache, and the loader.
#ifndef SLRI_BACKEND_CPU_COMPILE_H
#define SLRI_BACKEND_CPU_COMPILE_H

#include "abi/handler.h"
#include "abi/launch.h"
#include "kernel/ir.h"

#include <slipring/status.h>

#include <stdbool.h>

struct slri_cpu_library; // loaded; read only, so that any thread may use it

// From the cache where it holds the module for this compiler, CPU and version; else compiled, and put there. Any number
// of threads and processes may compile the same module at once. The module need not outlive the call.
// Errors: NOT_FOUND (no C compiler), UNSUPPORTED (what SLIPRING_CC names is none), COMPILE (the compiler refused; its
// words are in the message), TIMEOUT (it took over 60 s), SYSTEM (it crashed, or left what cannot be loaded),
// NO_MEMORY.
slr_status slri_cpu_compile(const struct slri_module *module, struct slri_cpu_library **out);

// How a kernel is compiled.
struct slri_cpu_variant {
    uint32_t block[3];
    uint32_t width;         // in 4-byte lanes: 1, 4, 8, 16; 0: what was measured to be best
    uint32_t level;         // of optimisation: 1 compiles four times as fast, 2 computes up to twice as fast
    const uint32_t *cancel; // NULL, or set by who wants it no more: WRONG_STATE
};

// The same for one kernel and a shape of block. Errors: also UNSUPPORTED (see slri_emit_c_kernel).
slr_status slri_cpu_compile_kernel(const struct slri_module *module, const struct slri_entry *entry,
                                   const struct slri_cpu_variant *variant, struct slri_cpu_library **out);
slr_status slri_cpu_library_kernel(const struct slri_cpu_library *library, slri_kernel_blocks **out);

// The handler of the entry of that name; its `self` is not used. Errors: NOT_FOUND.
slr_status slri_cpu_library_symbol(const struct slri_cpu_library *library, const char *entry, slri_handler **out);
bool slri_cpu_library_was_cached(const struct slri_cpu_library *library);
void slri_cpu_library_close(struct slri_cpu_library *library); // NULL is fine; none of its handlers may be running

// Which compiler there is; both texts live as long as the process. Errors: as slri_cpu_compile's before it compiles.
slr_status slri_cpu_compiler(const char **path, const char **version);

#endif
