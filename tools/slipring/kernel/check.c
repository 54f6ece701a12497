// SPDX-License-Identifier: Apache-2.0
// `slipring kernel check`: runs kernels watched, and says what is wrong with them.
#include "kernel/kernel.h"

#include "kernel/finding.h"
#include "memory.h"
#include "number.h"
#include "output.h"
#include "progress.h"
#include "say.h"
#include "verbs.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] = "Usage: slipring kernel check FILE.cu... [NAME] [OPTION]...\n"
                           "Checks kernels and handlers of CUDA C files, all or the one named. They run on\n"
                           "this machine's CPU under observation; no GPU is needed. Handlers get generated\n"
                           "messages: zero, random, and the smallest and largest value of each type.\n"
                           "The checker finds:\n"
                           "  - accesses outside buffers and arrays, and misaligned accesses\n"
                           "  - data races in shared and global memory, with both lines and threads\n"
                           "  - reads of uninitialised shared memory, variables and buffers\n"
                           "  - barriers and warp functions that some threads do not reach\n"
                           "  - signed overflow, excessive shifts, division by zero, failed assertions\n"
                           "  - slow code on a GPU: uncoalesced accesses (too many sectors per warp), bank\n"
                           "    conflicts, divergent branches (notes with figures; --json has every line)\n"
                           "\n"
                           "  --grid G, --block B  blocks, and threads per block: X, X,Y or X,Y,Z (default:\n"
                           "                       chosen, with few blocks)\n"
                           "  --shared BYTES       extern __shared__ memory per block (default: as much as\n"
                           "                       the kernel uses)\n"
                           "  --arg ...            as for 'slipring kernel run'. NAME=none, or ':none' after\n"
                           "                       a size, gives an uninitialised buffer. Other arguments\n"
                           "                       are generated and shown. Requires one kernel: give NAME\n"
                           "  --fuel N             maximum loop iterations per thread (default 1000000; for\n"
                           "                       a handler 100000)\n"
                           "  --steps N            maximum instructions per launch (default 200000000; for a\n"
                           "                       handler 16000000)\n"
                           "  --memory BYTES       maximum for all generated buffers (default 1073741824)\n" SOURCE_HELP
                           "  --messages N         messages per launch of a handler (default 600)\n"
                           "  --strict             exit code 1 for warnings too\n"
                           "  --json               prints one JSON object: kernels, launches, findings,\n"
                           "                       skipped code\n"
                           "  --sarif FILE         also writes the findings as SARIF 2.1.0\n"
                           "\n"
                           "Example:\n"
                           "  slipring kernel check tests/check/planted/race_tree.cu\n"
                           "\n"
                           "If the file's host code launches the kernel, the check uses that launch as far\n"
                           "as it can be read. It generates the rest. A finding that may result from\n"
                           "generated values is a warning; its text names the option that gives real values.\n"
                           "With generated sizes there are two launches: with one thread per element, and\n"
                           "with fewer elements than threads.\n"
                           "Exit code: 0 no errors; 1 errors, or a file that does not compile; 2 a wrong\n"
                           "command line.\n";

typedef struct options {
    const char **files;
    uint32_t file_count;
    const char *name, *sarif;
    slr_check_desc desc;
    run_list arguments;
    source_options source;
    bool json, strict;
} options;

// ---- the command line ----------------------------------------------------------------------------------------------

enum { GRID = 256, BLOCK, SHARED, ARG, FUEL, STEPS, MEMORY, MESSAGES, STRICT, JSON, SARIF };

