// SPDX-License-Identifier: Apache-2.0
// Machine code of anybody's making. What it is said to take is read from within it, twice the same; what is refused has
// a reason.
#include "fuzz.h"

#include "hal/cuda/cubin.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const kernels[] = {"small", "tight", ""};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        slr_resources first = {0}, again = {0};
        slr_status status = slri_cubin_read(data, size, kernels[i], &first);
        FUZZ_CHECK(status == SLR_OK || status == SLR_NOT_FOUND || status == SLR_UNSUPPORTED);
        FUZZ_CHECK(status == SLR_OK || slr_error_message()[0] != '\0');
        FUZZ_CHECK(slri_cubin_read(data, size, kernels[i], &again) == status);
        FUZZ_CHECK(memcmp(&first, &again, sizeof first) == 0);
        FUZZ_CHECK(status != SLR_OK || first.registers != 0);
    }
    return 0;
}
