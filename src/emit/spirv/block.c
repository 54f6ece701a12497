// SPDX-License-Identifier: Apache-2.0
// A block's threads: their place, barriers, and the functions of a warp. Where no subgroup is a warp, these go through
// words of shared memory between barriers of the block: each lane has two, in the order of lanes.
#include "emit/spirv/internal.h"

// ---- places --------------------------------------------------------------------------------------------------------

uint32_t slri_s_builtin(struct slri_s *s, enum slri_builtin builtin)
{
    uint32_t u32 = slri_s_uint(s, 4), axis = (uint32_t)builtin % 3;
    if (builtin >= SLRI_BUILTIN_GRID_DIM_X) {
        uint32_t at = SLRI_MAKE(s, AccessChain, slri_s_pointer(s, SLRI_STORAGE_PushConstant, u32), s->push,
                                slri_s_u32(s, 1 + axis));
        return SLRI_MAKE(s, Load, u32, at);
    }
    if (builtin >= SLRI_BUILTIN_BLOCK_DIM_X)
        return s->block_size[axis];
    uint32_t from = builtin >= SLRI_BUILTIN_BLOCK_X ? s->workgroup_id : s->local_id;
    uint32_t at = SLRI_MAKE(s, AccessChain, slri_s_pointer(s, SLRI_STORAGE_Input, u32), from, slri_s_u32(s, axis));
    return SLRI_MAKE(s, Load, u32, at);
}

// The thread's number in its block.
static uint32_t number_of_thread(struct slri_s *s)
{
    uint32_t u32 = slri_s_uint(s, 4);
    uint32_t at = SLRI_MAKE(s, IMul, u32, slri_s_builtin(s, SLRI_BUILTIN_THREAD_Z), s->block_size[1]);
    at = SLRI_MAKE(s, IAdd, u32, at, slri_s_builtin(s, SLRI_BUILTIN_THREAD_Y));
    at = SLRI_MAKE(s, IMul, u32, at, s->block_size[0]);
    return SLRI_MAKE(s, IAdd, u32, at, slri_s_builtin(s, SLRI_BUILTIN_THREAD_X));
}

static uint32_t threads_of_block(struct slri_s *s)
{
    uint32_t u32 = slri_s_uint(s, 4);
    uint32_t plane = SLRI_MAKE(s, IMul, u32, s->block_size[0], s->block_size[1]);
    return SLRI_MAKE(s, IMul, u32, plane, s->block_size[2]);
}

// ---- meeting -------------------------------------------------------------------------------------------------------

static void meet(struct slri_s *s, bool is_warp)
{
    uint32_t scope = slri_s_u32(s, is_warp && s->subgroups ? SLRI_SCOPE_IN_SUBGROUP : SLRI_SCOPE_IN_WORKGROUP);
    SLRI_DO(s, ControlBarrier, scope, scope, slri_s_semantics(s, true, true));
}

static struct slri_s_place word_at(struct slri_s *s, uint32_t index) // id of u32
{
    uint32_t type = slri_s_uint(s, s->words ? 4 : 8), of = s->words ? index : SLRI_MAKE(s, UConvert, type, index);
    uint32_t at = SLRI_MAKE(s, ShiftLeftLogical, type, of, slri_s_u32(s, 2));
    return (struct slri_s_place){.array = s->exchange, .offset = at};
}

// How many threads give true. Ends with a barrier, so that the next finds the word free.
static uint32_t count_of(struct slri_s *s, uint32_t flag)
{
    uint32_t u32 = slri_s_uint(s, 4), zero = slri_s_u32(s, 0);
    struct slri_s_place sum = {.array = s->exchange, .is_known = true};
    uint32_t merge = slri_s_if(s, SLRI_MAKE(s, IEqual, slri_s_bool(s), number_of_thread(s), zero));
    slri_s_store_bits(s, &sum, 4, zero);
    slri_s_end_if(s, merge);
    meet(s, false);
    slri_s_update(s, SLRI_W_AtomicIAdd, &sum, SLRI_SCOPE_BLOCK,
                  SLRI_MAKE(s, Select, u32, flag, slri_s_u32(s, 1), zero));
    meet(s, false);
    uint32_t count = slri_s_load_bits(s, &sum, 4);
    meet(s, false);
    return count;
}

