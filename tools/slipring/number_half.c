// SPDX-License-Identifier: Apache-2.0
// Half precision (binary16) and bfloat16: numbers of two bytes, which the host's C has no type for.
#include "number_half.h"

#include <math.h>
#include <string.h>

double number_of_half(slr_scalar scalar, uint16_t bits)
{
    const int fraction = bits & 0x3ff, exponent = bits >> 10 & 0x1f;
    if (scalar == SLR_BF16) {
        uint32_t wide = (uint32_t)bits << 16;
        float value;
        memcpy(&value, &wide, sizeof value);
        return value;
    }
    double size = exponent == 0   ? ldexp(fraction, -24)
                  : exponent < 31 ? ldexp(1024 + fraction, exponent - 25)
                  : fraction == 0 ? INFINITY
                                  : NAN;
    return bits & 0x8000 ? -size : size;
}

// Rounded to the nearest, with ties to even, as the arithmetic of the host rounds.
static double round_to_half(slr_scalar scalar, double value)
{
    const int significant = scalar == SLR_BF16 ? 8 : 11, least = scalar == SLR_BF16 ? -133 : -24;
    int exponent;
    (void)frexp(value, &exponent);
    const int step = exponent - significant > least ? exponent - significant : least;
    return ldexp(nearbyint(ldexp(value, -step)), step);
}

// Of a half that has this value exactly.
static uint16_t bits_of(slr_scalar scalar, double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double size = fabs(value);
    int exponent;
    if (scalar == SLR_BF16) {
        float narrow = (float)value;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        return (uint16_t)(isnan(value) ? 0x7fc0 : bits >> 16);
    }
    if (!isfinite(value))
        return (uint16_t)(isnan(value) ? 0x7e00 : sign | 0x7c00);
    if (size < ldexp(1, -14))
        return (uint16_t)(sign | (unsigned)ldexp(size, 24));
    const double fraction = frexp(size, &exponent) * 2 - 1; // size = (1 + fraction) * 2^(exponent - 1)
    return (uint16_t)(sign | (unsigned)(exponent + 14) << 10 | (unsigned)(fraction * 1024));
}

bool number_to_half(slr_scalar scalar, double value, uint16_t *bits)
{
    const double most = scalar == SLR_BF16 ? 0x1.fep+127 : 65504.0;
    const double rounded = isfinite(value) ? round_to_half(scalar, value) : value;
    if (isfinite(value) && fabs(rounded) > most)
        return false;
    *bits = bits_of(scalar, rounded);
    return true;
}
