// SPDX-License-Identifier: Apache-2.0
// `slipring kernel explain`: what a kernel does, and how many of its blocks a GPU holds.
#include "kernel.h"

#include "number.h"
#include "say.h"
#include "verbs.h"

#include <slipring/explain.h>
#include <slipring/occupancy.h>

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "Usage: slipring kernel explain FILE.cu [NAME] [--registers R --block B --cc CC] [--shared BYTES] [--json]\n"
    "Says of a kernel or handler, or of all: parameters, shared memory, barriers, what one thread loads, stores and\n"
    "computes (counted in the source: loops whose trip count is not in it count once, of a branch the larger side), "
    "and\n"
    "arithmetic intensity, which tells what limits it: flops a byte of global memory.\n"
    "\n"
    "  --cc CC        compute capability of an NVIDIA GPU, 75 to 120: how many blocks it holds on a multiprocessor,\n"
    "                 and what does not let more in. Needs the two that follow\n"
    "  --registers R  of a thread, as the compiler said\n"
    "  --block B      threads a block\n"
    "  --shared BYTES of extern __shared__ memory a block (default 0)\n"
    "  --json         one object\n";

typedef struct options {
    const char *file, *name;
    uint32_t capability, registers, block, shared;
    bool json;
} options;

static const char *const limit_names[] = {"warps", "registers", "shared memory", "blocks", "barriers"};

// ---- for people ----------------------------------------------------------------------------------------------------

static void print_counts(const slr_explanation *what)
{
    const slr_counts *c = &what->thread;
    printf("    a thread: %" PRIu64 " flops, %" PRIu64 " math calls, %" PRIu64 " integer operations\n", c->flops,
           c->math_calls, c->integer_ops);
    printf("    global memory: %" PRIu64 " loads (%" PRIu64 " B), %" PRIu64 " stores (%" PRIu64 " B); shared: %" PRIu64
           " loads, %" PRIu64 " stores\n",
           c->global_loads, c->global_load_bytes, c->global_stores, c->global_store_bytes, c->shared_loads,
           c->shared_stores);
    printf("    %" PRIu64 " barriers, %" PRIu64 " warp functions, %" PRIu64 " atomics\n", c->barriers,
           c->warp_functions, c->atomics);
    printf("    %u loops of known length, %u of unknown\n", what->loops_counted, what->loops_uncounted);
    printf("    arithmetic intensity: %.3g flops/B%s\n", what->intensity,
           what->loops.global_load_bytes + what->loops.global_store_bytes > 0 ? ", in the loops of unknown length"
                                                                              : "");
}

static void print_occupancy(const slr_occupancy *o, const options *given)
{
    const char *before = " (limited by ";
    printf("    compute capability %u.%u, %u threads, %u registers: %u blocks, %u of %u warps", given->capability / 10,
           given->capability % 10, given->block, given->registers, o->blocks, o->warps, o->max_warps);
    for (int i = 0; i < 5; i++) {
        if (o->limits >> i & 1) {
            printf("%s%s", before, limit_names[i]);
            before = ", ";
        }
    }
    puts(o->blocks == 0 ? "): it cannot be launched" : ")");
}

// ---- as JSON -------------------------------------------------------------------------------------------------------

static json_t *counts_json(const slr_counts *c)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "flops", (json_int_t)c->flops,
                     "math_calls", (json_int_t)c->math_calls, "integer_ops", (json_int_t)c->integer_ops, "global_loads",
                     (json_int_t)c->global_loads, "global_stores", (json_int_t)c->global_stores, "global_load_bytes",
                     (json_int_t)c->global_load_bytes, "global_store_bytes", (json_int_t)c->global_store_bytes,
                     "shared_loads", (json_int_t)c->shared_loads, "shared_stores", (json_int_t)c->shared_stores,
                     "barriers", (json_int_t)c->barriers, "warp_functions", (json_int_t)c->warp_functions, "atomics",
                     (json_int_t)c->atomics);
}

static json_t *occupancy_json(const slr_occupancy *o)
{
    json_t *limits = json_array();
    for (int i = 0; i < 5; i++)
        if (o->limits >> i & 1)
            json_array_append_new(limits, json_string(limit_names[i]));
    return json_pack("{s:i, s:i, s:i, s:o, s:I, s:I}", "blocks", (int)o->blocks, "warps", (int)o->warps, "max_warps",
                     (int)o->max_warps, "limited_by", limits, "shared_allocated", (json_int_t)o->shared_allocated,
                     "dynamic_shared_left", (json_int_t)o->dynamic_shared_left);
}

// ---- a function ----------------------------------------------------------------------------------------------------

