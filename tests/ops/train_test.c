// SPDX-License-Identifier: Apache-2.0
// Loss scaling, and a net of two layers that is trained: in float, in half with a scaler, and without one.
#include "tests/ops/ops_test.h"

static slr_status count_step(void *user, slr_stream *stream)
{
    (void)stream;
    ++*(int *)user;
    return SLR_OK;
}

static void scale_of(const slr_scaler *scaler, float scale, uint64_t steps, uint64_t skipped)
{
    slr_scaler_info info;
    must(slr_scaler_get_info(scaler, &info));
    assert_true(info.scale == scale);
    assert_int_equal(info.steps, steps);
    assert_int_equal(info.skipped, skipped);
}

static void a_step_with_an_infinite_gradient_is_skipped_and_halves_the_scale(void **state)
{
    (void)state;
    EACH_HERE(i, specs)
    {
        struct fixture f = open_ops(specs[i]);
        slr_scaler *scaler;
        int steps = 0;
        uint32_t skipped;
        must(slr_scaler_create(f.ops, NULL, &scaler));
        type = SLR_F16;
        struct data g = make(&f, 1, 129, 1, 1, 1), to = make_floats(&f, 129), small = make_like(&f, &g);
        refuses(slr_scaler_step(scaler, f.stream, count_step, &steps, NULL), WRONG_STATE, "slr_scaler_unscale was not");
        g.value[77] = 0x1p20; // infinite in half
        store(&g);
        must(slr_scaler_unscale(scaler, f.stream, &g.tensor, &to.tensor, NULL));
        must(slr_scaler_unscale(scaler, f.stream, &small.tensor, &to.tensor, NULL));
        must(slr_scaler_step(scaler, f.stream, count_step, &steps, &skipped));
        assert_true(skipped == 1 && steps == 0);
        scale_of(scaler, 32768, 0, 1);
        must(slr_scaler_unscale(scaler, f.stream, &small.tensor, &to.tensor, NULL));
        must(slr_scaler_step(scaler, f.stream, count_step, &steps, &skipped));
        assert_true(skipped == 0 && steps == 1);
        scale_of(scaler, 32768, 1, 1);
        double want[129]; // what half could not hold: its smallest number is 2^-24
        for (int k = 0; k < 129; ++k)
            want[k] = small.value[k] / 32768;
        expect(&f, "unscaled", &to, want, 0, 1);
        type = SLR_F32;
        slr_scaler_destroy(scaler);
        drop(&g), drop(&to), drop(&small);
        close_ops(&f);
    }
}

static void gradients_that_half_has_lost_are_counted_and_the_advice_is_to_scale(void **state)
{
    (void)state;
    EACH_HERE(i, specs)
    {
        struct fixture f = open_ops(specs[i]);
        slr_scaler *scaler;
        slr_scaler_desc desc = SLR_SCALER_DESC_INIT;
        slr_scaler_info info;
        int steps = 0;
        desc.initial = desc.growth = desc.backoff = 1;
        must(slr_scaler_create(f.ops, &desc, &scaler));
        type = SLR_F16;
        struct data g = make(&f, 1, 1000, 1, 1, 1), to = make_floats(&f, 1000);
        for (int zeros = 499; zeros <= 500; ++zeros) {
            for (int k = 0; k < 1000; ++k)
                g.value[k] = k < zeros ? 0x1p-26 : 0.5; // the first is 0 in half
            store(&g);
            must(slr_scaler_unscale(scaler, f.stream, &g.tensor, &to.tensor, NULL));
            must(slr_scaler_unscale(scaler, f.stream, &to.tensor, &to.tensor, NULL)); // floats do not count
            must(slr_scaler_step(scaler, f.stream, count_step, &steps, NULL));
            must(slr_scaler_get_info(scaler, &info));
            assert_int_equal(info.halves, 1000);
            assert_int_equal(info.zeros, zeros);
            assert_true((*info.advice == '\0') == (zeros < 500));
        }
        assert_non_null(strstr(info.advice, "the loss is not scaled"));
        type = SLR_F32;
        slr_scaler_destroy(scaler);
        drop(&g), drop(&to);
        close_ops(&f);
    }
}

