// SPDX-License-Identifier: Apache-2.0
// Clusters with GPUs, on a driver that is simulated: launches over two of them, and devices that are lost at each
// command in turn. What is lost is done again, once.
#define _POSIX_C_SOURCE 200809L
#include "tests/cluster/cluster.h"
#include "tests/cuda/fake_driver.h"

enum { N = 1000, PASSES = 3 };

static const char source[] = "__global__ void saxpy(float a, const float *x, float *y, int n)\n"
                             "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }\n";

// The fake makes memory zero byte by byte.
static struct fixture small_cluster(const char *const *names, uint32_t count)
{
    struct fixture f = {.count = count};
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.max_memory_bytes = 1 << 20;
    for (uint32_t i = 0; i < count; ++i)
        must(slr_device_open(names[i], &desc, &f.device[i]));
    must(slr_cluster_create(f.device, count, &f.cluster));
    for (uint32_t i = 0; i < count; ++i)
        must(slr_program_from_text(f.device[i], "cluster.cu", source, NULL, &f.program[i]));
    return f;
}

static void end(struct fixture *f)
{
    fixture_end(f);
    for (uint32_t i = 0; i < f->count; ++i)
        slr_device_close(f->device[i]);
}

static uint64_t items_of(const struct fixture *f, uint64_t *lost)
{
    uint64_t items = 0;
    for (uint32_t i = 0; i < f->count; ++i) {
        slr_cluster_stats stats;
        must(slr_cluster_get_stats(f->cluster, i, &stats));
        items += stats.items;
        *lost += stats.lost_items;
        assert_int_equal(stats.pending_items, 0);
    }
    return items;
}

static void two_gpus_share_a_launch_directly_and_staged(void **state)
{
    static const char *const names[] = {"cuda:0", "cuda:1"};
    (void)state;
    for (uint32_t peers = 0; peers < 2; ++peers) {
        reset();
        fake->peers = peers ? 0xffff : 0;
        struct fixture f = small_cluster(names, 2);
        slr_kernel *kernels[MOST];
        slr_part parts[MOST];
        uint64_t lost = 0;
        kernels_of(&f, "saxpy", kernels);
        slr_buffer *x = floats(f.device[0], N, 1, 0), *y = floats(f.device[1], N, 0, 5);
        const slr_arg args[] = {slr_arg_float(2), slr_arg_split(x, 0), slr_arg_split(y, 0), slr_arg_items()};
        for (int pass = 1; pass <= PASSES; ++pass) {
            must(slr_cluster_balance(f.cluster, N, SLR_BALANCE_ROUND_ROBIN, NULL, parts));
            must(slr_cluster_launch(f.cluster, kernels, parts, args, 4, NULL));
            must(slr_cluster_finish(f.cluster, LONG));
            has_floats(y, N, 2 * (float)pass, 5);
        }
        assert_int_equal(fake->peer_copies != 0, peers != 0);
        assert_int_equal(items_of(&f, &lost), PASSES * N);
        assert_int_equal(lost, 0);
        slr_buffer_destroy(x);
        slr_buffer_destroy(y);
        kernels_end(&f, kernels);
        end(&f);
        nothing_is_left("two GPUs");
    }
}

// The kernel adds to what is there: whatever were done twice, or not at all, would show.
static bool is_right_though_a_device_is_lost_at(uint32_t command)
{
    static const char *const names[] = {"cpu?threads=1", "cuda:0"};
    reset();
    struct fixture f = small_cluster(names, 2);
    slr_kernel *kernels[MOST];
    slr_part parts[MOST];
    uint64_t lost = 0;
    kernels_of(&f, "saxpy", kernels);
    slr_buffer *x = floats(f.device[0], N, 1, 0), *y = floats(f.device[0], N, 0, 5);
    const slr_arg args[] = {slr_arg_float(2), slr_arg_split(x, 0), slr_arg_split(y, 0), slr_arg_items()};
    fake->fault_at = fake->commands + command;
    for (int pass = 1; pass <= PASSES; ++pass) {
        must(slr_cluster_balance(f.cluster, N, SLR_BALANCE_ROUND_ROBIN, NULL, parts));
        must(slr_cluster_launch(f.cluster, kernels, parts, args, 4, NULL));
        must(slr_cluster_finish(f.cluster, LONG));
        has_floats(y, N, 2 * (float)pass, 5);
    }
    has_floats(x, N, 1, 0);
    assert_int_equal(items_of(&f, &lost), PASSES * N);
    bool is_lost = fake->commands >= fake->fault_at;
    must(slr_cluster_balance(f.cluster, N, SLR_BALANCE_ROUND_ROBIN, NULL, parts));
    if (lost != 0)
        assert_int_equal(parts[1].items, 0); // it gets nothing any more
    slr_buffer_destroy(x);
    slr_buffer_destroy(y);
    kernels_end(&f, kernels);
    end(&f);
    nothing_is_left("a device lost");
    return is_lost;
}

static void what_a_lost_device_had_is_done_again_and_once_at_whichever_command(void **state)
{
    (void)state;
    uint32_t command = 1;
    while (is_right_though_a_device_is_lost_at(command))
        ++command;
    assert_true(command > 3 * PASSES); // each part has some
}

static void what_nobody_is_left_for_is_reported(void **state)
{
    static const char *const names[] = {"cuda:0"};
    (void)state;
    reset();
    struct fixture f = small_cluster(names, 1);
    slr_device *home;
    slr_kernel *kernels[MOST];
    const slr_part part = {0, 0, 0, N};
    must(slr_device_open("cpu?threads=1", NULL, &home));
    kernels_of(&f, "saxpy", kernels);
    slr_buffer *x = floats(home, N, 1, 0), *y = floats(home, N, 0, 5);
    const slr_arg args[] = {slr_arg_float(2), slr_arg_split(x, 0), slr_arg_split(y, 0), slr_arg_items()};
    must(slr_cluster_launch(f.cluster, kernels, &part, args, 4, NULL));
    must(slr_cluster_finish(f.cluster, LONG));
    fake->fault_at = fake->commands + 1;
    must(slr_cluster_launch(f.cluster, kernels, &part, args, 4, NULL));
    refuses(slr_cluster_finish(f.cluster, LONG), DEVICE_LOST, "items 0 to 1000 were lost");
    has_floats(y, N, 2, 5); // as the launch before has left it
    slr_buffer_destroy(x);
    slr_buffer_destroy(y);
    kernels_end(&f, kernels);
    end(&f);
    slr_device_close(home);
    nothing_is_left("nobody left");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_gpus_share_a_launch_directly_and_staged),
        cmocka_unit_test(what_a_lost_device_had_is_done_again_and_once_at_whichever_command),
        cmocka_unit_test(what_nobody_is_left_for_is_reported),
    };
    return cmocka_run_group_tests(tests, load_fake, NULL);
}
