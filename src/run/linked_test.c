// SPDX-License-Identifier: Apache-2.0
// Kernels with the functions of the libraries that they call (ir/pass/linked.h): what they leave is what the kernel
// leaves, with its words of 32 bits (words.h) made behind it, too.
#include "ir/math/library.h"
#include "ir/pass/linked.h"
#include "ir/pass/words.h"
#include "lang/library.h"
#include "run/grid_test.h"

enum { THREADS = 64, COUNT = 256 };

static bool has_subgroups;

static slr_status link_kernel(const struct slri_module *module, struct slri_module **out)
{
    const struct slri_linked_libraries libraries = {
        .get = {[SLRI_LINKED_MATH] = slri_math_library,
                [SLRI_LINKED_SOFT] = slri_soft_library,
                [SLRI_LINKED_BLOCK] = has_subgroups ? slri_block_library_of_subgroups : slri_block_library}};
    return slri_linked_kernel(module, module->entry, &libraries, out);
}

// Runs a kernel of (const unsigned long long *in, unsigned long long *out), and frees the module.
static void run_and_free(struct slri_module *module, uint64_t *in, uint64_t *out)
{
    struct launch l = {.module = module};
    const char *broken = slri_module_verify(module);
    if (broken)
        fail_msg("%s", broken);
    assert_int_equal(slri_interp_create(module, &l.interp), SLR_OK);
    l.grid = (struct slri_grid){.grid = {2, 1, 1}, .block = {THREADS, 1, 1}, .fuel = 1u << 24};
    memset(out, 0x5a, COUNT * sizeof *out);
    GIVE(&l, in, COUNT * sizeof *in);
    GIVE(&l, out, COUNT * sizeof *out);
    assert_int_equal(go(&l), 0);
    end(&l);
}

static struct slri_module *linked_of(const struct slri_module *source)
{
    struct slri_module *made = NULL;
    if (link_kernel(source, &made) != SLR_OK)
        fail_msg("%s", slr_error_message());
    return made;
}

static void agrees(const char *text)
{
    static uint64_t in[COUNT], out[3][COUNT];
    static const uint64_t places[] = {0, UINT64_C(1) << 63, 0x7ff0000000000000, 0x3ff0000000000000,
                                      1, 0x7fefffffffffffff};
    for (uint64_t i = 0; i < COUNT; i++)
        in[i] = i % 4 == 0   ? places[i / 4 % (sizeof places / sizeof *places)]
                : i % 4 == 1 ? 0x3f80000040000000 + (i << 40) + i
                             : i * UINT64_C(0x9e3779b97f4a7c15);
    struct slri_module *words = NULL, *source = compile_text(text), *linked = linked_of(source);
    assert_int_equal(slri_words_kernel(linked, linked->entry, NULL, &words), SLR_OK);
    run_and_free(words, in, out[2]);
    run_and_free(linked, in, out[1]);
    run_and_free(source, in, out[0]);
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    assert_memory_equal(out[0], out[2], sizeof out[0]);
    assert_true(out[0][0] != UINT64_C(0x5a5a5a5a5a5a5a5a));
}

#define AT "int i = blockIdx.x * blockDim.x + threadIdx.x; "
#define DOUBLES "double a = __longlong_as_double(in[i]), b = __longlong_as_double(in[i + 1]); "
#define BITS "(unsigned long long)__double_as_longlong"

static void doubles_are_computed_with_integers(void **state)
{
    (void)state;
    agrees("__device__ unsigned long long bits(double x) { return x == x ? " BITS "(x) : 1; }" // of a NaN any
           "__global__ void k(const unsigned long long *in, unsigned long long *out) { " AT DOUBLES
           "out[i] = bits(a + b) ^ bits(a * b) << 1 ^ bits(a / b) << 2 ^ bits(-sqrt(a - b)) << 3;"
           "out[i + 128] = (a < b) | (a == b) << 1 | (a >= b) << 2 | (a != b) << 3; }");
    agrees("__global__ void k(const unsigned long long *in, unsigned long long *out) { " AT DOUBLES
           "out[i] = (unsigned long long)(long long)a ^ (unsigned)(int)b;"
           "out[i + 128] = __float_as_uint((float)a) ^ " BITS "((double)(int)in[i + 1]); }");
}

