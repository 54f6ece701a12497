// SPDX-License-Identifier: Apache-2.0
// Control that a block's threads take apart, around places where they meet: barriers and functions of a warp.
//
// Elsewhere such control stays within a loop over lanes. Here each place where threads meet is between two such loops,
// so the control is taken by all lanes together, and an array of flags, a mask, says for which of them it counts: an
// IF has one for each side; a LOOP has one of the lanes that are still in it, and goes on while there are any. BREAK,
// CONTINUE and RETURN take a lane out of all masks up to where they lead.
//
// A lane that others wait for may be elsewhere. In a right program it ends without meeting anybody again, so it is
// noted as late, and a late lane that comes to meet others is the fault.
#include "emit/c/plan.h"

// ---- who runs ------------------------------------------------------------------------------------------------------

bool slri_c_all_run(const struct slri_c_kernel *k)
{
    return !k->mask && !k->bound;
}

void slri_c_put_active(struct slri_c_emitter *e)
{
    const struct slri_c_kernel *k = e->kernel;
    if (slri_c_all_run(k))
        slri_c_put(e, "1");
    if (k->bound)
        slri_text_printf(e->out, "(lane >= lo_%u) & (lane < hi_%u)%s", k->bound, k->bound, k->mask ? " & " : "");
    if (!k->mask)
        return;
    slri_text_printf(e->out, "act_%u[", k->mask->number);
    slri_c_put_thread(e);
    slri_c_put(e, "]");
}

bool slri_c_is_leaving(const struct slri_c_kernel *k, const struct slri_instr *in)
{
    return (in->op == SLRI_OP_BREAK && k->break_masked) || (in->op == SLRI_OP_CONTINUE && k->continue_masked) ||
           (in->op == SLRI_OP_RETURN && k->leaves);
}

static void clear(struct slri_c_emitter *e, uint32_t mask)
{
    slri_text_printf(e->out, "act_%u[", mask);
    slri_c_put_thread(e);
    slri_c_put(e, "] = 0; ");
}

void slri_c_put_leaving(struct slri_c_emitter *e, const struct slri_instr *jump)
{
    bool arrived = false;
    for (const struct slri_c_mask *mask = e->kernel->mask; mask && !arrived; mask = mask->outer) {
        arrived =
            (jump->op == SLRI_OP_BREAK && mask->takes_break) || (jump->op == SLRI_OP_CONTINUE && mask->takes_continue);
        clear(e, mask->number);
        if (mask->live && jump->op != SLRI_OP_CONTINUE)
            clear(e, mask->live);
    }
    slri_text_printf(e->out, "goto next_lane_%u;", e->kernel->next_lane);
}

// ---- masks ---------------------------------------------------------------------------------------------------------

static uint32_t declare_mask(struct slri_c_emitter *e)
{
    struct slri_c_kernel *k = e->kernel;
    slri_text_printf(e->out, " uint8_t act_%u[SLRI_ROUND(%u)] = {0}; int32_t some_%u = 0;", k->masks + 1, k->threads,
                     k->masks + 1);
    return ++k->masks;
}

// The lanes of `mask` run the block, and only they.
static void put_under(struct slri_c_emitter *e, struct slri_c_mask *mask, const struct slri_block *block)
{
    struct slri_c_kernel *k = e->kernel;
    struct slri_c_mask *outer = k->mask;
    uint32_t bound = k->bound;
    k->mask = mask;
    k->bound = 0;
    if (block)
        slri_c_sequence(e, block);
    k->mask = outer;
    k->bound = bound;
}

static void open_all(struct slri_c_emitter *e, struct slri_where where)
{
    struct slri_c_kernel *k = e->kernel;
    struct slri_c_mask *mask = k->mask;
    uint32_t bound = k->bound;
    k->mask = NULL;
    k->bound = 0;
    slri_c_open_lanes(e, where);
    k->mask = mask;
    k->bound = bound;
}

static void put_flag(struct slri_c_emitter *e, uint32_t mask, const char *value)
{
    slri_text_printf(e->out, " act_%u[", mask);
    slri_c_put_thread(e);
    slri_text_printf(e->out, "] = %s; some_%u |= %s;", value, mask, value);
}

static void open_scope(struct slri_c_emitter *e, struct slri_where where, const char *text)
{
    slri_c_begin(e, where);
    slri_c_put(e, text);
    e->depth++;
}

