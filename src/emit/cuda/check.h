// SPDX-License-Identifier: Apache-2.0
// What a `__ring_block__` handler cannot wait at on CUDA: a warp function behind a return that only some threads take.
// They run on behind the handler, so that the others would wait for them for ever.
#ifndef SLRI_EMIT_CUDA_CHECK_H
#define SLRI_EMIT_CUDA_CHECK_H

#include "ir/ir.h"

#include <slipring/status.h>

// Errors: UNSUPPORTED (the message names the place), NO_MEMORY.
slr_status slri_emit_cuda_check(const struct slri_module *module, const struct slri_entry *block);

#endif
