// SPDX-License-Identifier: Apache-2.0
// Of which functions the libraries consist that are compiled to IR (lang/library.h), and how they are called: the math
// library, and doubles by integers. The third library is slr_block.h, of a warp and a block: ir/pass/linked.h names its
// functions.
#ifndef SLRI_IR_MATH_LIBRARY_H
#define SLRI_IR_MATH_LIBRARY_H

#include "ir/math/functions.h"

#include <stdbool.h>
#include <stdint.h>

// What the library is made of, beside IR's own instructions: X(id).
#define SLRI_MATH_PRIMITIVES(X)                                                                                        \
    X(SQRTF)                                                                                                           \
    X(SQRT)                                                                                                            \
    X(CLZ)                                                                                                             \
    X(FFS)                                                                                                             \
    X(POPC)                                                                                                            \
    X(BREV)                                                                                                            \
    X(UMULHI)                                                                                                          \
    X(MIN_I32)                                                                                                         \
    X(MIN_U32)                                                                                                         \
    X(MAX_I32)                                                                                                         \
    X(MAX_U32)                                                                                                         \
    X(FLOAT_AS_UINT)                                                                                                   \
    X(UINT_AS_FLOAT)                                                                                                   \
    X(INT_AS_FLOAT)                                                                                                    \
    X(DOUBLE_AS_LONGLONG)                                                                                              \
    X(LONGLONG_AS_DOUBLE)

static inline bool slri_math_is_primitive(uint64_t id)
{
    switch (id) {
#define SLRI_MATH_PRIMITIVE(name) case SLRI_MATH_##name:
        SLRI_MATH_PRIMITIVES(SLRI_MATH_PRIMITIVE)
#undef SLRI_MATH_PRIMITIVE
        return true;
    default:
        return false;
    }
}

// Functions of the math library beside those of functions.h: the quotient and the square root of floats
// (slr_rounded.h).
#define SLRI_ROUNDED_DIVF "slri_rounded_divf"
#define SLRI_ROUNDED_SQRTF "slri_rounded_sqrtf"

// Doubles by integers of 64 bits (slr_soft.h): X(ID, name, letter of the result, letters of the arguments). A letter is
// f for a float, i for an int, u for an unsigned, l for a long, m for the bits of a double or an unsigned long. Inside
// of these functions a MATH is of integers.
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

#endif
