// SPDX-License-Identifier: Apache-2.0
#include "device/globals.h"
#include "base/alloc.h"
#include "base/status.h"

slr_status slri_globals_begin(const struct slri_module *module, const slr_allocator *allocator, void *memory,
                              slri_globals_write *write, void *device)
{
    unsigned char *values = slri_alloc(allocator, module->global_bytes);
    if (!values)
        return SLRI_FAIL(NO_MEMORY, "no memory for the variables of '%s'", module->name);
    slri_module_begin_globals(module, values);
    slr_status status = write(device, memory, values, module->global_bytes);
    slri_free(allocator, values, module->global_bytes);
    return status;
}
