// SPDX-License-Identifier: Apache-2.0
// The dynamic loader of POSIX.
#include "base/dl.h"

#include "base/status.h"

#include <dlfcn.h>
#include <string.h>

static const char *loader_reason(void)
{
    const char *reason = dlerror();
    return reason ? reason : "the loader gave no reason";
}

slr_status slri_dl_open(const char *path, slri_dl **out)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return SLRI_FAIL(NOT_FOUND, "cannot load %s: %s", path, loader_reason());
    *out = handle;
    return SLR_OK;
}

slr_status slri_dl_function(slri_dl *library, const char *name, slri_function *out)
{
    void *symbol = dlsym(library, name);
    if (!symbol)
        return SLRI_FAIL(NOT_FOUND, "no symbol %s: %s", name, loader_reason());
    // POSIX: both pointers have one representation; ISO C has no conversion between them, so the bytes are copied.
    memcpy(out, &symbol, sizeof *out);
    return SLR_OK;
}

void slri_dl_close(slri_dl *library)
{
    if (library)
        dlclose(library);
}
