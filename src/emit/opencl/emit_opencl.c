// SPDX-License-Identifier: Apache-2.0
// OpenCL C: the table of its spellings, its prelude, and how its entries begin.
#include "emit/opencl/emit_opencl.h"
#include "base/status.h"
#include "emit/c/emit_c.h"
#include "emit/device/spaces.h"
#include "emit/opencl/check.h"
#include "emit/opencl/level.h"
#include "emit/opencl/whole.h"
#include "ir/ir_names.h"
#include "ir/matrix.h"

extern const char slri_embedded_slr_opencl_h[];
extern const char slri_embedded_slr_opencl_more_h[];
extern const char slri_embedded_slr_opencl_ring_h[];

// ---- instructions that depend on more than a row -------------------------------------------------------------------

static void put_mask(struct slri_d_emitter *e, const struct slri_instr *in)
{
    if (((const struct slri_opencl_emitter *)e)->masks)
        slri_d_put(e, "slri_mask");
    else
        slri_d_register(e, in->arg[0].reg);
}

static void put_warp(struct slri_d_emitter *e, const struct slri_instr *in)
{
    bool all = ((const struct slri_opencl_emitter *)e)->here == NULL;
    if (in->imm != SLRI_WARP_ACTIVE || all) {
        slri_d_put_warp(e, in);
        return;
    }
    slri_d_spell(e, in, "$dslri_ballot(slri_present(), ");
    slri_opencl_put_here(e);
    slri_d_put(e, ", slri_scratch)");
}

// ---- entries -------------------------------------------------------------------------------------------------------

// A word for votes of the block; for what a warp's threads give each other, one each and a warp's on either side,
// unless it is a sub-group.
static uint32_t scratch_words(const struct slri_entry *entry, const uint32_t *block, bool sub_groups)
{
    if (!(entry->function->uses & SLRI_USES_WARP) || sub_groups)
        return 1;
    return 2 * SLRI_WARP_THREADS + (block                ? block[0] * block[1] * block[2]
                                    : entry->max_threads ? entry->max_threads
                                                         : SLRI_BLOCK_MAX_THREADS);
}

static uint64_t scratch_at(const struct slri_entry *entry)
{
    return (entry->shared_bytes + 15) / 16 * 16;
}

uint64_t slri_opencl_shared_bytes(const struct slri_entry *entry)
{
    return scratch_at(entry) + 8 * (uint64_t)scratch_words(entry, NULL, false);
}

static void put_index(struct slri_d_emitter *e, const char *before, uint32_t index)
{
    slri_text_printf(e->c.out, "%s%u", before, index);
}

static void put_binding(struct slri_d_emitter *e, const struct slri_entry *entry, uint32_t index)
{
    const struct slri_binding_info *binding = &entry->binding[index];
    if (binding->is_outlet)
        slri_d_put(e, "struct slri_out *");
    else if (binding->is_buffer && entry->kind != SLRI_ENTRY_KERNEL) {
        slri_text_printf(e->c.out, "SLRI_BUFFER_PARAM(%s)", binding->name);
        return;
    } else if (binding->is_buffer)
        slri_d_put(e, binding->is_restrict ? "__global uchar *restrict " : "__global uchar *");
    else if (binding->type->kind == SLRI_STRUCT)
        slri_text_printf(e->c.out, "struct slri_given_%s_%u ", entry->name, index);
    else
        slri_text_printf(e->c.out, "%s ", e->dialect->kind[binding->type->kind]);
    slri_d_put(e, binding->name);
}