static const struct option long_options[] = {
    SOURCE_LONG,
    {"grid", required_argument, NULL, GRID},
    {"block", required_argument, NULL, BLOCK},
    {"shared", required_argument, NULL, SHARED},
    {"arg", required_argument, NULL, ARG},
    {"fuel", required_argument, NULL, FUEL},
    {"steps", required_argument, NULL, STEPS},
    {"memory", required_argument, NULL, MEMORY},
    {"messages", required_argument, NULL, MESSAGES},
    {"strict", no_argument, NULL, STRICT},
    {"json", no_argument, NULL, JSON},
    {"sarif", required_argument, NULL, SARIF},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

// Not 0, which the library takes for the default.
static int take_limit(const char *option, const char *otherwise, uint64_t *to)
{
    if (number_parse(SLR_U64, optarg, to) && *to > 0)
        return -1;
    return say_usage("--%s: '%s' is not a whole number from 1 to %" PRIu64 "; the default is %s", option, optarg,
                     UINT64_MAX, otherwise);
}

static int take_option(int option, char **argv, options *out)
{
    switch (option) {
    case GRID:
        return kernel_take_shape(out->desc.grid, "--grid", optarg);
    case BLOCK:
        return kernel_take_shape(out->desc.block, "--block", optarg);
    case SHARED:
        return kernel_take_number("--shared", optarg, SLR_U32, &out->desc.shared_bytes);
    case ARG:
        return run_list_add(&out->arguments, optarg);
    case FUEL:
        return take_limit("fuel", "1000000, for a handler 100000", &out->desc.fuel);
    case STEPS:
        return take_limit("steps", "200000000, for a handler 16000000", &out->desc.steps);
    case MEMORY:
        return take_limit("memory", "1073741824", &out->desc.memory_bytes);
    case MESSAGES:
        return take_limit("messages", "600", &out->desc.messages);
    case STRICT:
        out->strict = true;
        return -1;
    case JSON:
        out->json = true;
        return -1;
    case SARIF:
        out->sarif = optarg;
        return -1;
    case 'h':
        fputs(help, stdout);
        return EXIT_DONE;
    default:
        return source_options_take(&out->source, option, optarg) ? -1 : say_refused_option(option, argv);
    }
}

// A file has a dot or a slash in its name, a kernel neither.
static bool is_file(const char *argument)
{
    return strpbrk(argument, "./") != NULL;
}

static bool is_folder(const char *argument)
{
    struct stat about;
    return stat(argument, &about) == 0 && S_ISDIR(about.st_mode);
}

static int parse(int argc, char **argv, options *out)
{
    *out = (options){.desc = SLR_CHECK_DESC_INIT};
    for (int option; (option = getopt_long(argc, argv, ":h" SOURCE_SHORT, long_options, NULL)) != -1;) {
        int end = take_option(option, argv, out);
        if (end != -1)
            return end;
    }
    out->files = memory_take((size_t)argc + 1, sizeof *out->files);
    for (int i = optind; i < argc; i++) {
        if (is_folder(argv[i]) && (is_file(argv[i]) || optind + 1 == argc))
            return say_usage("'%s' is a folder: give its files, such as %s%s*.cu", argv[i], argv[i],
                             argv[i][strlen(argv[i]) - 1] == '/' ? "" : "/");
        if (is_file(argv[i]))
            out->files[out->file_count++] = argv[i];
        else if (out->name == NULL)
            out->name = argv[i];
        else
            return say_usage("only one NAME is allowed, not '%s' and '%s'; a file name contains a dot or a slash",
                             out->name, argv[i]);
    }
    if (out->file_count == 0)
        return out->name == NULL ? say_usage("FILE.cu is missing")
                                 : say_usage("FILE.cu is missing: '%s' is taken for a kernel's NAME, for it has no dot "
                                             "and no slash",
                                             out->name);
    return -1;
}

// ---- one kernel ----------------------------------------------------------------------------------------------------

typedef struct session {
    const options *options;
    slr_device *device;
    findings all;
    json_t *files, *kernels, *errors; // NULL without --json; errors: why kernels of the file cannot be run
    uint32_t checked;                 // kernels
    int end;                          // the exit code so far, errors aside
} session;

static void print_shape(const char *name, const uint32_t shape[3])
{
    say_out("%s %u", name, shape[0]);
    if (shape[1] > 1 || shape[2] > 1)
        say_out(" x %u", shape[1]);
    if (shape[2] > 1)
        say_out(" x %u", shape[2]);
}

static bool is_handler(const slr_function_info *function)
{
    return function->kind != SLR_FUNCTION_KERNEL;
}

static void print_launches(const slr_check *check, const slr_function_info *function)
{
    slr_check_launch launch;
    for (uint32_t i = 0; slr_check_get_launch(check, i, &launch) == SLR_OK; i++) {
        if (!is_handler(function))
            print_shape("  grid", launch.grid);
        if (function->kind != SLR_FUNCTION_RING)
            print_shape(is_handler(function) ? "  block" : ", block", launch.block);
        else
            say_out("  one thread");
        if (launch.from != NULL)
            say_out(" (from %s)", launch.from);
        if (launch.shared_bytes > 0)
            say_out(", %u bytes of extern shared memory", launch.shared_bytes);
        for (uint32_t p = 0; p < launch.argument_count; p++)
            say_out("%s%s", p == 0 ? ": " : "; ", launch.arguments[p]);
        putchar('\n');
    }
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static void print_check(const slr_check *check, const findings *all, size_t first, const slr_function_info *function)
{
    slr_check_info info;
    slr_check_get_info(check, &info);
    for (size_t i = first; i < all->count; i++)
        finding_print(&all->items[i]);
    say_out("%s:%u: %s %s: ", function->file, function->line, is_handler(function) ? "handler" : "kernel",
            function->name);
    if (info.findings == 0)
        puts("nothing found");
    else
        say_out("%u error%s, %u warning%s, %u note%s\n", info.errors, plural(info.errors), info.warnings,
                plural(info.warnings), info.notes, plural(info.notes));
    print_launches(check, function);
}

static json_t *launch_json(const slr_check_launch *launch)
{
    json_t *arguments = json_array();
    for (uint32_t p = 0; p < launch->argument_count; p++)
        json_array_append_new(arguments, json_pack("{s:o, s:b}", "is", kernel_text(launch->arguments[p]), "generated",
                                                   (int)launch->generated[p]));
    return json_pack("{s:[i,i,i], s:[i,i,i], s:i, s:I, s:o, s:o}", "grid", launch->grid[0], launch->grid[1],
                     launch->grid[2], "block", launch->block[0], launch->block[1], launch->block[2], "shared_bytes",
                     (int)launch->shared_bytes, "instructions", (json_int_t)launch->instructions, "arguments",
                     arguments, "from", launch->from ? kernel_text(launch->from) : json_null());
}

static json_t *line_json(const slr_check_line *line)
{
    return json_pack("{s:o, s:i, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "file", kernel_text(line->file),
                     "line", (int)line->line, "warp_steps", (json_int_t)line->steps, "active_lanes",
                     line->steps ? (double)line->lanes / (double)line->steps : 0.0, "requests",
                     (json_int_t)line->requests, "sectors", (json_int_t)line->sectors, "least_sectors",
                     (json_int_t)line->least_sectors, "shared_requests", (json_int_t)line->shared_requests, "passes",
                     (json_int_t)line->passes, "least_passes", (json_int_t)line->least_passes, "branches",
                     (json_int_t)line->branches, "splits", (json_int_t)line->splits);
}

static json_t *check_json(const slr_check *check, const findings *all, size_t first, const slr_function_info *function)
{
    slr_check_info info;
    slr_check_launch launch;
    slr_check_line line;
    json_t *found = json_array(), *launches = json_array(), *lines = json_array();
    slr_check_get_info(check, &info);
    for (size_t i = first; i < all->count; i++)
        json_array_append_new(found, finding_json(&all->items[i]));
    for (uint32_t i = 0; slr_check_get_launch(check, i, &launch) == SLR_OK; i++)
        json_array_append_new(launches, launch_json(&launch));
    for (uint32_t i = 0; slr_check_get_line(check, i, &line) == SLR_OK; i++)
        json_array_append_new(lines, line_json(&line));
    return json_pack("{s:o, s:b, s:o, s:i, s:i, s:i, s:i, s:o, s:o, s:o}", "kernel", kernel_text(function->name),
                     "handler", (int)is_handler(function), "file", kernel_text(function->file), "line",
                     (int)function->line, "errors", (int)info.errors, "warnings", (int)info.warnings, "notes",
                     (int)info.notes, "launches", launches, "findings", found, "lines", lines);
}

// The library's messages name the kernel; what cannot be is a wrong command line.
static int say_status(slr_status status)
{
    say("%s", slr_error_message());
    return status == SLR_INVALID || status == SLR_NOT_FOUND ? EXIT_USAGE
           : status == SLR_UNSUPPORTED                      ? EXIT_NO_DEVICE
                                                            : EXIT_FAILED;
}

static slr_status check_one(slr_program *program, const slr_function_info *function, const slr_check_desc *desc,
                            slr_check **out)
{
    if (is_handler(function))
        return slr_handler_check(program, function->name, desc, out);
    slr_kernel *kernel;
    slr_status status = slr_program_get_kernel(program, function->name, &kernel);
    if (status != SLR_OK)
        return status;
    status = slr_kernel_check(kernel, desc, out);
    slr_kernel_destroy(kernel);
    return status;
}

static int check_with(session *session, slr_program *program, const slr_function_info *function,
                      const kernel_arguments *given)
{
    slr_check_desc desc = session->options->desc;
    slr_check_argument *arguments = memory_take(given->count + 1, sizeof *arguments);
    for (uint32_t i = 0; i < given->count; i++)
        if (given->is_given[i] || given->is_unset[i])
            arguments[desc.argument_count++] = (slr_check_argument){i, given->is_unset[i], given->items[i]};
    desc.arguments = arguments;
    slr_check *check;
    progress_begin("checking %s %.40s", is_handler(function) ? "handler" : "kernel", function->name);
    slr_status status = check_one(program, function, &desc, &check);
    progress_end();
    free(arguments);
    if (status != SLR_OK)
        return say_status(status);
    size_t first = session->all.count;
    findings_take(&session->all, check);
    if (session->kernels != NULL)
        json_array_append_new(session->kernels, check_json(check, &session->all, first, function));
    else
        print_check(check, &session->all, first, function);
    session->checked++;
    slr_check_destroy(check);
    return EXIT_DONE;
}

static int check_function(session *session, slr_program *program, const slr_function_info *function)
{
    kernel_arguments given;
    int end = kernel_arguments_make(&given, session->device, function, &session->options->arguments, false);
    if (end == EXIT_DONE)
        end = check_with(session, program, function, &given);
    kernel_arguments_free(&given);
    return end;
}

// ---- files ---------------------------------------------------------------------------------------------------------

static bool is_wanted(const session *session, const slr_function_info *function)
{
    const char *name = session->options->name;
    return name == NULL || strcmp(name, function->name) == 0;
}

static uint32_t count_kernels(const session *session, const slr_program *program)
{
    slr_function_info function;
    uint32_t count = 0;
    for (uint32_t i = 0; slr_program_get_function(program, i, &function) == SLR_OK; i++)
        count += is_wanted(session, &function);
    return count;
}

// The one reason to leave a kernel out that is an error in every launch of it, so that the checker must not pass over
// it: a barrier that for certain not all threads reach (SLR-K123).
static bool is_wrong(const session *session, const slr_skipped_info *skipped)
{
    const char *name = session->options->name;
    return skipped->is_kernel && skipped->code == 123 && (name == NULL || strcmp(name, skipped->name) == 0);
}

// What is in the file and was not checked, and why.
static void list_left_out(session *session, const slr_program *program, json_t *to)
{
    slr_skipped_info skipped;
    for (uint32_t i = 0; slr_program_get_skipped(program, i, &skipped) == SLR_OK; i++) {
        const bool wrong = is_wrong(session, &skipped);
        if (wrong) {
            const finding *made = findings_take_left_out(&session->all, &skipped);
            session->checked++;
            if (to == NULL)
                finding_print(made);
            else
                json_array_append_new(session->errors, finding_json(made));
        }
        if (to == NULL && !wrong)
            say_out("%s:%u: not checked: %s '%s': %s\n", skipped.file, skipped.line, skipped.what, skipped.name,
                    skipped.why);
        else if (to != NULL)
            json_array_append_new(to, json_pack("{s:o, s:s, s:o, s:i, s:o}", "name", kernel_text(skipped.name), "what",
                                                skipped.what, "file", kernel_text(skipped.file), "line",
                                                (int)skipped.line, "why", kernel_text(skipped.why)));
    }
}

static int check_program(session *session, slr_program *program, json_t *left_out)
{
    slr_function_info function;
    uint32_t count = count_kernels(session, program);
    int end = EXIT_DONE;
    if (count != 1 && session->options->arguments.count > 0)
        return say_usage("--arg needs one kernel: give one file and the kernel's NAME");
    for (uint32_t i = 0; slr_program_get_function(program, i, &function) == SLR_OK; i++) {
        int one = is_wanted(session, &function) ? check_function(session, program, &function) : EXIT_DONE;
        end = end == EXIT_DONE ? one : end;
    }
    list_left_out(session, program, left_out);
    return end;
}

static int check_file(session *session, const char *file)
{
    slr_program *program;
    slr_program_desc desc = source_options_desc(&session->options->source);
    slr_status status = slr_program_load(session->device, file, &desc, &program);
    size_t first = session->all.count;
    if (status == SLR_COMPILE) {
        findings_take_errors(&session->all, file, slr_error_message());
        if (session->files == NULL)
            say_out("%s\n", slr_error_message());
    } else if (status != SLR_OK) {
        return say_failure(status, file);
    }
    json_t *left_out = session->files != NULL ? json_array() : NULL;
    session->kernels = session->files != NULL ? json_array() : NULL;
    session->errors = session->files != NULL ? json_array() : NULL;
    int end = status == SLR_OK ? check_program(session, program, left_out) : EXIT_FAILED;
    if (session->files != NULL) {
        for (size_t i = first; i < session->all.count && status == SLR_COMPILE; i++)
            json_array_append_new(session->errors, finding_json(&session->all.items[i]));
        json_array_append_new(session->files,
                              json_pack("{s:o, s:o, s:o, s:o}", "file", kernel_text(file), "kernels", session->kernels,
                                        "compile_errors", session->errors, "left_out", left_out));
    }
    if (status == SLR_OK) {
        int required = source_options_require(&session->options->source, program, file);
        end = end == EXIT_DONE ? required : end;
        slr_program_destroy(program);
    }
    return end;
}

static int check_files(session *session)
{
    const options *options = session->options;
    int end = EXIT_DONE;
    for (uint32_t i = 0; i < options->file_count; i++) {
        int one = check_file(session, options->files[i]);
        end = end == EXIT_DONE || end == EXIT_FAILED ? (one == EXIT_DONE ? end : one) : end;
    }
    if (end == EXIT_DONE && options->name != NULL && session->checked == 0)
        return say_usage("no kernel '%s' in %s; 'slipring kernel list' shows the names", options->name,
                         options->file_count == 1 ? options->files[0] : "these files");
    return end;
}

static int report(session *session)
{
    const options *options = session->options;
    size_t errors = findings_count(&session->all, SLR_CHECK_ERROR);
    size_t warnings = findings_count(&session->all, SLR_CHECK_WARNING);
    if (options->json)
        kernel_print_object(json_pack("{s:o, s:I, s:I, s:I}", "files", session->files, "errors", (json_int_t)errors,
                                      "warnings", (json_int_t)warnings, "notes",
                                      (json_int_t)findings_count(&session->all, SLR_CHECK_NOTE)));
    if (options->sarif != NULL && !findings_write_sarif(&session->all, options->sarif))
        return EXIT_FAILED;
    return errors > 0 || (options->strict && warnings > 0) ? EXIT_FAILED : EXIT_DONE;
}

int kernel_check(int argc, char **argv)
{
    options options;
    session session = {.options = &options};
    int end = parse(argc, argv, &options);
    for (uint32_t i = 0; end == -1 && options.sarif != NULL && i < options.file_count; i++) {
        int fine = output_try("--sarif", options.sarif, options.files[i]);
        end = fine == EXIT_DONE ? -1 : fine;
    }
    if (end == -1) {
        slr_status status = slr_device_open(KERNEL_DEVICE, NULL, &session.device);
        end = status == SLR_OK ? EXIT_DONE : say_failure(status, KERNEL_DEVICE);
        session.files = options.json ? json_array() : NULL;
        if (end == EXIT_DONE) {
            end = check_files(&session);
            int found = report(&session);
            end = end == EXIT_DONE ? found : end;
            slr_device_close(session.device);
        }
    }
    findings_free(&session.all);
    free(options.files);
    free(options.arguments.items);
    source_options_free(&options.source);
    return end;
}