void slri_c_put_root_mask(struct slri_c_emitter *e, struct slri_c_mask *root)
{
    struct slri_c_kernel *k = e->kernel;
    slri_c_begin(e, (struct slri_where){0});
    *root = (struct slri_c_mask){.number = declare_mask(e)};
    slri_text_printf(e->out, " __builtin_memset(act_%u, 1, %u); (void)some_%u;", root->number, k->threads,
                     root->number);
    k->mask = root;
}

// ---- IF ------------------------------------------------------------------------------------------------------------

static void put_side(struct slri_c_emitter *e, struct slri_where where, uint32_t mask, const struct slri_block *block)
{
    struct slri_c_mask under = {.number = mask, .outer = e->kernel->mask};
    slri_c_begin(e, where);
    slri_text_printf(e->out, "if (some_%u) {", mask);
    e->depth++;
    put_under(e, &under, block);
    slri_c_close(e);
}

static void put_masked_if(struct slri_c_emitter *e, const struct slri_instr *in)
{
    bool has_else = in->body[1] && in->body[1]->count;
    open_scope(e, in->where, "{");
    uint32_t then = declare_mask(e), other = has_else ? declare_mask(e) : 0;
    open_all(e, in->where);
    slri_c_put(e, " const _Bool here = ");
    slri_c_put_active(e);
    slri_c_put(e, ", yes = here && ");
    slri_c_register(e, in->a);
    slri_c_put(e, ";");
    put_flag(e, then, "yes");
    if (has_else)
        put_flag(e, other, "(here & !yes)");
    slri_c_close_lanes(e);
    put_side(e, in->where, then, in->body[0]);
    if (has_else)
        put_side(e, in->where, other, in->body[1]);
    slri_c_close(e);
}

// ---- LOOP ----------------------------------------------------------------------------------------------------------

static bool is_continue(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    (void)e, (void)user;
    return in->op == SLRI_OP_CONTINUE;
}

static void put_test(struct slri_c_emitter *e, const struct slri_instr *loop, struct slri_c_mask *mask)
{
    struct slri_c_kernel *k = e->kernel;
    put_under(e, mask, loop->body[0]);
    slri_c_begin(e, loop->where);
    if (loop->a == SLRI_NO_REG) {
        slri_text_printf(e->out, "if (!slri_any_on(act_%u, %u)) break;", mask->number, k->threads);
        return;
    }
    struct slri_c_mask *outer = k->mask;
    uint32_t bound = k->bound;
    slri_text_printf(e->out, "some_%u = 0;", mask->number);
    k->mask = mask;
    k->bound = 0;
    slri_c_open_lanes(e, loop->where);
    slri_c_put(e, " const _Bool stays = ");
    slri_c_register(e, loop->a);
    slri_c_put(e, ";");
    put_flag(e, mask->number, "stays");
    slri_c_close_lanes(e);
    k->mask = outer;
    k->bound = bound;
    slri_text_printf(e->out, " if (!some_%u) break;", mask->number);
}

static void put_back_edge(struct slri_c_emitter *e, const struct slri_instr *loop, struct slri_c_mask *live)
{
    struct slri_c_mask *outer = e->kernel->mask;
    uint32_t bound = e->kernel->bound;
    e->kernel->mask = live;
    e->kernel->bound = 0;
    slri_c_put_back_edge(e, loop);
    e->kernel->mask = outer;
    e->kernel->bound = bound;
}

static void put_masked_loop(struct slri_c_emitter *e, const struct slri_instr *loop)
{
    struct slri_c_kernel *k = e->kernel;
    bool continues = slri_c_any(e, loop->body[1], is_continue, NULL), apart = k->apart;
    bool break_masked = k->break_masked, continue_masked = k->continue_masked;
    open_scope(e, loop->where, "{");
    struct slri_c_mask live = {.number = declare_mask(e), .outer = k->mask, .takes_break = true};
    struct slri_c_mask trip = live;
    live.takes_continue = true; // where there are none
    if (continues)
        trip = (struct slri_c_mask){declare_mask(e), k->mask, true, true, live.number};
    open_all(e, loop->where);
    slri_c_put(e, " const _Bool here = ");
    slri_c_put_active(e);
    slri_c_put(e, ";");
    put_flag(e, live.number, "here");
    slri_c_close_lanes(e);
    open_scope(e, loop->where, "for (;;) {");
    k->loops++;
    k->apart |= continues;
    if (!loop->do_while)
        put_test(e, loop, &live);
    if (continues)
        slri_text_printf(e->out, " __builtin_memcpy(act_%u, act_%u, %u);", trip.number, live.number, k->threads);
    k->break_masked = k->continue_masked = true;
    put_under(e, continues ? &trip : &live, loop->body[1]);
    k->break_masked = break_masked;
    k->continue_masked = continue_masked;
    put_under(e, &live, loop->body[2]);
    put_back_edge(e, loop, &live);
    if (loop->do_while)
        put_test(e, loop, &live);
    k->apart = apart;
    k->loops--;
    slri_c_close(e);
    slri_c_close(e);
}

