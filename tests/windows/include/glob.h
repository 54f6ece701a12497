// SPDX-License-Identifier: Apache-2.0
// Of POSIX's glob() what tests use: "*" in the parts of a path, and the names found in order.
#ifndef TESTS_WINDOWS_GLOB_H
#define TESTS_WINDOWS_GLOB_H

#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct glob_t {
    size_t gl_pathc;
    char **gl_pathv;
} glob_t;

static inline void glob_add(glob_t *found, const char *path)
{
    char **more = realloc(found->gl_pathv, (found->gl_pathc + 1) * sizeof *more);
    if (!more)
        abort();
    found->gl_pathv = more;
    more[found->gl_pathc++] = _strdup(path);
}

// `before` exists and ends in "/"; `part` is what of the pattern is behind it.
static inline void glob_below(const char *before, const char *part, glob_t *found)
{
    struct _finddata_t entry;
    char path[1024];
    const char *slash = strchr(part, '/');
    snprintf(path, sizeof path, "%s%.*s", before, slash ? (int)(slash - part) : (int)strlen(part), part);
    intptr_t search = _findfirst(path, &entry);
    if (search == -1)
        return;
    do {
        if (entry.name[0] == '.' || (slash && !(entry.attrib & _A_SUBDIR)))
            continue;
        snprintf(path, sizeof path, "%s%s%s", before, entry.name, slash ? "/" : "");
        if (slash)
            glob_below(path, slash + 1, found);
        else
            glob_add(found, path);
    } while (_findnext(search, &entry) == 0);
    _findclose(search);
}

static inline int glob_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline int glob(const char *pattern, int flags, int (*failed)(const char *, int), glob_t *found)
{
    char before[1024];
    const char *star = strchr(pattern, '*'), *part = star ? star : pattern + strlen(pattern);
    (void)flags, (void)failed;
    while (part > pattern && part[-1] != '/')
        --part;
    snprintf(before, sizeof before, "%.*s", (int)(part - pattern), pattern);
    *found = (glob_t){0};
    glob_below(before, part, found);
    qsort(found->gl_pathv, found->gl_pathc, sizeof *found->gl_pathv, glob_compare);
    return found->gl_pathc == 0;
}

static inline void globfree(glob_t *found)
{
    for (size_t i = 0; i < found->gl_pathc; ++i)
        free(found->gl_pathv[i]);
    free(found->gl_pathv);
}

#endif
