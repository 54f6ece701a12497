// SPDX-License-Identifier: Apache-2.0
/// What `slipring kernel check` has to say, whoever found it: the front end or the checker. And three ways to say it.
#ifndef FINDING_H
#define FINDING_H

#include <slipring/check.h>
#include <slipring/program.h>

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct finding_place {
    char *file; // NULL: nowhere
    unsigned line, column;
    unsigned block[3], thread[3];
    bool has_thread;
} finding_place;

typedef struct finding {
    char code[16]; // "SLR-C010"
    slr_check_level level;
    char *name;             // "shared-race"; NULL where only the number names it
    char *message, *advice; // advice may be NULL
    char *kernel;           // NULL: the file did not compile
    char *give;             // options for what was made up and it depends on; NULL: nothing
    finding_place at, other;
    unsigned long long count;
} finding;

typedef struct findings {
    finding *items;
    size_t count;
} findings;

void findings_free(findings *all);

/// What a check found.
void findings_take(findings *all, const slr_check *check);

/// What is in the message of a program that did not compile: "FILE:LINE:COLUMN: error SLR-K012: TEXT" and what follows.
/// Where there is no such line the whole message is one finding at `file`.
void findings_take_errors(findings *all, const char *file, const char *message);

/// That a kernel was left out of its program is the error.
const finding *findings_take_left_out(findings *all, const slr_skipped_info *skipped);

size_t findings_count(const findings *all, slr_check_level level);

const char *finding_level_name(slr_check_level level);

/// As the front end prints its diagnostics: place, number, text, the line with a caret, advice, notes.
void finding_print(const finding *one);

json_t *finding_json(const finding *one);

/// Writes a SARIF 2.1.0 log of them all. False: the file cannot be written, and that has been said.
bool findings_write_sarif(const findings *all, const char *path);

#endif
