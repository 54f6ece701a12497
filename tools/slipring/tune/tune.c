// SPDX-License-Identifier: Apache-2.0
// `slipring tune`: one kernel, one size after the other.
#define _GNU_SOURCE
#include "tune/tune.h"

#include "device_option.h"
#include "kernel/kernel.h"
#include "memory.h"
#include "output.h"
#include "page_file.h"
#include "progress.h"
#include "say.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

extern const char tune_embedded_page[]; // from the build: cmake/SlipringTools.cmake

typedef struct tuning {
    tune_options options;
    slr_device *device;
    slr_device_info info;
    slr_program *program;
    slr_kernel *kernel;
    slr_function_info function;
    tune_problem *problem; // that is being tuned
} tuning;

static char *copy_text(const char *text)
{
    char *copy = memory_take(strlen(text) + 1, 1);
    memcpy(copy, text, strlen(text));
    return copy;
}

// ---- what the library tells ----------------------------------------------------------------------------------------

static void note_tried(void *user, const slr_tune_candidate *candidate)
{
    tuning *tuning = user;
    tune_problem *problem = tuning->problem;
    char size[KERNEL_SIZE_BYTES];
    problem->tried = memory_grow(problem->tried, problem->tried_count + 1, sizeof *problem->tried);
    problem->tried[problem->tried_count++] = (tune_tried){.defines = copy_text(candidate->defines),
                                                          .why = copy_text(candidate->why),
                                                          .shape = candidate->shape,
                                                          .state = candidate->state,
                                                          .is_default = candidate->is_default,
                                                          .cost = candidate->cost,
                                                          .predicted = candidate->predicted};
    problem->space = candidate->space;
    kernel_spell_size(problem->size, size);
    progress_step("%s %s: %u of %u candidates tried", tuning->options.name, size, candidate->evaluation,
                  candidate->most);
}

// ---- a problem -----------------------------------------------------------------------------------------------------

static int tune_size(tuning *tuning, tune_problem *problem)
{
    kernel_arguments arguments = {0};
    tuning->problem = problem;
    int end = kernel_arguments_sized(&arguments, tuning->device, &tuning->function, &tuning->options.arguments,
                                     problem->size);
    if (end == EXIT_DONE) {
        slr_tune_desc desc = tuning->options.desc;
        slr_tune_problem what = {.args = arguments.items, .arg_count = arguments.count};
        memcpy(what.shape.threads, problem->size, sizeof what.shape.threads);
        desc.watch = note_tried;
        desc.user = tuning;
        slr_status status = slr_tune(tuning->kernel, &what, 1, &desc, &problem->result);
        progress_end();
        end = status == SLR_OK ? EXIT_DONE : kernel_say_status(status);
    }
    kernel_arguments_free(&arguments);
    return end;
}

// ---- the verb ------------------------------------------------------------------------------------------------------

static int write_results(const tuning *tuning)
{
    const tune_options *options = &tuning->options;
    json_t *object = options->json || options->html != NULL ? tune_json(options, tuning->info.name) : NULL;
    bool fine = options->html == NULL || page_file_write(tune_embedded_page, "--html", options->html, object);
    if (options->json)
        kernel_print_object(object);
    else
        json_decref(object);
    return fine ? EXIT_DONE : EXIT_FAILED;
}

static int tune_all(tuning *tuning)
{
    tune_options *options = &tuning->options;
    int end = device_option_open(options->device, NULL, &tuning->device, &tuning->info);
    if (end == EXIT_DONE)
        end = kernel_load(tuning->device, options->file, &options->source, &tuning->program);
    if (end == EXIT_DONE)
        end = source_options_require(&options->source, tuning->program, options->file);
    if (end == EXIT_DONE)
        end = kernel_find(tuning->program, options->file, options->name, &tuning->kernel, &tuning->function);
    for (uint32_t i = 0; i < options->problem_count && end == EXIT_DONE; i++) {
        end = tune_size(tuning, &options->problems[i]);
        if (end == EXIT_DONE && !options->json)
            tune_print(options, &options->problems[i]);
    }
    return end == EXIT_DONE ? write_results(tuning) : end;
}

int verb_tune(int argc, char **argv)
{
    tuning tuning = {0};
    const tune_options *options = &tuning.options;
    int end = tune_options_parse(argc, argv, &tuning.options);
    if (end == -1) {
        end = options->html != NULL ? output_try("--html", options->html, options->file) : EXIT_DONE;
        end = end == EXIT_DONE ? tune_all(&tuning) : end;
    }
    slr_kernel_destroy(tuning.kernel);
    slr_program_destroy(tuning.program);
    slr_device_close(tuning.device);
    tune_options_free(&tuning.options);
    return end;
}
