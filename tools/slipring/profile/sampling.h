// SPDX-License-Identifier: Apache-2.0
/// Where a program's threads are, asked by the system's kernel each millisecond of processor time (Linux's perf
/// events). The program itself is not changed, and no signal is sent.
#ifndef SAMPLING_H
#define SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SAMPLING_PERIOD_US = 1000 };

typedef struct sampling_map { // code of a file in a process
    uint64_t at_ns, address, bytes, offset, inode;
    uint32_t process;
    char *path;
} sampling_map;

typedef struct sampling_sample {
    uint64_t at_ns, address;
    uint32_t process;
} sampling_sample;

typedef struct sampling {
    sampling_map *maps;
    size_t map_count;
    sampling_sample *samples;
    size_t sample_count;
    uint64_t lost;
    char why_not[160]; // "": there are samples
    struct sampling_reader *reader;
} sampling;

/// Before the child runs its program; it begins with that. What is not possible is in why_not.
void sampling_begin(sampling *to, pid_t child);
/// When it has ended. Maps and samples are then in the order of time.
void sampling_end(sampling *to);
void sampling_free(sampling *of);

#endif
