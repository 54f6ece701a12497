// SPDX-License-Identifier: Apache-2.0
// What `slipring run` writes to: nothing is lost to a wrong input or command line, and no input is overwritten.
#include "tests/cli/shell.h"

static int set_up(void **state)
{
    (void)state;
    if (shell_begin() != 0)
        return -1;
    write_file("pass.cu", "#include <slipring/device.h>\n"
                          "struct row { int a; };\n"
                          "struct out { int a; };\n"
                          "__ring__ void pass(const struct row *in)\n"
                          "{\n"
                          "    struct out o = { in->a };\n"
                          "    ring_reply(&o);\n"
                          "}\n"
                          "__ring__ void scale(const struct row *in, const int *by)\n"
                          "{\n"
                          "    struct out o = { in->a * by[0] };\n"
                          "    ring_reply(&o);\n"
                          "}\n");
    write_file("in.csv", "a\n1\n2\n");
    write_file("by.txt", "3\n");
    return 0;
}

#define PASS "\"$S\" run pass.cu --ring pass "

static void a_run_that_fails_before_its_first_row_leaves_the_output_as_it_was(void **state)
{
    (void)state;
    static const char *const runs[] = {
        PASS "--input wrong.csv", // a header without the column
        PASS "--input empty.csv", // no header
        PASS "--input none.csv",  // no file
        PASS "--input in.csv --device opencl:99",
        "\"$S\" run pass.cu --ring none --input in.csv",
        "\"$S\" run pass.cu --ring scale --input in.csv",
    };
    shell("printf 'b\\n1\\n' >wrong.csv; : >empty.csv", &(int){0});
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char command[512];
        snprintf(command, sizeof command,
                 "echo kept >o.csv; echo kept >o.rec; %s --output o.csv --record o.rec 2>/dev/null; "
                 "[ $? -ne 0 ] && cat o.csv o.rec",
                 runs[i]);
        gives(command, 0, "kept\nkept\n");
        snprintf(command, sizeof command,
                 "rm -f new.csv new.rec; %s --output new.csv --record new.rec 2>/dev/null; ls new.* 2>/dev/null",
                 runs[i]);
        gives(command, 2, ""); // and makes none
    }
}

static void an_output_that_is_an_input_is_refused_by_whatever_name(void **state)
{
    (void)state;
    static const char *const names[] = {"in.csv", "./in.csv", "hard.csv", "soft.csv"};
    shell("ln in.csv hard.csv; ln -s in.csv soft.csv; ln pass.cu hard.cu; ln -s by.txt soft.txt", &(int){0});
    for (size_t i = 0; i < 4; i++) {
        static const char *const options[] = {"--output", "--record"};
        for (size_t k = 0; k < 2; k++) {
            char command[512], expected[256];
            snprintf(command, sizeof command, PASS "--input in.csv %s %s 2>&1", options[k], names[i]);
            snprintf(expected, sizeof expected, "%s '%s' is the same file as --input and would overwrite it",
                     options[k], names[i]);
            says(command, 2, expected);
            snprintf(command, sizeof command, PASS "%s %s <in.csv 2>&1", options[k], names[i]);
            says(command, 2, "is the same file as the standard input");
        }
    }
    says(PASS "--input in.csv >>hard.csv 2>err; echo $?; cat err", 0,
         "2\nslipring run: the standard output is the same");
    says(PASS "--input in.csv --output hard.cu 2>&1", 2, "is the same file as pass.cu");
    says("\"$S\" run pass.cu --ring scale --bind by=by.txt --input in.csv --output soft.txt 2>&1", 2,
         "is the same file as that of --bind");
    says(PASS "--input in.csv --output new.csv --record new.csv 2>&1", 2, "is the same file as the output");
    gives("cat in.csv by.txt; head -c 8 pass.cu", 0, "a\n1\n2\n3\n#include");
}

static void a_trace_never_overwrites_what_the_verb_reads(void **state)
{
    (void)state;
    says(PASS "--input in.csv --trace in.csv 2>&1", 2, "--trace 'in.csv' is also an argument of 'run'");
    says(PASS "--input in.csv --trace=hard.cu 2>&1", 2, "--trace 'hard.cu' is also an argument of 'run'");
    says("\"$S\" run pass.cu --ring scale --bind by=by.txt --input in.csv --trace by.txt 2>&1", 2,
         "is also an argument of 'run'");
    gives("cat in.csv by.txt; head -c 8 pass.cu", 0, "a\n1\n2\n3\n#include");
}

static void an_output_that_is_no_regular_file_is_written_to(void **state)
{
    (void)state;
    gives("mkfifo pipe; cat pipe >copy & " PASS "--input in.csv --output pipe; wait; cat copy; rm pipe", 0,
          "a\n1\n2\n");
    gives(PASS "--input in.csv --output /dev/null && echo fine", 0, "fine\n");
    gives("ln -s nowhere.csv dangling.csv; " PASS "--input in.csv --output dangling.csv; cat nowhere.csv", 0,
          "a\n1\n2\n");
    gives("echo a much longer text that was there before >long.csv; " PASS "--input in.csv --output long.csv; "
          "cat long.csv",
          0, "a\n1\n2\n");
}

// The number of a closed standard stream must not go to a file that is opened later.
static void a_closed_standard_output_is_named_as_that(void **state)
{
    (void)state;
    says("{ " PASS "--input in.csv >&-; } 2>&1", 1, "Bad file descriptor");
    gives("cat in.csv", 0, "a\n1\n2\n");
    says("{ " PASS "--output o.csv <&-; } 2>&1", 1, "Bad file descriptor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_fails_before_its_first_row_leaves_the_output_as_it_was),
        cmocka_unit_test(an_output_that_is_an_input_is_refused_by_whatever_name),
        cmocka_unit_test(a_trace_never_overwrites_what_the_verb_reads),
        cmocka_unit_test(an_output_that_is_no_regular_file_is_written_to),
        cmocka_unit_test(a_closed_standard_output_is_named_as_that),
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
