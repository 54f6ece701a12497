// SPDX-License-Identifier: Apache-2.0
// Signals: the handler sets a flag and makes a pipe readable, so that a poll() that begins just after it still returns.
#include "interrupt.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t signalled; // its number
static uint64_t signalled_ns;
static int wake[2] = {-1, -1};

static void on_signal(int number)
{
    int kept = errno;
    __atomic_store_n(&signalled_ns, clock_ns(),
                     __ATOMIC_RELAXED); // clock_gettime may be called here (signal-safety(7))
    signalled = number;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (write(wake[1], "", 1) < 0) // the pipe is full of wake-ups, or was never opened: the flag is enough
        signalled = number;
    errno = kept;
}

static sigset_t ending_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

void interrupt_note(void)
{
    if (pipe(wake) == 0) {
        fcntl(wake[0], F_SETFD, FD_CLOEXEC);
        fcntl(wake[1], F_SETFD, FD_CLOEXEC);
    }
    sigset_t set = ending_signals();
    sigprocmask(SIG_BLOCK, &set, NULL);
    // Without SA_RESTART: a read() or write() that waits shall come back.
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // of a file that may not grow: write() says so
}

void interrupt_on_hangup(void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGHUP, &action, NULL);
}

void interrupt_deliver(void)
{
    sigset_t set = ending_signals();
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

bool interrupted(void)
{
    return signalled != 0;
}

uint64_t interrupt_ns(void)
{
    return signalled != 0 ? __atomic_load_n(&signalled_ns, __ATOMIC_RELAXED) : 0;
}

int interrupt_exit_code(void)
{
    return 128 + signalled;
}

bool interrupt_is_orderly(void)
{
    return signalled == SIGTERM;
}

int interrupt_descriptor(void)
{
    return wake[0];
}
