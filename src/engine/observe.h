// SPDX-License-Identifier: Apache-2.0
// What the profiler and the trace are told. They are in src/observe, above, and reached by the table of hooks.h. While
// nobody watches all of it is one load and a branch.
#ifndef SLRI_ENGINE_OBSERVE_H
#define SLRI_ENGINE_OBSERVE_H

#include "base/tick.h"
#include "engine/hooks.h"

#include <slipring/ring.h>

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

extern _Thread_local struct slri_site slri_site; // of the calling thread's last call, while somebody watches
extern _Thread_local bool slri_site_is_kept;     // the last call goes on, and what it calls is not of the program

// First in a public function that submits, copies or waits.
#define SLRI_OBSERVE_SITE(list)                                                                                        \
    do {                                                                                                               \
        if (slri_is_observed() && !slri_site_is_kept)                                                                  \
            slri_site = (struct slri_site){__builtin_return_address(0), (list)};                                       \
    } while (0)

static inline bool slri_site_keep(const void *at)
{
    if (!slri_is_observed() || slri_site_is_kept)
        return false;
    slri_site = (struct slri_site){at, false};
    slri_site_is_kept = true;
    return true;
}
static inline void slri_site_let_go(const bool *keeps)
{
    if (*keeps)
        slri_site_is_kept = false;
}

// First in a public function that calls such functions: until it returns, what they do is its caller's, not of a line
// in the library.
#define SLRI_OBSERVE_SITE_OF_ALL()                                                                                     \
    __attribute__((cleanup(slri_site_let_go), unused)) const bool slri_keeps_site =                                    \
        slri_site_keep(__builtin_return_address(0))

struct slri_site_kept {
    struct slri_site site;
    bool is_kept;
};

static inline struct slri_site_kept slri_site_leave(void)
{
    const struct slri_site_kept kept = {slri_site, slri_site_is_kept};
    slri_site_is_kept = false;
    return kept;
}
static inline void slri_site_return(const struct slri_site_kept *kept)
{
    if (!kept->is_kept)
        return;
    slri_site = kept->site;
    slri_site_is_kept = true;
}

// In front of a call of a function that the program has given: until its block ends, what the program calls is of its
// own lines again.
#define SLRI_OBSERVE_SITE_OF_PROGRAM()                                                                                 \
    __attribute__((cleanup(slri_site_return), unused)) const struct slri_site_kept slri_kept_site = slri_site_leave()

// A look at the clock (base/tick.h) for what follows, or 0: nobody watches.
static inline uint64_t slri_observe_begin(void)
{
    return slri_is_observed() ? slri_tick() : 0;
}

// When a device was closed: writes what was seen.
static inline void slri_observe_flush(void)
{
    slri_hooks()->observe_flush();
}

// One command is done: of a stream's queue, or, with `queue` NULL, at once in the calling thread. Gives the
// look at the clock with which the next one begins.
static inline uint64_t slri_observe_command(slr_device *device, struct slri_queue *queue,
                                            const struct slri_command *command, uint64_t begin)
{
    return slri_hooks()->observe_command(device, queue, command, begin);
}

// A launch is about to be submitted: what it is made of, or NULL. `grid` and `block` have three numbers.
static inline const struct slri_launch_count *slri_observe_launch(struct slr_kernel *kernel, const uint32_t *grid,
                                                                  const uint32_t *block, const struct slri_bound *bound)
{
    return slri_hooks()->observe_launch(kernel, grid, block, bound);
}

// Something happened to memory of a heap.
static inline void slri_observe_memory(slr_heap *heap, const slr_memory_event *event)
{
    slri_hooks()->observe_memory(heap, event);
}

// A timed message of the shard is done, `duration_ns` after it was sent: by the shard's owner.
static inline void slri_observe_message(const struct slri_shard *shard, uint64_t duration_ns)
{
    slri_hooks()->observe_message(shard, duration_ns);
}

// Timed messages of the shard are done, which a group of a persistent kernel has counted: those that `now` has and
// `told` has not, which then has them, too. By the poller.
static inline void slri_observe_messages(const struct slri_shard *shard, const struct slri_histogram *now,
                                         struct slri_histogram *told)
{
    slri_hooks()->observe_messages(shard, now, told);
}

// A batch of the shard has been handled. By the owner, or by the poller for it.
struct slri_batch_seen {
    uint64_t begin_ns, duration_ns; // by the clock of slri_tick_ns: how long its owner had to do with it
    uint64_t handlers_ns;           // the sum of its handlers' times; the duration, where nobody measures them apart
    uint32_t messages;
    uint32_t missing; // not 0: so many batches for which there was no room, and of which nothing else is known
    uint32_t untimed; // not 0: so many messages, of which nobody knows the times
};
static inline void slri_observe_batch(struct slri_shard *shard, const struct slri_batch_seen *batch)
{
    slri_hooks()->observe_batch(shard, batch);
}
// The same for an owner on the host: from `begin`, a look at the clock, until now.
static inline void slri_observe_handled(struct slri_shard *shard, uint64_t begin, uint32_t messages)
{
    slri_hooks()->observe_handled(shard, begin, messages);
}

// slr_call to this address has returned, and began at `begin`.
static inline void slri_observe_reply(slr_address to, uint64_t begin)
{
    slri_hooks()->observe_reply(to, begin);
}

// Since begin the calling thread has waited for a place in the ring kernel's mailbox, or was refused one.
static inline void slri_observe_full(slr_ring *ring, uint64_t begin)
{
    slri_hooks()->observe_full(ring, begin);
}

// Since begin the calling thread has waited for a point of the queue, or has compiled `name` or loaded it.
static inline void slri_observe_wait(struct slri_queue *queue, uint64_t begin)
{
    slri_hooks()->observe_wait(queue, begin);
}
static inline void slri_observe_compile(const char *name, bool was_cached, uint64_t begin)
{
    slri_hooks()->observe_compile(name, was_cached, begin);
}

// An operation of the device has measured an algorithm as its fastest, or as the fastest of those that deterministic
// mode keeps out.
static inline void slri_observe_algorithm(slr_device *device, const char *operation, const char *algorithm,
                                          bool is_kept_out, uint64_t ns)
{
    slri_hooks()->observe_algorithm(device, operation, algorithm, is_kept_out, ns);
}

#endif
