// SPDX-License-Identifier: Apache-2.0
// How a verb's files are read.
#include "kernel/source_options.h"

#include "say.h"
#include "verbs.h"

#include <stdlib.h>

bool source_options_take(source_options *options, int option, const char *value)
{
    switch (option) {
    case 'D':
        run_list_add(&options->defines, value);
        return true;
    case 'I':
        run_list_add(&options->includes, value);
        return true;
    case SOURCE_REQUIRE_ALL:
        options->requires_all = true;
        return true;
    default:
        return false;
    }
}

void source_options_free(source_options *options)
{
    free(options->defines.items);
    free(options->includes.items);
}

slr_program_desc source_options_desc(const source_options *options)
{
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    desc.defines = options->defines.items;
    desc.define_count = options->defines.count;
    desc.include_paths = options->includes.items;
    desc.include_path_count = options->includes.count;
    desc.debug = options->debug;
    return desc;
}

int source_options_require(const source_options *options, const slr_program *program, const char *file)
{
    slr_skipped_info skipped;
    int end = EXIT_DONE;
    for (uint32_t i = 0; options->requires_all && slr_program_get_skipped(program, i, &skipped) == SLR_OK; i++) {
        if (!skipped.is_kernel)
            continue;
        say("%s: %s '%s' in line %u is skipped: %s", file, skipped.what, skipped.name, skipped.line, skipped.why);
        end = EXIT_FAILED;
    }
    return end;
}

void warn_of_emptied(const slr_program *program)
{
    enum { EMPTIED = 97 }; // SLR-K097
    slr_skipped_info skipped;
    for (uint32_t i = 0; slr_program_get_skipped(program, i, &skipped) == SLR_OK; i++)
        if (skipped.code == EMPTIED)
            say("warning SLR-K097: %s:%u: '%s' does nothing: %s", skipped.file, skipped.line, skipped.name,
                skipped.why);
}
