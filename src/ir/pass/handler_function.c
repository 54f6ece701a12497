// SPDX-License-Identifier: Apache-2.0
// A handler's functions, without what only handlers have. A fault is noted in the call, and the function returns; so
// do those that called it. In a loop's test and step nothing can return: there, what follows a fault is the else of an
// IF, and the test gives 0.
#include "abi/handler.h"
#include "abi/relaunch.h"
#include "ir/pass/handler_kernel.h"
#include "ir/pass/lower.h"

#include <string.h>

// ---- what a function needs -----------------------------------------------------------------------------------------

typedef bool visit(const struct slri_lowering *l, const struct slri_instr *in);

static bool any_instr(const struct slri_lowering *l, const struct slri_block *block, visit *is_so)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (is_so(l, in))
            return true;
        for (int part = 0; part < 3; part++)
            if (any_instr(l, in->body[part], is_so))
                return true;
        for (uint32_t k = 0; k < in->cases; k++)
            if (any_instr(l, in->match[k].body, is_so))
                return true;
    }
    return false;
}

static bool is_of_call(struct slri_root root)
{
    return root.kind == SLRI_ROOT_STATE || root.kind == SLRI_ROOT_MESSAGE || root.kind == SLRI_ROOT_BINDING;
}

static bool divides_integers(const struct slri_instr *in)
{
    return (in->op == SLRI_OP_DIV || in->op == SLRI_OP_REM) && !slri_kind_is_float(in->kind);
}

static bool reads_state(const struct slri_lowering *l, const struct slri_instr *in)
{
    (void)l;
    return in->root.kind == SLRI_ROOT_STATE || in->root2.kind == SLRI_ROOT_STATE;
}

static bool reads_message(const struct slri_lowering *l, const struct slri_instr *in)
{
    (void)l;
    return in->root.kind == SLRI_ROOT_MESSAGE || in->root2.kind == SLRI_ROOT_MESSAGE;
}

static bool needs_call(const struct slri_lowering *l, const struct slri_instr *in)
{
    switch (in->op) {
    case SLRI_OP_REPLY:
    case SLRI_OP_SEND:
    case SLRI_OP_INSTANCE:
    case SLRI_OP_MESSAGES:
    case SLRI_OP_INDEX:
    case SLRI_OP_TRAP:
    case SLRI_OP_LOOP:
        return true;
    case SLRI_OP_CALL:
        return l->shares[in->callee->index];
    default:
        return divides_integers(in) || is_of_call(in->root) || is_of_call(in->root2);
    }
}

static void reach(const struct slri_lowering *l, const struct slri_block *block, bool *reached)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (in->op == SLRI_OP_CALL && !reached[in->callee->index]) {
            reached[in->callee->index] = true;
            reach(l, in->callee->body, reached);
        }
        for (int part = 0; part < 3; part++)
            reach(l, in->body[part], reached);
        for (uint32_t k = 0; k < in->cases; k++)
            reach(l, in->match[k].body, reached);
    }
}

// ---- faults --------------------------------------------------------------------------------------------------------

static void put_return(struct slri_lowering *l)
{
    enum slri_kind result = l->function->result;
    slri_reg value = result == SLRI_VOID ? SLRI_NO_REG : slri_lower_const(l, result, 0);
    slri_lower_append(l, SLRI_OP_RETURN, result)->a = value;
}

static void put_fault(struct slri_lowering *l, uint32_t fault)
{
    const uint64_t words[] = {fault, l->where.file, l->where.line};
    for (uint32_t i = 0; fault != SLRI_FAULT_NONE && i < 3; i++)
        slri_lower_put(l, SLRI_CALL_FAULT + i, slri_lower_const(l, SLRI_U64, words[i]));
}

void slri_lower_note(struct slri_lowering *l, uint32_t fault)
{
    slri_reg before = slri_lower_get(l, SLRI_CALL_FAULT), none = slri_lower_const(l, SLRI_U64, SLRI_FAULT_NONE);
    struct slri_block *behind = slri_lower_if(l, slri_lower_op(l, SLRI_OP_EQ, SLRI_U64, before, none), NULL);
    put_fault(l, fault);
    l->block = behind;
}

