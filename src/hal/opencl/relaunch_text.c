// SPDX-License-Identifier: Apache-2.0
// The text of batched launches of a `__ring_block__` handler: the handler's, and the kernel around it.
#include "base/status.h"
#include "base/text.h"
#include "emit/c/emit_c.h"
#include "emit/opencl/emit_opencl.h"
#include "hal/opencl/opencl.h"

extern const char slri_embedded_relaunch_h[], slri_embedded_cl_clock_h[], slri_embedded_cl_relaunch_h[];

static void put_bindings(const struct slri_entry *entry, slri_text *out)
{
    slri_text_puts(out, "#define SLR_PARAMETERS "); // the space: what follows begins with a comma, and clang warns
    for (uint32_t i = 0; i < entry->bindings; ++i)
        if (entry->binding[i].is_buffer && !entry->binding[i].is_outlet)
            slri_text_printf(out, ", __global uchar *b%u", i);
    slri_text_puts(out, "\n#define SLR_BOUND");
    for (uint32_t i = 0; i < entry->bindings; ++i)
        if (entry->binding[i].is_buffer && !entry->binding[i].is_outlet)
            slri_text_printf(out, " {b%u, *(__global ulong *)(constants + RL_BINDING(%u))},", i, i);
        else
            slri_text_printf(out, " {constants + RL_BINDING(%u), 8},", i);
    slri_text_puts(out, entry->bindings ? "\n" : " {0, 0}\n");
}

slr_status slri_cl_put_relaunch(struct slri_opencl *opencl, const struct slri_module *module,
                                const struct slri_entry *entry, uint32_t threads, slri_text *out)
{
    const struct slri_opencl_options words = {.warps = slri_cl_handler_warps(opencl, entry, threads),
                                              .c11_atomics = opencl->facts.opencl >= 300};
    SLRI_TRY(slri_emit_opencl(module, entry, &words, out));
    slri_text_printf(out, "\n#line 1 \"slipring: relaunch\"\n%s",
                     slri_entry_sends(entry) ? "#define SLR_OUTLETS\n" : "");
    slri_text_printf(out,
                     "#define SLR_ENTRY " SLRI_ENTRY_SYMBOL_PREFIX "%s\n#define SLR_BINDINGS %u\n"
                     "#define SLR_GROUP %u\n#define SLR_SHARED %llu\n",
                     entry->name, entry->bindings ? entry->bindings : 1, threads,
                     (unsigned long long)slri_opencl_shared_bytes(entry));
    put_bindings(entry, out);
    if (slri_cl_has_clock(opencl))
        slri_text_printf(out, "#define SLR_CLOCK\n%s", slri_embedded_cl_clock_h);
    slri_text_printf(out, "%s%s", slri_embedded_relaunch_h, slri_embedded_cl_relaunch_h);
    return SLR_OK;
}
