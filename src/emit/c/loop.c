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
#include "ir/counted.h"
#include "ir/ir_names.h"

#define TREE_LIMIT 1024 // threads of a block: 10 steps

static bool knows_literal(const void *user, slri_reg reg, uint64_t *value)
{
    return slri_c_is_literal(user, reg, value);
}

static bool callee_uses_fuel(const void *user, const struct slri_function *callee)
{
    return slri_c_traits(user, callee)->uses_fuel;
}

static struct slri_counting counting(const struct slri_c_emitter *e)
{
    return (struct slri_counting){.literal = knows_literal, .uses_fuel = callee_uses_fuel, .user = e};
}

bool slri_c_counts_up(const struct slri_c_emitter *e, const struct slri_instr *loop, struct slri_counted *out)
{
    const struct slri_counting c = counting(e);
    return slri_counted_loop(&c, loop, out) && out->stride > 0;
}

bool slri_c_counts(const struct slri_c_emitter *e, const struct slri_instr *loop, struct slri_c_count *out)
{
    const struct slri_counting c = counting(e);
    struct slri_counted counted;
    int64_t bound;
    if (!slri_c_counts_up(e, loop, &counted) ||
        !slri_counted_literal(&c, loop->body[0], loop->body[0]->count, counted.bound, &bound) || bound <= 0)
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
    const struct slri_counting c = counting(e);
    struct slri_counted counted;
    int64_t by, bound, begin = 0;
    const struct slri_block *step = loop->body[2];
    if (!step || !slri_counted_test(&c, loop, &counted) ||
        !slri_counted_literal(&c, loop->body[0], loop->body[0]->count, counted.bound, &bound))
        return false;
    const struct slri_instr *in = slri_last_assignment(step, step->count, counted.induction);
    if (!in || in->a != counted.induction ||
        !slri_counted_literal(&c, step, (uint32_t)(in - step->instr), in->b, &by) || by < 1)
        return false;
    bool down = in->op == SLRI_OP_SHR || (in->op == SLRI_OP_DIV && by > 1);
    bool up = in->op == SLRI_OP_SHL || (in->op == SLRI_OP_MUL && by > 1);
    return (counted.stride < 0 ? down && bound >= 0 : up && bound <= TREE_LIMIT) &&
           begins_with(e, counted.induction, in, &begin) && begin > 0 && begin <= TREE_LIMIT;
}

// ---- spelling it ---------------------------------------------------------------------------------------------------

static bool is_loop_continue(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
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
    if (slri_c_any(e, loop->body[1], is_loop_continue, NULL)) {
        slri_c_begin(e, loop->where);
        slri_text_printf(e->out, "continue_%u:;", e->continue_label);
    }
    if (loop->body[2])
        put(e, loop->body[2]);
    e->continue_label = outer;
}

static void put_loop_back_edge(struct slri_c_emitter *e, const struct slri_instr *loop)
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
        put_loop_back_edge(e, loop);
    if (loop->do_while)
        slri_c_loop_test(e, loop, slri_c_block);
    slri_c_close(e);
}

static bool shows_at_fault(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    (void)user;
    return slri_c_may_fault(e, in) || (in->op >= SLRI_OP_ATOMIC_LOAD && in->op <= SLRI_OP_CALL);
}

static void put_trips(struct slri_c_emitter *e, const struct slri_instr *loop, const struct slri_counted *counted,
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
static void put_counted(struct slri_c_emitter *e, const struct slri_instr *loop, const struct slri_counted *counted)
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
    const struct slri_counting c = counting(e);
    struct slri_counted counted;
    struct slri_c_kernel *k = e->kernel;
    bool break_masked = k && k->break_masked, continue_masked = k && k->continue_masked;
    bool sums_alone = k && k->sums_alone;
    if (k) {
        k->break_masked = k->continue_masked = false;
        k->sums_alone = e->is_grid && !slri_c_any(e, loop->body[1], is_dear, NULL);
    }
    if (e->is_grid)
        put_loop(e, loop, false);
    else if (slri_counted_loop(&c, loop, &counted))
        put_counted(e, loop, &counted);
    else
        put_loop(e, loop, true);
    if (k) {
        k->break_masked = break_masked;
        k->continue_masked = continue_masked;
        k->sums_alone = sums_alone;
    }
}
