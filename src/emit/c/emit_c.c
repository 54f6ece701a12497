// SPDX-License-Identifier: Apache-2.0
// The file around the functions: prelude, const tables, entries.
#include "emit/c/emit_c.h"
#include "base/status.h"
#include "emit/c/debug.h"
#include "emit/c/plan.h"

extern const char slri_embedded_prints_h[];

const struct slri_c_function *slri_c_traits(const struct slri_c_emitter *e, const struct slri_function *function)
{
    for (uint32_t i = 0; i < e->module->functions; i++)
        if (e->module->function[i] == function)
            return &e->functions[i];
    return NULL; // not in a verified module
}

// Bytes: C's initialisers would spell floats and padding anew, and compilers fold a load from constant bytes all the
// same.
static void put_constant(struct slri_text *out, uint32_t index, const struct slri_const *constant)
{
    slri_text_printf(out, "// %s\nstatic const _Alignas(%u) unsigned char slrc_%u[%llu] = {", constant->name,
                     constant->type->align, index, (unsigned long long)constant->type->bytes);
    for (uint64_t i = 0; i < constant->type->bytes; i++)
        slri_text_printf(out, "%s%u,", i % 32 == 0 ? "\n    " : "", constant->data[i]);
    slri_text_puts(out, "\n};\n\n");
}

static void put_entry(struct slri_c_emitter *e, const struct slri_entry *entry)
{
    const char *function = entry->function->name;
    slri_text_printf(e->out,
                     "__attribute__((visibility(\"default\"))) uint32_t " SLRI_ENTRY_SYMBOL_PREFIX
                     "%s(void *self, struct slri_call *call)\n{\n    (void)self;\n",
                     entry->name);
    if (slri_c_traits(e, entry->function)->can_fault)
        slri_text_printf(e->out, "    return %s%s(call, call->state, call->message);\n}\n\n", e->prefix, function);
    else
        slri_text_printf(e->out, "    %s%s(call, call->state, call->message);\n    return SLRI_FAULT_NONE;\n}\n\n",
                         e->prefix, function);
}

void slri_c_constants(struct slri_c_emitter *e)
{
    for (uint32_t i = 0; i < e->module->constants; i++)
        put_constant(e->out, i, &e->module->constant[i]);
}

// What needs a block's threads is written with the handler that needs it; kernels by slri_emit_c_kernel.
static bool is_of_one_thread(const struct slri_module *module, const struct slri_function *function)
{
    for (uint32_t i = 0; i < module->entries; i++)
        if (module->entry[i].function == function && !slri_is_of_one_thread(&module->entry[i]))
            return false;
    return !(function->uses & slri_entry_may_use(SLRI_ENTRY_KERNEL) & ~slri_entry_may_use(SLRI_ENTRY_RING));
}

static slr_status put_block_handlers(struct slri_c_emitter *e)
{
    bool any = false;
    for (uint32_t i = 0; i < e->module->entries; i++) {
        if (e->module->entry[i].kind != SLRI_ENTRY_BLOCK)
            continue;
        if (!any)
            slri_c_block_helpers(e);
        any = true;
        SLRI_TRY(slri_c_put_block_handler(e, &e->module->entry[i]));
    }
    return SLR_OK;
}

// A file whose handlers do not print is not made longer by how that is done.
static void put_prints(struct slri_c_emitter *e)
{
    bool prints = false;
    for (uint32_t i = 0; i < e->module->entries; i++)
        prints |= e->module->entry[i].kind != SLRI_ENTRY_KERNEL;
    for (uint32_t i = 0; prints && i < e->module->functions; i++)
        if (e->module->function[i]->uses & SLRI_USES_PRINT) {
            slri_text_puts(e->out, slri_embedded_prints_h);
            return;
        }
}

static slr_status put_file(struct slri_c_emitter *e)
{
    slri_c_prelude(e->out, e->is_debug);
    put_prints(e);
    if (e->is_debug)
        slri_c_debug_types(e);
    slri_c_constants(e);
    for (uint32_t i = 0; i < e->module->functions; i++)
        if (is_of_one_thread(e->module, e->module->function[i]))
            slri_c_function(e, i);
    // Not the user's text any more.
    slri_text_puts(e->out, "#line 1 \"slipring: entries\"\n");
    for (uint32_t i = 0; i < e->module->entries; i++)
        if (slri_is_of_one_thread(&e->module->entry[i]))
            put_entry(e, &e->module->entry[i]);
    return put_block_handlers(e);
}

slr_status slri_emit_c(const struct slri_module *module, struct slri_text *out)
{
    struct slri_region *scratch = slri_region_create();
    struct slri_c_emitter e = {
        .module = module, .out = out, .scratch = scratch, .prefix = "slrf_", .is_debug = module->debug};
    slr_status status = SLR_OK;
    if (scratch)
        e.functions = slri_region_take(scratch, (module->functions + 1) * sizeof *e.functions);
    out->out_of_memory |= !e.functions;
    if (e.functions)
        status = put_file(&e);
    slri_region_destroy(scratch);
    return status == SLR_OK && out->out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory to emit %s as C", module->name)
                                                  : status;
}
