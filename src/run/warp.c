// SPDX-License-Identifier: Apache-2.0
#include "run/warp.h"
#include "run/slr_warp.h"

#include "ir/math/slr_math.h"
#include "ir/math/slr_half.h"

#define LANES SLRI_WARP_THREADS

// ---- who takes part ------------------------------------------------------------------------------------------------

static uint32_t lanes_here(const struct slri_lane *lane)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < LANES; i++)
        mask |= (uint32_t)lane[i].is_here << i;
    return mask;
}

static uint32_t lanes_live(const struct slri_lane *lane)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < LANES; i++)
        mask |= (uint32_t)lane[i].is_live << i;
    return mask;
}

static enum slri_warp_outcome gather(const struct slri_code_arg *arg, struct slri_lane *lane, uint32_t self,
                                     uint32_t *part)
{
    uint32_t mask = lane[self].reg[arg[0].from].u32, live = lanes_live(lane), here = lanes_here(lane);
    if (!(mask >> self & 1))
        return SLRI_WARP_WRONG;
    if (mask & live & ~here)
        return SLRI_WARP_WAITS;
    *part = mask & here;
    for (uint32_t i = 0; i < LANES; i++)
        if ((*part >> i & 1) && lane[i].reg[arg[0].from].u32 != mask)
            return SLRI_WARP_WRONG;
    return SLRI_WARP_DONE;
}

// ---- shuffles ------------------------------------------------------------------------------------------------------

static uint32_t source_of(enum slri_warp warp, uint32_t own, uint32_t by, uint32_t width)
{
    switch (warp) {
    case SLRI_WARP_SHUFFLE:
        return slri_source_SHUFFLE(own, by, width);
    case SLRI_WARP_SHUFFLE_UP:
        return slri_source_SHUFFLE_UP(own, by, width);
    case SLRI_WARP_SHUFFLE_DOWN:
        return slri_source_SHUFFLE_DOWN(own, by, width);
    default:
        return slri_source_SHUFFLE_XOR(own, by, width);
    }
}

static bool shuffle(const struct slri_code *code, const struct slri_code_arg *arg, struct slri_lane *lane,
                    uint32_t part)
{
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(part >> i & 1))
            continue;
        uint32_t by = lane[i].reg[arg[2].from].u32, width = lane[i].reg[arg[3].from].u32;
        if (!slri_is_width(width))
            return false;
        uint32_t from = source_of((enum slri_warp)code->imm, i, by, width);
        lane[i].result = lane[part >> from & 1 ? from : i].reg[arg[1].from];
    }
    return true;
}

// ---- votes and reductions ------------------------------------------------------------------------------------------

static uint32_t ballot(const struct slri_code_arg *arg, const struct slri_lane *lane, uint32_t part)
{
    uint32_t votes = 0;
    for (uint32_t i = 0; i < LANES; i++)
        if ((part >> i & 1) && lane[i].reg[arg[1].from].u32)
            votes |= 1u << i;
    return votes;
}

static uint32_t match(const struct slri_code *code, const struct slri_code_arg *arg, const struct slri_lane *lane,
                      uint32_t part, uint32_t self)
{
    uint64_t used = slri_kind_bytes(code->kind) == 8 ? UINT64_MAX : UINT32_MAX;
    uint32_t same = 0;
    for (uint32_t i = 0; i < LANES; i++)
        if ((part >> i & 1) && ((lane[i].reg[arg[1].from].u64 ^ lane[self].reg[arg[1].from].u64) & used) == 0)
            same |= 1u << i;
    return same;
}

static uint32_t join(enum slri_warp warp, bool is_signed, uint32_t a, uint32_t b)
{
    switch (warp) {
#define JOIN(name)                                                                                                     \
    case SLRI_WARP_##name:                                                                                             \
        return is_signed ? (uint32_t)slri_join_##name##_I32((int32_t)a, (int32_t)b) : slri_join_##name##_U32(a, b);
        JOIN(REDUCE_ADD)
        JOIN(REDUCE_MIN)
        JOIN(REDUCE_MAX)
        JOIN(REDUCE_AND)
        JOIN(REDUCE_OR)
#undef JOIN
    default:
        return a ^ b;
    }
}

