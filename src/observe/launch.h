// SPDX-License-Identifier: Apache-2.0
// What a launch of a kernel is made of, counted when the like of it is first launched, so that each further one only
// looks it up.
#ifndef SLRI_OBSERVE_LAUNCH_H
#define SLRI_OBSERVE_LAUNCH_H

#include "run/count.h"

struct slri_row;

// Launches of one kernel with the same grid, block, numbers and sizes of buffers. There for ever.
struct slri_launch_count {
    uint64_t key, threads, blocks;
    struct slri_count count;
    struct slri_launch_count *next; // of the row's
};

// At most so many a row: what comes behind is not counted.
#define SLRI_LAUNCH_COUNTS 32u

#endif
