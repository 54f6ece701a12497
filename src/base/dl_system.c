// SPDX-License-Identifier: Apache-2.0
// The dynamic loader of POSIX.
#define _GNU_SOURCE // dladdr
#include "base/dl.h"

#include "base/status.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

// The loader has the program's name as it was called: that need not be a path.
static bool find_path(const char *named, char *path, size_t bytes)
{
    char whole[PATH_MAX];
    if (!realpath(named, whole)) {
        ssize_t length = readlink("/proc/self/exe", whole, sizeof whole - 1);
        if (length <= 0)
            return false;
        whole[length] = '\0';
    }
    return snprintf(path, bytes, "%s", whole) < (int)bytes;
}

bool slri_dl_find_place(const void *address, char *path, size_t bytes, uint64_t *offset)
{
    Dl_info found;
    if (dladdr(address, &found) == 0 || !found.dli_fname || !found.dli_fbase)
        return false;
    *offset = (uint64_t)((const char *)address - (const char *)found.dli_fbase);
    return find_path(found.dli_fname, path, bytes);
}
