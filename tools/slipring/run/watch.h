// SPDX-License-Identifier: Apache-2.0
/// While `slipring run --json` streams: a line each second with what its ring kernel says of itself.
#ifndef RUN_WATCH_H
#define RUN_WATCH_H

#include <slipring/ring.h>

#include <stdio.h>

typedef struct run_watch run_watch;

/// Begins to write lines to `to`, on a thread of its own. NULL where no thread is to be had: then there are none.
run_watch *run_watch_start(slr_ring *ring, const char *name, FILE *to);

/// No line is written behind this. Before the ring kernel is destroyed; NULL is fine.
void run_watch_stop(run_watch *watch);

#endif
