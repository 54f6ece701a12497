// SPDX-License-Identifier: Apache-2.0
// The one list of math functions a kernel may call: what the type checker looks up, the emitters spell and the
// interpreter runs.
#ifndef SLRI_IR_MATH_FUNCTIONS_H
#define SLRI_IR_MATH_FUNCTIONS_H

#include <stdbool.h>

/// X(id, name in the source, function of slr_math.h, result, arity, argument types: NONE beyond the arity).
/// Rows of one name are overloads; a checker takes the first whose arguments need no narrowing.
#define SLRI_MATH_LIST(X)                                                                                              \
    /* float */                                                                                                        \
    X(FABSF, "fabsf", slri_fabsf, F32, 1, F32, NONE, NONE)                                                             \
    X(SQRTF, "sqrtf", slri_sqrtf, F32, 1, F32, NONE, NONE)                                                             \
    X(RSQRTF, "rsqrtf", slri_rsqrtf, F32, 1, F32, NONE, NONE)                                                          \
    X(FLOORF, "floorf", slri_floorf, F32, 1, F32, NONE, NONE)                                                          \
    X(CEILF, "ceilf", slri_ceilf, F32, 1, F32, NONE, NONE)                                                             \
    X(TRUNCF, "truncf", slri_truncf, F32, 1, F32, NONE, NONE)                                                          \
    X(RINTF, "rintf", slri_rintf, F32, 1, F32, NONE, NONE)                                                             \
    X(NEARBYINTF, "nearbyintf", slri_rintf, F32, 1, F32, NONE, NONE)                                                   \
    X(ROUNDF, "roundf", slri_roundf, F32, 1, F32, NONE, NONE)                                                          \
    X(EXPF, "expf", slri_expf, F32, 1, F32, NONE, NONE)                                                                \
    X(EXP2F, "exp2f", slri_exp2f, F32, 1, F32, NONE, NONE)                                                             \
    X(EXP10F, "exp10f", slri_exp10f, F32, 1, F32, NONE, NONE)                                                          \
    X(EXPM1F, "expm1f", slri_expm1f, F32, 1, F32, NONE, NONE)                                                          \
    X(LOGF, "logf", slri_logf, F32, 1, F32, NONE, NONE)                                                                \
    X(LOG2F, "log2f", slri_log2f, F32, 1, F32, NONE, NONE)                                                             \
    X(LOG10F, "log10f", slri_log10f, F32, 1, F32, NONE, NONE)                                                          \
    X(LOG1PF, "log1pf", slri_log1pf, F32, 1, F32, NONE, NONE)                                                          \
    X(SINF, "sinf", slri_sinf, F32, 1, F32, NONE, NONE)                                                                \
    X(COSF, "cosf", slri_cosf, F32, 1, F32, NONE, NONE)                                                                \
    X(TANF, "tanf", slri_tanf, F32, 1, F32, NONE, NONE)                                                                \
    X(ASINF, "asinf", slri_asinf, F32, 1, F32, NONE, NONE)                                                             \
    X(ACOSF, "acosf", slri_acosf, F32, 1, F32, NONE, NONE)                                                             \
    X(ATANF, "atanf", slri_atanf, F32, 1, F32, NONE, NONE)                                                             \
    X(SINHF, "sinhf", slri_sinhf, F32, 1, F32, NONE, NONE)                                                             \
    X(COSHF, "coshf", slri_coshf, F32, 1, F32, NONE, NONE)                                                             \
    X(TANHF, "tanhf", slri_tanhf, F32, 1, F32, NONE, NONE)                                                             \
    X(CBRTF, "cbrtf", slri_cbrtf, F32, 1, F32, NONE, NONE)                                                             \
    X(ERFF, "erff", slri_erff, F32, 1, F32, NONE, NONE)                                                                \
    X(ERFCF, "erfcf", slri_erfcf, F32, 1, F32, NONE, NONE)                                                             \
    X(FMINF, "fminf", slri_fminf, F32, 2, F32, F32, NONE)                                                              \
    X(FMAXF, "fmaxf", slri_fmaxf, F32, 2, F32, F32, NONE)                                                              \
    X(COPYSIGNF, "copysignf", slri_copysignf, F32, 2, F32, F32, NONE)                                                  \
    X(FMODF, "fmodf", slri_fmodf, F32, 2, F32, F32, NONE)                                                              \
    X(ATAN2F, "atan2f", slri_atan2f, F32, 2, F32, F32, NONE)                                                           \
    X(POWF, "powf", slri_powf, F32, 2, F32, F32, NONE)                                                                 \
    X(HYPOTF, "hypotf", slri_hypotf, F32, 2, F32, F32, NONE)                                                           \
    X(FMAF, "fmaf", slri_fmaf, F32, 3, F32, F32, F32)                                                                  \
    X(ASINHF, "asinhf", slri_asinhf, F32, 1, F32, NONE, NONE)                                                          \
    X(ACOSHF, "acoshf", slri_acoshf, F32, 1, F32, NONE, NONE)                                                          \
    X(ATANHF, "atanhf", slri_atanhf, F32, 1, F32, NONE, NONE)                                                          \
    X(SINPIF, "sinpif", slri_sinpif, F32, 1, F32, NONE, NONE)                                                          \
    X(COSPIF, "cospif", slri_cospif, F32, 1, F32, NONE, NONE)                                                          \
    X(RCBRTF, "rcbrtf", slri_rcbrtf, F32, 1, F32, NONE, NONE)                                                          \
    X(FDIMF, "fdimf", slri_fdimf, F32, 2, F32, F32, NONE)                                                              \
    X(REMAINDERF, "remainderf", slri_remainderf, F32, 2, F32, F32, NONE)                                               \
    X(FADD_RN, "__fadd_rn", slri_fadd_rn, F32, 2, F32, F32, NONE)                                                      \
    X(FSUB_RN, "__fsub_rn", slri_fsub_rn, F32, 2, F32, F32, NONE)                                                      \
    X(FMUL_RN, "__fmul_rn", slri_fmul_rn, F32, 2, F32, F32, NONE)                                                      \
    X(FDIV_RN, "__fdiv_rn", slri_fdiv_rn, F32, 2, F32, F32, NONE)                                                      \
    X(FRCP_RN, "__frcp_rn", slri_frcp_rn, F32, 1, F32, NONE, NONE)                                                     \
    X(FSQRT_RN, "__fsqrt_rn", slri_sqrtf, F32, 1, F32, NONE, NONE)                                                     \
    X(FRSQRT_RN, "__frsqrt_rn", slri_rsqrtf, F32, 1, F32, NONE, NONE)                                                  \
    X(FMAF_RN, "__fmaf_rn", slri_fmaf, F32, 3, F32, F32, F32)                                                          \
    /* the devices' fast forms: here as accurate as the plain ones */                                                  \
    X(FAST_SATURATEF, "__saturatef", slri_saturatef, F32, 1, F32, NONE, NONE)                                          \
    X(FAST_EXPF, "__expf", slri_expf, F32, 1, F32, NONE, NONE)                                                         \
    X(FAST_EXP10F, "__exp10f", slri_exp10f, F32, 1, F32, NONE, NONE)                                                   \
    X(FAST_LOGF, "__logf", slri_logf, F32, 1, F32, NONE, NONE)                                                         \
    X(FAST_LOG2F, "__log2f", slri_log2f, F32, 1, F32, NONE, NONE)                                                      \
    X(FAST_LOG10F, "__log10f", slri_log10f, F32, 1, F32, NONE, NONE)                                                   \
    X(FAST_SINF, "__sinf", slri_sinf, F32, 1, F32, NONE, NONE)                                                         \
    X(FAST_COSF, "__cosf", slri_cosf, F32, 1, F32, NONE, NONE)                                                         \
    X(FAST_TANF, "__tanf", slri_tanf, F32, 1, F32, NONE, NONE)                                                         \
    X(FAST_POWF, "__powf", slri_powf, F32, 2, F32, F32, NONE)                                                          \
    X(FAST_FDIVIDEF, "__fdividef", slri_fdividef, F32, 2, F32, F32, NONE)                                              \
    /* double */                                                                                                       \
    X(FABS, "fabs", slri_fabs, F64, 1, F64, NONE, NONE)                                                                \
    X(SQRT, "sqrt", slri_sqrt, F64, 1, F64, NONE, NONE)                                                                \
    X(RSQRT, "rsqrt", slri_rsqrt, F64, 1, F64, NONE, NONE)                                                             \
    X(FLOOR, "floor", slri_floor, F64, 1, F64, NONE, NONE)                                                             \
    X(CEIL, "ceil", slri_ceil, F64, 1, F64, NONE, NONE)                                                                \
    X(TRUNC, "trunc", slri_trunc, F64, 1, F64, NONE, NONE)                                                             \
    X(RINT, "rint", slri_rint, F64, 1, F64, NONE, NONE)                                                                \
    X(NEARBYINT, "nearbyint", slri_rint, F64, 1, F64, NONE, NONE)                                                      \
    X(ROUND, "round", slri_round, F64, 1, F64, NONE, NONE)                                                             \
    X(EXP, "exp", slri_exp, F64, 1, F64, NONE, NONE)                                                                   \
    X(EXP2, "exp2", slri_exp2, F64, 1, F64, NONE, NONE)                                                                \
    X(LOG, "log", slri_log, F64, 1, F64, NONE, NONE)                                                                   \
    X(LOG2, "log2", slri_log2, F64, 1, F64, NONE, NONE)                                                                \
    X(LOG10, "log10", slri_log10, F64, 1, F64, NONE, NONE)                                                             \
    X(SIN, "sin", slri_sin, F64, 1, F64, NONE, NONE)                                                                   \
    X(COS, "cos", slri_cos, F64, 1, F64, NONE, NONE)                                                                   \
    X(TAN, "tan", slri_tan, F64, 1, F64, NONE, NONE)                                                                   \
    X(ATAN, "atan", slri_atan, F64, 1, F64, NONE, NONE)                                                                \
    X(TANH, "tanh", slri_tanh, F64, 1, F64, NONE, NONE)                                                                \
    X(FMIN, "fmin", slri_fmin, F64, 2, F64, F64, NONE)                                                                 \
    X(FMAX, "fmax", slri_fmax, F64, 2, F64, F64, NONE)                                                                 \
    X(COPYSIGN, "copysign", slri_copysign, F64, 2, F64, F64, NONE)                                                     \
    X(ATAN2, "atan2", slri_atan2, F64, 2, F64, F64, NONE)                                                              \
    X(POW, "pow", slri_pow, F64, 2, F64, F64, NONE)                                                                    \
    X(EXP10, "exp10", slri_exp10, F64, 1, F64, NONE, NONE)                                                             \
    X(EXPM1, "expm1", slri_expm1, F64, 1, F64, NONE, NONE)                                                             \
    X(LOG1P, "log1p", slri_log1p, F64, 1, F64, NONE, NONE)                                                             \
    X(ASIN, "asin", slri_asin, F64, 1, F64, NONE, NONE)                                                                \
    X(ACOS, "acos", slri_acos, F64, 1, F64, NONE, NONE)                                                                \
    X(SINH, "sinh", slri_sinh, F64, 1, F64, NONE, NONE)                                                                \
    X(COSH, "cosh", slri_cosh, F64, 1, F64, NONE, NONE)                                                                \
    X(ASINH, "asinh", slri_asinh, F64, 1, F64, NONE, NONE)                                                             \
    X(ACOSH, "acosh", slri_acosh, F64, 1, F64, NONE, NONE)                                                             \
    X(ATANH, "atanh", slri_atanh, F64, 1, F64, NONE, NONE)                                                             \
    X(SINPI, "sinpi", slri_sinpi, F64, 1, F64, NONE, NONE)                                                             \
    X(COSPI, "cospi", slri_cospi, F64, 1, F64, NONE, NONE)                                                             \
    X(CBRT, "cbrt", slri_cbrt, F64, 1, F64, NONE, NONE)                                                                \
    X(RCBRT, "rcbrt", slri_rcbrt, F64, 1, F64, NONE, NONE)                                                             \
    X(ERF, "erf", slri_erf, F64, 1, F64, NONE, NONE)                                                                   \
    X(ERFC, "erfc", slri_erfc, F64, 1, F64, NONE, NONE)                                                                \
    X(HYPOT, "hypot", slri_hypot, F64, 2, F64, F64, NONE)                                                              \
    X(FMOD, "fmod", slri_fmod, F64, 2, F64, F64, NONE)                                                                 \
    X(REMAINDER, "remainder", slri_remainder, F64, 2, F64, F64, NONE)                                                  \
    X(FDIM, "fdim", slri_fdim, F64, 2, F64, F64, NONE)                                                                 \
    X(FMA, "fma", slri_fma, F64, 3, F64, F64, F64)                                                                     \
    X(DADD_RN, "__dadd_rn", slri_dadd_rn, F64, 2, F64, F64, NONE)                                                      \
    X(DSUB_RN, "__dsub_rn", slri_dsub_rn, F64, 2, F64, F64, NONE)                                                      \
    X(DMUL_RN, "__dmul_rn", slri_dmul_rn, F64, 2, F64, F64, NONE)                                                      \
    X(DDIV_RN, "__ddiv_rn", slri_ddiv_rn, F64, 2, F64, F64, NONE)                                                      \
    X(DRCP_RN, "__drcp_rn", slri_drcp_rn, F64, 1, F64, NONE, NONE)                                                     \
    X(DSQRT_RN, "__dsqrt_rn", slri_sqrt, F64, 1, F64, NONE, NONE)                                                      \
    X(FMA_RN, "__fma_rn", slri_fma, F64, 3, F64, F64, F64)                                                             \
    /* classification */                                                                                               \
    X(LDEXPF, "ldexpf", slri_ldexpf, F32, 2, F32, I32, NONE)                                                           \
    X(SCALBNF, "scalbnf", slri_ldexpf, F32, 2, F32, I32, NONE)                                                         \
    X(LOGBF, "logbf", slri_logbf, F32, 1, F32, NONE, NONE)                                                             \
    X(NEXTAFTERF, "nextafterf", slri_nextafterf, F32, 2, F32, F32, NONE)                                               \
    X(LGAMMAF, "lgammaf", slri_lgammaf, F32, 1, F32, NONE, NONE)                                                       \
    X(TGAMMAF, "tgammaf", slri_tgammaf, F32, 1, F32, NONE, NONE)                                                       \
    X(RHYPOTF, "rhypotf", slri_rhypotf, F32, 2, F32, F32, NONE)                                                        \
    X(NORMCDFF, "normcdff", slri_normcdff, F32, 1, F32, NONE, NONE)                                                    \
    X(FREXP_FRACTIONF, "__slri_frexp_fractionf", slri_frexp_fractionf, F32, 1, F32, NONE, NONE)                        \
    X(MODF_FRACTIONF, "__slri_modf_fractionf", slri_modf_fractionf, F32, 1, F32, NONE, NONE)                           \
    X(LDEXP, "ldexp", slri_ldexp, F64, 2, F64, I32, NONE)                                                              \
    X(SCALBN, "scalbn", slri_ldexp, F64, 2, F64, I32, NONE)                                                            \
    X(LOGB, "logb", slri_logb, F64, 1, F64, NONE, NONE)                                                                \
    X(NEXTAFTER, "nextafter", slri_nextafter, F64, 2, F64, F64, NONE)                                                  \
    X(LGAMMA, "lgamma", slri_lgamma, F64, 1, F64, NONE, NONE)                                                          \
    X(TGAMMA, "tgamma", slri_tgamma, F64, 1, F64, NONE, NONE)                                                          \
    X(RHYPOT, "rhypot", slri_rhypot, F64, 2, F64, F64, NONE)                                                           \
    X(NORMCDF, "normcdf", slri_normcdf, F64, 1, F64, NONE, NONE)                                                       \
    X(FREXP_FRACTION, "__slri_frexp_fraction", slri_frexp_fraction, F64, 1, F64, NONE, NONE)                           \
    X(MODF_FRACTION, "__slri_modf_fraction", slri_modf_fraction, F64, 1, F64, NONE, NONE)                              \
    X(ISNAN_F32, "isnan", slri_isnanf, I32, 1, F32, NONE, NONE)                                                        \
    X(ISNAN_F64, "isnan", slri_isnan, I32, 1, F64, NONE, NONE)                                                         \
    X(ISINF_F32, "isinf", slri_isinff, I32, 1, F32, NONE, NONE)                                                        \
    X(ISINF_F64, "isinf", slri_isinf, I32, 1, F64, NONE, NONE)                                                         \
    X(ISFINITE_F32, "isfinite", slri_isfinitef, I32, 1, F32, NONE, NONE)                                               \
    X(ISFINITE_F64, "isfinite", slri_isfinite, I32, 1, F64, NONE, NONE)                                                \
    X(SIGNBIT_F32, "signbit", slri_signbitf, I32, 1, F32, NONE, NONE)                                                  \
    X(SIGNBIT_F64, "signbit", slri_signbit, I32, 1, F64, NONE, NONE)                                                   \
    /* minimum, maximum, magnitude */                                                                                  \
    X(MIN_I32, "min", slri_min_i32, I32, 2, I32, I32, NONE)                                                            \
    X(MIN_U32, "min", slri_min_u32, U32, 2, U32, U32, NONE)                                                            \
    X(MIN_I64, "min", slri_min_i64, I64, 2, I64, I64, NONE)                                                            \
    X(MIN_U64, "min", slri_min_u64, U64, 2, U64, U64, NONE)                                                            \
    X(MIN_F32, "min", slri_fminf, F32, 2, F32, F32, NONE)                                                              \
    X(MIN_F64, "min", slri_fmin, F64, 2, F64, F64, NONE)                                                               \
    X(MAX_I32, "max", slri_max_i32, I32, 2, I32, I32, NONE)                                                            \
    X(MAX_U32, "max", slri_max_u32, U32, 2, U32, U32, NONE)                                                            \
    X(MAX_I64, "max", slri_max_i64, I64, 2, I64, I64, NONE)                                                            \
    X(MAX_U64, "max", slri_max_u64, U64, 2, U64, U64, NONE)                                                            \
    X(MAX_F32, "max", slri_fmaxf, F32, 2, F32, F32, NONE)                                                              \
    X(MAX_F64, "max", slri_fmax, F64, 2, F64, F64, NONE)                                                               \
    X(ABS_I32, "abs", slri_abs_i32, I32, 1, I32, NONE, NONE)                                                           \
    X(ABS_I64, "abs", slri_abs_i64, I64, 1, I64, NONE, NONE)                                                           \
    X(ABS_F32, "abs", slri_fabsf, F32, 1, F32, NONE, NONE)                                                             \
    X(ABS_F64, "abs", slri_fabs, F64, 1, F64, NONE, NONE)                                                              \
    X(LLABS, "llabs", slri_abs_i64, I64, 1, I64, NONE, NONE)                                                           \
    /* bits */                                                                                                         \
    X(CLZ, "__clz", slri_clz, I32, 1, I32, NONE, NONE)                                                                 \
    X(CLZLL, "__clzll", slri_clzll, I32, 1, I64, NONE, NONE)                                                           \
    X(FFS, "__ffs", slri_ffs, I32, 1, I32, NONE, NONE)                                                                 \
    X(FFSLL, "__ffsll", slri_ffsll, I32, 1, I64, NONE, NONE)                                                           \
    X(POPC, "__popc", slri_popc, I32, 1, U32, NONE, NONE)                                                              \
    X(POPCLL, "__popcll", slri_popcll, I32, 1, U64, NONE, NONE)                                                        \
    X(BREV, "__brev", slri_brev, U32, 1, U32, NONE, NONE)                                                              \
    X(BREVLL, "__brevll", slri_brevll, U64, 1, U64, NONE, NONE)                                                        \
    X(FLOAT_AS_INT, "__float_as_int", slri_float_as_int, I32, 1, F32, NONE, NONE)                                      \
    X(INT_AS_FLOAT, "__int_as_float", slri_int_as_float, F32, 1, I32, NONE, NONE)                                      \
    X(FLOAT_AS_UINT, "__float_as_uint", slri_float_as_uint, U32, 1, F32, NONE, NONE)                                   \
    X(UINT_AS_FLOAT, "__uint_as_float", slri_uint_as_float, F32, 1, U32, NONE, NONE)                                   \
    X(DOUBLE_AS_LONGLONG, "__double_as_longlong", slri_double_as_longlong, I64, 1, F64, NONE, NONE)                    \
    X(LONGLONG_AS_DOUBLE, "__longlong_as_double", slri_longlong_as_double, F64, 1, I64, NONE, NONE)                    \
    X(MULHI, "__mulhi", slri_mulhi, I32, 2, I32, I32, NONE)                                                            \
    X(UMULHI, "__umulhi", slri_umulhi, U32, 2, U32, U32, NONE)                                                         \
    /* by a rounding that is named, and more of integers */                                                            \
    X(FREXP_EXPONENTF, "__slri_frexp_exponentf", slri_frexp_exponentf, I32, 1, F32, NONE, NONE)                        \
    X(ILOGBF, "ilogbf", slri_ilogbf, I32, 1, F32, NONE, NONE)                                                          \
    X(LRINTF, "lrintf", slri_f32_to_i64_rn, I64, 1, F32, NONE, NONE)                                                   \
    X(LLRINTF, "llrintf", slri_f32_to_i64_rn, I64, 1, F32, NONE, NONE)                                                 \
    X(LROUNDF, "lroundf", slri_f32_to_i64_away, I64, 1, F32, NONE, NONE)                                               \
    X(LLROUNDF, "llroundf", slri_f32_to_i64_away, I64, 1, F32, NONE, NONE)                                             \
    X(FLOAT2INT_RN, "__float2int_rn", slri_f32_to_i32_rn, I32, 1, F32, NONE, NONE)                                     \
    X(FLOAT2INT_RZ, "__float2int_rz", slri_f32_to_i32, I32, 1, F32, NONE, NONE)                                        \
    X(FLOAT2INT_RU, "__float2int_ru", slri_f32_to_i32_ru, I32, 1, F32, NONE, NONE)                                     \
    X(FLOAT2INT_RD, "__float2int_rd", slri_f32_to_i32_rd, I32, 1, F32, NONE, NONE)                                     \
    X(FLOAT2UINT_RN, "__float2uint_rn", slri_f32_to_u32_rn, U32, 1, F32, NONE, NONE)                                   \
    X(FLOAT2UINT_RZ, "__float2uint_rz", slri_f32_to_u32, U32, 1, F32, NONE, NONE)                                      \
    X(FLOAT2UINT_RU, "__float2uint_ru", slri_f32_to_u32_ru, U32, 1, F32, NONE, NONE)                                   \
    X(FLOAT2UINT_RD, "__float2uint_rd", slri_f32_to_u32_rd, U32, 1, F32, NONE, NONE)                                   \
    X(FLOAT2LL_RN, "__float2ll_rn", slri_f32_to_i64_rn, I64, 1, F32, NONE, NONE)                                       \
    X(FLOAT2LL_RZ, "__float2ll_rz", slri_f32_to_i64, I64, 1, F32, NONE, NONE)                                          \
    X(FLOAT2LL_RU, "__float2ll_ru", slri_f32_to_i64_ru, I64, 1, F32, NONE, NONE)                                       \
    X(FLOAT2LL_RD, "__float2ll_rd", slri_f32_to_i64_rd, I64, 1, F32, NONE, NONE)                                       \
    X(FLOAT2ULL_RN, "__float2ull_rn", slri_f32_to_u64_rn, U64, 1, F32, NONE, NONE)                                     \
    X(FLOAT2ULL_RZ, "__float2ull_rz", slri_f32_to_u64, U64, 1, F32, NONE, NONE)                                        \
    X(FLOAT2ULL_RU, "__float2ull_ru", slri_f32_to_u64_ru, U64, 1, F32, NONE, NONE)                                     \
    X(FLOAT2ULL_RD, "__float2ull_rd", slri_f32_to_u64_rd, U64, 1, F32, NONE, NONE)                                     \
    X(INT2FLOAT_RN, "__int2float_rn", slri_f32_of_i32, F32, 1, I32, NONE, NONE)                                        \
    X(UINT2FLOAT_RN, "__uint2float_rn", slri_f32_of_u32, F32, 1, U32, NONE, NONE)                                      \
    X(LL2FLOAT_RN, "__ll2float_rn", slri_f32_of_i64, F32, 1, I64, NONE, NONE)                                          \
    X(ULL2FLOAT_RN, "__ull2float_rn", slri_f32_of_u64, F32, 1, U64, NONE, NONE)                                        \
    X(FREXP_EXPONENT, "__slri_frexp_exponent", slri_frexp_exponent, I32, 1, F64, NONE, NONE)                           \
    X(ILOGB, "ilogb", slri_ilogb, I32, 1, F64, NONE, NONE)                                                             \
    X(LRINT, "lrint", slri_f64_to_i64_rn, I64, 1, F64, NONE, NONE)                                                     \
    X(LLRINT, "llrint", slri_f64_to_i64_rn, I64, 1, F64, NONE, NONE)                                                   \
    X(LROUND, "lround", slri_f64_to_i64_away, I64, 1, F64, NONE, NONE)                                                 \
    X(LLROUND, "llround", slri_f64_to_i64_away, I64, 1, F64, NONE, NONE)                                               \
    X(DOUBLE2INT_RN, "__double2int_rn", slri_f64_to_i32_rn, I32, 1, F64, NONE, NONE)                                   \
    X(DOUBLE2INT_RZ, "__double2int_rz", slri_f64_to_i32, I32, 1, F64, NONE, NONE)                                      \
    X(DOUBLE2INT_RU, "__double2int_ru", slri_f64_to_i32_ru, I32, 1, F64, NONE, NONE)                                   \
    X(DOUBLE2INT_RD, "__double2int_rd", slri_f64_to_i32_rd, I32, 1, F64, NONE, NONE)                                   \
    X(DOUBLE2UINT_RN, "__double2uint_rn", slri_f64_to_u32_rn, U32, 1, F64, NONE, NONE)                                 \
    X(DOUBLE2UINT_RZ, "__double2uint_rz", slri_f64_to_u32, U32, 1, F64, NONE, NONE)                                    \
    X(DOUBLE2UINT_RU, "__double2uint_ru", slri_f64_to_u32_ru, U32, 1, F64, NONE, NONE)                                 \
    X(DOUBLE2UINT_RD, "__double2uint_rd", slri_f64_to_u32_rd, U32, 1, F64, NONE, NONE)                                 \
    X(DOUBLE2LL_RN, "__double2ll_rn", slri_f64_to_i64_rn, I64, 1, F64, NONE, NONE)                                     \
    X(DOUBLE2LL_RZ, "__double2ll_rz", slri_f64_to_i64, I64, 1, F64, NONE, NONE)                                        \
    X(DOUBLE2LL_RU, "__double2ll_ru", slri_f64_to_i64_ru, I64, 1, F64, NONE, NONE)                                     \
    X(DOUBLE2LL_RD, "__double2ll_rd", slri_f64_to_i64_rd, I64, 1, F64, NONE, NONE)                                     \
    X(DOUBLE2ULL_RN, "__double2ull_rn", slri_f64_to_u64_rn, U64, 1, F64, NONE, NONE)                                   \
    X(DOUBLE2ULL_RZ, "__double2ull_rz", slri_f64_to_u64, U64, 1, F64, NONE, NONE)                                      \
    X(DOUBLE2ULL_RU, "__double2ull_ru", slri_f64_to_u64_ru, U64, 1, F64, NONE, NONE)                                   \
    X(DOUBLE2ULL_RD, "__double2ull_rd", slri_f64_to_u64_rd, U64, 1, F64, NONE, NONE)                                   \
    X(INT2DOUBLE_RN, "__int2double_rn", slri_f64_of_i32, F64, 1, I32, NONE, NONE)                                      \
    X(UINT2DOUBLE_RN, "__uint2double_rn", slri_f64_of_u32, F64, 1, U32, NONE, NONE)                                    \
    X(LL2DOUBLE_RN, "__ll2double_rn", slri_f64_of_i64, F64, 1, I64, NONE, NONE)                                        \
    X(ULL2DOUBLE_RN, "__ull2double_rn", slri_f64_of_u64, F64, 1, U64, NONE, NONE)                                      \
    X(DOUBLE2FLOAT_RN, "__double2float_rn", slri_narrow, F32, 1, F64, NONE, NONE)                                      \
    X(DOUBLE2HIINT, "__double2hiint", slri_hiint, I32, 1, F64, NONE, NONE)                                             \
    X(DOUBLE2LOINT, "__double2loint", slri_loint, I32, 1, F64, NONE, NONE)                                             \
    X(HILOINT2DOUBLE, "__hiloint2double", slri_hiloint, F64, 2, I32, I32, NONE)                                        \
    X(MUL64HI, "__mul64hi", slri_mul64hi, I64, 2, I64, I64, NONE)                                                      \
    X(UMUL64HI, "__umul64hi", slri_umul64hi, U64, 2, U64, U64, NONE)                                                   \
    X(MUL24, "__mul24", slri_mul24, I32, 2, I32, I32, NONE)                                                            \
    X(UMUL24, "__umul24", slri_umul24, U32, 2, U32, U32, NONE)                                                         \
    X(HADD, "__hadd", slri_hadd, I32, 2, I32, I32, NONE)                                                               \
    X(RHADD, "__rhadd", slri_rhadd, I32, 2, I32, I32, NONE)                                                            \
    X(UHADD, "__uhadd", slri_uhadd, U32, 2, U32, U32, NONE)                                                            \
    X(URHADD, "__urhadd", slri_urhadd, U32, 2, U32, U32, NONE)                                                         \
    X(SAD, "__sad", slri_sad, U32, 3, I32, I32, U32)                                                                   \
    X(USAD, "__usad", slri_usad, U32, 3, U32, U32, U32)                                                                \
    X(FUNNELSHIFT_L, "__funnelshift_l", slri_funnel_l, U32, 3, U32, U32, U32)                                          \
    X(FUNNELSHIFT_R, "__funnelshift_r", slri_funnel_r, U32, 3, U32, U32, U32)                                          \
    X(FUNNELSHIFT_LC, "__funnelshift_lc", slri_funnel_lc, U32, 3, U32, U32, U32)                                       \
    X(FUNNELSHIFT_RC, "__funnelshift_rc", slri_funnel_rc, U32, 3, U32, U32, U32)                                       \
    X(BYTE_PERM, "__byte_perm", slri_byte_perm, U32, 3, U32, U32, U32)                                                 \
    /* of halves, each the float that it is */                                                                         \
    X(HFMA, "__slri_hfma", slri_hfma, F32, 3, F32, F32, F32)                                                           \
    X(BFMA, "__slri_bfma", slri_bfma, F32, 3, F32, F32, F32)

