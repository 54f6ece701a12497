// SPDX-License-Identifier: Apache-2.0
// Opens wgpu-native, or what SLIPRING_WEBGPU_LIB names. Structures of webgpu.h change between its generations, so a
// library of another one is refused.
#include "base/dl.h"
#include "base/status.h"
#include "hal/webgpu/api.h"

#include <stdio.h>

static struct slri_dl_once once = SLRI_DL_ONCE_INIT;
static struct slri_wg_library made; // written by `load` alone

static slr_status check_version(slri_dl *library, const char *path, struct slri_wg_library *out)
{
    uint32_t (*get_version)(void) = (uint32_t(*)(void))slri_dl_find(library, "wgpuGetVersion", NULL);
    if (!get_version)
        return SLRI_FAIL(NO_DEVICE, "%s is no wgpu-native: it lacks wgpuGetVersion", path);
    const uint32_t version = get_version(); // a byte a part, the major one above
    if (version >> 24 != SLRI_WG_GENERATION)
        return SLRI_FAIL(NO_DEVICE,
                         "%s is wgpu-native %u.%u; slipring calls version %u, and others differ in their structures",
                         path, version >> 24, version >> 16 & 0xff, SLRI_WG_GENERATION);
    snprintf(out->name, sizeof out->name, "wgpu-native %u.%u.%u.%u", version >> 24, version >> 16 & 0xff,
             version >> 8 & 0xff, version & 0xff);
    out->needs = "it needs a driver of Vulkan, Metal or D3D12 (Debian: mesa-vulkan-drivers)";
    return SLR_OK;
}

static slr_status find_all(slri_dl *library, const char *path, struct slri_wg_library *out)
{
    slri_text missing = SLRI_TEXT_INIT;
    SLRI_TRY(check_version(library, path, out));
#define FIND(result, name, parameters) out->name = (result(*) parameters)slri_dl_find(library, "wgpu" #name, &missing);
    SLRI_WG_FUNCTIONS(FIND)
#undef FIND
    SLRI_TRY(slri_dl_all_found(SLR_NO_DEVICE, path, "wgpu-native", &missing));
    out->instance = out->CreateInstance(NULL);
    return out->instance ? SLR_OK : SLRI_FAIL(NO_DEVICE, "%s: wgpuCreateInstance gives none", path);
}

static slr_status load(void)
{
    static const char *const places[] = {"libwgpu_native.so", NULL};
    const char *path;
    slri_dl *library;
    struct slri_wg_library found = {0};
    SLRI_TRY(slri_dl_open_first(SLR_NO_DEVICE, "SLIPRING_WEBGPU_LIB", places,
                                "wgpu-native 29 has it, and so has Python's package wgpu 0.32; SLIPRING_WEBGPU_LIB "
                                "gives its path",
                                &library, &path));
    snprintf(found.path, sizeof found.path, "%s", path);
    slr_status status = find_all(library, path, &found);
    if (status == SLR_OK)
        made = found;
    else
        slri_dl_close(library);
    return status;
}

slr_status slri_wg_load(const struct slri_wg_library **out)
{
    SLRI_TRY(slri_dl_load_once(&once, load));
    *out = &made;
    return SLR_OK;
}
