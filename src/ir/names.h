// SPDX-License-Identifier: Apache-2.0
// A set of names, for the question whether one is taken. Its memory is a region's, so that nothing has to be freed.
#ifndef SLRI_IR_NAMES_H
#define SLRI_IR_NAMES_H

#include "ir/ir.h"

struct slri_names {
    const char **slot; // open addressing; NULL: free
    uint32_t room;     // a power of two, or 0
    uint32_t count;
    uint64_t compared; // names looked at so far: what the searches cost
};

bool slri_names_have(struct slri_names *names, const char *name);

// Keeps the pointer. A name that is there stays as it is. False: no memory.
bool slri_names_add(struct slri_names *names, struct slri_region *region, const char *name);

#endif
