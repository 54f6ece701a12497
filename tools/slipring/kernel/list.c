// SPDX-License-Identifier: Apache-2.0
// `slipring kernel list`: what is in CUDA C files, as this project reads them.
#include "kernel/kernel.h"

#include "say.h"
#include "verbs.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help[] = "Usage: slipring kernel list FILE.cu... [OPTION]...\n"
                           "Lists the kernels and handlers of each file: line, parameters, and resources\n"
                           "per block. Also lists skipped code and the reason: host code, C++, missing\n"
                           "headers.\n"
                           "\n" SOURCE_HELP "  --json               prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring kernel list examples/kernels/*.cu\n"
                           "\n"
                           "Exit code: 1 if a file cannot be read or does not compile; the others are still\n"
                           "listed.\n";

static const char *kind_name(slr_function_kind kind)
{
    static const char *const names[] = {
        [SLR_FUNCTION_RING] = "handler",
        [SLR_FUNCTION_RING_BLOCK] = "block handler",
        [SLR_FUNCTION_RING_BATCH] = "batch handler",
        [SLR_FUNCTION_KERNEL] = "kernel",
    };
    return names[kind];
}

// ---- for people ----------------------------------------------------------------------------------------------------

static void print_uses(const slr_function_info *function)
{
    const char *before = "    ";
    if (function->shared_bytes > 0) {
        say_out("%s%u bytes of shared memory", before, function->shared_bytes);
        before = ", ";
    }
    if (function->takes_dynamic_shared) {
        say_out("%sextern shared memory", before);
        before = ", ";
    }
    if (function->has_barriers) {
        say_out("%sbarriers", before);
        before = ", ";
    }
    if (function->has_warp_functions) {
        say_out("%swarp functions", before);
        before = ", ";
    }
    if (function->max_threads > 0) {
        say_out("%sat most %u threads per block", before, function->max_threads);
        before = ", ";
    }
    if (function->min_blocks > 0) {
        say_out("%sat least %u blocks per multiprocessor", before, function->min_blocks);
        before = ", ";
    }
    if (function->block[0] > 0) {
        say_out("%sblock %ux%ux%u for %ux%ux%u items", before, function->block[0], function->block[1],
                function->block[2], function->items[0], function->items[1], function->items[2]);
        before = ", ";
    }
    if (*before == ',')
        putchar('\n');
}

void kernel_print_function(const slr_function_info *function)
{
    say_out("%s:%u: %s %s(", function->file, function->line, kind_name(function->kind), function->name);
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        const char *type = function->types[i];
        bool is_pointer = type[strlen(type) - 1] == '*';
        say_out("%s%s%s%s", i > 0 ? ", " : "", type, is_pointer ? "" : " ", function->parameters[i].name);
    }
    puts(")");
    print_uses(function);
}

void kernel_print_tunables(const slr_program *program)
{
    slr_tunable tunable;
    for (uint32_t i = 0; slr_program_get_tunable(program, i, &tunable) == SLR_OK; i++) {
        say_out("line %u: tunable %s:", tunable.line, tunable.name);
        for (uint32_t k = 0; k < tunable.value_count; k++)
            say_out("%s %lld", k > 0 ? "," : "", (long long)tunable.values[k]);
        say_out(" (now %lld)\n", (long long)tunable.value);
    }
}

static void print_skipped(const slr_skipped_info *skipped)
{
    say_out("%s:%u: skipped: %s '%s': %s\n", skipped->file, skipped->line, skipped->what, skipped->name, skipped->why);
}

// ---- as JSON -------------------------------------------------------------------------------------------------------

json_t *kernel_tunables_json(const slr_program *program)
{
    json_t *all = json_array();
    slr_tunable tunable;
    for (uint32_t i = 0; slr_program_get_tunable(program, i, &tunable) == SLR_OK; i++) {
        json_t *values = json_array();
        for (uint32_t k = 0; k < tunable.value_count; k++)
            json_array_append_new(values, json_integer(tunable.values[k]));
        json_array_append_new(all, json_pack("{s:o, s:o, s:I, s:i}", "name", kernel_text(tunable.name), "values",
                                             values, "value", (json_int_t)tunable.value, "line", (int)tunable.line));
    }
    return all;
}

json_t *kernel_three_json(const uint32_t *three)
{
    return json_pack("[i, i, i]", (int)three[0], (int)three[1], (int)three[2]);
}

