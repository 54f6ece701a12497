// SPDX-License-Identifier: Apache-2.0
#include "bench/peer.h"

#include "memory.h"
#include "say.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct bench_peer {
    pid_t process;
    FILE *to, *from;
};

// PATH gets the folder of this program and `name`. False where that cannot be run.
static bool find(const char *name, char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    char *last = strrchr(path, '/');
    size_t room = PATH_MAX - (size_t)(last + 1 - path);
    return (size_t)snprintf(last + 1, room, "%s", name) < room && access(path, X_OK) == 0;
}

static bool spawn(bench_peer *peer, char *path, const int in[2], const int out[2])
{
    posix_spawn_file_actions_t actions;
    char *arguments[] = {path, NULL};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    for (int i = 0; i < 2; i++) {
        posix_spawn_file_actions_addclose(&actions, in[i]);
        posix_spawn_file_actions_addclose(&actions, out[i]);
    }
    int error = posix_spawn(&peer->process, path, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error == 0;
}

bench_peer *bench_peer_start(bench *bench, const char *name)
{
    char path[PATH_MAX];
    int in[2], out[2];
    if (!find(name, path) || pipe(in) != 0)
        return NULL;
    if (pipe(out) != 0) {
        close(in[0]);
        close(in[1]);
        return NULL;
    }
    bench_peer *peer = memory_take(1, sizeof *peer);
    partner_free_caller(bench->partner); // it may use all cores
    bool started = spawn(peer, path, in, out);
    partner_move_caller(bench->partner, false);
    close(in[0]);
    close(out[1]);
    peer->to = fdopen(in[1], "w");
    peer->from = fdopen(out[0], "r");
    if (started)
        return peer;
    fclose(peer->to);
    fclose(peer->from);
    free(peer);
    return NULL;
}

#define RATE "\"msg_per_s\":" // of the line of JSON that it prints: bench/README.md

bool bench_peer_measure(bench_peer *peer, double *per_second)
{
    char line[256];
    fputc('\n', peer->to);
    fflush(peer->to);
    const char *found = fgets(line, sizeof line, peer->from) != NULL ? strstr(line, RATE) : NULL;
    *per_second = found != NULL ? strtod(found + sizeof RATE - 1, NULL) : 0.0;
    if (*per_second > 0.0)
        return true;
    say("the other library's program has ended, or does not report its results");
    return false;
}

void bench_peer_stop(bench_peer *peer)
{
    if (peer == NULL)
        return;
    fclose(peer->to); // the end of its input is its end
    fclose(peer->from);
    waitpid(peer->process, NULL, 0);
    free(peer);
}
