// SPDX-License-Identifier: Apache-2.0
// Opens NVIDIA's driver, libcuda.so.1 or what SLIPRING_CUDA_LIB names, finds its functions and starts it.
#include "hal/cuda/stall.h"
#include "hal/cuda/vendor.h"
#include "base/dl.h"
#include "base/environment.h"
#include "base/status.h"
#include "base/thread.h"

#include <stdio.h>
#include <stdlib.h>

static struct slri_cu functions; // written by `load` alone

static slr_status find_driver_symbols(slri_dl *library, const char *path, struct slri_cu *out)
{
    slri_text missing = SLRI_TEXT_INIT;
#define FIND(result, name, parameters, arguments)                                                                      \
    out->name = (result(*) parameters)slri_dl_find(library, "cu" #name, &missing);
#define FIND_OPTIONAL(result, name, parameters, arguments)                                                             \
    out->name = (result(*) parameters)slri_dl_find(library, "cu" #name, NULL);
    SLRI_CU_OPTIONAL(FIND_OPTIONAL)
    SLRI_CU_REQUIRED(FIND)
#undef FIND
#undef FIND_OPTIONAL
    return slri_dl_all_found(SLR_NO_DEVICE, path, "driver of CUDA 11 or later", &missing);
}

// A call must not wait for a kernel that never ends. A kernel that is loaded at its first launch waits for the GPU:
// ours are loaded by FuncLoad, or with their modules where the driver has no FuncLoad. A stream that shares one of the
// 8 queues to the GPU with a kernel that stays waits for that kernel. There are 32 queues at most.
static void ask_for_what_kernels_that_stay_need(const struct slri_cu *cu)
{
    if (!cu->FuncLoad)
        slri_environment_default("CUDA_MODULE_LOADING", "EAGER");
    slri_environment_default("CUDA_DEVICE_MAX_CONNECTIONS", "32");
}

static slr_status start(struct slri_cu *cu)
{
    ask_for_what_kernels_that_stay_need(cu);
    int32_t error = cu->Init(0);
    if (error == SLRI_CU_SUCCESS)
        error = cu->DriverGetVersion(&cu->version);
    if (error == SLRI_CU_NO_DEVICE)
        return SLRI_FAIL(
            NO_DEVICE, "NVIDIA's driver finds no GPU%s",
            slri_environment_of_vendor("CUDA_VISIBLE_DEVICES") ? ": CUDA_VISIBLE_DEVICES is set, and may hide it" : "");
    return error == SLRI_CU_SUCCESS ? SLR_OK : slri_cu_failed(cu, "cuda", "Init", error);
}

static slr_status load(slri_dl *library, const char *path)
{
    struct slri_cu found = {.vendor = &slri_vendor_cuda};
    SLRI_TRY(find_driver_symbols(library, path, &found));
    found.simulated = slri_dl_find(library, "slr_driver_is_simulated", NULL) != NULL;
    SLRI_TRY(start(&found));
    slri_cu_watched(&found, &functions);
    return SLR_OK;
}

static slr_status load_cuda(const struct slri_cu **out)
{
    // Besides the loader's places, of which neither WSL's folder is one, nor that in which containers are given it.
    static struct slri_dl_vendor vendor = {
        .variable = "SLIPRING_CUDA_LIB",
        .places = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"},
        .hint = "it comes with NVIDIA's driver",
        .absent = SLR_NO_DEVICE,
        .start = load,
        .lock = SLRI_MUTEX_INIT};
    SLRI_TRY(slri_dl_load(&vendor));
    *out = &functions;
    return SLR_OK;
}

const struct slri_cu_vendor slri_vendor_cuda = {.backend = &slri_backend_cuda,
                                                .prefix = "cu",
                                                .driver = "NVIDIA's driver",
                                                .advice = "nvidia-smi -L lists them",
                                                .visible = "CUDA_VISIBLE_DEVICES",
                                                .compiler = "NVRTC",
                                                .platform = "CUDA",
                                                .ends_work = true,
                                                .load = load_cuda,
                                                .load_compiler = slri_nvrtc_load};
