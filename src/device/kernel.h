// SPDX-License-Identifier: Apache-2.0
// Kernels, for what launches them.
#ifndef SLRI_DEVICE_KERNEL_H
#define SLRI_DEVICE_KERNEL_H

#include "device/device.h"
#include "lang/text/source.h"
#include "run/count.h"
#include "tune/record.h"

#include <slipring/kernel.h>

struct slr_kernel { // its parameters lie behind it
    slr_program *program;
    const struct slri_entry *entry;
    slr_kernel_info info;
    uint32_t holds;
    const struct slri_tuned_launch
        *declared;     // how its launches follow the source's macros; NULL: the source does not say
    const char *label; // of one that a tuned launch uses: what the profile calls it; else NULL
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

// launch.c: the work of a launch whose shape is settled. `buffer_bytes`: NULL, or the sizes of buffers that are NULL,
// one an argument. `wanted`: NULL for the usual. Errors: those of its arguments.
slr_status slri_launch_count(slr_kernel *kernel, const slr_shape *shape, const slr_arg *args,
                             const uint64_t *buffer_bytes, const struct slri_count_wanted *wanted,
                             struct slri_count *out);

// shape.c: what was not said is chosen: blocks and threads a block. `none`: there is nothing to launch. Without `asks`
// nothing is compiled for that (suggest.h).
slr_status slri_shape_settle(slr_kernel *kernel, slr_shape *shape, bool *none);
slr_status slri_shape_settle_by(slr_kernel *kernel, slr_shape *shape, bool asks, bool *none);

// tuned.c: what was tuned, for launches.
//
// One choice for a kernel and the threads of a launch. It is there as long as its program.
struct slri_choice {
    struct slri_choice *next;
    const struct slri_entry *entry; // of the program whose choice this is
    slr_kernel *kernel;             // that is launched in its place; NULL: the default
    struct slri_tuned_record record;
};

// What a program keeps of its source, and finds in the cache folder. After the module is made.
slr_status slri_tuned_begin(slr_program *program, const struct slri_source *source, const slr_program_desc *desc);
void slri_tuned_end(slr_program *program);
// The choice for a launch of which slipring chooses block and grid, or NULL.
const struct slri_choice *slri_tuned_find(const slr_kernel *kernel, const slr_shape *shape);
// Puts it in place: returns the kernel to launch.
slr_kernel *slri_tuned_settle(slr_kernel *kernel, slr_shape *shape);
// From now on launches use the record.
slr_status slri_tuned_add(slr_program *program, const struct slri_tuned_record *record);
// The program with more macros, as "TILE=16 ROWS=2", and no choices of its own. "": as it is.
slr_status slri_tuned_variant(slr_program *program, const char *defines, slr_program **out);
// The same with guarded kernels (ir/pass/guard.h), compiled quickly.
slr_status slri_tuned_guarded(slr_program *program, const char *defines, slr_program **out);
// The same source for another device, with choices of its own there.
slr_status slri_program_elsewhere(slr_program *program, slr_device *device, slr_program **out);
// Whether its source allows these macros. Errors: those of reading it.
slr_status slri_tuned_is_allowed(slr_program *program, const char *defines, bool *is_allowed);
// What records of this device are for, and the source of this program in hexadecimal digits.
void slri_tuned_place(const slr_device *device, struct slri_tuned_place *out);
// tuned_records.c: copies of the device's records for a source, to slri_free(). Errors: NOT_FOUND (no folder),
// NO_MEMORY.
slr_status slri_tuned_records(slr_device *device, const char *source, struct slri_tuned_record **out, uint32_t *count);
void slri_tuned_source(const slr_program *program, char out[SLRI_HASH_HEX_BYTES]);

// argument.c: the argument as the parameter of the kernel or handler takes it. `room` (8 bytes) receives a number.
slr_status slri_argument_settle(const slr_program *program, const struct slri_entry *entry, uint32_t index,
                                const slr_arg *arg, void *room, struct slri_bound *out);

#endif
