// SPDX-License-Identifier: Apache-2.0
/// Programs built on other libraries (bench/peers), run as processes beside this one. Such a program measures once for
/// each line on its standard input, and prints {"msg_per_s": X} on a line.
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "bench/bench.h"

typedef struct bench_peer bench_peer;

/// Starts the program of that name in the folder of this one. NULL: it is not there, or does not start.
bench_peer *bench_peer_start(bench *bench, const char *name);

/// Lets it measure once. False: it has gone or says something else; that has been said.
bool bench_peer_measure(bench_peer *peer, double *per_second);

/// Ends it. NULL is fine.
void bench_peer_stop(bench_peer *peer);

#endif
