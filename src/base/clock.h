// SPDX-License-Identifier: Apache-2.0
/// Monotonic time. Timeouts are in the API, absolute deadlines inside.
#ifndef SLRI_BASE_CLOCK_H
#define SLRI_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/// The deadline that never passes, and the timeout that leads to it.
#define SLRI_FOREVER UINT64_MAX

/// Nanoseconds on CLOCK_MONOTONIC.
uint64_t slri_now_ns(void);

/// Now + timeout, saturating at SLRI_FOREVER. A timeout of 0 gives 0, which has passed without a look at the clock.
uint64_t slri_deadline_after(uint64_t timeout_ns);

/// A timeout that becomes a deadline at the first look, when there is something to wait for: on the way of a message
/// nobody waits mostly, and a look at the clock costs 20 to 50 ns. Either field may be set first.
struct slri_until {
    uint64_t timeout_ns;  ///< not 0: not begun yet
    uint64_t deadline_ns; ///< once it has begun; 0 has passed
};

/// Begins it, if nobody has.
static inline uint64_t slri_until_deadline(struct slri_until *until)
{
    if (until->timeout_ns) {
        until->deadline_ns = slri_deadline_after(until->timeout_ns);
        until->timeout_ns = 0;
    }
    return until->deadline_ns;
}

/// Whether it never waits.
static inline bool slri_until_now(const struct slri_until *until)
{
    return until->timeout_ns == 0 && until->deadline_ns == 0;
}

/// Whether `deadline_ns` is now or earlier. Never reads the clock for 0 or SLRI_FOREVER.
bool slri_passed(uint64_t deadline_ns);

#endif
