// SPDX-License-Identifier: Apache-2.0
// `slipring decide` as its users see it: the built program, in a shell. Figures come from models, so that no time is
// asserted.
#include "tests/cli/shell.h"

#define MODELS "--model h100 --model cpu2 --predict "
#define WORKLOAD "\"$S\" decide " MODELS "--workload "
#define SAXPY "\"$S\" decide k.cu saxpy --arg n=%n --arg a=2 --arg 'x=float[%n]:random' --arg 'y=float[%n]:zero' "

#define MEASURED SAXPY "--size 4096 --device 'cpu?engine=interpreted' --measure --budget 1ns "

static int set_up(void **state)
{
    (void)state;
    char cache[64];
    if (shell_begin() != 0)
        return -1;
    snprintf(cache, sizeof cache, "%s/cache", folder);
    write_file("k.cu", "__global__ void saxpy(float a, const float *x, float *y, int n)\n"
                       "{\n"
                       "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                       "    if (i < n) y[i] = a * x[i] + y[i];\n"
                       "}\n");
    write_file("call.c", "static float x[4096], y[4096];\n"
                         "void saxpy(void) { for (int i = 0; i < 4096; i++) y[i] = 2 * x[i] + y[i]; }\n");
    return setenv("SLIPRING_CACHE_DIR", cache, 1);
}

// The table by which guides choose: the device, and a figure that decides.
static void six_workloads_are_decided_as_the_table_has_them(void **state)
{
    (void)state;
    says(WORKLOAD "matrix --json", 0, "\"class\": \"gpu\"");
    says(WORKLOAD "matrix", 0, "matrix 10000x10000: h100\n");
    says(WORKLOAD "matrix", 0, "for 2e+12 operations");
    says(WORKLOAD "sequence --json", 0, "\"class\": \"cpu\"");
    says(WORKLOAD "sequence", 0, "On h100 copies of 8.19e+03 bytes take 28.2 us");
    says(WORKLOAD "tensor --json", 0, "\"class\": \"gpu\"");
    says(WORKLOAD "tensor --json | tr -d ' \\n'", 0, "\"copy_ns\":0.0");
    says(WORKLOAD "io --json", 0, "\"class\": \"cpu\"");
    says(WORKLOAD "io", 0, "h100 would be under-utilised");
    says(WORKLOAD "deep --json", 0, "\"class\": \"gpu\"");
    says(WORKLOAD "control --json", 0, "\"class\": \"cpu\"");
    says(WORKLOAD "control", 0, "% of the lanes wait while threads branch");
    says(WORKLOAD "control --json | grep -o '\"divergence\": 0.[5-9]'", 0, "\"divergence\": 0.");
}

// No figure of the models was chosen by these. Two of each side; 'bench tune' has all twelve.
static void workloads_that_were_held_out_are_decided_as_well(void **state)
{
    (void)state;
    says(WORKLOAD "gram --json", 0, "\"class\": \"gpu\"");
    says(WORKLOAD "dense --json", 0, "\"class\": \"gpu\"");
    says(WORKLOAD "filter --json", 0, "\"class\": \"cpu\"");
    says(WORKLOAD "sorted --json", 0, "\"class\": \"cpu\"");
    says(WORKLOAD "dense --size 8x1 --json", 0, "\"class\": \"cpu\"");
}

// Near misses: what makes the difference is taken away.
static void the_other_device_wins_where_its_reason_is_gone(void **state)
{
    (void)state;
    says(WORKLOAD "matrix --size 16x16 --json", 0, "\"class\": \"cpu\"");
    says(WORKLOAD "sequence --size 10000000 --resident --json", 0, "\"class\": \"gpu\"");
    says(
        "\"$S\" decide k.cu saxpy --size 100000000 --arg n=%n --arg a=2 --arg 'x=float[%n]' --arg 'y=float[%n]' " MODELS
        "--resident --json",
        0, "\"class\": \"gpu\"");
    says(
        "\"$S\" decide k.cu saxpy --size 100000000 --arg n=%n --arg a=2 --arg 'x=float[%n]' --arg 'y=float[%n]' " MODELS
        "--json",
        0, "\"class\": \"cpu\""); // the copies take longer than the sums
    says(
        "\"$S\" decide k.cu saxpy --size 100000000 --arg n=%n --arg a=2 --arg 'x=float[%n]' --arg 'y=float[%n]' " MODELS
        "--resident --wait-share 0.99 --json",
        0, "\"class\": \"cpu\"");
}

