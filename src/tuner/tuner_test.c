// SPDX-License-Identifier: Apache-2.0
// The tuner, in the interpreter, with made-up costs: what it chooses, and what it throws out.
#include "tuner/tuner_test.h"

#include "device/device.h"

#include <math.h>
#include <time.h>

static const char *const compiled[] = {"cpu?threads=2", "opencl:0", "cuda:0"};

#define HEAD "__global__ void f(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; "

static const char faulty_at_2[] = TUNED "y[K == 2 ? i + 100000 : i] = x[i]; }\n";

static void the_block_with_the_least_cost_is_chosen_and_buffers_stay(void **state)
{
    (void)state;
    struct bench b;
    float y[N];
    begin(&b, PLAIN, 0, meter_by_block);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_int_equal(b.tuned.shape.block[0], 256);
    assert_int_equal(b.tuned.shape.grid[0], 1);
    assert_int_equal(b.tuned.is_default, 0);
    assert_int_equal(b.tuned.is_exact, 1);
    assert_true(b.tuned.speedup == 1.25 && b.tuned.speedup_low == 1.25);
    assert_true(b.tuned.default_cost == 10 && b.tuned.cost == 8);
    assert_int_equal(b.tuned.evaluations, 6);
    assert_int_equal(b.told, 6);
    must(slr_buffer_read(b.y, 0, y, sizeof y));
    assert_true(y[0] == 0 && y[N - 1] == 0); // the kernel adds to it
    end(&b);
}

static void no_block_is_tried_that_the_device_does_not_take(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, PLAIN, 0, meter_by_block);
    b.device->facts.limits.block_threads = 128; // of SwiftShader 256
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_int_equal(b.tuned.space, 3); // of 32, 64 and 128 threads
    end(&b);
}

static void a_wrong_candidate_is_named_and_thrown_out_though_it_is_fastest(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, WRONG_AT_2, 0, meter_by_macro);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_string_equal(b.tuned.defines, "K=3");
    assert_int_equal(b.tuned.wrong, 1);
    assert_int_equal(b.tuned.space, 3); // K=4 is not allowed
    assert_int_equal(b.tuned.evaluations, 3);
    assert_int_equal(b.wrong, 1);
    assert_string_equal(b.why, "K=2: its result differs from the default's: y[0] is 2, not 1");
    end(&b);
}

static void a_candidate_that_faults_is_thrown_out(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, faulty_at_2, 0, meter_by_macro);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_string_equal(b.tuned.defines, "K=3");
    assert_int_equal(b.failed, 1);
    assert_non_null(strstr(b.why, "K=2: "));
    end(&b);
}

static slr_status meter_alike(void *user, slr_stream *stream, slr_kernel *kernel, const slr_tune_candidate *candidate,
                              double *cost)
{
    (void)user;
    (void)stream;
    (void)kernel;
    (void)candidate;
    *cost = 10;
    return SLR_OK;
}

static void the_default_stays_where_nothing_is_faster(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, EXACT, 0, meter_alike);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_int_equal(b.tuned.is_default, 1);
    assert_string_equal(b.tuned.defines, "");
    assert_true(b.tuned.speedup == 1);
    assert_non_null(strstr(b.tuned.reason, "The default stays"));
    end(&b);
}

// K=7 costs 2, the others more; while K=7 is tried, all that is launched takes ten times as long: until the watcher is
// told of it.
static slr_status meter_of_a_slow_while(void *user, slr_stream *stream, slr_kernel *kernel,
                                        const slr_tune_candidate *candidate, double *cost)
{
    struct bench *b = user;
    int k = 1;
    (void)stream;
    (void)kernel;
    (void)sscanf(candidate->defines, "K=%d", &k);
    b->slow = k == 7 && b->slow == 0 ? candidate->evaluation : b->slow;
    *cost = (k == 7 ? 2 : k == 1 ? 10 : 5 + k / 100.0) * (b->slow != 0 && b->told < b->slow ? 10 : 1);
    return SLR_OK;
}

