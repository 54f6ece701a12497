// SPDX-License-Identifier: Apache-2.0
/// A nats-server of a benchmark, on a port of this machine that the system chooses, in a folder of its own. It ends
/// with this process.
#ifndef BENCH_NATS_HERE_H
#define BENCH_NATS_HERE_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct nats_here {
    pid_t process; // 0: none
    char folder[64], url[64];
} nats_here;

/// SLIPRING_NATS_SERVER, or NULL where it names no program.
const char *nats_here_program(void);

/// False: it does not start.
bool nats_here_start(nats_here *server, const char *program);

/// Kills it, and removes its folder.
void nats_here_end(nats_here *server);

#endif