void slri_lower_leave_where(struct slri_lowering *l, slri_reg bad, uint32_t fault)
{
    struct slri_block *other, *behind = slri_lower_if(l, bad, l->in_test && !l->is_block ? &other : NULL);
    if (l->is_block) {
        slri_lower_note(l, fault);
        l->block = behind;
        return;
    }
    put_fault(l, fault);
    if (!l->in_test)
        put_return(l);
    l->block = l->in_test ? other : behind;
}

// What comes next does not run where `bad`; there dst, if any, is 0. Of a block: where to go on behind that; else NULL.
static struct slri_block *check(struct slri_lowering *l, slri_reg bad, uint32_t fault, slri_reg dst)
{
    if (!l->is_block) {
        slri_lower_leave_where(l, bad, fault);
        return NULL;
    }
    struct slri_block *other, *behind = slri_lower_if(l, bad, &other);
    slri_lower_note(l, fault);
    if (dst != SLRI_NO_REG)
        slri_lower_set_const(l, dst, l->function->reg_kind[dst], 0);
    l->block = other;
    return behind;
}

static void go_on(struct slri_lowering *l, struct slri_block *behind)
{
    if (behind)
        l->block = behind;
}

void slri_lower_leave_at_fault(struct slri_lowering *l)
{
    if (l->is_block)
        return;
    slri_reg fault = slri_lower_get(l, SLRI_CALL_FAULT), none = slri_lower_const(l, SLRI_U64, SLRI_FAULT_NONE);
    slri_lower_leave_where(l, slri_lower_op(l, SLRI_OP_NE, SLRI_U64, fault, none), SLRI_FAULT_NONE);
}

bool slri_lower_is_literal(const struct slri_lowering *l, slri_reg reg, uint64_t least, uint64_t most)
{
    const struct slri_instr *literal = reg < l->source->regs ? l->literal[reg] : NULL;
    return literal && literal->imm >= least && literal->imm <= most;
}

static void check_index(struct slri_lowering *l, const struct slri_instr *in)
{
    const bool is_fixed = in->b == SLRI_NO_REG;
    if (is_fixed && (in->imm == 0 || slri_lower_is_literal(l, in->a, 0, in->imm - 1)))
        return;
    slri_reg index = slri_lower_convert(l, SLRI_U64, in->a);
    slri_reg most = is_fixed ? slri_lower_const(l, SLRI_U64, in->imm) : slri_lower_convert(l, SLRI_U64, in->b);
    slri_reg bad = slri_lower_op(l, SLRI_OP_GE, SLRI_U64, index, most);
    go_on(l, check(l, bad, SLRI_FAULT_INDEX, in->a));
}

// Of an integer's division. Leaves a note in it that its divisor is not zero. An emitter sees no literal in a variable
// that keeps its first value; nor in a loop that pays at its begin, where two instructions set a literal's register, as
// it is written twice.
static void check_divisor(struct slri_lowering *l, struct slri_instr *in)
{
    if (slri_lower_is_literal(l, in->b, 1, INT32_MAX)) {
        const bool is_seen = l->paying == SLRI_PAY_EACH && !l->source->reg_name[in->b];
        in->imm = is_seen ? 0 : SLRI_DIVISOR_IS_NOT_ZERO;
        return;
    }
    slri_reg zero = slri_lower_const(l, in->kind, 0), is_zero = slri_lower_op(l, SLRI_OP_EQ, in->kind, in->b, zero);
    if (l->is_block) {
        slri_reg divisor = slri_lower_variable(l, in->kind, NULL);
        slri_lower_set(l, divisor, SLRI_OP_MOVE, in->kind, in->b, SLRI_NO_REG);
        struct slri_block *behind = slri_lower_if(l, is_zero, NULL);
        slri_lower_note(l, SLRI_FAULT_DIVIDE);
        slri_lower_set_const(l, divisor, in->kind, 1);
        l->block = behind;
        in->b = divisor;
    } else {
        slri_lower_leave_where(l, is_zero, SLRI_FAULT_DIVIDE);
    }
    in->imm = SLRI_DIVISOR_IS_NOT_ZERO;
}

