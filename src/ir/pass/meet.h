// SPDX-License-Identifier: Apache-2.0
// Makes all threads of a block come to each place where they wait, for targets whose compilers must see that they do:
// WGSL. A thread that is elsewhere, or has returned, comes along and does nothing: what only some do stands in an IF of
// a register that says who is here, and a jump clears such registers. A loop goes on while any thread would.
//
// A compiler sees that a branch is the same for all threads where it depends on values of the launch, on the block's
// place and on what a BARRIER gives. Where it is so and cannot be seen, a BARRIER gives it.
//
// level.h makes a new kernel for targets that only need all threads to come. This changes a module in place, for
// compilers that refuse what they do not see, and leaves as it is what they see.
#ifndef SLRI_IR_PASS_MEET_H
#define SLRI_IR_PASS_MEET_H

#include "ir/ir.h"

// Changes the functions of a module with one entry, a kernel, that owns them all (words.h), where one of them waits in
// a flow of which a compiler cannot see that all threads come there. `language` is for messages.
// Errors: UNSUPPORTED (a barrier that not all threads of the block reach, or a wait in a switch that they do not take
// together; with the place), NO_MEMORY.
slr_status slri_meet_kernel(struct slri_module *module, const char *language);

#endif
