// SPDX-License-Identifier: Apache-2.0
#include "kernel/emit_opencl_check.h"
#include "base/status.h"
#include "kernel/uniform.h"

struct check {
    const struct slri_module *module;
    const struct slri_uniform *uniform;
    const struct slri_function *function;
    bool has_left; // some threads may have returned from the entry before
    bool is_entry;
};

static bool waits(const struct slri_instr *in)
{
    return in->op == SLRI_OP_BARRIER || in->op == SLRI_OP_WARP;
}

static bool waits_in(const struct slri_instr *in)
{
    bool calls = in->op == SLRI_OP_CALL && (in->callee->uses & (SLRI_USES_BARRIER | SLRI_USES_WARP));
    return waits(in) || calls;
}

static slr_status refuse(const struct check *c, const struct slri_instr *in, const char *why)
{
    return SLRI_FAIL(UNSUPPORTED, "%s:%u: OpenCL cannot wait here: %s", c->module->file[in->where.file], in->where.line,
                     why);
}

static slr_status check_block(struct check *c, const struct slri_block *block);

static slr_status check_parts(struct check *c, const struct slri_instr *in)
{
    int rounds = in->op == SLRI_OP_LOOP ? 2 : 1; // who has returned in one is missing in the next
    for (int round = 0; round < rounds; round++)
        for (int part = 0; part < 3; part++)
            if (in->body[part])
                SLRI_TRY(check_block(c, in->body[part]));
    for (uint32_t i = 0; i < in->cases; i++)
        SLRI_TRY(check_block(c, in->match[i].body));
    return SLR_OK;
}

static slr_status check_block(struct check *c, const struct slri_block *block)
{
    for (uint32_t i = 0; i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        bool is_uniform = slri_uniform_flow(c->uniform, c->function, block, i);
        if (waits(in) && !is_uniform)
            return refuse(c, in, "not all threads of the block come here; take the branch around it away");
        if (c->has_left && waits_in(in))
            return refuse(c, in, "threads may have returned before; let them go on to the end with nothing to do");
        if (in->op == SLRI_OP_RETURN && c->is_entry && !is_uniform)
            c->has_left = true;
        SLRI_TRY(check_parts(c, in));
    }
    return SLR_OK;
}

slr_status slri_opencl_check(const struct slri_module *module, const struct slri_entry *entry)
{
    if (!(entry->function->uses & (SLRI_USES_BARRIER | SLRI_USES_WARP)))
        return SLR_OK;
    struct slri_region *region = slri_region_create();
    struct check c = {.module = module, .uniform = region ? slri_uniform_create(module, entry, region) : NULL};
    slr_status status = c.uniform ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory to emit %s", entry->name);
    for (uint32_t i = 0; status == SLR_OK && i < module->functions; i++) {
        c.function = module->function[i];
        c.is_entry = c.function == entry->function;
        c.has_left = false;
        bool is_other_entry = false;
        for (uint32_t k = 0; k < module->entries; k++)
            is_other_entry |= !c.is_entry && module->entry[k].function == c.function;
        if (!is_other_entry && (c.function->uses & (SLRI_USES_BARRIER | SLRI_USES_WARP)))
            status = check_block(&c, c.function->body);
    }
    slri_region_destroy(region);
    return status;
}
