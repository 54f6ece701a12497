// SPDX-License-Identifier: Apache-2.0
#include "metal.h"

#include "base/status.h"
#include "emit/msl/emit_msl.h"
#include "tests/shim/image.h"
#include "tests/shim/lanes.h"

#include <stdio.h>
#include <string.h>

enum { MOST_BYTES = 512 };

slr_status metal_load(const struct slri_module *module, metal_kernel *out)
{
    slri_text text = SLRI_TEXT_INIT;
    *out = (metal_kernel){module, module->entry, NULL};
    slr_status status = slri_emit_msl(module, module->entry, NULL, &text);
    const struct shim_text one = {.text = slri_text_view(&text)};
    if (status == SLR_OK)
        out->image = shim_image_load(&one, 1);
    slri_text_free(&text);
    return status == SLR_OK && !out->image ? SLRI_FAIL(COMPILE, "as Metal's text it is not compiled") : status;
}

void metal_unload(metal_kernel *kernel)
{
    shim_image_unload(kernel->image);
    kernel->image = NULL;
}

static void put_pointer(unsigned char *block, uint32_t at, const void *pointer)
{
    if (at != SLRI_ARGUMENT_NONE)
        memcpy(block + at, &pointer, sizeof pointer);
}

bool metal_run(const metal_kernel *kernel, const uint32_t grid[3], const uint32_t block[3],
               const struct slri_bound *bound)
{
    _Alignas(16) unsigned char arguments[MOST_BYTES] = {0};
    uint32_t faulted[3] = {0};
    struct slri_msl_facts facts;
    char name[80];
    if (slri_msl_facts(kernel->module, kernel->entry, &facts) != SLR_OK || facts.arguments.bytes > MOST_BYTES)
        return false;
    for (uint32_t i = 0; i < kernel->entry->bindings; i++) {
        const uint32_t at = slri_argument(kernel->entry, i);
        if (kernel->entry->binding[i].is_buffer)
            put_pointer(arguments, at, bound[i].data);
        else
            memcpy(arguments + at, bound[i].data, kernel->entry->binding[i].type->bytes);
    }
    put_pointer(arguments, facts.arguments.faulted, faulted);
    snprintf(name, sizeof name, SLRI_MSL_KERNEL_PREFIX "%s", kernel->entry->name);
    void *parameter[] = {arguments};
    const struct shim_launch launch = {.image = kernel->image,
                                       .kernel = shim_image_kernel(kernel->image, name),
                                       .parameter = parameter,
                                       .grid = {grid[0], grid[1], grid[2]},
                                       .block = {block[0], block[1], block[2]}};
    return shim_run(&launch) == SHIM_DONE && faulted[0] == 0;
}
