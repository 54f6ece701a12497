// SPDX-License-Identifier: Apache-2.0
// Decisions between devices that are open, models of others, and plain calls.
#include "decide/decide.h"
#include "device/device_test.h"

#include <math.h>
#include <unistd.h>

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/slipring-decide-XXXXXX");
    return mkdtemp(folder) ? setenv("SLIPRING_CACHE_DIR", folder, 1) : -1;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static const char source[] = "__global__ void add(const float *x, float *y, int n)\n"
                             "{\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n) y[i] = x[i] + y[i];\n"
                             "}\n"
                             "__global__ void follow(const int *next, int *out, int n)\n" // as long as the data says
                             "{\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i, steps = 0;\n"
                             "    if (i >= n) return;\n"
                             "    while (next[at] != at) { at = next[at]; steps++; }\n"
                             "    out[i] = steps;\n"
                             "}\n"
                             "__global__ void every(const float *x, float *y, int n)\n"
                             "{\n"
                             "    float sum = 0.0f;\n"
                             "    for (int k = 0; k < n; k++) sum = sum * x[k & 7] + 1.0f;\n"
                             "    y[threadIdx.x & 7] = sum;\n"
                             "}\n";

// Of a device that would win if the work were large.
static const slr_device_model gpu = {.name = "gpu",
                                     .device_class = SLR_DEVICE_GPU,
                                     .units = 100,
                                     .unit_threads = 2048,
                                     .bytes_per_second = 3e12,
                                     .flops_per_second = 6e13,
                                     .flops64_per_second = 3e13,
                                     .instructions_per_second = 3e13,
                                     .branch_per_second = 1e12,
                                     .instruction_ns = 5,
                                     .launch_ns = 2500,
                                     .round_trip_ns = 15000,
                                     .upload_ns = 10000,
                                     .upload_bytes_per_second = 2.5e10,
                                     .download_ns = 10000,
                                     .download_bytes_per_second = 2.5e10};

static slr_device_model small_cpu(void)
{
    slr_device_model cpu = gpu;
    snprintf(cpu.name, sizeof cpu.name, "small cpu");
    cpu.device_class = SLR_DEVICE_CPU;
    cpu.unified = 1;
    cpu.units = 2;
    cpu.unit_threads = 16;
    cpu.bytes_per_second = 6e10;
    cpu.flops_per_second = cpu.flops64_per_second = 1e11;
    cpu.instructions_per_second = 3e11;
    cpu.branch_per_second = 1e10;
    cpu.instruction_ns = 0.2;
    cpu.round_trip_ns = cpu.launch_ns = 1000;
    return cpu;
}

struct bench {
    slr_device *device;
    slr_program *program;
    slr_kernel *kernel;
    slr_buffer *x, *y;
    slr_arg args[3];
    slr_work work;
    slr_estimate estimates[4];
    slr_decision decision;
};

static struct bench open_bench(const char *spec, const char *kernel, uint32_t n)
{
    struct bench b = {.device = open_device(spec), .work = SLR_WORK_INIT};
    must(slr_program_from_text(b.device, "work.cu", source, NULL, &b.program));
    must(slr_program_get_kernel(b.program, kernel, &b.kernel));
    must(slr_buffer_create(b.device, n * 4ull, &b.x));
    must(slr_buffer_create(b.device, n * 4ull, &b.y));
    b.work.kernel = b.kernel;
    b.work.shape = SLR_1D(n);
    b.work.arg_count = 3;
    return b;
}

static void set_arguments(struct bench *b, uint32_t n)
{
    b->args[0] = slr_arg_buffer(b->x);
    b->args[1] = slr_arg_buffer(b->y);
    b->args[2] = slr_arg_signed(n);
    b->work.args = b->args;
}

static void close_bench(struct bench *b)
{
    slr_buffer_destroy(b->x);
    slr_buffer_destroy(b->y);
    slr_kernel_destroy(b->kernel);
    slr_program_destroy(b->program);
    slr_device_close(b->device);
}

