// SPDX-License-Identifier: Apache-2.0
// What a kernel takes of a multiprocessor: compiled by NVRTC, read from the cubin. No driver and no GPU is asked.
#include "hal/cuda/cubin.h"
#include "hal/cuda/cuda.h"
#include "hal/cuda/nvrtc.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>

slr_status slri_cuda_kernel_resources(const struct slri_module *module, const struct slri_entry *entry,
                                      uint32_t capability, slr_resources *out)
{
    const struct slri_nvrtc *nvrtc;
    slri_text text = SLRI_TEXT_INIT;
    const char *const *options;
    char architecture[16];
    int32_t chosen;
    char *cubin = NULL;
    size_t bytes = 0;
    SLRI_TRY(slri_nvrtc_load(&nvrtc));
    SLRI_TRY(slri_nvrtc_choose(nvrtc, (int32_t)(capability < INT32_MAX ? capability : INT32_MAX), &chosen));
    snprintf(architecture, sizeof architecture, "sm_%d", (int)chosen);
    slr_status status = slri_nvrtc_source(nvrtc, module, entry, &text, &options);
    if (status == SLR_OK)
        status = slri_nvrtc_compile(nvrtc, module->name, slri_text_view(&text), options, architecture, &cubin, &bytes);
    if (status == SLR_OK)
        status = slri_cubin_read(cubin, bytes, entry->name, out);
    if (status == SLR_OK) {
        out->compiler_major = (uint32_t)nvrtc->major;
        out->compiler_minor = (uint32_t)nvrtc->minor;
    }
    free(cubin);
    slri_text_free(&text);
    return status;
}
