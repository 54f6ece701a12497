// SPDX-License-Identifier: Apache-2.0
// `slipring kernel tile`: how a problem is cut into tiles for a device.
#include "kernel/kernel.h"
#include "kernel/option_table.h"

#include "device_option.h"
#include "say.h"
#include "verbs.h"

#include <slipring/tiling.h>

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help[] = "Usage: slipring kernel tile [FILE.cu NAME] --size X[,Y[,Z]] [OPTION]...\n"
                           "       slipring kernel tile --product M,N,K [OPTION]...\n"
                           "Shows the tile, blocks and threads for a problem, and why. The problem has one\n"
                           "thread per element, or is a matrix product. With FILE.cu and NAME the limits of\n"
                           "that kernel count too.\n"
                           "\n"
                           "  --size X[,Y[,Z]]     columns, rows and planes; one thread per element\n"
                           "  --radius R           with --size: radius of a stencil that keeps its input in\n"
                           "                       shared memory\n"
                           "  --product M,N,K      M rows by N columns, each a sum of K products\n"
                           "  --bytes B            bytes per element, 1 to 16 (default 4)\n"
                           "  --stages S           copies of a tile's input in shared memory (default 1)\n"
                           "  --registers R        registers per thread (default: the kernel's, or an\n"
                           "                       estimate)\n"
                           "  --threads T          maximum threads per block\n"
                           "  --device D           default: SLIPRING_DEVICE, else auto\n"
                           "  --cc CC              instead of --device: an NVIDIA GPU of this compute\n"
                           "                       capability. This machine may lack it\n"
                           "  --units U            with --cc: multiprocessors of that GPU\n" SOURCE_HELP
                           "  --json               prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring kernel tile --product 4096,4096,4096 --cc 90 --units 132\n"
                           "\n"
                           "Exit code: 3 if no tile fits, or the device is missing.\n";

typedef struct options {
    const char *file, *name, *device;
    source_options source;
    uint32_t size[3], product[3], capability, units;
    slr_tiling_desc desc;
    bool json;
} options;

// ---- showing -------------------------------------------------------------------------------------------------------

static void show_text(const options *given, const slr_tiling *t, const char *where)
{
    say_out("%u x %u x %u on %s\n", given->product[0] ? given->product[0] : given->size[0],
            given->product[0] ? given->product[1] : given->size[1],
            given->product[0] ? given->product[2] : given->size[2], where);
    if (given->product[0] != 0)
        say_out("    tile: %u rows, %u columns, sums in parts of %u\n", t->tile_m, t->tile_n, t->tile_k);
    else
        say_out("    tile: %u columns, %u rows, %u planes\n", t->tile_n, t->tile_m, t->tile_planes);
    say_out("    block: %u,%u,%u; grid: %u,%u,%u; outputs per thread: %u\n", t->threads[0], t->threads[1],
            t->threads[2], t->groups[0], t->groups[1], t->groups[2], t->outputs_a_thread);
    say_out("    shared memory: %llu B per block; blocks on a unit at once: %u\n", (unsigned long long)t->shared_bytes,
            t->blocks_a_unit);
    say_out("    why: %s\n", t->why);
    if (given->product[0] != 0)
        say_out("    macros: -D TILE_M=%u -D TILE_N=%u -D TILE_K=%u -D THREADS=%u -D OUTPUTS=%u\n", t->tile_m,
                t->tile_n, t->tile_k, t->threads[0], t->outputs_a_thread);
}

static json_t *three(const uint32_t *values)
{
    return json_pack("[i, i, i]", (int)values[0], (int)values[1], (int)values[2]);
}

static json_t *limits_json(const slr_device_limits *l)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:I}", "units", (int)l->units, "lanes",
                     (int)l->lanes, "capability", (int)l->capability, "block_threads", (int)l->block_threads,
                     "unit_threads", (int)l->unit_threads, "unit_blocks", (int)l->unit_blocks, "unit_registers",
                     (int)l->unit_registers, "block_shared_bytes", (json_int_t)l->block_shared_bytes,
                     "unit_shared_bytes", (json_int_t)l->unit_shared_bytes, "l1_bytes", (json_int_t)l->l1_bytes,
                     "l2_bytes", (json_int_t)l->l2_bytes);
}

static void show_json(const options *given, const slr_tiling *t, const char *where, const slr_device_limits *limits)
{
    json_t *object = json_pack(
        "{s:s, s:o, s:{s:i, s:i, s:i, s:i}, s:o, s:o, s:i, s:I, s:i, s:f, s:f, s:f, s:f, s:s, s:o}", "device", where,
        given->product[0] ? "product" : "size", three(given->product[0] ? given->product : given->size), "tile", "m",
        (int)t->tile_m, "n", (int)t->tile_n, "k", (int)t->tile_k, "planes", (int)t->tile_planes, "block",
        three(t->threads), "grid", three(t->groups), "outputs_a_thread", (int)t->outputs_a_thread, "shared_bytes",
        (json_int_t)t->shared_bytes, "blocks_a_unit", (int)t->blocks_a_unit, "waves", t->waves, "wave_efficiency",
        t->wave_efficiency, "whole", t->whole, "intensity", t->intensity, "why", t->why, "limits", limits_json(limits));
    kernel_print_object(object);
}

