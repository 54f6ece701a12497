// SPDX-License-Identifier: Apache-2.0
// `slipring bench compare` on files of known figures: verdicts, exit codes, and what cannot be compared.
#include "tests/cli/shell.h"

#include <stdint.h>

static uint64_t random_state = 11;

static double scatter(double mean, double part)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return mean * (1 + part * ((double)(random_state >> 11) / 4503599627370496.0 - 1));
}

// A run with one row of 15 pairs. Value and floor drift together, by up to eight times; their ratio is about `ratio`.
static void write_run(const char *name, const char *mode, double ratio)
{
    FILE *file = fopen(name, mode);
    char values[1024] = "", floors[1024] = "";
    for (int i = 0; i < 15; ++i) {
        double drift = scatter(4.5, 0.7), floor = 100 * drift;
        snprintf(values + strlen(values), 64, "%s%.6g", i ? ", " : "", scatter(floor * ratio, 0.05));
        snprintf(floors + strlen(floors), 64, "%s%.6g", i ? ", " : "", floor);
    }
    assert_non_null(file);
    fprintf(
        file,
        "{\"bench\": \"latency\", \"device\": \"cpu\", \"description\": \"A, 2 cores\", \"rows\": [{\"name\": \"rtt\", "
        "\"stat\": \"p50\", \"value\": %.6g, \"unit\": \"ns\", \"floor\": 100, \"ratio\": %.6g, \"better\": \"less\", "
        "\"values\": [%s], \"floors\": [%s]}]}\n",
        100 * ratio, ratio, values, floors);
    fclose(file);
}

static void write_rate(const char *name, double rate)
{
    char text[300];
    snprintf(text, sizeof text,
             "{\"bench\": \"add\", \"device\": \"cpu\", \"rows\": [{\"name\": \"vector_add\", \"stat\": \"\", "
             "\"value\": %.0f, "
             "\"unit\": \"elements/s\", \"floor\": 0, \"ratio\": 0, \"better\": \"more\"}]}\n",
             rate);
    write_file(name, text);
}

static void one_figure_is_compared_exactly(void **state)
{
    (void)state;
    write_rate("target.json", 1e9);
    write_rate("below.json", 899999999);
    write_rate("on.json", 900000000);
    says("$S bench compare target.json below.json", 1, "1 regressed");
    says("$S bench compare target.json on.json", 0, "0 regressed, 0 improved, 1 same");
    says("$S bench compare below.json target.json", 0, "1 improved");
    says("$S bench compare target.json below.json --json | grep '\"new\"'", 0, "899999999"); // not 9e+08
    says("$S bench compare target.json below.json", 1, "899999999 elements/s");
    says("$S bench compare target.json below.json --markdown", 1, "| 899999999 |");
    says("$S bench compare target.json below.json --tolerance 11", 0, "0 regressed");
    says("$S bench compare target.json on.json --tolerance 9.9", 1, "1 regressed");
}

static void a_slower_program_is_found_whatever_the_machine_does(void **state)
{
    (void)state;
    for (int trial = 0; trial < 20; ++trial) {
        write_run("old.json", "w", 10);
        write_run("same.json", "w", 10);
        write_run("slow.json", "w", 20);
        says("$S bench compare old.json same.json", 0, "1 same");
        says("$S bench compare old.json slow.json", 1, "1 regressed");
    }
    says("$S bench compare old.json slow.json --json | tr -d ' \n'", 0, "\"unit\":\"xfloor\",\"better\":\"less\"");
    says("$S bench compare old.json slow.json --json | tr -d ' \n'", 0, "\"verdict\":\"regressed\"");
    says("$S bench compare old.json slow.json --markdown", 1, "| **regressed** |");
    says("$S bench compare old.json same.json slow.json --html page.html > /dev/null; grep -c 'const data = {' "
         "page.html",
         0, "1\n");
    says("$S bench compare old.json slow.json --html /nowhere/page.html 2>&1", 1, "/nowhere/page.html");
}

