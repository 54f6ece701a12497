// SPDX-License-Identifier: Apache-2.0
// Guarded kernels (ir/pass/guard.h): which accesses are checked.
#include "base/text.h"
#include "ir/pass/guard.h"
#include "run/grid_test.h"

#define K(body)                                                                                                        \
    "#ifndef SLIPRING_GUARD\n#define SLIPRING_GUARD 1\n#endif\nstruct pair { int a, b[2]; };\n"                        \
    "__global__ void k(const int *in, int *out, long long n) {\nint t = threadIdx.x;\n" body "\n}\n"

static bool is_check(const struct slri_instr *in)
{
    return in->op == SLRI_OP_CALL && strcmp(in->callee->name, SLRI_GUARD_NAME "_tell") == 0;
}

static void count_check(const struct slri_instr *in, void *user)
{
    uint32_t *count = user;
    *count += is_check(in);
}

static uint32_t count_checks(const struct slri_module *module)
{
    uint32_t count = 0;
    for (uint32_t f = 0; f < module->functions; f++)
        slri_block_each(module->function[f]->body, count_check, &count);
    return count;
}

static void expect_checks(const char *text, uint32_t expected)
{
    struct slri_module *module = compile_text(text);
    const uint32_t count = count_checks(module);
    slri_module_destroy(module);
    if (count != expected)
        fail_msg("%u checks, not %u:\n%s", count, expected, text);
}

static void an_access_to_a_known_place_of_an_object_of_known_size_is_not_checked(void **state)
{
    (void)state;
    expect_checks(K("__shared__ int s[4]; s[3] = t; __syncthreads(); s[0] += 1;"), 0);
    expect_checks(K("int a[2]; a[0] = t; a[1] = 2; int *p = a; n += p[1];"), 0);
    expect_checks(K("struct pair p; p.a = t; p.b[1] = 3; struct pair q = p; n += q.b[0];"), 0);
    expect_checks("__device__ int g[2]; static const int c[2] = {1, 2};\n" K("g[1] = c[0];"), 0);
}

static void an_access_that_may_lie_outside_is_checked(void **state)
{
    (void)state;
    expect_checks(K("out[0] = in[1];"), 2); // known at launch only
    expect_checks(K("extern __shared__ int d[]; d[0] = 1;"), 1);
    expect_checks(K("__shared__ int s[4]; s[t] = t;"), 1);
    expect_checks(K("__shared__ int s[4]; int i = 0; if (t > 2) i = 9; s[i] = t;"), 1);
    expect_checks("__device__ void set(int *to) { *to = 7; }\n" K("int a = 1; set(&a); n += a;"), 1);
    expect_checks(K("__shared__ int s[4]; for (int i = 0; i < 5; i++) s[i] = t;"), 2); // one is the loop's fuel
}

static void move_store(const struct slri_instr *in, void *user)
{
    if (in->op == SLRI_OP_CONST && in->imm == 12)
        ((struct slri_instr *)(uintptr_t)in)->imm = *(const uint64_t *)user;
}

// The front end itself refuses such a constant, so it is put there behind its back.
static void the_last_place_inside_is_the_last_without_a_check(void **state)
{
    (void)state;
    static const uint64_t offsets[] = {0, 11, 12, 13, 15, 16, UINT64_MAX - 3, UINT64_MAX};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        struct slri_module *module =
            compile_text("__global__ void k(int *out) { __shared__ int s[4]; s[3] = (int)threadIdx.x; }");
        uint64_t offset = offsets[i];
        for (uint32_t f = 0; f < module->functions; f++)
            slri_block_each(module->function[f]->body, move_store, &offset);
        assert_true(slri_guard(module));
        if (count_checks(module) != (offset > 12))
            fail_msg("%u checks at byte %llu", count_checks(module), (unsigned long long)offset);
        slri_module_destroy(module);
    }
}

// The second kernel's argument is no constant, though the first has none such.
static void an_argument_is_no_constant(void **state)
{
    (void)state;
    expect_checks(K("__shared__ char s[4]; s[n] = 1;"), 1);
    expect_checks("__global__ void first(int *p) { int x = 1; }\n" K("__shared__ char s[4]; s[n] = 1;"), 1);
}

// ---- branches without a jump ---------------------------------------------------------------------------------------

struct record {
    const struct slri_function *function;
    slri_text text;
};

// What is checked, and what a check hangs on: accesses, loops and how they are left, barriers and warp functions.
static void note_what_matters(const struct slri_instr *in, void *user)
{
    struct record *record = user;
    const bool computes = in->op <= SLRI_OP_CONVERT || in->op == SLRI_OP_MATH || in->op == SLRI_OP_BUILTIN;
    if (!computes && in->op != SLRI_OP_IF)
        slri_text_printf(&record->text, "%s: %d %u:%u %u %u %llu\n", record->function->name, (int)in->op,
                         in->where.line, in->where.column, in->root.kind, in->root.index, (unsigned long long)in->imm);
}

static struct record record_of(const char *head, const char *text)
{
    char all[4096];
    struct record record = {.text = SLRI_TEXT_INIT};
    snprintf(all, sizeof all, "%s\n%s", head, text);
    struct slri_module *module = compile_text(all);
    for (uint32_t f = 0; f < module->functions; f++) {
        record.function = module->function[f];
        slri_block_each(module->function[f]->body, note_what_matters, &record);
    }
    slri_module_destroy(module);
    return record;
}

// So one guarded run proves both.
static void short_branches_without_a_jump_have_the_same_checks(void **state)
{
    (void)state;
    static const char *const texts[] = {
        K("int r = 5; if (in[t] > 3) r = r * 2; else r -= 9; out[r] = t;"),
        K("int s = 0; for (int i = 0; i < 9 + (t > 3 ? t * 2 : 1); i++) { if ((t >> i) & 1) s = s * 3 + i; else s ^= "
          "i; }\n"
          "out[t] = s;"),
        K("__shared__ int s[64]; for (int i = 0; i < 64; i++) { if (t > i) { s[i] = t; n += 1; } __syncthreads();\n"
          "if (n > 7 && s[i] > 4) n = n * 3 + 1; if (n > 1000) break; }\nout[n & 3] = 1;"),
        "__device__ int f(int *p, int a) { int b = a > 4 ? a - 4 : a + 1; p[b] = a; return b; }\n" K(
            "int a[8]; int b = f(a, t) + f(out, -t); out[b] = a[1];"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct record with = record_of("", texts[i]), without = record_of("#define SLIPRING_SELECT 1", texts[i]);
        assert_string_equal(slri_text_view(&with.text), slri_text_view(&without.text));
        slri_text_free(&with.text);
        slri_text_free(&without.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_to_a_known_place_of_an_object_of_known_size_is_not_checked),
        cmocka_unit_test(an_access_that_may_lie_outside_is_checked),
        cmocka_unit_test(the_last_place_inside_is_the_last_without_a_check),
        cmocka_unit_test(an_argument_is_no_constant),
        cmocka_unit_test(short_branches_without_a_jump_have_the_same_checks),
    };
    return cmocka_run_group_tests_name("run/guard", tests, NULL, NULL);
}
