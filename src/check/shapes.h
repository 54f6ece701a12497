// SPDX-License-Identifier: Apache-2.0
// Which blocks and grids a kernel is tried with.
#ifndef SLRI_CHECK_SHAPES_H
#define SLRI_CHECK_SHAPES_H

#include "check/launch.h"

struct slri_tried_shape {
    uint32_t grid[3], block[3];
};

enum { SLRI_SHAPES_MAX = 48 };
struct slri_shapes {
    struct slri_tried_shape list[SLRI_SHAPES_MAX];
    uint32_t count;
    uint32_t most; // threads a block
    const slr_check_desc *desc;
};

// How many axes the kernel and what it calls asks for, and of whose place. Errors: NO_MEMORY.
slr_status slri_count_axes(struct slri_plan *plan, int *out);

// What the host launches, or what the kernel's own text says of its block; all of it, or nothing.
void slri_shapes_add_known(struct slri_shapes *all, struct slri_plan *plan, int axes);
// What kernels usually have, and what shared memory suggests.
void slri_shapes_add_usual(struct slri_shapes *all, const struct slri_plan *plan, int axes);

// Along two axes: whether a shape is passed over, because there are better ones.
bool slri_shapes_are_better(const struct slri_shapes *all, const struct slri_tried_shape *than, bool prefers_square);

#endif
