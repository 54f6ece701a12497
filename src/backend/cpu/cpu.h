// SPDX-License-Identifier: Apache-2.0
// What the files of this folder share.
#ifndef SLRI_BACKEND_CPU_CPU_H
#define SLRI_BACKEND_CPU_CPU_H

#include "backend/cpu/crew.h"
#include "device/queue_pool.h"
#include "base/thread.h"
#include "device/backend.h"

#define SLRI_CPU_MOST_WORKERS 256
#define SLRI_CPU_DEFAULT_MOST_WORKERS 64

// A thread that runs a worker's shards. When it has to be abandoned in a handler, the worker gets another; this one
// then touches nothing but itself, and ends when the handler returns.
struct slri_cpu_runner {
    slri_thread thread;
    struct slri_cpu_worker *worker;
    const slr_allocator *allocator;
    struct slri_box *box; // of the handler in which it was abandoned
    bool started;
    // 0: in no handler that has a deadline; else that deadline, and whose handler it is; or SLRI_CPU_ABANDONED.
    uint64_t deadline_ns __attribute__((aligned(128)));
    struct slri_shard *shard;
};
#define SLRI_CPU_ABANDONED UINT64_MAX

struct slri_cpu_worker {
    struct slri_cpu_runner *runner; // changed by the watchdog alone, once started
    struct slri_cpu *cpu;
    struct slri_shard *active;                              // a list of the runner's own
    struct slri_shard *woken __attribute__((aligned(128))); // a stack that others push on
    uint32_t parked;                                        // futex: 1: about to sleep, or asleep
    uint32_t stop;                                          // as worker.c says
};

struct slri_cpu {
    slr_allocator allocator_copy;
    const slr_allocator *allocator;
    bool interpreted, engine_was_asked;
    uint32_t workers;
    bool threads_were_asked;
    bool separate;   // "unified=0"
    slri_mutex lock; // starting the workers
    struct slri_cpu_worker *worker;
    uint32_t started, next_worker;
    struct slri_cpu_watchdog {
        slri_thread thread;
        bool started;
        uint64_t tick_ns; // atomic: between looks
        uint32_t stop;
        uint32_t asleep; // futex: 1: no worker is awake, and it sleeps until one is
    } watchdog;
    struct slri_queue_pool pool;
    struct slri_cpu_crew crew;
};

// engine.c
slr_status slri_cpu_program_create(void *device, const struct slri_module *module, void **program);
void slri_cpu_program_destroy(void *device, void *program);
void *slri_cpu_program_globals(void *device, void *program);
slr_status slri_cpu_handler_create(void *device, void *program, const struct slri_entry *entry, slri_handler **handler,
                                   void **self);
void slri_cpu_handler_destroy(void *device, void *program, void *self);

// kernel.c: `__global__` kernels.
struct slri_cpu_kernels; // of a program: those that are ready
slr_status slri_cpu_kernels_create(const slr_allocator *allocator, const struct slri_module *module,
                                   struct slri_cpu_kernels **out);
void slri_cpu_kernels_destroy(struct slri_cpu_kernels *kernels);
slr_status slri_cpu_kernel_prepare(void *device, void *program, const struct slri_entry *entry,
                                   const struct slri_kernel_shape *shape, const uint32_t *cancel, void **ready);
slr_status slri_cpu_dispatch(struct slri_cpu *cpu, const struct slri_command *command, slr_status before);
// engine.c, for it: what the program is made of.
struct slri_interp;
struct slri_cpu_kernels *slri_cpu_program_kernels(void *program, struct slri_interp **interp, unsigned char **globals);

// submit.c: streams' commands.
slr_status slri_cpu_queue_open(void *device, struct slri_queue *queue);
slr_status slri_cpu_submit(void *device, struct slri_submission *submission);

// worker.c
uint32_t slri_cpu_shard_count(const void *device, uint32_t instances);
slr_status slri_cpu_shard_start(void *device, struct slri_shard *shard);
void slri_cpu_shard_wake(struct slri_shard *shard);
void slri_cpu_workers_stop(struct slri_cpu *cpu);
slr_status slri_cpu_runner_create(struct slri_cpu_worker *worker, struct slri_cpu_runner **out);
slr_status slri_cpu_runner_start(struct slri_cpu_runner *runner);

// watchdog.c: abandons handlers that run too long.
slr_status slri_cpu_watch(struct slri_cpu *cpu, uint64_t timeout_ns); // under lock: from now on, also that short ones
void slri_cpu_watchdog_stop(struct slri_cpu *cpu);
void slri_cpu_watchdog_wake(struct slri_cpu *cpu); // a worker has come awake
void slri_cpu_runner_enter(struct slri_cpu_runner *runner, struct slri_shard *shard, uint64_t deadline_ns);
bool slri_cpu_runner_leave(struct slri_cpu_runner *runner); // false: abandoned

// shard.c: one pass.
enum slri_pass {
    SLRI_PASS_WORKED,   // handled something, or obeyed a command
    SLRI_PASS_IDLE,     // nothing to do
    SLRI_PASS_LINGERS,  // what waits is left to gather: may not sleep
    SLRI_PASS_WAITS,    // draining: waits for other shards or for reply room, and may not sleep
    SLRI_PASS_OVER,     // the shard is no longer the worker's
    SLRI_PASS_ABANDONED // the thread was abandoned in a handler: nothing is its own any more
};
enum slri_pass slri_shard_pass(struct slri_shard *shard);
// In place of an owner that was abandoned in a handler: its message has faulted, the rest of its batch stays claimed.
void slri_shard_abandon(struct slri_shard *shard);
// What may wake a shard that has nothing to do: the value of `asleep`.
uint32_t slri_shard_sleep_kind(const struct slri_shard *shard);
// The last look of a shard that has announced its sleep: false where there is something to do.
bool slri_shard_may_sleep(struct slri_shard *shard);

#endif