// Behind the parameters of the source. OpenCL aligns memory of a group as what the parameter points to: the first
// `__local uchar *` of NVIDIA's driver begins at byte 1. CUDA aligns such memory to 16.
static void put_hidden(struct slri_d_emitter *e, const struct slri_entry *entry)
{
    const uint32_t uses = entry->function->uses;
    const struct slri_d_extra hidden[] = {
        {uses & SLRI_USES_GLOBAL, "__global uchar *", "slri_globals"},
        {uses & SLRI_USES_PRINT, "__global uint *", "slri_printed"},
        {slri_d_traits(e, entry->function)->may_fault, "__global uint *", "slri_faulted"},
        {uses & SLRI_USES_DYNAMIC, "__local ulong2 *", "slri_room"}};
    slri_d_put_extras(e, hidden, sizeof hidden / sizeof *hidden, entry->bindings ? ", " : "", true);
}

static void put_kernel(struct slri_d_emitter *e, const struct slri_entry *entry)
{
    const struct slri_opencl_options *options = ((struct slri_opencl_emitter *)e)->options;
    const uint32_t *block = options->block;
    slri_text prefix = SLRI_TEXT_INIT;
    slri_text_printf(&prefix, "slri_given_%s", entry->name);
    slri_d_put_given_structs(e, entry, slri_text_view(&prefix)); // a kernel's parameter takes no array
    e->c.out->out_of_memory |= prefix.out_of_memory;
    slri_text_free(&prefix);
    slri_d_put(e, "SLRI_KERNEL ");
    if (block)
        slri_text_printf(e->c.out, "__attribute__((reqd_work_group_size(%u, %u, %u))) ", block[0], block[1], block[2]);
    slri_text_printf(e->c.out, "void " SLRI_OPENCL_KERNEL_PREFIX "%s(", entry->name);
    for (uint32_t i = 0; i < entry->bindings; i++) {
        slri_d_put(e, i ? ", " : "");
        put_binding(e, entry, i);
    }
    put_hidden(e, entry);
    slri_d_put(e, ")\n{\n");
    if (entry->function->uses & SLRI_USES_DYNAMIC)
        slri_d_put(e, "    __local uchar *slri_dynamic = (__local uchar *)slri_room;\n");
    slri_d_put_shared(e, entry);
    if (entry->function->uses & (SLRI_USES_WARP | SLRI_USES_BARRIER))
        slri_text_printf(e->c.out, "    __local ulong slri_scratch[%u];\n",
                         scratch_words(entry, block, options->warps != SLRI_OPENCL_LOCAL_MEMORY));
}

static void put_handler(struct slri_d_emitter *e, const struct slri_entry *entry)
{
    slri_text_printf(e->c.out, "static void slrh_%s(__global uchar *slri_state, __global uchar *slri_message",
                     entry->name);
    for (uint32_t i = 0; i < entry->bindings; i++) {
        slri_d_put(e, ", ");
        put_binding(e, entry, i);
    }
    slri_d_put(e, ", __local uchar *slri_shared SLRI_AND_HERE)\n{\n");
    for (uint32_t i = 0; i < e->c.module->shareds; i++)
        if (slri_entry_has_shared(entry, i))
            slri_text_printf(e->c.out, "    __local uchar *slri_s%u = slri_shared + %llu;\n", i,
                             (unsigned long long)slri_entry_shared(entry, i));
    if (entry->function->uses & (SLRI_USES_WARP | SLRI_USES_BARRIER))
        slri_text_printf(e->c.out, "    __local ulong *slri_scratch = (__local ulong *)(slri_shared + %llu);\n",
                         (unsigned long long)scratch_at(entry));
}

static void put_entry(struct slri_d_emitter *e, const struct slri_entry *entry)
{
    if (entry->kind == SLRI_ENTRY_KERNEL)
        put_kernel(e, entry);
    else
        put_handler(e, entry);
}

