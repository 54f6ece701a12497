// SPDX-License-Identifier: Apache-2.0
// `slipring profile` on programs that have a bottleneck and on such as do the same without it: each rule of its advice
// speaks of the one and not of the other.
#include "tests/cli/shell.h"

#include <stdbool.h>
#include <stdint.h>

static char output[1 << 20];

// Runs `slipring profile ARGUMENTS`; its exit code, and in `output` what it printed.
static int use(const char *arguments)
{
    char command[1024];
    snprintf(command, sizeof command, "\"$SLIPRING_TOOL\" profile %s > out 2> err", arguments);
    int status = system(command);
    FILE *file = fopen("out", "r");
    assert_non_null(file);
    output[fread(output, 1, sizeof output - 1, file)] = '\0';
    fclose(file);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check(bool holds, const char *what, int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", output);
    fail_msg("profile_test.c:%d: %s does not hold of the report above", line, what);
}

// With the whole report where it does not hold.
#define holds_of_report(condition) check(condition, #condition, __LINE__)

static void ends(const char *arguments, int code)
{
    int got = use(arguments);
    if (got == code)
        return;
    fprintf(stderr, "%s\n", output);
    if (system("cat err >&2") == 0)
        fail_msg("slipring profile %s: exit code %d, not %d; it prints what is above", arguments, got, code);
    fail();
}

static bool advises_on(const char *rule, const char *how, const char *device)
{
    char arguments[512], wanted[64];
    snprintf(arguments, sizeof arguments, "--json -- \"$SLIPRING_BINARY_DIR\"/tests/bottlenecks '%s' %s %s", rule, how,
             device);
    ends(arguments, 0);
    holds_of_report(strstr(output, "\"exit_code\": 0"));
    snprintf(wanted, sizeof wanted, "\"rule\": \"%s\"", rule);
    return strstr(output, wanted) != NULL;
}

static bool advises(const char *rule, const char *how)
{
    return advises_on(rule, how, "");
}

static bool has_opencl(void)
{
    return system("\"$SLIPRING_TOOL\" devices | grep -q opencl:0") == 0;
}

// Both kinds of compiled code.
static void is_told_from_a_near_miss(const char *rule)
{
    holds_of_report(advises_on(rule, "yes", "cpu"));
    holds_of_report(!advises_on(rule, "no", "cpu"));
    if (!has_opencl())
        return;
    holds_of_report(advises_on(rule, "yes", "opencl:0"));
    holds_of_report(!advises_on(rule, "no", "opencl:0"));
}

#define COMPILED(test, rule)                                                                                           \
    static void test(void **state)                                                                                     \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        is_told_from_a_near_miss(rule);                                                                                \
    }
COMPILED(copies_for_each_launch_are_named, "transfers in a loop")
COMPILED(more_streams_than_workers_serve_are_named, "oversubscription")
COMPILED(a_heap_in_pieces_is_named, "fragmented heap")
COMPILED(messages_that_grow_old_in_a_mailbox_are_named, "queue too large")
COMPILED(kernels_that_follow_each_other_are_named, "kernels that could be one")

// The figure is of the access or branch that the checker found, not of its line, where others may be fine.
static void is_told_with_the_figure_that_decided(const char *rule, const char *measure)
{
    char wanted[160];
    double decided, limit;
    is_told_from_a_near_miss(rule);
    holds_of_report(advises_on(rule, "yes", "cpu"));
    snprintf(wanted, sizeof wanted, "\"rule\": \"%s\"", rule);
    const char *finding = strstr(output, wanted);
    snprintf(wanted, sizeof wanted, "\"measure\": \"%s\"", measure);
    const char *at = strstr(finding, wanted);
    holds_of_report(at && sscanf(strstr(at, "\"figure\": "), "\"figure\": %lf", &decided) == 1 &&
                    sscanf(strstr(at, "\"limit\": "), "\"limit\": %lf", &limit) == 1 && decided >= limit);
}

static void accesses_apart_from_each_other_are_named(void **state)
{
    (void)state;
    is_told_with_the_figure_that_decided("strided access", "sectors moved / sectors that suffice");
}

static void columns_of_shared_memory_are_named(void **state)
{
    (void)state;
    is_told_with_the_figure_that_decided("bank conflicts", "passes over the banks / passes that suffice");
}

static void neighbours_that_branch_apart_are_named(void **state)
{
    (void)state;
    is_told_with_the_figure_that_decided("divergence", "threads that wait / active threads, at the branch");
}

