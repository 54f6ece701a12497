// SPDX-License-Identifier: Apache-2.0
// The tuner by energy, on a simulated driver: each thread that is launched costs a millijoule there.
#include "tests/cuda/fake_driver.h"
#include "tuner/tuner_test.h"

#include <math.h>

// The smallest grid takes the least energy here, however long its threads run.
static const char text[] = "#ifndef K\n#define K 1\n#endif\n#pragma slipring tune K = 1, 2\n"
                           "#pragma slipring block f = 64\n#pragma slipring items f = 64 * K\n"
                           "__global__ void f(const float *x, float *y, int n)\n"
                           "{ for (int k = 0; k < K; k++) { int i = (blockIdx.x * K + k) * 64 + threadIdx.x;\n"
                           "  if (i < n) y[i] = x[i] * 2; } }\n";

struct costs {
    double least, most; // that were told
    uint32_t failed;
};

static int set_up_gpu(void **state)
{
    return set_up(state) | load_fake(state) | setenv("SLIPRING_NVML_LIB", getenv("SLIPRING_FAKE_NVML"), 1);
}

static void note_cost(void *user, const slr_tune_candidate *candidate)
{
    struct costs *costs = user;
    costs->failed += candidate->state != SLR_TUNE_MEASURED;
    costs->least = costs->least == 0 ? candidate->cost : fmin(costs->least, candidate->cost);
    costs->most = fmax(costs->most, candidate->cost);
}

static void begin_energy(struct bench *b, const char *device, struct costs *costs)
{
    reset();
    begin_on(b, device, text, SLR_TUNED_EXACT, NULL);
    *costs = (struct costs){0};
    b->desc.metric = SLR_TUNE_ENERGY;
    b->desc.repeats = 1;
    b->desc.flags = SLR_TUNE_KEEP_BRANCHES;
    b->desc.watch = note_cost;
    b->desc.user = costs;
}

static bool is_near(double a, double b)
{
    return a > b * 0.99 && a < b * 1.01;
}

static void the_launch_that_takes_the_least_energy_is_chosen(void **state)
{
    (void)state;
    struct bench b;
    struct costs costs;
    slr_tuned found;
    begin_energy(&b, "cuda:0", &costs);
    b.desc.budget_ns = 60 * SECOND; // more than all samples take on a machine that is busy
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_int_equal(costs.failed, 0);
    assert_string_equal(b.tuned.defines, "K=2");
    assert_int_equal(b.tuned.metric, SLR_TUNE_ENERGY);
    if (!is_near(b.tuned.default_cost, 256000) || !is_near(b.tuned.cost, 128000) || !is_near(b.tuned.speedup, 2) ||
        !is_near(costs.most, 256000) || !is_near(costs.least, 128000))
        fail_msg("%g and %g microjoules of a launch, speed-up %g; told: %g to %g", b.tuned.default_cost, b.tuned.cost,
                 b.tuned.speedup, costs.least, costs.most);
    assert_non_null(strstr(b.tuned.reason, "The default takes 2.0"));
    must(slr_kernel_get_tuned(b.kernel, SLR_1D(N), &found)); // as it was stored
    assert_string_equal(found.defines, "K=2");
    assert_int_equal(found.metric, SLR_TUNE_ENERGY);
    assert_true(is_near(found.cost, 128000));
    end(&b);
}

// The first test: a library that was loaded stays.
static void a_library_that_is_missing_is_named(void **state)
{
    (void)state;
    struct bench b;
    struct costs costs;
    setenv("SLIPRING_NVML_LIB", "/nowhere.so", 1);
    begin_energy(&b, "cuda:0", &costs);
    refuses(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned), UNSUPPORTED,
            "'cuda' has no metric energy_mj (cannot load /nowhere.so");
    setenv("SLIPRING_NVML_LIB", getenv("SLIPRING_FAKE_NVML"), 1);
    end(&b);
}

static void a_device_that_counts_no_energy_is_refused_with_the_reason(void **state)
{
    (void)state;
    struct bench b;
    struct costs costs;
    begin_energy(&b, "cuda:1", &costs); // an instance of a GPU
    refuses(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned), UNSUPPORTED,
            "'cuda' has no metric energy_mj; libnvidia-ml counts it for whole GPUs");
    end(&b);
}

static void a_counter_that_stands_still_ends_the_tuning(void **state)
{
    (void)state;
    struct bench b;
    struct costs costs;
    begin_energy(&b, "cuda:0", &costs);
    setenv("FAKE_NVML_STANDS", "1", 1);
    refuses(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned), UNSUPPORTED,
            "the metric energy_mj of 'cuda' has stood still at 5000000 for 4 s of launches");
    unsetenv("FAKE_NVML_STANDS");
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_that_is_missing_is_named),
        cmocka_unit_test(the_launch_that_takes_the_least_energy_is_chosen),
        cmocka_unit_test(a_device_that_counts_no_energy_is_refused_with_the_reason),
        cmocka_unit_test(a_counter_that_stands_still_ends_the_tuning),
    };
    return cmocka_run_group_tests(tests, set_up_gpu, tear_down);
}