// How many there were before this one, of which there is room for `most`. As check.
static struct slri_block *take_room(struct slri_lowering *l, uint32_t word, uint32_t most, uint32_t fault,
                                    slri_reg *count)
{
    *count = l->is_block ? slri_lower_block_take(l, word) : slri_lower_get(l, word);
    slri_reg room = slri_lower_convert(l, SLRI_U64, slri_lower_constant(l, most));
    return check(l, slri_lower_op(l, SLRI_OP_GE, SLRI_U64, *count, room), fault, SLRI_NO_REG);
}

// ---- memory --------------------------------------------------------------------------------------------------------

// That `bytes` at `at` are in the buffer. As check.
static struct slri_block *check_access(struct slri_lowering *l, uint32_t buffer, slri_reg at, uint64_t bytes,
                                       slri_reg dst)
{
    slri_reg place = slri_lower_const(l, SLRI_I64, RL_BINDING(buffer));
    slri_reg size = slri_lower_load(l, SLRI_U64, slri_lower_root(SLRI_BATCH_CONSTANTS), place);
    slri_reg from = slri_lower_convert(l, SLRI_U64, at), wanted = slri_lower_const(l, SLRI_U64, bytes);
    slri_reg left = slri_lower_op(l, SLRI_OP_SUB, SLRI_U64, size, from);
    slri_reg is_behind = slri_lower_op(l, SLRI_OP_GT, SLRI_U64, from, size);
    slri_reg is_short = slri_lower_op(l, SLRI_OP_LT, SLRI_U64, left, wanted);
    return check(l, slri_lower_op(l, SLRI_OP_OR, SLRI_I32, is_behind, is_short), SLRI_FAULT_ACCESS, dst);
}

// The same place of a root that the kernel has. As check.
static struct slri_block *move_root(struct slri_lowering *l, struct slri_root *root, slri_reg *at, uint64_t bytes,
                                    slri_reg dst)
{
    struct slri_block *behind = NULL;
    const bool is_state = root->kind == SLRI_ROOT_STATE;
    if (is_state || root->kind == SLRI_ROOT_MESSAGE) {
        *at = slri_lower_op(l, SLRI_OP_ADD, SLRI_I64, is_state ? l->state : l->message, *at);
        *root = slri_lower_root(is_state ? SLRI_BATCH_STATES : SLRI_BATCH_IN);
    } else if (root->kind == SLRI_ROOT_BINDING) {
        behind = check_access(l, root->index, *at, bytes, dst);
        root->index = l->binding[root->index];
    }
    return behind;
}

// An offset that whoever lays the memory out (abi/relaunch.h) has put at a multiple of 4: said, so that copies are of
// words without a question.
static slri_reg of_whole_words(struct slri_lowering *l, slri_reg at)
{
    slri_reg mask = slri_lower_const(l, SLRI_I64, ~UINT64_C(3)), dst = slri_lower_reg(l, SLRI_I64);
    struct slri_instr *in = slri_lower_append(l, SLRI_OP_AND, SLRI_I64);
    in->dst = dst;
    in->a = at;
    in->b = mask;
    in->is_low = true;
    return dst;
}

// Where in the results the bytes lie that begin `at` behind a record, and `index` strides on.
static slri_reg place_behind(struct slri_lowering *l, slri_reg record, slri_reg at, slri_reg index, slri_reg stride)
{
    slri_reg distance = slri_lower_op(l, SLRI_OP_MUL, SLRI_I64, slri_lower_convert(l, SLRI_I64, index),
                                      slri_lower_convert(l, SLRI_I64, stride));
    slri_reg first = slri_lower_op(l, SLRI_OP_ADD, SLRI_I64, record, slri_lower_convert(l, SLRI_I64, at));
    return of_whole_words(l, slri_lower_op(l, SLRI_OP_ADD, SLRI_I64, first, distance));
}

// The same of this message's record.
static slri_reg place_in_record(struct slri_lowering *l, slri_reg at, slri_reg index, slri_reg stride)
{
    slri_reg record = slri_lower_convert(l, SLRI_I64, slri_lower_get(l, SLRI_CALL_RECORD));
    return place_behind(l, record, at, index, stride);
}

