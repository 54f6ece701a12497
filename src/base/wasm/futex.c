// SPDX-License-Identifier: Apache-2.0
// With threads Emscripten's futex: Atomics.wait, or where a page's own thread may not call that, polling. Without them
// the tasks of base/sim.h sleep and wake.
#include "base/futex.h"

#include "base/clock.h"
#include "base/sim.h"

#if defined(__EMSCRIPTEN_PTHREADS__)

#include <emscripten/threading.h>
#include <limits.h>
#include <math.h>

void slri_futex_wait(uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    const uint64_t now_ns = slri_now_ns();
    const double left_ms = deadline_ns == SLRI_FOREVER ? INFINITY : (double)(deadline_ns - now_ns) / 1e6;
    if (deadline_ns > now_ns)
        emscripten_futex_wait(word, expected, left_ms);
}

void slri_futex_wake(uint32_t *word, unsigned how_many)
{
    emscripten_futex_wake(word, how_many < INT_MAX ? (int)how_many : INT_MAX);
}

#else

// Before the first device there is one task, which nobody can wake: it looks at the word again.
void slri_futex_wait(uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    if (slri_sim_on())
        slri_sim_wait(word, expected, deadline_ns);
}

void slri_futex_wake(uint32_t *word, unsigned how_many)
{
    if (slri_sim_on())
        slri_sim_wake(word, how_many);
}

#endif
