// SPDX-License-Identifier: Apache-2.0
// A handler's loops and their fuel.
#include "abi/handler.h"
#include "ir/pass/lower.h"

static slri_reg none_of(struct slri_lowering *l)
{
    return slri_lower_const(l, SLRI_U64, 0);
}

// Of a block: whether its threads all take the loop, and leave it together. Then a fault of one must not end it, as the
// others wait for it there; what all of them count alike does. So whatever is uniform behind the loop remains so.
bool slri_lower_is_common(const struct slri_lowering *l, const struct slri_block *block, uint32_t index)
{
    return l->is_block && slri_uniform_flow(l->uniform, l->source, block, index) &&
           slri_uniform_branch(l->uniform, l->source, &block->instr[index]);
}

static slri_reg may_go_on(struct slri_lowering *l, uint32_t word)
{
    if (word == SLRI_CALL_TURNS)
        return slri_lower_op(l, SLRI_OP_NE, SLRI_U64, slri_lower_get(l, word), none_of(l));
    return slri_lower_op(l, SLRI_OP_EQ, SLRI_U64, slri_lower_get(l, SLRI_CALL_FAULT), none_of(l));
}

static void lower_edge(struct slri_lowering *l, uint32_t word)
{
    slri_reg fuel = slri_lower_get(l, word), one = slri_lower_const(l, SLRI_U64, 1);
    slri_reg is_out = slri_lower_op(l, SLRI_OP_LE, SLRI_U64, fuel, one);
    if (l->is_block) { // which goes on, with none
        struct slri_block *behind = slri_lower_if(l, is_out, NULL);
        slri_lower_note(l, SLRI_FAULT_FUEL);
        slri_lower_set(l, fuel, SLRI_OP_MOVE, SLRI_U64, one, SLRI_NO_REG);
        l->block = behind;
    } else {
        slri_lower_leave_where(l, is_out, SLRI_FAULT_FUEL);
    }
    slri_lower_put(l, word, slri_lower_op(l, SLRI_OP_SUB, SLRI_U64, fuel, one));
}

// body[2] and the back edge.
static void lower_step(struct slri_lowering *l, const struct slri_instr *loop, uint32_t word)
{
    slri_lower_instrs(l, loop->body[2]);
    l->where = loop->where;
    lower_edge(l, word);
}

// body[0], and whether to go on: 0 at a fault, of the step too. Of a do loop the step is in front of it: texts of C
// have no other place for it.
static void lower_test(struct slri_lowering *l, const struct slri_instr *loop, slri_reg goes, uint32_t word)
{
    slri_lower_set_const(l, goes, SLRI_I32, 0);
    if (loop->do_while)
        lower_step(l, loop, word);
    else
        slri_lower_leave_at_fault(l);
    slri_lower_instrs(l, loop->body[0]);
    slri_reg test = loop->a == SLRI_NO_REG ? slri_lower_const(l, SLRI_I32, 1) : loop->a;
    if (l->is_block) {
        test = slri_lower_op(l, SLRI_OP_NE, SLRI_I32, test, slri_lower_const(l, SLRI_I32, 0));
        slri_lower_set(l, goes, SLRI_OP_AND, SLRI_I32, test, may_go_on(l, word));
    } else {
        slri_lower_set(l, goes, SLRI_OP_MOVE, SLRI_I32, test, SLRI_NO_REG);
    }
}

// Whose every back edge takes fuel.
static void put_bounded(struct slri_lowering *l, const struct slri_instr *loop, uint32_t word)
{
    struct slri_block *behind = l->block;
    struct slri_instr made = *loop;
    made.a = slri_lower_variable(l, SLRI_I32, "goes");
    made.body[1] = slri_lower_into(l, loop->body[1], false);
    made.body[0] = slri_lower_block(l);
    made.body[2] = loop->do_while ? NULL : slri_lower_block(l);
    l->in_test = true;
    l->block = made.body[0];
    lower_test(l, loop, made.a, word);
    l->block = made.body[2];
    if (!loop->do_while)
        lower_step(l, loop, word);
    l->in_test = false;
    l->block = behind;
    l->where = loop->where;
    *slri_lower_append(l, SLRI_OP_LOOP, SLRI_VOID) = made;
    slri_lower_leave_at_fault(l);
}

// Whose fuel is paid. Its test and step have no fault.
static void put_paid(struct slri_lowering *l, const struct slri_instr *loop)
{
    struct slri_instr made = *loop;
    made.body[0] = slri_lower_into(l, loop->body[0], true);
    made.body[1] = slri_lower_into(l, loop->body[1], false);
    made.body[2] = slri_lower_into(l, loop->body[2], true);
    l->where = loop->where;
    *slri_lower_append(l, SLRI_OP_LOOP, SLRI_VOID) = made;
}

static bool knows_literal(const void *user, slri_reg reg, uint64_t *value)
{
    const struct slri_lowering *l = user;
    if (!slri_lower_is_literal(l, reg, 0, UINT64_MAX))
        return false;
    uint64_t bits = l->literal[reg]->imm;
    *value = slri_kind_bytes(l->literal[reg]->kind) == 4 ? (uint64_t)(int64_t)(int32_t)(uint32_t)bits : bits;
    return true;
}

