// SPDX-License-Identifier: Apache-2.0
// What Metal has not, or only from some version on.
#ifndef SLRI_EMIT_MSL_CHECK_H
#define SLRI_EMIT_MSL_CHECK_H

#include "ir/ir.h"

#include <slipring/status.h>

// `version`: the newest that the device compiles. Errors: UNSUPPORTED (the message names the place and says what to
// do), NO_MEMORY.
slr_status slri_msl_check(const struct slri_module *module, const struct slri_entry *kernel, uint32_t version);

#endif
