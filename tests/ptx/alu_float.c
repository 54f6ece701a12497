// SPDX-License-Identifier: Apache-2.0
// Floats, and conversions. Approximate functions are as close as the host's. Compiled with -frounding-math.
#include "tests/ptx/alu.h"

#include "ir/math/scalar.h"
#include "ir/math/slr_math.h"

#include "ir/math/slr_half.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static float f32_of(uint64_t bits)
{
    float value;
    uint32_t low = (uint32_t)bits;
    memcpy(&value, &low, sizeof value);
    return value;
}

static double f64_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// A GPU has one NaN of a float's arithmetic.
static uint64_t f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? 0x7fffffffu : bits;
}

static uint64_t f64_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float flushed(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

static double flushed_double(double x)
{
    return fabs(x) < 0x1p-1022 ? copysign(0, x) : x;
}

#define A f32_of(v[0])
#define B f32_of(v[1])
#define C f32_of(v[2])
#define DA f64_of(v[0])
#define DB f64_of(v[1])
#define DC f64_of(v[2])

// ---- rounding ------------------------------------------------------------------------------------------------------

#define ROUNDED(name, mode, bits, T, expression)                                                                       \
    static uint64_t name(struct ptx_lane *lane, const uint64_t *v, const struct ptx_ins *ins)                          \
    {                                                                                                                  \
        (void)lane, (void)ins;                                                                                         \
        fesetround(mode);                                                                                              \
        volatile T result = (expression);                                                                              \
        fesetround(FE_TONEAREST);                                                                                      \
        return bits(result);                                                                                           \
    }
#define OF_MODE(mode, FE)                                                                                              \
    ROUNDED(add_##mode##_f32, FE, f32_bits, float, A + B)                                                              \
    ROUNDED(sub_##mode##_f32, FE, f32_bits, float, A - B)                                                              \
    ROUNDED(mul_##mode##_f32, FE, f32_bits, float, A *B)                                                               \
    ROUNDED(div_##mode##_f32, FE, f32_bits, float, A / B)                                                              \
    ROUNDED(rcp_##mode##_f32, FE, f32_bits, float, 1 / A)                                                              \
    ROUNDED(fma_##mode##_f32, FE, f32_bits, float, fmaf(A, B, C))                                                      \
    ROUNDED(sqrt_##mode##_f32, FE, f32_bits, float, sqrtf(A))                                                          \
    ROUNDED(add_##mode##_f64, FE, f64_bits, double, DA + DB)                                                           \
    ROUNDED(sub_##mode##_f64, FE, f64_bits, double, DA - DB)                                                           \
    ROUNDED(mul_##mode##_f64, FE, f64_bits, double, DA *DB)                                                            \
    ROUNDED(div_##mode##_f64, FE, f64_bits, double, DA / DB)                                                           \
    ROUNDED(rcp_##mode##_f64, FE, f64_bits, double, 1 / DA)                                                            \
    ROUNDED(fma_##mode##_f64, FE, f64_bits, double, fma(DA, DB, DC))                                                   \
    ROUNDED(sqrt_##mode##_f64, FE, f64_bits, double, sqrt(DA))
OF_MODE(rz, FE_TOWARDZERO)
OF_MODE(rm, FE_DOWNWARD)
OF_MODE(rp, FE_UPWARD)

// To nearest, as all else is.
PTX_FN(add_rn_f32, f32_bits(A + B))
PTX_FN(sub_rn_f32, f32_bits(A - B))
PTX_FN(mul_rn_f32, f32_bits(A *B))
PTX_FN(div_rn_f32, f32_bits(A / B))
PTX_FN(rcp_rn_f32, f32_bits(1 / A))
PTX_FN(fma_rn_f32, f32_bits(fmaf(A, B, C)))
PTX_FN(sqrt_rn_f32, f32_bits(sqrtf(A)))
PTX_FN(add_rn_f64, f64_bits(DA + DB))
PTX_FN(sub_rn_f64, f64_bits(DA - DB))
PTX_FN(mul_rn_f64, f64_bits(DA *DB))
PTX_FN(div_rn_f64, f64_bits(DA / DB))
PTX_FN(rcp_rn_f64, f64_bits(1 / DA))
PTX_FN(fma_rn_f64, f64_bits(fma(DA, DB, DC)))
PTX_FN(sqrt_rn_f64, f64_bits(sqrt(DA)))

// ---- the rest ------------------------------------------------------------------------------------------------------

// Zeros are in order; a NaN is nobody's minimum.
#define LESS(a, b) ((a) < (b) || ((a) == (b) && signbit(a) && !signbit(b)))
#define OF_TWO(a, b, first) ((a) != (a) ? (b) : (b) != (b) ? (a) : (first) ? (a) : (b))
PTX_FN(min_f32, f32_bits(OF_TWO(A, B, LESS(A, B))))
PTX_FN(max_f32, f32_bits(OF_TWO(A, B, LESS(B, A))))
PTX_FN(min_f64, f64_bits(OF_TWO(DA, DB, LESS(DA, DB))))
PTX_FN(max_f64, f64_bits(OF_TWO(DA, DB, LESS(DB, DA))))
PTX_FN(abs_f32, (uint32_t)v[0] & 0x7fffffffu)
PTX_FN(neg_f32, (uint32_t)v[0] ^ 0x80000000u)
PTX_FN(abs_f64, v[0] & ~(UINT64_C(1) << 63))
PTX_FN(neg_f64, v[0] ^ UINT64_C(1) << 63)
PTX_FN(copysign_f32, (v[1] & 0x7fffffffu) | (v[0] & 0x80000000u))
PTX_FN(copysign_f64, (v[1] & ~(UINT64_C(1) << 63)) | (v[0] & UINT64_C(1) << 63))
PTX_FN(ex2, f32_bits(exp2f(A)))
PTX_FN(ex2_ftz, f32_bits(flushed(exp2f(flushed(A)))))
PTX_FN(lg2, f32_bits(log2f(A)))
PTX_FN(lg2_ftz, f32_bits(flushed(log2f(flushed(A)))))
PTX_FN(sin_, f32_bits(sinf(A)))
PTX_FN(sin_ftz, f32_bits(flushed(sinf(flushed(A)))))
PTX_FN(cos_, f32_bits(cosf(A)))
PTX_FN(cos_ftz, f32_bits(flushed(cosf(flushed(A)))))
PTX_FN(tanh_, f32_bits(tanhf(A)))
PTX_FN(rcp_ftz, f32_bits(flushed(1 / flushed(A))))
PTX_FN(sqrt_ftz, f32_bits(flushed(sqrtf(flushed(A)))))
PTX_FN(rsqrt, f32_bits((float)(1 / sqrt((double)A))))
PTX_FN(rsqrt_ftz, f32_bits(flushed((float)(1 / sqrt((double)flushed(A))))))
PTX_FN(div_ftz, f32_bits(flushed(flushed(A) / flushed(B))))
// The upper half of the result's bits alone.
#define COARSE(x) (f64_bits(x) & UINT64_C(0xffffffff00000000))
PTX_FN(rcp_coarse, COARSE(flushed_double(1 / flushed_double(DA))))
PTX_FN(rsqrt_coarse, COARSE(flushed_double(1 / sqrt(flushed_double(DA)))))

#define ROUNDED_ROWS(mode, T)                                                                                          \
    {"add." #mode "." #T, add_##mode##_##T}, {"sub." #mode "." #T, sub_##mode##_##T},                                  \
        {"mul." #mode "." #T, mul_##mode##_##T}, {"div." #mode "." #T, div_##mode##_##T},                              \
        {"rcp." #mode "." #T, rcp_##mode##_##T}, {"fma." #mode "." #T, fma_##mode##_##T},                              \
    {                                                                                                                  \
        "sqrt." #mode "." #T, sqrt_##mode##_##T                                                                        \
    }
#define FLOAT_ROWS(T)                                                                                                  \
    ROUNDED_ROWS(rn, T), ROUNDED_ROWS(rz, T), ROUNDED_ROWS(rm, T), ROUNDED_ROWS(rp, T), {"add." #T, add_rn_##T},       \
        {"sub." #T, sub_rn_##T}, {"mul." #T, mul_rn_##T}, {"min." #T, min_##T}, {"max." #T, max_##T},                  \
        {"abs." #T, abs_##T}, {"neg." #T, neg_##T},                                                                    \
    {                                                                                                                  \
        "copysign." #T, copysign_##T                                                                                   \
    }

const struct ptx_row ptx_floats[] = {
    FLOAT_ROWS(f32),
    FLOAT_ROWS(f64),
    {"ex2.approx.f32", ex2},
    {"ex2.approx.ftz.f32", ex2_ftz},
    {"lg2.approx.f32", lg2},
    {"lg2.approx.ftz.f32", lg2_ftz},
    {"sin.approx.f32", sin_},
    {"sin.approx.ftz.f32", sin_ftz},
    {"cos.approx.f32", cos_},
    {"cos.approx.ftz.f32", cos_ftz},
    {"tanh.approx.f32", tanh_},
    {"rcp.approx.f32", rcp_rn_f32},
    {"rcp.approx.ftz.f32", rcp_ftz},
    {"sqrt.approx.f32", sqrt_rn_f32},
    {"sqrt.approx.ftz.f32", sqrt_ftz},
    {"rsqrt.approx.f32", rsqrt},
    {"rsqrt.approx.ftz.f32", rsqrt_ftz},
    {"div.approx.f32", div_rn_f32},
    {"div.full.f32", div_rn_f32},
    {"div.approx.ftz.f32", div_ftz},
    {"rcp.approx.ftz.f64", rcp_coarse},
    {"rsqrt.approx.ftz.f64", rsqrt_coarse},
    {NULL, NULL},
};

// ---- conversions ---------------------------------------------------------------------------------------------------

static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

static double whole(double x, unsigned round)
{
    return round == 0 ? rint(x) : round == 1 ? trunc(x) : round == 2 ? floor(x) : ceil(x);
}

// What does not fit is the nearest that does.
static uint64_t to_integer(double x, bool is_nan, const struct ptx_ins *ins)
{
    const unsigned bits = 8u * ins->type.bytes;
    if (is_nan)
        return ins->from.bytes == 8 || bits == 64 ? UINT64_C(1) << (bits - 1) : 0;
    x = whole(x, ins->round);
    if (ins->type.class == PTX_S) {
        double most = ldexp(1, (int)bits - 1);
        if (x >= most)
            return (UINT64_C(1) << (bits - 1)) - 1;
        return (uint64_t)(x < -most ? INT64_MIN >> (64 - bits) : (int64_t)x);
    }
    if (x >= ldexp(1, (int)bits))
        return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    return x <= 0 ? 0 : (uint64_t)x;
}

static uint64_t put_float(double x, const struct ptx_ins *ins)
{
    if (ins->what)
        x = whole(x, ins->round);
    if (ins->saturates)
        x = x > 0 ? x < 1 ? x : 1 : 0; // a NaN is zero
    if (ins->type.bytes == 8)
        return f64_bits(x);
    if (ins->type.bytes == 2)
        return slri_f16_to_bits(slri_f64_to_f16(x));
    fesetround(modes[ins->round]);
    volatile float narrow = (float)x;
    fesetround(FE_TONEAREST);
    return f32_bits(ins->flushes ? flushed(narrow) : narrow);
}

static double take_float(uint64_t bits, const struct ptx_ins *ins)
{
    if (ins->from.bytes == 8)
        return f64_of(bits);
    if (ins->from.bytes == 2)
        return slri_f16_from_bits((uint16_t)bits);
    return ins->flushes ? flushed(f32_of(bits)) : f32_of(bits);
}

static int64_t widened(uint64_t bits, struct ptx_type type)
{
    const unsigned drop = 64 - 8u * type.bytes;
    return type.class == PTX_S ? (int64_t)(bits << drop) >> drop : (int64_t)(bits << drop >> drop);
}

static uint64_t from_integer(int64_t value, bool is_signed, const struct ptx_ins *ins)
{
    uint64_t result;
    fesetround(modes[ins->round]);
    if (ins->type.bytes == 8) {
        volatile double wide = is_signed ? (double)value : (double)(uint64_t)value;
        result = f64_bits(wide);
    } else {
        volatile float narrow = is_signed ? (float)value : (float)(uint64_t)value;
        result = f32_bits(narrow);
    }
    fesetround(FE_TONEAREST);
    return result;
}

static uint64_t saturated(int64_t value, const struct ptx_ins *ins)
{
    const unsigned bits = 8u * ins->type.bytes;
    bool is_huge = ins->from.class != PTX_S && value < 0; // as unsigned
    if (ins->type.class == PTX_S) {
        int64_t most = INT64_MAX >> (64 - bits);
        return (uint64_t)(is_huge || value > most ? most : value < -most - 1 ? -most - 1 : value);
    }
    uint64_t most = UINT64_MAX >> (64 - bits);
    return !is_huge && value < 0 ? 0 : (uint64_t)value > most ? most : (uint64_t)value;
}

uint64_t ptx_convert(struct ptx_lane *lane, const uint64_t *v, const struct ptx_ins *ins)
{
    (void)lane;
    if (ins->from.class == PTX_F) {
        double x = take_float(v[0], ins);
        return ins->type.class == PTX_F ? put_float(x, ins) : to_integer(x, x != x, ins);
    }
    int64_t value = widened(v[0], ins->from);
    if (ins->type.class == PTX_F)
        return from_integer(value, ins->from.class == PTX_S, ins);
    return ins->saturates ? saturated(value, ins) : (uint64_t)widened((uint64_t)value, ins->type);
}
