// SPDX-License-Identifier: Apache-2.0
#include "ir/pass/level.h"
#include "base/status.h"
#include "ir/pass/here.h"
#include "ir/uniform.h"

#include <string.h>

#define WAITS (SLRI_USES_BARRIER | SLRI_USES_WARP)

struct level {
    struct slri_lowering l; // first
    const struct slri_entry *entry;
    const struct slri_uniform *uniform;
    const struct slri_function *source;
    const struct slri_here *here; // NULL: all threads
    uint32_t *assignments;        // of each register
    slri_reg result;              // of a function that gives one
    // What looking at it has found:
    bool has_left;                      // some threads may have returned from the entry before
    bool is_needed;                     // some place is not reached by all
    const struct slri_instr *in_switch; // what a switch holds that cannot be written so
};

// ---- whether it is needed ------------------------------------------------------------------------------------------

static slr_status refuse(const struct level *v, const struct slri_instr *in, const char *why)
{
    return SLRI_FAIL(UNSUPPORTED, "%s:%u: the device cannot synchronise here: %s", v->l.from->file[in->where.file],
                     in->where.line, why);
}

static slr_status look_at(struct level *v, const struct slri_block *block, bool in_switch)
{
    for (uint32_t i = 0; i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        bool is_uniform = slri_uniform_flow(v->uniform, v->source, block, i);
        if (in->op == SLRI_OP_BARRIER && !is_uniform)
            return refuse(v, in, "not all threads of the block come here; take the branch around it away");
        v->is_needed |= slri_instr_waits(in) && (v->has_left || (in->op == SLRI_OP_WARP && !is_uniform));
        v->has_left |= in->op == SLRI_OP_RETURN && v->source == v->entry->function && !is_uniform;
        bool is_bad = (in_switch && slri_instr_waits(in)) || (in->op == SLRI_OP_SWITCH && slri_instr_leaves(in));
        v->in_switch = is_bad && !v->in_switch ? in : v->in_switch;
        int rounds = in->op == SLRI_OP_LOOP ? 2 : 1; // who has returned in one is missing in the next
        for (int round = 0; round < rounds; round++)
            for (int part = 0; part < 3; part++)
                if (in->body[part])
                    SLRI_TRY(look_at(v, in->body[part], in_switch));
        for (uint32_t c = 0; c < in->cases; c++)
            SLRI_TRY(look_at(v, in->match[c].body, true));
    }
    return SLR_OK;
}

static bool level_is_own(const struct level *v, const struct slri_function *function)
{
    for (uint32_t i = 0; i < v->l.from->entries; i++)
        if (v->l.from->entry[i].function == function)
            return function == v->entry->function;
    return true;
}

static slr_status look_at_all(struct level *v)
{
    for (uint32_t i = 0; i < v->l.from->functions; i++) {
        v->source = v->l.from->function[i];
        v->has_left = false;
        if (level_is_own(v, v->source) && (v->source->uses & WAITS))
            SLRI_TRY(look_at(v, v->source->body, false));
    }
    if (v->is_needed && v->in_switch)
        return refuse(v, v->in_switch, "a switch around it, and not all threads come the same way; write it with if");
    return SLR_OK;
}

// ---- writing -------------------------------------------------------------------------------------------------------

static struct slri_lowering *of(struct level *v)
{
    return &v->l;
}

static void put_level(struct level *v, const struct slri_block *block);

static void put_part(struct level *v, const struct slri_block *block, slri_reg flag)
{
    struct slri_here side = {.outer = v->here, .reg = flag};
    v->here = &side;
    put_level(v, block);
    v->here = side.outer;
}

static void level_if(struct level *v, const struct slri_instr *in)
{
    slri_reg here = slri_here_reg(of(v), v->here),
             first = slri_here_copy(of(v), slri_here_both(of(v), here, slri_here_is_some(of(v), in->a)));
    slri_reg second =
        in->body[1] ? slri_here_copy(of(v), slri_here_both(of(v), here, slri_here_is_zero(of(v), in->a))) : 0;
    put_part(v, in->body[0], first);
    if (in->body[1])
        put_part(v, in->body[1], second);
}

static struct slri_block *made_of(struct level *v, const struct slri_block *block)
{
    struct slri_block *outer = v->l.block, *made = slri_lower_block(of(v));
    v->l.block = made;
    put_level(v, block);
    v->l.block = outer;
    return made;
}

