// SPDX-License-Identifier: Apache-2.0
// Candidates that do not end, or leave their buffers, are named and thrown out, on every device. Right ones stay.
// stays.
#include "tuner/tuner_test.h"

#include <dirent.h>

static const char *const devices[] = {"cpu?threads=2", "cpu?engine=interpreted", "opencl:0", "cuda:0", "vulkan:0"};

#define MACRO                                                                                                          \
    "#ifndef K\n#define K 1\n#endif\n#pragma slipring tune K = 1, 2, 3, 4, 5, 6, 7, 8\n#pragma slipring block f = "    \
    "64\n"

// K=2: a loop of each thread for itself. K=3: a loop in which the threads of a block wait. K=4: a loop in a function,
// within a loop. K=5 writes far away, K=6 reads before x, K=7 leaves the block's memory.
static const char text[] =
    MACRO "__device__ int rounds(int step) { int k = 0; for (int i = 0; i < 4; i += step) k++; return k; }\n"
          "__global__ void f(const float *x, float *y, int n)\n"
          "{\n"
          "    __shared__ float part[64];\n"
          "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "    float sum = 0;\n"
          "    for (int k = 0; k < 4; k += K == 2 ? 0 : 1)\n"
          "        sum += k;\n"
          "    part[K == 7 ? threadIdx.x * 100 : threadIdx.x] = x[K == 6 ? i - 1 : i];\n"
          "    for (int s = 32; s > 0; s >>= K == 3 ? 0 : 1) {\n"
          "        __syncthreads();\n"
          "        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];\n"
          "    }\n"
          "    for (int k = 0; k < 3; k++)\n"
          "        sum += rounds(K == 4 ? 0 : 1);\n"
          "    __syncthreads();\n"
          "    if (i < n)\n"
          "        y[K == 5 ? i * 1000000 : i] = part[0] + sum;\n"
          "}\n";

struct found {
    struct bench bench;
    char why[9][256];
    slr_tune_state state[9];
};

static void note(void *user, const slr_tune_candidate *candidate)
{
    struct found *found = user;
    int k = 1;
    (void)sscanf(candidate->defines, "K=%d", &k);
    found->state[k] = candidate->state;
    snprintf(found->why[k], sizeof found->why[k], "%s", candidate->why);
}

static slr_status costs_more(void *user, slr_stream *stream, slr_kernel *kernel, const slr_tune_candidate *candidate,
                             double *cost)
{
    (void)user;
    (void)stream;
    (void)kernel;
    *cost = strcmp(candidate->defines, "K=8") == 0 ? 8 : 10;
    return SLR_OK;
}

static void finds(const struct found *found, int k, const char *why)
{
    // Some drivers of Vulkan end long loops themselves, of which slipring tells on its own.
    const bool is_ended = strstr(why, "does not end") && strstr(found->why[k], "that 'vulkan:0' allows");
    if (found->state[k] != SLR_TUNE_FAILED || (!strstr(found->why[k], why) && !is_ended))
        fail_msg("K=%d: state %d, '%s', not '%s'", k, (int)found->state[k], found->why[k], why);
}

static void endless_and_wild_candidates_are_named_and_a_good_one_is_chosen(void **state)
{
    (void)state;
    EACH_HERE(i, devices)
    {
        struct found found = {0};
        begin_on(&found.bench, devices[i], text, 0, costs_more);
        found.bench.desc.watch = note;
        found.bench.desc.user = &found;
        found.bench.desc.flags = SLR_TUNE_KEEP_WIDTH | SLR_TUNE_KEEP_BRANCHES;
        must(slr_tune(found.bench.kernel, &found.bench.problem, 1, &found.bench.desc, &found.bench.tuned));
        assert_string_equal(found.bench.tuned.defines, "K=8");
        assert_int_equal(found.bench.tuned.failed, 6);
        assert_int_equal(found.bench.tuned.evaluations, 8);
        finds(&found, 2, "k.cu:12: a thread does not end within 65536 iterations of loops");
        finds(&found, 3, "k.cu:15: a thread does not end within 65536 iterations of loops");
        finds(&found, 4, "k.cu:6: a thread does not end within 65536 iterations of loops");
        finds(&found, 5, "k.cu:23: it writes outside 'y', at byte ");
        finds(&found, 6, "k.cu:14: it reads outside 'x', at byte -4");
        finds(&found, 7, "'part'");
        finds(&found, 7, "k.cu:14:");
        end(&found.bench);
    }
}

