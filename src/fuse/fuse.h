// SPDX-License-Identifier: Apache-2.0
// Fused source to a kernel.
#ifndef SLRI_FUSE_FUSE_H
#define SLRI_FUSE_FUSE_H

#include "base/text.h"
#include "device/kernel.h"

// The kernel `name` of that source. The kernel's program keeps `*kept`, the text.
slr_status slri_fused_compile(slr_device *device, const char *name, const struct slri_text *source, slr_kernel **out,
                              const char **kept);

// INVALID: it is no identifier.
slr_status slri_fused_check_name(const char *name);

#endif