// All threads are here, and go the same way.
static void put_common(struct level *v, const struct slri_instr *in)
{
    struct slri_block *body[3] = {NULL};
    for (int part = 0; part < 3; part++)
        if (in->body[part])
            body[part] = made_of(v, in->body[part]);
    struct slri_instr *made = slri_here_same(of(v), in);
    memcpy(made->body, body, sizeof body);
}

static void put_test(struct level *v, const struct slri_instr *loop, slri_reg stays)
{
    put_level(v, loop->body[0]);
    if (loop->a != SLRI_NO_REG)
        slri_lower_set(of(v), stays, SLRI_OP_MOVE, SLRI_I32,
                       slri_here_both(of(v), stays, slri_here_is_some(of(v), loop->a)), SLRI_NO_REG);
}

// Who goes on has a flag for the loop; who is in this round another. It goes on while any thread of the block would.
static void level_loop(struct level *v, const struct slri_instr *loop)
{
    struct slri_here stays = {
        .outer = v->here, .reg = slri_here_copy(of(v), slri_here_reg(of(v), v->here)), .ends_loop = true};
    struct slri_block *outer = v->l.block, *body = slri_lower_block(of(v)), *none = slri_lower_block(of(v));
    v->l.block = body;
    v->here = &stays;
    if (!loop->do_while)
        put_test(v, loop, stays.reg);
    slri_reg any = slri_here_any_of(of(v), stays.reg);
    struct slri_block *behind = slri_lower_if(of(v), slri_here_is_zero(of(v), any), NULL);
    slri_lower_append(of(v), SLRI_OP_BREAK, SLRI_VOID);
    v->l.block = behind;
    put_part(v, loop->body[1], slri_here_copy(of(v), stays.reg));
    if (loop->body[2])
        put_level(v, loop->body[2]);
    if (loop->do_while)
        put_test(v, loop, stays.reg);
    v->here = stays.outer;
    v->l.block = outer;
    struct slri_instr *made = slri_lower_append(of(v), SLRI_OP_LOOP, SLRI_VOID);
    made->body[0] = none;
    made->body[1] = body;
}

// ---- a block -------------------------------------------------------------------------------------------------------

static const struct slri_function *made_for(const struct level *v, const struct slri_function *callee)
{
    uint32_t i = 0;
    while (v->l.from->function[i] != callee)
        i++;
    return v->l.made[i];
}

static void put_one(struct level *v, const struct slri_instr *in)
{
    bool is_branch = in->op == SLRI_OP_IF || in->op == SLRI_OP_LOOP;
    bool is_common =
        is_branch && !v->here && !slri_instr_has_jumps(in) && slri_uniform_branch(v->uniform, v->source, in);
    v->l.where = in->where;
    if (is_common)
        put_common(v, in);
    else if (in->op == SLRI_OP_IF)
        level_if(v, in);
    else if (in->op == SLRI_OP_LOOP)
        level_loop(v, in);
    else if (in->op == SLRI_OP_BARRIER)
        slri_here_barrier(of(v), v->here, in);
    else if (in->op == SLRI_OP_WARP)
        slri_here_warp(of(v), v->here, in);
    else if (in->op == SLRI_OP_CALL)
        slri_here_call(of(v), v->here, in, made_for(v, in->callee));
    else
        slri_here_jump(of(v), v->here, in, v->result);
}

static bool is_for_all(const struct level *v, const struct slri_instr *in)
{
    return !v->here || (in->op == SLRI_OP_CONST && v->assignments[in->dst] == 1);
}

static void put_level(struct level *v, const struct slri_block *block)
{
    for (uint32_t i = 0; i < block->count;) {
        const struct slri_instr *in = &block->instr[i];
        if (!slri_instr_is_plain(in)) {
            put_one(v, &block->instr[i++]);
        } else if (is_for_all(v, in)) {
            slri_here_same(of(v), &block->instr[i++]);
        } else {
            v->l.where = in->where;
            struct slri_block *behind = slri_lower_if(of(v), v->here->reg, NULL);
            for (; i < block->count && slri_instr_is_plain(&block->instr[i]) && !is_for_all(v, &block->instr[i]); i++)
                slri_here_same(of(v), &block->instr[i]);
            v->l.block = behind;
        }
    }
}

// ---- functions -----------------------------------------------------------------------------------------------------

static bool returns_early(const struct slri_block *block)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (slri_instr_returns(&block->instr[i]) && (block->instr[i].op != SLRI_OP_RETURN || i + 1 < block->count))
            return true;
    return false;
}

