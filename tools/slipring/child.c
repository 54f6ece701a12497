// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

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
