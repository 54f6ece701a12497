// SPDX-License-Identifier: Apache-2.0
// Instructions: each is an expression of the target's table. Statements where the target has statements; in the test
// and the step of a loop the same expressions behind commas, because there `continue` must find the step.
#include "emit/device/emit_device.h"
#include "abi/handler.h"
#include "ir/counted.h"
#include "ir/ir_names.h"

#include <string.h>

// ---- holes ---------------------------------------------------------------------------------------------------------

static const struct slri_entry *entry_of(struct slri_d_emitter *e)
{
    return slri_d_traits(e, e->c.function)->entry;
}

// What a pointer points to, for the target's compiler.
static void put_pointed(struct slri_d_emitter *e, const struct slri_instr *in)
{
    if (in->op == SLRI_OP_REPLY && !e->dialect->words)
        slri_d_type(e, entry_of(e)->reply);
    else if (in->op == SLRI_OP_SEND && !e->dialect->words)
        slri_d_type(e, entry_of(e)->binding[slri_sent_outlet(in)].type);
    else
        slri_d_put(e, e->dialect->kind[in->kind == SLRI_VOID ? SLRI_U8 : in->kind]);
}

static uint64_t bytes_of(struct slri_d_emitter *e, const struct slri_instr *in)
{
    if (in->op == SLRI_OP_COPY || in->op == SLRI_OP_ZERO)
        return in->imm;
    if (in->op == SLRI_OP_REPLY)
        return entry_of(e)->reply->bytes;
    return in->op == SLRI_OP_SEND ? slri_sent_bytes(in) : slri_kind_bytes(in->kind);
}

// A pointer to the bytes at (root, offset). Only a handler's buffers have a size that is known at launch alone.
static void put_place(struct slri_d_emitter *e, const struct slri_instr *in, struct slri_root root, slri_reg offset)
{
    bool is_checked = root.kind == SLRI_ROOT_BINDING && slri_d_traits(e, e->c.function)->in_handler;
    bool is_object = slri_d_is_object(e, root);
    slri_d_put(e, is_checked ? "SLRI_IN_BUFFER(" : is_object ? "SLRI_AT_OBJECT(" : "SLRI_AT(");
    slri_d_put(e, in->is_volatile ? "volatile " : "");
    put_pointed(e, in);
    slri_d_put(e, ", ");
    slri_d_root(e, root);
    slri_d_put(e, ", ");
    slri_d_register(e, offset);
    slri_d_put(e, e->dialect->root_space[slri_d_space(e, root)]);
    if (is_checked)
        slri_text_printf(e->c.out, ", %llu, %u, %u", (unsigned long long)bytes_of(e, in), in->where.file,
                         in->where.line);
    slri_d_put(e, ")");
}

static void put_spaces(struct slri_d_emitter *e, const struct slri_instr *in)
{
    slri_d_put(e, e->dialect->root_space[slri_d_space(e, in->root)]);
    slri_d_put(e, in->op == SLRI_OP_COPY ? e->dialect->root_space[slri_d_space(e, in->root2)] : "");
}

static void put_destination(struct slri_d_emitter *e, const struct slri_instr *in)
{
    if (in->dst == SLRI_NO_REG || (in->op >= SLRI_OP_ATOMIC_LOAD && e->reads[in->dst] == 0))
        return;
    slri_d_register(e, in->dst);
    slri_d_put(e, " = ");
}

// A handler's block is as large as the handler says, and a grid of its own, whatever its kernel's are.
static void put_builtin(struct slri_d_emitter *e, const struct slri_instr *in)
{
    const char *spelling = e->dialect->builtin[in->imm];
    bool is_index = in->imm < SLRI_BUILTIN_BLOCK_DIM_X;
    uint32_t value = is_index ? 0 : in->imm == SLRI_BUILTIN_BLOCK_DIM_X ? entry_of(e)->max_threads : 1;
    if (slri_d_traits(e, e->c.function)->in_handler && in->imm >= SLRI_BUILTIN_BLOCK_X)
        slri_text_printf(e->c.out, "SLRI_SHAPE(%s, %uu)", spelling, value);
    else
        slri_d_put(e, spelling);
}

