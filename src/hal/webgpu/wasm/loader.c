// SPDX-License-Identifier: Apache-2.0
// The functions of WebGPU in a page: those of calls.c, whatever the browser.
#include "hal/webgpu/wasm/page.h"

slr_status slri_wg_load(const struct slri_wg_library **out)
{
    static struct slri_wg_library page = {.path = "this browser",
                                          .name = "the browser",
                                          .needs = "it must be a page from https or from this machine, in a browser "
                                                   "that has WebGPU and a driver for it",
                                          .refuses_overlap = true,
                                          .calls = &slri_page_calls};
    if (!page.CreateInstance)
        slri_page_fill(&page);
    *out = &page;
    return SLR_OK;
}
