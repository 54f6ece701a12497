// SPDX-License-Identifier: Apache-2.0
/// NATS servers of a test, on ports of this machine that the system chooses: one, or three that replicate.
#ifndef NATS_SERVER_H
#define NATS_SERVER_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NATS_MOST = 3 };

typedef struct nats_servers {
    const char *program;
    char folder[64], list[256]; // list: for slr_remote_desc.servers
    uint32_t count;
    uint16_t port[NATS_MOST], route[NATS_MOST];
    pid_t process[NATS_MOST]; // 0: down
} nats_servers;

static inline void nats_nap(unsigned ms)
{
    struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

static inline bool nats_is_free(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    bool good = descriptor >= 0 && bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0;
    if (descriptor >= 0)
        close(descriptor);
    return good;
}

// A port that was free a moment ago, below those that the system gives to whoever connects: a server that is killed and
// started again finds it free, too. Each process begins elsewhere.
static inline uint16_t nats_free_port(void)
{
    static uint32_t next;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (next == 0)
        next = (uint32_t)getpid() * 7919u + (uint32_t)now.tv_nsec / 1000u;
    for (uint32_t tries = 0; tries < 1000; ++tries) {
        uint16_t port = (uint16_t)(10240 + next++ % 22000);
        if (nats_is_free(port))
            return port;
    }
    return 0;
}

static inline bool nats_answers(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    bool good = descriptor >= 0 && connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0;
    if (descriptor >= 0)
        close(descriptor);
    return good;
}

static inline void nats_show(const char *path)
{
    char line[512];
    FILE *file = fopen(path, "r");
    fprintf(stderr, "a server does not start: %s\n", path);
    while (file && fgets(line, sizeof line, file))
        fputs(line, stderr);
    if (file)
        fclose(file);
}

// The server ends with the test, however that ends. `extra`: one more option, or NULL.
static inline bool nats_start(nats_servers *servers, uint32_t which, const char *configuration)
{
    char port[16], store[96], log[112], name[16], route[64], routes[128];
    snprintf(port, sizeof port, "%u", servers->port[which]);
    snprintf(store, sizeof store, "%s/%u", servers->folder, which);
    snprintf(log, sizeof log, "%s/log-%u", servers->folder, which);
    snprintf(name, sizeof name, "s%u", which);
    snprintf(route, sizeof route, "nats://127.0.0.1:%u", servers->route[which]);
    snprintf(routes, sizeof routes, "nats://127.0.0.1:%u,nats://127.0.0.1:%u,nats://127.0.0.1:%u", servers->route[0],
             servers->route[1], servers->route[2]);
    const char *arguments[24] = {
        servers->program, "-a", "127.0.0.1", "-p", port, "-js", "-sd", store, "-n", name, "-l", log};
    int at = 12;
    if (configuration) {
        arguments[at++] = "-c";
        arguments[at++] = configuration;
    }
    if (servers->count > 1) {
        const char *cluster[] = {"--cluster_name", "slr", "--cluster", route, "--routes", routes};
        memcpy(arguments + at, cluster, sizeof cluster);
    }
    pid_t parent = getpid(), process = fork();
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        execv(servers->program, (char *const *)arguments);
        _exit(127);
    }
    servers->process[which] = process;
    for (unsigned i = 0; process > 0 && i < 3000; ++i) {
        if (waitpid(process, NULL, WNOHANG) == process) {
            servers->process[which] = 0;
            break;
        }
        if (nats_answers(servers->port[which]))
            return true;
        nats_nap(20);
    }
    nats_show(log);
    return false;
}

static inline void nats_kill(nats_servers *servers, uint32_t which)
{
    if (servers->process[which] <= 0)
        return;
    kill(servers->process[which], SIGKILL);
    waitpid(servers->process[which], NULL, 0);
    servers->process[which] = 0;
}

static inline bool nats_open_all(nats_servers *servers, const char *configuration)
{
    servers->list[0] = '\0';
    for (uint32_t i = 0; i < servers->count; ++i) {
        nats_kill(servers, i);
        servers->port[i] = nats_free_port();
        servers->route[i] = nats_free_port();
    }
    for (uint32_t i = 0; i < servers->count; ++i) {
        size_t length = strlen(servers->list);
        snprintf(servers->list + length, sizeof servers->list - length, "%snats://127.0.0.1:%u", i ? "," : "",
                 servers->port[i]);
        if (!nats_start(servers, i, configuration))
            return false;
    }
    return true;
}

/// False, with the reason printed: there is no server here.
static inline bool nats_open(nats_servers *servers, uint32_t count, const char *configuration)
{
    *servers = (nats_servers){.program = getenv("SLIPRING_NATS_SERVER"), .count = count};
    if (!servers->program || access(servers->program, X_OK) != 0) {
        printf("skipped: SLIPRING_NATS_SERVER names no nats-server (scripts/nats-server.sh installs one)\n");
        return false;
    }
    snprintf(servers->folder, sizeof servers->folder, "/tmp/slipring-nats-XXXXXX");
    if (!mkdtemp(servers->folder))
        return false;
    for (uint32_t tries = 0; tries < 3; ++tries) // another program may have taken a port meanwhile
        if (nats_open_all(servers, configuration))
            return true;
    printf("skipped: %s does not start\n", servers->program);
    return false;
}

static inline void nats_close(nats_servers *servers)
{
    char command[96];
    for (uint32_t i = 0; i < servers->count; ++i)
        nats_kill(servers, i);
    snprintf(command, sizeof command, "rm -rf %s", servers->folder);
    if (servers->folder[0] && system(command) != 0)
        printf("%s stays\n", servers->folder);
}

#endif