/// Casts whose result C leaves undefined: truncate, saturate, NaN gives 0. X(id, function of slr_math.h, from, to).
#define SLRI_MATH_CONVERSIONS(X)                                                                                       \
    X(F32_TO_I8, slri_f32_to_i8, F32, I8)                                                                              \
    X(F32_TO_U8, slri_f32_to_u8, F32, U8)                                                                              \
    X(F32_TO_I16, slri_f32_to_i16, F32, I16)                                                                           \
    X(F32_TO_U16, slri_f32_to_u16, F32, U16)                                                                           \
    X(F32_TO_I32, slri_f32_to_i32, F32, I32)                                                                           \
    X(F32_TO_U32, slri_f32_to_u32, F32, U32)                                                                           \
    X(F32_TO_I64, slri_f32_to_i64, F32, I64)                                                                           \
    X(F32_TO_U64, slri_f32_to_u64, F32, U64)                                                                           \
    X(F64_TO_I8, slri_f64_to_i8, F64, I8)                                                                              \
    X(F64_TO_U8, slri_f64_to_u8, F64, U8)                                                                              \
    X(F64_TO_I16, slri_f64_to_i16, F64, I16)                                                                           \
    X(F64_TO_U16, slri_f64_to_u16, F64, U16)                                                                           \
    X(F64_TO_I32, slri_f64_to_i32, F64, I32)                                                                           \
    X(F64_TO_U32, slri_f64_to_u32, F64, U32)                                                                           \
    X(F64_TO_I64, slri_f64_to_i64, F64, I64)                                                                           \
    X(F64_TO_U64, slri_f64_to_u64, F64, U64)

