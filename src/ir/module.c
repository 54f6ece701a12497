// SPDX-License-Identifier: Apache-2.0
// What a module holds: its entries by name, and why one is missing.
#include "ir/ir.h"
#include "base/status.h"

#include <string.h>

void slri_module_destroy(struct slri_module *module)
{
    if (module)
        slri_region_destroy(module->region);
}

const struct slri_entry *slri_module_entry(const struct slri_module *module, const char *name)
{
    if (!name)
        return module->entries == 1 ? &module->entry[0] : NULL;
    for (uint32_t i = 0; i < module->entries; i++)
        if (strcmp(module->entry[i].name, name) == 0)
            return &module->entry[i];
    return NULL;
}

slr_status slri_module_no_entry(const struct slri_module *module, const char *name)
{
    for (uint32_t i = 0; name && i < module->skippeds; i++) {
        const struct slri_skipped *one = &module->skipped[i];
        if (one->is_kernel && strcmp(one->name, name) == 0)
            return SLRI_FAIL(NOT_FOUND, "%s '%s' of %s was skipped: %s", one->what, name, module->name, one->why);
    }
    return SLRI_FAIL(NOT_FOUND, "'%s' has no kernel and no handler '%s'", module->name, name ? name : "");
}
