// SPDX-License-Identifier: Apache-2.0
// Arithmetic on constants, with the results that ir.h defines: what is folded here must equal what an executor
// computes.
#include "ir/fold.h"
#include "ir/math/slr_math.h"

#include "ir/math/slr_half.h"

#include <math.h>
#include <string.h>

static float as_float(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static double as_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Every NaN that arithmetic makes is the one quiet NaN, as executors make it.
static uint64_t of_float(float value)
{
    if (isnan(value))
        return UINT32_C(0x7fc00000);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t of_double(double value)
{
    if (isnan(value))
        return UINT64_C(0x7ff8000000000000);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t slri_value_of_double(enum slri_kind kind, double value)
{
    return kind == SLRI_F32 ? of_float((float)value) : of_double(value);
}

static double to_double(enum slri_kind kind, uint64_t bits)
{
    return kind == SLRI_F32 ? (double)as_float(bits) : as_double(bits);
}

uint64_t slri_value_of_int(enum slri_kind kind, int64_t value)
{
    return slri_kind_bytes(slri_kind_in_register(kind)) == 4 ? (uint32_t)value : (uint64_t)value;
}

int64_t slri_value_to_int(enum slri_kind kind, uint64_t bits)
{
    if (kind == SLRI_U32)
        return (int64_t)(uint32_t)bits;
    return slri_kind_bytes(slri_kind_in_register(kind)) == 4 ? (int32_t)(uint32_t)bits : (int64_t)bits;
}

bool slri_value_is_zero(enum slri_kind kind, uint64_t bits)
{
    return slri_kind_is_float(kind) ? to_double(kind, bits) == 0 : bits == 0;
}

// ---- integers ------------------------------------------------------------------------------------------------------

static bool divide(enum slri_op op, enum slri_kind kind, uint64_t a, uint64_t b, uint64_t *out)
{
    if (b == 0)
        return false;
    if (!slri_kind_is_signed(kind)) {
        *out = op == SLRI_OP_DIV ? a / b : a % b;
        return true;
    }
    int64_t left = slri_value_to_int(kind, a), right = slri_value_to_int(kind, b);
    if (right == -1) // INT_MIN / -1 wraps
        *out = op == SLRI_OP_DIV ? 0 - (uint64_t)left : 0;
    else
        *out = (uint64_t)(op == SLRI_OP_DIV ? left / right : left % right);
    return true;
}

static uint64_t shift(enum slri_op op, enum slri_kind kind, uint64_t a, uint64_t b)
{
    unsigned count = (unsigned)(b % (slri_kind_bytes(kind) * 8));
    if (op == SLRI_OP_SHL)
        return a << count;
    if (!slri_kind_is_signed(kind))
        return a >> count;
    int64_t value = slri_value_to_int(kind, a);
    return value < 0 ? ~(~(uint64_t)value >> count) : (uint64_t)value >> count;
}

static uint64_t compare(enum slri_op op, bool less, bool equal, bool greater)
{
    switch (op) {
    case SLRI_OP_EQ:
        return equal;
    case SLRI_OP_NE:
        return !equal; // true of NaN
    case SLRI_OP_LT:
        return less;
    case SLRI_OP_LE:
        return less || equal;
    case SLRI_OP_GT:
        return greater;
    default:
        return greater || equal;
    }
}

static bool fold_integers(enum slri_op op, enum slri_kind kind, uint64_t a, uint64_t b, uint64_t *out)
{
    int64_t left = slri_value_to_int(kind, a), right = slri_value_to_int(kind, b);
    bool is_signed = slri_kind_is_signed(kind);
    uint64_t result = 0;
    switch (op) {
    case SLRI_OP_ADD:
        result = a + b;
        break;
    case SLRI_OP_SUB:
        result = a - b;
        break;
    case SLRI_OP_MUL:
        result = a * b;
        break;
    case SLRI_OP_DIV:
    case SLRI_OP_REM:
        if (!divide(op, kind, a, b, &result))
            return false;
        break;
    case SLRI_OP_SHL:
    case SLRI_OP_SHR:
        result = shift(op, kind, a, b);
        break;
    case SLRI_OP_AND:
        result = a & b;
        break;
    case SLRI_OP_OR:
        result = a | b;
        break;
    case SLRI_OP_XOR:
        result = a ^ b;
        break;
    default:
        *out = compare(op, is_signed ? left < right : a < b, a == b, is_signed ? left > right : a > b);
        return true;
    }
    *out = slri_value_of_int(kind, (int64_t)result);
    return true;
}

// ---- floats --------------------------------------------------------------------------------------------------------

// One rounding, to the operation's own kind. Only F32 and F64 come here, and only ADD to DIV and comparisons.
static uint64_t fold_floats(enum slri_op op, enum slri_kind kind, uint64_t a, uint64_t b)
{
    bool narrow = kind == SLRI_F32;
    float x = as_float(a), y = as_float(b);
    double left = to_double(kind, a), right = to_double(kind, b);
    switch (op) {
    case SLRI_OP_ADD:
        return narrow ? of_float(x + y) : of_double(left + right);
    case SLRI_OP_SUB:
        return narrow ? of_float(x - y) : of_double(left - right);
    case SLRI_OP_MUL:
        return narrow ? of_float(x * y) : of_double(left * right);
    case SLRI_OP_DIV:
        return narrow ? of_float(x / y) : of_double(left / right);
    default:
        return compare(op, left<right, left == right, left> right);
    }
}

bool slri_fold_binary(enum slri_op op, enum slri_kind kind, uint64_t a, uint64_t b, uint64_t *out)
{
    if (!slri_kind_is_float(kind))
        return fold_integers(op, kind, a, b, out);
    *out = fold_floats(op, slri_kind_in_register(kind), a, b);
    if (slri_kind_is_half(kind) && op <= SLRI_OP_DIV)
        *out = slri_fold_convert(SLRI_F32, kind, *out);
    return true;
}

uint64_t slri_fold_unary(enum slri_op op, enum slri_kind kind, uint64_t a)
{
    kind = slri_kind_in_register(kind);
    if (slri_kind_is_float(kind)) // a sign flip, also of zero and of NaN
        return a ^ (kind == SLRI_F32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63);
    return slri_value_of_int(kind, (int64_t)(op == SLRI_OP_NEG ? 0 - a : ~a));
}

// ---- conversions ---------------------------------------------------------------------------------------------------

static uint64_t narrow_integer(enum slri_kind to, uint64_t value)
{
    switch (to) {
    case SLRI_BOOL:
        return value != 0;
    case SLRI_I8:
        return (uint32_t)(int8_t)(uint8_t)value;
    case SLRI_U8:
        return (uint8_t)value;
    case SLRI_I16:
        return (uint32_t)(int16_t)(uint16_t)value;
    case SLRI_U16:
        return (uint16_t)value;
    default:
        return slri_value_of_int(to, (int64_t)value);
    }
}

// Truncates and saturates to the range of `to`; NaN gives 0.
static uint64_t saturate(enum slri_kind to, double value)
{
    bool is_signed = slri_kind_is_signed(to);
    int width = (int)slri_kind_bytes(to) * 8 - (is_signed ? 1 : 0);
    double above = ldexp(1.0, width), below = is_signed ? -above : 0.0;
    uint64_t greatest = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    if (isnan(value))
        return 0;
    if (value >= above)
        return greatest;
    if (value <= below)
        return is_signed ? slri_value_of_int(to, (int64_t)~greatest) : 0;
    return is_signed ? slri_value_of_int(to, (int64_t)value) : slri_value_of_int(to, (int64_t)(uint64_t)value);
}

static uint64_t float_of_integer(enum slri_kind from, enum slri_kind to, uint64_t bits)
{
    bool is_signed = slri_kind_is_signed(from);
    int64_t value = slri_value_to_int(from, bits);
    if (to == SLRI_F32) // straight to float: through double it would round twice
        return of_float(is_signed ? (float)value : (float)bits);
    return of_double(is_signed ? (double)value : (double)bits);
}

static float round_to_half(enum slri_kind from, enum slri_kind to, uint64_t bits)
{
    double value = slri_kind_is_float(from)    ? to_double(from, bits)
                   : slri_kind_is_signed(from) ? slri_i64_to_odd(slri_value_to_int(from, bits))
                                               : slri_u64_to_odd(bits);
    return to == SLRI_F16 ? slri_f64_to_f16(value) : slri_f64_to_bf16(value);
}

uint64_t slri_fold_convert(enum slri_kind from, enum slri_kind to, uint64_t bits)
{
    from = slri_kind_in_register(from);
    if (slri_kind_is_half(to))
        return of_float(round_to_half(from, to, bits));
    if (to == SLRI_BOOL)
        return !slri_value_is_zero(from, bits);
    if (slri_kind_is_float(from) && slri_kind_is_float(to))
        return slri_value_of_double(to, to_double(from, bits));
    if (slri_kind_is_float(from))
        return saturate(to, to_double(from, bits));
    if (slri_kind_is_float(to))
        return float_of_integer(from, to, bits);
    return narrow_integer(to, (uint64_t)slri_value_to_int(from, bits));
}