void slri_s_barrier(struct slri_s *s, const struct slri_instr *in)
{
    if (in->imm == SLRI_BARRIER_SYNC) {
        meet(s, false);
        return;
    }
    uint32_t boolean = slri_s_bool(s), count = count_of(s, slri_s_true(s, in->a));
    if (in->imm == SLRI_BARRIER_COUNT)
        slri_s_set(s, in->dst, count);
    else if (in->imm == SLRI_BARRIER_AND)
        slri_s_set_flag(s, in->dst, SLRI_MAKE(s, IEqual, boolean, count, threads_of_block(s)));
    else
        slri_s_set_flag(s, in->dst, SLRI_MAKE(s, INotEqual, boolean, count, slri_s_u32(s, 0)));
}

// ---- warps ---------------------------------------------------------------------------------------------------------

struct warp {
    uint32_t own, first, word; // the lane; the first thread of the warp; the first word of the warp
    uint32_t present, mask;    // the lanes that are there, and those that take part
};

static struct warp look_at_warp(struct slri_s *s)
{
    uint32_t u32 = slri_s_uint(s, 4), thread = number_of_thread(s), all = slri_s_u32(s, 32);
    struct warp w = {.own = SLRI_MAKE(s, BitwiseAnd, u32, thread, slri_s_u32(s, 31))};
    w.first = SLRI_MAKE(s, ISub, u32, thread, w.own);
    w.word = SLRI_MAKE(s, ShiftLeftLogical, u32, w.first, slri_s_u32(s, 1));
    uint32_t left = SLRI_MAKE(s, ISub, u32, threads_of_block(s), w.first);
    left = SLRI_GLSL(s, UMin, u32, left, all);
    w.present = SLRI_MAKE(s, ShiftRightLogical, u32, slri_s_u32(s, UINT32_MAX), SLRI_MAKE(s, ISub, u32, all, left));
    return w;
}

static uint32_t has_lane(struct slri_s *s, uint32_t mask, uint32_t lane)
{
    uint32_t u32 = slri_s_uint(s, 4), bit = SLRI_MAKE(s, ShiftRightLogical, u32, mask, lane);
    bit = SLRI_MAKE(s, BitwiseAnd, u32, bit, slri_s_u32(s, 1));
    return SLRI_MAKE(s, INotEqual, slri_s_bool(s), bit, slri_s_u32(s, 0));
}

static uint32_t ballot(struct slri_s *s, const struct warp *w, uint32_t flag)
{
    uint32_t u32 = slri_s_uint(s, 4), zero = slri_s_u32(s, 0);
    if (s->subgroups) {
        slri_w_capability(&s->w, SLRI_CAP_GroupNonUniformBallot);
        uint32_t vector = SLRI_W_ONCE(&s->w, TypeVector, 0, u32, 4);
        uint32_t made = SLRI_MAKE(s, GroupNonUniformBallot, vector, slri_s_u32(s, SLRI_SCOPE_IN_SUBGROUP), flag);
        return SLRI_MAKE(s, BitwiseAnd, u32, SLRI_MAKE(s, CompositeExtract, u32, made, 0), w->mask);
    }
    struct slri_s_place votes = word_at(s, w->word);
    uint32_t merge = slri_s_if(s, SLRI_MAKE(s, IEqual, slri_s_bool(s), w->own, zero));
    slri_s_store_bits(s, &votes, 4, zero);
    slri_s_end_if(s, merge);
    meet(s, true);
    uint32_t bit = SLRI_MAKE(s, ShiftLeftLogical, u32, slri_s_u32(s, 1), w->own);
    slri_s_update(s, SLRI_W_AtomicOr, &votes, SLRI_SCOPE_BLOCK, SLRI_MAKE(s, Select, u32, flag, bit, zero));
    meet(s, true);
    uint32_t made = slri_s_load_bits(s, &votes, 4);
    meet(s, true);
    return SLRI_MAKE(s, BitwiseAnd, u32, made, w->mask);
}

