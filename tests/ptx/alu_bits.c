// SPDX-License-Identifier: Apache-2.0
// Bits, predicates, moves, and which of two.
#include "tests/ptx/alu.h"

#include <string.h>

#define B16 (v[0] & 0xffff)
#define B32 ((uint32_t)v[0])

PTX_FN(move, v[0])
PTX_FN(move_pred, v[0] != 0)
PTX_FN(and_, v[0] & v[1])
PTX_FN(or_, v[0] | v[1])
PTX_FN(xor_, v[0] ^ v[1])
PTX_FN(not_, ~v[0])
PTX_FN(not_pred, v[0] == 0)
PTX_FN(cnot, v[0] == 0)
PTX_FN(shl_16, (uint32_t)v[1] >= 16 ? 0 : v[0] << (uint32_t)v[1])
PTX_FN(shl_32, (uint32_t)v[1] >= 32 ? 0 : v[0] << (uint32_t)v[1])
PTX_FN(shl_64, (uint32_t)v[1] >= 64 ? 0 : v[0] << (uint32_t)v[1])
PTX_FN(shr_16, (uint32_t)v[1] >= 16 ? 0 : B16 >> (uint32_t)v[1])
PTX_FN(shr_32, (uint32_t)v[1] >= 32 ? 0 : B32 >> (uint32_t)v[1])
PTX_FN(shr_64, (uint32_t)v[1] >= 64 ? 0 : v[0] >> (uint32_t)v[1])
PTX_FN(popc_32, __builtin_popcount(B32))
PTX_FN(popc_64, __builtin_popcountll(v[0]))
PTX_FN(clz_32, B32 == 0 ? 32 : __builtin_clz(B32))
PTX_FN(clz_64, v[0] == 0 ? 64 : __builtin_clzll(v[0]))
PTX_FN(find_32, B32 == 0 ? UINT32_MAX : 31u - (uint32_t)__builtin_clz(B32))
PTX_FN(find_shift_32, B32 == 0 ? UINT32_MAX : (uint32_t)__builtin_clz(B32))
PTX_FN(select_, v[2] != 0 ? v[0] : v[1])
PTX_FN(to_shared, v[0] - (uintptr_t)ptx_block->shared)
PTX_FN(from_shared, v[0] + (uintptr_t)ptx_block->shared)

static uint64_t reversed(uint64_t a, unsigned bits)
{
    uint64_t b = 0;
    for (unsigned i = 0; i < bits; ++i)
        b |= (a >> i & 1) << (bits - 1 - i);
    return b;
}
PTX_FN(brev_32, reversed(v[0], 32))
PTX_FN(brev_64, reversed(v[0], 64))

