// SPDX-License-Identifier: Apache-2.0
/// How a verb's files are read: -I, -D and --require-all, which every verb that loads CUDA C files shares.
#ifndef SOURCE_OPTIONS_H
#define SOURCE_OPTIONS_H

#include "run/options.h"

#include <slipring/program.h>

typedef struct source_options {
    run_list defines, includes;
    bool requires_all, debug;
} source_options;

/// Of the string of short options that getopt_long takes.
#define SOURCE_SHORT "D:I:"

enum { SOURCE_REQUIRE_ALL = 512 };

/// Of the table of long options.
#define SOURCE_LONG                                                                                                    \
    {"define", required_argument, NULL, 'D'}, {"include", required_argument, NULL, 'I'},                               \
    {                                                                                                                  \
        "require-all", no_argument, NULL, SOURCE_REQUIRE_ALL                                                           \
    }

/// Of the help.
#define SOURCE_HELP                                                                                                    \
    "  -I, --include DIR    searches this folder for headers; may be repeated\n"                                       \
    "  -D, --define NAME[=VALUE]   defines a macro; may be repeated\n"                                                 \
    "  --require-all        exit code 1 if a kernel of the file is skipped\n"

/// Takes an option of getopt_long's. False: the option is not one of these.
bool source_options_take(source_options *options, int option, const char *value);

void source_options_free(source_options *options);

/// Where a program is loaded with these options. It points into `options`.
slr_program_desc source_options_desc(const source_options *options);

/// With --require-all: says on standard error which kernels of the program were left out. Returns an exit code.
int source_options_require(const source_options *options, const slr_program *program, const char *file);

/// Says on standard error which kernels and handlers do nothing because an #if took away what they do.
void warn_of_emptied(const slr_program *program);

#endif
