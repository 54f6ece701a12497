// SPDX-License-Identifier: Apache-2.0
#include "kernel/option_table.h"

#include "kernel/kernel.h"
#include "say.h"
#include "verbs.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_ROW = 1024 };

static int take_row(const option_row *row, const char *text)
{
    char option[64];
    if (row->take == NULL) {
        *(bool *)row->to = true;
        return -1;
    }
    snprintf(option, sizeof option, "--%s", row->name);
    return row->take(option, text, row->to);
}

// The rows behind those of files and --help.
static void make_long_options(const option_row *rows, bool has_source, struct option *out)
{
    static const struct option of_files[] = {SOURCE_LONG}, of_help = {"help", no_argument, NULL, 'h'};
    size_t count = has_source ? sizeof of_files / sizeof *of_files : 0;
    memcpy(out, of_files, count * sizeof *out);
    out[count++] = of_help;
    for (int i = 0; rows[i].name != NULL; i++)
        out[count++] =
            (struct option){rows[i].name, rows[i].take == NULL ? no_argument : required_argument, NULL, FIRST_ROW + i};
    out[count] = (struct option){0};
}

int option_table_read(int argc, char **argv, const option_row *rows, source_options *source, const char *help)
{
    struct option all[OPTION_ROWS + 8];
    make_long_options(rows, source != NULL, all);
    for (int option; (option = getopt_long(argc, argv, source != NULL ? ":h" SOURCE_SHORT : ":h", all, NULL)) != -1;) {
        int end = -1;
        if (option >= FIRST_ROW)
            end = take_row(&rows[option - FIRST_ROW], optarg);
        else if (option == 'h') {
            fputs(help, stdout);
            end = EXIT_DONE;
        } else if (source == NULL || !source_options_take(source, option, optarg))
            end = say_refused_option(option, argv);
        if (end != -1)
            return end;
    }
    return -1;
}

int option_table_file_and_name(int argc, char **argv, const char **file, const char **name)
{
    if (argc - optind < 2)
        return say_usage("%s is missing", optind == argc ? "FILE.cu" : "NAME");
    if (argc - optind > 2)
        return say_usage("only one FILE.cu and one NAME are allowed, not also '%s'", argv[optind + 2]);
    *file = argv[optind];
    *name = argv[optind + 1];
    return -1;
}

// ---- values --------------------------------------------------------------------------------------------------------

int option_take_text(const char *option, const char *text, void *to)
{
    (void)option;
    *(const char **)to = text;
    return -1;
}

int option_take_list(const char *option, const char *text, void *to)
{
    (void)option;
    return run_list_add(to, text);
}

int option_take_u32(const char *option, const char *text, void *to)
{
    return kernel_take_number(option, text, SLR_U32, to);
}

int option_take_u64(const char *option, const char *text, void *to)
{
    return kernel_take_number(option, text, SLR_U64, to);
}

int option_take_shape(const char *option, const char *text, void *to)
{
    return kernel_take_shape(to, option, text);
}

int option_take_size(const char *option, const char *text, void *to)
{
    (void)option;
    return kernel_take_size(text, to);
}

int option_take_capability(const char *option, const char *text, void *to)
{
    (void)option;
    return kernel_take_capability(text, to);
}
