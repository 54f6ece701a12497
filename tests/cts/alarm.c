// SPDX-License-Identifier: Apache-2.0
// An alarm by a signal, which comes whatever hangs; the end of the process, and its beginning anew.
#include "cts.h"

#include <fcntl.h>
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

// Files that a driver has opened close with it, and what the device keeps for this process is freed.
void cts_exec(char **argv)
{
    sigset_t none; // the alarm's own signal, where it is its doing
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int file = STDERR_FILENO + 1; file < 1024; file++)
        fcntl(file, F_SETFD, FD_CLOEXEC);
    execvp(argv[0], argv);
}
