// SPDX-License-Identifier: Apache-2.0
// For a driver that ends a thread's loops after so many turns, and each later one behind its first turn. Nothing in a
// loop can tell, because to SPIR-V it does not happen. So behind the kernel comes a loop of two turns, which the thread
// counts; what it takes fewer of says that a loop before it may have been ended.
#include "emit/spirv/internal.h"

enum { MEMBER_TURNS = 4, MEMBER_ENDED, MEMBER_NUMBER }; // of the push block

// How many turns a loop takes that shall take so many.
static uint32_t count_turns(struct slri_s *s, uint32_t turns)
{
    uint32_t u32 = slri_s_uint(s, 4), taken = slri_s_own(s, u32, slri_s_u32(s, 0));
    const struct slri_s_loop loop = slri_s_loop(s);
    slri_s_begin_loop(s, &loop);
    uint32_t more = SLRI_MAKE(s, ULessThan, slri_s_bool(s), SLRI_MAKE(s, Load, u32, taken), turns);
    SLRI_DO(s, BranchConditional, more, loop.next, loop.merge);
    slri_s_begin(s, loop.next);
    SLRI_DO(s, Store, taken, SLRI_MAKE(s, IAdd, u32, SLRI_MAKE(s, Load, u32, taken), slri_s_u32(s, 1)));
    slri_s_branch(s, loop.header);
    slri_s_begin(s, loop.merge);
    return SLRI_MAKE(s, Load, u32, taken);
}

uint32_t slri_s_ended_loops(struct slri_s *s, uint32_t kernel)
{
    const uint32_t type[] = {slri_s_type(s, SLRI_VOID)}, u32 = slri_s_uint(s, 4);
    const uint32_t main = slri_w_id(&s->w);
    slri_s_begin_function(s, main, type, 1, NULL);
    const uint32_t call[] = {type[0], slri_w_id(&s->w), kernel};
    slri_w_put(&s->w, &s->w.code, SLRI_W_FunctionCall, call, 3);
    uint32_t turns = slri_s_pushed(s, MEMBER_TURNS, u32), taken = count_turns(s, turns);
    const uint32_t then = slri_w_id(&s->w), merge = slri_w_id(&s->w);
    const uint32_t differs = SLRI_MAKE(s, INotEqual, slri_s_bool(s), taken, turns);
    SLRI_DO(s, SelectionMerge, merge, 0);
    SLRI_DO(s, BranchConditional, differs, then, merge);
    slri_s_begin(s, then);
    struct slri_s_place word = slri_s_place_at(slri_s_pushed(s, MEMBER_ENDED, slri_s_address(s)), 0);
    slri_s_store_bits(s, &word, 4, slri_s_pushed(s, MEMBER_NUMBER, u32));
    slri_s_branch(s, merge);
    slri_s_begin(s, merge);
    slri_s_finish_function(s);
    return main;
}