// K=2 takes 1.2 times as long as the default. The machine has lost one of two cores, but for the third sample of K=2;
// from the seventh on it has both.
static slr_status meter_of_a_lost_core(void *user, slr_stream *stream, slr_kernel *kernel,
                                       const slr_tune_candidate *candidate, double *cost)
{
    struct bench *b = user;
    (void)stream;
    (void)kernel;
    b->samples += !candidate->is_default;
    bool has_both = b->samples > 6 || (b->samples == 3 && !candidate->is_default);
    *cost = (candidate->is_default ? 10 : 12) * (has_both ? 1 : 2);
    return SLR_OK;
}

// All cost the same, but every other sample takes half as much again.
static slr_status meter_of_every_other(void *user, slr_stream *stream, slr_kernel *kernel,
                                       const slr_tune_candidate *candidate, double *cost)
{
    struct bench *b = user;
    (void)stream;
    (void)kernel;
    (void)candidate;
    *cost = ++b->samples % 2 ? 15 : 10;
    return SLR_OK;
}

// All cost the same, but the first samples of each candidate take half as long, as with a second core.
static slr_status meter_of_luck(void *user, slr_stream *stream, slr_kernel *kernel, const slr_tune_candidate *candidate,
                                double *cost)
{
    struct bench *b = user;
    (void)stream;
    (void)kernel;
    if (b->slow != b->told)
        b->samples = 0;
    b->slow = b->told;
    bool is_tried = b->told > 0 && candidate->evaluation == b->told + 1;
    *cost = is_tried && ++b->samples <= 5 ? 5 : 10;
    return SLR_OK;
}

// The second candidate is faster, and the search's time ends while its first sample is taken.
static slr_status meter_of_the_last(void *user, slr_stream *stream, slr_kernel *kernel,
                                    const slr_tune_candidate *candidate, double *cost)
{
    struct bench *b = user;
    (void)stream;
    (void)kernel;
    *cost = candidate->evaluation == 2 ? 5 : 10;
    if (candidate->evaluation == 2 && b->told == 1 && ++b->samples == 1)
        nanosleep(&(struct timespec){.tv_nsec = 900000000}, NULL);
    return SLR_OK;
}

// K names a candidate; the number with which it was tried is the same each time that it is measured.
static slr_status meter_of_numbers(void *user, slr_stream *stream, slr_kernel *kernel,
                                   const slr_tune_candidate *candidate, double *cost)
{
    struct bench *b = user;
    int k = 1;
    (void)stream;
    (void)kernel;
    (void)sscanf(candidate->defines, "K=%d", &k);
    if (b->evaluation[k] == 0)
        b->evaluation[k] = candidate->evaluation;
    b->misnamed += b->evaluation[k] != candidate->evaluation;
    b->samples_beside += candidate->evaluation != b->told + 1; // of another than the one that is tried
    *cost = 10 - k;
    return SLR_OK;
}

static void each_sample_has_the_number_of_its_own_candidate(void **state)
{
    (void)state;
    struct bench b;
    begin(&b,
          "#ifndef K\n#define K 1\n#endif\n#pragma slipring tune K = 1, 2, 3, 4, 5\n"
          "#pragma slipring block f = 64\n" HEAD "if (i < n) y[i] = x[i] * K / K; }",
          0, meter_of_numbers);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_int_equal(b.tuned.evaluations, 5);
    assert_int_equal(b.evaluation[1], 1); // the default
    assert_int_equal(b.misnamed, 0);
    assert_true(b.samples_beside > 0);
    end(&b);
}

// K=3 has the cost that the test wants.
static double odd_cost;

static slr_status meter_of_an_odd_cost(void *user, slr_stream *stream, slr_kernel *kernel,
                                       const slr_tune_candidate *candidate, double *cost)
{
    (void)user;
    (void)stream;
    (void)kernel;
    *cost = strcmp(candidate->defines, "K=3") == 0 ? odd_cost : 10;
    return SLR_OK;
}

static void a_cost_that_is_no_number_is_refused(void **state)
{
    const double odd[] = {NAN, INFINITY, -INFINITY, 0, -1};
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct bench b;
        odd_cost = odd[i];
        begin(&b,
              "#ifndef K\n#define K 1\n#endif\n#pragma slipring tune K = 1, 2, 3, 4, 5\n"
              "#pragma slipring block f = 64\n" HEAD "if (i < n) y[i] = x[i] * K / K; }",
              0, meter_of_an_odd_cost);
        must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
        assert_int_equal(b.tuned.refused, 1);
        assert_string_not_equal(b.tuned.defines, "K=3");
        assert_true(isfinite(b.tuned.cost) && isfinite(b.tuned.default_cost) && isfinite(b.tuned.speedup));
        assert_non_null(strstr(b.why, "expected a finite number above 0"));
        end(&b);
    }
}

