// SPDX-License-Identifier: Apache-2.0
// `slipring kernel suggest`: the block that a launch takes, why, and the occupancy of this block and of others.
#include "kernel/kernel.h"
#include "kernel/option_table.h"

#include "device_option.h"
#include "number.h"
#include "say.h"
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "Usage: slipring kernel suggest FILE.cu NAME --elements N [OPTION]...\n"
    "Shows the block that SLR_1D(N) takes on a device, which rule chose it, and the\n"
    "occupancy of this block and of blocks of 128, 256 and 512 threads. A launch\n"
    "takes the same block.\n"
    "\n"
    "  --elements N         threads of the launch\n"
    "  --device D           default: SLIPRING_DEVICE, else auto\n"
    "  --cc CC              instead of --device: an NVIDIA GPU of this compute\n"
    "                       capability. This machine may lack it. Compiles with\n"
    "                       libnvrtc\n"
    "  --registers R        with --cc: registers per thread; nothing is compiled\n"
    "  --units U            with --cc: multiprocessors of the GPU\n"
    "  --shared BYTES       extern __shared__ memory per block (default 0)\n"
    "  --measure            counts the running blocks if the driver reports no count\n" SOURCE_HELP
    "  --json               prints one JSON object\n"
    "\n"
    "Example:\n"
    "  slipring kernel suggest examples/kernels/saxpy.cu saxpy --elements 1000000 \\\n"
    "    --cc 90 --registers 32\n"
    "\n"
    "Exit code: 1 if the source does not compile, 3 if the device is missing.\n";

typedef struct options {
    const char *file, *name, *device;
    source_options source;
    uint64_t elements;
    uint32_t capability, registers, units, shared;
    bool json, measure;
} options;

// A block beside the one that is suggested.
typedef struct beside {
    uint32_t block, groups;
    double theoretical;
    bool is_known;
} beside;

enum { BESIDE = 3 };

typedef struct result {
    slr_suggestion suggestion;
    slr_kernel_occupancy here; // on a device
    slr_best_block best;       // of these; none on most
    bool has_best;
    beside beside[BESIDE];
    char device[SLR_DEVICE_NAME_BYTES];
} result;

static const uint32_t good_blocks[BESIDE] = {128, 256, 512};

slr_occupancy_desc kernel_occupancy_desc(const slr_function_info *function, uint32_t capability,
                                         const slr_resources *resources, uint32_t registers)
{
    slr_occupancy_desc desc = SLR_OCCUPANCY_DESC_INIT;
    desc.capability = capability;
    desc.registers = registers ? registers : resources ? resources->registers : 0;
    desc.static_shared_bytes = resources ? resources->shared_bytes : function->shared_bytes;
    desc.barriers = resources ? resources->barriers : 0;
    desc.most_threads = function->max_threads;
    return desc;
}

const char *kernel_rule_name(uint32_t rule)
{
    static const char *const names[] = {[SLR_BLOCK_GIVEN] = "given",
                                        [SLR_BLOCK_BY_TUNER] = "tuned",
                                        [SLR_BLOCK_BY_SOURCE] = "source",
                                        [SLR_BLOCK_BY_OCCUPANCY] = "occupancy",
                                        [SLR_BLOCK_BY_SIZE] = "size table"};
    return names[rule];
}

// ---- asking --------------------------------------------------------------------------------------------------------

static uint64_t blocks_of(uint64_t elements, uint64_t items)
{
    return elements / items + (elements % items != 0);
}

// A launch of one dimension takes the block that the source declares, on every device.
static slr_status take_declared(const slr_function_info *function, slr_occupancy_desc desc, uint64_t elements,
                                slr_suggestion *out)
{
    slr_occupancy of;
    desc.block_threads = function->block[0] * function->block[1] * function->block[2];
    slr_status status = slr_occupancy_compute(&desc, &of);
    if (status != SLR_OK)
        return status;
    for (int i = 0; i < 3; i++) {
        out->shape.block[i] = function->block[i];
        out->shape.grid[i] = (uint32_t)blocks_of(i == 0 ? elements : 1, function->items[i]);
    }
    out->rule = SLR_BLOCK_BY_SOURCE;
    out->warps = (desc.block_threads + 31) / 32;
    out->theoretical = of.theoretical;
    snprintf(out->why, sizeof out->why, "the source declares it: #pragma slipring block%s",
             of.blocks != 0 ? "" : "; a multiprocessor has no room for it, so a launch fails");
    return SLR_OK;
}

