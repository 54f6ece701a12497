// SPDX-License-Identifier: Apache-2.0
// Arithmetic of doubles with integers of 64 bits, for devices that have no doubles: each function takes and gives their
// bits, rounds once to nearest even, keeps subnormals, and makes one NaN. lang/library.c reads it as a program.
//
// A magnitude that is to be rounded has its highest bit at 62, above 52 of the result and 10 below; the last of these
// also stands for all that was lost below it.
//
// Both sides of each `?:` are short and make no call: lang/library.c leaves no branch of such.

typedef unsigned long long slri_soft;

#define SLRI_SOFT_SIGN 0x8000000000000000ull
#define SLRI_SOFT_INF 0x7ff0000000000000ull
#define SLRI_SOFT_NAN 0x7ff8000000000000ull
#define SLRI_SOFT_ONE 0x0010000000000000ull // the bit above a fraction

static slri_soft slri_soft_above(slri_soft m, int by) // shifted down, with a bit for what is lost; 0 <= by
{
    slri_soft lost = by < 64 ? m & ((1ull << (by & 63)) - 1) : m;
    return (by < 64 ? m >> (by & 63) : 0ull) | (lost != 0);
}

static slri_soft slri_soft_round(slri_soft sign, int exponent, slri_soft m)
{
    int e = exponent < 1 ? 0 : exponent - 1;
    m = slri_soft_above(m, exponent < 1 ? 1 - exponent : 0);
    slri_soft low = m & 0x3ff, r = ((slri_soft)e << 52) + (m >> 10);
    r += low > 512 || (low == 512 && (r & 1));
    return sign | (exponent >= 2047 || r > SLRI_SOFT_INF ? SLRI_SOFT_INF : r);
}

static int slri_soft_exponent(slri_soft magnitude)
{
    int e = (int)(magnitude >> 52);
    return e ? e : 1;
}

static slri_soft slri_soft_fraction(slri_soft magnitude)
{
    return (magnitude & (SLRI_SOFT_ONE - 1)) | (magnitude >= SLRI_SOFT_ONE ? SLRI_SOFT_ONE : 0ull);
}

static slri_soft slri_soft_neg(slri_soft a)
{
    return a ^ SLRI_SOFT_SIGN;
}

static slri_soft slri_soft_add(slri_soft a, slri_soft b)
{
    slri_soft ma = a & ~SLRI_SOFT_SIGN, mb = b & ~SLRI_SOFT_SIGN, differs = (a ^ b) & SLRI_SOFT_SIGN;
    slri_soft large = ma < mb ? mb : ma, small = ma < mb ? ma : mb, sign = (ma < mb ? b : a) & SLRI_SOFT_SIGN;
    int e = slri_soft_exponent(large);
    slri_soft m = slri_soft_fraction(large) << 10;
    slri_soft by = slri_soft_above(slri_soft_fraction(small) << 10, e - slri_soft_exponent(small));
    m = differs ? m - by : m + by;
    int zeros = __clzll((long long)(m | 1));
    slri_soft moved = zeros ? m << ((zeros - 1) & 63) : (m >> 1) | (m & 1);
    slri_soft r = slri_soft_round(sign, e + 1 - zeros, moved);
    r = m ? r : a & b & SLRI_SOFT_SIGN;
    r = large == SLRI_SOFT_INF ? sign | SLRI_SOFT_INF : r;
    return large > SLRI_SOFT_INF || (small == SLRI_SOFT_INF && differs) ? SLRI_SOFT_NAN : r;
}

static slri_soft slri_soft_sub(slri_soft a, slri_soft b)
{
    return slri_soft_add(a, b ^ SLRI_SOFT_SIGN);
}

static int slri_soft_zeros(slri_soft fraction)
{
    return __clzll((long long)(fraction | 1)) - 11;
}

static slri_soft slri_soft_mul(slri_soft a, slri_soft b)
{
    slri_soft ma = a & ~SLRI_SOFT_SIGN, mb = b & ~SLRI_SOFT_SIGN, sign = (a ^ b) & SLRI_SOFT_SIGN;
    slri_soft fa = slri_soft_fraction(ma), fb = slri_soft_fraction(mb);
    int za = slri_soft_zeros(fa), zb = slri_soft_zeros(fb);
    int e = slri_soft_exponent(ma) - za + slri_soft_exponent(mb) - zb - 1023;
    fa = fa << (za + 10);
    fb = fb << (zb + 11);
    slri_soft m = __umul64hi(fa, fb) | (fa * fb != 0);
    int is_high = (int)(m >> 62);
    slri_soft r = slri_soft_round(sign, e + is_high, is_high ? m : m << 1);
    r = ma == 0 || mb == 0 ? sign : r;
    slri_soft most = ma < mb ? mb : ma, least = ma < mb ? ma : mb;
    r = most == SLRI_SOFT_INF ? sign | SLRI_SOFT_INF : r;
    return most > SLRI_SOFT_INF || (most == SLRI_SOFT_INF && least == 0) ? SLRI_SOFT_NAN : r;
}

