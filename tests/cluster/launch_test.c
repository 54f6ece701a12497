// SPDX-License-Identifier: Apache-2.0
// Launches over several devices: what is split, what is copied, who gets how much.
#include "tests/cluster/cluster.h"

#include "base/thread.h"

enum { N = 1000 };

static const char source[] =
    "__global__ void saxpy(float a, const float *x, float *y, int n)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }\n"
    "__global__ void number(float *y, int first, int n)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = (float)(first + i); }\n"
    "__global__ void rows(const float *table, float *sums, int n)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) sums[i] = table[2 * i] + table[2 * i + 1]; }\n"
    "__global__ void fault(int *y, int zero, int n)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 1 / zero; }\n"
    "__global__ void hold(int *word) { atomicExch(&word[0], 1); while (atomicAdd(&word[1], 0) == 0) ; }\n";

#define TWO "cpu?threads=1,cpu?threads=1"

static struct fixture begin(void)
{
    return fixture_of(TWO, source);
}

static void given(const struct fixture *f, uint64_t items, const uint64_t *weights, slr_part *out)
{
    slr_balance_desc desc = SLR_BALANCE_DESC_INIT;
    desc.weights = weights;
    must(slr_cluster_balance(f->cluster, items, SLR_BALANCE_GIVEN, &desc, out));
}

static void a_split_launch_gives_what_one_device_gives(void **state)
{
    (void)state;
    struct fixture f = begin();
    slr_kernel *kernels[MOST];
    slr_part parts[MOST];
    slr_point done;
    slr_cluster_stats stats;
    kernels_of(&f, "saxpy", kernels);
    slr_buffer *x = floats(f.device[0], N, 1, 0), *y = floats(f.device[1], N, 0, 5);
    const slr_arg args[] = {slr_arg_float(2), slr_arg_split(x, 0), slr_arg_split(y, 0), slr_arg_items()};
    given(&f, N, LIST(2, 1), parts);
    must(slr_cluster_launch(f.cluster, kernels, parts, args, 4, &done));
    must(slr_point_wait(done, LONG));
    has_floats(y, N, 2, 5);
    must(slr_cluster_launch(f.cluster, kernels, parts, args, 4, NULL)); // again, on what it made
    must(slr_cluster_finish(f.cluster, LONG));
    has_floats(y, N, 4, 5);
    has_floats(x, N, 1, 0);
    for (uint32_t i = 0; i < 2; ++i) {
        must(slr_cluster_get_stats(f.cluster, i, &stats));
        assert_int_equal(stats.parts, 2);
        assert_int_equal(stats.items, i == 0 ? 2 * 667 : 2 * 333);
        assert_int_equal(stats.pending_items, 0);
        assert_true(stats.items_per_second > 0 && stats.busy_ns > 0);
    }
    slr_buffer_destroy(x);
    slr_buffer_destroy(y);
    kernels_end(&f, kernels);
    fixture_end(&f);
}

static void parts_know_where_they_begin_and_items_may_be_several_elements(void **state)
{
    (void)state;
    struct fixture f = begin();
    slr_kernel *number[MOST], *rows[MOST];
    slr_part parts[MOST];
    kernels_of(&f, "number", number);
    kernels_of(&f, "rows", rows);
    slr_buffer *y = floats(f.device[0], N, 0, -1), *sums = floats(f.device[0], N / 2, 0, -1);
    const slr_arg args[] = {slr_arg_split(y, 0), slr_arg_first(), slr_arg_items()};
    given(&f, N, LIST(1, 6), parts); // 143: no multiple of anything
    must(slr_cluster_launch(f.cluster, number, parts, args, 3, NULL));
    const slr_arg pairs[] = {slr_arg_split(y, 8), slr_arg_split(sums, 0), slr_arg_items()};
    given(&f, N / 2, LIST(1, 1), parts);
    must(slr_cluster_launch(f.cluster, rows, parts, pairs, 3, NULL)); // behind the other, by its buffer
    must(slr_cluster_finish(f.cluster, LONG));
    has_floats(y, N, 1, 0);
    has_floats(sums, N / 2, 4, 1);
    slr_buffer_destroy(y);
    slr_buffer_destroy(sums);
    kernels_end(&f, number);
    kernels_end(&f, rows);
    fixture_end(&f);
}