static void the_crossover_and_the_candidates_are_shown(void **state)
{
    (void)state;
    says(SAXPY MODELS "--size 100000000 --resident", 0, " take as long at ");
    says(SAXPY MODELS "--size 100000000 --resident --json", 0, "\"crossover_threads\": ");
    says(SAXPY MODELS "--size 100000000 --resident --json | grep -c '\"name\":'", 0, "3\n"); // with the plain call
    says(
        WORKLOAD "sequence", 0,
        "\n  Without waits for earlier calls: plain call (cpu2) is faster than h100 at all sizes compared (1, 2, 4 ... "
        "threads, predicted).\n");
    says(SAXPY MODELS "--size 1000 --json", 0, "\"by\": \"predicted\"");
    says(SAXPY MODELS "--size 1024 --json", 0, "\"counted\": \"exact\"");
}

static void arrivals_fill_a_queue(void **state)
{
    (void)state;
    says(SAXPY "--size 1000 --model h100 --model cpu2 --predict --rate 1e9", 0, "overloaded");
    says(SAXPY "--size 1000 --model h100 --model cpu2 --predict --rate 1e9", 0, "times as many calls.");
    says(SAXPY "--size 1000 --model h100 --model cpu2 --predict --rate 1e9 --json", 0, "\"p99_ns\": null");
    says(SAXPY "--size 1000 --model h100 --predict --rate 9000", 0, " us of it waiting for earlier calls");
    says(SAXPY "--size 1000 --model h100 --model cpu2 --predict --rate 10 --json | grep -c '\"p99_ns\": null'; true", 0,
         "0\n");
    says(SAXPY "--size 1000 --model h100 --predict --model cpu2 --latency 1ns --json | tr -d ' \\n'", 0,
         "\"capacity\":");
}

static void devices_are_measured_and_their_figures_printed(void **state)
{
    (void)state;
    says(MEASURED "--json", 0, "\"by\": \"measured\"");
    says(MEASURED "--json", 0, "\"parts_by\": \"predicted\"");
    says(MEASURED, 0, "- predicted -");
    says(MEASURED, 0, "In the prediction of "); // the parts of a measured call are no fact
    says("cc -shared -fPIC -o call.so call.c && " MEASURED "--call call.so:saxpy", 0, "plain call ");
    says(MEASURED "--call call.so:saxpy", 0,
         "\n  plain call was measured at this size only: which is faster at other sizes is not known.\n");
    says(MEASURED "--json | grep -c '\"name\":'", 0, "1\n"); // what is only predicted of a plain call is left out
    says("\"$S\" decide --print-model --device 'cpu?engine=interpreted' > own.json && " SAXPY
         "--size 1000 --model own.json --predict --json",
         0, "\"name\": \"cpu?engine=interpreted\"");
}

static void contents_of_buffers_count(void **state)
{
    (void)state;
    write_file("sum.cu", "__global__ void sum(const int *n, float *y)\n"
                         "{ float s = 0; for (int i = 0; i < n[0]; i++) s += i; y[threadIdx.x] = s; }\n");
#define SUM "\"$S\" decide sum.cu sum --size 64 --arg 'y=float[64]:zero' --arg n=n.txt " MODELS
    says("echo 0 > n.txt; " SUM "--json", 0, "\"instructions\": 768,");
    says("echo 1000 > n.txt; " SUM "--json | grep -c '\"instructions\": [5-9]....[0-9],'", 0, "1\n");
    says("echo 2000000000 > n.txt; " SUM "2>&1", 3, "kernel sum: its work is not known");
    // Without an option, a device whose prediction is close to another's is measured.
    says(SAXPY "--size 4096 --device 'cpu?engine=interpreted' --device 'cpu?engine=interpreted' --budget 1ns --json", 0,
         "\"by\": \"measured\"");
    says(SAXPY "--size 4096 --device 'cpu?engine=interpreted' --predict --json | grep -c '\"measured\"'; true", 0,
         "0\n");
    // Then the same processor's plain call is predicted from that measurement.
    says(SAXPY "--size 4096 --device 'cpu?engine=interpreted' --device 'cpu?engine=interpreted' --budget 1ns --json | "
               "grep -c '\"corrected\": true'",
         0, "2\n");
    says(SAXPY "--size 4096 --device 'cpu?engine=interpreted' --device 'cpu?engine=interpreted' --budget 1ns", 0,
         "\n  corrected: predicted; the kernel's time is multiplied by ");
    says(SAXPY "--size 4096 --device 'cpu?engine=interpreted' --predict | grep -c corrected; true", 0, "0\n");
}