static void functions_of_the_library_are_called(void **state)
{
    (void)state;
    agrees("__device__ float twice(float x) { return erff(x) * 2; }"
           "__global__ void k(const unsigned long long *in, unsigned long long *out) { " AT
           "float f = __uint_as_float((unsigned)in[i] & 0xbfffffffu), g = __uint_as_float((unsigned)in[i + 1] | 1);"
           "out[i] = __float_as_uint(floorf(f)) + __popcll(in[i]) + __float_as_uint(fminf(g, f));"
           "out[i + 128] = in[i + 2] % 3 ? __mul64hi(in[i], in[i + 1]) : __brevll(in[i]); }");
}

// In the quotient's own function the device's division stays.
static void a_quotient_and_a_root_are_calls(void **state)
{
    (void)state;
    agrees("__global__ void k(const unsigned long long *in, unsigned long long *out) { " AT
           "float f = __uint_as_float((unsigned)in[i]), g = __uint_as_float((unsigned)in[i + 1] | 1);"
           "float q = f / g, r = sqrtf(f); out[i] = q == q ? __float_as_uint(q) : 1;"
           "out[i + 128] = r == r ? __float_as_uint(r) : 1; }");
}

#define IN_TURN "unsigned lane = threadIdx.x & 31, own = lane & 1 ? 0xaaaaaaaau : 0x55555555u, v = (unsigned)in[i];"

// Of halves of a warp that take turns among its lanes, and of each kind of value.
static void functions_of_a_warp_are_made_of_shared_memory_or_of_subgroups(void **state)
{
    static const char *const results[] = {
        "__shfl_sync(own, in[i], (int)v, 8) ^ __shfl_up_sync(own, v, 2, 16) << 1",
        "__shfl_down_sync(own, (int)v, 6, 32) ^ __float_as_uint(__shfl_xor_sync(~0u, __uint_as_float(v & 0xffffff), 5, "
        "8))",
        "__double_as_longlong(__shfl_xor_sync(~0u, __longlong_as_double(in[i] & 0xffffffff), 3, 4)) + (v & 1)",
        "__ballot_sync(own, v & 4) ^ __all_sync(own, v != 7) ^ __any_sync(own, v == 1) << 1 ^ __activemask()",
        "__match_any_sync(own, v & 7) ^ __match_any_sync(~0u, in[i] % 3) << 1 ^ __match_any_sync(own, (float)(v & 1))",
        "__reduce_add_sync(own, v) ^ __reduce_min_sync(own, (int)v) ^ __reduce_max_sync(own, (int)v) << 1",
        "__reduce_min_sync(own, v) ^ __reduce_max_sync(~0u, v) ^ __reduce_and_sync(own, v | 1) ^ __reduce_or_sync(own, "
        "v)",
        "__reduce_xor_sync(own, (int)v) ^ __syncthreads_count(v & 1) ^ __syncthreads_and(v != 3) ^ __syncthreads_or(v "
        "== 9)"};
    char text[512];
    (void)state;
    for (int flavour = 0; flavour < 2; flavour++) {
        has_subgroups = flavour;
        for (size_t k = 0; k < sizeof results / sizeof *results; k++) {
            snprintf(text, sizeof text,
                     "__global__ void k(const unsigned long long *in, unsigned long long *out) { " AT IN_TURN
                     "out[i] = out[i + 128] = (unsigned long long)(%s); }",
                     results[k]);
            agrees(text);
        }
    }
    has_subgroups = false;
}

// ---- what is left --------------------------------------------------------------------------------------------------

static void look(const struct slri_function *f, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        assert_int_not_equal(in->kind, SLRI_F64);
        assert_true(in->op != SLRI_OP_MATH || slri_math_is_primitive(in->imm));
        const bool is_inside = strncmp(f->name, "slri_rounded", 12) == 0;
        assert_true(in->op != SLRI_OP_MATH || in->imm != SLRI_MATH_SQRTF || is_inside);
        assert_true(in->op != SLRI_OP_DIV || in->kind != SLRI_F32 || is_inside);
        assert_true(in->op != SLRI_OP_CALL || in->callee->index < f->index);
        assert_in_range(in->where.line, 0, 1); // the source has one, and the libraries' are not in its file
        for (int part = 0; part < 3; part++)
            look(f, in->body[part]);
        for (uint32_t k = 0; k < in->cases; k++)
            look(f, in->match[k].body);
    }
}

