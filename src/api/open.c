// SPDX-License-Identifier: Apache-2.0
// Where use begins: every other object is of a device, and a device is opened here.
#include "api/api.h"

#include "base/sim.h"
#include "base/sized.h"
#include "base/status.h"
#include "device/device.h"
#include "observe/observe.h"

slr_status slr_device_open_from(const char *spec, const slr_device_desc *desc, uint32_t headers, slr_device **out)
{
    slri_api_begin();
    if (!out)
        return SLRI_FAIL(INVALID, "slr_device_open: out is NULL");
    slr_device_desc whole;
    slri_headers_seen(headers);
    SLRI_TRY(SLRI_TAKE_DESC(slr_device_desc, &whole, desc));
    SLRI_TRY(slri_sim_from_environment());
    SLRI_TRY(slri_watch_from_environment());
    return slri_device_open(spec, &whole, out);
}

slr_status(slr_device_open)(const char *spec, const slr_device_desc *desc, slr_device **out)
{
    return slr_device_open_from(spec, desc, 0, out);
}
