// SPDX-License-Identifier: Apache-2.0
// --trace on a verb, `slipring trace print`, and what they refuse.
#include "tests/cli/shell.h"

#include <stdbool.h>

static int use(const char *arguments)
{
    char command[512];
    snprintf(command, sizeof command, "\"$SLIPRING_TOOL\" %s > out 2> err", arguments);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool said(const char *file, const char *text)
{
    static char content[65536];
    FILE *stream = fopen(file, "r");
    assert_non_null(stream);
    size_t bytes = fread(content, 1, sizeof content - 1, stream);
    content[bytes] = '\0';
    fclose(stream);
    if (strstr(content, text) != NULL)
        return true;
    fprintf(stderr, "%s does not say \"%s\": %s\n", file, text, content);
    return false;
}

static void each_verb_takes_a_trace(void **state)
{
    (void)state;
    write_file("add.cu", "__global__ void add(float *x) { x[threadIdx.x] += 1; }\n");
    assert_int_equal(use("kernel run add.cu add --grid 1 --block 32 --trace t.json --arg 'x=float[32]:zero'"), 0);
    assert_int_equal(use("trace print t.json"), 0);
    assert_true(said("out", "kernel     add"));
    assert_true(said("out", "0 events dropped"));
    assert_int_equal(use("devices --trace=u.json"), 0);
    assert_int_equal(use("trace print --json u.json"), 0);
    assert_true(said("out", "\"whole\": true"));
}

static void a_trace_that_was_cut_short_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    write_file("cut.json",
               "[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"slipring_trace\",\"args\":{\"version\":1}},\n"
               "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1.500,\"dur\":2.250,\"cat\":\"kernel\",\"name\":\"k\"},\n"
               "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":9.5,\"du");
    assert_int_equal(use("trace print cut.json"), 0);
    assert_true(said("out", "1 slices"));
    assert_true(said("out", "truncated"));
    assert_int_equal(use("trace print cut.json --json"), 0);
    assert_true(said("out", "\"total_ns\": 2250"));
}

// The writer has 64 rows for the spans of a ring kernel's messages, and says at the end how many found none.
static void spans_that_the_writer_left_out_are_counted(void **state)
{
    (void)state;
    write_file("left.json", "[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"slipring_trace\",\"args\":{\"version\":1}},\n"
                            "{\"ph\":\"M\",\"pid\":1,\"name\":\"slipring_trace_end\",\"args\":"
                            "{\"events\":7,\"dropped\":0,\"spans_left_out\":5}}\n]\n");
    assert_int_equal(use("trace print left.json"), 0);
    assert_true(said("out", "\n5 more spans of messages are not in the file"));
    assert_true(said("out", "latency_every"));
    assert_int_equal(use("trace print left.json --json"), 0);
    assert_true(said("out", "\"spans_left_out\": 5,"));
}

#define TRACK(tid, name)                                                                                               \
    "{\"ph\":\"M\",\"pid\":1,\"tid\":" tid ",\"name\":\"thread_name\",\"args\":{\"name\":\"" name "\"}},\n"
#define KERNEL(tid, dur)                                                                                               \
    "{\"ph\":\"X\",\"pid\":1,\"tid\":" tid ",\"ts\":1.000,\"dur\":" dur ",\"cat\":\"kernel\",\"name\":\"k\"},\n"

static void a_kernel_on_two_devices_has_two_rows(void **state)
{
    (void)state;
    write_file("two.json", "[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"slipring_trace\",\"args\":{\"version\":1}},\n" TRACK(
                               "8", "stream 1 (cpu)") TRACK("9", "stream 1 (opencl:0)") TRACK("7", "main (1)")
                               KERNEL("8", "2.000") KERNEL("9", "3.000") KERNEL("9", "4.000") KERNEL("7", "5.000"));
    assert_int_equal(use("trace print two.json"), 0);
    assert_int_equal(system("grep -qE '^kernel +k +1 +0.002 .* cpu$' out && grep -qE '^kernel +k +2 +0.007 .* "
                            "opencl:0$' out && grep -qE '^kernel +k +1 +0.005 .* 0 +$' out"),
                     0);
    assert_int_equal(use("trace print two.json --json"), 0);
    assert_true(said("out", "\"device\": \"opencl:0\""));
}

#define SPAN(phase, ts)                                                                                                \
    "{\"ph\":\"" phase "\",\"pid\":1,\"id\":256,\"ts\":" ts ",\"cat\":\"message\",\"name\":\"ring\"},\n"

static void spans_of_messages_have_their_own_shortest_and_longest(void **state)
{
    (void)state;
    write_file("spans.json",
               "[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"slipring_trace\",\"args\":{\"version\":1}},\n" SPAN("b", "1.000")
                   SPAN("e", "3.000") SPAN("b", "2.000") SPAN("e", "7.500") SPAN("b", "8.000"));
    assert_int_equal(use("trace print spans.json --json"), 0);
    assert_true(said("out", "\"n\": 2"));
    assert_true(said("out", "\"total_ns\": 7500"));
    assert_true(said("out", "\"min_ns\": 2000"));
    assert_true(said("out", "\"max_ns\": 5500"));
}

static void what_is_wrong_is_refused(void **state)
{
    (void)state;
    assert_int_equal(use("trace print none.json"), 1);
    assert_true(said("err", "none.json"));
    write_file("other.json", "{}\n");
    assert_int_equal(use("trace print other.json"), 1);
    assert_true(said("err", "not a trace of slipring"));
    assert_int_equal(use("trace"), 2);
    assert_int_equal(use("trace draw x"), 2);
    assert_int_equal(use("trace print"), 2);
    assert_int_equal(use("devices --trace"), 2);
    assert_true(said("err", "--trace"));
    assert_int_equal(use("devices --trace none/t.json"), 1);
    assert_true(said("err", "none/t.json"));
}

int main(void)
{
    if (shell_begin() != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_verb_takes_a_trace),
        cmocka_unit_test(a_trace_that_was_cut_short_is_read_as_far_as_it_goes),
        cmocka_unit_test(spans_that_the_writer_left_out_are_counted),
        cmocka_unit_test(a_kernel_on_two_devices_has_two_rows),
        cmocka_unit_test(spans_of_messages_have_their_own_shortest_and_longest),
        cmocka_unit_test(what_is_wrong_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, shell_end);
}
