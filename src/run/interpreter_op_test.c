// SPDX-License-Identifier: Apache-2.0
// Each op in each kind on edge values, against arithmetic written another way: integers in 64 bits by their definition,
// conversions in long double.
#include "run/interpreter_test.h"

#include "ir/math/functions.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const enum slri_kind integer_kinds[] = {SLRI_I32, SLRI_U32, SLRI_I64, SLRI_U64};

static const uint64_t integers[] = {
    0,
    1,
    2,
    3,
    5,
    7,
    31,
    32,
    33,
    63,
    64,
    100,
    127,
    128,
    255,
    256,
    32767,
    32768,
    65535,
    65536,
    0x7fffffff,
    0x80000000,
    0x80000001,
    0xfffffffe,
    0xffffffff,
    0x100000000,
    0x123456789abcdef0,
    0x7fffffffffffffff,
    0x8000000000000000,
    0x8000000000000001,
    0xfffffffffffffffe,
    0xffffffffffffffff,
};

static const double reals[] = {
    0.0,
    -0.0,
    0.5,
    -0.5,
    0.99999999,
    1.0,
    -1.0,
    1.5,
    2.5,
    3.1415926535,
    -127.5,
    -128.0,
    -129.0,
    127.0,
    128.0,
    255.9,
    256.0,
    32767.5,
    -32769.0,
    65535.0,
    65536.0,
    2147483647.0,
    2147483648.0,
    -2147483648.0,
    -2147483649.0,
    4294967295.0,
    4294967296.0,
    9.2233720368547748e18,
    9.2233720368547758e18,
    -9.2233720368547758e18,
    -1e19,
    1.8446744073709550e19,
    1.8446744073709552e19,
    1e30,
    -1e30,
    1e-40,
    1e-310,
    3.4028234663852886e38,
    1e300,
    INFINITY,
    -INFINITY,
    NAN,
};

// A handler that does state[0] = message[0] op message[8].
static struct slri_interp_thread *binary(struct kit *kit, enum slri_op op, enum slri_kind kind,
                                         struct slri_interp **interp)
{
    struct slri_interp_thread *thread;
    kit_open(kit);
    kit_handler(kit);
    slri_reg a = kit_load(kit, kind, MESSAGE, 0), b = kit_load(kit, kind, MESSAGE, 8);
    bool unary = op == SLRI_OP_NEG || op == SLRI_OP_NOT || op == SLRI_OP_MOVE;
    slri_reg r = kit_op(kit, op, kind, a, unary ? SLRI_NO_REG : b);
    kit_store(kit, kit->function->reg_kind[r], STATE, 0, r);
    kit_prepare(kit, interp, &thread);
    return thread;
}

static void close_all(struct kit *kit, struct slri_interp_thread *thread, struct slri_interp *interp)
{
    slri_interp_thread_destroy(thread);
    slri_interp_destroy(interp);
    kit_close(kit);
}

static uint32_t call2(struct slri_interp_thread *thread, union slri_scalar a, union slri_scalar b, union slri_scalar *r)
{
    union slri_scalar message[MESSAGE_BYTES / 8] = {a, b}, state[STATE_BYTES / 8] = {{0}};
    struct slri_call call = {.state = state, .message = message, .fuel = 1};
    uint32_t fault = slri_interp_handler(thread, &call);
    *r = state[0];
    return fault;
}

// ---- integers -------------------------------------------------------------------------------------------------------

static uint64_t mask_of(enum slri_kind kind)
{
    return slri_kind_bytes(kind) == 8 ? UINT64_MAX : UINT32_MAX;
}

static uint64_t magnitude(uint64_t value, uint64_t sign, uint64_t mask)
{
    return value & sign ? (0 - value) & mask : value;
}

static uint64_t divide(enum slri_kind kind, uint64_t a, uint64_t b, bool remainder)
{
    uint64_t mask = mask_of(kind), sign = slri_kind_is_signed(kind) ? mask / 2 + 1 : 0;
    uint64_t top = magnitude(a, sign, mask), bottom = magnitude(b, sign, mask);
    uint64_t size = remainder ? top % bottom : top / bottom;
    bool negative = remainder ? (a & sign) != 0 : ((a ^ b) & sign) != 0;
    return (negative ? 0 - size : size) & mask;
}

