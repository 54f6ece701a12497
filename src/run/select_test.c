// SPDX-License-Identifier: Apache-2.0
// Short branches without a jump (ir/pass/select.h): they do what they did, and what is not to be computed stays a
// branch.
#include "run/grid_test.h"

#define THREADS 64u
#define K(body)                                                                                                        \
    "__global__ void k(const int *in, int *out, double *wide) {\nint t = threadIdx.x, x = in[t];\n" body "\n}\n"

struct left {
    int32_t out[THREADS];
    double wide[THREADS];
};

static uint32_t count_ifs(const struct slri_block *block)
{
    uint32_t count = 0;
    for (uint32_t i = 0; block && i < block->count; i++) {
        count += block->instr[i].op == SLRI_OP_IF;
        for (int part = 0; part < 3; part++)
            count += count_ifs(block->instr[i].body[part]);
    }
    return count;
}

// What it leaves; the branches in it.
static struct left run_with(const char *head, const char *text, uint32_t *ifs)
{
    static char all[4096];
    struct left left = {{0}, {0}};
    int32_t in[THREADS];
    snprintf(all, sizeof all, "%s%s", head, text);
    for (uint32_t i = 0; i < THREADS; i++)
        in[i] = (int32_t)(i * 37 % 64) - 32;
    struct launch l = begin(all, "k", 1, THREADS);
    GIVE(&l, in, sizeof in), GIVE(&l, left.out, sizeof left.out), GIVE(&l, left.wide, sizeof left.wide);
    assert_int_equal(go(&l), 0);
    *ifs = 0;
    for (uint32_t f = 0; f < l.module->functions; f++)
        *ifs += count_ifs(l.module->function[f]->body);
    end(&l);
    return left;
}

static void expect_branches(const char *text, uint32_t before, uint32_t after)
{
    uint32_t was_ifs, is_ifs;
    struct left was = run_with("", text, &was_ifs), is = run_with("#define SLIPRING_SELECT 1\n", text, &is_ifs);
    assert_memory_equal(&was, &is, sizeof was);
    if (was_ifs != before || is_ifs != after)
        fail_msg("%u branches and then %u, not %u and %u:\n%s", was_ifs, is_ifs, before, after, text);
}

static void a_value_of_every_kind_is_taken_without_a_jump(void **state)
{
    (void)state;
    expect_branches(K("int r = 5; if (x > 3) r = x * 2; out[t] = r;"), 1, 0);
    expect_branches(K("unsigned r = 5; if (x > 3) r = x * 2u; else r -= 9u; out[t] = (int)r;"), 1, 0);
    expect_branches(K("long long r = x; if (x) r = (r << 40) - 1; wide[t] = (double)r;"), 1, 0);
    expect_branches(K("unsigned long long r = 7; if (x < 0) r = ~r; out[t] = (int)(r >> 33);"), 1, 0);
    expect_branches(K("float r = -0.0f; if (x > 0) r = x / 3.0f; out[t] = __float_as_int(r);"), 1, 0);
    expect_branches(K("double r = 1e300; if (x & 1) r = -r * 1e300; wide[t] = r;"), 1, 0);
}

static void what_a_branch_reads_before_it_writes_is_from_before(void **state)
{
    (void)state;
    expect_branches(K("int a = 1, b = 2; if (x > 0) { int c = a; a = b; b = c; } out[t] = a * 10 + b;"), 1, 0);
    expect_branches(K("int s = 0; for (int i = 0; i < 9; i++) { if ((x >> i) & 1) s = s * 3 + i; else s ^= i; }\n"
                      "out[t] = s;"),
                    1, 0);
    expect_branches(K("int s = x; if (s > 0) { s = s - 1; s = s * s; } out[t] = s;"), 1, 0); // the test is changed, too
}

static void a_branch_of_short_branches_is_short(void **state)
{
    (void)state;
    expect_branches(K("int r = 0; if (x > 0) { if (x > 9) r = 1; else r = 2; } out[t] = r;"), 2, 0);
    expect_branches(K("int r = 0; if (x > 0 && x < 20) r = 3; out[t] = r + (x < -9 || x == 7);"), 3, 0);
    expect_branches("__device__ int f(int a) { return a > 4 ? a - 4 : a + 1; }\n" K("out[t] = f(x) + f(-x);"), 1, 0);
}

static void what_touches_memory_may_fail_or_is_long_stays_a_branch(void **state)
{
    (void)state;
    expect_branches(K("if (x > 0) out[t] = x;"), 1, 1);
    expect_branches(K("int r = 0; if (x > 0) r = in[x]; out[t] = r;"), 1, 1);
    expect_branches(K("int r = 0; if (x != 0) r = 100 / x; out[t] = r;"), 1, 1);
    expect_branches(K("int r = 0; if (x > 0) { __syncwarp(__activemask()); r = 1; } out[t] = r;"), 1, 1);
    expect_branches(K("int r = 0; for (int i = 0; i < 9; i++) { if (i == x) break; r++; } out[t] = r;"), 1, 1);
    expect_branches(
        K("int r = x; if (x > 0) { r = r * r + 1; r = r * r + 3; r = r * r + 5; r = r * r + 7; r ^= r >> 9;\n"
          "r = r * r + 9; r = r * r + 11; r ^= r >> 7; r += x; r *= x; } out[t] = r;"),
        1, 1);
}

static void a_source_says_so_by_a_macro_and_0_means_no(void **state)
{
    (void)state;
    static const char text[] = K("int r = 5; if (x > 3) r = x * 2; out[t] = r;");
    uint32_t ifs;
    run_with("#define SLIPRING_SELECT 0\n", text, &ifs);
    assert_int_equal(ifs, 1);
    run_with("#define FAST 2\n#define SLIPRING_SELECT (FAST > 1)\n", text, &ifs);
    assert_int_equal(ifs, 0);
    assert_rejected("#define SLIPRING_SELECT maybe +\n__global__ void k(int *out) { out[0] = 1; }",
                    SLRI_K_BAD_CONDITION, 1, 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_of_every_kind_is_taken_without_a_jump),
        cmocka_unit_test(what_a_branch_reads_before_it_writes_is_from_before),
        cmocka_unit_test(a_branch_of_short_branches_is_short),
        cmocka_unit_test(what_touches_memory_may_fail_or_is_long_stays_a_branch),
        cmocka_unit_test(a_source_says_so_by_a_macro_and_0_means_no),
    };
    return cmocka_run_group_tests_name("run/select", tests, NULL, NULL);
}