// In a kernel that stays, where in the mailbox the bytes lie of the port's next reply slot but `count`.
static slri_reg place_in_lane(struct slri_lowering *l, slri_reg count)
{
    slri_reg slot = slri_lower_op(l, SLRI_OP_ADD, SLRI_U32, slri_lower_stay_word(l, SLRI_STAY_POSITION),
                                  slri_lower_convert(l, SLRI_U32, count));
    slot = slri_lower_op(l, SLRI_OP_AND, SLRI_U32, slot, slri_lower_constant(l, RL_REPLY_MASK));
    slri_reg distance = slri_lower_op(l, SLRI_OP_MUL, SLRI_U32, slot, slri_lower_constant(l, RL_REPLY_STRIDE));
    slri_reg at = slri_lower_op(l, SLRI_OP_ADD, SLRI_U32, slri_lower_stay_word(l, SLRI_STAY_LANE), distance);
    return of_whole_words(l, slri_lower_convert(l, SLRI_I64, at));
}

static void put_copy(struct slri_lowering *l, uint32_t binding, slri_reg to, struct slri_root root, slri_reg from,
                     uint64_t bytes)
{
    struct slri_instr *copy = slri_lower_append(l, SLRI_OP_COPY, SLRI_VOID);
    copy->root = slri_lower_root(binding);
    copy->a = to;
    copy->root2 = root;
    copy->b = from;
    copy->imm = bytes;
}

static void count_up(struct slri_lowering *l, uint32_t word, slri_reg count)
{
    if (l->is_block)
        return;
    slri_reg one = slri_lower_const(l, SLRI_U64, 1);
    slri_lower_put(l, word, slri_lower_op(l, SLRI_OP_ADD, SLRI_U64, count, one));
}

// To a message of a batch, whose record counts its replies.
static void lower_reply_to(struct slri_lowering *l, const struct slri_instr *in)
{
    slri_reg record = slri_lower_record(l, in->b);
    slri_reg at =
        slri_lower_op(l, SLRI_OP_ADD, SLRI_I64, record, slri_lower_const(l, SLRI_I64, UINT64_C(4) * RL_REPLIES));
    slri_reg count = slri_lower_load(l, SLRI_U32, slri_lower_root(SLRI_BATCH_RESULTS), at);
    slri_reg is_over = slri_lower_op(l, SLRI_OP_GE, SLRI_U32, count, slri_lower_constant(l, RL_MAX_REPLIES));
    slri_lower_leave_where(l, is_over, SLRI_FAULT_REPLIES);
    slri_reg first = slri_lower_constant(l, RL_REPLIES_AT), stride = slri_lower_constant(l, RL_REPLY_STRIDE);
    put_copy(l, SLRI_BATCH_RESULTS, place_behind(l, record, first, count, stride), in->root, in->a,
             l->handler->reply->bytes);
    slri_reg more = slri_lower_op(l, SLRI_OP_ADD, SLRI_U32, count, slri_lower_const(l, SLRI_U32, 1));
    slri_lower_put_word(l, record, RL_REPLIES, more);
}

static void lower_reply(struct slri_lowering *l, struct slri_instr in)
{
    const uint64_t bytes = l->handler->reply->bytes;
    struct slri_block *behind = move_root(l, &in.root, &in.a, bytes, SLRI_NO_REG);
    slri_reg count;
    if (slri_replies_to_one(&in)) {
        lower_reply_to(l, &in);
        return;
    }
    struct slri_block *first_behind = take_room(l, SLRI_CALL_REPLIES, RL_MAX_REPLIES, SLRI_FAULT_REPLIES, &count);
    if (l->around) {
        put_copy(l, SLRI_STAY_MAILBOX, place_in_lane(l, count), in.root, in.a, bytes);
    } else {
        slri_reg first = slri_lower_constant(l, RL_REPLIES_AT), stride = slri_lower_constant(l, RL_REPLY_STRIDE);
        put_copy(l, SLRI_BATCH_RESULTS, place_in_record(l, first, count, stride), in.root, in.a, bytes);
    }
    count_up(l, SLRI_CALL_REPLIES, count);
    go_on(l, behind ? behind : first_behind);
}