static slri_soft slri_soft_div(slri_soft a, slri_soft b)
{
    slri_soft ma = a & ~SLRI_SOFT_SIGN, mb = b & ~SLRI_SOFT_SIGN, sign = (a ^ b) & SLRI_SOFT_SIGN;
    slri_soft fa = slri_soft_fraction(ma), fb = slri_soft_fraction(mb), q = 0;
    int za = slri_soft_zeros(fa), zb = slri_soft_zeros(fb);
    int e = slri_soft_exponent(ma) - za - slri_soft_exponent(mb) + zb + 1023;
    fa = fa << za;
    fb = fb << zb;
    int is_less = fa < fb;
    fa = fa << is_less;
    for (int i = 0; i < 56; i++) {
        int fits = fa >= fb;
        fa = (fits ? fa - fb : fa) << 1;
        q = q << 1 | (slri_soft)fits;
    }
    slri_soft r = slri_soft_round(sign, e - is_less, q << 7 | (fa != 0));
    r = ma == 0 || mb == SLRI_SOFT_INF ? sign : r;
    r = mb == 0 || ma == SLRI_SOFT_INF ? sign | SLRI_SOFT_INF : r;
    int none = ma > SLRI_SOFT_INF || mb > SLRI_SOFT_INF || (ma == mb && (ma == 0 || ma == SLRI_SOFT_INF));
    return none ? SLRI_SOFT_NAN : r;
}

static slri_soft slri_soft_sqrt(slri_soft a)
{
    slri_soft f = slri_soft_fraction(a & ~SLRI_SOFT_SIGN), s = 0, q = 0;
    int zeros = slri_soft_zeros(f), e = slri_soft_exponent(a & ~SLRI_SOFT_SIGN) - zeros - 1023, odd = e & 1;
    f = f << (zeros + odd + 1);
    for (slri_soft bit = 1ull << 53; bit != 0; bit = bit >> 1) {
        slri_soft t = s + bit;
        int fits = t <= f;
        s = fits ? t + bit : s;
        q = fits ? q + bit : q;
        f = (fits ? f - t : f) << 1;
    }
    slri_soft r = slri_soft_round(0, ((e - odd) >> 1) + 1023, q << 9 | (f != 0));
    r = (a & ~SLRI_SOFT_SIGN) == 0 || a == SLRI_SOFT_INF ? a : r;
    return a > SLRI_SOFT_INF && a != SLRI_SOFT_SIGN ? SLRI_SOFT_NAN : r;
}

// In the order of doubles; NaN is in none.
static long long slri_soft_key(slri_soft a)
{
    long long magnitude = (long long)(a & ~SLRI_SOFT_SIGN);
    return a >> 63 ? -magnitude : magnitude;
}

static int slri_soft_is_number(slri_soft a)
{
    return (a & ~SLRI_SOFT_SIGN) <= SLRI_SOFT_INF;
}
static int slri_soft_ordered(slri_soft a, slri_soft b)
{
    return slri_soft_is_number(a) & slri_soft_is_number(b);
}
static int slri_soft_eq(slri_soft a, slri_soft b)
{
    return slri_soft_ordered(a, b) & (slri_soft_key(a) == slri_soft_key(b));
}
static int slri_soft_ne(slri_soft a, slri_soft b)
{
    return !slri_soft_eq(a, b);
}
static int slri_soft_lt(slri_soft a, slri_soft b)
{
    return slri_soft_ordered(a, b) & (slri_soft_key(a) < slri_soft_key(b));
}
static int slri_soft_le(slri_soft a, slri_soft b)
{
    return slri_soft_ordered(a, b) & (slri_soft_key(a) <= slri_soft_key(b));
}
static int slri_soft_gt(slri_soft a, slri_soft b)
{
    return slri_soft_lt(b, a);
}
static int slri_soft_ge(slri_soft a, slri_soft b)
{
    return slri_soft_le(b, a);
}

// ---- to doubles

static slri_soft slri_soft_of(slri_soft sign, slri_soft m)
{
    int zeros = __clzll((long long)(m | 1));
    slri_soft moved = m << zeros, r = slri_soft_round(sign, 1023 + 63 - zeros, moved >> 1 | (moved & 1));
    return m ? r : sign;
}

