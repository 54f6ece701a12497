// SPDX-License-Identifier: Apache-2.0
// What is the same in all threads of a block, and which barriers are refused because some threads never reach them.
#include "lang/compile_test.h"

#include "ir/uniform.h"

struct looked {
    struct slri_module *module;
    struct slri_uniform *u;
    const struct slri_function *function; // the kernel's
};

static struct looked look(const char *text)
{
    struct looked l = {.module = compile_text(text)};
    l.u = slri_uniform_create(l.module, &l.module->entry[0], l.module->region);
    assert_non_null(l.u);
    l.function = l.module->entry[0].function;
    return l;
}

static bool is_uniform(const struct looked *l, const char *name)
{
    for (slri_reg reg = l->function->regs; reg-- > 0;)
        if (l->function->reg_name[reg] && strcmp(l->function->reg_name[reg], name) == 0)
            return slri_uniform_register(l->u, l->function, reg);
    fail_msg("no variable %s", name);
    return false;
}

// The first instruction of that op in the function: is it reached uniformly, and (a branch) does it go one way?
static bool find(const struct slri_block *block, enum slri_op op, const struct slri_block **at, uint32_t *index)
{
    for (uint32_t i = 0; i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (in->op == op) {
            *at = block;
            *index = i;
            return true;
        }
        for (int part = 0; part < 3; part++)
            if (in->body[part] && find(in->body[part], op, at, index))
                return true;
        for (uint32_t c = 0; c < in->cases; c++)
            if (find(in->match[c].body, op, at, index))
                return true;
    }
    return false;
}

static bool barrier_is_reached_by_all(const char *text)
{
    struct looked l = look(text);
    bool answer = true, found = false;
    for (uint32_t i = 0; i < l.module->functions; i++) {
        const struct slri_block *block;
        uint32_t index;
        if (!find(l.module->function[i]->body, SLRI_OP_BARRIER, &block, &index))
            continue;
        found = true;
        answer &= slri_uniform_flow(l.u, l.module->function[i], block, index);
    }
    assert_true(found);
    slri_module_destroy(l.module);
    return answer;
}

#define K(body) "__global__ void k(const int *in, int *out, int n) {\n" body "\n}"

static void values_vary_with_the_thread_and_with_what_depends_on_it(void **unused)
{
    (void)unused;
    struct looked l = look(K("int t = threadIdx.x, b = blockIdx.x * blockDim.x, i = b + t;\n"
                             "int table = in[b], own = in[i], got = atomicAdd(out, 1), root = n * n;\n"
                             "float f = sqrtf((float)table), g = sqrtf((float)own);\n"
                             "out[i] = table + own + got + root + (int)f + (int)g;"));
    assert_false(is_uniform(&l, "t"));
    assert_true(is_uniform(&l, "b"));
    assert_false(is_uniform(&l, "i"));
    assert_true(is_uniform(&l, "table"));
    assert_false(is_uniform(&l, "own"));
    assert_false(is_uniform(&l, "got"));
    assert_true(is_uniform(&l, "root"));
    assert_true(is_uniform(&l, "f"));
    assert_false(is_uniform(&l, "g"));
    slri_module_destroy(l.module);
}

static void values_vary_with_the_branch_that_sets_them(void **unused)
{
    (void)unused;
    struct looked l = look(K("int chosen = 1, same = 1, last = 0, sum = 0;\n"
                             "if (threadIdx.x > n) { chosen = 2; int inner = n + 1; sum += inner;\n"
                             "    for (int j = 0; j < n; j++) sum += j; }\n"
                             "if (n > 3) same = 2;\n"
                             "for (int k = 0; k < in[threadIdx.x]; k++) last = k;\n"
                             "for (int r = 0; r < n; r++) { if (in[threadIdx.x] == r) break; int q = n; sum += q; }\n"
                             "out[0] = chosen + same + last + sum;"));
    assert_false(is_uniform(&l, "chosen"));
    assert_true(is_uniform(&l, "inner"));
    assert_true(is_uniform(&l, "j"));
    assert_true(is_uniform(&l, "same"));
    assert_false(is_uniform(&l, "k"));
    assert_false(is_uniform(&l, "last"));
    assert_false(is_uniform(&l, "r")); // who is in the loop later is not who was in it before
    assert_true(is_uniform(&l, "q"));
    slri_module_destroy(l.module);
}

