// SPDX-License-Identifier: Apache-2.0
// The secret of a table's hash.
#include "base/key_hash.h"

#include "base/clock.h"
#include "base/sim.h"
#include "base/system.h"

void slri_key_secret_make(struct slri_key_secret *secret)
{
    if (slri_sim_on() && !slri_sim_in_turns()) {
        secret->word[0] = slri_sim_random();
        secret->word[1] = slri_sim_random();
        return;
    }
    if (slri_system_random(secret, sizeof *secret))
        return;
    // Before the kernel has gathered randomness, at boot: better guessed at than known.
    secret->word[0] = slri_now_ns();
    secret->word[1] = (uint64_t)(uintptr_t)secret * 0x9e3779b97f4a7c15u;
}
