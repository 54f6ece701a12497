// SPDX-License-Identifier: Apache-2.0
// The tuner, in the interpreter, with made-up costs: what it chooses, what it throws out, and what later launches do.
#include "device/device_test.h"

#include "base/thread.h"

#include <math.h>
#include <unistd.h>

enum { N = 256 };

static char folder[64];
static const char *const compiled[] = {"cpu?threads=2", "opencl:0", "cuda:0"};

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/slipring-tuner-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    unsetenv("SLIPRING_TUNED");
    return setenv("SLIPRING_CACHE_DIR", folder, 1);
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

// ---- a kernel, its arguments, and what is told of it ----------------------------------------------------------------

struct bench {
    slr_device *device;
    slr_program *program;
    slr_kernel *kernel;
    slr_buffer *x, *y;
    slr_arg args[3];
    slr_tune_problem problem;
    slr_tune_desc desc;
    slr_tuned tuned;
    // Of the watcher.
    uint32_t told, samples, renewed, wrong, failed, refused;
    char why[256], order[2048];
};

static slr_program *load(struct bench *b, const char *text, slr_tuned_use use)
{
    slr_program *program;
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    desc.tuned = use;
    must(slr_program_from_text(b->device, "k.cu", text, &desc, &program));
    return program;
}

static void watch(void *user, const slr_tune_candidate *candidate)
{
    struct bench *b = user;
    size_t length = strlen(b->order);
    ++b->told;
    b->wrong += candidate->state == SLR_TUNE_WRONG;
    b->failed += candidate->state == SLR_TUNE_FAILED;
    b->refused += candidate->state == SLR_TUNE_REFUSED;
    if (candidate->state != SLR_TUNE_MEASURED)
        snprintf(b->why, sizeof b->why, "%s: %s", candidate->defines, candidate->why);
    snprintf(b->order + length, sizeof b->order - length, "%s/%u;", candidate->defines, candidate->shape.block[0]);
}

static slr_status meter_by_block(void *user, slr_stream *stream, slr_kernel *kernel,
                                 const slr_tune_candidate *candidate, double *cost)
{
    (void)user;
    (void)stream;
    (void)kernel;
    uint32_t block = candidate->shape.block[0];
    *cost = candidate->is_default ? 10 : block == 128 ? 10 : block == 256 ? 8 : block == 512 ? 9 : 20;
    return SLR_OK;
}

// The default costs 10; K=2 1, K=3 5, K=4 7; what has another block more.
static slr_status meter_by_macro(void *user, slr_stream *stream, slr_kernel *kernel,
                                 const slr_tune_candidate *candidate, double *cost)
{
    (void)user;
    (void)stream;
    (void)kernel;
    static const double costs[] = {[2] = 1, [3] = 5, [4] = 7};
    int k = 0;
    bool has_macro = sscanf(candidate->defines, "K=%d", &k) == 1 && k >= 2 && k <= 4;
    *cost = (has_macro ? costs[k] : 10) + candidate->shape.block[0] / 1e4;
    return SLR_OK;
}

static void begin_on(struct bench *b, const char *device, const char *text, slr_tuned_use use, slr_tune_meter *meter)
{
    static float numbers[N];
    *b = (struct bench){.desc = SLR_TUNE_DESC_INIT};
    must(slr_device_open(device, NULL, &b->device));
    b->program = load(b, text, use);
    must(slr_program_get_kernel(b->program, NULL, &b->kernel));
    must(slr_buffer_create(b->device, N * 4, &b->x));
    must(slr_buffer_create(b->device, N * 4, &b->y));
    for (int i = 0; i < N; i++)
        numbers[i] = (float)(i + 1);
    must(slr_buffer_write(b->x, 0, numbers, sizeof numbers));
    b->args[0] = slr_arg_buffer(b->x);
    b->args[1] = slr_arg_buffer(b->y);
    b->args[2] = slr_arg_signed(N);
    b->problem = (slr_tune_problem){SLR_1D(N), b->args, 3};
    b->desc.strategy = SLR_TUNE_EXHAUSTIVE;
    b->desc.watch = watch;
    b->desc.measure = meter;
    b->desc.user = b;
}

static void begin(struct bench *b, const char *text, slr_tuned_use use, slr_tune_meter *meter)
{
    begin_on(b, "cpu?engine=interpreted", text, use, meter);
}