static void a_while_in_which_the_machine_is_slow_hides_no_candidate(void **state)
{
    (void)state;
    struct bench b;
    begin(&b,
          "#ifndef K\n#define K 1\n#endif\n#pragma slipring tune K = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12\n"
          "#pragma slipring block f = 64\n" HEAD "if (i < n) y[i] = x[i] * K / K; }",
          0, meter_of_a_slow_while);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_int_equal(b.tuned.evaluations, 12);
    assert_true(b.slow > 1 && b.slow < 12);
    assert_string_equal(b.tuned.defines, "K=7");
    end(&b);
}

static void one_lucky_sample_is_not_taken_for_the_cost(void **state)
{
    (void)state;
    struct bench b;
    begin(&b,
          "#ifndef K\n#define K 1\n#endif\n#pragma slipring tune K = 1, 2\n"
          "#pragma slipring block f = 64\n" HEAD "if (i < n) y[i] = x[i] * K / K; }",
          0, meter_of_a_lost_core);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_int_equal(b.told, 2);
    assert_true(b.cost > 23.9 && b.cost < 24.1); // 1.2 times the 20 of the default
    end(&b);
}

// Else each candidate would seem two thirds of the fastest one before it.
static void slow_samples_in_between_fall_on_candidate_and_reference_alike(void **state)
{
    (void)state;
    struct bench b;
    begin(&b,
          "#ifndef K\n#define K 1\n#endif\n#pragma slipring tune K = 1, 2, 3, 4, 5, 6, 7, 8\n"
          "#pragma slipring block f = 64\n" HEAD "if (i < n) y[i] = x[i] * K / K; }",
          0, meter_of_every_other);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_int_equal(b.told, 8);
    assert_true(b.cost == 10);
    assert_int_equal(b.tuned.is_default, 1);
    end(&b);
}

// Else each would seem to cost half of the one before it: at last 10 / 128.
static void luck_does_not_add_up_from_candidate_to_candidate(void **state)
{
    (void)state;
    struct bench b;
    begin(&b,
          "#ifndef K\n#define K 1\n#endif\n#pragma slipring tune K = 1, 2, 3, 4, 5, 6, 7, 8\n"
          "#pragma slipring block f = 64\n" HEAD "if (i < n) y[i] = x[i] * K / K; }",
          0, meter_of_luck);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_int_equal(b.told, 8);
    assert_true(b.cost == 10);
    assert_int_equal(b.tuned.is_default, 1);
    end(&b);
}

// Else the contest would have less of the time: the default would stay.
static void the_last_candidate_is_not_measured_twice(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, TUNED "y[i] = x[i] * K / K; }\n", 0, meter_of_the_last);
    b.desc.repeats = 1;
    b.desc.budget_ns = 1000000000;
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_true(b.told <= 2);
    assert_true(b.samples <= 2); // none where the machine needs so long for the first candidate
    end(&b);
}

static void the_same_seed_gives_the_same_search(void **state)
{
    (void)state;
    char order[2][2048];
    for (int i = 0; i < 2; i++) {
        struct bench b;
        begin(&b, PLAIN, 0, meter_by_block);
        b.desc.strategy = SLR_TUNE_RANDOM;
        b.desc.evaluations = 5;
        b.desc.seed = 42;
        must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
        assert_int_equal(b.told, 5);
        snprintf(order[i], sizeof order[i], "%s", b.order);
        end(&b);
    }
    assert_string_equal(order[0], order[1]);
}

// Counts the samples before which y[0] is what it was at first, 1; the launches leave something else there.
static slr_status meter_that_looks(void *user, slr_stream *stream, slr_kernel *kernel,
                                   const slr_tune_candidate *candidate, double *cost)
{
    struct bench *b = user;
    float first;
    must(slr_buffer_read(b->y, 0, &first, sizeof first));
    b->renewed += first == 1;
    ++b->samples;
    must(slr_launch(stream, kernel, candidate->shape, b->args, 3, NULL));
    must(slr_stream_finish(stream, UINT64_MAX));
    *cost = 10;
    return SLR_OK;
}

