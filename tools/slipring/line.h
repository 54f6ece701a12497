// SPDX-License-Identifier: Apache-2.0
/// Lines of a text file.
#ifndef LINE_H
#define LINE_H

#include <stddef.h>
#include <stdio.h>

/// Reads a line with its end into `*line`, which has room for `*room` bytes and grows; both may begin as 0. Its length
/// without the NUL, -1: nothing is left. The caller's to free().
long line_read(char **line, size_t *room, FILE *from);

#endif