static void decide(struct bench *b, const slr_candidate *candidates, uint32_t count)
{
    must(slr_decide(&b->work, candidates, count, b->estimates, &b->decision));
}

static void says(const slr_decision *decision, const char *part)
{
    if (!strstr(decision->why, part))
        fail_msg("\"%s\" does not say \"%s\"", decision->why, part);
}

// ---- tests ---------------------------------------------------------------------------------------------------------

static void a_kernel_is_counted_and_models_are_compared(void **state)
{
    (void)state;
    const slr_device_model cpu = small_cpu();
    const slr_candidate candidates[] = {{.model = &cpu, .model_bytes = sizeof cpu},
                                        {.model = &gpu, .model_bytes = sizeof gpu}};
    struct bench b = open_bench("cpu?engine=interpreted", "add", 1024);
    set_arguments(&b, 1024);
    decide(&b, candidates, 2);
    assert_int_equal(b.decision.candidate, 0);
    assert_int_equal(b.decision.by, SLR_BY_MODEL);
    assert_int_equal(b.decision.threads, 1024);
    assert_int_equal(b.decision.flops, 1024);
    assert_int_equal(b.decision.bytes_in, 8192); // y is read as well
    assert_int_equal(b.decision.bytes_out, 4096);
    assert_int_equal(b.decision.memory_bytes, 12288);
    assert_true(b.estimates[1].copy_ns > 20000 && b.estimates[0].copy_ns == 0);
    says(&b.decision, "small cpu: ");
    says(&b.decision, "On gpu copies of 1.23e+04 bytes take 20.5 us");
    assert_true(b.decision.crossover_threads == 0 || b.decision.crossover_threads > 1024);
    b.work.resident = 1;
    b.work.launches = 1000;
    decide(&b, candidates, 2);
    assert_true(b.estimates[1].copy_ns == 0 && b.estimates[1].launch_ns == 15000 + 999 * 2500);
    close_bench(&b);
}

static void buffers_that_are_not_there_are_counted(void **state)
{
    (void)state;
    const slr_device_model cpu = small_cpu();
    const slr_candidate candidates[] = {{.model = &cpu, .model_bytes = sizeof cpu},
                                        {.model = &gpu, .model_bytes = sizeof gpu}};
    struct bench b = open_bench("cpu?engine=interpreted", "add", 16);
    set_arguments(&b, 1 << 30);
    b.args[0].value.buffer = b.args[1].value.buffer = NULL;
    const uint64_t bytes[] = {(uint64_t)4 << 30, (uint64_t)4 << 30, 0};
    b.work.buffer_bytes = bytes;
    b.work.shape = SLR_1D(1 << 30);
    b.work.resident = 1;
    decide(&b, candidates, 2);
    assert_int_equal(b.decision.candidate, 1);
    assert_int_equal(b.decision.memory_bytes, (uint64_t)12 << 30);
    assert_true(b.decision.crossover_threads > 1 && b.decision.crossover_threads < 1 << 30);
    // Where they cross, both are predicted to take as long.
    b.work.shape = SLR_1D((uint64_t)b.decision.crossover_threads);
    b.args[2] = slr_arg_signed((int64_t)b.decision.crossover_threads);
    decide(&b, candidates, 2);
    assert_true(b.estimates[0].call_ns < 1.2 * b.estimates[1].call_ns &&
                b.estimates[1].call_ns < 1.2 * b.estimates[0].call_ns);
    slr_candidate open = {.device = b.device};
    b.work.measure = SLR_MEASURE_ALWAYS;
    refuses(slr_decide(&b.work, &open, 1, NULL, &b.decision), UNSUPPORTED, "cannot be measured");
    close_bench(&b);
}