// Each of the files may be one that nobody can measure again.
static void page_never_replaces_a_file_that_is_compared(void **state)
{
    (void)state;
    write_rate("old.json", 1e9);
    write_rate("between.json", 1e9);
    write_rate("new.json", 1e9);
    static const char *const files[] = {"old.json", "between.json", "./new.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
        char command[160], message[160];
        snprintf(command, sizeof command, "$S bench compare old.json between.json new.json --html %s 2>&1", files[i]);
        snprintf(message, sizeof message, "--html '%s' is the same file as the input", files[i]);
        says(command, 2, message);
    }
    says("$S bench compare old.json between.json new.json", 0, "1 same");
    says("$S bench compare old.json absent.json 2>&1", 2, "cannot read 'absent.json': No such file or directory");
    says("$S bench compare old.json absent.json --html page2.html 2>&1; ls page2.html", 2, "absent.json");
}

static void better_is_less_or_more(void **state)
{
    (void)state;
    write_rate("old.json", 1e9);
    says("sed s/more/sideways/ old.json > odd.json; $S bench compare old.json odd.json 2>&1", 2,
         "'odd.json': \"better\" of row 'vector_add' is \"sideways\"");
}

static void a_hint_asks_for_three_runs(void **state)
{
    (void)state;
#define HINT "Fewer than three runs per file do not show how runs differ"
    write_run("old.json", "w", 10);
    write_run("new.json", "w", 10);
    says("$S bench compare old.json new.json", 0, HINT);
    says("$S bench compare old.json new.json --markdown", 0, HINT);
    says("$S bench compare old.json new.json --json", 0, "\"fewest_runs\": 1");
    for (int i = 0; i < 2; ++i)
        write_run("old.json", "a", 10);
    says("$S bench compare old.json new.json", 0, HINT);
    for (int i = 0; i < 2; ++i)
        write_run("new.json", "a", 10);
    says("$S bench compare old.json new.json | grep -c 'Fewer than'; true", 0, "0\n");
}

static void scatter_is_not_decided_and_fails_nothing(void **state)
{
    (void)state;
    write_file("wild.json",
               "{\"bench\": \"latency\", \"device\": \"cpu\", \"rows\": [{\"name\": \"rtt\", \"stat\": \"p50\", "
               "\"value\": 12, \"unit\": \"ns\", \"floor\": 0, \"ratio\": 0, \"better\": \"less\", "
               "\"values\": [5, 30, 8, 40, 12, 9, 33]}]}");
    says("$S bench compare wild.json wild.json", 0, "1 not decided");
}

// From three runs on each is a sample: pairs within a run do not say how runs differ.
static void runs_of_a_file_are_samples(void **state)
{
    (void)state;
    for (int run = 0; run < 4; ++run) {
        write_run("old.json", run ? "a" : "w", run % 2 ? 8 : 12);
        write_run("new.json", run ? "a" : "w", run % 2 ? 9 : 13);
    }
    says("$S bench compare old.json new.json --json | tr -d ' \n'", 0, "\"old_samples\":4,\"new_samples\":4");
    says("$S bench compare old.json new.json", 0, "1 not decided");
}

static void what_has_nothing_beside_it_is_said(void **state)
{
    (void)state;
    write_run("old.json", "w", 10);
    write_rate("rate.json", 1e9);
    says("$S bench compare old.json rate.json", 4, "2 in one file alone");
    says("$S bench compare old.json rate.json", 4, "missing");
    write_file("none.json", "{\"bench\": \"latency\", \"rows\": []}");
    says("$S bench compare none.json none.json", 4, "No row can be compared: 0 regressed");
    write_file("other.json",
               "{\"bench\": \"latency\", \"device\": \"cpu\", \"description\": \"B\", \"rows\": [{\"name\": "
               "\"rtt\", \"stat\": \"p50\", \"value\": 1000, \"unit\": \"ns\", \"floor\": 100, \"ratio\": 10, "
               "\"better\": \"less\"}]}");
    says("$S bench compare old.json other.json 2>&1", 2, "'other.json' has 'rtt' of another device: 'cpu' (B)");
    says("$S bench compare old.json other.json --any-device", 0, "1 same");
}

