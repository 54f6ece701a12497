// SPDX-License-Identifier: Apache-2.0
// What emitted C does when it runs: results, faults and their places, fuel, replies. The modules are written by hand.
#include "hal/cpu/library_test.h"
#include "ir/ir_fixture.h"
#include "ir/math/functions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

// One call's memory, and what came of it.
struct run {
    _Alignas(8) unsigned char state[4096], message[4096], replies[4][64];
    float buffer[8];
    int32_t scalar;
    struct slri_bound bound[2];
    struct slri_call call;
    struct slri_cpu_library *library;
};

static void run_init(struct run *run)
{
    memset(run, 0, sizeof *run);
    run->bound[0] = (struct slri_bound){run->buffer, sizeof run->buffer};
    run->bound[1] = (struct slri_bound){&run->scalar, sizeof run->scalar};
    run->call = (struct slri_call){.state = run->state,
                                   .message = run->message,
                                   .bound = run->bound,
                                   .reply_base = run->replies[0],
                                   .reply_mask = 3,
                                   .reply_stride = 64,
                                   .max_replies = 2,
                                   .instance = 7,
                                   .fuel = 1000000};
}

// Verifies and compiles the module, then calls its entry "f" on it.
static uint32_t run_once(struct run *run, struct build *b)
{
    const char *problem = slri_module_verify(b->module);
    if (problem)
        fail_msg("%s", problem);
    if (b->module->entry[0].reply)
        run->call.reply_bytes = (uint32_t)b->module->entry[0].reply->bytes;
    slr_status status = slri_cpu_compile(b->module, &run->library);
    if (status != SLR_OK)
        fail_msg("%s", slr_error_message());
    slri_handler *handler;
    assert_int_equal(slri_cpu_library_symbol(run->library, "f", &handler), SLR_OK);
    return handler(NULL, &run->call);
}

static void run_end(struct run *run, struct build *b)
{
    slri_cpu_library_close(run->library);
    build_close(b);
}

static int32_t i32_at(const struct run *run, size_t offset)
{
    int32_t value;
    memcpy(&value, run->state + offset, sizeof value);
    return value;
}

static float f32_at(const struct run *run, size_t offset)
{
    float value;
    memcpy(&value, run->state + offset, sizeof value);
    return value;
}

// ---- values --------------------------------------------------------------------------------------------------------

// Opens "f", whose operands are message values, so that no compiler computes the result itself.
static void open_f(struct build *b)
{
    build_open(b, "user.cu");
    build_entry(b, "f", 4096, 0);
}

static int32_t integer_op(enum slri_op op, enum slri_kind kind, int32_t x, int32_t y)
{
    struct build b;
    struct run run;
    run_init(&run);
    open_f(&b);
    memcpy(run.message, &x, sizeof x);
    memcpy(run.message + 4, &y, sizeof y);
    slri_reg left = build_load_at(&b, kind, build_message, 0);
    slri_reg right = build_load_at(&b, kind, build_message, 4);
    slri_reg result = build_op(&b, op, kind, left, right);
    build_store_at(&b, b.function->reg_kind[result], build_state, 0, result);
    assert_int_equal(run_once(&run, &b), SLRI_FAULT_NONE);
    int32_t value = i32_at(&run, 0);
    run_end(&run, &b);
    return value;
}

static void integers_wrap_and_shift_counts_are_masked(void **state)
{
    (void)state;
    assert_int_equal(integer_op(SLRI_OP_ADD, SLRI_I32, INT32_MAX, 1), INT32_MIN);
    assert_int_equal(integer_op(SLRI_OP_MUL, SLRI_I32, INT32_MAX, 2), -2);
    assert_int_equal(integer_op(SLRI_OP_SHL, SLRI_I32, 3, 33), 6);
    assert_int_equal(integer_op(SLRI_OP_SHR, SLRI_I32, -8, 33), -4);
    assert_int_equal(integer_op(SLRI_OP_SHR, SLRI_U32, -8, 1), 0x7ffffffc);
    assert_int_equal(integer_op(SLRI_OP_LT, SLRI_U32, -1, 1), 0);
    assert_int_equal(integer_op(SLRI_OP_LT, SLRI_I32, -1, 1), 1);
}

