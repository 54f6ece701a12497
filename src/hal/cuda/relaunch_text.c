// SPDX-License-Identifier: Apache-2.0
#include "hal/cuda/relaunch_text.h"

#include "abi/handler.h"
#include "base/status.h"
#include "emit/c/emit_c.h"
#include "emit/cuda/emit_cuda.h"

extern const char slri_embedded_cu_relaunch_h[], slri_embedded_relaunch_h[];

#define BLOCK_BYTES 64u // struct slri_block of emit/cuda/slr_cuda_ring.h, and the alignment of the objects

static uint32_t count_outs(const struct slri_entry *entry)
{
    return slri_entry_sends(entry) ? entry->bindings : 0;
}

static uint64_t bytes_of_call(const struct slri_entry *entry)
{
    return sizeof(struct slri_call) + count_outs(entry) * sizeof(struct slri_out);
}

static uint64_t bytes_of_table(const struct slri_entry *entry)
{
    return entry->bindings * sizeof(struct slri_bound);
}

// The parameters of its buffers, and what fills its table of bindings.
static void put_bindings(const struct slri_entry *entry, slri_text *out)
{
    slri_text_puts(out, "#define SLR_PARAMETERS ");
    for (uint32_t i = 0; i < entry->bindings; ++i)
        if (entry->binding[i].is_buffer && !entry->binding[i].is_outlet)
            slri_text_printf(out, ", unsigned char *b%u", i);
    slri_text_puts(out, "\n#define SLR_BIND(bound)");
    for (uint32_t i = 0; i < entry->bindings; ++i)
        if (entry->binding[i].is_outlet)
            continue;
        else if (entry->binding[i].is_buffer)
            slri_text_printf(out,
                             " (bound)[%u].data = b%u; (bound)[%u].bytes = *(const unsigned long long *)(constants + "
                             "RL_BINDING(%u));",
                             i, i, i, i);
        else
            slri_text_printf(out, " (bound)[%u].data = (void *)(constants + RL_BINDING(%u)); (bound)[%u].bytes = %llu;",
                             i, i, i, (unsigned long long)entry->binding[i].type->bytes);
    slri_text_printf(out, "\n#define SLR_BINDINGS %u\n", entry->bindings ? entry->bindings : 1);
}

slr_status slri_cuda_put_relaunch(const struct slri_module *module, const struct slri_entry *entry, slri_text *out)
{
    uint32_t outs = count_outs(entry);
    uint64_t shared = entry->shared_bytes + bytes_of_call(entry) + BLOCK_BYTES + bytes_of_table(entry);
    if (shared > SLRI_SHARED_MAX_BYTES)
        return SLRI_FAIL(UNSUPPORTED, "ring kernel %s: %llu bytes of shared memory with its call; a block has %llu",
                         entry->name, (unsigned long long)shared, (unsigned long long)SLRI_SHARED_MAX_BYTES);
    SLRI_TRY(slri_emit_cuda(module, entry, out));
    slri_text_printf(out,
                     "#ifndef __SLIPRING__\n"
                     "#line 1 \"slipring: relaunch\"\n"
                     "#define SLR_HANDLER " SLRI_ENTRY_SYMBOL_PREFIX "%s\n"
                     "#define SLR_GROUP %u\n"
                     "#define SLR_OUTLETS %u\n#define SLR_OUTS %u\n",
                     entry->name, entry->max_threads, outs, outs ? outs : 1);
    put_bindings(entry, out);
    slri_text_puts(out, slri_embedded_relaunch_h);
    slri_text_puts(out, slri_embedded_cu_relaunch_h);
    slri_text_puts(out, "#endif\n");
    return out->out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory for the text of ring kernel %s", entry->name) : SLR_OK;
}
