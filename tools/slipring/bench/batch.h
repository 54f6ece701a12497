// SPDX-License-Identifier: Apache-2.0
/// What the two throughput benchmarks share.
#ifndef BENCH_BATCH_H
#define BENCH_BATCH_H

#include "bench/queue.h"
#include "bench/ring.h"

/// Says what went wrong, a call or (SLR_OK) an answer; gives false.
bool bench_failed(slr_status status, const char *what);

double bench_per_second(uint32_t messages, uint64_t start_ns);

/// Sends messages `number` to `number` + BENCH_BATCH - 1 in one call.
bool bench_send_batch(const bench_ring *ring, uint32_t number);

/// Waits until the ring kernel has handled so many messages since it was created. The core is given away meanwhile, as
/// clFinish does by hand: the device's own threads may want it. False: it has not, and that has been said.
bool bench_await_handled(const bench_ring *ring, uint64_t messages);

#endif