// The walk does not know how often such a loop goes round; the interpreter does.
static void work_that_hangs_on_data_is_interpreted(void **state)
{
    (void)state;
    enum { N = 64 };
    int next[N];
    const slr_candidate candidate = {.model = &gpu, .model_bytes = sizeof gpu};
    struct bench b = open_bench("cpu?engine=interpreted", "follow", N);
    set_arguments(&b, N);
    for (int i = 0; i < N; ++i)
        next[i] = i; // no step
    must(slr_buffer_write(b.x, 0, next, sizeof next));
    decide(&b, &candidate, 1);
    assert_int_equal(b.decision.counted, SLR_COUNTED_SAMPLED);
    uint64_t few = b.decision.instructions;
    assert_true(few > 0 && b.decision.divergence < 0.1);
    for (int i = 0; i < N; ++i)
        next[i] = i ? i - 1 : 0; // i steps: all lanes end apart
    must(slr_buffer_write(b.x, 0, next, sizeof next));
    decide(&b, &candidate, 1);
    assert_true(b.decision.instructions > 10 * few);
    assert_true(b.decision.divergence > 0.2);
    close_bench(&b);
}

// Each thread goes on for as long as the launch has threads: far beyond what is walked for a profile.
static void long_loops_of_known_length_are_counted_in_full(void **state)
{
    (void)state;
    const slr_candidate candidate = {.model = &gpu, .model_bytes = sizeof gpu};
    uint64_t flops[2];
    for (int i = 0; i < 2; ++i) {
        const uint32_t n = i == 0 ? 1000 : 200000;
        struct bench b = open_bench("cpu?engine=interpreted", "every", 8);
        set_arguments(&b, 8);
        b.args[2] = slr_arg_signed(n);
        decide(&b, &candidate, 1);
        flops[i] = b.decision.flops;
        close_bench(&b);
    }
    assert_true(flops[0] > 0);
    assert_int_equal(flops[1], 200 * flops[0]);
}

// A block that does not end within the limit says nothing of the others.
static void loops_on_data_that_take_too_long_are_not_guessed(void **state)
{
    (void)state;
    enum { N = 256 };
    int next[N];
    const slr_candidate candidate = {.model = &gpu, .model_bytes = sizeof gpu};
    struct bench b = open_bench("cpu?engine=interpreted", "follow", N);
    set_arguments(&b, N);
    for (int i = 0; i < N; ++i)
        next[i] = (i + 1) % N; // for ever
    must(slr_buffer_write(b.x, 0, next, sizeof next));
    refuses(slr_decide(&b.work, &candidate, 1, NULL, &b.decision), UNSUPPORTED, "its work is not known");
    close_bench(&b);
}

static slr_status sleep_a_little(void *user)
{
    uint64_t until = slri_now_ns() + 2 * MS;
    ++*(uint32_t *)user;
    while (slri_now_ns() < until) {
    }
    return SLR_OK;
}

static slr_status fail_always(void *user)
{
    (void)user;
    return SLR_TIMEOUT;
}

static void open_devices_and_plain_calls_are_measured_on_copies(void **state)
{
    (void)state;
    enum { N = 4096 };
    static float x[N], y[N], z[N];
    uint32_t calls = 0;
    struct bench b = open_bench("cpu?engine=interpreted", "add", N);
    set_arguments(&b, N);
    for (int i = 0; i < N; ++i)
        x[i] = y[i] = (float)i;
    must(slr_buffer_write(b.x, 0, x, sizeof x));
    must(slr_buffer_write(b.y, 0, y, sizeof y));
    const slr_candidate candidates[] = {{.device = b.device}, {.call = sleep_a_little, .user = &calls}};
    b.work.measure = SLR_MEASURE_ALWAYS;
    b.work.budget_ns = 1;
    decide(&b, candidates, 2);
    assert_int_equal(b.decision.by, SLR_BY_MEASUREMENT);
    assert_true(b.estimates[0].samples >= 5);
    assert_true(b.estimates[1].samples >= 5);
    assert_true(calls >= b.estimates[1].samples + 2); // the first, and those that follow another candidate's
    assert_true(b.estimates[1].measured_ns >= 2 * MS && b.estimates[1].predicted_ns == 0);
    assert_true(b.estimates[0].measured_ns > 0);
    says(&b.decision, "(measured)");
    must(slr_buffer_read(b.y, 0, z, sizeof z));
    assert_memory_equal(z, y, sizeof y); // the user's own was not added to
    slr_candidate bad = {.call = fail_always};
    gives(slr_decide(&b.work, &bad, 1, NULL, &b.decision), TIMEOUT);
    close_bench(&b);
}