// ---- SWITCH --------------------------------------------------------------------------------------------------------

static void put_selection(struct slri_c_emitter *e, const struct slri_instr *in)
{
    int otherwise = -1;
    slri_c_put(e, " from[");
    slri_c_put_thread(e);
    slri_c_put(e, "] = ");
    for (uint32_t i = 0; i < in->cases; i++) {
        if (in->match[i].is_default) {
            otherwise = (int)i;
            continue;
        }
        slri_c_register(e, in->a);
        slri_c_put(e, " == ");
        slri_c_literal(e, e->function->reg_kind[in->a], in->match[i].value);
        slri_text_printf(e->out, " ? %u : ", i);
    }
    slri_text_printf(e->out, "%d;", otherwise);
}

static void put_masked_switch(struct slri_c_emitter *e, const struct slri_instr *in)
{
    struct slri_c_kernel *k = e->kernel;
    bool break_masked = k->break_masked;
    open_scope(e, in->where, "{");
    struct slri_c_mask mask = {.number = declare_mask(e), .outer = k->mask, .takes_break = true};
    slri_text_printf(e->out, " int32_t from[%u]; (void)some_%u;", k->threads, mask.number);
    slri_c_open_lanes(e, in->where);
    put_selection(e, in);
    slri_c_close_lanes(e);
    k->break_masked = true;
    for (uint32_t i = 0; i < in->cases; i++) {
        slri_c_open_lanes(e, in->where);
        slri_c_put(e, " if (from[");
        slri_c_put_thread(e);
        slri_text_printf(e->out, "] == %u) act_%u[", i, mask.number);
        slri_c_put_thread(e);
        slri_c_put(e, "] = 1;");
        slri_c_close_lanes(e);
        slri_text_printf(e->out, " if (slri_any_on(act_%u, %u)) {", mask.number, k->threads);
        e->depth++;
        put_under(e, &mask, in->match[i].body);
        slri_c_close(e);
    }
    k->break_masked = break_masked;
    slri_c_close(e);
}

void slri_c_put_masked(struct slri_c_emitter *e, const struct slri_instr *in)
{
    struct slri_c_kernel *k = e->kernel;
    bool apart = k->apart;
    k->apart |= k->loops > 0;
    if (in->op == SLRI_OP_IF)
        put_masked_if(e, in);
    else if (in->op == SLRI_OP_LOOP)
        put_masked_loop(e, in);
    else
        put_masked_switch(e, in);
    k->apart = apart;
}

// ---- who is late ---------------------------------------------------------------------------------------------------

static void put_here(struct slri_c_emitter *e)
{
    const struct slri_c_kernel *k = e->kernel;
    if (slri_c_all_run(k)) {
        slri_c_put(e, " const uint8_t *const on = 0;");
    } else if (!k->bound) {
        slri_text_printf(e->out, " const uint8_t *const on = act_%u;", k->mask->number);
    } else { // of one row
        slri_text_printf(e->out,
                         " uint8_t on[SLRI_ROUND(%u)] = {0}; for (int32_t lane = 0; lane < %u; lane++) on[lane] = ",
                         k->threads, k->threads);
        slri_c_put_active(e);
        slri_c_put(e, ";");
    }
}

void slri_c_put_barrier_check(struct slri_c_emitter *e, const struct slri_instr *in)
{
    struct slri_c_kernel *k = e->kernel;
    k->parts |= k->mask != NULL;
    if (!k->parts)
        return;
    slri_c_begin(e, in->where);
    slri_c_put(e, "{");
    put_here(e);
    slri_text_printf(e->out, " if (!slri_meet(on, late, %u)) ", k->threads);
    slri_c_put_fault(e, "BARRIER", in->where);
    slri_c_put(e, " }");
}
