// SPDX-License-Identifier: Apache-2.0
// Loops that are left at their head alone (ir/pass/exits.h): they do what they did, and have no other exit. That
// drivers then give each thread its own values, the conformance suite tests.
#include "run/grid_test.h"

#include "ir/pass/exits.h"

#define THREADS 32u
#define K(body) "__global__ void k(const int *in, int *out) {\nint t = threadIdx.x, i = 0, x = 0;\n" body "\n}\n"

struct exits {
    uint32_t own;   // of loops: those that stand elsewhere than at the head
    uint32_t loops; // that have none
};

static uint32_t exits_of(const struct slri_block *block, bool in_switch)
{
    uint32_t count = 0;
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        count += in->op == SLRI_OP_RETURN || (in->op == SLRI_OP_BREAK && !in_switch);
        for (int part = 0; part < 3 && in->op == SLRI_OP_IF; part++)
            count += exits_of(in->body[part], in_switch);
        for (uint32_t c = 0; c < in->cases; c++)
            count += exits_of(in->match[c].body, true);
    }
    return count;
}

static void count_exits(const struct slri_instr *in, void *user)
{
    struct exits *exits = user;
    if (in->op != SLRI_OP_LOOP)
        return;
    const uint32_t own = exits_of(in->body[1], false) + in->do_while + (in->body[0]->count > 0 || in->a == SLRI_NO_REG);
    exits->own += own;
    exits->loops += own == 0;
}

static struct exits run(const char *text, bool changed, int32_t out[THREADS])
{
    int32_t in[2 * THREADS];
    struct exits exits = {0};
    for (uint32_t i = 0; i < 2 * THREADS; i++)
        in[i] = (int32_t)i;
    struct launch l = begin(text, "k", 1, THREADS);
    assert_true(!changed || slri_exits(l.module));
    assert_null(slri_module_verify(l.module));
    slri_interp_destroy(l.interp);
    assert_int_equal(slri_interp_create(l.module, &l.interp), SLR_OK);
    GIVE(&l, in, sizeof in), GIVE(&l, out, THREADS * sizeof *out);
    assert_int_equal(go(&l), 0);
    for (uint32_t f = 0; f < l.module->functions; f++)
        slri_block_each(l.module->function[f]->body, count_exits, &exits);
    end(&l);
    return exits;
}

// `loops` are changed, `left` exits stay in others.
static void expect(const char *text, uint32_t loops, uint32_t left)
{
    int32_t was[THREADS] = {0}, is[THREADS] = {0};
    run(text, false, was);
    const struct exits exits = run(text, true, is);
    assert_memory_equal(was, is, sizeof was);
    if (exits.loops != loops || exits.own != left)
        fail_msg("%u loops and %u exits, not %u and %u:\n%s", exits.loops, exits.own, loops, left, text);
}

static void values_behind_a_loop_come_from_its_head(void **state)
{
    (void)state;
    expect(K("for (;;) { x = in[i] * 3; if (i >= t) break; i++; } out[t] = x;"), 1, 0);
    expect(K("for (;; i++) { x = in[i] * 3; if (i >= t) break; } out[t] = x + i;"), 1, 0);
    expect(K("do { x = in[i] * 3; } while (i++ < t); out[t] = x;"), 1, 0);
    expect(K("do { x = in[i] * 3; i++; if (x > 40) break; if (i & 1) continue; i++; } while (i < t); out[t] = x;"), 1,
           0);
    expect(K("while ((x = in[i]) < t) i++; out[t] = x;"), 1, 0);
    expect(K("for (int j = 0; j < 3; j++) { for (i = 0;; i++) { x = in[i] + j; if (i + j >= t) break; }\n"
             "if (x > 20) break; } out[t] = x + i;"),
           2, 0);
    expect(K("for (;;) { x = in[i]; switch (i++) { case 1: x++; break; case 2: continue; } if (x > t) break; }\n"
             "out[t] = x;"),
           1, 0);
}

static void what_is_done_on_the_way_out_is_done_in_the_loop(void **state)
{
    (void)state;
    expect(K("for (;; i++) { int y = in[i] * 3; if (i >= t) { out[t] = y; break; } }"), 1, 0);
    expect(K("for (;; i++) { int y = in[i] * 3; if (i >= t) { out[t] = y; return; } }"), 1, 0);
    expect(K("for (int j = 0; j < 9; j++) for (i = 0; i < 9; i++) if (in[i] * j >= t) { out[t] = i * j; return; }\n"
             "out[t] = -1;"),
           1, 2); // the outer loop returns where its inner one has, and does nothing else there
    expect(K("for (;; i++) { switch (in[i] - t) { case 0: out[t] = i * 2; return; case -3: x++; break; } }"), 1, 0);
}

static void memory_of_a_thread_is_as_its_registers(void **state)
{
    (void)state;
    expect(K("int a[2] = {0}; for (;; i++) { a[i & 1] = in[i] * 3; if (i >= t) break; } out[t] = a[0] + a[1];"), 1, 0);
    expect("__device__ void f(int *p, const int *in, int t) { for (int i = 0;; i++) { p[0] = in[i]; if (i >= t) "
           "return; } }\n" K("int a[2] = {0}; f(a, in, t); out[t] = a[0] + x + i;"),
           1, 0);
    expect("__device__ void f(int *p, int v) { p[0] = v; }\n" K(
               "int a[2] = {0}; do { f(a, in[i]); } while (i++ < t); out[t] = a[0] + x;"),
           1, 0);
}

static void functions_return_a_value_behind_their_loops(void **state)
{
    (void)state;
    static const char nested[] =
        "__device__ int f(const int *in, int t) { for (int j = 0; j < 4; j++) for (int i = 0;; i++) {\n"
        "int x = in[i] * 3 + j; if (i + j >= t) return x; if (i > 3) break; } return -1; }\n" K("out[t] = f(in, t);");
    expect("__device__ int f(const int *in, int t) { for (int i = 0;; i++) { int x = in[i] * 3; if (i >= t) return x; "
           "} }\n" K("out[t] = f(in, t) + i + x;"),
           1, 0);
    expect(nested, 2, 0);
}

static void other_loops_stay(void **state)
{
    (void)state;
    expect(K("for (i = 0; i < t; i++) x += in[i]; out[t] = x;"), 0, 1);
    expect(K("for (i = 0; i < 9; i++) { if (i == t) break; out[t] += in[i]; }"), 0, 2);
    expect("__global__ void k(const int *in, int *out) { __shared__ int s[32]; int x = 0, i = 0, t = threadIdx.x;\n"
           "do { s[t] = in[t] + i; __syncthreads(); x = s[31 - t]; __syncthreads(); } while (++i < 3); out[t] = x; }\n",
           0, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_behind_a_loop_come_from_its_head),
        cmocka_unit_test(what_is_done_on_the_way_out_is_done_in_the_loop),
        cmocka_unit_test(memory_of_a_thread_is_as_its_registers),
        cmocka_unit_test(functions_return_a_value_behind_their_loops),
        cmocka_unit_test(other_loops_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
