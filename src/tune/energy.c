// SPDX-License-Identifier: Apache-2.0
#include "tune/energy.h"

enum { LEAST_STEPS = 5, LONG_STEPS = 4 };
static const uint64_t least_ns = 500000000, long_ns = 4000000000;

enum slri_energy_state slri_energy_note(struct slri_energy *energy, uint64_t now_ns, uint64_t counter_mj,
                                        uint32_t launches)
{
    if (!energy->is_read || counter_mj < energy->last_mj) {
        *energy = (struct slri_energy){.is_read = true, .last_mj = counter_mj, .last_ns = now_ns};
        return SLRI_ENERGY_MORE;
    }
    energy->launches += launches;
    if (counter_mj == energy->last_mj)
        return now_ns - energy->last_ns >= long_ns ? SLRI_ENERGY_STANDS : SLRI_ENERGY_MORE;
    energy->last_mj = counter_mj;
    energy->last_ns = now_ns;
    if (!energy->is_begun) { // what was launched before began between two steps
        energy->is_begun = true;
        energy->from_mj = counter_mj;
        energy->from_ns = now_ns;
        energy->launches = 0;
        return SLRI_ENERGY_MORE;
    }
    energy->counted = energy->launches;
    ++energy->steps;
    const uint64_t passed = now_ns - energy->from_ns;
    const bool is_done =
        (passed >= least_ns && energy->steps >= LEAST_STEPS) || (passed >= long_ns && energy->steps >= LONG_STEPS);
    return is_done ? SLRI_ENERGY_DONE : SLRI_ENERGY_MORE;
}

double slri_energy_of_launch(const struct slri_energy *energy)
{
    return (double)(energy->last_mj - energy->from_mj) * 1000 / (double)energy->counted;
}
