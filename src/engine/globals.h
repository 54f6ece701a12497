// SPDX-License-Identifier: Apache-2.0
// Variables of a program, where they lie in a device's memory.
#ifndef SLRI_ENGINE_GLOBALS_H
#define SLRI_ENGINE_GLOBALS_H

#include "engine/stream.h"

// Writes what they begin with to `memory`, which has the module's global_bytes. Errors: NO_MEMORY, those of a copy.
slr_status slri_globals_begin(const struct slri_module *module, const slr_allocator *allocator, void *memory,
                              struct slri_queue_device *queues);

#endif
