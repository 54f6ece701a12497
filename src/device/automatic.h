// SPDX-License-Identifier: Apache-2.0
// The devices that "auto" chooses from.
#ifndef SLRI_DEVICE_AUTOMATIC_H
#define SLRI_DEVICE_AUTOMATIC_H

#include "base/text.h"
#include "device/device.h"

#define SLRI_MOST_CANDIDATES 64

struct slri_candidate {
    char spec[32];
    uint32_t device_class;
};

struct slri_candidates {
    struct slri_candidate candidate[SLRI_MOST_CANDIDATES];
    uint32_t count;
};

// Why one is not taken, in front of the others: who has little room shows what was tried last, and a vendor's own
// backend, which is looked at last.
void slri_note_refusal(slri_text *why, const char *name, const char *reason);

// All that can be asked what they are, the best first; those of one class in the order of the backends. `why` is told
// of each backend and device that is none of them.
void slri_find_candidates(struct slri_candidates *out, slri_text *why);

const char *slri_device_class_name(uint32_t device_class); // "a GPU"

#endif