static void put_hole(struct slri_d_emitter *e, const struct slri_instr *in, char hole)
{
    const struct slri_dialect *d = e->dialect;
    switch (hole) {
    case 'd':
        put_destination(e, in);
        break;
    case 'a':
        if (in->a != SLRI_NO_REG)
            slri_d_register(e, in->a);
        break;
    case 'b':
        slri_d_register(e, in->b);
        break;
    case 'c':
        slri_d_register(e, in->c);
        break;
    case 'p':
        put_place(e, in, in->root, in->a);
        break;
    case 'q':
        put_place(e, in, in->root2, in->b);
        break;
    case 'z':
        slri_d_root(e, in->root);
        break;
    case 'S':
        put_spaces(e, in);
        break;
    case 'T':
        slri_d_put(e, d->kind[in->kind]);
        break;
    case 'K':
        slri_d_put(e, slri_kind_name(in->kind));
        break;
    case 'n':
        slri_text_printf(e->c.out, "%llu%s", (unsigned long long)in->imm, d->suffix_u64);
        break;
    case 'A':
        slri_text_printf(e->c.out, "%u", in->align ? in->align : 1);
        break;
    case 'y':
        slri_text_printf(e->c.out, "%lluu", (unsigned long long)bytes_of(e, in));
        break;
    case 'l':
        slri_text_printf(e->c.out, "%u, %u", in->where.file, in->where.line);
        break;
    case 'o':
        slri_d_put(e, d->order[in->order]);
        break;
    case 's':
        slri_d_put(e, d->scope[in->scope]);
        break;
    case 'r':
        slri_d_put(e, d->rmw[in->imm]);
        break;
    case 'x':
        slri_d_put(e, d->scope_suffix[in->scope]);
        break;
    case 'B':
        slri_d_put(e, d->barrier[in->imm]);
        break;
    case 'u':
        put_builtin(e, in);
        break;
    default: // t: the outlet
        slri_d_root(e, (struct slri_root){SLRI_ROOT_BINDING, slri_sent_outlet(in)});
        break;
    }
}

void slri_d_spell(struct slri_d_emitter *e, const struct slri_instr *in, const char *text)
{
    while (*text) {
        size_t plain = strcspn(text, "$");
        slri_text_append(e->c.out, text, plain);
        text += plain;
        if (*text) {
            put_hole(e, in, text[1]);
            text += 2;
        }
    }
}

// ---- expressions ---------------------------------------------------------------------------------------------------

static bool is_signed_arithmetic(const struct slri_instr *in)
{
    return in->kind == SLRI_I32 || in->kind == SLRI_I64;
}

static bool is_small_literal(const struct slri_d_emitter *e, slri_reg reg, uint64_t least, uint64_t most)
{
    uint64_t value;
    return slri_c_is_literal(&e->c, reg, &value) && value >= least && value <= most;
}

static bool divides(const struct slri_d_emitter *e, const struct slri_instr *in)
{
    return (in->op == SLRI_OP_DIV || in->op == SLRI_OP_REM) && !slri_kind_is_float(in->kind) &&
           !is_small_literal(e, in->b, 1, INT32_MAX);
}

bool slri_d_may_fault(const struct slri_d_emitter *e, const struct slri_instr *in)
{
    return in->op == SLRI_OP_TRAP || (divides(e, in) && in->imm != SLRI_DIVISOR_IS_NOT_ZERO);
}

// CUDA's own functions, of which compilers know more than of those with an order: atomicAdd and the like have no order,
// and of floats there is only that.
static bool is_relaxed(const struct slri_instr *in)
{
    bool is_float = slri_kind_is_float(in->kind), is_wide = slri_kind_bytes(in->kind) == 8;
    return in->order == SLRI_RELAXED && in->imm < SLRI_RMW_INCREMENT && (!is_float || in->imm == SLRI_RMW_ADD) &&
           !(is_wide && in->imm == SLRI_RMW_SUB);
}

