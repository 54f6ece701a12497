// SPDX-License-Identifier: Apache-2.0
// How blocks of a `__global__` kernel are run on the CPU. Plain layout: emitted C repeats it word for word
// (kernel/emit_c_kernel embeds this file).
#ifndef SLRI_ABI_LAUNCH_H
#define SLRI_ABI_LAUNCH_H

#include <stdint.h>

struct slri_bound; // abi/handler.h

// What the threads of a launch print, a record a printf: a word (the format's number, above it how many values), then
// the values' bits, 8 bytes each.
struct slri_printed {
    unsigned char *data;
    uint64_t bytes;
    uint64_t used, lost; // atomic: bytes of records; printfs that found no room
};

struct slri_launch {
    const struct slri_bound *bound; // one a parameter of the kernel
    uint32_t grid[3];               // in blocks; the block's shape is compiled in
    uint32_t dynamic_bytes;         // of `extern __shared__` memory
    // The first fault that a thread met; the others go on. `fault` is an enum slri_fault, changed from 0 by who writes
    // the others: read those when all blocks are done.
    uint32_t fault, fault_file, fault_line, fault_column;
    unsigned char *global;        // the program's variables
    struct slri_printed *printed; // NULL: nobody wants it
};

// Runs blocks first to first + count - 1, in order of x, then y, then z.
typedef void slri_kernel_blocks(struct slri_launch *launch, uint64_t first, uint64_t count);

#endif
