// SPDX-License-Identifier: Apache-2.0
// What tests use of POSIX and mingw-w64 lacks, by what Windows has instead. Included before each test's own headers.
#ifndef TESTS_WINDOWS_POSIX_H
#define TESTS_WINDOWS_POSIX_H

#include <direct.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int setenv(const char *name, const char *value, int replace)
{
    return replace || !getenv(name) ? _putenv_s(name, value) : 0;
}

static inline int unsetenv(const char *name)
{
    return _putenv_s(name, "");
}

// Everybody may rename what is in /tmp, so slipring uses no cache folder there: on drive C instead, in as many
// characters.
static inline char *mkdtemp(char *path)
{
    if (strncmp(path, "/tmp/", 5) == 0)
        memcpy(path, "C:/./", 5);
    return _mktemp(path) && _mkdir(path) == 0 ? path : NULL;
}

// `rm -rf 'FOLDER'` is all that the tests which are built here ask the shell for.
static inline int posix_system(const char *command)
{
    char folder[512], line[600];
    if (sscanf(command, "rm -rf '%511[^']'", folder) != 1)
        return -1;
    for (char *at = folder; *at; ++at)
        *at = *at == '/' ? '\\' : *at;
    snprintf(line, sizeof line, "rmdir /s /q \"%s\"", folder);
    return system(line);
}
#define system(command) posix_system(command)

// What Windows has not: a case that calls it is skipped, and says so.
static inline int posix_no_pipe(int *ends)
{
    ends[0] = ends[1] = -1;
    return -1;
}

#define posix_lacks(name) (printf("skipped: Windows has no %s()\n", name), skip())
#define fork() (posix_lacks("fork"), -1)
#define symlink(to, at) (posix_lacks("symlink"), (void)(to), (void)(at), -1)
#define pause() posix_lacks("pause")
#define pipe(ends) (posix_lacks("pipe"), posix_no_pipe(ends))
#define lstat stat
#define S_ISLNK(mode) ((void)(mode), 0)

#endif