static void a_partial_run_is_named(void **state)
{
    (void)state;
#define PARTIAL                                                                                                        \
    "{\"bench\": \"add\", \"device\": \"cpu\", \"rows\": [{\"name\": \"vector_add\", \"stat\": \"\", "                 \
    "\"value\": %d, \"unit\": \"elements/s\", \"better\": \"more\"}], \"whole\": %s}\n"
    char text[600];
    snprintf(text, sizeof text, PARTIAL, 1000, "true");
    write_file("whole.json", text);
    snprintf(text, sizeof text, PARTIAL PARTIAL, 1000, "true", 1000, "false");
    write_file("partial.json", text);
    snprintf(text, sizeof text, PARTIAL, 500, "false");
    write_file("slow.json", text);
    says("$S bench compare whole.json whole.json", 0, "1 same");
    says("$S bench compare whole.json whole.json | grep -c partial; true", 0, "0\n");
#define NAMED "'partial.json': run 2 ('add') is partial: the measurement of a row failed"
    says("$S bench compare whole.json partial.json", 4, NAMED);
    says("$S bench compare whole.json partial.json", 4, "1 same");
    says("$S bench compare partial.json whole.json --markdown", 4, NAMED);
    says("$S bench compare partial.json whole.json --json", 4, "\"partial_runs\": 1");
    says("$S bench compare whole.json partial.json whole.json", 0, NAMED); // history alone
    says("$S bench compare whole.json slow.json", 1, "run 1 ('add') is partial");
}

// What is left out would make a row seem better than it is.
static void a_row_with_a_sample_that_is_not_above_0_is_not_compared(void **state)
{
    (void)state;
#define SAMPLES                                                                                                        \
    "{\"bench\": \"latency\", \"device\": \"cpu\", \"rows\": [{\"name\": \"rtt\", \"stat\": \"p50\", \"value\": 12, "  \
    "\"unit\": \"ns\", \"better\": \"less\", \"values\": [12, 12, %s, 12]}]}"
    char text[400];
    snprintf(text, sizeof text, SAMPLES, "12");
    write_file("good.json", text);
    static const char *const samples[] = {"0", "-3", "null"};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; ++i) {
        snprintf(text, sizeof text, SAMPLES, samples[i]);
        write_file("zero.json", text);
        says("$S bench compare good.json zero.json", 4, "0 in one file alone, 1 not above 0; ");
        says("$S bench compare zero.json good.json", 4, "a sample of the row is 0 or no number");
        says("$S bench compare good.json zero.json --markdown", 4, "| not above 0 |");
        says("$S bench compare good.json zero.json --json | tr -d ' \n'", 0,
             "\"new_samples\":3,\"not_above_0\":1,\"verdict\":\"notabove0\"");
    }
    says("$S bench compare good.json good.json | grep -c 'not above 0'; true", 0, "0\n");
}

// As launch_empty_first, where the host cannot see what a kernel writes.
static void a_row_that_neither_file_measures_is_named_and_lacks_nothing(void **state)
{
    (void)state;
#define TWO                                                                                                            \
    "{\"bench\": \"launch\", \"device\": \"cpu\", \"rows\": [{\"name\": \"empty\", \"stat\": \"p50\", \"value\": 12, " \
    "\"unit\": \"ns\", \"better\": \"less\"}, {\"name\": \"first\", \"stat\": \"p50\", \"value\": %d, \"unit\": "      \
    "\"ns\", "                                                                                                         \
    "\"better\": \"less\"}], \"whole\": true}"
    char text[400];
    snprintf(text, sizeof text, TWO, 0);
    write_file("without.json", text);
    snprintf(text, sizeof text, TWO, 7);
    write_file("with.json", text);
    says("$S bench compare without.json without.json", 0,
         "1 same, 0 not decided, 0 in one file alone, 1 not above 0; ");
    says("$S bench compare without.json without.json", 0, "a sample of the row is 0 or no number");
    says("$S bench compare without.json with.json", 4, "1 not above 0; ");
    says("$S bench compare with.json without.json", 4, "1 not above 0; ");
}

