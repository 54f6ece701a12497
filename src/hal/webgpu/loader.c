// SPDX-License-Identifier: Apache-2.0
// Opens wgpu-native or Dawn, or what SLIPRING_WEBGPU_LIB names. Structures of webgpu.h change between its generations,
// so a library of another one is refused.
#include "base/dl.h"
#include "base/status.h"
#include "hal/webgpu/dawn.h"

#include <stdio.h>

static struct slri_wg_library made; // written by `start_library` alone

static slr_status check_version(slri_dl *library, const char *path)
{
    uint32_t (*get_version)(void) = (uint32_t(*)(void))slri_dl_find(library, "wgpuGetVersion", NULL);
    if (!get_version)
        return SLRI_FAIL(NO_DEVICE, "%s is neither wgpu-native nor Dawn: it lacks wgpuGetVersion and wgpuDeviceTick",
                         path);
    const uint32_t version = get_version(); // a byte a part, the major one above
    if (version >> 24 != SLRI_WG_GENERATION)
        return SLRI_FAIL(NO_DEVICE,
                         "%s is wgpu-native %u.%u; slipring calls version %u, and others differ in their structures",
                         path, version >> 24, version >> 16 & 0xff, SLRI_WG_GENERATION);
    snprintf(made.name, sizeof made.name, "wgpu-native %u.%u.%u.%u", version >> 24, version >> 16 & 0xff,
             version >> 8 & 0xff, version & 0xff);
    return SLR_OK;
}

static slr_status start_library(slri_dl *library, const char *path)
{
    const bool is_dawn = slri_wg_is_dawn(library);
    slri_text missing = SLRI_TEXT_INIT;
    made = (struct slri_wg_library){0};
    snprintf(made.path, sizeof made.path, "%s", path);
    SLRI_TRY(is_dawn ? slri_wg_dawn_check(library, path) : check_version(library, path));
#define FIND(result, name, parameters) made.name = (result(*) parameters)slri_dl_find(library, "wgpu" #name, &missing);
    SLRI_WG_COMMON_FUNCTIONS(FIND)
    if (!is_dawn) {
        SLRI_WG_NATIVE_FUNCTIONS(FIND)
    }
#undef FIND
    SLRI_TRY(slri_dl_all_found(SLR_NO_DEVICE, path, is_dawn ? "Dawn" : "wgpu-native", &missing));
    if (is_dawn)
        SLRI_TRY(slri_wg_dawn_fill(library, path, &made));
    made.needs = "it needs a driver of Vulkan, Metal or D3D12 (Debian: mesa-vulkan-drivers)";
    made.instance = made.CreateInstance(NULL);
    return made.instance ? SLR_OK : SLRI_FAIL(NO_DEVICE, "%s: wgpuCreateInstance gives none", path);
}

slr_status slri_wg_load(const struct slri_wg_library **out)
{
    static struct slri_dl_vendor vendor = {
        .variable = "SLIPRING_WEBGPU_LIB",
        .places = {"libwgpu_native.so", "libwebgpu_dawn.so"},
        .hint = "wgpu-native 29 has it, and so has Python's package wgpu 0.32; Dawn's is libwebgpu_dawn.so; "
                "SLIPRING_WEBGPU_LIB gives the path of one",
        .absent = SLR_NO_DEVICE,
        .start = start_library,
        .lock = SLRI_MUTEX_INIT};
    SLRI_TRY(slri_dl_load(&vendor));
    *out = &made;
    return SLR_OK;
}
