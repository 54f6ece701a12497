// SPDX-License-Identifier: Apache-2.0
// Level kernels (ir/pass/level.h) do what they did, and all their threads come to each barrier.
#include "run/grid_test.h"

#include "ir/pass/level.h"

static const struct slri_module *level(const struct slri_module *module, const struct slri_entry **entry)
{
    const struct slri_module *made = NULL;
    if (slri_level(module, &module->entry[0], module->region, &made, entry) != SLR_OK)
        fail_msg("%s", slr_error_message());
    const char *wrong = slri_module_verify(made);
    if (wrong)
        fail_msg("%s", wrong);
    return made;
}

#define THREADS 40u

struct ran {
    int32_t out[THREADS];
    uint64_t missed;
    uint32_t fault;
};

static struct ran run(const struct slri_module *module, uint32_t entry, const int32_t *in)
{
    struct ran ran = {{0}, 0, 0};
    struct slri_interp *interp;
    struct slri_grid_end end = {0};
    int32_t n = 25;
    const struct slri_bound arg[3] = {{(void *)(uintptr_t)in, THREADS * 4}, {ran.out, sizeof ran.out}, {&n, sizeof n}};
    const struct slri_grid grid = {
        .entry = entry, .grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .arg = arg, .args = 3, .fuel = 1000};
    assert_int_equal(slri_interp_create(module, &interp), SLR_OK);
    assert_int_equal(slri_interpret_grid(interp, &grid, &end), SLR_OK);
    ran.missed = end.missed;
    ran.fault = end.fault;
    slri_interp_destroy(interp);
    return ran;
}

#define K(body) "__global__ void k(const int *in, int *out, int n) {\nint t = threadIdx.x;\n" body "\n}"

static const char *const left_early[] = {
    K("if (t >= n) return;\n__syncthreads();\nout[t] = in[t] + 1;"),
    K("if (t >= n) return;\nout[t] = __syncthreads_count(in[t] & 1) + 100 * __syncthreads_and(in[t] < 1000);"),
    K("__shared__ int s[64]; s[t] = in[t];\n if (t == 3) return;\n__syncthreads();\n"
      "for (int i = 0; i < 4; i++) { if (t == 10 + i) return; __syncthreads(); out[t] += s[i]; }"),
    K("for (int i = 0;; i++) { if (i == t) return; __syncthreads(); out[t] += in[i]; if (i > 20) break; }\n"
      "out[t] -= __syncthreads_or(t == 30);"),
    K("int i = 0; do { if (t == 7 && i == 2) return; __syncthreads(); out[t] += i; } while (++i < 5);"),
    "__device__ int both(int a) { int c = __syncthreads_count(a > 20); return c + a; }\n"
    "__global__ void k(const int *in, int *out, int n) {\nint t = threadIdx.x; if (t >= n) return;\n"
    "out[t] = both(in[t]); if (t < 4) out[t] = -1; }",
};

static void a_level_kernel_does_what_it_did_and_misses_nobody(void **state)
{
    (void)state;
    int32_t in[THREADS];
    for (uint32_t i = 0; i < THREADS; i++)
        in[i] = (int32_t)(i * 7 % 31);
    for (size_t i = 0; i < sizeof left_early / sizeof *left_early; i++) {
        struct slri_module *module = compile_text(left_early[i]);
        const struct slri_entry *entry;
        const struct slri_module *made = level(module, &entry);
        assert_ptr_not_equal(made, module);
        struct ran was = run(module, 0, in), is = run(made, 0, in);
        assert_int_equal(was.fault, 0);
        assert_int_equal(is.fault, 0);
        assert_true(was.missed > 0); // or the test shows nothing
        assert_int_equal(is.missed, 0);
        assert_memory_equal(was.out, is.out, sizeof was.out);
        slri_module_destroy(module);
    }
}

// Masks that only those who are there know, and widths.
static void lanes_that_are_elsewhere_take_no_part(void **state)
{
    (void)state;
    static const char *const texts[] = {
        K("unsigned m = __ballot_sync(0xffffffffu, t % 3 != 0); int v = in[t];\n"
          "if (t % 3) { v = __shfl_xor_sync(m, v, 3, 8); v += __reduce_max_sync(m, v); } out[t] = v;"),
        K("unsigned m = t < 32 ? 0x00ff00ffu : 0xffu; if (m >> t % 32 & 1) out[t] = __any_sync(m, in[t] > 25) + 1;\n"
          "else out[t] = -__popc(__activemask());"),
    };
    int32_t in[THREADS];
    for (uint32_t i = 0; i < THREADS; i++)
        in[i] = (int32_t)(i * 7 % 31);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct slri_module *module = compile_text(texts[i]);
        const struct slri_entry *entry;
        const struct slri_module *made = level(module, &entry);
        assert_ptr_not_equal(made, module);
        struct ran was = run(module, 0, in), is = run(made, 0, in);
        assert_int_equal(was.fault, 0);
        assert_int_equal(is.fault, 0);
        assert_memory_equal(was.out, is.out, sizeof was.out);
        slri_module_destroy(module);
    }
}

static void a_kernel_whose_threads_all_come_stays_as_it_is(void **state)
{
    (void)state;
    static const char *const texts[] = {
        K("out[t] = in[t];"),
        K("__shared__ int s[64]; s[t] = in[t]; __syncthreads(); out[t] = s[0];"),
        K("if (n > 3) return; for (int i = 0; i < n; i++) __syncthreads();"),
        K("out[t] = __shfl_sync(0xffffffff, in[t], 3);"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct slri_module *module = compile_text(texts[i]);
        const struct slri_entry *entry;
        assert_ptr_equal(level(module, &entry), module);
        assert_ptr_equal(entry, &module->entry[0]);
        slri_module_destroy(module);
    }
}

static void what_cannot_be_level_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place, *words;
    } list[] = {
        {K("if (in[t] < 3)\n__syncthreads();"), ":4:", "take the branch around it away"},
        {K("switch (in[t]) {\ncase 1: out[t] = __shfl_sync(1, t, 0); }"), ":4:", "write it with if"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        struct slri_module *module = compile_text(list[i].text);
        const struct slri_module *made;
        const struct slri_entry *entry;
        assert_int_equal(slri_level(module, &module->entry[0], module->region, &made, &entry), SLR_UNSUPPORTED);
        assert_non_null(strstr(slr_error_message(), list[i].place));
        assert_non_null(strstr(slr_error_message(), list[i].words));
        slri_module_destroy(module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_level_kernel_does_what_it_did_and_misses_nobody),
        cmocka_unit_test(lanes_that_are_elsewhere_take_no_part),
        cmocka_unit_test(a_kernel_whose_threads_all_come_stays_as_it_is),
        cmocka_unit_test(what_cannot_be_level_is_refused_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
