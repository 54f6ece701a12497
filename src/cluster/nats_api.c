// SPDX-License-Identifier: Apache-2.0
// Finds libnats and its functions.
#include "cluster/nats_api.h"

#include "base/dl.h"
#include "base/status.h"

#include <stddef.h>

static slri_nats_api nats_api;

static slr_status find_nats(slri_dl *library, const char *path)
{
    slri_text missing = SLRI_TEXT_INIT;
#define FIND(result, name, parameters) nats_api.name = (result(*) parameters)slri_dl_find(library, #name, &missing);
    SLRI_NATS_FUNCTIONS(FIND)
#undef FIND
    return slri_dl_all_found(SLR_UNSUPPORTED, path, "libnats that slipring knows", &missing);
}

slr_status slri_nats_api_get(const slri_nats_api **out)
{
    static struct slri_dl_vendor vendor = {
        .variable = "SLIPRING_NATS_LIB",
        .places = {"libnats.so.3.4", "libnats.so.3.11", "libnats.so.3.10", "libnats.so.3.9", "libnats.so"},
        .hint = "install libnats (Debian: libnats3.4), or set SLIPRING_NATS_LIB",
        .absent = SLR_UNSUPPORTED,
        .start = find_nats,
        .lock = SLRI_MUTEX_INIT};
    SLRI_TRY(slri_dl_load(&vendor));
    *out = &nats_api;
    return SLR_OK;
}
