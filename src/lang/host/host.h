// SPDX-License-Identifier: Apache-2.0
// What a file's host code says of its kernels' launches: `kernel<<<grid, block>>>(a, n)`, with what its tokens alone
// tell. It is for `kernel check`, which would have to make shapes and sizes up. Host code is not parsed: expressions of
// literals, of variables that were given such expressions, and of functions that only return one are computed; of all
// else nothing is said.
#ifndef SLRI_LANG_HOST_HOST_H
#define SLRI_LANG_HOST_HOST_H

#include "ir/ir.h"

struct slri_unit;

// A launch larger than this is read again with its sizes halved, until it fits: those local variables that the grid
// is computed from, and with them whatever follows from these.
#define SLRI_HOST_THREADS UINT64_C(32768)
#define SLRI_HOST_BYTES (UINT64_C(64) << 20)

struct slri_host_number {
    bool is_known, is_real;
    int64_t whole;
    double real;
};

struct slri_host_argument {
    struct slri_host_number number;
    uint64_t bytes; // that the host allocates for the pointer; 0: that could not be read
};

struct slri_host_launch {
    const char *kernel, *text; // "scale<<<(n + 255) / 256, 256>>>(x, n)"
    struct slri_where where;
    uint32_t grid[3], block[3]; // all 0: could not be read
    struct slri_host_number shared_bytes;
    struct slri_host_argument *argument;
    uint32_t arguments;
    uint32_t halvings; // of sizes; 0: as they are written
};

// Puts the launches of the module's kernels into `module->launch`. The unit has been parsed and lowered.
void slri_host_read(struct slri_unit *unit, struct slri_module *module);

#endif
