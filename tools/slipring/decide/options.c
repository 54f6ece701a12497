// SPDX-License-Identifier: Apache-2.0
// The command line of `slipring decide`.
#include "decide/parts.h"

#include "kernel/kernel.h"
#include "number.h"
#include "say.h"
#include "verbs.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "Usage: slipring decide FILE.cu NAME --size SIZE [OPTION]...\n"
                           "       slipring decide --workload NAME [OPTION]...\n"
                           "       slipring decide --print-model --device D\n"
                           "Says on which device a kernel is best done, and why. Open devices are predicted\n"
                           "from figures that were measured on them, and measured where that is close;\n"
                           "others are predicted from files of figures.\n"
                           "\n"
                           "  --size SIZE          threads of a launch: N, NxM or NxMxK\n"
                           "  --arg NAME=VALUE     as in 'kernel run'. %x, %y and %z are the sides of the\n"
                           "                       size, %n is their product: --arg 'a=float[%n]:random'\n"
                           "  --workload NAME      work that comes with slipring: matrix, sequence, tensor,\n"
                           "                       io, deep or control; or one that was held out: gram,\n"
                           "                       bodies, token, filter, stencil, squares, packets,\n"
                           "                       lines, dense, normal, sorted, machine\n"
                           "  --device D           a candidate; may be repeated. Default: all that open;\n"
                           "                       with --model: cpu\n"
                           "  --model FILE         a device that is not here: a file, h100 or cpu2; may be\n"
                           "                       repeated\n"
                           "  --rate R             calls per second, which arrive at random (open loop)\n"
                           "  --latency TIME       that 99 % of the calls shall keep to, such as 2ms\n"
                           "  --resident           data stays on the device between calls\n"
                           "  --launches N         per call, one after the other (default 1)\n"
                           "  --wait-share P       part of a call on the CPU that waits for input or output,\n"
                           "                       0 to below 1\n"
                           "  --divergence P       lanes that wait while others branch, 0 to 1; default:\n"
                           "                       from the interpreter\n"
                           "  --call LIB.so:NAME   the work as a plain C function, void NAME(void), which is\n"
                           "                       measured. Without --measure and --call a plain call on\n"
                           "                       one core is predicted\n"
                           "  --measure            measures on all open devices\n"
                           "  --predict            measures nothing\n"
                           "  --budget TIME        of measuring (default 2s)\n"
                           "  --print-model        prints the figures of each --device, for --model\n" SOURCE_HELP
                           "  --json               prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring decide examples/kernels/saxpy.cu saxpy --size 1000000 --arg n=%n \\\n"
                           "    --arg a=2 --arg 'x=float[%n]:random' --arg 'y=float[%n]:zero' --model h100\n";

enum {
    SIZE = 256,
    ARG,
    WORKLOAD,
    DEVICE,
    MODEL,
    RATE,
    LATENCY,
    RESIDENT,
    LAUNCHES,
    WAIT_SHARE,
    DIVERGENCE,
    MEASURE,
    PREDICT,
    BUDGET,
    CALL,
    PRINT_MODEL,
    JSON
};

static const struct option long_options[] = {SOURCE_LONG,
                                             {"size", required_argument, NULL, SIZE},
                                             {"arg", required_argument, NULL, ARG},
                                             {"workload", required_argument, NULL, WORKLOAD},
                                             {"device", required_argument, NULL, DEVICE},
                                             {"model", required_argument, NULL, MODEL},
                                             {"rate", required_argument, NULL, RATE},
                                             {"latency", required_argument, NULL, LATENCY},
                                             {"resident", no_argument, NULL, RESIDENT},
                                             {"launches", required_argument, NULL, LAUNCHES},
                                             {"wait-share", required_argument, NULL, WAIT_SHARE},
                                             {"divergence", required_argument, NULL, DIVERGENCE},
                                             {"measure", no_argument, NULL, MEASURE},
                                             {"predict", no_argument, NULL, PREDICT},
                                             {"budget", required_argument, NULL, BUDGET},
                                             {"call", required_argument, NULL, CALL},
                                             {"print-model", no_argument, NULL, PRINT_MODEL},
                                             {"json", no_argument, NULL, JSON},
                                             {"help", no_argument, NULL, 'h'},
                                             {0}};

static int take_real(const char *option, const char *text, double most, double *to)
{
    if (number_parse(SLR_F64, text, to) && *to >= 0 && *to <= most)
        return -1;
    return most > 1 ? say_usage("%s: '%s' is not a number from 0", option, text)
                    : say_usage("%s: '%s' is not a number from 0 to 1", option, text);
}

