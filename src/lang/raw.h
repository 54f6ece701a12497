// SPDX-License-Identifier: Apache-2.0
// A source that is not read by the front end but given to the driver's compiler as it is, CUDA C++ or SPIR-V: only what
// its kernels take is read.
#ifndef SLRI_LANG_RAW_H
#define SLRI_LANG_RAW_H

#include "base/text.h"
#include "lang/kernel.h"

// A module of the kernels of `source->text`, which has their parameters and no code: `module->raw` is the text. They
// are read from the text itself, of `extern "C" __global__` kernels that it defines and that no macro makes; or from
// `table`, prototypes such as "__global__ void k(const float *x, int n);", where that is not NULL. Nothing that the
// module's functions do may be looked at. Errors: COMPILE (no kernel, or a parameter of a type that is not in the
// subset; names it), NO_MEMORY.
slr_status slri_raw_compile(const struct slri_source *source, const char *table, struct slri_module **out);

// The same of a module in SPIR-V, whose kernels are those of `table`. Errors: COMPILE (also where it is no SPIR-V of
// this machine's byte order).
slr_status slri_raw_take_spirv(const char *path, const char *table, const void *words, size_t bytes,
                               struct slri_module **out);

// Appends what the front end is given for that: each kernel with an empty body. Gives how many.
uint32_t slri_raw_read(const char *text, bool is_table, struct slri_text *out);

#endif