// All of these are right, and take many iterations. One warp may take others than the next, and a barrier that nobody
// comes to stands in a loop of which each thread takes others: only the barriers of all of a block may be added to.
static const char right_text[] = MACRO "__device__ void meet(int is_wanted) { if (is_wanted) __syncthreads(); }\n"
                                       "__global__ void f(const float *x, float *y, int n)\n"
                                       "{\n"
                                       "    __shared__ float part[64];\n"
                                       "    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;\n"
                                       "    float sum = 0;\n"
                                       "    for (int k = t / 32; k < 501; k += 2)\n"
                                       "        sum += __shfl_down_sync(0xffffffffu, (float)k, K == 9);\n"
                                       "    part[t] = x[i];\n"
                                       "    for (int k = 0; k < 300; k++) {\n"
                                       "        __syncthreads();\n"
                                       "        sum += part[(t + k) % 64];\n"
                                       "    }\n"
                                       "#ifdef MEETS\n"
                                       "    for (int k = 0; k < 700 + t * 3; k++) {\n"
                                       "        meet(n < 0);\n"
                                       "        sum += k;\n"
                                       "    }\n"
                                       "    __syncthreads();\n"
                                       "#endif\n"
                                       "    y[i] = part[63 - t] + sum;\n"
                                       "}\n";

static void tune_right_ones(const char *device, const char *text_of_it)
{
    struct bench b;
    begin_on(&b, device, text_of_it, 0, meter_by_macro);
    b.desc.flags = SLR_TUNE_KEEP_WIDTH | SLR_TUNE_KEEP_BRANCHES;
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    if (b.failed || b.refused)
        fail_msg("%s: %s", device, b.why);
    assert_string_equal(b.tuned.defines, "K=2");
    end(&b);
}

static void threads_of_a_block_may_take_different_numbers_of_iterations(void **state)
{
    (void)state;
    static char meets[sizeof right_text + sizeof "#define MEETS\n"];
    snprintf(meets, sizeof meets, "#define MEETS\n%s", right_text);
    EACH_HERE(i, devices)
    {
        tune_right_ones(devices[i], right_text);
        if (strncmp(devices[i], "cpu", 3) == 0) // others must be able to prove that all come to the barrier
            tune_right_ones(devices[i], meets);
    }
}

// How many iterations are right is not known then.
static void loops_have_no_limit_where_the_default_runs_unguarded(void **state)
{
    (void)state;
    EACH_HERE(i, devices)
    {
        struct bench b;
        begin_on(&b, devices[i],
                 MACRO "#if K == 1 && SLIPRING_GUARD\n#error not this one\n#endif\n"
                       "__global__ void f(const float *x, float *y, int n)\n"
                       "{ int i = blockIdx.x * blockDim.x + threadIdx.x; float sum = 0;\n"
                       "for (int k = 0; k < 700; k++) sum += k;\n"
                       "y[i] = x[i] + sum; }\n",
                 0, meter_by_macro);
        b.desc.flags = SLR_TUNE_KEEP_WIDTH | SLR_TUNE_KEEP_BRANCHES;
        must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
        if (b.failed || b.refused)
            fail_msg("%s: %s", devices[i], b.why);
        if (!strstr(b.tuned.reason, " launches ran unguarded: error SLR-K020: #error not this one."))
            fail_msg("%s", b.tuned.reason);
        end(&b);
    }
}

