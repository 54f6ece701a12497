// SPDX-License-Identifier: Apache-2.0
// Random programs give the same bits compiled and interpreted: results, replies, buffers, faults with their lines,
// fuel. A float that is stored is never NaN: which NaN an operation makes is up to the processor.
#include "hal/cpu/library_test.h"
#include "run/interpreter.h"
#include "ir/ir_fixture.h"
#include "ir/math/functions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { KINDS = 6, EACH = 3, STATE_BYTES = 512, MESSAGE_BYTES = 512, PROGRAMS = 24, MESSAGES = 40 };

struct maker {
    struct build b;
    uint64_t seed;
    slri_reg reg[KINDS][EACH]; // the program's variables, by kind from I32 on
    const struct slri_function *callee;
    bool in_loop;
};

static uint32_t pick(struct maker *m, uint32_t below) // xorshift64*
{
    m->seed ^= m->seed >> 12;
    m->seed ^= m->seed << 25;
    m->seed ^= m->seed >> 27;
    return (uint32_t)((m->seed * 0x2545f4914f6cdd1du) >> 33) % below;
}

static slri_reg variable(struct maker *m, enum slri_kind kind)
{
    return m->reg[kind - SLRI_I32][pick(m, EACH)];
}

static enum slri_kind any_kind(struct maker *m)
{
    return SLRI_I32 + pick(m, KINDS);
}

static void make_block(struct maker *m, unsigned statements, unsigned depth);

// ---- statements ----------------------------------------------------------------------------------------------------

static void make_arithmetic(struct maker *m)
{
    enum slri_kind kind = any_kind(m);
    unsigned ops = slri_kind_is_float(kind) ? SLRI_OP_DIV - SLRI_OP_ADD + 1 : SLRI_OP_XOR - SLRI_OP_ADD + 1;
    enum slri_op op = SLRI_OP_ADD + pick(m, ops);
    slri_reg x = variable(m, kind), y = variable(m, kind);
    if (!slri_kind_is_float(kind) && pick(m, 3) == 0)
        y = build_bits(&m->b, kind, pick(m, 70));
    build_to(&m->b, variable(m, kind), op, kind, x, y);
}

static void make_comparison(struct maker *m)
{
    enum slri_kind kind = any_kind(m);
    build_to(&m->b, variable(m, SLRI_I32), SLRI_OP_EQ + pick(m, 6), kind, variable(m, kind), variable(m, kind));
}

static void make_conversion(struct maker *m)
{
    enum slri_kind to = SLRI_BOOL + pick(m, SLRI_F64 - SLRI_BOOL + 1), from = any_kind(m);
    build_to(&m->b, variable(m, slri_kind_in_register(to)), SLRI_OP_CONVERT, to, variable(m, from), SLRI_NO_REG);
}

// An offset within the state, from a variable; now and then by way of INDEX, which may fault.
static slri_reg make_offset(struct maker *m)
{
    slri_reg index = variable(m, SLRI_I64);
    if (pick(m, 30) == 0)
        build_index(&m->b, index, 64);
    slri_reg masked = build_op(&m->b, SLRI_OP_AND, SLRI_I64, index, build_i64(&m->b, 63));
    return build_op(&m->b, SLRI_OP_SHL, SLRI_I64, masked, build_i64(&m->b, 2 + pick(m, 2)));
}

static void make_load(struct maker *m)
{
    enum slri_kind kind = SLRI_BOOL + pick(m, SLRI_F64 - SLRI_BOOL + 1);
    slri_reg offset = make_offset(m);
    build_to(&m->b, variable(m, slri_kind_in_register(kind)), SLRI_OP_LOAD, kind, offset, SLRI_NO_REG);
    m->b.block->instr[m->b.block->count - 1].root = pick(m, 2) ? build_state : build_message;
}

