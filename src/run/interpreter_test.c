// SPDX-License-Identifier: Apache-2.0
// Control flow, calls, faults, replies and bindings, in IR written by hand. kit_run also runs each handler one
// instruction at a time and compares.
#include "run/interpreter_test.h"

#include <slipring/status.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

// ---- more of the kit: calls and memory ------------------------------------------------------------------------------

static void emit_return(struct kit *kit, slri_reg value)
{
    kit_emit(kit, SLRI_OP_RETURN, SLRI_VOID)->a = value;
}

// dst = callee(reg, ...), pointers with their roots.
static slri_reg call(struct kit *kit, const struct slri_function *callee, uint32_t args, const struct slri_arg *arg)
{
    slri_reg dst = callee->result == SLRI_VOID ? SLRI_NO_REG : kit_reg(kit, callee->result);
    struct slri_instr *in = kit_emit(kit, SLRI_OP_CALL, SLRI_VOID);
    in->dst = dst;
    in->callee = callee;
    in->args = args;
    in->arg = slri_region_take(kit->region, args * sizeof *in->arg);
    if (args > 0)
        memcpy(in->arg, arg, args * sizeof *in->arg);
    return dst;
}

static slri_reg param(struct kit *kit, enum slri_kind kind, uint64_t memory_bytes)
{
    slri_reg reg = kit_reg(kit, kind);
    kit->function->param[kit->function->params++] =
        (struct slri_param){.name = "p", .reg = reg, .is_memory = memory_bytes > 0, .bytes = memory_bytes};
    return reg;
}

static struct slri_root local(struct kit *kit, uint64_t bytes)
{
    struct slri_type *type = slri_region_take(kit->region, sizeof *type);
    *type = (struct slri_type){.kind = SLRI_ARRAY, .bytes = bytes, .align = 1, .count = bytes};
    kit->function->local[kit->function->locals] = (struct slri_local){"local", type};
    return (struct slri_root){SLRI_ROOT_LOCAL, kit->function->locals++};
}

// ---- control flow ---------------------------------------------------------------------------------------------------

static void nested_loops_break_and_continue_their_own_loop(void **unused)
{
    (void)unused;
    struct kit kit;
    kit_open(&kit);
    kit_handler(&kit);
    slri_reg n = kit_load(&kit, SLRI_I32, MESSAGE, 0), sum = kit_reg(&kit, SLRI_I32);
    struct kit_counted outer = kit_begin_counted(&kit, n);
    kit_if(&kit, kit_op(&kit, SLRI_OP_EQ, SLRI_I32, outer.i, kit_i32(&kit, 3)), SLRI_OP_CONTINUE);
    struct kit_counted inner = kit_begin_counted(&kit, n);
    kit_if(&kit, kit_op(&kit, SLRI_OP_AND, SLRI_I32, inner.i, kit_i32(&kit, 1)), SLRI_OP_CONTINUE);
    kit_if(&kit, kit_op(&kit, SLRI_OP_GT, SLRI_I32, inner.i, outer.i), SLRI_OP_BREAK);
    kit_add(&kit, sum, kit_op(&kit, SLRI_OP_MUL, SLRI_I32, outer.i, inner.i));
    kit_end_counted(&kit, &inner);
    kit_if(&kit, kit_op(&kit, SLRI_OP_EQ, SLRI_I32, outer.i, kit_i32(&kit, 8)), SLRI_OP_BREAK);
    kit_end_counted(&kit, &outer);
    kit_store(&kit, SLRI_I32, STATE, 0, sum);
    for (int32_t count = 0; count < 12; count++) {
        int32_t wanted = 0, state[STATE_BYTES / 4] = {-1}, message[MESSAGE_BYTES / 4] = {count};
        for (int i = 0; i < count; i++) {
            if (i == 3)
                continue;
            for (int j = 0; j < count; j++) {
                if (j & 1)
                    continue;
                if (j > i)
                    break;
                wanted += i * j;
            }
            if (i == 8)
                break;
        }
        assert_int_equal(kit_handle(&kit, state, message), SLRI_FAULT_NONE);
        assert_int_equal(state[0], wanted);
    }
    kit_close(&kit);
}

