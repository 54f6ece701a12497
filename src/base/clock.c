// SPDX-License-Identifier: Apache-2.0
// Monotonic time and deadlines.
#include "base/clock.h"

#include "base/sim.h"
#include "base/system.h"

uint64_t slri_now_ns(void)
{
    if (slri_sim_on())
        return slri_sim_now_ns();
    return slri_system_now_ns();
}

uint64_t slri_deadline_after(uint64_t timeout_ns)
{
    if (timeout_ns == 0 || timeout_ns == SLRI_FOREVER)
        return timeout_ns;
    uint64_t now = slri_now_ns();
    return timeout_ns < SLRI_FOREVER - now ? now + timeout_ns : SLRI_FOREVER;
}

bool slri_passed(uint64_t deadline_ns)
{
    if (deadline_ns == 0 || deadline_ns == SLRI_FOREVER)
        return deadline_ns == 0;
    return slri_now_ns() >= deadline_ns;
}
