// SPDX-License-Identifier: Apache-2.0
// What assigns the registers of kernels (ir/assigned.h), by the names of their variables.
#include "ir/assigned.h"
#include "lang/compile_test.h"

struct found {
    struct slri_module *module;
    struct slri_region *region;
    const struct slri_function *function;
    const struct slri_assigned *reg;
};

static struct found begin_in(const char *text, const char *function)
{
    struct found f = {.module = compile_text(text), .region = slri_region_create()};
    assert_non_null(f.region);
    struct slri_given **given = slri_assigned_given(f.region, f.module, f.module->entry);
    assert_non_null(given);
    for (uint32_t i = 0; i < f.module->functions && !f.function; i++) {
        f.function = strstr(f.module->function[i]->name, function) ? f.module->function[i] : NULL;
        if (f.function)
            f.reg = slri_assigned_find(f.region, f.module->entry, f.function, given[i]);
    }
    assert_non_null(f.reg);
    return f;
}

static void end_in(struct found *f)
{
    slri_region_destroy(f->region);
    slri_module_destroy(f->module);
}

static slri_reg named(const struct found *f, const char *name)
{
    for (slri_reg reg = 0; reg < f->function->regs; reg++)
        if (f->function->reg_name[reg] && strcmp(f->function->reg_name[reg], name) == 0)
            return reg;
    fail_msg("no %s", name);
    return SLRI_NO_REG;
}

static enum slri_assigned_held held(const struct found *f, const char *name)
{
    return f->reg[named(f, name)].held;
}

static void what_one_place_assigns_before_all_reads_is_a_value(void **state)
{
    (void)state;
    struct found f = begin_in("__global__ void k(const int *in, int *out, int n) {"
                              "int once = in[0], twice = in[1], inner, late = in[2];"
                              "twice += n;"
                              "if (n > 1) { int within = in[3]; out[1] = once + within; }"
                              "for (int i = 0; i < n; i++) { out[i] = late; late = twice; }"
                              "if (once) inner = in[4];"
                              "out[0] = inner; }",
                              "k");
    assert_int_equal(held(&f, "once"), SLRI_ASSIGNED_VALUE);
    assert_int_equal(held(&f, "within"), SLRI_ASSIGNED_VALUE);
    assert_int_equal(held(&f, "n"), SLRI_ASSIGNED_VALUE); // it arrives
    assert_null(f.reg[named(&f, "n")].given);
    assert_int_equal(f.reg[named(&f, "n")].assignments, 1);
    assert_int_equal(held(&f, "twice"), SLRI_ASSIGNED_VARIABLE);
    assert_int_equal(held(&f, "inner"), SLRI_ASSIGNED_VARIABLE);
    assert_int_equal(held(&f, "late"), SLRI_ASSIGNED_VARIABLE);
    assert_int_equal(held(&f, "i"), SLRI_ASSIGNED_VARIABLE);
    end_in(&f);
}

// By hand: the front end gives each variable a value where it begins.
static void what_is_read_outside_of_its_block_or_above_is_a_variable(void **state)
{
    (void)state;
    const struct slri_where where = {0};
    struct slri_region *region = slri_region_create();
    struct slri_function function = {.name = "f"};
    const struct slri_entry entry = {0};
    slri_reg reg[5];
    for (int i = 0; i < 5; i++)
        reg[i] = slri_function_add_reg(region, &function, SLRI_I32, NULL);
    function.body = slri_block_create(region);
    struct slri_block *inner = slri_block_create(region), *test = slri_block_create(region);
    slri_block_append(region, inner, SLRI_OP_CONST, SLRI_I32, where)->dst = reg[0];
    struct slri_instr *in = slri_block_append(region, test, SLRI_OP_MOVE, SLRI_I32, where);
    in->dst = reg[1];
    in->a = reg[3]; // assigned below, by a round before
    in = slri_block_append(region, function.body, SLRI_OP_LOOP, SLRI_VOID, where);
    in->a = reg[1]; // read at the end of the test
    in->body[0] = test;
    in->body[1] = inner;
    in = slri_block_append(region, function.body, SLRI_OP_MOVE, SLRI_I32, where);
    in->dst = reg[3];
    in->a = reg[0]; // assigned in the loop
    in = slri_block_append(region, function.body, SLRI_OP_CONST, SLRI_I32, where);
    in->dst = reg[2];
    in->imm = 24;
    in = slri_block_append(region, function.body, SLRI_OP_RETURN, SLRI_VOID, where);
    in->a = reg[4]; // nothing assigns it
    const struct slri_assigned *found = slri_assigned_find(region, &entry, &function, NULL);
    uint64_t bits;
    assert_non_null(found);
    assert_int_equal(found[reg[0]].held, SLRI_ASSIGNED_VARIABLE);
    assert_int_equal(found[reg[1]].held, SLRI_ASSIGNED_VALUE);
    assert_int_equal(found[reg[3]].held, SLRI_ASSIGNED_VARIABLE);
    assert_true(slri_assigned_is_literal(&found[reg[2]], &bits) && bits == 24 && found[reg[2]].reads == 0);
    assert_true(slri_assigned_is_literal(&found[reg[4]], &bits) && bits == 0 && found[reg[4]].reads == 1);
    assert_false(slri_assigned_is_literal(&found[reg[0]], &bits));
    slri_region_destroy(region);
}

static void what_all_calls_give_alike_is_a_literal(void **state)
{
    (void)state;
    struct found f = begin_in("__device__ int deep(int five, int by) { return five * by; }"
                              "__device__ int mid(int five, int by, int own) {"
                              "own += by; return deep(five, by) + deep(five, by + 1) + own; }"
                              "__global__ void k(int *out) { out[0] = mid(5, 1, 7) + mid(5, 2, 7); }",
                              "deep");
    uint64_t bits;
    assert_true(slri_assigned_is_literal(&f.reg[named(&f, "five")], &bits) && bits == 5); // through `mid`
    assert_int_equal(held(&f, "by"), SLRI_ASSIGNED_VALUE);
    end_in(&f);
    f = begin_in("__device__ int mid(int own) { own += 1; return own; }"
                 "__global__ void k(int *out) { out[0] = mid(7) + mid(7); }",
                 "mid");
    assert_int_equal(held(&f, "own"), SLRI_ASSIGNED_VARIABLE); // though all calls give 7
    end_in(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_place_assigns_before_all_reads_is_a_value),
        cmocka_unit_test(what_is_read_outside_of_its_block_or_above_is_a_variable),
        cmocka_unit_test(what_all_calls_give_alike_is_a_literal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
