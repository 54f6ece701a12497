// SPDX-License-Identifier: Apache-2.0
#include "ops/provider.h"

#include "base/lock.h"
#include "base/status.h"

#include <stdio.h>

const slr_provider *slri_ops_library_describe(struct slri_ops_library *library)
{
    static slri_mutex lock = SLRI_MUTEX_INIT;
    slri_mutex_lock(&lock);
    if (!library->was_asked) {
        library->was_asked = true;
        if (slri_dl_load(&library->vendor) != SLR_OK)
            snprintf(library->why_not, sizeof library->why_not, "%s", slr_error_message());
        library->told.why_not = library->why_not;
    }
    slri_mutex_unlock(&lock);
    return &library->told;
}
