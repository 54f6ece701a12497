// SPDX-License-Identifier: Apache-2.0
// `slipring kernel explain`: what a kernel does, what it takes of a GPU, and how many of its blocks one holds.
#include "kernel/kernel.h"
#include "kernel/option_table.h"

#include "number.h"
#include "say.h"
#include "verbs.h"

#include <slipring/explain.h>
#include <slipring/suggest.h>

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char help[] = "Usage: slipring kernel explain FILE.cu [NAME] [OPTION]...\n"
                           "Shows figures of one kernel or handler, or of all: parameters, shared memory,\n"
                           "barriers, and the loads, stores and operations of one thread, counted in the\n"
                           "source. A loop counts once if the source does not give its number of iterations.\n"
                           "A branch counts as its larger side. The arithmetic intensity, in flops per byte\n"
                           "of global memory, shows whether memory or computation is the limit. Also lists\n"
                           "macros that the source declares tunable, and the choices of 'slipring tune'.\n"
                           "\n"
                           "  --cc CC              compute capability of an NVIDIA GPU, 75 to 120. Compiles\n"
                           "                       with libnvrtc and shows the kernel's registers, stack,\n"
                           "                       spills, shared and constant memory, and its occupancy:\n"
                           "                       blocks per multiprocessor and what limits them, and its\n"
                           "                       best block. No GPU is needed. Without libnvrtc use\n"
                           "                       --registers\n"
                           "  --block B            threads per block (default: from __launch_bounds__, else\n"
                           "                       256)\n"
                           "  --shared BYTES       extern __shared__ memory per block (default 0)\n"
                           "  --registers R        registers per thread; then nothing is compiled\n"
                           "  --json               prints one JSON object\n" SOURCE_HELP "\n"
                           "Example:\n"
                           "  slipring kernel explain examples/kernels/saxpy.cu --cc 90 --registers 32\n";

typedef struct options {
    const char *file, *name;
    source_options source;
    uint32_t capability, registers, block, shared;
    bool json;
} options;

// Blocks that SLR_1D takes: for launches of up to so many threads; the last, of more.
enum { SIZES = 4 };
static const uint64_t sizes[SIZES] = {511, 1023, 100000, 100001};

// A function on a GPU of the capability asked for.
typedef struct on_gpu {
    slr_resources resources;
    slr_occupancy occupancy;
    slr_best_block best;
    bool is_compiled, has_occupancy;
    uint32_t block, registers;
    char why_not[600]; // why it is not compiled
    slr_suggestion suggested[SIZES];
    bool has_suggestions;
} on_gpu;

static const char *const limit_names[] = {"warps", "registers", "shared memory", "blocks", "barriers"};

// ---- for people ----------------------------------------------------------------------------------------------------

static void print_counts(const slr_explanation *what)
{
    const slr_counts *c = &what->thread;
    say_out("    a thread: %" PRIu64 " flops, %" PRIu64 " math calls, %" PRIu64 " integer operations\n", c->flops,
            c->math_calls, c->integer_ops);
    say_out("    global memory: %" PRIu64 " loads (%" PRIu64 " B), %" PRIu64 " stores (%" PRIu64 " B); shared: %" PRIu64
            " loads, %" PRIu64 " stores\n",
            c->global_loads, c->global_load_bytes, c->global_stores, c->global_store_bytes, c->shared_loads,
            c->shared_stores);
    say_out("    %" PRIu64 " barriers, %" PRIu64 " warp functions, %" PRIu64 " atomics\n", c->barriers,
            c->warp_functions, c->atomics);
    say_out("    %u loops of known length, %u of unknown\n", what->loops_counted, what->loops_uncounted);
    say_out("    arithmetic intensity: %.3g flops/B%s\n", what->intensity,
            what->loops.global_load_bytes + what->loops.global_store_bytes > 0 ? ", in the loops of unknown length"
                                                                               : "");
}

static void print_resources(const slr_resources *r)
{
    say_out("    compute capability %u.%u, by NVRTC %u.%u: %u registers, %u B of stack", r->capability / 10,
            r->capability % 10, r->compiler_major, r->compiler_minor, r->registers, r->stack_bytes);
    if (r->spills == 0)
        say_out(", no spills");
    else if (r->spills != SLR_RESOURCE_UNKNOWN)
        say_out(", %u instructions that spill", r->spills);
    say_out("\n    %u B of shared memory, barriers: %u; %u B of constants, %u B of them parameters; %u B of code\n",
            r->shared_bytes, r->barriers, r->constant_bytes, r->parameter_bytes, r->code_bytes);
}

