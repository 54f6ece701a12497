// SPDX-License-Identifier: Apache-2.0
// Control flow: the IR's tree as SPIR-V's structured blocks, and which instruction is written where.
#include "emit/spirv/internal.h"

static void put_line(struct slri_s *s, struct slri_where where)
{
    if (where.line == 0 || (s->line == where.line && s->line_file == where.file))
        return;
    s->line = where.line;
    s->line_file = where.file;
    SLRI_DO(s, Line, s->file[where.file], where.line, where.column);
}

// ---- branches ------------------------------------------------------------------------------------------------------

static void put_if(struct slri_s *s, const struct slri_instr *in)
{
    uint32_t condition = slri_s_true(s, in->a);
    uint32_t merge = slri_w_id(&s->w), then = slri_w_id(&s->w), other = in->body[1] ? slri_w_id(&s->w) : merge;
    SLRI_DO(s, SelectionMerge, merge, 0);
    SLRI_DO(s, BranchConditional, condition, then, other);
    slri_s_begin(s, then);
    slri_s_block(s, in->body[0]);
    slri_s_branch(s, merge);
    if (in->body[1]) {
        slri_s_begin(s, other);
        slri_s_block(s, in->body[1]);
        slri_s_branch(s, merge);
    }
    slri_s_begin(s, merge);
}

// ---- loops ---------------------------------------------------------------------------------------------------------

// Up to its first block.
static struct slri_s_loop begin_loop(struct slri_s *s)
{
    const uint32_t header = slri_w_id(&s->w), body = slri_w_id(&s->w), next = slri_w_id(&s->w);
    const struct slri_s_loop loop = {header, body, next, slri_w_id(&s->w)};
    s->has_loop = true;
    slri_s_branch(s, loop.header);
    slri_s_begin(s, loop.header);
    SLRI_DO(s, LoopMerge, loop.merge, loop.next, 0);
    slri_s_branch(s, loop.body);
    slri_s_begin(s, loop.body);
    return loop;
}

// Leaves where the test, at whose end we are, says so; else goes to `stay`.
static void put_test(struct slri_s *s, const struct slri_instr *loop, uint32_t stay, uint32_t leave)
{
    if (s->ended)
        return;
    if (loop->a == SLRI_NO_REG) {
        slri_s_branch(s, stay);
        return;
    }
    uint32_t condition = slri_s_true(s, loop->a);
    SLRI_DO(s, BranchConditional, condition, stay, leave);
    s->ended = true;
}

static void put_loop(struct slri_s *s, const struct slri_instr *loop)
{
    const struct slri_s_loop around = s->flow;
    const uint32_t body = slri_w_id(&s->w);
    s->flow = begin_loop(s);
    if (!loop->do_while) {
        slri_s_block(s, loop->body[0]);
        put_test(s, loop, body, s->flow.merge);
        slri_s_begin(s, body);
    }
    slri_s_block(s, loop->body[1]);
    slri_s_branch(s, s->flow.next);
    slri_s_begin(s, s->flow.next);
    if (loop->body[2])
        slri_s_block(s, loop->body[2]);
    if (loop->do_while) {
        slri_s_block(s, loop->body[0]);
        put_test(s, loop, s->flow.header, s->flow.merge);
    } else {
        slri_s_branch(s, s->flow.header);
    }
    slri_s_begin(s, s->flow.merge);
    s->flow = around;
}

// ---- switches ------------------------------------------------------------------------------------------------------

static void put_switch(struct slri_s *s, const struct slri_instr *in)
{
    const uint32_t around = s->flow.merge, merge = slri_w_id(&s->w);
    uint32_t count = 2, other = merge;
    uint32_t *label = slri_s_take(s, in->cases, sizeof *label);
    uint32_t *word = slri_s_take(s, 2 * (size_t)in->cases + 1, sizeof *word);
    if (!label || !word)
        return;
    label[in->cases] = merge;
    for (uint32_t i = in->cases; i-- > 0;) { // an empty one is the next
        label[i] = in->match[i].body->count ? slri_w_id(&s->w) : label[i + 1];
        other = in->match[i].is_default ? label[i] : other;
    }
    for (uint32_t i = 0; i < in->cases; i++) {
        if (in->match[i].is_default)
            continue;
        word[count++] = (uint32_t)in->match[i].value;
        word[count++] = label[i];
    }
    word[0] = slri_s_get(s, in->a);
    word[1] = other;
    SLRI_DO(s, SelectionMerge, merge, 0);
    slri_w_put(&s->w, &s->w.code, SLRI_W_Switch, word, count);
    s->ended = true;
    s->flow.merge = merge;
    for (uint32_t i = 0; i < in->cases; i++) {
        if (!in->match[i].body->count)
            continue;
        slri_s_begin(s, label[i]);
        slri_s_block(s, in->match[i].body);
        slri_s_branch(s, merge);
    }
    slri_s_begin(s, merge);
    s->flow.merge = around;
}

// ---- the rest ------------------------------------------------------------------------------------------------------

