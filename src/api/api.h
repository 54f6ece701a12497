// SPDX-License-Identifier: Apache-2.0
// What this folder shares.
#ifndef SLRI_API_API_H
#define SLRI_API_API_H

#include "hal/hal.h"

extern const struct slri_backend *const slri_backends[]; // up to NULL

// Fills the table of engine/hooks.h. Whatever gives the first object to a user calls it first.
void slri_api_begin(void);

#endif
