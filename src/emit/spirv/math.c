// SPDX-License-Identifier: Apache-2.0
// Math: what the library's functions are made of (ir/pass/linked.h), so that the bits are the interpreter's, and what
// words are made of. GLSL.std.450's own are used where their result is exact.
#include "emit/spirv/internal.h"
#include "ir/math/functions.h"

static uint32_t primitive(struct slri_s *s, const struct slri_instr *in, uint32_t type)
{
    uint32_t a = slri_s_get(s, in->arg[0].reg), b = in->args > 1 ? slri_s_get(s, in->arg[1].reg) : 0;
    switch (in->imm) {
    case SLRI_MATH_SQRTF:
    case SLRI_MATH_SQRT:
        return SLRI_GLSL(s, Sqrt, type, a);
    case SLRI_MATH_CLZ: // of 0 FindUMsb gives -1
        return SLRI_MAKE(s, ISub, type, slri_s_u32(s, 31), SLRI_GLSL(s, FindUMsb, type, a));
    case SLRI_MATH_FFS:
        return SLRI_MAKE(s, IAdd, type, SLRI_GLSL(s, FindILsb, type, a), slri_s_u32(s, 1));
    case SLRI_MATH_FABSF: // the pass of words makes these, and the next
    case SLRI_MATH_FABS:
        return SLRI_GLSL(s, FAbs, type, a);
    case SLRI_MATH_TRUNCF:
        return SLRI_GLSL(s, Trunc, type, a);
    case SLRI_MATH_MIN_I32:
        return SLRI_GLSL(s, SMin, type, a, b);
    case SLRI_MATH_MIN_U32:
        return SLRI_GLSL(s, UMin, type, a, b);
    case SLRI_MATH_MAX_I32:
        return SLRI_GLSL(s, SMax, type, a, b);
    case SLRI_MATH_MAX_U32:
        return SLRI_GLSL(s, UMax, type, a, b);
    case SLRI_MATH_POPC:
        return SLRI_MAKE(s, BitCount, type, a);
    case SLRI_MATH_BREV:
        return SLRI_MAKE(s, BitReverse, type, a);
    case SLRI_MATH_UMULHI: {
        uint32_t product = SLRI_MAKE(s, UMulExtended, SLRI_W_ONCE(&s->w, TypeStruct, 0, type, type), a, b);
        return SLRI_MAKE(s, CompositeExtract, type, product, 1);
    }
    default:
        return SLRI_MAKE(s, Bitcast, type, a);
    }
}

void slri_s_math(struct slri_s *s, const struct slri_instr *in)
{
    slri_s_set(s, in->dst, primitive(s, in, slri_s_type(s, s->function->reg_kind[in->dst])));
}
