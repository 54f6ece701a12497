// SPDX-License-Identifier: Apache-2.0
// cuBLASLt and cuDNN on a driver that is simulated: tests/fakes compute what they would, and count what they would
// refuse. Then each call fails in turn.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/fake_driver.h"

#include "tests/ops/convolutions.h"
#include "tests/ops/products.h"

#include <slipring/pool.h>

static int load_libraries(void **state)
{
    const char *path = getenv("SLIPRING_FAKE_CUDA");
    return load_fake(state) | setenv("SLIPRING_CUBLASLT_LIB", path, 1) | setenv("SLIPRING_CUDNN_LIB", path, 1);
}

struct listed {
    slr_algorithm of[8];
    char name[8][32], chosen[32];
    uint32_t count;
};

static void list(void *user, const slr_algorithm *algorithm)
{
    struct listed *listed = user;
    snprintf(listed->name[listed->count], 32, "%s", algorithm->name);
    if (algorithm->chosen)
        snprintf(listed->chosen, sizeof listed->chosen, "%s", algorithm->name);
    listed->of[listed->count++] = *algorithm;
}

static const slr_algorithm *find(const struct listed *listed, const char *name)
{
    for (uint32_t i = 0; i < listed->count; ++i)
        if (strcmp(listed->name[i], name) == 0)
            return &listed->of[i];
    fail_msg("%s is not listed", name);
    return NULL;
}

// ---- results
// ---------------------------------------------------------------------------------------------------------

static void products_of_cublaslt_are_those_of_double(void **state)
{
    (void)state;
    slr_ops_desc desc = SLR_OPS_DESC_INIT;
    for (int k = 0; k < 3; ++k) {
        type = types[k];
        reset();
        check_products("cuda:0", NULL, 10);
        nothing_is_left("products");
        desc.deterministic = 1;
        check_products("cuda:0", &desc, 5);
        nothing_is_left("deterministic products");
    }
    type = SLR_F32;
}

static void convolutions_of_cudnn_and_their_gradients_are_those_of_double(void **state)
{
    (void)state;
    slr_ops_desc desc = SLR_OPS_DESC_INIT;
    for (int k = 0; k < 3; ++k) {
        type = types[k];
        reset();
        check_convolutions("cuda:0", NULL, 12);
        nothing_is_left("convolutions");
        desc.deterministic = 1;
        check_convolutions("cuda:0", &desc, 6);
        nothing_is_left("deterministic convolutions");
    }
    type = SLR_F32;
}

// ---- which one
// -------------------------------------------------------------------------------------------------------

static void make_square(struct fixture *f, struct product *p)
{
    *p = (struct product){.m = 7, .n = 9, .k = 5, .batch = 1, .alpha = 1, .has_bias = true};
    make_product(f, p);
}

static struct listed bench_product(const slr_ops_desc *desc)
{
    struct fixture f = open_ops_with("cuda:0", desc);
    struct product p;
    struct listed listed = {0};
    make_square(&f, &p);
    slr_matmul_desc what = describe_product(&p);
    must(slr_ops_matmul_bench(f.ops, f.stream, &what, list, &listed));
    drop_product(&p);
    close_ops(&f);
    return listed;
}

static void candidates_have_workspace_and_determinism(void **state)
{
    (void)state;
    reset();
    slr_ops_desc desc = SLR_OPS_DESC_INIT;
    struct listed listed = bench_product(NULL);
    const slr_algorithm *lt = find(&listed, "cublaslt.matmul");
    assert_true(lt->ns > 0 && lt->workspace_bytes == 1024 && lt->deterministic == 0);
    desc.deterministic = 1;
    listed = bench_product(&desc);
    assert_true(find(&listed, "cublaslt.matmul")->deterministic == 1 && find(&listed, "cublaslt.matmul")->ns > 0);
    desc.workspace_bytes = 512;
    listed = bench_product(&desc);
    assert_true(find(&listed, "cublaslt.matmul")->ns == 0);
    assert_string_equal(listed.chosen, "own.tile");
    nothing_is_left("candidates");
}

