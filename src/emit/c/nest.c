// SPDX-License-Identifier: Apache-2.0
// The loops of a kernel: what all threads share stands as it is; what they do not goes, as much of it together as may,
// into a loop over rows and in it a loop over lanes.
//
// Threads between two barriers may run in any order and at once (what races there is undefined), so a loop over lanes
// says that its trips are independent, and what is the same for all may be computed before it, unless the loop assigns
// or reads it, or writes what it loads.
#include "emit/c/plan.h"

#include <stdio.h>

// ---- registers and locals ------------------------------------------------------------------------------------------

static void note(const struct slri_c_kernel *k, struct slri_c_value *value)
{
    if (value->row_nest != k->row_nest && value->mentioned)
        value->many_row_nests = true;
    if (value->lane_nest != k->lane_nest && value->mentioned)
        value->many_lane_nests = true;
    value->mentioned = true;
    value->row_nest = k->row_nest;
    value->lane_nest = k->lane_nest;
}

static void put_again(struct slri_c_emitter *e, slri_reg reg)
{
    const struct slri_instr *in = e->kernel->value[reg].def;
    const char *type = slri_kind_spelling(e->kernel->function.reg_kind[reg]);
    if (in->op == SLRI_OP_BUILTIN) {
        slri_c_put(e, slri_c_builtin(e, in->imm));
        return;
    }
    slri_text_printf(e->out, "(%s)(", type);
    slri_c_register(e, in->a);
    if (in->b != SLRI_NO_REG) {
        slri_c_put(e, in->op == SLRI_OP_ADD ? " + " : in->op == SLRI_OP_SUB ? " - " : " * ");
        slri_c_register(e, in->b);
    }
    slri_c_put(e, ")");
}

void slri_c_kernel_register(struct slri_c_emitter *e, slri_reg reg)
{
    struct slri_c_kernel *k = e->kernel;
    struct slri_c_value *value = &k->value[reg];
    if (slri_c_is_linear(k, reg)) {
        slri_c_put_linear(e, reg);
        return;
    }
    if (value->again) {
        put_again(e, reg);
        return;
    }
    note(k, value);
    slri_text_printf(e->out, "r%u", reg);
    if (value->level == SLRI_LEVEL_ROW && value->many_row_nests)
        slri_c_put(e, "[row]");
    if (value->level == SLRI_LEVEL_LANE && value->many_lane_nests) {
        bool whole = k->rows > 1 && value->many_row_nests;
        if (whole)
            slri_text_printf(e->out, "[row * %u + lane]", k->block[0]);
        else
            slri_c_put(e, "[lane]");
    }
}

void slri_c_put_thread(struct slri_c_emitter *e)
{
    if (e->kernel->rows > 1)
        slri_text_printf(e->out, "row * %u + lane", e->kernel->block[0]);
    else
        slri_c_put(e, "lane");
}

void slri_c_kernel_local(struct slri_c_emitter *e, uint32_t local)
{
    struct slri_c_kernel *k = e->kernel;
    struct slri_c_home *home = &k->home[local];
    if (home->lane_nest && home->lane_nest != k->lane_nest)
        home->many_lane_nests = true;
    home->lane_nest = k->lane_nest;
    if (!home->many_lane_nests)
        slri_text_printf(e->out, "local%u", local);
    else
        slri_text_printf(e->out, "local%u + (row * %u + lane) * %llu", local, k->block[0],
                         (unsigned long long)k->function.local[local].type->bytes);
}

// ---- declarations --------------------------------------------------------------------------------------------------

