// SPDX-License-Identifier: Apache-2.0
#include "again.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// In the order of both functions.
#define FORMAT "%u,%zu,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u"

bool cts_again_read(const char *text, cts_progress *out)
{
    unsigned any, all, *count = out->said.count;
    int read = sscanf(text, FORMAT, &out->device, &out->next, &any, &all, &out->said.wrong, &out->said.known,
                      &out->said.devices, &out->said.cases, &count[CTS_PASSED], &count[CTS_BOUNDED], &count[CTS_FAILED],
                      &count[CTS_UNSUPPORTED], &count[CTS_HUNG]);
    out->any = any;
    out->all = all;
    return read == 13;
}

void cts_again(char **argv, const cts_progress *from)
{
    const unsigned *count = from->said.count;
    char state[200], option[] = CTS_AGAIN;
    int args = 0;
    while (argv[args] && strcmp(argv[args], CTS_AGAIN) != 0) // behind the user's own
        args++;
    char **again = calloc((size_t)args + 3, sizeof *again);
    if (!again)
        return;
    snprintf(state, sizeof state, FORMAT, from->device, from->next, from->any, from->all, from->said.wrong,
             from->said.known, from->said.devices, from->said.cases, count[CTS_PASSED], count[CTS_BOUNDED],
             count[CTS_FAILED], count[CTS_UNSUPPORTED], count[CTS_HUNG]);
    memcpy(again, argv, (size_t)args * sizeof *again);
    again[args] = option;
    again[args + 1] = state;
    fflush(NULL);
    cts_exec(again);
    free(again);
}