struct caller {
    uint32_t *last, number; // who called last; who this is
};

// The first call after another candidate's takes 20 ms, as if caches were cold and threads asleep.
static slr_status call_from_cold(void *user)
{
    const struct caller *caller = user;
    uint64_t until = *caller->last == caller->number ? 0 : slri_now_ns() + 20 * MS;
    *caller->last = caller->number;
    while (slri_now_ns() < until) {
    }
    return SLR_OK;
}

static void a_call_after_another_candidates_does_not_count(void **state)
{
    (void)state;
    uint32_t last = 0;
    struct caller callers[] = {{&last, 1}, {&last, 2}};
    const slr_candidate candidates[] = {{.call = call_from_cold, .user = &callers[0]},
                                        {.call = call_from_cold, .user = &callers[1]}};
    struct bench b = {.work = SLR_WORK_INIT};
    b.work.threads = b.work.flops = 1;
    decide(&b, candidates, 2);
    for (int i = 0; i < 2; ++i) {
        assert_true(b.estimates[i].samples >= 5);
        assert_true(b.estimates[i].measured_ns < 20 * MS);
    }
}

static void only_what_is_close_is_measured(void **state)
{
    (void)state;
    struct bench b = open_bench("cpu?engine=interpreted", "add", 4096);
    set_arguments(&b, 4096);
    slr_device_model same, far;
    must(slr_device_get_model(b.device, &same));
    far = same;
    far.round_trip_ns *= 1e6;
    slr_candidate candidates[] = {{.device = b.device}, {.model = &far, .model_bytes = sizeof far}};
    b.work.budget_ns = 1;
    decide(&b, candidates, 2);
    assert_int_equal(b.estimates[0].by, SLR_BY_MODEL);
    candidates[1].model = &same;
    decide(&b, candidates, 2);
    assert_int_equal(b.estimates[0].by, SLR_BY_MEASUREMENT);
    assert_int_equal(b.estimates[1].by, SLR_BY_MODEL);
    b.work.measure = SLR_MEASURE_NEVER;
    decide(&b, candidates, 2);
    assert_int_equal(b.estimates[0].by, SLR_BY_MODEL);
    close_bench(&b);
}

// One core of the device's processor, without a launch.
static slr_device_model plain_call_of(slr_device *device)
{
    slr_device_model plain;
    must(slr_device_get_model(device, &plain));
    plain.bytes_per_second /= plain.units;
    plain.flops_per_second /= plain.units;
    plain.flops64_per_second /= plain.units;
    plain.instructions_per_second /= plain.units;
    plain.branch_per_second /= plain.units;
    plain.units = plain.unit_threads = 1;
    plain.launch_ns = plain.round_trip_ns = 0;
    return plain;
}

