// SPDX-License-Identifier: Apache-2.0
// The driver's errors: it names them, and we know what each is to the user.
#include "hal/cuda/vendor.h"
#include "base/status.h"

struct error {
    int32_t number;
    slr_status status;
};

static const struct error errors[] = {
#define ERROR(number, status) {number, SLR_##status},
    SLRI_CU_ERRORS(ERROR)
#undef ERROR
};

slr_status slri_cu_status(int32_t error)
{
    if (error == SLRI_CU_SUCCESS)
        return SLR_OK;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i)
        if (errors[i].number == error)
            return errors[i].status;
    return SLR_DEVICE_LOST;
}

// "No further work can be done" in the context, whose kernels have been ended: NVIDIA's manual of the driver, CUresult.
bool slri_cu_is_fault(int32_t error)
{
    static const int32_t faults[] = {
        214, // ECC_UNCORRECTABLE
        220, // NVLINK_UNCORRECTABLE
        700, // ILLEGAL_ADDRESS
        702, // LAUNCH_TIMEOUT
        709, // CONTEXT_IS_DESTROYED
        710, // ASSERT
        714, // HARDWARE_STACK_ERROR
        715, // ILLEGAL_INSTRUCTION
        716, // MISALIGNED_ADDRESS
        717, // INVALID_ADDRESS_SPACE
        718, // INVALID_PC
        719, // LAUNCH_FAILED
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i)
        if (faults[i] == error)
            return true;
    return false;
}

slr_status slri_cu_failed(const struct slri_cu *cu, const char *device, const char *call, int32_t error)
{
    const char *name = NULL;
    slr_status status = slri_cu_status(error);
    if (cu->GetErrorName(error, &name) != SLRI_CU_SUCCESS || !name)
        name = "an error without a name";
    slri_fail(status, "device '%s': %s%s gives %s (%d)", device, cu->vendor->prefix, call, name, (int)error);
    return status;
}
