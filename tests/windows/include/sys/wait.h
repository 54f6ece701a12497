// SPDX-License-Identifier: Apache-2.0
// Of waiting for processes nothing: the case that would fork() is skipped before.
#ifndef TESTS_WINDOWS_SYS_WAIT_H
#define TESTS_WINDOWS_SYS_WAIT_H

#include <stddef.h>

#define SIGKILL 9
#define WIFEXITED(code) ((code) == 0)
#define WEXITSTATUS(code) (code)
#define WIFSIGNALED(code) ((code) != 0)
#define WTERMSIG(code) (code)

static inline int wait(int *code)
{
    *code = -1;
    return -1;
}

static inline int waitpid(int process, int *code, int options)
{
    (void)process, (void)options;
    if (code != NULL)
        *code = -1;
    return -1;
}

static inline int kill(int process, int signal)
{
    (void)process, (void)signal;
    return -1;
}

#endif
