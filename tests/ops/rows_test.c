// SPDX-License-Identifier: Apache-2.0
// Operations along rows and on elements.
#include "tests/ops/rows.h"

// ---- tests ----------------------------------------------------------------------------------------------------------

typedef void check(struct fixture *f);

static void on_each_device(check *one, int cases)
{
    EACH_HERE(i, specs)
    {
        struct fixture f = open_ops(specs[i]);
        for (int t = 0; t < 3; ++t) {
            type = types[t];
            for (int k = 0; k < (t == 0 ? cases : cases / 2); ++k)
                one(&f);
        }
        type = SLR_F32;
        close_ops(&f);
    }
}

#define TEST(name, function)                                                                                           \
    static void name(void **state)                                                                                     \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        on_each_device(function, 25);                                                                                  \
    }
TEST(softmax_and_its_gradient_are_those_of_double, check_softmax)
TEST(layer_norm_and_its_gradients_are_those_of_double, check_layer_norm)
TEST(reductions_and_their_gradients_are_those_of_double, check_reduce)
TEST(scans_and_their_gradients_are_those_of_double, check_scan)
TEST(top_k_takes_the_largest_and_its_gradient_goes_there, check_top_k)
TEST(cross_entropy_and_its_gradient_are_those_of_double, check_cross_entropy)
TEST(mean_square_and_its_gradient_are_those_of_double, check_mean_square)
TEST(activations_and_their_gradients_are_those_of_double, check_activation)
TEST(embeddings_are_rows_and_gradients_are_their_sums, check_embedding)
TEST(optimisers_step_as_in_double, check_optimisers)
TEST(casts_round_once, check_cast)

// What is no class, no row of a table and no flag.
static void what_is_out_of_range_counts_as_nothing_or_is_refused(void **state)
{
    (void)state;
    struct fixture f = open_ops("cpu");
    struct data x = make(&f, 2, 2, 3, 1, 1), labels = make_indices(&f, 2, 1), loss = make(&f, 1, 1, 1, 1, 1);
    static const int32_t outside[] = {3, -1};
    must(slr_buffer_write(labels.tensor.buffer, 0, outside, 8));
    must(slr_ops_cross_entropy(f.ops, f.stream, &x.tensor, &labels.tensor, &loss.tensor, NULL));
    expect(&f, "loss without classes", &loss, (const double[]){0}, 0, 0);
    struct data y = make(&f, 2, 2, 3, 1, 1);
    must(slr_ops_embedding(f.ops, f.stream, &x.tensor, &labels.tensor, &y.tensor, NULL));
    expect(&f, "rows of nothing", &y, (const double[]){0, 0, 0, 0, 0, 0}, 0, 0);
    refuses(slr_ops_scan(f.ops, f.stream, 4, &x.tensor, &y.tensor, NULL), INVALID, "flags are 0x4");
    refuses(slr_ops_softmax(f.ops, f.stream, &x.tensor, &loss.tensor, NULL), INVALID,
            "y is [1]; expected [2, 3], because of x [2, 3]");
    refuses(slr_ops_activation(f.ops, f.stream, (slr_activation)7, &x.tensor, &y.tensor, NULL), INVALID,
            "activation is 7");
    refuses(slr_ops_reduce(f.ops, f.stream, SLR_REDUCTION_SUM, 2, &x.tensor, &loss.tensor, NULL), INVALID, "axis is 2");
    refuses(slr_ops_sgd(f.ops, f.stream, &x.tensor, &y.tensor, NULL, 1, 0.5f, 0, NULL), INVALID, "velocity is NULL");
    refuses(slr_ops_cross_entropy(f.ops, f.stream, &x.tensor, &loss.tensor, &loss.tensor, NULL), INVALID,
            "the type of labels is SLR_F32; expected SLR_I32");
    drop(&x), drop(&labels), drop(&loss), drop(&y);
    close_ops(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_and_its_gradient_are_those_of_double),
        cmocka_unit_test(layer_norm_and_its_gradients_are_those_of_double),
        cmocka_unit_test(reductions_and_their_gradients_are_those_of_double),
        cmocka_unit_test(scans_and_their_gradients_are_those_of_double),
        cmocka_unit_test(top_k_takes_the_largest_and_its_gradient_goes_there),
        cmocka_unit_test(cross_entropy_and_its_gradient_are_those_of_double),
        cmocka_unit_test(mean_square_and_its_gradient_are_those_of_double),
        cmocka_unit_test(activations_and_their_gradients_are_those_of_double),
        cmocka_unit_test(embeddings_are_rows_and_gradients_are_their_sums),
        cmocka_unit_test(optimisers_step_as_in_double),
        cmocka_unit_test(casts_round_once),
        cmocka_unit_test(what_is_out_of_range_counts_as_nothing_or_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