static uint32_t reduce(const struct slri_code *code, const struct slri_code_arg *arg, const struct slri_lane *lane,
                       uint32_t part)
{
    uint32_t result = 0;
    bool is_first = true;
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(part >> i & 1))
            continue;
        uint32_t value = lane[i].reg[arg[1].from].u32;
        result = is_first ? value : join((enum slri_warp)code->imm, code->kind == SLRI_I32, result, value);
        is_first = false;
    }
    return result;
}

static uint32_t combine_lanes(const struct slri_code *code, const struct slri_code_arg *arg,
                              const struct slri_lane *lane, uint32_t part, uint32_t self)
{
    switch ((enum slri_warp)code->imm) {
    case SLRI_WARP_SYNC:
        return 0;
    case SLRI_WARP_ACTIVE:
        return part;
    case SLRI_WARP_BALLOT:
        return ballot(arg, lane, part);
    case SLRI_WARP_ALL:
        return ballot(arg, lane, part) == part;
    case SLRI_WARP_ANY:
        return ballot(arg, lane, part) != 0;
    case SLRI_WARP_MATCH:
        return match(code, arg, lane, part, self);
    default:
        return reduce(code, arg, lane, part);
    }
}

// ---- matrices -------------------------------------------------------------------------------------------------------

// Half `high` of an argument of that lane.
static double half_of(enum slri_warp warp, const struct slri_lane *lane, slri_reg reg, uint32_t high)
{
    uint16_t bits = (uint16_t)(lane->reg[reg].u32 >> 16 * high);
    return (double)(warp == SLRI_WARP_MATRIX_F16 ? slri_f16_from_bits(bits) : slri_bf16_from_bits(bits));
}

// Products of halves are exact, and so nearly is their sum.
static float multiply_fragments(const struct slri_code *code, const struct slri_code_arg *arg,
                                const struct slri_lane *lane, uint32_t self)
{
    enum { A = 1, B = 5, C = 7, WHICH = 8 };
    const enum slri_warp warp = (enum slri_warp)code->imm;
    uint32_t which = lane[self].reg[arg[WHICH].from].u32 % 4, column = self % 4 * 2 + which % 2;
    double sum = 0;
    for (uint32_t k = 0; k < 16; k++) {
        const struct slri_lane *a = &lane[self / 4 * 4 + k % 8 / 2], *b = &lane[column * 4 + k % 8 / 2];
        sum +=
            half_of(warp, a, arg[A + which / 2 + k / 8 * 2].from, k % 2) * half_of(warp, b, arg[B + k / 8].from, k % 2);
    }
    return lane[self].reg[arg[C].from].f32 + (float)sum;
}

// ---- all -----------------------------------------------------------------------------------------------------------

enum slri_warp_outcome slri_warp_evaluate(const struct slri_code *code, const struct slri_code_arg *arg,
                                          struct slri_lane lane[SLRI_WARP_THREADS], uint32_t self, bool all_wait)
{
    uint32_t part = lanes_here(lane);
    if (code->imm == SLRI_WARP_ACTIVE && !all_wait)
        return SLRI_WARP_WAITS;
    if (code->imm != SLRI_WARP_ACTIVE) {
        enum slri_warp_outcome outcome = gather(arg, lane, self, &part);
        if (outcome != SLRI_WARP_DONE)
            return outcome;
    }
    bool shuffles = code->imm >= SLRI_WARP_SHUFFLE && code->imm <= SLRI_WARP_SHUFFLE_XOR;
    if (shuffles && !shuffle(code, arg, lane, part))
        return SLRI_WARP_WRONG;
    bool is_matrix = slri_warp_is_matrix(code->imm);
    if (is_matrix && part != UINT32_MAX)
        return SLRI_WARP_WRONG;
    for (uint32_t i = 0; i < LANES; i++) {
        lane[i].takes_part = part >> i & 1;
        if (is_matrix)
            lane[i].result.f32 = multiply_fragments(code, arg, lane, i);
        else if (lane[i].takes_part && !shuffles)
            lane[i].result = (union slri_scalar){.u64 = combine_lanes(code, arg, lane, part, i)};
    }
    return SLRI_WARP_DONE;
}