static void make_store(struct maker *m)
{
    enum slri_kind kind = SLRI_BOOL + pick(m, SLRI_F64 - SLRI_BOOL + 1);
    slri_reg offset = make_offset(m), value = variable(m, slri_kind_in_register(kind));
    struct slri_root root = pick(m, 4) ? build_state : (struct slri_root){SLRI_ROOT_BINDING, 0};
    struct slri_block *outer = m->b.block;
    if (slri_kind_is_float(kind)) {
        slri_reg is_number = build_op(&m->b, SLRI_OP_EQ, kind, value, value);
        m->b.block = build_control(&m->b, SLRI_OP_IF, is_number).body[0];
    }
    build_store(&m->b, kind, root, offset, value);
    m->b.block = outer;
}

static void make_math(struct maker *m)
{
    static const enum slri_math_id ids[] = {SLRI_MATH_SQRTF, SLRI_MATH_EXPF,   SLRI_MATH_SINF,  SLRI_MATH_LOGF,
                                            SLRI_MATH_FABSF, SLRI_MATH_FLOORF, SLRI_MATH_TANHF, SLRI_MATH_RINTF};
    slri_reg result = build_math(&m->b, ids[pick(m, 8)], SLRI_F32, variable(m, SLRI_F32));
    build_to(&m->b, variable(m, SLRI_F32), SLRI_OP_MOVE, SLRI_F32, result, SLRI_NO_REG);
}

static void make_call(struct maker *m)
{
    if (!m->callee)
        return;
    slri_reg x = variable(m, SLRI_I32), y = variable(m, SLRI_F32);
    struct slri_instr *call = build_append(&m->b, SLRI_OP_CALL, SLRI_VOID);
    call->callee = m->callee;
    call->dst = pick(m, 4) ? variable(m, SLRI_I32) : SLRI_NO_REG;
    struct slri_arg *arg = build_args(&m->b, call, 2);
    arg[0].reg = x;
    arg[1].reg = y;
}

static void make_branch(struct maker *m, unsigned depth)
{
    struct slri_block *outer = m->b.block;
    struct slri_instr branch = build_control(&m->b, SLRI_OP_IF, variable(m, SLRI_I32));
    for (int i = 0; i < 2; i++) {
        m->b.block = branch.body[i];
        make_block(m, 1 + pick(m, 3), depth);
        if (m->in_loop && pick(m, 8) == 0)
            build_append(&m->b, pick(m, 3) ? SLRI_OP_CONTINUE : SLRI_OP_BREAK, SLRI_VOID);
    }
    m->b.block = outer;
}

static void make_switch(struct maker *m, unsigned depth)
{
    struct slri_block *outer = m->b.block;
    slri_reg value = build_op(&m->b, SLRI_OP_AND, SLRI_I32, variable(m, SLRI_I32), build_i32(&m->b, 3));
    struct slri_case *match = build_take(&m->b, 3 * sizeof *match);
    struct slri_instr *choice = build_append(&m->b, SLRI_OP_SWITCH, SLRI_VOID);
    choice->a = value;
    choice->cases = 3;
    choice->match = match;
    for (uint32_t i = 0; i < 3; i++) {
        match[i] = (struct slri_case){i == 1, i, slri_block_create(m->b.module->region)};
        m->b.block = match[i].body;
        make_block(m, 1, depth);
        if (pick(m, 2))
            build_append(&m->b, SLRI_OP_BREAK, SLRI_VOID);
    }
    m->b.block = outer;
}

// Mostly few trips; some that never end, or wrap.
static void make_loop(struct maker *m, unsigned depth)
{
    static const int64_t strides[] = {1, 1, 1, 2, 3};
    enum slri_kind kind = SLRI_I32 + pick(m, 4);
    bool down = pick(m, 3) == 0, was_in_loop = m->in_loop;
    slri_reg i = build_reg(&m->b, kind, "i"), few = build_bits(&m->b, kind, pick(m, 12)),
             zero = build_bits(&m->b, kind, 0);
    if (pick(m, 6) == 0)
        few = build_op(&m->b, SLRI_OP_ADD, kind, few, variable(m, kind)); // may change in the loop
    int64_t stride = strides[pick(m, 5)];
    struct slri_block *outer = down ? build_for(&m->b, i, few, SLRI_OP_GT + pick(m, 2), zero, -stride)
                                    : build_for(&m->b, i, zero, SLRI_OP_LT + pick(m, 2), few, stride);
    m->in_loop = true;
    build_to(&m->b, variable(m, kind), SLRI_OP_ADD, kind, variable(m, kind), i);
    make_block(m, 1 + pick(m, 4), depth);
    m->in_loop = was_in_loop;
    m->b.block = outer;
}

