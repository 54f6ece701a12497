// SPDX-License-Identifier: Apache-2.0
// The verbs that only look: `slipring --help`, `doctor`, `devices`. SLIPRING_TOOL names the built program.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

// The program with these arguments ends with that code, and what it prints holds `part`.
static void says(const char *arguments, int code, const char *part)
{
    static char out[1 << 16];
    char line[4096];
    snprintf(line, sizeof line, "\"$SLIPRING_TOOL\" %s", arguments);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    out[fread(out, 1, sizeof out - 1, pipe)] = '\0';
    int status = pclose(pipe);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code || strstr(out, part) == NULL)
        fail_msg("slipring %s: status %#x, wanted exit code %d; printed:\n%s\nwanted in it:\n%s", arguments,
                 (unsigned)status, code, out, part);
}

static void help_names_the_verbs_and_the_exit_codes(void **state)
{
    (void)state;
    says("--help", 0, "run        stream records (CSV, NDJSON, raw) through a message handler");
    says("--help", 0, "  130  interrupted");
    says("doctor --help", 0, "Usage: slipring doctor");
    says("devices --help", 0, "Usage: slipring devices");
    says("--version", 0, "slipring ");
}

static void what_does_not_exist_is_a_usage_error(void **state)
{
    (void)state;
    says("2>&1", 2, "a verb is missing");
    says("dance 2>&1", 2, "no verb 'dance'");
    says("doctor --loud 2>&1", 2, "no option '--loud'");
    says("devices cpu 2>&1", 2, "not 'cpu'");
}

static void doctor_says_what_was_tried_and_that_the_cpu_runs_handlers(void **state)
{
    (void)state;
    says("doctor", 0, "\ncpu      opens: ");
    says("doctor", 0, "\nnull     opens: ");
    setenv("SLIPRING_OPENCL_LIB", "/nowhere.so", 1);
    says("doctor", 0, "\nopencl   cannot run here: cannot load /nowhere.so");
    unsetenv("SLIPRING_OPENCL_LIB");
    setenv("SLIPRING_CUDA_LIB", "/nowhere.so", 1);
    says("doctor", 0, "\ncuda     cannot run here: cannot load /nowhere.so");
    setenv("SLIPRING_CUDA_LIB", getenv("SLIPRING_FAKE_CUDA"), 1);
    says("doctor", 0, "\ncuda:1   opens: Fake GPU 1, compute capability 9.0, driver for CUDA 13.0");
    says("doctor", 0, "\n         handlers  compiled by NVRTC, ");
    says("devices --json", 0, "\"l2_bytes\": \"52428800\"");
    setenv("SLIPRING_NVML_LIB", "/nowhere.so", 1);
    says("devices", 0, "\n         now       not measured: cannot load /nowhere.so");
    says("devices --json", 0, "\"no_metrics\": \"cannot load /nowhere.so");
    setenv("SLIPRING_NVML_LIB", getenv("SLIPRING_FAKE_NVML"), 1);
    says("devices", 0, "\n         now       busy_percent=37 memory_busy_percent=0 memory_used_bytes=268435456 ");
    says("doctor", 0,
         "\n         now       memory_used_bytes=268435456 memory_bytes=1073741824 temperature_c=41 clock");
    says("devices --json", 0, "\"memory_busy_percent\": 0,");
    setenv("FAKE_NVML_OTHERS", "2", 1);
    says("doctor", 0, "\n         rings     are relaunched: 2 other processes take turns on the GPU\n");
    says("doctor --json", 0, "\"relaunch_reason\": \"2 other processes take turns on the GPU\"");
    unsetenv("FAKE_NVML_OTHERS");
    unsetenv("SLIPRING_NVML_LIB");
    unsetenv("SLIPRING_CUDA_LIB");
    says("doctor", 0, "         cache     ");
    says("doctor --json", 0, "\"runs_handlers\": true");
    says("doctor --json", 0, "\"backend\": \"cpu\"");
}

static void devices_are_listed_by_the_name_that_opens_them(void **state)
{
    (void)state;
    says("devices", 0, "cpu      opens: ");
    says("devices --json", 0, "\"name\": \"cpu\"");
    says("devices --json", 0, "\"features\": {");
    says("devices --json", 0, "\"unified_memory\": true");
}

static void what_cannot_be_written_is_a_failure(void **state)
{
    (void)state;
    says("doctor 2>&1 >/dev/full", 1, "slipring doctor: cannot write standard output: No space left on device");
    says("--help 2>&1 >/dev/full", 1, "cannot write standard output");
    says("devices --json 2>&1 >&-", 1, "cannot write standard output: Bad file descriptor");
    says("dance 2>&1 >/dev/full", 2, "no verb 'dance'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_names_the_verbs_and_the_exit_codes),
        cmocka_unit_test(what_does_not_exist_is_a_usage_error),
        cmocka_unit_test(doctor_says_what_was_tried_and_that_the_cpu_runs_handlers),
        cmocka_unit_test(devices_are_listed_by_the_name_that_opens_them),
        cmocka_unit_test(what_cannot_be_written_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