static bool calls_take_fuel(const void *user, const struct slri_function *callee)
{
    (void)user;
    (void)callee;
    return true; // a body with a call is not written twice
}

static struct slri_counting counting_of(const struct slri_lowering *l, bool holds_loops)
{
    return (struct slri_counting){
        .literal = knows_literal, .uses_fuel = calls_take_fuel, .user = l, .holds_loops = holds_loops};
}

bool slri_lower_counts(const struct slri_lowering *l, const struct slri_instr *loop, bool holds_loops,
                       struct slri_counted *out)
{
    const struct slri_counting counting = counting_of(l, holds_loops);
    return slri_counted_loop(&counting, loop, out);
}

// How often it runs, or UINT64_MAX if the counter would wrap before it reaches the bound. The test has been done once,
// for the bound.
slri_reg slri_lower_trips(struct slri_lowering *l, const struct slri_counted *counted)
{
    static const uint64_t most_of[] = {
        [SLRI_I32] = INT32_MAX, [SLRI_U32] = UINT32_MAX, [SLRI_I64] = INT64_MAX, [SLRI_U64] = UINT64_MAX};
    static const uint64_t least_of[] = {
        [SLRI_I32] = (uint64_t)(int64_t)INT32_MIN, [SLRI_I64] = (uint64_t)INT64_MIN, [SLRI_U64] = 0};
    const bool down = counted->stride < 0;
    const uint64_t stride = (uint64_t)(down ? -counted->stride : counted->stride), more = counted->inclusive;
    slri_reg first = down ? counted->bound : counted->induction, last = down ? counted->induction : counted->bound;
    slri_reg trips = slri_lower_variable(l, SLRI_U64, "trips"), any;
    slri_lower_set_const(l, trips, SLRI_U64, 0);
    any = slri_lower_op(l, more ? SLRI_OP_LE : SLRI_OP_LT, counted->kind, first, last);
    struct slri_block *behind = slri_lower_if(l, any, NULL);
    slri_reg from = slri_lower_convert(l, SLRI_U64, first), to = slri_lower_convert(l, SLRI_U64, last);
    slri_reg edge = slri_lower_const(l, SLRI_U64, down ? least_of[counted->kind] : most_of[counted->kind]);
    slri_reg room =
        down ? slri_lower_op(l, SLRI_OP_SUB, SLRI_U64, from, edge) : slri_lower_op(l, SLRI_OP_SUB, SLRI_U64, edge, to);
    slri_reg steps = slri_lower_op(l, SLRI_OP_SUB, SLRI_U64, to, from), one = slri_lower_const(l, SLRI_U64, 1);
    if (!more)
        steps = slri_lower_op(l, SLRI_OP_SUB, SLRI_U64, steps, one);
    if (stride > 1)
        steps = slri_lower_op(l, SLRI_OP_DIV, SLRI_U64, steps, slri_lower_const(l, SLRI_U64, stride));
    slri_lower_set(l, trips, SLRI_OP_ADD, SLRI_U64, steps, one);
    if (stride - 1 + more != 0) {
        slri_reg needed = slri_lower_const(l, SLRI_U64, stride - 1 + more);
        slri_lower_if(l, slri_lower_op(l, SLRI_OP_LT, SLRI_U64, room, needed), NULL);
        slri_lower_set_const(l, trips, SLRI_U64, UINT64_MAX);
    }
    l->block = behind;
    return trips;
}

#define PAID_BODY 32u // instructions: they are written twice

// A loop alone, or a nest of them. `nest` has none where the fuel is paid at each edge.
static void find_paid(const struct slri_lowering *l, const struct slri_instr *loop, bool is_common,
                      struct slri_nest *nest)
{
    struct slri_nest_loop *first = &nest->loop[0];
    nest->loops = 0;
    if (l->paying == SLRI_PAY_EDGES || slri_lower_find_nest(l, loop, is_common, nest) ||
        loop->body[1]->count > PAID_BODY || !slri_lower_counts(l, loop, false, &first->counted))
        return;
    first->loop = loop;
    nest->loops = 1;
}

// ---- loops of a few turns ------------------------------------------------------------------------------------------

#define UNROLLED_TRIPS 16
#define UNROLLED_INSTRS 256u  // of all trips
#define UNROLLED_MOST 1000000 // that the counter begins, ends and steps with: it does not wrap

static bool is_apart(struct slri_root root)
{
    return root.kind != SLRI_ROOT_BINDING && root.kind != SLRI_ROOT_GLOBAL;
}

