// SPDX-License-Identifier: Apache-2.0
// The option ring= of devices that keep kernels resident.
#ifndef SLRI_DEVICE_RING_MODE_H
#define SLRI_DEVICE_RING_MODE_H

#include "device/backend.h"

const char *slri_ring_mode_name(slr_ring_mode mode); // of the two that can be asked for
// `out` stays as it is where the option is not given. Errors: INVALID.
slr_status slri_ring_mode_choose(const struct slri_spec *spec, const char *device, slr_ring_mode *out);

#endif
