// SPDX-License-Identifier: Apache-2.0
// The owners of shards that threads of the host are: each thread, a worker, runs the shards that were given to it. A
// device has a set of them (engine/ring_mode.h).
#ifndef SLRI_ENGINE_OWNER_H
#define SLRI_ENGINE_OWNER_H

#include "base/thread.h"
#include "hal/hal.h"

// A thread that runs a worker's shards. When it has to be abandoned in a handler, the worker gets another; this one
// then touches nothing but itself, and ends when the handler returns.
struct slri_runner {
    slri_thread thread;
    struct slri_worker *worker;
    const slr_allocator *allocator;
    struct slri_box *box; // of the handler in which it was abandoned
    bool started;
    // 0: in no handler that has a deadline; else that deadline, and whose handler it is; or SLRI_ABANDONED.
    uint64_t deadline_ns __attribute__((aligned(128)));
    struct slri_shard *shard;
};
#define SLRI_ABANDONED UINT64_MAX

struct slri_worker {
    struct slri_runner *runner; // changed by the watchdog alone, once started
    struct slri_owners *owners;
    struct slri_shard *active;                              // a list of the runner's own
    struct slri_relaunch *packed;                           // likewise: those with something to dispatch
    struct slri_shard *woken __attribute__((aligned(128))); // a stack that others push on
    uint32_t parked;                                        // futex: 1: about to sleep, or asleep
    uint32_t stop;                                          // as owner.c says
};

struct slri_owners {
    const slr_allocator *allocator;
    uint32_t workers;
    slri_mutex lock; // starting the workers
    struct slri_worker *worker;
    uint32_t started, next_worker;
    struct slri_watchdog {
        slri_thread thread;
        bool started;
        uint64_t tick_ns; // atomic: between looks
        uint32_t stop;
        uint32_t asleep; // futex: 1: no worker is awake, and it sleeps until one is
    } watchdog;
};

// owner.c
void slri_owners_init(struct slri_owners *owners, uint32_t workers, const slr_allocator *allocator);
uint32_t slri_owners_count(const struct slri_owners *owners, uint32_t instances);
slr_status slri_owners_start(struct slri_owners *owners, struct slri_shard *shard);
void slri_owners_wake(struct slri_shard *shard);
void slri_owners_stop(struct slri_owners *owners);
slr_status slri_runner_create(struct slri_worker *worker, struct slri_runner **out);
slr_status slri_runner_start(struct slri_runner *runner);

// owner_watchdog.c: abandons handlers that run too long.
slr_status slri_owners_watch(struct slri_owners *owners,
                             uint64_t timeout_ns);   // under lock: from now on, also that short ones
void slri_watchdog_stop(struct slri_owners *owners); // by slri_owners_stop
void slri_watchdog_wake(struct slri_owners *owners); // a worker has come awake
void slri_runner_enter(struct slri_runner *runner, struct slri_shard *shard, uint64_t deadline_ns);
bool slri_runner_leave(struct slri_runner *runner); // false: abandoned

// owner_pass.c: one pass.
enum slri_pass {
    SLRI_PASS_WORKED,   // handled something, or obeyed a command
    SLRI_PASS_IDLE,     // nothing to do
    SLRI_PASS_LINGERS,  // what waits is left to gather: may not sleep
    SLRI_PASS_WAITS,    // draining: waits for other shards or for reply room, and may not sleep
    SLRI_PASS_OVER,     // the shard is no longer the worker's
    SLRI_PASS_ABANDONED // the thread was abandoned in a handler: nothing is its own any more
};
enum slri_pass slri_shard_pass(struct slri_shard *shard);
void slri_worker_dispatch(struct slri_worker *worker); // what passes have packed for devices, and waits for it
// The messages of the batch from `done` to `end` were in the hands of a device that was lost: they are in doubt, or,
// where the shard redelivers them, marked, and are to be kept. Gives how many of the batch are done with.
uint32_t slri_shard_doubt(struct slri_shard *shard, uint32_t done, uint32_t end);
// In place of an owner that was abandoned in a handler: its message has faulted, the rest of its batch stays claimed.
void slri_shard_abandon(struct slri_shard *shard);
// What may wake a shard that has nothing to do: the value of `asleep`.
uint32_t slri_shard_sleep_kind(const struct slri_shard *shard);
// The last look of a shard that has announced its sleep: false where there is something to do.
bool slri_shard_may_sleep(struct slri_shard *shard);

#endif