static void lower_send(struct slri_lowering *l, struct slri_instr in)
{
    const uint32_t outlet = slri_sent_outlet(&in), words = RL_BINDING(outlet) / 4, sent = SLRI_CALL_SENT + outlet;
    struct slri_block *behind = move_root(l, &in.root, &in.a, slri_sent_bytes(&in), SLRI_NO_REG);
    slri_reg count;
    struct slri_block *first_behind = take_room(l, sent, RL_MAX_SENDS, SLRI_FAULT_SENDS, &count);
    slri_reg first = slri_lower_constant(l, words), stride = slri_lower_constant(l, words + 1);
    slri_reg at = place_in_record(l, first, count, stride), head = slri_lower_const(l, SLRI_I64, SLRI_OUT_HEAD);
    slri_lower_store(l, SLRI_U32, slri_lower_root(SLRI_BATCH_RESULTS), at, in.b);
    put_copy(l, SLRI_BATCH_RESULTS, slri_lower_op(l, SLRI_OP_ADD, SLRI_I64, at, head), in.root, in.a,
             slri_sent_bytes(&in));
    count_up(l, sent, count);
    go_on(l, behind ? behind : first_behind);
}

// ---- blocks --------------------------------------------------------------------------------------------

struct slri_block *slri_lower_into(struct slri_lowering *l, const struct slri_block *block, bool in_test)
{
    const bool was_in_test = l->in_test;
    struct slri_block *behind = l->block, *made = slri_lower_block(l);
    l->in_test = in_test;
    l->block = made;
    slri_lower_instrs(l, block);
    l->block = behind;
    l->in_test = was_in_test;
    return made;
}

// Whether it may end with a fault that is noted in the call; true too often, for a check more.
static bool may_leave(const struct slri_lowering *l, const struct slri_instr *in)
{
    return in->op != SLRI_OP_INSTANCE && in->op != SLRI_OP_MESSAGES && needs_call(l, in);
}

static void lower_if(struct slri_lowering *l, const struct slri_instr *in)
{
    struct slri_instr made = *in;
    for (int part = 0; part < 2; part++)
        made.body[part] = in->body[part] ? slri_lower_into(l, in->body[part], l->in_test) : NULL;
    l->where = in->where;
    *slri_lower_append(l, SLRI_OP_IF, SLRI_VOID) = made;
    if (l->in_test && (any_instr(l, in->body[0], may_leave) || any_instr(l, in->body[1], may_leave)))
        slri_lower_leave_at_fault(l);
}

static void lower_switch(struct slri_lowering *l, const struct slri_instr *in)
{
    struct slri_instr made = *in;
    made.match = slri_region_take(l->region, (in->cases + 1) * sizeof *made.match);
    l->out_of_memory |= made.match == NULL;
    for (uint32_t i = 0; made.match && i < in->cases; i++) {
        made.match[i] = in->match[i];
        made.match[i].body = slri_lower_into(l, in->match[i].body, false);
    }
    l->where = in->where;
    *slri_lower_append(l, SLRI_OP_SWITCH, SLRI_VOID) = made;
}

static void lower_call(struct slri_lowering *l, const struct slri_instr *in)
{
    const bool shares = l->shares[in->callee->index];
    struct slri_instr made = *in;
    made.callee = l->made[in->callee->index];
    made.arg = slri_region_take(l->region, (in->args + 2) * sizeof *made.arg);
    l->out_of_memory |= made.arg == NULL;
    if (made.arg && in->args)
        memcpy(made.arg, in->arg, in->args * sizeof *made.arg);
    if (made.arg && shares)
        made.arg[made.args++] = (struct slri_arg){slri_lower_const(l, SLRI_I64, 0), l->call};
    if (made.arg && shares && l->is_block)
        made.arg[made.args++] = (struct slri_arg){slri_lower_const(l, SLRI_I64, 0), l->common};
    *slri_lower_append(l, SLRI_OP_CALL, SLRI_VOID) = made;
    if (shares)
        slri_lower_leave_at_fault(l);
}

static void lower_loop(struct slri_lowering *l, const struct slri_instr *in)
{
    const bool keeps = slri_lower_keep(l, in);
    slri_lower_loop(l, in);
    if (keeps)
        slri_lower_keep_no_more(l);
}