// Orders the kind's values as unsigned ones.
static uint64_t rank(enum slri_kind kind, uint64_t value)
{
    return slri_kind_is_signed(kind) ? value ^ (mask_of(kind) / 2 + 1) : value;
}

static uint64_t expected_integer(enum slri_op op, enum slri_kind kind, uint64_t a, uint64_t b)
{
    uint64_t mask = mask_of(kind), shift = b % (8 * slri_kind_bytes(kind));
    bool fill = slri_kind_is_signed(kind) && a > mask / 2;
    switch (op) {
    case SLRI_OP_MOVE:
        return a;
    case SLRI_OP_NEG:
        return (0 - a) & mask;
    case SLRI_OP_NOT:
        return a ^ mask;
    case SLRI_OP_ADD:
        return (a + b) & mask;
    case SLRI_OP_SUB:
        return (a - b) & mask;
    case SLRI_OP_MUL:
        return (a * b) & mask;
    case SLRI_OP_DIV:
        return divide(kind, a, b, false);
    case SLRI_OP_REM:
        return divide(kind, a, b, true);
    case SLRI_OP_SHL:
        return (a << shift) & mask;
    case SLRI_OP_SHR:
        return fill ? (a >> shift | ~(mask >> shift)) & mask : a >> shift;
    case SLRI_OP_AND:
        return a & b;
    case SLRI_OP_OR:
        return a | b;
    case SLRI_OP_XOR:
        return a ^ b;
    case SLRI_OP_EQ:
        return a == b;
    case SLRI_OP_NE:
        return a != b;
    case SLRI_OP_LT:
        return rank(kind, a) < rank(kind, b);
    case SLRI_OP_LE:
        return rank(kind, a) <= rank(kind, b);
    case SLRI_OP_GT:
        return rank(kind, a) > rank(kind, b);
    default:
        return rank(kind, a) >= rank(kind, b);
    }
}

static void check_integer_op(enum slri_op op, enum slri_kind kind)
{
    struct kit kit;
    struct slri_interp *interp;
    struct slri_interp_thread *thread = binary(&kit, op, kind, &interp);
    for (size_t i = 0; i < COUNT(integers); i++) {
        for (size_t j = 0; j < COUNT(integers); j++) {
            uint64_t a = integers[i] & mask_of(kind), b = integers[j] & mask_of(kind);
            union slri_scalar r;
            uint32_t fault = call2(thread, (union slri_scalar){.u64 = a}, (union slri_scalar){.u64 = b}, &r);
            bool divides_by_zero = (op == SLRI_OP_DIV || op == SLRI_OP_REM) && b == 0;
            assert_int_equal(fault, divides_by_zero ? SLRI_FAULT_DIVIDE : SLRI_FAULT_NONE);
            if (!divides_by_zero)
                assert_int_equal(r.u64, expected_integer(op, kind, a, b));
        }
    }
    close_all(&kit, thread, interp);
}

static void integers_wrap_shift_divide_and_compare_as_defined(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(integer_kinds); k++)
        for (int op = SLRI_OP_MOVE; op <= SLRI_OP_GE; op++)
            check_integer_op((enum slri_op)op, integer_kinds[k]);
}

// ---- floats ---------------------------------------------------------------------------------------------------------

static void assert_same_f32(float got, float wanted)
{
    if (isnan(wanted))
        assert_true(isnan(got));
    else
        assert_memory_equal(&got, &wanted, sizeof got);
}

static void assert_same_f64(double got, double wanted)
{
    if (isnan(wanted))
        assert_true(isnan(got));
    else
        assert_memory_equal(&got, &wanted, sizeof got);
}

