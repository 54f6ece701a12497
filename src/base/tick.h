// SPDX-License-Identifier: Apache-2.0
/// A cheaper look at the clock, for what is measured at every command. Where the system itself keeps time by the
/// processor's counter (x86-64, clock source "tsc") it is that counter, else slri_now_ns: 12 to 28 ns a look were seen
/// where clock_gettime took 30 to 60. In nanoseconds, on a line laid through two looks at both clocks when it is first
/// asked for: so it never goes back, and runs apart from slri_now_ns by some parts in a million.
#ifndef SLRI_BASE_TICK_H
#define SLRI_BASE_TICK_H

#include "base/clock.h"

struct slri_tick_line {
    uint64_t tick, ns;    // a point of the line
    uint64_t ns_per_tick; // in 2^-32; 0: the counter is not used
};
extern struct slri_tick_line slri_tick_line; // written by slri_tick_begin alone

/// Before the first slri_tick_ns of the process; takes 5 ms the first time. Any thread; the others wait.
void slri_tick_begin(void);

/// A look: a number that grows with time, and the nanoseconds of it, and of a difference of two. 0 is no look.
static inline uint64_t slri_tick(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(slri_tick_line.ns_per_tick != 0, 1))
        return __builtin_ia32_rdtsc();
#endif
    return slri_now_ns();
}

static inline uint64_t slri_ticks_ns(uint64_t ticks)
{
    uint64_t per = slri_tick_line.ns_per_tick;
    if (__builtin_expect(per == 0, 0))
        return ticks;
    return (ticks >> 32) * per + ((ticks & UINT32_MAX) * per >> 32);
}

static inline uint64_t slri_tick_time_ns(uint64_t tick)
{
    return slri_tick_line.ns + slri_ticks_ns(tick - slri_tick_line.tick); // without a counter the line begins at 0
}

static inline uint64_t slri_tick_ns(void)
{
    return slri_tick_time_ns(slri_tick());
}

#endif