// The figures are a small part of the true ones, so all predictions are far too short.
static void a_wrong_prediction_does_not_win_over_a_measurement_on_the_same_processor(void **state)
{
    (void)state;
    enum { N = 1 << 17 };
    struct bench b = open_bench("cpu?engine=interpreted&threads=2", "add", N);
    set_arguments(&b, N);
    const slr_device_model plain = plain_call_of(b.device);
    const slr_candidate candidates[] = {{.device = b.device},
                                        {.model = &plain, .model_bytes = sizeof plain, .same_processor = b.device}};
    b.work.instructions = b.work.flops = b.work.memory_bytes = 16;
    b.work.budget_ns = 1;
    b.work.measure = SLR_MEASURE_NEVER;
    decide(&b, candidates, 2);
    assert_int_equal(b.decision.candidate, 1);
    assert_int_equal(b.estimates[1].is_corrected, 0);
    const double predicted_ns = b.estimates[0].kernel_ns, plain_ns = b.estimates[1].kernel_ns;
    b.work.measure = SLR_MEASURE_ALWAYS;
    decide(&b, candidates, 2);
    assert_int_equal(b.decision.candidate, 0);
    const slr_estimate *e = b.estimates;
    assert_int_equal(e[0].is_corrected, 0);
    assert_int_equal(e[1].is_corrected, 1);
    assert_int_equal(e[1].by, SLR_BY_MODEL);
    const double factor = slri_decide_correction(e[0].measured_ns, e[0].launch_ns, predicted_ns);
    assert_true(factor > 10);
    assert_true(fabs(e[1].call_ns / (plain_ns * factor) - 1) < 1e-6);
    assert_true(e[1].predicted_ns == e[1].call_ns);
    says(&b.decision, " (predicted, corrected by a measurement): ");
    close_bench(&b);
}