// Where a register that is no scalar of the block is declared: 0 the block, else a row nest's or lane nest's number.
static void declare(struct slri_c_emitter *e, uint8_t level, uint32_t nest)
{
    struct slri_c_kernel *k = e->kernel;
    for (slri_reg reg = 0; reg < k->function.regs; reg++) {
        const struct slri_c_value *v = &k->value[reg];
        const char *type = slri_kind_spelling(k->function.reg_kind[reg]);
        bool at_row = k->rows > 1 && !v->many_row_nests && v->row_nest;
        if (e->reg[reg].literal)
            continue;
        if (slri_c_is_linear(k, reg)) {
            uint8_t home = v->base_level == SLRI_LEVEL_ROW && at_row ? SLRI_LEVEL_ROW : SLRI_LEVEL_UNIFORM;
            if (home == level && (level == SLRI_LEVEL_UNIFORM || v->row_nest == nest))
                slri_c_declare_parts(e, reg);
            continue;
        }
        if (!v->mentioned)
            continue;
        if (v->level == SLRI_LEVEL_LANE && !v->many_lane_nests) {
            if (level == SLRI_LEVEL_LANE && v->lane_nest == nest)
                slri_text_printf(e->out, " %s r%u = 0;", type, reg);
        } else if (v->level == SLRI_LEVEL_LANE) {
            if (at_row ? level == SLRI_LEVEL_ROW && v->row_nest == nest : level == SLRI_LEVEL_UNIFORM)
                slri_text_printf(e->out, " _Alignas(64) %s r%u[%u];", type, reg,
                                 at_row || k->rows == 1 ? k->block[0] : k->threads);
        } else if (v->level == SLRI_LEVEL_ROW) {
            if (level == SLRI_LEVEL_ROW && at_row && v->row_nest == nest)
                slri_text_printf(e->out, " %s r%u = 0;", type, reg);
            else if (level == SLRI_LEVEL_UNIFORM && !at_row)
                slri_text_printf(e->out, " %s r%u[%u];", type, reg, k->rows);
        } else if (level == SLRI_LEVEL_UNIFORM) {
            slri_text_printf(e->out, " %s r%u = 0;", type, reg);
        }
    }
}

static void declare_locals(struct slri_c_emitter *e, uint32_t lane_nest)
{
    const struct slri_c_kernel *k = e->kernel;
    for (uint32_t i = 0; i < k->function.locals; i++) {
        const struct slri_type *type = k->function.local[i].type;
        const struct slri_c_home *home = &k->home[i];
        if (!home->lane_nest ||
            (lane_nest ? home->many_lane_nests || home->lane_nest != lane_nest : !home->many_lane_nests))
            continue;
        slri_text_printf(e->out, " _Alignas(%u) unsigned char local%u[%llu] = {0};",
                         type->align < 64 ? type->align : 64, i,
                         (unsigned long long)type->bytes * (lane_nest ? 1 : k->threads));
    }
}

void slri_c_declare_block(struct slri_c_emitter *e)
{
    declare(e, SLRI_LEVEL_UNIFORM, 0);
    declare_locals(e, 0);
}

// ---- loops over lanes ----------------------------------------------------------------------------------------------

static void put_mask_test(struct slri_c_emitter *e)
{
    if (!e->kernel->mask)
        return;
    slri_text_printf(e->out, " if (!act_%u[", e->kernel->mask->number);
    slri_c_put_thread(e);
    slri_c_put(e, "]) continue;");
}

// Lanes that may end the handler, reply or take fuel do so one after the other.
static bool goes_in_order(const struct slri_c_emitter *e, const struct slri_block *run)
{
    return e->is_block && slri_c_any(e, run, slri_c_faults, NULL);
}

// `all`: the bounds are those of the block, which the compiler may know then.
static void put_lane_loop(struct slri_c_emitter *e, const struct slri_block *run, bool slow, bool all)
{
    struct slri_c_kernel *k = e->kernel;
    slri_c_put(e, slow || goes_in_order(e, run) ? "" : "SLRI_LANES ");
    if (k->bound && !all)
        slri_text_printf(e->out, "for (int32_t lane = lo_%u; lane < hi_%u; lane++) {", k->bound, k->bound);
    else
        slri_text_printf(e->out, "for (int32_t lane = 0; lane < %u; lane++) {", k->block[0]);
    e->depth++;
    put_mask_test(e);
    declare(e, SLRI_LEVEL_LANE, k->lane_nest);
    declare_locals(e, k->lane_nest);
    k->slow = slow;
    k->next_lane = e->labels++;
    slri_c_block(e, run);
    k->slow = false;
    if (k->one_nest || k->mask) {
        slri_c_begin(e, (struct slri_where){0});
        if (k->one_nest)
            slri_c_put(e, "next_thread:;");
        else
            slri_text_printf(e->out, "next_lane_%u: __attribute__((unused));", k->next_lane);
    }
    slri_c_close(e);
}