// Of lists that are sorted already; the workload's other arguments and its size stay.
static void contents_of_a_workload_count_and_may_be_replaced(void **state)
{
    (void)state;
    says(WORKLOAD "sorted --json", 0, "\"instructions\": 3499785");
    says(WORKLOAD "sorted --arg 'all=unsigned[25600]:zero' --json", 0, "\"instructions\": 740992,");
    says(WORKLOAD "sorted --arg n=64 --json", 0, "\"threads\": 128");
}

static void a_limit_that_no_candidate_keeps_is_said(void **state)
{
    (void)state;
#define LIMITED SAXPY "--size 1000000 --model h100 --model cpu2 --predict --rate 1000 --latency 1us "
    says(LIMITED, 0, "No candidate ends 99 % of the calls within 1.0 us.");
    says(LIMITED, 0, "1000 calls a second are more than h100 completes.");
    says(LIMITED, 0,
         "\n  calls/s: the most of which 99 % end within 1 us\n  Without waits for earlier calls: cpu2 is ");
    says(LIMITED "| grep -c 'nan\\|inf times'; true", 0, "0\n");
    says(LIMITED "--json", 0, "\"calls_per_second\": 1000.0");
    says(LIMITED "--json", 0, "\"latency_ns\": 1000");
    says(LIMITED "--json | grep -c '\"ratio\": null'; true", 0, "0\n");
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    says("\"$S\" decide k.cu saxpy 2>&1", 2, "--size is missing");
    says("\"$S\" decide k.cu 2>&1", 2, "the kernel's NAME is missing");
    says("\"$S\" decide 2>&1", 2, "or --workload");
    says("\"$S\" decide --workload matrx 2>&1", 2, "matrix");
    says("\"$S\" decide --print-model 2>&1", 2, "--device is missing");
    says(SAXPY "--size 10 --model none.json 2>&1", 2, "--model 'none.json': ");
    says(SAXPY "--size 10 --model none.json 2>&1 | grep -c 'line -1'; true", 0, "0\n");
    says("echo '{}' > empty.json; " SAXPY "--size 10 --model empty.json 2>&1", 2, "\"class\" must be one of gpu");
    says("\"$S\" decide --print-model --device 'cpu?engine=interpreted' | sed 's/\"units\": [0-9]*/\"units\": 0/' > "
         "bad.json; " SAXPY "--size 10 --model bad.json 2>&1",
         2, "\"units\" must be a whole number above 0");
#define OWN(edit)                                                                                                      \
    "\"$S\" decide --print-model --device 'cpu?engine=interpreted' | sed 's/" edit "/' > bad.json; " SAXPY             \
    "--size 10 --predict --model bad.json 2>&1"
    says(OWN("\"name\": \".*\"/\"name\": 5"), 2, "--model 'bad.json': \"name\" must be a string\n");
    says(OWN("\"name\": \".*\"/\"name\": null"), 2, "--model 'bad.json': \"name\" must be a string\n");
    says(OWN("\"unified\": [a-z]*/\"unified\": 1"), 2, "--model 'bad.json': \"unified\" must be true or false\n");
    says("echo '{\"name\": 5, \"class\": \"gpu\"}' > few.json; " SAXPY "--size 10 --model few.json 2>&1", 2,
         "\"name\" must be a string\n");
    says("echo '[1]' > list.json; " SAXPY "--size 10 --model list.json 2>&1", 2, "must be one JSON object\n");
    says(SAXPY "--size 10 --wait-share 1 2>&1", 2, "--wait-share: '1' is not a number from 0 to below 1\n");
    says(SAXPY "--size 10 --rate 1e13 2>&1", 2, "--rate: '1e13' is not a number from 0 to 1e+12\n");
    says(SAXPY "--size 10 --divergence 2 2>&1", 2, "--divergence: '2' is not a number from 0 to 1\n");
    says(SAXPY "--size 10 --call none 2>&1", 2, "is not LIBRARY.so:FUNCTION");
    says(SAXPY "--size 10 --call none.so:f 2>&1", 2, "--call: ");
    says("\"$S\" decide none.cu saxpy --size 10 2>&1", 1, "none.cu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(six_workloads_are_decided_as_the_table_has_them),
        cmocka_unit_test(workloads_that_were_held_out_are_decided_as_well),
        cmocka_unit_test(the_other_device_wins_where_its_reason_is_gone),
        cmocka_unit_test(the_crossover_and_the_candidates_are_shown),
        cmocka_unit_test(arrivals_fill_a_queue),
        cmocka_unit_test(devices_are_measured_and_their_figures_printed),
        cmocka_unit_test(contents_of_buffers_count),
        cmocka_unit_test(contents_of_a_workload_count_and_may_be_replaced),
        cmocka_unit_test(a_limit_that_no_candidate_keeps_is_said),
        cmocka_unit_test(what_is_wrong_is_said),
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
