// SPDX-License-Identifier: Apache-2.0
// Random cases of all operations, forward and backward, of each type, beside references in double. Without arguments a
// few of each; `--thorough [CASES [DEVICE]]` does so many on the device (5,000, cpu).
#include "tests/ops/convolutions.h"
#include "tests/ops/products.h"
#include "tests/ops/rows.h"

#include <string.h>

static void check_product_with(struct fixture *f, bool is_narrow)
{
    struct product p;
    draw_product(&p);
    make_product(f, &p);
    check_product(f, &p);
    if ((uint64_t)p.m * p.n * p.k * p.batch < 100000)
        check_product_gradients(f, &p, is_narrow);
    drop_product(&p);
}

static void check_one_product(struct fixture *f)
{
    check_product_with(f, false);
}

static slr_ops *narrow; // with so little workspace that panels are left out

static void check_narrow_product(struct fixture *f)
{
    struct fixture with = {f->device, f->stream, narrow};
    check_product_with(&with, true);
}

static void check_one_convolution(struct fixture *f)
{
    check_convolution(f, true);
}

static const struct {
    const char *name;
    void (*check)(struct fixture *f);
} kinds[] = {
    {"matmul", check_one_product},
    {"matmul without workspace", check_narrow_product},
    {"convolution", check_one_convolution},
    {"pooling", check_pooling},
    {"softmax", check_softmax},
    {"layer norm", check_layer_norm},
    {"reduce", check_reduce},
    {"scan", check_scan},
    {"top-k", check_top_k},
    {"cross entropy", check_cross_entropy},
    {"mean square", check_mean_square},
    {"activation", check_activation},
    {"embedding", check_embedding},
    {"optimisers", check_optimisers},
    {"cast", check_cast},
};
enum { KINDS = sizeof kinds / sizeof *kinds, MODES = 2 };

// Any algorithm, and those with the same bits in every run. Each case has a seed of its own; its number is said where
// it fails.
static void check_cases(const char *spec, uint32_t cases, bool tells)
{
    slr_ops_desc desc = SLR_OPS_DESC_INIT;
    for (uint32_t mode = 0; mode < MODES; ++mode) {
        desc.deterministic = mode, desc.workspace_bytes = 0;
        struct fixture f = open_ops_with(spec, &desc);
        desc.workspace_bytes = NARROW;
        must(slr_ops_create(f.device, &desc, &narrow));
        for (uint32_t i = mode; i < cases; i += MODES) {
            uint32_t which = i / MODES % KINDS;
            type = types[i / MODES / KINDS % 3];
            seed = 1000003ull * i + 17;
            draw(2);
            if (tells && i % 500 < MODES)
                print_message("%s: case %u of %u, %s\n", spec, i, cases, kinds[which].name);
            doing = i;
            kinds[which].check(&f);
        }
        type = SLR_F32;
        slr_ops_destroy(narrow);
        close_ops(&f);
    }
}

static uint32_t thorough_cases; // 0: a few
static const char *thorough_device = "cpu";

static void random_cases_of_all_operations_are_those_of_double(void **state)
{
    (void)state;
    if (thorough_cases != 0) {
        check_cases(thorough_device, thorough_cases, true);
        return;
    }
    EACH_HERE(i, specs)
    check_cases(specs[i], MODES * KINDS * 3, false);
}

int main(int count, char **argument)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_cases_of_all_operations_are_those_of_double)};
    if (count > 1 && strcmp(argument[1], "--thorough") == 0) {
        thorough_cases = count > 2 ? (uint32_t)strtoul(argument[2], NULL, 10) : 5000;
        thorough_device = count > 3 ? argument[3] : "cpu";
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