static void the_least_integer_divided_by_minus_one_wraps(void **state)
{
    (void)state;
    assert_int_equal(integer_op(SLRI_OP_DIV, SLRI_I32, INT32_MIN, -1), INT32_MIN);
    assert_int_equal(integer_op(SLRI_OP_REM, SLRI_I32, INT32_MIN, -1), 0);
    assert_int_equal(integer_op(SLRI_OP_REM, SLRI_I32, -7, 3), -1);
    assert_int_equal(integer_op(SLRI_OP_DIV, SLRI_U32, -1, 16), 0x0fffffff);
}

static void narrow_kinds_are_widened_and_narrowed(void **state)
{
    struct build b;
    struct run run;
    (void)state;
    run_init(&run);
    open_f(&b);
    run.message[0] = 0xfe;
    run.message[1] = 0xff;
    static const enum slri_kind kinds[] = {SLRI_BOOL, SLRI_I8, SLRI_U8, SLRI_I16, SLRI_U16};
    for (int i = 0; i < 5; i++)
        build_store_at(&b, SLRI_I32, build_state, 4 * i, build_load_at(&b, kinds[i], build_message, 0));
    slri_reg word = build_load_at(&b, SLRI_I32, build_message, 0);
    build_store_at(&b, SLRI_I32, build_state, 20, build_op(&b, SLRI_OP_CONVERT, SLRI_I8, word, SLRI_NO_REG));
    build_store_at(&b, SLRI_I32, build_state, 24, build_op(&b, SLRI_OP_CONVERT, SLRI_BOOL, word, SLRI_NO_REG));
    build_store_at(&b, SLRI_U8, build_state, 28, build_i32(&b, 0x1234));
    assert_int_equal(run_once(&run, &b), SLRI_FAULT_NONE);
    static const int32_t expected[] = {1, -2, 0xfe, -2, 0xfffe, -2, 1, 0x34};
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(i32_at(&run, 4 * i), expected[i]);
    run_end(&run, &b);
}

static int32_t float_to(enum slri_kind kind, float value)
{
    struct build b;
    struct run run;
    run_init(&run);
    open_f(&b);
    memcpy(run.message, &value, sizeof value);
    slri_reg in = build_load_at(&b, SLRI_F32, build_message, 0);
    slri_reg out = build_op(&b, SLRI_OP_CONVERT, kind, in, SLRI_NO_REG);
    build_store_at(&b, slri_kind_in_register(kind), build_state, 0, out);
    assert_int_equal(run_once(&run, &b), SLRI_FAULT_NONE);
    int32_t result = i32_at(&run, 0);
    run_end(&run, &b);
    return result;
}

static void floats_convert_to_integers_by_truncation_and_saturation(void **state)
{
    (void)state;
    assert_int_equal(float_to(SLRI_I32, -2.9f), -2);
    assert_int_equal(float_to(SLRI_I32, 3e9f), INT32_MAX);
    assert_int_equal(float_to(SLRI_U32, -1.0f), 0);
    assert_int_equal(float_to(SLRI_I32, __builtin_nanf("")), 0);
    assert_int_equal(float_to(SLRI_U8, 300.0f), 255);
    assert_int_equal(float_to(SLRI_BOOL, 0.25f), 1);
}

// Bits that decimal spellings and comma locales get wrong.
static void float_literals_keep_their_bits(void **state)
{
    static const uint32_t bits[] = {0x00000000, 0x80000000, 0x00000001, 0x3dcccccd, 0x7f7fffff,
                                    0xff800000, 0x7fc00000, 0x7fa01234, 0x00800000};
    static const uint64_t wide[] = {0x8000000000000000, 1, 0x3fb999999999999a, 0x7ff0000000000000, 0xfff8000000000001};
    struct build b;
    struct run run;
    (void)state;
    run_init(&run);
    open_f(&b);
    for (int i = 0; i < 9; i++)
        build_store_at(&b, SLRI_F32, build_state, 4 * i, build_bits(&b, SLRI_F32, bits[i]));
    for (int i = 0; i < 5; i++)
        build_store_at(&b, SLRI_F64, build_state, 64 + 8 * i, build_bits(&b, SLRI_F64, wide[i]));
    assert_int_equal(run_once(&run, &b), SLRI_FAULT_NONE);
    assert_memory_equal(run.state, bits, sizeof bits);
    assert_memory_equal(run.state + 64, wide, sizeof wide);
    run_end(&run, &b);
}