// Which of the two is true is the depth's to say.
static void a_full_mailbox_is_too_small_or_too_large_and_not_both(void **state)
{
    (void)state;
    advises("full mailbox", "yes");
    holds_of_report(strstr(output, "\"queue too large\"") && !strstr(output, "\"queue too small\""));
    advises("full mailbox", "no");
    holds_of_report(strstr(output, "\"queue too small\"") && !strstr(output, "\"queue too large\""));
}

static uint64_t figure(const char *name)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\": ", name);
    const char *at = strstr(output, wanted);
    assert_non_null(at);
    return strtoull(at + strlen(wanted), NULL, 10);
}

// How long a device is idle, how long copies take, or whether more work is there than it has workers, also depends on
// what else the machine does. So the advice is compared with the report's figures.
static bool idles(const char *how, const char *device)
{
    bool advised = advises_on("device idle", how, device);
    holds_of_report(advised ==
                    (2 * figure("busy_ns") < figure("span_ns") - figure("compiling_ns") - figure("loading_ns")));
    return advised;
}

static bool moves(const char *how)
{
    bool advised = advises("transfer-bound", how);
    holds_of_report(advised == (figure("transfers_ns") >= figure("kernels_ns")));
    return advised;
}

static bool contends(const char *how, const char *device)
{
    bool advised = advises_on("contention", how, device);
    holds_of_report(advised == (4 * figure("contended_ns") >= figure("span_ns")));
    return figure("contended_ns") != 0;
}

static void a_device_that_waits_for_the_host_is_named(void **state)
{
    (void)state;
    holds_of_report(idles("yes", "cpu"));
    idles("no", "cpu");
    if (!has_opencl())
        return;
    holds_of_report(idles("yes", "opencl:0"));
    idles("no", "opencl:0");
}

static void copies_that_outweigh_kernels_are_named(void **state)
{
    (void)state;
    holds_of_report(moves("yes"));
    moves("no");
}

static void more_kernels_at_once_than_workers_are_named(void **state)
{
    (void)state;
    holds_of_report(contends("yes", "cpu"));
    holds_of_report(!contends("no", "cpu"));
    if (!has_opencl())
        return;
    // PoCL runs a kernel after the other, so its work overlaps only where little else runs between them.
    contends("yes", "opencl:0");
    holds_of_report(!contends("no", "opencl:0"));
}

// OpenCL does not say how many groups a unit holds.
static void blocks_that_leave_lanes_empty_are_named(void **state)
{
    (void)state;
    holds_of_report(advises_on("low occupancy", "yes", "cpu"));
    holds_of_report(strstr(output, "with blocks of 4 threads its occupancy is"));
    holds_of_report(!advises_on("low occupancy", "no", "cpu"));
}

static void a_run_that_compiles_is_named_and_the_next_is_not(void **state)
{
    (void)state;
    const char *before = getenv("SLIPRING_CACHE_DIR");
    char *kept = before ? strdup(before) : NULL;
    assert_int_equal(system("mkdir -m 700 fresh"), 0);
    assert_int_equal(setenv("SLIPRING_CACHE_DIR", "fresh", 1), 0);
    holds_of_report(advises_on("compiling", "yes", "cpu"));
    holds_of_report(!advises_on("compiling", "no", "cpu")); // from the cache
    if (kept)
        setenv("SLIPRING_CACHE_DIR", kept, 1);
    free(kept);
}

#define RULE(test, rule)                                                                                               \
    static void test(void **state)                                                                                     \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        holds_of_report(advises(rule, "yes"));                                                                         \
        holds_of_report(!advises(rule, "no"));                                                                         \
    }
RULE(launches_that_do_little_are_named, "launch-bound")
RULE(fewer_blocks_than_workers_are_named, "low utilisation")
RULE(a_mailbox_that_is_full_is_named, "queue too small")
RULE(a_wait_for_each_launch_is_named, "synchronisation stalls")
RULE(memory_taken_for_each_launch_is_named, "allocation in a loop")

RULE(one_place_that_launches_again_and_again_is_named, "tight launch loop")
RULE(half_gradients_that_nobody_scales_are_named, "missing loss scaling")