static void lower_instance(struct slri_lowering *l, const struct slri_instr *in)
{
    slri_reg instance = slri_lower_get(l, SLRI_CALL_INSTANCE);
    slri_lower_set(l, in->dst, SLRI_OP_CONVERT, SLRI_U32, instance, SLRI_NO_REG);
}

static void lower_plain(struct slri_lowering *l, struct slri_instr in)
{
    bool is_present = in.op == SLRI_OP_PRESENT;
    struct slri_block *behind = NULL;
    uint64_t bytes = in.op == SLRI_OP_COPY || in.op == SLRI_OP_ZERO ? in.imm : slri_kind_bytes(in.kind);
    if (is_present && in.root.kind == SLRI_ROOT_BINDING)
        in.root.index = l->binding[in.root.index];
    else if (!is_present)
        behind = move_root(l, &in.root, &in.a, bytes, in.dst);
    struct slri_block *behind_second = move_root(l, &in.root2, &in.b, bytes, in.dst);
    if (divides_integers(&in))
        check_divisor(l, &in);
    *slri_lower_append(l, in.op, in.kind) = in;
    go_on(l, behind ? behind : behind_second);
}

static void lower_instr(struct slri_lowering *l, const struct slri_instr *in)
{
    l->where = in->where;
    switch (in->op) {
    case SLRI_OP_IF:
        lower_if(l, in);
        break;
    case SLRI_OP_LOOP:
        lower_loop(l, in);
        break;
    case SLRI_OP_SWITCH:
        lower_switch(l, in);
        break;
    case SLRI_OP_CALL:
        lower_call(l, in);
        break;
    case SLRI_OP_INDEX:
        check_index(l, in);
        break;
    case SLRI_OP_TRAP:
        slri_lower_leave_where(l, slri_lower_const(l, SLRI_I32, 1), (uint32_t)in->imm);
        break;
    case SLRI_OP_BUILTIN:
        if (!l->is_block || !slri_lower_block_place(l, in))
            lower_plain(l, *in);
        break;
    case SLRI_OP_REPLY:
        lower_reply(l, *in);
        break;
    case SLRI_OP_SEND:
        lower_send(l, *in);
        break;
    case SLRI_OP_INSTANCE:
        lower_instance(l, in);
        break;
    case SLRI_OP_MESSAGES:
        slri_lower_set(l, in->dst, SLRI_OP_MOVE, SLRI_U32, slri_lower_messages(l), SLRI_NO_REG);
        break;
    case SLRI_OP_CONST:
        if (!l->has_literals || !slri_lower_is_literal(l, in->dst, 0, UINT64_MAX))
            lower_plain(l, *in);
        break;
    default:
        if (!slri_lower_kept(l, in))
            lower_plain(l, *in);
        break;
    }
}

void slri_lower_instrs(struct slri_lowering *l, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        l->from_block = block;
        l->from_index = i;
        lower_instr(l, &block->instr[i]);
    }
}

// ---- functions -----------------------------------------------------------------------------------------------------

void slri_lower_count(const struct slri_block *block, uint32_t *count, const struct slri_instr **last)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (in->dst != SLRI_NO_REG) {
            count[in->dst]++;
            if (last)
                last[in->dst] = in;
        }
        for (int part = 0; part < 3; part++)
            slri_lower_count(in->body[part], count, last);
        for (uint32_t k = 0; k < in->cases; k++)
            slri_lower_count(in->match[k].body, count, last);
    }
}

static bool find_literals(struct slri_lowering *l)
{
    const struct slri_function *source = l->source;
    uint32_t *count = slri_region_take(l->region, (source->regs + 1) * sizeof *count);
    l->literal = slri_region_take(l->region, (source->regs + 1) * sizeof *l->literal);
    if (!count || !l->literal)
        return false;
    for (uint32_t i = 0; i < source->params; i++)
        count[source->param[i].reg]++;
    for (uint32_t i = 0; source == l->handler->function && i < l->handler->bindings; i++)
        if (l->handler->binding[i].reg != SLRI_NO_REG)
            count[l->handler->binding[i].reg]++;
    slri_lower_count(source->body, count, l->literal);
    for (slri_reg reg = 0; reg < source->regs; reg++)
        if (count[reg] != 1 || !l->literal[reg] || l->literal[reg]->op != SLRI_OP_CONST)
            l->literal[reg] = NULL;
    return true;
}

