// SPDX-License-Identifier: Apache-2.0
// The MSL emitter: a kernel becomes one text for MTLDevice's newLibraryWithSource. README.md says how it is bound.
//
// All threads of a block come to each barrier and to each function of a warp (ir/pass/level.h). A warp is a simdgroup.
// Atomics are relaxed, and have fences around them. Accesses are not checked. Floats are Metal's with safe math:
// + - * / and sqrt are rounded once, other functions have the bounds of its specification (docs/contract/math.md).
#ifndef SLRI_EMIT_MSL_EMIT_MSL_H
#define SLRI_EMIT_MSL_EMIT_MSL_H

#include "base/text.h"
#include "emit/device/arguments.h"
#include "ir/ir.h"

#include <slipring/status.h>

#define SLRI_MSL_KERNEL_PREFIX "slrk_"
#define SLRI_MSL_3_0 0x30000u // as MTLLanguageVersion3_0
#define SLRI_MSL_3_2 0x30002u

struct slri_msl_options {
    const uint32_t *block; // NULL, or the shape of all launches: the compiler may count on so many threads
    uint32_t version;      // the newest that the device compiles; 0: SLRI_MSL_3_2
};

struct slri_msl_facts {
    struct slri_arguments arguments;
    uint32_t version; // SLRI_MSL_3_0 or SLRI_MSL_3_2: the least that the text asks for
    bool has_warps;   // the pipeline's threadExecutionWidth must be 32
};

// Writes no text, so that a cached one needs no emitter. Errors: NO_MEMORY.
slr_status slri_msl_facts(const struct slri_module *module, const struct slri_entry *kernel,
                          struct slri_msl_facts *out);

// Appends the text. `#line` maps every statement to where the user wrote it. The module must pass slri_module_verify.
// `options` NULL: all as 0. Errors: UNSUPPORTED (no kernel; a double, a 64-bit atomic, a function, a barrier or an
// order of memory that Metal lacks; the message names the place and says what to do), NO_MEMORY.
slr_status slri_emit_msl(const struct slri_module *module, const struct slri_entry *kernel,
                         const struct slri_msl_options *options, struct slri_text *out);

#endif