static void only_a_buffer_that_the_kernel_reads_is_renewed_before_each_sample(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool reads, is_same; // x and y are the same buffer
    } cases[] = {
        {HEAD "if (i < n) y[i] = x[i] * 2; }", .reads = false},
        {HEAD "if (i < n) y[i] += x[i]; }", .reads = true},
        {HEAD "if (i < n) atomicAdd(y + i, x[i]); }", .reads = true},
        {HEAD "if (i < n) atomicExch((unsigned *)y + i, 7u); }", .reads = true},
        // By one thread of 256; by none; by a function; of a struct.
        {HEAD "if (i == 78) y[i] = y[i] + 1; else y[i] = 2; }", .reads = true},
        {HEAD "if (i > 1000) y[i] = y[i - 1000]; else y[i] = 2; }", .reads = true},
        {"__device__ float of(const float *p, int i) { return p[i]; }\n" HEAD "y[i] = of(x, i) * 2; }", .reads = false},
        {"__device__ float of(const float *p, int i) { return p[i]; }\n" HEAD "y[i] = of(y, i) * 2; }", .reads = true},
        {"__device__ void to(float *p, int i, float v) { p[i] = v; }\n" HEAD "to(y, i, x[i] * 2); }", .reads = false},
        {"struct pair { float a, b; };\n__global__ void f(const float *x, struct pair *y, int n) {\n"
         "  int i = threadIdx.x; if (i == 0) { struct pair p = y[1]; p.a = 2; y[0] = p; } }",
         .reads = true},
        {HEAD "if (i < n) y[i] = x[i] * 2; }", .reads = true, .is_same = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench b;
        float one = 1, left;
        begin(&b, cases[i].text, 0, meter_that_looks);
        if (cases[i].is_same)
            b.args[0] = b.args[1];
        must(slr_buffer_write(b.y, 0, &one, sizeof one));
        must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
        must(slr_buffer_read(b.y, 0, &left, sizeof left));
        assert_true(b.samples > 0);
        if (b.renewed != (cases[i].reads ? b.samples : 0))
            fail_msg("%s: renewed before %u of %u samples", cases[i].text, b.renewed, b.samples);
        assert_true(left == 1); // at the end it is as before
        end(&b);
    }
}

static void time_is_measured_by_the_device_where_nobody_measures(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, EXACT, 0, NULL);
    for (uint32_t metric = SLR_TUNE_TIME; metric <= SLR_TUNE_TAIL; metric++) {
        b.desc.metric = metric;
        must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
        assert_int_equal(b.tuned.metric, metric);
        assert_true(b.tuned.default_cost > 0 && b.tuned.cost > 0 && b.tuned.spent_ns > 0);
    }
    end(&b);
}

static const char branchy[] = "__global__ void f(const float *x, float *y, int n)\n"
                              "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n"
                              "float v = x[i]; if (v > 9.0f) v = v * 0.5f; y[i] = v; }\n";

static const char and_only[] = "__global__ void f(const float *x, float *y, int n)\n"
                               "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i > 3 && i < n) y[i] = x[i]; }\n";

static slr_status meter_by_select(void *user, slr_stream *stream, slr_kernel *kernel,
                                  const slr_tune_candidate *candidate, double *cost)
{
    (void)user;
    (void)stream;
    (void)kernel;
    *cost = strcmp(candidate->defines, "SLIPRING_SELECT=1") == 0 ? 4 : 10;
    return SLR_OK;
}

static void short_branches_without_a_jump_are_tried_and_used(void **state)
{
    (void)state;
    struct bench b;
    slr_tuned found;
    begin(&b, branchy, 0, meter_by_select);
    b.desc.flags = SLR_TUNE_KEEP_BLOCK;
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_int_equal(b.tuned.space, 2);
    assert_int_equal(b.tuned.wrong, 0);
    assert_string_equal(b.tuned.defines, "SLIPRING_SELECT=1");
    slr_program *later = load(&b, branchy, 0);
    slr_kernel *kernel;
    must(slr_program_get_kernel(later, NULL, &kernel));
    must(slr_kernel_get_tuned(kernel, SLR_1D(N), &found));
    assert_string_equal(found.reason, "f (tuned: SLIPRING_SELECT=1)");
    assert_true(launch_and_read(&b, later, N, 9) == 5);
    slr_kernel_destroy(kernel);
    slr_program_destroy(later);
    end(&b);
}

