// SPDX-License-Identifier: Apache-2.0
// What a source declares for the tuner, and what cannot be tuned.
#include "tuner/tuner_test.h"

#include <math.h>

// ---- what a source declares ----------------------------------------------------------------------------------------

static void a_program_tells_its_tunables_and_declared_blocks(void **state)
{
    (void)state;
    struct bench b;
    slr_tunable tunable;
    slr_function_info info;
    begin(&b, EXACT, 0, NULL);
    must(slr_program_get_tunable(b.program, 0, &tunable));
    assert_string_equal(tunable.name, "K");
    assert_int_equal(tunable.value_count, 4);
    assert_int_equal(tunable.values[3], 4);
    assert_int_equal(tunable.value, 1);
    assert_int_equal(tunable.line, 4);
    refuses(slr_program_get_tunable(b.program, 1, &tunable), NOT_FOUND, "1 tunable macros; number 1");
    must(slr_program_get_function(b.program, 0, &info));
    assert_int_equal(info.block[0], 64);
    assert_int_equal(info.items[0], 64);
    end(&b);
    begin(&b, PLAIN, 0, NULL);
    gives(slr_program_get_tunable(b.program, 0, &tunable), NOT_FOUND);
    must(slr_program_get_function(b.program, 0, &info));
    assert_int_equal(info.block[0], 0);
    end(&b);
}

static void items_determine_the_grid_of_a_launch(void **state)
{
    (void)state;
    static const char text[] =
        "#ifndef PER\n#define PER 4\n#endif\n#pragma slipring block f = 16\n#pragma slipring items f = 16 * PER\n"
        "__global__ void f(const float *x, float *y, int n)\n{ for (int k = 0; k < PER; k++) {\n"
        "  int i = (blockIdx.x * PER + k) * blockDim.x + threadIdx.x; if (i < n) y[i] += x[i]; } }\n";
    struct bench b;
    slr_tuned found;
    begin(&b, text, 0, NULL);
    must(slr_kernel_get_tuned(b.kernel, SLR_1D(N), &found));
    assert_int_equal(found.shape.block[0], 16);
    assert_int_equal(found.shape.grid[0], N / 64);
    assert_true(launch_and_read(&b, b.program, N, N - 1) == N);
    must(slr_kernel_get_tuned(b.kernel, SLR_1D_BLOCKS(N, 16), &found)); // who says the block says the grid
    assert_int_equal(found.shape.grid[0], N / 16);
    end(&b);
}

// ---- what is refused -----------------------------------------------------------------------------------------------

static bool counts_energy(const slr_device *device)
{
    slr_metrics metrics;
    must(slr_device_get_metrics(device, &metrics));
    for (uint32_t i = 0; i < metrics.count; i++)
        if (strcmp(metrics.metric[i].name, "energy_mj") == 0)
            return true;
    return false;
}

static void what_cannot_be_tuned_is_refused_with_the_reason(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, PLAIN, 0, NULL);
    b.desc.metric = SLR_TUNE_ENERGY;
    if (!counts_energy(b.device))
        refuses(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned), UNSUPPORTED,
                "energy of a launch is not measured: 'cpu' has no metric energy_mj; Linux counts it in /sys");
    b.desc.measure = meter_by_block;
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    b.desc.metric = 9;
    refuses(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned), INVALID, "metric 9");
    b.desc.metric = 0;
    static const struct {
        double tolerance;
        const char *why;
    } bad[] = {{-1, "slr_tune_desc.tolerance is -1; give a finite number from 0, such as 1e-5"},
               {INFINITY, "slr_tune_desc.tolerance is inf; give a finite number from 0"},
               {NAN, "slr_tune_desc.tolerance is "}}; // "nan" or "-nan"
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        b.desc.tolerance = bad[i].tolerance;
        refuses(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned), INVALID, bad[i].why);
    }
    b.desc.tolerance = 0;
    b.problem.arg_count = 2;
    refuses(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned), INVALID, "takes 3 arguments, but a problem has 2");
    gives(slr_tune(NULL, &b.problem, 1, &b.desc, &b.tuned), INVALID);
    end(&b);
}

static void a_file_that_has_changed_is_not_tuned(void **state)
{
    (void)state;
    struct bench b;
    char path[128];
    begin(&b, PLAIN, 0, meter_by_macro);
    snprintf(path, sizeof path, "%s/k.cu", folder);
    for (int i = 0; i < 2; i++) {
        slr_kernel *kernel;
        FILE *file = fopen(path, "w");
        fputs(EXACT, file);
        fclose(file);
        must(slr_kernel_load(b.device, path, NULL, &kernel));
        if (i == 1) {
            file = fopen(path, "a");
            fputs("// changed\n", file);
            fclose(file);
            refuses(slr_tune(kernel, &b.problem, 1, &b.desc, &b.tuned), WRONG_STATE, "has changed since");
        } else {
            must(slr_tune(kernel, &b.problem, 1, &b.desc, &b.tuned));
            assert_string_equal(b.tuned.defines, "K=2");
        }
        slr_kernel_destroy(kernel);
    }
    end(&b);
}

