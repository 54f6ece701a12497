// SPDX-License-Identifier: Apache-2.0
// What candidates are expected to cost.
#include "tuner/tuner_test.h"

#include "base/thread.h"
#include "device/device.h"

#include <math.h>

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

// `arch`: the device is taken for an NVIDIA GPU of that architecture; 0: for what it is.
static void predict_as(const char *device, uint32_t arch, const char *text, uint64_t threads, slr_arg last,
                       uint64_t bytes, double predicted[9])
{
    struct bench b;
    begin_on(&b, device, text, 0, NULL);
    if (arch)
        b.device->facts.cuda_arch = arch;
    slr_buffer_destroy(b.y);
    must(slr_buffer_create(b.device, bytes, &b.y));
    b.args[1] = slr_arg_buffer(b.y);
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

static void predict_in(const char *device, const char *text, uint64_t threads, slr_arg last, uint64_t bytes,
                       double predicted[9])
{
    predict_as(device, 0, text, threads, last, bytes, predicted);
}

static void predict_with(const char *device, const char *text, uint64_t threads, slr_arg last, double predicted[9])
{
    predict_in(device, text, threads, last, N * 4, predicted);
}

static void predict_by_k(const char *device, const char *text, uint64_t threads, double predicted[9])
{
    predict_with(device, text, threads, slr_arg_signed(N), predicted);
}

static void the_work_of_long_threads_is_predicted(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__ // millions of instructions of one thread, for a minute; the others have as many threads
    skip();
#endif
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

// With K = 8 a thread's places are 4096 bytes apart, so that all fall into one set of a cache; else 4160.
static void lines_that_a_core_lacks_cost_where_it_runs_threads_one_after_the_other(void **state)
{
    (void)state;
    static const char columns[] =
        FOUR "#pragma slipring block f = 64\n"
             "__global__ void f(const float *x, float *y, int n)\n"
             "{ for (int k = 0; k < 40; k++) y[k * (K == 8 ? 1024 : 1040) + threadIdx.x] = 1; }\n";
    static const char *const devices[] = {"cpu?engine=interpreted", "opencl:0"};
    EACH_HERE(i, devices)
    {
        slr_device *device;
        slr_device_info info;
        slr_device_limits limits;
        double predicted[9] = {0};
        must(slr_device_open(devices[i], NULL, &device));
        must(slr_device_get_info(device, &info));
        must(slr_device_get_limits(device, &limits));
        slr_device_close(device);
        predict_in(devices[i], columns, 64, slr_arg_signed(N), 41 * 1040 * 4, predicted);
        assert_true(predicted[2] > 0 && predicted[2] == predicted[4]);
        if (info.device_class == SLR_DEVICE_SOFTWARE && limits.l1_bytes)
            assert_true(fabs(predicted[8] - predicted[2] - 16 * (2560 - 160)) < 1); // each access, not one in 16
        else
            assert_true(predicted[8] == predicted[2]);
    }
}

// Lanes of the vectors in which the device's code runs the threads of a row; 1: it does not.
static uint32_t lanes_of(const char *spec)
{
    slr_device *device;
    slr_device_limits limits;
    must(slr_device_open(spec, NULL, &device));
    must(slr_device_get_limits(device, &limits));
    slr_device_close(device);
    return limits.lanes;
}

// With K = 8 the places of a row's threads are 8 bytes apart, else 4. The instructions are the same.
static void a_scattered_access_costs_one_for_each_lane(void **state)
{
    (void)state;
    static const char steps[] = FOUR "#pragma slipring block f = 64\n"
                                     "__global__ void f(const float *x, float *y, int n)\n"
                                     "{ y[threadIdx.x * (n - (K == 8 ? 5 : 6))] = 1; }\n";
    static const char *const devices[] = {"cpu", "cpu?engine=interpreted"};
    EACH_HERE(i, devices)
    {
        double predicted[9] = {0};
        uint32_t lanes = lanes_of(devices[i]);
        predict_in(devices[i], steps, 64, slr_arg_signed(7), 64 * 8, predicted);
        assert_true(predicted[2] > 0 && predicted[2] == predicted[4]);
        assert_true(fabs(predicted[8] - predicted[2] - (lanes > 1 ? 64.0 * lanes : 0)) < 1);
    }
}

// With K = 8 a loop divides by n, else it multiplies by n: as many instructions.
static const char dividing[] = FOUR "#pragma slipring block f = 64\n"
                                    "#if K == 8\n#define BY %\n#else\n#define BY *\n#endif\n"
                                    "__global__ void f(const float *x, float *y, int n)\n"
                                    "{ int i = threadIdx.x, s = 0; for (int k = 0; k < 10; k++) s += i BY n;\n"
                                    "  y[i] = s; }\n";

static void a_division_costs_what_it_takes_and_on_lanes_once_for_each(void **state)
{
    (void)state;
    static const char *const devices[] = {"cpu", "cpu?engine=interpreted"};
    EACH_HERE(i, devices)
    {
        double predicted[9] = {0};
        predict_in(devices[i], dividing, 64, slr_arg_signed(7), 64 * 4, predicted);
        assert_true(predicted[2] > 0 && predicted[2] == predicted[4]);
        // On lanes, products grow evenly along a row, and quotients do not: these and their sum are no longer of a row.
        const double lanes = lanes_of(devices[i]), found = predicted[8] - predicted[2];
        const double of_sums = lanes > 1 ? 64 * 10 * (2 + 4) : 0, least = 20 * 64 * 10 * fmax(1, lanes);
        if (!(found > 0.99 * least && found < 1.01 * least + of_sums))
            fail_msg("%s: %g more, not %g", devices[i], found, least);
    }
}

static void what_is_the_same_for_a_row_costs_once_where_threads_are_lanes(void **state)
{
    (void)state;
    static const char same[] =
        FOUR "#pragma slipring block f = 64\n"
             "__global__ void f(const float *x, float *y, int n)\n"
             "{ int s = K; for (int j = 0; j < 1000; j++) s = s * 3 + n; y[threadIdx.x] = s; }\n";
    double of_threads[9] = {0}, of_rows[9] = {0};
    uint32_t lanes = lanes_of("cpu");
    predict_by_k("cpu?engine=interpreted", same, 64, of_threads);
    predict_by_k("cpu", same, 64, of_rows);
    assert_true(of_threads[2] > 0);
    assert_true(lanes > 1 ? of_rows[2] < of_threads[2] * (0.06 + 0.25 * lanes / 64) : of_rows[2] == of_threads[2]);
}

// What a compiler makes of scattered accesses is not foreseen.
static void threads_are_counted_each_where_the_default_scatters(void **state)
{
    (void)state;
    static const char steps[] = FOUR "#pragma slipring block f = 64\n"
                                     "__global__ void f(const float *x, float *y, int n)\n"
                                     "{ y[threadIdx.x * (n - (K == 8 ? 6 : 5))] = 1; }\n";
    double of_threads[9] = {0}, of_rows[9] = {0};
    predict_in("cpu?engine=interpreted", steps, 64, slr_arg_signed(7), 64 * 8, of_threads);
    predict_in("cpu", steps, 64, slr_arg_signed(7), 64 * 8, of_rows);
    assert_true(of_threads[8] > 0 && of_rows[8] == of_threads[8] && of_rows[2] == of_threads[2]);
}

// ---- GPUs with warps -----------------------------------------------------------------------------------------------

static const struct gpu {
    const char *device;
    uint32_t arch;
} gpus[] = {{"cpu?engine=interpreted", 900}, {"cuda:0", 0}};

// What a candidate with K = 8 costs more than the others, which are alike.
static double extra_on(const struct gpu *gpu, const char *text, uint64_t threads, slr_arg last)
{
    double predicted[9] = {0};
    predict_as(gpu->device, gpu->arch, text, threads, last, 4096, predicted);
    assert_true(predicted[2] > 0 && predicted[2] == predicted[4]);
    return predicted[8] - predicted[2];
}

static void sectors_banks_and_turns_cost_on_a_gpu(void **state)
{
    (void)state;
    // The same instructions; the places of neighbouring threads are 4 or 32 bytes apart.
    static const char sectors[] = FOUR "#pragma slipring block f = 64\n"
                                       "__global__ void f(const float *x, float *y, int n)\n"
                                       "{ y[threadIdx.x * (n - (K == 8 ? 1 : 8))] = 1; }\n",
                      banks[] = FOUR "#pragma slipring block f = 64\n"
                                     "__global__ void f(const float *x, float *y, int n)\n"
                                     "{ __shared__ float s[4096]; s[threadIdx.x * (n - (K == 8 ? 1 : 32))] = 1;\n"
                                     "  __syncthreads(); y[threadIdx.x] = s[threadIdx.x]; }\n",
                      // With K = 8 so much shared memory that few blocks fit at once.
        turns[] = FOUR "#pragma slipring block f = 64\n"
                       "__global__ void f(const float *x, float *y, int n)\n"
                       "{ __shared__ float s[K == 8 ? 10000 : 64]; s[threadIdx.x] = n;\n"
                       "  __syncthreads(); y[threadIdx.x] = s[threadIdx.x]; }\n";
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        slr_device *device;
        if (slr_device_open(gpus[i].device, NULL, &device) != SLR_OK)
            continue;
        slr_device_close(device);
        assert_true(extra_on(&gpus[i], sectors, 64, slr_arg_signed(9)) > 0);
        assert_true(extra_on(&gpus[i], banks, 64, slr_arg_signed(33)) > 0);
        assert_true(extra_on(&gpus[i], dividing, 64, slr_arg_signed(7)) > 0);
        // As many blocks as fill each multiprocessor of an H100.
        assert_true(extra_on(&gpus[i], turns, 64 * 132 * 24, slr_arg_signed(1)) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_work_of_long_threads_is_predicted),
        CASE(a_struct_that_is_given_by_value_costs_nothing_to_read),
        CASE(the_loads_of_one_place_by_a_row_cost_as_one),
        CASE(blocks_beyond_the_cores_take_turns),
        CASE(lines_that_a_core_lacks_cost_where_it_runs_threads_one_after_the_other),
        CASE(a_scattered_access_costs_one_for_each_lane),
        CASE(a_division_costs_what_it_takes_and_on_lanes_once_for_each),
        CASE(what_is_the_same_for_a_row_costs_once_where_threads_are_lanes),
        CASE(threads_are_counted_each_where_the_default_scatters),
        CASE(sectors_banks_and_turns_cost_on_a_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
