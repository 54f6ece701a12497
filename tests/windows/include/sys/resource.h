// SPDX-License-Identifier: Apache-2.0
// Limits of a process, which Windows has not: a case that sets one is skipped.
#ifndef TESTS_WINDOWS_SYS_RESOURCE_H
#define TESTS_WINDOWS_SYS_RESOURCE_H

#include <stdint.h>

typedef uint64_t rlim_t;
struct rlimit {
    rlim_t rlim_cur, rlim_max;
};

enum { RLIMIT_AS, RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_MEMLOCK };
#define RLIM_INFINITY UINT64_MAX
#define SIGXFSZ 1

static inline int getrlimit(int which, struct rlimit *limit)
{
    (void)which;
    limit->rlim_cur = limit->rlim_max = RLIM_INFINITY;
    return 0;
}

#define setrlimit(which, limit) ((void)(which), (void)(limit), posix_fails("setrlimit"))

#endif
