// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/relaunch_text.h"

#include "abi/handler.h"
#include "base/status.h"
#include "kernel/emit_c.h"
#include "kernel/emit_cuda.h"

extern const char slri_embedded_cu_relaunch_h[], slri_embedded_relaunch_h[];

#define GROUP 32u // a warp
#define SHARED_BYTES 32768u

static uint32_t count_outs(const struct slri_entry *entry)
{
    for (uint32_t i = 0; i < entry->bindings; ++i)
        if (entry->binding[i].is_outlet)
            return entry->bindings;
    return 0;
}

uint32_t slri_cuda_relaunch_group(const struct slri_entry *entry)
{
    uint32_t group = GROUP;
    uint64_t each = sizeof(struct slri_call) + count_outs(entry) * sizeof(struct slri_out);
    while (group > 1 && group * each > SHARED_BYTES)
        group /= 2;
    return group;
}

slr_status slri_cuda_put_relaunch(const struct slri_module *module, const struct slri_entry *entry, slri_text *out)
{
    uint32_t outs = count_outs(entry);
    SLRI_TRY(slri_emit_cuda(module, entry, out));
    slri_text_printf(out,
                     "#ifndef __SLIPRING__\n"
                     "#line 1 \"slipring: relaunch\"\n"
                     "#define SLR_HANDLER " SLRI_ENTRY_SYMBOL_PREFIX "%s\n"
                     "#define SLR_GROUP %u\n#define SLR_OUTLETS %u\n#define SLR_OUTS %u\n",
                     entry->name, slri_cuda_relaunch_group(entry), outs, outs ? outs : 1);
    slri_text_puts(out, slri_embedded_relaunch_h);
    slri_text_puts(out, slri_embedded_cu_relaunch_h);
    slri_text_puts(out, "#endif\n");
    return out->out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory for the text of ring kernel %s", entry->name) : SLR_OK;
}
