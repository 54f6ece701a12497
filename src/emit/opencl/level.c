// SPDX-License-Identifier: Apache-2.0
// Level functions. A bool that says who is there is cleared where its thread leaves: `break` clears up to the loop's
// own, `return` all, which are the bools of the branches around. A loop goes on while any thread of the block would.
#include "emit/opencl/level.h"
#include "ir/ir_names.h"

static struct slri_opencl_emitter *of(struct slri_d_emitter *e)
{
    return (struct slri_opencl_emitter *)e;
}

// ---- text ----------------------------------------------------------------------------------------------------------

static void put_name(struct slri_d_emitter *e, const struct slri_level_here *here)
{
    if (!here)
        slri_d_put(e, "true");
    else if (here->name == 0)
        slri_d_put(e, "slri_on");
    else
        slri_text_printf(e->c.out, "slri_on%u", here->name);
}

void slri_opencl_put_here(struct slri_d_emitter *e)
{
    put_name(e, of(e)->here);
}

static void put_all(struct slri_d_emitter *e, const struct slri_block *block, uint32_t from, uint32_t count)
{
    slri_d_block(e, &(struct slri_block){block->instr + from, count, count});
}

static void open(struct slri_d_emitter *e, struct slri_where where, const char *text)
{
    slri_c_begin(&e->c, where);
    slri_d_put(e, text);
    e->c.depth++;
}

static void put_level(struct slri_opencl_emitter *o, const struct slri_block *block);

// `if (here) {`, around what only they do.
static void open_for_those_here(struct slri_d_emitter *e, struct slri_where where)
{
    open(e, where, "if (");
    slri_opencl_put_here(e);
    slri_d_put(e, ") {");
}

// Volatile: a compiler that knows what it is on one side of a barrier makes two ways of it, each with its barrier, and
// OpenCL wants all threads at the same one. PoCL 3.1 has given wrong results so.
#define BOOL "volatile bool "

// "bool slri_on3 = here && " and a condition, which the caller adds.
static void begin_bool(struct slri_d_emitter *e, struct slri_where where, const struct slri_level_here *here)
{
    slri_c_begin(&e->c, where);
    slri_d_put(e, BOOL);
    put_name(e, here);
    slri_d_put(e, " = ");
    slri_opencl_put_here(e);
}

static void put_if(struct slri_opencl_emitter *o, const struct slri_instr *in)
{
    struct slri_d_emitter *e = &o->e;
    struct slri_level_here side[2];
    for (uint32_t i = 0; i < 2; i++) {
        side[i] = (struct slri_level_here){.outer = o->here, .name = ++o->names, .owner = in, .block = in->body[i]};
        if (!in->body[i])
            continue;
        begin_bool(e, in->where, &side[i]);
        slri_d_spell(e, in, i == 0 ? " && ($a) != 0;" : " && ($a) == 0;");
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (!in->body[i])
            continue;
        o->here = &side[i];
        put_level(o, in->body[i]);
        o->here = side[i].outer;
    }
}

// All threads are here, and go the same way.
static void put_common_if(struct slri_opencl_emitter *o, const struct slri_instr *in)
{
    slri_c_begin(&o->e.c, in->where);
    slri_d_spell(&o->e, in, "if ($a) {");
    o->e.c.depth++;
    put_level(o, in->body[0]);
    slri_c_close(&o->e.c);
    if (!in->body[1])
        return;
    open(&o->e, in->where, "else {");
    put_level(o, in->body[1]);
    slri_c_close(&o->e.c);
}

static void put_common_test(struct slri_opencl_emitter *o, const struct slri_instr *loop)
{
    put_level(o, loop->body[0]);
    slri_c_begin(&o->e.c, loop->where);
    if (loop->a != SLRI_NO_REG)
        slri_d_spell(&o->e, loop, "if (($a) == 0) break;");
}

static void put_common_loop(struct slri_opencl_emitter *o, const struct slri_instr *loop)
{
    open(&o->e, loop->where, "for (;;) {");
    if (!loop->do_while)
        put_common_test(o, loop);
    put_level(o, loop->body[1]);
    if (loop->body[2])
        put_level(o, loop->body[2]);
    if (loop->do_while)
        put_common_test(o, loop);
    slri_c_close(&o->e.c);
}

static void put_test(struct slri_opencl_emitter *o, const struct slri_instr *loop)
{
    struct slri_d_emitter *e = &o->e;
    bool in_handler = slri_d_traits(e, e->c.function)->in_handler;
    put_level(o, loop->body[0]);
    slri_c_begin(&e->c, loop->where);
    slri_opencl_put_here(e);
    slri_d_put(e, " = ");
    slri_opencl_put_here(e);
    slri_d_put(e, in_handler ? " && !slri_here->fault" : "");
    if (loop->a != SLRI_NO_REG)
        slri_d_spell(e, loop, " && ($a) != 0");
    slri_d_put(e, ";");
}

