// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "child.h"

#include <errno.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>

extern char **environ; // POSIX has it in no header

int spawn_and_wait(char *const argv[])
{
    pid_t child;
    int status, failed = posix_spawnp(&child, argv[0], NULL, NULL, argv, environ);
    if (failed != 0) {
        errno = failed;
        return -1;
    }
    while (waitpid(child, &status, 0) != child)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