static void print_occupancy(const on_gpu *gpu, uint32_t capability)
{
    const slr_occupancy *o = &gpu->occupancy;
    const char *before = " (limited by ";
    say_out("    compute capability %u.%u, %u threads, %u registers: %u blocks, %u of %u warps, %.3g %%",
            capability / 10, capability % 10, gpu->block, gpu->registers, o->blocks, o->warps, o->max_warps,
            100 * o->theoretical);
    for (int i = 0; i < 5; i++) {
        if (o->limits >> i & 1) {
            say_out("%s%s", before, limit_names[i]);
            before = ", ";
        }
    }
    puts(o->blocks == 0 ? "): it cannot be launched" : ")");
    if (gpu->best.block_threads != 0)
        say_out("    best block for occupancy: %u threads, %u blocks, %.3g %%\n", gpu->best.block_threads,
                gpu->best.blocks, 100 * gpu->best.theoretical);
}

static void print_suggestions(const on_gpu *gpu)
{
    static const char *const where[SIZES] = {"below 512 threads", "below 1,024", "up to 100,000", "above"};
    const char *before = "    launched in one dimension, SLR_1D takes blocks of ";
    for (int i = 0; gpu->has_suggestions && i < SIZES; i++, before = ", ") {
        char block[KERNEL_SIZE_BYTES];
        kernel_spell_sides(gpu->suggested[i].shape.block, block);
        say_out("%s%s %s", before, block, where[i]);
    }
    if (gpu->has_suggestions)
        say_out(" (%s)\n", kernel_rule_name(gpu->suggested[0].rule));
}

static void print_gpu(const on_gpu *gpu, uint32_t capability)
{
    if (gpu->is_compiled)
        print_resources(&gpu->resources);
    else if (*gpu->why_not != '\0')
        say_out("    compute capability %u.%u: not compiled, so registers%s are not known: %s\n", capability / 10,
                capability % 10, gpu->has_occupancy ? "" : ", occupancy and best block", gpu->why_not);
    if (gpu->has_occupancy)
        print_occupancy(gpu, capability);
    print_suggestions(gpu);
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
    return json_pack("{s:i, s:i, s:i, s:f, s:o, s:I, s:I}", "blocks", (int)o->blocks, "warps", (int)o->warps,
                     "max_warps", (int)o->max_warps, "theoretical", o->theoretical, "limited_by", limits,
                     "shared_allocated", (json_int_t)o->shared_allocated, "dynamic_shared_left",
                     (json_int_t)o->dynamic_shared_left);
}

static json_t *resources_json(const slr_resources *r)
{
    json_t *object = json_pack(
        "{s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "capability", (int)r->capability, "registers",
        (int)r->registers, "stack_bytes", (json_int_t)r->stack_bytes, "shared_bytes", (json_int_t)r->shared_bytes,
        "constant_bytes", (json_int_t)r->constant_bytes, "parameter_bytes", (json_int_t)r->parameter_bytes, "barriers",
        (json_int_t)r->barriers, "code_bytes", (json_int_t)r->code_bytes, "nvrtc_major", (json_int_t)r->compiler_major);
    json_object_set_new(object, "nvrtc_minor", json_integer(r->compiler_minor));
    if (r->spills != SLR_RESOURCE_UNKNOWN)
        json_object_set_new(object, "spills", json_integer(r->spills));
    return object;
}

static void gpu_json(const on_gpu *gpu, json_t *to)
{
    if (gpu->is_compiled)
        json_object_set_new(to, "resources", resources_json(&gpu->resources));
    else if (*gpu->why_not != '\0')
        json_object_set_new(to, "no_resources", kernel_text(gpu->why_not));
    if (gpu->has_occupancy) {
        json_t *object = occupancy_json(&gpu->occupancy);
        json_object_set_new(object, "block", json_integer(gpu->block));
        json_object_set_new(object, "registers", json_integer(gpu->registers));
        json_object_set_new(to, "occupancy", object);
        json_object_set_new(to, "best",
                            json_pack("{s:i, s:i, s:f}", "block", (int)gpu->best.block_threads, "blocks",
                                      (int)gpu->best.blocks, "theoretical", gpu->best.theoretical));
    }
    json_t *suggested = json_array();
    for (int i = 0; gpu->has_suggestions && i < SIZES; i++)
        json_array_append_new(suggested, json_pack("{s:I, s:i, s:s}", "threads", (json_int_t)sizes[i], "block",
                                                   (int)gpu->suggested[i].shape.block[0], "rule",
                                                   kernel_rule_name(gpu->suggested[i].rule)));
    json_object_set_new(to, "suggested", suggested);
}

