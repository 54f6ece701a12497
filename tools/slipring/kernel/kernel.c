// SPDX-License-Identifier: Apache-2.0
// `slipring kernel`: finds the verb behind it, and what the verbs have in common.
#include "kernel/kernel.h"

#include "memory.h"
#include "names.h"
#include "number.h"
#include "progress.h"
#include "say.h"
#include "subverb.h"
#include "utf8.h"
#include "verbs.h"

#include <slipring/profile.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct subverb verbs[] = {
    {"check", "kernel check", "find races, overruns and slow GPU code, without a GPU", kernel_check},
    {"list", "kernel list", "list kernels and handlers, and skipped code with the reason", kernel_list},
    {"emit", "kernel emit", "kernels as C, CUDA C, OpenCL C, SPIR-V or WGSL", kernel_emit},
    {"explain", "kernel explain", "count a thread's operations; arithmetic intensity, occupancy", kernel_explain},
    {"fuse", "kernel fuse", "make one kernel of several, in source", kernel_fuse},
    {"suggest", "kernel suggest", "the block for a launch, why, and its occupancy", kernel_suggest},
    {"tile", "kernel tile", "tile, blocks and threads for a problem of 1 to 3 dimensions", kernel_tile},
    {"time", "kernel time", "time a kernel: quantiles, rates of bytes and operations", kernel_time},
    {"run", "kernel run", "launch a kernel once, with checks, and print its results", kernel_run},
};

int verb_kernel(int argc, char **argv)
{
    static const char usage[] = "Usage: slipring kernel VERB FILE.cu... [OPTION]...\n"
                                "Checks, translates and runs kernels of CUDA C files, without a host program.\n";
    static const char more[] = "\nExample:\n"
                               "  slipring kernel list examples/kernels/saxpy.cu\n"
                               "\n'slipring kernel VERB --help' describes a verb and its options.";
    return subverb_run(verbs, sizeof verbs / sizeof *verbs, usage, more, argc, argv);
}

int kernel_load(slr_device *device, const char *file, const source_options *source, slr_program **out)
{
    slr_program_desc desc = source_options_desc(source);
    progress_begin("reading and compiling");
    slr_status status = slr_program_load(device, file, &desc, out);
    progress_end();
    if (status == SLR_COMPILE) {
        fprintf(stderr, "%s\n", slr_error_message());
        return EXIT_FAILED;
    }
    if (status != SLR_OK)
        return say_failure(status, file);
    warn_of_emptied(*out);
    return EXIT_DONE;
}

int kernel_say_missing(const slr_program *program, const char *file, const char *name, bool kernels)
{
    slr_skipped_info skipped;
    for (uint32_t i = 0; slr_program_get_skipped(program, i, &skipped) == SLR_OK; i++) {
        if (skipped.is_kernel && strcmp(skipped.name, name) == 0) {
            say("%s: %s '%s' in line %u is skipped: %s", file, skipped.what, name, skipped.line, skipped.why);
            return EXIT_FAILED;
        }
    }
    slr_function_info function;
    const char **names = NULL;
    size_t count = 0;
    for (uint32_t i = 0; slr_program_get_function(program, i, &function) == SLR_OK; i++) {
        if (kernels && function.kind != SLR_FUNCTION_KERNEL)
            continue;
        names = memory_grow(names, count + 1, sizeof *names);
        names[count++] = function.name; // the program's
    }
    char guess[NAMES_GUESS_BYTES];
    names_guess(guess, sizeof guess, name, "it has", names, count);
    free(names);
    if (count == 0)
        return say_usage("%s has no %s", file, kernels ? "__global__ kernel" : "kernel and no handler");
    return say_usage("%s has no %s '%s'%s", file, kernels ? "__global__ kernel" : "kernel and no handler", name, guess);
}

int kernel_say_status(slr_status status)
{
    say("%s", slr_error_message());
    return status == SLR_INVALID || status == SLR_NOT_FOUND       ? EXIT_USAGE
           : status == SLR_NO_DEVICE || status == SLR_UNSUPPORTED ? EXIT_NO_DEVICE
                                                                  : EXIT_FAILED;
}

int kernel_find(slr_program *program, const char *file, const char *name, slr_kernel **kernel, slr_function_info *info)
{
    slr_status status = slr_program_get_kernel(program, name, kernel);
    if (status == SLR_NOT_FOUND)
        return kernel_say_missing(program, file, name, true);
    if (status != SLR_OK)
        return kernel_say_status(status);
    for (uint32_t i = 0; slr_program_get_function(program, i, info) == SLR_OK; i++)
        if (info->kind == SLR_FUNCTION_KERNEL && strcmp(info->name, name) == 0)
            break;
    return EXIT_DONE;
}

const char *kernel_counted_name(uint32_t counted)
{
    static const char *const names[] = {[SLR_COUNTED_NOT] = "not counted",
                                        [SLR_COUNTED_AT_MOST] = "at most",
                                        [SLR_COUNTED_SAMPLED] = "sampled",
                                        [SLR_COUNTED_EXACT] = "exact"};
    return counted <= SLR_COUNTED_EXACT ? names[counted] : "-";
}

int kernel_take_number(const char *option, const char *text, slr_scalar scalar, void *to)
{
    return number_parse(scalar, text, to) ? -1 : say_usage("%s: '%s' is not %s", option, text, number_takes(scalar));
}

int kernel_take_capability(const char *text, uint32_t *to)
{
    const char *point = strchr(text, '.');
    char major[8];
    uint32_t minor = 0;
    if (point == NULL && number_parse(SLR_U32, text, to))
        return -1;
    snprintf(major, sizeof major, "%.*s", point != NULL && point - text < 4 ? (int)(point - text) : 0, text);
    if (point == NULL || strlen(point) != 2 || !number_parse(SLR_U32, major, to) ||
        !number_parse(SLR_U32, point + 1, &minor))
        return say_usage("--cc: '%s' is not a compute capability such as 90 or 9.0", text);
    *to = *to * 10 + minor;
    return -1;
}

json_t *kernel_text(const char *text)
{
    json_t *made = json_string(text);
    if (made != NULL)
        return made;
    const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
    char *plain = memory_take(strlen(text) + 1, sizeof UTF8_REPLACEMENT), *to = plain;
    while (at < end) {
        size_t wide = utf8_bytes(at, (size_t)(end - at)), bytes = wide ? wide : sizeof UTF8_REPLACEMENT - 1;
        memcpy(to, wide ? (const char *)at : UTF8_REPLACEMENT, bytes);
        to += bytes;
        at += wide ? wide : 1;
    }
    made = json_string(plain);
    free(plain);
    return made;
}

void kernel_print_object(json_t *object)
{
    json_dumpf(object, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(object);
}
