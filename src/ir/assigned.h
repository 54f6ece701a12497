// SPDX-License-Identifier: Apache-2.0
// What assigns a function's registers, and how an emitter holds each whose target assigns a value once: SPIR-V, WGSL.
#ifndef SLRI_IR_ASSIGNED_H
#define SLRI_IR_ASSIGNED_H

#include "ir/ir.h"

enum slri_assigned_held {
    SLRI_ASSIGNED_LITERAL,  // a CONST alone, before all reads, which lie in the same block or within; or nothing: 0
    SLRI_ASSIGNED_VALUE,    // likewise one other instruction, or it arrives as a parameter
    SLRI_ASSIGNED_VARIABLE, // any other
};

struct slri_assigned {
    enum slri_assigned_held held;
    uint32_t assignments; // by how many places; where a parameter or a value of the launch arrives is one
    uint32_t reads;       // by how many places
    const struct slri_instr
        *given;     // of one assignment, by what; NULL: it arrives. Of none: NULL, or a CONST (0 if NULL)
    uint32_t block; // of assigned.c: the block of the first assignment that it has seen
};

// What all calls of a function give a parameter.
struct slri_given {
    bool is_seen, varies;      // by a call; from call to call, or as the program runs
    struct slri_instr literal; // a CONST, where it does not vary
};

// By register of the function: `assignments` and `given`. `given`: by parameter, NULL where nothing is known. What
// all calls give alike is no assignment. NULL: no memory.
struct slri_assigned *slri_assigned_count(struct slri_region *region, const struct slri_entry *entry,
                                          const struct slri_function *function, const struct slri_given *given);
// All of it.
struct slri_assigned *slri_assigned_find(struct slri_region *region, const struct slri_entry *entry,
                                         const struct slri_function *function, const struct slri_given *given);

// By function and parameter, by index. NULL: no memory.
struct slri_given **slri_assigned_given(struct slri_region *region, const struct slri_module *module,
                                        const struct slri_entry *entry);

// Whether it is a literal, and its bits.
static inline bool slri_assigned_is_literal(const struct slri_assigned *value, uint64_t *bits)
{
    *bits = value->given ? value->given->imm : 0;
    return value->held == SLRI_ASSIGNED_LITERAL;
}

#endif
