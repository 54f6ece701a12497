// SPDX-License-Identifier: Apache-2.0
#include "device/ring_mode.h"

#include "base/status.h"
#include "device/spec.h"

#include <string.h>

const char *slri_ring_mode_name(slr_ring_mode mode)
{
    return mode == SLR_RING_RELAUNCHED ? "relaunch" : "persistent";
}

slr_status slri_ring_mode_choose(const struct slri_spec *spec, const char *device, slr_ring_mode *out)
{
    const char *asked = slri_spec_option(spec, "ring");
    if (!asked)
        return SLR_OK;
    for (slr_ring_mode mode = SLR_RING_RELAUNCHED; mode <= SLR_RING_PERSISTENT; ++mode)
        if (strcmp(asked, slri_ring_mode_name(mode)) == 0) {
            *out = mode;
            return SLR_OK;
        }
    return SLRI_FAIL(INVALID, "device '%s': ring '%s'; 'relaunch' or 'persistent' is possible", device, asked);
}
