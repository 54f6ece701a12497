// SPDX-License-Identifier: Apache-2.0
// Math: what the library's functions are made of (ir/pass/linked.h), so that the bits are the interpreter's, and what
// words are made of. GLSL.std.450's own are used where their result is exact.
#include "emit/spirv/internal.h"
#include "ir/math/functions.h"

// GLSL.std.450's, by function.
static const uint8_t glsl[SLRI_MATH_COUNT] = {
    [SLRI_MATH_SQRTF] = SLRI_GLSL_Sqrt,   [SLRI_MATH_SQRT] = SLRI_GLSL_Sqrt,    [SLRI_MATH_FABSF] = SLRI_GLSL_FAbs,
    [SLRI_MATH_FABS] = SLRI_GLSL_FAbs,    [SLRI_MATH_TRUNCF] = SLRI_GLSL_Trunc, [SLRI_MATH_MIN_I32] = SLRI_GLSL_SMin,
    [SLRI_MATH_MIN_U32] = SLRI_GLSL_UMin, [SLRI_MATH_MAX_I32] = SLRI_GLSL_SMax, [SLRI_MATH_MAX_U32] = SLRI_GLSL_UMax,
    [SLRI_MATH_CLZ] = SLRI_GLSL_FindUMsb, [SLRI_MATH_FFS] = SLRI_GLSL_FindILsb};

static uint32_t primitive(struct slri_s *s, const struct slri_instr *in, uint32_t type)
{
    const uint32_t a = slri_s_get(s, in->arg[0].reg), b = in->args > 1 ? slri_s_get(s, in->arg[1].reg) : 0;
    const uint32_t operand[4] = {s->glsl, glsl[in->imm], a, b};
    const uint32_t of_glsl = glsl[in->imm] ? slri_s_make(s, SLRI_W_ExtInst, type, operand, 2 + in->args) : 0;
    switch (in->imm) {
    case SLRI_MATH_CLZ: // of 0 FindUMsb gives -1
        return SLRI_MAKE(s, ISub, type, slri_s_u32(s, 31), of_glsl);
    case SLRI_MATH_FFS:
        return SLRI_MAKE(s, IAdd, type, of_glsl, slri_s_u32(s, 1));
    case SLRI_MATH_POPC:
        return SLRI_MAKE(s, BitCount, type, a);
    case SLRI_MATH_BREV:
        return SLRI_MAKE(s, BitReverse, type, a);
    case SLRI_MATH_UMULHI: {
        uint32_t product = SLRI_MAKE(s, UMulExtended, SLRI_W_ONCE(&s->w, TypeStruct, 0, type, type), a, b);
        return SLRI_MAKE(s, CompositeExtract, type, product, 1);
    }
    default:
        return of_glsl ? of_glsl : SLRI_MAKE(s, Bitcast, type, a);
    }
}

void slri_s_math(struct slri_s *s, const struct slri_instr *in)
{
    slri_s_set(s, in->dst, primitive(s, in, slri_s_type(s, s->function->reg_kind[in->dst])));
}
