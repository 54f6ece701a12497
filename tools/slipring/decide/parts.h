// SPDX-License-Identifier: Apache-2.0
/// The parts of `slipring decide`: what was asked, devices as files of figures, and the answer.
#ifndef DECIDE_PARTS_H
#define DECIDE_PARTS_H

#include "kernel/source_options.h"

#include <slipring/decide.h>

#include <jansson.h>

/// Work that comes with slipring: one line of the field's table of what belongs on a GPU.
typedef struct decide_workload {
    const char *name, *help, *text; // `text`: its source
    uint64_t size[3];
    const char *arguments[6]; // until NULL; as --arg has them
    uint32_t launches;
    bool resident;
    double rate, wait_share;
} decide_workload;

/// NULL: there is none of that name, which was said.
const decide_workload *decide_find_workload(const char *name);

typedef struct decide_options {
    const char *file, *name;
    const decide_workload *workload; // or NULL: a file
    const char *call;                // LIBRARY:FUNCTION, or NULL
    source_options source;
    run_list arguments, devices, models;
    uint64_t size[3];
    slr_work work; // figures and flags of the command line
    bool json, prints_model;
} decide_options;

/// Fills `out`. Returns -1 where the verb shall go on, else the exit code to end with.
int decide_options_parse(int argc, char **argv, decide_options *out);
void decide_options_free(decide_options *options);

/// The figures of a file, or of the models that come with slipring. Returns an exit code; what is not EXIT_DONE was
/// said.
int decide_read_model(const char *path, slr_device_model *out);
json_t *decide_model_json(const slr_device_model *model);

const char *decide_class_name(uint32_t device_class);

typedef struct decide_answer {
    slr_estimate estimates[SLR_MOST_CANDIDATES];
    uint32_t count;
    slr_decision decision;
} decide_answer;

void decide_print(const decide_options *options, const decide_answer *answer);
json_t *decide_json(const decide_options *options, const decide_answer *answer);

#endif
