// SPDX-License-Identifier: Apache-2.0
// `slipring kernel time`: one kernel, timed by the device's events.
#include "kernel/kernel.h"

#include "device_option.h"
#include "say.h"
#include "verbs.h"

#include <slipring/profile.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "Usage: slipring kernel time FILE.cu NAME --size SIZE [OPTION]...\n"
                           "Times a kernel: some launches that do not count, then samples. Shows least, mean\n"
                           "and largest time, quantiles, and the rates of bytes and operations. Says how\n"
                           "reliable the counts of bytes and operations are: exact, sampled or at most.\n"
                           "\n"
                           "  --size SIZE          threads of a launch: N, NxM or NxMxK\n"
                           "  --arg NAME=VALUE     as in 'kernel run'. %x, %y and %z are the sides of the\n"
                           "                       size, %n is their product: --arg 'a=float[%n]:random'\n"
                           "  --block X[,Y[,Z]]    threads of a block; default: slipring's choice\n"
                           "  --warm-up N          samples that do not count (default 3; 0: none)\n"
                           "  --repeats N          samples (default 31)\n"
                           "  --launches N         launches per sample, for short kernels (default 1)\n"
                           "  --device D           default: SLIPRING_DEVICE, then auto\n" SOURCE_HELP
                           "  --json               prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring kernel time examples/kernels/saxpy.cu saxpy --size 1000000 \\\n"
                           "    --arg n=%n --arg a=2 --arg 'x=float[%n]:random' --arg 'y=float[%n]:zero'\n";

enum { SIZE = 256, ARG, BLOCK, WARM_UP, REPEATS, LAUNCHES, DEVICE, JSON };

static const struct option long_options[] = {SOURCE_LONG,
                                             {"size", required_argument, NULL, SIZE},
                                             {"arg", required_argument, NULL, ARG},
                                             {"block", required_argument, NULL, BLOCK},
                                             {"warm-up", required_argument, NULL, WARM_UP},
                                             {"repeats", required_argument, NULL, REPEATS},
                                             {"launches", required_argument, NULL, LAUNCHES},
                                             {"device", required_argument, NULL, DEVICE},
                                             {"json", no_argument, NULL, JSON},
                                             {"help", no_argument, NULL, 'h'},
                                             {0}};

typedef struct timing_options {
    const char *file, *name, *device;
    source_options source;
    run_list arguments;
    uint64_t size[3];
    uint32_t block[3];
    slr_timing_desc desc;
    bool json;
} timing_options;

// ---- the command line ----------------------------------------------------------------------------------------------

// A zero in slr_timing_desc means the default, which is not what a zero on the command line asks for.
static int take_count(const char *option, const char *text, uint32_t *to)
{
    int end = kernel_take_number(option, text, SLR_U32, to);
    return end == -1 && *to == 0 ? say_usage("%s: '0' is not a whole number from 1 to 1000000", option) : end;
}

static int take_warm_up(const char *text, slr_timing_desc *desc)
{
    int end = kernel_take_number("--warm-up", text, SLR_U32, &desc->warm_up);
    desc->no_warm_up = end == -1 && desc->warm_up == 0;
    return end;
}

