// SPDX-License-Identifier: Apache-2.0
// The math library as IR: slr_math.h read by the front end, for targets that are given functions, not text.
#ifndef SLRI_LANG_LIBRARY_H
#define SLRI_LANG_LIBRARY_H

#include "ir/ir.h"
#include "ir/math/functions.h"

#include <slipring/status.h>

// A module of which only functions are of interest: slri_math_functions[id].c_function names that of a MATH. Inside of
// them a MATH is one of SLRI_MATH_PRIMITIVES, and only there. It lasts as long as the process.
// Threads: any. Errors: NO_MEMORY.
slr_status slri_math_library(const struct slri_module **out);

// The module's kernel calls each function, for whoever tests it: it has an array of each type, in the order of enum
// slri_math_type, whose first elements are arguments; the result of function id is element SLRI_MATH_RESULT + id.
#define SLRI_MATH_RESULT 4u

// Functions of the library beside those: the quotient and the square root of floats (slr_rounded.h). Results: the
// floats behind those of all others.
#define SLRI_ROUNDED_DIVF "slri_rounded_divf"
#define SLRI_ROUNDED_SQRTF "slri_rounded_sqrtf"
#define SLRI_MATH_RESULTS (SLRI_MATH_RESULT + SLRI_MATH_COUNT + 2)

// Doubles by integers of 64 bits (slr_soft.h), likewise: X(ID, name, array of its result, arrays of its arguments) of
// those that the module's kernel calls. Inside of them a MATH is of integers.
#define SLRI_SOFT_LIST(X)                                                                                              \
    X(NEG, neg, "m", "m")                                                                                              \
    X(ADD, add, "m", "mm")                                                                                             \
    X(SUB, sub, "m", "mm")                                                                                             \
    X(MUL, mul, "m", "mm")                                                                                             \
    X(DIV, div, "m", "mm")                                                                                             \
    X(SQRT, sqrt, "m", "m")                                                                                            \
    X(EQ, eq, "i", "mm")                                                                                               \
    X(NE, ne, "i", "mm")                                                                                               \
    X(LT, lt, "i", "mm")                                                                                               \
    X(LE, le, "i", "mm")                                                                                               \
    X(GT, gt, "i", "mm")                                                                                               \
    X(GE, ge, "i", "mm")                                                                                               \
    X(FROM_I32, from_i32, "m", "i")                                                                                    \
    X(FROM_U32, from_u32, "m", "u")                                                                                    \
    X(FROM_I64, from_i64, "m", "l")                                                                                    \
    X(FROM_U64, from_u64, "m", "m")                                                                                    \
    X(FROM_F32, from_f32, "m", "f")                                                                                    \
    X(TO_BOOL, to_bool, "i", "m")                                                                                      \
    X(TO_I8, to_i8, "i", "m")                                                                                          \
    X(TO_U8, to_u8, "i", "m")                                                                                          \
    X(TO_I16, to_i16, "i", "m")                                                                                        \
    X(TO_U16, to_u16, "i", "m")                                                                                        \
    X(TO_I32, to_i32, "i", "m")                                                                                        \
    X(TO_U32, to_u32, "u", "m")                                                                                        \
    X(TO_I64, to_i64, "l", "m")                                                                                        \
    X(TO_U64, to_u64, "m", "m")                                                                                        \
    X(TO_F32, to_f32, "f", "m")                                                                                        \
    X(TO_ODD, to_odd, "f", "m")

enum slri_soft_id {
#define SLRI_SOFT_ID(ID, name, result, args) SLRI_SOFT_##ID,
    SLRI_SOFT_LIST(SLRI_SOFT_ID)
#undef SLRI_SOFT_ID
        SLRI_SOFT_COUNT
};
extern const char *const slri_soft_functions[SLRI_SOFT_COUNT];

slr_status slri_soft_library(const struct slri_module **out);

// What the library is made of, beside IR's own instructions: X(id).
#define SLRI_MATH_PRIMITIVES(X)                                                                                        \
    X(SQRTF)                                                                                                           \
    X(SQRT)                                                                                                            \
    X(CLZ)                                                                                                             \
    X(CLZLL)                                                                                                           \
    X(FFS)                                                                                                             \
    X(FFSLL)                                                                                                           \
    X(FLOAT_AS_UINT)                                                                                                   \
    X(UINT_AS_FLOAT)                                                                                                   \
    X(INT_AS_FLOAT)                                                                                                    \
    X(DOUBLE_AS_LONGLONG)                                                                                              \
    X(LONGLONG_AS_DOUBLE)

#endif
