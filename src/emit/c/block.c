// SPDX-License-Identifier: Apache-2.0
// A `__ring_block__` handler: one thread of the host runs all threads of the block for one message, as loops over them
// (emit_c_nest.c). What it adds to a kernel's block is what handlers are promised: a fault ends the handler for all of
// the block, every thread's back edges are taken from one fuel, and replies are counted.
//
// Where several threads would fault, which of them is seen, and what others did before, depends on the order of
// threads, which is the interpreter's only between two places where they meet.
#include "base/status.h"
#include "emit/c/emit_c.h"
#include "emit/c/plan.h"

#include <stdio.h>

static const char helpers[] = "SLRI_IN _Bool slri_spend(uint64_t *fuel, uint32_t lanes)\n"
                              "{ if (lanes && *fuel <= lanes) return 0; *fuel -= lanes; return 1; }\n";

void slri_c_block_helpers(struct slri_c_emitter *e)
{
    slri_c_put(e, "#ifndef SLRI_BLOCKS\n"); // so that several files may be made one
    slri_c_lane_helpers(e->out);
    slri_c_put(e, helpers);
    slri_c_put(e, "#endif\n");
    slri_text_printf(e->out, "struct slri_block_memory { unsigned char *shared[%u]; };\n", e->module->shareds + 1);
}

static void put_block_bindings(struct slri_c_emitter *e, const struct slri_c_kernel *k,
                               const struct slri_c_reach *reach)
{
    for (uint32_t i = 0; i < k->entry->bindings; i++)
        if (reach->bound[i] || !k->entry->binding[i].is_buffer)
            slri_text_printf(e->out,
                             "    unsigned char *const bound%u = call->bound[%u].data; const uint64_t bound%u_bytes = "
                             "call->bound[%u].bytes; (void)bound%u, (void)bound%u_bytes;\n",
                             i, i, i, i, i, i);
}

// Zero, as in the interpreter: no message sees what another left on the stack.
static void put_block_shared(struct slri_c_emitter *e, const struct slri_c_reach *reach)
{
    for (uint32_t i = 0; i < e->module->shareds; i++)
        if (reach->shared[i])
            slri_text_printf(e->out, "    _Alignas(64) unsigned char shared%u[%llu] = {0};\n", i,
                             (unsigned long long)e->module->shared[i].type->bytes);
    slri_c_put(e, "    const struct slri_block_memory roots = {{");
    for (uint32_t i = 0; i < e->module->shareds; i++)
        if (reach->shared[i])
            slri_text_printf(e->out, "shared%u, ", i);
        else
            slri_c_put(e, "0, ");
    slri_c_put(e, "0}}; (void)roots;\n");
}

static void put_handler(struct slri_c_emitter *e, struct slri_c_kernel *k, const struct slri_c_reach *reach)
{
    slri_text_printf(e->out,
                     "#line 1 \"slipring: handler\"\n"
                     "__attribute__((visibility(\"default\"))) uint32_t " SLRI_ENTRY_SYMBOL_PREFIX
                     "%s(void *self, struct slri_call *const call)\n{\n"
                     "    unsigned char *const restrict state = call->state;\n"
                     "    const unsigned char *const restrict message = call->message;\n"
                     "    uint64_t fuel = call->fuel; uint32_t fault = SLRI_FAULT_NONE; const int32_t row = 0;\n"
                     "    (void)self, (void)state, (void)message, (void)fault, (void)row;\n",
                     k->entry->name);
    put_block_bindings(e, k, reach);
    put_block_shared(e, reach);
    e->kernel = k;
    slri_c_put(e, "    {\n       ");
    slri_c_declare_block(e);
    if (k->parts)
        slri_text_printf(e->out, " uint32_t late[%u] = {0};", (k->threads + 31) / 32);
    slri_c_put(e, "\n");
    slri_c_put_values(e, k);
    slri_c_put_body(e, k);
    slri_c_put(e, "\n    }\n    call->fuel = fuel;\n    return SLRI_FAULT_NONE;\n}\n\n");
}

slr_status slri_c_put_block_handler(struct slri_c_emitter *e, const struct slri_entry *entry)
{
    char prefix[24];
    struct slri_c_reach reach = {0};
    struct slri_c_kernel kernel = {
        .entry = entry, .block = {entry->max_threads, 1, 1}, .rows = 1, .threads = entry->max_threads};
    snprintf(prefix, sizeof prefix, "slrb%u_", (uint32_t)(entry - e->module->entry));
    e->prefix = prefix;
    e->is_block = true;
    slri_text_printf(e->out, "#undef SLRI_BLOCK_X\n#define SLRI_BLOCK_X %uu\n", entry->max_threads);
    slr_status status = slri_c_open_kernel(e, &kernel, &reach);
    if (status == SLR_OK)
        status = slri_c_rehearse_kernel(e, &kernel, &reach);
    if (status == SLR_OK)
        put_handler(e, &kernel, &reach);
    e->kernel = NULL;
    e->is_block = false;
    e->prefix = NULL;
    return status;
}
