// SPDX-License-Identifier: Apache-2.0
// Shares by measured rates, with made-up measurements.
#include "cluster/cluster.h"
#include "device/device_test.h"

#define MS_OF(ms) ((ms)*UINT64_C(1000000))

static const char source[] = "__global__ void one(int *y, int n)\n"
                             "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 1; }\n";

struct fixture {
    slr_device *device[2];
    slr_cluster *cluster;
    slr_kernel *kernel[2];
};

// One launch of the kernel, and its measurements forgotten.
static struct fixture begin(void)
{
    struct fixture f;
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    slr_part parts[2];
    slr_buffer *y;
    for (int i = 0; i < 2; ++i) {
        slr_program *program;
        desc.max_memory_bytes = (i + 1ull) << 20;
        must(slr_device_open("cpu?threads=1", &desc, &f.device[i]));
        must(slr_program_from_text(f.device[i], "one.cu", source, NULL, &program));
        must(slr_program_get_kernel(program, "one", &f.kernel[i]));
        slr_program_destroy(program);
    }
    must(slr_cluster_create(f.device, 2, &f.cluster));
    must(slr_buffer_create(f.device[0], 400, &y));
    const slr_arg args[] = {slr_arg_split(y, 0), slr_arg_items()};
    must(slr_cluster_balance(f.cluster, 100, SLR_BALANCE_THROUGHPUT, NULL, parts));
    must(slr_cluster_launch(f.cluster, f.kernel, parts, args, 2, NULL));
    must(slr_cluster_finish(f.cluster, LONG));
    for (int i = 0; i < 2; ++i)
        f.cluster->last->rate[i] = (struct slri_cluster_rate){0};
    slr_buffer_destroy(y);
    return f;
}

static void end(struct fixture *f)
{
    for (int i = 0; i < 2; ++i)
        slr_kernel_destroy(f->kernel[i]);
    slr_cluster_destroy(f->cluster);
    for (int i = 0; i < 2; ++i)
        slr_device_close(f->device[i]);
}

static void shares(const struct fixture *f, slr_balance balance, slr_kernel *const *kernels, uint64_t first)
{
    slr_balance_desc desc = SLR_BALANCE_DESC_INIT;
    slr_part parts[2];
    desc.kernels = kernels;
    must(slr_cluster_balance(f->cluster, 1000000, balance, &desc, parts));
    assert_int_equal(parts[0].items, first);
    assert_int_equal(parts[0].items + parts[1].items, 1000000);
}

static void shares_follow_what_was_measured_and_are_corrected(void **state)
{
    (void)state;
    struct fixture f = begin();
    struct slri_cluster_rates *rates = f.cluster->last;
    shares(&f, SLR_BALANCE_THROUGHPUT, f.kernel, 500000);
    slri_cluster_note_rate(rates, 0, 3000, MS_OF(1));
    shares(&f, SLR_BALANCE_THROUGHPUT, f.kernel, 500000); // the other one counts as it
    slri_cluster_note_rate(rates, 1, 1000, MS_OF(1));
    shares(&f, SLR_BALANCE_THROUGHPUT, f.kernel, 750000);
    shares(&f, SLR_BALANCE_THROUGHPUT, NULL, 750000);         // those launched last
    shares(&f, SLR_BALANCE_THROUGHPUT, &f.kernel[1], 500000); // of another kernel nothing is known
    shares(&f, SLR_BALANCE_MEMORY, NULL, 333333);             // which is another figure
    slri_cluster_note_rate(rates, 0, 1000, MS_OF(1));         // the mean of 3 and 1
    shares(&f, SLR_BALANCE_THROUGHPUT, f.kernel, 666667);
    for (int i = 0; i < 20; ++i)
        slri_cluster_note_rate(rates, 0, 1000, MS_OF(1)); // it has become slower: a quarter of the way each time
    slr_part parts[2];
    must(slr_cluster_balance(f.cluster, 1000000, SLR_BALANCE_THROUGHPUT, NULL, parts));
    assert_in_range(parts[0].items, 500000, 501500);
    end(&f);
}

static void a_device_that_is_lost_gets_nothing_however_it_is_shared_out(void **state)
{
    (void)state;
    struct fixture f = begin();
    f.cluster->device[0].is_lost = true;
    for (slr_balance balance = SLR_BALANCE_THROUGHPUT; balance < SLR_BALANCE_GIVEN; ++balance)
        shares(&f, balance, NULL, 0);
    f.cluster->device[0].is_lost = false;
    shares(&f, SLR_BALANCE_THROUGHPUT, NULL, 500000);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_follow_what_was_measured_and_are_corrected),
        cmocka_unit_test(a_device_that_is_lost_gets_nothing_however_it_is_shared_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
