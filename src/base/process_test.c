// SPDX-License-Identifier: Apache-2.0
// Running programs; all through /bin/sh.
#define _GNU_SOURCE
#include "base/process.h"

#include "base/clock.h"
#include "base/environment.h"
#include "base/thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static slr_status shell(const char *script, uint64_t timeout_ns, size_t limit, slri_process_result *out)
{
    const char *const argv[] = {"sh", "-c", script, "zero", "an argument; with $HOME", NULL};
    return slri_process_run(argv, slri_deadline_after(timeout_ns), NULL, limit, out);
}

#define MINUTE_NS 60000000000u

static void output_of_both_streams_and_the_exit_code_come_back(void **state)
{
    (void)state;
    slri_process_result result;
    assert_int_equal(shell("echo out; echo err >&2; echo \"$1\"; exit 3", MINUTE_NS, 4096, &result), SLR_OK);
    assert_int_equal(result.exit_code, 3);
    assert_string_equal(result.output, "out\nerr\nan argument; with $HOME\n");
    assert_int_equal(result.output_bytes, strlen(result.output));
    assert_false(result.truncated);
    free(result.output);
}

static void stdin_is_empty(void **state)
{
    (void)state;
    slri_process_result result;
    assert_int_equal(shell("cat; echo read", MINUTE_NS, 4096, &result), SLR_OK);
    assert_string_equal(result.output, "read\n");
    free(result.output);
}

static void program_inherits_no_descriptor_of_ours(void **state)
{
    (void)state;
    const char *const count = "ls /proc/self/fd | wc -l";
    char expected[16] = ""; // not 4 where whoever started us left descriptors open
    FILE *counting = popen(count, "r");
    assert_non_null(fgets(expected, sizeof expected, counting));
    pclose(counting);
    slri_process_result result;
    assert_int_equal(shell(count, MINUTE_NS, 4096, &result), SLR_OK);
    assert_string_equal(result.output, expected);
    free(result.output);
}

static void long_output_is_cut_and_the_program_still_ends(void **state)
{
    (void)state;
    slri_process_result result;
    assert_int_equal(shell("yes 0123456789 | head -n 100000; exit 5", MINUTE_NS, 100, &result), SLR_OK);
    assert_int_equal(result.exit_code, 5);
    assert_int_equal(result.output_bytes, 100);
    assert_memory_equal(result.output, "0123456789\n0123456789\n", 22);
    assert_true(result.truncated);
    free(result.output);
}

static void signal_shows_as_a_shell_shows_it(void **state)
{
    (void)state;
    slri_process_result result;
    assert_int_equal(shell("kill -TERM $$", MINUTE_NS, 100, &result), SLR_OK);
    assert_int_equal(result.exit_code, 128 + SIGTERM);
    free(result.output);
}

// Runs `script`, which does not end by itself, past a deadline.
static void assert_killed_after(const char *script, uint64_t ns)
{
    slri_process_result result = {0};
    uint64_t before = slri_now_ns();
    assert_int_equal(shell(script, ns, 4096, &result), SLR_TIMEOUT);
    assert_true(slri_now_ns() - before >= ns);
    assert_non_null(strstr(slr_error_message(), "sh"));
    assert_null(result.output); // set only on success
}

static void assert_killed(const char *script)
{
    assert_killed_after(script, 200000000);
}

// Gone, or a zombie that waits for an init to reap it.
static bool has_ended(int process)
{
    char path[64], process_state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *stat = fopen(path, "r");
    if (!stat)
        return true;
    if (fscanf(stat, "%*d %*s %c", &process_state) != 1)
        process_state = 'Z';
    fclose(stat);
    return process_state == 'Z';
}

static void program_past_its_deadline_is_killed_with_its_children(void **state)
{
    (void)state;
    char path[] = "/tmp/slipring-process-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    char script[200];
    snprintf(script, sizeof script, "sleep 600 & echo $! > %s; wait", path);

    FILE *file = fdopen(fd, "r");
    int child = 0;
    for (uint64_t ns = 100000000; child == 0; rewind(file)) { // a shell may not have begun in time
        assert_true(ns < MINUTE_NS);
        assert_killed_after(script, ns *= 2);
        if (fscanf(file, "%d", &child) != 1)
            child = 0;
    }
    fclose(file);
    remove(path);
    uint64_t deadline = slri_deadline_after(MINUTE_NS);
    while (!has_ended(child) && !slri_passed(deadline))
        slri_sleep_ns(1000000);
    assert_true(has_ended(child));
}

static void program_that_writes_for_ever_or_closes_its_output_is_killed_too(void **state)
{
    (void)state;
    assert_killed("yes");
    assert_killed("exec >&- 2>&-; sleep 600");
}

static slr_status run_within(const char *script, uint64_t more_ns, uint64_t cpu_ns, int *exit_code)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    const slri_process_limit limit = {
        .deadline_ns = slri_deadline_after(20000000), .more_ns = more_ns, .cpu_ns = cpu_ns};
    slri_process_result result = {0};
    slr_status status = slri_process_run_within(argv, &limit, 100, &result);
    *exit_code = result.exit_code;
    free(result.output);
    return status;
}

