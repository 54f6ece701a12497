// SPDX-License-Identifier: Apache-2.0
// `slipring cluster run`: one kernel over several devices, again and again, and what each of them did.
#include "cluster/cluster_verb.h"

#include "kernel/kernel.h"
#include "memory.h"
#include "number.h"
#include "say.h"
#include "verbs.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "Usage: slipring cluster run FILE.cu NAME --devices A,B --items N [OPTION]...\n"
                           "Launches a kernel with one thread for each item over several devices at once,\n"
                           "waits for the end, and prints what each device did.\n"
                           "\n"
                           "  --devices A,B        the devices, with commas between them\n"
                           "  --items N            how many items there are\n"
                           "  --arg NAME=VALUE     as in 'slipring kernel run'; NAME=items is the number of\n"
                           "                       items in the device's part, NAME=first is the number of\n"
                           "                       its first item. In values %n is the number of all\n"
                           "                       items: 'x=float[%n]:zero'. Buffers are on the first\n"
                           "                       device\n"
                           "  --split NAME[:BYTES] splits the buffer; BYTES is the size of an item (default:\n"
                           "                       one element). Other buffers are passed whole\n"
                           "  --passes K           launches K times (default 1), and divides the items each\n"
                           "                       time\n"
                           "  --balance B          throughput: by measured rates, corrected in each pass\n"
                           "                       (default); memory; round-robin; least-loaded; given\n"
                           "  --weights W,W        with --balance given: one weight for each device\n"
                           "  --granularity G      all parts but the last are multiples of G (default 1)\n"
                           "  --print NAME[:N]     prints the buffer, or its first N elements, at the end\n" SOURCE_HELP
                           "  --json               prints one JSON object: the parts of each pass, the time\n"
                           "                       for which devices waited for others, the buffers\n"
                           "\n"
                           "Example:\n"
                           "  slipring cluster run examples/kernels/saxpy.cu saxpy \\\n"
                           "    --devices cpu?threads=1,cpu?threads=1 --items 4096 --arg n=items \\\n"
                           "    --arg a=2 --arg 'x=float[4096]:iota' --arg 'y=float[4096]:zero' \\\n"
                           "    --split x --split y --print y:8\n"
                           "\n"
                           "Exit code: 1 if the source does not compile, the kernel faults, or a device is\n"
                           "lost and no other device can take its part.\n";

typedef struct options {
    const char *file, *name, *devices;
    cluster_items items;
    cluster_numbers weights;
    uint64_t passes;
    slr_balance balance;
    uint64_t granularity;
    run_list arguments, splits, prints;
    source_options source;
    bool json;
} options;

// ---- the command line ----------------------------------------------------------------------------------------------

static int parse(int argc, char **argv, options *out)
{
    *out = (options){.passes = 1};
    const option_row rows[] = {{"devices", option_take_text, &out->devices},
                               {"items", cluster_take_items, &out->items},
                               {"arg", option_take_list, &out->arguments},
                               {"split", option_take_list, &out->splits},
                               {"passes", option_take_u64, &out->passes},
                               {"balance", cluster_take_balance, &out->balance},
                               {"weights", cluster_take_numbers, &out->weights},
                               {"granularity", option_take_u64, &out->granularity},
                               {"print", option_take_list, &out->prints},
                               {"json", NULL, &out->json},
                               {0}};
    int end = option_table_read(argc, argv, rows, &out->source, help);
    if (end != -1)
        return end;
    if (argc - optind != 2)
        return say_usage("expected FILE.cu and the kernel's NAME");
    if (!out->items.is_given)
        return say_usage("--items is missing");
    if (out->balance == 0)
        out->balance = out->weights.count ? SLR_BALANCE_GIVEN : SLR_BALANCE_THROUGHPUT;
    end = cluster_check_weights(&out->weights, out->balance);
    if (end != -1)
        return end;
    out->file = argv[optind];
    out->name = argv[optind + 1];
    return -1;
}

// ---- the job -------------------------------------------------------------------------------------------------------

typedef struct job {
    options options;
    slr_cluster *cluster;
    slr_program *programs[SLR_CLUSTER_MOST_DEVICES];
    slr_kernel *kernels[SLR_CLUSTER_MOST_DEVICES];
    slr_function_info info;
    kernel_arguments arguments;
    kernel_print *prints;
    json_t *passes;
} job;

