// SPDX-License-Identifier: Apache-2.0
// The command line of `slipring tune`.
#include "tune/tune.h"

#include "kernel/kernel.h"
#include "kernel/option_table.h"
#include "memory.h"
#include "number.h"
#include "say.h"
#include "verbs.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "Usage: slipring tune FILE.cu NAME --size SIZE [OPTION]...\n"
                           "Finds the fastest launch of a kernel by measurement: values of the macros that\n"
                           "the source declares tunable, the block, the vector width, and short branches\n"
                           "with or without jumps (the macro SLIPRING_SELECT). The results of each candidate\n"
                           "are compared with the results of the default launch. A candidate that does not\n"
                           "end, or leaves a buffer, is found and named. The cache folder keeps the\n"
                           "choice, and later launches of this source on this device use it.\n"
                           "\n"
                           "  --size SIZE          threads of a launch, as in SLR_1D and SLR_2D: N, NxM or\n"
                           "                       NxMxK; may be repeated\n"
                           "  --arg NAME=VALUE     as in 'kernel run'. %x, %y and %z are the sides of the\n"
                           "                       size, %n is their product: --arg 'a=float[%n]:random'\n"
                           "  --metric M           time (default): median time of a launch; throughput:\n"
                           "                       median time per launch, of 16 in a row; tail: 99th\n"
                           "                       percentile of the time; energy: mJ of the whole device\n"
                           "                       per launch, if the device counts energy\n"
                           "  --strategy S         model (default), exhaustive, random or local\n"
                           "  --evaluations N      at most N candidates (default: a tenth, at least 12; all,\n"
                           "                       if exhaustive)\n"
                           "  --budget TIME        per size, such as 30s or 5min (default 60s; 10min for\n"
                           "                       energy)\n"
                           "  --repeats N          samples of a candidate (default 5; 2 for energy)\n"
                           "  --seed N             seed of random choices (default 0)\n"
                           "  --tolerance T        maximum relative difference of results (default 0: equal\n"
                           "                       bits). Above 0, later launches need SLR_TUNED_ANY\n"
                           "  --keep WHAT          does not change macros, block, width or branches; may be\n"
                           "                       repeated\n"
                           "  --discard            does not store the choice\n"
                           "  --top N              candidates in the table (default 5)\n"
                           "  --html FILE          a page with a plot of the search\n"
                           "  --device D           default: SLIPRING_DEVICE, then auto\n" SOURCE_HELP
                           "  --json               prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring tune examples/kernels/saxpy.cu saxpy --size 1000000 --arg n=%n \\\n"
                           "    --arg a=2 --arg 'x=float[%n]:random' --arg 'y=float[%n]:zero'\n"
                           "\n"
                           "Exit code: 1 if the default launch fails.\n";

static const char *const metrics[] = {"time", "throughput", "tail", "energy"}; // from 1
static const char *const strategies[] = {"model", "exhaustive", "random", "local"};
enum { METRICS = sizeof metrics / sizeof *metrics, STRATEGIES = sizeof strategies / sizeof *strategies };

const char *tune_metric_name(uint32_t metric)
{
    return metric >= 1 && metric <= METRICS ? metrics[metric - 1] : "own";
}

const char *tune_unit(uint32_t metric)
{
    return metric == SLR_TUNE_ENERGY ? "mJ" : "us";
}

const char *tune_strategy_name(uint32_t strategy)
{
    return strategies[strategy >= 1 && strategy <= STRATEGIES ? strategy - 1 : 0];
}

// The number of a name, from 1.
static int take_name(const char *what, const char *text, const char *const *names, uint32_t count, uint32_t *to)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], text) == 0) {
            *to = i + 1;
            return -1;
        }
    return say_unknown(what, text, names, sizeof *names, count);
}

static int take_metric(const char *option, const char *text, void *to)
{
    (void)option;
    return take_name("metric", text, metrics, METRICS, to);
}

