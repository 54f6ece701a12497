// SPDX-License-Identifier: Apache-2.0
// `slipring kernel run`: one launch of one kernel, and what it left in its buffers.
#include "kernel/kernel.h"

#include "device_option.h"
#include "memory.h"
#include "number.h"
#include "say.h"
#include "verbs.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: slipring kernel run FILE.cu NAME --grid G --block B [OPTION]...\n"
    "Launches a kernel once, waits for its end, and prints its results.\n"
    "\n"
    "  --grid G             blocks: X, X,Y or X,Y,Z\n"
    "  --block B            threads per block: X, X,Y or X,Y,Z\n"
    "  --shared BYTES       extern __shared__ memory per block (default 0)\n"
    "  --arg NAME=VALUE     a number\n"
    "  --arg 'NAME=TYPE[COUNT]:FILL'\n"
    "                       a buffer of COUNT elements. FILL is zero, iota (0, 1, 2,\n"
    "                       ...), random (the same each time: 0 <= x < 1, or whole\n"
    "                       numbers from 0 to 99), or a file. TYPE is optional\n"
    "  --arg NAME=FILE      a buffer with a file's contents: numbers as text,\n"
    "                       separated by blanks or commas; raw, in the machine's byte\n"
    "                       order, if FILE ends in .bin\n"
    "  --arg NAME=NULL      no buffer\n"
    "  --print NAME[:N]     prints the buffer, or its first N elements, at the end\n"
    "  --device D           default: cpu?engine=interpreted, which checks every\n"
    "                       access. An access outside a buffer, a division by zero or\n"
    "                       a barrier that some threads miss ends the launch and is\n"
    "                       shown with file, line, block and thread. A compiled\n"
    "                       kernel has no such checks\n"
    "  -g                   compiles for a debugger, on the cpu (docs/debugging.md)\n" SOURCE_HELP
    "  --json               prints one JSON object: the launch, its result, the\n"
    "                       buffers\n"
    "\n"
    "Example:\n"
    "  slipring kernel run examples/kernels/saxpy.cu saxpy --grid 1 --block 4 \\\n"
    "    --arg n=4 --arg a=2 --arg 'x=float[4]:iota' --arg 'y=float[4]:zero' \\\n"
    "    --print y\n"
    "\n"
    "Every parameter needs an --arg ('slipring kernel list' shows the parameters).\n"
    "Exit code: 1 if the source does not compile or the kernel faults.\n";

typedef struct options {
    const char *file, *name, *device;
    uint32_t grid[3], block[3]; // 0: not given
    uint32_t shared_bytes;
    run_list arguments, prints;
    source_options source;
    bool json;
} options;

// ---- the command line ----------------------------------------------------------------------------------------------

enum { GRID = 256, BLOCK, SHARED, ARG, PRINT, DEVICE, JSON };