enum slri_math_type {
    SLRI_MATH_NONE,
    SLRI_MATH_F32,
    SLRI_MATH_F64,
    SLRI_MATH_I32,
    SLRI_MATH_U32,
    SLRI_MATH_I64,
    SLRI_MATH_U64,
};

enum slri_math_id {
#define SLRI_MATH_ID(id, ...) SLRI_MATH_##id,
    SLRI_MATH_LIST(SLRI_MATH_ID)
#undef SLRI_MATH_ID
        SLRI_MATH_COUNT
};

enum slri_math_conversion {
#define SLRI_MATH_ID(id, ...) SLRI_MATH_##id,
    SLRI_MATH_CONVERSIONS(SLRI_MATH_ID)
#undef SLRI_MATH_ID
        SLRI_MATH_CONVERSION_COUNT
};

struct slri_math_function {
    const char *name;       // as a kernel writes it: "expf"
    const char *c_function; // as emitted C calls it: "slri_expf"
    enum slri_math_type result;
    unsigned arity;
    enum slri_math_type args[3];
};

/// What writes parts of its result through pointers: `first` is given back (SLRI_MATH_COUNT: nothing is), the others
/// are written, as far as they are there. All take the one argument.
struct slri_math_parts {
    const char *name;
    enum slri_math_id first, written[2];
};
#define SLRI_MATH_PARTS 9
extern const struct slri_math_parts slri_math_parts[SLRI_MATH_PARTS];

/// Indexed by enum slri_math_id.
extern const struct slri_math_function slri_math_functions[SLRI_MATH_COUNT];

/// Two operations to who counts them. Nothing else takes three numbers that are no integers.
static inline bool slri_math_is_fma(unsigned id)
{
    const struct slri_math_function *function = &slri_math_functions[id];
    return function->arity == 3 && (function->result == SLRI_MATH_F32 || function->result == SLRI_MATH_F64);
}

#endif
