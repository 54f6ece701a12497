// SPDX-License-Identifier: Apache-2.0
// A kernel's words. Words are made of whole functions, so the functions of the library that a kernel calls are put into
// its module before.
#include "base/status.h"
#include "emit/spirv/internal.h"
#include "ir/pass/words.h"
#include "lang/library.h"

#include <string.h>

struct link {
    struct slri_region *region;
    const struct slri_module *from[2]; // the kernel's, the library
    struct slri_function **made[2];    // by index in those; NULL: not called
    bool *has_double[2];               // by the same
    struct slri_module *to;
    slr_status refused;
};

static struct slri_function *link_function(struct link *l, int unit, const struct slri_function *function);

static void *copy_of(struct link *l, const void *of, size_t bytes)
{
    void *made = slri_region_take(l->region, bytes + 1);
    if (!made)
        l->refused = SLRI_FAIL(NO_MEMORY, "no memory for the functions of '%s'", l->to->name);
    else if (bytes)
        memcpy(made, of, bytes);
    return made;
}

static uint32_t index_in(const struct slri_module *module, const struct slri_function *function)
{
    uint32_t index = 0;
    while (module->function[index] != function)
        index++;
    return index;
}

static const struct slri_function *library_function(const struct link *l, uint64_t id)
{
    const struct slri_module *library = l->from[1];
    uint32_t i = 0;
    while (strcmp(library->function[i]->name, slri_math_functions[id].c_function) != 0)
        i++;
    return library->function[i];
}

static void shift_root(const struct link *l, int unit, struct slri_root *root)
{
    if (unit == 1 && root->kind == SLRI_ROOT_CONST) // its tables stand behind the kernel's
        root->index += l->from[0]->constants;
}

static struct slri_block *link_block(struct link *l, int unit, const struct slri_block *block);

static void link_math(struct link *l, struct slri_instr *in)
{
    const struct slri_function *function = library_function(l, in->imm);
    struct slri_function *made = link_function(l, 1, function);
    if (l->refused != SLR_OK)
        return;
    if (l->has_double[1][index_in(l->from[1], function)]) {
        l->refused = slri_s_math_is_double(l->from[0], in);
        return;
    }
    in->op = SLRI_OP_CALL;
    in->kind = SLRI_VOID;
    in->imm = 0;
    in->callee = made;
}

static void link_instr(struct link *l, int unit, struct slri_instr *in)
{
    shift_root(l, unit, &in->root);
    shift_root(l, unit, &in->root2);
    for (int part = 0; part < 3; part++)
        if (in->body[part])
            in->body[part] = link_block(l, unit, in->body[part]);
    if (in->cases)
        in->match = copy_of(l, in->match, in->cases * sizeof *in->match);
    for (uint32_t i = 0; i < in->cases && l->refused == SLR_OK; i++)
        in->match[i].body = link_block(l, unit, in->match[i].body);
    if (in->op == SLRI_OP_CALL)
        in->callee = link_function(l, unit, in->callee);
    else if (in->op == SLRI_OP_MATH && unit == 0)
        link_math(l, in);
}

static struct slri_block *link_block(struct link *l, int unit, const struct slri_block *block)
{
    struct slri_block *made = copy_of(l, block, sizeof *block);
    if (made)
        made->instr = copy_of(l, block->instr, block->count * sizeof *block->instr);
    if (l->refused != SLR_OK)
        return NULL;
    made->room = made->count;
    for (uint32_t i = 0; i < made->count && l->refused == SLR_OK; i++)
        link_instr(l, unit, &made->instr[i]);
    return made;
}

static bool calls_double(const struct link *l, const struct slri_block *block)
{
    bool any = false;
    for (uint32_t i = 0; block && i < block->count && !any; i++) {
        const struct slri_instr *in = &block->instr[i];
        any = in->op == SLRI_OP_CALL && l->has_double[1][index_in(l->from[1], in->callee)];
        for (int part = 0; part < 3; part++)
            any = any || calls_double(l, in->body[part]);
        for (uint32_t k = 0; k < in->cases; k++)
            any = any || calls_double(l, in->match[k].body);
    }
    return any;
}

static void look_for_doubles(struct link *l, uint32_t index)
{
    const struct slri_function *function = l->from[1]->function[index];
    bool any = function->result == SLRI_F64 || calls_double(l, function->body);
    for (slri_reg reg = 0; reg < function->regs; reg++)
        any = any || function->reg_kind[reg] == SLRI_F64;
    l->has_double[1][index] = any;
}

// Behind those that it calls.
static struct slri_function *link_function(struct link *l, int unit, const struct slri_function *function)
{
    const uint32_t index = index_in(l->from[unit], function);
    if (l->made[unit][index] || l->refused != SLR_OK)
        return l->made[unit][index];
    struct slri_function *made = copy_of(l, function, sizeof *function);
    if (made)
        made->body = link_block(l, unit, function->body);
    if (l->refused != SLR_OK)
        return NULL;
    if (unit == 1)
        look_for_doubles(l, index);
    made->index = l->to->functions;
    l->to->function[l->to->functions++] = made;
    l->made[unit][index] = made;
    return made;
}

static bool begin(struct link *l, const struct slri_module *module)
{
    struct slri_module *to = slri_region_take(l->region, sizeof *to);
    for (int unit = 0; unit < 2; unit++) {
        const size_t count = l->from[unit]->functions + (size_t)1;
        l->made[unit] = slri_region_take(l->region, count * sizeof **l->made);
        l->has_double[unit] = slri_region_take(l->region, count);
    }
    if (!to || !l->made[0] || !l->made[1] || !l->has_double[0] || !l->has_double[1])
        return false;
    *to = *module;
    l->to = to;
    const uint32_t tables = module->constants + l->from[1]->constants;
    to->functions = 0;
    to->function = slri_region_take(l->region, ((size_t)module->functions + l->from[1]->functions + 1) * sizeof *to->function);
    to->constant = slri_region_take(l->region, (tables + (size_t)1) * sizeof *to->constant);
    if (!to->function || !to->constant)
        return false;
    for (uint32_t i = 0; i < tables; i++)
        to->constant[i] = i < module->constants ? module->constant[i] : l->from[1]->constant[i - module->constants];
    to->constants = tables;
    return true;
}

static slr_status link_and_lower(struct link *l, const struct slri_entry *entry, struct slri_module **out)
{
    if (!begin(l, l->from[0]))
        return SLRI_FAIL(NO_MEMORY, "no memory for the functions of '%s'", entry->name);
    struct slri_entry linked = *entry;
    linked.function = link_function(l, 0, entry->function);
    return l->refused == SLR_OK ? slri_words_kernel(l->to, &linked, NULL, out) : l->refused;
}

slr_status slri_s_words(const struct slri_module *module, const struct slri_entry *entry, struct slri_module **out)
{
    struct link l = {.from = {module}};
    SLRI_TRY(slri_math_library(&l.from[1]));
    l.region = slri_region_create();
    slr_status status = l.region ? link_and_lower(&l, entry, out)
                                 : SLRI_FAIL(NO_MEMORY, "no memory for the functions of '%s'", entry->name);
    slri_region_destroy(l.region);
    return status;
}