// Which wide linear registers that may wrap the run mentions: by writing it to nowhere.
static void find_unsafe(struct slri_c_emitter *e, const struct slri_block *run)
{
    struct slri_text nowhere = SLRI_TEXT_INIT;
    struct slri_c_emitter before = *e;
    e->kernel->unsafes = 0;
    e->out = &nowhere;
    slri_c_block(e, run);
    before.out->out_of_memory |= nowhere.out_of_memory;
    *e = before;
    slri_text_free(&nowhere);
}

static struct slri_where where_of(const struct slri_block *run)
{
    return run->instr[0].where;
}

// Between bounds a loop over few lanes is mostly its own beginning and end; and most blocks lie between the bounds.
#define FEW_LANES 64
#define SHORT_RUN 64 // instructions

static void put_fast_loop(struct slri_c_emitter *e, const struct slri_block *run)
{
    const struct slri_c_kernel *k = e->kernel;
    if (k->bound && !k->mask && !k->one_nest && k->block[0] <= FEW_LANES && run->count <= SHORT_RUN) {
        slri_text_printf(e->out, "if (SLRI_TWICE && hi_%u - lo_%u == %u) ", k->bound, k->bound, k->block[0]);
        put_lane_loop(e, run, false, true);
        slri_c_put(e, " else ");
    }
    put_lane_loop(e, run, false, false);
}

static void put_lanes(struct slri_c_emitter *e, const struct slri_block *run)
{
    struct slri_c_kernel *k = e->kernel;
    uint8_t level = k->level;
    k->level = SLRI_LEVEL_LANE;
    k->lane_nest = ++k->nests;
    find_unsafe(e, run);
    uint32_t unsafes = k->unsafes;
    slri_c_begin(e, where_of(run));
    for (uint32_t i = 0; i < unsafes; i++) {
        slri_c_put(e, i ? " & " : "if (");
        slri_c_part(e, k->unsafe[i], 'o');
    }
    slri_c_put(e, unsafes ? ") { " : "");
    put_fast_loop(e, run);
    if (unsafes) {
        slri_c_put(e, " } else ");
        put_lane_loop(e, run, true, false);
    }
    k->lane_nest = 0;
    k->level = level;
    slri_c_put_ahead(e, run);
}

// ---- loops over rows -----------------------------------------------------------------------------------------------

static void open_rows(struct slri_c_emitter *e, struct slri_where where)
{
    struct slri_c_kernel *k = e->kernel;
    k->level = SLRI_LEVEL_ROW;
    k->row_nest = ++k->nests;
    slri_c_begin(e, where);
    // In a loop, few rows of few lanes are unrolled: their values then stay in registers from trip to trip.
    if (k->loops && k->rows <= 16 && k->threads <= 256)
        slri_c_put(e, "SLRI_ROWS ");
    slri_text_printf(e->out, "for (int32_t row = 0; row < %u; row++) {", k->rows);
    slri_text_printf(e->out,
                     " const uint32_t thread_y = row %% %u, thread_z = row / %u; (void)thread_y, (void)thread_z;",
                     k->block[1], k->block[1]);
    e->depth++;
    declare(e, SLRI_LEVEL_ROW, k->row_nest);
}

static void close_rows(struct slri_c_emitter *e)
{
    e->kernel->row_nest = 0;
    e->kernel->level = SLRI_LEVEL_UNIFORM;
    slri_c_close(e);
}

void slri_c_open_lanes(struct slri_c_emitter *e, struct slri_where where)
{
    struct slri_c_kernel *k = e->kernel;
    if (k->rows > 1)
        open_rows(e, where);
    k->level = SLRI_LEVEL_LANE;
    k->lane_nest = ++k->nests;
    slri_c_begin(e, where);
    if (k->bound)
        slri_text_printf(e->out, "SLRI_LANES for (int32_t lane = lo_%u; lane < hi_%u; lane++) {", k->bound, k->bound);
    else
        slri_text_printf(e->out, "SLRI_LANES for (int32_t lane = 0; lane < %u; lane++) {", k->block[0]);
    e->depth++;
    put_mask_test(e);
    declare(e, SLRI_LEVEL_LANE, k->lane_nest);
    k->slow = true;
}

