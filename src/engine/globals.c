// SPDX-License-Identifier: Apache-2.0
#include "engine/globals.h"
#include "base/alloc.h"
#include "base/status.h"

slr_status slri_globals_begin(const struct slri_module *module, const slr_allocator *allocator, void *memory,
                              struct slri_queue_device *queues)
{
    unsigned char *values = slri_alloc(allocator, module->global_bytes);
    if (!values)
        return SLRI_FAIL(NO_MEMORY, "no memory for the variables of '%s'", module->name);
    slri_module_begin_globals(module, values);
    const struct slri_command in = {.op = SLRI_COPY_IN, .copy = {memory, values, module->global_bytes}};
    slr_status status = slri_queue_device_run(queues, &in, 1);
    slri_queue_device_free(queues, values, module->global_bytes); // a lost device may still read them
    return status;
}
