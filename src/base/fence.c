// SPDX-License-Identifier: Apache-2.0
// Linux's membarrier (4.14): it interrupts the cores that run this process's threads, some microseconds. Elsewhere both
// halves are full fences.
#define _GNU_SOURCE
#include "base/fence.h"

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

uint32_t slri_fences;

void slri_fence_begin(void)
{
#if defined(__linux__)
    // Where a sandbox or an old kernel refuses, both halves stay full fences.
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0)
        __atomic_store_n(&slri_fences, SLRI_FENCES_UNEVEN, __ATOMIC_RELEASE);
#endif
}

void slri_fence_heavy(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#if defined(__linux__)
    // Relaxed: see slri_fence_begin. A registered process's call does not fail (membarrier(2)).
    if (__atomic_load_n(&slri_fences, __ATOMIC_RELAXED) == SLRI_FENCES_UNEVEN)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
#endif
}
