// SPDX-License-Identifier: Apache-2.0
// There are no threads: the tasks of base/sim.h sleep and wake.
#include "base/futex.h"

#include "base/sim.h"

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
