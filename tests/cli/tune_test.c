// SPDX-License-Identifier: Apache-2.0
// `slipring tune` as its users see it: the built program, in a shell, in the interpreter.
#include "tests/cli/shell.h"

#define ARGUMENTS "--arg n=%n --arg 'x=float[%n]:iota' --arg 'y=float[%n]:zero'"
#define TUNE "\"$S\" tune k.cu scale --size 256 " ARGUMENTS " --repeats 2 --device 'cpu?engine=interpreted' "

// The second GPU of the simulated driver counts no energy; a thread of the first costs a millijoule.
#define GPU                                                                                                            \
    "SLIPRING_CUDA_LIB=$SLIPRING_FAKE_CUDA SLIPRING_NVRTC_LIB=$SLIPRING_FAKE_CUDA "                                    \
    "SLIPRING_NVML_LIB=$SLIPRING_FAKE_NVML \"$S\" tune k.cu scale --size 256 " ARGUMENTS                               \
    " --metric energy --keep macros "

static int set_up(void **state)
{
    (void)state;
    char cache[64];
    if (shell_begin() != 0)
        return -1;
    snprintf(cache, sizeof cache, "%s/cache", folder);
    unsetenv("SLIPRING_TUNED");
    write_file("k.cu", "#ifndef K\n#define K 1\n#endif\n"
                       "#pragma slipring tune K = 1, 2, 3, 4, 200\n"
                       "#pragma slipring require K != 4\n"
                       "#pragma slipring block scale = 64\n"
                       "#pragma slipring items scale = 64 * K\n"
                       "__global__ void scale(const float *x, float *y, int n)\n"
                       "{\n"
                       "    for (int k = 0; k < K; k++) {\n"
                       "        int i = (blockIdx.x * K + k) * 64 + threadIdx.x;\n"
                       "        if (i < n) y[i] = x[i] * 2 + (K == 3);\n"
                       "    }\n"
                       "}\n");
    write_file("w.cu", "#ifndef K\n#define K 1\n#endif\n"
                       "#pragma slipring tune K = 1, 2\n"
                       "__global__ void scale(const float *x, float *y, int n)\n"
                       "{\n"
                       "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                       "    if (i < n) y[i] = x[i] * 2 + (K == 2);\n"
                       "}\n");
    write_file("varies.cu", "__device__ int runs;\n" // counts its launches: no two results are equal
                            "__global__ void scale(const float *x, float *y, int n)\n"
                            "{\n"
                            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                            "    if (i == 0) runs += 1;\n"
                            "    if (i < n) y[i] = x[i] + runs;\n"
                            "}\n");
    return setenv("SLIPRING_CACHE_DIR", cache, 1);
}

static void tune_reports_the_choice_and_what_was_thrown_out(void **state)
{
    (void)state;
    says(TUNE, 0, "scale 256, by time:\n");
    says(TUNE, 0, "4 of 4 candidates tried, 0 refused, 1 wrong, 0 failed;");
    says(TUNE, 0, "    wrong: K=3, block 64x1x1: its result differs from the default's: y[0] is 1, not 0\n");
    says("\"$S\" tune w.cu scale --size 256 " ARGUMENTS " --repeats 2 --strategy exhaustive --device "
         "'cpu?engine=interpreted' > w.txt; grep -c 'wrong: K=2' w.txt",
         0, "1\n"); // one fact for all its blocks
    says("cat w.txt", 0, "more of its blocks and widths): its result differs from the default's: y[0] is 1, not 0\n");
    says(TUNE "--json", 0, "\"state\": \"wrong\"");
    says(TUNE "--json | tr -d ' \\n'", 0, "\"space\":4,\"evaluations\":4,\"refused\":0,\"wrong\":1,\"failed\":0,");
    says(TUNE "--json --strategy random --evaluations 2 | tr -d ' \\n'", 0, "\"evaluations\":2,");
    write_file("square.cu", "#ifndef T\n#define T 8\n#endif\n#pragma slipring tune T = 8, 64\n"
                            "#pragma slipring block scale = T, T\n"
                            "__global__ void scale(const float *x, float *y, int n)\n"
                            "{ int i = (blockIdx.x * T + threadIdx.y) * T + threadIdx.x; if (i < n) y[i] = x[i]; }\n");
    says("\"$S\" tune square.cu scale --size 256 " ARGUMENTS " --repeats 2 --device 'cpu?engine=interpreted'", 0,
         "    refused: T=64, block 64x64x1: 'scale': a block of 4096 threads; expected at most 1024\n");
    write_file("broken.cu", "#ifndef K\n#define K 1\n#endif\n#pragma slipring tune K = 1, 2\n"
                            "__global__ void scale(const float *x, float *y, int n)\n"
                            "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]\n"
                            "#if K == 2\n+ nothing\n#endif\n; }\n");
    says("\"$S\" tune broken.cu scale --size 256 " ARGUMENTS
         " --repeats 2 --device 'cpu?engine=interpreted' --keep block "
         "--strategy exhaustive",
         0, "    failed: K=2, slipring's block: broken.cu:8:3: error SLR-K050: 'nothing' is not declared");
    says(TUNE "--keep macros --json | tr -d ' \\n'", 0, "\"space\":1,");
}

