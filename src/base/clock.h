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

/// Whether `deadline_ns` is now or earlier. Never reads the clock for 0 or SLRI_FOREVER.
bool slri_passed(uint64_t deadline_ns);

#endif