// Where C leaves it open what happens, a macro of the prelude says it.
static const char *spelling_of_arithmetic(struct slri_d_emitter *e, const struct slri_instr *in)
{
    bool in_handler = slri_d_traits(e, e->c.function)->in_handler, is_float = slri_kind_is_float(in->kind);
    uint64_t bits = slri_kind_bytes(in->kind) * 8;
    if (in->op == SLRI_OP_NEG && is_signed_arithmetic(in))
        return "$dSLRI_NEG($K, $a)";
    if (in->op == SLRI_OP_ADD && is_signed_arithmetic(in))
        return "$dSLRI_ADD($K, $a, $b)";
    if (in->op == SLRI_OP_SUB && is_signed_arithmetic(in))
        return "$dSLRI_SUB($K, $a, $b)";
    if (in->op == SLRI_OP_MUL && is_signed_arithmetic(in))
        return "$dSLRI_MUL($K, $a, $b)";
    if (divides(e, in)) {
        if (in->imm == SLRI_DIVISOR_IS_NOT_ZERO)
            return in->op == SLRI_OP_DIV ? "$dSLRI_SAFE_DIV($K, $a, $b)" : "$dSLRI_SAFE_REM($K, $a, $b)";
        if (in->op == SLRI_OP_DIV)
            return in_handler ? "$dSLRI_CHECKED_DIV($K, $a, $b, $l)" : "$dSLRI_DIV($K, $a, $b, $l)";
        return in_handler ? "$dSLRI_CHECKED_REM($K, $a, $b, $l)" : "$dSLRI_REM($K, $a, $b, $l)";
    }
    bool is_in_range = is_small_literal(e, in->b, 0, bits - 1);
    if (in->op == SLRI_OP_SHL && !(is_in_range && !is_signed_arithmetic(in)))
        return "$dSLRI_SHL($K, $a, $b)";
    if (in->op == SLRI_OP_SHR && !is_in_range)
        return "$dSLRI_SHR($K, $a, $b)";
    if (in->op == SLRI_OP_ATOMIC_RMW && in->imm == SLRI_RMW_EXCHANGE && is_float)
        return e->dialect->exchanging;
    if (slri_replies_to_one(in))
        return e->dialect->replying;
    if (in->op == SLRI_OP_ATOMIC_RMW && e->dialect->relaxed && is_relaxed(in))
        return e->dialect->relaxed;
    bool counts = in->op == SLRI_OP_ATOMIC_RMW && in->imm >= SLRI_RMW_INCREMENT;
    return counts ? e->dialect->counting : e->dialect->spelling[in->op];
}

static const char *spelling_of_access(const struct slri_instr *in, const char *plain)
{
    bool is_special = in->kind == SLRI_BOOL || slri_kind_is_half(in->kind);
    if (!is_special)
        return plain;
    return in->op == SLRI_OP_LOAD ? "$dSLRI_GET_$K($p)" : "SLRI_PUT_$K($p, $b)";
}

// An index in a handler is brought back into its extent, so that the rest of the handler touches nothing else.
static const char *spelling_of_index(struct slri_d_emitter *e, const struct slri_instr *in)
{
    uint64_t value;
    bool is_variable = !slri_c_is_literal(&e->c, in->a, &value);
    if (in->b != SLRI_NO_REG)
        return is_variable ? "SLRI_INDEX_BELOW($a, $b, $l)" : "SLRI_BELOW($a, $b, $l)";
    return is_variable && slri_d_traits(e, e->c.function)->in_handler ? "SLRI_INDEX($a, $n, $l)"
                                                                      : "SLRI_EXTENT($a, $n)";
}

static const char *spelling_of_trap(struct slri_d_emitter *e, const struct slri_instr *in)
{
    bool in_handler = slri_d_traits(e, e->c.function)->in_handler;
    if (in->imm == SLRI_FAULT_ASSERT)
        return in_handler ? "SLRI_CHECKED_ASSERT($l)" : "SLRI_ASSERT($l)";
    return in_handler ? "SLRI_CHECKED_TRAP($l)" : "SLRI_TRAP($l)";
}

