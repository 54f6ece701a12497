// SPDX-License-Identifier: Apache-2.0
// Predictions, queues, crossovers and choices on made-up figures.
#include "tune/decide.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

// Round figures: 1 GB/s, 1 Gflop/s, a launch of 10 us, copies of 5 us and 1 GB/s.
static const slr_device_model gpu = {.name = "gpu",
                                     .device_class = SLR_DEVICE_GPU,
                                     .units = 10,
                                     .unit_threads = 100,
                                     .bytes_per_second = 1e9,
                                     .flops_per_second = 1e9,
                                     .flops64_per_second = 5e8,
                                     .instructions_per_second = 3.1e9,
                                     .branch_per_second = 1e8,
                                     .instruction_ns = 10,
                                     .launch_ns = 1000,
                                     .round_trip_ns = 10000,
                                     .upload_ns = 5000,
                                     .upload_bytes_per_second = 1e9,
                                     .download_ns = 5000,
                                     .download_bytes_per_second = 2e9};

static slr_estimate predict(const slr_device_model *model, struct slri_figures figures)
{
    slr_estimate out = {0};
    slri_decide_predict(model, &figures, 1, &out);
    return out;
}

static void near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-6 * fabs(wanted)))
        fail_msg("%g is not %g", value, wanted);
}

// ---- predictions ---------------------------------------------------------------------------------------------------

static void a_kernel_takes_as_long_as_what_bounds_it_most(void **state)
{
    (void)state;
    slr_estimate e = predict(&gpu, (struct slri_figures){.threads = 1000, .memory_bytes = 2000, .flops = 1000});
    near(e.kernel_ns, 2000);
    assert_int_equal(e.bound, SLR_BY_MEMORY);
    e = predict(&gpu, (struct slri_figures){.threads = 1000, .memory_bytes = 2000, .flops = 3000});
    near(e.kernel_ns, 3000);
    assert_int_equal(e.bound, SLR_BY_COMPUTING);
    e = predict(&gpu, (struct slri_figures){.threads = 1000, .flops = 1000, .flops64 = 1000});
    near(e.kernel_ns, 3000); // one after the other
    e = predict(&gpu, (struct slri_figures){.threads = 1000, .instructions = 3100000, .flops = 1});
    near(e.kernel_ns, 1e6);
}

static void few_threads_leave_the_device_without_work(void **state)
{
    (void)state;
    near(predict(&gpu, (struct slri_figures){.threads = 1000, .memory_bytes = 2000}).kernel_ns, 2000);
    near(predict(&gpu, (struct slri_figures){.threads = 100, .memory_bytes = 2000}).kernel_ns, 20000);
    near(predict(&gpu, (struct slri_figures){.threads = 5000, .memory_bytes = 2000}).kernel_ns, 2000);
    // One thread can be no faster than its instructions, one after the other.
    slr_device_model slow = gpu;
    slow.instruction_ns = 1000;
    slr_estimate e = predict(&slow, (struct slri_figures){.threads = 4, .instructions = 4 * 50000});
    near(e.kernel_ns, 5e7);
    assert_int_equal(e.bound, SLR_BY_ONE_THREAD);
    e = predict(&gpu, (struct slri_figures){.threads = 62000, .instructions = 62000 * 50});
    near(e.kernel_ns, 1e6);
    assert_int_equal(e.bound, SLR_BY_COMPUTING);
    // Nor do few blocks keep more units busy than they are.
    near(predict(&gpu, (struct slri_figures){.threads = 1000, .blocks = 10, .memory_bytes = 2000}).kernel_ns, 2000);
    near(predict(&gpu, (struct slri_figures){.threads = 1000, .blocks = 5, .memory_bytes = 2000}).kernel_ns, 4000);
}

