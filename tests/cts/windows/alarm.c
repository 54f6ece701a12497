// SPDX-License-Identifier: Apache-2.0
// An alarm by a timer of Windows, whose thread calls what is to happen then; and the end of the process.
#define WIN32_LEAN_AND_MEAN
#include "cts.h"

#include <stdio.h>
#include <unistd.h>
#include <windows.h>

static HANDLE timer;
static void (*late)(void);

static void CALLBACK on_time(void *user, BOOLEAN is_timer)
{
    (void)user, (void)is_timer;
    late();
}

void cts_alarm(unsigned seconds, void (*then)(void))
{
    if (timer)
        DeleteTimerQueueTimer(NULL, timer, INVALID_HANDLE_VALUE);
    timer = NULL;
    late = then;
    if (seconds != 0 && !CreateTimerQueueTimer(&timer, NULL, on_time, NULL, seconds * 1000, 0, WT_EXECUTEONLYONCE))
        timer = NULL;
}

int cts_end(int status)
{
    fflush(NULL);
    _exit(status);
}

void cts_exec(char **argv)
{
    (void)argv; // there is no exec
}
