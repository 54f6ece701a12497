// SPDX-License-Identifier: Apache-2.0
// Loops and their fuel.
//
// A back edge takes one unit of fuel. A test of the fuel at each is an exit that keeps compilers from vectorising, so
// an innermost loop whose trip count can be computed on entry pays for all trips there:
//
//     test; if (a) { trips = ...; if (trips < fuel) { fuel -= trips; the loop, unchecked } else { the loop, checked } }
//
// The checked copy is what makes both ways the same: it faults where, and with the effects with which, the interpreter
// does. It is left out where nobody could tell: the loop can only run out of fuel, and touches nothing that outlives
// the fault.
#include "emit/c/plan.h"
#include "ir/ir_names.h"

#define STRIDE_LIMIT 65536
#define TREE_LIMIT 1024 // threads of a block: 10 steps

// A loop `for (; induction OP bound; induction += stride)` whose bound does not change.
struct counted {
    slri_reg induction, bound;
    enum slri_kind kind;
    int64_t stride; // below 0: going down
    bool inclusive; // <= or >=
};

// ---- is the loop counted? ------------------------------------------------------------------------------------------

static bool assigns(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    (void)e;
    return in->dst == *(slri_reg *)user;
}

static bool assigned_in(const struct slri_c_emitter *e, const struct slri_block *block, slri_reg reg)
{
    return slri_c_any(e, block, assigns, &reg);
}

// The last instruction before `end` that assigns the register, or NULL.
static const struct slri_instr *assignment(const struct slri_block *block, uint32_t end, slri_reg reg)
{
    while (end-- > 0)
        if (block->instr[end].dst == reg)
            return &block->instr[end];
    return NULL;
}

// Has no effect but its dst, cannot fault, and reads no memory that the loop could write.
static bool is_pure(const struct slri_instr *in)
{
    if (in->op == SLRI_OP_DIV || in->op == SLRI_OP_REM)
        return slri_kind_is_float(in->kind);
    if (in->op == SLRI_OP_LOAD)
        return !in->is_volatile && (in->root.kind == SLRI_ROOT_MESSAGE || in->root.kind == SLRI_ROOT_CONST);
    return in->op <= SLRI_OP_CONVERT || in->op == SLRI_OP_MATH || in->op == SLRI_OP_INSTANCE;
}

static bool all_pure(const struct slri_block *block)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (!is_pure(&block->instr[i]))
            return false;
    return true;
}

// Whether the register, read at the end of the test's first `end` instructions, has the same value in every trip.
static bool is_invariant(const struct slri_c_emitter *e, const struct slri_instr *loop, uint32_t end, slri_reg reg)
{
    const struct slri_block *test = loop->body[0];
    const struct slri_instr *in = assignment(test, end, reg);
    if (reg == SLRI_NO_REG || (in && in->op == SLRI_OP_CONST))
        return true;
    if (assigned_in(e, loop->body[1], reg) || assigned_in(e, loop->body[2], reg))
        return false;
    if (!in)
        return !assigned_in(e, test, reg);
    end = (uint32_t)(in - test->instr);
    for (uint32_t i = 0; i < in->args; i++)
        if (!is_invariant(e, loop, end, in->arg[i].reg))
            return false;
    return is_invariant(e, loop, end, in->a) && is_invariant(e, loop, end, in->b);
}

// The register that `reg`, at the end of the block's first `end` instructions, is a copy of.
static slri_reg origin(const struct slri_block *block, uint32_t end, slri_reg reg)
{
    const struct slri_instr *in = assignment(block, end, reg);
    while (in && in->op == SLRI_OP_MOVE) {
        end = (uint32_t)(in - block->instr);
        reg = in->a;
        in = assignment(block, end, reg);
    }
    return in ? SLRI_NO_REG : reg;
}