void slri_c_close_lanes(struct slri_c_emitter *e)
{
    struct slri_c_kernel *k = e->kernel;
    slri_c_close(e);
    k->slow = false;
    k->lane_nest = 0;
    k->level = SLRI_LEVEL_UNIFORM;
    if (k->rows > 1)
        close_rows(e);
}

static bool is_return(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    (void)e, (void)user;
    return in->op == SLRI_OP_RETURN;
}

// What all threads share is not computed for nobody: it might read where only they may.
static void leave_when_empty(struct slri_c_emitter *e, const struct slri_block *run)
{
    const struct slri_c_kernel *k = e->kernel;
    if (!k->leaves || !slri_c_any(e, run, is_return, NULL))
        return;
    slri_c_begin(e, (struct slri_where){0});
    slri_text_printf(e->out, "if (!slri_any_on(act_1, %u)) goto next_block;", k->threads); // act_1: the outermost
}

static void put_run(struct slri_c_emitter *e, struct slri_block *run)
{
    struct slri_c_kernel *k = e->kernel;
    if (!run->count)
        return;
    struct slri_block whole = *run; // what is in it may flush runs of its own
    *run = (struct slri_block){0};
    if (k->level == SLRI_LEVEL_UNIFORM && k->rows > 1) {
        open_rows(e, where_of(&whole));
        slri_c_sequence(e, &whole);
        close_rows(e);
    } else {
        put_lanes(e, &whole);
    }
    if (k->level == SLRI_LEVEL_UNIFORM)
        leave_when_empty(e, &whole);
}

// ---- barriers ------------------------------------------------------------------------------------------------------

static void put_barrier(struct slri_c_emitter *e, const struct slri_instr *in)
{
    static const char *const begin[] = {"", "0", "1", "0"}, *const take[] = {"", " += ", " &= ", " |= "};
    slri_c_put_barrier_check(e, in);
    if (in->imm == SLRI_BARRIER_SYNC)
        return;
    bool shared = e->kernel->value[in->dst].level == SLRI_LEVEL_UNIFORM;
    slri_c_begin(e, in->where);
    slri_text_printf(e->out, "{ int32_t met = %s;", begin[in->imm]);
    e->depth++;
    slri_c_open_lanes(e, in->where);
    slri_text_printf(e->out, " met%s", take[in->imm]);
    slri_c_register(e, in->a);
    slri_c_put(e, " != 0;");
    slri_c_close_lanes(e);
    if (!shared)
        slri_c_open_lanes(e, in->where);
    slri_c_begin(e, in->where);
    slri_c_register(e, in->dst);
    slri_c_put(e, " = met;");
    if (!shared)
        slri_c_close_lanes(e);
    slri_c_close(e);
}

// ---- control that all take together --------------------------------------------------------------------------------

void slri_c_put_back_edge(struct slri_c_emitter *e, const struct slri_instr *loop)
{
    const struct slri_c_kernel *k = e->kernel;
    if (!e->is_block)
        return;
    slri_c_begin(e, loop->where);
    slri_c_put(e, "if (!slri_spend(&fuel, ");
    if (k->mask && k->bound)
        slri_text_printf(e->out, "slri_count_on(act_%u + lo_%u, hi_%u - lo_%u)", k->mask->number, k->bound, k->bound,
                         k->bound);
    else if (k->mask)
        slri_text_printf(e->out, "slri_count_on(act_%u, %u)", k->mask->number, k->threads);
    else if (k->bound)
        slri_text_printf(e->out, "(uint32_t)(hi_%u - lo_%u)", k->bound, k->bound);
    else
        slri_text_printf(e->out, "%u", k->threads);
    slri_text_printf(e->out, ")) return slri_no_fuel(call, %u, %u, %u);", loop->where.file, loop->where.line,
                     loop->where.column);
}

void slri_c_put_fault(struct slri_c_emitter *e, const char *fault, struct slri_where where)
{
    slri_text_printf(e->out,
                     e->is_block ? "return slri_fault(call, SLRI_FAULT_%s, %u, %u, %u);"
                                 : "slri_launch_fault(launch, SLRI_FAULT_%s, %u, %u, %u);",
                     fault, where.file, where.line, where.column);
}