// Only a device with a copy engine tells pageable memory from page-locked one. The driver is simulated.
static void copies_of_pageable_memory_are_named(void **state)
{
    (void)state;
    char library[512];
    snprintf(library, sizeof library, "%s/lib/libslipring_fake_cuda.so", getenv("SLIPRING_BINARY_DIR"));
    setenv("SLIPRING_CUDA_LIB", library, 1);
    setenv("SLIPRING_NVRTC_LIB", library, 1);
    holds_of_report(advises_on("unpinned transfers", "yes", "cuda:0"));
    holds_of_report(strstr(output, "\"figure\": 1.0,"));
    holds_of_report(!advises_on("unpinned transfers", "no", "cuda:0"));
    unsetenv("SLIPRING_CUDA_LIB");
    unsetenv("SLIPRING_NVRTC_LIB");
    holds_of_report(!advises_on("unpinned transfers", "yes", "cpu"));
}

static double real_figure(const char *kind)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"kind\": \"%s\"", kind);
    const char *row = strstr(output, wanted), *at = row ? strstr(row, "\"min_ns\": ") : NULL;
    return at ? strtod(at + strlen("\"min_ns\": "), NULL) : 0;
}

// How fast OpenBLAS is here is the machine's, so the advice is compared with the report's figures.
static void an_algorithm_that_deterministic_mode_keeps_out_is_named(void **state)
{
    (void)state;
    bool advised = advises_on("deterministic mode without reason", "yes", "cpu");
    double chosen = real_figure("algorithm"), kept_out = real_figure("kept out");
    holds_of_report(chosen > 0);
    holds_of_report(advised == (kept_out > 0 && chosen > 1.2 * kept_out));
    holds_of_report(!advises_on("deterministic mode without reason", "no", "cpu"));
    holds_of_report(real_figure("kept out") == 0);
}

// Each line of the program with what its calls did. The near miss calls from other lines.
static void the_programs_own_lines_are_reported_with_what_they_moved(void **state)
{
    (void)state;
    holds_of_report(advises_on("transfers in a loop", "yes", "cpu?unified=0"));
    const char *lines = strstr(output, "\"host_lines\"");
    assert_non_null(lines);
    assert_non_null(strstr(lines, "\"launches\": 60"));
    assert_non_null(strstr(lines, "\"copied_bytes\": 245760")); // 60 of 4,096
    assert_non_null(strstr(lines, "\"allocated_bytes\": 4194304"));
    assert_non_null(strstr(lines, "bottlenecks.c"));
    holds_of_report(!advises_on("transfers in a loop", "no", "cpu?unified=0"));
    lines = strstr(output, "\"host_lines\"");
    assert_non_null(strstr(lines, "\"launches\": 60"));
    assert_null(strstr(lines, "\"copied_bytes\": 245760"));
}

static void the_report_can_be_of_the_device_or_the_memory_alone(void **state)
{
    (void)state;
    static const char program[] = "-- \"$SLIPRING_BINARY_DIR\"/tests/bottlenecks 'launch-bound' no";
    char arguments[256];
    snprintf(arguments, sizeof arguments, "--gpu %s", program);
    ends(arguments, 0);
    holds_of_report(strstr(output, "reached  counted"));
    assert_null(strstr(output, "memory buffers"));
    snprintf(arguments, sizeof arguments, "--memory %s", program);
    ends(arguments, 0);
    assert_null(strstr(output, "reached  counted"));
    holds_of_report(strstr(output, "memory buffers"));
    snprintf(arguments, sizeof arguments, "--gpu --memory --json --html both.html %s", program);
    ends(arguments, 0);
    static const char *const keys[] = {"gpu_utilization", "memory_usage", "kernel_execution", "data_transfer"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "\n  \"%s\": ", keys[i]);
        holds_of_report(strstr(output, wanted));
    }
    assert_int_equal(system("grep -q '\"host_lines\"' both.html"), 0);
}

static void the_report_goes_to_a_file_apart_from_the_programs_output(void **state)
{
    (void)state;
    static const char program[] = "-- sh -c 'echo hello; \"$SLIPRING_BINARY_DIR\"/tests/bottlenecks launch-bound no'";
    char arguments[256];
    snprintf(arguments, sizeof arguments, "--json --output report.json %s", program);
    ends(arguments, 0);
    assert_string_equal(output, "hello\n");
    assert_int_equal(system("head -c 1 report.json | grep -q '{' && tail -n 1 report.json | grep -qx '}'"), 0);
    snprintf(arguments, sizeof arguments, "--output report.txt %s", program);
    ends(arguments, 0);
    assert_string_equal(output, "hello\n");
    assert_int_equal(system("grep -q 'reached  counted' report.txt"), 0);
    snprintf(arguments, sizeof arguments, "--output /dev/full %s", program);
    ends(arguments, 1);
    snprintf(arguments, sizeof arguments, "--output none/report.txt %s", program);
    ends(arguments, 1); // before the program runs
    assert_string_equal(output, "");
}

