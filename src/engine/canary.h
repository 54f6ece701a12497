// SPDX-License-Identifier: Apache-2.0
// How many turns a loop may take: some drivers end one after so many without an error, and then each later loop of the
// thread behind its first turn, by which a kernel notices. A kernel with a long loop runs once a device, before its
// first kernel is written, and takes a short one after that.
#ifndef SLRI_ENGINE_CANARY_H
#define SLRI_ENGINE_CANARY_H

#include "base/thread.h"

#include <slipring/status.h>

#include <stdbool.h>
#include <stdint.h>

struct slri_canary {
    slri_mutex lock; // of the next
    bool has_run;
    uint64_t turns;   // atomic: after so many a loop ends by itself; 0: never
    bool stays_ended; // and so does each later one
};

#define SLRI_CANARY_TURNS 200000u // of the long loop
#define SLRI_CANARY_FEW 2u        // of the short one
// At each turn of the long loop x, which begins as 1, becomes this. A compiler cannot know what it is in the end.
#define SLRI_CANARY_NEXT(x) ((x)*1664525u + 1013904223u)

// Runs the kernel. `word`: how many turns the long loop took, what x is then, and how many the short one took.
typedef slr_status slri_canary_run(void *device, uint32_t word[3]);

// How many turns a loop may take; 0: as many as it likes. Runs the kernel if it has not run yet. Errors: the kernel's.
slr_status slri_canary_ask(struct slri_canary *canary, slri_canary_run *run, void *device, uint64_t *turns);
// Likewise for a kernel that is to be written. `name`: the device's. Also UNSUPPORTED: it could not notice.
slr_status slri_canary_check(struct slri_canary *canary, slri_canary_run *run, void *device, const char *name,
                             uint64_t *turns);
// UNSUPPORTED: what a kernel has told.
slr_status slri_canary_ended(const struct slri_canary *canary, const char *name, const char *kernel);

// Who writes or waits for a kernel asks while another runs the canary: none of its kernels has run by then.
static inline uint64_t slri_canary_turns(const struct slri_canary *canary)
{
    return __atomic_load_n(&canary->turns, __ATOMIC_RELAXED);
}

#endif
