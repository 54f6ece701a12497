// SPDX-License-Identifier: Apache-2.0
// Opens libOpenCL.so.1, or what SLIPRING_OPENCL_LIB names, and finds its functions.
#include "hal/opencl/api.h"
#include "base/dl.h"
#include "base/environment.h"
#include "base/status.h"
#include "base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct slri_cl functions; // written by `start_library` alone
static char note[160];

// PoCL gives each of its threads one work-group, for as long as that runs. Kernels that stay would take them all, and
// everything else would wait for ever; so it gets more of them than there are cores. It reads the variable at its first
// call of the process.
#define POCL_MORE_THREADS 6u

static void raise_pocl_threads(void)
{
    char count[12];
    snprintf(count, sizeof count, "%u", slri_core_count() + POCL_MORE_THREADS);
    bool set = slri_environment_default("POCL_MAX_PTHREAD_COUNT", count);
    snprintf(note, sizeof note, "POCL_MAX_PTHREAD_COUNT=%s, %s",
             set ? count : slri_environment_of_vendor("POCL_MAX_PTHREAD_COUNT"),
             set ? "set by slipring for persistent kernels" : "set by the user");
}

static slr_status start_library(slri_dl *library, const char *path)
{
    slri_text missing = SLRI_TEXT_INIT;
    raise_pocl_threads();
#define FIND(result, name, parameters)                                                                                 \
    functions.name = (result(*) parameters)slri_dl_find(library, "cl" #name, &missing);
#define FIND_OPTIONAL(result, name, parameters)                                                                        \
    functions.name = (result(*) parameters)slri_dl_find(library, "cl" #name, NULL);
    SLRI_CL_OPTIONAL(FIND_OPTIONAL)
    SLRI_CL_REQUIRED(FIND)
#undef FIND
#undef FIND_OPTIONAL
    return slri_dl_all_found(SLR_NO_DEVICE, path, "OpenCL 1.2", &missing);
}

slr_status slri_cl_load(const struct slri_cl **out)
{
    static struct slri_dl_vendor vendor = {.variable = "SLIPRING_OPENCL_LIB",
                                           .places = {"libOpenCL.so.1"},
                                           .hint = "Debian: ocl-icd-libopencl1, and a driver such as pocl-opencl-icd",
                                           .absent = SLR_NO_DEVICE,
                                           .start = start_library,
                                           .lock = SLRI_MUTEX_INIT};
    SLRI_TRY(slri_dl_load(&vendor));
    *out = &functions;
    return SLR_OK;
}

const char *slri_cl_load_note(void)
{
    return note; // written before the first device
}