// Which lane a shuffle asks for.
static uint32_t lane_of(struct slri_s *s, const struct slri_instr *in, const struct warp *w)
{
    uint32_t u32 = slri_s_uint(s, 4), boolean = slri_s_bool(s);
    uint32_t by = slri_s_get(s, in->arg[2].reg), width = slri_s_get(s, in->arg[3].reg);
    uint32_t within = SLRI_MAKE(s, ISub, u32, width, slri_s_u32(s, 1));
    uint32_t first = SLRI_MAKE(s, BitwiseAnd, u32, w->own, SLRI_MAKE(s, Not, u32, within));
    uint32_t last = SLRI_MAKE(s, BitwiseOr, u32, w->own, within), at, fits;
    switch (in->imm) {
    case SLRI_WARP_SHUFFLE:
        return SLRI_MAKE(s, IAdd, u32, first, SLRI_MAKE(s, BitwiseAnd, u32, by, within));
    case SLRI_WARP_SHUFFLE_UP:
        at = SLRI_MAKE(s, ISub, u32, w->own, by);
        fits = SLRI_MAKE(s, ULessThanEqual, boolean, by, SLRI_MAKE(s, ISub, u32, w->own, first));
        break;
    case SLRI_WARP_SHUFFLE_DOWN:
        at = SLRI_MAKE(s, IAdd, u32, w->own, by);
        fits = SLRI_MAKE(s, ULessThanEqual, boolean, by, SLRI_MAKE(s, ISub, u32, last, w->own));
        break;
    default:
        at = SLRI_MAKE(s, BitwiseXor, u32, w->own, by);
        fits = SLRI_MAKE(s, ULessThanEqual, boolean, at, last);
        break;
    }
    return SLRI_MAKE(s, Select, u32, fits, at, w->own);
}

static struct slri_s_place lent_by(struct slri_s *s, const struct warp *w, uint32_t lane)
{
    uint32_t u32 = slri_s_uint(s, 4);
    uint32_t at = SLRI_MAKE(s, IAdd, u32, w->word, SLRI_MAKE(s, ShiftLeftLogical, u32, lane, slri_s_u32(s, 1)));
    return word_at(s, at);
}

static void put_shuffle(struct slri_s *s, const struct slri_instr *in, const struct warp *w)
{
    uint32_t u32 = slri_s_uint(s, 4), bytes = slri_kind_bytes(in->kind), boolean = slri_s_bool(s);
    uint32_t value = slri_s_as_bits(s, in->kind, slri_s_get(s, in->arg[1].reg));
    uint32_t from = lane_of(s, in, w);
    uint32_t is_lane = SLRI_MAKE(s, ULessThan, boolean, from, slri_s_u32(s, 32));
    uint32_t asked = SLRI_MAKE(s, BitwiseAnd, u32, from, slri_s_u32(s, 31));
    is_lane = SLRI_MAKE(s, LogicalAnd, boolean, is_lane, has_lane(s, w->mask, asked));
    uint32_t lane = SLRI_MAKE(s, Select, u32, is_lane, asked, w->own), taken;
    if (s->subgroups) {
        slri_w_capability(&s->w, SLRI_CAP_GroupNonUniformShuffle);
        taken = SLRI_MAKE(s, GroupNonUniformShuffle, slri_s_uint(s, bytes), slri_s_u32(s, SLRI_SCOPE_IN_SUBGROUP),
                          value, lane);
    } else {
        struct slri_s_place mine = lent_by(s, w, w->own);
        slri_s_store_bits(s, &mine, bytes, value);
        meet(s, true);
        struct slri_s_place other = lent_by(s, w, lane);
        taken = slri_s_load_bits(s, &other, bytes);
        meet(s, true);
    }
    slri_s_set(s, in->dst, slri_s_of_bits(s, in->kind, taken));
}

static void put_match(struct slri_s *s, const struct slri_instr *in, const struct warp *w)
{
    uint32_t u32 = slri_s_uint(s, 4), bytes = slri_kind_bytes(in->kind), made = slri_s_u32(s, 0);
    uint32_t value = slri_s_as_bits(s, in->kind, slri_s_get(s, in->arg[1].reg));
    struct slri_s_place mine = lent_by(s, w, w->own), first = word_at(s, w->word);
    slri_s_store_bits(s, &mine, bytes, value);
    meet(s, true);
    for (uint32_t lane = 0; lane < 32; lane++) {
        struct slri_s_place other = slri_s_behind(&first, (uint64_t)lane * 8);
        uint32_t same = SLRI_MAKE(s, IEqual, slri_s_bool(s), slri_s_load_bits(s, &other, bytes), value);
        made = SLRI_MAKE(s, BitwiseOr, u32, made,
                         SLRI_MAKE(s, Select, u32, same, slri_s_u32(s, 1u << lane), slri_s_u32(s, 0)));
    }
    meet(s, true);
    slri_s_set(s, in->dst, SLRI_MAKE(s, BitwiseAnd, u32, made, w->mask));
}

