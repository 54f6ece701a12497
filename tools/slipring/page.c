// SPDX-License-Identifier: Apache-2.0
#include "page.h"

#include "output.h"
#include "say.h"
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// As it can stand in a script: no text of the program's can end that.
static void put_data(FILE *file, const json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(6));
    for (const char *at = text; at != NULL && *at != '\0'; at++) {
        if (*at == '<')
            fputs("\\u003c", file);
        else
            fputc(*at, file);
    }
    free(text);
}

bool page_write(const char *page, const char *path, const json_t *object)
{
    static const char mark[] = "{{data}}";
    const char *at = strstr(page, mark);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        say("cannot write '%s': %s", path, strerror(errno));
        return false;
    }
    fwrite(page, 1, (size_t)(at - page), file);
    put_data(file, object);
    fputs(at + sizeof mark - 1, file);
    return output_close_stream(file, "--html", path) == EXIT_DONE;
}