#define EXPECTED_FLOAT(type)                                                                                           \
    static type expected_##type(enum slri_op op, volatile type a, volatile type b)                                     \
    {                                                                                                                  \
        switch (op) {                                                                                                  \
        case SLRI_OP_MOVE:                                                                                             \
            return a;                                                                                                  \
        case SLRI_OP_NEG:                                                                                              \
            return copysign(1.0, a) < 0 ? (type)fabs(a) : (type)-fabs(a);                                              \
        case SLRI_OP_ADD:                                                                                              \
            return a + b;                                                                                              \
        case SLRI_OP_SUB:                                                                                              \
            return a - b;                                                                                              \
        case SLRI_OP_MUL:                                                                                              \
            return a * b;                                                                                              \
        case SLRI_OP_DIV:                                                                                              \
            return a / b;                                                                                              \
        case SLRI_OP_EQ:                                                                                               \
            return a == b;                                                                                             \
        case SLRI_OP_NE:                                                                                               \
            return a != b;                                                                                             \
        case SLRI_OP_LT:                                                                                               \
            return a < b;                                                                                              \
        case SLRI_OP_LE:                                                                                               \
            return a <= b;                                                                                             \
        case SLRI_OP_GT:                                                                                               \
            return a > b;                                                                                              \
        default:                                                                                                       \
            return a >= b;                                                                                             \
        }                                                                                                              \
    }
EXPECTED_FLOAT(float)
EXPECTED_FLOAT(double)

static void check_float_op(enum slri_op op)
{
    struct kit single_kit, double_kit;
    struct slri_interp *interp[2];
    struct slri_interp_thread *single = binary(&single_kit, op, SLRI_F32, &interp[0]);
    struct slri_interp_thread *twice = binary(&double_kit, op, SLRI_F64, &interp[1]);
    bool compares = op >= SLRI_OP_EQ;
    for (size_t i = 0; i < COUNT(reals); i++) {
        for (size_t j = 0; j < COUNT(reals); j++) {
            double a = reals[i], b = reals[j];
            float fa = (float)a, fb = (float)b;
            union slri_scalar r;
            assert_int_equal(call2(single, (union slri_scalar){.f32 = fa}, (union slri_scalar){.f32 = fb}, &r), 0);
            assert_same_f32(compares ? (float)r.i32 : r.f32, expected_float(op, fa, fb));
            assert_int_equal(call2(twice, (union slri_scalar){.f64 = a}, (union slri_scalar){.f64 = b}, &r), 0);
            assert_same_f64(compares ? (double)r.i32 : r.f64, expected_double(op, a, b));
        }
    }
    close_all(&single_kit, single, interp[0]);
    close_all(&double_kit, twice, interp[1]);
}

static void floats_round_once_to_their_kind(void **state)
{
    static const enum slri_op ops[] = {SLRI_OP_MOVE, SLRI_OP_NEG, SLRI_OP_ADD, SLRI_OP_SUB, SLRI_OP_MUL, SLRI_OP_DIV,
                                       SLRI_OP_EQ,   SLRI_OP_NE,  SLRI_OP_LT,  SLRI_OP_LE,  SLRI_OP_GT,  SLRI_OP_GE};
    (void)state;
    for (size_t i = 0; i < COUNT(ops); i++)
        check_float_op(ops[i]);
}

static void a_product_and_a_sum_are_not_fused(void **state)
{
    (void)state;
    struct kit kit;
    kit_open(&kit);
    kit_handler(&kit);
    slri_reg a = kit_load(&kit, SLRI_F32, MESSAGE, 0), b = kit_load(&kit, SLRI_F32, MESSAGE, 4);
    slri_reg sum = kit_op(&kit, SLRI_OP_ADD, SLRI_F32, kit_op(&kit, SLRI_OP_MUL, SLRI_F32, a, a), b);
    kit_store(&kit, SLRI_F32, STATE, 0, sum);
    float message[16] = {1.0f + 0x1p-12f, -(1.0f + 0x1p-11f)}, result[32] = {1.0f};
    assert_int_equal(kit_handle(&kit, result, message), SLRI_FAULT_NONE);
    assert_true(result[0] == 0.0f); // fused it would be 0x1p-24
    kit_close(&kit);
}

// ---- conversions ----------------------------------------------------------------------------------------------------

static long double value_of(enum slri_kind kind, union slri_scalar a)
{
    switch (kind) {
    case SLRI_I32:
        return a.i32;
    case SLRI_U32:
        return a.u32;
    case SLRI_I64:
        return a.i64;
    case SLRI_U64:
        return a.u64;
    case SLRI_F32:
        return a.f32;
    default:
        return a.f64;
    }
}