// Of every kind of value, in emitted code of every language: the tuner compares each bit.
static void short_branches_without_a_jump_give_the_same_on_every_device(void **state)
{
    (void)state;
    static const char *const all[] = {"cpu?threads=2", "opencl:0", "cuda:0", "vulkan:0"};
    static const char kinds[] =
        "__global__ void f(const float *x, float *y, int n)\n"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n"
        "int v = (int)x[i] * 7 % 101 - 50; float a = v; if (v > 3) a = a * 0.3f - 1.0f; else a = -a;\n"
        "long long b = v; if (v & 1) b = (b << 30) - v; unsigned c = 7; if (v < 0) { if (v < -20) c = 9u; else c *= "
        "3u; }\n"
        "for (int k = 0; k < 9; k++) if ((v >> (k & 7)) & 1) a = a * 1.5f + k; else c ^= k;\n"
        "y[i] = a + (float)(b % 1000) + (float)c; }\n";
    EACH_HERE(i, all)
    {
        struct bench b;
        begin_on(&b, all[i], kinds, 0, NULL);
        b.desc.flags = SLR_TUNE_KEEP_BLOCK | SLR_TUNE_KEEP_WIDTH | SLR_TUNE_DISCARD;
        b.desc.repeats = 1;
        must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
        assert_int_equal(b.told, 2);
        assert_int_equal(b.tuned.wrong + b.tuned.failed + b.tuned.refused, 0);
        end(&b);
    }
}

static void branches_are_no_choice_where_none_is_short_or_they_are_kept(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, and_only, 0, meter_by_select); // its branches store and compare
    b.desc.flags = SLR_TUNE_KEEP_BLOCK | SLR_TUNE_DISCARD;
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_int_equal(b.tuned.space, 1);
    end(&b);
    begin(&b, branchy, 0, meter_by_select);
    b.desc.flags = SLR_TUNE_KEEP_BLOCK | SLR_TUNE_DISCARD | SLR_TUNE_KEEP_BRANCHES;
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_int_equal(b.tuned.space, 1);
    end(&b);
}

// By the device's own clock: what it chooses is the machine's affair, that it is right is ours.
static void every_device_tunes_and_launches_what_it_chose(void **state)
{
    (void)state;
    EACH_HERE(i, compiled)
    {
        struct bench b;
        begin_on(&b, compiled[i], WRONG_AT_2, 0, NULL);
        b.desc.repeats = 2;
        must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
        assert_int_equal(b.tuned.evaluations, b.tuned.space);
        assert_true(b.tuned.wrong >= 1 && b.wrong == b.tuned.wrong);
        assert_int_equal(b.failed, 0);
        assert_true(strcmp(b.tuned.defines, "") == 0 || strcmp(b.tuned.defines, "K=3") == 0);
        assert_true(launch_and_read(&b, b.program, N, N - 1) == N);
        end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_block_with_the_least_cost_is_chosen_and_buffers_stay),
        CASE(no_block_is_tried_that_the_device_does_not_take),
        CASE(a_wrong_candidate_is_named_and_thrown_out_though_it_is_fastest),
        CASE(a_candidate_that_faults_is_thrown_out),
        CASE(the_default_stays_where_nothing_is_faster),
        CASE(each_sample_has_the_number_of_its_own_candidate),
        CASE(a_cost_that_is_no_number_is_refused),
        CASE(a_while_in_which_the_machine_is_slow_hides_no_candidate),
        CASE(one_lucky_sample_is_not_taken_for_the_cost),
        CASE(slow_samples_in_between_fall_on_candidate_and_reference_alike),
        CASE(luck_does_not_add_up_from_candidate_to_candidate),
        CASE(the_last_candidate_is_not_measured_twice),
        CASE(the_same_seed_gives_the_same_search),
        CASE(short_branches_without_a_jump_are_tried_and_used),
        CASE(short_branches_without_a_jump_give_the_same_on_every_device),
        CASE(branches_are_no_choice_where_none_is_short_or_they_are_kept),
        CASE(only_a_buffer_that_the_kernel_reads_is_renewed_before_each_sample),
        CASE(time_is_measured_by_the_device_where_nobody_measures),
        CASE(every_device_tunes_and_launches_what_it_chose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
