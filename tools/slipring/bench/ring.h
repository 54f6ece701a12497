// SPDX-License-Identifier: Apache-2.0
/// The ring kernels that the benchmarks measure.
#ifndef BENCH_RING_H
#define BENCH_RING_H

#include "bench/bench.h"

#include <slipring/slipring.h>

typedef struct bench_ring {
    slr_program *program;
    slr_ring *ring;
    slr_port *port;
    slr_address to;
} bench_ring;

/// Launches and activates `handler` of bench_ring.c's source, with its worker on the partner's core. `total`: what the
/// handler's parameter of that name is bound to; NULL where it has none. False: failed, and that has been said; close
/// it all the same.
bool bench_ring_open(bench *bench, const char *handler, slr_buffer *total, bench_ring *out);

/// The same of a description, without its program, message size and binding, on a device.
bool bench_ring_open_as(bench *bench, slr_device *device, slr_ring_desc desc, slr_buffer *total, bench_ring *out);

/// Starts what `desc` says, all of it, with its worker on the partner's core, and opens a port to it. The program in
/// `out` is the caller's to set.
slr_status bench_ring_start(bench *bench, const slr_ring_desc *desc, bench_ring *out);

void bench_ring_close(bench_ring *ring);

#endif
