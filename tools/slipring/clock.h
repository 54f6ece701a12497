// SPDX-License-Identifier: Apache-2.0
/// Time for the tools: the clock of slr_reply.sent_ns.
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

#define SECOND_NS 1000000000ull

static inline uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

#endif
