// SPDX-License-Identifier: Apache-2.0
// Math: what the library's functions are made of (ir/pass/linked.h), so that the bits are the interpreter's, and what
// words are made of. GLSL.std.450's own are used where their result is exact.
#include "emit/spirv/internal.h"
#include "ir/math/functions.h"

// The highest bit that is set, of 32; UINT32_MAX where none is.
static uint32_t highest(struct slri_s *s, uint32_t a)
{
    return SLRI_GLSL(s, FindUMsb, slri_s_uint(s, 4), a);
}

static uint32_t half_of(struct slri_s *s, uint32_t a, bool high)
{
    if (high)
        a = SLRI_MAKE(s, ShiftRightLogical, slri_s_uint(s, 8), a, slri_s_u32(s, 32));
    return SLRI_MAKE(s, UConvert, slri_s_uint(s, 4), a);
}

// Of two halves that which counts, and what the other adds.
static uint32_t joined(struct slri_s *s, uint32_t half, uint32_t first, uint32_t second, uint32_t by)
{
    uint32_t u32 = slri_s_uint(s, 4), none = SLRI_MAKE(s, IEqual, slri_s_bool(s), half, slri_s_u32(s, 0));
    return SLRI_MAKE(s, Select, u32, none, SLRI_MAKE(s, IAdd, u32, second, slri_s_u32(s, by)), first);
}

static uint32_t leading(struct slri_s *s, uint32_t a)
{
    return SLRI_MAKE(s, ISub, slri_s_uint(s, 4), slri_s_u32(s, 31), highest(s, a));
}

static uint32_t first_set(struct slri_s *s, uint32_t a)
{
    uint32_t u32 = slri_s_uint(s, 4);
    return SLRI_MAKE(s, IAdd, u32, SLRI_GLSL(s, FindILsb, u32, a), slri_s_u32(s, 1));
}

static uint32_t primitive(struct slri_s *s, const struct slri_instr *in, uint32_t type)
{
    uint32_t a = slri_s_get(s, in->arg[0].reg), u32 = slri_s_uint(s, 4);
    switch (in->imm) {
    case SLRI_MATH_SQRTF:
    case SLRI_MATH_SQRT:
        return SLRI_GLSL(s, Sqrt, type, a);
    case SLRI_MATH_CLZ:
        return leading(s, a);
    case SLRI_MATH_FFS:
        return first_set(s, a);
    case SLRI_MATH_CLZLL: {
        uint32_t high = half_of(s, a, true), low = half_of(s, a, false);
        return joined(s, high, leading(s, high), leading(s, low), 32);
    }
    case SLRI_MATH_FFSLL: {
        uint32_t high = half_of(s, a, true), low = half_of(s, a, false), upper = first_set(s, high);
        uint32_t none = SLRI_MAKE(s, IEqual, slri_s_bool(s), high, slri_s_u32(s, 0));
        upper = SLRI_MAKE(s, Select, u32, none, slri_s_u32(s, UINT32_MAX - 31), upper); // and 32: 0
        return joined(s, low, first_set(s, low), upper, 32);
    }
    case SLRI_MATH_FABSF: // the next are what words are made of
        return SLRI_GLSL(s, FAbs, type, a);
    case SLRI_MATH_TRUNCF:
        return SLRI_GLSL(s, Trunc, type, a);
    case SLRI_MATH_MIN_I32:
        return SLRI_GLSL(s, SMin, type, a, slri_s_get(s, in->arg[1].reg));
    case SLRI_MATH_MIN_U32:
        return SLRI_GLSL(s, UMin, type, a, slri_s_get(s, in->arg[1].reg));
    case SLRI_MATH_MAX_I32:
        return SLRI_GLSL(s, SMax, type, a, slri_s_get(s, in->arg[1].reg));
    case SLRI_MATH_POPC:
        return SLRI_MAKE(s, BitCount, u32, a);
    case SLRI_MATH_BREV:
        return SLRI_MAKE(s, BitReverse, u32, a);
    case SLRI_MATH_UMULHI: {
        uint32_t both = SLRI_W_ONCE(&s->w, TypeStruct, 0, u32, u32);
        uint32_t product = SLRI_MAKE(s, UMulExtended, both, a, slri_s_get(s, in->arg[1].reg));
        return SLRI_MAKE(s, CompositeExtract, u32, product, 1);
    }
    default:
        return SLRI_MAKE(s, Bitcast, type, a);
    }
}

void slri_s_math(struct slri_s *s, const struct slri_instr *in)
{
    slri_s_set(s, in->dst, primitive(s, in, slri_s_type(s, s->function->reg_kind[in->dst])));
}