static void results_that_vary_by_themselves_end_the_tuning(void **state)
{
    (void)state;
    const char *tune = "\"$S\" tune varies.cu scale --size 64 " ARGUMENTS " --device 'cpu?engine=interpreted' 2>&1";
    says(tune, 1,
         "the default launch gives different results each time (atomics in any order, a race, or an access "
         "outside a buffer): y[0] is 2, not 1");
    says(tune, 1, "--tolerance");
    // The first two runs agree.
    says("sed -i 's/x\\[i\\] + runs/x[i] + (runs > 2)/' varies.cu", 0, "");
    says(tune, 1, "the default launch gives different results each time");
}

static void a_tolerance_is_a_finite_number_from_0(void **state)
{
    (void)state;
    static const char *const wrong[] = {"inf", "nan", "-1", "1e999", "much"};
    char command[512], why[128];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(command, sizeof command, "%s--tolerance=%s 2>&1", TUNE, wrong[i]);
        snprintf(why, sizeof why, "--tolerance: '%s' is not a finite number from 0, such as 1e-5\n", wrong[i]);
        says(command, 2, why);
    }
    says(TUNE "--discard --tolerance 1e-5", 0, "by time");
}

static void halves_come_from_the_command_line(void **state)
{
    (void)state;
    write_file("half.cu", "__global__ void scale(const half *x, __nv_bfloat16 *y, int n)\n"
                          "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = (float)x[i] * 2; }\n");
    write_file("x.txt", "0.5 -1.25 65504");
    says("\"$S\" kernel run half.cu scale --grid 1 --block 3 --arg x=x.txt --arg 'y=__nv_bfloat16[3]' --arg n=3 "
         "--print y",
         0, "y: 1 -2.5 131072\n");
    says("\"$S\" kernel run half.cu scale --grid 1 --block 3 --arg x=x.txt --arg 'y=__nv_bfloat16[3]' --arg n=3 "
         "--print x "
         "--json | tr -d ' \n'",
         0, "\"values\":[0.5,-1.25,65504.0]");
    says("\"$S\" tune half.cu scale --size 64 --arg 'x=half[%n]:random' --arg 'y=__nv_bfloat16[%n]:iota' --arg n=%n "
         "--repeats 2 --device 'cpu?engine=interpreted' --json | tr -d ' \n'",
         0, "\"wrong\":0,\"failed\":0,");
}

static void each_size_has_its_own_arguments_and_result(void **state)
{
    (void)state;
    says(TUNE "--size 64x2 --json | tr -d ' \\n'", 0, "\"size\":[64,2,1]");
    says(TUNE "--size 64x2", 0, "scale 64x2, by time:\n");
}

static void the_choice_is_kept_and_explained_unless_it_is_discarded(void **state)
{
    (void)state;
    gives("rm -rf cache", 0, "");
    says(TUNE "--discard", 0, "by time");
    says("ls cache | grep -c tuned; true", 0, "0\n");
    says(TUNE, 0, "by time");
    says("ls cache | grep -c '^tuned-.*jsonl$'", 0, "1\n");
    says("\"$S\" kernel explain k.cu scale", 0, "    tuned for 256 x 1 x 1 threads on cpu?engine=interpreted (");
    says("\"$S\" kernel explain k.cu scale --json | tr -d ' \\n'", 0, "\"tuned\":[{\"threads\":[256,1,1],");
    says("\"$S\" kernel explain k.cu scale --json | tr -d ' \\n'", 0, "\"compiler\":\"interpreted\",\"driver\":\"\",");
    says("\"$S\" kernel explain k.cu scale", 0, "; interpreted): ");
    says("\"$S\" kernel explain k.cu scale -D K=2 --json | tr -d ' \\n'", 0, "\"tuned\":[]"); // another source
}

// A folder in the place of the cache folder's file.
static void a_choice_that_cannot_be_stored_is_said_to_be_lost(void **state)
{
    (void)state;
    gives("rm -rf cache", 0, "");
    says(TUNE, 0, "by time");
    says(TUNE "| grep -c 'Not stored'; true", 0, "0\n");
    gives("for f in cache/tuned-*.jsonl; do rm $f && mkdir $f; done", 0, "");
    says(TUNE, 0, " Not stored for other processes: ");
    says(TUNE "--json", 0, " Not stored for other processes: ");
    says(TUNE "--discard | grep -c 'Not stored'; true", 0, "0\n");
    says("SLIPRING_CACHE_DIR=/proc/none/cache " TUNE, 0, " Not stored for other processes: ");
    gives("rm -rf cache", 0, "");
}