static const char *spelling_of_barrier(struct slri_d_emitter *e)
{
    bool is_own = slri_d_traits(e, e->c.function)->in_handler && e->dialect->meeting;
    return is_own ? e->dialect->meeting : e->dialect->spelling[SLRI_OP_BARRIER];
}

void slri_d_call(struct slri_d_emitter *e, const struct slri_instr *in)
{
    put_destination(e, in);
    slri_text_printf(e->c.out, "slrf_%s(", in->callee->name);
    slri_d_arguments(e, in);
    slri_d_put(e, ")");
}

static void put_expression(struct slri_d_emitter *e, const struct slri_instr *in);

bool slri_d_is_written(const struct slri_d_emitter *e, const struct slri_instr *in)
{
    return in->op != SLRI_OP_CONST || !e->c.reg[in->dst].literal;
}

// The block's instructions behind commas; `value`: the register whose value is wanted at the end, or SLRI_NO_REG.
static bool put_list(struct slri_d_emitter *e, const struct slri_block *block, slri_reg value)
{
    bool any = false;
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (!slri_d_is_written(e, in))
            continue;
        slri_d_put(e, any ? ", " : "");
        put_expression(e, in);
        any = true;
    }
    if (value == SLRI_NO_REG)
        return any;
    slri_d_put(e, any ? ", " : "");
    slri_d_register(e, value);
    return true;
}

static void put_choice(struct slri_d_emitter *e, const struct slri_instr *in)
{
    slri_d_spell(e, in, "($a ? ");
    for (int side = 0; side < 2; side++) {
        slri_d_put(e, side ? " : (void)(" : "(void)(");
        if (!put_list(e, in->body[side], SLRI_NO_REG))
            slri_d_put(e, "0");
        slri_d_put(e, ")");
    }
    slri_d_put(e, ")");
}

static void put_expression(struct slri_d_emitter *e, const struct slri_instr *in)
{
    switch (in->op) {
    case SLRI_OP_CONST:
        put_destination(e, in);
        slri_d_literal(e, in->kind, in->imm);
        break;
    case SLRI_OP_CONVERT:
        e->dialect->convert(e, in);
        break;
    case SLRI_OP_MATH:
        e->dialect->math(e, in);
        break;
    case SLRI_OP_WARP:
        e->dialect->warp(e, in);
        break;
    case SLRI_OP_PRINT:
        e->dialect->print(e, in);
        break;
    case SLRI_OP_CALL:
        slri_d_call(e, in);
        break;
    case SLRI_OP_IF:
        put_choice(e, in);
        break;
    case SLRI_OP_LOAD:
    case SLRI_OP_STORE:
        slri_d_spell(e, in, spelling_of_access(in, e->dialect->spelling[in->op]));
        break;
    case SLRI_OP_INDEX:
        slri_d_spell(e, in, spelling_of_index(e, in));
        break;
    case SLRI_OP_TRAP:
        slri_d_spell(e, in, spelling_of_trap(e, in));
        break;
    case SLRI_OP_BARRIER:
        slri_d_spell(e, in, spelling_of_barrier(e));
        break;
    default:
        slri_d_spell(e, in, spelling_of_arithmetic(e, in));
        break;
    }
}

// ---- control flow --------------------------------------------------------------------------------------------------

static void put_if(struct slri_d_emitter *e, const struct slri_instr *in)
{
    if (e->dialect->branch)
        e->dialect->branch(e, in);
    slri_d_spell(e, in, "if ($a) {");
    e->c.depth++;
    slri_d_block(e, in->body[0]);
    if (in->body[1]) {
        slri_c_close(&e->c);
        slri_d_put(e, " else {");
        e->c.depth++;
        slri_d_block(e, in->body[1]);
    }
    slri_c_close(&e->c);
}

