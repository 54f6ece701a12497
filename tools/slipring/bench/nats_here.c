// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "bench/nats_here.h"

#include "bench/bench.h"
#include "clock.h"
#include "say.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 20 };

const char *nats_here_program(void)
{
    const char *program = getenv("SLIPRING_NATS_SERVER");
    return program != NULL && access(program, X_OK) == 0 ? program : NULL;
}

static bool is_listening(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    bool is = descriptor >= 0 && connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0;
    if (descriptor >= 0)
        close(descriptor);
    return is;
}

static uint16_t free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    bool is = descriptor >= 0 && bind(descriptor, (struct sockaddr *)&address, length) == 0 &&
              getsockname(descriptor, (struct sockaddr *)&address, &length) == 0;
    if (descriptor >= 0)
        close(descriptor);
    return is ? ntohs(address.sin_port) : 0;
}

bool nats_here_start(nats_here *server, const char *program)
{
    char port[16], store[80];
    uint16_t number = free_port();
    const char *parent = getenv("TMPDIR");
    *server = (nats_here){0};
    snprintf(server->folder, sizeof server->folder, "%.32s/slipring-nats-XXXXXX", parent != NULL ? parent : "/tmp");
    if (number == 0 || mkdtemp(server->folder) == NULL)
        return false;
    snprintf(port, sizeof port, "%u", number);
    snprintf(store, sizeof store, "%s/store", server->folder);
    snprintf(server->url, sizeof server->url, "nats://127.0.0.1:%u", number);
    server->process = fork();
    if (server->process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(127);
        execl(program, program, "-a", "127.0.0.1", "-p", port, "-js", "-sd", store, (char *)NULL);
        _exit(127);
    }
    uint64_t begin = clock_ns();
    while (server->process > 0 && clock_ns() - begin < 2 * BENCH_TIMEOUT_NS) {
        if (is_listening(number))
            return true;
        usleep(WAIT_MS * 1000);
    }
    return false;
}

void nats_here_end(nats_here *server)
{
    char command[96];
    if (server->process > 0) {
        kill(server->process, SIGKILL);
        waitpid(server->process, NULL, 0);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", server->folder);
    if (server->folder[0] != '\0' && system(command) != 0)
        say("cluster: %s stays", server->folder);
    *server = (nats_here){0};
}
