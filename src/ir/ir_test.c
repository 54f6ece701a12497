// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "ir/ir_fixture.h"
#include "ir/ir_print.h"
#include "ir/math/functions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void kinds_have_sizes_spellings_and_registers(void **state)
{
    (void)state;
    assert_int_equal(slri_kind_bytes(SLRI_VOID), 0);
    assert_int_equal(slri_kind_bytes(SLRI_U16), 2);
    assert_int_equal(slri_kind_bytes(SLRI_F64), 8);
    assert_int_equal(slri_kind_bytes(SLRI_STRUCT), 0);
    assert_string_equal(slri_kind_spelling(SLRI_I8), "int8_t");
    assert_int_equal(slri_kind_in_register(SLRI_BOOL), SLRI_I32);
    assert_int_equal(slri_kind_in_register(SLRI_U16), SLRI_I32);
    assert_int_equal(slri_kind_in_register(SLRI_U32), SLRI_U32);
}

static void blocks_and_registers_grow_and_keep_what_they_hold(void **state)
{
    struct build b;
    (void)state;
    build_open(&b, "user.cu");
    build_function(&b, "f", SLRI_VOID);
    for (int32_t i = 0; i < 1000; i++)
        assert_int_equal(build_i32(&b, i), i);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(b.block->instr[i].imm, i);
        assert_int_equal(b.block->instr[i].dst, i);
        assert_int_equal(b.block->instr[i].a, SLRI_NO_REG);
        assert_int_equal(b.function->reg_kind[i], SLRI_I32);
    }
    build_close(&b);
}

// ---- verify --------------------------------------------------------------------------------------------------------

// A module that keeps every rule, with an open entry "f" that has a state, a reply and a const buffer.
static slri_reg open_good(struct build *b)
{
    build_open(b, "user.cu");
    struct slri_function *callee = build_function(b, "callee", SLRI_I32);
    slri_reg x = build_param(b, SLRI_I32, "x", 0);
    build_param(b, SLRI_I64, "p", 8);
    build_to(b, SLRI_NO_REG, SLRI_OP_RETURN, SLRI_VOID, x, SLRI_NO_REG);
    struct slri_entry *entry = build_entry(b, "f", 64, 8);
    build_binding(b, entry, "weights", true, SLRI_F32);
    entry->binding[0].is_const = true;
    slri_reg one = build_i32(b, 1);
    struct slri_root local = build_local(b, "local", 8);
    slri_reg offset = build_i64(b, 0);
    struct slri_instr *call = build_append(b, SLRI_OP_CALL, SLRI_VOID);
    call->callee = callee;
    struct slri_arg *arg = build_args(b, call, 2);
    arg[0].reg = one;
    arg[1] = (struct slri_arg){offset, local};
    return one;
}

static void expect_problem(struct build *b, const char *part)
{
    const char *problem = slri_module_verify(b->module);
    if (!problem)
        fail_msg("accepted, though: %s", part);
    if (!strstr(problem, part))
        fail_msg("\"%s\" does not hold \"%s\"", problem, part);
    build_close(b);
}

static void a_clock_gives_64_bits(void **state)
{
    struct build b;
    (void)state;
    slri_reg one = open_good(&b);
    build_append(&b, SLRI_OP_CLOCK, SLRI_U64)->dst =
        slri_function_add_reg(b.module->region, b.function, SLRI_U64, NULL);
    assert_null(slri_module_verify(b.module));
    build_append(&b, SLRI_OP_CLOCK, SLRI_U64)->dst = one;
    expect_problem(&b, "CLOCK: dst: register 1 is I32, not U64");
}

static void a_module_that_keeps_the_rules_is_accepted(void **state)
{
    struct build b;
    (void)state;
    open_good(&b);
    assert_null(slri_module_verify(b.module));
    build_close(&b);
}

