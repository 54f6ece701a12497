// SPDX-License-Identifier: Apache-2.0
// Math: what the library's functions are made of (ir/pass/linked.h), so that the bits are the interpreter's, and what
// words are made of. GLSL.std.450's own are used where their result is exact.
#include "emit/spirv/internal.h"
#include "ir/math/functions.h"

// GLSL.std.450's, by function.
static const uint8_t glsl[SLRI_MATH_COUNT] = {
    [SLRI_MATH_SQRTF] = SLRI_GLSL_Sqrt,   [SLRI_MATH_SQRT] = SLRI_GLSL_Sqrt,    [SLRI_MATH_FABSF] = SLRI_GLSL_FAbs,
    [SLRI_MATH_FABS] = SLRI_GLSL_FAbs,    [SLRI_MATH_TRUNCF] = SLRI_GLSL_Trunc, [SLRI_MATH_MIN_I32] = SLRI_GLSL_SMin,
    [SLRI_MATH_MIN_U32] = SLRI_GLSL_UMin, [SLRI_MATH_MAX_I32] = SLRI_GLSL_SMax, [SLRI_MATH_MAX_U32] = SLRI_GLSL_UMax};

static uint32_t primitive(struct slri_s *s, const struct slri_instr *in, uint32_t type)
{
    const uint32_t a = slri_s_get(s, in->arg[0].reg),
                   operand[2] = {a, in->args > 1 ? slri_s_get(s, in->arg[1].reg) : 0};
    if (glsl[in->imm])
        return slri_s_glsl(s, glsl[in->imm], type, operand, in->args);
    switch (in->imm) {
    case SLRI_MATH_CLZ: // of 0 FindUMsb gives -1
        return SLRI_MAKE(s, ISub, type, slri_s_u32(s, 31), SLRI_GLSL(s, FindUMsb, type, a));
    case SLRI_MATH_FFS:
        return SLRI_MAKE(s, IAdd, type, SLRI_GLSL(s, FindILsb, type, a), slri_s_u32(s, 1));
    case SLRI_MATH_POPC:
        return SLRI_MAKE(s, BitCount, type, a);
    case SLRI_MATH_BREV:
        return SLRI_MAKE(s, BitReverse, type, a);
    case SLRI_MATH_UMULHI: {
        uint32_t product = SLRI_MAKE(s, UMulExtended, SLRI_W_ONCE(&s->w, TypeStruct, 0, type, type), a, operand[1]);
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
