// SPDX-License-Identifier: Apache-2.0
// `slipring cache warm`: compiles what files hold, before anybody waits for it.
#include "cache/cache.h"
#include "device_option.h"
#include "kernel/kernel.h"

#include "memory.h"
#include "progress.h"
#include "say.h"
#include "verbs.h"

#include <slipring/cache.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "Usage: slipring cache warm FILE.cu... [OPTION]...\n"
                           "Compiles the handlers and kernels of the files into the cache, so the first\n"
                           "launch finds them. Existing entries are not compiled again.\n"
                           "\n"
                           "  --kernel NAME        only this kernel; may be repeated\n"
                           "  --block B            threads per block of later launches: X, X,Y or X,Y,Z; may\n"
                           "                       be repeated (default: 64, 128, 256 and 512, the blocks of\n"
                           "                       SLR_1D)\n"
                           "  --optimize LEVEL     1, 2 or both (default 2)\n"
                           "  --device D           default: SLIPRING_DEVICE, then auto\n" SOURCE_HELP
                           "  --json               prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring cache warm examples/ward/ward.cu\n"
                           "\n"
                           "A program finds an entry if it uses the same path and definitions for the\n"
                           "source. Exit code: 1 if a file does not compile; the others are still compiled.\n";

enum { BLOCKS_MAX = 16 };

typedef struct options {
    const char *device;
    run_list kernels;
    source_options source;
    bool *found; // one a kernel that was named
    slr_shape blocks[BLOCKS_MAX];
    uint32_t block_count, optimize;
    bool json;
} options;

// ---- the command line ----------------------------------------------------------------------------------------------

static int take_block(const char *text, options *out)
{
    slr_shape shape = {.grid = {1, 1, 1}};
    int end = kernel_take_shape(shape.block, "--block", text);
    if (end != -1)
        return end;
    if (out->block_count == BLOCKS_MAX)
        return say_usage("--block: at most %d", BLOCKS_MAX);
    out->blocks[out->block_count++] = shape;
    return -1;
}

static int take_optimize(const char *text, options *out)
{
    if (strcmp(text, "both") == 0)
        out->optimize = SLR_OPTIMIZE_BOTH;
    else if (strcmp(text, "1") == 0 || strcmp(text, "2") == 0)
        out->optimize = (uint32_t)(*text - '0');
    else
        return say_usage("--optimize: '%s'; expected 1, 2 or both", text);
    return -1;
}

enum { KERNEL = 256, BLOCK, OPTIMIZE, DEVICE, JSON };

