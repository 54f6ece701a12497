// SPDX-License-Identifier: Apache-2.0
// Files that only grow.
#define _GNU_SOURCE
#include "base/append.h"

#include "base/status.h"
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static slr_status refused_append(const char *what, const char *path)
{
    return SLRI_FAIL(SYSTEM, "cannot %s %s: %s", what, path, strerror(errno));
}

slr_status slri_append_open(const char *path, int *fd, uint64_t *bytes)
{
    struct stat about;
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*fd < 0)
        return refused_append("open", path);
    if (fstat(*fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        close(*fd);
        *fd = -1;
        return SLRI_FAIL(SYSTEM, "%s is no plain file", path);
    }
    *bytes = (uint64_t)about.st_size;
    return SLR_OK;
}

// A call may write a part of it: the rest follows.
static int write_parts(int fd, uint64_t at, struct iovec *rest, uint32_t count)
{
    while (count > 0) {
        ssize_t put = pwritev(fd, rest, (int)count, (off_t)at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        at += (uint64_t)put;
        while (count > 0 && (size_t)put >= rest->iov_len) {
            put -= (ssize_t)rest->iov_len;
            rest++;
            count--;
        }
        if (count > 0) {
            rest->iov_base = (char *)rest->iov_base + put;
            rest->iov_len -= (size_t)put;
        }
    }
    return 0;
}

slr_status slri_append_write(int fd, const char *path, uint64_t at, const slri_append_part *parts, uint32_t count)
{
    struct iovec rest[SLRI_APPEND_PARTS];
    for (uint32_t i = 0; i < count; ++i) {
        rest[i].iov_base = (void *)(uintptr_t)parts[i].data; // only read
        rest[i].iov_len = parts[i].bytes;
    }
    if (write_parts(fd, at, rest, count) == 0)
        return SLR_OK;
    int why = errno;
    (void)!ftruncate(fd, (off_t)at); // what stays is found as a torn end when the file is read
    errno = why;
    return refused_append("write", path);
}

slr_status slri_append_cut(int fd, const char *path, uint64_t bytes)
{
    return ftruncate(fd, (off_t)bytes) == 0 ? SLR_OK : refused_append("cut", path);
}

slr_status slri_append_sync(int fd, const char *path)
{
    return slri_system_sync(fd) == 0 ? SLR_OK : refused_append("sync", path);
}

slr_status slri_append_sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return refused_append("open", path);
    // A file system that cannot do it has no more to give.
    slr_status status = fsync(fd) == 0 || errno == EINVAL ? SLR_OK : refused_append("sync", path);
    close(fd);
    return status;
}

void slri_append_close(int fd)
{
    if (fd >= 0)
        close(fd);
}