static void a_row_of_the_history_alone_is_named_and_lacks_nothing(void **state)
{
    (void)state;
    write_rate("rate.json", 1e9);
    write_run("between.json", "w", 10);
    says("$S bench compare rate.json between.json rate.json", 0, " in history alone\n");
    says("$S bench compare rate.json between.json rate.json", 0, "1 same, 0 not decided, 0 in one file alone; ");
}

static void a_bar_in_a_name_stays_in_its_cell(void **state)
{
    (void)state;
    write_file("bars.json",
               "{\"bench\": \"a|b\", \"device\": \"cpu\", \"rows\": [{\"name\": \"x|y|\", \"stat\": \"p|q\", "
               "\"value\": 12, \"unit\": \"m|n/s\", \"better\": \"more\"}]}");
    says("$S bench compare bars.json bars.json --markdown", 0,
         "\n| a\\|b | `x\\|y\\|` p\\|q | 12 | 12 | m\\|n/s | 1.000 | ");
}

static void mistakes_are_said(void **state)
{
    (void)state;
    write_file("bad.json", "{\"bench\": 1}");
    write_file("cut.json", "{\"bench\": \"latency\", \"rows\": [");
    write_file("empty.json", "");
    write_run("old.json", "w", 10);
    says("$S bench compare 2>&1", 2, "OLD.json is missing");
    says("$S bench compare old.json 2>&1", 2, "NEW.json is missing");
    says("$S bench compare old.json nowhere.json 2>&1", 2, "cannot read 'nowhere.json'");
    says("$S bench compare old.json bad.json 2>&1", 2, "'bad.json' is not what 'slipring bench NAME --json' prints");
    says("$S bench compare old.json cut.json 2>&1", 2, "in object 1, line 1: ");
    says("$S bench compare old.json empty.json 2>&1", 2, "in object 1");
    says("$S bench compare old.json old.json --tolerance 0 2>&1", 2, "--tolerance: '0' is not a percentage");
    says("$S bench compare old.json old.json --tolerance ten 2>&1", 2, "--tolerance: 'ten'");
    says("$S bench compare old.json old.json --json --markdown 2>&1", 2, "give one of them");
    says("$S bench compare old.json old.json --fast 2>&1", 2, "no option '--fast'");
}

// What the program itself prints can be compared.
static void rows_of_a_run_carry_their_samples(void **state)
{
    (void)state;
    says("$S bench latency --filter handoff --small --json > mine.json; cat mine.json", 0, "\"values\": [");
    says("$S bench compare mine.json mine.json 2>&1", 2,
         "'mine.json' has a run of 'latency' with --small, whose figures mean nothing; measure without --small");
    says("grep -v '\"small\": true' mine.json > whole.json; $S bench compare whole.json mine.json 2>&1", 2,
         "'mine.json'");
    says("$S bench compare whole.json whole.json --json | tr -d ' \n'", 0, "\"regressed\":0");
}

static int set_up(void **state)
{
    (void)state;
    return shell_begin();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_figure_is_compared_exactly),
        cmocka_unit_test(a_slower_program_is_found_whatever_the_machine_does),
        cmocka_unit_test(page_never_replaces_a_file_that_is_compared),
        cmocka_unit_test(better_is_less_or_more),
        cmocka_unit_test(a_hint_asks_for_three_runs),
        cmocka_unit_test(scatter_is_not_decided_and_fails_nothing),
        cmocka_unit_test(runs_of_a_file_are_samples),
        cmocka_unit_test(what_has_nothing_beside_it_is_said),
        cmocka_unit_test(a_partial_run_is_named),
        cmocka_unit_test(a_row_with_a_sample_that_is_not_above_0_is_not_compared),
        cmocka_unit_test(a_row_that_neither_file_measures_is_named_and_lacks_nothing),
        cmocka_unit_test(a_row_of_the_history_alone_is_named_and_lacks_nothing),
        cmocka_unit_test(a_bar_in_a_name_stays_in_its_cell),
        cmocka_unit_test(mistakes_are_said),
        cmocka_unit_test(rows_of_a_run_carry_their_samples),
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