// do { n += 1; if (n == 5) continue; sum += n; } while (n < message);
static void do_while_runs_its_body_first_and_continues_at_the_test(void **unused)
{
    (void)unused;
    struct kit kit;
    struct slri_instr loop = {.do_while = true};
    kit_open(&kit);
    kit_handler(&kit);
    slri_reg limit = kit_load(&kit, SLRI_I32, MESSAGE, 0), n = kit_reg(&kit, SLRI_I32), sum = kit_reg(&kit, SLRI_I32);
    struct slri_block *outer = kit_into(&kit, &loop.body[0]);
    loop.a = kit_op(&kit, SLRI_OP_LT, SLRI_I32, n, limit);
    kit_into(&kit, &loop.body[1]);
    kit_add(&kit, n, kit_i32(&kit, 1));
    kit_if(&kit, kit_op(&kit, SLRI_OP_EQ, SLRI_I32, n, kit_i32(&kit, 5)), SLRI_OP_CONTINUE);
    kit_add(&kit, sum, n);
    kit.block = outer;
    struct slri_instr *in = kit_emit(&kit, SLRI_OP_LOOP, SLRI_VOID);
    in->do_while = true;
    in->a = loop.a;
    memcpy(in->body, loop.body, sizeof in->body);
    kit_store(&kit, SLRI_I32, STATE, 0, sum);
    static const int32_t wanted[][2] = {{-4, 1}, {0, 1}, {1, 1}, {4, 10}, {5, 10}, {6, 16}, {7, 23}};
    for (size_t i = 0; i < COUNT(wanted); i++) {
        int32_t state[STATE_BYTES / 4] = {0}, message[MESSAGE_BYTES / 4] = {wanted[i][0]};
        assert_int_equal(kit_handle(&kit, state, message), SLRI_FAULT_NONE);
        assert_int_equal(state[0], wanted[i][1]);
    }
    kit_close(&kit);
}

// switch (message) { case -7: r += 1; case 2: r += 10; break; default: r += 100; case 1000: r += 1000; } in kind `kind`
static void write_switch(struct kit *kit, enum slri_kind kind, bool has_default)
{
    static const int64_t values[] = {-7, 2, 0, 1000};
    static const int32_t amounts[] = {1, 10, 100, 1000};
    struct slri_case *match = slri_region_take(kit->region, 4 * sizeof *match);
    slri_reg r = kit_reg(kit, SLRI_I32), value = kit_load(kit, kind, MESSAGE, 0);
    uint32_t cases = 0;
    for (int i = 0; i < 4; i++) {
        if (i == 2 && !has_default)
            continue;
        uint64_t bits = slri_kind_bytes(kind) == 8 ? (uint64_t)values[i] : (uint32_t)values[i];
        match[cases] = (struct slri_case){.is_default = i == 2, .value = i == 2 ? 0 : bits};
        struct slri_block *outer = kit_into(kit, &match[cases++].body);
        kit_add(kit, r, kit_i32(kit, amounts[i]));
        if (i == 1)
            kit_emit(kit, SLRI_OP_BREAK, SLRI_VOID);
        kit->block = outer;
    }
    struct slri_instr *in = kit_emit(kit, SLRI_OP_SWITCH, kind);
    in->a = value;
    in->cases = cases;
    in->match = match;
    kit_store(kit, SLRI_I32, STATE, 0, r);
}

static int32_t run_switch(struct kit *kit, int64_t value)
{
    int64_t message[MESSAGE_BYTES / 8] = {value};
    int32_t state[STATE_BYTES / 4] = {-1};
    assert_int_equal(kit_handle(kit, state, message), SLRI_FAULT_NONE);
    return state[0];
}