// Neither faults nor leaves anything that outlasts a fault, nor jumps.
static bool is_unseen(const struct slri_block *block, uint32_t *count)
{
    bool is_so = true;
    for (uint32_t i = 0; block && i < block->count && is_so; i++) {
        const struct slri_instr *in = &block->instr[i];
        const bool divides = (in->op == SLRI_OP_DIV || in->op == SLRI_OP_REM) && !slri_kind_is_float(in->kind);
        ++*count;
        if (in->op == SLRI_OP_IF)
            is_so = is_unseen(in->body[0], count) && is_unseen(in->body[1], count);
        else if (in->op == SLRI_OP_LOAD || in->op == SLRI_OP_STORE || in->op == SLRI_OP_COPY || in->op == SLRI_OP_ZERO)
            is_so = is_apart(in->root) && is_apart(in->root2);
        else
            is_so = (in->op <= SLRI_OP_CONVERT && !divides) || in->op == SLRI_OP_MATH;
    }
    return is_so;
}

// How many turns it takes; 0: that is not known, or too many, or too many for its body.
static uint32_t few_trips(const struct slri_lowering *l, const struct slri_instr *loop)
{
    const struct slri_counting counting = counting_of(l, false);
    struct slri_counted counted;
    int64_t first, end;
    uint32_t count = 0;
    if (l->is_block || loop->do_while || !slri_counted_loop(&counting, loop, &counted) ||
        !slri_counted_literal(&counting, l->from_block, l->from_index, counted.induction, &first) ||
        !slri_counted_literal(&counting, loop->body[0], loop->body[0]->count, counted.bound, &end) || first < 0 ||
        end < 0 || first > UNROLLED_MOST || end > UNROLLED_MOST || counted.stride > UNROLLED_MOST ||
        counted.stride < -UNROLLED_MOST)
        return 0;
    const int64_t stride = counted.stride < 0 ? -counted.stride : counted.stride;
    const int64_t span = (counted.stride < 0 ? first - end : end - first) + counted.inclusive;
    const int64_t trips = span > 0 ? (span - 1) / stride + 1 : 0;
    return trips <= UNROLLED_TRIPS && is_unseen(loop->body[0], &count) && is_unseen(loop->body[1], &count) &&
                   is_unseen(loop->body[2], &count) && count * (uint64_t)trips <= UNROLLED_INSTRS
               ? (uint32_t)trips
               : 0;
}

// The literals of what is written out, once: a register that is given one again and again is no constant to an emitter.
static void put_literals(struct slri_lowering *l, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (slri_lower_is_literal(l, in->dst, 0, UINT64_MAX))
            *slri_lower_append(l, SLRI_OP_CONST, in->kind) = *in;
        put_literals(l, in->body[0]);
        put_literals(l, in->body[1]);
    }
}

// Written out. With too little fuel it is sure to end in that fault, and nothing shows how far it came.
static bool unroll(struct slri_lowering *l, const struct slri_instr *loop)
{
    const uint32_t trips = l->paying == SLRI_PAY_EDGES ? 0 : few_trips(l, loop);
    if (trips == 0)
        return false;
    if (l->paying == SLRI_PAY_EACH) {
        slri_reg fuel = slri_lower_get(l, SLRI_CALL_FUEL), taken = slri_lower_const(l, SLRI_U64, trips);
        slri_lower_leave_where(l, slri_lower_op(l, SLRI_OP_LE, SLRI_U64, fuel, taken), SLRI_FAULT_FUEL);
        slri_lower_put(l, SLRI_CALL_FUEL, slri_lower_op(l, SLRI_OP_SUB, SLRI_U64, fuel, taken));
    }
    for (int part = 0; part < 3; part++)
        put_literals(l, loop->body[part]);
    l->has_literals = true;
    slri_lower_instrs(l, loop->body[0]);
    for (uint32_t i = 0; i < trips; i++) {
        slri_lower_instrs(l, loop->body[1]);
        slri_lower_instrs(l, loop->body[2]);
    }
    l->has_literals = false;
    return true;
}

// A test of the fuel at each back edge keeps compilers from vectorising. So a loop whose trips are known when it begins
// pays for all of them then, if there is so much fuel; else it takes the way that faults where it is out. So does a
// nest of such loops, for all that are in it.
void slri_lower_loop(struct slri_lowering *l, const struct slri_instr *loop)
{
    const bool is_common = slri_lower_is_common(l, l->from_block, l->from_index);
    const uint32_t word = is_common ? SLRI_CALL_TURNS : SLRI_CALL_FUEL;
    const enum slri_paying outer = l->paying;
    struct slri_nest nest;
    if (unroll(l, loop))
        return;
    if (outer == SLRI_PAY_IS_DONE) {
        put_paid(l, loop);
        return;
    }
    find_paid(l, loop, is_common, &nest);
    if (nest.loops == 0) {
        put_bounded(l, loop, word);
        return;
    }
    slri_lower_instrs(l, loop->body[0]);
    l->where = loop->where;
    slri_reg fuel = slri_lower_get(l, word), trips, affords = slri_lower_affords(l, &nest, fuel, &trips);
    struct slri_block *other;
    struct slri_block *behind = slri_lower_if(l, affords, &other);
    slri_lower_put(l, word, slri_lower_op(l, SLRI_OP_SUB, SLRI_U64, fuel, trips));
    l->paying = SLRI_PAY_IS_DONE;
    put_paid(l, loop);
    l->block = other;
    l->paying = SLRI_PAY_EDGES;
    put_bounded(l, loop, word);
    l->paying = outer;
    l->block = behind;
}