static void put_switch(struct slri_d_emitter *e, const struct slri_instr *in)
{
    slri_d_spell(e, in, "switch ($a) {");
    e->c.depth++;
    for (uint32_t i = 0; i < in->cases; i++) {
        const struct slri_case *match = &in->match[i];
        slri_d_put(e, match->is_default ? " default" : " case ");
        if (!match->is_default)
            slri_d_literal(e, e->c.function->reg_kind[in->a], match->value);
        slri_d_put(e, ":;");
        slri_d_block(e, match->body);
    }
    slri_c_close(&e->c);
}

// A temporary that the test's last instruction makes for the loop alone is not named.
bool slri_d_is_unnamed(const struct slri_c_emitter *c, const uint32_t *reads, const struct slri_instr *loop)
{
    const struct slri_block *test = loop->body[0];
    const struct slri_instr *last = test->count ? &test->instr[test->count - 1] : NULL;
    bool is_plain = last && last->op >= SLRI_OP_EQ && last->op <= SLRI_OP_GE && last->dst == loop->a;
    return is_plain && !c->function->reg_name[loop->a] && c->reg[loop->a].assignments == 1 && reads[loop->a] == 1;
}

static void put_test(struct slri_d_emitter *e, const struct slri_instr *loop, const char *open)
{
    slri_d_put(e, open);
    bool is_unnamed = loop->a != SLRI_NO_REG && slri_d_is_unnamed(&e->c, e->reads, loop);
    if (loop->a == SLRI_NO_REG) {
        slri_d_put(e, put_list(e, loop->body[0], SLRI_NO_REG) ? ", 1" : "1");
    } else if (is_unnamed) {
        struct slri_block front = *loop->body[0];
        struct slri_instr test = front.instr[--front.count];
        test.dst = SLRI_NO_REG;
        slri_d_put(e, put_list(e, &front, SLRI_NO_REG) ? ", " : "");
        slri_d_spell(e, &test, e->dialect->spelling[test.op]);
    } else {
        put_list(e, loop->body[0], loop->a);
    }
}

static bool meets(const struct slri_c_emitter *c, const struct slri_instr *in, void *user)
{
    (void)c;
    (void)user;
    const uint32_t meeting = SLRI_USES_BARRIER | SLRI_USES_WARP;
    return in->op == SLRI_OP_BARRIER || in->op == SLRI_OP_WARP ||
           (in->op == SLRI_OP_CALL && in->callee->uses & meeting);
}

// How a handler's loop ends early: at a fault of the thread, and when its fuel is out. One in which threads of a block
// meet does not end at a fault, or the others would wait; and it has fuel of its own, which runs out for all of them in
// the same turn.
static const struct bounds {
    const char *live, *edge, *live_edge;
} alone = {"SLRI_LIVE((", "; SLRI_EDGE(", "SLRI_LIVE_EDGE("},
  together = {"SLRI_GOES((", "; SLRI_TURN(", "SLRI_GOES_TURN("};

static const struct bounds *bounds_of(struct slri_d_emitter *e, const struct slri_instr *loop)
{
    if (!slri_d_traits(e, e->c.function)->in_handler)
        return NULL;
    bool any = false;
    for (int part = 0; part < 3 && !any; part++)
        any = loop->body[part] && slri_c_any(&e->c, loop->body[part], meets, NULL);
    return any ? &together : &alone;
}

