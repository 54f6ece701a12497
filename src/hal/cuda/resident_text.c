// SPDX-License-Identifier: Apache-2.0
#include "hal/cuda/resident_text.h"

#include "base/status.h"
#include "engine/mailbox_text.h"
#include "emit/c/emit_c.h"
#include "emit/cuda/emit_cuda.h"

extern const char slri_embedded_buckets_h[], slri_embedded_cu_batch_h[], slri_embedded_cu_fast_h[],
    slri_embedded_cu_handle_h[], slri_embedded_cu_home_h[], slri_embedded_cu_look_h[], slri_embedded_cu_near_h[],
    slri_embedded_cu_passage_h[], slri_embedded_cu_resident_h[], slri_embedded_cu_run_h[], slri_embedded_cu_team_h[],
    slri_embedded_resident_layout_h[];

#define HANDLER "slr_handler"
#define WARP 32u

const char *const slri_cuda_stay_options[] = {"--fmad=false", "--std=c++17", "--relocatable-device-code=true", NULL};

uint32_t slri_cuda_stay_threads(const struct slri_entry *entry)
{
    return entry->kind == SLRI_ENTRY_BLOCK && entry->max_threads > WARP ? entry->max_threads : WARP;
}

static void put_kernel(bool is_block, uint32_t threads, slri_text *out)
{
    slri_text_printf(out, "#line 1 \"slipring: persistent kernel\"\n#define SLR_IS_BLOCK %d\n#define SLR_THREADS %u\n",
                     is_block, threads);
    if (is_block)
        slri_text_puts(out, "#define SLR_ROOM 4u\n"     // its messages stay in their slots,
                            "#define SLR_OWN_ROOM 0u\n" // and the shared memory is the handler's
                            "#define SLR_OUTLET_ROOM 4u\n"
                            "#define SLR_SIGHTS 1u\n");
    // NVRTC's atomic load takes no address of something const. No loop is unrolled: each waits for memory at every
    // turn, and unrolled they are twice the code.
    slri_text_puts(out, "#define SLRI_WORD unsigned\n"
                        "#define SLRI_ADDRESS unsigned long long\n"
                        "#undef __device__\n"
                        "#define __device__ static __attribute__((device))\n"
                        "#define for _Pragma(\"unroll 1\") for\n"
                        "#define __nv_atomic_load_n(p, order, scope) "
                        "__nv_atomic_load_n((unsigned *)(p), order, scope)\n");
    slri_text_puts(out, slri_embedded_resident_layout_h);
    slri_text_puts(out, slri_embedded_buckets_h);
    slri_text_puts(out, slri_embedded_cu_team_h);
    slri_mailbox_text(out);
    slri_text_puts(out, slri_embedded_cu_near_h);
    slri_text_puts(out, slri_embedded_cu_passage_h);
    slri_text_puts(out, slri_embedded_cu_home_h);
    slri_text_puts(out, slri_embedded_cu_look_h);
    slri_text_puts(out, slri_embedded_cu_handle_h);
    slri_text_puts(out, slri_embedded_cu_batch_h);
    slri_text_puts(out, slri_embedded_cu_run_h);
    slri_text_puts(out, slri_embedded_cu_fast_h);
    slri_text_puts(out, slri_embedded_cu_resident_h);
}

slr_status slri_cuda_put_stay(slri_text *out)
{
    slri_emit_cuda_call(out);
    slri_text_puts(out, "extern \"C\" __device__ unsigned " HANDLER "(struct slri_call *call);\n"
                        "#define SLR_HANDLER " HANDLER "\n");
    put_kernel(false, WARP, out);
    return out->out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory for the text of the persistent kernel") : SLR_OK;
}

slr_status slri_cuda_put_stay_block(const struct slri_module *module, const struct slri_entry *entry, slri_text *out)
{
    SLRI_TRY(slri_emit_cuda(module, entry, out));
    slri_text_printf(out, "#ifndef __SLIPRING__\n#define SLR_HANDLER " SLRI_ENTRY_SYMBOL_PREFIX "%s\n", entry->name);
    put_kernel(true, slri_cuda_stay_threads(entry), out);
    slri_text_puts(out, "#endif\n");
    return out->out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory for the text of ring kernel %s", entry->name) : SLR_OK;
}

slr_status slri_cuda_put_stay_handler(const struct slri_module *module, const struct slri_entry *entry, slri_text *out)
{
    SLRI_TRY(slri_emit_cuda(module, entry, out));
    slri_text_printf(out,
                     "#ifndef __SLIPRING__\nextern \"C\" __device__ slri_u32 " HANDLER "(struct slri_call *call)\n"
                     "{\n    return " SLRI_ENTRY_SYMBOL_PREFIX "%s(call);\n}\n#endif\n",
                     entry->name);
    return out->out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory for the text of ring kernel %s", entry->name) : SLR_OK;
}