static void least_integers_have_a_literal(void **state)
{
    struct build b;
    struct run run;
    (void)state;
    run_init(&run);
    open_f(&b);
    build_store_at(&b, SLRI_I32, build_state, 0, build_i32(&b, INT32_MIN));
    build_store_at(&b, SLRI_I64, build_state, 8, build_i64(&b, INT64_MIN));
    build_store_at(&b, SLRI_I32, build_state, 4, build_op(&b, SLRI_OP_NEG, SLRI_I32, build_i32(&b, -5), SLRI_NO_REG));
    assert_int_equal(run_once(&run, &b), SLRI_FAULT_NONE);
    int64_t wide;
    memcpy(&wide, run.state + 8, 8);
    assert_int_equal(i32_at(&run, 0), INT32_MIN);
    assert_int_equal(i32_at(&run, 4), 5);
    assert_true(wide == INT64_MIN);
    run_end(&run, &b);
}

static void math_functions_are_called(void **state)
{
    struct build b;
    struct run run;
    float nine = 9.0f;
    (void)state;
    run_init(&run);
    open_f(&b);
    memcpy(run.message, &nine, sizeof nine);
    slri_reg x = build_load_at(&b, SLRI_F32, build_message, 0);
    build_store_at(&b, SLRI_F32, build_state, 0, build_math(&b, SLRI_MATH_SQRTF, SLRI_F32, x));
    assert_int_equal(run_once(&run, &b), SLRI_FAULT_NONE);
    assert_true(f32_at(&run, 0) == 3.0f);
    run_end(&run, &b);
}

// ---- memory --------------------------------------------------------------------------------------------------------

static void locals_constants_copies_and_zeroes_reach_their_bytes(void **state)
{
    static const unsigned char table[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    struct build b;
    struct run run;
    (void)state;
    run_init(&run);
    open_f(&b);
    memset(run.state, 0xff, 16);
    struct slri_root constant = build_constant(&b, table, sizeof table), local = build_local(&b, "buf", 16);
    build_to(&b, SLRI_NO_REG, SLRI_OP_COPY, SLRI_VOID, build_i64(&b, 0), build_i64(&b, 4));
    struct slri_instr *copy = &b.block->instr[b.block->count - 1];
    copy->root = local;
    copy->root2 = constant;
    copy->imm = 12;
    build_store_at(&b, SLRI_I32, build_state, 0, build_load_at(&b, SLRI_I32, local, 8));
    build_to(&b, SLRI_NO_REG, SLRI_OP_ZERO, SLRI_VOID, build_i64(&b, 4), SLRI_NO_REG);
    b.block->instr[b.block->count - 1].root = build_state;
    b.block->instr[b.block->count - 1].imm = 8;
    assert_int_equal(run_once(&run, &b), SLRI_FAULT_NONE);
    static const unsigned char expected[] = {13, 14, 15, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0xff};
    assert_memory_equal(run.state, expected, sizeof expected);
    run_end(&run, &b);
}

// y[offset] = x, where the offset is the message's.
static uint32_t store_to_buffer(struct run *run, int64_t offset)
{
    struct build b;
    run_init(run);
    build_open(&b, "user.cu");
    struct slri_entry *entry = build_entry(&b, "f", 0, 0);
    build_binding(&b, entry, "y", true, SLRI_F32);
    slri_reg x = build_binding(&b, entry, "x", false, SLRI_I32);
    run->scalar = 42;
    memcpy(run->message, &offset, sizeof offset);
    slri_reg at = build_load_at(&b, SLRI_I64, build_message, 0);
    b.line = 12;
    build_store(&b, SLRI_F32, (struct slri_root){SLRI_ROOT_BINDING, 0}, at,
                build_op(&b, SLRI_OP_CONVERT, SLRI_F32, x, SLRI_NO_REG));
    uint32_t fault = run_once(run, &b);
    run_end(run, &b);
    return fault;
}

static void a_bound_buffer_is_written_inside_and_guarded_outside(void **state)
{
    struct run run;
    (void)state;
    assert_int_equal(store_to_buffer(&run, 28), SLRI_FAULT_NONE);
    assert_true(run.buffer[7] == 42.0f);
    static const int64_t outside[] = {29, 32, -1, -4, INT64_MIN, INT64_MAX, INT64_MAX - 3};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        assert_int_equal(store_to_buffer(&run, outside[i]), SLRI_FAULT_ACCESS);
        assert_int_equal(run.call.fault_line, 12);
    }
}