static void good_steps_in_a_row_double_the_scale(void **state)
{
    (void)state;
    struct fixture f = open_ops("cpu");
    slr_scaler_desc desc = SLR_SCALER_DESC_INIT;
    slr_scaler *scaler;
    int steps = 0;
    desc.growth_interval = 3;
    must(slr_scaler_create(f.ops, &desc, &scaler));
    struct data g = make(&f, 1, 7, 1, 1, 1);
    for (int k = 0; k < 7; ++k) {
        must(slr_scaler_unscale(scaler, f.stream, &g.tensor, &g.tensor, NULL));
        must(slr_scaler_step(scaler, f.stream, count_step, &steps, NULL));
    }
    assert_int_equal(steps, 7);
    scale_of(scaler, 4 * 65536, 7, 0);
    slr_scaler_destroy(scaler);
    desc.backoff = 2;
    refuses(slr_scaler_create(f.ops, &desc, &scaler), INVALID, "backoff are 65536, 2 and 2");
    drop(&g);
    close_ops(&f);
}

// ---- a net ----------------------------------------------------------------------------------------------------------

enum { ROWS = 64, INPUTS = 4, HIDDEN = 32, CLASSES = 2, STEPS = 120 };

// Weights in float, as the optimiser has them; copies in the type of the net.
struct layer {
    struct data weights, copy, gradient, unscaled, mean, square;
};

struct net {
    struct fixture *f;
    struct layer layer[2];
    struct data x, labels, hidden, pre, logits, dlogits, dhidden, loss;
    uint32_t step;
};

static void make_layer(struct fixture *f, struct layer *l, uint32_t rows, uint32_t columns)
{
    l->copy = make(f, 2, rows, columns, 1, 1), l->gradient = make_like(f, &l->copy);
    struct data *floats[] = {&l->weights, &l->unscaled, &l->mean, &l->square};
    for (int i = 0; i < 4; ++i) {
        *floats[i] = make_floats(f, rows * columns);
        floats[i]->tensor = slr_tensor_2d(SLR_F32, floats[i]->tensor.buffer, rows, columns);
        for (size_t k = 0; k < floats[i]->n; ++k)
            floats[i]->value[k] = i == 0 ? l->copy.value[k] / 2 : 0;
        store(floats[i]);
    }
}

static void make_net(struct fixture *f, struct net *n)
{
    *n = (struct net){.f = f};
    seed = 11;
    make_layer(f, &n->layer[0], INPUTS, HIDDEN);
    make_layer(f, &n->layer[1], HIDDEN, CLASSES);
    n->x = make(f, 2, ROWS, INPUTS, 1, 1), n->labels = make_indices(f, ROWS, CLASSES);
    n->hidden = make(f, 2, ROWS, HIDDEN, 1, 1), n->pre = make_like(f, &n->hidden),
    n->dhidden = make_like(f, &n->hidden);
    n->logits = make(f, 2, ROWS, CLASSES, 1, 1), n->dlogits = make_like(f, &n->logits);
    n->loss = make_floats(f, 1);
    int32_t labels[ROWS];
    for (int i = 0; i < ROWS; ++i) // a class that no line separates
        labels[i] = n->x.value[i * INPUTS] * n->x.value[i * INPUTS + 1] > 0;
    must(slr_buffer_write(n->labels.tensor.buffer, 0, labels, sizeof labels));
}

static void drop_net(struct net *n)
{
    for (int i = 0; i < 2; ++i) {
        struct layer *l = &n->layer[i];
        drop(&l->weights), drop(&l->copy), drop(&l->gradient), drop(&l->unscaled), drop(&l->mean), drop(&l->square);
    }
    drop(&n->x), drop(&n->labels), drop(&n->hidden), drop(&n->pre), drop(&n->logits), drop(&n->dlogits);
    drop(&n->dhidden), drop(&n->loss);
}

static slr_status step_layers(void *user, slr_stream *stream)
{
    struct net *n = user;
    slr_status status = SLR_OK;
    ++n->step;
    for (int i = 0; i < 2 && status == SLR_OK; ++i) {
        struct layer *l = &n->layer[i];
        slr_adam_desc desc = SLR_ADAM_DESC_INIT;
        desc.step = n->step, desc.rate = 0.03f, desc.epsilon = 1e-12f;
        desc.weights = &l->weights.tensor, desc.gradient = &l->unscaled.tensor;
        desc.mean = &l->mean.tensor, desc.square = &l->square.tensor;
        status = slr_ops_adam(n->f->ops, stream, &desc, NULL);
    }
    return status;
}

