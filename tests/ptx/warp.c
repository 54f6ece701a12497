// SPDX-License-Identifier: Apache-2.0
// What lanes of a warp do together, and threads of a block. Who comes waits until all have come that must: the mask's
// lanes that have not ended, or the block's threads.
#include "tests/ptx/inside.h"

#include <string.h>

uint32_t ptx_lanes_of(const struct ptx_lane *warp)
{
    uint32_t left = ptx_block->lanes - warp->number;
    return left < PTX_WARP ? left : PTX_WARP;
}

static const struct ptx_ins *ins_of(const struct ptx_lane *lane)
{
    return &ptx_block->image->ins[lane->pc];
}

// Which operand is the mask, of a warp function.
static const struct ptx_operand *mask_of(const struct ptx_ins *ins)
{
    return &ins->op[ins->kind == PTX_SYNCWARP ? 0 : ins->operands - 1];
}

static bool is_same(const struct ptx_ins *a, const struct ptx_ins *b)
{
    return a->kind == b->kind && a->what == b->what && a->type.class == b->type.class && a->type.bytes == b->type.bytes;
}

// ---- functions of a warp -------------------------------------------------------------------------------------------

static void shuffle(struct ptx_lane *warp, uint32_t part, const uint64_t *given, const bool *is_set)
{
    for (uint32_t l = 0; l < PTX_WARP; ++l) {
        if ((part >> l & 1) == 0)
            continue;
        const struct ptx_ins *ins = ins_of(&warp[l]);
        const struct ptx_operand *op = &ins->op[ins->operands - 4]; // value, lane, clamp, mask
        uint32_t b = (uint32_t)ptx_need(&warp[l], &op[1], "a shuffle's lane") & 31;
        uint32_t c = (uint32_t)ptx_need(&warp[l], &op[2], "a shuffle's clamp");
        uint32_t segment = c >> 8 & 31, clamp = c & 31;
        uint32_t most = (l & segment) | (clamp & ~segment), least = l & segment;
        uint32_t from = ins->what == PTX_UP     ? l - b
                        : ins->what == PTX_DOWN ? l + b
                        : ins->what == PTX_BFLY ? l ^ b
                                                : least | (b & ~segment);
        bool inside = ins->what == PTX_UP ? (int32_t)from >= (int32_t)most : from <= most;
        from = inside ? from : l;
        // Of a lane that takes no part nothing is known.
        ptx_write(&warp[l], &ins->op[0], given[from & 31], (part >> (from & 31) & 1) != 0 && is_set[from & 31]);
        if (ins->operands == 6)
            ptx_write(&warp[l], &ins->op[1], inside, true);
    }
}

static void vote(struct ptx_lane *warp, uint32_t part, const uint64_t *given)
{
    uint32_t ballot = 0;
    for (uint32_t l = 0; l < PTX_WARP; ++l)
        ballot |= (uint32_t)(part >> l & 1 && given[l] != 0) << l;
    for (uint32_t l = 0; l < PTX_WARP; ++l)
        if (part >> l & 1) {
            const struct ptx_ins *ins = ins_of(&warp[l]);
            uint64_t result = ins->what == PTX_ALL ? ballot == part : ins->what == PTX_ANY ? ballot != 0 : ballot;
            ptx_write(&warp[l], &ins->op[0], result, true);
        }
}

static void match(struct ptx_lane *warp, uint32_t part, const uint64_t *given)
{
    for (uint32_t l = 0; l < PTX_WARP; ++l) {
        uint32_t same = 0;
        for (uint32_t o = 0; o < PTX_WARP; ++o)
            same |= (uint32_t)(part >> o & 1 && given[o] == given[l]) << o;
        if (part >> l & 1)
            ptx_write(&warp[l], &ins_of(&warp[l])->op[0], same, true);
    }
}

static uint32_t reduced(const struct ptx_ins *ins, uint32_t a, uint32_t b)
{
    bool is_less = ins->type.class == PTX_S ? (int32_t)a < (int32_t)b : a < b;
    switch (ins->what) { // as the list in decode.c
    case 0:
        return a + b;
    case 1:
        return is_less ? a : b;
    case 2:
        return is_less ? b : a;
    case 3:
        return a & b;
    case 4:
        return a | b;
    default:
        return a ^ b;
    }
}