static void operands_of_wrong_kinds_are_refused(void **state)
{
    struct build b;
    (void)state;
    slri_reg one = open_good(&b);
    b.line = 9;
    build_op(&b, SLRI_OP_ADD, SLRI_F32, one, one);
    expect_problem(&b, "function f: 9:1: ADD: a: register");
    open_good(&b);
    build_op(&b, SLRI_OP_ADD, SLRI_I32, 4000, 4000);
    expect_problem(&b, "a: no such register");
    one = open_good(&b);
    build_op(&b, SLRI_OP_REM, SLRI_F32, one, one);
    expect_problem(&b, "REM: not on F32");
    one = open_good(&b);
    build_op(&b, SLRI_OP_NEG, SLRI_I32, one, one);
    expect_problem(&b, "b is not used");
    one = open_good(&b);
    build_load(&b, SLRI_I32, build_state, one);
    expect_problem(&b, "is I32, not I64");
    open_good(&b);
    build_bits(&b, SLRI_I32, 1ull << 32);
    expect_problem(&b, "bits above the 32");
}

static void roots_that_are_not_there_are_refused(void **state)
{
    static const struct {
        struct slri_root root;
        const char *problem;
    } bad[] = {
        {{SLRI_ROOT_NONE, 0}, "has no root"},
        {{SLRI_ROOT_LOCAL, 1}, "no local 1"},
        {{SLRI_ROOT_CONST, 0}, "no const table 0"},
        {{SLRI_ROOT_PARAM, 0}, "parameter 0 is no memory"},
        {{SLRI_ROOT_BINDING, 1}, "entry f has no buffer 1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct build b;
        open_good(&b);
        build_load_at(&b, SLRI_I32, bad[i].root, 0);
        expect_problem(&b, bad[i].problem);
    }
}

static void what_is_read_only_cannot_be_written(void **state)
{
    struct build b;
    (void)state;
    slri_reg one = open_good(&b);
    build_store_at(&b, SLRI_I32, build_message, 0, one);
    expect_problem(&b, "writes to a message");
    one = open_good(&b);
    build_store_at(&b, SLRI_I32, (struct slri_root){SLRI_ROOT_BINDING, 0}, 0, one);
    expect_problem(&b, "writes to const buffer weights");
}

static void entries_without_state_or_reply_cannot_use_them(void **state)
{
    struct build b;
    (void)state;
    open_good(&b);
    build_load_at(&b, SLRI_I32, build_state, 0);
    b.module->entry[0].state = NULL;
    expect_problem(&b, "entry f has no state");
    open_good(&b);
    build_reply(&b, build_state, 0);
    b.module->entry[0].reply = NULL;
    expect_problem(&b, "does not reply");
}

static void calls_match_their_callee_and_never_recurse(void **state)
{
    struct build b;
    (void)state;
    open_good(&b);
    struct slri_instr *call = &b.block->instr[b.block->count - 1];
    call->args = 1;
    expect_problem(&b, "1 arguments for 2 parameters");
    open_good(&b);
    b.block->instr[b.block->count - 1].callee = b.function;
    expect_problem(&b, "does not stand before its caller");
    open_good(&b);
    b.block->instr[b.block->count - 1].arg[1].root = build_state;
    expect_problem(&b, "neither a local nor a parameter");
    open_good(&b);
    b.module->function[0]->param[1].bytes = 16;
    expect_problem(&b, "another size");
    open_good(&b);
    b.module->function[0]->name = "f";
    expect_problem(&b, "another has its name");
}

static void control_flow_is_well_formed(void **state)
{
    struct build b;
    (void)state;
    open_good(&b);
    build_append(&b, SLRI_OP_BREAK, SLRI_VOID);
    expect_problem(&b, "BREAK: outside a loop or switch");
    open_good(&b);
    build_append(&b, SLRI_OP_CONTINUE, SLRI_VOID);
    expect_problem(&b, "CONTINUE: outside a loop");
    slri_reg one = open_good(&b);
    build_to(&b, SLRI_NO_REG, SLRI_OP_RETURN, SLRI_VOID, one, SLRI_NO_REG);
    expect_problem(&b, "a value in a function without a result");
    one = open_good(&b);
    struct slri_instr *branch = build_append(&b, SLRI_OP_SWITCH, SLRI_VOID);
    branch->a = one;
    branch->cases = 2;
    branch->match = build_take(&b, 2 * sizeof *branch->match);
    branch->match[0].body = branch->match[1].body = slri_block_create(b.module->region);
    expect_problem(&b, "cases 0 and 1 are equal");
    open_good(&b);
    build_append(&b, SLRI_OP_LOOP, SLRI_VOID);
    expect_problem(&b, "no test or no body");
    open_good(&b);
    build_append(&b, SLRI_OP_FENCE, SLRI_VOID)->where.file = 1;
    expect_problem(&b, "no file 1");
}

static void math_and_atomics_are_checked(void **state)
{
    struct build b;
    (void)state;
    slri_reg one = open_good(&b);
    build_math(&b, SLRI_MATH_SQRTF, SLRI_F32, one);
    expect_problem(&b, "argument: register");
    one = open_good(&b);
    build_math(&b, SLRI_MATH_COUNT, SLRI_F32, one);
    expect_problem(&b, "no math function");
    open_good(&b);
    build_load_at(&b, SLRI_I32, build_state, 0);
    b.block->instr[b.block->count - 1].op = SLRI_OP_ATOMIC_LOAD;
    b.block->instr[b.block->count - 1].order = SLRI_RELEASE;
    expect_problem(&b, "a load cannot release");
}

// ---- print ---------------------------------------------------------------------------------------------------------

static void a_module_prints_as_stable_text(void **state)
{
    struct build b;
    slri_text text = SLRI_TEXT_INIT;
    (void)state;
    open_good(&b);
    b.line = 4;
    slri_reg i = build_reg(&b, SLRI_I32, "i"), zero = build_i32(&b, 0), eight = build_i32(&b, 8);
    b.block = build_for(&b, i, zero, SLRI_OP_LT, eight, 1);
    slri_module_print(b.module, &text);
    assert_string_equal(slri_text_view(&text),
                        "module fixture\n"
                        "file 0: user.cu\n"
                        "function callee: i32\n"
                        "  param 0: x%0\n"
                        "  param 1: p%1 of 8 bytes\n"
                        "  registers: x%0.i32 p%1.i64\n"
                        "  body:\n"
                        "    return x%0  ; 0:1:1\n"
                        "function f: void\n"
                        "  local 0: local, 8 bytes\n"
                        "  registers: weights%0.i64 %1.i32 %2.i64 i%3.i32 %4.i32 %5.i32 %6.i32 %7.i32\n"
                        "  body:\n"
                        "    %1 = const.i32 0x1  ; 0:1:1\n"
                        "    %2 = const.i64 0x0  ; 0:1:1\n"
                        "    call callee %1 [local 0 + %2]  ; 0:1:1\n"
                        "    %4 = const.i32 0x0  ; 0:4:1\n"
                        "    %5 = const.i32 0x8  ; 0:4:1\n"
                        "    i%3 = move.i32 %4  ; 0:4:1\n"
                        "    loop %6  ; 0:4:1\n"
                        "      test:\n"
                        "        %6 = lt.i32 i%3 %5  ; 0:4:1\n"
                        "      body:\n"
                        "      step:\n"
                        "        %7 = const.i32 0x1  ; 0:4:1\n"
                        "        i%3 = add.i32 i%3 %7  ; 0:4:1\n"
                        "entry f = f\n"
                        "  state: fixture, 64 bytes\n"
                        "  message: fixture, 4096 bytes\n"
                        "  reply: fixture, 8 bytes\n"
                        "  binding 0: const buffer weights weights%0\n");
    slri_text_free(&text);
    build_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_have_sizes_spellings_and_registers),
        cmocka_unit_test(blocks_and_registers_grow_and_keep_what_they_hold),
        cmocka_unit_test(a_module_that_keeps_the_rules_is_accepted),
        cmocka_unit_test(a_clock_gives_64_bits),
        cmocka_unit_test(operands_of_wrong_kinds_are_refused),
        cmocka_unit_test(roots_that_are_not_there_are_refused),
        cmocka_unit_test(what_is_read_only_cannot_be_written),
        cmocka_unit_test(entries_without_state_or_reply_cannot_use_them),
        cmocka_unit_test(calls_match_their_callee_and_never_recurse),
        cmocka_unit_test(control_flow_is_well_formed),
        cmocka_unit_test(math_and_atomics_are_checked),
        cmocka_unit_test(a_module_prints_as_stable_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