// Few rows of few lanes are unrolled in a loop. Where the loop itself is short and of few trips so is it: then what
// stands in arrays, a value a thread, stays in registers for all of it (a tile's product: 1.3 to 1.5 times as fast, and
// five times as long to compile). Of a tree over a block each step is unrolled, so that the lanes of each are a number
// (a sum: twice as fast).
static bool is_unrolled(const struct slri_c_emitter *e, const struct slri_instr *loop)
{
    const struct slri_c_kernel *k = e->kernel;
    if (k->rows == 1)
        return loop->body[1]->count <= SHORT_RUN && slri_c_is_tree(e, loop);
    return k->rows <= 16 && k->threads <= 256 && loop->body[1]->count <= 32 && slri_c_has_few_trips(e, loop, 16);
}

static void put_nest_loop(struct slri_c_emitter *e, const struct slri_instr *loop)
{
    slri_c_begin(e, loop->where);
    slri_c_put(e, is_unrolled(e, loop) ? "SLRI_TRIPS for (; 1;) {" : "for (;;) {");
    e->depth++;
    struct slri_c_kernel *k = e->kernel;
    bool break_masked = k->break_masked, continue_masked = k->continue_masked;
    k->break_masked = k->continue_masked = false;
    const struct slri_instr *around = k->around;
    k->around = loop;
    e->kernel->loops++;
    if (!loop->do_while)
        slri_c_loop_test(e, loop, slri_c_sequence);
    slri_c_loop_body(e, loop, slri_c_sequence);
    slri_c_put_back_edge(e, loop);
    if (loop->do_while)
        slri_c_loop_test(e, loop, slri_c_sequence);
    e->kernel->loops--;
    k->around = around;
    k->break_masked = break_masked;
    k->continue_masked = continue_masked;
    slri_c_close(e);
}

static void put_if(struct slri_c_emitter *e, const struct slri_instr *in)
{
    slri_c_begin(e, in->where);
    slri_c_put(e, "if (");
    slri_c_register(e, in->a);
    slri_c_put(e, ") {");
    e->depth++;
    if (in->body[0])
        slri_c_sequence(e, in->body[0]);
    slri_c_close(e);
    if (!in->body[1] || !in->body[1]->count)
        return;
    slri_c_put(e, " else {");
    e->depth++;
    slri_c_sequence(e, in->body[1]);
    slri_c_close(e);
}

static void put_switch(struct slri_c_emitter *e, const struct slri_instr *in)
{
    slri_c_begin(e, in->where);
    slri_c_put(e, "switch (");
    slri_c_register(e, in->a);
    slri_c_put(e, ") {");
    e->depth++;
    bool break_masked = e->kernel->break_masked;
    e->kernel->break_masked = false;
    for (uint32_t i = 0; i < in->cases; i++) {
        slri_c_put(e, in->match[i].is_default ? " default" : " case ");
        if (!in->match[i].is_default)
            slri_c_literal(e, e->function->reg_kind[in->a], in->match[i].value);
        slri_c_put(e, ":;");
        slri_c_sequence(e, in->match[i].body);
    }
    e->kernel->break_masked = break_masked;
    slri_c_close(e);
}

// ---- narrowing -----------------------------------------------------------------------------------------------------

// Whether the linear register's values lie as they are computed, one behind the other; nothing where that is known.
static bool put_steady(struct slri_c_emitter *e, const struct slri_c_narrowing *n)
{
    const struct slri_c_kernel *k = e->kernel;
    const struct slri_c_value *value = &k->value[n->lane];
    if (value->wide ? value->safe && value->exact : slri_c_never_wraps(k, n->lane))
        return false;
    slri_text_printf(e->out, "slri_steady_%s(",
                     value->wide                                 ? "I64"
                     : k->function.reg_kind[n->lane] == SLRI_I32 ? "I32"
                                                                 : "U32");
    slri_c_part(e, n->lane, value->wide ? 'f' : 'b');
    slri_text_printf(e->out, ", 1, %u)", k->block[0] - 1);
    if (value->wide && !value->safe) {
        slri_c_put(e, " & ");
        slri_c_part(e, n->lane, 'o');
    }
    return true;
}

// The first lane that is not below the bound, or with `beyond` not below or at it.
static void put_edge(struct slri_c_emitter *e, const struct slri_c_narrowing *n, bool beyond, const char *low,
                     const char *high)
{
    slri_c_put(e, "slri_edge((int64_t)");
    slri_c_part(e, n->lane, e->kernel->value[n->lane].wide ? 'f' : 'b');
    slri_c_put(e, ", (int64_t)");
    slri_c_register(e, n->bound);
    slri_text_printf(e->out, ", %d, %s, %s)", beyond, low, high);
}