static void macros_of_a_program_with_variables_stay(void **state)
{
    (void)state;
    static const char text[] = "__device__ int count;\n" TUNED "{ y[i] = x[i]; count = K; } }\n";
    struct bench b;
    begin(&b, text, 0, meter_by_macro);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_string_equal(b.tuned.defines, "");
    assert_int_equal(b.tuned.space, 1);
    assert_string_equal(b.tuned.reason, "Nothing else could be measured.");
    end(&b);
}

static void a_macro_that_the_program_gives_keeps_its_value(void **state)
{
    (void)state;
    static const char *const given[] = {"K=3"};
    struct bench b;
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    desc.defines = given;
    desc.define_count = 1;
    begin(&b, EXACT, 0, meter_by_macro);
    slr_kernel_destroy(b.kernel);
    slr_program_destroy(b.program);
    must(slr_program_from_text(b.device, "k.cu", EXACT, &desc, &b.program));
    must(slr_program_get_kernel(b.program, NULL, &b.kernel));
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_int_equal(b.tuned.space, 1);
    assert_string_equal(b.tuned.defines, "");
    end(&b);
}

// A value with which the source has an error is named; one that `require` forbids is not.
static void values_that_no_block_can_have_are_named(void **state)
{
    (void)state;
    static const char text[] = "#ifndef B\n#define B 64\n#endif\n#pragma slipring tune B = 64, 128, 256, 2048, 4096\n"
                               "#pragma slipring require B != 256\n#pragma slipring block f = B\n"
                               "__global__ void f(const float *x, float *y, int n)\n"
                               "{ int i = blockIdx.x * B + threadIdx.x; if (i < n) y[i] = x[i]; }\n";
    struct bench b;
    begin(&b, text, 0, meter_by_macro);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    if (!strstr(b.tuned.reason, " Left out: B=2048, B=4096: error SLR-K025: #pragma slipring: a block has 1 to 1,024 "
                                "threads along each side."))
        fail_msg("%s", b.tuned.reason);
    assert_null(strstr(b.tuned.reason, "B=256"));
    end(&b);
}

// What `require` leaves is the default alone, some other values, or other values but not the default.
static void what_require_excludes_is_said_where_nothing_else_is_left(void **state)
{
    (void)state;
    static const struct {
        const char *require, *reason, *defines;
    } cases[] = {
        {"K == 1", "measured. The source's `require` lines exclude all other values of its macros.", ""},
        {"K > 4",
         "measured. The source's `require` lines exclude all other values of its macros, and the default's, too.", ""},
        {"K == 2", "). The source's `require` lines exclude the default's values of its macros.", "K=2"},
        {"K != 3", NULL, "K=2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        struct bench b;
        snprintf(text, sizeof text,
                 "#ifndef K\n#define K 1\n#endif\n#pragma slipring tune K = 1, 2, 3, 4\n#pragma slipring require %s\n"
                 "__global__ void f(const float *x, float *y, int n)\n"
                 "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * K / K; }\n",
                 cases[i].require);
        begin(&b, text, 0, meter_by_macro);
        b.desc.flags = SLR_TUNE_KEEP_BLOCK | SLR_TUNE_DISCARD;
        must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
        const char *said = strstr(b.tuned.reason, cases[i].reason ? cases[i].reason : "require");
        if ((said != NULL) != (cases[i].reason != NULL))
            fail_msg("%s: %s", cases[i].require, b.tuned.reason);
        assert_string_equal(b.tuned.defines, cases[i].defines);
        end(&b);
    }
    // Other blocks and branches without a jump are no other values of the source's macros.
    struct bench b;
    begin(&b,
          "#ifndef K\n#define K 1\n#endif\n#pragma slipring tune K = 1, 2\n#pragma slipring require K == 1\n"
          "__global__ void f(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "float v = x[i]; if (v > 9.0f) v = v * 0.5f; y[i] = v * K; }\n",
          0, meter_by_block);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_true(b.tuned.space > 10);
    if (!strstr(b.tuned.reason, ". The source's `require` lines exclude all other values of its macros."))
        fail_msg("%s", b.tuned.reason);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_program_tells_its_tunables_and_declared_blocks),
        CASE(items_determine_the_grid_of_a_launch),
        CASE(what_cannot_be_tuned_is_refused_with_the_reason),
        CASE(a_file_that_has_changed_is_not_tuned),
        CASE(macros_of_a_program_with_variables_stay),
        CASE(values_that_no_block_can_have_are_named),
        CASE(what_require_excludes_is_said_where_nothing_else_is_left),
        CASE(a_macro_that_the_program_gives_keeps_its_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