// Launches that take a little longer or less than predicted are no reason to think that the kernel does.
static void a_launch_that_varies_corrects_no_kernel(void **state)
{
    (void)state;
    static const struct {
        double measured_ns, overhead_ns, kernel_ns, factor;
    } cases[] = {{5000, 5000, 50, 1}, // a small kernel: as predicted
                 {4000, 5000, 50, 1},     {10000, 5000, 50, 1},  {3000, 5000, 3000, 1},
                 {3000, 5000, 6000, 0.5}, // a kernel ends before its launch does
                 {11000, 5000, 50, 20},   {1e6, 5000, 1e5, 9.9}, {1e4, 0, 1e5, 0.1},
                 {5000, 5000, 0, 1},      {1e12, 0, 1, 1e6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const double factor = slri_decide_correction(cases[i].measured_ns, cases[i].overhead_ns, cases[i].kernel_ns);
        if (!(fabs(factor / cases[i].factor - 1) < 1e-9))
            fail_msg("case %zu: %g", i, factor);
    }
}

static void every_device_that_opens_is_measured(void **state)
{
    (void)state;
    static const char *const specs[] = {"cpu?threads=2", "opencl:0"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; ++i) {
        slr_device *other;
        if (slr_device_open(specs[i], NULL, &other) != SLR_OK)
            continue;
        struct bench b = open_bench("cpu?engine=interpreted", "add", 4096);
        set_arguments(&b, 4096);
        const slr_candidate candidate = {.device = other};
        b.work.measure = SLR_MEASURE_ALWAYS;
        b.work.budget_ns = 1;
        b.work.calls_per_second = 1e12;
        decide(&b, &candidate, 1);
        assert_true(b.estimates[0].measured_ns > 0 && b.estimates[0].predicted_ns > 0);
        assert_true(isinf(b.estimates[0].queue_ns) && b.estimates[0].busy == 1);
        close_bench(&b);
        slr_device_close(other);
    }
}

static void what_waits_for_input_is_counted_once_for_all(void **state)
{
    (void)state;
    const slr_device_model cpu = small_cpu();
    const slr_candidate candidates[] = {{.model = &cpu, .model_bytes = sizeof cpu},
                                        {.model = &gpu, .model_bytes = sizeof gpu}};
    struct bench b = {.work = SLR_WORK_INIT};
    b.work.threads = 1 << 20;
    b.work.flops = 1000000000; // 10 ms on the cpu, 17 us on the gpu
    decide(&b, candidates, 2);
    assert_int_equal(b.decision.candidate, 1);
    assert_true(b.decision.ratio > 100);
    b.work.wait_share = 0.9;
    decide(&b, candidates, 2);
    assert_int_equal(b.decision.candidate, 0);
    assert_true(b.estimates[0].wait_ns == b.estimates[1].wait_ns);
    assert_true(fabs(b.estimates[0].wait_ns - 0.9 * b.estimates[0].call_ns) < 1000);
    says(&b.decision, "under-utilised");
}

static void what_cannot_be_decided_is_refused(void **state)
{
    (void)state;
    slr_decision decision;
    slr_work work = SLR_WORK_INIT;
    const slr_candidate one = {.model = &gpu, .model_bytes = sizeof gpu};
    const slr_candidate none = {0}, both = {.model = &gpu, .model_bytes = sizeof gpu, .call = fail_always};
    refuses(slr_decide(NULL, &one, 1, NULL, &decision), INVALID, "work is NULL");
    refuses(slr_decide(&work, &one, 1, NULL, NULL), INVALID, "out is NULL");
    refuses(slr_decide(&work, &one, 0, NULL, &decision), INVALID, "0 candidates");
    refuses(slr_decide(&work, &one, 1, NULL, &decision), INVALID, "no kernel and no threads");
    work.threads = work.flops = 1;
    refuses(slr_decide(&work, &none, 1, NULL, &decision), INVALID, "give one of device, model and call");
    refuses(slr_decide(&work, &both, 1, NULL, &decision), INVALID, "give one of device, model and call");
    struct bench other = open_bench("cpu?engine=interpreted", "add", 16);
    const slr_candidate absent = {.model = &gpu, .model_bytes = sizeof gpu, .same_processor = other.device};
    refuses(slr_decide(&work, &absent, 1, NULL, &decision), INVALID, "candidate 0: same_processor is no candidate");
    const slr_candidate itself = {.device = other.device, .same_processor = other.device};
    refuses(slr_decide(&work, &itself, 1, NULL, &decision), INVALID, "same_processor is given, and model is not");
    close_bench(&other);
    slr_device_model broken = gpu;
    broken.upload_bytes_per_second = 0;
    const slr_candidate bad = {.model = &broken, .model_bytes = sizeof broken};
    refuses(slr_decide(&work, &bad, 1, NULL, &decision), INVALID, "slr_device_model 'gpu'");
    broken.unified = 1; // nothing is copied
    must(slr_decide(&work, &bad, 1, NULL, &decision));
    work.wait_share = 1;
    refuses(slr_decide(&work, &one, 1, NULL, &decision), INVALID, "wait_share is 1");
    struct bench b = open_bench("cpu?engine=interpreted", "add", 16);
    b.work.arg_count = 1;
    refuses(slr_decide(&b.work, &one, 1, NULL, &decision), INVALID, "takes 3 arguments");
    set_arguments(&b, 16);
    b.work.arg_count = 3;
    b.work.shape = SLR_1D(0);
    refuses(slr_decide(&b.work, &one, 1, NULL, &decision), INVALID, "no threads");
    close_bench(&b);
    slr_device *null = open_device("null");
    slr_device_model model;
    refuses(slr_device_get_model(null, &model), UNSUPPORTED, "null");
    slr_device_close(null);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_is_counted_and_models_are_compared),
        cmocka_unit_test(buffers_that_are_not_there_are_counted),
        cmocka_unit_test(work_that_hangs_on_data_is_interpreted),
        cmocka_unit_test(long_loops_of_known_length_are_counted_in_full),
        cmocka_unit_test(loops_on_data_that_take_too_long_are_not_guessed),
        cmocka_unit_test(open_devices_and_plain_calls_are_measured_on_copies),
        cmocka_unit_test(a_call_after_another_candidates_does_not_count),
        cmocka_unit_test(only_what_is_close_is_measured),
        cmocka_unit_test(a_wrong_prediction_does_not_win_over_a_measurement_on_the_same_processor),
        cmocka_unit_test(a_launch_that_varies_corrects_no_kernel),
        cmocka_unit_test(every_device_that_opens_is_measured),
        cmocka_unit_test(what_waits_for_input_is_counted_once_for_all),
        cmocka_unit_test(what_cannot_be_decided_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
