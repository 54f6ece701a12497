// SPDX-License-Identifier: Apache-2.0
// Kernels and handlers that do nothing because the preprocessor took away what they do. They are listed with what was
// left out: an #if on something that is not defined here must not become a kernel that runs and writes nothing.
#include "lang/lower/lower.h"
#include "lang/check/skip.h"

struct emptied {
    uint32_t mark;
    const struct slri_function *removed; // the first one found that lost something
};

// Of memory that others see: what a kernel leaves in its block's shared memory or in locals is nobody's when it ends.
static bool writes_outside(struct slri_root root)
{
    return root.kind != SLRI_ROOT_LOCAL && root.kind != SLRI_ROOT_SHARED && root.kind != SLRI_ROOT_DYNAMIC;
}

static bool acts(const struct slri_instr *in)
{
    switch (in->op) {
    case SLRI_OP_STORE:
    case SLRI_OP_COPY:
    case SLRI_OP_ZERO:
    case SLRI_OP_ATOMIC_STORE:
    case SLRI_OP_ATOMIC_RMW:
    case SLRI_OP_ATOMIC_CAS:
        return writes_outside(in->root);
    case SLRI_OP_REPLY:
    case SLRI_OP_SEND:
    case SLRI_OP_PRINT:
    case SLRI_OP_TRAP:
        return true;
    default:
        return false;
    }
}

static bool block_acts(struct emptied *e, const struct slri_block *block);

static bool function_acts(struct emptied *e, struct slri_function *function)
{
    if (function->mark == e->mark) // it was looked at, and does nothing
        return false;
    function->mark = e->mark;
    if (function->removed_from && !e->removed)
        e->removed = function;
    return block_acts(e, function->body);
}

static bool block_acts(struct emptied *e, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (acts(in) || (in->callee && function_acts(e, (struct slri_function *)in->callee)))
            return true;
        for (int part = 0; part < 3; part++)
            if (block_acts(e, in->body[part]))
                return true;
        for (uint32_t c = 0; c < in->cases; c++)
            if (block_acts(e, in->match[c].body))
                return true;
    }
    return false;
}

static void list_emptied(struct slri_unit *unit, const struct slri_entry *entry, const struct slri_function *removed)
{
    struct slri_skipped made = {.name = entry->name, .code = SLRI_K_EMPTIED};
    made.is_kernel = entry->kind == SLRI_ENTRY_KERNEL;
    made.what = made.is_kernel ? "what does the work of the kernel" : "what does the work of the handler";
    made.where = removed->where;
    uint32_t from = removed->removed_from, to = removed->removed_to, arch = unit->front->source->cuda_arch;
    const char *lines =
        from == to ? slri_unit_format(unit, "line %u", from) : slri_unit_format(unit, "lines %u to %u", from, to);
    made.why = slri_unit_format(unit,
                                "#if took %s away, and the rest has no effect; __CUDA_ARCH__ is %u unless -D "
                                "says another",
                                lines, arch ? arch : SLRI_CUDA_ARCH);
    slri_list_skipped(unit, &made);
}

void slri_list_emptied(struct slri_lowering *all)
{
    if (!all->unit->front->removeds)
        return;
    for (uint32_t i = 0; i < all->module->entries; i++) {
        const struct slri_entry *entry = &all->module->entry[i];
        struct emptied e = {.mark = ++all->mark};
        if (!function_acts(&e, entry->function) && e.removed)
            list_emptied(all->unit, entry, e.removed);
    }
}
