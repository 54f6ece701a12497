// SPDX-License-Identifier: Apache-2.0
// A block's threads: their place, and where they meet. Other functions of a warp are the library's (slr_block.h).
#include "emit/spirv/internal.h"

// ---- places --------------------------------------------------------------------------------------------------------

uint32_t slri_s_builtin(struct slri_s *s, enum slri_builtin builtin)
{
    uint32_t u32 = slri_s_uint(s, 4), axis = (uint32_t)builtin % 3;
    if (builtin >= SLRI_BUILTIN_GRID_DIM_X)
        return slri_s_pushed(s, 1 + axis, u32);
    if (builtin >= SLRI_BUILTIN_BLOCK_DIM_X)
        return s->block_size[axis];
    uint32_t from = builtin >= SLRI_BUILTIN_BLOCK_X ? s->workgroup_id : s->local_id;
    uint32_t at = SLRI_MAKE(s, AccessChain, slri_s_pointer(s, SLRI_STORAGE_Input, u32), from, slri_s_u32(s, axis));
    return SLRI_MAKE(s, Load, u32, at);
}

// ---- meeting -------------------------------------------------------------------------------------------------------

void slri_s_meet(struct slri_s *s, uint32_t scope)
{
    SLRI_DO(s, ControlBarrier, slri_s_u32(s, scope), slri_s_u32(s, scope), slri_s_semantics(s, true, true));
}

// A shuffle and a ballot are of a whole warp, which is a subgroup.
void slri_s_warp(struct slri_s *s, const struct slri_instr *in)
{
    const uint32_t u32 = slri_s_uint(s, 4), scope = slri_s_u32(s, SLRI_SCOPE_IN_SUBGROUP);
    if (s->subgroups) {
        slri_w_capability(&s->w, SLRI_CAP_GroupNonUniform);
        s->needs |= SLRI_SPIRV_SUBGROUPS_OF_32;
    }
    if (in->imm == SLRI_WARP_SYNC) {
        slri_s_meet(s, s->subgroups ? SLRI_SCOPE_IN_SUBGROUP : SLRI_SCOPE_IN_WORKGROUP);
    } else if (in->imm == SLRI_WARP_SHUFFLE) {
        slri_w_capability(&s->w, SLRI_CAP_GroupNonUniformShuffle);
        slri_s_set(s, in->dst,
                   SLRI_MAKE(s, GroupNonUniformShuffle, slri_s_type(s, in->kind), scope, slri_s_get(s, in->arg[1].reg),
                             slri_s_get(s, in->arg[2].reg)));
    } else { // BALLOT
        slri_w_capability(&s->w, SLRI_CAP_GroupNonUniformBallot);
        const uint32_t vector = SLRI_W_ONCE(&s->w, TypeVector, 0, u32, 4);
        const uint32_t votes = SLRI_MAKE(s, GroupNonUniformBallot, vector, scope, slri_s_true(s, in->arg[1].reg));
        slri_s_set(s, in->dst, SLRI_MAKE(s, CompositeExtract, u32, votes, 0));
    }
}
