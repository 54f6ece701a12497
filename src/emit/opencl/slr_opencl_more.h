// SPDX-License-Identifier: Apache-2.0
// What stands behind slr_spaces.h in front of emitted OpenCL C: conversions, atomics of 64 bits, warps, doubles.
// clang-format off
#define SLRI_TO_I8(a) ((a) == (a) ? convert_char_sat_rtz(a) : 0)
#define SLRI_TO_U8(a) ((a) == (a) ? convert_uchar_sat_rtz(a) : 0)
#define SLRI_TO_I16(a) ((a) == (a) ? convert_short_sat_rtz(a) : 0)
#define SLRI_TO_U16(a) ((a) == (a) ? convert_ushort_sat_rtz(a) : 0)
#define SLRI_TO_I32(a) ((a) == (a) ? convert_int_sat_rtz(a) : 0)
#define SLRI_TO_U32(a) ((a) == (a) ? convert_uint_sat_rtz(a) : 0)
#define SLRI_TO_I64(a) ((a) == (a) ? convert_long_sat_rtz(a) : 0)
#define SLRI_TO_U64(a) ((a) == (a) ? convert_ulong_sat_rtz(a) : 0)

SLRI_FN float slri_f16_to_float(ushort bits) { return vload_half(0, (const __private half *)&bits); }
SLRI_FN ushort slri_float_to_f16(float a) { ushort bits; vstore_half_rte(a, 0, (__private half *)&bits); return bits; }
#ifdef cl_khr_fp64
SLRI_FN float slri_odd_F64(double a)
{
    float r = convert_float_rtz(a);
    return (double)r == a || a != a || !(fabs(a) <= 3.4028234663852886e38) ? r : as_float(as_uint(r) | 1);
}
#endif

#ifdef SLRI_ATOMICS_64
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
SLRI_INTEGERS(I64, long, G, atom_) SLRI_INTEGERS(U64, ulong, G, atom_)
SLRI_INTEGERS(I64, long, L, atom_) SLRI_INTEGERS(U64, ulong, L, atom_)
#ifdef cl_khr_fp64
#define SLRI_DOUBLES(S) \
    SLRI_BY_CAS(add, atom_cmpxchg, F64, double, ulong, as_ulong, as_double, S, a + b) \
    SLRI_BY_CAS(sub, atom_cmpxchg, F64, double, ulong, as_ulong, as_double, S, a - b) \
    SLRI_BY_CAS(exchange, atom_cmpxchg, F64, double, ulong, as_ulong, as_double, S, b)
SLRI_DOUBLES(G) SLRI_DOUBLES(L)
#endif
#endif

// Whether nobody says yes, of those for whom one round of a loop is the same: the warp, or the block.
SLRI_FN bool slri_none(int value, __local ulong *scratch)
{
#ifdef SLRI_SUB_GROUPS
    return slri_ballot(0xffffffff, value, scratch) == 0;
#else
    return slri_count(value, scratch) == 0;
#endif
}

// ---- math: what only OpenCL has

#define slri_expm1f expm1
#define slri_log1pf log1p
#define slri_cbrtf cbrt
#define slri_erff erf
#define slri_erfcf erfc
#define slri_hypotf hypot
#define slri_fabs fabs
#define slri_sqrt sqrt
#define slri_rsqrt rsqrt
#define slri_floor floor
#define slri_ceil ceil
#define slri_trunc trunc
#define slri_rint rint
#define slri_round round
#define slri_exp exp
#define slri_exp2 exp2
#define slri_log log
#define slri_log2 log2
#define slri_log10 log10
#define slri_sin sin
#define slri_cos cos
#define slri_tan tan
#define slri_atan atan
#define slri_tanh tanh
// The order of the operands says which of two zeros is chosen, and which number beside a NaN: both orders together are
// the bits that are wanted.
#define SLRI_EXTREME(name, T, bits, less, merge, as_bits, as_T) \
    SLRI_FN T name(T a, T b) \
    { \
        bits r = as_bits(a less b ? a : b) merge as_bits(b less a ? b : a); \
        return b != b ? a : a != a ? b : as_T(r); \
    }