static bool find_test(const struct slri_c_emitter *e, const struct slri_instr *loop, struct counted *out)
{
    const struct slri_block *test = loop->body[0];
    const struct slri_instr *compare = loop->a == SLRI_NO_REG ? NULL : assignment(test, test->count, loop->a);
    if (loop->do_while || !compare || compare->op < SLRI_OP_LT || compare->op > SLRI_OP_GE ||
        slri_kind_is_float(compare->kind) || !all_pure(test))
        return false;
    uint32_t end = (uint32_t)(compare - test->instr);
    bool swapped = is_invariant(e, loop, end, compare->a);
    *out = (struct counted){.induction = origin(test, end, swapped ? compare->b : compare->a),
                            .bound = swapped ? compare->a : compare->b,
                            .kind = compare->kind,
                            .inclusive = compare->op == SLRI_OP_LE || compare->op == SLRI_OP_GE};
    bool upwards = (compare->op == SLRI_OP_LT || compare->op == SLRI_OP_LE) != swapped;
    out->stride = upwards ? 1 : -1;
    return out->induction != SLRI_NO_REG && is_invariant(e, loop, end, out->bound);
}

static bool literal_at(const struct slri_c_emitter *e, const struct slri_block *block, uint32_t end, slri_reg reg,
                       int64_t *value)
{
    const struct slri_instr *in = assignment(block, end, reg);
    uint64_t bits;
    if (in && in->op == SLRI_OP_CONST)
        bits = slri_kind_bytes(in->kind) == 4 ? (uint64_t)(int64_t)(int32_t)(uint32_t)in->imm : in->imm;
    else if (in || !slri_c_is_literal(e, reg, &bits))
        return false;
    *value = (int64_t)bits;
    return true;
}

// By how much the block's first `end` instructions leave `reg` above what `induction` was before them.
static bool find_stride(const struct slri_c_emitter *e, const struct slri_block *block, uint32_t end, slri_reg reg,
                        slri_reg induction, int64_t *stride)
{
    const struct slri_instr *in = assignment(block, end, reg);
    if (!in) {
        *stride = 0;
        return reg == induction;
    }
    end = (uint32_t)(in - block->instr);
    if (in->op == SLRI_OP_MOVE)
        return find_stride(e, block, end, in->a, induction, stride);
    if (in->op != SLRI_OP_ADD && in->op != SLRI_OP_SUB)
        return false;
    int64_t by, before;
    bool swapped = in->op == SLRI_OP_ADD && literal_at(e, block, end, in->a, &by);
    if (!swapped && !literal_at(e, block, end, in->b, &by))
        return false;
    if (by < -STRIDE_LIMIT || by > STRIDE_LIMIT ||
        !find_stride(e, block, end, swapped ? in->b : in->a, induction, &before))
        return false;
    *stride = before + (in->op == SLRI_OP_SUB ? -by : by);
    return *stride >= -STRIDE_LIMIT && *stride <= STRIDE_LIMIT;
}

// What a loop holds that runs in a trip, but not once in each, or has fuel of its own.
static bool breaks_count(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    (void)user;
    return in->op == SLRI_OP_LOOP || in->op == SLRI_OP_RETURN ||
           (in->op == SLRI_OP_CALL && slri_c_traits(e, in->callee)->uses_fuel);
}

// A BREAK of this loop: one that is in no loop or switch within the block.
static bool leaves(const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (in->op == SLRI_OP_BREAK || (in->op == SLRI_OP_IF && (leaves(in->body[0]) || leaves(in->body[1]))))
            return true;
    }
    return false;
}

static bool find_counted(const struct slri_c_emitter *e, const struct slri_instr *loop, struct counted *out)
{
    const struct slri_block *step = loop->body[2];
    if (!step || !all_pure(step) || !find_test(e, loop, out))
        return false;
    if (assigned_in(e, loop->body[0], out->induction) || assigned_in(e, loop->body[1], out->induction))
        return false;
    int64_t stride = 0;
    if (!find_stride(e, step, step->count, out->induction, out->induction, &stride) || stride == 0 ||
        (stride < 0) != (out->stride < 0))
        return false;
    out->stride = stride;
    return !slri_c_any(e, loop->body[1], breaks_count, NULL) && !leaves(loop->body[1]);
}

