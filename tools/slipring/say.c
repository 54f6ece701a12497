// SPDX-License-Identifier: Apache-2.0
// What the tools say to people: everything on standard error goes through here, so that messages and progress do not
// mix.
#include "say.h"

#include "verbs.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *speaker = "";
static bool progress_shown;

void say_as(const char *verb)
{
    speaker = verb;
}

static void say_list(const char *format, va_list arguments)
{
    say_progress("");
    fprintf(stderr, "slipring%s%s: ", *speaker ? " " : "", speaker);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_list(format, arguments);
    va_end(arguments);
}

void say_progress(const char *line)
{
    if (*line == '\0' && !progress_shown)
        return;
    fprintf(stderr, "\r%s\033[K", line); // ECMA-48: erase to the end of the line
    progress_shown = *line != '\0';
}

int say_failure(slr_status status, const char *what)
{
    const char *why = slr_error_message();
    say("%s: %s", what, *why ? why : slr_status_meaning(status));
    return status == SLR_NO_DEVICE || status == SLR_UNSUPPORTED ? EXIT_NO_DEVICE : EXIT_FAILED;
}

int say_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_list(format, arguments);
    va_end(arguments);
    fprintf(stderr, "Try 'slipring%s%s --help'.\n", *speaker ? " " : "", speaker);
    return EXIT_USAGE;
}

// getopt names a short option in `optopt`, a long one only in argv. A word of short options ("-xyz") that is not at
// its end is still at argv[optind]; a long option stands before it.
static bool is_short(char **argv)
{
    const char *next = argv[optind], *last = argv[optind - 1];
    if (optopt <= 0 || optopt > 127)
        return false;
    bool is_within = next != NULL && next[0] == '-' && next[1] != '-' && strchr(next, optopt) != NULL;
    return is_within || strncmp(last, "--", 2) != 0;
}

int say_refused_option(int option, char **argv)
{
    const char *given = argv[optind - 1];
    char text[3] = {'-', (char)optopt, '\0'};
    if (is_short(argv))
        given = text;
    return option == ':' ? say_usage("'%s' needs a value", given) : say_usage("no option '%s'", given);
}

void say_version(void)
{
    const char *library = slr_version();
    if (strcmp(library, SLR_VERSION) == 0)
        puts("slipring " SLR_VERSION);
    else
        printf("slipring " SLR_VERSION " with the library of %s\n", library);
}
