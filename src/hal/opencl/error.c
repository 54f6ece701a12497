// SPDX-License-Identifier: Apache-2.0
// OpenCL's errors by name, and what each is to the user.
#include "hal/opencl/api.h"
#include "base/status.h"

struct error {
    int32_t number;
    slr_status status;
    const char *name;
};

static const struct error errors[] = {
#define ERROR(name, number, status) {number, SLR_##status, "CL_" #name},
    SLRI_CL_ERRORS(ERROR)
#undef ERROR
};

slr_status slri_cl_failed(const char *device, const char *call, int32_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i)
        if (errors[i].number == error) {
            slri_fail(errors[i].status, "device '%s': cl%s gives %s", device, call, errors[i].name);
            return errors[i].status;
        }
    // A number that is not in the table may be a vendor's own: what it means for the device is not known.
    return SLRI_FAIL(DEVICE_LOST, "device '%s': cl%s gives error %d", device, call, (int)error);
}