// ---- faults --------------------------------------------------------------------------------------------------------

static void division_by_zero_faults_at_its_line(void **state)
{
    struct build b;
    struct run run;
    (void)state;
    run_init(&run);
    open_f(&b);
    slri_reg zero = build_load_at(&b, SLRI_I32, build_message, 0);
    b.line = 31;
    build_op(&b, SLRI_OP_REM, SLRI_I32, build_i32(&b, 1), zero);
    build_store_at(&b, SLRI_I32, build_state, 0, build_i32(&b, 1));
    assert_int_equal(run_once(&run, &b), SLRI_FAULT_DIVIDE);
    assert_int_equal(run.call.fault_file, 0);
    assert_int_equal(run.call.fault_line, 31);
    assert_int_equal(i32_at(&run, 0), 0);
    run_end(&run, &b);
}

static uint32_t index_by(int64_t index)
{
    struct build b;
    struct run run;
    run_init(&run);
    open_f(&b);
    memcpy(run.message, &index, sizeof index);
    build_index(&b, build_load_at(&b, SLRI_I64, build_message, 0), 10);
    uint32_t fault = run_once(&run, &b);
    run_end(&run, &b);
    return fault;
}

static void an_index_outside_its_extent_faults(void **state)
{
    (void)state;
    assert_int_equal(index_by(0), SLRI_FAULT_NONE);
    assert_int_equal(index_by(9), SLRI_FAULT_NONE);
    assert_int_equal(index_by(10), SLRI_FAULT_INDEX);
    assert_int_equal(index_by(-1), SLRI_FAULT_INDEX);
}

static void replies_fill_the_ring_and_one_too_many_faults(void **state)
{
    struct build b;
    struct run run;
    (void)state;
    run_init(&run);
    build_open(&b, "user.cu");
    build_entry(&b, "f", 16, 8);
    run.state[0] = 'a';
    run.state[8] = 'b';
    build_reply(&b, build_state, 0);
    build_reply(&b, build_state, 8);
    b.line = 5;
    build_reply(&b, build_state, 0);
    run.call.reply_at = 3; // the second reply goes round to slot 0
    assert_int_equal(run_once(&run, &b), SLRI_FAULT_REPLIES);
    assert_int_equal(run.call.fault_line, 5);
    assert_int_equal(run.call.replies, 2);
    assert_int_equal(run.replies[3][0], 'a');
    assert_int_equal(run.replies[0][0], 'b');
    assert_int_equal(run.replies[1][0], 0);
    run_end(&run, &b);
}

// ---- calls ---------------------------------------------------------------------------------------------------------

static void faults_and_results_come_out_of_device_functions(void **state)
{
    struct build b;
    struct run run;
    (void)state;
    run_init(&run);
    build_open(&b, "user.cu");
    struct slri_function *divide = build_function(&b, "divide", SLRI_I32);
    slri_reg x = build_param(&b, SLRI_I32, "x", 0), y = build_param(&b, SLRI_I32, "y", 0);
    slri_reg memory = build_param(&b, SLRI_I64, "out", 8);
    b.line = 3;
    build_to(&b, SLRI_NO_REG, SLRI_OP_RETURN, SLRI_VOID, build_op(&b, SLRI_OP_DIV, SLRI_I32, x, y), SLRI_NO_REG);
    build_store(&b, SLRI_I32, (struct slri_root){SLRI_ROOT_PARAM, 2}, memory, x); // after the return: never
    build_entry(&b, "f", 16, 0);
    struct slri_root local = build_local(&b, "unused", 8);
    for (int i = 0; i < 2; i++) { // 20 / message[0], then 20 / message[1]
        slri_reg dst = build_reg(&b, SLRI_I32, "quotient"), twenty = build_i32(&b, 20);
        slri_reg by = build_load_at(&b, SLRI_I32, build_message, 4 * i), zero = build_i64(&b, 0);
        struct slri_instr *call = build_append(&b, SLRI_OP_CALL, SLRI_VOID);
        call->dst = dst;
        call->callee = divide;
        struct slri_arg *arg = build_args(&b, call, 3);
        arg[0].reg = twenty;
        arg[1].reg = by;
        arg[2] = (struct slri_arg){zero, local};
        build_store_at(&b, SLRI_I32, build_state, 4 * i, dst);
    }
    run.message[0] = 4;
    assert_int_equal(run_once(&run, &b), SLRI_FAULT_DIVIDE);
    assert_int_equal(run.call.fault_line, 3);
    assert_int_equal(i32_at(&run, 0), 5);
    assert_int_equal(i32_at(&run, 4), 0);
    run_end(&run, &b);
}

