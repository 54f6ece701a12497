// SPDX-License-Identifier: Apache-2.0
/// Whether this process is the one that made an object, or a child by fork(), which has none of its threads. A look
/// costs a load.
#ifndef SLRI_BASE_FORKS_H
#define SLRI_BASE_FORKS_H

#include <stdbool.h>
#include <stdint.h>

/// How many calls of fork() lie between this process and the one that called slri_forks_count first. Written by the
/// child alone, before fork() returns there.
extern uint32_t slri_forks;

/// Counts from now on. The number of now, which an object notes. Threads: any.
uint32_t slri_forks_count(void);

/// Whether this process is a child of the one that noted the number.
static inline bool slri_has_forked(uint32_t noted)
{
    return __builtin_expect(__atomic_load_n(&slri_forks, __ATOMIC_RELAXED) != noted, 0);
}

#endif
