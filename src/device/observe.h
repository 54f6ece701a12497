// SPDX-License-Identifier: Apache-2.0
// What the profiler and the trace are told. They are in src/observe, which the layers below may not include; so what
// is called is declared here and defined there. While nobody watches all of it is one load and a branch.
#ifndef SLRI_DEVICE_OBSERVE_H
#define SLRI_DEVICE_OBSERVE_H

#include "base/tick.h"

#include <slipring/ring.h>

struct slr_device;
struct slr_heap;
struct slr_kernel;
struct slr_memory_event;
struct slr_ring;
struct slri_bound;
struct slri_command;
struct slri_queue;
struct slri_shard;

#define SLRI_OBSERVE_PROFILE 1u
#define SLRI_OBSERVE_TRACE 2u
extern uint32_t slri_observed; // atomic: who watches

// Acquire: what the watcher has set up before it looks, the clock among it.
static inline bool slri_is_observed(void)
{
    return __builtin_expect(__atomic_load_n(&slri_observed, __ATOMIC_ACQUIRE) != 0, 0);
}
static inline bool slri_is_traced(void)
{
    return __builtin_expect((__atomic_load_n(&slri_observed, __ATOMIC_ACQUIRE) & SLRI_OBSERVE_TRACE) != 0, 0);
}

// A look at the clock (base/tick.h) for what follows, or 0: nobody watches.
static inline uint64_t slri_observe_begin(void)
{
    return slri_is_observed() ? slri_tick() : 0;
}

// Before a device is opened: what SLIPRING_TRACE and SLIPRING_PROFILE ask for, once. Errors: INVALID (a file that
// cannot be written).
slr_status slri_observe_from_environment(void);

// When a device was closed: writes what was seen.
void slri_observe_flush(void);

// One command is done: of a stream's queue, or, with `queue` NULL, at once in the calling thread. Gives the
// look at the clock with which the next one begins.
uint64_t slri_observe_command(struct slr_device *device, struct slri_queue *queue, const struct slri_command *command,
                              uint64_t begin);

// A launch is about to be submitted: what it is made of, or NULL. `grid` and `block` have three numbers.
struct slri_launch_count;
const struct slri_launch_count *slri_observe_launch(struct slr_kernel *kernel, const uint32_t *grid,
                                                    const uint32_t *block, const struct slri_bound *bound);

// Something happened to memory of a heap.
void slri_observe_memory(struct slr_heap *heap, const struct slr_memory_event *event);

// A timed message of the shard is done, `duration_ns` after it was sent: by the shard's owner.
void slri_observe_message(const struct slri_shard *shard, uint64_t duration_ns);

// A batch of the shard has been handled, by the clock of slri_tick_ns. On the host and in dispatches the time is that
// in the handlers; in a persistent kernel it ends when the batch is retired. By the owner, or by the poller for it.
void slri_observe_batch(struct slri_shard *shard, uint64_t begin_ns, uint64_t duration_ns, uint32_t messages);
// The same for an owner on the host: from `begin`, a look at the clock, until now.
void slri_observe_handled(struct slri_shard *shard, uint64_t begin, uint32_t messages);

// slr_call to this address has returned, and began at `begin`.
void slri_observe_reply(struct slr_address to, uint64_t begin);

// Since begin the calling thread has waited for a place in the ring kernel's mailbox, or was refused one.
void slri_observe_full(struct slr_ring *ring, uint64_t begin);

// Since begin the calling thread has waited for a point of the queue, or has compiled `name` or loaded it.
void slri_observe_wait(struct slri_queue *queue, uint64_t begin);
void slri_observe_compile(const char *name, bool was_cached, uint64_t begin);

#endif
