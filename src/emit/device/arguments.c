// SPDX-License-Identifier: Apache-2.0
#include "emit/device/arguments.h"
#include "base/status.h"
#include "emit/device/faults.h"

static uint64_t align_up(uint64_t at, uint64_t align)
{
    return (at + align - 1) / align * align;
}

static uint64_t place_of(const struct slri_entry *entry, uint32_t index, uint64_t *end)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < entry->bindings; i++) {
        const struct slri_binding_info *binding = &entry->binding[i];
        uint64_t bytes = binding->is_buffer ? 8 : align_up(binding->type->bytes, 4);
        uint32_t align = binding->is_buffer ? 8 : binding->type->align;
        uint32_t least = !binding->is_buffer && binding->type->kind == SLRI_STRUCT ? 8 : 4;
        at = align_up(at, align < least ? least : align);
        if (i == index)
            return at;
        at += bytes;
    }
    *end = align_up(at, 8);
    return *end;
}

uint32_t slri_argument(const struct slri_entry *entry, uint32_t index)
{
    uint64_t end;
    return (uint32_t)place_of(entry, index, &end);
}

slr_status slri_arguments_find(const struct slri_module *module, const struct slri_entry *entry,
                               struct slri_arguments *out)
{
    bool may_fault = false;
    SLRI_TRY(slri_kernel_may_fault(module, entry, &may_fault));
    uint64_t at = 0;
    place_of(entry, UINT32_MAX, &at);
    const uint32_t uses = entry->function->uses;
    const bool is_given[3] = {uses & SLRI_USES_GLOBAL, uses & SLRI_USES_PRINT, may_fault};
    uint32_t offset[3];
    for (int i = 0; i < 3; i++) {
        offset[i] = is_given[i] ? (uint32_t)at : SLRI_ARGUMENT_NONE;
        at += is_given[i] ? 8 : 0;
    }
    *out = (struct slri_arguments){at ? (uint32_t)at : 8, offset[0], offset[1], offset[2],
                                   (uses & SLRI_USES_DYNAMIC) != 0};
    return SLR_OK;
}