static int take_strategy(const char *option, const char *text, void *to)
{
    (void)option;
    return take_name("strategy", text, strategies, STRATEGIES, to);
}

static int take_kept(const char *option, const char *text, void *flags)
{
    static const char *const names[] = {"macros", "block", "width", "branches"};
    static const uint32_t flag[] = {SLR_TUNE_KEEP_MACROS, SLR_TUNE_KEEP_BLOCK, SLR_TUNE_KEEP_WIDTH,
                                    SLR_TUNE_KEEP_BRANCHES};
    uint32_t number = 0;
    int end = take_name("part of a launch", text, names, 4, &number);
    (void)option;
    if (end == -1)
        *(uint32_t *)flags |= flag[number - 1];
    return end;
}

static int take_count(const char *option, const char *text, void *to)
{
    if (number_parse(SLR_U32, text, to) && *(uint32_t *)to > 0)
        return -1;
    return say_usage("%s: '%s' is not a whole number from 1 to 4294967295", option, text);
}

static int take_budget(const char *option, const char *text, void *to_ns)
{
    if (number_parse_duration(text, to_ns) && *(uint64_t *)to_ns > 0)
        return -1;
    return say_usage("%s: '%s' is not a time such as 30s or 5min", option, text);
}

static int take_tolerance(const char *option, const char *text, void *to)
{
    if (number_parse(SLR_F64, text, to) && isfinite(*(double *)to) && *(double *)to >= 0)
        return -1;
    return say_usage("%s: '%s' is not a finite number from 0, such as 1e-5", option, text);
}

static int take_problem(const char *option, const char *text, void *options)
{
    tune_options *out = options;
    tune_problem problem = {0};
    int end = option_take_size(option, text, problem.size);
    if (end != -1)
        return end;
    out->problems = memory_grow(out->problems, out->problem_count + 1, sizeof *out->problems);
    out->problems[out->problem_count++] = problem;
    return -1;
}

int tune_options_parse(int argc, char **argv, tune_options *out)
{
    *out = (tune_options){.top = 5};
    out->desc = (slr_tune_desc)SLR_TUNE_DESC_INIT;
    bool discards = false;
    const option_row rows[] = {{"size", take_problem, out},
                               {"arg", option_take_list, &out->arguments},
                               {"metric", take_metric, &out->desc.metric},
                               {"strategy", take_strategy, &out->desc.strategy},
                               {"evaluations", take_count, &out->desc.evaluations},
                               {"budget", take_budget, &out->desc.budget_ns},
                               {"repeats", take_count, &out->desc.repeats},
                               {"seed", option_take_u64, &out->desc.seed},
                               {"tolerance", take_tolerance, &out->desc.tolerance},
                               {"keep", take_kept, &out->desc.flags},
                               {"discard", NULL, &discards},
                               {"top", take_count, &out->top},
                               {"html", option_take_text, &out->html},
                               {"device", option_take_text, &out->device},
                               {"json", NULL, &out->json},
                               {0}};
    int end = option_table_read(argc, argv, rows, &out->source, help);
    if (end != -1)
        return end;
    out->desc.flags |= discards ? SLR_TUNE_DISCARD : 0;
    if (argc - optind < 2)
        return say_usage(argc == optind ? "FILE.cu and the kernel's NAME are missing" : "the kernel's NAME is missing");
    if (argc - optind > 2)
        return say_usage("only one FILE.cu and one NAME are allowed, not also '%s'", argv[optind + 2]);
    if (out->problem_count == 0)
        return say_usage("--size is missing");
    out->file = argv[optind];
    out->name = argv[optind + 1];
    return -1;
}

void tune_options_free(tune_options *options)
{
    for (uint32_t i = 0; i < options->problem_count; i++) {
        for (size_t k = 0; k < options->problems[i].tried_count; k++) {
            free(options->problems[i].tried[k].defines);
            free(options->problems[i].tried[k].why);
        }
        free(options->problems[i].tried);
    }
    free(options->problems);
    free(options->arguments.items);
    source_options_free(&options->source);
}
