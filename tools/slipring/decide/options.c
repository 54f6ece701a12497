// SPDX-License-Identifier: Apache-2.0
// The command line of `slipring decide`.
#include "decide/parts.h"

#include "kernel/kernel.h"
#include "kernel/option_table.h"
#include "number.h"
#include "say.h"
#include "verbs.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "Usage: slipring decide FILE.cu NAME --size SIZE [OPTION]...\n"
                           "       slipring decide --workload NAME [OPTION]...\n"
                           "       slipring decide --print-model --device D\n"
                           "Says on which device a kernel is fastest, and why. Predicts times on open\n"
                           "devices from figures that were measured there, and measures if two predictions\n"
                           "are close. Predicts times on other devices from files of figures.\n"
                           "\n"
                           "  --size SIZE          threads of a launch: N, NxM or NxMxK\n"
                           "  --arg NAME=VALUE     as in 'kernel run'. %x, %y and %z are the sides of the\n"
                           "                       size, %n is their product: --arg 'a=float[%n]:random'\n"
                           "  --workload NAME      work that comes with slipring: matrix, sequence, tensor,\n"
                           "                       io, deep or control; or a workload of the test set: gram,\n"
                           "                       bodies, token, filter, stencil, squares, packets,\n"
                           "                       lines, dense, normal, sorted, machine. --size and each\n"
                           "                       --arg replace what the workload has\n"
                           "  --device D           a candidate; may be repeated. Default: all that open;\n"
                           "                       with --model: cpu\n"
                           "  --model FILE         a device that this machine lacks: its file of figures,\n"
                           "                       or h100 or cpu2; may be repeated\n"
                           "  --rate R             calls per second, which arrive at random (open loop)\n"
                           "  --latency TIME       maximum time for 99 % of the calls, such as 2ms\n"
                           "  --resident           data stays on the device between calls\n"
                           "  --launches N         launches per call, one after the other (default 1)\n"
                           "  --wait-share P       part of a call on the CPU that waits for input or output,\n"
                           "                       0 to below 1\n"
                           "  --divergence P       part of a warp's threads that wait while others branch,\n"
                           "                       0 to 1; default: counted by the interpreter\n"
                           "  --call LIB.so:NAME   the work as a plain C function, void NAME(void), which is\n"
                           "                       measured. Without --measure and --call a plain call on\n"
                           "                       one core is predicted\n"
                           "  --measure            measures on all open devices\n"
                           "  --predict            measures nothing\n"
                           "  --budget TIME        maximum time of measuring (default 2s)\n"
                           "  --print-model        prints the figures of each --device, for --model\n" SOURCE_HELP
                           "  --json               prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring decide examples/kernels/saxpy.cu saxpy --size 1000000 --arg n=%n \\\n"
                           "    --arg a=2 --arg 'x=float[%n]:random' --arg 'y=float[%n]:zero' --model h100\n";

static int take_real(const char *option, const char *text, double most, double *to)
{
    if (number_parse(SLR_F64, text, to) && *to >= 0 && *to <= most)
        return -1;
    return say_usage("%s: '%s' is not a number from 0 to %g", option, text, most);
}

static int take_rate(const char *option, const char *text, void *to)
{
    return take_real(option, text, 1e12, to);
}

static int take_share(const char *option, const char *text, void *to)
{
    return take_real(option, text, 1, to);
}

static int take_wait_share(const char *option, const char *text, void *to)
{
    if (number_parse(SLR_F64, text, to) && *(double *)to >= 0 && *(double *)to < 1)
        return -1;
    return say_usage("%s: '%s' is not a number from 0 to below 1", option, text);
}

static int take_time(const char *option, const char *text, void *to_ns)
{
    if (number_parse_duration(text, to_ns) && *(uint64_t *)to_ns > 0)
        return -1;
    return say_usage("%s: '%s' is not a time such as 2ms or 1s", option, text);
}

static int take_launches(const char *option, const char *text, void *to)
{
    if (number_parse(SLR_U32, text, to) && *(uint32_t *)to > 0)
        return -1;
    return say_usage("%s: '%s' is not a whole number from 1", option, text);
}

static int take_workload(const char *option, const char *name, void *to)
{
    const decide_workload *found = decide_find_workload(name);
    (void)option;
    *(const decide_workload **)to = found;
    return found != NULL ? -1 : EXIT_USAGE;
}

static bool is_given(const run_list *arguments, uint32_t count, const char *other)
{
    const size_t length = strcspn(other, "=") + 1;
    for (uint32_t i = 0; i < count; i++)
        if (strncmp(arguments->items[i], other, length) == 0)
            return true;
    return false;
}

// What the workload says and the command line does not.
static void settle_workload(decide_options *out)
{
    const decide_workload *workload = out->workload;
    slr_work *work = &out->work;
    out->file = out->name = workload->name;
    if (out->size[0] == 0)
        memcpy(out->size, workload->size, sizeof out->size);
    const uint32_t given = out->arguments.count;
    for (size_t i = 0; workload->arguments[i] != NULL; i++)
        if (!is_given(&out->arguments, given, workload->arguments[i]))
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
    bool is_resident = false, measures = false, predicts = false;
    const option_row rows[] = {{"size", option_take_size, out->size},
                               {"arg", option_take_list, &out->arguments},
                               {"workload", take_workload, &out->workload},
                               {"device", option_take_list, &out->devices},
                               {"model", option_take_list, &out->models},
                               {"rate", take_rate, &out->work.calls_per_second},
                               {"latency", take_time, &out->work.latency_ns},
                               {"resident", NULL, &is_resident},
                               {"launches", take_launches, &out->work.launches},
                               {"wait-share", take_wait_share, &out->work.wait_share},
                               {"divergence", take_share, &out->work.divergence},
                               {"measure", NULL, &measures},
                               {"predict", NULL, &predicts},
                               {"budget", take_time, &out->work.budget_ns},
                               {"call", option_take_text, &out->call},
                               {"print-model", NULL, &out->prints_model},
                               {"json", NULL, &out->json},
                               {0}};
    int end = option_table_read(argc, argv, rows, &out->source, help);
    if (end != -1)
        return end;
    if (measures && predicts)
        return say_usage("--measure and --predict: give one of them");
    out->work.resident = is_resident;
    out->work.measure = measures ? SLR_MEASURE_ALWAYS : predicts ? SLR_MEASURE_NEVER : 0;
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
