// SPDX-License-Identifier: Apache-2.0
#include "again.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// In the order of both functions.
#define FORMAT "%u,%zu,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u"

static char **again; // the command line of the next process; NULL: there is none
static char state[240];

bool cts_again_read(const char *text, cts_progress *out)
{
    unsigned any, all, *count = out->said.count;
    int read = sscanf(text, FORMAT, &out->device, &out->next, &out->stuck, &any, &all, &out->said.wrong,
                      &out->said.known, &out->said.devices, &out->said.cases, &count[CTS_PASSED], &count[CTS_BOUNDED],
                      &count[CTS_FAILED], &count[CTS_UNSUPPORTED], &count[CTS_HUNG]);
    out->any = any;
    out->all = all;
    return read == 14;
}

static void put_option(char **argv)
{
    static char option[] = CTS_AGAIN;
    int args = 0;
    while (argv[args] && strcmp(argv[args], CTS_AGAIN) != 0) // behind the user's own
        args++;
    again = calloc((size_t)args + 3, sizeof *again);
    if (!again)
        return;
    memcpy(again, argv, (size_t)args * sizeof *again);
    again[args] = option;
    again[args + 1] = state;
}

void cts_again_prepare(char **argv, const cts_progress *from)
{
    const unsigned *count = from->said.count;
    if (!again)
        put_option(argv);
    snprintf(state, sizeof state, FORMAT, from->device, from->next, from->stuck, from->any, from->all, from->said.wrong,
             from->said.known, from->said.devices, from->said.cases, count[CTS_PASSED], count[CTS_BOUNDED],
             count[CTS_FAILED], count[CTS_UNSUPPORTED], count[CTS_HUNG]);
}

void cts_again_now(void)
{
    if (again)
        cts_exec(again);
}
