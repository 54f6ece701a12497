// SPDX-License-Identifier: Apache-2.0
// The text of kernels as WGSL. Whether compilers take it, and what it does, is tested by tests/wgsl.
#include "lang/compile_test.h"

#include "emit/wgsl/emit_wgsl.h"

struct emitted {
    struct slri_module *module;
    slri_text text;
    slr_status status;
};

static struct emitted emit(const char *source, const struct slri_wgsl_options *options)
{
    struct emitted e = {.module = compile_text(source), .text = SLRI_TEXT_INIT};
    e.status = slri_emit_wgsl(e.module, e.module->entry, options, &e.text);
    return e;
}

static void drop(struct emitted *e)
{
    slri_text_free(&e->text);
    slri_module_destroy(e->module);
}

static void has(const char *source, const struct slri_wgsl_options *options, const char *words)
{
    struct emitted e = emit(source, options);
    assert_int_equal(e.status, SLR_OK);
    if (!strstr(slri_text_view(&e.text), words))
        fail_msg("no '%s' in\n%s", words, slri_text_view(&e.text));
    drop(&e);
}

static void has_not(const char *source, const char *words)
{
    struct emitted e = emit(source, NULL);
    assert_int_equal(e.status, SLR_OK);
    assert_null(strstr(slri_text_view(&e.text), words));
    drop(&e);
}

static void refuses(const char *source, const struct slri_wgsl_options *options, const char *words)
{
    struct emitted e = emit(source, options);
    assert_int_equal(e.status, SLR_UNSUPPORTED);
    if (!strstr(slr_error_message(), words))
        fail_msg("'%s' does not say '%s'", slr_error_message(), words);
    drop(&e);
}

static const char axpy[] = "__global__ void axpy(float a, const float *x, float *y, int n)\n{\n"
                           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n)\n    y[i] += a * x[i];\n}";

static void buffers_are_bound_in_their_order_and_values_behind_them(void **state)
{
    (void)state;
    has(axpy, NULL, "@group(0) @binding(0) var<storage, read> slri_b1: array<u32>; // x\n");
    has(axpy, NULL, "@group(0) @binding(1) var<storage, read_write> slri_b2: array<u32>; // y\n");
    has(axpy, NULL, "@group(0) @binding(2) var<uniform> slri_args: array<vec4<u32>, 1>;\n");
    has(axpy, NULL, "var a_0: f32 = bitcast<f32>(slri_arg(1u));");
    const struct slri_wgsl_options in_parts = {.in_parts = true};
    has("__global__ void k(float *a) { a[0] = a[1] / 3; }", &in_parts,
        " / bitcast<f32>(0x40400000u | (slri_arg(4u) >> 31u));");
    has("__global__ void k(float *a) { a[0] = a[1] / 4; }", &in_parts, " / 0x1.000000p+2f;");
    has("__global__ void k(float *a) { a[0] = a[1] / 3; }", NULL, " / 0x1.800000p+1f;");
    has_not("__global__ void k(int *a) { a[0] = 1; }", "slri_args");
}

static void a_block_is_overrides_or_a_literal(void **state)
{
    (void)state;
    static const uint32_t block[] = {64, 2, 1}, large[] = {1024, 1, 1};
    has(axpy, NULL, "override slri_block_x: u32 = 256u;\n");
    has(axpy, NULL, "@workgroup_size(slri_block_x, slri_block_y, slri_block_z)\nfn slrk_axpy(");
    has(axpy, &(struct slri_wgsl_options){.block = block}, "@workgroup_size(64, 2, 1)\n");
    refuses(axpy, &(struct slri_wgsl_options){.block = large}, "1: a block of 'axpy' has more than the 256 threads");
}

// What naga makes of % is undefined where a number is negative.
static void a_rest_is_what_a_division_leaves(void **state)
{
    (void)state;
    has("__global__ void k(int *a) { a[0] = a[1] % 2; }", NULL, " / 2i;");
    has_not("__global__ void k(int *a) { a[0] = a[1] % 2 + a[1] % a[2]; }", " % ");
    has_not("__global__ void k(unsigned *a) { a[0] = a[1] % 2 + a[1] % a[2]; }", " % ");
}

static void lines_name_the_source(void **state)
{
    (void)state;
    struct emitted e = emit(axpy, NULL);
    const char *at = strstr(slri_text_view(&e.text), "  // t.cu:5\n");
    assert_non_null(at);
    assert_non_null(strstr(at, " = r_")); // what is stored stands behind it
    assert_null(strstr(slri_text_view(&e.text), "t.cu:2\n"));
    drop(&e);
}