// K=64 works in vain. Without OpenCL nothing can be measured here, as `cpu` needs no measurement.
static void the_occupancy_of_a_tuned_kernel_is_suggested(void **state)
{
    (void)state;
    write_file(
        "slow.cu",
        "#ifndef K\n#define K 64\n#endif\n#pragma slipring tune K = 64, 128\n#pragma slipring block f = K\n"
        "__global__ void f(const float *x, float *y, int n)\n"
        "{ __shared__ float s[K * 4]; int i = blockIdx.x * K + threadIdx.x; s[threadIdx.x] = i < n ? x[i] : 0;\n"
        "__syncthreads(); float v = s[threadIdx.x];\n"
        "#if K == 64\nfor (int k = 0; k < 3000; k++) v = sqrtf(v * v + 1);\nv = s[threadIdx.x] + v * 0;\n#endif\n"
        "if (i < n) y[i] = v; }\n");
    says("\"$S\" tune slow.cu f --size 4096 --arg 'x=float[%n]:random' --arg 'y=float[%n]' --arg n=%n --repeats 2 "
         "--device opencl:0 > tune.txt 2>&1; case $? in "
         "0) \"$S\" kernel suggest slow.cu f --elements 4096 --device opencl:0 --measure 2>&1;; "
         "2|3) echo ' of 128 threads and 2048 B';; *) cat tune.txt;; esac",
         0, " of 128 threads and 2048 B");
    gives("rm -rf cache", 0, "");
}

// On a GPU that is not there as on one that is.
static void the_block_that_a_source_declares_is_suggested_with_cc(void **state)
{
    (void)state;
    says("\"$S\" kernel suggest k.cu scale --elements 1000 --cc 90 --registers 32", 0,
         "    block: 64, 2 warps; grid: 16\n    why: the source declares it: #pragma slipring block\n");
    says("\"$S\" kernel suggest k.cu scale -D K=2 --elements 1000 --cc 90 --registers 32", 0,
         "    block: 64, 2 warps; grid: 8\n");
    says("\"$S\" kernel suggest k.cu scale -D K=1 --elements 1000000000000 --cc 90 --registers 32 2>&1", 2,
         "--elements: 1000000000000 threads are 15625000000 of the blocks that the source declares; expected at most "
         "2^31 - 1\n");
    write_file("large.cu", "#pragma slipring block f = 1024\n__global__ void f(float *y) { y[threadIdx.x] = 1; }\n");
    says("\"$S\" kernel suggest large.cu f --elements 1000 --cc 90 --registers 128", 0,
         "#pragma slipring block; a multiprocessor has no room for it, so a launch fails\n");
}

static void list_and_explain_show_what_a_source_declares(void **state)
{
    (void)state;
    says("\"$S\" kernel list k.cu", 0,
         "    block 64x1x1 for 64x1x1 items\nline 4: tunable K: 1, 2, 3, 4, 200 (now 1)\n");
    says("\"$S\" kernel list k.cu --json | tr -d ' \\n'", 0,
         "\"tunables\":[{\"name\":\"K\",\"values\":[1,2,3,4,200],\"value\":1,\"line\":4}]");
    says("\"$S\" kernel list k.cu -D K=2 --json | tr -d ' \\n'", 0, "\"block\":[64,1,1],\"items\":[128,1,1]");
    says("\"$S\" kernel explain k.cu --json | tr -d ' \\n'", 0, "\"tunables\":[{\"name\":\"K\",");
}

static void the_page_holds_the_search(void **state)
{
    (void)state;
    says(TUNE "--html page.html", 0, "by time");
    says("grep -c '\"kernel\":\"scale\"' page.html", 0, "1\n");
    says("grep -c '{{data}}' page.html; true", 0, "0\n");
    says(TUNE "--html /nowhere/page.html 2>&1", 1, "--html: cannot open '/nowhere/page.html'");
}

#define TIME "\"$S\" kernel time k.cu scale --size 256 " ARGUMENTS " --repeats 4 --device 'cpu?engine=interpreted' "

