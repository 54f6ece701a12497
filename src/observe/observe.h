// SPDX-License-Identifier: Apache-2.0
// What this folder shares.
#ifndef SLRI_OBSERVE_OBSERVE_H
#define SLRI_OBSERVE_OBSERVE_H

#include "device/device.h"
#include "device/kernel.h"
#include "device/observe.h"
#include "observe/row.h"

// Sets or clears a bit of slri_observed; the clock is ready before.
void slri_observe_watch(uint32_t bit, bool on);

// The name of a device, as a number: names.h.
uint32_t slri_device_name(slr_device *device);

// The row of a kernel's launches; NULL: no memory.
struct slri_row *slri_row_of_kernel(slr_kernel *kernel);

// What was measured of a device of that name before, by whatever process. False: nothing.
bool slri_ceilings_find(const char *device, slr_ceilings *out);

// Something took from one look at the clock to another: to its row, and to the trace, on a track (0: the calling
// thread's). What has no row (no memory) is lost.
void slri_observe_slice(struct slri_row *row, uint32_t track, uint64_t begin, uint64_t end, uint64_t bytes);

#endif