static slr_status occupancy_of(const slr_function_info *function, const options *given, slr_occupancy *out)
{
    slr_occupancy_desc desc = SLR_OCCUPANCY_DESC_INIT;
    desc.capability = given->capability;
    desc.block_threads = given->block;
    desc.registers = given->registers;
    desc.static_shared_bytes = function->shared_bytes;
    desc.dynamic_shared_bytes = given->shared;
    return slr_occupancy_compute(&desc, out);
}

static int explain_function(const slr_program *program, const slr_function_info *function, const options *given,
                            json_t *to)
{
    slr_explanation what;
    slr_occupancy occupancy = {0};
    slr_status status = slr_program_explain(program, function->name, &what);
    if (status == SLR_OK && given->capability != 0)
        status = occupancy_of(function, given, &occupancy);
    if (status == SLR_UNSUPPORTED)
        return say_usage("--cc: %s", slr_error_message());
    if (status != SLR_OK)
        return say_failure(status, function->name);
    if (to == NULL) {
        kernel_print_function(function);
        print_counts(&what);
        if (given->capability != 0)
            print_occupancy(&occupancy, given);
        return EXIT_DONE;
    }
    json_t *object = kernel_function_json(function);
    json_object_set_new(object, "thread", counts_json(&what.thread));
    json_object_set_new(object, "loops_of_unknown_length", counts_json(&what.loops));
    json_object_set_new(object, "intensity", json_real(what.intensity));
    if (given->capability != 0)
        json_object_set_new(object, "occupancy", occupancy_json(&occupancy));
    json_array_append_new(to, object);
    return EXIT_DONE;
}

static int explain_program(const slr_program *program, const options *given)
{
    json_t *functions = given->json ? json_array() : NULL;
    slr_function_info function;
    bool found = false;
    int end = EXIT_DONE;
    for (uint32_t i = 0; end == EXIT_DONE && slr_program_get_function(program, i, &function) == SLR_OK; i++) {
        if (given->name != NULL && strcmp(given->name, function.name) != 0)
            continue;
        found = true;
        end = explain_function(program, &function, given, functions);
    }
    if (end == EXIT_DONE && !found)
        end = say_usage("%s has no kernel and no handler '%s'", given->file, given->name);
    if (functions != NULL && end == EXIT_DONE)
        kernel_print_object(json_pack("{s:o, s:O}", "file", kernel_text(given->file), "functions", functions));
    json_decref(functions);
    return end;
}

// ---- the command line ----------------------------------------------------------------------------------------------

enum { REGISTERS = 256, BLOCK, SHARED, CAPABILITY, JSON };

static int take_number(const char *option, const char *text, uint32_t *to)
{
    return number_parse(SLR_U32, text, to) ? -1 : say_usage("%s: '%s' is not %s", option, text, number_takes(SLR_U32));
}

static int take_option(int option, char **argv, options *out)
{
    switch (option) {
    case REGISTERS:
        return take_number("--registers", optarg, &out->registers);
    case BLOCK:
        return take_number("--block", optarg, &out->block);
    case SHARED:
        return take_number("--shared", optarg, &out->shared);
    case CAPABILITY:
        return take_number("--cc", optarg, &out->capability);
    case JSON:
        out->json = true;
        return -1;
    case 'h':
        fputs(help, stdout);
        return EXIT_DONE;
    default:
        return say_refused_option(option, argv);
    }
}

static int parse(int argc, char **argv, options *out)
{
    static const struct option long_options[] = {{"registers", required_argument, NULL, REGISTERS},
                                                 {"block", required_argument, NULL, BLOCK},
                                                 {"shared", required_argument, NULL, SHARED},
                                                 {"cc", required_argument, NULL, CAPABILITY},
                                                 {"json", no_argument, NULL, JSON},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {0}};
    for (int option; (option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1;) {
        int end = take_option(option, argv, out);
        if (end != -1)
            return end;
    }
    if (optind == argc)
        return say_usage("FILE.cu is missing");
    if (argc - optind > 2)
        return say_usage("one FILE.cu and one NAME, not also '%s'", argv[optind + 2]);
    if ((out->capability || out->registers || out->block) && !(out->capability && out->registers && out->block))
        return say_usage("--cc, --registers and --block go together");
    out->file = argv[optind];
    out->name = argv[optind + 1]; // NULL behind the last
    return -1;
}

int kernel_explain(int argc, char **argv)
{
    options given = {0};
    int end = parse(argc, argv, &given);
    if (end != -1)
        return end;
    slr_device *device;
    slr_status status = slr_device_open(KERNEL_DEVICE, NULL, &device);
    if (status != SLR_OK)
        return say_failure(status, KERNEL_DEVICE);
    slr_program *program;
    end = kernel_load(device, given.file, &program);
    if (end == EXIT_DONE) {
        end = explain_program(program, &given);
        slr_program_destroy(program);
    }
    slr_device_close(device);
    return end;
}