static void put_wrapper(struct slri_d_emitter *e, const struct slri_entry *entry)
{
    slri_text_printf(e->c.out,
                     "uint " SLRI_ENTRY_SYMBOL_PREFIX "%s(struct slri_call *call, __local uchar *shared)\n{\n"
                     "    struct slri_here here = {call, 0};\n    slrh_%s(call->state, call->message",
                     entry->name, entry->name);
    for (uint32_t i = 0; i < entry->bindings; i++) {
        const struct slri_binding_info *binding = &entry->binding[i];
        if (binding->is_outlet)
            put_index(e, ", &call->out[", i);
        else if (binding->is_buffer)
            slri_text_printf(e->c.out, ", call->bound[%u].data, call->bound[%u].bytes", i, i);
        else
            slri_text_printf(e->c.out, ", *(__global %s *)call->bound[%u].data", e->dialect->kind[binding->type->kind],
                             i);
        slri_d_put(e, binding->is_outlet ? "]" : "");
    }
    slri_d_put(e, ", shared, &here);\n    return here.fault;\n}\n");
}

static bool put_extra(struct slri_d_emitter *e, const struct slri_function *function, const char *before, bool takes)
{
    const struct slri_d_function *traits = slri_d_traits(e, function);
    bool waits = function->uses & (SLRI_USES_WARP | SLRI_USES_BARRIER);
    const struct slri_d_extra extra[] = {{function->uses & SLRI_USES_PRINT, "__global uint *", "slri_printed"},
                                         {traits->may_fault && !traits->in_handler, "__global uint *", "slri_faulted"},
                                         {waits, "__local ulong *", "slri_scratch"}};
    const bool any = slri_d_put_extras(e, extra, sizeof extra / sizeof *extra, before, takes);
    if (!waits || !((const struct slri_opencl_emitter *)e)->levels)
        return any;
    slri_d_put(e, takes ? ", bool slri_on" : ", ");
    if (!takes)
        slri_opencl_put_here(e);
    return any;
}

// ---- the table -----------------------------------------------------------------------------------------------------

// Words of OpenCL that are names in C.
static const char *const reserved[] = {"kernel",  "global",    "local",       "constant",   "private",    "generic",
                                       "uniform", "pipe",      "read_only",   "write_only", "read_write", "half",
                                       "complex", "imaginary", "image1d_t",   "image2d_t",  "image3d_t",  "sampler_t",
                                       "event_t", "queue_t",   "clk_event_t", "uchar",      "ushort",     "uint",
                                       "ulong",   "size_t",    "bool",        "true",       "false",      NULL};

static const struct slri_dialect opencl = {
    SLRI_D_SPACES,
    .kind[SLRI_F64] = "double",
    .convert = slri_d_put_convert,
    SLRI_D_SPACE_NAMES("__global ", "__constant ", "", "__local "),
    .builtin = {"(uint)get_local_id(0)", "(uint)get_local_id(1)", "(uint)get_local_id(2)", "(uint)get_group_id(0)",
                "(uint)get_group_id(1)", "(uint)get_group_id(2)", "(uint)get_local_size(0)", "(uint)get_local_size(1)",
                "(uint)get_local_size(2)", "(uint)get_num_groups(0)", "(uint)get_num_groups(1)",
                "(uint)get_num_groups(2)"},
    .reserved = reserved,
    .extra = put_extra,
    .body = slri_opencl_level_body,
    .branch = slri_opencl_put_whole,
    .mask = put_mask,
    .warp = put_warp,
    .entry = put_entry,
    .wrapper = put_wrapper,
    .pays_ahead = true,
};

// ---- the file ------------------------------------------------------------------------------------------------------

struct needs {
    bool atomics_64;
    uint64_t largest; // of what is copied
};

static bool finds_needs(const struct slri_c_emitter *c, const struct slri_instr *in, void *user)
{
    (void)c;
    struct needs *needs = user;
    needs->atomics_64 |=
        in->op >= SLRI_OP_ATOMIC_LOAD && in->op <= SLRI_OP_ATOMIC_CAS && slri_kind_bytes(in->kind) == 8;
    if ((in->op == SLRI_OP_COPY || in->op == SLRI_OP_ZERO) && in->imm > needs->largest)
        needs->largest = in->imm;
    return false;
}

