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

static slr_status absent_facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info)
{
    (void)device, (void)index, (void)out, (void)info;
    return absent_probe(false, NULL);
}

const struct slri_backend slri_backend_vulkan = {
    .name = "vulkan", .has_ids = true, .probe = absent_probe, .open = absent_open, .facts = absent_facts};
