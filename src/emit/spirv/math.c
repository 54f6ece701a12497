// SPDX-License-Identifier: Apache-2.0
// Math: functions of the library as IR, so that the bits are the interpreter's. What these are made of is here.
// GLSL.std.450's own are used where their result is exact.
#include "emit/spirv/internal.h"
#include "ir/math/library.h"
#include "ir/pass/linked.h"

#include <string.h>

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
    case SLRI_MATH_SQRTF: {
        uint32_t rounded = slri_s_call_rounded(s, in, a, 0);
        return rounded ? rounded : SLRI_GLSL(s, Sqrt, type, a);
    }
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

const struct slri_function *slri_s_library_function(const struct slri_s *s, const char *name)
{
    const struct slri_module *library = s->unit[1].module;
    for (uint32_t i = 0; i < library->functions; i++)
        if (strcmp(library->function[i]->name, name) == 0)
            return library->function[i];
    return NULL;
}

const char *slri_s_library_name(const struct slri_s *s, const struct slri_instr *in)
{
    if (s->is_linked)
        return NULL;
    const bool is_program = s->own == &s->unit[0];
    return in->op == SLRI_OP_MATH && is_program ? slri_math_functions[in->imm].c_function : slri_rounded_name(in);
}

uint32_t slri_s_call_rounded(struct slri_s *s, const struct slri_instr *in, uint32_t a, uint32_t b)
{
    const char *name = slri_s_library_name(s, in);
    if (!name || slri_is_rounded(s->function))
        return 0;
    const uint32_t id = slri_w_id(&s->w);
    const uint32_t function = s->unit[1].function_id[slri_s_library_function(s, name)->index];
    const uint32_t call[5] = {slri_s_float(s, 4), id, function, a, b};
    slri_w_put(&s->w, &s->w.code, SLRI_W_FunctionCall, call, b ? 5 : 4);
    return id;
}

void slri_s_math(struct slri_s *s, const struct slri_instr *in)
{
    enum slri_kind kind = s->function->reg_kind[in->dst];
    if (s->own != &s->unit[0] || s->is_linked) {
        if (s->words || slri_math_is_primitive(in->imm))
            slri_s_set(s, in->dst, primitive(s, in, slri_s_type(s, kind)));
        return;
    }
    const struct slri_function *function = slri_s_library_function(s, slri_s_library_name(s, in));
    uint32_t word[3] = {0}, type = slri_s_type(s, function->result);
    for (uint32_t i = 0; i < in->args && i < 3; i++)
        word[i] = slri_s_get(s, in->arg[i].reg);
    uint32_t id = slri_w_id(&s->w);
    const uint32_t call[6] = {type, id, s->unit[1].function_id[function->index], word[0], word[1], word[2]};
    slri_w_put(&s->w, &s->w.code, SLRI_W_FunctionCall, call, 3 + in->args);
    slri_s_set(s, in->dst, id);
}
