// SPDX-License-Identifier: Apache-2.0
// The tuner by energy, on a simulated driver: each thread that is launched costs 10 microjoules there.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/fake_driver.h"

#include <unistd.h>

enum { N = 256 };

// The smallest grid takes the least energy here, however long its threads run.
static const char text[] = "#ifndef K\n#define K 1\n#endif\n#pragma slipring tune K = 1, 2\n"
                           "#pragma slipring block f = 64\n#pragma slipring items f = 64 * K\n"
                           "__global__ void f(const float *x, float *y, int n)\n"
                           "{ for (int k = 0; k < K; k++) { int i = (blockIdx.x * K + k) * 64 + threadIdx.x;\n"
                           "  if (i < n) y[i] = x[i] * 2; } }\n";

static char folder[] = "/tmp/slipring-energy-XXXXXX";

static int set_up(void **state)
{
    if (!mkdtemp(folder) || setenv("SLIPRING_CACHE_DIR", folder, 1) != 0)
        return -1;
    unsetenv("SLIPRING_TUNED");
    return load_fake(state) | setenv("SLIPRING_NVML_LIB", getenv("SLIPRING_FAKE_NVML"), 1);
}

static int tear_down(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

struct bench {
    slr_device *device;
    slr_program *program;
    slr_kernel *kernel;
    slr_buffer *x, *y;
    slr_arg args[3];
    slr_tune_problem problem;
    slr_tune_desc desc;
    double least, most; // costs that were told
    uint32_t failed;
};

static void watch(void *user, const slr_tune_candidate *candidate)
{
    struct bench *b = user;
    b->failed += candidate->state != SLR_TUNE_MEASURED;
    b->least = b->least == 0 || candidate->cost < b->least ? candidate->cost : b->least;
    b->most = candidate->cost > b->most ? candidate->cost : b->most;
}

static void begin(struct bench *b, const char *device)
{
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    reset();
    *b = (struct bench){.desc = SLR_TUNE_DESC_INIT};
    b->device = open_device(device);
    must(slr_program_from_text(b->device, "k.cu", text, &desc, &b->program));
    must(slr_program_get_kernel(b->program, NULL, &b->kernel));
    must(slr_buffer_create(b->device, N * 4, &b->x));
    must(slr_buffer_create(b->device, N * 4, &b->y));
    b->args[0] = slr_arg_buffer(b->x);
    b->args[1] = slr_arg_buffer(b->y);
    b->args[2] = slr_arg_signed(N);
    b->problem = (slr_tune_problem){SLR_1D(N), b->args, 3};
    b->desc.metric = SLR_TUNE_ENERGY;
    b->desc.strategy = SLR_TUNE_EXHAUSTIVE;
    b->desc.repeats = 1;
    b->desc.flags = SLR_TUNE_KEEP_BRANCHES;
    b->desc.watch = watch;
    b->desc.user = b;
}

static void end(struct bench *b)
{
    slr_buffer_destroy(b->x);
    slr_buffer_destroy(b->y);
    slr_kernel_destroy(b->kernel);
    slr_program_destroy(b->program);
    slr_device_close(b->device);
}

static bool is_near(double a, double b)
{
    return a > b * 0.99 && a < b * 1.01;
}

static void the_launch_that_takes_the_least_energy_is_chosen(void **state)
{
    (void)state;
    struct bench b;
    slr_tuned tuned, found;
    begin(&b, "cuda:0");
    b.desc.budget_ns = 9 * (uint64_t)1000 * MS; // enough for five samples of both
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &tuned));
    assert_int_equal(b.failed, 0);
    assert_string_equal(tuned.defines, "K=2");
    assert_int_equal(tuned.metric, SLR_TUNE_ENERGY);
    if (!is_near(tuned.default_cost, 2560) || !is_near(tuned.cost, 1280) || !is_near(tuned.speedup, 2) ||
        !is_near(b.most, 2560) || !is_near(b.least, 1280))
        fail_msg("%g and %g microjoules of a launch, speed-up %g; told: %g to %g", tuned.default_cost, tuned.cost,
                 tuned.speedup, b.least, b.most);
    assert_non_null(strstr(tuned.reason, "The default takes 2.0"));
    must(slr_kernel_get_tuned(b.kernel, SLR_1D(N), &found)); // as it was stored
    assert_string_equal(found.defines, "K=2");
    assert_int_equal(found.metric, SLR_TUNE_ENERGY);
    assert_true(is_near(found.cost, 1280));
    end(&b);
}

// The first test: a library that was loaded stays.
static void a_library_that_is_missing_is_named(void **state)
{
    (void)state;
    struct bench b;
    slr_tuned tuned;
    setenv("SLIPRING_NVML_LIB", "/nowhere.so", 1);
    begin(&b, "cuda:0");
    refuses(slr_tune(b.kernel, &b.problem, 1, &b.desc, &tuned), UNSUPPORTED,
            "'cuda' has no metric energy_mj (cannot load /nowhere.so");
    setenv("SLIPRING_NVML_LIB", getenv("SLIPRING_FAKE_NVML"), 1);
    end(&b);
}

static void a_device_that_counts_no_energy_is_refused_with_the_reason(void **state)
{
    (void)state;
    struct bench b;
    slr_tuned tuned;
    begin(&b, "cuda:1"); // an instance of a GPU
    refuses(slr_tune(b.kernel, &b.problem, 1, &b.desc, &tuned), UNSUPPORTED,
            "'cuda' has no metric energy_mj; libnvidia-ml counts it for whole GPUs");
    end(&b);
}

static void a_counter_that_stands_still_ends_the_tuning(void **state)
{
    (void)state;
    struct bench b;
    slr_tuned tuned;
    begin(&b, "cuda:0");
    setenv("FAKE_NVML_STANDS", "1", 1);
    refuses(slr_tune(b.kernel, &b.problem, 1, &b.desc, &tuned), UNSUPPORTED,
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
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
