// SPDX-License-Identifier: Apache-2.0
/// The floors of ring kernels that are persistent on an OpenCL device: the barest kernels that stay, written by hand,
/// without credits, priorities, addresses or any way to stop but a number of messages. They use bench_queue.h's queues
/// where they lie.
#ifndef BENCH_BARE_OPENCL_H
#define BENCH_BARE_OPENCL_H

#include "bench.h"
#include "bench_queue.h"

#include <stdint.h>

typedef struct bare_opencl bare_opencl;

/// Whether the benchmark's device is an OpenCL one.
bool bare_opencl_is(const bench *bench);

/// `in` and `out`: LATENCY_SLOTS latency_slots each, or a batch_queue and a word. NULL: failed, and that has been said.
bare_opencl *bare_opencl_echo(latency_slot *in, latency_slot *out);
bare_opencl *bare_opencl_reader(batch_queue *queue, uint32_t *sum);
void bare_opencl_close(bare_opencl *bare); ///< NULL is fine

/// Launches the echo or the reader for messages `begin` to `end` - 1; bare_opencl_wait waits until it is done. Behind
/// a rest, in which the ring kernel's own group, without work, ends: else the two would share a core.
bool bare_opencl_start(bare_opencl *bare, uint32_t begin, uint32_t end);
bool bare_opencl_wait(bare_opencl *bare);

/// Adds each of `count` messages, a multiple of 8, to the sum of its place: one launch, waited for.
bare_opencl *bare_opencl_adder(const bench_message *messages, uint32_t *sums, uint32_t count);
bool bare_opencl_add(bare_opencl *bare);

/// Of an echo: one launch for one message that lies in its slot, waited for.
bool bare_opencl_launch(bare_opencl *bare, uint32_t number);

#endif