#undef slri_fminf
#undef slri_fmaxf
SLRI_EXTREME(slri_fminf, float, uint, <, |, as_uint, as_float)
SLRI_EXTREME(slri_fmaxf, float, uint, >, &, as_uint, as_float)
#ifdef cl_khr_fp64
SLRI_EXTREME(slri_fmin, double, ulong, <, |, as_ulong, as_double)
SLRI_EXTREME(slri_fmax, double, ulong, >, &, as_ulong, as_double)
#endif
#define slri_copysign copysign
#define slri_atan2 atan2
#define slri_pow pow
#define slri_remainderf remainder
#define slri_rcbrt(a) (1.0 / cbrt(a))
#define slri_asinh asinh
#define slri_acosh acosh
#define slri_atanh atanh
#define slri_sinpi sinpi
#define slri_cospi cospi
#define slri_fdim fdim
#define slri_remainder remainder
#define slri_exp10 exp10
#define slri_expm1 expm1
#define slri_log1p log1p
#define slri_asin asin
#define slri_acos acos
#define slri_sinh sinh
#define slri_cosh cosh
#define slri_cbrt cbrt
#define slri_erf erf
#define slri_erfc erfc
#define slri_hypot hypot
#define slri_fmod fmod
#define slri_fma fma
#define slri_dadd_rn(a, b) ((a) + (b))
#define slri_dsub_rn(a, b) ((a) - (b))
#define slri_dmul_rn(a, b) ((a) * (b))
#define slri_ddiv_rn(a, b) ((a) / (b))
#define slri_drcp_rn(a) (1.0 / (a))
#define slri_isnan isnan
#define slri_isinf isinf
#define slri_isfinite isfinite
#define slri_signbit signbit
#define slri_ldexp ldexp
#define slri_nextafterf nextafter
#define slri_nextafter nextafter
#define slri_lgammaf lgamma
#define slri_lgamma lgamma
#define slri_tgammaf tgamma
#define slri_tgamma tgamma
#define slri_logbf logb
#define slri_logb logb
#define slri_rhypot(a, b) (1.0 / hypot(a, b))
#define slri_normcdff(a) (0.5f * erfc(-0.70710678f * (a)))
#define slri_normcdf(a) (0.5 * erfc(-0.70710678118654752 * (a)))
#ifdef cl_khr_fp64
SLRI_FN double slri_frexp_fraction(double a) { int e; return frexp(a, &e); }
SLRI_FN int slri_frexp_exponent(double a) { int e; frexp(a, &e); return isfinite(a) ? e : 0; }
SLRI_FN double slri_modf_fraction(double a) { double whole; return modf(a, &whole); }
SLRI_FN int slri_ilogb(double a)
{
    return a == 0 || isnan(a) ? -0x7fffffff - 1 : isinf(a) ? 0x7fffffff : slri_frexp_exponent(a) - 1;
}
#endif
#define slri_f64_to_i32_rn(a) ((a) == (a) ? convert_int_sat_rte(a) : 0)
#define slri_f64_to_i32(a) ((a) == (a) ? convert_int_sat_rtz(a) : 0)
#define slri_f64_to_i32_ru(a) ((a) == (a) ? convert_int_sat_rtp(a) : 0)
#define slri_f64_to_i32_rd(a) ((a) == (a) ? convert_int_sat_rtn(a) : 0)
#define slri_f64_to_u32_rn(a) ((a) == (a) ? convert_uint_sat_rte(a) : 0)
#define slri_f64_to_u32(a) ((a) == (a) ? convert_uint_sat_rtz(a) : 0)
#define slri_f64_to_u32_ru(a) ((a) == (a) ? convert_uint_sat_rtp(a) : 0)
#define slri_f64_to_u32_rd(a) ((a) == (a) ? convert_uint_sat_rtn(a) : 0)
#define slri_f64_to_i64_rn(a) ((a) == (a) ? convert_long_sat_rte(a) : 0)
#define slri_f64_to_i64(a) ((a) == (a) ? convert_long_sat_rtz(a) : 0)
#define slri_f64_to_i64_ru(a) ((a) == (a) ? convert_long_sat_rtp(a) : 0)
#define slri_f64_to_i64_rd(a) ((a) == (a) ? convert_long_sat_rtn(a) : 0)
#define slri_f64_to_u64_rn(a) ((a) == (a) ? convert_ulong_sat_rte(a) : 0)
#define slri_f64_to_u64(a) ((a) == (a) ? convert_ulong_sat_rtz(a) : 0)
#define slri_f64_to_u64_ru(a) ((a) == (a) ? convert_ulong_sat_rtp(a) : 0)
#define slri_f64_to_u64_rd(a) ((a) == (a) ? convert_ulong_sat_rtn(a) : 0)
#define slri_f64_to_i64_away(a) ((a) == (a) ? convert_long_sat(round(a)) : 0)
#define slri_f64_of_i32(a) convert_double_rte(a)
#define slri_f64_of_u32(a) convert_double_rte(a)
#define slri_f64_of_i64(a) convert_double_rte(a)
#define slri_f64_of_u64(a) convert_double_rte(a)
#define slri_narrow(a) convert_float_rte(a)
#define slri_mulhi mul_hi
#define slri_umulhi mul_hi
#define slri_mul64hi mul_hi
#define slri_umul64hi mul_hi
#ifdef cl_khr_fp64
// The product is exact in double, and the sum's error makes its last place odd, so that the last rounding is the only one.
SLRI_FN float slri_odd_fma(float a, float b, float c)
{
    double p = (double)a * b, s = p + c, v = s - p, error = (p - (s - v)) + (c - v);
    ulong bits = as_ulong(s);
    if (error != 0 && !(bits & 1))
        s = as_double((error > 0) == (s > 0) ? bits | 1 : bits - 1);
    return slri_odd_F64(s);
}
#define slri_hfma(a, b, c) slri_f16_to_float(slri_float_to_f16(slri_odd_fma(a, b, c)))
#define slri_bfma(a, b, c) slri_bf16_to_float(slri_float_to_bf16(slri_odd_fma(a, b, c)))
#endif