static void redux(struct ptx_lane *warp, uint32_t part, const uint64_t *given)
{
    const struct ptx_ins *ins = ins_of(&warp[__builtin_ctz(part)]);
    uint32_t result = (uint32_t)given[__builtin_ctz(part)];
    for (uint32_t rest = part & (part - 1); rest != 0; rest &= rest - 1)
        result = reduced(ins, result, (uint32_t)given[__builtin_ctz(rest)]);
    for (uint32_t rest = part; rest != 0; rest &= rest - 1) {
        struct ptx_lane *lane = &warp[__builtin_ctz(rest)];
        ptx_write(lane, &ins_of(lane)->op[0], result, true);
    }
}

static void meet_in_warp(struct ptx_lane *warp, uint32_t part)
{
    struct ptx_lane *meets[PTX_WARP];
    uint32_t count = 0;
    for (uint32_t rest = part; rest != 0; rest &= rest - 1) {
        meets[count] = &warp[__builtin_ctz(rest)];
        ptx_meet(meets[count++]);
    }
    ptx_race_meet(meets, count);
}

// Who goes on.
static void perform(struct ptx_lane *warp, uint32_t part)
{
    const struct ptx_ins *ins = ins_of(&warp[__builtin_ctz(part)]);
    uint64_t given[PTX_WARP] = {0};
    bool is_set[PTX_WARP] = {false};
    for (uint32_t rest = part; rest != 0 && ins->kind != PTX_SYNCWARP; rest &= rest - 1) {
        struct ptx_lane *lane = &warp[__builtin_ctz(rest)];
        const struct ptx_ins *own = ins_of(lane);
        const struct ptx_operand *op = &own->op[ins->kind == PTX_SHFL ? own->operands - 4 : 1];
        given[__builtin_ctz(rest)] = ptx_read(lane, op, &is_set[__builtin_ctz(rest)]);
        if (ins->kind != PTX_SHFL)
            ptx_need(lane, op, "a warp function's operand");
    }
    if (ins->kind == PTX_SHFL)
        shuffle(warp, part, given, is_set);
    else if (ins->kind == PTX_VOTE)
        vote(warp, part, given);
    else if (ins->kind == PTX_MATCH)
        match(warp, part, given);
    else if (ins->kind == PTX_REDUX)
        redux(warp, part, given);
    if (ins->kind == PTX_SYNCWARP)
        meet_in_warp(warp, part);
    for (uint32_t rest = part; rest != 0; rest &= rest - 1) {
        struct ptx_lane *lane = &warp[__builtin_ctz(rest)];
        lane->state = PTX_READY;
        ++lane->pc;
    }
    ptx_block->moved = true;
}

// The lanes that `one` waits for, if all are there; else 0.
static uint32_t gathered(const struct ptx_lane *warp, const struct ptx_lane *one)
{
    uint32_t part = 0;
    for (uint32_t l = 0; l < ptx_lanes_of(warp); ++l) {
        const struct ptx_lane *lane = &warp[l];
        if ((one->mask >> l & 1) == 0 || lane->state == PTX_ENDED)
            continue;
        if (lane->state != PTX_IN_WARP || lane->mask != one->mask || !is_same(ins_of(lane), ins_of(one)))
            return 0;
        part |= 1u << l;
    }
    return part;
}

void ptx_release_warp(struct ptx_lane *warp)
{
    for (uint32_t l = 0; l < ptx_lanes_of(warp); ++l) {
        uint32_t part = warp[l].state == PTX_IN_WARP ? gathered(warp, &warp[l]) : 0;
        if (part != 0)
            perform(warp, part);
    }
}

// Those of a warp that ask at one place are together.
bool ptx_release_active(void)
{
    struct ptx_lane *one = ptx_block->lane, *last = one + ptx_block->lanes;
    while (one < last && one->state != PTX_ASKS_WHO)
        ++one;
    if (one == last)
        return false;
    struct ptx_lane *warp = &ptx_block->lane[one->number / PTX_WARP * PTX_WARP];
    uint32_t part = 0;
    for (uint32_t l = 0; l < ptx_lanes_of(warp); ++l)
        part |= (uint32_t)(warp[l].state == PTX_ASKS_WHO && warp[l].pc == one->pc) << l;
    for (uint32_t rest = part; rest != 0; rest &= rest - 1) {
        struct ptx_lane *lane = &warp[__builtin_ctz(rest)];
        ptx_write(lane, &ins_of(lane)->op[0], part, true);
        lane->state = PTX_READY;
        ++lane->pc;
    }
    return true;
}