static void put_bounds(struct slri_c_emitter *e, const struct slri_c_narrowing *n, const char *low, const char *high)
{
    bool below = n->op == SLRI_OP_LT || n->op == SLRI_OP_LE;
    slri_c_put(e, " lo = ");
    if (below)
        slri_c_put(e, low);
    else
        put_edge(e, n, n->op == SLRI_OP_GT, low, high);
    slri_c_put(e, "; hi = ");
    if (below || n->op == SLRI_OP_EQ)
        put_edge(e, n, n->op != SLRI_OP_LT, low, high);
    else
        slri_c_put(e, high);
    slri_c_put(e, ";");
}

static void put_compare(struct slri_c_emitter *e, const struct slri_c_narrowing *n)
{
    static const char *const spelling[] = {
        [SLRI_OP_EQ] = "==", [SLRI_OP_LT] = "<", [SLRI_OP_LE] = "<=", [SLRI_OP_GT] = ">", [SLRI_OP_GE] = ">=",
    };
    struct slri_c_kernel *k = e->kernel;
    k->slow = true;
    slri_c_put_linear(e, n->lane);
    k->slow = false;
    slri_text_printf(e->out, " %s ", spelling[n->op]);
    slri_c_register(e, n->bound);
}

// Lanes at which the index wraps go one by one: each is a range of its own.
static void put_narrowing(struct slri_c_emitter *e, const struct slri_instr *in, const struct slri_c_narrowing *n)
{
    struct slri_c_kernel *k = e->kernel;
    uint32_t outer = k->bound, mine = ++k->bounds;
    char low[24] = "0", high[24];
    snprintf(high, sizeof high, "%u", k->block[0]);
    if (outer) {
        snprintf(low, sizeof low, "lo_%u", outer);
        snprintf(high, sizeof high, "hi_%u", outer);
    }
    slri_c_begin(e, in->where);
    slri_text_printf(e->out, "for (int32_t at_%u = %s; at_%u < %s;) {", mine, low, mine, high);
    e->depth++;
    slri_text_printf(e->out, " int32_t lo, hi; ");
    struct slri_text guard = SLRI_TEXT_INIT, *out = e->out;
    e->out = &guard;
    bool guarded = put_steady(e, n);
    e->out = out;
    if (guarded)
        slri_text_printf(e->out, "if (%s) {", slri_text_view(&guard));
    put_bounds(e, n, low, high);
    slri_text_printf(e->out, " at_%u = %s;", mine, high);
    if (guarded && slri_c_meets(n->body)) { // not lane by lane
        slri_c_put(e, "} else { ");
        slri_c_put_fault(e, "BARRIER", in->where);
        slri_c_put(e, " break; }");
    } else if (guarded) {
        slri_text_printf(e->out, "} else { const int32_t lane = at_%u++; lo = lane; hi = ", mine);
        put_compare(e, n);
        slri_c_put(e, " ? lane + 1 : lane; }");
    }
    slri_text_printf(e->out, " const int32_t lo_%u = lo, hi_%u = hi; if (lo >= hi) continue;", mine, mine);
    out->out_of_memory |= guard.out_of_memory;
    slri_text_free(&guard);
    bool apart = k->apart;
    k->apart |= k->loops > 0;
    k->bound = mine;
    slri_c_sequence(e, n->body);
    k->bound = outer;
    k->apart = apart;
    slri_c_close(e);
}

// ---- sequences -----------------------------------------------------------------------------------------------------

static bool stores_to(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    const struct slri_root *root = user;
    (void)e;
    if (in->op == SLRI_OP_CALL)
        return true;
    bool writes = in->op == SLRI_OP_STORE || in->op == SLRI_OP_COPY || in->op == SLRI_OP_ZERO ||
                  (in->op >= SLRI_OP_ATOMIC_LOAD && in->op <= SLRI_OP_ATOMIC_CAS);
    // Two parameters may name one buffer.
    return writes && in->root.kind == root->kind && (in->root.index == root->index || root->kind == SLRI_ROOT_BINDING);
}