static void what_cannot_be_split_is_refused_and_named(void **state)
{
    (void)state;
    struct fixture f = begin();
    slr_kernel *kernels[MOST];
    slr_part parts[MOST];
    kernels_of(&f, "saxpy", kernels);
    slr_buffer *x = floats(f.device[0], N, 1, 0), *y = floats(f.device[0], N, 0, 5);
    slr_arg args[] = {slr_arg_float(2), slr_arg_split(x, 0), slr_arg_buffer(y), slr_arg_items()};
    given(&f, N, LIST(1, 1), parts);
    refuses(slr_cluster_launch(f.cluster, kernels, parts, args, 4, NULL), INVALID, "writes parameter 'y'");
    args[2] = slr_arg_split(y, 0);
    args[3] = slr_arg_split(x, 0);
    refuses(slr_cluster_launch(f.cluster, kernels, parts, args, 4, NULL), INVALID, "'n' is no buffer");
    args[3] = slr_arg_items();
    args[2] = slr_arg_split(y, 6);
    refuses(slr_cluster_launch(f.cluster, kernels, parts, args, 4, NULL), INVALID, "no whole elements of 4");
    args[2] = slr_arg_split(y, 8);
    refuses(slr_cluster_launch(f.cluster, kernels, parts, args, 4, NULL), INVALID, "has no 1000 items of 8");
    args[2] = slr_arg_split(y, 0);
    parts[1].offset -= 1;
    refuses(slr_cluster_launch(f.cluster, kernels, parts, args, 4, NULL), INVALID, "parts[1] begins at item 499");
    parts[1].offset += 1;
    refuses(slr_cluster_launch(f.cluster, kernels, parts, args, 3, NULL), INVALID, "takes 4 arguments");
    slr_kernel *swapped[] = {kernels[1], kernels[0]};
    refuses(slr_cluster_launch(f.cluster, swapped, parts, args, 4, NULL), INVALID, "belongs to another device");
    has_floats(y, N, 0, 5); // nothing of all that has run
    must(slr_cluster_launch(f.cluster, kernels, parts, args, 4, NULL));
    must(slr_cluster_finish(f.cluster, LONG));
    has_floats(y, N, 2, 5);
    slr_buffer_destroy(x);
    slr_buffer_destroy(y);
    kernels_end(&f, kernels);
    fixture_end(&f);
}

static void a_fault_of_one_part_is_reported_with_its_device_and_the_next_launch_runs(void **state)
{
    (void)state;
    struct fixture f = fixture_of("cpu?engine=interpreted&threads=1,cpu?engine=interpreted&threads=1", source);
    slr_kernel *fault[MOST], *number[MOST];
    slr_part parts[MOST];
    kernels_of(&f, "fault", fault);
    kernels_of(&f, "number", number);
    slr_buffer *y = floats(f.device[0], N, 0, 0);
    const slr_arg bad[] = {slr_arg_split(y, 0), slr_arg_signed(0), slr_arg_items()};
    const slr_arg good[] = {slr_arg_split(y, 0), slr_arg_first(), slr_arg_items()};
    given(&f, N, LIST(0, 1), parts);
    must(slr_cluster_launch(f.cluster, fault, parts, bad, 3, NULL));
    refuses(slr_cluster_finish(f.cluster, LONG), HANDLER_FAULT, "device 1 of the cluster");
    given(&f, N, LIST(1, 1), parts);
    must(slr_cluster_launch(f.cluster, number, parts, good, 3, NULL));
    must(slr_cluster_finish(f.cluster, LONG));
    has_floats(y, N, 1, 0);
    slr_buffer_destroy(y);
    kernels_end(&f, fault);
    kernels_end(&f, number);
    fixture_end(&f);
}

static void the_least_loaded_device_gets_what_levels_the_load(void **state)
{
    (void)state;
    struct fixture f = begin();
    slr_kernel *kernels[MOST];
    slr_stream *gate;
    slr_part parts[MOST];
    slr_cluster_stats stats;
    static int word[16] __attribute__((aligned(64))); // is it held up, may it go on
    slr_buffer_desc shared = SLR_BUFFER_DESC_INIT;
    slr_buffer *words;
    slr_kernel *hold;
    shared.bytes = sizeof word;
    shared.import = word;
    slr_buffer *y = floats(f.device[0], N, 0, 0);
    const slr_arg args[] = {slr_arg_split(y, 0), slr_arg_first(), slr_arg_items()};
    kernels_of(&f, "number", kernels);
    shares(f.cluster, 10, SLR_BALANCE_LEAST_LOADED, NULL, LIST(5, 5));
    must(slr_stream_create(f.device[0], NULL, &gate)); // of a device of one thread
    must(slr_buffer_create_with(f.device[0], &shared, &words));
    must(slr_program_get_kernel(f.program[0], "hold", &hold));
    const slr_arg held[] = {slr_arg_buffer(words)};
    must(slr_launch(gate, hold, SLR_1D(1), held, 1, NULL)); // not a host function: another thread takes its place
    while (__atomic_load_n(&word[0], __ATOMIC_ACQUIRE) == 0)
        slri_yield();
    given(&f, 60, LIST(1, 0), parts);
    must(slr_cluster_launch(f.cluster, kernels, parts, args, 3, NULL));
    must(slr_cluster_get_stats(f.cluster, 0, &stats));
    assert_int_equal(stats.pending_items, 60);
    shares(f.cluster, 10, SLR_BALANCE_LEAST_LOADED, NULL, LIST(0, 10));
    shares(f.cluster, 61, SLR_BALANCE_LEAST_LOADED, NULL, LIST(1, 60));
    shares(f.cluster, 100, SLR_BALANCE_LEAST_LOADED, NULL, LIST(20, 80));
    shares(f.cluster, 100, SLR_BALANCE_MEMORY, NULL, LIST(50, 50)); // which does not look at the load
    refuses(slr_cluster_finish(f.cluster, 1), TIMEOUT, "");
    __atomic_store_n(&word[1], 1, __ATOMIC_RELEASE);
    must(slr_cluster_finish(f.cluster, LONG));
    shares(f.cluster, 10, SLR_BALANCE_LEAST_LOADED, NULL, LIST(5, 5));
    must(slr_stream_finish(gate, LONG));
    slr_stream_destroy(gate);
    slr_kernel_destroy(hold);
    slr_buffer_destroy(words);
    slr_buffer_destroy(y);
    kernels_end(&f, kernels);
    fixture_end(&f);
}

