// SPDX-License-Identifier: Apache-2.0
#include "line.h"

#include "memory.h"

#include <string.h>

long line_read(char **line, size_t *room, FILE *from)
{
    size_t length = 0;
    for (;;) {
        if (*room - length < 2)
            *line = memory_grow(*line, *room = 2 * *room + 256, 1);
        if (fgets(*line + length, (int)(*room - length), from) == NULL)
            return length != 0 ? (long)length : -1;
        length += strlen(*line + length);
        if (length != 0 && (*line)[length - 1] == '\n')
            return (long)length;
    }
}