static void divergent_threads_go_at_the_rate_of_branches(void **state)
{
    (void)state;
    struct slri_figures f = {.threads = 1000000, .instructions = 31000000, .divergence = 31.0 / 32};
    near(predict(&gpu, f).kernel_ns, 3.1e8); // all of them at 1e8
    assert_int_equal(predict(&gpu, f).bound, SLR_BY_BRANCHING);
    f.divergence = 0.5; // on a GPU half of the lanes: twice as long, but for what the rates differ from 32
    near(predict(&gpu, f).kernel_ns, 1e7 * (1 + 30.0 / 31));
    f.divergence = 0;
    near(predict(&gpu, f).kernel_ns, 1e7);
    slr_device_model cpu = gpu;
    cpu.device_class = SLR_DEVICE_CPU;
    near(predict(&cpu, f).kernel_ns, 1e7);
    f.divergence = 0.2; // masks
    near(predict(&cpu, f).kernel_ns, 1e7);
    f.divergence = 1;
    near(predict(&cpu, f).kernel_ns, 3.1e8);
}

static void copies_are_made_where_memory_is_apart_and_nothing_stays(void **state)
{
    (void)state;
    struct slri_figures f = {.threads = 1000, .flops = 1000, .bytes_in = 1000, .bytes_out = 4000, .launches = 3};
    slr_estimate e = predict(&gpu, f);
    near(e.copy_ns, 5000 + 1000 + 5000 + 2000);
    near(e.launch_ns, 12000);
    near(e.kernel_ns, 3000);
    near(e.predicted_ns, 28000);
    f.bytes_out = 0;
    near(predict(&gpu, f).copy_ns, 6000);
    f.resident = true;
    near(predict(&gpu, f).copy_ns, 0);
    f.resident = false;
    slr_device_model unified = gpu;
    unified.unified = 1;
    near(predict(&unified, f).copy_ns, 0);
}

// ---- queues --------------------------------------------------------------------------------------------------------

static void waits_follow_the_load(void **state)
{
    (void)state;
    const double service = 1e6; // 1,000 a second
    struct slri_queueing q;
    assert_int_equal(slri_queueing_at(&service, 1, 0, 1, &q), SLR_OK);
    assert_true(q.mean_wait_ns < 2000 && q.p99_ns < 1.1e6);
    // With a constant service the mean wait is load / (1 - load) / 2 services (F. Pollaczek, A. Khinchin).
    assert_int_equal(slri_queueing_at(&service, 1, 0, 500, &q), SLR_OK);
    assert_true(q.mean_wait_ns > 0.45e6 && q.mean_wait_ns < 0.55e6);
    assert_int_equal(slri_queueing_at(&service, 1, 0, 900, &q), SLR_OK);
    assert_true(q.mean_wait_ns > 3e6 && q.mean_wait_ns < 6.5e6);
    assert_int_equal(slri_queueing_at(&service, 1, 0, 1000, &q), SLR_OK);
    assert_true(isinf(q.mean_wait_ns) && isinf(q.p99_ns));
}

// A slow call delays those that arrive meanwhile: a loop that waits for each call would see one slow call in 100.
static void one_slow_call_delays_those_behind_it(void **state)
{
    (void)state;
    double service[100];
    struct slri_queueing q;
    for (int i = 0; i < 100; ++i)
        service[i] = 1e3;
    service[7] = 1e8; // 0.1 s
    assert_int_equal(slri_queueing_at(service, 100, 0, 100, &q), SLR_OK);
    assert_true(q.mean_wait_ns > 4e6); // not nothing, as between the slow ones
    assert_true(q.p99_ns >= 1e8);
}

static void capacity_keeps_to_the_latency(void **state)
{
    (void)state;
    const double service = 1e6;
    double loose, tight;
    assert_int_equal(slri_queueing_capacity(&service, 1, 0, 100e6, &loose), SLR_OK);
    assert_int_equal(slri_queueing_capacity(&service, 1, 0, 2e6, &tight), SLR_OK);
    assert_true(loose > 900 && loose <= 1000);
    assert_true(tight > 50 && tight < 600);
    assert_int_equal(slri_queueing_capacity(&service, 1, 0, 0.9e6, &tight), SLR_OK);
    assert_true(tight < 0.01); // never
    assert_int_equal(slri_queueing_capacity(&service, 1, 50e6, 20e6, &tight), SLR_OK);
    assert_true(tight < 0.01); // what it waits for besides is too long
    struct slri_queueing q;
    assert_int_equal(slri_queueing_at(&service, 1, 0, loose * 0.99, &q), SLR_OK);
    assert_true(q.p99_ns <= 100e6);
}

