// SPDX-License-Identifier: Apache-2.0
/// A kernel of a random program, launched on a device by the public interface.
#ifndef GENERATE_DEVICE_H
#define GENERATE_DEVICE_H

#include "subject.h"

/// The device of all programs from now on. `spec` as slr_device_open takes it.
slr_status device_use(const char *spec);
bool device_is_used(void);

/// Runs the subject's kernel there on what is bound, and leaves its results in the bound memory. UNSUPPORTED: the
/// device lacks what the kernel needs.
slr_status device_run(const subject *s, const struct slri_bound *bound, uint32_t count);

void device_release(void);

#endif