static int ask_gpu(const slr_program *program, const slr_function_info *function, const options *given, result *out)
{
    slr_resources resources;
    slr_status status = SLR_OK;
    if (function->block[0] && blocks_of(given->elements, function->items[0]) > INT32_MAX)
        return say_usage("--elements: %llu threads are %llu of the blocks that the source declares; expected at most "
                         "2^31 - 1",
                         (unsigned long long)given->elements,
                         (unsigned long long)blocks_of(given->elements, function->items[0]));
    if (given->registers == 0)
        status = slr_program_get_resources(program, function->name, given->capability, &resources);
    if (status != SLR_OK)
        return say_failure(status, "--cc");
    slr_occupancy_desc desc =
        kernel_occupancy_desc(function, given->capability, given->registers ? NULL : &resources, given->registers);
    desc.dynamic_shared_bytes = given->shared;
    desc.multiprocessors = given->units;
    status = slr_occupancy_suggest(&desc, given->elements, &out->suggestion);
    if (status == SLR_OK && function->block[0])
        status = take_declared(function, desc, given->elements, &out->suggestion);
    for (int i = 0; status == SLR_OK && i < BESIDE; i++) {
        slr_occupancy one;
        desc.block_threads = good_blocks[i];
        status = slr_occupancy_compute(&desc, &one);
        out->beside[i] = (beside){good_blocks[i], one.blocks, one.theoretical, true};
    }
    snprintf(out->device, sizeof out->device, "compute capability %u.%u", given->capability / 10,
             given->capability % 10);
    return status == SLR_OK            ? EXIT_DONE
           : status == SLR_UNSUPPORTED ? say_usage("--cc: %s", slr_error_message())
                                       : say_failure(status, function->name);
}

static int ask_device(slr_program *program, const slr_function_info *function, const options *given, result *out)
{
    slr_kernel *kernel;
    slr_shape shape = SLR_1D(given->elements);
    shape.shared_bytes = given->shared;
    slr_status status = slr_program_get_kernel(program, function->name, &kernel);
    if (status != SLR_OK)
        return say_failure(status, function->name);
    status = slr_kernel_suggest(kernel, shape, &out->suggestion);
    if (status == SLR_OK)
        // Not of the suggested shape: a launch that gives its block uses no tuned kernel.
        status = given->measure ? slr_kernel_measure_occupancy(kernel, shape, &out->here)
                                : slr_kernel_get_occupancy(kernel, shape, &out->here);
    out->has_best = status == SLR_OK && slr_kernel_best_block(kernel, given->shared, &out->best) == SLR_OK;
    for (int i = 0; status == SLR_OK && i < BESIDE; i++) {
        slr_kernel_occupancy one;
        slr_shape other = SLR_1D_BLOCKS(given->elements, good_blocks[i]);
        other.shared_bytes = given->shared;
        if (good_blocks[i] > out->here.block_limit)
            continue;
        status = slr_kernel_get_occupancy(kernel, other, &one);
        if (status == SLR_OK)
            out->beside[i] = (beside){good_blocks[i], one.groups, one.theoretical, one.source != SLR_OCCUPANCY_UNKNOWN};
    }
    slr_kernel_destroy(kernel);
    return status == SLR_OK ? EXIT_DONE : say_failure(status, function->name);
}

// ---- showing -------------------------------------------------------------------------------------------------------

static const char *source_name(uint32_t source)
{
    return source == SLR_OCCUPANCY_COMPUTED ? "computed" : source == SLR_OCCUPANCY_DRIVER ? "driver" : "unknown";
}

static bool is_measured(const result *r)
{
    return r->here.source == SLR_OCCUPANCY_MEASURED;
}

static void show_text(const slr_function_info *function, const options *given, const result *r)
{
    const slr_suggestion *s = &r->suggestion;
    say_out("kernel %s, %" PRIu64 " threads on %s\n", function->name, given->elements, r->device);
    char block[KERNEL_SIZE_BYTES], grid[KERNEL_SIZE_BYTES];
    kernel_spell_sides(s->shape.block, block);
    kernel_spell_sides(s->shape.grid, grid);
    say_out("    block: %s, %u warps; grid: %s\n", block, s->warps, grid);
    say_out("    why: %s\n", s->why);
    if (s->source == SLR_OCCUPANCY_UNKNOWN)
        say_out("    occupancy: %s\n", is_measured(r) ? "unknown to the driver" : "unknown");
    else
        say_out("    occupancy: %.3g %% (%s)\n", 100 * s->theoretical, source_name(s->source));
    if (*r->here.why != '\0')
        say_out("    %s\n", r->here.why);
    say_out("    size table: %u", s->by_size);
    if (s->by_occupancy != 0)
        say_out("; most threads on a multiprocessor: %u", s->by_occupancy);
    putchar('\n');
    if (r->has_best)
        say_out("    best block by occupancy: %u, %u of them on a multiprocessor, %.3g %% of its warps; %u fill the "
                "device\n",
                r->best.block_threads, r->best.blocks, 100 * r->best.theoretical, r->best.grid_min);
    for (int i = 0; i < BESIDE; i++) {
        if (r->beside[i].is_known)
            say_out("    a block of %u: %.3g %%\n", r->beside[i].block, 100 * r->beside[i].theoretical);
    }
}

static json_t *fraction(double value, bool is_known)
{
    return is_known ? json_real(value) : json_null();
}

static json_t *sides_json(const uint32_t sides[3])
{
    return json_pack("[i, i, i]", (int)sides[0], (int)sides[1], (int)sides[2]);
}