// `faint`: gradients are as small as those of a deep net, and half loses them unless they are scaled.
static void train_once(struct net *n, slr_scaler *scaler, float scale, float faint)
{
    slr_ops *ops = n->f->ops;
    slr_stream *stream = n->f->stream;
    slr_matmul_desc first = SLR_MATMUL_DESC_INIT, second = SLR_MATMUL_DESC_INIT;
    for (int i = 0; i < 2; ++i)
        must(slr_ops_cast(ops, stream, &n->layer[i].weights.tensor, &n->layer[i].copy.tensor, NULL));
    first.a = &n->x.tensor, first.b = &n->layer[0].copy.tensor, first.c = &n->hidden.tensor;
    first.activation = SLR_TANH, first.pre = &n->pre.tensor;
    second.a = &n->hidden.tensor, second.b = &n->layer[1].copy.tensor, second.c = &n->logits.tensor;
    must(slr_ops_matmul(ops, stream, &first, NULL));
    must(slr_ops_matmul(ops, stream, &second, NULL));
    must(slr_ops_cross_entropy(ops, stream, &n->logits.tensor, &n->labels.tensor, &n->loss.tensor, NULL));
    must(slr_ops_cross_entropy_backward(ops, stream, &n->logits.tensor, &n->labels.tensor, scale * faint,
                                        &n->dlogits.tensor, NULL));
    must(slr_ops_matmul_backward(ops, stream, &second, &n->dlogits.tensor, &n->dhidden.tensor,
                                 &n->layer[1].gradient.tensor, NULL, NULL));
    must(slr_ops_matmul_backward(ops, stream, &first, &n->dhidden.tensor, NULL, &n->layer[0].gradient.tensor, NULL,
                                 NULL));
    for (int i = 0; i < 2; ++i)
        must(slr_scaler_unscale(scaler, stream, &n->layer[i].gradient.tensor, &n->layer[i].unscaled.tensor, NULL));
    must(slr_scaler_step(scaler, stream, step_layers, n, NULL));
}

// The loss behind training, in a type, with the scale that a scaler begins with.
static double trained(const char *spec, slr_scalar in, float initial)
{
    struct fixture f = open_ops(spec);
    struct net n;
    slr_scaler *scaler;
    slr_scaler_desc desc = SLR_SCALER_DESC_INIT;
    slr_scaler_info info;
    desc.initial = initial;
    type = in;
    make_net(&f, &n);
    must(slr_scaler_create(f.ops, &desc, &scaler));
    for (int k = 0; k < STEPS; ++k) {
        must(slr_scaler_get_info(scaler, &info));
        train_once(&n, scaler, info.scale, 0x1p-20f);
    }
    float *loss = fetch_floats(&f, &n.loss);
    double last = (double)loss[0];
    free(loss);
    type = SLR_F32;
    slr_scaler_destroy(scaler);
    drop_net(&n);
    close_ops(&f);
    return last;
}

static void half_trains_as_float_does_with_a_scaler_and_not_without(void **state)
{
    (void)state;
    EACH_HERE(i, specs)
    {
        double floats = trained(specs[i], SLR_F32, 1), scaled = trained(specs[i], SLR_F16, 65536);
        double unscaled = trained(specs[i], SLR_F16, 1), bfloats = trained(specs[i], SLR_BF16, 1);
        print_message("losses: float %.3f, half scaled %.3f and not %.3f, bfloat16 %.3f\n", floats, scaled, unscaled,
                      bfloats);
        assert_true(floats < 0.35);
        assert_true(fabs(scaled - floats) < 0.1 && fabs(bfloats - floats) < 0.1);
        assert_true(unscaled > floats + 0.2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_with_an_infinite_gradient_is_skipped_and_halves_the_scale),
        cmocka_unit_test(gradients_that_half_has_lost_are_counted_and_the_advice_is_to_scale),
        cmocka_unit_test(good_steps_in_a_row_double_the_scale),
        cmocka_unit_test(half_trains_as_float_does_with_a_scaler_and_not_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
