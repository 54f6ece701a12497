// SPDX-License-Identifier: Apache-2.0
// What stands behind slr_spaces.h in front of emitted MSL: conversions, and functions that Metal has not.
// clang-format off
// To an integer: cut off, the nearest that there is, 0 of NaN.
#define SLRI_CUT(K, type, least, most, first, end) \
    SLRI_FN type slri_cut_##K(float a) \
    { return a != a ? 0 : a >= end ? (type)(most) : a <= first ? (type)(least) : (type)a; }
SLRI_CUT(I32, int, -0x7fffffff - 1, 0x7fffffff, -2147483648.0f, 2147483648.0f)
SLRI_CUT(U32, uint, 0, 0xffffffffu, 0.0f, 4294967296.0f)
SLRI_CUT(I64, long, -0x7fffffffffffffffl - 1, 0x7fffffffffffffffl, -9223372036854775808.0f, 9223372036854775808.0f)
SLRI_CUT(U64, ulong, 0, 0xfffffffffffffffful, 0.0f, 18446744073709551616.0f)
#define SLRI_TO_I8(a) metal::clamp(slri_cut_I32(a), -128, 127)
#define SLRI_TO_U8(a) metal::clamp(slri_cut_I32(a), 0, 255)
#define SLRI_TO_I16(a) metal::clamp(slri_cut_I32(a), -32768, 32767)
#define SLRI_TO_U16(a) metal::clamp(slri_cut_I32(a), 0, 65535)
#define SLRI_TO_I32(a) slri_cut_I32(a)
#define SLRI_TO_U32(a) slri_cut_U32(a)
#define SLRI_TO_I64(a) slri_cut_I64(a)
#define SLRI_TO_U64(a) slri_cut_U64(a)

SLRI_FN float slri_f16_to_float(ushort bits) { return (float)as_type<half>(bits); }
SLRI_FN ushort slri_float_to_f16(float a) { return a == a ? as_type<ushort>((half)a) : 0x7e00; }

// Of a float, the bits of the double that it is.
SLRI_FN ulong slri_double(float a)
{
    uint bits = as_uint(a), size = bits & 0x7fffffff;
    ulong sign = (ulong)(bits >> 31) << 63;
    if (size >= 0x7f800000)
        return sign | (ulong)size << 29 | 0x7ff0000000000000ul;
    if (size >= 0x00800000)
        return sign | (((ulong)size << 29) + (896ul << 52));
    if (size == 0)
        return sign;
    ulong up = metal::clz(size) - 8;
    return sign | (((ulong)size << (29 + up)) + ((896ul - up) << 52));
}

// ---- math