static void a_continue_parts_what_follows_it(void **unused)
{
    (void)unused;
    struct looked l = look(K("int kept = 0;\n"
                             "for (int r = 0; r < n; r++) { int before = r; out[before] = 1;\n"
                             "    if (in[threadIdx.x] == r) continue; kept = r; }\n"
                             "out[0] = kept;"));
    assert_true(is_uniform(&l, "before"));
    assert_false(is_uniform(&l, "kept"));
    assert_true(is_uniform(&l, "r"));
    slri_module_destroy(l.module);
}

static void functions_are_joined_over_their_calls(void **unused)
{
    (void)unused;
    struct looked l = look("static int same(int v) { return v + 1; }\n"
                           "static int mixed(int v) { return v + 1; }\n"
                           "static int early(int v, int t) { if (t) return v; return v; }\n" K(
                               "int a = same(n), b = same(n + 1), c = mixed(n), d = mixed(threadIdx.x);\n"
                               "int e = early(n, threadIdx.x);\n"
                               "int local[2]; local[0] = n; int f = local[0];\n"
                               "int other[2]; other[0] = threadIdx.x; int g = other[0];\n"
                               "out[threadIdx.x] = a + b + c + d + e + f + g;"));
    assert_true(is_uniform(&l, "a"));
    assert_true(is_uniform(&l, "b"));
    assert_false(is_uniform(&l, "c"));
    assert_false(is_uniform(&l, "d"));
    assert_false(is_uniform(&l, "e"));
    assert_true(is_uniform(&l, "f"));
    assert_false(is_uniform(&l, "g"));
    slri_module_destroy(l.module);
}

static void barriers_are_reached_by_all_or_perhaps_not(void **unused)
{
    (void)unused;
    assert_true(barrier_is_reached_by_all(K("__syncthreads();")));
    assert_true(barrier_is_reached_by_all(K("for (int s = blockDim.x / 2; s > 0; s >>= 1) __syncthreads();")));
    assert_true(barrier_is_reached_by_all(K("if (n > 3) __syncthreads();")));
    assert_true(barrier_is_reached_by_all(K("if ((int)threadIdx.x >= n) return; __syncthreads();")));
    assert_false(barrier_is_reached_by_all(K("if ((int)threadIdx.x < n) __syncthreads();")));
    assert_false(barrier_is_reached_by_all(K("for (int i = threadIdx.x; i < n; i += blockDim.x) __syncthreads();")));
    assert_false(barrier_is_reached_by_all(
        K("for (int i = 0; i < n; i++) { if (in[threadIdx.x] == i) break; __syncthreads(); }")));
    assert_false(barrier_is_reached_by_all(
        K("for (int i = 0; i < n; i++) { if (in[threadIdx.x] == i) continue; __syncthreads(); }")));
    assert_false(
        barrier_is_reached_by_all("static void f(int t) { if (t) return; __syncthreads(); }\n" K("f(threadIdx.x);")));
    assert_true(barrier_is_reached_by_all("static void f(int t) { if (t) return; __syncthreads(); }\n" K("f(n);")));
    assert_false(
        barrier_is_reached_by_all("static void f(void) { __syncthreads(); }\n" K("if (in[threadIdx.x]) f();")));
}

static void a_barrier_that_some_threads_never_reach_is_refused(void **unused)
{
    (void)unused;
    static const char *const wrong[] = {
        K("if (threadIdx.x == 0) { out[0] = 1; ^^__syncthreads(); }"),
        K("if (threadIdx.x < 16) out[0] = 1; else ^^__syncthreads();"),
        K("int tid = threadIdx.x; if (tid % 2 == 0) for (int i = 0; i < n; i++) ^^__syncthreads();"),
        "static void f(void) { __syncthreads(); }\n" K("if (threadIdx.x & 1) ^^f();"),
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_true(is_marked(wrong[i], SLRI_K_DIVERGED_BARRIER, "only some threads of a block reach this barrier"));
    assert_accepted(K("if (threadIdx.x < 1024) __syncthreads();"));
    assert_accepted(K("if (threadIdx.x < n) __syncthreads();"));
    assert_accepted(K("if (threadIdx.x < 32) out[0] = 1; __syncthreads();"));
    assert_accepted(K("int t = threadIdx.x; t = n; if (t == 1) __syncthreads();"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_vary_with_the_thread_and_with_what_depends_on_it),
        cmocka_unit_test(values_vary_with_the_branch_that_sets_them),
        cmocka_unit_test(a_continue_parts_what_follows_it),
        cmocka_unit_test(functions_are_joined_over_their_calls),
        cmocka_unit_test(barriers_are_reached_by_all_or_perhaps_not),
        cmocka_unit_test(a_barrier_that_some_threads_never_reach_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
