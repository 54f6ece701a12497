// SPDX-License-Identifier: Apache-2.0
// __ulock_wait, which libc++ and Rust's library stand on too; macOS 14.4 has a public call for it, earlier ones have
// not.
#include "base/futex.h"

#include "base/clock.h"
#include "base/sim.h"

#define UL_COMPARE_AND_WAIT 1u
#define ULF_WAKE_ALL 0x100u
#define ULF_NO_ERRNO 0x1000000u

int __ulock_wait(uint32_t operation, void *address, uint64_t value, uint32_t timeout_us);
int __ulock_wake(uint32_t operation, void *address, uint64_t value);

// Rounded up, so that it does not return just before the deadline; 0 would be no end.
static uint32_t microseconds_until(uint64_t deadline_ns)
{
    if (deadline_ns == SLRI_FOREVER)
        return 0;
    const uint64_t now = slri_now_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
    const uint64_t us = left / 1000u + 1;
    return us < 1000000000u ? (uint32_t)us : 1000000000u; // a caller looks again
}

void slri_futex_wait(uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    if (slri_sim_on())
        slri_sim_wait(word, expected, deadline_ns);
    else
        (void)__ulock_wait(UL_COMPARE_AND_WAIT | ULF_NO_ERRNO, word, expected, microseconds_until(deadline_ns));
}

void slri_futex_wake(uint32_t *word, unsigned how_many)
{
    if (slri_sim_on()) {
        slri_sim_wake(word, how_many);
        return;
    }
    if (how_many > 64) {
        (void)__ulock_wake(UL_COMPARE_AND_WAIT | ULF_WAKE_ALL | ULF_NO_ERRNO, word, 0);
        return;
    }
    while (how_many-- > 0)
        if (__ulock_wake(UL_COMPARE_AND_WAIT | ULF_NO_ERRNO, word, 0) < 0)
            return; // nobody is left
}
