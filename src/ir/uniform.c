// SPDX-License-Identifier: Apache-2.0
// Everything begins as uniform; what varies spreads, from thread indices and atomics, along operands, along the
// branches that depend on it and along calls, until nothing changes any more.
#include "ir/uniform.h"

#include <string.h>

#define NEVER UINT32_MAX

struct area { // a block of a function's tree
    const struct slri_block *block;
    struct area *parent;
    uint32_t depth, owner; // owner: the index in the parent's block of the instruction that this is a body of
    bool varies;           // not all threads that are in the parent come here together
    uint32_t tail;         // from this instruction on not all threads that entered are here (some jumped on); or NEVER
};

struct reg {
    struct area *home;
    bool varies;
};

struct slot { // of the table from blocks to areas
    const struct slri_block *block;
    struct area *area;
};

struct function {
    const struct slri_function *ir;
    struct reg *reg;
    bool *local_varies;
    struct slot *slot;
    uint32_t slots; // a power of two
    bool is_reached, is_entry;
    bool called_apart; // some call is not reached by all threads
    bool result_varies;
};

struct slri_uniform {
    const struct slri_module *module;
    struct slri_region *region;
    struct function *function; // in the module's order
    struct function *now;
    bool has_changed, out_of_memory;
};

// ---- the tree ------------------------------------------------------------------------------------------------------

static uint32_t hash(const struct function *f, const struct slri_block *block)
{
    return (uint32_t)((uintptr_t)block / 16 * 2654435761u) & (f->slots - 1);
}

static struct area *area_of(const struct function *f, const struct slri_block *block)
{
    uint32_t at = hash(f, block);
    while (f->slot[at].block && f->slot[at].block != block)
        at = (at + 1) & (f->slots - 1);
    return f->slot[at].area;
}

static uint32_t count_blocks(const struct slri_block *block)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < block->count; i++) {
        for (int part = 0; part < 3; part++)
            count += block->instr[i].body[part] ? count_blocks(block->instr[i].body[part]) : 0;
        for (uint32_t c = 0; c < block->instr[i].cases; c++)
            count += count_blocks(block->instr[i].match[c].body);
    }
    return count;
}

static void mention(struct function *f, slri_reg reg, struct area *area)
{
    if (reg == SLRI_NO_REG)
        return;
    struct area *home = f->reg[reg].home;
    if (!home) {
        f->reg[reg].home = area;
        return;
    }
    while (home != area) { // up to where both are
        if (home->depth >= area->depth)
            home = home->parent;
        else
            area = area->parent;
    }
    f->reg[reg].home = home;
}

static void plant(struct slri_uniform *u, struct function *f, const struct slri_block *block, struct area *parent,
                  uint32_t owner)
{
    struct area *area = slri_region_take(u->region, sizeof *area);
    if (!area) {
        u->out_of_memory = true;
        return;
    }
    *area = (struct area){block, parent, parent ? parent->depth + 1 : 0, owner, false, NEVER};
    uint32_t at = hash(f, block);
    while (f->slot[at].block)
        at = (at + 1) & (f->slots - 1);
    f->slot[at] = (struct slot){block, area};
    for (uint32_t i = 0; i < block->count && !u->out_of_memory; i++) {
        const struct slri_instr *in = &block->instr[i];
        const slri_reg operands[] = {in->dst, in->a, in->b, in->c};
        for (int o = 0; o < 4; o++)
            mention(f, operands[o], area);
        for (uint32_t a = 0; a < in->args; a++)
            mention(f, in->arg[a].reg, area);
        for (int part = 0; part < 3; part++)
            if (in->body[part])
                plant(u, f, in->body[part], area, i);
        for (uint32_t c = 0; c < in->cases; c++)
            plant(u, f, in->match[c].body, area, i);
    }
}

static void prepare(struct slri_uniform *u, struct function *f, const struct slri_function *ir)
{
    uint32_t blocks = count_blocks(ir->body);
    f->ir = ir;
    f->slots = 4;
    while (f->slots < 2 * blocks)
        f->slots *= 2;
    f->slot = slri_region_take(u->region, f->slots * sizeof *f->slot);
    f->reg = slri_region_take(u->region, (ir->regs + 1) * sizeof *f->reg);
    f->local_varies = slri_region_take(u->region, ir->locals + 1);
    u->out_of_memory |= !f->slot || !f->reg || !f->local_varies;
    if (u->out_of_memory)
        return;
    plant(u, f, ir->body, NULL, 0);
    for (uint32_t i = 0; i < ir->params && !u->out_of_memory; i++) // a parameter is assigned at the top
        mention(f, ir->param[i].reg, area_of(f, ir->body));
}

// ---- spreading -----------------------------------------------------------------------------------------------------

static void set(struct slri_uniform *u, bool *flag)
{
    u->has_changed |= !*flag;
    *flag = true;
}

static bool varies(const struct slri_uniform *u, slri_reg reg)
{
    return reg != SLRI_NO_REG && u->now->reg[reg].varies;
}

