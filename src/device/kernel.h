// SPDX-License-Identifier: Apache-2.0
// Kernels, for what launches them.
#ifndef SLRI_DEVICE_KERNEL_H
#define SLRI_DEVICE_KERNEL_H

#include "device/device.h"

#include <slipring/kernel.h>

struct slr_kernel { // its parameters lie behind it
    slr_program *program;
    const struct slri_entry *entry;
    slr_kernel_info info;
    uint32_t holds;
    // suggest.c's, atomic, for each range of sizes: shared memory, and the block for it in the lower half; 0: none yet.
    uint64_t chosen[5];
    struct slri_row *row; // observe's; atomic: NULL until it is first counted
};

void slri_kernel_hold(slr_kernel *kernel);
void slri_kernel_release(slr_kernel *kernel);

// program.c's, one a binding; layouts of outlets, which kernels have not, go to the region.
slr_status slri_describe_bindings(struct slri_region *region, const struct slri_entry *entry, slr_parameter *out);

void slri_prefetch_free(slr_program *program); // prefetch.c: its streams; what they still do is done

// reflection.c: what the source holds.
slr_status slri_describe_functions(slr_program *program);

// shape.c: what was not said is chosen: blocks and threads a block. `none`: there is nothing to launch. Without `asks`
// nothing is compiled for that (suggest.h).
slr_status slri_shape_settle(slr_kernel *kernel, slr_shape *shape, bool *none);
slr_status slri_shape_settle_by(slr_kernel *kernel, slr_shape *shape, bool asks, bool *none);

// argument.c: the argument as the parameter of the kernel or handler takes it. `room` (8 bytes) receives a number.
slr_status slri_argument_settle(const slr_program *program, const struct slri_entry *entry, uint32_t index,
                                const slr_arg *arg, void *room, struct slri_bound *out);

#endif