// ---- control and fuel ----------------------------------------------------------------------------------------------

// sum += i for (i = from; i OP to; i += stride) in `kind`; the sum goes to state[0], the last i to state[8].
// `to` comes from the message if `unknown`.
static uint32_t sum_loop(struct run *run, enum slri_kind kind, int64_t from, enum slri_op op, int64_t to,
                         int64_t stride, uint64_t fuel, bool with_break)
{
    struct build b;
    run_init(run);
    run->call.fuel = fuel;
    open_f(&b);
    uint64_t mask = slri_kind_bytes(kind) == 4 ? UINT32_MAX : UINT64_MAX;
    memcpy(run->message, &to, sizeof to);
    slri_reg i = build_reg(&b, kind, "i"), sum = build_reg(&b, kind, "sum");
    slri_reg bound = build_load_at(&b, kind, build_message, 0);
    b.line = 40;
    struct slri_block *outer = build_for(&b, i, build_bits(&b, kind, (uint64_t)from & mask), op, bound, stride);
    b.line = 41;
    build_to(&b, sum, SLRI_OP_ADD, kind, sum, i);
    if (with_break) { // if (i == 123456789) break;
        slri_reg never = build_op(&b, SLRI_OP_EQ, kind, i, build_bits(&b, kind, 123456789));
        struct slri_block *body = b.block;
        struct slri_instr branch = build_control(&b, SLRI_OP_IF, never);
        b.block = branch.body[0];
        build_append(&b, SLRI_OP_BREAK, SLRI_VOID);
        b.block = body;
    }
    b.block = outer;
    build_store_at(&b, kind, build_state, 0, sum);
    build_store_at(&b, kind, build_state, 8, i);
    uint32_t fault = run_once(run, &b);
    run_end(run, &b);
    return fault;
}

static void loops_sum_what_they_should(void **state)
{
    struct run run;
    (void)state;
    for (int with_break = 0; with_break < 2; with_break++) {
        assert_int_equal(sum_loop(&run, SLRI_I32, 0, SLRI_OP_LT, 100, 1, 1000, with_break), SLRI_FAULT_NONE);
        assert_int_equal(i32_at(&run, 0), 4950);
        assert_int_equal(i32_at(&run, 8), 100);
        assert_int_equal(run.call.fuel, 900);
        assert_int_equal(sum_loop(&run, SLRI_I32, 0, SLRI_OP_LE, 10, 3, 1000, with_break), SLRI_FAULT_NONE);
        assert_int_equal(i32_at(&run, 0), 18);
        assert_int_equal(run.call.fuel, 996);
        assert_int_equal(sum_loop(&run, SLRI_U64, 10, SLRI_OP_GT, 0, -1, 1000, with_break), SLRI_FAULT_NONE);
        assert_int_equal(i32_at(&run, 0), 55);
        assert_int_equal(run.call.fuel, 990);
        assert_int_equal(sum_loop(&run, SLRI_I64, 5, SLRI_OP_LT, 5, 1, 1000, with_break), SLRI_FAULT_NONE);
        assert_int_equal(i32_at(&run, 0), 0);
        assert_int_equal(run.call.fuel, 1000);
    }
}

// A back edge takes one, and the one that leaves none faults: the same whether it is paid at each or at once.
static void a_loop_needs_more_fuel_than_it_has_back_edges(void **state)
{
    struct run run;
    (void)state;
    for (int with_break = 0; with_break < 2; with_break++) {
        assert_int_equal(sum_loop(&run, SLRI_I32, 0, SLRI_OP_LT, 100, 1, 101, with_break), SLRI_FAULT_NONE);
        assert_int_equal(run.call.fuel, 1);
        assert_int_equal(sum_loop(&run, SLRI_I32, 0, SLRI_OP_LT, 100, 1, 100, with_break), SLRI_FAULT_FUEL);
        assert_int_equal(run.call.fault_line, 40);
        assert_int_equal(sum_loop(&run, SLRI_I32, 0, SLRI_OP_LT, 0, 1, 0, with_break), SLRI_FAULT_NONE);
        assert_int_equal(sum_loop(&run, SLRI_I32, 0, SLRI_OP_LT, 1, 1, 0, with_break), SLRI_FAULT_FUEL);
    }
}

