// SPDX-License-Identifier: Apache-2.0
// The threads that help a stream's thread with the blocks of a grid. They poll for a while behind a job, then sleep.
#ifndef SLRI_HAL_CPU_CREW_H
#define SLRI_HAL_CPU_CREW_H

#include "abi/launch.h"
#include "base/thread.h"

#include <slipring/allocator.h>

struct slri_cpu_helper;

struct slri_cpu_crew {
    const slr_allocator *allocator;
    uint32_t most; // helpers
    slri_mutex lock;
    struct slri_cpu_helper *helper; // under the lock, with the next: an array, made with the first job
    uint32_t started;
    uint32_t stop; // atomic

    // One job at a time. The gate: how many helpers are inside (16 bits), whether it is open (bit 16), and the job's
    // number (above). Job words are written while the gate is shut and nobody is inside.
    uint64_t gate __attribute__((aligned(128))); // atomic
    slri_kernel_blocks *run;
    struct slri_launch *launch;
    uint64_t blocks;
    uint32_t busy;    // atomic: some thread owns the crew
    uint32_t streams; // atomic: threads of streams that compute, the owner among them

    uint64_t next __attribute__((aligned(128)));   // atomic: the first block that nobody has taken
    uint32_t parked __attribute__((aligned(128))); // atomic: helpers asleep, or about to be
    uint32_t calls;                                // futex; atomic
};

void slri_cpu_crew_init(struct slri_cpu_crew *crew, uint32_t most, const slr_allocator *allocator);
void slri_cpu_crew_stop(struct slri_cpu_crew *crew);

// Runs all blocks of a grid, in the calling thread and, where they are free, in the crew's. A crew that another stream
// uses, or whose threads cannot be had, is no error: the caller then does all of it.
void slri_cpu_crew_run(struct slri_cpu_crew *crew, slri_kernel_blocks *run, struct slri_launch *launch,
                       uint64_t blocks);

#endif
