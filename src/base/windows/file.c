// SPDX-License-Identifier: Apache-2.0
// Files and folders of Windows. Names are in the program's code page, as fopen() takes them. Writers may be many
// processes at once: whatever another may read appears by a rename.
#define WIN32_LEAN_AND_MEAN
#include "base/file.h"

#include "base/status.h"
#include "base/windows/error.h"
#include "base/windows/handle.h"

#include <errno.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

static slr_status failed(const char *what, const char *path) // of the C library's functions
{
    return slri_fail(errno == ENOENT ? SLR_NOT_FOUND : SLR_SYSTEM, "cannot %s %s: %s", what, path, strerror(errno));
}

static slr_status read_all(int fd, const char *path, size_t limit_bytes, slri_text *content)
{
    char chunk[16384];
    for (;;) {
        int got = _read(fd, chunk, sizeof chunk);
        if (got < 0)
            return failed("read", path);
        if ((size_t)got > limit_bytes - content->length)
            return SLRI_FAIL(INVALID, "%s is longer than the %zu bytes allowed", path, limit_bytes);
        slri_text_append(content, chunk, (size_t)got);
        if (content->out_of_memory)
            return SLRI_FAIL(NO_MEMORY, "no memory for the %zu bytes of %s and more", content->length, path);
        if (got == 0)
            return SLR_OK;
    }
}

slr_status slri_file_read_open(int fd, const char *name, size_t limit_bytes, char **content, size_t *bytes)
{
    slri_text text = SLRI_TEXT_INIT;
    slr_status status = read_all(fd, name, limit_bytes, &text);
    if (status != SLR_OK) {
        slri_text_free(&text);
        return status;
    }
    if (bytes)
        *bytes = text.length;
    return slri_path_taken(&text, content);
}

static bool is_folder(const char *path)
{
    const DWORD about = GetFileAttributesA(path);
    return about != INVALID_FILE_ATTRIBUTES && (about & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

slr_status slri_file_read(const char *path, size_t limit_bytes, char **content, size_t *bytes)
{
    if (is_folder(path))
        return SLRI_FAIL(INVALID, "%s is a folder, not a file", path);
    int fd = slri_windows_open(path, SLRI_WINDOWS_READ);
    if (fd < 0)
        return slri_windows_refused("read", path);
    slr_status status = slri_file_read_open(fd, path, limit_bytes, content, bytes);
    _close(fd);
    return status;
}

slr_status slri_file_write_open(int fd, const char *name, const void *content, size_t bytes)
{
    const char *rest = content;
    while (bytes) {
        int put = _write(fd, rest, bytes < 1u << 30 ? (unsigned)bytes : 1u << 30);
        if (put < 0)
            return failed("write", name);
        rest += put;
        bytes -= (size_t)put;
    }
    return SLR_OK;
}

static slr_status write_new(const char *path, const void *content, size_t bytes)
{
    int fd = slri_windows_open(path, SLRI_WINDOWS_NEW);
    if (fd < 0)
        return slri_windows_refused("create", path);
    slr_status status = slri_file_write_open(fd, path, content, bytes);
    if (_close(fd) != 0 && status == SLR_OK) // a full quota on a network drive shows only here
        status = failed("write", path);
    if (status != SLR_OK)
        DeleteFileA(path);
    return status;
}

static slr_status folder_of(const char *path, char **folder)
{
    slri_text text = SLRI_TEXT_INIT;
    size_t length = strlen(path);
    while (length > 0 && !strchr("/\\:", path[length - 1]))
        length--;
    slri_text_append(&text, path, length);
    slri_text_puts(&text, "."); // "C:." is the drive's working folder, "C:/." its root
    return slri_path_taken(&text, folder);
}

slr_status slri_file_write_atomic(const char *path, const void *content, size_t bytes)
{
    char *folder, *temporary;
    SLRI_TRY(folder_of(path, &folder));
    slr_status status = slri_file_temporary_name(folder, "", &temporary);
    free(folder);
    SLRI_TRY(status);
    status = write_new(temporary, content, bytes);
    if (status == SLR_OK) {
        status = slri_file_rename(temporary, path);
        if (status != SLR_OK)
            DeleteFileA(temporary);
    }
    free(temporary);
    return status;
}

bool slri_file_is_there(const char *path)
{
    return GetFileAttributesA(path) != INVALID_FILE_ATTRIBUTES;
}

bool slri_file_is_folder(const char *path)
{
    const DWORD about = GetFileAttributesA(path);
    return about != INVALID_FILE_ATTRIBUTES && (about & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

slr_status slri_file_rename(const char *from, const char *to)
{
    char words[SLRI_WINDOWS_WORDS];
    if (!slri_windows_rename(from, to))
        return SLRI_FAIL(SYSTEM, "cannot rename %s to %s: %s", from, to, slri_windows_words(words));
    return SLR_OK;
}

slr_status slri_file_remove(const char *path)
{
    if (DeleteFileA(path) || GetLastError() == ERROR_FILE_NOT_FOUND || GetLastError() == ERROR_PATH_NOT_FOUND)
        return SLR_OK;
    return slri_windows_refused("remove", path);
}

slr_status slri_path_canonical(const char *path, char **out)
{
    char *full = slri_windows_full(path);
    if (full && slri_file_is_there(full)) {
        *out = full;
        return SLR_OK;
    }
    slr_status status = full ? slri_windows_refused("find", path) : SLRI_FAIL(NO_MEMORY, "no memory for a path");
    free(full);
    return status;
}

bool slri_path_is_absolute(const char *path)
{
    const bool has_drive = ((path[0] | 32) >= 'a' && (path[0] | 32) <= 'z') && path[1] == ':';
    return has_drive ? path[2] == '/' || path[2] == '\\' : path[0] == '/' || path[0] == '\\';
}

bool slri_file_identify(const char *path, slri_file_identity *out)
{
    BY_HANDLE_FILE_INFORMATION about;
    HANDLE file = CreateFileA(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                              FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return false;
    const bool fine = GetFileType(file) == FILE_TYPE_DISK && GetFileInformationByHandle(file, &about) &&
                      (about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
    CloseHandle(file);
    if (fine && out)
        *out = (slri_file_identity){
            .bytes = (uint64_t)about.nFileSizeHigh << 32 | about.nFileSizeLow,
            .mtime_ns = slri_windows_time_ns(about.ftLastWriteTime.dwHighDateTime, about.ftLastWriteTime.dwLowDateTime),
            .inode = (uint64_t)about.nFileIndexHigh << 32 | about.nFileIndexLow};
    return fine;
}
