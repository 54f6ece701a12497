// SPDX-License-Identifier: Apache-2.0
// What stands in front of slr_math.h where slipring's own front end reads it, as a program of device functions, for
// targets whose own functions are too far off: its words for a compiler's, and in C what a compiler would have.
// clang-format off
#define SLRI_MATH_SELF
#define SLRI_FN static __device__

typedef signed char slri_i8;
typedef unsigned char slri_u8;
typedef short slri_i16;
typedef unsigned short slri_u16;
typedef int slri_i32;
typedef unsigned int slri_u32;
typedef long slri_i64;
typedef unsigned long slri_u64;

#define __builtin_inf() __longlong_as_double(0x7ff0000000000000)
#define __builtin_inff() __int_as_float(0x7f800000)
#define __builtin_nan(text) __longlong_as_double(0x7ff8000000000000)
#define __builtin_nanf(text) __int_as_float(0x7fc00000)
#define __builtin_sqrt sqrt
#define __builtin_sqrtf sqrtf
#define __builtin_fma slri_exact_fma
#define __builtin_fabs slri_fabs
#define __builtin_fabsf slri_fabsf
#define __builtin_copysign slri_copysign
#define __builtin_clz(x) __clz(x)
#define __builtin_clzll(x) slri_leading(x)
#define __builtin_ctz(x) (__ffs(x) - 1)
#define __builtin_ctzll(x) (63 - slri_leading((x) & 0u - (x)))
#define __builtin_bswap64 slri_bswap64

SLRI_FN slri_u32 slri_float_as_uint(float x) { return __float_as_uint(x); }
SLRI_FN float slri_uint_as_float(slri_u32 x) { return __uint_as_float(x); }
SLRI_FN slri_u64 slri_bits(double x) { return (slri_u64)__double_as_longlong(x); }
SLRI_FN double slri_from_bits(slri_u64 x) { return __longlong_as_double((long long)x); }

SLRI_FN slri_i32 slri_leading(slri_u64 x)
{
    slri_i32 high = __clz((int)(x >> 32)); // 32: none
    return high + (__clz((int)x) & -(high >> 5));
}

SLRI_FN slri_u64 slri_bswap64(slri_u64 x)
{
    x = (x >> 8 & 0x00ff00ff00ff00ffu) | (x & 0x00ff00ff00ff00ffu) << 8;
    x = (x >> 16 & 0x0000ffff0000ffffu) | (x & 0x0000ffff0000ffffu) << 16;
    return x >> 32 | x << 32;
}

SLRI_FN slri_u64 slri_umul64hi(slri_u64 a, slri_u64 b)
{
    slri_u64 al = (slri_u32)a, ah = a >> 32, bl = (slri_u32)b, bh = b >> 32;
    slri_u64 middle = ah * bl + (al * bl >> 32), other = al * bh + (slri_u32)middle;
    return ah * bh + (middle >> 32) + (other >> 32);
}
SLRI_FN slri_i64 slri_mul64hi(slri_i64 a, slri_i64 b)
{
    slri_u64 high = slri_umul64hi((slri_u64)a, (slri_u64)b);
    return (slri_i64)(high - (a < 0 ? (slri_u64)b : 0) - (b < 0 ? (slri_u64)a : 0));
}