static void a_kernel_is_timed_by_quantiles(void **state)
{
    (void)state;
    says(TIME, 0, "scale 256 on cpu?engine=interpreted, blocks of 64x1x1, 4 samples:\n  least ");
    says(TIME, 0, "  2048 bytes, 512 flops a launch (exact): ");
    says(TIME "--json | tr -d ' \\n'", 0, "\"samples\":4,\"min_ns\":");
    says(TIME "--warm-up 0 --launches 2 --block 32 --json | tr -d ' \\n'", 0, "\"block\":[32,1,1]");
    says("\"$S\" kernel time k.cu scale 2>&1", 2, "--size is missing");
    says("\"$S\" kernel time k.cu 2>&1", 2, "FILE.cu and the kernel's NAME are wanted");
    says(TIME "--repeats x 2>&1", 2, "--repeats");
    says(TIME "--repeats 0 2>&1", 2, "--repeats: '0' is not a whole number from 1");
    says(TIME "--launches 0 2>&1", 2, "--launches: '0' is not a whole number from 1");
}

// A rate from counts that are only an upper limit is no measured rate.
static void a_timed_kernel_says_how_reliable_its_counts_are(void **state)
{
    (void)state;
    write_file("depends.cu",
               "__global__ void branch(const int *at, float *y, int n)\n"
               "{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n && at[i])\n        y[i] *= 2;\n}\n"
               "__global__ void turns(const int *at, float *y, int n)\n"
               "{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n"
               "        for (int k = 0; k < at[i]; ++k)\n            y[i] *= 2;\n}\n");
#define DEPENDS(kernel)                                                                                                \
    "\"$S\" kernel time depends.cu " kernel " --size 64 --arg n=%n --arg 'at=int[%n]:zero' --arg 'y=float[%n]:zero' "  \
    "--repeats 1 --device 'cpu?engine=interpreted' "
    says(DEPENDS("branch"), 0, " flops a launch (at most): ");
    says(DEPENDS("branch") "--json", 0, "\"counted\": \"at most\"");
    says(DEPENDS("turns"), 0, "bytes and flops are not counted: a loop's turns depend on memory");
    says(DEPENDS("turns") "--json", 0, "\"counted\": \"not counted\"");
}

static void what_is_wrong_on_the_command_line_is_said(void **state)
{
    (void)state;
    says("\"$S\" tune k.cu scale 2>&1", 2, "--size is missing");
    says("\"$S\" tune k.cu 2>&1", 2, "the kernel's NAME is missing");
    says("\"$S\" tune k.cu scale --size 0 2>&1", 2, "--size: '0' is not N, NxM or NxMxK");
    says("\"$S\" tune k.cu scale --size 8x8x8x8 2>&1", 2, "--size: '8x8x8x8' is not");
    says("\"$S\" tune k.cu scael --size 8 2>&1", 2, "'scael'");
    says("\"$S\" tune k.cu scale --size 8 2>&1", 2, "kernel scale needs --arg 'x=");
    says("\"$S\" tune k.cu scale --size 8 --strategy modell 2>&1", 2, "model");
    says("\"$S\" tune k.cu scale --size 8 --keep all 2>&1", 2, "macros");
    says("\"$S\" tune k.cu scale --size 8 --budget 3 2>&1", 2, "--budget: '3' is not a time");
    says("sed /endif/d\\;/ifndef/d k.cu > plain.cu; \"$S\" tune plain.cu scale --size 256 " ARGUMENTS " 2>&1", 1,
         "the tunable macro K cannot get another value: put its #define into #ifndef K");
    says("\"$S\" tune none.cu scale --size 8 2>&1", 1, "none.cu");
}

static void energy_is_told_in_millijoules(void **state)
{
    (void)state;
    says(GPU "--device cuda:1 2>&1", 3, "the energy of a launch is not measured: 'cuda' has no metric energy_mj");
    says(GPU "--device cuda:0 --repeats 1 --budget 2s", 0, "default 256.000 mJ, chosen 256.000 mJ");
    says(GPU "--device cuda:0 --repeats 1 --budget 2s --json", 0, "\"default_mj\": 256.0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tune_reports_the_choice_and_what_was_thrown_out),
        cmocka_unit_test(results_that_vary_by_themselves_end_the_tuning),
        cmocka_unit_test(a_tolerance_is_a_finite_number_from_0),
        cmocka_unit_test(halves_come_from_the_command_line),
        cmocka_unit_test(each_size_has_its_own_arguments_and_result),
        cmocka_unit_test(the_choice_is_kept_and_explained_unless_it_is_discarded),
        cmocka_unit_test(a_choice_that_cannot_be_stored_is_said_to_be_lost),
        cmocka_unit_test(list_and_explain_show_what_a_source_declares),
        cmocka_unit_test(the_occupancy_of_a_tuned_kernel_is_suggested),
        cmocka_unit_test(the_block_that_a_source_declares_is_suggested_with_cc),
        cmocka_unit_test(the_page_holds_the_search),
        cmocka_unit_test(a_kernel_is_timed_by_quantiles),
        cmocka_unit_test(a_timed_kernel_says_how_reliable_its_counts_are),
        cmocka_unit_test(what_is_wrong_on_the_command_line_is_said),
        cmocka_unit_test(energy_is_told_in_millijoules),
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
