// SPDX-License-Identifier: Apache-2.0
// Windows cannot split a process in two: the work is done in this one. What ends or hangs that, does so to the whole
// program, and `seconds` is not kept.
#include "apart.h"

#include "memory.h"

#include <stdio.h>
#include <string.h>

static void read_back(FILE *file, apart *out)
{
    size_t room = 0, got;
    rewind(file);
    do {
        out->data = memory_grow(out->data, room = 2 * room + 4096, 1);
        got = fread(out->data + out->bytes, 1, room - out->bytes, file);
        out->bytes += got;
    } while (got != 0);
}

bool apart_run(void (*work)(FILE *to, void *context), void *context, unsigned seconds, apart *out)
{
    (void)seconds;
    *out = (apart){0};
    FILE *file = tmpfile();
    if (file == NULL) {
        snprintf(out->ended, sizeof out->ended, "no temporary file");
        return false;
    }
    work(file, context);
    read_back(file, out);
    fclose(file);
    return true;
}