static void put_call(struct slri_s *s, const struct slri_instr *in)
{
    const struct slri_function *callee = in->callee;
    uint32_t count = 3;
    uint32_t *word = slri_s_take(s, 2 * (size_t)in->args + 2, sizeof *word);
    if (!word)
        return;
    word[0] = slri_s_type(s, callee->result);
    for (uint32_t i = 0; i < in->args; i++) {
        if (callee->param[i].is_memory)
            word[count++] = slri_s_array(s, s->function, in->arg[i].root)->variable;
        word[count++] = slri_s_get(s, in->arg[i].reg);
    }
    word[1] = slri_w_id(&s->w);
    word[2] = s->function_id[callee->index];
    slri_w_put(&s->w, &s->w.code, SLRI_W_FunctionCall, word, count);
    slri_s_set(s, in->dst, word[1]);
}

static void put_return(struct slri_s *s, const struct slri_instr *in)
{
    slri_s_return(s, in->a == SLRI_NO_REG ? 0 : slri_s_get(s, in->a));
}

static void put_const(struct slri_s *s, const struct slri_instr *in)
{
    if (s->value[in->dst].held == SLRI_ASSIGNED_VARIABLE)
        slri_s_set(s, in->dst, slri_s_const(s, s->function->reg_kind[in->dst], in->imm));
}

static void put_move(struct slri_s *s, const struct slri_instr *in)
{
    slri_s_set(s, in->dst, slri_s_get(s, in->a));
}

static uint32_t is_address(struct slri_s *s, uint32_t address)
{
    uint32_t boolean = slri_s_bool(s), u32 = slri_s_uint(s, 4);
    if (!s->words)
        return SLRI_MAKE(s, INotEqual, boolean, address, slri_s_bits(s, 8, 0));
    uint32_t low = SLRI_MAKE(s, CompositeExtract, u32, address, 0);
    uint32_t high = SLRI_MAKE(s, CompositeExtract, u32, address, 1);
    return SLRI_MAKE(s, INotEqual, boolean, SLRI_MAKE(s, BitwiseOr, u32, low, high), slri_s_u32(s, 0));
}

static void put_present(struct slri_s *s, const struct slri_instr *in)
{
    slri_s_set_flag(s, in->dst, is_address(s, s->base[in->root.index]));
}

static void put_jump(struct slri_s *s, const struct slri_instr *in)
{
    slri_s_branch(s, in->op == SLRI_OP_BREAK ? s->flow.merge : s->flow.next);
}

typedef void put_one(struct slri_s *s, const struct slri_instr *in);

static put_one *const put_instr[SLRI_OP_RETURN + 1] = {
    [SLRI_OP_CONST] = put_const,
    [SLRI_OP_MOVE] = put_move,
    [SLRI_OP_CONVERT] = slri_s_convert,
    [SLRI_OP_LOAD] = slri_s_memory,
    [SLRI_OP_STORE] = slri_s_memory,
    [SLRI_OP_MATH] = slri_s_math,
    [SLRI_OP_ATOMIC_LOAD] = slri_s_atomic,
    [SLRI_OP_ATOMIC_STORE] = slri_s_atomic,
    [SLRI_OP_ATOMIC_RMW] = slri_s_atomic,
    [SLRI_OP_ATOMIC_CAS] = slri_s_atomic,
    [SLRI_OP_FENCE] = slri_s_fence,
    [SLRI_OP_BUILTIN] = slri_s_builtin,
    [SLRI_OP_BARRIER] = slri_s_meet,
    [SLRI_OP_WARP] = slri_s_meet,
    [SLRI_OP_PRESENT] = put_present,
    [SLRI_OP_CALL] = put_call,
    [SLRI_OP_IF] = put_if,
    [SLRI_OP_LOOP] = put_loop,
    [SLRI_OP_SWITCH] = put_switch,
    [SLRI_OP_BREAK] = put_jump,
    [SLRI_OP_CONTINUE] = put_jump,
    [SLRI_OP_RETURN] = put_return,
};

// What stands behind a jump is nowhere.
void slri_s_block(struct slri_s *s, const struct slri_block *block)
{
    for (uint32_t i = 0; i < block->count && !s->ended; i++) {
        const struct slri_instr *in = &block->instr[i];
        put_one *const put = put_instr[in->op] ? put_instr[in->op] : slri_s_arithmetic;
        put_line(s, in->where);
        put(s, in);
    }
}

// ---- loops that were ended ------------------------------------------------------------------------------------------

// For a driver that ends a thread's loops after so many turns, and each later one behind its first turn. Nothing in a
// loop can tell, because to SPIR-V it does not happen. So behind the kernel comes a loop of two turns, which the thread
// counts; what it takes fewer of says that a loop before it may have been ended.
enum { MEMBER_ENDED = 5, MEMBER_TURNS, MEMBER_NUMBER }; // of the push block

// How many turns a loop takes that shall take so many.
static uint32_t count_turns(struct slri_s *s, uint32_t turns)
{
    uint32_t u32 = slri_s_uint(s, 4), taken = slri_s_variable(s, SLRI_STORAGE_Function, u32, slri_s_u32(s, 0));
    const struct slri_s_loop loop = begin_loop(s);
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
    const struct slri_s_place word = {.address = slri_s_pushed(s, MEMBER_ENDED, slri_s_address(s))};
    slri_s_store_bits(s, &word, 4, slri_s_pushed(s, MEMBER_NUMBER, u32));
    slri_s_branch(s, merge);
    slri_s_begin(s, merge);
    slri_s_return(s, 0);
    slri_s_finish_function(s);
    return main;
}