// ---- crossovers ----------------------------------------------------------------------------------------------------

struct line {
    double fixed[2], each[2];
    uint32_t asked;
};

static slr_status line_cost(void *user, double threads, double *first, double *second)
{
    struct line *line = user;
    ++line->asked;
    *first = line->fixed[0] + threads * line->each[0];
    *second = line->fixed[1] + threads * line->each[1];
    return SLR_OK;
}

static void the_crossover_is_where_both_take_as_long(void **state)
{
    (void)state;
    double at;
    struct line line = {{0, 10000}, {2, 1}, 0}; // equal at 10,000
    assert_int_equal(slri_decide_crossover(line_cost, &line, &at), SLR_OK);
    assert_true(at > 9900 && at < 10200 && line.asked < 60);
    struct line other = {{10000, 0}, {1, 2}, 0}; // the other way round
    assert_int_equal(slri_decide_crossover(line_cost, &other, &at), SLR_OK);
    assert_true(at > 9900 && at < 10200);
    struct line never = {{0, 10000}, {1, 1}, 0};
    assert_int_equal(slri_decide_crossover(line_cost, &never, &at), SLR_OK);
    assert_true(at == 0);
    struct line early = {{0, 1.5}, {2, 1}, 0}; // between 1 and 2 threads
    assert_int_equal(slri_decide_crossover(line_cost, &early, &at), SLR_OK);
    assert_true(at == 2);
}

static void figures_scale_in_proportion(void **state)
{
    (void)state;
    struct slri_figures f = {.threads = 100, .flops = 300, .bytes_in = 400, .launches = 7, .divergence = 0.5};
    struct slri_figures g = slri_decide_scaled(&f, 1000);
    assert_true(g.threads == 1000 && g.flops == 3000 && g.bytes_in == 4000 && g.launches == 7 && g.divergence == 0.5);
}

// ---- the choice ----------------------------------------------------------------------------------------------------

static slr_estimate estimate(const char *name, uint32_t class, double ns)
{
    slr_estimate e = {.device_class = class,
                      .by = SLR_BY_MODEL,
                      .bound = SLR_BY_COMPUTING,
                      .kernel_ns = ns,
                      .predicted_ns = ns,
                      .call_ns = ns,
                      .p99_ns = ns,
                      .capacity = 1e9 / ns};
    memcpy(e.name, name, strlen(name));
    return e;
}

static slr_decision choose(slr_estimate *e, uint32_t count, double wait_ns, const slr_work *work)
{
    slr_decision out = {0};
    struct slri_figures f = {.threads = 1, .flops = 1000, .wait_ns = wait_ns};
    slri_decide_choose(e, count, &f, work, &out);
    return out;
}

static void says(const slr_decision *d, const char *part)
{
    if (!strstr(d->why, part))
        fail_msg("\"%s\" does not say \"%s\"", d->why, part);
}

static void a_device_must_be_faster_than_a_cpu_by_a_quarter(void **state)
{
    (void)state;
    slr_work work = SLR_WORK_INIT;
    slr_estimate e[] = {estimate("cpu", SLR_DEVICE_CPU, 1000), estimate("gpu", SLR_DEVICE_GPU, 790)};
    slr_decision d = choose(e, 2, 0, &work);
    assert_int_equal(d.candidate, 1);
    assert_int_equal(d.next, 0);
    near(d.ratio, 1000 / 790.0);
    says(&d, "gpu: 790 ns (predicted); cpu: 1.0 us (predicted): 1.27 times as long.");
    e[1] = estimate("gpu", SLR_DEVICE_GPU, 810);
    d = choose(e, 2, 0, &work);
    assert_int_equal(d.candidate, 0);
    says(&d, "1.23 times as fast, but less than 1.25 is not worth");
    e[0].device_class = SLR_DEVICE_INTEGRATED_GPU; // among two that are none the faster
    assert_int_equal(choose(e, 2, 0, &work).candidate, 1);
}

