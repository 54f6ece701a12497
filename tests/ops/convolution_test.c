// SPDX-License-Identifier: Apache-2.0
// Convolutions by each algorithm, and pooling.
#include "tests/ops/convolutions.h"

static void convolutions_and_their_gradients_are_those_of_double(void **state)
{
    (void)state;
    EACH_HERE(i, specs)
    for (int k = 0; k < 3; ++k) {
        slr_ops_desc desc = SLR_OPS_DESC_INIT;
        int cases = k == 0 ? 60 : 20;
        type = types[k];
        check_convolutions(specs[i], NULL, cases);
        desc.deterministic = 1;
        check_convolutions(specs[i], &desc, cases / 2); // own products
        desc.workspace_bytes = 1;
        check_convolutions(specs[i], &desc, cases / 2); // directly
    }
    type = SLR_F32;
}

// ---- pooling --------------------------------------------------------------------------------------------------------

static void pooling_and_its_gradient_are_those_of_double(void **state)
{
    (void)state;
    EACH_HERE(i, specs)
    {
        struct fixture f = open_ops(specs[i]);
        for (int k = 0; k < 90; ++k) {
            type = types[k < 60 ? 0 : 1 + k % 2];
            check_pooling(&f);
        }
        type = SLR_F32;
        close_ops(&f);
    }
}

// ---- refusals -------------------------------------------------------------------------------------------------------

static void shapes_that_do_not_fit_are_refused_with_both(void **state)
{
    (void)state;
    struct fixture f = open_ops("cpu");
    struct data x = make(&f, 4, 1, 4, 5, 5), w = make(&f, 4, 6, 4, 3, 3), y = make(&f, 4, 1, 6, 3, 3);
    slr_convolution_desc desc = SLR_CONVOLUTION_DESC_INIT;
    desc.x = &x.tensor, desc.weights = &w.tensor, desc.y = &y.tensor;
    must(slr_ops_convolution(f.ops, f.stream, &desc, NULL));
    desc.groups = 2;
    refuses(slr_ops_convolution(f.ops, f.stream, &desc, NULL), INVALID,
            "x [1, 4, 5, 5] and weights [6, 4, 3, 3] do not fit");
    desc.groups = 0, desc.padding[1] = 1;
    refuses(slr_ops_convolution(f.ops, f.stream, &desc, NULL), INVALID,
            "y is [1, 6, 3, 3]; expected [1, 6, 3, 5], because of x [1, 4, 5, 5] and weights [6, 4, 3, 3]");
    desc.padding[1] = 0, desc.dilation[0] = 3;
    refuses(slr_ops_convolution(f.ops, f.stream, &desc, NULL), INVALID, "does not fit into x [1, 4, 5, 5]");
    slr_pooling_desc pooling = SLR_POOLING_DESC_INIT;
    pooling.x = &x.tensor, pooling.y = &y.tensor, pooling.kind = SLR_POOL_LARGEST;
    pooling.window[0] = pooling.window[1] = 2;
    refuses(slr_ops_pooling(f.ops, f.stream, &pooling, NULL), INVALID, "y is [1, 6, 3, 3]; expected [1, 4, 2, 2]");
    pooling.padding[0] = 2;
    refuses(slr_ops_pooling(f.ops, f.stream, &pooling, NULL), INVALID,
            "expected a window of 1 to 32767 and less padding");
    drop(&x), drop(&w), drop(&y);
    close_ops(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_and_their_gradients_are_those_of_double),
        cmocka_unit_test(pooling_and_its_gradient_are_those_of_double),
        cmocka_unit_test(shapes_that_do_not_fit_are_refused_with_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