static void end(struct bench *b)
{
    slr_buffer_destroy(b->x);
    slr_buffer_destroy(b->y);
    slr_kernel_destroy(b->kernel);
    slr_program_destroy(b->program);
    slr_device_close(b->device);
}

static slr_stream *stream_of(struct bench *b)
{
    slr_stream *stream;
    must(slr_stream_default(b->device, &stream));
    return stream;
}

static float launch_and_read(struct bench *b, slr_program *program, uint64_t threads, int at)
{
    slr_kernel *kernel;
    float y[N];
    slr_stream *stream = stream_of(b);
    must(slr_program_get_kernel(program, NULL, &kernel));
    must(slr_launch(stream, kernel, SLR_1D(threads), b->args, 3, NULL));
    slr_kernel_destroy(kernel);
    must(slr_stream_finish(stream, LONG));
    must(slr_buffer_read(b->y, 0, y, sizeof y));
    return y[at];
}

// ---- kernels -------------------------------------------------------------------------------------------------------

static const char plain[] = "__global__ void f(const float *x, float *y, int n)\n"
                            "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += x[i]; }\n";

#define TUNED                                                                                                          \
    "#ifndef K\n#define K 1\n#endif\n#pragma slipring tune K = 1, 2, 3, 4\n#pragma slipring require K < 4\n"           \
    "#pragma slipring block f = 64\n"                                                                                  \
    "__global__ void f(const float *x, float *y, int n)\n"                                                             \
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) "
static const char wrong_at_2[] = TUNED "y[i] = K == 2 ? x[i] + 1 : x[i]; }\n";
static const char faulty_at_2[] = TUNED "y[K == 2 ? i + 100000 : i] = x[i]; }\n";
static const char near[] = TUNED "y[i] = x[i] + K / 1024.0f; }\n";
static const char exact[] = TUNED "y[i] = x[i] * K / K; }\n";

// ---- choices -------------------------------------------------------------------------------------------------------

static void the_block_with_the_least_cost_is_chosen_and_buffers_stay(void **state)
{
    (void)state;
    struct bench b;
    float y[N];
    begin(&b, plain, 0, meter_by_block);
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

static void a_wrong_candidate_is_named_and_thrown_out_though_it_is_fastest(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, wrong_at_2, 0, meter_by_macro);
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
    begin(&b, exact, 0, meter_alike);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_int_equal(b.tuned.is_default, 1);
    assert_string_equal(b.tuned.defines, "");
    assert_true(b.tuned.speedup == 1);
    assert_non_null(strstr(b.tuned.reason, "The default stays"));
    end(&b);
}

