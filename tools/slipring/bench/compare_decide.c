// SPDX-License-Identifier: Apache-2.0
// Files of rows, and the verdict on each row. A row with a floor is compared by its ratio to the floor, which was
// measured beside it: the same machine may be several times slower an hour later, and the floor is, too.
#include "bench/compare.h"

#include "bench/bench.h"
#include "memory.h"
#include "say.h"
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_ENOUGH = 3 }; // in a file: then each run is one sample, since pairs of a run share what the run was given

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

// ---- reading -------------------------------------------------------------------------------------------------------

// A file is the objects of one run behind those of another.
static int read_file(const char *path, json_t **out)
{
    FILE *file = fopen(path, "r");
    json_error_t error;
    json_t *runs = json_array(), *object;
    char where[200] = "";
    *out = runs;
    if (file == NULL) {
        say("cannot read '%s': %s", path, strerror(errno));
        return EXIT_USAGE;
    }
    while ((object = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error)) != NULL) {
        if (!json_is_array(json_object_get(object, "rows"))) {
            json_decref(object);
            break;
        }
        json_array_append_new(runs, object);
        if (json_is_true(json_object_get(object, "small"))) {
            fclose(file);
            return say_usage("'%s' has a run of '%s' with --small, whose figures mean nothing; measure without --small",
                             path, text_of(object, "bench"));
        }
        int next;
        while ((next = getc(file)) == '\n' || next == ' ' || next == '\r' || next == '\t')
            ;
        if (next == EOF) {
            fclose(file);
            return EXIT_DONE;
        }
        ungetc(next, file);
    }
    fclose(file);
    if (object == NULL)
        snprintf(where, sizeof where, ", line %d: %s", error.line, error.text);
    say("'%s' is not what 'slipring bench NAME --json' prints, in object %zu%s", path, json_array_size(runs) + 1,
        where);
    return EXIT_USAGE;
}

int compare_read(compare *compare)
{
    for (unsigned i = 0; i < compare->file_count; i++) {
        int end = read_file(compare->paths[i], &compare->files[i]);
        if (end != EXIT_DONE)
            return end;
    }
    return EXIT_DONE;
}

bool compare_is_partial(const json_t *run)
{
    return json_is_false(json_object_get(run, "whole")); // files of 0.1 have none
}

static void count_partial(compare *compare)
{
    size_t at;
    json_t *run;
    for (unsigned i = 0; i < 2; i++)
        json_array_foreach(compare->files[i == 0 ? 0 : compare->file_count - 1], at, run) compare->partial +=
            compare_is_partial(run);
}

// ---- which rows there are ------------------------------------------------------------------------------------------

static bool is_row(const compare_row *row, const json_t *run, const json_t *object)
{
    return strcmp(row->bench, text_of(run, "bench")) == 0 && strcmp(row->name, text_of(object, "name")) == 0 &&
           strcmp(row->stat, text_of(object, "stat")) == 0;
}

static int note_row(compare *compare, const char *path, const json_t *run, const json_t *object)
{
    const char *device = text_of(run, "device"), *description = text_of(run, "description");
    const char *better = text_of(object, "better");
    if (*better != '\0' && strcmp(better, "less") != 0 && strcmp(better, "more") != 0)
        return say_usage("'%s': \"better\" of row '%s' is \"%s\"; expected \"less\" or \"more\"", path,
                         text_of(object, "name"), better);
    for (size_t i = 0; i < compare->row_count; i++) {
        const compare_row *row = &compare->rows[i];
        if (!is_row(row, run, object))
            continue;
        bool is_other =
            strcmp(row->device, device) != 0 || (*description != '\0' && *row->description != '\0' &&
                                                 strcmp(row->description, description) != 0); // files of 0.1 have none
        if (compare->any_device || !is_other)
            return EXIT_DONE;
        return say_usage("'%s' has '%s' of another device: '%s' (%s), not '%s' (%s); --any-device compares them all "
                         "the same",
                         path, row->name, device, description, row->device, row->description);
    }
    compare->rows = memory_grow(compare->rows, compare->row_count + 1, sizeof *compare->rows);
    compare->rows[compare->row_count++] = (compare_row){.bench = text_of(run, "bench"),
                                                        .device = device,
                                                        .description = description,
                                                        .name = text_of(object, "name"),
                                                        .stat = text_of(object, "stat"),
                                                        .unit = text_of(object, "unit"),
                                                        .is_latency = strcmp(better, "less") == 0,
                                                        .end = *better != '\0' ? COMPARE_DECIDED : COMPARE_NEITHER};
    return EXIT_DONE;
}

static int note_rows(compare *compare)
{
    size_t at, r;
    json_t *run, *object;
    for (unsigned i = 0; i < compare->file_count; i++)
        json_array_foreach(compare->files[i], at, run) json_array_foreach(json_object_get(run, "rows"), r, object)
        {
            int end = note_row(compare, compare->paths[i], run, object);
            if (end != EXIT_DONE)
                return end;
        }
    return EXIT_DONE;
}

// ---- the samples of a row ------------------------------------------------------------------------------------------

typedef struct samples {
    double *items;
    unsigned count, unusable;
} samples;

static void add_sample(samples *to, double value)
{
    if (value <= 0) {
        to->unusable++;
        return;
    }
    to->items = memory_grow(to->items, to->count + 1, sizeof *to->items);
    to->items[to->count++] = value;
}

