// SPDX-License-Identifier: Apache-2.0
// WaitOnAddress, whose time is relative and in milliseconds.
#define WIN32_LEAN_AND_MEAN
#include "base/futex.h"

#include "base/clock.h"
#include "base/sim.h"

#include <windows.h>

// Rounded up, so that it does not return just before the deadline.
static DWORD milliseconds_until(uint64_t deadline_ns)
{
    if (deadline_ns == SLRI_FOREVER)
        return INFINITE;
    const uint64_t now = slri_now_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
    const uint64_t ms = left / 1000000u + (left % 1000000u != 0);
    return ms < 1000000 ? (DWORD)ms : 1000000; // a caller looks again
}

void slri_futex_wait(uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    if (slri_sim_on())
        slri_sim_wait(word, expected, deadline_ns);
    else
        WaitOnAddress(word, &expected, sizeof expected, milliseconds_until(deadline_ns));
}

void slri_futex_wake(uint32_t *word, unsigned how_many)
{
    if (slri_sim_on()) {
        slri_sim_wake(word, how_many);
        return;
    }
    if (how_many > 64) {
        WakeByAddressAll(word);
        return;
    }
    while (how_many-- > 0)
        WakeByAddressSingle(word);
}
