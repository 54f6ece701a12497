// SPDX-License-Identifier: Apache-2.0
// WebAssembly's wait and notify, by Emscripten; without threads the tasks of base/sim.h.
#include "base/futex.h"

#include "base/clock.h"
#include "base/sim.h"

#include <limits.h>
#include <math.h>

#ifdef __EMSCRIPTEN_PTHREADS__

#include <emscripten/threading.h>

void slri_futex_wait(uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    if (slri_sim_on()) {
        slri_sim_wait(word, expected, deadline_ns);
        return;
    }
    uint64_t now_ns = slri_now_ns();
    if (deadline_ns <= now_ns)
        return;
    emscripten_futex_wait(word, expected,
                          deadline_ns == SLRI_FOREVER ? (double)INFINITY : (double)(deadline_ns - now_ns) / 1e6);
}

void slri_futex_wake(uint32_t *word, unsigned how_many)
{
    if (slri_sim_on())
        slri_sim_wake(word, how_many);
    else
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