// The copy may have more registers and a parameter more: the flag of who is there.
static struct slri_function *copy_of(struct level *v, const struct slri_function *from)
{
    struct slri_region *region = v->l.region;
    struct slri_function *f = slri_region_take(region, sizeof *f);
    uint32_t room = from->regs + 64;
    enum slri_kind *kind = slri_region_take(region, room * sizeof *kind);
    const char **name = slri_region_take(region, room * sizeof *name);
    struct slri_param *param = slri_region_take(region, (from->params + 1) * sizeof *param);
    struct slri_block *body = slri_block_create(region);
    v->assignments = slri_region_take(region, (from->regs + 1) * sizeof *v->assignments);
    if (!f || !kind || !name || !param || !body || !v->assignments)
        return NULL;
    *f = *from;
    memcpy(kind, from->reg_kind, from->regs * sizeof *kind);
    memcpy(name, from->reg_name, from->regs * sizeof *name);
    if (from->params)
        memcpy(param, from->param, from->params * sizeof *param);
    f->reg_kind = kind;
    f->reg_name = name;
    f->reg_room = room;
    f->param = param;
    f->body = body;
    f->uses |= SLRI_USES_BARRIER;
    return f;
}

static bool write_function(struct level *v, uint32_t index)
{
    const struct slri_function *from = v->l.from->function[index];
    struct slri_function *f = copy_of(v, from);
    if (!f)
        return false;
    v->source = from;
    v->l.made[index] = v->l.function = f;
    v->l.block = f->body;
    v->l.where = from->where;
    slri_lower_count(from->body, v->assignments, NULL);
    bool is_entry = from == v->entry->function, jumps = returns_early(from->body);
    struct slri_here own = {0};
    v->here = is_entry && !jumps ? NULL : &own;
    if (!is_entry) {
        slri_reg on = slri_lower_reg(of(v), SLRI_I32);
        f->param[f->params++] = (struct slri_param){.name = "on", .reg = on};
        own.reg = slri_here_copy(of(v), on);
    } else if (jumps) {
        own.reg = slri_here_copy(of(v), slri_lower_const(of(v), SLRI_I32, 1));
    }
    v->result = from->result == SLRI_VOID ? SLRI_NO_REG : slri_lower_variable(of(v), from->result, NULL);
    put_level(v, from->body);
    if (from->result != SLRI_VOID)
        slri_lower_append(of(v), SLRI_OP_RETURN, SLRI_VOID)->a = v->result;
    return !v->l.out_of_memory;
}

static slr_status write_module(struct level *v, const struct slri_module **out, const struct slri_entry **out_entry)
{
    const struct slri_module *from = v->l.from;
    struct slri_module *m = slri_region_take(v->l.region, sizeof *m);
    struct slri_entry *e = slri_region_take(v->l.region, sizeof *e);
    v->l.made = slri_region_take(v->l.region, (from->functions + 1) * sizeof *v->l.made);
    struct slri_function **function = slri_region_take(v->l.region, (from->functions + 1) * sizeof *function);
    bool written = m && e && v->l.made && function;
    for (uint32_t i = 0; written && i < from->functions; i++) {
        bool is_level = level_is_own(v, from->function[i]) && (from->function[i]->uses & WAITS);
        written = !is_level || write_function(v, i);
        function[i] = is_level ? v->l.made[i] : from->function[i];
    }
    if (!written)
        return SLRI_FAIL(NO_MEMORY, "no memory to make %s level", v->entry->name);
    *m = *from;
    *e = *v->entry;
    for (uint32_t i = 0; i < from->functions; i++)
        if (from->function[i] == v->entry->function)
            e->function = function[i];
    m->function = function;
    m->entry = e;
    m->entries = 1;
    *out = m;
    *out_entry = e;
    return SLR_OK;
}

slr_status slri_level(const struct slri_module *module, const struct slri_entry *entry, struct slri_region *region,
                      const struct slri_module **out, const struct slri_entry **out_entry)
{
    struct level v = {.l = {.region = region, .from = module}, .entry = entry};
    *out = module;
    *out_entry = entry;
    if (!(entry->function->uses & WAITS))
        return SLR_OK;
    v.uniform = slri_uniform_create(module, entry, region);
    if (!v.uniform)
        return SLRI_FAIL(NO_MEMORY, "no memory to look at %s", entry->name);
    SLRI_TRY(look_at_all(&v));
    return v.is_needed ? write_module(&v, out, out_entry) : SLR_OK;
}