static void each_pass_of_a_convolution_has_its_candidates(void **state)
{
    (void)state;
    reset();
    slr_ops_desc desc = SLR_OPS_DESC_INIT;
    for (uint32_t deterministic = 0; deterministic < 2; ++deterministic) {
        desc.deterministic = deterministic;
        struct fixture f = open_ops_with("cuda:0", &desc);
        struct convolution d;
        seed = 3;
        draw_convolution(&d);
        make_convolution(&f, &d);
        struct data dy = make_like(&f, &d.y), dx = make_like(&f, &d.x), dw = make_like(&f, &d.weights);
        d.desc.activation = 0;
        for (int pass = 0; pass < 3; ++pass) {
            struct listed listed = {0};
            must(pass == 0 ? slr_ops_convolution_bench(f.ops, f.stream, &d.desc, list, &listed)
                           : slr_ops_convolution_backward_bench(f.ops, f.stream, &d.desc, &dy.tensor,
                                                                pass == 1 ? &dx.tensor : NULL,
                                                                pass == 2 ? &dw.tensor : NULL, list, &listed));
            const slr_algorithm *dnn = find(&listed, "cudnn.convolution");
            assert_true(dnn->ns > 0 && dnn->deterministic == deterministic);
            assert_int_equal(dnn->workspace_bytes, deterministic ? 0 : 2048);
        }
        refuses(slr_ops_convolution_backward_bench(f.ops, f.stream, &d.desc, &dy.tensor, &dx.tensor, &dw.tensor, list,
                                                   NULL),
                INVALID, "expected one of dx and dweights");
        drop(&dy), drop(&dx), drop(&dw);
        drop_convolution(&d);
        close_ops(&f);
    }
    nothing_is_left("passes");
}

// Of those that a library lists, the one that is used adds in float and has the arithmetic that it was listed with.
static void algorithms_that_round_parts_of_sums_are_not_used(void **state)
{
    (void)state;
    reset();
    type = SLR_F16;
    struct fixture f = open_ops("cuda:0");
    struct convolution d;
    seed = 3;
    draw_convolution(&d);
    make_convolution(&f, &d);
    struct data dy = make_like(&f, &d.y), dx = make_like(&f, &d.x), dw = make_like(&f, &d.weights);
    for (int pass = 1; pass < 3; ++pass) { // atomic additions of halves are no sums in float
        struct listed listed = {0};
        must(slr_ops_convolution_backward_bench(f.ops, f.stream, &d.desc, &dy.tensor, pass == 1 ? &dx.tensor : NULL,
                                                pass == 2 ? &dw.tensor : NULL, list, &listed));
        assert_true(find(&listed, "cudnn.convolution")->deterministic == 1);
        assert_true(find(&listed, "cudnn.convolution")->ns > 0);
    }
    drop(&dy), drop(&dx), drop(&dw);
    drop_convolution(&d);
    close_ops(&f);
    type = SLR_F32;
    nothing_is_left("parts of sums");
}

// Own kernels, where cuBLASLt has too little workspace: a product with a block of 64 by 64 for each unit.
static void large_products_of_own_kernels_are_those_of_double(void **state)
{
    (void)state;
    reset();
    slr_ops_desc desc = SLR_OPS_DESC_INIT;
    desc.workspace_bytes = 512;
    struct fixture f = open_ops_with("cuda:0", &desc);
    for (int turned = 0; turned < 2; ++turned) {
        struct product p = {.m = 64, .n = 70, .k = 3, .batch = 132, .alpha = 0.5, .beta = -1.5, .has_bias = true};
        p.transpose_a = turned, p.transpose_b = turned, p.has_pre = true, p.activation = SLR_RELU;
        make_product(&f, &p);
        check_product(&f, &p);
        drop_product(&p);
    }
    close_ops(&f);
    nothing_is_left("large products");
}

// ---- failures
// --------------------------------------------------------------------------------------------------------

struct attempt {
    slr_device *device;
    slr_stream *stream;
    slr_ops *ops;
    slr_buffer *buffer[4];
};

