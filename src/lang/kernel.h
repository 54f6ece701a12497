// SPDX-License-Identifier: Apache-2.0
// The front end's one door: source text in, a module of checked IR out, or diagnostics.
#ifndef SLRI_LANG_KERNEL_H
#define SLRI_LANG_KERNEL_H

#include "ir/ir.h"
#include "lang/text/source.h"

#include <slipring/status.h>

// Preprocesses, parses, checks and lowers. On SLR_COMPILE the thread's error message holds every diagnostic
// ("ward.cu:12:9: error SLR-K012: ..." with the source line, a caret and advice) and closes with their number.
// `#include <slipring/device.h>` is built in. The module is the caller's: slri_module_destroy.
slr_status slri_kernel_compile(const struct slri_source *source, struct slri_module **out);

// `is_allowed`: whether what the source requires of its macros holds with those that `source` defines. It is only
// preprocessed. Errors: COMPILE, NOT_FOUND, SYSTEM, NO_MEMORY.
slr_status slri_kernel_is_allowed(const struct slri_source *source, bool *is_allowed);

#endif
