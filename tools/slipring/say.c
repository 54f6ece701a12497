// SPDX-License-Identifier: Apache-2.0
// What the tools say to people: everything on standard error goes through here, so that messages and progress do not
// mix.
#include "say.h"

#include "memory.h"
#include "names.h"
#include "verbs.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *speaker = "";
static bool progress_shown;

void say_as(const char *verb)
{
    speaker = verb;
}

// The text of a format, the caller's to free(); `*bytes` is its length.
static char *text_of(const char *format, va_list arguments, size_t *bytes)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    *bytes = length > 0 ? (size_t)length : 0;
    char *text = memory_take(*bytes + 1, 1);
    vsnprintf(text, *bytes + 1, format, arguments);
    return text;
}

static void put_printable(FILE *to, const char *format, va_list arguments)
{
    size_t bytes;
    char *text = text_of(format, arguments, &bytes);
    size_t wanted = slr_text_printable(text, bytes, NULL, 0);
    char *shown = memory_take(wanted + 1, 1);
    slr_text_printable(text, bytes, shown, wanted + 1);
    fwrite(shown, 1, wanted, to);
    free(shown);
    free(text);
}

static void say_list(const char *format, va_list arguments)
{
    say_progress("");
    fprintf(stderr, "slipring%s%s: ", *speaker ? " " : "", speaker);
    put_printable(stderr, format, arguments);
    fputc('\n', stderr);
}

void say_out(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put_printable(stdout, format, arguments);
    va_end(arguments);
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

// Whether a message of the library names it already, as a word of its own.
static bool is_named(const char *why, const char *what)
{
    static const char around[] = " '\":,;()";
    size_t bytes = strlen(what);
    for (const char *at = why; bytes > 0 && (at = strstr(at, what)) != NULL; at++)
        if ((at == why || strchr(around, at[-1]) != NULL) && strchr(around, at[bytes]) != NULL) // and its end
            return true;
    return false;
}

int say_failure(slr_status status, const char *what)
{
    const char *why = slr_error_message();
    if (is_named(why, what))
        say("%s", why);
    else
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

// "a, b or c"
static void list_choices(char *to, size_t bytes, const char *const *names, size_t count)
{
    *to = '\0';
    for (size_t i = 0; i + 1 < count; i++)
        names_add(to, bytes, names[i]);
    if (count > 0)
        snprintf(to + strlen(to), bytes - strlen(to), "%s%s", count > 1 ? " or " : "", names[count - 1]);
}

int say_unknown(const char *what, const char *name, const char *const *first, size_t stride, size_t count)
{
    enum { MOST = 64 };
    const char *names[MOST];
    char text[NAMES_GUESS_BYTES];
    for (size_t i = 0; i < count && i < MOST; i++)
        names[i] = *(const char *const *)((const char *)first + i * stride);
    count = count < MOST ? count : MOST;
    if (*name == '\0') {
        list_choices(text, sizeof text, names, count);
        return say_usage("a%s %s is missing: %s", strchr("aeiou", *what) ? "n" : "", what, text);
    }
    names_guess(text, sizeof text, name, "there are", names, count);
    return say_usage("no %s '%s'%s", what, name, text);
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

// Verbs have one function of a file chosen in two ways: by --ring, or by a NAME behind FILE.cu.
static const char *advice_for(const char *given)
{
    static const struct {
        const char *verb, *option, *advice;
    } rows[] = {{"run", "--handler", "; --ring names the handler"},
                {"serve", "--handler", "; --ring names the handler"},
                {"kernel check", "--ring", "; the handler's NAME follows FILE.cu"},
                {"kernel check", "--handler", "; the handler's NAME follows FILE.cu"},
                {"kernel emit", "--ring", "; the handler's NAME follows FILE.cu"},
                {"kernel emit", "--handler", "; the handler's NAME follows FILE.cu"},
                {"kernel explain", "--ring", "; the handler's NAME follows FILE.cu"},
                {"kernel explain", "--handler", "; the handler's NAME follows FILE.cu"},
                {"cluster ring", "--ring", "; the handler's NAME follows FILE.cu"},
                {"cluster ring", "--handler", "; the handler's NAME follows FILE.cu"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t bytes = strlen(rows[i].option);
        if (strcmp(speaker, rows[i].verb) == 0 && strncmp(given, rows[i].option, bytes) == 0 &&
            (given[bytes] == '\0' || given[bytes] == '='))
            return rows[i].advice;
    }
    return "";
}

int say_refused_option(int option, char **argv)
{
    const char *given = argv[optind - 1];
    char text[3] = {'-', (char)optopt, '\0'};
    if (is_short(argv))
        given = text;
    return option == ':' ? say_usage("'%s' needs a value", given)
                         : say_usage("no option '%s'%s", given, advice_for(given));
}

void say_version(void)
{
    const char *library = slr_version();
    if (strcmp(library, SLR_VERSION) == 0)
        puts("slipring " SLR_VERSION);
    else
        printf("slipring " SLR_VERSION " with the library of %s\n", library);
}
