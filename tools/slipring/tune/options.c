// SPDX-License-Identifier: Apache-2.0
// The command line of `slipring tune`.
#include "tune/tune.h"

#include "kernel/kernel.h"
#include "memory.h"
#include "number.h"
#include "say.h"
#include "verbs.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "Usage: slipring tune FILE.cu NAME --size SIZE [OPTION]...\n"
                           "Finds the fastest launch of a kernel by measurement: values of the macros that\n"
                           "the source declares tunable, the block, the vector width, and short branches as\n"
                           "jumps or without (the macro SLIPRING_SELECT). Each candidate's results are\n"
                           "compared with the default's. The choice is kept in the cache folder; later\n"
                           "launches of this source on this device use it.\n"
                           "\n"
                           "  --size SIZE          threads of a launch, as SLR_1D and SLR_2D have them: N,\n"
                           "                       NxM or NxMxK; may be repeated\n"
                           "  --arg NAME=VALUE     as in 'kernel run'. %x, %y and %z are the sides of the\n"
                           "                       size, %n is their product: --arg 'a=float[%n]:random'\n"
                           "  --metric M           time (default): the median; throughput: of launches in a\n"
                           "                       row; tail: the 99th percentile; energy\n"
                           "  --strategy S         model (default), exhaustive, random or local\n"
                           "  --evaluations N      at most N candidates (default: a tenth, at least 12; all,\n"
                           "                       if exhaustive)\n"
                           "  --budget TIME        per size, such as 30s or 5min (default 60s)\n"
                           "  --repeats N          samples of a candidate (default 5)\n"
                           "  --seed N             of what is drawn (default 0)\n"
                           "  --tolerance T        results may differ by this much, relative (default 0: bit\n"
                           "                       for bit). Later launches then need SLR_TUNED_ANY\n"
                           "  --keep WHAT          macros, block, width or branches: stays as it is; may be\n"
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
                           "Exit code: 1 if the default fails.\n";

enum {
    SIZE = 256,
    ARG,
    METRIC,
    STRATEGY,
    EVALUATIONS,
    BUDGET,
    REPEATS,
    SEED,
    TOLERANCE,
    KEEP,
    DISCARD,
    TOP,
    HTML,
    DEVICE,
    JSON
};

static const struct option long_options[] = {SOURCE_LONG,
                                             {"size", required_argument, NULL, SIZE},
                                             {"arg", required_argument, NULL, ARG},
                                             {"metric", required_argument, NULL, METRIC},
                                             {"strategy", required_argument, NULL, STRATEGY},
                                             {"evaluations", required_argument, NULL, EVALUATIONS},
                                             {"budget", required_argument, NULL, BUDGET},
                                             {"repeats", required_argument, NULL, REPEATS},
                                             {"seed", required_argument, NULL, SEED},
                                             {"tolerance", required_argument, NULL, TOLERANCE},
                                             {"keep", required_argument, NULL, KEEP},
                                             {"discard", no_argument, NULL, DISCARD},
                                             {"top", required_argument, NULL, TOP},
                                             {"html", required_argument, NULL, HTML},
                                             {"device", required_argument, NULL, DEVICE},
                                             {"json", no_argument, NULL, JSON},
                                             {"help", no_argument, NULL, 'h'},
                                             {0}};

static const char *const metrics[] = {"time", "throughput", "tail", "energy"}; // from 1
static const char *const strategies[] = {"model", "exhaustive", "random", "local"};
enum { METRICS = sizeof metrics / sizeof *metrics, STRATEGIES = sizeof strategies / sizeof *strategies };

const char *tune_metric_name(uint32_t metric)
{
    return metric >= 1 && metric <= METRICS ? metrics[metric - 1] : "own";
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

static int take_kept(const char *text, uint32_t *flags)
{
    static const char *const names[] = {"macros", "block", "width", "branches"};
    static const uint32_t flag[] = {SLR_TUNE_KEEP_MACROS, SLR_TUNE_KEEP_BLOCK, SLR_TUNE_KEEP_WIDTH,
                                    SLR_TUNE_KEEP_BRANCHES};
    uint32_t number = 0;
    int end = take_name("part of a launch", text, names, 4, &number);
    if (end == -1)
        *flags |= flag[number - 1];
    return end;
}

static int take_count(const char *option, const char *text, uint32_t *to)
{
    if (number_parse(SLR_U32, text, to) && *to > 0)
        return -1;
    return say_usage("%s: '%s' is not a whole number from 1 to 4294967295", option, text);
}

static int take_size(tune_options *out, const char *text)
{
    tune_problem problem = {0};
    int end = kernel_take_size(text, problem.size);
    if (end != -1)
        return end;
    out->problems = memory_grow(out->problems, out->problem_count + 1, sizeof *out->problems);
    out->problems[out->problem_count++] = problem;
    return -1;
}

static int take_search(int option, const char *text, tune_options *out)
{
    switch (option) {
    case METRIC:
        return take_name("metric", text, metrics, METRICS, &out->desc.metric);
    case STRATEGY:
        return take_name("strategy", text, strategies, STRATEGIES, &out->desc.strategy);
    case EVALUATIONS:
        return take_count("--evaluations", text, &out->desc.evaluations);
    case REPEATS:
        return take_count("--repeats", text, &out->desc.repeats);
    case BUDGET:
        return number_parse_duration(text, &out->desc.budget_ns) && out->desc.budget_ns > 0
                   ? -1
                   : say_usage("--budget: '%s' is not a time such as 30s or 5min", text);
    case SEED:
        return number_parse(SLR_U64, text, &out->desc.seed)
                   ? -1
                   : say_usage("--seed: '%s' is not %s", text, number_takes(SLR_U64));
    default: // TOLERANCE
        return number_parse(SLR_F64, text, &out->desc.tolerance) && out->desc.tolerance >= 0
                   ? -1
                   : say_usage("--tolerance: '%s' is not a number from 0", text);
    }
}

static int take_option(int option, char **argv, tune_options *out)
{
    switch (option) {
    case SIZE:
        return take_size(out, optarg);
    case ARG:
        return run_list_add(&out->arguments, optarg);
    case METRIC:
    case STRATEGY:
    case EVALUATIONS:
    case REPEATS:
    case BUDGET:
    case SEED:
    case TOLERANCE:
        return take_search(option, optarg, out);
    case KEEP:
        return take_kept(optarg, &out->desc.flags);
    case DISCARD:
        out->desc.flags |= SLR_TUNE_DISCARD;
        return -1;
    case TOP:
        return take_count("--top", optarg, &out->top);
    case HTML:
        out->html = optarg;
        return -1;
    case DEVICE:
        out->device = optarg;
        return -1;
    case JSON:
        out->json = true;
        return -1;
    case 'h':
        fputs(help, stdout);
        return EXIT_DONE;
    default:
        return source_options_take(&out->source, option, optarg) ? -1 : say_refused_option(option, argv);
    }
}

int tune_options_parse(int argc, char **argv, tune_options *out)
{
    *out = (tune_options){.top = 5};
    out->desc = (slr_tune_desc)SLR_TUNE_DESC_INIT;
    for (int option; (option = getopt_long(argc, argv, ":h" SOURCE_SHORT, long_options, NULL)) != -1;) {
        int end = take_option(option, argv, out);
        if (end != -1)
            return end;
    }
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