static void make_statement(struct maker *m, unsigned depth)
{
    m->b.line++;
    switch (pick(m, depth ? 15 : 11)) {
    case 0:
    case 1:
    case 2:
        make_arithmetic(m);
        break;
    case 3:
        make_comparison(m);
        break;
    case 4:
    case 5:
        make_conversion(m);
        break;
    case 6:
        make_load(m);
        break;
    case 7:
    case 8:
        make_store(m);
        break;
    case 9:
        make_math(m);
        break;
    case 10:
        if (pick(m, 3) == 0)
            build_reply(&m->b, build_state, 8 * pick(m, 32));
        else
            make_call(m);
        break;
    case 11:
    case 12:
        make_branch(m, depth - 1);
        break;
    case 13:
        make_loop(m, depth - 1);
        break;
    default:
        make_switch(m, depth - 1);
        break;
    }
}

static void make_block(struct maker *m, unsigned statements, unsigned depth)
{
    while (statements-- > 0)
        make_statement(m, depth);
}

// ---- programs ------------------------------------------------------------------------------------------------------

// Variables that begin with what the message holds.
static void make_variables(struct maker *m)
{
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (uint32_t i = 0; i < EACH; i++) {
            m->reg[kind][i] = build_reg(&m->b, SLRI_I32 + kind, "v");
            slri_reg value = build_load_at(&m->b, SLRI_I32 + kind, build_message, 8 * (EACH * kind + i));
            build_to(&m->b, m->reg[kind][i], SLRI_OP_MOVE, SLRI_I32 + kind, value, SLRI_NO_REG);
        }
}

static void make_program(struct maker *m, uint64_t seed)
{
    *m = (struct maker){.seed = seed * 0x9e3779b97f4a7c15u + 1};
    build_open(&m->b, "random.cu");
    struct slri_function *callee = build_function(&m->b, "callee", SLRI_I32);
    slri_reg x = build_param(&m->b, SLRI_I32, "x", 0), y = build_param(&m->b, SLRI_F32, "y", 0);
    make_variables(m);
    m->reg[0][0] = x;
    m->reg[SLRI_F32 - SLRI_I32][0] = y;
    make_block(m, 6, pick(m, 2));
    build_to(&m->b, SLRI_NO_REG, SLRI_OP_RETURN, SLRI_VOID, variable(m, SLRI_I32), SLRI_NO_REG);
    build_binding(&m->b, build_entry(&m->b, "f", STATE_BYTES, 8), "buffer", true, SLRI_F32);
    m->callee = callee;
    make_variables(m);
    make_block(m, 30, 3);
}

// ---- running -------------------------------------------------------------------------------------------------------

struct outcome {
    _Alignas(8) unsigned char state[STATE_BYTES], buffer[256], replies[4][16];
    struct slri_call call;
    uint32_t fault;
};

static void run_one(struct outcome *out, slri_handler *handler, void *self, const unsigned char *message, uint64_t fuel)
{
    memset(out, 0, sizeof *out);
    struct slri_bound bound = {out->buffer, sizeof out->buffer};
    out->call = (struct slri_call){.state = out->state,
                                   .message = message,
                                   .bound = &bound,
                                   .reply_base = out->replies[0],
                                   .reply_mask = 3,
                                   .reply_stride = 16,
                                   .reply_bytes = 8,
                                   .max_replies = 3,
                                   .fuel = fuel};
    out->fault = handler(self, &out->call);
}