// i <= INT_MAX never fails; and with a stride of 2, i jumps over INT_MAX and goes on from below.
static void a_loop_whose_counter_wraps_runs_out_of_fuel(void **state)
{
    struct run run;
    (void)state;
    assert_int_equal(sum_loop(&run, SLRI_I32, 0, SLRI_OP_LE, INT32_MAX, 1, UINT64_MAX >> 32, false), SLRI_FAULT_FUEL);
    assert_int_equal(sum_loop(&run, SLRI_U32, 0, SLRI_OP_GE, 0, -1, 1000, false), SLRI_FAULT_FUEL);
    assert_int_equal(sum_loop(&run, SLRI_I32, INT32_MAX - 3, SLRI_OP_LT, INT32_MAX, 2, 10, false), SLRI_FAULT_FUEL);
    assert_int_equal(sum_loop(&run, SLRI_I32, INT32_MAX - 2, SLRI_OP_LT, INT32_MAX, 2, 10, false), SLRI_FAULT_NONE);
    assert_int_equal(i32_at(&run, 8), INT32_MAX);
}

// Both may happen in one message: which does first decides, as in a loop that looks at its fuel every time.
static void an_index_fault_before_the_fuel_ends_is_that_fault(void **state)
{
    (void)state;
    for (int64_t fuel = 4; fuel <= 7; fuel++) {
        struct build b;
        struct run run;
        run_init(&run);
        open_f(&b);
        run.call.fuel = (uint64_t)fuel;
        slri_reg i = build_reg(&b, SLRI_I64, "i");
        struct slri_block *outer = build_for(&b, i, build_i64(&b, 0), SLRI_OP_LT, build_i64(&b, 1000), 1);
        build_store_at(&b, SLRI_I64, build_state, 0, i);
        build_index(&b, i, 5); // faults in trip 5, behind 5 back edges
        b.block = outer;
        assert_int_equal(run_once(&run, &b), fuel <= 5 ? SLRI_FAULT_FUEL : SLRI_FAULT_INDEX);
        assert_int_equal(i32_at(&run, 0), fuel <= 5 ? fuel - 1 : 5);
        run_end(&run, &b);
    }
}

static void do_while_and_continue_and_switch_follow_c(void **state)
{
    struct build b;
    struct run run;
    (void)state;
    run_init(&run);
    open_f(&b);
    // i = 0; do { switch (i) { case 1: continue; case 2: n += 10; case 3: n += 100; break; default: n += 1; } n +=
    // 1000; } while (++i < 5);
    slri_reg i = build_reg(&b, SLRI_I32, "i"), n = build_reg(&b, SLRI_I32, "n"), again = build_reg(&b, SLRI_I32, NULL);
    slri_reg one = build_i32(&b, 1), five = build_i32(&b, 5);
    struct slri_block *outer = b.block;
    struct slri_instr loop = build_control(&b, SLRI_OP_LOOP, again);
    outer->instr[outer->count - 1].do_while = true;
    b.block = loop.body[0];
    build_to(&b, i, SLRI_OP_ADD, SLRI_I32, i, one);
    build_to(&b, again, SLRI_OP_LT, SLRI_I32, i, five);
    b.block = loop.body[1];
    struct slri_instr *branch = build_append(&b, SLRI_OP_SWITCH, SLRI_VOID);
    branch->a = i;
    branch->cases = 4;
    struct slri_case *match = branch->match = build_take(&b, 4 * sizeof *match);
    static const int32_t plus[] = {0, 10, 100, 1};
    for (uint32_t c = 0; c < 4; c++) {
        match[c] = (struct slri_case){c == 3, c + 1, slri_block_create(b.module->region)};
        b.block = match[c].body;
        build_to(&b, n, SLRI_OP_ADD, SLRI_I32, n, build_i32(&b, plus[c]));
        if (c == 0)
            build_append(&b, SLRI_OP_CONTINUE, SLRI_VOID);
        if (c == 2)
            build_append(&b, SLRI_OP_BREAK, SLRI_VOID);
    }
    match[3].value = 0;
    b.block = loop.body[1];
    build_to(&b, n, SLRI_OP_ADD, SLRI_I32, n, build_i32(&b, 1000));
    b.block = outer;
    build_store_at(&b, SLRI_I32, build_state, 0, n);
    run.call.fuel = 6;
    assert_int_equal(run_once(&run, &b), SLRI_FAULT_NONE);
    assert_int_equal(i32_at(&run, 0), 4000 + 1 + 110 + 100 + 1);
    assert_int_equal(run.call.fuel, 1);
    run_end(&run, &b);
}

