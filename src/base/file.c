// SPDX-License-Identifier: Apache-2.0
// Files and folders. Writers may be many processes at once: whatever another may read appears by a rename.
#define _GNU_SOURCE
#include "base/file.h"

#include "base/status.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static slr_status refused_file(const char *what, const char *path)
{
    return slri_fail(errno == ENOENT ? SLR_NOT_FOUND : SLR_SYSTEM, "cannot %s %s: %s", what, path, strerror(errno));
}

// Pipes and /proc do not say their size: so read to the end, whatever it is.
static slr_status read_all(int fd, const char *path, size_t limit_bytes, slri_text *content)
{
    char chunk[16384];
    for (;;) {
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return refused_file("read", path);
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

slr_status slri_file_read(const char *path, size_t limit_bytes, char **content, size_t *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return refused_file("read", path);
    struct stat about;
    slr_status status = fstat(fd, &about) == 0 && S_ISDIR(about.st_mode)
                            ? SLRI_FAIL(INVALID, "%s is a folder, not a file", path)
                            : slri_file_read_open(fd, path, limit_bytes, content, bytes);
    close(fd);
    return status;
}

static int write_all(int fd, const char *content, size_t bytes)
{
    while (bytes) {
        ssize_t put = write(fd, content, bytes);
        if (put < 0 && errno != EINTR)
            return -1;
        if (put > 0) {
            content += put;
            bytes -= (size_t)put;
        }
    }
    return 0;
}

slr_status slri_file_write_open(int fd, const char *name, const void *content, size_t bytes)
{
    return write_all(fd, content, bytes) == 0 ? SLR_OK : refused_file("write", name);
}

// `mode`: of the file that it will replace, or -1.
static slr_status write_new(const char *path, int mode, const void *content, size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode < 0 ? 0666 : 0600);
    if (fd < 0)
        return refused_file("create", path);
    int failed = mode < 0 ? 0 : fchmod(fd, (mode_t)mode);
    failed = failed ? failed : write_all(fd, content, bytes);
    int why = errno;
    if (close(fd) != 0 && !failed) { // a full quota on a network drive shows only here
        failed = 1;
        why = errno;
    }
    if (!failed)
        return SLR_OK;
    unlink(path);
    errno = why;
    return refused_file("write", path);
}

static slr_status folder_of(const char *path, char **folder)
{
    slri_text text = SLRI_TEXT_INIT;
    const char *slash = strrchr(path, '/');
    if (!slash)
        slri_text_puts(&text, ".");
    else
        slri_text_append(&text, path, slash == path ? 1 : (size_t)(slash - path));
    return slri_path_taken(&text, folder);
}

slr_status slri_file_write_atomic(const char *path, const void *content, size_t bytes)
{
    char *folder, *temporary;
    SLRI_TRY(folder_of(path, &folder));
    slr_status status = slri_file_temporary_name(folder, "", &temporary);
    free(folder);
    SLRI_TRY(status);
    struct stat replaced;
    int mode = lstat(path, &replaced) == 0 && S_ISREG(replaced.st_mode) ? (int)(replaced.st_mode & 0777) : -1;
    status = write_new(temporary, mode, content, bytes);
    if (status == SLR_OK) {
        status = slri_file_rename(temporary, path);
        if (status != SLR_OK)
            unlink(temporary);
    }
    free(temporary);
    return status;
}

bool slri_file_is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

bool slri_file_is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

slr_status slri_file_rename(const char *from, const char *to)
{
    if (rename(from, to) != 0)
        return SLRI_FAIL(SYSTEM, "cannot rename %s to %s: %s", from, to, strerror(errno));
    return SLR_OK;
}

slr_status slri_file_remove(const char *path)
{
    return unlink(path) == 0 || errno == ENOENT ? SLR_OK : refused_file("remove", path);
}

slr_status slri_path_canonical(const char *path, char **out)
{
    char *canonical = realpath(path, NULL);
    if (!canonical && errno == ENOTDIR) // a file where the path has a folder: nothing is there
        errno = ENOENT;
    if (!canonical)
        return errno == ENOMEM ? SLRI_FAIL(NO_MEMORY, "no memory for a path") : refused_file("find", path);
    *out = canonical;
    return SLR_OK;
}

bool slri_path_is_absolute(const char *path)
{
    return path[0] == '/';
}

bool slri_file_identify(const char *path, slri_file_identity *out)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return false;
    if (out)
        *out = (slri_file_identity){.bytes = (uint64_t)about.st_size,
                                    .mtime_ns = (int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec,
                                    .inode = (uint64_t)about.st_ino};
    return true;
}
