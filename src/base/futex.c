// SPDX-License-Identifier: Apache-2.0
// Linux's futex, with an absolute deadline on CLOCK_MONOTONIC.
#define _GNU_SOURCE
#include "base/futex.h"

#include "base/clock.h"
#include "base/sim.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void slri_futex_wait(uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    if (slri_sim_on()) {
        slri_sim_wait(word, expected, deadline_ns);
        return;
    }
    struct timespec deadline = {(time_t)(deadline_ns / 1000000000u), (long)(deadline_ns % 1000000000u)};
    // FUTEX_WAIT takes a relative time; the bitset form an absolute one, which an interruption does not stretch.
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline_ns == SLRI_FOREVER ? NULL : &deadline, NULL,
            FUTEX_BITSET_MATCH_ANY);
}

void slri_futex_wake(uint32_t *word, unsigned how_many)
{
    if (slri_sim_on()) {
        slri_sim_wake(word, how_many);
        return;
    }
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, how_many < INT_MAX ? (int)how_many : INT_MAX, NULL, NULL, 0);
}
