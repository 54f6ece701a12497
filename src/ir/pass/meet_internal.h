// SPDX-License-Identifier: Apache-2.0
// What the files of this pass share: meet.c the functions, meet_plain.c what a compiler sees.
#ifndef SLRI_IR_PASS_MEET_INTERNAL_H
#define SLRI_IR_PASS_MEET_INTERNAL_H

#include "ir/ir.h"

// Of a function: which registers a compiler sees to be the same in all threads.
struct slri_plain {
    const struct slri_entry *entry;
    const struct slri_function *function;
    bool *varies; // by register
    bool jumps;   // some thread returns, and the others need not
};

// False: no memory.
bool slri_plain_find(struct slri_plain *plain, struct slri_region *region);
// Whether a compiler sees that all threads come to each wait of the function.
bool slri_plain_meets(const struct slri_plain *plain);

#endif
