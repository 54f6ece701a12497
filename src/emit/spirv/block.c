// SPDX-License-Identifier: Apache-2.0
// A block's threads: their place, and where they meet. Other functions of a warp are the library's (slr_block.h).
#include "emit/spirv/internal.h"

// ---- places --------------------------------------------------------------------------------------------------------

enum { MEMBER_FIRST = 4 }; // of the push block

static uint32_t place(struct slri_s *s, uint32_t builtin)
{
    const uint32_t u32 = slri_s_uint(s, 4), axis = builtin % 3;
    if (builtin >= SLRI_BUILTIN_GRID_DIM_X)
        return slri_s_pushed(s, 1 + axis, u32);
    if (builtin >= SLRI_BUILTIN_BLOCK_DIM_X)
        return s->block_size[axis];
    const uint32_t from = builtin >= SLRI_BUILTIN_BLOCK_X ? s->workgroup_id : s->local_id;
    uint32_t at = SLRI_MAKE(s, AccessChain, slri_s_pointer(s, SLRI_STORAGE_Input, u32), from, slri_s_u32(s, axis));
    const uint32_t own = SLRI_MAKE(s, Load, u32, at);
    return builtin == SLRI_BUILTIN_BLOCK_X ? SLRI_MAKE(s, IAdd, u32, own, slri_s_pushed(s, MEMBER_FIRST, u32)) : own;
}

void slri_s_builtin(struct slri_s *s, const struct slri_instr *in)
{
    slri_s_set(s, in->dst, place(s, (uint32_t)in->imm));
}

// ---- meeting -------------------------------------------------------------------------------------------------------

// Of the block, or of a warp, which is a subgroup where the device has such: only there are a shuffle and a ballot.
void slri_s_meet(struct slri_s *s, const struct slri_instr *in)
{
    const bool of_subgroup = in->op == SLRI_OP_WARP && s->subgroups;
    const uint32_t scope = slri_s_u32(s, of_subgroup ? SLRI_SCOPE_IN_SUBGROUP : SLRI_SCOPE_IN_WORKGROUP);
    if (of_subgroup) {
        slri_w_capability(&s->w, SLRI_CAP_GroupNonUniform);
        s->needs |= SLRI_SPIRV_SUBGROUPS_OF_32;
    }
    if (in->op == SLRI_OP_BARRIER || in->imm == SLRI_WARP_SYNC) {
        SLRI_DO(s, ControlBarrier, scope, scope, slri_s_semantics(s, true, true));
    } else if (in->imm == SLRI_WARP_SHUFFLE) {
        slri_w_capability(&s->w, SLRI_CAP_GroupNonUniformShuffle);
        slri_s_set(s, in->dst,
                   SLRI_MAKE(s, GroupNonUniformShuffle, slri_s_type(s, in->kind), scope, slri_s_get(s, in->arg[1].reg),
                             slri_s_get(s, in->arg[2].reg)));
    } else { // BALLOT
        slri_w_capability(&s->w, SLRI_CAP_GroupNonUniformBallot);
        const uint32_t u32 = slri_s_uint(s, 4), vector = SLRI_W_ONCE(&s->w, TypeVector, 0, u32, 4);
        const uint32_t votes = SLRI_MAKE(s, GroupNonUniformBallot, vector, scope, slri_s_true(s, in->arg[1].reg));
        slri_s_set(s, in->dst, SLRI_MAKE(s, CompositeExtract, u32, votes, 0));
    }
}