// All go back to the loop's head from one place: of a loop that does so from several LLVM makes two, one in the other,
// of which PoCL's threads then never leave the inner one together.
static void put_way_back(struct slri_d_emitter *e, const struct slri_instr *loop, const struct slri_level_here *stays)
{
    slri_c_begin(&e->c, loop->where);
    put_name(e, stays);
    slri_d_put(e, " = ");
    put_name(e, stays);
    slri_d_put(e, ";");
}

// Who goes on has a bool for the loop; who is in this round another, where some jump from it.
static void put_loop(struct slri_opencl_emitter *o, const struct slri_instr *loop)
{
    struct slri_d_emitter *e = &o->e;
    bool jumps = slri_instr_has_jumps(loop);
    struct slri_level_here stays = {
        .outer = o->here, .name = ++o->names, .owner = loop, .ends_loop = true, .comes_back = jumps};
    struct slri_level_here round = {.outer = &stays, .name = ++o->names, .owner = loop, .comes_back = true};
    begin_bool(e, loop->where, &stays);
    slri_d_put(e, ";");
    open(e, loop->where, "for (;;) {");
    o->here = &stays;
    if (!loop->do_while)
        put_test(o, loop);
    slri_c_begin(&e->c, loop->where);
    // Where all threads of the block meet in it, they go round together.
    bool meets = e->c.function->uses & SLRI_USES_BARRIER;
    slri_d_put(e, meets ? "if (slri_count(" : "if (slri_none(");
    slri_opencl_put_here(e);
    slri_d_put(e, meets ? ", slri_scratch) == 0) break;" : ", slri_scratch)) break;");
    if (jumps) {
        begin_bool(e, loop->where, &round);
        slri_d_put(e, ";");
        o->here = &round;
    }
    put_level(o, loop->body[1]);
    o->here = &stays;
    if (slri_d_traits(e, e->c.function)->in_handler) {
        slri_c_begin(&e->c, loop->where);
        slri_d_put(e, "if (");
        slri_opencl_put_here(e);
        slri_text_printf(e->c.out, ") slri_edge(slri_here, %u, %u);", loop->where.file, loop->where.line);
    }
    if (loop->body[2])
        put_level(o, loop->body[2]);
    if (loop->do_while)
        put_test(o, loop);
    put_way_back(e, loop, &stays);
    slri_c_close(&e->c);
    o->here = stays.outer;
}

// Who is here leaves.
static void put_jump(struct slri_opencl_emitter *o, const struct slri_instr *in)
{
    struct slri_d_emitter *e = &o->e;
    open_for_those_here(e, in->where);
    slri_c_begin(&e->c, in->where);
    if (in->op == SLRI_OP_RETURN && in->a != SLRI_NO_REG)
        slri_d_spell(e, in, "slri_result = $a; ");
    for (const struct slri_level_here *here = o->here; here; here = here->outer) {
        if (here->ends_loop && in->op == SLRI_OP_CONTINUE)
            break;
        put_name(e, here);
        slri_d_put(e, " = ");
        if (here->ends_loop && in->op == SLRI_OP_BREAK)
            break;
    }
    slri_d_put(e, "false;");
    slri_c_close(&e->c);
}

// ---- where they wait -----------------------------------------------------------------------------------------------

// The result, for those who are here; for all, where the others may have it: it is a branch less.
static void put_result(struct slri_d_emitter *e, const struct slri_instr *in)
{
    bool all = !of(e)->here || slri_opencl_is_free(of(e), in->dst);
    slri_d_put(e, all ? "; " : "; if (");
    if (!all)
        slri_opencl_put_here(e);
    slri_d_put(e, all ? "" : ") ");
    slri_d_register(e, in->dst);
    slri_d_put(e, " = slri_given; }");
}

static void put_wait(struct slri_opencl_emitter *o, const struct slri_instr *in)
{
    struct slri_d_emitter *e = &o->e;
    struct slri_instr given = *in;
    given.dst = SLRI_NO_REG;
    bool has_result = in->dst != SLRI_NO_REG;
    slri_c_begin(&e->c, in->where);
    slri_d_put(e, "{ ");
    if (in->op == SLRI_OP_WARP && in->imm != SLRI_WARP_ACTIVE && o->parts) { // lanes that have returned take no part
        slri_d_put(e, "uint slri_mask = slri_ballot(");
        slri_d_register(e, in->arg[0].reg);
        slri_d_put(e, ", ");
        slri_opencl_put_here(e);
        slri_d_put(e, ", slri_scratch); ");
        o->masks = true;
    }
    if (has_result)
        slri_text_printf(e->c.out, "%s slri_given = ", e->dialect->kind[e->c.function->reg_kind[in->dst]]);
    if (in->op == SLRI_OP_WARP)
        e->dialect->warp(e, &given);
    else
        slri_d_call(e, &given);
    o->masks = false;
    if (has_result)
        put_result(e, in);
    else
        slri_d_put(e, "; }");
}

