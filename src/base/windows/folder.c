// SPDX-License-Identifier: Apache-2.0
// Folders of Windows whose files are run, and the way there. Windows has no call to open a name below an open folder:
// each call takes the whole path, which nobody else can change once the way has been checked.
#define WIN32_LEAN_AND_MEAN
#include "base/folder.h"

#include "base/environment.h"
#include "base/file.h"
#include "base/status.h"
#include "base/windows/error.h"
#include "base/windows/handle.h"
#include "base/windows/rights.h"

#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <windows.h>

struct slri_folder {
    char *path;
};

// ---- the way there -------------------------------------------------------------------------------------------------

static slr_status check_on_the_way(const char *path)
{
    char words[SLRI_WINDOWS_WORDS];
    switch (slri_windows_owner(path, SLRI_WINDOWS_RENAME)) {
    case SLRI_WINDOWS_OURS:
        return SLR_OK;
    case SLRI_WINDOWS_OTHERS:
        return SLRI_FAIL(SYSTEM, "%s belongs to another user, who could replace the folder", path);
    case SLRI_WINDOWS_WRITABLE:
        return SLRI_FAIL(
            SYSTEM, "other users may rename files in %s: take that right away (icacls), or use another folder", path);
    case SLRI_WINDOWS_UNKNOWN:
        break;
    }
    return SLRI_FAIL(SYSTEM, "cannot inspect the folder %s: %s", path, slri_windows_words(words));
}

static slr_status check_itself(const char *path)
{
    char words[SLRI_WINDOWS_WORDS];
    switch (slri_windows_owner(path, SLRI_WINDOWS_CHANGE)) {
    case SLRI_WINDOWS_OURS:
        return SLR_OK;
    case SLRI_WINDOWS_OTHERS:
        return SLRI_FAIL(SYSTEM, "the folder %s belongs to another user", path);
    case SLRI_WINDOWS_WRITABLE:
        return SLRI_FAIL(SYSTEM, "other users can write to the folder %s: take that right away (icacls)", path);
    case SLRI_WINDOWS_UNKNOWN:
        break;
    }
    return SLRI_FAIL(SYSTEM, "the folder %s cannot be read: %s", path, slri_windows_words(words));
}

// Made where it is missing. A link (a reparse point) would lead elsewhere.
static slr_status enter(const char *path, bool is_last)
{
    char words[SLRI_WINDOWS_WORDS];
    if (!slri_windows_make_private(path) && GetLastError() != ERROR_ALREADY_EXISTS && !slri_file_is_there(path))
        return SLRI_FAIL(SYSTEM, "cannot make the folder %s: %s", path, slri_windows_words(words));
    const DWORD about = GetFileAttributesA(path);
    if (about == INVALID_FILE_ATTRIBUTES)
        return SLRI_FAIL(SYSTEM, "cannot inspect the folder %s: %s", path, slri_windows_words(words));
    if ((about & FILE_ATTRIBUTE_DIRECTORY) == 0)
        return SLRI_FAIL(SYSTEM, "%s is a file, not a folder", path);
    if (about & FILE_ATTRIBUTE_REPARSE_POINT)
        return SLRI_FAIL(SYSTEM, "%s is a link: name the folder that it leads to", path);
    return is_last ? check_itself(path) : check_on_the_way(path);
}

// Where the names begin behind "C:/" or "//server/share/"; 0: it is a root itself.
static size_t behind_root(const char *path)
{
    if (path[0] && path[1] == ':')
        return path[2] == '/' && path[3] ? 3 : 0;
    const char *share = path[0] == '/' && path[1] == '/' ? strchr(path + 2, '/') : NULL;
    const char *names = share ? strchr(share + 1, '/') : NULL;
    return names && names[1] ? (size_t)(names - path) + 1 : 0;
}

static slr_status walk_there(char *path)
{
    size_t at = behind_root(path);
    if (at == 0)
        return SLRI_FAIL(SYSTEM, "%s cannot be used as the folder: it is a root", path);
    const char first = path[at];
    path[at] = '\0';
    slr_status status = check_on_the_way(path);
    path[at] = first;
    while (status == SLR_OK && path[at]) {
        size_t end = at + strcspn(path + at, "/");
        const char after = path[end];
        path[end] = '\0';
        status = enter(path, after == '\0');
        path[end] = after;
        at = end + (after != '\0');
    }
    return status;
}

slr_status slri_folder_open(const char *path, slri_folder **out)
{
    slri_folder *folder = malloc(sizeof *folder);
    char *full = folder ? slri_windows_full(path) : NULL;
    if (!full) {
        free(folder);
        return SLRI_FAIL(NO_MEMORY, "no memory to open %s", path);
    }
    slr_status status = walk_there(full);
    if (status != SLR_OK) {
        free(full);
        free(folder);
        return status;
    }
    folder->path = full;
    *out = folder;
    return SLR_OK;
}

// Whether it can be written to is seen when that is tried.
slr_status slri_folder_open_to_read(const char *path, slri_folder **out)
{
    return slri_folder_open(path, out);
}

slr_status slri_folder_open_private(slri_folder **out)
{
    char system[MAX_PATH + 1], *path;
    const char *parent = slri_environment("TMPDIR");
    if (!parent || !*parent) {
        if (GetTempPathA(sizeof system, system) == 0)
            return slri_windows_refused("find", "a folder for temporary files");
        parent = system;
    }
    if (!slri_file_is_there(parent)) // walking would make it
        return SLRI_FAIL(SYSTEM, "no folder for temporary files, %s", parent);
    SLRI_TRY(slri_file_temporary_name(parent, "", &path));
    slr_status status = slri_folder_open(path, out);
    free(path);
    return status;
}

