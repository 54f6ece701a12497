// SPDX-License-Identifier: Apache-2.0
// The signatures of the math functions, generated from the list in functions.h.
#include "kernel/math/functions.h"

#define ROW(id, name, fn, R, arity, A, B, C)                                                                           \
    {name, #fn, SLRI_MATH_##R, arity, {SLRI_MATH_##A, SLRI_MATH_##B, SLRI_MATH_##C}},

const struct slri_math_function slri_math_functions[SLRI_MATH_COUNT] = {SLRI_MATH_LIST(ROW)};