static slri_soft slri_soft_from_u64(slri_soft a)
{
    return slri_soft_of(0, a);
}
static slri_soft slri_soft_from_i64(long long a)
{
    slri_soft bits = (slri_soft)a;
    return slri_soft_of(bits & SLRI_SOFT_SIGN, a < 0 ? 0 - bits : bits);
}
static slri_soft slri_soft_from_u32(unsigned a)
{
    return slri_soft_of(0, a);
}
static slri_soft slri_soft_from_i32(int a)
{
    return slri_soft_from_i64(a);
}

static slri_soft slri_soft_from_f32(float a)
{
    unsigned bits = __float_as_uint(a), magnitude = bits & 0x7fffffff;
    slri_soft sign = (slri_soft)(bits >> 31) << 63;
    slri_soft normal = ((slri_soft)magnitude << 29) + ((slri_soft)(1023 - 127) << 52);
    slri_soft small = slri_soft_of(0, magnitude) - ((slri_soft)149 << 52);
    slri_soft r = magnitude < 0x800000 ? small : normal;
    r = magnitude == 0 ? 0ull : magnitude == 0x7f800000 ? SLRI_SOFT_INF : r;
    return magnitude > 0x7f800000 ? SLRI_SOFT_NAN : sign | r;
}

// ---- from doubles

static long long slri_soft_within(slri_soft a, long long least, long long most) // truncated; NaN gives 0
{
    slri_soft magnitude = a & ~SLRI_SOFT_SIGN, f = slri_soft_fraction(magnitude);
    int by = slri_soft_exponent(magnitude) - 1075;
    slri_soft whole = by < 0 ? (by > -64 ? f >> (-by & 63) : 0ull) : f << (by & 63);
    long long r = a >> 63 ? (long long)(0 - whole) : (long long)whole;
    r = r < least ? least : r > most ? most : r;
    r = by >= 11 ? (a >> 63 ? least : most) : r;
    return magnitude > SLRI_SOFT_INF ? 0ll : r;
}

static long long slri_soft_to_i64(slri_soft a)
{
    return slri_soft_within(a, (long long)SLRI_SOFT_SIGN, 0x7fffffffffffffffll);
}
static int slri_soft_to_i32(slri_soft a)
{
    return (int)slri_soft_within(a, -0x80000000ll, 0x7fffffffll);
}
static unsigned slri_soft_to_u32(slri_soft a)
{
    return (unsigned)slri_soft_within(a, 0ll, 0xffffffffll);
}
static int slri_soft_to_i16(slri_soft a)
{
    return (int)slri_soft_within(a, -0x8000ll, 0x7fffll);
}
static int slri_soft_to_u16(slri_soft a)
{
    return (int)slri_soft_within(a, 0ll, 0xffffll);
}
static int slri_soft_to_i8(slri_soft a)
{
    return (int)slri_soft_within(a, -0x80ll, 0x7fll);
}
static int slri_soft_to_u8(slri_soft a)
{
    return (int)slri_soft_within(a, 0ll, 0xffll);
}
static int slri_soft_to_bool(slri_soft a)
{
    return (a & ~SLRI_SOFT_SIGN) != 0;
}

static slri_soft slri_soft_to_u64(slri_soft a)
{
    slri_soft f = slri_soft_fraction(a & ~SLRI_SOFT_SIGN);
    int by = slri_soft_exponent(a & ~SLRI_SOFT_SIGN) - 1075;
    slri_soft r = by < 0 ? (by > -64 ? f >> (-by & 63) : 0ull) : f << (by & 63);
    r = by >= 12 ? ~0ull : r;
    return a >> 63 || a > SLRI_SOFT_INF ? 0ull : r;
}

static float slri_soft_narrow(slri_soft a, int to_odd)
{
    slri_soft magnitude = a & ~SLRI_SOFT_SIGN;
    unsigned sign = (unsigned)(a >> 32) & 0x80000000u;
    int e = slri_soft_exponent(magnitude) - 1023 + 127;
    slri_soft m = slri_soft_above(slri_soft_fraction(magnitude), e < 1 ? 1 - e : 0);
    unsigned low = (unsigned)m & 0x1fffffff, r = ((unsigned)(e < 1 ? 0 : e - 1) << 23) + (unsigned)(m >> 29);
    unsigned up = low > 0x10000000 || (low == 0x10000000 && (r & 1));
    r = to_odd ? r | (low != 0) : r + up;
    r = e > 254 || r > 0x7f800000 ? (to_odd ? 0x7f7fffffu : 0x7f800000u) : r;
    r = magnitude == SLRI_SOFT_INF ? 0x7f800000u : r;
    return __uint_as_float(magnitude > SLRI_SOFT_INF ? 0x7fc00000u : sign | r);
}

static float slri_soft_to_f32(slri_soft a)
{
    return slri_soft_narrow(a, 0);
}
static float slri_soft_to_odd(slri_soft a)
{
    return slri_soft_narrow(a, 1);
} // for who rounds once more, to less