static int load_all(job *job)
{
    const options *options = &job->options;
    int end = EXIT_DONE;
    for (uint32_t i = 0; i < slr_cluster_size(job->cluster) && end == EXIT_DONE; i++) {
        slr_device *device;
        slr_status status = slr_cluster_get_device(job->cluster, i, &device);
        if (status != SLR_OK)
            return cluster_say_status(status, "--devices");
        end = kernel_load(device, options->file, &options->source, &job->programs[i]);
        if (end == EXIT_DONE)
            end = kernel_find(job->programs[i], options->file, options->name, &job->kernels[i], &job->info);
    }
    return end;
}

// NAME=items and NAME=first stand for numbers that each device gets its own of.
static uint32_t kind_of(const char *argument)
{
    const char *value = strchr(argument, '=');
    if (value != NULL && strcmp(value, "=items") == 0)
        return SLR_ARG_ITEMS;
    return value != NULL && strcmp(value, "=first") == 0 ? SLR_ARG_FIRST : 0;
}

static int make_arguments(job *job)
{
    const run_list *given = &job->options.arguments;
    slr_device *device;
    if (slr_cluster_get_device(job->cluster, 0, &device) != SLR_OK)
        return say_failure(SLR_INVALID, "--devices");
    run_list plain = {memory_take(given->count + 1, sizeof *plain.items), given->count};
    char **zero = memory_take(given->count + 1, sizeof *zero);
    for (uint32_t i = 0; i < given->count; i++) {
        plain.items[i] = given->items[i];
        if (kind_of(given->items[i]) == 0)
            continue;
        int length = (int)strcspn(given->items[i], "=");
        zero[i] = memory_take((size_t)length + 3, 1);
        snprintf(zero[i], (size_t)length + 3, "%.*s=0", length, given->items[i]);
        plain.items[i] = zero[i];
    }
    const uint64_t size[3] = {job->options.items.count, 1, 1};
    int end = kernel_arguments_sized(&job->arguments, device, &job->info, &plain, size);
    for (uint32_t i = 0; i < given->count; i++) {
        uint32_t p = kernel_find_parameter(&job->info, given->items[i], strcspn(given->items[i], "="));
        if (end == EXIT_DONE && kind_of(given->items[i]) != 0 && p != UINT32_MAX)
            job->arguments.items[p] = kind_of(given->items[i]) == SLR_ARG_ITEMS ? slr_arg_items() : slr_arg_first();
        free(zero[i]);
    }
    free(zero);
    free(plain.items);
    return end;
}

static int take_split(job *job, const char *text)
{
    size_t length = strcspn(text, ":");
    uint32_t p = kernel_find_parameter(&job->info, text, length), bytes = 0;
    if (p == UINT32_MAX || job->arguments.buffers[p] == NULL)
        return say_usage("--split '%s': kernel %s has no buffer with that name", text, job->info.name);
    if (text[length] == ':') {
        int end = kernel_take_number("--split", text + length + 1, SLR_U32, &bytes);
        if (end != -1)
            return end;
    }
    job->arguments.items[p] = slr_arg_split(job->arguments.buffers[p], bytes);
    return EXIT_DONE;
}

static int prepare(job *job)
{
    const options *options = &job->options;
    int end = cluster_open(options->devices, &job->cluster);
    if (end != EXIT_DONE)
        return end;
    end = cluster_check_count("--weights", options->weights.count, job->cluster);
    if (end != -1)
        return end;
    end = load_all(job);
    if (end == EXIT_DONE)
        end = make_arguments(job);
    for (uint32_t i = 0; i < options->splits.count && end == EXIT_DONE; i++)
        end = take_split(job, options->splits.items[i]);
    job->prints = memory_take(options->prints.count + 1, sizeof *job->prints);
    for (uint32_t i = 0; i < options->prints.count && end == EXIT_DONE; i++)
        end = kernel_take_print(&job->info, &job->arguments, options->prints.items[i], &job->prints[i]);
    return end;
}

// ---- its passes ----------------------------------------------------------------------------------------------------

// Of all devices' time between begin and end.
static double idle_percent(slr_cluster *cluster, uint64_t *busy_before, uint64_t *idle_before)
{
    uint64_t busy = 0, idle = 0;
    for (uint32_t i = 0; i < slr_cluster_size(cluster); i++) {
        slr_cluster_stats stats;
        if (slr_cluster_get_stats(cluster, i, &stats) != SLR_OK)
            continue;
        busy += stats.busy_ns;
        idle += stats.idle_ns;
    }
    double now_busy = (double)(busy - *busy_before), now_idle = (double)(idle - *idle_before);
    *busy_before = busy;
    *idle_before = idle;
    return now_busy + now_idle > 0 ? 100 * now_idle / (now_busy + now_idle) : 0;
}