static void show_json(const slr_function_info *function, const options *given, const result *r)
{
    const slr_suggestion *s = &r->suggestion;
    json_t *others = json_array();
    for (int i = 0; i < BESIDE; i++) {
        if (r->beside[i].block != 0)
            json_array_append_new(others, json_pack("{s:i, s:i, s:o}", "block", (int)r->beside[i].block, "groups",
                                                    (int)r->beside[i].groups, "theoretical",
                                                    fraction(r->beside[i].theoretical, r->beside[i].is_known)));
    }
    json_t *object = json_pack(
        "{s:o, s:s, s:s, s:I, s:i, s:i, s:i, s:s, s:s, s:i, s:s, s:o}", "file", kernel_text(given->file), "kernel",
        function->name, "device", r->device, "elements", (json_int_t)given->elements, "block", (int)s->shape.block[0],
        "grid", (int)s->shape.grid[0], "warps", (int)s->warps, "rule", kernel_rule_name(s->rule), "why", s->why,
        "by_size", (int)s->by_size, "source", is_measured(r) ? "measured" : source_name(s->source), "theoretical",
        fraction(s->theoretical, s->source != SLR_OCCUPANCY_UNKNOWN));
    json_object_set_new(object, "block_sides", sides_json(s->shape.block)); // `block` and `grid` are those along x
    json_object_set_new(object, "grid_sides", sides_json(s->shape.grid));
    json_object_set_new(object, "by_occupancy", s->by_occupancy ? json_integer(s->by_occupancy) : json_null());
    if (*r->here.why != '\0')
        json_object_set_new(object, "limit", json_string(r->here.why));
    if (is_measured(r))
        json_object_set_new(object, "measured_groups", json_integer(r->here.groups));
    json_object_set_new(object, "best_block",
                        r->has_best ? json_pack("{s:i, s:i, s:i, s:f}", "block", (int)r->best.block_threads, "groups",
                                                (int)r->best.blocks, "grid_min", (int)r->best.grid_min, "theoretical",
                                                r->best.theoretical)
                                    : json_null());
    json_object_set_new(object, "blocks", others);
    kernel_print_object(object);
}

// ---- the command line ----------------------------------------------------------------------------------------------

static int parse(int argc, char **argv, options *out)
{
    const option_row rows[] = {{"elements", option_take_u64, &out->elements},
                               {"device", option_take_text, &out->device},
                               {"cc", option_take_capability, &out->capability},
                               {"registers", option_take_u32, &out->registers},
                               {"units", option_take_u32, &out->units},
                               {"shared", option_take_u32, &out->shared},
                               {"measure", NULL, &out->measure},
                               {"json", NULL, &out->json},
                               {0}};
    int end = option_table_read(argc, argv, rows, &out->source, help);
    if (end == -1)
        end = option_table_file_and_name(argc, argv, &out->file, &out->name);
    if (end != -1)
        return end;
    if (out->elements == 0)
        return say_usage("--elements is missing, or 0");
    if (out->capability != 0 && out->device != NULL)
        return say_usage("--device and --cc: give one of them");
    if (out->capability != 0 && out->measure)
        return say_usage("--measure needs a device that is here: no --cc with it");
    if (out->capability == 0 && (out->registers != 0 || out->units != 0))
        return say_usage("--registers and --units are for a GPU that is not here: --cc is missing");
    return -1;
}

static int suggest_for(slr_program *program, const options *given, result *r)
{
    slr_function_info function;
    for (uint32_t i = 0; slr_program_get_function(program, i, &function) == SLR_OK; i++) {
        if (function.kind != SLR_FUNCTION_KERNEL || strcmp(function.name, given->name) != 0)
            continue;
        int end = given->capability ? ask_gpu(program, &function, given, r) : ask_device(program, &function, given, r);
        if (end == EXIT_DONE && given->json)
            show_json(&function, given, r);
        else if (end == EXIT_DONE)
            show_text(&function, given, r);
        return end;
    }
    return kernel_say_missing(program, given->file, given->name, true);
}

static int suggest_file(const options *given)
{
    result r = {0};
    slr_device *device;
    slr_program *program;
    slr_device_info info;
    int end = device_option_open(given->capability ? KERNEL_DEVICE : given->device, NULL, &device, &info);
    if (end != EXIT_DONE)
        return end;
    snprintf(r.device, sizeof r.device, "%s", info.name);
    end = kernel_load(device, given->file, &given->source, &program);
    if (end == EXIT_DONE) {
        end = suggest_for(program, given, &r);
        if (end == EXIT_DONE)
            end = source_options_require(&given->source, program, given->file);
        slr_program_destroy(program);
    }
    slr_device_close(device);
    return end;
}

int kernel_suggest(int argc, char **argv)
{
    options given = {0};
    int end = parse(argc, argv, &given);
    if (end == -1)
        end = suggest_file(&given);
    source_options_free(&given.source);
    return end;
}
