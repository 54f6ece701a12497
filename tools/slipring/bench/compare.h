// SPDX-License-Identifier: Apache-2.0
/// The parts of `slipring bench compare`: files of rows, each row's verdict, and how they are shown.
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include <slipring/baseline.h>

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { COMPARE_FILES = 64, COMPARE_RUNS = 3 }; // runs: from so many on each is one sample

typedef enum compare_end {
    COMPARE_DECIDED,
    COMPARE_NEW,     // not in OLD
    COMPARE_MISSING, // not in NEW
    COMPARE_HISTORY, // neither in OLD nor in NEW
    COMPARE_NEITHER, // of its unit neither less nor more is better
    COMPARE_UNUSABLE // a sample in OLD or NEW is no number above 0, so that it is part of no ratio
} compare_end;

/// One row of one benchmark, in all files.
typedef struct compare_row {
    const char *bench, *device, *description, *name, *stat, *unit; // the files'
    bool is_latency, by_ratio;
    compare_end end;
    slr_comparison result;             // of COMPARE_DECIDED
    unsigned old_samples, new_samples; // numbers above 0
    unsigned unusable;                 // other samples in OLD and NEW
    double history[COMPARE_FILES];     // medians, in the files' order; 0: not there
} compare_row;

typedef struct compare {
    const char *paths[COMPARE_FILES]; // the first is OLD, the last NEW
    json_t *files[COMPARE_FILES];     // of each the objects of all its runs
    unsigned file_count;
    double tolerance;
    bool any_device;
    compare_row *rows;
    size_t row_count;
    unsigned fewest_runs; // of a decided row in OLD or NEW; 0: no row is decided
    unsigned regressed, improved, same, undecided, unmatched, unusable;
    unsigned unmeasured; // of the `unusable`: those without a number above 0 in both, OLD and NEW
    unsigned partial;    // runs in OLD and NEW of which a part failed
} compare;

/// Reads the files. An exit code; what is not EXIT_DONE has been said.
int compare_read(compare *compare);

/// Decides on each row. An exit code, as above.
int compare_decide(compare *compare);

void compare_free(compare *compare);

/// Whether the run, one of a file's objects, says that a part of it failed.
bool compare_is_partial(const json_t *run);

/// The exit code that the verdicts make.
int compare_exit_code(const compare *compare);

const char *compare_verdict(const compare_row *row);
void compare_show_table(const compare *compare);
void compare_show_markdown(const compare *compare);
json_t *compare_object(const compare *compare);

#endif
