// SPDX-License-Identifier: Apache-2.0
// Finds libnats and its functions.
#include "cluster/nats_api.h"

#include "base/dl.h"
#include "base/status.h"

#include <stddef.h>

static struct slri_dl_once nats_once = SLRI_DL_ONCE_INIT;
static slri_nats_api nats_api;

static slr_status load_nats(void)
{
    static const char *const places[] = {"libnats.so.3.4", "libnats.so.3.11", "libnats.so.3.10",
                                         "libnats.so.3.9", "libnats.so",      NULL};
    slri_dl *library;
    const char *path;
    slri_text missing = SLRI_TEXT_INIT;
    SLRI_TRY(slri_dl_open_first(SLR_UNSUPPORTED, "SLIPRING_NATS_LIB", places,
                                "install libnats (Debian: libnats3.4), or set SLIPRING_NATS_LIB", &library, &path));
#define FIND(result, name, parameters) nats_api.name = (result(*) parameters)slri_dl_find(library, #name, &missing);
    SLRI_NATS_FUNCTIONS(FIND)
#undef FIND
    slr_status status = slri_dl_all_found(SLR_UNSUPPORTED, path, "libnats that slipring knows", &missing);
    if (status != SLR_OK)
        slri_dl_close(library);
    return status;
}

slr_status slri_nats_api_get(const slri_nats_api **out)
{
    SLRI_TRY(slri_dl_load_once(&nats_once, load_nats));
    *out = &nats_api;
    return SLR_OK;
}