static void no_double_and_no_function_that_is_not_there_is_left(void **state)
{
    (void)state;
    struct slri_module *source = compile_text("__global__ void k(double *d, float *f, double by) { int i = threadIdx.x;"
                                              "switch (i) { case 1: f[i] = sqrtf(floorf(1.5f) / f[i]); break;"
                                              "default: d[i] = d[i] * by; } }");
    struct slri_module *linked = linked_of(source);
    assert_null(slri_module_verify(linked));
    assert_int_equal(linked->entry->binding[2].type->kind, SLRI_U64);
    assert_int_equal(source->entry->binding[2].type->kind, SLRI_F64);
    for (uint32_t i = 0; i < linked->functions; i++) {
        const struct slri_function *f = linked->function[i];
        for (slri_reg reg = 0; reg < f->regs; reg++)
            assert_int_not_equal(f->reg_kind[reg], SLRI_F64);
        look(f, f->body);
    }
    slri_module_destroy(linked);
    slri_module_destroy(source);
}

static uint32_t branches(const struct slri_block *block)
{
    uint32_t found = 0;
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        found += in->op == SLRI_OP_IF || in->op == SLRI_OP_SWITCH;
        for (int part = 0; part < 3; part++)
            found += branches(in->body[part]);
    }
    return found;
}

// SwiftShader's compiler takes twice as long and twice the memory for each branch within a loop, and a kernel of
// batched launches is a loop. So functions that are called for an operator have none, also none as words.
static void functions_in_place_of_operators_have_no_branches(void **state)
{
    (void)state;
    struct slri_module *words = NULL,
                       *source = compile_text(
                           "__global__ void k(double *d, float *f, long long *l) { int i = threadIdx.x;"
                           "f[i] = f[i] / f[i + 1] + sqrtf(f[i + 2]);"
                           "d[i] = (d[i] + d[i + 1] - d[i + 2] * d[i + 3]) / d[i + 4] + sqrt(d[i + 5]) + f[i] + i;"
                           "d[i + 1] = -d[i + 1]; l[i] = (long long)d[i + 1] + (int)d[i + 2] + (d[i] < d[i + 1]);"
                           "l[i + 1] = d[i + 2] == d[i + 3]; f[i + 1] = (float)d[i]; d[i + 2] = (double)l[i + 2]; }"),
                       *linked = linked_of(source);
    assert_int_equal(slri_words_kernel(linked, linked->entry, NULL, &words), SLR_OK);
    assert_in_range(words->functions, 20, 60);
    for (uint32_t i = 0; i < words->functions; i++)
        if (branches(words->function[i]->body) > 0)
            fail_msg("%s has %u branches", words->function[i]->name, branches(words->function[i]->body));
    slri_module_destroy(words);
    slri_module_destroy(linked);
    slri_module_destroy(source);
}

static void refused(const char *text, const char *place, const char *advice)
{
    struct slri_module *made = NULL, *source = compile_text(text);
    assert_int_equal(link_kernel(source, &made), SLR_UNSUPPORTED);
    if (!strstr(slr_error_message(), place) || !strstr(slr_error_message(), advice))
        fail_msg("%s", slr_error_message());
    slri_module_destroy(source);
}

static void what_takes_too_many_doubles_is_refused_with_its_place(void **state)
{
    (void)state;
    refused("__global__ void k(double *x)\n{\n    atomicAdd(x, 1.0);\n}\n", ":3: ", "use float");
    refused("__global__ void k(float *x)\n{\n    x[0] = x[1];\n    x[0] = sinf(x[1]);\n}\n", ":4: ", "'sinf'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_are_computed_with_integers),
        cmocka_unit_test(functions_of_the_library_are_called),
        cmocka_unit_test(a_quotient_and_a_root_are_calls),
        cmocka_unit_test(functions_of_a_warp_are_made_of_shared_memory_or_of_subgroups),
        cmocka_unit_test(no_double_and_no_function_that_is_not_there_is_left),
        cmocka_unit_test(functions_in_place_of_operators_have_no_branches),
        cmocka_unit_test(what_takes_too_many_doubles_is_refused_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