static void turns_and_memory_and_limits_decide_as_they_say(void **state)
{
    (void)state;
    slr_device *devices[3];
    slr_cluster *cluster;
    slr_device_desc small = SLR_DEVICE_DESC_INIT;
    slr_balance_desc desc = SLR_BALANCE_DESC_INIT;
    small.max_memory_bytes = 1 << 20;
    must(slr_device_open("cpu?threads=1", &small, &devices[0]));
    small.max_memory_bytes = 3 << 20;
    must(slr_device_open("cpu?threads=1", &small, &devices[1]));
    must(slr_cluster_create(devices, 2, &cluster));
    shares(cluster, 1000, SLR_BALANCE_MEMORY, NULL, LIST(250, 750));
    shares(cluster, 1000, SLR_BALANCE_THROUGHPUT, NULL, LIST(500, 500)); // nothing is measured yet
    shares(cluster, 1, SLR_BALANCE_ROUND_ROBIN, NULL, LIST(1, 0));
    shares(cluster, 1, SLR_BALANCE_ROUND_ROBIN, NULL, LIST(0, 1));
    shares(cluster, 3, SLR_BALANCE_ROUND_ROBIN, NULL, LIST(2, 1));
    shares(cluster, 3, SLR_BALANCE_ROUND_ROBIN, NULL, LIST(1, 2));
    desc.item_bytes = 1 << 10;
    shares(cluster, 4000, SLR_BALANCE_THROUGHPUT, &desc, LIST(1024, 2976));
    desc.item_bytes = 1 << 12;
    refuses(slr_cluster_balance(cluster, 1025, SLR_BALANCE_MEMORY, &desc, (slr_part[2]){{0}}), NO_MEMORY, "1 of 1025");
    refuses(slr_cluster_balance(cluster, 1, SLR_BALANCE_GIVEN, NULL, (slr_part[2]){{0}}), INVALID, "weights");
    refuses(slr_cluster_balance(cluster, 1, (slr_balance)9, NULL, (slr_part[2]){{0}}), INVALID, "balance 9");
    slr_buffer *taken; // memory that is taken is free no more
    must(slr_buffer_create(devices[1], 2 << 20, &taken));
    shares(cluster, 1000, SLR_BALANCE_MEMORY, NULL, LIST(500, 500));
    slr_buffer_destroy(taken);
    slr_cluster_destroy(cluster);
    slr_device_close(devices[0]);
    slr_device_close(devices[1]);
}

static void a_cluster_of_nothing_or_of_one_device_twice_is_refused(void **state)
{
    (void)state;
    slr_cluster *cluster;
    slr_device *device;
    must(slr_device_open("cpu?threads=1", NULL, &device));
    slr_device *twice[] = {device, device};
    refuses(slr_cluster_create(twice, 2, &cluster), INVALID, "0 and 1 are the same");
    refuses(slr_cluster_create(twice, 0, &cluster), INVALID, "expected 1 to 64");
    refuses(slr_cluster_create_named("cpu,,cpu", NULL, &cluster), INVALID, "device 1 of the list has no name");
    refuses(slr_cluster_create_named("cpu,toaster", NULL, &cluster), NO_DEVICE, "toaster");
    must(slr_cluster_create(twice, 1, &cluster));
    shares(cluster, 7, SLR_BALANCE_THROUGHPUT, NULL, LIST(7));
    slr_cluster_destroy(cluster);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_split_launch_gives_what_one_device_gives),
        cmocka_unit_test(parts_know_where_they_begin_and_items_may_be_several_elements),
        cmocka_unit_test(what_cannot_be_split_is_refused_and_named),
        cmocka_unit_test(a_fault_of_one_part_is_reported_with_its_device_and_the_next_launch_runs),
        cmocka_unit_test(the_least_loaded_device_gets_what_levels_the_load),
        cmocka_unit_test(turns_and_memory_and_limits_decide_as_they_say),
        cmocka_unit_test(a_cluster_of_nothing_or_of_one_device_twice_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
