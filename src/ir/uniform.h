// SPDX-License-Identifier: Apache-2.0
// Which values and which branches are the same in all threads of a block. Conservative: what is not known to be the
// same is called varying.
//
// A register is uniform when all the threads that are in its home agree on its value, its home being the innermost
// block of the function's tree in which all its mentions lie. So the counter of a loop with fixed bounds is uniform
// also inside `if (i < n)`, where only some of the threads are. Loads at a uniform offset of memory that threads share
// count as uniform: that they give two threads different values is a race. Atomics vary.
#ifndef SLRI_IR_UNIFORM_H
#define SLRI_IR_UNIFORM_H

#include "ir/ir.h"

struct slri_uniform;

// Looks at all that the kernel `entry` reaches; what a function is given is joined over its calls. The result lies in
// `region`. NULL when memory has run out.
struct slri_uniform *slri_uniform_create(const struct slri_module *module, const struct slri_entry *entry,
                                         struct slri_region *region);

bool slri_uniform_register(const struct slri_uniform *u, const struct slri_function *function, slri_reg reg);

// Whether a local of the function has the same bytes in all threads.
bool slri_uniform_local(const struct slri_uniform *u, const struct slri_function *function, uint32_t local);

// Whether instruction `index` of a block of the function's tree is reached by all threads of the thread block that
// still run, or by none: what a BARRIER needs. A thread that has returned from the entry does not count.
bool slri_uniform_flow(const struct slri_uniform *u, const struct slri_function *function,
                       const struct slri_block *block, uint32_t index);

// Whether the threads that reach an IF, LOOP or SWITCH all go the same way, a loop's in each of its iterations.
bool slri_uniform_branch(const struct slri_uniform *u, const struct slri_function *function,
                         const struct slri_instr *branch);

#endif