static void the_runner_up_is_of_another_kind_where_there_is_one(void **state)
{
    (void)state;
    slr_work work = SLR_WORK_INIT;
    slr_estimate e[] = {estimate("cpu", SLR_DEVICE_CPU, 10), estimate("plain call", SLR_DEVICE_CPU, 11),
                        estimate("gpu", SLR_DEVICE_GPU, 100)};
    assert_int_equal(choose(e, 3, 0, &work).next, 2);
    assert_int_equal(choose(e, 2, 0, &work).next, 1);
    assert_int_equal(choose(e, 1, 0, &work).next, 0);
}

static void calls_that_wait_leave_a_gpu_under_utilised(void **state)
{
    (void)state;
    slr_work work = SLR_WORK_INIT;
    slr_estimate e[] = {estimate("cpu", SLR_DEVICE_CPU, 1000), estimate("gpu", SLR_DEVICE_GPU, 930)};
    e[1].busy = 0.03;
    slr_decision d = choose(e, 2, 900, &work);
    assert_int_equal(d.candidate, 0);
    says(&d, "97 % of a call waits for something else; gpu would be under-utilised, busy 3.0 % of the time");
    d = choose(e, 2, 0, &work);
    assert_null(strstr(d.why, "under-utilised"));
    work.calls_per_second = 1e9;
    e[0].busy = e[1].busy = 1;
    e[0].queue_ns = e[1].queue_ns = INFINITY;
    e[0].capacity = 2e6;
    e[1].capacity = 1e6;
    d = choose(e, 2, 900, &work);
    assert_int_equal(d.candidate, 0);
    says(&d, "gpu: overloaded");
    assert_null(strstr(d.why, "under-utilised"));
}

static void what_cannot_keep_up_loses_to_what_can(void **state)
{
    (void)state;
    slr_work work = SLR_WORK_INIT;
    work.calls_per_second = 1000;
    slr_estimate e[] = {estimate("cpu", SLR_DEVICE_CPU, 2e6), estimate("gpu", SLR_DEVICE_GPU, 3e6)};
    e[0].queue_ns = INFINITY;
    e[1].capacity = 5000; // it does several at once
    assert_int_equal(choose(e, 2, 0, &work).candidate, 1);
    e[1].queue_ns = INFINITY; // neither: the one that does more of them
    assert_int_equal(choose(e, 2, 0, &work).candidate, 1);
    e[1].capacity = 100;
    assert_int_equal(choose(e, 2, 0, &work).candidate, 0);
}

static void a_limit_that_the_cpu_misses_is_worth_a_device(void **state)
{
    (void)state;
    slr_work work = SLR_WORK_INIT;
    slr_estimate e[] = {estimate("cpu", SLR_DEVICE_CPU, 1150), estimate("gpu", SLR_DEVICE_GPU, 1000)};
    work.latency_ns = 1040;
    slr_decision d = choose(e, 2, 0, &work);
    assert_int_equal(d.candidate, 1);
    says(&d, "cpu: 1.1 us (predicted): 99 % of the calls take up to 1.1 us, and the limit is 1.0 us.");
    work.latency_ns = 1150;
    assert_int_equal(choose(e, 2, 0, &work).candidate, 0);
    work.latency_ns = 900; // both miss it
    d = choose(e, 2, 0, &work);
    assert_int_equal(d.candidate, 0);
    says(&d,
         "1.15 times as fast, but less than 1.25 is not worth a device with other memory. No candidate ends 99 % of "
         "the calls within 900 ns.");
    work.latency_ns = 0; // the same of calls that arrive faster than the CPU completes them
    work.calls_per_second = 950000;
    e[0].queue_ns = e[0].p99_ns = INFINITY;
    d = choose(e, 2, 0, &work);
    assert_int_equal(d.candidate, 1);
    says(&d, "cpu: overloaded (predicted): 950000 calls a second are more than cpu completes.");
}

