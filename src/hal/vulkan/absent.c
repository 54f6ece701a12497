// SPDX-License-Identifier: Apache-2.0
// In place of the other files, where Vulkan's headers were missing when slipring was built.
#include "base/status.h"
#include "hal/hal.h"

static slr_status absent_probe(bool automatic, uint32_t *devices)
{
    (void)automatic, (void)devices;
    return SLRI_FAIL(NO_DEVICE, "slipring was built without Vulkan's headers (Debian: libvulkan-dev)");
}

static slr_status absent_open(const struct slri_spec *spec, const slr_allocator *allocator, void **device)
{
    (void)spec, (void)allocator, (void)device;
    return absent_probe(false, NULL);
}

// Where there are no devices, and none opens, nothing else is called.
const struct slri_backend slri_backend_vulkan = {
    .name = "vulkan", .has_ids = true, .probe = absent_probe, .open = absent_open};