// Machine code from the cache is not compiled.
static void loading_is_no_compiling(void **state)
{
    (void)state;
    static const char program[] = "-- \"$SLIPRING_BINARY_DIR\"/tests/bottlenecks 'launch-bound' no cpu";
    ends(program, 0);
    ends(program, 0); // it is in the cache now
    holds_of_report(strstr(output, ", compiling 0.0 ms, loading compiled code "));
}

static void rows_of_two_devices_say_which(void **state)
{
    (void)state;
    ends("-- \"$SLIPRING_BINARY_DIR\"/tests/bottlenecks 'two devices' yes cpu", 0);
    holds_of_report(strstr(output, " ms on cpu?engine=interpreted and cpu; at least one device busy ") ||
                    strstr(output, " ms on cpu and cpu?engine=interpreted; at least one device busy "));
    static const char *const rows[] = {"\nkernel                   device                 ",
                                       "\nwork                     cpu ",
                                       "\nwork                     cpu?engine=interpreted "};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        holds_of_report(strstr(output, rows[i]));
    const char *lines = strstr(output, "hottest lines of work ");
    holds_of_report(lines && !strstr(lines + 1, "hottest lines of work "));
    ends("-- \"$SLIPRING_BINARY_DIR\"/tests/bottlenecks 'launch-bound' no cpu", 0);
    holds_of_report(strstr(output, " ms on cpu; device busy "));
    holds_of_report(!strstr(output, "\nkernel                   device "));
}

static void figures_of_advice_have_no_exponents(void **state)
{
    (void)state;
    ends("-- \"$SLIPRING_BINARY_DIR\"/tests/bottlenecks 'tight launch loop' yes", 0);
    holds_of_report(strstr(output, "\n    launches at one place: 1200 (limit 500)\n"));
}

static void the_report_has_the_kernel_its_lines_and_its_bound(void **state)
{
    (void)state;
    ends("--html page.html --trace kept.json -- \"$SLIPRING_BINARY_DIR\"/tests/bottlenecks 'launch-bound' no", 0);
    holds_of_report(strstr(output, "hottest lines of work (work.cu)"));
    holds_of_report(strstr(output, "exact"));
    holds_of_report(strstr(output, "peak here: "));
    assert_null(strstr(output, "  launch-bound. "));
    assert_int_equal(system("grep -q '\"name\":\"work\"' page.html && grep -q '\"name\":\"work\"' kept.json"), 0);
}

// The kernel's first line by time; 0 where the system lets nobody ask where threads are, which is then said.
static unsigned hottest_line(unsigned first, unsigned second)
{
    char arguments[512];
    unsigned line = 0;
    snprintf(arguments, sizeof arguments,
             "--json -- \"$SLIPRING_TOOL\" kernel run hot.cu hot --grid 256 --block 256 --arg first=%u --arg second=%u "
             "--device cpu --arg 'out=unsigned[65536]:zero'",
             first, second);
    ends(arguments, 0); // compiles
    ends(arguments, 0);
    const char *timed = strstr(output, "\"timed_lines\"");
    assert_non_null(timed);
    if (strstr(timed, "\"why_not\": \"the system allows no perf events: ") != NULL)
        return 0;
    const char *kernel = strstr(timed, "\"file\": \"hot.cu\""); // the host's own lines may come before
    assert_non_null(kernel);
    assert_int_equal(sscanf(strstr(kernel, "\"line\": "), "\"line\": %u", &line), 1);
    return line;
}

// Both loops have as many operations in the source; an argument says which of them is long.
static void the_line_that_takes_the_time_is_named_whichever_it_is(void **state)
{
    (void)state;
    FILE *file = fopen("hot.cu", "w");
    assert_non_null(file);
    fputs("__global__ void hot(unsigned *out, int first, int second)\n{\n"
          "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    unsigned a = i;\n"
          "    for (int k = 0; k < first; k++)\n        a = a * 1664525u + 1013904223u;\n"
          "    for (int k = 0; k < second; k++)\n        a = a * 22695477u + 1u;\n    out[i] = a;\n}\n",
          file);
    fclose(file);
    unsigned first = hottest_line(100000, 3), second = hottest_line(3, 100000);
    if (first == 0)
        return;
    assert_in_range(first, 5, 6);
    assert_in_range(second, 7, 8);
}