static void words_that_threads_race_for_are_atomic(void **state)
{
    (void)state;
    has("__global__ void k(unsigned char *b, int *c) { b[threadIdx.x] = 1; c[threadIdx.x] = 1; }", NULL,
        "slri_b0: array<atomic<u32>>; // b");
    has("__global__ void k(unsigned char *b, int *c) { b[threadIdx.x] = 1; c[threadIdx.x] = 1; }", NULL,
        "slri_b1: array<u32>; // c");
    has("__global__ void k(volatile int *f) { while (!f[0]) { } }", NULL, "atomicLoad(&slri_b0[0u])");
}

static void cases_that_fall_through_are_taken_in_turn(void **state)
{
    (void)state;
    has("__global__ void k(int *a) { switch (a[0]) { case 1: case 2: a[1] = 1; break; default: a[2] = 1; } }", NULL,
        "case 1i, 2i: {");
    has("__global__ void k(int *a) { switch (a[0]) { case 1: a[1] = 1; case 2: a[2] = 1; } }", NULL,
        "switch (0u) {\n    case default: {\n");
}

static void what_wgsl_has_not_is_refused_with_its_place(void **state)
{
    (void)state;
    refuses("__global__ void k(int *a)\n{\n  __threadfence();\n}", NULL, ":3: WGSL has no fences");
    refuses("__global__ void k(float *a)\n{\n  a[0] = erff(a[0]);\n}", NULL, ":3: WGSL has no erff");
    refuses("__global__ void k(double *a)\n{\n  a[0] += 1;\n}", NULL, ":3: double is not supported");
    refuses("__global__ void k(int *a)\n{\n  __shared__ int s[8192];\n  s[threadIdx.x] = a[0]; __syncthreads(); a[1] = "
            "s[0];\n}",
            NULL, "'k' has 32768 bytes of shared memory, and needs 8 for itself; WebGPU has 16384");
    has("__global__ void k(float *a) { a[0] = expf(a[0]); }", NULL, "exp(");
}

static void more_buffers_than_a_device_must_have_are_refused(void **state)
{
    (void)state;
    refuses("__global__ void k(int *a, int *b, int *c, int *d, int *e, int *f, int *g, int *h, int *i)"
            "{ a[0] = b[0] + c[0] + d[0] + e[0] + f[0] + g[0] + h[0] + i[0]; }",
            NULL, "'k' needs 9 storage buffers, and WebGPU has 8 for a kernel");
    has("__global__ void k(int *a, int *b, int *c, int *d, int *e, int *f, int *g, int *h, int *i)"
        "{ a[0] = b[0] + c[0] + d[0] + f[0] + g[0] + h[0] + i[0]; }", // one is not touched
        NULL, "@binding(8) var<storage, read> slri_b8");
}

static void functions_of_a_warp_are_the_librarys_and_have_memory_for_the_block(void **state)
{
    (void)state;
    static const uint32_t block[] = {64, 2, 1};
    static const char shuffles[] = "__global__ void k(float *a) { a[0] = __shfl_down_sync(~0u, a[0], 1); }";
    const struct slri_wgsl_options in_block = {.block = block};
    has(shuffles, NULL, "fn slrf_slri_shfl_down_sync_U32(");
    has(shuffles, NULL, "override slri_lanes: u32 = 2u * slri_block_x * slri_block_y * slri_block_z + 64u;\n");
    has(shuffles, &in_block, "const slri_lanes: u32 = 320u;\nvar<workgroup> slri_s0: array<u32, slri_lanes>;\n");
    has_not("__global__ void k(int *a) { a[0] = __syncthreads_count(a[1]); }", "slri_lanes");
    has("__global__ void k(int *a) { a[0] = __syncthreads_count(a[1]); }", NULL, "slri_count(");
    refuses("__global__ void k(int *a) { __shared__ int s[3600]; s[threadIdx.x] = a[0]; __syncthreads();"
            "a[1] = __any_sync(~0u, s[0]); }",
            NULL, "'k' has 14400 bytes of shared memory, and needs 2312 for itself; WebGPU has 16384");
}

static void a_fault_has_its_place(void **state)
{
    (void)state;
    has("__global__ void k(int *a)\n{\n  a[0] /= a[1];\n}", NULL, "slri_fault(1u, 0u, 3u);");
    has_not("__global__ void k(int *a) { a[0] /= 7; }", "slri_fault");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_are_bound_in_their_order_and_values_behind_them),
        cmocka_unit_test(a_block_is_overrides_or_a_literal),
        cmocka_unit_test(a_rest_is_what_a_division_leaves),
        cmocka_unit_test(lines_name_the_source),
        cmocka_unit_test(words_that_threads_race_for_are_atomic),
        cmocka_unit_test(cases_that_fall_through_are_taken_in_turn),
        cmocka_unit_test(what_wgsl_has_not_is_refused_with_its_place),
        cmocka_unit_test(more_buffers_than_a_device_must_have_are_refused),
        cmocka_unit_test(functions_of_a_warp_are_the_librarys_and_have_memory_for_the_block),
        cmocka_unit_test(a_fault_has_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
