// SPDX-License-Identifier: Apache-2.0
// Sequences of layers that keep every k-th activation: the same gradients, less memory, and as much as was planned.
#include "tests/ops/ops_test.h"

#include <slipring/layers.h>
#include <slipring/pool.h>

#include <string.h>

enum { LAYERS = 64, ROWS = 16, WIDTH = 33 };

// Products and activations by turns, all of one shape.
struct chain {
    struct fixture f;
    struct data weights[LAYERS], gradients[LAYERS], x, y, dy, dx;
    slr_layer layers[LAYERS];
    struct step {
        struct chain *chain;
        uint32_t index;
    } steps[LAYERS];
    uint32_t forwards, backwards;
};

static slr_status step_forward(void *user, slr_stream *stream, const slr_tensor *x, const slr_tensor *y)
{
    struct step *step = user;
    struct chain *c = step->chain;
    ++c->forwards;
    if (step->index % 2)
        return slr_ops_activation(c->f.ops, stream, SLR_TANH, x, y, NULL);
    slr_matmul_desc desc = SLR_MATMUL_DESC_INIT;
    desc.a = x, desc.b = &c->weights[step->index].tensor, desc.c = y;
    return slr_ops_matmul(c->f.ops, stream, &desc, NULL);
}

static slr_status step_backward(void *user, slr_stream *stream, const slr_tensor *x, const slr_tensor *y,
                                const slr_tensor *dy, const slr_tensor *dx)
{
    struct step *step = user;
    struct chain *c = step->chain;
    ++c->backwards;
    if (step->index % 2)
        return slr_ops_activation_backward(c->f.ops, stream, SLR_TANH, x, dy, dx, NULL);
    slr_matmul_desc desc = SLR_MATMUL_DESC_INIT;
    desc.a = x, desc.b = &c->weights[step->index].tensor, desc.c = y;
    return slr_ops_matmul_backward(c->f.ops, stream, &desc, dy, dx, &c->gradients[step->index].tensor, NULL, NULL);
}

static slr_sequence_desc describe(struct chain *c, uint32_t count, uint32_t every)
{
    slr_sequence_desc desc = SLR_SEQUENCE_DESC_INIT;
    desc.count = count, desc.layers = c->layers, desc.input = c->x.tensor, desc.every = every;
    return desc;
}

static void open_chain(struct chain *c, const char *spec)
{
    slr_ops_desc desc = SLR_OPS_DESC_INIT;
    desc.workspace_bytes = 1; // so that the pool has the activations alone
    *c = (struct chain){.f = open_ops_with(spec, &desc)};
    seed = 3;
    c->x = make(&c->f, 2, ROWS, WIDTH, 1, 1), c->y = make_like(&c->f, &c->x);
    c->dy = make_like(&c->f, &c->x), c->dx = make_like(&c->f, &c->x);
    for (uint32_t i = 0; i < LAYERS; ++i) {
        c->weights[i] = make(&c->f, 2, WIDTH, WIDTH, 1, 1);
        for (size_t k = 0; k < c->weights[i].n; ++k)
            c->weights[i].value[k] *= 0.3;
        store(&c->weights[i]);
        c->gradients[i] = make_like(&c->f, &c->weights[i]);
        c->steps[i] = (struct step){c, i};
        c->layers[i] = (slr_layer){step_forward, step_backward, &c->steps[i], c->x.tensor};
        c->layers[i].output.buffer = NULL;
    }
}

static void close_chain(struct chain *c)
{
    drop(&c->x), drop(&c->y), drop(&c->dy), drop(&c->dx);
    for (int i = 0; i < LAYERS; ++i)
        drop(&c->weights[i]), drop(&c->gradients[i]);
    close_ops(&c->f);
}

static uint64_t peak_of(struct chain *c)
{
    slr_pool *pool;
    slr_pool_stats stats;
    must(slr_device_get_pool(c->f.device, &pool));
    must(slr_pool_get_stats(pool, &stats));
    return stats.peak_bytes;
}

// Of all weights, and of x.
struct gradients {
    float weights[LAYERS / 2][WIDTH * WIDTH], x[ROWS * WIDTH];
};

static void run_chain(struct chain *c, uint32_t count, uint32_t every, struct gradients *out)
{
    slr_sequence *sequence;
    slr_sequence_desc desc = describe(c, count, every);
    must(slr_sequence_create(c->f.ops, &desc, &sequence));
    must(slr_sequence_forward(sequence, c->f.stream, &c->x.tensor, &c->y.tensor));
    must(slr_sequence_backward(sequence, c->f.stream, &c->x.tensor, &c->y.tensor, &c->dy.tensor, &c->dx.tensor));
    for (uint32_t i = 0; i < count; i += 2) {
        float *got = fetch_floats(&c->f, &c->gradients[i]);
        memcpy(out->weights[i / 2], got, sizeof out->weights[0]);
        free(got);
    }
    float *got = fetch_floats(&c->f, &c->dx);
    memcpy(out->x, got, sizeof out->x);
    free(got);
    slr_sequence_destroy(sequence);
}

