// SPDX-License-Identifier: Apache-2.0
// Which operation runs in which type: the default, what was changed, and the casts that follow from it.
#include "tests/ops/ops_test.h"

#include <slipring/autocast.h>
#include <slipring/pool.h>

#include <string.h>

struct listing {
    char text[1024];
};

static void list(void *user, slr_operation operation, const char *name, const char *type_name, const char *why)
{
    struct listing *listing = user;
    size_t used = strlen(listing->text);
    assert_true(*why != '\0' && operation > 0);
    snprintf(listing->text + used, sizeof listing->text - used, "%s=%s ", name, type_name);
}

static void products_are_low_sums_are_floats_and_the_rest_is_as_it_comes(void **state)
{
    (void)state;
    struct fixture f = open_ops("cpu");
    slr_autocast *autocast;
    struct listing before = {""}, after = {""};
    must(slr_autocast_create(f.ops, SLR_BF16, &autocast));
    must(slr_autocast_visit(autocast, list, &before));
    assert_string_equal(before.text,
                        "matmul=bf16 convolution=bf16 pooling= activation= softmax=f32 layer_norm=f32 reduce=f32 "
                        "scan=f32 top_k= embedding= cross_entropy=f32 mean_square=f32 ");
    must(slr_autocast_set(autocast, SLR_OPERATION_SOFTMAX, SLR_TYPE_AS_IT_COMES));
    must(slr_autocast_set(autocast, SLR_OPERATION_MATMUL, SLR_F16));
    must(slr_autocast_visit(autocast, list, &after));
    assert_non_null(strstr(after.text, "matmul=f16 convolution=bf16 "));
    assert_non_null(strstr(after.text, "softmax= layer_norm=f32 "));
    refuses(slr_autocast_set(autocast, (slr_operation)13, SLR_F16), INVALID, "operation is 13");
    refuses(slr_autocast_set(autocast, SLR_OPERATION_SCAN, SLR_I32), INVALID, "type is");
    slr_autocast_destroy(autocast);
    refuses(slr_autocast_create(f.ops, SLR_I8, &autocast), INVALID, "expected SLR_F16, SLR_BF16 or SLR_F32");
    close_ops(&f);
}

static void a_tensor_is_cast_only_where_its_type_is_another(void **state)
{
    (void)state;
    EACH_HERE(i, specs)
    {
        struct fixture f = open_ops(specs[i]);
        slr_autocast *autocast;
        slr_tensor low, same, exact;
        must(slr_autocast_create(f.ops, SLR_F16, &autocast));
        struct data x = make(&f, 2, 7, 33, 1, 1);
        must(slr_autocast_tensor(autocast, f.stream, SLR_OPERATION_MATMUL, &x.tensor, &low));
        assert_true(low.dtype == SLR_F16 && low.buffer != x.tensor.buffer && low.shape[1] == 33);
        must(slr_autocast_tensor(autocast, f.stream, SLR_OPERATION_POOLING, &low, &same));
        assert_true(same.buffer == low.buffer);
        must(slr_autocast_tensor(autocast, f.stream, SLR_OPERATION_SOFTMAX, &low, &exact));
        assert_true(exact.dtype == SLR_F32 && exact.buffer != x.tensor.buffer);
        struct data back = {.tensor = exact, .n = x.n};
        float *got = fetch_floats(&f, &back);
        for (size_t k = 0; k < x.n; ++k)
            assert_true(got[k] == slri_f16_from_bits(slri_f16_to_bits((float)x.value[k])));
        free(got);
        slr_pool *pool;
        slr_pool_stats stats;
        must(slr_device_get_pool(f.device, &pool));
        must(slr_pool_get_stats(pool, &stats));
        assert_int_equal(stats.live, 2);
        slr_autocast_clear(autocast);
        must(slr_pool_get_stats(pool, &stats));
        assert_int_equal(stats.live, 0);
        slr_autocast_destroy(autocast);
        drop(&x);
        close_ops(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_low_sums_are_floats_and_the_rest_is_as_it_comes),
        cmocka_unit_test(a_tensor_is_cast_only_where_its_type_is_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
