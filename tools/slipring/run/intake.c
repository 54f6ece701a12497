// SPDX-License-Identifier: Apache-2.0
// One buffer that grows while a record does not fit.
#include "run/intake.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 1 << 18 };

void intake_open(intake *intake)
{
    *intake = (struct intake){.capacity = FIRST_CAPACITY};
    intake->buffer = memory_take(intake->capacity + 1, 1);
}

void intake_close(intake *intake)
{
    free(intake->buffer);
}

char *intake_space(intake *intake, size_t *bytes)
{
    size_t kept = intake->end - intake->begin;
    if (intake_overflows(intake))
        return NULL;
    memmove(intake->buffer, intake->buffer + intake->begin, kept);
    intake->begin = 0;
    intake->end = kept;
    if (kept > intake->capacity / 2) {
        intake->capacity *= 2;
        intake->buffer = memory_grow(intake->buffer, intake->capacity + 1, 1);
    }
    *bytes = intake->capacity - kept;
    return intake->buffer + kept;
}

void intake_put(intake *intake, size_t bytes)
{
    intake->end += bytes;
    intake->finished = bytes == 0;
}

void intake_skip_mark(intake *intake)
{
    if (intake->marked || intake->end - intake->begin < 3)
        return;
    intake->marked = true; // once: a second one is text, however the bytes arrive
    if (memcmp(intake->buffer + intake->begin, "\xEF\xBB\xBF", 3) == 0)
        intake->begin += 3;
}
