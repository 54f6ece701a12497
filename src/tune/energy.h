// SPDX-License-Identifier: Apache-2.0
// One sample of energy, from readings of a counter of a whole device. Such a counter moves in steps (NVIDIA's every 20
// to 100 ms), so a sample counts the launches from one step to a later one, over an interval of many steps.
#ifndef SLRI_TUNE_ENERGY_H
#define SLRI_TUNE_ENERGY_H

#include <stdbool.h>
#include <stdint.h>

enum slri_energy_state {
    SLRI_ENERGY_MORE,  // launch on
    SLRI_ENERGY_DONE,  // at least 0.5 s and 5 steps, or 4 s and 4 steps, where a launch takes long
    SLRI_ENERGY_STANDS // the counter has not moved for 4 s
};

struct slri_energy {
    bool is_read, is_begun;     // a reading is there; a step was seen
    uint64_t from_mj, from_ns;  // of the first step
    uint64_t last_mj, last_ns;  // of the newest step
    uint64_t launches, counted; // since the first step; up to the newest
    uint32_t steps;             // behind the first
};

// Notes a reading. `launches` ended between the reading before and this one. A counter that falls was set back: the
// sample begins anew.
enum slri_energy_state slri_energy_note(struct slri_energy *energy, uint64_t now_ns, uint64_t counter_mj,
                                        uint32_t launches);

// Microjoules of a launch, of a sample that is done.
double slri_energy_of_launch(const struct slri_energy *energy);

#endif