// A capacity of 0 within the limit is no figure to divide by.
static void overload_with_a_limit_is_told_in_figures(void **state)
{
    (void)state;
    slr_work work = SLR_WORK_INIT;
    work.calls_per_second = 1000;
    work.latency_ns = 500;
    slr_estimate e[] = {estimate("cpu", SLR_DEVICE_CPU, 2e5), estimate("gpu", SLR_DEVICE_GPU, 4e6)};
    e[0].capacity = e[1].capacity = 0;
    e[1].queue_ns = e[1].p99_ns = INFINITY;
    slr_decision d = choose(e, 2, 0, &work);
    assert_int_equal(d.candidate, 0);
    near(d.ratio, 20);
    says(&d, "gpu: overloaded (predicted): 1000 calls a second are more than gpu completes. No candidate ends 99 % of "
             "the calls within 500 ns.");
    e[0].queue_ns = e[0].p99_ns = INFINITY;
    e[0].capacity = 3;
    d = choose(e, 2, 0, &work);
    assert_int_equal(d.candidate, 0);
    says(&d, "gpu: overloaded (predicted): cpu completes 20 times as many calls. No candidate");
    work.latency_ns = 0;
    e[1].capacity = 1;
    d = choose(e, 2, 0, &work);
    says(&d, "cpu completes 3 times as many calls. No candidate completes 1000 calls a second.");
}

// The table beside the sentence has the call alone.
static void a_time_with_waits_says_so(void **state)
{
    (void)state;
    slr_work work = SLR_WORK_INIT;
    work.calls_per_second = 1000;
    slr_estimate e[] = {estimate("cpu", SLR_DEVICE_CPU, 20000), estimate("gpu", SLR_DEVICE_GPU, 300000)};
    e[1].queue_ns = 100000;
    slr_decision d = choose(e, 2, 0, &work);
    says(&d, "cpu: 20.0 us (predicted); gpu: 400.0 us (predicted), 100.0 us of it waiting for earlier calls: 20 times "
             "as long.");
    work.latency_ns = 1000000;
    e[0].p99_ns = 50000;
    e[1].p99_ns = 500000;
    d = choose(e, 2, 0, &work);
    says(&d,
         "cpu: 50.0 us (predicted) for 99 % of the calls; gpu: 500.0 us (predicted) for 99 % of the calls: 10 times "
         "as long.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_takes_as_long_as_what_bounds_it_most),
        cmocka_unit_test(few_threads_leave_the_device_without_work),
        cmocka_unit_test(divergent_threads_go_at_the_rate_of_branches),
        cmocka_unit_test(copies_are_made_where_memory_is_apart_and_nothing_stays),
        cmocka_unit_test(waits_follow_the_load),
        cmocka_unit_test(one_slow_call_delays_those_behind_it),
        cmocka_unit_test(capacity_keeps_to_the_latency),
        cmocka_unit_test(the_crossover_is_where_both_take_as_long),
        cmocka_unit_test(figures_scale_in_proportion),
        cmocka_unit_test(a_device_must_be_faster_than_a_cpu_by_a_quarter),
        cmocka_unit_test(the_runner_up_is_of_another_kind_where_there_is_one),
        cmocka_unit_test(calls_that_wait_leave_a_gpu_under_utilised),
        cmocka_unit_test(what_cannot_keep_up_loses_to_what_can),
        cmocka_unit_test(a_limit_that_the_cpu_misses_is_worth_a_device),
        cmocka_unit_test(overload_with_a_limit_is_told_in_figures),
        cmocka_unit_test(a_time_with_waits_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