// Between `top` (itself not counted) and this instruction some threads may have parted. `top` NULL: the whole function.
static bool is_apart(const struct area *area, uint32_t index, const struct area *top)
{
    for (;;) {
        if (index >= area->tail)
            return true;
        if (area == top)
            return false;
        if (!area->parent)
            return area->varies;
        if (area->varies)
            return true;
        index = area->owner;
        area = area->parent;
    }
}

static bool flow_varies(const struct function *f, const struct area *area, uint32_t index)
{
    return f->called_apart || is_apart(area, index, NULL);
}

static void assign(struct slri_uniform *u, slri_reg reg, bool value_varies, const struct area *area, uint32_t index)
{
    if (reg != SLRI_NO_REG && (value_varies || is_apart(area, index, u->now->reg[reg].home)))
        set(u, &u->now->reg[reg].varies);
}

static bool memory_varies(const struct slri_uniform *u, struct slri_root root)
{
    if (root.kind == SLRI_ROOT_LOCAL)
        return u->now->local_varies[root.index];
    return root.kind == SLRI_ROOT_PARAM && !u->now->ir->param[root.index].is_common; // others are not followed
}

// A store to memory of the thread's own.
static void store(struct slri_uniform *u, struct slri_root root, bool value_varies, const struct area *area,
                  uint32_t index)
{
    if (root.kind == SLRI_ROOT_LOCAL && (value_varies || is_apart(area, index, NULL)))
        set(u, &u->now->local_varies[root.index]);
}

static bool value_varies(const struct slri_uniform *u, const struct slri_instr *in)
{
    switch (in->op) {
    case SLRI_OP_BUILTIN:
        return in->imm <= SLRI_BUILTIN_THREAD_Z;
    case SLRI_OP_LOAD:
        return in->is_volatile || varies(u, in->a) || memory_varies(u, in->root);
    case SLRI_OP_ATOMIC_LOAD:
    case SLRI_OP_ATOMIC_RMW:
    case SLRI_OP_ATOMIC_CAS:
    case SLRI_OP_WARP: // warps differ
    case SLRI_OP_CLOCK:
        return true;
    case SLRI_OP_BARRIER:
    case SLRI_OP_PRESENT:
        return false;
    default:
        break;
    }
    for (uint32_t i = 0; i < in->args; i++)
        if (varies(u, in->arg[i].reg))
            return true;
    return varies(u, in->a) || varies(u, in->b) || varies(u, in->c);
}

// ---- calls ---------------------------------------------------------------------------------------------------------

static struct function *function_of(const struct slri_uniform *u, const struct slri_function *ir)
{
    uint32_t i = 0;
    while (u->module->function[i] != ir)
        i++;
    return &u->function[i];
}

static void call(struct slri_uniform *u, const struct slri_instr *in, const struct area *area, uint32_t index)
{
    struct function *callee = function_of(u, in->callee);
    set(u, &callee->is_reached);
    if (flow_varies(u->now, area, index))
        set(u, &callee->called_apart);
    for (uint32_t i = 0; i < in->args; i++) {
        if (varies(u, in->arg[i].reg))
            set(u, &callee->reg[in->callee->param[i].reg].varies);
        if (in->arg[i].root.kind == SLRI_ROOT_LOCAL && !in->callee->param[i].is_common)
            set(u, &u->now->local_varies[in->arg[i].root.index]);
    }
    assign(u, in->dst, callee->result_varies, area, index);
}

// ---- branches and jumps --------------------------------------------------------------------------------------------

struct target { // what BREAK and CONTINUE lead to the end of
    struct target *outer;
    const struct slri_instr *instr;
    struct area *area; // that holds it
    uint32_t index;
};

static void part(struct slri_uniform *u, const struct slri_instr *in)
{
    for (int i = 0; i < 3; i++)
        if (in->body[i])
            set(u, &area_of(u->now, in->body[i])->varies);
    for (uint32_t c = 0; c < in->cases; c++)
        set(u, &area_of(u->now, in->match[c].body)->varies);
}

// Some threads skip the rest of all blocks from here up to the target's body.
static void skip(struct slri_uniform *u, struct area *area, uint32_t index, const struct target *target)
{
    for (; area != target->area; index = area->owner, area = area->parent)
        if (index + 1 < area->tail) {
            area->tail = index + 1;
            u->has_changed = true;
        }
}

static void jump(struct slri_uniform *u, const struct slri_instr *in, struct area *area, uint32_t index,
                 struct target *target)
{
    bool continues = in->op == SLRI_OP_CONTINUE;
    while (continues && target->instr->op != SLRI_OP_LOOP)
        target = target->outer;
    struct area *body = area;
    while (body->parent != target->area)
        body = body->parent;
    if (!is_apart(area, index, body))
        return;
    if (continues || target->instr->op == SLRI_OP_SWITCH)
        skip(u, area, index, target);
    else
        part(u, target->instr); // some leave the loop: who is in it later is not who was before it
}

