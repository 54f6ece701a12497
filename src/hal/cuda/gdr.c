// SPDX-License-Identifier: Apache-2.0
// Finds libgdrapi.
#include "hal/cuda/gdr.h"

#include "base/status.h"

static const char *const places[] = {"libgdrapi.so.2", NULL};

slr_status slri_gdr_load(slri_dl **library, struct slri_gdr_functions *out)
{
    const char *path;
    slri_text missing = SLRI_TEXT_INIT;
    SLRI_TRY(slri_dl_open_first(SLR_NOT_FOUND, "SLIPRING_GDR_LIB", places, "it comes with GDRCopy", library, &path));
#define FIND(result, name, parameters) out->name = (result(*) parameters)slri_dl_find(*library, "gdr_" #name, &missing);
    SLRI_GDR_FUNCTIONS(FIND)
#undef FIND
    slr_status status = slri_dl_all_found(SLR_NOT_FOUND, path, "libgdrapi", &missing);
    if (status != SLR_OK)
        slri_dl_close(*library);
    return status;
}