static void make_message(struct maker *m, unsigned char *message)
{
    for (int i = 0; i < MESSAGE_BYTES; i++)
        message[i] = (unsigned char)pick(m, 256);
    for (int i = 0; i < MESSAGE_BYTES; i += 8) // half of the numbers small, and some floats plain ones
        if (pick(m, 2)) {
            float plain = (float)pick(m, 1000) / 8 - 20;
            int32_t small = (int32_t)pick(m, 20) - 5;
            memset(message + i, small < 0 ? 0xff : 0, 8);
            memcpy(message + i, i / 8 >= 12 ? (void *)&plain : (void *)&small, 4);
        }
}

static void compare(const struct outcome *compiled, const struct outcome *interpreted, uint64_t seed, int number)
{
    const char *what = compiled->fault != interpreted->fault                                       ? "fault"
                       : compiled->call.fault_line != interpreted->call.fault_line                 ? "line"
                       : compiled->call.fault_column != interpreted->call.fault_column             ? "column"
                       : compiled->call.fault_index != interpreted->call.fault_index               ? "index"
                       : compiled->call.fault_size != interpreted->call.fault_size                 ? "size"
                       : compiled->call.replies != interpreted->call.replies                       ? "number of replies"
                       : memcmp(compiled->replies, interpreted->replies, sizeof compiled->replies) ? "replies"
                       : memcmp(compiled->buffer, interpreted->buffer, sizeof compiled->buffer)    ? "buffer"
                       : compiled->fault != SLRI_FAULT_NONE                                        ? NULL
                       : compiled->call.fuel != interpreted->call.fuel                             ? "fuel"
                       : memcmp(compiled->state, interpreted->state, STATE_BYTES)                  ? "state"
                                                                                                   : NULL;
    if (what)
        fail_msg("program %llu, message %d: another %s (fault %u at %u, %u at %u)", (unsigned long long)seed, number,
                 what, compiled->fault, compiled->call.fault_line, interpreted->fault, interpreted->call.fault_line);
}

static void check_program(uint64_t seed, uint32_t *faults)
{
    struct maker m;
    struct slri_cpu_library *library;
    struct slri_interp *interp;
    struct slri_interp_thread *thread;
    slri_handler *handler;
    make_program(&m, seed);
    const char *problem = slri_module_verify(m.b.module);
    if (problem)
        fail_msg("program %llu: %s", (unsigned long long)seed, problem);
    if (slri_cpu_compile(m.b.module, &library) != SLR_OK)
        fail_msg("program %llu: %s", (unsigned long long)seed, slr_error_message());
    assert_int_equal(slri_cpu_library_symbol(library, "f", &handler), SLR_OK);
    assert_int_equal(slri_interp_create(m.b.module, &interp), SLR_OK);
    assert_int_equal(slri_interp_thread_create(interp, 0, &thread), SLR_OK);
    for (int i = 0; i < MESSAGES; i++) {
        _Alignas(8) unsigned char message[MESSAGE_BYTES];
        static struct outcome compiled, interpreted;
        uint64_t fuel = pick(&m, 4) ? 5000 : pick(&m, 40);
        make_message(&m, message);
        run_one(&compiled, handler, NULL, message, fuel);
        run_one(&interpreted, slri_interp_handler, thread, message, fuel);
        compare(&compiled, &interpreted, seed, i);
        faults[compiled.fault]++;
    }
    slri_interp_thread_destroy(thread);
    slri_interp_destroy(interp);
    slri_cpu_library_close(library);
    build_close(&m.b);
}

// SLIPRING_TEST_SEED=n starts at another program.
static void random_programs_agree(void **state)
{
    const char *wish = getenv("SLIPRING_TEST_SEED");
    uint64_t first = wish ? strtoull(wish, NULL, 10) : 1;
    uint32_t faults[16] = {0};
    (void)state;
    for (uint64_t seed = first; seed < first + PROGRAMS; seed++)
        check_program(seed, faults);
    for (uint32_t fault = SLRI_FAULT_NONE; fault <= SLRI_FAULT_REPLIES; fault++)
        print_message("fault %u: %u messages\n", fault, faults[fault]);
    if (!wish) // the programs reach what they are for
        for (uint32_t fault = SLRI_FAULT_NONE; fault <= SLRI_FAULT_REPLIES; fault++)
            assert_true(faults[fault] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