static void add_pairs(samples *to, const json_t *object, bool by_ratio)
{
    const json_t *values = json_object_get(object, "values"), *floors = json_object_get(object, "floors");
    for (size_t i = 0; i < json_array_size(values); i++) {
        double value = json_number_value(json_array_get(values, i));
        double floor = json_number_value(json_array_get(floors, i));
        add_sample(to, !by_ratio ? value : floor > 0 ? value / floor : 0);
    }
}

// Of the row's runs in a file, up to `most`. Gives how many there are.
static unsigned find_runs(const json_t *file, const compare_row *row, const json_t **found, unsigned most)
{
    unsigned count = 0;
    size_t at, r;
    json_t *run, *object;
    json_array_foreach(file, at, run)
        json_array_foreach(json_object_get(run, "rows"), r, object) if (is_row(row, run, object) && count < most)
            found[count++] = object;
    return count;
}

enum { MOST_RUNS = 256 };

static samples samples_of(const json_t *file, const compare_row *row)
{
    const json_t *runs[MOST_RUNS];
    unsigned count = find_runs(file, row, runs, MOST_RUNS);
    samples all = {0};
    for (unsigned i = 0; i < count; i++) {
        const json_t *values = json_object_get(runs[i], "values");
        if (count < RUNS_ENOUGH && json_array_size(values) != 0)
            add_pairs(&all, runs[i], row->by_ratio);
        else
            add_sample(&all, number_of(runs[i], row->by_ratio ? "ratio" : "value"));
    }
    return all;
}

static bool has_floors(const json_t *file, const compare_row *row)
{
    const json_t *runs[MOST_RUNS];
    unsigned count = find_runs(file, row, runs, MOST_RUNS);
    for (unsigned i = 0; i < count; i++)
        if (number_of(runs[i], "floor") <= 0)
            return false;
    return true;
}

// ---- verdicts ------------------------------------------------------------------------------------------------------

static int decide_row(compare *compare, compare_row *row, const samples *before, const samples *after)
{
    slr_baseline baseline = SLR_BASELINE_INIT;
    baseline.operation = row->name;
    baseline.is_latency = row->is_latency;
    baseline.tolerance = compare->tolerance;
    baseline.samples = before->items;
    baseline.sample_count = before->count;
    slr_status status = slr_baseline_compare(&baseline, after->items, after->count, &row->result);
    if (status != SLR_OK)
        return say_failure(status, row->name);
    unsigned *counts[] = {NULL, &compare->same, &compare->regressed, &compare->improved, &compare->undecided};
    ++*counts[row->result.verdict];
    return EXIT_DONE;
}

static void note_runs(compare *compare, const compare_row *row)
{
    const json_t *runs[MOST_RUNS];
    for (unsigned i = 0; i < 2; i++) {
        unsigned count = find_runs(compare->files[i == 0 ? 0 : compare->file_count - 1], row, runs, MOST_RUNS);
        if (compare->fewest_runs == 0 || count < compare->fewest_runs)
            compare->fewest_runs = count;
    }
}

// Of a row that a benchmark does not measure on this device, OLD and NEW have a 0 alike, and nothing is lost.
static compare_end end_without_figures(compare *compare, const compare_row *row)
{
    if (row->unusable != 0) {
        compare->unusable++;
        compare->unmeasured += row->old_samples + row->new_samples == 0;
        return COMPARE_UNUSABLE;
    }
    if (row->old_samples != 0 && row->new_samples != 0)
        return COMPARE_DECIDED;
    if (row->old_samples + row->new_samples == 0)
        return COMPARE_HISTORY;
    compare->unmatched++;
    return row->old_samples == 0 ? COMPARE_NEW : COMPARE_MISSING;
}

static int compare_one(compare *compare, compare_row *row)
{
    samples sides[2] = {0};
    const unsigned last = compare->file_count - 1;
    int end = EXIT_DONE;
    row->by_ratio = true;
    for (unsigned i = 0; i <= last; i++)
        row->by_ratio = row->by_ratio && has_floors(compare->files[i], row);
    for (unsigned i = 0; i <= last; i++) {
        samples all = samples_of(compare->files[i], row);
        measure_sort(all.items, all.count);
        row->history[i] = measure_quantile(all.items, all.count, 0.5);
        if (i == 0 || i == last)
            sides[i != 0] = all;
        else
            free(all.items);
    }
    row->old_samples = sides[0].count;
    row->new_samples = sides[1].count;
    row->unusable = sides[0].unusable + sides[1].unusable;
    if (row->end == COMPARE_DECIDED)
        row->end = end_without_figures(compare, row);
    if (row->end == COMPARE_DECIDED) {
        note_runs(compare, row);
        end = decide_row(compare, row, &sides[0], &sides[1]);
    }
    free(sides[0].items);
    free(sides[1].items);
    return end;
}

int compare_decide(compare *compare)
{
    int end = note_rows(compare);
    count_partial(compare);
    for (size_t i = 0; i < compare->row_count && end == EXIT_DONE; i++)
        end = compare_one(compare, &compare->rows[i]);
    return end;
}

int compare_exit_code(const compare *compare)
{
    const unsigned decided = compare->regressed + compare->improved + compare->same + compare->undecided;
    const bool is_incomplete =
        compare->unmatched != 0 || compare->unusable != compare->unmeasured || compare->partial != 0;
    return compare->regressed != 0 ? EXIT_FAILED : is_incomplete || decided == 0 ? EXIT_NO_BASELINE : EXIT_DONE;
}

void compare_free(compare *compare)
{
    for (unsigned i = 0; i < compare->file_count; i++)
        json_decref(compare->files[i]);
    free(compare->rows);
}