static int take_option(int option, char **argv, timing_options *out)
{
    switch (option) {
    case SIZE:
        return kernel_take_size(optarg, out->size);
    case ARG:
        return run_list_add(&out->arguments, optarg);
    case BLOCK:
        return kernel_take_shape(out->block, "--block", optarg);
    case WARM_UP:
        return take_warm_up(optarg, &out->desc);
    case REPEATS:
        return take_count("--repeats", optarg, &out->desc.repeats);
    case LAUNCHES:
        return take_count("--launches", optarg, &out->desc.launches);
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

static int parse_timing(int argc, char **argv, timing_options *out)
{
    out->desc = (slr_timing_desc)SLR_TIMING_DESC_INIT;
    for (int option; (option = getopt_long(argc, argv, ":h" SOURCE_SHORT, long_options, NULL)) != -1;) {
        int end = take_option(option, argv, out);
        if (end != -1)
            return end;
    }
    if (argc - optind != 2)
        return say_usage(argc - optind < 2 ? "FILE.cu and the kernel's NAME are wanted"
                                           : "only one FILE.cu and one NAME are allowed");
    if (out->size[0] == 0)
        return say_usage("--size is missing");
    out->file = argv[optind];
    out->name = argv[optind + 1];
    return -1;
}

// ---- the result ----------------------------------------------------------------------------------------------------

static void print_timing(const timing_options *options, const char *device, const slr_timing *t)
{
    char size[KERNEL_SIZE_BYTES];
    kernel_spell_size(options->size, size);
    say_out("%s %s on %s, blocks of %ux%ux%u, %u samples:\n", options->name, size, device, t->block[0], t->block[1],
            t->block[2], t->n);
    say_out("  least %.3f us, p50 %.3f, p95 %.3f, p99 %.3f, largest %.3f; mean %.3f, deviation %.3f\n", t->min_ns / 1e3,
            t->p50_ns / 1e3, t->p95_ns / 1e3, t->p99_ns / 1e3, t->max_ns / 1e3, t->mean_ns / 1e3,
            t->deviation_ns / 1e3);
    if (t->counted == SLR_COUNTED_NOT)
        say_out("  bytes and flops are not counted: a loop's turns depend on memory, or are too many to follow\n");
    else
        say_out("  %llu bytes, %llu flops a launch (%s): %.2f GB/s, %.2f GFLOP/s\n", (unsigned long long)t->bytes,
                (unsigned long long)t->flops, kernel_counted_name(t->counted), t->bytes_per_second / 1e9,
                t->flops_per_second / 1e9);
}

static json_t *timing_json(const timing_options *options, const char *device, const slr_timing *t)
{
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:[I, I, I], s:o, s:o, s:i}", "file", kernel_text(options->file), "kernel",
                  kernel_text(options->name), "device", kernel_text(device), "size", (json_int_t)options->size[0],
                  (json_int_t)options->size[1], (json_int_t)options->size[2], "block", kernel_three_json(t->block),
                  "grid", kernel_three_json(t->grid), "samples", (int)t->n);
    json_t *more =
        json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "min_ns", t->min_ns, "mean_ns", t->mean_ns, "deviation_ns",
                  t->deviation_ns, "p50_ns", t->p50_ns, "p95_ns", t->p95_ns, "p99_ns", t->p99_ns, "max_ns", t->max_ns);
    json_object_update(object, more);
    json_decref(more);
    json_object_set_new(object, "counted", json_string(kernel_counted_name(t->counted)));
    if (t->counted == SLR_COUNTED_NOT)
        return object;
    more = json_pack("{s:I, s:I, s:f, s:f}", "bytes", (json_int_t)t->bytes, "flops", (json_int_t)t->flops,
                     "bytes_per_s", t->bytes_per_second, "flops_per_s", t->flops_per_second);
    json_object_update(object, more);
    json_decref(more);
    return object;
}

// ---- the verb ------------------------------------------------------------------------------------------------------

static int time_on(slr_device *device, const slr_device_info *info, const timing_options *options)
{
    slr_program *program = NULL;
    slr_kernel *kernel = NULL;
    slr_function_info function;
    kernel_arguments arguments = {0};
    slr_timing timing;
    int end = kernel_load(device, options->file, &options->source, &program);
    if (end == EXIT_DONE)
        end = source_options_require(&options->source, program, options->file);
    if (end == EXIT_DONE)
        end = kernel_find(program, options->file, options->name, &kernel, &function);
    if (end == EXIT_DONE)
        end = kernel_arguments_sized(&arguments, device, &function, &options->arguments, options->size);
    if (end == EXIT_DONE) {
        slr_shape shape = {0};
        memcpy(shape.threads, options->size, sizeof shape.threads);
        memcpy(shape.block, options->block, sizeof shape.block);
        slr_status status =
            slr_profile_kernel(kernel, shape, arguments.items, arguments.count, &options->desc, &timing);
        end = status == SLR_OK ? EXIT_DONE : kernel_say_status(status);
    }
    if (end == EXIT_DONE && options->json)
        kernel_print_object(timing_json(options, info->name, &timing));
    else if (end == EXIT_DONE)
        print_timing(options, info->name, &timing);
    kernel_arguments_free(&arguments);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    return end;
}

int kernel_time(int argc, char **argv)
{
    timing_options options = {0};
    slr_device *device = NULL;
    slr_device_info info;
    int end = parse_timing(argc, argv, &options);
    if (end == -1)
        end = device_option_open(options.device, NULL, &device, &info);
    if (device != NULL)
        end = time_on(device, &info, &options);
    slr_device_close(device);
    free(options.arguments.items);
    source_options_free(&options.source);
    return end;
}
