// SPDX-License-Identifier: Apache-2.0
// Variables of a program, where they lie in a device's own memory. For backends.
#ifndef SLRI_DEVICE_GLOBALS_H
#define SLRI_DEVICE_GLOBALS_H

#include "device/backend.h"

// Writes what they begin with to `memory`, which has the module's global_bytes. `write` copies there, and has when it
// returns. Errors: NO_MEMORY, those of `write`.
typedef slr_status slri_globals_write(void *device, void *memory, void *host, uint64_t bytes);
slr_status slri_globals_begin(const struct slri_module *module, const slr_allocator *allocator, void *memory,
                              slri_globals_write *write, void *device);

#endif
