// SPDX-License-Identifier: Apache-2.0
// The verbs that only look: `slipring --help`, `doctor`, `devices`. SLIPRING_TOOL names the built program.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const libraries[] = {"SLIPRING_CUDA_LIB",   "SLIPRING_HIP_LIB",    "SLIPRING_METAL_LIB",
                                        "SLIPRING_OPENCL_LIB", "SLIPRING_VULKAN_LIB", "SLIPRING_WEBGPU_LIB"};

// Without it the driver of a device is not there. To start those of this machine takes seconds under a sanitizer, so
// one test does that, and no other has any but those that it names.
static int hide_drivers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; ++i)
        setenv(libraries[i], "/nowhere.so", 1);
    return 0;
}

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
    says("--help", 0, "run        send records (CSV, NDJSON, raw) through a message handler");
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

static void what_was_meant_is_guessed(void **state)
{
    (void)state;
    says("rnu 2>&1", 2,
         "no verb 'rnu'; there are: doctor, devices, run, kernel, build, cache, cluster, decide, demo, ops, profile, "
         "serve, state, trace, tune, bench; did you mean 'run'?");
    says("xyz 2>&1", 2, "no verb 'xyz'; there are: doctor, devices, run,");
    says("kernel lsit 2>&1", 2,
         "no verb 'lsit'; there are: check, list, emit, explain, fuse, suggest, tile, time, run; did you mean 'list'?");
    says("cache cleer 2>&1", 2, "; did you mean 'clear'?");
    says("bench latecny 2>&1", 2, "; did you mean 'latency'?");
    says("demo wrad 2>&1", 2, "no demo 'wrad'; there are: ward, beats");
    says("help rnu 2>&1", 2, "no verb 'rnu'");
}

static void help_and_version_are_verbs_too(void **state)
{
    (void)state;
    says("help", 0, "Usage: slipring VERB");
    says("help run", 0, "Usage: slipring run FILE.cu");
    says("help kernel emit", 0, "Usage: slipring kernel emit");
    says("help exit-codes", 0, "    3  the device is missing or cannot run this\n");
    says("version", 0, "slipring ");
}

static void an_argument_that_nobody_reads_is_refused(void **state)
{
    (void)state;
    says("version --json 2>&1", 2, "version takes no arguments, such as '--json'");
    says("--version extra 2>&1", 2, "--version takes no arguments, such as 'extra'");
    says("version --help", 0, "Usage: slipring version");
    says("help version", 0, "Usage: slipring version");
    says("help run extra 2>&1", 2, "help: unexpected argument 'extra'");
    says("help kernel list extra 2>&1", 2, "help: unexpected argument 'extra'");
    says("help exit-codes extra 2>&1", 2, "help: unexpected argument 'extra'");
    says("help kernel list", 0, "Usage: slipring kernel list");
}

static void doctor_and_devices_look_at_the_drivers_of_this_machine(void **state)
{
    (void)state;
    says("doctor", 0, "\ncpu      opens: ");
    says("doctor --json", 0, "\"runs_handlers\": true");
    says("devices", 0, "cpu      opens: ");
}

static void doctor_says_what_was_tried_and_that_the_cpu_runs_handlers(void **state)
{
    (void)state;
    says("doctor", 0, "\nnull     opens: ");
    setenv("SLIPRING_OPENBLAS_LIB", "/nowhere.so", 1);
    says("doctor", 0, "\nopenblas not used by operations: cannot load /nowhere.so");
    unsetenv("SLIPRING_OPENBLAS_LIB");
    setenv("SLIPRING_ONEDNN_LIB", "/nowhere.so", 1);
    says("doctor", 0, "\nonednn   not used by operations: cannot load /nowhere.so");
    setenv("SLIPRING_ONEDNN_LIB", getenv("SLIPRING_FAKE_CUDA"), 1);
    says("doctor", 0, "is not usable as oneDNN of version 2: it lacks dnnl_engine_create");
    unsetenv("SLIPRING_ONEDNN_LIB");
    setenv("SLIPRING_CUBLASLT_LIB", "/nowhere.so", 1), setenv("SLIPRING_CUDNN_LIB", "libm.so.6", 1);
    says("doctor", 0, "\ncublaslt not used by operations: cannot load /nowhere.so");
    says("doctor", 0,
         "\ncudnn    not used by operations: libm.so.6 is not usable as cuDNN of version 9: it lacks cudnn");
    setenv("SLIPRING_CUBLASLT_LIB", getenv("SLIPRING_FAKE_CUDA"), 1);
    says("doctor", 0, "\ncublaslt for operations: ");
    unsetenv("SLIPRING_CUBLASLT_LIB"), unsetenv("SLIPRING_CUDNN_LIB");
    says("doctor", 0, "\nopencl   cannot run here: cannot load /nowhere.so");
    says("doctor", 0, "\nwebgpu   cannot run here: cannot load /nowhere.so");
    says("doctor", 0, "(SLIPRING_WEBGPU_LIB names it)\n");
    says("doctor", 0, "\nmetal    cannot run here: cannot load /nowhere.so");
    setenv("SLIPRING_METAL_LIB", getenv("SLIPRING_FAKE_METAL"), 1);
    says("doctor", 0, "\nmetal:0  opens: Simulated Metal device");
    says("doctor", 0, "\n         note      compiled and simulated, not run on a device");
    setenv("SLIPRING_METAL_LIB", "/nowhere.so", 1);
    says("doctor", 0, "\nhip      cannot run here: cannot load /nowhere.so");
    says("doctor", 0, "(SLIPRING_HIP_LIB names it)\n");
    setenv("SLIPRING_HIP_LIB", getenv("SLIPRING_FAKE_CUDA"), 1);
    setenv("SLIPRING_HIPRTC_LIB", getenv("SLIPRING_FAKE_CUDA"), 1);
    setenv("SLIPRING_ROCM_SMI_LIB", "/nowhere.so", 1);
    says("doctor", 0, "\n         now       not measured: cannot load /nowhere.so");
    setenv("SLIPRING_ROCM_SMI_LIB", getenv("SLIPRING_FAKE_ROCM_SMI"), 1);
    says("devices", 0, "\n         now       busy_percent=63 memory_busy_percent=0 memory_used_bytes=1073741824 ");
    unsetenv("SLIPRING_ROCM_SMI_LIB");
    unsetenv("SLIPRING_HIPRTC_LIB");
    setenv("SLIPRING_HIP_LIB", "/nowhere.so", 1);
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
    says("doctor", 0, "\n         rings     batched launches: 2 other processes share the GPU\n");
    says("doctor --json", 0, "\"relaunch_reason\": \"2 other processes share the GPU\"");
    unsetenv("FAKE_NVML_OTHERS");
    unsetenv("SLIPRING_NVML_LIB");
    setenv("SLIPRING_CUDA_LIB", "/nowhere.so", 1);
    says("doctor", 0, "         cache     ");
    says("doctor --json", 0, "\"runs_handlers\": true");
    says("doctor --json", 0, "\"backend\": \"cpu\"");
}