bool slri_c_counts(const struct slri_c_emitter *e, const struct slri_instr *loop, struct slri_c_count *out)
{
    struct counted counted;
    int64_t bound;
    if (!find_counted(e, loop, &counted) || counted.stride < 0 ||
        !literal_at(e, loop->body[0], loop->body[0]->count, counted.bound, &bound) || bound <= 0)
        return false;
    *out = (struct slri_c_count){counted.induction, counted.kind, bound + counted.inclusive, counted.stride};
    return true;
}

bool slri_c_has_few_trips(const struct slri_c_emitter *e, const struct slri_instr *loop, int64_t most)
{
    struct slri_c_count count;
    return slri_c_counts(e, loop, &count) && count.to <= most;
}

struct first { // what a loop's counter begins with
    slri_reg counter;
    const struct slri_instr *step, *found;
};

static bool finds_first(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    struct first *first = user;
    (void)e;
    if (in->dst == first->counter && in != first->step)
        first->found = in;
    return false;
}

static bool begins_with(const struct slri_c_emitter *e, slri_reg counter, const struct slri_instr *step, int64_t *value)
{
    const struct slri_c_kernel *k = e->kernel;
    struct first first = {counter, step, NULL};
    slri_c_any(e, k->function.body, finds_first, &first);
    if (k->value[counter].defs != 2 || !first.found)
        return false;
    *value = (int64_t)first.found->imm;
    if (first.found->op == SLRI_OP_CONST)
        return true;
    if (first.found->op != SLRI_OP_MOVE && first.found->op != SLRI_OP_CONVERT)
        return false;
    uint64_t bits;
    const struct slri_c_value *from = &k->value[first.found->a];
    bool is_literal = slri_c_is_literal(e, first.found->a, &bits);
    *value = is_literal ? (int64_t)bits : from->least;
    return is_literal || (from->some && !from->any && from->least == from->most);
}

bool slri_c_is_tree(const struct slri_c_emitter *e, const struct slri_instr *loop)
{
    struct counted counted;
    int64_t by, bound, begin = 0;
    const struct slri_block *step = loop->body[2];
    if (!step || !find_test(e, loop, &counted) || assigned_in(e, loop->body[0], counted.induction) ||
        assigned_in(e, loop->body[1], counted.induction) || slri_c_any(e, loop->body[1], breaks_count, NULL) ||
        !literal_at(e, loop->body[0], loop->body[0]->count, counted.bound, &bound))
        return false;
    const struct slri_instr *in = assignment(step, step->count, counted.induction);
    if (!in || in->a != counted.induction || !literal_at(e, step, (uint32_t)(in - step->instr), in->b, &by) || by < 1)
        return false;
    bool down = in->op == SLRI_OP_SHR || (in->op == SLRI_OP_DIV && by > 1);
    bool up = in->op == SLRI_OP_SHL || (in->op == SLRI_OP_MUL && by > 1);
    return (counted.stride < 0 ? down && bound >= 0 : up && bound <= TREE_LIMIT) &&
           begins_with(e, counted.induction, in, &begin) && begin > 0 && begin <= TREE_LIMIT;
}

// ---- spelling it ---------------------------------------------------------------------------------------------------

static bool is_continue(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    (void)e;
    (void)user;
    return in->op == SLRI_OP_CONTINUE;
}

void slri_c_loop_test(struct slri_c_emitter *e, const struct slri_instr *loop, slri_c_put_block *put)
{
    put(e, loop->body[0]);
    if (loop->a == SLRI_NO_REG)
        return;
    slri_c_begin(e, loop->where);
    slri_c_put(e, "if (!");
    slri_c_register(e, loop->a);
    slri_c_put(e, ") break;");
}

void slri_c_loop_body(struct slri_c_emitter *e, const struct slri_instr *loop, slri_c_put_block *put)
{
    uint32_t outer = e->continue_label;
    e->continue_label = e->labels++;
    put(e, loop->body[1]);
    if (slri_c_any(e, loop->body[1], is_continue, NULL)) {
        slri_c_begin(e, loop->where);
        slri_text_printf(e->out, "continue_%u:;", e->continue_label);
    }
    if (loop->body[2])
        put(e, loop->body[2]);
    e->continue_label = outer;
}

