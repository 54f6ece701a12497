// SPDX-License-Identifier: Apache-2.0
// Places in the program that called slipring, each with a row for each kind of call.
#ifndef SLRI_OBSERVE_CALLER_H
#define SLRI_OBSERVE_CALLER_H

#include "observe/observe.h"

// What a call did: `what` names it, NULL stands for a launch. Nothing where the place is not known, or nobody profiles.
void slri_caller_add(struct slri_site site, const char *what, slr_device *device, const struct slri_sample *sample);

// An allocation, whose place the program named.
void slri_caller_allocated(const char *file, uint32_t line, uint32_t device_name, uint64_t bytes);

// `file`, `offset` or the line.
void slri_caller_read(const struct slri_row *row, slr_profile_row *out);

#endif