// Masks of one warp that differ have no lane in common: each is known by its lowest lane, whose word takes the sum.
static void put_reduction(struct slri_s *s, const struct slri_instr *in, const struct warp *w)
{
    bool is_signed = in->kind == SLRI_I32;
    const struct {
        enum slri_w_op op;
        uint32_t begin;
    } how[] = {{SLRI_W_AtomicIAdd, 0},
               {is_signed ? SLRI_W_AtomicSMin : SLRI_W_AtomicUMin, is_signed ? INT32_MAX : UINT32_MAX},
               {is_signed ? SLRI_W_AtomicSMax : SLRI_W_AtomicUMax, is_signed ? 0x80000000u : 0},
               {SLRI_W_AtomicAnd, UINT32_MAX},
               {SLRI_W_AtomicOr, 0},
               {SLRI_W_AtomicXor, 0}};
    uint32_t u32 = slri_s_uint(s, 4), which = (uint32_t)in->imm - SLRI_WARP_REDUCE_ADD;
    uint32_t value = slri_s_get(s, in->arg[1].reg), takes = has_lane(s, w->mask, w->own);
    struct slri_s_place mine = lent_by(s, w, w->own);
    slri_s_store_bits(s, &mine, 4, slri_s_u32(s, how[which].begin));
    uint32_t lowest = SLRI_MAKE(s, BitwiseAnd, u32, SLRI_GLSL(s, FindILsb, u32, w->mask), slri_s_u32(s, 31));
    struct slri_s_place sum = lent_by(s, w, lowest);
    meet(s, true);
    uint32_t merge = slri_s_if(s, takes);
    slri_s_update(s, how[which].op, &sum, SLRI_SCOPE_BLOCK, value);
    slri_s_end_if(s, merge);
    meet(s, true);
    uint32_t made = slri_s_load_bits(s, &sum, 4);
    meet(s, true);
    slri_s_set(s, in->dst, made);
}

void slri_s_warp(struct slri_s *s, const struct slri_instr *in)
{
    uint32_t u32 = slri_s_uint(s, 4), boolean = slri_s_bool(s);
    if (s->subgroups) {
        slri_w_capability(&s->w, SLRI_CAP_GroupNonUniform);
        s->needs |= SLRI_SPIRV_SUBGROUPS_OF_32;
    }
    if (in->imm == SLRI_WARP_SYNC) {
        meet(s, true);
        return;
    }
    struct warp w = look_at_warp(s);
    if (in->imm == SLRI_WARP_ACTIVE) {
        w.mask = w.present;
        uint32_t all = SLRI_MAKE(s, IEqual, boolean, w.own, w.own);
        slri_s_set(s, in->dst, s->subgroups ? ballot(s, &w, all) : w.present);
        return;
    }
    w.mask = SLRI_MAKE(s, BitwiseAnd, u32, slri_s_get(s, in->arg[0].reg), w.present);
    if (in->imm <= SLRI_WARP_SHUFFLE_XOR) {
        put_shuffle(s, in, &w);
    } else if (in->imm == SLRI_WARP_BALLOT) {
        slri_s_set(s, in->dst, ballot(s, &w, slri_s_true(s, in->arg[1].reg)));
    } else if (in->imm == SLRI_WARP_ALL) {
        slri_s_set_flag(s, in->dst,
                        SLRI_MAKE(s, IEqual, boolean, ballot(s, &w, slri_s_true(s, in->arg[1].reg)), w.mask));
    } else if (in->imm == SLRI_WARP_ANY) {
        uint32_t made = ballot(s, &w, slri_s_true(s, in->arg[1].reg));
        slri_s_set_flag(s, in->dst, SLRI_MAKE(s, INotEqual, boolean, made, slri_s_u32(s, 0)));
    } else if (in->imm == SLRI_WARP_MATCH) {
        put_match(s, in, &w);
    } else {
        put_reduction(s, in, &w);
    }
}