json_t *kernel_function_json(const slr_function_info *function)
{
    json_t *parameters = json_array();
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        const slr_parameter *parameter = &function->parameters[i];
        json_array_append_new(parameters, json_pack("{s:o, s:o, s:b, s:b}", "name", kernel_text(parameter->name),
                                                    "type", kernel_text(function->types[i]), "buffer",
                                                    (int)parameter->is_buffer, "const", (int)parameter->is_const));
    }
    json_t *object = json_pack(
        "{s:o, s:s, s:o, s:i, s:o, s:i, s:b, s:b, s:b, s:i, s:i}", "name", kernel_text(function->name), "kind",
        kind_name(function->kind), "file", kernel_text(function->file), "line", (int)function->line, "parameters",
        parameters, "shared_bytes", (int)function->shared_bytes, "extern_shared", (int)function->takes_dynamic_shared,
        "barriers", (int)function->has_barriers, "warp_functions", (int)function->has_warp_functions, "max_threads",
        (int)function->max_threads, "min_blocks", (int)function->min_blocks);
    if (function->block[0] > 0) {
        json_object_set_new(object, "block", kernel_three_json(function->block));
        json_object_set_new(object, "items", kernel_three_json(function->items));
    }
    return object;
}

static json_t *skipped_json(const slr_skipped_info *skipped)
{
    return json_pack("{s:o, s:s, s:b, s:o, s:i, s:i, s:o}", "name", kernel_text(skipped->name), "what", skipped->what,
                     "kernel", (int)skipped->is_kernel, "file", kernel_text(skipped->file), "line", (int)skipped->line,
                     "code", (int)skipped->code, "why", kernel_text(skipped->why));
}

// ---- files ---------------------------------------------------------------------------------------------------------

static void list_program(const slr_program *program, json_t *to)
{
    json_t *functions = json_array(), *skipped = json_array();
    slr_function_info function;
    for (uint32_t i = 0; slr_program_get_function(program, i, &function) == SLR_OK; i++) {
        if (to == NULL)
            kernel_print_function(&function);
        else
            json_array_append_new(functions, kernel_function_json(&function));
    }
    if (to == NULL)
        kernel_print_tunables(program);
    else
        json_object_set_new(to, "tunables", kernel_tunables_json(program));
    slr_skipped_info left_out;
    for (uint32_t i = 0; slr_program_get_skipped(program, i, &left_out) == SLR_OK; i++) {
        if (to == NULL)
            print_skipped(&left_out);
        else
            json_array_append_new(skipped, skipped_json(&left_out));
    }
    if (to != NULL) {
        json_object_set(to, "functions", functions);
        json_object_set(to, "left_out", skipped);
    }
    json_decref(functions);
    json_decref(skipped);
}

static int list_file(slr_device *device, const char *file, const source_options *source, json_t *files)
{
    json_t *object = files != NULL ? json_pack("{s:o}", "file", kernel_text(file)) : NULL;
    slr_program *program;
    int end = kernel_load(device, file, source, &program);
    if (end == EXIT_DONE) {
        list_program(program, object);
        end = source_options_require(source, program, file);
        slr_program_destroy(program);
    } else if (object != NULL) {
        json_object_set_new(object, "error", kernel_text(slr_error_message()));
    }
    if (object != NULL)
        json_array_append_new(files, object);
    return end;
}

static int parse(int argc, char **argv, source_options *source, bool *json)
{
    static const struct option options[] = {
        SOURCE_LONG, {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    for (int option; (option = getopt_long(argc, argv, ":h" SOURCE_SHORT, options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        if (source_options_take(source, option, optarg))
            continue;
        if (option != 'j')
            return say_refused_option(option, argv);
        *json = true;
    }
    return optind == argc ? say_usage("FILE.cu is missing") : -1;
}

static int list_files(char **files, int count, const source_options *source, bool json)
{
    slr_device *device;
    slr_status status = slr_device_open(KERNEL_DEVICE, NULL, &device);
    if (status != SLR_OK)
        return say_failure(status, KERNEL_DEVICE);
    json_t *objects = json ? json_array() : NULL;
    int end = EXIT_DONE;
    for (int i = 0; i < count; i++) {
        int file_end = list_file(device, files[i], source, objects);
        end = end == EXIT_DONE ? file_end : end;
    }
    slr_device_close(device);
    if (json)
        kernel_print_object(json_pack("{s:o}", "files", objects));
    return end;
}

int kernel_list(int argc, char **argv)
{
    source_options source = {0};
    bool json = false;
    int end = parse(argc, argv, &source, &json);
    if (end == -1)
        end = list_files(argv + optind, argc - optind, &source, json);
    source_options_free(&source);
    return end;
}
