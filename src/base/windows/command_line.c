// SPDX-License-Identifier: Apache-2.0
#include "base/windows/command_line.h"

#include <string.h>

static void repeat(slri_text *line, size_t count, const char *piece)
{
    while (count-- > 0)
        slri_text_puts(line, piece);
}

// Backslashes are themselves, but before a quote two stand for one.
void slri_windows_argument(slri_text *line, const char *argument)
{
    if (line->length)
        slri_text_puts(line, " ");
    if (*argument && !strpbrk(argument, " \t\n\v\"")) {
        slri_text_puts(line, argument);
        return;
    }
    slri_text_puts(line, "\"");
    for (size_t slashes = 0;; ++argument) {
        if (*argument == '\\') {
            slashes++;
            continue;
        }
        repeat(line, *argument == '"' || *argument == '\0' ? 2 * slashes : slashes, "\\");
        slashes = 0;
        if (*argument == '\0')
            break;
        slri_text_puts(line, *argument == '"' ? "\\" : "");
        slri_text_append(line, argument, 1);
    }
    slri_text_puts(line, "\"");
}
