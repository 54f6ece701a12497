// SPDX-License-Identifier: Apache-2.0
// A handler in a kernel that stays. That is a module of its own, which the front end has made of text: the handler's
// functions come before its functions, and the kernel around the handler takes the place of one of them.
#include "ir/pass/handler_kernel.h"
#include "ir/pass/lower.h"

#include <stdio.h>
#include <string.h>

// Its functions may have names that the handler's module has, too.
static bool is_taken(const struct slri_module *module, const char *name)
{
    bool taken = false;
    for (uint32_t i = 0; i < module->functions; i++)
        taken |= strcmp(module->function[i]->name, name) == 0;
    return taken;
}

static bool make_name_unique(struct slri_lowering *l, const struct slri_module *module, struct slri_function *function)
{
    char name[96];
    snprintf(name, sizeof name, "%.64s", function->name);
    for (unsigned number = 0; is_taken(module, name); number++)
        snprintf(name, sizeof name, "%.64s_%u", function->name, number);
    function->name = slri_region_text(l->region, name, strlen(name));
    return function->name != NULL;
}

// Calls of `from` become calls of the kernel, and every place the handler's: the text has none that a user could read.
static void adapt(struct slri_lowering *l, struct slri_block *block, const struct slri_function *from)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        struct slri_instr *in = &block->instr[i];
        in->where = l->handler->function->where;
        if (in->op == SLRI_OP_CALL && in->callee == from) {
            in->callee = l->function;
            in->args = 0;
        }
        for (int part = 0; part < 3; part++)
            adapt(l, in->body[part], from);
        for (uint32_t k = 0; k < in->cases; k++)
            adapt(l, in->match[k].body, from);
    }
}

bool slri_lower_around(struct slri_lowering *l, struct slri_module *module, struct slri_entry *entry)
{
    struct slri_module *around = l->around;
    struct slri_function *stays = around->function[around->entry->function->index];
    const struct slri_function *replaced = NULL;
    for (uint32_t i = 0; i < around->functions; i++)
        if (strcmp(around->function[i]->name, SLRI_STAY_HANDLER) == 0)
            replaced = around->function[i];
    for (uint32_t i = 0; i < around->functions; i++) {
        struct slri_function *function = around->function[i];
        if (function == replaced)
            continue;
        adapt(l, function->body, replaced);
        function->where = l->handler->function->where;
        if (!make_name_unique(l, module, function))
            return false;
        module->function[module->functions++] = function;
    }
    stays->uses |= l->function->uses;
    entry->function = stays;
    entry->max_threads = l->is_block ? l->threads : 1;
    return replaced != NULL;
}
