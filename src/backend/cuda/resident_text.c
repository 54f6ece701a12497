// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/resident_text.h"

#include "base/status.h"
#include "device/mailbox_text.h"
#include "kernel/emit_c.h"
#include "kernel/emit_cuda.h"

extern const char slri_embedded_cu_resident_h[], slri_embedded_cu_team_h[], slri_embedded_resident_layout_h[];

slr_status slri_cuda_put_resident(const struct slri_module *module, const struct slri_entry *entry, slri_text *out)
{
    SLRI_TRY(slri_emit_cuda(module, entry, out));
    // NVRTC's atomic load takes no address of something const. What a pass seldom comes to is called, not put into it,
    // and no loop is unrolled: that halves the code, and the time that NVRTC takes.
    slri_text_printf(out,
                     "#ifndef __SLIPRING__\n"
                     "#line 1 \"slipring: the kernel that stays\"\n"
                     "#define SLR_HANDLER " SLRI_ENTRY_SYMBOL_PREFIX "%s\n"
                     "#define SLRI_WORD unsigned\n"
                     "#define SLRI_ADDRESS unsigned long long\n"
                     "#undef __device__\n"
                     "#define __device__ static __attribute__((device))\n"
                     "#define for _Pragma(\"unroll 1\") for\n"
                     "#define SLR_COLD __device__ __attribute__((noinline))\n"
                     "SLR_COLD void mb_acknowledge_gone(unsigned *S, unsigned *P);\n"
                     "SLR_COLD void mb_reread_ports(unsigned *S, unsigned *P, unsigned epoch);\n"
                     "SLR_COLD void mb_take_all(unsigned *S, unsigned *P);\n"
                     "SLR_COLD void mb_claim_pending(unsigned *S, unsigned *P, unsigned most);\n"
                     "SLR_COLD void mb_keep_rest(unsigned *S, unsigned *P, unsigned done, unsigned batch);\n"
                     "SLR_COLD void mb_write_letter(unsigned *S, unsigned *P, unsigned at, unsigned reason);\n"
                     "SLR_COLD unsigned mb_next_port(const unsigned *S, const unsigned *P, unsigned port);\n"
                     "#define __nv_atomic_load_n(p, order, scope) __nv_atomic_load_n((unsigned *)(p), order, scope)\n",
                     entry->name);
    slri_text_puts(out, slri_embedded_resident_layout_h);
    slri_text_puts(out, slri_embedded_cu_team_h);
    slri_mailbox_text(out);
    slri_text_puts(out, slri_embedded_cu_resident_h);
    slri_text_puts(out, "#endif\n");
    return out->out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory for the text of ring kernel %s", entry->name) : SLR_OK;
}
