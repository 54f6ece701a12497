// SPDX-License-Identifier: Apache-2.0
// LoadLibrary.
#define WIN32_LEAN_AND_MEAN
#include "base/dl.h"

#include "base/status.h"
#include "base/windows/error.h"

#include <string.h>
#include <windows.h>

slr_status slri_dl_open(const char *path, slri_dl **out)
{
    char words[SLRI_WINDOWS_WORDS];
    // A name alone is looked for where the program is and among the system's, not in the working directory.
    const DWORD places = strpbrk(path, "/\\") ? LOAD_WITH_ALTERED_SEARCH_PATH : LOAD_LIBRARY_SEARCH_DEFAULT_DIRS;
    char native[MAX_PATH];
    size_t length = strlen(path);
    if (length >= sizeof native)
        return SLRI_FAIL(NOT_FOUND, "cannot load %s: the path has more than %d characters", path, MAX_PATH - 1);
    for (size_t i = 0; i <= length; ++i)
        native[i] = path[i] == '/' ? '\\' : path[i];
    HMODULE library = LoadLibraryExA(native, NULL, places);
    if (!library)
        return SLRI_FAIL(NOT_FOUND, "cannot load %s: %s", path, slri_windows_words(words));
    *out = (slri_dl *)(void *)library;
    return SLR_OK;
}

slr_status slri_dl_function(slri_dl *library, const char *name, slri_function *out)
{
    char words[SLRI_WINDOWS_WORDS];
    FARPROC found = GetProcAddress((HMODULE)(void *)library, name);
    if (!found)
        return SLRI_FAIL(NOT_FOUND, "no symbol %s: %s", name, slri_windows_words(words));
    memcpy(out, &found, sizeof *out);
    return SLR_OK;
}

void slri_dl_close(slri_dl *library)
{
    if (library)
        FreeLibrary((HMODULE)(void *)library);
}

bool slri_dl_find_place(const void *address, char *path, size_t bytes, uint64_t *offset)
{
    HMODULE library;
    const DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    if (!GetModuleHandleExA(how, (const char *)address, &library))
        return false;
    *offset = (uint64_t)((const char *)address - (const char *)(void *)library);
    DWORD length = GetModuleFileNameA(library, path, (DWORD)bytes);
    return length != 0 && length < bytes;
}