static bool copy_registers(struct slri_lowering *l)
{
    const struct slri_function *source = l->source;
    struct slri_function *made = l->function;
    *made = *source;
    made->regs = made->reg_room = 0;
    made->reg_kind = NULL;
    made->reg_name = NULL;
    for (slri_reg reg = 0; reg < source->regs; reg++)
        if (slri_function_add_reg(l->region, made, source->reg_kind[reg], source->reg_name[reg]) == SLRI_NO_REG)
            return false;
    made->param = slri_region_take(l->region, (source->params + 2) * sizeof *made->param);
    made->body = slri_block_create(l->region);
    if (!made->param || !made->body)
        return false;
    if (source->params)
        memcpy(made->param, source->param, source->params * sizeof *made->param);
    if (l->is_block && (made->uses & SLRI_USES_REPLY))
        made->uses |= SLRI_USES_SHARED;
    made->uses &= ~(uint32_t)(SLRI_USES_REPLY | SLRI_USES_INSTANCE | SLRI_USES_BATCH);
    return true;
}

// What the handler is given by value, and where its pointers begin.
static void give_values(struct slri_lowering *l)
{
    for (uint32_t i = 0; i < l->handler->bindings; i++) {
        const struct slri_binding_info *binding = &l->handler->binding[i];
        if (binding->reg == SLRI_NO_REG || binding->is_outlet)
            continue;
        if (binding->is_buffer) {
            slri_lower_set_const(l, binding->reg, SLRI_I64, 0);
            continue;
        }
        slri_reg at = slri_lower_const(l, SLRI_I64, RL_BINDING(i));
        struct slri_instr *load = slri_lower_append(l, SLRI_OP_LOAD, binding->type->kind);
        load->dst = binding->reg;
        load->root = slri_lower_root(SLRI_BATCH_CONSTANTS);
        load->a = at;
    }
}

static bool lower_function(struct slri_lowering *l, const struct slri_function *source)
{
    bool is_handler = source == l->handler->function;
    struct slri_function *made = slri_region_take(l->region, sizeof *made);
    l->source = source;
    l->function = made;
    if (!made || !copy_registers(l) || !find_literals(l))
        return false;
    l->shares[source->index] = is_handler || any_instr(l, source->body, needs_call);
    if (l->shares[source->index]) {
        l->call = (struct slri_root){SLRI_ROOT_PARAM, made->params};
        made->param[made->params++] = (struct slri_param){
            .name = "slri_call", .reg = slri_lower_reg(l, SLRI_I64), .is_memory = true, .bytes = l->call_bytes};
    }
    if (l->shares[source->index] && l->is_block) {
        l->common = (struct slri_root){SLRI_ROOT_PARAM, made->params};
        made->param[made->params++] = (struct slri_param){.name = "slri_common",
                                                          .reg = slri_lower_reg(l, SLRI_I64),
                                                          .is_memory = true,
                                                          .is_common = true,
                                                          .bytes = l->common_bytes};
    }
    l->block = made->body;
    l->where = source->where;
    l->in_test = false;
    if (is_handler)
        give_values(l);
    if (any_instr(l, source->body, reads_state))
        l->state = of_whole_words(l, slri_lower_convert(l, SLRI_I64, slri_lower_get(l, SLRI_CALL_STATE)));
    if (any_instr(l, source->body, reads_message))
        l->message = of_whole_words(l, slri_lower_convert(l, SLRI_I64, slri_lower_get(l, SLRI_CALL_MESSAGE)));
    slri_lower_instrs(l, source->body);
    l->made[source->index] = made;
    return !l->out_of_memory;
}

bool slri_lower_functions(struct slri_lowering *l)
{
    bool *reached = slri_region_take(l->region, (l->from->functions + 1) * sizeof *reached);
    l->shares = slri_region_take(l->region, (l->from->functions + 1) * sizeof *l->shares);
    if (!reached || !l->shares)
        return false;
    reached[l->handler->function->index] = true;
    reach(l, l->handler->function->body, reached);
    for (uint32_t i = 0; i < l->from->functions; i++) // callees before callers
        if (reached[i] && !lower_function(l, l->from->function[i]))
            return false;
    return true;
}
