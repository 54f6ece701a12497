// SPDX-License-Identifier: Apache-2.0
#include "emit/opencl/check.h"
#include "base/status.h"
#include "emit/opencl/level.h"

struct check {
    const struct slri_module *module;
    const struct slri_uniform *uniform;
    const struct slri_function *function;
    bool has_left; // some threads may have returned from the entry before
    bool is_entry;
    bool levels, parts;                 // found
    const struct slri_instr *in_switch; // what a switch holds that cannot be written level
};

static slr_status refuse(const struct check *c, const struct slri_instr *in, const char *why)
{
    return SLRI_FAIL(UNSUPPORTED, "%s:%u: OpenCL cannot synchronise here: %s", c->module->file[in->where.file],
                     in->where.line, why);
}

static slr_status check_block(struct check *c, const struct slri_block *block, bool in_switch);

static slr_status check_parts(struct check *c, const struct slri_instr *in, bool in_switch)
{
    int rounds = in->op == SLRI_OP_LOOP ? 2 : 1; // who has returned in one is missing in the next
    for (int round = 0; round < rounds; round++)
        for (int part = 0; part < 3; part++)
            if (in->body[part])
                SLRI_TRY(check_block(c, in->body[part], in_switch));
    for (uint32_t i = 0; i < in->cases; i++)
        SLRI_TRY(check_block(c, in->match[i].body, true));
    return SLR_OK;
}

static slr_status check_block(struct check *c, const struct slri_block *block, bool in_switch)
{
    for (uint32_t i = 0; i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        bool is_uniform = slri_uniform_flow(c->uniform, c->function, block, i);
        if (in->op == SLRI_OP_BARRIER && !is_uniform)
            return refuse(c, in, "not all threads of the block come here; take the branch around it away");
        if (slri_instr_waits(in)) {
            c->levels |= c->has_left || (in->op == SLRI_OP_WARP && !is_uniform);
            c->parts |= c->has_left;
        }
        if (in->op == SLRI_OP_RETURN && c->is_entry && !is_uniform)
            c->has_left = true;
        if (in_switch && !c->in_switch && slri_instr_waits(in))
            c->in_switch = in;
        if (in->op == SLRI_OP_SWITCH && !c->in_switch && slri_instr_leaves(in))
            c->in_switch = in;
        SLRI_TRY(check_parts(c, in, in_switch));
    }
    return SLR_OK;
}

slr_status slri_opencl_check(const struct slri_module *module, const struct slri_entry *entry,
                             const struct slri_uniform *uniform, bool *levels, bool *parts)
{
    if (!(entry->function->uses & (SLRI_USES_BARRIER | SLRI_USES_WARP)))
        return SLR_OK;
    struct check c = {.module = module, .uniform = uniform};
    for (uint32_t i = 0; i < module->functions; i++) {
        c.function = module->function[i];
        c.is_entry = c.function == entry->function;
        c.has_left = false;
        bool is_other_entry = false;
        for (uint32_t k = 0; k < module->entries; k++)
            is_other_entry |= !c.is_entry && module->entry[k].function == c.function;
        if (!is_other_entry && (c.function->uses & (SLRI_USES_BARRIER | SLRI_USES_WARP)))
            SLRI_TRY(check_block(&c, c.function->body, false));
    }
    if (c.levels && c.in_switch)
        return refuse(&c, c.in_switch, "a switch around it, and not all threads come the same way; write it with if");
    *levels |= c.levels;
    *parts |= c.parts;
    return SLR_OK;
}