// `paid`: its fuel is.
static void put_bounded(struct slri_d_emitter *e, const struct slri_instr *loop, const struct bounds *bounds, bool paid)
{
    bool has_test = loop->a != SLRI_NO_REG;
    if (loop->do_while) {
        slri_d_put(e, "do {");
    } else {
        slri_d_put(e, "for (; ");
        if (has_test || loop->body[0]->count || bounds)
            put_test(e, loop, bounds ? bounds->live : "");
        slri_d_put(e, bounds ? "))" : "");
        slri_d_put(e, bounds && !paid ? bounds->edge : "; ");
        if (bounds && !paid)
            slri_text_printf(e->c.out, "%u, %u) ", loop->where.file, loop->where.line);
        bool has_step = loop->body[2] && put_list(e, loop->body[2], SLRI_NO_REG);
        slri_d_put(e, bounds && !has_step ? "SLRI_NO_STEP) {" : ") {");
    }
    e->c.depth++;
    slri_d_block(e, loop->body[1]);
    slri_c_close(&e->c);
    if (!loop->do_while)
        return;
    slri_d_put(e, " while (");
    if (bounds)
        slri_text_printf(e->c.out, "%s%u, %u, (", bounds->live_edge, loop->where.file, loop->where.line);
    put_test(e, loop, "");
    slri_d_put(e, bounds ? ")));" : ");");
}

static bool is_call(const struct slri_c_emitter *c, const struct slri_instr *in, void *user)
{
    (void)c;
    (void)user;
    return in->op == SLRI_OP_CALL;
}

#define PAID_BODY 32u // instructions: it is written twice

static bool may_pay(struct slri_d_emitter *e, const struct slri_instr *loop, struct slri_counted *out)
{
    return e->dialect->pays_ahead && loop->body[1]->count <= PAID_BODY &&
           !slri_c_any(&e->c, loop->body[1], is_call, NULL) && slri_c_counts_up(&e->c, loop, out) &&
           (out->kind == SLRI_I32 || out->kind == SLRI_U32);
}

// The bound is what the test leaves in its register, whatever trip it is: it has no effects.
static void put_payment(struct slri_d_emitter *e, const struct slri_instr *loop, const struct slri_counted *count)
{
    slri_d_put(e, "if (SLRI_PAYS(");
    slri_d_register(e, count->induction);
    put_test(e, loop, ", ((void)(");
    slri_d_put(e, "), ");
    slri_d_register(e, count->bound);
    slri_text_printf(e->c.out, "), %d, %lld)) { ", count->inclusive, (long long)count->stride);
}

// A test of the fuel at each back edge keeps compilers from vectorising. So a loop whose trips are known when it begins
// pays for all of them then, if there is so much fuel; else it takes the way that faults where it is out.
static void put_loop(struct slri_d_emitter *e, const struct slri_instr *loop)
{
    const struct bounds *bounds = bounds_of(e, loop);
    struct slri_counted count;
    if (bounds == &alone && may_pay(e, loop, &count)) {
        put_payment(e, loop, &count);
        put_bounded(e, loop, bounds, true);
        slri_d_put(e, " } else { ");
        put_bounded(e, loop, bounds, false);
        slri_d_put(e, " }");
        return;
    }
    put_bounded(e, loop, bounds, false);
}

static void put_return(struct slri_d_emitter *e, const struct slri_instr *in)
{
    bool has_result = e->c.function->result != SLRI_VOID;
    slri_d_put(e, has_result ? "return " : "return");
    if (has_result && in->a == SLRI_NO_REG)
        slri_d_put(e, "0");
    else if (has_result)
        slri_d_register(e, in->a);
    slri_d_put(e, ";");
}

static void put_statement(struct slri_d_emitter *e, const struct slri_instr *in)
{
    slri_c_begin(&e->c, in->where);
    switch (in->op) {
    case SLRI_OP_IF:
        put_if(e, in);
        break;
    case SLRI_OP_SWITCH:
        put_switch(e, in);
        break;
    case SLRI_OP_LOOP:
        put_loop(e, in);
        break;
    case SLRI_OP_BREAK:
        slri_d_put(e, "break;");
        break;
    case SLRI_OP_CONTINUE:
        slri_d_put(e, "continue;");
        break;
    case SLRI_OP_RETURN:
        put_return(e, in);
        break;
    default:
        put_expression(e, in);
        slri_d_put(e, ";");
        break;
    }
}

void slri_d_block(struct slri_d_emitter *e, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++)
        if (slri_d_is_written(e, &block->instr[i]))
            put_statement(e, &block->instr[i]);
}