// What long double, which holds every 64-bit integer exactly, gives.
static union slri_scalar expected_conversion(enum slri_kind from, enum slri_kind to, union slri_scalar a)
{
    static const struct {
        long double least, most;
    } range[SLRI_KIND_COUNT] = {
        [SLRI_I8] = {-128, 127},
        [SLRI_U8] = {0, 255},
        [SLRI_I16] = {-32768, 32767},
        [SLRI_U16] = {0, 65535},
        [SLRI_I32] = {-2147483648.0L, 2147483647.0L},
        [SLRI_U32] = {0, 4294967295.0L},
        [SLRI_I64] = {-9223372036854775808.0L, 9223372036854775807.0L},
        [SLRI_U64] = {0, 18446744073709551615.0L},
    };
    long double value = value_of(from, a);
    union slri_scalar r = {.u64 = 0};
    if (to == SLRI_F32) {
        r.f32 = (float)value;
    } else if (to == SLRI_F64) {
        r.f64 = (double)value;
    } else if (to == SLRI_BOOL) {
        r.i32 = value != 0;
    } else if (slri_kind_is_float(from)) {
        long double whole = isnan(value) ? 0 : truncl(fminl(fmaxl(value, range[to].least), range[to].most));
        r.u64 = whole < 0 ? 0 - (uint64_t)-whole : (uint64_t)whole;
    } else {
        uint64_t bits = value < 0 ? 0 - (uint64_t)-value : (uint64_t)value;
        uint64_t above = slri_kind_bytes(to) == 8 ? 0 : UINT64_MAX << (8 * slri_kind_bytes(to));
        bool negative = slri_kind_is_signed(to) && above != 0 && (bits & (~above / 2 + 1)) != 0;
        r.u64 = negative ? bits | above : bits & ~above;
    }
    return r;
}

static void check_conversion_of(struct slri_interp_thread *thread, enum slri_kind from, enum slri_kind to,
                                union slri_scalar a)
{
    union slri_scalar r, wanted = expected_conversion(from, to, a);
    assert_int_equal(call2(thread, a, a, &r), SLRI_FAULT_NONE);
    if (to == SLRI_F32)
        assert_same_f32(r.f32, wanted.f32);
    else if (to == SLRI_F64)
        assert_same_f64(r.f64, wanted.f64);
    else if (slri_kind_bytes(slri_kind_in_register(to)) == 8)
        assert_int_equal(r.u64, wanted.u64);
    else
        assert_int_equal(r.u32, wanted.u32);
}

static void check_conversion(enum slri_kind from, enum slri_kind to)
{
    struct kit kit;
    struct slri_interp *interp;
    struct slri_interp_thread *thread;
    kit_open(&kit);
    kit_handler(&kit);
    slri_reg r = kit_op(&kit, SLRI_OP_CONVERT, to, kit_load(&kit, from, MESSAGE, 0), SLRI_NO_REG);
    kit_store(&kit, slri_kind_in_register(to), STATE, 0, r);
    kit_prepare(&kit, &interp, &thread);
    for (size_t i = 0; i < COUNT(reals) && slri_kind_is_float(from); i++)
        check_conversion_of(thread, from, to,
                            from == SLRI_F32 ? (union slri_scalar){.f32 = (float)reals[i]}
                                             : (union slri_scalar){.f64 = reals[i]});
    for (size_t i = 0; i < COUNT(integers) && !slri_kind_is_float(from); i++)
        check_conversion_of(thread, from, to, (union slri_scalar){.u64 = integers[i]});
    close_all(&kit, thread, interp);
}

static void every_kind_converts_to_every_kind(void **state)
{
    (void)state;
    for (int from = SLRI_I32; from <= SLRI_F64; from++)
        for (int to = SLRI_BOOL; to <= SLRI_F64; to++)
            check_conversion((enum slri_kind)from, (enum slri_kind)to);
}

// ---- memory ---------------------------------------------------------------------------------------------------------

