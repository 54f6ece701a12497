// SPDX-License-Identifier: Apache-2.0
// The signatures of the math functions, generated from the list in functions.h.
#include "ir/math/library.h"

#define ROW(id, name, fn, R, arity, A, B, C)                                                                           \
    {name, #fn, SLRI_MATH_##R, arity, {SLRI_MATH_##A, SLRI_MATH_##B, SLRI_MATH_##C}},

const struct slri_math_function slri_math_functions[SLRI_MATH_COUNT] = {SLRI_MATH_LIST(ROW)};

#define NONE SLRI_MATH_COUNT
const struct slri_math_parts slri_math_parts[SLRI_MATH_PARTS] = {
    {"sincosf", NONE, {SLRI_MATH_SINF, SLRI_MATH_COSF}},
    {"sincos", NONE, {SLRI_MATH_SIN, SLRI_MATH_COS}},
    {"sincospif", NONE, {SLRI_MATH_SINPIF, SLRI_MATH_COSPIF}},
    {"sincospi", NONE, {SLRI_MATH_SINPI, SLRI_MATH_COSPI}},
    {"__sincosf", NONE, {SLRI_MATH_FAST_SINF, SLRI_MATH_FAST_COSF}},
    {"frexpf", SLRI_MATH_FREXP_FRACTIONF, {SLRI_MATH_FREXP_EXPONENTF, NONE}},
    {"frexp", SLRI_MATH_FREXP_FRACTION, {SLRI_MATH_FREXP_EXPONENT, NONE}},
    {"modff", SLRI_MATH_MODF_FRACTIONF, {SLRI_MATH_TRUNCF, NONE}},
    {"modf", SLRI_MATH_MODF_FRACTION, {SLRI_MATH_TRUNC, NONE}},
};

const char *const slri_soft_functions[SLRI_SOFT_COUNT] = {
#define NAME(ID, name, result, args) "slri_soft_" #name,
    SLRI_SOFT_LIST(NAME)
#undef NAME
};