// ---- barriers of a block -------------------------------------------------------------------------------------------

static uint64_t number_of(struct ptx_lane *lane)
{
    const struct ptx_ins *ins = ins_of(lane);
    return ptx_need(lane, &ins->op[ins->what ? 1 : 0], "a barrier's number");
}

// A count of threads stands behind the number; the last operand of a vote is the vote.
static uint32_t wanted_of(struct ptx_lane *lane)
{
    const struct ptx_ins *ins = ins_of(lane);
    unsigned at = ins->what ? 2 : 1, last = ins->what ? ins->operands - 1u : ins->operands;
    return at < last ? (uint32_t)ptx_need(lane, &ins->op[at], "a barrier's threads") : ptx_block->live;
}

// On a GPU a warp's lanes are at one instruction of a barrier that is .aligned.
static void check_aligned(const struct ptx_lane *mine)
{
    const struct ptx_lane *warp = &ptx_block->lane[mine->number / PTX_WARP * PTX_WARP];
    for (uint32_t l = 0; l < ptx_lanes_of(warp) && ins_of(mine)->is_aligned; ++l)
        if (warp[l].state == PTX_AT_BARRIER && warp[l].pc != mine->pc)
            ptx_wrong(mine, PTX_WRONG, "threads of a warp meet at different barriers");
}

static void release_barrier(uint64_t number)
{
    struct ptx_block *b = ptx_block;
    uint32_t there = 0, votes = 0, wanted = 0;
    for (uint32_t i = 0; i < b->lanes; ++i) {
        struct ptx_lane *lane = &b->lane[i];
        if (lane->state != PTX_AT_BARRIER || number_of(lane) != number)
            continue;
        wanted = wanted_of(lane);
        ++there;
        votes += lane->mine;
    }
    if (there == 0 || there < wanted)
        return;
    struct ptx_lane *meets[PTX_MOST_THREADS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->lanes; ++i) {
        struct ptx_lane *lane = &b->lane[i];
        if (lane->state != PTX_AT_BARRIER || number_of(lane) != number)
            continue;
        const struct ptx_ins *ins = ins_of(lane);
        ptx_meet(lane);
        meets[count++] = lane;
        if (ins->what != 0)
            ptx_write(lane, &ins->op[0],
                      ins->what == 'p'   ? votes
                      : ins->what == 'a' ? votes == there
                                         : votes != 0,
                      true);
        lane->state = PTX_READY;
        ++lane->pc;
    }
    ptx_race_meet(meets, count);
    b->moved = true;
}

void ptx_release_barriers(void)
{
    for (uint32_t i = 0; i < ptx_block->lanes; ++i)
        if (ptx_block->lane[i].state == PTX_AT_BARRIER)
            release_barrier(number_of(&ptx_block->lane[i]));
}

// ---- who comes -----------------------------------------------------------------------------------------------------

static void join_warp(struct ptx_lane *lane, const struct ptx_ins *ins)
{
    lane->mask = (uint32_t)ptx_need(lane, mask_of(ins), "a mask");
    if ((lane->mask >> lane->number % PTX_WARP & 1) == 0)
        ptx_wrong(lane, PTX_WRONG, "a mask that leaves its own lane out");
    lane->state = PTX_IN_WARP;
}

void ptx_join(struct ptx_lane *warp, uint32_t active)
{
    const struct ptx_ins *ins = ins_of(&warp[__builtin_ctz(active)]);
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        struct ptx_lane *lane = &warp[__builtin_ctz(rest)];
        if (ins->kind == PTX_ACTIVE) {
            lane->state = PTX_ASKS_WHO;
            continue;
        }
        if (ins->kind != PTX_BARRIER) {
            join_warp(lane, ins);
            continue;
        }
        check_aligned(lane);
        lane->mine = ins->what != 0 && ptx_need(lane, &ins->op[ins->operands - 1], "a vote") != 0;
        lane->state = PTX_AT_BARRIER;
    }
    if (ins->kind == PTX_BARRIER)
        release_barrier(number_of(&warp[__builtin_ctz(active)]));
    else if (ins->kind != PTX_ACTIVE)
        ptx_release_warp(warp);
}