static const struct option long_options[] = {
    SOURCE_LONG,
    {"grid", required_argument, NULL, GRID},
    {"block", required_argument, NULL, BLOCK},
    {"shared", required_argument, NULL, SHARED},
    {"arg", required_argument, NULL, ARG},
    {"print", required_argument, NULL, PRINT},
    {"device", required_argument, NULL, DEVICE},
    {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

int kernel_take_shape(uint32_t *to, const char *option, const char *text)
{
    const char *rest = text;
    to[0] = to[1] = to[2] = 1;
    for (int i = 0; i < 3; i++) {
        char part[16];
        size_t length = strcspn(rest, ",");
        snprintf(part, sizeof part, "%.*s", (int)length, rest);
        bool digits = length == strspn(rest, "0123456789"); // number_parse also takes a sign and blanks
        if (length >= sizeof part || !digits || !number_parse(SLR_U32, part, &to[i]) || to[i] == 0)
            break;
        if (rest[length] == '\0')
            return -1;
        rest += length + 1;
    }
    return say_usage("%s: '%s' is not X, X,Y or X,Y,Z with whole numbers from 1", option, text);
}

static int take_option(int option, char **argv, options *out)
{
    switch (option) {
    case GRID:
        return kernel_take_shape(out->grid, "--grid", optarg);
    case BLOCK:
        return kernel_take_shape(out->block, "--block", optarg);
    case SHARED:
        return number_parse(SLR_U32, optarg, &out->shared_bytes)
                   ? -1
                   : say_usage("--shared: '%s' is not %s", optarg, number_takes(SLR_U32));
    case ARG:
        return run_list_add(&out->arguments, optarg);
    case PRINT:
        return run_list_add(&out->prints, optarg);
    case DEVICE:
        out->device = optarg;
        return -1;
    case JSON:
        out->json = true;
        return -1;
    case 'g':
        out->source.debug = true;
        return -1;
    case 'h':
        fputs(help, stdout);
        return EXIT_DONE;
    default:
        return source_options_take(&out->source, option, optarg) ? -1 : say_refused_option(option, argv);
    }
}

static int parse(int argc, char **argv, options *out)
{
    *out = (options){0};
    for (int option; (option = getopt_long(argc, argv, ":gh" SOURCE_SHORT, long_options, NULL)) != -1;) {
        int end = take_option(option, argv, out);
        if (end != -1)
            return end;
    }
    if (argc - optind < 2)
        return say_usage(argc == optind ? "FILE.cu and the kernel's NAME are missing" : "the kernel's NAME is missing");
    if (argc - optind > 2)
        return say_usage("only one FILE.cu and one NAME are allowed, not also '%s'", argv[optind + 2]);
    if (out->grid[0] == 0 || out->block[0] == 0)
        return say_usage("%s is missing", out->grid[0] == 0 ? "--grid" : "--block");
    if (out->device == NULL) // a debugger stops in what was compiled
        out->device = out->source.debug ? "cpu" : KERNEL_DEVICE;
    out->file = argv[optind];
    out->name = argv[optind + 1];
    return -1;
}

// ---- printing ------------------------------------------------------------------------------------------------------

int kernel_take_print(const slr_function_info *kernel, const kernel_arguments *arguments, const char *text,
                      kernel_print *out)
{
    size_t length = strcspn(text, ":");
    uint32_t p = kernel_find_parameter(kernel, text, length);
    if (p == UINT32_MAX || !kernel->parameters[p].is_buffer)
        return say_usage("--print '%s': kernel %s has no buffer with that name", text, kernel->name);
    if (kernel->parameters[p].scalar == 0)
        return say_usage("--print '%s': the type of %s%s cannot be printed", text, kernel->types[p],
                         kernel->parameters[p].name);
    if (arguments->buffers[p] == NULL)
        return say_usage("--print '%s': its argument is NULL", text);
    *out = (kernel_print){p, arguments->elements[p]};
    if (text[length] == '\0')
        return EXIT_DONE;
    if (number_parse(SLR_U64, text + length + 1, &out->count) && out->count > 0 && out->count <= arguments->elements[p])
        return EXIT_DONE;
    return say_usage("--print '%s': '%s' is not a count from 1 to %llu, its size", text, text + length + 1,
                     (unsigned long long)arguments->elements[p]);
}

// JSON has no infinities; and a reader may have no whole numbers above 2^63 - 1. Such values are strings.
static json_t *value_json(slr_scalar scalar, const unsigned char *from)
{
    char text[NUMBER_TEXT_MAX];
    number_print(scalar, from, text);
    if (scalar == SLR_BOOL)
        return json_boolean(*from != 0);
    if (scalar >= SLR_F32) {
        double value = strtod(text, NULL);
        return isfinite(value) ? json_real(value) : json_string(text);
    }
    unsigned long long whole = strtoull(text, NULL, 10);
    return *text != '-' && whole > INT64_MAX ? json_string(text) : json_integer(strtoll(text, NULL, 10));
}

static json_t *values_json(const slr_parameter *parameter, const unsigned char *data, uint64_t count)
{
    json_t *values = json_array();
    for (uint64_t i = 0; i < count; i++)
        json_array_append_new(values, value_json(parameter->scalar, data + i * parameter->element_bytes));
    return values;
}

static slr_status print_text(const slr_parameter *parameter, slr_buffer *buffer, uint64_t count)
{
    slr_print_desc desc = SLR_PRINT_DESC_INIT;
    desc.dtype = parameter->scalar;
    desc.count = count;
    printf("%s: ", parameter->name);
    return slr_buffer_print(buffer, &desc, stdout);
}

static slr_status add_values(const slr_parameter *parameter, slr_buffer *buffer, uint64_t count, json_t *to)
{
    uint64_t bytes = count * parameter->element_bytes;
    unsigned char *data = memory_take(bytes, 1);
    slr_status status = slr_buffer_read(buffer, 0, data, bytes);
    if (status == SLR_OK)
        json_object_set_new(to, "values", values_json(parameter, data, count));
    free(data);
    return status;
}

int kernel_print_buffer(const slr_function_info *kernel, const kernel_arguments *arguments, kernel_print what,
                        json_t *buffers)
{
    const slr_parameter *parameter = &kernel->parameters[what.parameter];
    slr_buffer *buffer = arguments->buffers[what.parameter];
    slr_status status;
    if (buffers == NULL) {
        status = print_text(parameter, buffer, what.count);
    } else {
        json_t *object = json_pack("{s:o, s:o, s:I}", "name", kernel_text(parameter->name), "type",
                                   kernel_text(kernel->types[what.parameter]), "elements",
                                   (json_int_t)arguments->elements[what.parameter]);
        status = add_values(parameter, buffer, what.count, object);
        json_array_append_new(buffers, object);
    }
    return status == SLR_OK ? EXIT_DONE : say_failure(status, parameter->name);
}

// ---- the launch ----------------------------------------------------------------------------------------------------

typedef struct launch {
    options options;
    slr_device *device;
    slr_program *program;
    slr_kernel *kernel;
    slr_function_info info;
    kernel_arguments arguments;
    kernel_print *prints;
    char *error;     // of a launch that failed
    json_t *printed; // by the kernel, with --json: a string a printf
    uint64_t lost;   // of them
} launch;

// What the kernel prints goes where it would go from CUDA.
static void take_printed(void *user, const slr_print *print)
{
    launch *launch = user;
    launch->lost += print->lost;
    if (launch->options.json && print->lost == 0)
        json_array_append_new(launch->printed, kernel_text(print->text));
    else
        fwrite(print->text, 1, print->bytes, stdout);
}

static int prepare(launch *launch)
{
    const options *options = &launch->options;
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.on_print = take_printed;
    desc.print_user = launch;
    launch->printed = json_array();
    int end = device_option_open(options->device, &desc, &launch->device, NULL);
    if (end != EXIT_DONE)
        return end;
    end = kernel_load(launch->device, options->file, &options->source, &launch->program);
    if (end == EXIT_DONE)
        end = source_options_require(&options->source, launch->program, options->file);
    if (end == EXIT_DONE)
        end = kernel_find(launch->program, options->file, options->name, &launch->kernel, &launch->info);
    if (end == EXIT_DONE)
        end = kernel_arguments_make(&launch->arguments, launch->device, &launch->info, &options->arguments, true);
    launch->prints = memory_take(options->prints.count + 1, sizeof *launch->prints);
    for (uint32_t i = 0; i < options->prints.count && end == EXIT_DONE; i++)
        end = kernel_take_print(&launch->info, &launch->arguments, options->prints.items[i], &launch->prints[i]);
    return end;
}

// Waits as long as the kernel takes: SIGINT ends the process.
static int run(launch *launch)
{
    const options *options = &launch->options;
    slr_shape shape = {.shared_bytes = options->shared_bytes};
    memcpy(shape.grid, options->grid, sizeof shape.grid);
    memcpy(shape.block, options->block, sizeof shape.block);
    slr_stream *stream;
    slr_status status = slr_stream_default(launch->device, &stream);
    if (status == SLR_OK)
        status = slr_launch(stream, launch->kernel, shape, launch->arguments.items, launch->arguments.count, NULL);
    if (status != SLR_OK)
        return kernel_say_status(status);
    status = slr_stream_finish(stream, UINT64_MAX);
    if (launch->lost > 0)
        say("%llu printfs of kernel %s are lost: the limit is 1 MiB", (unsigned long long)launch->lost, options->name);
    if (status == SLR_OK)
        return EXIT_DONE;
    launch->error = strdup(slr_error_message());
    return kernel_say_status(status);
}

static json_t *report(const launch *launch)
{
    const options *options = &launch->options;
    json_t *object = json_pack("{s:o, s:o, s:o, s:[i,i,i], s:[i,i,i], s:b}", "file", kernel_text(options->file),
                               "kernel", kernel_text(options->name), "device", kernel_text(options->device), "grid",
                               options->grid[0], options->grid[1], options->grid[2], "block", options->block[0],
                               options->block[1], options->block[2], "ok", launch->error == NULL);
    if (json_array_size(launch->printed) > 0)
        json_object_set(object, "printed", launch->printed);
    if (launch->error != NULL)
        json_object_set_new(object, "error", kernel_text(launch->error));
    return object;
}

static int show(const launch *launch)
{
    const options *options = &launch->options;
    json_t *buffers = options->json ? json_array() : NULL;
    int end = EXIT_DONE;
    for (uint32_t i = 0; i < options->prints.count && launch->error == NULL && end == EXIT_DONE; i++)
        end = kernel_print_buffer(&launch->info, &launch->arguments, launch->prints[i], buffers);
    if (options->json) {
        json_t *object = report(launch);
        json_object_set_new(object, "buffers", buffers);
        kernel_print_object(object);
    }
    return end;
}

int kernel_run(int argc, char **argv)
{
    launch launch = {0};
    int end = parse(argc, argv, &launch.options);
    if (end == -1) {
        end = prepare(&launch);
        if (end == EXIT_DONE) {
            end = run(&launch);
            if (end == EXIT_DONE || launch.error != NULL) {
                int shown = show(&launch);
                end = end == EXIT_DONE ? shown : end;
            }
        }
    }
    kernel_arguments_free(&launch.arguments);
    slr_kernel_destroy(launch.kernel);
    slr_program_destroy(launch.program);
    if (launch.device != NULL)
        slr_device_close(launch.device);
    free(launch.prints);
    free(launch.error);
    json_decref(launch.printed);
    free(launch.options.arguments.items);
    free(launch.options.prints.items);
    source_options_free(&launch.options.source);
    return end;
}