static void put_back_edge(struct slri_c_emitter *e, const struct slri_instr *loop)
{
    slri_c_begin(e, loop->where);
    slri_text_printf(e->out, "if (fuel <= 1) return slri_no_fuel(call, %u, %u, %u); fuel--;", loop->where.file,
                     loop->where.line, loop->where.column);
}

static void put_loop(struct slri_c_emitter *e, const struct slri_instr *loop, bool checked)
{
    slri_c_begin(e, loop->where);
    slri_c_put(e, "for (;;) {");
    e->depth++;
    if (!loop->do_while)
        slri_c_loop_test(e, loop, slri_c_block);
    slri_c_loop_body(e, loop, slri_c_block);
    if (checked)
        put_back_edge(e, loop);
    if (loop->do_while)
        slri_c_loop_test(e, loop, slri_c_block);
    slri_c_close(e);
}

static bool shows_at_fault(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    (void)user;
    return slri_c_may_fault(e, in) || (in->op >= SLRI_OP_ATOMIC_LOAD && in->op <= SLRI_OP_CALL);
}

static void put_trips(struct slri_c_emitter *e, const struct slri_instr *loop, const struct counted *counted,
                      uint32_t number)
{
    bool down = counted->stride < 0;
    slri_c_begin(e, loop->where);
    slri_text_printf(e->out, "const uint64_t trips_%u = slri_trips_%s_%s(", number, down ? "down" : "up",
                     slri_kind_name(counted->kind));
    slri_c_register(e, counted->induction);
    slri_c_put(e, ", ");
    slri_c_register(e, counted->bound);
    slri_text_printf(e->out, ", %llu, %d);", (unsigned long long)(down ? -counted->stride : counted->stride),
                     counted->inclusive);
}

// In a block of its own, so that the test's registers and trips_N may be computed before the loop.
static void put_counted(struct slri_c_emitter *e, const struct slri_instr *loop, const struct counted *counted)
{
    uint32_t number = e->labels++;
    bool fault_shows = slri_c_any(e, loop->body[1], shows_at_fault, NULL) || counted->stride < -1 ||
                       counted->stride > 1; // it might wrap, and end all the same
    slri_c_begin(e, loop->where);
    slri_c_put(e, "{");
    e->depth++;
    slri_c_block(e, loop->body[0]);
    put_trips(e, loop, counted, number);
    if (fault_shows)
        slri_text_printf(e->out, " if (!slri_affords(fuel, trips_%u)) {", number);
    else
        slri_text_printf(e->out,
                         " if (!slri_affords(fuel, trips_%u)) return slri_no_fuel(call, %u, %u, %u); fuel -= trips_%u;",
                         number, loop->where.file, loop->where.line, loop->where.column, number);
    if (fault_shows) {
        e->depth++;
        put_loop(e, loop, true);
        slri_c_close(e);
        slri_text_printf(e->out, " else { fuel -= trips_%u;", number);
        e->depth++;
    }
    put_loop(e, loop, false);
    if (fault_shows)
        slri_c_close(e);
    slri_c_close(e);
}

static bool is_dear(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    (void)e, (void)user;
    return in->op == SLRI_OP_MATH || in->op == SLRI_OP_CALL || in->op == SLRI_OP_DIV || in->op == SLRI_OP_REM;
}

void slri_c_loop(struct slri_c_emitter *e, const struct slri_instr *loop)
{
    struct counted counted;
    struct slri_c_kernel *k = e->kernel;
    bool break_masked = k && k->break_masked, continue_masked = k && k->continue_masked;
    bool sums_alone = k && k->sums_alone;
    if (k) {
        k->break_masked = k->continue_masked = false;
        k->sums_alone = e->is_grid && !slri_c_any(e, loop->body[1], is_dear, NULL);
    }
    if (e->is_grid)
        put_loop(e, loop, false);
    else if (find_counted(e, loop, &counted))
        put_counted(e, loop, &counted);
    else
        put_loop(e, loop, true);
    if (k) {
        k->break_masked = break_masked;
        k->continue_masked = continue_masked;
        k->sums_alone = sums_alone;
    }
}
