// SPDX-License-Identifier: Apache-2.0
// What tests use of POSIX and mingw-w64 lacks, by what Windows has instead. Included before each test's own headers.
#ifndef TESTS_WINDOWS_POSIX_H
#define TESTS_WINDOWS_POSIX_H

#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utime.h>
#include <time.h>
#include <unistd.h>

static inline int setenv(const char *name, const char *value, int replace)
{
    return replace || !getenv(name) ? _putenv_s(name, value) : 0;
}

static inline int unsetenv(const char *name)
{
    return _putenv_s(name, "");
}

// Everybody may rename what is in /tmp, so slipring uses no cache folder there: on drive C instead.
static inline char *mkdtemp(char *path)
{
    if (strncmp(path, "/tmp/", 5) == 0) {
        memmove(path + 3, path + 5, strlen(path + 5) + 1);
        memcpy(path, "C:/", 3);
    }
    return _mktemp(path) && _mkdir(path) == 0 ? path : NULL;
}

static inline char *posix_backslashes(char *path)
{
    for (char *at = path; *at; ++at)
        *at = *at == '/' ? '\\' : *at;
    return path;
}

// `rm -rf FOLDER`, and a copy behind it, are all that the tests which are built here ask the shell for.
static inline int posix_system(const char *command)
{
    char folder[256], from[256], line[900];
    if (sscanf(command, "rm -rf '%255[^']' && cp -rp '%255[^']'", folder, from) == 2) {
        posix_backslashes(folder);
        snprintf(line, sizeof line, "(if exist \"%s\" rmdir /s /q \"%s\") & xcopy /e /i /q \"%s\" \"%s\" > nul", folder,
                 folder, posix_backslashes(from), folder);
        return system(line);
    }
    if (sscanf(command, "rm -rf '%255[^']'", folder) != 1 && sscanf(command, "rm -rf %255[^ ']", folder) != 1)
        return -1;
    snprintf(line, sizeof line, "rmdir /s /q \"%s\"", posix_backslashes(folder));
    return system(line);
}
#define system(command) posix_system(command)

// A folder's mode is its parent's there.
#define mkdir(path, mode) ((void)(mode), _mkdir(path))

// Whole seconds of a file's times, the second of which is when it was written.
#define AT_FDCWD (-100)
static inline int utimensat(int folder, const char *path, const struct timespec *times, int flags)
{
    struct _utimbuf both = {times[0].tv_sec, times[1].tv_sec};
    (void)folder, (void)flags;
    return _utime(path, &both);
}

static inline long long pread(int file, void *bytes, size_t n, long long at)
{
    return _lseeki64(file, at, SEEK_SET) == at ? read(file, bytes, (unsigned)n) : -1;
}

static inline long long pwrite(int file, const void *bytes, size_t n, long long at)
{
    return _lseeki64(file, at, SEEK_SET) == at ? write(file, bytes, (unsigned)n) : -1;
}

static inline int geteuid(void)
{
    return 0; // who may chown(), which is skipped
}

// What Windows has not: a case that calls it is skipped, and says so. A mode that is for one user alone is no change.
static inline int posix_no_pipe(int *ends)
{
    ends[0] = ends[1] = -1;
    return -1;
}

static inline int posix_result(int has_failed)
{
    return has_failed ? -1 : 0;
}

#define posix_lacks(name) (printf("skipped: Windows has no %s()\n", name), skip())
#define posix_fails(name) posix_result((posix_lacks(name), 1))
#define fork() posix_fails("fork")
#define symlink(to, at) ((void)(to), (void)(at), posix_fails("symlink"))
#define pause() posix_lacks("pause")
#define pipe(ends) (posix_lacks("pipe"), posix_no_pipe(ends))
#define chmod(path, mode) posix_result(((mode)&077) != 0 && (posix_lacks("chmod"), (void)(path), 1))
#define chown(path, user, group) ((void)(path), posix_fails("chown"))
#define lchown(path, user, group) ((void)(path), posix_fails("lchown"))
#define mkfifo(path, mode) ((void)(path), posix_fails("mkfifo"))
#define setuid(user) posix_fails("setuid")
#define lstat stat
#define S_ISLNK(mode) ((void)(mode), 0)

#endif
