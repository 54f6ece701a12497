// SPDX-License-Identifier: Apache-2.0
// What later launches do with what was tuned.
#include "tuner/tuner_test.h"

#include <math.h>

static const char near[] = TUNED "y[i] = x[i] + K / 1024.0f; }\n";

static void a_choice_within_the_tolerance_is_used_only_where_that_is_asked_for(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, near, 0, meter_by_macro);
    b.desc.tolerance = 0.01;
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_string_equal(b.tuned.defines, "K=2");
    assert_int_equal(b.tuned.is_exact, 0);
    assert_true(launch_and_read(&b, b.program, N, 0) == 1 + 1 / 1024.0f);
    slr_program *any = load(&b, near, SLR_TUNED_ANY), *off = load(&b, near, SLR_TUNED_OFF), *usual = load(&b, near, 0);
    assert_true(launch_and_read(&b, any, N, 0) == 1 + 2 / 1024.0f); // it is launched, not only found
    assert_true(launch_and_read(&b, any, N - 1, 0) == 1 + 1 / 1024.0f);
    assert_true(launch_and_read(&b, off, N, 0) == 1 + 1 / 1024.0f);
    assert_true(launch_and_read(&b, usual, N, 0) == 1 + 1 / 1024.0f);
    setenv("SLIPRING_TUNED", "0", 1);
    slr_program *by_environment = load(&b, near, 0);
    assert_true(launch_and_read(&b, by_environment, N, 0) == 1 + 1 / 1024.0f);
    slr_program_destroy(by_environment);
    slr_program_destroy(any);
    slr_program_destroy(off);
    slr_program_destroy(usual);
    end(&b);
}

// As on a machine whose speed changes: the ratio of the medians is not the median of the ratios.
static slr_status meter_that_drifts(void *user, slr_stream *stream, slr_kernel *kernel,
                                    const slr_tune_candidate *candidate, double *cost)
{
    static uint32_t random = 1;
    must(meter_by_macro(user, stream, kernel, candidate, cost));
    random = random * 1664525u + 1013904223u;
    *cost *= 1 + (double)(random >> 8) / (1 << 24);
    return SLR_OK;
}

static void the_gain_that_was_measured_is_kept(void **state)
{
    (void)state;
    struct bench b;
    slr_tuned found;
    begin(&b, EXACT, 0, meter_that_drifts);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    must(slr_kernel_get_tuned(b.kernel, SLR_1D(N), &found));
    assert_int_equal(found.is_default, 0);
    assert_true(fabs(b.tuned.speedup - b.tuned.default_cost / b.tuned.cost) > 0.002);
    assert_true(fabs(found.speedup - b.tuned.speedup) <= 0.001);
    assert_true(found.speedup >= found.speedup_low && found.speedup <= found.speedup_high);
    end(&b);
}

static void an_exact_choice_is_used_by_this_program_and_by_later_ones(void **state)
{
    (void)state;
    struct bench b;
    slr_kernel *kernel;
    slr_tuned found;
    begin(&b, EXACT, 0, meter_by_macro);
    must(slr_kernel_get_tuned(b.kernel, SLR_1D(N), &found));
    assert_int_equal(found.is_default, 1);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    slr_program *later = load(&b, EXACT, 0);
    must(slr_program_get_kernel(later, NULL, &kernel));
    slr_kernel *const both[] = {b.kernel, kernel};
    for (int i = 0; i < 2; i++) {
        must(slr_kernel_get_tuned(both[i], SLR_1D(N), &found));
        assert_int_equal(found.is_default, 0);
        assert_string_equal(found.defines, "K=2");
        assert_string_equal(found.reason, "f (tuned: K=2)");
        must(slr_kernel_get_tuned(both[i], SLR_1D(N + 1), &found));
        assert_int_equal(found.is_default, 1);
        must(slr_kernel_get_tuned(both[i], SLR_1D_BLOCKS(N, 64), &found));
        assert_int_equal(found.is_default, 1);
    }
    assert_true(launch_and_read(&b, later, N, 7) == 8);
    slr_kernel_destroy(kernel);
    slr_program_destroy(later);
    slr_program *other = load(&b, WRONG_AT_2, 0); // another source
    must(slr_program_get_kernel(other, NULL, &kernel));
    must(slr_kernel_get_tuned(kernel, SLR_1D(N), &found));
    assert_int_equal(found.is_default, 1);
    slr_kernel_destroy(kernel);
    slr_program_destroy(other);
    end(&b);
}

