// SPDX-License-Identifier: Apache-2.0
// Files of Windows that only grow.
#define WIN32_LEAN_AND_MEAN
#include "base/append.h"

#include "base/file.h"
#include "base/status.h"
#include "base/windows/error.h"
#include "base/windows/handle.h"

#include <io.h>
#include <windows.h>

slr_status slri_append_open(const char *path, int *fd, uint64_t *bytes)
{
    LARGE_INTEGER length;
    *fd = slri_windows_open(path, SLRI_WINDOWS_EITHER);
    if (*fd < 0)
        return slri_windows_refused("open", path);
    if (GetFileType(slri_windows_handle(*fd)) != FILE_TYPE_DISK || !GetFileSizeEx(slri_windows_handle(*fd), &length)) {
        _close(*fd);
        *fd = -1;
        return SLRI_FAIL(SYSTEM, "%s is no plain file", path);
    }
    *bytes = (uint64_t)length.QuadPart;
    return SLR_OK;
}

static bool write_at(HANDLE file, uint64_t at, const char *data, size_t bytes)
{
    while (bytes > 0) {
        OVERLAPPED place = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
        DWORD put = 0, want = bytes < 1u << 30 ? (DWORD)bytes : 1u << 30;
        if (!WriteFile(file, data, want, &put, &place))
            return false;
        at += put;
        data += put;
        bytes -= put;
    }
    return true;
}

slr_status slri_append_write(int fd, const char *path, uint64_t at, const slri_append_part *parts, uint32_t count)
{
    uint64_t end = at;
    for (uint32_t i = 0; i < count; end += parts[i].bytes, ++i) {
        if (write_at(slri_windows_handle(fd), end, parts[i].data, parts[i].bytes))
            continue;
        slr_status status = slri_windows_refused("write", path);
        (void)_chsize_s(fd, (int64_t)at); // what stays is found as a torn end when the file is read
        return status;
    }
    return SLR_OK;
}

slr_status slri_append_cut(int fd, const char *path, uint64_t bytes)
{
    return _chsize_s(fd, (int64_t)bytes) == 0 ? SLR_OK : slri_windows_refused("cut", path);
}

slr_status slri_append_sync(int fd, const char *path)
{
    return FlushFileBuffers(slri_windows_handle(fd)) ? SLR_OK : slri_windows_refused("sync", path);
}

// NTFS writes changes of names to its journal in order, and gives no call to wait for a folder's.
slr_status slri_append_sync_folder(const char *path)
{
    return slri_file_is_there(path) ? SLR_OK : slri_windows_refused("open", path);
}

void slri_append_close(int fd)
{
    if (fd >= 0)
        _close(fd);
}