static void gradients_are_the_same_bits_whatever_is_kept(void **state)
{
    (void)state;
    static struct gradients want, got;
    EACH_HERE(i, specs)
    {
        struct chain *c = malloc(sizeof *c);
        open_chain(c, specs[i]);
        for (uint32_t count = LAYERS; count >= 1; count = count == LAYERS ? 7 : count == 7 ? 2 : count - 1) {
            run_chain(c, count, 1, &want);
            assert_true(fabsf(want.x[5]) > 0); // there is something to compare
            for (uint32_t every = 0; every <= count; every = every < 5 ? every + 1 : every * 3) {
                memset(&got, 0, sizeof got);
                run_chain(c, count, every, &got);
                assert_memory_equal(got.x, want.x, sizeof want.x);
                for (uint32_t k = 0; k < count; k += 2)
                    assert_memory_equal(got.weights[k / 2], want.weights[k / 2], sizeof want.weights[0]);
            }
        }
        close_chain(c);
        free(c);
    }
}

static void the_pool_holds_what_was_planned(void **state)
{
    (void)state;
    static const uint32_t everys[] = {1, 0, 5, LAYERS};
    static struct gradients gradients;
    uint64_t plain = 0;
    for (int i = 0; i < 4; ++i) {
        struct chain *c = malloc(sizeof *c);
        slr_plan plan;
        open_chain(c, "cpu");
        slr_sequence_desc desc = describe(c, LAYERS, everys[i]);
        must(slr_ops_plan(&desc, &plan));
        run_chain(c, LAYERS, everys[i], &gradients);
        assert_int_equal(peak_of(c), plan.as_described.checkpointed);
        assert_int_equal(plan.every, everys[i] ? everys[i] : 8);
        assert_int_equal(c->forwards, LAYERS + plan.recomputed);
        assert_int_equal(c->backwards, LAYERS);
        if (i == 0)
            plain = peak_of(c);
        assert_int_equal(plan.as_described.plain, plain);
        if (everys[i] == 0)
            assert_true(10 * peak_of(c) <= 3 * plain && plan.recomputed == 49);
        if (everys[i] == LAYERS)
            assert_true(plan.recomputed == 0 && peak_of(c) == plain);
        close_chain(c);
        free(c);
    }
}

static void a_plan_halves_with_the_type_and_with_the_batch(void **state)
{
    (void)state;
    slr_layer layers[9];
    slr_sequence_desc desc = SLR_SEQUENCE_DESC_INIT;
    slr_plan plan;
    for (int i = 0; i < 9; ++i)
        layers[i] = (slr_layer){.output = slr_tensor_2d(SLR_F32, NULL, 32, 64)};
    desc.count = 9, desc.layers = layers, desc.input = layers[0].output;
    must(slr_ops_plan(&desc, &plan));
    assert_int_equal(plan.every, 3);
    assert_int_equal(plan.recomputed, 4);
    assert_int_equal(plan.f32.plain, 10 * 8192);       // 8 activations and 2 gradients
    assert_int_equal(plan.f32.checkpointed, 6 * 8192); // 2 kept, 2 of a segment, 2 gradients
    assert_int_equal(plan.half.checkpointed, 6 * 4096);
    assert_int_equal(plan.f32_half_batch.plain, 10 * 4096);
    assert_int_equal(plan.half_half_batch.checkpointed, 6 * 2048);
    assert_int_equal(plan.as_described.plain, plan.f32.plain);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct chain *c = malloc(sizeof *c);
    slr_sequence *sequence;
    slr_plan plan;
    open_chain(c, "cpu");
    slr_sequence_desc desc = describe(c, 4, 2);
    must(slr_sequence_create(c->f.ops, &desc, &sequence));
    struct data other = make(&c->f, 2, ROWS, WIDTH + 1, 1, 1);
    refuses(slr_sequence_backward(sequence, c->f.stream, &c->x.tensor, &c->y.tensor, &c->dy.tensor, NULL), WRONG_STATE,
            "slr_sequence_forward was not called");
    refuses(slr_sequence_forward(sequence, c->f.stream, &other.tensor, &c->y.tensor), INVALID, "[16, 34]");
    must(slr_sequence_forward(sequence, c->f.stream, &c->x.tensor, &c->y.tensor));
    must(slr_sequence_backward(sequence, c->f.stream, &c->x.tensor, &c->y.tensor, &c->dy.tensor, &c->dx.tensor));
    refuses(slr_sequence_backward(sequence, c->f.stream, &c->x.tensor, &c->y.tensor, &c->dy.tensor, NULL), WRONG_STATE,
            "slr_sequence_forward was not called");
    slr_sequence_destroy(sequence);
    desc.count = 0;
    refuses(slr_ops_plan(&desc, &plan), INVALID, "there are 0 layers");
    desc.count = 4, c->layers[2].backward = NULL;
    refuses(slr_sequence_create(c->f.ops, &desc, &sequence), INVALID, "layer 2 has no function backward");
    must(slr_ops_plan(&desc, &plan)); // which calls none
    c->layers[3].output.shape[0] = 0;
    refuses(slr_ops_plan(&desc, &plan), INVALID, "output of layer 3 is [0, 33]");
    drop(&other);
    close_chain(c);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_the_same_bits_whatever_is_kept),
        cmocka_unit_test(the_pool_holds_what_was_planned),
        cmocka_unit_test(a_plan_halves_with_the_type_and_with_the_batch),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