void slri_folder_close(slri_folder *folder)
{
    if (!folder)
        return;
    free(folder->path);
    free(folder);
}

const char *slri_folder_path(const slri_folder *folder)
{
    return folder->path;
}

// ---- files ---------------------------------------------------------------------------------------------------------

// The path of a file in it. NULL: no memory.
static char *path_of(const slri_folder *folder, const char *name)
{
    size_t bytes = strlen(folder->path) + strlen(name) + 2;
    char *path = malloc(bytes);
    if (path)
        snprintf(path, bytes, "%s/%s", folder->path, name);
    return path;
}

static slr_status no_memory(void)
{
    return SLRI_FAIL(NO_MEMORY, "no memory for a path");
}

static slr_status read_checked(const char *path, size_t limit_bytes, bool is_use, char **content, size_t *bytes)
{
    FILETIME now;
    if (!slri_file_is_there(path))
        return slri_windows_refused("read", path);
    if (GetFileAttributesA(path) & FILE_ATTRIBUTE_REPARSE_POINT)
        return SLRI_FAIL(NOT_FOUND, "%s is not used: it is a link", path);
    if (slri_windows_owner(path, SLRI_WINDOWS_CHANGE) != SLRI_WINDOWS_OURS)
        return SLRI_FAIL(NOT_FOUND, "%s is not used: other users may have written it", path);
    SLRI_TRY(slri_file_read(path, limit_bytes, content, bytes));
    HANDLE file = is_use
                      ? CreateFileA(path, FILE_WRITE_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                    NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL)
                      : INVALID_HANDLE_VALUE;
    if (file == INVALID_HANDLE_VALUE)
        return SLR_OK; // it only looks older than it is
    GetSystemTimeAsFileTime(&now);
    SetFileTime(file, NULL, &now, NULL);
    CloseHandle(file);
    return SLR_OK;
}

slr_status slri_folder_read(const slri_folder *folder, const char *name, size_t limit_bytes, bool is_use,
                            char **content, size_t *bytes)
{
    char *path = path_of(folder, name);
    slr_status status = path ? read_checked(path, limit_bytes, is_use, content, bytes) : no_memory();
    free(path);
    return status;
}

slr_status slri_folder_write(const slri_folder *folder, const char *name, const void *content, size_t bytes)
{
    char *path = path_of(folder, name);
    slr_status status = path ? slri_file_write_atomic(path, content, bytes) : no_memory();
    free(path);
    return status;
}

slr_status slri_folder_delete(const slri_folder *folder, const char *name)
{
    char *path = path_of(folder, name);
    slr_status status = path ? slri_file_remove(path) : no_memory();
    free(path);
    return status;
}

// ---- what is in it -------------------------------------------------------------------------------------------------

static uint64_t seconds_since(int64_t then_ns)
{
    int64_t passed = (int64_t)time(NULL) - then_ns / 1000000000;
    return passed > 0 ? (uint64_t)passed : 0;
}

static void visit_one(const slri_folder *folder, const WIN32_FIND_DATAA *found,
                      void (*visit)(void *user, const slri_folder_item *item), void *user)
{
    char *path = path_of(folder, found->cFileName);
    if (!path || found->dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT)) {
        free(path);
        return;
    }
    const int64_t read_ns =
        slri_windows_time_ns(found->ftLastAccessTime.dwHighDateTime, found->ftLastAccessTime.dwLowDateTime);
    const int64_t written_ns =
        slri_windows_time_ns(found->ftLastWriteTime.dwHighDateTime, found->ftLastWriteTime.dwLowDateTime);
    const int64_t used_ns = read_ns > written_ns ? read_ns : written_ns;
    slri_folder_item item = {.name = found->cFileName,
                             .bytes = (uint64_t)found->nFileSizeHigh << 32 | found->nFileSizeLow,
                             .age_s = seconds_since(written_ns),
                             .unused_s = seconds_since(used_ns),
                             .used_ns = used_ns,
                             .is_ours = slri_windows_owner(path, SLRI_WINDOWS_CHANGE) == SLRI_WINDOWS_OURS};
    item.is_left_behind = slri_file_is_left_behind(item.name, item.age_s);
    free(path);
    visit(user, &item);
}

slr_status slri_folder_list(const slri_folder *folder, void (*visit)(void *user, const slri_folder_item *item),
                            void *user)
{
    WIN32_FIND_DATAA found;
    char *all = path_of(folder, "*");
    if (!all)
        return no_memory();
    HANDLE search = FindFirstFileA(all, &found);
    free(all);
    if (search == INVALID_HANDLE_VALUE)
        return slri_windows_refused("list", folder->path);
    do
        visit_one(folder, &found, visit, user);
    while (FindNextFileA(search, &found));
    FindClose(search);
    return SLR_OK;
}

static void delete_it(void *user, const slri_folder_item *item)
{
    (void)slri_folder_delete(user, item->name);
}

void slri_folder_discard(slri_folder *folder)
{
    if (!folder)
        return;
    (void)slri_folder_list(folder, delete_it, folder);
    (void)RemoveDirectoryA(folder->path);
    slri_folder_close(folder);
}