static const struct option long_options[] = {
    SOURCE_LONG,
    {"kernel", required_argument, NULL, KERNEL},
    {"block", required_argument, NULL, BLOCK},
    {"optimize", required_argument, NULL, OPTIMIZE},
    {"device", required_argument, NULL, DEVICE},
    {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static int take_option(int option, char **argv, options *out)
{
    switch (option) {
    case KERNEL:
        return run_list_add(&out->kernels, optarg);
    case BLOCK:
        return take_block(optarg, out);
    case OPTIMIZE:
        return take_optimize(optarg, out);
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

static int parse(int argc, char **argv, options *out)
{
    for (int option; (option = getopt_long(argc, argv, ":h" SOURCE_SHORT, long_options, NULL)) != -1;) {
        int end = take_option(option, argv, out);
        if (end != -1)
            return end;
    }
    return optind < argc ? -1 : say_usage("FILE.cu is missing");
}

// ---- warming -------------------------------------------------------------------------------------------------------

typedef struct warm {
    const options *options;
    slr_device *device;
    const char *file;
    slr_program *program;
    json_t *results; // of the file; NULL: in text
} warm;

static int tell(const warm *warm, const slr_function_info *function, slr_status status)
{
    bool handler = function->kind != SLR_FUNCTION_KERNEL;
    const char *error = status == SLR_OK ? NULL : slr_error_message();
    if (warm->results != NULL) {
        json_t *result = json_pack("{s:o, s:b, s:b}", "name", kernel_text(function->name), "handler", (int)handler,
                                   "ok", (int)(error == NULL));
        if (error != NULL)
            json_object_set_new(result, "error", kernel_text(error));
        json_array_append_new(warm->results, result);
    } else if (error == NULL) {
        say_out("%s: %s %s\n", warm->file, handler ? "handler" : "kernel", function->name);
    } else {
        say("%s: %s: %s", warm->file, function->name, error);
    }
    return error == NULL ? EXIT_DONE : EXIT_FAILED;
}

static bool is_wanted(const options *options, const char *kernel)
{
    bool wanted = options->kernels.count == 0;
    for (uint32_t i = 0; i < options->kernels.count; i++)
        if (strcmp(options->kernels.items[i], kernel) == 0)
            wanted = options->found[i] = true;
    return wanted;
}

static int check_found(const options *options)
{
    for (uint32_t i = 0; i < options->kernels.count; i++)
        if (!options->found[i])
            return say_usage("--kernel '%s': not in these files; 'slipring kernel list' lists their kernels",
                             options->kernels.items[i]);
    return EXIT_DONE;
}

static slr_status compile(const warm *warm, const char *kernel)
{
    slr_prefetch_desc desc = SLR_PREFETCH_DESC_INIT;
    slr_point point;
    desc.kernel = kernel;
    desc.optimize = warm->options->optimize;
    desc.shapes = warm->options->blocks;
    desc.shape_count = warm->options->block_count;
    progress_begin("compiling kernel %.40s", kernel);
    slr_status status = slr_program_prefetch(warm->program, &desc, &point);
    if (status == SLR_OK)
        status = slr_point_wait(point, UINT64_MAX); // a compiler is given 60 s
    progress_end();
    return status;
}

// Handlers were compiled when the program was loaded.
static int warm_functions(const warm *warm)
{
    slr_function_info function;
    int end = EXIT_DONE;
    for (uint32_t i = 0; slr_program_get_function(warm->program, i, &function) == SLR_OK; i++) {
        bool handler = function.kind != SLR_FUNCTION_KERNEL;
        if (!(handler ? warm->options->kernels.count == 0 : is_wanted(warm->options, function.name)))
            continue;
        int got = tell(warm, &function, handler ? SLR_OK : compile(warm, function.name));
        end = end == EXIT_DONE ? got : end;
    }
    return end;
}

static int load(warm *warm)
{
    return kernel_load(warm->device, warm->file, &warm->options->source, &warm->program);
}

static int warm_file(const options *options, slr_device *device, const char *file, json_t *files)
{
    warm warm = {.options = options, .device = device, .file = file};
    int end = load(&warm);
    if (files != NULL)
        warm.results = json_array();
    if (end == EXIT_DONE)
        end = warm_functions(&warm);
    if (end == EXIT_DONE)
        end = source_options_require(&options->source, warm.program, file);
    if (files != NULL)
        json_array_append_new(files, json_pack("{s:o, s:b, s:o}", "file", kernel_text(file), "ok",
                                               (int)(end == EXIT_DONE), "functions", warm.results));
    slr_program_destroy(warm.program);
    return end;
}

// Where the user's folder cannot be used a device has another one that goes with it: what is compiled into that nobody
// would find.
static int check_kept(const slr_device_info *info)
{
    char folder[4096];
    slr_status status = slr_cache_get_folder(folder, sizeof folder);
    if (status == SLR_OK && strncmp(info->cache, folder, sizeof info->cache - 1) == 0) // as much as it has room for
        return EXIT_DONE;
    say("nothing would be kept: %s", info->cache);
    return EXIT_FAILED;
}

static int open_device(const options *options, slr_device **out)
{
    slr_device_info info;
    int end = device_option_open(options->device, NULL, out, &info);
    if (end != EXIT_DONE)
        return end;
    if (strncmp(info.engine, "compiled", 8) == 0)
        return check_kept(&info);
    say("--device: nothing is compiled on %s: %s", info.name, info.engine);
    return EXIT_NO_DEVICE;
}

static int warm_files(const options *options, slr_device *device, char **names, int count)
{
    json_t *files = options->json ? json_array() : NULL;
    int end = EXIT_DONE;
    for (int i = 0; i < count; i++) {
        int file_end = warm_file(options, device, names[i], files);
        end = end == EXIT_DONE ? file_end : end;
    }
    if (files != NULL)
        kernel_print_object(json_pack("{s:o}", "files", files));
    return end == EXIT_DONE ? check_found(options) : end;
}

int cache_warm(int argc, char **argv)
{
    options options = {0};
    slr_device *device = NULL;
    int end = parse(argc, argv, &options);
    if (end == -1) {
        options.found = memory_take(options.kernels.count + 1, sizeof *options.found);
        end = open_device(&options, &device);
        if (end == EXIT_DONE)
            end = warm_files(&options, device, argv + optind, argc - optind);
    }
    if (device != NULL)
        slr_device_close(device);
    free(options.kernels.items);
    free(options.found);
    source_options_free(&options.source);
    return end;
}
