// SPDX-License-Identifier: Apache-2.0
// The C compiler on this machine: which one, its identity, and running it.
#ifndef SLRI_HAL_CPU_COMPILER_H
#define SLRI_HAL_CPU_COMPILER_H

#include "base/dl.h"
#include "engine/code.h"

#include <slipring/status.h>

#include <stdbool.h>
#include <stdint.h>

struct slri_cpu_compiler {
    const char *path;     // the three texts live as long as the process
    const char *version;  // the first line of what --version prints
    const char *identity; // path, version, size and time of change: a new compiler is a new identity
    bool tries;           // a compilation of next to nothing, which is not given long
};

// SLIPRING_CC, which then must be there; else the first of cc, gcc, clang on PATH. Errors: NOT_FOUND (none; the message
// says what was looked for), UNSUPPORTED (it does not answer to --version as a compiler does), NO_MEMORY.
slr_status slri_cpu_find_compiler(struct slri_cpu_compiler *out);

// Compiles the file `source` to the shared library `output`, with slri_cpu_flags and `more` (up to NULL, 8 at most;
// NULL: none). Errors: COMPILE (the message holds what the compiler said), TIMEOUT (it was killed at its limit),
// WRONG_STATE (it was killed because `*cancel` was set; NULL: nobody does), SYSTEM (it crashed, or left no output).
slr_status slri_cpu_run_compiler(const struct slri_cpu_compiler *compiler, const char *source, const char *output,
                                 const char *const *more, const uint32_t *cancel);

// Code that was built ahead of just that text (`slipring build`), where the device has no compiler: a page has some.
// `*library` is NULL where there is none.
void slri_cpu_find_built(const struct slri_code_text *of, slri_dl **library);

extern const char *const slri_cpu_flags[]; // what it is called with, up to NULL

#endif