static int take_time(const char *option, const char *text, uint64_t *to_ns)
{
    if (number_parse_duration(text, to_ns) && *to_ns > 0)
        return -1;
    return say_usage("%s: '%s' is not a time such as 2ms or 1s", option, text);
}

static int take_launches(const char *text, uint32_t *to)
{
    if (number_parse(SLR_U32, text, to) && *to > 0)
        return -1;
    return say_usage("--launches: '%s' is not a whole number from 1", text);
}

static int take_workload(decide_options *out, const char *name)
{
    out->workload = decide_find_workload(name);
    return out->workload != NULL ? -1 : EXIT_USAGE;
}

static int take_work(int option, const char *text, slr_work *work)
{
    switch (option) {
    case RATE:
        return take_real("--rate", text, 1e12, &work->calls_per_second);
    case LATENCY:
        return take_time("--latency", text, &work->latency_ns);
    case LAUNCHES:
        return take_launches(text, &work->launches);
    case WAIT_SHARE:
        return take_real("--wait-share", text, 0.999999, &work->wait_share);
    case DIVERGENCE:
        return take_real("--divergence", text, 1, &work->divergence);
    case BUDGET:
        return take_time("--budget", text, &work->budget_ns);
    case RESIDENT:
        work->resident = 1;
        return -1;
    default:
        work->measure = option == MEASURE ? SLR_MEASURE_ALWAYS : SLR_MEASURE_NEVER;
        return -1;
    }
}

static int take_option(int option, char **argv, decide_options *out)
{
    switch (option) {
    case SIZE:
        return kernel_take_size(optarg, out->size);
    case ARG:
        return run_list_add(&out->arguments, optarg);
    case WORKLOAD:
        return take_workload(out, optarg);
    case DEVICE:
        return run_list_add(&out->devices, optarg);
    case MODEL:
        return run_list_add(&out->models, optarg);
    case CALL:
        out->call = optarg;
        return -1;
    case PRINT_MODEL:
        out->prints_model = true;
        return -1;
    case JSON:
        out->json = true;
        return -1;
    case 'h':
        fputs(help, stdout);
        return EXIT_DONE;
    case RATE:
    case LATENCY:
    case RESIDENT:
    case LAUNCHES:
    case WAIT_SHARE:
    case DIVERGENCE:
    case MEASURE:
    case PREDICT:
    case BUDGET:
        return take_work(option, optarg, &out->work);
    default:
        return source_options_take(&out->source, option, optarg) ? -1 : say_refused_option(option, argv);
    }
}

// What the workload says and the command line does not.
static void settle_workload(decide_options *out)
{
    const decide_workload *workload = out->workload;
    slr_work *work = &out->work;
    out->file = out->name = workload->name;
    if (out->size[0] == 0)
        memcpy(out->size, workload->size, sizeof out->size);
    for (size_t i = 0; workload->arguments[i] != NULL && out->arguments.count <= i; i++)
        run_list_add(&out->arguments, workload->arguments[i]);
    work->launches = work->launches != 0 ? work->launches : workload->launches;
    work->resident |= workload->resident;
    work->calls_per_second = work->calls_per_second > 0 ? work->calls_per_second : workload->rate;
    work->wait_share = work->wait_share > 0 ? work->wait_share : workload->wait_share;
}

int decide_options_parse(int argc, char **argv, decide_options *out)
{
    *out = (decide_options){0};
    out->work = (slr_work)SLR_WORK_INIT;
    for (int option; (option = getopt_long(argc, argv, ":h" SOURCE_SHORT, long_options, NULL)) != -1;) {
        int end = take_option(option, argv, out);
        if (end != -1)
            return end;
    }
    int left = argc - optind, wanted = out->workload != NULL || out->prints_model ? 0 : 2;
    if (left < wanted)
        return say_usage(left == 0 ? "FILE.cu and the kernel's NAME are missing, or --workload"
                                   : "the kernel's NAME is missing");
    if (left > wanted)
        return say_usage("'%s' is one argument too many", argv[optind + wanted]);
    if (out->prints_model)
        return out->devices.count > 0 ? -1 : say_usage("--print-model: --device is missing");
    if (out->workload != NULL) {
        settle_workload(out);
        return -1;
    }
    if (out->size[0] == 0)
        return say_usage("--size is missing");
    out->file = argv[optind];
    out->name = argv[optind + 1];
    return -1;
}

void decide_options_free(decide_options *options)
{
    free(options->arguments.items);
    free(options->devices.items);
    free(options->models.items);
    source_options_free(&options->source);
}
