// SPDX-License-Identifier: Apache-2.0
// The math library as tables of calls, all generated from functions.h. Must be compiled with -ffp-contract=off.
#include "ir/math/eval.h"

#include "ir/math/slr_math.h"

#include "ir/math/slr_math_angles.h"

#include "ir/math/slr_fma.h"

#include "ir/math/slr_math_double.h"

#include "ir/math/slr_math_more.h"

#include "ir/math/slr_half.h"

// The member of union slri_scalar that a type's value stands in.
#define MEMBER_F32 f32
#define MEMBER_F64 f64
#define MEMBER_I8 i8
#define MEMBER_U8 u8
#define MEMBER_I16 i16
#define MEMBER_U16 u16
#define MEMBER_I32 i32
#define MEMBER_U32 u32
#define MEMBER_I64 i64
#define MEMBER_U64 u64

#define CALL_1(fn, A, B, C) fn(a[0].MEMBER_##A)
#define CALL_2(fn, A, B, C) fn(a[0].MEMBER_##A, a[1].MEMBER_##B)
#define CALL_3(fn, A, B, C) fn(a[0].MEMBER_##A, a[1].MEMBER_##B, a[2].MEMBER_##C)

typedef void evaluator(const union slri_scalar *a, union slri_scalar *r);

#define DEFINE(id, name, fn, R, arity, A, B, C)                                                                        \
    static void eval_##id(const union slri_scalar *a, union slri_scalar *r)                                            \
    {                                                                                                                  \
        r->MEMBER_##R = CALL_##arity(fn, A, B, C);                                                                     \
    }
SLRI_MATH_LIST(DEFINE)

#define DEFINE_CONVERSION(id, fn, from, to)                                                                            \
    static void eval_##id(const union slri_scalar *a, union slri_scalar *r)                                            \
    {                                                                                                                  \
        r->MEMBER_##to = fn(a[0].MEMBER_##from);                                                                       \
    }
SLRI_MATH_CONVERSIONS(DEFINE_CONVERSION)

#define ENTRY(id, ...) eval_##id,
static evaluator *const functions[] = {SLRI_MATH_LIST(ENTRY)};
static evaluator *const conversions[] = {SLRI_MATH_CONVERSIONS(ENTRY)};

void slri_math_eval(unsigned id, const union slri_scalar *args, union slri_scalar *result)
{
    union slri_scalar r = {.u64 = 0};
    functions[id](args, &r);
    *result = r;
}

void slri_math_convert(unsigned id, const union slri_scalar *value, union slri_scalar *result)
{
    union slri_scalar r = {.u64 = 0};
    conversions[id](value, &r);
    *result = r;
}
