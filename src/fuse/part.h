// SPDX-License-Identifier: Apache-2.0
// A kernel as a part of a fused one: what its threads do is for one element each, at one index, under one guard.
#ifndef SLRI_FUSE_PART_H
#define SLRI_FUSE_PART_H

#include "ir/ir.h"

// What a register holds, as far as that matters for an index.
enum slri_held {
    SLRI_HELD_ANY,
    SLRI_HELD_THREAD,  // threadIdx.x
    SLRI_HELD_BLOCK,   // blockIdx.x
    SLRI_HELD_THREADS, // blockDim.x
    SLRI_HELD_BLOCKS,  // gridDim.x
    SLRI_HELD_BASE,    // blockIdx.x * blockDim.x
    SLRI_HELD_INDEX,   // that and threadIdx.x; in a grid-stride loop, its counter
    SLRI_HELD_STRIDE,  // gridDim.x * blockDim.x
    SLRI_HELD_NEXT,    // INDEX + STRIDE
    SLRI_HELD_CONST,   // imm
    SLRI_HELD_OFFSET,  // imm bytes times INDEX
    SLRI_HELD_PLACE,   // imm bytes times the register `of`
    SLRI_HELD_GUARD,   // INDEX < the bound
    SLRI_HELD_PAST,    // not so
};

struct slri_register {
    enum slri_held held;
    bool is_wide; // BASE and what follows from it: computed in 64 bits
    uint64_t imm;
    slri_reg of;
    uint32_t writes; // instructions that assign to it
};

enum slri_part_form {
    SLRI_PART_ONCE,  // each thread has one element
    SLRI_PART_STRIDE // a grid-stride loop
};

struct slri_part {
    const struct slri_module *module;
    const struct slri_entry *entry;
    struct slri_register *reg; // one for each of the function; of the region given
    enum slri_part_form form;
    bool is_wide;        // how the index is computed
    enum slri_kind kind; // in which it is compared
    uint32_t bound;      // the binding that it is compared with, or UINT32_MAX: `bound_value`
    uint64_t bound_value;
    // The body: the instructions of `before` up to `before_count`, which touch no memory and none of which belongs to
    // the index or the guard, then those of `body` from `body_first` on.
    const struct slri_block *before, *body;
    uint32_t before_count, body_first;
};

// Where an access goes.
enum slri_where_to {
    SLRI_TO_ELEMENT, // element INDEX of the buffer
    SLRI_TO_OTHER    // another, which `index` or `imm` names
};

struct slri_access {
    uint32_t binding;
    enum slri_where_to to;
    slri_reg index; // of OTHER: the element's number, or SLRI_NO_REG: `imm`
    uint64_t imm;
    bool is_store;
    bool is_nested; // in a branch or a loop of the body
};

// Reads the kernel. `why` (200 bytes) is the reason where it is not such a kernel. Errors: UNSUPPORTED (that),
// NO_MEMORY.
slr_status slri_part_read(const struct slri_module *module, const struct slri_entry *entry, struct slri_region *region,
                          struct slri_part *out, char why[200]);

// Of a LOAD or STORE of a binding. False: its address cannot be written as an element's.
bool slri_part_access(const struct slri_part *part, const struct slri_instr *instr, struct slri_access *out);

// Calls `visit` for each instruction of the body, in order, nested ones after theirs. `depth`: 0 outside branches and
// loops. It stops where that gives false, and gives that.
typedef bool slri_part_visit(void *user, const struct slri_instr *instr, uint32_t depth);
bool slri_part_walk(const struct slri_part *part, slri_part_visit *visit, void *user);

// Whether an instruction is only for the index or an address, which a writer of source spells another way.
bool slri_part_is_address(const struct slri_part *part, const struct slri_instr *instr);

#endif