static void switch_falls_through_breaks_and_takes_its_default(void **unused)
{
    static const enum slri_kind kinds[] = {SLRI_I32, SLRI_U32, SLRI_I64, SLRI_U64};
    (void)unused;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        for (int has_default = 0; has_default < 2; has_default++) {
            struct kit kit;
            kit_open(&kit);
            kit_handler(&kit);
            write_switch(&kit, kinds[k], has_default);
            assert_int_equal(run_switch(&kit, -7), 11);
            assert_int_equal(run_switch(&kit, 2), 10);
            assert_int_equal(run_switch(&kit, 1000), 1000);
            assert_int_equal(run_switch(&kit, 3), has_default ? 1100 : 0);
            assert_int_equal(run_switch(&kit, 0), has_default ? 1100 : 0);
            if (slri_kind_bytes(kinds[k]) == 8) // not the same as 2 in all 64 bits
                assert_int_equal(run_switch(&kit, 0x100000002), has_default ? 1100 : 0);
            kit_close(&kit);
        }
    }
}

static void a_continue_in_a_switch_is_the_loops(void **unused)
{
    (void)unused;
    struct kit kit;
    kit_open(&kit);
    kit_handler(&kit);
    slri_reg sum = kit_reg(&kit, SLRI_I32);
    struct kit_counted c = kit_begin_counted(&kit, kit_i32(&kit, 5));
    struct slri_case *match = slri_region_take(kit.region, 2 * sizeof *match);
    for (uint32_t i = 0; i < 2; i++) { // case 1: continue; case 2: break;
        match[i].value = i + 1;
        struct slri_block *outer = kit_into(&kit, &match[i].body);
        kit_emit(&kit, i == 0 ? SLRI_OP_CONTINUE : SLRI_OP_BREAK, SLRI_VOID);
        kit.block = outer;
    }
    struct slri_instr *in = kit_emit(&kit, SLRI_OP_SWITCH, SLRI_I32);
    in->a = c.i;
    in->cases = 2;
    in->match = match;
    kit_add(&kit, sum, c.i);
    kit_end_counted(&kit, &c);
    kit_store(&kit, SLRI_I32, STATE, 0, sum);
    int32_t state[STATE_BYTES / 4] = {0}, message[MESSAGE_BYTES / 4] = {0};
    assert_int_equal(kit_handle(&kit, state, message), SLRI_FAULT_NONE);
    assert_int_equal(state[0], 0 + 2 + 3 + 4);
    kit_close(&kit);
}

// switch (a) { case value: what follows, until `block` is set to what this returns }
static struct slri_block *begin_switch(struct kit *kit, slri_reg a, uint64_t value)
{
    struct slri_case *match = slri_region_take(kit->region, sizeof *match);
    match->value = value;
    struct slri_instr *in = kit_emit(kit, SLRI_OP_SWITCH, SLRI_I32);
    in->a = a;
    in->cases = 1;
    in->match = match;
    return kit_into(kit, &match->body);
}

static void switches_in_a_switch_and_after_it_keep_their_own_cases(void **unused)
{
    (void)unused;
    struct kit kit;
    kit_open(&kit);
    kit_handler(&kit);
    slri_reg sum = kit_reg(&kit, SLRI_I32);
    struct kit_counted c = kit_begin_counted(&kit, kit_i32(&kit, 6));
    slri_reg other = kit_op(&kit, SLRI_OP_AND, SLRI_I32, c.i, kit_i32(&kit, 1));
    struct slri_block *outer = begin_switch(&kit, other, 1); // switch (i & 1) { case 1: switch (i) { case 3: ...
    struct slri_block *inner = begin_switch(&kit, c.i, 3);
    kit_add(&kit, sum, kit_i32(&kit, 100));
    kit.block = inner;
    kit_add(&kit, sum, kit_i32(&kit, 1));
    kit.block = outer;
    outer = begin_switch(&kit, c.i, 4); // switch (i) { case 4: ...
    kit_add(&kit, sum, kit_i32(&kit, 1000));
    kit.block = outer;
    kit_end_counted(&kit, &c);
    kit_store(&kit, SLRI_I32, STATE, 0, sum);
    int32_t state[STATE_BYTES / 4] = {0}, message[MESSAGE_BYTES / 4] = {0};
    assert_int_equal(kit_handle(&kit, state, message), SLRI_FAULT_NONE);
    assert_int_equal(state[0], 100 + 3 + 1000);
    kit_close(&kit);
}