static uint64_t ones(unsigned n)
{
    return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

static uint64_t inserted(const uint64_t *v, unsigned bits)
{
    unsigned at = v[2] & 0xff, length = v[3] & 0xff;
    if (at >= bits || length == 0)
        return v[1];
    uint64_t mask = ones(length) << at;
    return (v[1] & ~mask) | (v[0] << at & mask);
}
PTX_FN(bfi_32, inserted(v, 32))
PTX_FN(bfi_64, inserted(v, 64))

static uint64_t extracted(uint64_t a, unsigned at, unsigned length, unsigned bits, bool is_signed)
{
    unsigned top = at + length - 1 < bits - 1 ? at + length - 1 : bits - 1;
    bool sign = is_signed && length != 0 && (a >> top & 1) != 0;
    uint64_t field = at >= bits ? 0 : (a & ones(bits)) >> at & ones(length);
    unsigned has = at >= bits ? 0 : bits - at < length ? bits - at : length;
    return sign ? field | (~ones(has)) : field;
}
PTX_FN(bfe_u32, extracted(v[0], v[1] & 0xff, v[2] & 0xff, 32, false))
PTX_FN(bfe_s32, extracted(v[0], v[1] & 0xff, v[2] & 0xff, 32, true))
PTX_FN(bfe_u64, extracted(v[0], v[1] & 0xff, v[2] & 0xff, 64, false))
PTX_FN(bfe_s64, extracted(v[0], v[1] & 0xff, v[2] & 0xff, 64, true))

static uint64_t permuted(const uint64_t *v)
{
    uint64_t from = (uint64_t)(uint32_t)v[1] << 32 | (uint32_t)v[0], to = 0;
    for (unsigned i = 0; i < 4; ++i) {
        unsigned select = v[2] >> (4 * i) & 0xf;
        uint64_t byte = from >> (8 * (select & 7)) & 0xff;
        if (select & 8)
            byte = byte & 0x80 ? 0xff : 0;
        to |= byte << (8 * i);
    }
    return to;
}
PTX_FN(prmt, permuted(v))

static uint64_t both(const uint64_t *v)
{
    return (uint64_t)(uint32_t)v[1] << 32 | (uint32_t)v[0];
}
#define WRAPPED (v[2] & 31)
#define CLAMPED ((uint32_t)v[2] > 32 ? 32 : (uint32_t)v[2])
PTX_FN(shf_l_wrap, (uint32_t)(both(v) << WRAPPED >> 32))
PTX_FN(shf_r_wrap, (uint32_t)(both(v) >> WRAPPED))
PTX_FN(shf_l_clamp, (uint32_t)(both(v) << CLAMPED >> 32))
PTX_FN(shf_r_clamp, (uint32_t)(both(v) >> CLAMPED))

static uint64_t looked_up(const uint64_t *v)
{
    uint64_t a = v[0], b = v[1], c = v[2], result = 0;
    for (unsigned i = 0; i < 8; ++i)
        if (v[3] >> i & 1)
            result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return result;
}
PTX_FN(lop3, looked_up(v))

#define BITWISE(T)                                                                                                     \
    {"and." #T, and_}, {"or." #T, or_}, {"xor." #T, xor_},                                                             \
    {                                                                                                                  \
        "not." #T, not_                                                                                                \
    }
#define MOVES(T)                                                                                                       \
    {"mov." #T, move},                                                                                                 \
    {                                                                                                                  \
        "selp." #T, select_                                                                                            \
    }

const struct ptx_row ptx_bits[] = {
    BITWISE(b16),
    BITWISE(b32),
    BITWISE(b64),
    MOVES(b16),
    MOVES(b32),
    MOVES(b64),
    MOVES(u16),
    MOVES(u32),
    MOVES(u64),
    MOVES(s16),
    MOVES(s32),
    MOVES(s64),
    MOVES(f32),
    MOVES(f64),
    {"mov.pred", move_pred},
    {"and.pred", and_},
    {"or.pred", or_},
    {"xor.pred", xor_},
    {"not.pred", not_pred},
    {"cnot.b32", cnot},
    {"shl.b16", shl_16},
    {"shl.b32", shl_32},
    {"shl.b64", shl_64},
    {"shr.b16", shr_16},
    {"shr.b32", shr_32},
    {"shr.b64", shr_64},
    {"popc.b32", popc_32},
    {"popc.b64", popc_64},
    {"clz.b32", clz_32},
    {"clz.b64", clz_64},
    {"bfind.u32", find_32},
    {"bfind.shiftamt.u32", find_shift_32},
    {"brev.b32", brev_32},
    {"brev.b64", brev_64},
    {"bfi.b32", bfi_32},
    {"bfi.b64", bfi_64},
    {"bfe.u32", bfe_u32},
    {"bfe.s32", bfe_s32},
    {"bfe.u64", bfe_u64},
    {"bfe.s64", bfe_s64},
    {"prmt.b32", prmt},
    {"shf.l.wrap.b32", shf_l_wrap},
    {"shf.r.wrap.b32", shf_r_wrap},
    {"shf.l.clamp.b32", shf_l_clamp},
    {"shf.r.clamp.b32", shf_r_clamp},
    {"lop3.b32", lop3},
    {"cvta.global.u64", move},
    {"cvta.const.u64", move},
    {"cvta.local.u64", move},
    {"cvta.shared.u64", from_shared},
    {"cvta.to.global.u64", move},
    {"cvta.to.const.u64", move},
    {"cvta.to.local.u64", move},
    {"cvta.to.shared.u64", to_shared},
    {NULL, NULL},
};