// Threads that return are gone from the function. The entry's do not come back, others wait in the caller: what comes
// behind is not reached by all, and a loop around loses some.
static void leave(struct slri_uniform *u, const struct slri_instr *in, struct area *area, uint32_t index,
                  const struct target *target)
{
    bool apart = is_apart(area, index, NULL);
    if (varies(u, in->a) || (apart && in->a != SLRI_NO_REG))
        set(u, &u->now->result_varies);
    if (!apart || u->now->is_entry)
        return;
    for (; target; target = target->outer)
        if (target->instr->op == SLRI_OP_LOOP)
            part(u, target->instr);
    for (; area; index = area->owner, area = area->parent)
        if (index + 1 < area->tail) {
            area->tail = index + 1;
            u->has_changed = true;
        }
}

// ---- one round -----------------------------------------------------------------------------------------------------

static void look_at(struct slri_uniform *u, const struct slri_block *block, struct target *target);

static void look_into(struct slri_uniform *u, const struct slri_instr *in, struct area *area, uint32_t index,
                      struct target *target)
{
    struct target inner = {target, in, area, index};
    bool is_target = in->op == SLRI_OP_LOOP || in->op == SLRI_OP_SWITCH;
    for (int i = 0; i < 3; i++)
        if (in->body[i])
            look_at(u, in->body[i], is_target ? &inner : target);
    for (uint32_t c = 0; c < in->cases; c++)
        look_at(u, in->match[c].body, &inner);
    if (varies(u, in->a))
        part(u, in);
}

static void look_at(struct slri_uniform *u, const struct slri_block *block, struct target *target)
{
    struct area *area = area_of(u->now, block);
    for (uint32_t i = 0; i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        switch (in->op) {
        case SLRI_OP_IF:
        case SLRI_OP_LOOP:
        case SLRI_OP_SWITCH:
            look_into(u, in, area, i, target);
            break;
        case SLRI_OP_BREAK:
        case SLRI_OP_CONTINUE:
            jump(u, in, area, i, target);
            break;
        case SLRI_OP_RETURN:
            leave(u, in, area, i, target);
            break;
        case SLRI_OP_CALL:
            call(u, in, area, i);
            break;
        case SLRI_OP_STORE:
            store(u, in->root, varies(u, in->a) || varies(u, in->b), area, i);
            break;
        case SLRI_OP_COPY:
            store(u, in->root, varies(u, in->a) || varies(u, in->b) || memory_varies(u, in->root2), area, i);
            break;
        case SLRI_OP_ZERO:
            store(u, in->root, varies(u, in->a), area, i);
            break;
        default:
            if (in->op >= SLRI_OP_ATOMIC_STORE && in->op <= SLRI_OP_ATOMIC_CAS)
                store(u, in->root, true, area, i);
            assign(u, in->dst, value_varies(u, in), area, i);
            break;
        }
    }
}

struct slri_uniform *slri_uniform_create(const struct slri_module *module, const struct slri_entry *entry,
                                         struct slri_region *region)
{
    struct slri_uniform *u = slri_region_take(region, sizeof *u);
    if (!u)
        return NULL;
    *u = (struct slri_uniform){.module = module, .region = region};
    u->function = slri_region_take(region, (module->functions + 1) * sizeof *u->function);
    u->out_of_memory = !u->function;
    for (uint32_t i = 0; i < module->functions && !u->out_of_memory; i++)
        prepare(u, &u->function[i], module->function[i]);
    if (u->out_of_memory)
        return NULL;
    struct function *first = function_of(u, entry->function);
    first->is_reached = first->is_entry = true;
    do {
        u->has_changed = false;
        for (uint32_t i = module->functions; i-- > 0;) { // callers before their callees
            u->now = &u->function[i];
            if (u->now->is_reached)
                look_at(u, u->now->ir->body, NULL);
        }
    } while (u->has_changed);
    return u;
}

// ---- questions -----------------------------------------------------------------------------------------------------

bool slri_uniform_register(const struct slri_uniform *u, const struct slri_function *function, slri_reg reg)
{
    return !function_of(u, function)->reg[reg].varies;
}

bool slri_uniform_local(const struct slri_uniform *u, const struct slri_function *function, uint32_t local)
{
    return !function_of(u, function)->local_varies[local];
}

bool slri_uniform_flow(const struct slri_uniform *u, const struct slri_function *function,
                       const struct slri_block *block, uint32_t index)
{
    const struct function *f = function_of(u, function);
    return !flow_varies(f, area_of(f, block), index);
}

bool slri_uniform_branch(const struct slri_uniform *u, const struct slri_function *function,
                         const struct slri_instr *branch)
{
    const struct function *f = function_of(u, function);
    for (int i = 0; i < 3; i++)
        if (branch->body[i])
            return !area_of(f, branch->body[i])->varies;
    return branch->cases == 0 || !area_of(f, branch->match[0].body)->varies;
}
