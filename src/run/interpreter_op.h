// SPDX-License-Identifier: Apache-2.0
// What the interpreter's arithmetic, conversions, loads and stores compute, as tables of C expressions. A float
// operation is one C operation on that kind, so that it is rounded once: nothing here may be contracted or kept in more
// precision.
#ifndef SLRI_RUN_INTERPRETER_OP_H
#define SLRI_RUN_INTERPRETER_OP_H

#include "ir/ir.h"
#include "ir/math/scalar.h"
#include "ir/math/slr_math.h"

#include "ir/math/slr_half.h"

#include <float.h>
#include <string.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "float arithmetic must round to float");

// ---- arithmetic -----------------------------------------------------------------------------------------------------

// X(code, member of the operands, member of the result, expression of a). S and U: the signed and unsigned kind of a
// width, s and u their members. What wraps is done unsigned.
// clang-format lays these tables out anew at each run.
// clang-format off
#define SLRI_UNARY_INTEGER(X, S, s, U, u)                                                                              \
    X(NEG_##S, u, u, 0 - a) X(NEG_##U, u, u, 0 - a) X(NOT_##S, u, u, ~a) X(NOT_##U, u, u, ~a)

#define SLRI_UNARY_TABLE(X)                                                                                            \
    SLRI_UNARY_INTEGER(X, I32, i32, U32, u32)                                                                          \
    SLRI_UNARY_INTEGER(X, I64, i64, U64, u64)                                                                          \
    X(NEG_F32, f32, f32, -a) X(NEG_F64, f64, f64, -a)

// X(code, member of the operands, member of the result, expression of a and b)
#define SLRI_COMPARE(X, K, k)                                                                                          \
    X(EQ_##K, k, i32, a == b)                                                                                          \
    X(NE_##K, k, i32, a != b)                                                                                          \
    X(LT_##K, k, i32, a < b) X(LE_##K, k, i32, a <= b) X(GT_##K, k, i32, a > b) X(GE_##K, k, i32, a >= b)

#define SLRI_BINARY_WRAPPING(X, K, u, mask)                                                                            \
    X(ADD_##K, u, u, a + b)                                                                                            \
    X(SUB_##K, u, u, a - b)                                                                                            \
    X(MUL_##K, u, u, a *b)                                                                                             \
    X(SHL_##K, u, u, a << (b & mask)) X(AND_##K, u, u, a &b) X(OR_##K, u, u, a | b) X(XOR_##K, u, u, a ^ b)

#define SLRI_BINARY_INTEGER(X, S, s, U, u, mask)                                                                       \
    SLRI_BINARY_WRAPPING(X, S, u, mask)                                                                                \
    SLRI_BINARY_WRAPPING(X, U, u, mask)                                                                                \
    X(SHR_##S, s, s, a >> (b & mask)) X(SHR_##U, u, u, a >> (b & mask)) SLRI_COMPARE(X, S, s) SLRI_COMPARE(X, U, u)

#define SLRI_BINARY_FLOAT(X, K, k)                                                                                     \
    X(ADD_##K, k, k, a + b) X(SUB_##K, k, k, a - b) X(MUL_##K, k, k, a *b) X(DIV_##K, k, k, a / b) SLRI_COMPARE(X, K, k)

#define SLRI_BINARY_TABLE(X)                                                                                           \
    SLRI_BINARY_INTEGER(X, I32, i32, U32, u32, 31)                                                                     \
    SLRI_BINARY_INTEGER(X, I64, i64, U64, u64, 63)                                                                     \
    SLRI_BINARY_FLOAT(X, F32, f32)                                                                                     \
    SLRI_BINARY_FLOAT(X, F64, f64)

// The same, with a fault when b is 0. -1 is apart because the least integer divided by it does not fit.
#define SLRI_DIVIDE_TABLE(X)                                                                                           \
    X(DIV_I32, i32, i32, b == -1 ? (int32_t)(0 - (uint32_t)a) : a / b)                                                 \
    X(REM_I32, i32, i32, b == -1 ? 0 : a % b)                                                                          \
    X(DIV_I64, i64, i64, b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b)                                                 \
    X(REM_I64, i64, i64, b == -1 ? 0 : a % b)                                                                          \
    X(DIV_U32, u32, u32, a / b) X(REM_U32, u32, u32, a % b) X(DIV_U64, u64, u64, a / b) X(REM_U64, u64, u64, a % b)

// ---- conversions ----------------------------------------------------------------------------------------------------

// X(code, member of the operand, member of the result, expression of a)
#define SLRI_CONVERT_INTEGER(X, K, k)                                                                                  \
    X(FROM_##K##_BOOL, k, i32, a != 0)                                                                                 \
    X(FROM_##K##_I8, k, i32, (int8_t)a)                                                                                \
    X(FROM_##K##_U8, k, i32, (uint8_t)a)                                                                               \
    X(FROM_##K##_I16, k, i32, (int16_t)a)                                                                              \
    X(FROM_##K##_U16, k, i32, (uint16_t)a)                                                                             \
    X(FROM_##K##_I32, k, i32, (int32_t)a) X(FROM_##K##_U32, k, u32, (uint32_t)a) X(FROM_##K##_I64, k, i64, (int64_t)a) \
        X(FROM_##K##_U64, k, u64, (uint64_t)a) X(FROM_##K##_F32, k, f32, (float)a)                                     \
            X(FROM_##K##_F64, k, f64, (double)a)                                                                       \
    X(FROM_##K##_F16, k, f32, slri_##k##_to_f16(a)) X(FROM_##K##_BF16, k, f32, slri_##k##_to_bf16(a))

#define SLRI_CONVERT_FLOAT(X, K, k)                                                                                    \
    X(FROM_##K##_BOOL, k, i32, a != 0)                                                                                 \
    X(FROM_##K##_I8, k, i32, slri_##k##_to_i8(a))                                                                      \
    X(FROM_##K##_U8, k, i32, slri_##k##_to_u8(a))                                                                      \
    X(FROM_##K##_I16, k, i32, slri_##k##_to_i16(a))                                                                    \
    X(FROM_##K##_U16, k, i32, slri_##k##_to_u16(a))                                                                    \
    X(FROM_##K##_I32, k, i32, slri_##k##_to_i32(a)) X(FROM_##K##_U32, k, u32, slri_##k##_to_u32(a))                    \
        X(FROM_##K##_I64, k, i64, slri_##k##_to_i64(a)) X(FROM_##K##_U64, k, u64, slri_##k##_to_u64(a))                \
            X(FROM_##K##_F32, k, f32, (float)a) X(FROM_##K##_F64, k, f64, (double)a)                                   \
    X(FROM_##K##_F16, k, f32, slri_##k##_to_f16(a)) X(FROM_##K##_BF16, k, f32, slri_##k##_to_bf16(a))

#define SLRI_CONVERT_TABLE(X)                                                                                          \
    SLRI_CONVERT_INTEGER(X, I32, i32)                                                                                  \
    SLRI_CONVERT_INTEGER(X, U32, u32)                                                                                  \
    SLRI_CONVERT_INTEGER(X, I64, i64)                                                                                  \
    SLRI_CONVERT_INTEGER(X, U64, u64) SLRI_CONVERT_FLOAT(X, F32, f32) SLRI_CONVERT_FLOAT(X, F64, f64)

// ---- loads and stores -----------------------------------------------------------------------------------------------

// X(kind, C type in memory, member of the register, what a load gives of `value`, what a store writes of `value`)
#define SLRI_ACCESS_TABLE(X)                                                                                           \
    X(BOOL, uint8_t, i32, value != 0, value != 0)                                                                      \
    X(I8, int8_t, i32, value, (int8_t)value)                                                                           \
    X(U8, uint8_t, i32, value, (uint8_t)value)                                                                         \
    X(I16, int16_t, i32, value, (int16_t)value)                                                                        \
    X(U16, uint16_t, i32, value, (uint16_t)value)                                                                      \
    X(I32, int32_t, i32, value, value) X(U32, uint32_t, u32, value, value) X(I64, int64_t, i64, value, value)          \
        X(U64, uint64_t, u64, value, value) X(F32, float, f32, value, value) X(F64, double, f64, value, value)         \
    X(F16, uint16_t, f32, slri_f16_from_bits(value), slri_f16_to_bits(value))                                          \
    X(BF16, uint16_t, f32, slri_bf16_from_bits(value), slri_bf16_to_bits(value))

// The register for the `kind` at `from`, which need not be aligned.
static inline union slri_scalar slri_scalar_load(enum slri_kind kind, const void *from)
{
    union slri_scalar reg = {.u64 = 0};
    switch (kind) {
#define SLRI_LOAD(kind, type, member, loaded, stored)                                                                  \
    case SLRI_##kind: {                                                                                                \
        type value;                                                                                                    \
        memcpy(&value, from, sizeof value);                                                                            \
        reg.member = (loaded);                                                                                         \
        break;                                                                                                         \
    }
        // clang-format on
        SLRI_ACCESS_TABLE(SLRI_LOAD)
#undef SLRI_LOAD
    default:
        break;
    }
    return reg;
}

#endif
