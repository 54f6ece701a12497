// SPDX-License-Identifier: Apache-2.0
#define WIN32_LEAN_AND_MEAN
#include "base/windows/handle.h"

#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <windows.h>

void *slri_windows_handle(int fd)
{
    return (HANDLE)_get_osfhandle(fd);
}

int slri_windows_open(const char *path, enum slri_windows_how how)
{
    static const struct {
        DWORD access, disposition;
    } of[] = {
        [SLRI_WINDOWS_READ] = {GENERIC_READ, OPEN_EXISTING},
        [SLRI_WINDOWS_NEW] = {GENERIC_WRITE, CREATE_NEW},
        [SLRI_WINDOWS_EITHER] = {GENERIC_READ | GENERIC_WRITE, OPEN_ALWAYS},
        [SLRI_WINDOWS_EMPTY] = {GENERIC_WRITE, CREATE_ALWAYS},
    };
    HANDLE handle = CreateFileA(path, of[how].access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                of[how].disposition, FILE_ATTRIBUTE_NORMAL, NULL);
    if (handle == INVALID_HANDLE_VALUE)
        return -1;
    int fd = _open_osfhandle((intptr_t)handle, _O_BINARY | _O_NOINHERIT | (how == SLRI_WINDOWS_READ ? _O_RDONLY : 0));
    if (fd < 0) {
        CloseHandle(handle);
        SetLastError(ERROR_TOO_MANY_OPEN_FILES);
    }
    return fd;
}

bool slri_windows_rename(const char *from, const char *to)
{
    for (int tries = 0;; ++tries) {
        if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING))
            return true;
        const DWORD why = GetLastError();
        if (tries == 100 || (why != ERROR_ACCESS_DENIED && why != ERROR_SHARING_VIOLATION))
            return false;
        Sleep(10); // a search index or a virus scanner looks at it
    }
}

char *slri_windows_full(const char *path)
{
    DWORD needed = GetFullPathNameA(path, 0, NULL, NULL);
    char *full = needed ? malloc(needed) : NULL;
    if (!full || GetFullPathNameA(path, needed, full, NULL) >= needed) {
        free(full);
        return NULL;
    }
    size_t length = 0;
    for (; full[length]; ++length)
        if (full[length] == '\\')
            full[length] = '/';
    if (length > 3 && full[length - 1] == '/')
        full[length - 1] = '\0';
    return full;
}

int64_t slri_windows_time_ns(uint32_t high, uint32_t low)
{
    return ((int64_t)((uint64_t)high << 32 | low) - 116444736000000000) * 100; // since 1601, in units of 100 ns
}
