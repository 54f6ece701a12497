// SPDX-License-Identifier: Apache-2.0
// Candidates that do not end, or leave their buffers: they are named and thrown out, on every device.
#include "tuner/tuner_test.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(endless_and_wild_candidates_are_named_and_a_good_one_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
