// SPDX-License-Identifier: Apache-2.0
// Loops whose trips are known when they begin: for (; counter OP bound; counter += stride), with a bound that does not
// change, and left in no other way. Such a loop can pay for all its trips at once.
#ifndef SLRI_IR_COUNTED_H
#define SLRI_IR_COUNTED_H

#include "ir/ir.h"

struct slri_counted {
    slri_reg induction, bound; // the bound's value is there at the end of the test
    enum slri_kind kind;
    int64_t stride; // below 0: going down
    bool inclusive; // <= or >=
};

// What the caller knows of the function that the loop is in.
struct slri_counting {
    bool (*literal)(const void *user, slri_reg reg, uint64_t *value); // of the register; as 64 bits, sign-extended
    bool (*uses_fuel)(const void *user, const struct slri_function *callee);
    const void *user;
    bool holds_loops; // the caller looks at the loops within by itself
};

bool slri_counted_loop(const struct slri_counting *c, const struct slri_instr *loop, struct slri_counted *out);

// The same of its test alone, whatever its step does; `stride` is 1 or -1.
bool slri_counted_test(const struct slri_counting *c, const struct slri_instr *loop, struct slri_counted *out);

// The last of the block's first `end` instructions that assigns the register, or NULL; and that register's value
// behind them, where it is known.
const struct slri_instr *slri_last_assignment(const struct slri_block *block, uint32_t end, slri_reg reg);
bool slri_counted_literal(const struct slri_counting *c, const struct slri_block *block, uint32_t end, slri_reg reg,
                          int64_t *value);
bool slri_assigned_in(const struct slri_block *block, slri_reg reg); // or in a block within

#endif
