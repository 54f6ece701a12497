// SPDX-License-Identifier: Apache-2.0
#include "emit/cuda/check.h"
#include "base/status.h"
#include "ir/uniform.h"

// Only the entry's own body: what returns from another function goes on in its caller.
struct returns {
    const struct slri_uniform *uniform;
    const struct slri_function *function;
    bool some;                      // threads may have returned before
    const struct slri_instr *waits; // the first one behind
};

static bool calls_a_warp(const struct slri_instr *in)
{
    return in->op == SLRI_OP_WARP || (in->op == SLRI_OP_CALL && (in->callee->uses & SLRI_USES_WARP));
}

static void look_at(struct returns *r, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (r->some && !r->waits && calls_a_warp(in))
            r->waits = in;
        r->some |= in->op == SLRI_OP_RETURN && !slri_uniform_flow(r->uniform, r->function, block, i);
        bool before = r->some;
        for (int part = 0; part < 3; part++)
            look_at(r, in->body[part]);
        for (int part = 0; part < 3 && in->op == SLRI_OP_LOOP && r->some && !before; part++)
            look_at(r, in->body[part]); // who has returned in a turn is missing in the next
        for (uint32_t k = 0; k < in->cases; k++)
            look_at(r, in->match[k].body);
    }
}

slr_status slri_emit_cuda_check(const struct slri_module *module, const struct slri_entry *block)
{
    if (!(block->function->uses & SLRI_USES_WARP))
        return SLR_OK;
    struct slri_region *region = slri_region_create();
    struct returns r = {.function = block->function};
    r.uniform = region ? slri_uniform_create(module, block, region) : NULL;
    slr_status status = SLR_OK;
    if (!r.uniform)
        status = SLRI_FAIL(NO_MEMORY, "no memory to emit %s", block->name);
    else
        look_at(&r, block->function->body);
    if (r.waits)
        status = SLRI_FAIL(
            UNSUPPORTED,
            "%s:%u: CUDA cannot synchronise here: some threads may have returned; let them run to the end without work",
            module->file[r.waits->where.file], r.waits->where.line);
    slri_region_destroy(region);
    return status;
}
