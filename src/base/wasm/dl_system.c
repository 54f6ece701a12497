// SPDX-License-Identifier: Apache-2.0
// A page loads no libraries of the system.
#include "base/dl.h"

#include "base/status.h"

slr_status slri_dl_open(const char *path, slri_dl **out)
{
    (void)out;
    return SLRI_FAIL(NOT_FOUND, "cannot load %s: a page has no libraries of the system", path);
}

slr_status slri_dl_function(slri_dl *library, const char *name, slri_function *out)
{
    (void)library, (void)out;
    return SLRI_FAIL(NOT_FOUND, "no symbol %s: a page has no libraries of the system", name);
}

bool slri_dl_find_place(const void *address, char *path, size_t bytes, uint64_t *offset) // code has no address there
{
    (void)address, (void)path, (void)bytes, (void)offset;
    return false;
}

void slri_dl_close(slri_dl *library)
{
    (void)library;
}
