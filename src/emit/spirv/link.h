// SPDX-License-Identifier: Apache-2.0
// What link.c and soften.c share: a module with all that a kernel comes to, the functions of the libraries among it.
#ifndef SLRI_EMIT_SPIRV_LINK_H
#define SLRI_EMIT_SPIRV_LINK_H

#include "ir/ir.h"
#include "lang/library.h"

enum slri_link_unit { SLRI_LINK_KERNEL, SLRI_LINK_MATH, SLRI_LINK_SOFT, SLRI_LINK_UNITS };

struct slri_link {
    struct slri_region *region;
    const struct slri_module *from[SLRI_LINK_UNITS];
    struct slri_function **made[SLRI_LINK_UNITS]; // by index in those; NULL: not called
    uint32_t *soft[SLRI_LINK_UNITS];              // by the same: how often it computes a double, callees and all
    struct slri_module *to;
    struct slri_types *types;
    slr_status refused;
    // Of the function being copied:
    enum slri_link_unit unit;
    const struct slri_function *source;
    struct slri_function *function;
    struct slri_block *block; // where instructions go
    uint32_t softs;           // of it, so far
};

struct slri_function *slri_link_function(struct slri_link *l, enum slri_link_unit unit,
                                         const struct slri_function *function);
const struct slri_function *slri_link_find(struct slri_link *l, enum slri_link_unit unit, const char *name);
struct slri_instr *slri_link_append(struct slri_link *l, const struct slri_instr *as); // a copy of it

// soften.c: whether an instruction has a double; puts what does the same with integers of 64 bits. `in` is a copy.
bool slri_link_has_double(const struct slri_link *l, const struct slri_instr *in);
void slri_link_soften(struct slri_link *l, struct slri_instr *in);

#endif
