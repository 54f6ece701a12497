// SPDX-License-Identifier: Apache-2.0
/// The memory that this process has, as the system counts it.
#ifndef BENCH_PAGES_H
#define BENCH_PAGES_H

#include <stdint.h>

typedef struct pages_seen {
    uint64_t before, most; // pages
} pages_seen;

void pages_begin(pages_seen *seen);
void pages_look(pages_seen *seen);

/// What it had more, at most, at any look.
double pages_most_mib(const pages_seen *seen);

#endif
