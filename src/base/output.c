// SPDX-License-Identifier: Apache-2.0
// Files that a user names. A path may be a device, a pipe or a link, and must still be one afterwards.
#define _GNU_SOURCE
#include "base/output.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static slr_status refused_output(const char *path)
{
    return slri_fail(errno == ENOENT ? SLR_NOT_FOUND : SLR_SYSTEM, "cannot write %s: %s", path, strerror(errno));
}

#define READER_LIMIT_NS 10000000000u // of a pipe that takes nothing more

// Writes to what may be a pipe or a terminal: a reader that stops must not stop us for ever.
static slr_status write_pieces(int fd, const char *path, const char *content, size_t bytes)
{
    const uint64_t deadline_ns = slri_deadline_after(READER_LIMIT_NS);
    while (bytes) {
        ssize_t put = write(fd, content, bytes);
        if (put > 0) {
            content += put;
            bytes -= (size_t)put;
        } else if (put < 0 && errno != EINTR && errno != EAGAIN) {
            return refused_output(path);
        } else if (slri_passed(deadline_ns)) {
            return SLRI_FAIL(TIMEOUT, "%s accepted no data for 10 s: is there a reader?", path);
        } else if (put < 0 && errno == EAGAIN) {
            struct pollfd waited = {.fd = fd, .events = POLLOUT};
            poll(&waited, 1, 100);
        }
    }
    return SLR_OK;
}

// A pipe whose reader has gone sends SIGPIPE, which would end the application: held back here, and taken.
static slr_status write_through(int fd, const char *path, const char *content, size_t bytes)
{
    sigset_t pipe, before, pending, sent;
    int taken;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    slr_status status = write_pieces(fd, path, content, bytes);
    sigpending(&sent);
    if (!sigismember(&pending, SIGPIPE) && sigismember(&sent, SIGPIPE)) // else the pending one is the application's
        sigwait(&pipe, &taken);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

// Opens for writing without waiting: a pipe that nobody reads refuses.
static slr_status open_through(const char *path, int flags, int *out)
{
    *out = open(path, O_WRONLY | O_CREAT | O_NOCTTY | O_NONBLOCK | O_CLOEXEC | flags, 0666);
    if (*out >= 0)
        return SLR_OK;
    return errno == ENXIO ? SLRI_FAIL(SYSTEM, "cannot write %s: the pipe or device has no reader", path)
                          : refused_output(path);
}

static slr_status write_in_place(const char *path, const void *content, size_t bytes)
{
    int fd;
    SLRI_TRY(open_through(path, O_TRUNC, &fd));
    slr_status status = write_through(fd, path, content, bytes);
    if (close(fd) != 0 && status == SLR_OK)
        status = refused_output(path);
    return status;
}

// Only a plain file of our own, with one name, loses nothing when another takes its place.
static bool may_be_replaced(const char *path)
{
    struct stat about;
    if (lstat(path, &about) != 0)
        return errno == ENOENT;
    return S_ISREG(about.st_mode) && about.st_nlink == 1 && about.st_uid == geteuid();
}

slr_status slri_output_write(const char *path, const void *content, size_t bytes)
{
    return may_be_replaced(path) ? slri_file_write_atomic(path, content, bytes) : write_in_place(path, content, bytes);
}

slr_status slri_output_stream(const char *path, FILE **out)
{
    int fd;
    SLRI_TRY(open_through(path, O_TRUNC, &fd));
    if (fcntl(fd, F_SETFL, 0) == 0 && (*out = fdopen(fd, "w")) != NULL) // from here on it waits for its reader
        return SLR_OK;
    slr_status status = refused_output(path);
    close(fd);
    return status;
}