static void check_access(enum slri_kind kind, const unsigned char *message, const unsigned char *wanted, uint32_t bytes)
{
    struct kit kit;
    kit_open(&kit);
    kit_handler(&kit);
    slri_reg value = kit_load(&kit, kind, MESSAGE, 1); // no access need be aligned
    kit_store(&kit, slri_kind_in_register(kind), STATE, 8, value);
    kit_store(&kit, kind, STATE, 33, value);
    unsigned char state[STATE_BYTES] = {0}, zero[16] = {0};
    assert_int_equal(kit_handle(&kit, state, message), SLRI_FAULT_NONE);
    assert_memory_equal(state + 8, wanted, slri_kind_bytes(slri_kind_in_register(kind)));
    assert_memory_equal(state + 33, message + 1, bytes);
    assert_memory_equal(state + 33 + bytes, zero, sizeof zero);
    kit_close(&kit);
}

static void narrow_kinds_widen_when_loaded_and_narrow_when_stored(void **state)
{
    unsigned char message[MESSAGE_BYTES] = {0, 0xfe, 0xff, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45};
    const int32_t i8 = -2, u8 = 254, i16 = -2, u16 = 65534;
    (void)state;
    check_access(SLRI_I8, message, (const unsigned char *)&i8, 1);
    check_access(SLRI_U8, message, (const unsigned char *)&u8, 1);
    check_access(SLRI_I16, message, (const unsigned char *)&i16, 2);
    check_access(SLRI_U16, message, (const unsigned char *)&u16, 2);
    for (int kind = SLRI_I32; kind <= SLRI_F64; kind++)
        check_access((enum slri_kind)kind, message, message + 1, slri_kind_bytes((enum slri_kind)kind));
    message[1] = 1;
    check_access(SLRI_BOOL, message, (const unsigned char *)&(const int32_t){1}, 1);
}

static void copy_and_zero_move_bytes(void **state)
{
    (void)state;
    struct kit kit;
    kit_open(&kit);
    kit_handler(&kit);
    slri_reg at = kit_const(&kit, SLRI_I64, 3), from = kit_const(&kit, SLRI_I64, 5);
    struct slri_instr *in = kit_emit(&kit, SLRI_OP_COPY, SLRI_VOID);
    in->root = STATE;
    in->root2 = MESSAGE;
    in->a = at;
    in->b = from;
    in->imm = 7;
    in = kit_emit(&kit, SLRI_OP_ZERO, SLRI_VOID);
    in->root = STATE;
    in->a = from;
    in->imm = 2;
    unsigned char bytes[STATE_BYTES];
    memset(bytes, 9, sizeof bytes);
    assert_int_equal(kit_handle(&kit, bytes, "abcdefghijklmnopqrstuvwxyz"), SLRI_FAULT_NONE);
    assert_memory_equal(bytes, "\t\t\tfg\0\0jkl\t", 11);
    kit_close(&kit);
}

static void math_functions_are_called_with_their_arguments(void **state)
{
    (void)state;
    struct kit kit;
    kit_open(&kit);
    kit_handler(&kit);
    struct slri_arg *arg = slri_region_take(kit.region, 3 * sizeof *arg);
    for (int i = 0; i < 3; i++)
        arg[i].reg = kit_load(&kit, SLRI_F32, MESSAGE, 4 * i);
    slri_reg dst = kit_reg(&kit, SLRI_F32);
    struct slri_instr *in = kit_emit(&kit, SLRI_OP_MATH, SLRI_F32);
    in->imm = SLRI_MATH_FMAF;
    in->dst = dst;
    in->args = 3;
    in->arg = arg;
    kit_store(&kit, SLRI_F32, STATE, 0, dst);
    float message[16] = {1.0f + 0x1p-12f, 1.0f + 0x1p-12f, -(1.0f + 0x1p-11f)}, result[32] = {0};
    assert_int_equal(kit_handle(&kit, result, message), SLRI_FAULT_NONE);
    assert_true(result[0] == 0x1p-24f);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_wrap_shift_divide_and_compare_as_defined),
        cmocka_unit_test(floats_round_once_to_their_kind),
        cmocka_unit_test(a_product_and_a_sum_are_not_fused),
        cmocka_unit_test(every_kind_converts_to_every_kind),
        cmocka_unit_test(narrow_kinds_widen_when_loaded_and_narrow_when_stored),
        cmocka_unit_test(copy_and_zero_move_bytes),
        cmocka_unit_test(math_functions_are_called_with_their_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
