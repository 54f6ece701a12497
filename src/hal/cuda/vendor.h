// SPDX-License-Identifier: Apache-2.0
// What differs between the two vendors whose GPUs this backend drives: where the driver's and the compiler's functions
// are found, and their words. CUDA's names and numbers are the table's; hip.c puts HIP's functions in their places.
#ifndef SLRI_HAL_CUDA_VENDOR_H
#define SLRI_HAL_CUDA_VENDOR_H

#include "hal/cuda/api.h"
#include "hal/cuda/nvrtc.h"
#include "hal/hal.h"

struct slri_cu_vendor {
    const struct slri_backend *backend;                         // its name is that of the devices
    const char *prefix;                                         // of the driver's functions
    const char *driver, *advice;                                // the driver, and about ids: what lists its devices
    const char *visible;                                        // the vendor's variable that hides devices
    const char *compiler;                                       // what compiles kernels
    const char *platform;                                       // whose version the driver's is
    const char *never_stays;                                    // NULL, or why no kernel can stay on a device
    bool ends_work;                                             // a context that is destroyed ends what runs in it
    slr_status (*load)(const struct slri_cu **out);             // errors: NO_DEVICE, which says what was not found
    slr_status (*load_compiler)(const struct slri_nvrtc **out); // errors: UNSUPPORTED, likewise
};

extern const struct slri_cu_vendor slri_vendor_cuda, slri_vendor_hip;

#endif