// Compiled kernels in the cache folder; beside them it has the tuner's records, and its own counts.
static int count_compiled(void)
{
    int count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        count += entry->d_name[0] != '.' && strncmp(entry->d_name, "tuned-", 6) != 0;
    if (dir)
        closedir(dir);
    return count;
}

#define BRANCHY(more)                                                                                                  \
    "__global__ void f(const float *x, float *y, int n)\n"                                                             \
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n" more                                      \
    "float v = x[i]; if (v > 9.0f) v = v * 0.5f; y[i] = v; }\n"

// Two candidates have three kernels then: each its own, and one that is guarded for both.
static void candidates_with_and_without_short_branches_share_a_guarded_kernel(void **state)
{
    static const char *const cpu[] = {"cpu?threads=2"};
    (void)state;
    EACH_HERE(i, cpu)
    {
        struct bench b;
        begin_on(&b, cpu[i], BRANCHY(""), 0, meter_by_macro);
        b.desc.flags = SLR_TUNE_KEEP_WIDTH | SLR_TUNE_KEEP_BLOCK | SLR_TUNE_DISCARD;
        must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
        assert_int_equal(b.tuned.evaluations, 2);
        assert_int_equal(b.failed + b.wrong + b.refused, 0);
        assert_int_equal(count_compiled(), 3);
        end(&b);
    }
}

static void count_print(void *user, const slr_print *print)
{
    (void)print;
    ++*(int *)user;
}

static void one_run_of_the_guarded_kernel_is_for_all_that_share_it(void **state)
{
    static const char *const here[] = {"cpu?engine=interpreted", "cpu?threads=2"};
    (void)state;
    EACH_HERE(i, here)
    {
        struct bench b;
        int runs = 0;
        slr_device_desc desc = SLR_DEVICE_DESC_INIT;
        desc.on_print = count_print;
        desc.print_user = &runs;
        begin_with(&b, here[i], &desc, BRANCHY("#if SLIPRING_GUARD\nif (i == 0) printf(\"guarded\");\n#endif\n"), 0,
                   meter_by_macro);
        b.desc.flags = SLR_TUNE_KEEP_BLOCK | SLR_TUNE_DISCARD;
        must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
        assert_true(b.tuned.evaluations >= 2); // with other widths as well, where the device has some
        assert_int_equal(runs, 1);
        b.desc.flags = SLR_TUNE_KEEP_BRANCHES | SLR_TUNE_KEEP_WIDTH | SLR_TUNE_DISCARD;
        runs = 0;
        must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
        assert_int_equal(runs, b.tuned.evaluations); // each block has its own
        end(&b);
    }
}

// Such a source may do something else with the macro.
static void a_source_that_asks_for_the_macro_has_a_guarded_kernel_of_each_value(void **state)
{
    (void)state;
    EACH_HERE(i, devices)
    {
        struct bench b;
        begin_on(&b, devices[i], BRANCHY("#if SLIPRING_SELECT\ni += 100000;\n#endif\n"), 0, meter_by_macro);
        b.desc.flags = SLR_TUNE_KEEP_WIDTH | SLR_TUNE_KEEP_BLOCK | SLR_TUNE_DISCARD;
        must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
        assert_int_equal(b.failed, 1);
        if (!strstr(b.why, "SLIPRING_SELECT=1: k.cu:6: it reads outside 'x', at byte 400000"))
            fail_msg("%s: %s", devices[i], b.why);
        end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(endless_and_wild_candidates_are_named_and_a_good_one_is_chosen),
        CASE(threads_of_a_block_may_take_different_numbers_of_iterations),
        CASE(loops_have_no_limit_where_the_default_runs_unguarded),
        CASE(candidates_with_and_without_short_branches_share_a_guarded_kernel),
        CASE(one_run_of_the_guarded_kernel_is_for_all_that_share_it),
        CASE(a_source_that_asks_for_the_macro_has_a_guarded_kernel_of_each_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
