// SPDX-License-Identifier: Apache-2.0
// Matrix products by each algorithm.
#include "tests/ops/products.h"

static void products_are_those_of_double_within_the_bound(void **state)
{
    (void)state;
    EACH_HERE(i, specs)
    for (int k = 0; k < 3; ++k) {
        slr_ops_desc desc = SLR_OPS_DESC_INIT;
        int cases = k == 0 ? 40 : 15;
        type = types[k];
        check_products(specs[i], NULL, cases); // OpenBLAS where it is there, for floats
        desc.deterministic = 1;                // panels, on a cpu
        check_products(specs[i], &desc, cases);
        desc.workspace_bytes = NARROW; // tiles
        check_products(specs[i], &desc, cases);
    }
    type = SLR_F32;
}

// A planted difference is seen: the bounds are not so wide that all passes.
static void a_wrong_element_is_outside_the_bound(void **state)
{
    (void)state;
    struct fixture f = open_ops("cpu");
    struct product p = {.m = 33, .n = 7, .k = 129, .batch = 1, .alpha = 1};
    make_product(&f, &p);
    slr_matmul_desc desc = describe_product(&p);
    must(slr_ops_matmul(f.ops, f.stream, &desc, NULL));
    float *got = fetch_floats(&f, &p.c);
    p.a.value[0] += 0.05;
    double size, v = product_element(&p, 0, 0, 0, &size), bound = 2 * (p.k + 4) * EPS * size;
    assert_true(fabs((double)got[0] - v) > bound);
    free(got);
    drop_product(&p);
    close_ops(&f);
}

// ---- bits -----------------------------------------------------------------------------------------------------------

// The result of `runs` products, which must all have the bits of `first`, unless that is NULL; to free().
static float *multiply_on(const char *spec, int runs, const float *first)
{
    slr_ops_desc desc = SLR_OPS_DESC_INIT;
    desc.deterministic = 1;
    struct fixture f = open_ops_with(spec, &desc);
    struct product p = {.m = 129, .n = 257, .k = 300, .batch = 1, .alpha = 1, .activation = SLR_GELU, .has_bias = true};
    seed = 7;
    make_product(&f, &p);
    slr_matmul_desc what = describe_product(&p);
    float *got = NULL;
    for (int i = 0; i < runs; ++i) {
        free(got);
        must(slr_ops_matmul(f.ops, f.stream, &what, NULL));
        got = fetch_floats(&f, &p.c);
        if (first)
            assert_memory_equal(first, got, p.c.n * sizeof *first);
    }
    drop_product(&p);
    close_ops(&f);
    return got;
}

static void deterministic_products_have_the_same_bits_on_any_number_of_threads(void **state)
{
    (void)state;
    float *first = multiply_on("cpu?threads=1", 1, NULL);
    for (int threads = 1; threads <= 8; ++threads) {
        char spec[32];
        snprintf(spec, sizeof spec, "cpu?threads=%d", threads);
        free(multiply_on(spec, 13, first)); // 104 in all
    }
    free(first);
}

// ---- refusals -------------------------------------------------------------------------------------------------------

static void shapes_that_do_not_fit_are_refused_with_both(void **state)
{
    (void)state;
    struct fixture f = open_ops("cpu");
    struct data a = make(&f, 2, 4, 3, 1, 1), b = make(&f, 2, 5, 2, 1, 1), c = make(&f, 2, 4, 2, 1, 1);
    slr_matmul_desc desc = SLR_MATMUL_DESC_INIT;
    desc.a = &a.tensor, desc.b = &b.tensor, desc.c = &c.tensor;
    refuses(slr_ops_matmul(f.ops, f.stream, &desc, NULL), INVALID, "a [4, 3] and b [5, 2] do not fit");
    slr_tensor fits = slr_tensor_2d(SLR_F32, b.tensor.buffer, 3, 3);
    desc.b = &fits;
    refuses(slr_ops_matmul(f.ops, f.stream, &desc, NULL), INVALID,
            "c is [4, 2]; expected [4, 3], because of a [4, 3] and b [3, 3]");
    fits = slr_tensor_2d(SLR_F32, b.tensor.buffer, 3, 2);
    must(slr_ops_matmul(f.ops, f.stream, &desc, NULL));
    fits = slr_tensor_2d(SLR_F32, b.tensor.buffer, 3, 20);
    refuses(slr_ops_matmul(f.ops, f.stream, &desc, NULL), INVALID,
            "b is [3, 20] and needs 240 bytes, but its buffer has 40");
    fits = slr_tensor_2d(SLR_F64, b.tensor.buffer, 3, 2);
    refuses(slr_ops_matmul(f.ops, f.stream, &desc, NULL), INVALID,
            "the type of b is SLR_F64; expected SLR_F32, SLR_F16 or SLR_BF16");
    fits = slr_tensor_2d(SLR_F16, b.tensor.buffer, 3, 2);
    refuses(slr_ops_matmul(f.ops, f.stream, &desc, NULL), INVALID,
            "the type of b is SLR_F16, but that of a is SLR_F32");
    fits = slr_tensor_2d(SLR_F32, c.tensor.buffer, 3, 2);
    refuses(slr_ops_matmul(f.ops, f.stream, &desc, NULL), INVALID, "the buffer of c or pre is that of an operand");
    desc.b = NULL;
    refuses(slr_ops_matmul(f.ops, f.stream, &desc, NULL), INVALID, "b is NULL");
    drop(&a);
    drop(&b);
    drop(&c);
    close_ops(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_double_within_the_bound),
        cmocka_unit_test(a_wrong_element_is_outside_the_bound),
        cmocka_unit_test(deterministic_products_have_the_same_bits_on_any_number_of_threads),
        cmocka_unit_test(shapes_that_do_not_fit_are_refused_with_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