// ---- calls ----------------------------------------------------------------------------------------------------------

// int first_above(int limit): the least i with i * i > limit, returned from within a loop.
static struct slri_function *write_first_above(struct kit *kit)
{
    struct slri_function *function = kit_function(kit, "first_above", SLRI_I32);
    slri_reg limit = param(kit, SLRI_I32, 0);
    struct kit_counted c = kit_begin_counted(kit, kit_i32(kit, 100));
    slri_reg above = kit_op(kit, SLRI_OP_GT, SLRI_I32, kit_op(kit, SLRI_OP_MUL, SLRI_I32, c.i, c.i), limit);
    struct slri_instr *in = kit_emit(kit, SLRI_OP_IF, SLRI_VOID);
    in->a = above;
    struct slri_block *outer = kit_into(kit, &in->body[0]);
    emit_return(kit, c.i);
    kit->block = outer;
    kit_end_counted(kit, &c);
    emit_return(kit, kit_i32(kit, -1));
    return function;
}

static void calls_return_early_and_each_has_registers_of_its_own(void **unused)
{
    (void)unused;
    struct kit kit;
    kit_open(&kit);
    struct slri_function *inner = write_first_above(&kit);
    struct slri_function *middle = kit_function(&kit, "middle", SLRI_I32);
    slri_reg x = param(&kit, SLRI_I32, 0);
    slri_reg once = call(&kit, inner, 1, &(struct slri_arg){.reg = x});
    slri_reg twice = call(&kit, inner, 1, &(struct slri_arg){.reg = once});
    emit_return(&kit, kit_op(&kit, SLRI_OP_SUB, SLRI_I32, once, twice));
    kit_handler(&kit);
    slri_reg given = kit_load(&kit, SLRI_I32, MESSAGE, 0);
    slri_reg result = call(&kit, middle, 1, &(struct slri_arg){.reg = given});
    kit_store(&kit, SLRI_I32, STATE, 0, result);
    kit_store(&kit, SLRI_I32, STATE, 4, given);
    int32_t state[STATE_BYTES / 4] = {0}, message[MESSAGE_BYTES / 4] = {50};
    assert_int_equal(kit_handle(&kit, state, message), SLRI_FAULT_NONE);
    assert_int_equal(state[0], 8 - 3);
    assert_int_equal(state[1], 50);
    kit_close(&kit);
}

// inner(int *p, at) { scratch[2] = 99; p[at] += 7; }  outer(int *p, at) { inner(p, at + 4); }: a caller's local.
static void a_parameter_in_memory_reaches_through_two_calls(void **unused)
{
    static const struct slri_root first = {SLRI_ROOT_PARAM, 0};
    (void)unused;
    struct kit kit;
    kit_open(&kit);
    struct slri_function *inner = kit_function(&kit, "inner", SLRI_VOID);
    slri_reg at = param(&kit, SLRI_I64, 16);
    struct slri_root scratch = local(&kit, 16); // not to be taken for the parameter
    kit_store(&kit, SLRI_I32, scratch, 8, kit_i32(&kit, 99));
    slri_reg sum = kit_op(&kit, SLRI_OP_ADD, SLRI_I32, kit_load_at(&kit, SLRI_I32, first, at), kit_i32(&kit, 7));
    struct slri_instr *in = kit_emit(&kit, SLRI_OP_STORE, SLRI_I32);
    in->root = first;
    in->a = at;
    in->b = sum;
    struct slri_function *outer = kit_function(&kit, "outer", SLRI_VOID);
    slri_reg from = param(&kit, SLRI_I64, 16);
    slri_reg next = kit_op(&kit, SLRI_OP_ADD, SLRI_I64, from, kit_const(&kit, SLRI_I64, 4));
    call(&kit, inner, 1, &(struct slri_arg){next, first});
    kit_handler(&kit);
    local(&kit, 8);
    struct slri_root array = local(&kit, 16);
    kit_store(&kit, SLRI_I32, array, 8, kit_load(&kit, SLRI_I32, MESSAGE, 0));
    slri_reg offset = kit_load(&kit, SLRI_I64, MESSAGE, 8);
    call(&kit, outer, 1, &(struct slri_arg){offset, array});
    kit_store(&kit, SLRI_I32, STATE, 0, kit_load(&kit, SLRI_I32, array, 8));
    int32_t state[STATE_BYTES / 4] = {0};
    int64_t message[MESSAGE_BYTES / 8] = {35, 4};
    assert_int_equal(kit_handle(&kit, state, message), SLRI_FAULT_NONE);
    assert_int_equal(state[0], 42);
    message[1] = 12; // p[4] of an int[4]
    assert_int_equal(kit_handle(&kit, state, message), SLRI_FAULT_ACCESS);
    kit_close(&kit);
}

