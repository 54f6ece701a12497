// SPDX-License-Identifier: Apache-2.0
// The backends of this build, and the table of open devices by place.
#include "base/status.h"
#include "device/device.h"

#include <stdio.h>

static const struct slri_backend *const backends[] = {&slri_backend_cpu, &slri_backend_opencl, &slri_backend_cuda,
                                                      &slri_backend_null, NULL};

const struct slri_backend *const *slri_backends(void)
{
    return backends;
}

slr_status slr_backend_get_info(uint32_t index, slr_backend_info *out)
{
    if (!out)
        return SLRI_FAIL(INVALID, "slr_backend_get_info: out is NULL");
    uint32_t count = sizeof backends / sizeof backends[0] - 1;
    if (index >= count)
        return SLRI_FAIL(NOT_FOUND, "there is no backend %u; this library has %u", index, count);
    *out = (slr_backend_info){0};
    snprintf(out->name, sizeof out->name, "%s", backends[index]->name);
    out->status = backends[index]->probe(out->reason, sizeof out->reason, &out->devices);
    return SLR_OK;
}
