// SPDX-License-Identifier: Apache-2.0
#include "apart.h"

#include "clock.h"
#include "memory.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void be_child(void (*work)(FILE *, void *), void *context, int end)
{
    FILE *to = fdopen(end, "wb");
    if (to) {
        work(to, context);
        fclose(to);
    }
    _exit(to ? 0 : 1); // drivers' exit handlers may hang
}

static bool wait_for(int end, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t now_ns = clock_ns();
        int left_ms = now_ns < deadline_ns ? (int)((deadline_ns - now_ns) / 1000000 + 1) : 0;
        struct pollfd one = {.fd = end, .events = POLLIN};
        int ready = poll(&one, 1, left_ms);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true; // of an error read() says more
        if (left_ms == 0)
            return false;
    }
}

// False: the time is over.
static bool read_all(int end, uint64_t deadline_ns, apart *out)
{
    size_t room = 0;
    for (;;) {
        if (!wait_for(end, deadline_ns))
            return false;
        if (out->bytes == room)
            out->data = memory_grow(out->data, room = 2 * room + 4096, 1);
        ssize_t got = read(end, out->data + out->bytes, room - out->bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return true;
        out->bytes += (size_t)got;
    }
}

static void say_end(int status, bool in_time, unsigned seconds, apart *out)
{
    if (!in_time)
        snprintf(out->ended, sizeof out->ended, "did not answer within %u s, and was killed", seconds);
    else if (WIFSIGNALED(status))
        snprintf(out->ended, sizeof out->ended, "ended the process: %s (signal %d)", strsignal(WTERMSIG(status)),
                 WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        snprintf(out->ended, sizeof out->ended, "ended the process with exit code %d", WEXITSTATUS(status));
}

bool apart_run(void (*work)(FILE *to, void *context), void *context, unsigned seconds, apart *out)
{
    *out = (apart){0};
    int ends[2], status = 0;
    fflush(NULL); // else the child would write it once more
    if (pipe(ends) != 0) {
        snprintf(out->ended, sizeof out->ended, "no pipe: %s", strerror(errno));
        return false;
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        be_child(work, context, ends[1]);
    }
    close(ends[1]);
    if (child < 0) {
        snprintf(out->ended, sizeof out->ended, "no process: %s", strerror(errno));
        close(ends[0]);
        return false;
    }
    bool in_time = read_all(ends[0], clock_ns() + seconds * SECOND_NS, out);
    close(ends[0]);
    if (!in_time)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    say_end(status, in_time, seconds, out);
    return true;
}