static struct needs find_needs(const struct slri_module *module)
{
    struct slri_c_emitter c = {.module = module};
    struct needs needs = {.largest = 64};
    for (uint32_t i = 0; i < module->functions; i++)
        slri_c_any(&c, module->function[i]->body, finds_needs, &needs);
    return needs;
}

uint64_t slri_opencl_dump_bytes(const struct slri_module *module)
{
    return find_needs(module).largest;
}

void slri_opencl_words(const struct slri_opencl_options *options, struct slri_text *out)
{
    slri_text_puts(out, options->c11_atomics ? "#define SLRI_C11_ATOMICS\n" : "");
    slri_text_puts(out, options->has_clock ? "#define SLRI_CLOCK\n" : "");
    slri_text_puts(out, options->svm_scope ? "#define SLRI_SVM_SCOPE\n" : "");
    slri_text_puts(out, options->warps != SLRI_OPENCL_LOCAL_MEMORY ? "#define SLRI_SUB_GROUPS\n" : "");
    slri_text_puts(out, options->warps == SLRI_OPENCL_SUB_GROUPS_OF_32 ? "#define SLRI_SUB_GROUPS_REQUIRED\n" : "");
    slri_text_puts(out, slri_embedded_slr_opencl_h);
    slri_text_puts(out, slri_embedded_slr_spaces_h);
    slri_text_puts(out, slri_embedded_slr_opencl_more_h);
}

static void put_prelude(const struct slri_module *module, const struct slri_entry *only,
                        const struct slri_opencl_options *options, struct slri_text *out)
{
    struct needs needs = find_needs(module);
    bool has_handlers = false;
    for (uint32_t i = 0; i < module->entries; i++)
        has_handlers |= module->entry[i].kind != SLRI_ENTRY_KERNEL && (!only || only == &module->entry[i]);
    slri_text_puts(out, needs.atomics_64 ? "#define SLRI_ATOMICS_64\n" : "");
    slri_opencl_words(options, out);
    if (has_handlers) {
        slri_text_printf(out, "#define SLRI_DUMP_BYTES %llu\n", (unsigned long long)needs.largest);
        slri_text_puts(out, slri_embedded_slr_opencl_ring_h);
    }
    slri_text_puts(out, "#line 1 \"slipring: emitted\"\n");
}

// What each entry needs to be written level for.
static slr_status check(struct slri_opencl_emitter *o, const struct slri_module *module, const struct slri_entry *entry,
                        struct slri_region *region)
{
    o->uniform = region ? slri_region_take(region, (module->entries + 1) * sizeof *o->uniform) : NULL;
    if (!o->uniform)
        return SLRI_FAIL(NO_MEMORY, "no memory to emit %s", module->name);
    for (uint32_t i = 0; i < module->entries; i++) {
        if (entry && entry != &module->entry[i])
            continue;
        o->uniform[i] = slri_uniform_create(module, &module->entry[i], region);
        if (!o->uniform[i])
            return SLRI_FAIL(NO_MEMORY, "no memory to emit %s", module->entry[i].name);
        SLRI_TRY(slri_opencl_check(module, &module->entry[i], o->uniform[i], &o->levels, &o->parts));
    }
    return SLR_OK;
}

slr_status slri_emit_opencl(const struct slri_module *module, const struct slri_entry *entry,
                            const struct slri_opencl_options *options, struct slri_text *out)
{
    static const struct slri_opencl_options none;
    struct slri_opencl_emitter o = {.options = options ? options : &none};
    SLRI_TRY(slri_d_check_prints(module, entry));
    SLRI_TRY(slri_matrix_refuse(module, entry, "OpenCL has no word for them"));
    struct slri_region *region = slri_region_create();
    slr_status status = check(&o, module, entry, region);
    if (status == SLR_OK) {
        o.e.names_all = o.levels;
        put_prelude(module, entry, o.options, out);
        status = slri_d_file(&o.e, module, entry, &opencl, out);
    }
    slri_region_destroy(region);
    return status;
}
