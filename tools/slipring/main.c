// SPDX-License-Identifier: Apache-2.0
// The command line: finds the verb. Everything else is the verb's.
#include "say.h"
#include "verbs.h"

#include <slipring/api.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct verb {
    const char *name;
    const char *help;
    int (*run)(int argc, char **argv);
} verbs[] = {
    {"doctor", "what can run here, and why not", verb_doctor},
    {"devices", "the devices that open here", verb_devices},
    {"run", "stream records (CSV, NDJSON, raw) through a message handler", verb_run},
    {"kernel", "list and run the kernels of a CUDA C file", verb_kernel},
    {"demo", "a heart monitor: a ward of patients on one ring kernel", verb_demo},
    {"bench", "ring kernels beside the physical limit, the plain call and other libraries", verb_bench},
};

enum { VERBS = sizeof verbs / sizeof *verbs };

static int help(void)
{
    puts("Usage: slipring VERB [OPTION]...\n"
         "Message handlers, written in the C subset of CUDA C, that stay on the device.\n");
    for (size_t i = 0; i < VERBS; i++)
        printf("  %-10s %s\n", verbs[i].name, verbs[i].help);
    puts("\n'slipring VERB --help' says what a verb does and takes. With --json a verb prints one object.\n\n"
         "Exit codes:\n"
         "    0  done\n"
         "    1  the work failed: a source that does not compile, a bad row, a device that was lost\n"
         "    2  the command line is wrong\n"
         "    3  the device cannot run that here\n"
         "  130  interrupted by SIGINT or SIGTERM; what had been accepted was handled first");
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < VERBS; i++) {
        if (strcmp(name, verbs[i].name) == 0) {
            say_as(name);
            return verbs[i].run(argc - 1, argv + 1);
        }
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help();
    if (strcmp(name, "--version") == 0) {
        puts("slipring " SLR_VERSION);
        return EXIT_DONE;
    }
    return *name ? say_usage("no verb '%s'", name) : say_usage("a verb is missing");
}
