// SPDX-License-Identifier: Apache-2.0
// What level.h and meet.h share: how a thread that comes along, but is elsewhere, jumps, waits, takes part in a warp's
// function and calls. Each branch around what is being written has a register that says whether the thread is here.
#ifndef SLRI_IR_PASS_HERE_H
#define SLRI_IR_PASS_HERE_H

#include "ir/pass/lower.h"

// A branch around what is being written, the innermost first; NULL: all threads are here.
struct slri_here {
    const struct slri_here *outer;
    slri_reg reg;   // I32: the thread is here
    bool ends_loop; // who breaks is not here any more; who continues is
};

slri_reg slri_here_reg(struct slri_lowering *l, const struct slri_here *here);
slri_reg slri_here_is_zero(struct slri_lowering *l, slri_reg a); // I32
slri_reg slri_here_is_some(struct slri_lowering *l, slri_reg a);
slri_reg slri_here_both(struct slri_lowering *l, slri_reg a, slri_reg b);
slri_reg slri_here_copy(struct slri_lowering *l, slri_reg a);   // a register that may be cleared
slri_reg slri_here_any_of(struct slri_lowering *l, slri_reg a); // whether it is so of any thread of the block
struct slri_instr *slri_here_same(struct slri_lowering *l, const struct slri_instr *in);

// BREAK, CONTINUE and RETURN: who is here leaves. `result` takes what a function gives.
void slri_here_jump(struct slri_lowering *l, const struct slri_here *here, const struct slri_instr *in,
                    slri_reg result);
void slri_here_barrier(struct slri_lowering *l, const struct slri_here *here, const struct slri_instr *in);
void slri_here_warp(struct slri_lowering *l, const struct slri_here *here, const struct slri_instr *in);
// Of a function that waits: its last parameter says whether the thread is here.
void slri_here_call(struct slri_lowering *l, const struct slri_here *here, const struct slri_instr *in,
                    const struct slri_function *callee);

#endif