static void atomics_and_the_instance_number(void **state)
{
    struct build b;
    struct run run;
    (void)state;
    run_init(&run);
    open_f(&b);
    static const enum slri_rmw ops[] = {SLRI_RMW_ADD, SLRI_RMW_MAX, SLRI_RMW_XOR, SLRI_RMW_EXCHANGE, SLRI_RMW_MIN};
    for (int i = 0; i < 5; i++) { // on 0, by 12
        slri_reg at = build_i64(&b, 4 * i), by = build_i32(&b, 12), old = build_reg(&b, SLRI_I32, NULL);
        build_to(&b, old, SLRI_OP_ATOMIC_RMW, SLRI_I32, at, by);
        struct slri_instr *rmw = &b.block->instr[b.block->count - 1];
        rmw->root = build_state;
        rmw->imm = ops[i];
        rmw->order = SLRI_ACQ_REL;
    }
    slri_reg at = build_i64(&b, 20), half = build_f32(&b, 0.5f), old = build_reg(&b, SLRI_F32, NULL);
    build_to(&b, old, SLRI_OP_ATOMIC_RMW, SLRI_F32, at, half);
    b.block->instr[b.block->count - 1].root = build_state;
    slri_reg zero = build_i64(&b, 0), was = build_i32(&b, 12), now = build_i32(&b, 99),
             seen = build_reg(&b, SLRI_I32, NULL);
    build_to(&b, seen, SLRI_OP_ATOMIC_CAS, SLRI_I32, zero, was);
    b.block->instr[b.block->count - 1].root = build_state;
    b.block->instr[b.block->count - 1].c = now;
    slri_reg instance = build_reg(&b, SLRI_U32, NULL);
    build_append(&b, SLRI_OP_INSTANCE, SLRI_VOID)->dst = instance;
    build_store_at(&b, SLRI_U32, build_state, 24, instance);
    assert_int_equal(run_once(&run, &b), SLRI_FAULT_NONE);
    static const int32_t expected[] = {99, 12, 12, 12, 0};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(i32_at(&run, 4 * i), expected[i]);
    assert_true(f32_at(&run, 20) == 0.5f);
    assert_int_equal(i32_at(&run, 24), 7);
    run_end(&run, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_wrap_and_shift_counts_are_masked),
        cmocka_unit_test(the_least_integer_divided_by_minus_one_wraps),
        cmocka_unit_test(narrow_kinds_are_widened_and_narrowed),
        cmocka_unit_test(floats_convert_to_integers_by_truncation_and_saturation),
        cmocka_unit_test(float_literals_keep_their_bits),
        cmocka_unit_test(least_integers_have_a_literal),
        cmocka_unit_test(math_functions_are_called),
        cmocka_unit_test(locals_constants_copies_and_zeroes_reach_their_bytes),
        cmocka_unit_test(a_bound_buffer_is_written_inside_and_guarded_outside),
        cmocka_unit_test(division_by_zero_faults_at_its_line),
        cmocka_unit_test(an_index_outside_its_extent_faults),
        cmocka_unit_test(replies_fill_the_ring_and_one_too_many_faults),
        cmocka_unit_test(faults_and_results_come_out_of_device_functions),
        cmocka_unit_test(loops_sum_what_they_should),
        cmocka_unit_test(a_loop_needs_more_fuel_than_it_has_back_edges),
        cmocka_unit_test(a_loop_whose_counter_wraps_runs_out_of_fuel),
        cmocka_unit_test(an_index_fault_before_the_fuel_ends_is_that_fault),
        cmocka_unit_test(do_while_and_continue_and_switch_follow_c),
        cmocka_unit_test(atomics_and_the_instance_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
