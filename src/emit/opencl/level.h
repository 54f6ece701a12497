// SPDX-License-Identifier: Apache-2.0
// Functions in which only some threads of a block come to a place where OpenCL makes all of them wait. They are written
// level: all threads go the same way, and each has a bool for every branch around that says whether it would be there.
// Threads that would not do the waiting, and what touches nothing that anybody looks at, and no more.
#ifndef SLRI_EMIT_OPENCL_LEVEL_H
#define SLRI_EMIT_OPENCL_LEVEL_H

#include "emit/device/emit_device.h"
#include "ir/uniform.h"

struct slri_opencl_options;

// A branch around what is being written, the innermost first.
struct slri_level_here {
    const struct slri_level_here *outer;
    uint32_t name;                  // 0: slri_on, of the function
    const struct slri_instr *owner; // an IF or a LOOP; NULL: the function
    const struct slri_block *block; // of an IF: which of its two
    bool ends_loop;                 // `continue` leaves it as it is, `break` clears it, and it is the last that it does
    bool comes_back;                // threads that have left it come back to it
};

struct slri_opencl_emitter { // the emitter first
    struct slri_d_emitter e;
    const struct slri_opencl_options *options;
    struct slri_uniform **uniform; // by entry
    bool levels;                   // functions that wait are written level
    bool parts;                    // and threads may have returned from the entry where others wait
    // Of the function being written level:
    const struct slri_level_here *here; // who is there; NULL: all threads
    uint32_t *mentions;                 // of each register
    uint32_t names;                     // given so far
    bool has_result;                    // some return is not its last instruction
    bool masks;                         // a warp's function is being written, whose mask is slri_mask
};

// emit_opencl_free.c
// Whether threads that are not there may have anything in the register: nothing outside of the branch asks for it.
bool slri_opencl_is_free(struct slri_opencl_emitter *o, slri_reg reg);
bool slri_opencl_is_for_all(struct slri_opencl_emitter *o,
                            const struct slri_instr *in); // those who are not here may do it
// Whether all threads, here or not, leave the loop in the same round; `around` holds it.
bool slri_opencl_leave_together(struct slri_opencl_emitter *o, const struct slri_instr *loop,
                                const struct slri_block *around);

// emit_opencl_level.c
void slri_opencl_level_body(struct slri_d_emitter *e);
void slri_opencl_put_here(struct slri_d_emitter *e); // the bool, or `true`

#endif