#define slri_mulhi metal::mulhi
#define slri_umulhi metal::mulhi
SLRI_FN ulong slri_umul64hi(ulong a, ulong b)
{
    ulong al = (uint)a, ah = a >> 32, bl = (uint)b, bh = b >> 32;
    ulong middle = ah * bl + (al * bl >> 32), other = al * bh + (uint)middle;
    return ah * bh + (middle >> 32) + (other >> 32);
}
SLRI_FN long slri_mul64hi(long a, long b)
{
    return (long)(slri_umul64hi((ulong)a, (ulong)b) - (a < 0 ? (ulong)b : 0) - (b < 0 ? (ulong)a : 0));
}
SLRI_FN float slri_logbf(float a)
{
    return a == 0 ? -slri_uint_as_float(0x7f800000u) : metal::isfinite(a) ? (float)slri_ilogbf(a) : a * a;
}
SLRI_FN float slri_nextafterf(float a, float b)
{
    if (a != a || b != b || a == b)
        return a == b ? b : a + b;
    uint bits = as_uint(a);
    return a == 0 ? slri_copysignf(as_float(1u), b) : as_float((a < b) == (a > 0) ? bits + 1 : bits - 1);
}
// Both scaled, so that their squares neither overflow nor vanish.
SLRI_FN float slri_hypotf(float a, float b)
{
    float x = metal::fmax(metal::fabs(a), metal::fabs(b)), y = metal::fmin(metal::fabs(a), metal::fabs(b));
    if (metal::isinf(a) || metal::isinf(b))
        return as_float(0x7f800000u);
    if (x == 0 || a != a || b != b)
        return x + (a + b);
    int e = slri_ilogbf(x);
    x = metal::ldexp(x, -e);
    y = metal::ldexp(y, -e);
    return metal::ldexp(metal::sqrt(metal::fma(x, x, y * y)), e);
}
// What a sum or a difference loses by its rounding is made good behind.
SLRI_FN float slri_log1pf(float a)
{
    float u = 1.0f + a;
    return u == 1.0f || a != a ? a : metal::isinf(u) ? u : metal::log(u) + (a - (u - 1.0f)) / u;
}
SLRI_FN float slri_expm1f(float a)
{
    if (metal::fabs(a) < 0.35f) { // a series: a + a^2 / 2 + ...
        float r = 1.0f / 40320;
        r = metal::fma(r, a, 1.0f / 5040);
        r = metal::fma(r, a, 1.0f / 720);
        r = metal::fma(r, a, 1.0f / 120);
        r = metal::fma(r, a, 1.0f / 24);
        r = metal::fma(r, a, 1.0f / 6);
        r = metal::fma(r, a, 0.5f);
        return metal::fma(r, a * a, a);
    }
    return metal::exp(a) - 1.0f;
}
SLRI_FN float slri_cbrtf(float a)
{
    if (a == 0 || !metal::isfinite(a))
        return a;
    int e = slri_ilogbf(a), part = (e - (e < 0 ? 2 : 0)) / 3;
    float x = metal::ldexp(metal::fabs(a), -3 * part), y = metal::exp2(metal::log2(x) * (1.0f / 3)); // 1 <= x < 8
    float off = metal::fma(y * y, y, -x);
    return metal::ldexp(slri_copysignf(y - off / (3.0f * y * y), a), part);
}
// erf near 0: x and a polynomial of x^2. The tail: exp(-s), s + e being x^2, by another of (x - 2) / (x + 2).
SLRI_FN float slri_erf_near(float a)
{
    float s = a * a, r = 7.87587e-05f;
    r = metal::fma(r, s, -0.00080168643f);
    r = metal::fma(r, s, 0.0051890872f);
    r = metal::fma(r, s, -0.026854211f);
    r = metal::fma(r, s, 0.11283594f);
    r = metal::fma(r, s, -0.37612626f);
    r = metal::fma(r, s, 0.12837917f);
    return metal::fma(r, a, a);
}
SLRI_FN float slri_erfc_tail(float x, float s, float e)
{
    float t = (x - 2.0f) / (x + 2.0f), r = -0.00024622938f, high = metal::exp(-s);
    r = metal::fma(r, t, -0.0012421786f);
    r = metal::fma(r, t, 0.0011608516f);
    r = metal::fma(r, t, 0.0086424565f);
    r = metal::fma(r, t, -0.0080090258f);
    r = metal::fma(r, t, -0.05420756f);
    r = metal::fma(r, t, 0.16404904f);
    r = metal::fma(r, t, -0.16603108f);
    r = metal::fma(r, t, -0.092763774f);
    r = metal::fma(r, t, 1.2769784f) / metal::fma(2.0f, x, 1.0f);
    return metal::fma(-e, high, high) * r;
}
SLRI_FN float slri_erfc_of(float x, float s, float e, float sign) // x >= 0
{
    float r = x > 14.5f ? 0.0f : slri_erfc_tail(x, s, e);
    return sign < 0 ? 2.0f - r : r;
}
SLRI_FN float slri_erfcf(float a)
{
    float x = metal::fabs(a), s = x * x;
    return a != a ? a : x < 0.46875f ? 1.0f - slri_erf_near(a) : slri_erfc_of(x, s, metal::fma(x, x, -s), a);
}
SLRI_FN float slri_erff(float a)
{
    float x = metal::fabs(a);
    return !(x >= 1.0f) ? slri_erf_near(a) : slri_copysignf(x > 4.0f ? 1.0f : 1.0f - slri_erfcf(x), a);
}
SLRI_FN float slri_normcdff(float a)
{
    float x = metal::fabs(a) * 0.70710678f, y = metal::fabs(a), s = 0.5f * y * y;
    if (a != a || x < 0.46875f)
        return 0.5f * slri_erfcf(-0.70710678f * a);
    return 0.5f * slri_erfc_of(x, s, metal::fma(0.5f * y, y, -s), -a);
}
SLRI_FN float slri_remainderf(float a, float b)
{
    float by = metal::fabs(b);
    if (!metal::isfinite(a) || !(by > 0))
        return as_float(0x7fc00000u);
    float left = by < 1.7e38f ? metal::fmod(metal::fabs(a), by + by) : metal::fabs(a);
    if (by < 2.4e-38f) {
        if (left + left > by) {
            left -= by;
            if (left + left >= by)
                left -= by;
        }
    } else if (left > 0.5f * by) {
        left -= by;
        if (left >= 0.5f * by)
            left -= by;
    }
    return metal::signbit(a) ? -left : left;
}