static int run_passes(job *job)
{
    const options *options = &job->options;
    slr_part parts[SLR_CLUSTER_MOST_DEVICES];
    slr_balance_desc desc = SLR_BALANCE_DESC_INIT;
    uint64_t busy = 0, idle = 0;
    desc.granularity = options->granularity;
    desc.weights = options->weights.values;
    desc.kernels = job->kernels;
    for (uint64_t pass = 0; pass < options->passes; pass++) {
        slr_status status = slr_cluster_balance(job->cluster, options->items.count, options->balance, &desc, parts);
        if (status == SLR_OK)
            status =
                slr_cluster_launch(job->cluster, job->kernels, parts, job->arguments.items, job->arguments.count, NULL);
        if (status == SLR_OK)
            status = slr_cluster_finish(job->cluster, UINT64_MAX);
        if (status != SLR_OK)
            return kernel_say_status(status);
        double waited = idle_percent(job->cluster, &busy, &idle);
        json_array_append_new(job->passes, json_pack("{s:o, s:f}", "parts", cluster_parts_json(job->cluster, parts),
                                                     "idle_percent", waited));
    }
    return EXIT_DONE;
}

static json_t *devices_json(const job *job)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < slr_cluster_size(job->cluster); i++) {
        slr_device_info info;
        slr_cluster_stats stats;
        if (slr_cluster_get_stats(job->cluster, i, &stats) == SLR_OK)
            json_array_append_new(array, json_pack("{s:s, s:I, s:I, s:I, s:f, s:f, s:f}", "device",
                                                   cluster_device_name(job->cluster, i, &info), "parts",
                                                   (json_int_t)stats.parts, "items", (json_int_t)stats.items,
                                                   "lost_items", (json_int_t)stats.lost_items, "busy_s",
                                                   (double)stats.busy_ns / 1e9, "idle_s", (double)stats.idle_ns / 1e9,
                                                   "items_per_second", stats.items_per_second));
    }
    return array;
}

static void show_devices(const job *job)
{
    for (uint32_t i = 0; i < slr_cluster_size(job->cluster); i++) {
        slr_device_info info;
        slr_cluster_stats stats;
        if (slr_cluster_get_stats(job->cluster, i, &stats) != SLR_OK)
            continue;
        say_out("%-32s %12llu items, %.4g a second; busy %.3f ms, idle at the end %.3f ms\n",
                cluster_device_name(job->cluster, i, &info), (unsigned long long)stats.items, stats.items_per_second,
                (double)stats.busy_ns / 1e6, (double)stats.idle_ns / 1e6);
    }
}

static int show(const job *job)
{
    const options *options = &job->options;
    json_t *buffers = options->json ? json_array() : NULL;
    int end = EXIT_DONE;
    if (!options->json)
        show_devices(job);
    for (uint32_t i = 0; i < options->prints.count && end == EXIT_DONE; i++)
        end = kernel_print_buffer(&job->info, &job->arguments, job->prints[i], buffers);
    if (options->json)
        kernel_print_object(json_pack("{s:o, s:o, s:I, s:s, s:o, s:O, s:o}", "file", kernel_text(options->file),
                                      "kernel", kernel_text(options->name), "items", (json_int_t)options->items.count,
                                      "balance", cluster_balance_name(options->balance), "devices", devices_json(job),
                                      "passes", job->passes, "buffers", buffers));
    return end;
}

int cluster_run(int argc, char **argv)
{
    job job = {0};
    int end = parse(argc, argv, &job.options);
    if (end == -1) {
        job.passes = json_array();
        end = prepare(&job);
        if (end == EXIT_DONE)
            end = run_passes(&job);
        if (end == EXIT_DONE)
            end = show(&job);
    }
    kernel_arguments_free(&job.arguments);
    for (uint32_t i = 0; i < SLR_CLUSTER_MOST_DEVICES; i++) {
        slr_kernel_destroy(job.kernels[i]);
        slr_program_destroy(job.programs[i]);
    }
    slr_cluster_destroy(job.cluster);
    free(job.prints);
    json_decref(job.passes);
    free(job.options.arguments.items);
    free(job.options.splits.items);
    free(job.options.prints.items);
    source_options_free(&job.options.source);
    return end;
}