static void ceilings_that_a_kernel_exceeds_are_measured_again(void **state)
{
    (void)state;
    static const char run[] = "-- \"$SLIPRING_BINARY_DIR\"/tests/bottlenecks 'launch-bound' no";
    const char *before = getenv("SLIPRING_CACHE_DIR");
    char *kept = before ? strdup(before) : NULL;
    assert_int_equal(system("mkdir -m 700 cache"), 0);
    assert_int_equal(setenv("SLIPRING_CACHE_DIR", "cache", 1), 0);
    ends(run, 0);
    // As on a machine that was busy with something else while it measured.
    assert_int_equal(system("for f in cache/ceilings-*.txt; do printf 'slipring ceilings 1\nbytes_per_s 1\nflops_per_s "
                            "2\nflops64_per_s 3\nlaunch_ns 4\n' > $f; done"),
                     0);
    ends(run, 0);
    assert_int_equal(system("grep -qx 'flops_per_s 2' cache/ceilings-*.txt"), 1 << 8);
    if (kept)
        setenv("SLIPRING_CACHE_DIR", kept, 1);
    free(kept);
}

static void the_programs_exit_code_is_reported_and_what_cannot_be_run_is_refused(void **state)
{
    (void)state;
    ends("-- sh -c '\"$SLIPRING_BINARY_DIR\"/tests/bottlenecks; exit 3'", 0);
    holds_of_report(strstr(output, "exit code 3"));
    ends("-- true", 1); // opens no device
    ends("-- ./no-such-program", 1);
    ends("--html /dev/full -- \"$SLIPRING_BINARY_DIR\"/tests/bottlenecks 'launch-bound' no", 1); // the disk is full
    ends("--html", 2);
    ends("", 2);
}

int main(void)
{
    if (shell_begin() != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_that_outweigh_kernels_are_named),
        cmocka_unit_test(launches_that_do_little_are_named),
        cmocka_unit_test(fewer_blocks_than_workers_are_named),
        cmocka_unit_test(a_mailbox_that_is_full_is_named),
        cmocka_unit_test(a_wait_for_each_launch_is_named),
        cmocka_unit_test(memory_taken_for_each_launch_is_named),
        cmocka_unit_test(copies_for_each_launch_are_named),
        cmocka_unit_test(more_kernels_at_once_than_workers_are_named),
        cmocka_unit_test(more_streams_than_workers_serve_are_named),
        cmocka_unit_test(a_device_that_waits_for_the_host_is_named),
        cmocka_unit_test(a_heap_in_pieces_is_named),
        cmocka_unit_test(messages_that_grow_old_in_a_mailbox_are_named),
        cmocka_unit_test(a_full_mailbox_is_too_small_or_too_large_and_not_both),
        cmocka_unit_test(kernels_that_follow_each_other_are_named),
        cmocka_unit_test(accesses_apart_from_each_other_are_named),
        cmocka_unit_test(columns_of_shared_memory_are_named),
        cmocka_unit_test(neighbours_that_branch_apart_are_named),
        cmocka_unit_test(blocks_that_leave_lanes_empty_are_named),
        cmocka_unit_test(a_run_that_compiles_is_named_and_the_next_is_not),
        cmocka_unit_test(one_place_that_launches_again_and_again_is_named),
        cmocka_unit_test(half_gradients_that_nobody_scales_are_named),
        cmocka_unit_test(copies_of_pageable_memory_are_named),
        cmocka_unit_test(an_algorithm_that_deterministic_mode_keeps_out_is_named),
        cmocka_unit_test(the_programs_own_lines_are_reported_with_what_they_moved),
        cmocka_unit_test(the_report_can_be_of_the_device_or_the_memory_alone),
        cmocka_unit_test(the_report_goes_to_a_file_apart_from_the_programs_output),
        cmocka_unit_test(loading_is_no_compiling),
        cmocka_unit_test(rows_of_two_devices_say_which),
        cmocka_unit_test(figures_of_advice_have_no_exponents),
        cmocka_unit_test(the_report_has_the_kernel_its_lines_and_its_bound),
        cmocka_unit_test(the_line_that_takes_the_time_is_named_whichever_it_is),
        cmocka_unit_test(ceilings_that_a_kernel_exceeds_are_measured_again),
        cmocka_unit_test(the_programs_exit_code_is_reported_and_what_cannot_be_run_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, shell_end);
}