// Whether `in` may not go in front of the run.
static bool conflicts(const struct slri_c_emitter *e, const struct slri_block *run, const struct slri_instr *in)
{
    struct slri_root root = in->root;
    if (in->dst == SLRI_NO_REG || slri_c_may_fault(e, in))
        return true; // a jump, a fence; or the run's fault comes first
    if (e->kernel->value[in->dst].defs > 1 && slri_c_mentions(run, in->dst))
        return true;
    return in->op == SLRI_OP_LOAD && slri_c_any(e, run, stores_to, &root);
}

static void put_shared(struct slri_c_emitter *e, const struct slri_instr *in, struct slri_block *run)
{
    if (run->count && conflicts(e, run, in))
        put_run(e, run);
    if (in->dst != SLRI_NO_REG && slri_c_is_linear(e->kernel, in->dst)) {
        slri_c_put_parts(e, in);
        return;
    }
    struct slri_instr copy = *in;
    slri_c_block(e, &(struct slri_block){&copy, 1, 1});
}

static void put_together(struct slri_c_emitter *e, const struct slri_instr *in, struct slri_block *run)
{
    put_run(e, run);
    if (in->op == SLRI_OP_LOOP)
        put_nest_loop(e, in);
    else if (in->op == SLRI_OP_IF)
        put_if(e, in);
    else
        put_switch(e, in);
}

static void delay(struct slri_c_emitter *e, const struct slri_instr *in, struct slri_block *run)
{
    struct slri_instr *made = slri_block_append(e->scratch, run, in->op, in->kind, in->where);
    e->out->out_of_memory |= !made;
    if (made)
        *made = *in;
}

// Whether the range of lanes is the same for all rows, and may be found once for all of them: nothing waits to be done
// in the rows' loop in front of it.
static bool is_for_all_rows(const struct slri_c_kernel *k, const struct slri_instr *in,
                            const struct slri_c_narrowing *narrowing, const struct slri_block *run)
{
    return k->level == SLRI_LEVEL_UNIFORM && run->count == 0 && !k->one_nest && !k->mask &&
           k->value[narrowing->lane].base_level == SLRI_LEVEL_UNIFORM &&
           k->value[narrowing->bound].level == SLRI_LEVEL_UNIFORM && !slri_c_meets_in(in);
}

static void put_one(struct slri_c_emitter *e, const struct slri_instr *in, struct slri_block *run)
{
    struct slri_c_kernel *k = e->kernel;
    struct slri_c_narrowing narrowing;
    bool narrows = slri_c_narrows(k, in, &narrowing);
    uint8_t narrowing_level = k->rows > 1 ? SLRI_LEVEL_ROW : SLRI_LEVEL_UNIFORM;
    if ((in->op == SLRI_OP_INDEX && !e->is_block) ||
        (in->dst != SLRI_NO_REG && (k->value[in->dst].silent || k->value[in->dst].again)))
        return;
    if (in->op == SLRI_OP_BARRIER) {
        put_run(e, run);
        put_barrier(e, in);
    } else if (in->op == SLRI_OP_WARP) {
        put_run(e, run);
        slri_c_put_warp(e, in);
    } else if (slri_c_is_leaving(k, in)) {
        delay(e, in, run);
        put_run(e, run);
    } else if (narrows && (k->level >= narrowing_level || is_for_all_rows(k, in, &narrowing, run))) {
        put_run(e, run);
        put_narrowing(e, in, &narrowing);
    } else if (slri_c_need(k, in) <= k->level) {
        if (in->body[0] || in->body[1] || in->cases)
            put_together(e, in, run);
        else
            put_shared(e, in, run);
    } else if (slri_c_meets_in(in)) {
        put_run(e, run);
        slri_c_put_masked(e, in);
    } else {
        delay(e, in, run);
        if (k->leaves && slri_c_any(e, &(struct slri_block){(struct slri_instr *)in, 1, 1}, is_return, NULL))
            put_run(e, run);
    }
}

void slri_c_sequence(struct slri_c_emitter *e, const struct slri_block *block)
{
    struct slri_block run = {0};
    for (uint32_t i = 0; i < block->count; i++)
        put_one(e, &block->instr[i], &run);
    put_run(e, &run);
}
