// SPDX-License-Identifier: Apache-2.0
// What the files of this folder share.
#ifndef SLRI_BACKEND_CPU_CPU_H
#define SLRI_BACKEND_CPU_CPU_H

#include "base/thread.h"
#include "device/backend.h"

#define SLRI_CPU_MOST_WORKERS 256
#define SLRI_CPU_DEFAULT_MOST_WORKERS 64

struct slri_cpu_worker {
    slri_thread thread;
    struct slri_shard *active; // a list of the thread's own
    struct slri_shard *woken __attribute__((aligned(128))); // a stack that others push on
    uint32_t parked;                                        // futex: 1: about to sleep, or asleep
    uint32_t stop;
};

struct slri_cpu {
    slr_allocator allocator_copy;
    const slr_allocator *allocator;
    bool interpreted, engine_was_asked;
    uint32_t workers;
    bool threads_were_asked;
    slri_mutex lock; // starting the workers
    struct slri_cpu_worker *worker;
    uint32_t started, next_worker;
};

// engine.c
slr_status slri_cpu_program_create(void *device, const struct slri_module *module, void **program);
void slri_cpu_program_destroy(void *device, void *program);
slr_status slri_cpu_handler_create(void *device, void *program, const struct slri_entry *entry, slri_handler **handler,
                                   void **self);
void slri_cpu_handler_destroy(void *device, void *program, void *self);

// worker.c
uint32_t slri_cpu_shard_count(const void *device, uint32_t instances);
slr_status slri_cpu_shard_start(void *device, struct slri_shard *shard);
void slri_cpu_shard_wake(struct slri_shard *shard);
void slri_cpu_workers_stop(struct slri_cpu *cpu);

// shard.c: one pass.
enum slri_pass {
    SLRI_PASS_WORKED, // handled something, or obeyed a command
    SLRI_PASS_IDLE,   // nothing to do
    SLRI_PASS_LINGERS, // what waits is left to gather: may not sleep
    SLRI_PASS_WAITS,  // draining: waits for other shards or for reply room, and may not sleep
    SLRI_PASS_OVER    // the shard is no longer the worker's
};
enum slri_pass slri_shard_pass(struct slri_shard *shard);
// What may wake a shard that has nothing to do: the value of `asleep`.
uint32_t slri_shard_sleep_kind(const struct slri_shard *shard);
// The last look of a shard that has announced its sleep: false where there is something to do.
bool slri_shard_may_sleep(struct slri_shard *shard);

#endif