static void the_same_seed_gives_the_same_search(void **state)
{
    (void)state;
    char order[2][2048];
    for (int i = 0; i < 2; i++) {
        struct bench b;
        begin(&b, plain, 0, meter_by_block);
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

#define HEAD "__global__ void f(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; "

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
    begin(&b, exact, 0, NULL);
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
        begin_on(&b, compiled[i], wrong_at_2, 0, NULL);
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

// ---- predictions ----------------------------------------------------------------------------------------------------

#define FOUR "#ifndef K\n#define K 1\n#endif\n#pragma slipring tune K = 1, 2, 4, 8\n"
// A thread of K = 2 is some 700,000 instructions.
static const char long_threads[] =
    FOUR "__global__ void f(const float *x, float *y, int n)\n"
         "{ unsigned sum = 0; for (int j = 0; j < 200000 / K; j++) sum = sum * 3u + (unsigned)j;\n"
         "  int i = threadIdx.x; if (i < n) y[i] = x[i] + (sum == 7u ? 1.0f : 0.0f); }\n";
// Of 64 threads: 1 to 8 blocks.
static const char blocks_of_one[] = FOUR "#pragma slipring block f = 64 / K\n"
                                         "__global__ void f(const float *x, float *y, int n)\n"
                                         "{ int i = blockIdx.x * blockDim.x + threadIdx.x; float sum = 0;\n"
                                         "  for (int j = 0; j < 500; j++) sum += x[j % n]; if (i < n) y[i] = sum; }\n";

// Of all but the default, which is tried first.
static void note_prediction(void *user, const slr_tune_candidate *candidate)
{
    double *predicted = user;
    int k = 1;
    (void)sscanf(candidate->defines, "K=%d", &k);
    predicted[k] = candidate->predicted;
}

static void predict_with(const char *device, const char *text, uint64_t threads, slr_arg last, double predicted[9])
{
    struct bench b;
    begin_on(&b, device, text, 0, NULL);
    b.args[2] = last;
    b.problem.shape = SLR_1D(threads);
    b.desc.strategy = SLR_TUNE_MODEL;
    b.desc.flags = SLR_TUNE_KEEP_BLOCK | SLR_TUNE_KEEP_WIDTH | SLR_TUNE_KEEP_BRANCHES | SLR_TUNE_DISCARD;
    b.desc.repeats = 1;
    b.desc.budget_ns = 3600000000000; // a fifth of it is for predictions, and a sanitizer is slow
    b.desc.watch = note_prediction;
    b.desc.user = predicted;
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    assert_int_equal(b.tuned.space, 4);
    end(&b);
}

static void predict_by_k(const char *device, const char *text, uint64_t threads, double predicted[9])
{
    predict_with(device, text, threads, slr_arg_signed(N), predicted);
}

static void the_work_of_long_threads_is_predicted(void **state)
{
    (void)state;
    double predicted[9] = {0};
    predict_by_k("cpu?engine=interpreted", long_threads, 1, predicted);
    assert_true(predicted[8] > 0);
    assert_true(predicted[4] / predicted[8] > 1.9 && predicted[4] / predicted[8] < 2.1);
    assert_true(predicted[2] / predicted[8] > 3.8 && predicted[2] / predicted[8] < 4.2);
}

static void a_struct_that_is_given_by_value_costs_nothing_to_read(void **state)
{
    (void)state;
    static const struct {
        float a, b, c;
        int n;
    } p = {2, 3, 4, N};
    double predicted[9] = {0};
    predict_with("cpu?engine=interpreted",
                 FOUR "struct P { float a, b, c; int n; };\n"
                      "__global__ void f(const float *x, float *y, struct P p)\n"
                      "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < p.n) y[i] = p.a * p.b + p.c; }\n",
                 N, slr_arg_bytes(&p, sizeof p), predicted);
    assert_true(predicted[2] > 0 && predicted[2] < 1e6);
}

// With K = 8 each thread of a row loads another place, else all of them the same. The rest is the same work.
#define ROWS(threads)                                                                                                  \
    FOUR "#pragma slipring block f = " #threads "\n"                                                                   \
         "#if K == 8\n#define AT threadIdx\n#else\n#define AT blockIdx\n#endif\n"                                      \
         "__global__ void f(const float *x, float *y, int n) { int i = AT.x; if (i < n) y[i] = x[i]; }\n"

static void the_loads_of_one_place_by_a_row_cost_as_one(void **state)
{
    (void)state;
    double of_one[9] = {0}, of_two[9] = {0}, of_many[9] = {0};
    predict_by_k("cpu?engine=interpreted", ROWS(1), 64, of_one);
    predict_by_k("cpu?engine=interpreted", ROWS(2), 128, of_two);
    predict_by_k("cpu?engine=interpreted", ROWS(64), 4096, of_many);
    assert_true(of_one[2] > 0 && of_one[8] == of_one[2]);
    double saves_two = of_two[8] - of_two[2], saves_many = of_many[8] - of_many[2];
    assert_true(saves_two > 0 && fabs(saves_many / saves_two - 63) < 1e-3); // loads, in each of 64 blocks
}

// PoCL says that it has more units than the machine has cores.
static void blocks_beyond_the_cores_take_turns(void **state)
{
    (void)state;
    static const char *const software[] = {"opencl:0"};
    EACH_HERE(i, software)
    {
        slr_device *device;
        slr_device_info info;
        double predicted[9] = {0};
        must(slr_device_open(software[i], NULL, &device));
        must(slr_device_get_info(device, &info));
        slr_device_close(device);
        if (info.device_class != SLR_DEVICE_SOFTWARE)
            continue;
        predict_by_k(software[i], blocks_of_one, 64, predicted);
        // K = 8: 8 blocks; each is a quarter of the work of one of the 2 of K = 2.
        double turns = ceil(8.0 / slri_core_count()) / ceil(2.0 / slri_core_count());
        assert_true(predicted[8] / predicted[2] > 0.25 * turns && predicted[8] / predicted[2] < 0.3 * turns);
    }
}

// ---- later launches ------------------------------------------------------------------------------------------------

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

static void an_exact_choice_is_used_by_this_program_and_by_later_ones(void **state)
{
    (void)state;
    struct bench b;
    slr_kernel *kernel;
    slr_tuned found;
    begin(&b, exact, 0, meter_by_macro);
    must(slr_kernel_get_tuned(b.kernel, SLR_1D(N), &found));
    assert_int_equal(found.is_default, 1);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    slr_program *later = load(&b, exact, 0);
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
    slr_program *other = load(&b, wrong_at_2, 0); // another source
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
    begin(&b, exact, 0, meter_by_macro);
    const slr_tune_problem problems[] = {{SLR_1D(N), b.args, 3}, {SLR_1D(N / 2), b.args, 3}};
    must(slr_tune(b.kernel, problems, 2, &b.desc, both));
    slr_program *later = load(&b, exact, 0);
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
    begin(&b, exact, 0, meter_by_macro);
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
    begin(&b, plain, 0, meter_by_block); // its choice is a kernel of the program itself
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    for (int i = 0; i < 20; i++) {
        slr_program *program = load(&b, plain, 0);
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
    begin(&b, plain, 0, meter_by_block);
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    for (int i = 0; i < 20; i++) {
        slr_program *program = load(&b, plain, 0);
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
    begin(&b, exact, 0, meter_by_macro);
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

// ---- what a source declares ----------------------------------------------------------------------------------------

static void a_program_tells_its_tunables_and_declared_blocks(void **state)
{
    (void)state;
    struct bench b;
    slr_tunable tunable;
    slr_function_info info;
    begin(&b, exact, 0, NULL);
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
    begin(&b, plain, 0, NULL);
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

static void what_cannot_be_tuned_is_refused_with_the_reason(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, plain, 0, NULL);
    b.desc.metric = SLR_TUNE_ENERGY;
    refuses(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned), UNSUPPORTED, "energy of a launch is not measured");
    b.desc.measure = meter_by_block;
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    b.desc.metric = 9;
    refuses(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned), INVALID, "metric 9");
    b.desc.metric = 0;
    b.desc.tolerance = -1;
    gives(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned), INVALID);
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
    begin(&b, plain, 0, meter_by_macro);
    snprintf(path, sizeof path, "%s/k.cu", folder);
    for (int i = 0; i < 2; i++) {
        slr_kernel *kernel;
        FILE *file = fopen(path, "w");
        fputs(exact, file);
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

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(the_block_with_the_least_cost_is_chosen_and_buffers_stay),
        CASE(a_wrong_candidate_is_named_and_thrown_out_though_it_is_fastest),
        CASE(a_candidate_that_faults_is_thrown_out),
        CASE(the_default_stays_where_nothing_is_faster),
        CASE(the_same_seed_gives_the_same_search),
        CASE(short_branches_without_a_jump_are_tried_and_used),
        CASE(short_branches_without_a_jump_give_the_same_on_every_device),
        CASE(branches_are_no_choice_where_none_is_short_or_they_are_kept),
        CASE(only_a_buffer_that_the_kernel_reads_is_renewed_before_each_sample),
        CASE(time_is_measured_by_the_device_where_nobody_measures),
        CASE(every_device_tunes_and_launches_what_it_chose),
        CASE(the_work_of_long_threads_is_predicted),
        CASE(a_struct_that_is_given_by_value_costs_nothing_to_read),
        CASE(the_loads_of_one_place_by_a_row_cost_as_one),
        CASE(blocks_beyond_the_cores_take_turns),
        CASE(a_choice_within_the_tolerance_is_used_only_where_that_is_asked_for),
        CASE(an_exact_choice_is_used_by_this_program_and_by_later_ones),
        CASE(choices_for_several_sizes_are_used_each_for_its_own),
        CASE(a_discarded_choice_is_not_used),
        CASE(a_program_may_go_while_a_tuned_launch_is_on_its_way),
        CASE(a_program_may_go_while_its_tuned_kernel_is_compiled_ahead),
        CASE(the_profile_names_a_tuned_launch),
        CASE(a_program_tells_its_tunables_and_declared_blocks),
        CASE(items_determine_the_grid_of_a_launch),
        CASE(what_cannot_be_tuned_is_refused_with_the_reason),
        CASE(a_file_that_has_changed_is_not_tuned),
        CASE(macros_of_a_program_with_variables_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
