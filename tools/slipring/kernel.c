// SPDX-License-Identifier: Apache-2.0
// `slipring kernel`: finds the verb behind it, and what the verbs have in common.
#include "kernel.h"

#include "memory.h"
#include "say.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct verb {
    const char *name, *full_name;
    const char *help;
    int (*run)(int argc, char **argv);
} verbs[] = {
    {"check", "kernel check", "run kernels of files, watched: races, overruns, what is slow on a GPU, and why",
     kernel_check},
    {"list", "kernel list", "the kernels and handlers of files, and what was left out and why", kernel_list},
    {"emit", "kernel emit", "kernels and handlers as C, CUDA C or OpenCL C", kernel_emit},
    {"explain", "kernel explain", "what a thread does, arithmetic intensity, occupancy", kernel_explain},
    {"run", "kernel run", "launch a kernel once, checked, and print what it wrote", kernel_run},
};

enum { VERBS = sizeof verbs / sizeof *verbs };

int verb_kernel(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < VERBS; i++) {
        if (strcmp(name, verbs[i].name) == 0) {
            say_as(verbs[i].full_name);
            return verbs[i].run(argc - 1, argv + 1);
        }
    }
    if (strcmp(name, "--help") != 0 && strcmp(name, "-h") != 0)
        return *name ? say_usage("no verb '%s': check, list, emit, explain and run are possible", name)
                     : say_usage("a verb is missing: check, list, emit, explain or run");
    puts("Usage: slipring kernel VERB FILE.cu... [OPTION]...\n"
         "Kernels of CUDA C files, without writing a host program.\n");
    for (size_t i = 0; i < VERBS; i++)
        printf("  %-7s %s\n", verbs[i].name, verbs[i].help);
    puts("\n'slipring kernel VERB --help' says what a verb does and takes.");
    return EXIT_DONE;
}

int kernel_load(slr_device *device, const char *file, const source_options *source, slr_program **out)
{
    slr_program_desc desc = source_options_desc(source);
    slr_status status = slr_program_load(device, file, &desc, out);
    if (status == SLR_COMPILE) {
        fprintf(stderr, "%s\n", slr_error_message());
        return EXIT_FAILED;
    }
    if (status != SLR_OK)
        return say_failure(status, file);
    warn_of_emptied(*out);
    return EXIT_DONE;
}

json_t *kernel_text(const char *text)
{
    json_t *made = json_string(text);
    if (made != NULL)
        return made;
    size_t length = strlen(text);
    char *plain = memory_take(length + 1, 1);
    for (size_t i = 0; i < length; i++)
        plain[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
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
