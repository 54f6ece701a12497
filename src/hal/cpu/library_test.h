// SPDX-License-Identifier: Apache-2.0
// A module's handlers as machine code, for tests, as a device has them whose engine was asked for.
#ifndef SLRI_HAL_CPU_LIBRARY_TEST_H
#define SLRI_HAL_CPU_LIBRARY_TEST_H

#include "engine/code.h"
#include "hal/cpu/cpu.h"

#include <stdlib.h>

struct slri_cpu_library {
    void *loaded;
    const struct slri_module *module;
    bool was_cached;
};

static inline slr_status slri_cpu_compile(const struct slri_module *module, struct slri_cpu_library **out)
{
    struct slri_cpu cpu = {.engine_was_asked = true};
    struct slri_code_text text = {.module = module, .name = module->name, .file = module->name};
    struct slri_cpu_library *made = calloc(1, sizeof *made);
    made->module = module;
    slri_cpu_fallback_init(&cpu.fallback);
    slr_status status = slri_cpu_code_write(&cpu, &text);
    if (status == SLR_OK)
        status = slri_code_load(&slri_backend_cpu, &cpu, &text, &made->loaded, &made->was_cached);
    else
        slri_code_text_free(&text);
    slri_cpu_fallback_destroy(&cpu.fallback);
    if (status != SLR_OK) {
        free(made);
        made = NULL;
    }
    *out = made;
    return status;
}

static inline slr_status slri_cpu_library_symbol(const struct slri_cpu_library *library, const char *name,
                                                 slri_handler **out)
{
    const struct slri_entry entry = {.name = name, .kind = SLRI_ENTRY_RING};
    const struct slri_code_text of = {.module = library->module, .entry = &entry};
    struct slri_kernel kernel = {0};
    slr_status status = slri_cpu_code_kernel(NULL, library->loaded, &of, &kernel);
    *out = kernel.handler;
    return status;
}

static inline bool slri_cpu_library_was_cached(const struct slri_cpu_library *library)
{
    return library->was_cached;
}

static inline void slri_cpu_library_close(struct slri_cpu_library *library)
{
    if (library)
        slri_cpu_code_unload(NULL, library->loaded);
    free(library);
}

#endif
