// SPDX-License-Identifier: Apache-2.0
// The verdicts on rows: as a table, as Markdown, as an object for JSON and for the page.
#include "bench/compare.h"

#include "say.h"

#include <stdio.h>
#include <string.h>

const char *compare_verdict(const compare_row *row)
{
    static const char *const otherwise[] = {"",           "new", "missing", "in history alone", "neither is better",
                                            "not above 0"};
    return row->end == COMPARE_DECIDED ? slr_verdict_name(row->result.verdict) : otherwise[row->end];
}

static void summarise_verdicts(const compare *c, char *to, size_t room)
{
    const unsigned decided = c->regressed + c->improved + c->same + c->undecided;
    char unusable[40] = "";
    if (c->unusable != 0)
        snprintf(unusable, sizeof unusable, ", %u not above 0", c->unusable);
    snprintf(to, room,
             "%s%u regressed, %u improved, %u same, %u not decided, %u in one file alone%s; tolerance %.3g %%",
             decided != 0 ? "" : "No row can be compared: ", c->regressed, c->improved, c->same, c->undecided,
             c->unmatched, unusable, 100 * c->tolerance);
}

static void show_partial(const char *path, size_t at, const json_t *run)
{
    const char *bench = json_string_value(json_object_get(run, "bench"));
    if (compare_is_partial(run))
        say_out("'%s': run %zu ('%s') is partial: the measurement of a row failed, so rows may be missing.\n", path,
                at + 1, bench != NULL ? bench : "");
}

static void show_incomplete(const compare *c)
{
    size_t at;
    json_t *run;
    for (unsigned i = 0; i < c->file_count; i++)
        json_array_foreach(c->files[i], at, run) show_partial(c->paths[i], at, run);
    if (c->unusable != 0)
        say_out("not above 0: a sample of the row is 0 or no number, so the row is not compared.\n");
}

static bool has_few_runs(const compare *c)
{
    return c->fewest_runs != 0 && c->fewest_runs < COMPARE_RUNS;
}

static const char few_runs[] =
    "Fewer than three runs per file do not show how runs differ: a busy machine can make a "
    "run slower.\nFor a verdict on a change, append three runs of the benchmark to each file.";

// ---- for people ----------------------------------------------------------------------------------------------------

void compare_show_table(const compare *c)
{
    char summary[200];
    printf("%-12s %-24s %-7s %12s %12s %-10s %7s %-16s %s\n", "bench", "row", "stat", "old", "new", "unit", "speed",
           "95 % interval", "verdict");
    for (size_t i = 0; i < c->row_count; i++) {
        const compare_row *row = &c->rows[i];
        say_out("%-12s %-24s %-7s %12.9g %12.9g %-10s ", row->bench, row->name, row->stat, row->history[0],
                row->history[c->file_count - 1], row->by_ratio ? "x floor" : row->unit);
        if (row->end == COMPARE_DECIDED)
            say_out("%7.3f %.3f to %.3f   ", row->result.speed, row->result.low, row->result.high);
        else
            say_out("%7s %-16s ", "", "");
        say_out("%s\n", compare_verdict(row));
    }
    summarise_verdicts(c, summary, sizeof summary);
    printf("\n%s\nspeed: below 1 is slower. x floor: the row's ratio to the floor that was measured beside it.\n",
           summary);
    show_incomplete(c);
    if (has_few_runs(c))
        printf("%s\n", few_runs);
}

// A '|' would end the cell, also within a code span.
static void show_cell(const char *text, const char *around)
{
    fputs(around, stdout);
    for (const char *bar; (bar = strchr(text, '|')) != NULL; text = bar + 1)
        say_out("%.*s\\|", (int)(bar - text), text);
    say_out("%s%s ", text, around);
}

void compare_show_markdown(const compare *c)
{
    char summary[200];
    summarise_verdicts(c, summary, sizeof summary);
    printf("%s\n\n| bench | row | old | new | unit | speed | 95 %% interval | verdict "
           "|\n|---|---|---|---|---|---|---|---|\n",
           summary);
    for (size_t i = 0; i < c->row_count; i++) {
        const compare_row *row = &c->rows[i];
        const bool is_bad = row->end == COMPARE_DECIDED && row->result.verdict == SLR_VERDICT_REGRESSED;
        fputs("| ", stdout);
        show_cell(row->bench, "");
        fputs("| ", stdout);
        show_cell(row->name, "`");
        show_cell(row->stat, "");
        printf("| %.9g | %.9g | ", row->history[0], row->history[c->file_count - 1]);
        show_cell(row->by_ratio ? "x floor" : row->unit, "");
        fputs("| ", stdout);
        if (row->end == COMPARE_DECIDED)
            say_out("%.3f | %.3f to %.3f | ", row->result.speed, row->result.low, row->result.high);
        else
            say_out("| | ");
        say_out("%s%s%s |\n", is_bad ? "**" : "", compare_verdict(row), is_bad ? "**" : "");
    }
    if (c->partial != 0 || c->unusable != 0)
        putchar('\n');
    show_incomplete(c);
    if (has_few_runs(c))
        printf("\n%s\n", few_runs);
}

// ---- for programs --------------------------------------------------------------------------------------------------

static json_t *row_object(const compare *c, const compare_row *row)
{
    json_t *history = json_array();
    for (unsigned i = 0; i < c->file_count; i++)
        json_array_append_new(history, row->history[i] > 0 ? json_real(row->history[i]) : json_null());
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:s, s:o}", "bench", row->bench, "device",
                               row->device, "name", row->name, "stat", row->stat, "unit",
                               row->by_ratio ? "x floor" : row->unit, "better", row->is_latency ? "less" : "more",
                               "old_samples", (int)row->old_samples, "new_samples", (int)row->new_samples,
                               "not_above_0", (int)row->unusable, "verdict", compare_verdict(row), "history", history);
    if (row->end == COMPARE_DECIDED) {
        json_object_set_new(object, "old", json_real(row->result.target));
        json_object_set_new(object, "new", json_real(row->result.value));
        json_object_set_new(object, "speed", json_real(row->result.speed));
        json_object_set_new(object, "low", json_real(row->result.low));
        json_object_set_new(object, "high", json_real(row->result.high));
        json_object_set_new(object, "why", json_string(row->result.why));
    }
    return object;
}

json_t *compare_object(const compare *c)
{
    json_t *files = json_array(), *rows = json_array();
    for (unsigned i = 0; i < c->file_count; i++)
        json_array_append_new(files, json_string(c->paths[i]));
    for (size_t i = 0; i < c->row_count; i++)
        json_array_append_new(rows, row_object(c, &c->rows[i]));
    return json_pack("{s:o, s:f, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o}", "files", files, "tolerance",
                     c->tolerance, "fewest_runs", (int)c->fewest_runs, "regressed", (int)c->regressed, "improved",
                     (int)c->improved, "same", (int)c->same, "not_decided", (int)c->undecided, "in_one_file_alone",
                     (int)c->unmatched, "not_above_0", (int)c->unusable, "partial_runs", (int)c->partial, "rows", rows);
}
