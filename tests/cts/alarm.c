// SPDX-License-Identifier: Apache-2.0
// An alarm by a signal, which comes whatever hangs; and the end of the process.
#include "cts.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void (*late)(void);

static void on_alarm(int signal)
{
    (void)signal;
    late();
}

void cts_alarm(unsigned seconds, void (*then)(void))
{
    if (seconds != 0) {
        late = then;
        signal(SIGALRM, on_alarm);
    }
    alarm(seconds);
}

int cts_end(int status)
{
    fflush(NULL);
    _exit(status);
}
