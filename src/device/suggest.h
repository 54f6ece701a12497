// SPDX-License-Identifier: Apache-2.0
// Which block a launch has where its shape says none.
#ifndef SLRI_DEVICE_SUGGEST_H
#define SLRI_DEVICE_SUGGEST_H

#include "device/kernel.h"

// Sets the block of a shape that has none. `asks`: the device may be asked what the kernel takes, for which it is
// compiled; else the size table alone decides. Errors: those of compiling.
slr_status slri_shape_choose(slr_kernel *kernel, slr_shape *shape, bool asks);

#endif