// ---- what was tuned ------------------------------------------------------------------------------------------------

typedef struct tuned_list {
    const char *kernel;
    json_t *to; // NULL: they are printed
} tuned_list;

static void print_choice(const slr_tuned *tuned)
{
    const slr_shape *shape = &tuned->shape;
    if (*tuned->defines != '\0')
        say_out("%s, ", tuned->defines);
    if (shape->block[0] > 0)
        say_out("block %ux%ux%u, ", shape->block[0], shape->block[1], shape->block[2]);
    if (shape->vector_width > 0)
        say_out("vector width %u, ", shape->vector_width);
    if (tuned->metric == SLR_TUNE_ENERGY)
        say_out("%.3f mJ; the default takes %.3f times that\n", tuned->cost / 1e3, tuned->speedup);
    else
        say_out("%.3f times as fast as the default\n", tuned->speedup);
}

static void show_tuned(void *user, const slr_tuned_entry *entry)
{
    const tuned_list *list = user;
    const slr_tuned *tuned = entry->tuned;
    const slr_shape *shape = &tuned->shape;
    if (strcmp(entry->kernel, list->kernel) != 0)
        return;
    if (list->to == NULL) {
        say_out("    tuned for %llu x %llu x %llu threads on %s (%s; %s%s%s): ", (unsigned long long)shape->threads[0],
                (unsigned long long)shape->threads[1], (unsigned long long)shape->threads[2], entry->device,
                entry->model, entry->compiler, *entry->driver != '\0' ? "; " : "", entry->driver);
        if (tuned->is_default)
            say_out("the default %s\n", tuned->metric == SLR_TUNE_ENERGY ? "takes the least energy" : "is the fastest");
        else
            print_choice(tuned);
        return;
    }
    const bool is_energy = tuned->metric == SLR_TUNE_ENERGY;
    const double unit = is_energy ? 1e3 : 1; // mJ, or ns
    json_array_append_new(
        list->to,
        json_pack("{s:[I, I, I], s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:o, s:i, s:f, s:f, s:f}", "threads",
                  (json_int_t)shape->threads[0], (json_int_t)shape->threads[1], (json_int_t)shape->threads[2], "device",
                  kernel_text(entry->device), "model", kernel_text(entry->model), "compiler",
                  kernel_text(entry->compiler), "driver", kernel_text(entry->driver), "default", (int)tuned->is_default,
                  "exact", (int)tuned->is_exact, "defines", kernel_text(tuned->defines), "block",
                  kernel_three_json(shape->block), "vector_width", (int)shape->vector_width,
                  is_energy ? "default_mj" : "default_ns", tuned->default_cost / unit,
                  is_energy ? "tuned_mj" : "tuned_ns", tuned->cost / unit, "speedup", tuned->speedup));
}

// Where there is no cache folder nothing was tuned.
static void show_all_tuned(const slr_program *program, const slr_function_info *function, json_t *object)
{
    tuned_list list = {function->name, object != NULL ? json_array() : NULL};
    (void)slr_program_visit_tuned(program, show_tuned, &list);
    if (object != NULL)
        json_object_set_new(object, "tuned", list.to);
}

// ---- a function ----------------------------------------------------------------------------------------------------

// What is not there (a compiler, machine code of a handler) is said in its place, and the rest goes on.
static slr_status compile(const slr_program *program, const slr_function_info *function, const options *given,
                          on_gpu *out)
{
    slr_status status = slr_program_get_resources(program, function->name, given->capability, &out->resources);
    out->is_compiled = status == SLR_OK;
    if (status == SLR_UNSUPPORTED)
        snprintf(out->why_not, sizeof out->why_not, "%s", slr_error_message());
    return status == SLR_UNSUPPORTED ? SLR_OK : status;
}

static slr_status compute_occupancy(const slr_function_info *function, const options *given, on_gpu *out)
{
    slr_occupancy_desc desc =
        kernel_occupancy_desc(function, given->capability, out->is_compiled ? &out->resources : NULL, given->registers);
    out->block = given->block ? given->block : function->max_threads ? function->max_threads : 256;
    out->registers = desc.registers;
    desc.block_threads = out->block;
    desc.dynamic_shared_bytes = given->shared;
    out->has_occupancy = out->registers != 0;
    slr_status status = slr_occupancy_compute(&desc, &out->occupancy); // also where only the capability is looked at
    if (status != SLR_OK || !out->has_occupancy)
        return status;
    status = slr_occupancy_best(&desc, 0, &out->best);
    out->has_suggestions = status == SLR_OK && function->kind == SLR_FUNCTION_KERNEL && out->best.block_threads != 0;
    for (int i = 0; status == SLR_OK && out->has_suggestions && i < SIZES; i++)
        status = slr_occupancy_suggest(&desc, sizes[i], &out->suggested[i]);
    return status;
}