static void memory_that_was_not_written_reads_as_zero_in_every_call(void **unused)
{
    (void)unused;
    struct kit kit;
    kit_open(&kit);
    // int a[4]; int old = a[1]; a[1] = 9; return old;
    struct slri_function *leaf = kit_function(&kit, "leaf", SLRI_I32);
    struct slri_root array = local(&kit, 16);
    slri_reg old = kit_load(&kit, SLRI_I32, array, 4);
    kit_store(&kit, SLRI_I32, array, 4, kit_i32(&kit, 9));
    emit_return(&kit, old);
    kit_handler(&kit);
    kit_store(&kit, SLRI_I32, STATE, 0, call(&kit, leaf, 0, NULL));
    kit_store(&kit, SLRI_I32, STATE, 4, call(&kit, leaf, 0, NULL));
    int32_t state[STATE_BYTES / 4] = {-1, -1}, message[MESSAGE_BYTES / 4] = {0};
    assert_int_equal(kit_handle(&kit, state, message), SLRI_FAULT_NONE);
    assert_int_equal(state[0], 0);
    assert_int_equal(state[1], 0);
    kit_close(&kit);
}

static void a_stack_that_cannot_suffice_is_refused_at_creation(void **unused)
{
    (void)unused;
    struct kit kit;
    struct slri_interp *interp = NULL;
    kit_open(&kit);
    struct slri_function *deepest = kit_function(&kit, "deepest", SLRI_VOID);
    local(&kit, 600u << 10);
    struct slri_function *above = kit_function(&kit, "above", SLRI_VOID);
    local(&kit, 300u << 10);
    call(&kit, deepest, 0, NULL);
    call(&kit, deepest, 0, NULL); // one after the other: the same stack again
    kit_handler(&kit);
    call(&kit, above, 0, NULL);
    assert_int_equal(slri_interp_create(&kit.module, &interp), SLR_OK);
    slri_interp_destroy(interp);

    interp = NULL;
    local(&kit, 200u << 10);
    assert_int_equal(slri_interp_create(&kit.module, &interp), SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), "'handle'"));
    assert_null(interp);
    local(&kit, UINT64_MAX);
    assert_int_equal(slri_interp_create(&kit.module, &interp), SLR_UNSUPPORTED);
    kit_close(&kit);
}

// ---- faults ---------------------------------------------------------------------------------------------------------

