// SPDX-License-Identifier: Apache-2.0
// What a device must report of a kernel's threads.
#ifndef SLRI_EMIT_DEVICE_FAULTS_H
#define SLRI_EMIT_DEVICE_FAULTS_H

#include "ir/ir.h"

#include <slipring/status.h>

// Whether a thread of a kernel may divide an integer by zero, fail an assertion or trap: then the emitters for devices
// have it told where. Errors: NO_MEMORY.
slr_status slri_kernel_may_fault(const struct slri_module *module, const struct slri_entry *entry, bool *out);

#endif
