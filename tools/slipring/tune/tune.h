// SPDX-License-Identifier: Apache-2.0
/// The parts of `slipring tune`: what was asked, and what each problem came to.
#ifndef TUNE_H
#define TUNE_H

#include "kernel/source_options.h"

#include <slipring/tune.h>

#include <jansson.h>

/// A candidate that was tried; a copy of what the library told.
typedef struct tune_tried {
    char *defines, *why;
    slr_shape shape;
    slr_tune_state state;
    bool is_default;
    double cost, predicted;
} tune_tried;

typedef struct tune_problem {
    uint64_t size[3];
    slr_tuned result;
    tune_tried *tried;
    size_t tried_count;
    uint32_t space;
} tune_problem;

typedef struct tune_options {
    const char *file, *name, *device, *html;
    source_options source;
    run_list arguments;
    tune_problem *problems;
    uint32_t problem_count, top;
    slr_tune_desc desc;
    bool json;
} tune_options;

/// Fills `out`. Returns -1 where the verb shall go on, else the exit code to end with.
int tune_options_parse(int argc, char **argv, tune_options *out);
void tune_options_free(tune_options *options);

const char *tune_metric_name(uint32_t metric);
const char *tune_unit(uint32_t metric); ///< of a thousand of its costs: "us" or "mJ"
const char *tune_strategy_name(uint32_t strategy);
const char *tune_state_name(slr_tune_state state);

/// A choice in words: "TILE=16, block 16x16"; "the default" of none.
enum { TUNE_CHOICE_BYTES = 400 };
void tune_spell_choice(const char *defines, const slr_shape *shape, bool is_default, char to[TUNE_CHOICE_BYTES]);

void tune_print(const tune_options *options, const tune_problem *problem);
json_t *tune_json(const tune_options *options, const char *device);

#endif