// Runs a handler that does one thing, which must fault with `fault` at that thing's line and leave the state alone.
static void expect_fault(struct kit *kit, uint32_t fault, uint32_t line)
{
    unsigned char state[STATE_BYTES] = {0}, untouched[STATE_BYTES] = {0};
    uint64_t message[MESSAGE_BYTES / 8] = {0}, replies[2] = {0};
    uint32_t words[4] = {0};
    struct slri_bound bound = {(unsigned char *)words, 15};
    struct slri_call call = {.state = state,
                             .message = message,
                             .bound = &bound,
                             .fuel = 1000,
                             .max_replies = 0,
                             .reply_base = (unsigned char *)replies,
                             .reply_stride = 8,
                             .reply_bytes = 8};
    assert_int_equal(kit_run(kit, &call), fault);
    assert_int_equal(call.fault_line, line);
    assert_int_equal(call.fault_file, 0);
    assert_memory_equal(state, untouched, sizeof state);
}

static void check_access_fault(struct slri_root root, enum slri_op op, int64_t offset, bool faults)
{
    struct kit kit;
    kit_open(&kit);
    kit_handler(&kit);
    kit_buffer(&kit);
    local(&kit, 24);
    slri_reg at = kit_const(&kit, SLRI_I64, (uint64_t)offset), zero = kit_const(&kit, SLRI_U32, 0);
    struct slri_instr *in = kit_emit(&kit, op, op == SLRI_OP_ZERO ? SLRI_VOID : SLRI_U32);
    in->root = root;
    in->a = at;
    in->imm = op == SLRI_OP_ZERO ? 4 : SLRI_RMW_ADD;
    if (op == SLRI_OP_STORE || op == SLRI_OP_ATOMIC_RMW)
        in->b = zero;
    if (op == SLRI_OP_LOAD || op == SLRI_OP_ATOMIC_RMW)
        in->dst = zero;
    expect_fault(&kit, faults ? SLRI_FAULT_ACCESS : SLRI_FAULT_NONE, faults ? kit.line : 0);
    kit_close(&kit);
}

static void an_access_outside_its_root_faults(void **unused)
{
    static const struct slri_root buffer = {SLRI_ROOT_BINDING, 0}, array = {SLRI_ROOT_LOCAL, 0};
    static const enum slri_op ops[] = {SLRI_OP_LOAD, SLRI_OP_STORE, SLRI_OP_ZERO, SLRI_OP_ATOMIC_RMW};
    static const struct {
        struct slri_root root;
        int64_t last; // the offset of the last word that fits
    } roots[] = {{{SLRI_ROOT_STATE, 0}, STATE_BYTES - 4}, {{SLRI_ROOT_LOCAL, 0}, 20}};
    (void)unused;
    for (size_t r = 0; r < COUNT(roots); r++) {
        for (size_t i = 0; i < COUNT(ops); i++) {
            check_access_fault(roots[r].root, ops[i], 0, false);
            check_access_fault(roots[r].root, ops[i], roots[r].last, false);
            check_access_fault(roots[r].root, ops[i], roots[r].last + 1, true);
            check_access_fault(roots[r].root, ops[i], -1, true);
            check_access_fault(roots[r].root, ops[i], INT64_MIN, true);
            check_access_fault(roots[r].root, ops[i], INT64_MAX, true);
        }
    }
    check_access_fault(MESSAGE, SLRI_OP_LOAD, MESSAGE_BYTES - 4, false);
    check_access_fault(MESSAGE, SLRI_OP_LOAD, MESSAGE_BYTES - 3, true);
    check_access_fault(buffer, SLRI_OP_LOAD, 11, false);
    check_access_fault(buffer, SLRI_OP_LOAD, 12, true);     // 15 bytes are bound
    check_access_fault(array, SLRI_OP_ATOMIC_RMW, 2, true); // not aligned
}

static void division_by_zero_faults_with_its_line(void **unused)
{
    (void)unused;
    struct kit kit;
    kit_open(&kit);
    kit_handler(&kit);
    slri_reg a = kit_i32(&kit, 7), zero = kit_i32(&kit, 0);
    kit_op(&kit, SLRI_OP_DIV, SLRI_I32, a, zero);
    uint32_t line = kit.line;
    kit_store(&kit, SLRI_I32, STATE, 0, a);
    expect_fault(&kit, SLRI_FAULT_DIVIDE, line);
    kit_close(&kit);
}