// A driver whose start ends the process, made here.
static void doctor_survives_a_driver_that_crashes(void **state)
{
    (void)state;
    char folder[] = "/tmp/slipring-doctor-XXXXXX", line[512], library[64];
    assert_non_null(mkdtemp(folder));
    snprintf(library, sizeof library, "%s/crash.so", folder);
    snprintf(line, sizeof line,
             "echo 'void abort(void); __attribute__((constructor)) void start(void) { abort(); }' | "
             "cc -shared -fPIC -x c - -o %s",
             library);
    assert_int_equal(system(line), 0);
    setenv("SLIPRING_OPENCL_LIB", library, 1);
    says("doctor", 0, "\nopencl   cannot run here: its driver ended the process: Aborted (signal 6)\n");
    says("doctor", 0, "\nnull     opens: ");
    says("doctor --json", 0, "\"reason\": \"its driver ended the process: Aborted (signal 6)\"");
    assert_int_equal(remove(library), 0);
    assert_int_equal(rmdir(folder), 0);
}

// A compiler that answers --version as one does, and fails at all else.
static void doctor_says_why_kernels_are_interpreted(void **state)
{
    (void)state;
    static const char *const failing[] = {"exit 1", "kill -SEGV $$", "exit 0"};
    setenv("SLIPRING_CC", "/nowhere/cc", 1);
    says("doctor 2>/dev/null", 0,
         "\n         because   SLIPRING_CC names /nowhere/cc, which is not a program on this machine\n");
    says("doctor --json 2>/dev/null", 0,
         "\"engine_reason\": \"SLIPRING_CC names /nowhere/cc, which is not a program on this machine\"");
    says("doctor 2>&1 >/dev/null", 0,
         "slipring: kernels are interpreted, which is many times slower: SLIPRING_CC names /nowhere/cc");
    for (size_t i = 0; i < sizeof failing / sizeof *failing; i++) {
        char path[] = "/tmp/slipring-doctor-XXXXXX";
        int made = mkstemp(path);
        assert_true(made >= 0);
        dprintf(made, "#!/bin/sh\n[ \"$1\" = --version ] && { echo fake 1.0; exit 0; }\n%s\n", failing[i]);
        fchmod(made, 0755);
        close(made);
        setenv("SLIPRING_CC", path, 1);
        says("doctor 2>/dev/null", 0,
             "\n         because   the C compiler does not work (set SLIPRING_CC to use another): "
             "/tmp/slipring-doctor-");
        unlink(path);
    }
    unsetenv("SLIPRING_CC");
    says("doctor 2>&1", 0, "\n         handlers  compiled by ");
}

static void devices_are_listed_by_the_name_that_opens_them(void **state)
{
    (void)state;
    says("devices", 0, "cpu      opens: ");
    says("devices --json", 0, "\"name\": \"cpu\"");
    says("devices --json", 0, "\"class\": \"cpu\"");
    says("devices --json", 0, "\"class\": \"nothing\""); // null
    says("devices", 0, "         class     cpu");
    says("devices --json", 0, "\"features\": {");
    says("devices --json", 0, "\"priorities\": true"); // cpu
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
        cmocka_unit_test(what_was_meant_is_guessed),
        cmocka_unit_test(help_and_version_are_verbs_too),
        cmocka_unit_test(an_argument_that_nobody_reads_is_refused),
        cmocka_unit_test(doctor_and_devices_look_at_the_drivers_of_this_machine),
        cmocka_unit_test_setup(doctor_says_what_was_tried_and_that_the_cpu_runs_handlers, hide_drivers),
        cmocka_unit_test_setup(doctor_survives_a_driver_that_crashes, hide_drivers),
        cmocka_unit_test_setup(doctor_says_why_kernels_are_interpreted, hide_drivers),
        cmocka_unit_test_setup(devices_are_listed_by_the_name_that_opens_them, hide_drivers),
        cmocka_unit_test_setup(what_cannot_be_written_is_a_failure, hide_drivers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
