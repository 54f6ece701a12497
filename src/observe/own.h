// SPDX-License-Identifier: Apache-2.0
// What a thread has of its own here, so that counting needs no lock: a slot in each row, and a ring of events.
#ifndef SLRI_OBSERVE_OWN_H
#define SLRI_OBSERVE_OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLRI_SLOTS 32u
#define SLRI_SLOT_SHARED (SLRI_SLOTS - 1) // of all threads for which there is no other

#define SLRI_REGIONS 64u // that may be open in each other

struct slri_own {
    uint32_t slot;
    bool has_no_ring; // there is no room for one
    struct slri_ring *ring;
    struct { // the row of the call that was counted last, which is often the next one's
        const void *at;
        const char *what;
        uint32_t device;
        struct slri_row *row; // NULL: none yet
    } caller;
    uint32_t regions; // that are open, also those too deep to be kept
    struct {
        struct slri_row *row; // NULL: nobody watched
        uint64_t begin;       // a look at the clock
    } region[SLRI_REGIONS];
};

// No TLS model is named: "initial-exec" would save a call at each look, but dlopen() refuses a library that has it once
// the room that the C library keeps for such variables is used up.
extern _Thread_local struct slri_own *slri_own_of_thread;

struct slri_own *slri_own_make(void);

// The calling thread's. NULL: no memory for it.
static inline struct slri_own *slri_own(void)
{
    struct slri_own *own = slri_own_of_thread;
    return __builtin_expect(own != NULL, 1) ? own : slri_own_make();
}

#endif