static void choices_for_several_sizes_are_used_each_for_its_own(void **state)
{
    (void)state;
    struct bench b;
    slr_tuned both[2], found;
    begin(&b, EXACT, 0, meter_by_macro);
    const slr_tune_problem problems[] = {{SLR_1D(N), b.args, 3}, {SLR_1D(N / 2), b.args, 3}};
    must(slr_tune(b.kernel, problems, 2, &b.desc, both));
    slr_program *later = load(&b, EXACT, 0);
    slr_kernel *kernel;
    must(slr_program_get_kernel(later, NULL, &kernel));
    for (int i = 0; i < 2; i++) {
        assert_string_equal(both[i].defines, "K=2");
        must(slr_kernel_get_tuned(kernel, problems[i].shape, &found));
        assert_string_equal(found.defines, "K=2");
        assert_int_equal(found.shape.threads[0], N / (i + 1));
        assert_true(launch_and_read(&b, later, N / (uint64_t)(i + 1), N / (i + 1) - 1) == N / (i + 1));
    }
    slr_kernel_destroy(kernel);
    slr_program_destroy(later);
    end(&b);
}

static void a_discarded_choice_is_not_used(void **state)
{
    (void)state;
    struct bench b;
    slr_tuned found;
    begin(&b, EXACT, 0, meter_by_macro);
    b.desc.flags = SLR_TUNE_DISCARD;
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_int_equal(b.tuned.is_default, 0);
    must(slr_kernel_get_tuned(b.kernel, SLR_1D(N), &found));
    assert_int_equal(found.is_default, 1);
    end(&b);
}

static void a_program_may_go_while_a_tuned_launch_is_on_its_way(void **state)
{
    (void)state;
    struct bench b;
    slr_kernel *kernel;
    begin(&b, PLAIN, 0, meter_by_block); // its choice is a kernel of the program itself
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    for (int i = 0; i < 20; i++) {
        slr_program *program = load(&b, PLAIN, 0);
        must(slr_program_get_kernel(program, NULL, &kernel));
        must(slr_launch(stream_of(&b), kernel, SLR_1D(N), b.args, 3, NULL));
        slr_kernel_destroy(kernel);
        slr_program_destroy(program);
    }
    must(slr_stream_finish(stream_of(&b), LONG));
    end(&b);
}

static void a_program_may_go_while_its_tuned_kernel_is_compiled_ahead(void **state)
{
    (void)state;
    struct bench b;
    const slr_shape shape = SLR_1D(N);
    slr_prefetch_desc desc = SLR_PREFETCH_DESC_INIT;
    desc.shapes = &shape;
    desc.shape_count = 1;
    begin(&b, PLAIN, 0, meter_by_block);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    for (int i = 0; i < 20; i++) {
        slr_program *program = load(&b, PLAIN, 0);
        must(slr_program_prefetch(program, &desc, NULL));
        slr_program_destroy(program);
    }
    end(&b);
}

static void the_profile_names_a_tuned_launch(void **state)
{
    (void)state;
    struct bench b;
    slr_profile_row rows[64];
    uint32_t count, found = 0;
    begin(&b, EXACT, 0, meter_by_macro);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    must(slr_profile_start());
    (void)launch_and_read(&b, b.program, N, 0);
    (void)launch_and_read(&b, b.program, N - 1, 0);
    slr_profile_stop();
    must(slr_profile_read(rows, 64, &count));
    for (uint32_t i = 0; i < count && i < 64; i++)
        if (rows[i].kind == SLR_PROFILE_KERNEL)
            found += strcmp(rows[i].name, "f (tuned: K=2)") == 0 ? 1 : strcmp(rows[i].name, "f") == 0 ? 10 : 100;
    assert_int_equal(found, 11);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_choice_within_the_tolerance_is_used_only_where_that_is_asked_for),
        CASE(the_gain_that_was_measured_is_kept),
        CASE(an_exact_choice_is_used_by_this_program_and_by_later_ones),
        CASE(choices_for_several_sizes_are_used_each_for_its_own),
        CASE(a_discarded_choice_is_not_used),
        CASE(a_program_may_go_while_a_tuned_launch_is_on_its_way),
        CASE(a_program_may_go_while_its_tuned_kernel_is_compiled_ahead),
        CASE(the_profile_names_a_tuned_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