// ---- the command line ----------------------------------------------------------------------------------------------

static int check_together(const options *given, int files)
{
    if (files != 0 && files != 2)
        return say_usage("give FILE.cu and NAME, or neither");
    if ((given->size[0] != 0) == (given->product[0] != 0))
        return say_usage("give one of --size and --product");
    if (given->product[0] != 0 && files != 0)
        return say_usage("--product is for no kernel: its tile becomes macros of one");
    if (given->capability != 0 && (given->device != NULL || files != 0))
        return say_usage("--cc is for a GPU that is not here: no --device and no FILE.cu with it");
    if ((given->capability == 0) != (given->units == 0))
        return say_usage("--cc and --units: give both");
    return -1;
}

static int take_product(const char *option, const char *text, void *to)
{
    uint32_t commas = 0;
    for (const char *at = text; *at != '\0'; at++)
        commas += *at == ',';
    return commas == 2 ? option_take_shape(option, text, to)
                       : say_usage("%s: '%s' is not M,N,K: three numbers with commas between them", option, text);
}

static int parse(int argc, char **argv, options *out)
{
    const option_row rows[] = {{"size", option_take_shape, out->size},
                               {"radius", option_take_u32, &out->desc.radius},
                               {"product", take_product, out->product},
                               {"bytes", option_take_u32, &out->desc.element_bytes},
                               {"stages", option_take_u32, &out->desc.stages},
                               {"registers", option_take_u32, &out->desc.registers},
                               {"threads", option_take_u32, &out->desc.most_threads},
                               {"device", option_take_text, &out->device},
                               {"cc", option_take_capability, &out->capability},
                               {"units", option_take_u32, &out->units},
                               {"json", NULL, &out->json},
                               {0}};
    int end = option_table_read(argc, argv, rows, &out->source, help);
    if (end != -1)
        return end;
    if (argc - optind == 2) {
        out->file = argv[optind];
        out->name = argv[optind + 1];
    }
    return check_together(out, argc - optind);
}

// ---- asking --------------------------------------------------------------------------------------------------------

static int compute(options *given, const char *where, const slr_device_limits *limits)
{
    slr_tiling tiling;
    given->desc.n = given->product[0] ? given->product[1] : given->size[0];
    given->desc.m = given->product[0] ? given->product[0] : given->size[1];
    given->desc.k = given->product[0] ? given->product[2] : 0;
    given->desc.planes = given->product[0] ? 1 : given->size[2];
    slr_status status = slr_tiling_compute(&given->desc, &tiling);
    if (status == SLR_INVALID)
        return say_usage("%s", slr_error_message());
    if (status != SLR_OK)
        return say_failure(status, where);
    if (given->json)
        show_json(given, &tiling, where, limits);
    else
        show_text(given, &tiling, where);
    return EXIT_DONE;
}

static int tile_of_kernel(options *given, slr_device *device, const char *where, const slr_device_limits *limits)
{
    slr_program *program;
    int end = kernel_load(device, given->file, &given->source, &program);
    if (end != EXIT_DONE)
        return end;
    slr_status status = slr_program_get_kernel(program, given->name, &given->desc.kernel);
    if (status == SLR_NOT_FOUND)
        end = kernel_say_missing(program, given->file, given->name, true);
    else if (status != SLR_OK)
        end = say_failure(status, given->name);
    else
        end = compute(given, where, limits);
    slr_kernel_destroy(given->desc.kernel);
    if (end == EXIT_DONE)
        end = source_options_require(&given->source, program, given->file);
    slr_program_destroy(program);
    return end;
}

static int tile_on_device(options *given)
{
    slr_device *device;
    slr_device_info info;
    slr_device_limits limits;
    int end = device_option_open(given->device, NULL, &device, &info);
    if (end != EXIT_DONE)
        return end;
    slr_status status = slr_device_get_limits(device, &limits);
    given->desc.device = device;
    if (status != SLR_OK)
        end = say_failure(status, info.name);
    else if (given->file != NULL)
        end = tile_of_kernel(given, device, info.name, &limits);
    else
        end = compute(given, info.name, &limits);
    slr_device_close(device);
    return end;
}

static int tile_on_gpu(options *given)
{
    char where[64];
    slr_device_limits limits;
    if (slr_capability_get_limits(given->capability, &limits) != SLR_OK)
        return say_usage("--cc: %s", slr_error_message());
    limits.units = given->units;
    given->desc.limits = &limits;
    given->desc.limits_bytes = sizeof limits;
    snprintf(where, sizeof where, "compute capability %u.%u, %u multiprocessors", given->capability / 10,
             given->capability % 10, given->units);
    return compute(given, where, &limits);
}

int kernel_tile(int argc, char **argv)
{
    options given = {.desc = SLR_TILING_DESC_INIT};
    int end = parse(argc, argv, &given);
    if (end == -1)
        end = given.capability ? tile_on_gpu(&given) : tile_on_device(&given);
    source_options_free(&given.source);
    return end;
}
