// SPDX-License-Identifier: Apache-2.0
// `slipring run` and handlers that do not return: what a signal, --fuel and --handler-timeout make of them, and that
// every message is counted.
#include "tests/cli/shell.h"

static int set_up(void **state)
{
    (void)state;
    if (shell_begin() != 0)
        return -1;
    // Message 7 keeps its handler busy for as long as the fuel lasts, which is longer than any test.
    write_file("stuck.cu", "#include <slipring/device.h>\n"
                           "struct row { int a; };\n"
                           "struct out { int a; };\n"
                           "__ring__ void stuck(const struct row *in, int *sink)\n"
                           "{\n"
                           "    struct out o = { in->a };\n"
                           "    while (in->a == 7) atomicAdd(&sink[0], 1);\n"
                           "    ring_reply(&o);\n"
                           "}\n");
    write_file("in.csv", "a\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
    return setenv("R", "run stuck.cu --bind sink=zeros:4 --device cpu?threads=1", 1);
}

static void a_signal_after_the_end_of_the_input_ends_a_stuck_handler(void **state)
{
    (void)state;
    // The input is a file: it has ended long before the signal comes.
    static const struct {
        const char *name;
        int code;
    } signals[] = {{"INT", 130}, {"TERM", 143}};
    for (int i = 0; i < 2; i++) {
        char command[1024], expected[16];
        snprintf(command, sizeof command,
                 "rm -f o.csv; "
                 "\"$S\" $R --fuel 18446744073709551615 --input in.csv --output o.csv --json --drain 50ms >out 2>err & "
                 "p=$!; await \"grep -q '\\\"received\\\": 10, \\\"handled\\\": 6,' out\"; "
                 "kill -%s $p; wait $p; echo $?",
                 signals[i].name);
        snprintf(expected, sizeof expected, "%d\n", signals[i].code);
        gives(command, 0, expected);
        gives("tail -n 1 out | grep -o '\"ended\": \"[a-z]*\", '", 0, "\"ended\": \"interrupted\", \n");
        gives("tail -n 1 out | grep -o '\"rows\": 10, .*\"unsent\": 0, \"messages\": 10,' | wc -l; grep -c 'a handler "
              "has not returned; it is abandoned and ends with this program' err",
              0, "1\n1\n");
        // What was computed before it is there, and counted; it and what is behind it are pending.
        gives("cat o.csv; tail -n 1 out | grep -o '\"replies\": 6,\\|\"handled\": 6, \"faulted\": 0\\|\"pending\": 4, "
              "\"keys' | head -n 3",
              0, "a\n1\n2\n3\n4\n5\n6\n\"replies\": 6,\n\"handled\": 6, \"faulted\": 0\n\"pending\": 4, \"keys\n");
        // accepted = handled + faulted + dropped + undelivered + in doubt + pending
        gives("tail -n 1 out | sed 's/.*\"messages\": \\([0-9]*\\), .*\"handled\": \\([0-9]*\\), \"faulted\": "
              "\\([0-9]*\\), "
              "\"dropped\": \\([0-9]*\\), \"undelivered\": \\([0-9]*\\), \"in_doubt\": \\([0-9]*\\), \"pending\": "
              "\\([0-9]*\\).*/echo $((\\1-\\2-\\3-\\4-\\5-\\6-\\7))/' | sh",
              0, "0\n");
    }
}

// The input goes on, and nothing has asked for an end: what there is comes out all the same.
static void replies_come_while_a_later_handler_runs(void **state)
{
    (void)state;
    gives("rm -f o.csv; mkfifo in; \"$S\" $R --fuel 18446744073709551615 --output o.csv <in 2>err & p=$!; exec 3>in; "
          "cat in.csv >&3; await '[ \"$(tail -n 1 o.csv 2>/dev/null)\" = 6 ]'; "
          "cat o.csv; while kill -INT $p 2>/dev/null; do sleep 0.05; done; wait $p; echo $?",
          0, "a\n1\n2\n3\n4\n5\n6\n130\n");
}

// Until one does: two that come together are one.
static void a_second_signal_ends_at_once(void **state)
{
    (void)state;
    gives(
        "\"$S\" $R --fuel 18446744073709551615 --input in.csv --output o.csv --json >out 2>err & p=$!; "
        "await \"grep -q '\\\"received\\\": 10' out\"; "
        "while kill -TERM $p 2>/dev/null; do sleep 0.05; done; wait $p; echo $?; wc -c <err", // no counts: it was ended
        0, "143\n0\n");
}

static void a_handler_timeout_keeps_the_replies_of_the_messages_before(void **state)
{
    (void)state;
    gives("\"$S\" $R --fuel 18446744073709551615 --input in.csv --output o.csv --handler-timeout 50ms 2>err; echo $?; "
          "cat o.csv",
          0, "1\na\n1\n2\n3\n4\n5\n6\n");
    gives("cat err", 0,
          "slipring run: line 8: the handler faulted: instance 0: the handler ran past handler_timeout_ns and was "
          "abandoned\n"
          "slipring run: stuck: the ring kernel has failed: a handler ran for more than 50000000 ns and was abandoned\n"
          "slipring run: left: 0 messages not sent, 3 undelivered, 0 pending\n");
    says("\"$S\" $R --input in.csv --handler-timeout 1us 2>&1", 2,
         "--handler-timeout: '1us' is not a time of at least 1ms, such as 500ms or 10s");
    says("\"$S\" $R --input in.csv --handler-timeout 5 2>&1", 2, "--handler-timeout: '5' is not a time");
}

static void fuel_ends_a_handler_that_loops(void **state)
{
    (void)state;
    gives("\"$S\" $R --fuel 1000 --input in.csv --on-error skip 2>err; grep -c 'line 8: the handler faulted: .*out of "
          "fuel' err",
          0, "a\n1\n2\n3\n4\n5\n6\n8\n9\n10\n1\n");
    says("\"$S\" $R --input in.csv --fuel 0 2>&1", 2, "--fuel: '0' is not a number from 1 to");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_after_the_end_of_the_input_ends_a_stuck_handler),
        cmocka_unit_test(replies_come_while_a_later_handler_runs),
        cmocka_unit_test(a_second_signal_ends_at_once),
        cmocka_unit_test(a_handler_timeout_keeps_the_replies_of_the_messages_before),
        cmocka_unit_test(fuel_ends_a_handler_that_loops),
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
