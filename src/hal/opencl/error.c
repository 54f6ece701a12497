// SPDX-License-Identifier: Apache-2.0
// OpenCL's errors by name, and what each is to the user.
#include "hal/opencl/api.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>

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

static uint32_t any_lost; // atomic; relaxed, since nothing comes with it: whether a device of this process was lost

static slr_status note_lost(slr_status status)
{
    if (status == SLR_DEVICE_LOST)
        __atomic_store_n(&any_lost, 1, __ATOMIC_RELAXED);
    return status;
}

slr_status slri_cl_failed(const char *device, const char *call, int32_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i)
        if (errors[i].number == error) {
            slri_fail(errors[i].status, "device '%s': cl%s gives %s", device, call, errors[i].name);
            return note_lost(errors[i].status);
        }
    // A number that is not in the table may be a vendor's own: what it means for the device is not known.
    return note_lost(SLRI_FAIL(DEVICE_LOST, "device '%s': cl%s gives error %d", device, call, (int)error));
}

// NVIDIA's driver gives no context to a process any more in which a kernel has accessed what it may not.
slr_status slri_cl_failed_to_open(const char *device, const char *call, int32_t error)
{
    bool was_lost = __atomic_load_n(&any_lost, __ATOMIC_RELAXED);
    slr_status status = slri_cl_failed(device, call, error);
    if (!was_lost || status != SLR_DEVICE_LOST)
        return status;
    char why[160];
    snprintf(why, sizeof why, "%s", slr_error_message());
    return SLRI_FAIL(DEVICE_LOST,
                     "%s. An OpenCL device of this process was lost before; this driver then opens none any more: "
                     "end the process, and open the device in a new one",
                     why);
}