// Only threads that have returned are not there. They meet, and do not count.
static void put_barrier(struct slri_opencl_emitter *o, const struct slri_instr *in)
{
    struct slri_d_emitter *e = &o->e;
    slri_c_begin(&e->c, in->where);
    if (in->imm == SLRI_BARRIER_SYNC) {
        slri_d_put(e, "SLRI_SYNC();");
        return;
    }
    bool all = in->imm == SLRI_BARRIER_AND;
    slri_d_spell(e, in, "$dslri_count(");
    slri_opencl_put_here(e);
    slri_d_spell(e, in, all ? " && ($a) == 0" : " && ($a) != 0");
    slri_d_put(e, in->imm == SLRI_BARRIER_COUNT ? ", slri_scratch);"
                  : all                         ? ", slri_scratch) == 0;"
                                                : ", slri_scratch) != 0;");
}

// ---- a block -------------------------------------------------------------------------------------------------------

static void put_one(struct slri_opencl_emitter *o, const struct slri_block *block, uint32_t index)
{
    const struct slri_instr *in = &block->instr[index];
    switch (in->op) {
    case SLRI_OP_IF:
        if (!o->here && slri_uniform_branch(o->uniform[o->e.entry - o->e.c.module->entry], o->e.c.function, in))
            put_common_if(o, in);
        else
            put_if(o, in);
        break;
    case SLRI_OP_LOOP:
        if (slri_opencl_leave_together(o, in, block))
            put_common_loop(o, in);
        else
            put_loop(o, in);
        break;
    case SLRI_OP_BARRIER:
        put_barrier(o, in);
        break;
    case SLRI_OP_WARP:
    case SLRI_OP_CALL:
        put_wait(o, in);
        break;
    default: // BREAK, CONTINUE, RETURN
        put_jump(o, in);
        break;
    }
}

static bool is_last(const struct slri_d_emitter *e, const struct slri_block *block, uint32_t index)
{
    return block == e->c.function->body && index + 1 == block->count && block->instr[index].op == SLRI_OP_RETURN;
}

static void put_level(struct slri_opencl_emitter *o, const struct slri_block *block)
{
    struct slri_d_emitter *e = &o->e;
    for (uint32_t i = 0; i < block->count;) {
        const struct slri_instr *in = &block->instr[i];
        if (is_last(e, block, i) && !o->has_result) {
            put_all(e, block, i++, 1);
        } else if (!slri_instr_is_plain(in)) {
            put_one(o, block, i++);
        } else if (!slri_d_is_written(e, in) || slri_opencl_is_for_all(o, in)) {
            put_all(e, block, i++, 1);
        } else {
            uint32_t from = i;
            while (i < block->count && slri_instr_is_plain(&block->instr[i]) &&
                   !(slri_d_is_written(e, &block->instr[i]) && slri_opencl_is_for_all(o, &block->instr[i])))
                ++i;
            open_for_those_here(e, in->where);
            put_all(e, block, from, i - from);
            slri_c_close(&e->c);
        }
    }
}

static bool counts_all(const struct slri_c_emitter *c, const struct slri_instr *in, void *user)
{
    (void)c;
    uint32_t *mentions = user;
    const slri_reg regs[] = {in->dst, in->a, in->b, in->c};
    for (int i = 0; i < 4; i++)
        if (regs[i] != SLRI_NO_REG)
            mentions[regs[i]]++;
    for (uint32_t i = 0; i < in->args; i++)
        if (in->arg[i].reg != SLRI_NO_REG)
            mentions[in->arg[i].reg]++;
    return false;
}

static bool returns(const struct slri_c_emitter *c, const struct slri_instr *in, void *user)
{
    (void)c;
    return in->op == SLRI_OP_RETURN && in != user;
}

void slri_opencl_level_body(struct slri_d_emitter *e)
{
    struct slri_opencl_emitter *o = of(e);
    const struct slri_function *function = e->c.function;
    const struct slri_block *body = function->body;
    const struct slri_level_here own = {0};
    if (!o->levels || !(function->uses & (SLRI_USES_BARRIER | SLRI_USES_WARP))) {
        slri_d_block(e, body);
        return;
    }
    o->mentions = slri_region_take(e->c.scratch, (function->regs + 1) * sizeof *o->mentions);
    e->c.out->out_of_memory |= !o->mentions;
    if (!o->mentions)
        return;
    slri_c_any(&e->c, body, counts_all, o->mentions);
    for (uint32_t i = 0; i < function->params; i++) // given from outside
        o->mentions[function->param[i].reg]++;
    for (uint32_t i = 0; e->entry && i < e->entry->bindings; i++)
        if (e->entry->binding[i].reg != SLRI_NO_REG)
            o->mentions[e->entry->binding[i].reg]++;
    const struct slri_instr *last = body->count ? &body->instr[body->count - 1] : NULL;
    bool jumps = slri_c_any(&e->c, body, returns, (void *)last);
    o->has_result = jumps;
    o->names = 0;
    o->here = e->entry && !jumps ? NULL : &own;
    if (e->entry && jumps)
        slri_d_put(e, "    " BOOL "slri_on = true;\n");
    if (jumps && function->result != SLRI_VOID)
        slri_text_printf(e->c.out, "    %s slri_result = 0;\n", e->dialect->kind[function->result]);
    put_level(o, body);
    o->here = NULL;
    if (jumps && function->result != SLRI_VOID) {
        slri_c_begin(&e->c, function->where);
        slri_d_put(e, "return slri_result;");
    }
}
