// SPDX-License-Identifier: Apache-2.0
/// The lines of the program that called slipring, each with what came of its calls.
#ifndef HOST_LINES_H
#define HOST_LINES_H

#include <slipring/slipring.h>

#include <stddef.h>

typedef struct host_line {
    char *file;    // a source, or machine code without lines
    uint32_t line; // 0: none is known, and `offset` is its place
    uint64_t offset;
    uint64_t launches, kernels_ns;
    uint64_t copies, copied_bytes, copies_ns; // fills, too
    uint64_t waits, waits_ns;
    uint64_t allocations, allocated_bytes;
} host_line;

typedef struct host_lines {
    host_line *lines; // by falling time
    size_t count;
} host_lines;

void host_lines_make(const slr_profile_row *rows, size_t count, host_lines *out);
void host_lines_free(host_lines *of);

/// The time of a line: of its kernels, copies and waits.
uint64_t host_line_ns(const host_line *line);

/// The source of a place in machine code. `file` has room for `bytes`. 0: none is known, and `file` stays.
uint32_t host_lines_find(uint64_t offset, char *file, size_t bytes);

#endif
