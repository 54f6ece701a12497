// SPDX-License-Identifier: Apache-2.0
// What buffers begin with: the same on every machine, without a library's random numbers.
#include "kernel_case.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const uint64_t edge_integers[] = {
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    63,
    64,
    100,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    INT32_MAX,
    0x80000000,
    UINT32_MAX,
    INT64_MAX,
    (uint64_t)INT64_MIN,
    UINT64_MAX,
    UINT64_MAX - 1,
    UINT64_MAX - 6,
};

static const double edge_reals[] = {
    0.0,          -0.0,          1.0,          -1.0,     0.5,        1.5,    2.5,     -2.5,
    NAN,          INFINITY,      -INFINITY,    0x1p-149, -0x1p-130,  3.4e38, -3.4e38, 1e-20,
    8388609.0,    127.5,         128.0,        -129.0,   65504.0,    0.1,    1000.25, -0.75,
    2147483647.5, -2147483649.0, 4294967296.0, 1e19,     3.14159265, 100.0,  0x1p-24,
};

static uint64_t draw(uint64_t *seed) // splitmix64
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t bits_of(const cts_type *type, const void *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, type->bytes); // little-endian, as every host of slipring is
    return bits;
}

// A half as the float that it is.
static double half(uint64_t bits)
{
    int exponent = (int)(bits >> 10 & 31);
    double mantissa = (double)(bits & 1023) / 1024;
    double value = exponent == 31  ? (mantissa != 0 ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(mantissa, -14)
                                   : ldexp(1 + mantissa, exponent - 15);
    return bits & 0x8000 ? -value : value;
}

double cts_element(const cts_type *type, const void *at)
{
    uint64_t bits = bits_of(type, at);
    if (type->sort == 'u')
        return (double)bits;
    if (type->sort == 'i') {
        int shift = 64 - 8 * (int)type->bytes;
        return (double)((int64_t)(bits << shift) >> shift);
    }
    if (type->bytes == 2)
        return half(bits);
    float narrow;
    double wide;
    memcpy(&narrow, at, 4);
    memcpy(&wide, &bits, 8);
    return type->bytes == 4 ? (double)narrow : wide;
}

// Halves are set from small integers only.
static uint64_t half_bits(double value)
{
    if (value == 0)
        return 0;
    int exponent;
    double mantissa = frexp(fabs(value), &exponent);
    return (uint64_t)(value < 0) << 15 | (uint64_t)(exponent + 14) << 10 | (uint64_t)((mantissa * 2 - 1) * 1024);
}

void cts_set_element(const cts_type *type, void *at, double value)
{
    uint64_t bits = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
    float narrow = (float)value;
    if (type->sort == 'f' && type->bytes == 2)
        bits = half_bits(value);
    if (type->sort == 'f' && type->bytes >= 4)
        memcpy(at, type->bytes == 4 ? (const void *)&narrow : (const void *)&value, type->bytes);
    else
        memcpy(at, &bits, type->bytes);
}

void cts_print_element(const cts_type *type, const void *at, char *out, size_t bytes)
{
    uint64_t bits = bits_of(type, at);
    if (type->sort == 'f')
        snprintf(out, bytes, "%.9g (0x%" PRIx64 ")", cts_element(type, at), bits);
    else if (type->sort == 'u')
        snprintf(out, bytes, "%" PRIu64, bits);
    else
        snprintf(out, bytes, "%.0f", cts_element(type, at));
}

uint64_t cts_ulp(const cts_type *type, const void *a, const void *b)
{
    double left = cts_element(type, a), right = cts_element(type, b);
    if (left == right)
        return 0;
    if (type->sort != 'f' || isnan(left) || isnan(right) || signbit(left) != signbit(right))
        return UINT64_MAX;
    uint64_t x = bits_of(type, a), y = bits_of(type, b);
    return x > y ? x - y : y - x;
}

bool cts_same_element(const cts_type *type, const void *a, const void *b)
{
    if (memcmp(a, b, type->bytes) == 0)
        return true;
    return type->sort == 'f' && isnan(cts_element(type, a)) && isnan(cts_element(type, b));
}

static double real(const char *fill, uint32_t at, uint64_t *seed)
{
    double part = (double)(int64_t)draw(seed) * 0x1p-63;
    if (strcmp(fill, "edges") == 0)
        return edge_reals[at % COUNT(edge_reals)];
    if (strcmp(fill, "across") == 0)
        return edge_reals[at / COUNT(edge_reals) % COUNT(edge_reals)];
    if (strcmp(fill, "small") == 0)
        return fabs(part);
    if (strcmp(fill, "wide") == 0)
        return ldexp(part, (int)(draw(seed) % 120) - 60);
    return part; // random
}

static uint64_t integer(const char *fill, uint32_t at, uint64_t *seed)
{
    if (strcmp(fill, "edges") == 0)
        return edge_integers[at % COUNT(edge_integers)];
    if (strcmp(fill, "across") == 0)
        return edge_integers[at / COUNT(edge_integers) % COUNT(edge_integers)];
    if (strcmp(fill, "small") == 0)
        return draw(seed) % 100;
    return draw(seed); // random
}

static void fill_one(const cts_argument *argument, uint32_t at, uint64_t *seed, void *to)
{
    const char *fill = argument->fill;
    const cts_type *type = argument->type;
    char *end;
    double number = strtod(fill, &end);
    bool is_half = type->sort == 'f' && type->bytes == 2;
    uint64_t bits = integer(fill, at, seed);
    if (strcmp(fill, "zero") == 0)
        memset(to, 0, type->bytes);
    else if (strcmp(fill, "iota") == 0)
        cts_set_element(type, to, at);
    else if (*end == '\0')
        cts_set_element(type, to, number);
    else if (type->sort == 'f' && !is_half)
        cts_set_element(type, to, real(fill, at, seed));
    else
        memcpy(to, &bits, type->bytes); // of halves: any bits
}

void cts_fill(const cts_argument *argument, uint32_t seed, void *memory)
{
    uint64_t random = seed;
    for (uint32_t i = 0; i < argument->count; i++)
        fill_one(argument, i, &random, (char *)memory + (size_t)i * argument->type->bytes);
}
