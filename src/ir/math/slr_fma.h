// SPDX-License-Identifier: Apache-2.0
// a * b + c, rounded once, in integers: magnitudes of 128 bits, whose last bit stands for all that is cut off. For
// where nothing else has it: slipring's own front end (behind slr_math_self.h), and Windows, whose C library's fma() is
// wrong in the last bit for rare arguments (behind slr_math.h).
#ifndef SLRI_FMA_H
#define SLRI_FMA_H
#if defined(SLRI_MATH_SELF) || defined(_WIN32)
// clang-format off

#ifdef SLRI_MATH_SELF
#define slri_wide_product slri_umul64hi
#else
SLRI_FN slri_u64 slri_wide_product(slri_u64 a, slri_u64 b) { return (slri_u64)((slri_u128)a * b >> 64); }
#endif

struct slri_wide { // (high, low) * 2^exponent
    slri_u64 high, low;
    slri_i64 exponent;
};

// Moved down by n places; what falls off leaves a bit.
SLRI_FN struct slri_wide slri_wide_down(struct slri_wide x, slri_i64 n)
{
    struct slri_wide r = {0, (x.high | x.low) != 0, x.exponent + n};
    if (n == 0)
        return x;
    if (n < 64) {
        r.low = x.low >> n | x.high << (64 - n) | (slri_u64)(x.low << (64 - n) != 0);
        r.high = x.high >> n;
    } else if (n == 64) {
        r.low = x.high | (slri_u64)(x.low != 0);
    } else if (n < 128) {
        r.low = x.high >> (n - 64) | (slri_u64)((x.high << (128 - n) | x.low) != 0);
    }
    return r;
}

// Moved up until bit 125 is the highest: two are left for a sum. It is not 0.
SLRI_FN struct slri_wide slri_wide_up(struct slri_wide x)
{
    slri_i64 n = (x.high ? __builtin_clzll(x.high) : 64 + __builtin_clzll(x.low)) - 2;
    if (n < 0)
        return slri_wide_down(x, -n);
    struct slri_wide r = {n < 64 ? x.high << n | x.low >> 1 >> (63 - n) : x.low << (n - 64), n < 64 ? x.low << n : 0,
                          x.exponent - n};
    return r;
}

SLRI_FN struct slri_wide slri_wide_of(double x)
{
    slri_u64 bits = slri_bits(x), exponent = bits >> 52 & 0x7ff;
    slri_u64 mantissa = (bits & 0xfffffffffffffu) | (slri_u64)(exponent != 0) << 52;
    struct slri_wide r = {0, mantissa, (slri_i64)(exponent ? exponent : 1) - 1075};
    return r;
}

SLRI_FN double slri_exact_fma(double a, double b, double c)
{
    slri_u64 infinite = 0x7ff0000000000000u, magnitude = 0x7fffffffffffffffu;
    if ((slri_bits(a) & infinite) == infinite || (slri_bits(b) & infinite) == infinite)
        return a * b + c;
    if ((slri_bits(c) & infinite) == infinite)
        return c;
    if (!(slri_bits(a) & magnitude) || !(slri_bits(b) & magnitude))
        return a * b + c;
    struct slri_wide x = slri_wide_of(a), y = slri_wide_of(b), z = slri_wide_of(c);
    slri_u64 sign = (slri_bits(a) ^ slri_bits(b)) >> 63, other = slri_bits(c) >> 63;
    struct slri_wide p = {slri_wide_product(x.low, y.low), x.low * y.low, x.exponent + y.exponent};
    p = slri_wide_up(p);
    if (z.low) {
        z = slri_wide_up(z);
        if (z.exponent > p.exponent || (z.exponent == p.exponent && z.high > p.high)) {
            struct slri_wide t = p;
            slri_u64 u = sign;
            p = z, z = t;
            sign = other, other = u;
        }
        z = slri_wide_down(z, p.exponent - z.exponent);
        if (sign == other) {
            p.low += z.low;
            p.high += z.high + (p.low < z.low);
        } else {
            slri_u64 borrow = p.low < z.low;
            p.low -= z.low;
            p.high -= z.high + borrow;
            if (p.high >> 63) { // equal above
                p.low = 0 - p.low;
                p.high = ~p.high + (p.low == 0);
                sign = other;
            }
        }
        if (!(p.high | p.low))
            return 0.0;
        p = slri_wide_up(p);
    }
    slri_i64 exponent = p.exponent + 125, cut = exponent < -1022 ? 73 - 1022 - exponent : 73;
    p = slri_wide_down(p, cut - 2); // two bits stay for the rounding
    slri_u64 kept = p.low >> 2, rest = p.low & 3;
    kept += rest > 2 || (rest == 2 && (kept & 1));
    slri_u64 scale = exponent < -1022 ? 0 : (slri_u64)(exponent + 1022) << 52;
    return exponent > 1023 ? slri_from_bits(infinite | sign << 63) : slri_from_bits((kept + scale) | sign << 63);
}

#endif
#endif
