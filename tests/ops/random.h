// SPDX-License-Identifier: Apache-2.0
// A list of random cases of all operations, forward and backward, of each type, beside references in double. A case has
// a number, which determines all of it.
#ifndef TESTS_OPS_RANDOM_H
#define TESTS_OPS_RANDOM_H

#include "tests/ops/convolutions.h"
#include "tests/ops/products.h"
#include "tests/ops/rows.h"

enum { RANDOM_MODES = 2 }; // any algorithm; those with the same bits in every run

struct random_ops {
    struct fixture mode[RANDOM_MODES]; // of one device
    slr_ops *narrow[RANDOM_MODES];     // with so little workspace that panels are left out
};

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

static void check_narrow_product(struct fixture *f)
{
    check_product_with(f, true);
}

static void check_one_convolution(struct fixture *f)
{
    check_convolution(f, true);
}

static const struct {
    const char *name;
    void (*check)(struct fixture *f);
} random_kinds[] = {
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
enum { RANDOM_KINDS = sizeof random_kinds / sizeof *random_kinds };

static uint32_t random_kind_of(uint32_t number)
{
    return number / RANDOM_MODES % RANDOM_KINDS;
}

static slr_scalar random_type_of(uint32_t number)
{
    return types[number / RANDOM_MODES / RANDOM_KINDS % 3];
}

static void open_random(const char *spec, struct random_ops *out)
{
    slr_ops_desc desc = SLR_OPS_DESC_INIT;
    out->mode[0] = open_ops(spec);
    for (uint32_t mode = 0; mode < RANDOM_MODES; ++mode) {
        desc.deterministic = mode, desc.workspace_bytes = 0;
        if (mode > 0) {
            out->mode[mode] = out->mode[0];
            must(slr_ops_create(out->mode[0].device, &desc, &out->mode[mode].ops));
        }
        desc.workspace_bytes = NARROW;
        must(slr_ops_create(out->mode[0].device, &desc, &out->narrow[mode]));
    }
}

static void close_random(struct random_ops *r)
{
    must(slr_stream_finish(r->mode[0].stream, COMPILED));
    for (uint32_t mode = 0; mode < RANDOM_MODES; ++mode) {
        slr_ops_destroy(r->narrow[mode]);
        if (mode > 0)
            slr_ops_destroy(r->mode[mode].ops);
    }
    close_ops(&r->mode[0]);
}

// Each case has a seed of its own; its number is said where it fails.
static void check_random(const struct random_ops *r, uint32_t number)
{
    uint32_t mode = number % RANDOM_MODES;
    struct fixture f = r->mode[mode];
    if (random_kinds[random_kind_of(number)].check == check_narrow_product)
        f.ops = r->narrow[mode];
    type = random_type_of(number);
    seed = 1000003ull * number + 17;
    draw(2);
    doing = number;
    random_kinds[random_kind_of(number)].check(&f);
    type = SLR_F32;
}

#endif
