// SPDX-License-Identifier: Apache-2.0
// What linked.c and linked_soft.c share: the module that is made, and where it stands.
#ifndef SLRI_IR_PASS_LINKED_INTERNAL_H
#define SLRI_IR_PASS_LINKED_INTERNAL_H

#include "ir/math/library.h"
#include "ir/pass/linked.h"

struct slri_linker {
    struct slri_region *region;
    const struct slri_linked_libraries *libraries;
    const struct slri_entry *entry;
    const struct slri_module *from[SLRI_LINKED_UNITS]; // NULL: not asked for
    struct slri_function **made[SLRI_LINKED_UNITS];    // by index in those; NULL: not called
    uint32_t *soft[SLRI_LINKED_UNITS];                 // by the same: how often it computes a double, callees and all
    uint32_t table[SLRI_LINKED_UNITS];                 // the first of its tables in the new module
    uint32_t room;                                     // for functions, in the new module
    struct slri_module *to;
    struct slri_types *types;
    slr_status refused;
    // Of the function being copied:
    enum slri_linked_unit unit;
    const struct slri_function *source;
    const struct slri_assigned *assigned; // its registers; NULL: not looked at
    struct slri_function *function;
    struct slri_block *block; // where instructions go
    uint32_t softs;           // of it, so far
};

// The copy of a library's function; NULL: the linking has failed.
struct slri_function *slri_linker_library(struct slri_linker *l, enum slri_linked_unit unit, const char *name);
struct slri_instr *slri_linker_append(struct slri_linker *l, const struct slri_instr *as); // a copy of it

// linked_soft.c: whether an instruction has a double; puts what does the same with integers of 64 bits. `in` is a copy.
bool slri_linker_has_double(const struct slri_linker *l, const struct slri_instr *in);
void slri_linker_soften(struct slri_linker *l, struct slri_instr *in);

#endif