static void an_index_outside_its_extent_faults(void **unused)
{
    static const struct {
        int64_t index;
        uint32_t fault;
    } cases[] = {{0, 0}, {9, 0}, {10, SLRI_FAULT_INDEX}, {-1, SLRI_FAULT_INDEX}};
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct kit kit;
        kit_open(&kit);
        kit_handler(&kit);
        slri_reg index = kit_const(&kit, SLRI_I64, (uint64_t)cases[i].index);
        struct slri_instr *in = kit_emit(&kit, SLRI_OP_INDEX, SLRI_VOID);
        in->a = index;
        in->imm = 10;
        expect_fault(&kit, cases[i].fault, cases[i].fault != 0 ? kit.line : 0);
        kit_close(&kit);
    }
}

static void a_loop_faults_at_the_back_edge_that_takes_the_last_fuel(void **unused)
{
    (void)unused;
    struct kit kit;
    kit_open(&kit);
    kit_handler(&kit);
    struct kit_counted c = kit_begin_counted(&kit, kit_i32(&kit, 10)); // ten back edges
    kit_end_counted(&kit, &c);
    unsigned char state[STATE_BYTES] = {0}, message[MESSAGE_BYTES] = {0};
    struct slri_call call = {.state = state, .message = message, .fuel = 11};
    assert_int_equal(kit_run(&kit, &call), SLRI_FAULT_NONE);
    assert_int_equal(call.fuel, 1);
    call.fuel = 10;
    assert_int_equal(kit_run(&kit, &call), SLRI_FAULT_FUEL);
    assert_int_equal(call.fuel, 0);
    assert_int_equal(call.fault_line, kit.line);
    call.fuel = 0;
    assert_int_equal(kit_run(&kit, &call), SLRI_FAULT_FUEL);
    kit_close(&kit);
}

// ---- replies, bindings, the instance --------------------------------------------------------------------------------

static void emit_reply(struct kit *kit, int64_t offset)
{
    slri_reg at = kit_const(kit, SLRI_I64, (uint64_t)offset);
    struct slri_instr *in = kit_emit(kit, SLRI_OP_REPLY, SLRI_VOID);
    in->root = MESSAGE;
    in->a = at;
}

static void replies_go_round_their_ring_and_one_too_many_faults(void **unused)
{
    (void)unused;
    struct kit kit;
    kit_open(&kit);
    kit_handler(&kit);
    for (int i = 0; i < 3; i++)
        emit_reply(&kit, 8 * i);
    uint64_t state[STATE_BYTES / 8] = {0}, message[MESSAGE_BYTES / 8] = {101, 102, 103}, ring[8] = {0};
    struct slri_call call = {.state = state,
                             .message = message,
                             .fuel = 1,
                             .reply_base = (unsigned char *)ring,
                             .reply_at = UINT32_MAX,
                             .reply_mask = 3,
                             .reply_stride = 16,
                             .reply_bytes = 8,
                             .max_replies = 3};
    assert_int_equal(kit_run(&kit, &call), SLRI_FAULT_NONE);
    assert_int_equal(call.replies, 3);
    assert_int_equal(ring[6], 101);
    assert_int_equal(ring[0], 102);
    assert_int_equal(ring[2], 103);
    call.replies = 0;
    call.max_replies = 2;
    assert_int_equal(kit_run(&kit, &call), SLRI_FAULT_REPLIES);
    assert_int_equal(call.replies, 2);
    assert_int_equal(call.fault_line, kit.line);
    kit_close(&kit);
}

