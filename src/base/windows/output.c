// SPDX-License-Identifier: Apache-2.0
// Files that a user names. A path may be a device, a pipe or a link, and must still be one afterwards. Windows has no
// write that gives up after a time: a pipe's reader that takes nothing more is waited for.
#define WIN32_LEAN_AND_MEAN
#include "base/output.h"

#include "base/file.h"
#include "base/status.h"
#include "base/windows/error.h"
#include "base/windows/handle.h"

#include <io.h>
#include <windows.h>

static slr_status write_in_place(const char *path, const void *content, size_t bytes)
{
    int fd = slri_windows_open(path, SLRI_WINDOWS_EMPTY);
    if (fd < 0)
        return slri_windows_refused("write", path);
    slr_status status = slri_file_write_open(fd, path, content, bytes);
    if (_close(fd) != 0 && status == SLR_OK)
        status = SLRI_FAIL(SYSTEM, "cannot write %s to its end", path);
    return status;
}

// Only a plain file with one name loses nothing when another takes its place.
static bool may_be_replaced(const char *path)
{
    BY_HANDLE_FILE_INFORMATION about;
    HANDLE file = CreateFileA(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                              FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return GetLastError() == ERROR_FILE_NOT_FOUND;
    const bool fine = GetFileType(file) == FILE_TYPE_DISK && GetFileInformationByHandle(file, &about) &&
                      (about.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT)) == 0 &&
                      about.nNumberOfLinks == 1;
    CloseHandle(file);
    return fine;
}

slr_status slri_output_write(const char *path, const void *content, size_t bytes)
{
    return may_be_replaced(path) ? slri_file_write_atomic(path, content, bytes) : write_in_place(path, content, bytes);
}

slr_status slri_output_stream(const char *path, FILE **out)
{
    int fd = slri_windows_open(path, SLRI_WINDOWS_EMPTY);
    if (fd < 0)
        return slri_windows_refused("write", path);
    *out = _fdopen(fd, "wb");
    if (*out)
        return SLR_OK;
    _close(fd);
    return SLRI_FAIL(SYSTEM, "cannot write %s: no memory for a stream", path);
}
