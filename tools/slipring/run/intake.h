// SPDX-License-Identifier: Apache-2.0
/// Bytes on their way in: the caller puts them in, a reader of some format takes them out where they lie.
#ifndef INTAKE_H
#define INTAKE_H

#include <stdbool.h>
#include <stddef.h>

enum { INTAKE_MAX = 1 << 26 }; // bytes of one record without its line end; a longer one is damage, or another format

typedef struct intake {
    char *buffer;                // one byte more than its capacity, for a NUL
    size_t capacity, begin, end; // what was put in and not taken lies between
    bool finished;
    bool marked; // a byte order mark was looked for
} intake;

void intake_open(intake *intake);
void intake_close(intake *intake);

/// Whether what was put in and not taken is too long for one record, whose end is not among it: at most a CR is.
static inline bool intake_overflows(const intake *intake)
{
    return intake->end - intake->begin > (size_t)INTAKE_MAX + 1;
}

/// Where bytes can be put: `*bytes` of them, at least 1. NULL where intake_overflows.
char *intake_space(intake *intake, size_t *bytes);

/// So many have been put there; 0: there are no more.
void intake_put(intake *intake, size_t bytes);

/// Takes a UTF-8 byte order mark away, where one lies in front of all. To be asked before the first record is taken.
void intake_skip_mark(intake *intake);

#endif