// Without a GPU: what this device takes, which has the size table alone.
static slr_status suggest_here(slr_program *program, const slr_function_info *function, on_gpu *out)
{
    slr_kernel *kernel;
    slr_status status = slr_program_get_kernel(program, function->name, &kernel);
    if (status != SLR_OK)
        return status;
    for (int i = 0; status == SLR_OK && i < SIZES; i++)
        status = slr_kernel_suggest(kernel, SLR_1D(sizes[i]), &out->suggested[i]);
    out->has_suggestions = status == SLR_OK;
    slr_kernel_destroy(kernel);
    return status;
}

static slr_status look_at_gpu(slr_program *program, const slr_function_info *function, const options *given,
                              on_gpu *out)
{
    slr_status status = SLR_OK;
    if (given->capability == 0)
        return function->kind == SLR_FUNCTION_KERNEL ? suggest_here(program, function, out) : SLR_OK;
    if (given->registers == 0)
        status = compile(program, function, given, out);
    return status == SLR_OK ? compute_occupancy(function, given, out) : status;
}

static int explain_function(slr_program *program, const slr_function_info *function, const options *given, json_t *to)
{
    slr_explanation what;
    on_gpu gpu = {0};
    slr_status status = slr_program_explain(program, function->name, &what);
    if (status == SLR_OK)
        status = look_at_gpu(program, function, given, &gpu);
    if (status == SLR_UNSUPPORTED)
        return say_usage("--cc: %s", slr_error_message());
    if (status != SLR_OK)
        return say_failure(status, function->name);
    if (to == NULL) {
        kernel_print_function(function);
        print_counts(&what);
        print_gpu(&gpu, given->capability);
        show_all_tuned(program, function, NULL);
        return EXIT_DONE;
    }
    json_t *object = kernel_function_json(function);
    json_object_set_new(object, "thread", counts_json(&what.thread));
    json_object_set_new(object, "loops_of_unknown_length", counts_json(&what.loops));
    json_object_set_new(object, "intensity", json_real(what.intensity));
    gpu_json(&gpu, object);
    show_all_tuned(program, function, object);
    json_array_append_new(to, object);
    return EXIT_DONE;
}

static int explain_program(slr_program *program, const options *given)
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
        end = kernel_say_missing(program, given->file, given->name, false);
    if (functions != NULL && end == EXIT_DONE)
        kernel_print_object(json_pack("{s:o, s:o, s:O}", "file", kernel_text(given->file), "tunables",
                                      kernel_tunables_json(program), "functions", functions));
    else if (end == EXIT_DONE)
        kernel_print_tunables(program);
    json_decref(functions);
    return end;
}

// ---- the command line ----------------------------------------------------------------------------------------------

static int parse(int argc, char **argv, options *out)
{
    const option_row rows[] = {{"registers", option_take_u32, &out->registers},
                               {"block", option_take_u32, &out->block},
                               {"shared", option_take_u32, &out->shared},
                               {"cc", option_take_capability, &out->capability},
                               {"json", NULL, &out->json},
                               {0}};
    int end = option_table_read(argc, argv, rows, &out->source, help);
    if (end != -1)
        return end;
    if (optind == argc)
        return say_usage("FILE.cu is missing");
    if (argc - optind > 2)
        return say_usage("only one FILE.cu and one NAME are allowed, not also '%s'", argv[optind + 2]);
    if (out->capability == 0 && (out->registers || out->block || out->shared))
        return say_usage("--registers, --block and --shared are for a GPU: --cc is missing");
    out->file = argv[optind];
    out->name = argv[optind + 1]; // NULL behind the last
    return -1;
}

static int explain_file(const options *given)
{
    slr_device *device;
    slr_status status = slr_device_open(KERNEL_DEVICE, NULL, &device);
    if (status != SLR_OK)
        return say_failure(status, KERNEL_DEVICE);
    slr_program *program;
    int end = kernel_load(device, given->file, &given->source, &program);
    if (end == EXIT_DONE) {
        end = explain_program(program, given);
        if (end == EXIT_DONE)
            end = source_options_require(&given->source, program, given->file);
        slr_program_destroy(program);
    }
    slr_device_close(device);
    return end;
}

int kernel_explain(int argc, char **argv)
{
    options given = {0};
    int end = parse(argc, argv, &given);
    if (end == -1)
        end = explain_file(&given);
    source_options_free(&given.source);
    return end;
}