// It computes for about a second, all but the first 20 ms of it behind its deadline.
static void program_that_works_is_given_more_time(void **state)
{
    (void)state;
    static const char computes[] = "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exit 7'";
    int exit_code;
    assert_int_equal(run_within(computes, 20 * MINUTE_NS, MINUTE_NS, &exit_code), SLR_OK);
    assert_int_equal(exit_code, 7);
    assert_int_equal(run_within(computes, 0, MINUTE_NS, &exit_code), SLR_TIMEOUT);
    assert_int_equal(run_within("while :; do :; done", 20 * MINUTE_NS, 100000000, &exit_code), SLR_TIMEOUT);
    assert_int_equal(run_within("sleep 1000", 20 * MINUTE_NS, MINUTE_NS, &exit_code), SLR_TIMEOUT);
    assert_int_equal(run_within("exec >&- 2>&-; sleep 1000", 20 * MINUTE_NS, MINUTE_NS, &exit_code), SLR_TIMEOUT);
}

static void missing_program_is_named(void **state)
{
    (void)state;
    slri_process_result result;
    const char *const argv[] = {"no-such-compiler", "-c", NULL};
    assert_int_equal(slri_process_run(argv, SLRI_FOREVER, NULL, 100, &result), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "no-such-compiler"));
}

static void programs_are_found_on_path_or_by_their_own(void **state)
{
    (void)state;
    char *path = NULL;
    assert_int_equal(slri_process_find("sh", &path), SLR_OK);
    assert_int_equal(path[0], '/');
    assert_string_equal(path + strlen(path) - 3, "/sh");
    free(path);
    assert_int_equal(slri_process_find("/bin/sh", &path), SLR_OK);
    assert_string_equal(path, "/bin/sh");
    free(path);
    path = NULL;
    assert_int_equal(slri_process_find("/etc/passwd", &path), SLR_NOT_FOUND); // cannot be executed
    assert_int_equal(slri_process_find("/bin", &path), SLR_NOT_FOUND);        // a folder
    assert_int_equal(slri_process_find("", &path), SLR_NOT_FOUND);
    assert_null(path);
}

static void path_is_searched_in_its_order(void **state)
{
    (void)state;
    char *before = strdup(getenv("PATH")), *path = NULL;
    setenv("PATH", "/no-such-folder:/bin:/usr/bin", 1);
    assert_int_equal(slri_process_find("sh", &path), SLR_OK);
    assert_string_equal(path, "/bin/sh");
    free(path);
    setenv("PATH", "/no-such-folder", 1);
    assert_int_equal(slri_process_find("sh", &path), SLR_NOT_FOUND);
    setenv("PATH", before, 1);
    free(before);
}

static void set(void *arg)
{
    slri_sleep_ns(50000000);
    __atomic_store_n((uint32_t *)arg, 1, __ATOMIC_RELAXED);
}

static void program_that_is_cancelled_is_killed(void **state)
{
    (void)state;
    static const char *const argv[] = {"sleep", "1000", NULL};
    slri_process_result result;
    slri_thread thread;
    uint32_t cancel = 0;
    assert_int_equal(slri_thread_start(&thread, "cancels", set, &cancel), SLR_OK);
    assert_int_equal(slri_process_run(argv, SLRI_FOREVER, &cancel, 100, &result), SLR_WRONG_STATE);
    slri_thread_join(&thread);
}

static void a_strangers_environment_reaches_no_program(void **state)
{
    (void)state;
    slri_process_result result;
    char *path = NULL, *was = strdup(getenv("PATH"));
    setenv("SLIPRING_TEST_VARIABLE", "theirs", 1);
    setenv("PATH", "/nowhere", 1);
    assert_int_equal(slri_process_find("sh", &path), SLR_NOT_FOUND);
    slri_environment_distrust(true);
    assert_int_equal(slri_process_find("sh", &path), SLR_OK);
    assert_int_equal(shell("echo \"$PATH $SLIPRING_TEST_VARIABLE\"", MINUTE_NS, 4096, &result), SLR_OK);
    slri_environment_distrust(false);
    setenv("PATH", was, 1);
    assert_string_equal(result.output, "/usr/bin:/bin \n");
    free(result.output);
    free(path);
    free(was);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_of_both_streams_and_the_exit_code_come_back),
        cmocka_unit_test(stdin_is_empty),
        cmocka_unit_test(program_inherits_no_descriptor_of_ours),
        cmocka_unit_test(long_output_is_cut_and_the_program_still_ends),
        cmocka_unit_test(signal_shows_as_a_shell_shows_it),
        cmocka_unit_test(program_past_its_deadline_is_killed_with_its_children),
        cmocka_unit_test(program_that_writes_for_ever_or_closes_its_output_is_killed_too),
        cmocka_unit_test(program_that_works_is_given_more_time),
        cmocka_unit_test(missing_program_is_named),
        cmocka_unit_test(programs_are_found_on_path_or_by_their_own),
        cmocka_unit_test(path_is_searched_in_its_order),
        cmocka_unit_test(program_that_is_cancelled_is_killed),
        cmocka_unit_test(a_strangers_environment_reaches_no_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