static void scalars_tables_and_the_instance_reach_the_handler(void **unused)
{
    static const struct slri_type i16 = {.kind = SLRI_I16, .bytes = 2, .align = 2};
    static const struct slri_type f64 = {.kind = SLRI_F64, .bytes = 8, .align = 8};
    static const struct slri_type table = {.kind = SLRI_ARRAY, .bytes = 8, .align = 4, .count = 2};
    (void)unused;
    struct kit kit;
    kit_open(&kit);
    kit_handler(&kit);
    kit.module.constant = &(struct slri_const){"table", &table, (const unsigned char *)(const uint32_t[]){11, 22}};
    kit.module.constants = 1;
    slri_reg narrow = kit_reg(&kit, SLRI_I32), real = kit_reg(&kit, SLRI_F64), number = kit_reg(&kit, SLRI_U32);
    kit.binding[0] = (struct slri_binding_info){.name = "narrow", .type = &i16, .reg = narrow};
    kit.binding[1] = (struct slri_binding_info){.name = "real", .type = &f64, .reg = real};
    kit.entry.bindings = 2;
    kit_store(&kit, SLRI_I32, STATE, 0, narrow);
    kit_store(&kit, SLRI_F64, STATE, 8, real);
    kit_store(&kit, SLRI_U32, STATE, 4, kit_load(&kit, SLRI_U32, (struct slri_root){SLRI_ROOT_CONST, 0}, 4));
    kit_emit(&kit, SLRI_OP_INSTANCE, SLRI_U32)->dst = number;
    kit_store(&kit, SLRI_U32, STATE, 16, number);
    unsigned char message[MESSAGE_BYTES] = {0};
    struct {
        int32_t narrow;
        uint32_t entry;
        double real;
        uint32_t instance, rest[27];
    } state = {0};
    _Static_assert(sizeof state == STATE_BYTES, "the kit's state");
    struct slri_bound bound[] = {{&(int16_t){-5}, 2}, {&(double){0.25}, 8}};
    struct slri_call call = {.state = &state, .message = message, .bound = bound, .instance = 77};
    assert_int_equal(kit_run(&kit, &call), SLRI_FAULT_NONE);
    assert_int_equal(state.narrow, -5);
    assert_true(state.real == 0.25);
    assert_int_equal(state.entry, 22);
    assert_int_equal(state.instance, 77);
    kit_close(&kit);
}

static void a_thread_of_an_entry_that_is_not_there_is_refused(void **unused)
{
    (void)unused;
    struct kit kit;
    struct slri_interp *interp;
    struct slri_interp_thread *thread;
    kit_open(&kit);
    kit_handler(&kit);
    kit_prepare(&kit, &interp, &thread);
    uint64_t done = 9;
    assert_int_equal(slri_interp_step(thread, 10, &done), SLRI_DONE); // never started
    assert_int_equal(done, 0);
    slri_interp_thread_destroy(thread);
    assert_int_equal(slri_interp_thread_create(interp, 1, &thread), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "entry 1 of 'by hand', which has 1"));
    slri_interp_thread_destroy(NULL);
    slri_interp_destroy(NULL);
    slri_interp_destroy(interp);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_loops_break_and_continue_their_own_loop),
        cmocka_unit_test(do_while_runs_its_body_first_and_continues_at_the_test),
        cmocka_unit_test(switch_falls_through_breaks_and_takes_its_default),
        cmocka_unit_test(a_continue_in_a_switch_is_the_loops),
        cmocka_unit_test(switches_in_a_switch_and_after_it_keep_their_own_cases),
        cmocka_unit_test(calls_return_early_and_each_has_registers_of_its_own),
        cmocka_unit_test(a_parameter_in_memory_reaches_through_two_calls),
        cmocka_unit_test(memory_that_was_not_written_reads_as_zero_in_every_call),
        cmocka_unit_test(a_stack_that_cannot_suffice_is_refused_at_creation),
        cmocka_unit_test(an_access_outside_its_root_faults),
        cmocka_unit_test(division_by_zero_faults_with_its_line),
        cmocka_unit_test(an_index_outside_its_extent_faults),
        cmocka_unit_test(a_loop_faults_at_the_back_edge_that_takes_the_last_fuel),
        cmocka_unit_test(replies_go_round_their_ring_and_one_too_many_faults),
        cmocka_unit_test(scalars_tables_and_the_instance_reach_the_handler),
        cmocka_unit_test(a_thread_of_an_entry_that_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