static slr_status begin_attempt(struct attempt *a)
{
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.max_memory_bytes = 1 << 20;
    slr_status status = slr_device_open("cuda:0", &desc, &a->device);
    TRY_EACH(slr_stream_create(a->device, NULL, &a->stream));
    TRY_EACH(slr_ops_create(a->device, NULL, &a->ops));
    for (int i = 0; i < 4; ++i)
        TRY_EACH(slr_buffer_create(a->device, 256, &a->buffer[i]));
    return status;
}

// A product with a bias, and a convolution with its gradients. Where a library fails early, own kernels do it.
static slr_status attempt(struct attempt *a, float result[4])
{
    static const float ones[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    slr_status status = begin_attempt(a);
    for (int i = 0; i < 3; ++i)
        TRY_EACH(slr_stream_write(a->stream, a->buffer[i], 0, ones, 256, NULL));
    if (status != SLR_OK)
        return status;
    slr_tensor x = slr_tensor_2d(SLR_F32, a->buffer[0], 2, 2), w = slr_tensor_2d(SLR_F32, a->buffer[1], 2, 2);
    slr_tensor bias = slr_tensor_1d(SLR_F32, a->buffer[2], 2), y = slr_tensor_2d(SLR_F32, a->buffer[3], 2, 2);
    slr_matmul_desc product = SLR_MATMUL_DESC_INIT;
    product.a = &x, product.b = &w, product.c = &y, product.bias = &bias;
    status = slr_ops_matmul(a->ops, a->stream, &product, NULL);
    slr_tensor image = slr_tensor_4d(SLR_F32, a->buffer[3], 1, 1, 2, 2);
    slr_tensor filter = slr_tensor_4d(SLR_F32, a->buffer[1], 1, 1, 2, 2);
    slr_tensor out = slr_tensor_4d(SLR_F32, a->buffer[0], 1, 1, 1, 1);
    slr_convolution_desc convolution = SLR_CONVOLUTION_DESC_INIT;
    bias = slr_tensor_1d(SLR_F32, a->buffer[2], 1);
    convolution.x = &image, convolution.weights = &filter, convolution.y = &out, convolution.bias = &bias;
    TRY_EACH(slr_ops_convolution(a->ops, a->stream, &convolution, NULL));
    slr_tensor gradient = slr_tensor_4d(SLR_F32, a->buffer[2], 1, 1, 2, 2);
    TRY_EACH(slr_ops_convolution_backward(a->ops, a->stream, &convolution, &out, NULL, &gradient, NULL, NULL));
    TRY_EACH(slr_stream_read(a->stream, a->buffer[2], 0, result, 16, NULL));
    TRY_EACH(slr_stream_finish(a->stream, LONG));
    return status;
}

static void end_attempt(struct attempt *a)
{
    slr_ops_destroy(a->ops); // what it still has to do is under way
    if (a->stream)
        slr_stream_finish(a->stream, LONG);
    for (int i = 0; i < 4; ++i)
        slr_buffer_destroy(a->buffer[i]);
    slr_stream_destroy(a->stream);
    slr_device_close(a->device);
}

struct sweep {
    uint32_t told, done_without, left;
};

// 3 = 1 * 1 + 1 * 1 + 1, summed over a window of 2 by 2, plus 1; times 3: the gradient of the weights.
// `only`: as of the fake. All calls are another number in each attempt, because a poller calls, too; a library's are
// not.
static struct sweep fail_each(const char *only)
{
    struct sweep sweep = {0};
    for (uint32_t k = 1;; ++k) {
        struct attempt a = {0};
        float result[4] = {0};
        reset();
        fake->only = only;
        fake->fail_at = k;
        fake->error = 3;
        slr_status status = attempt(&a, result);
        const char *failed = fake->failed;
        char what[96];
        snprintf(what, sizeof what, "call %u (%s)", k, failed ? failed : "none");
        if (status == SLR_OK && (result[0] != 39.0f || result[3] != 39.0f))
            fail_msg("%s: %g and %g; expected 39", what, (double)result[0], (double)result[3]);
        if (status != SLR_OK && !failed)
            fail_msg("%s: %s", what, slr_error_message());
        fake->fail_at = 0;
        slr_stream *probe = NULL; // what a device refuses that is lost
        bool is_lost = a.device && slr_stream_create(a.device, NULL, &probe) == SLR_DEVICE_LOST;
        slr_stream_destroy(probe);
        end_attempt(&a);
        // A call into the context of a device that is lost may wait for ever: the two handles of it are left.
        if (is_lost && !only && fake->live <= 2) {
            sweep.left += fake->live;
            fake->live = 0;
        }
        nothing_is_left(what);
        if (!failed)
            return sweep;
        sweep.told += status != SLR_OK;
        sweep.done_without += status == SLR_OK;
    }
}

// What chooses an algorithm may fail; what has been chosen and then fails is told.
static void each_call_that_fails_is_told_or_done_without(void **state)
{
    (void)state;
    const struct sweep any = fail_each(NULL), product = fail_each("cublas"), convolution = fail_each("cudnn");
    print_message("any: %u told, %u done without, %u handles left; cuBLASLt: %u, %u; cuDNN: %u, %u\n", any.told,
                  any.done_without, any.left, product.told, product.done_without, convolution.told,
                  convolution.done_without);
    assert_true(any.told > 30);
    assert_true(product.told >= 2 && product.done_without > 10);
    assert_true(convolution.told >= 3 && convolution.done_without > 20);
}

// A device that is opened again has a context of its own: so have the libraries.
static void handles_are_made_anew_behind_a_reopening(void **state)
{
    (void)state;
    struct attempt a = {0};
    float result[4] = {0};
    reset();
    must(attempt(&a, result));
    fake->fault_at = fake->commands + 1;
    static const float one = 1.0f;
    slr_stream_write(a.stream, a.buffer[0], 0, &one, 4, NULL);
    assert_int_not_equal(slr_stream_finish(a.stream, LONG), SLR_OK);
    fake->fault_at = 0;
    slr_stream_destroy(a.stream);
    a.stream = NULL;
    for (int i = 0; i < 4; ++i)
        slr_buffer_destroy(a.buffer[i]);
    slr_pool *pool;
    must(slr_device_get_pool(a.device, &pool));
    slr_pool_trim(pool, 0);
    must(slr_device_reopen(a.device, LONG));
    must(slr_stream_create(a.device, NULL, &a.stream));
    for (int i = 0; i < 4; ++i)
        must(slr_buffer_create(a.device, 256, &a.buffer[i]));
    slr_tensor x = slr_tensor_2d(SLR_F32, a.buffer[0], 2, 2), w = slr_tensor_2d(SLR_F32, a.buffer[1], 2, 2);
    slr_tensor y = slr_tensor_2d(SLR_F32, a.buffer[3], 2, 2);
    static const float ones[4] = {1, 1, 1, 1};
    slr_matmul_desc product = SLR_MATMUL_DESC_INIT;
    product.a = &x, product.b = &w, product.c = &y;
    must(slr_stream_write(a.stream, a.buffer[0], 0, ones, 16, NULL));
    must(slr_stream_write(a.stream, a.buffer[1], 0, ones, 16, NULL));
    must(slr_ops_matmul(a.ops, a.stream, &product, NULL));
    must(slr_stream_read(a.stream, a.buffer[3], 0, result, 16, NULL));
    must(slr_stream_finish(a.stream, LONG));
    assert_true(result[0] == 2.0f && result[3] == 2.0f);
    assert_int_equal(fake->wrong, 0);
    end_attempt(&a);
    assert_int_equal(fake->live, 2); // the two handles of the context that was lost
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_cublaslt_are_those_of_double),
        cmocka_unit_test(convolutions_of_cudnn_and_their_gradients_are_those_of_double),
        cmocka_unit_test(candidates_have_workspace_and_determinism),
        cmocka_unit_test(each_pass_of_a_convolution_has_its_candidates),
        cmocka_unit_test(algorithms_that_round_parts_of_sums_are_not_used),
        cmocka_unit_test(large_products_of_own_kernels_are_those_of_double),
        cmocka_unit_test(each_call_that_fails_is_told_or_done_without),
        cmocka_unit_test(handles_are_made_anew_behind_a_reopening),
    };
    return cmocka_run_group_tests(tests, load_libraries, NULL);
}
