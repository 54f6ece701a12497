// SPDX-License-Identifier: Apache-2.0
// The backends of this build, and the table of open devices by place.
#include "base/sized.h"
#include "base/status.h"
#include "device/device.h"

#include <stdio.h>

static const struct slri_backend *const backends[] = {&slri_backend_cpu, &slri_backend_opencl, &slri_backend_cuda,
                                                      &slri_backend_null, NULL};

const struct slri_backend *const *slri_backends(void)
{
    return backends;
}

slr_status slr_backend_get_info_sized(uint32_t index, slr_backend_info *out, size_t bytes)
{
    if (!out)
        return SLRI_FAIL(INVALID, "slr_backend_get_info: out is NULL");
    uint32_t count = sizeof backends / sizeof backends[0] - 1;
    if (index >= count)
        return SLRI_FAIL(NOT_FOUND, "there is no backend %u; this library has %u", index, count);
    slr_backend_info whole = {0};
    snprintf(whole.name, sizeof whole.name, "%s", backends[index]->name);
    whole.status = backends[index]->probe(whole.reason, sizeof whole.reason, &whole.devices);
    return SLRI_GIVE_REPORT(slr_backend_info, out, bytes, &whole);
}

slr_status(slr_backend_get_info)(uint32_t index, slr_backend_info *out)
{
    return slr_backend_get_info_sized(index, out, SLRI_FIRST_slr_backend_info);
}
