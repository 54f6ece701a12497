// SPDX-License-Identifier: Apache-2.0
/// The source lines in which a program's threads were, by samples.
#ifndef TIMED_LINES_H
#define TIMED_LINES_H

#include "profile/sampling.h"

typedef struct timed_line {
    char *file;
    uint32_t line;
    uint64_t samples;
} timed_line;

typedef struct timed_lines {
    timed_line *lines; // by falling samples
    size_t count;
    uint64_t samples;   // of the process, in all
    uint64_t elsewhere; // of them in code without lines
    uint64_t generated; // of them in code that slipring wrote around kernels and handlers
    uint64_t gone;      // of them in files that are no longer there: a kernel that was compiled in this run
    uint64_t lost;
    char why_not[160]; // "": there are samples
} timed_lines;

/// The lines of one process.
void timed_lines_make(const sampling *from, uint32_t process, timed_lines *out);
void timed_lines_free(timed_lines *of);

#endif
