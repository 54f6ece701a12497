// SPDX-License-Identifier: Apache-2.0
// Before a kernel is planned: a clone of its function, in which what depends on the block's shape is constant, callees
// with barriers or functions of a warp are put in place of their calls, `if (c) return; rest` is `if (c) {} else rest`,
// `if (a && b)` is two ifs, and of `if (c) ... else ...` the indices are computed before it.
#include "emit/c/plan.h"

#include "base/status.h"

#include <string.h>

struct clone {
    struct slri_c_emitter *e;
    struct slri_c_kernel *k;
    // Of the callee being put in: what its registers, locals and parameters are in the kernel's function.
    const struct slri_function *from;
    slri_reg first_reg;
    uint32_t first_local;
    const struct slri_instr *call;
    bool out_of_memory;
    const struct slri_instr *refused; // a return in the middle of a function that is put in
};

static struct slri_block *clone_block(struct clone *c, const struct slri_block *block);

// ---- instructions --------------------------------------------------------------------------------------------------

static slri_reg map_reg(const struct clone *c, slri_reg reg)
{
    return reg == SLRI_NO_REG ? reg : c->first_reg + reg;
}

static struct slri_root map_root(const struct clone *c, struct slri_root root)
{
    if (root.kind == SLRI_ROOT_LOCAL)
        root.index += c->first_local;
    else if (root.kind == SLRI_ROOT_PARAM)
        root = c->call->arg[root.index].root; // mapped when the call was cloned
    return root;
}

// What is known of the block's shape.
static void fold_builtin(const struct slri_c_kernel *k, struct slri_instr *in)
{
    uint64_t value;
    bool is_handler = k->entry->kind == SLRI_ENTRY_BLOCK; // one block
    if (is_handler && in->imm >= SLRI_BUILTIN_BLOCK_X && in->imm <= SLRI_BUILTIN_BLOCK_Z)
        value = 0;
    else if (is_handler && in->imm >= SLRI_BUILTIN_GRID_DIM_X)
        value = 1;
    else if (in->imm >= SLRI_BUILTIN_BLOCK_DIM_X && in->imm <= SLRI_BUILTIN_BLOCK_DIM_Z)
        value = k->block[in->imm - SLRI_BUILTIN_BLOCK_DIM_X];
    else if (in->imm <= SLRI_BUILTIN_THREAD_Z && k->block[in->imm - SLRI_BUILTIN_THREAD_X] == 1)
        value = 0;
    else
        return;
    in->op = SLRI_OP_CONST;
    in->kind = SLRI_U32;
    in->imm = value;
}

static void clone_parts(struct clone *c, struct slri_instr *in)
{
    in->dst = map_reg(c, in->dst);
    in->a = map_reg(c, in->a);
    in->b = map_reg(c, in->b);
    in->c = map_reg(c, in->c);
    in->root = map_root(c, in->root);
    in->root2 = map_root(c, in->root2);
    struct slri_arg *arg = slri_region_take(c->e->scratch, (in->args + 1) * sizeof *arg);
    struct slri_case *match = slri_region_take(c->e->scratch, (in->cases + 1) * sizeof *match);
    c->out_of_memory |= !arg || !match;
    if (c->out_of_memory)
        return;
    for (uint32_t i = 0; i < in->args; i++)
        arg[i] = (struct slri_arg){map_reg(c, in->arg[i].reg), map_root(c, in->arg[i].root)};
    for (uint32_t i = 0; i < in->cases; i++) {
        match[i] = in->match[i];
        match[i].body = clone_block(c, in->match[i].body);
    }
    in->arg = arg;
    in->match = match;
    for (int part = 0; part < 3; part++)
        in->body[part] = in->body[part] ? clone_block(c, in->body[part]) : NULL;
    if (in->op == SLRI_OP_BUILTIN)
        fold_builtin(c->k, in);
}

static struct slri_instr *append(struct clone *c, struct slri_block *to, enum slri_op op, enum slri_kind kind,
                                 struct slri_where where)
{
    struct slri_instr *made = to ? slri_block_append(c->e->scratch, to, op, kind, where) : NULL;
    c->out_of_memory |= !made;
    return made;
}

static void append_move(struct clone *c, struct slri_block *to, slri_reg dst, slri_reg from, struct slri_where where)
{
    struct slri_instr *move = append(c, to, SLRI_OP_MOVE, c->k->function.reg_kind[dst], where);
    if (move) {
        move->dst = dst;
        move->a = from;
    }
}

// ---- calls ---------------------------------------------------------------------------------------------------------

// The callee's registers and locals behind those that are there. Errors: NO_MEMORY, by out_of_memory.
static void adopt(struct clone *c, const struct slri_function *callee)
{
    struct slri_function *into = &c->k->function;
    uint32_t regs = into->regs + callee->regs, locals = into->locals + callee->locals;
    enum slri_kind *kind = slri_region_take(c->e->scratch, (regs + 1) * sizeof *kind);
    const char **name = slri_region_take(c->e->scratch, (regs + 1) * sizeof *name);
    struct slri_local *local = slri_region_take(c->e->scratch, (locals + 1) * sizeof *local);
    c->out_of_memory |= !kind || !name || !local;
    if (c->out_of_memory)
        return;
    if (into->regs) {
        memcpy(kind, into->reg_kind, into->regs * sizeof *kind);
        memcpy(name, into->reg_name, into->regs * sizeof *name);
    }
    if (into->locals)
        memcpy(local, into->local, into->locals * sizeof *local);
    if (callee->regs) {
        memcpy(kind + into->regs, callee->reg_kind, callee->regs * sizeof *kind);
        memcpy(name + into->regs, callee->reg_name, callee->regs * sizeof *name);
    }
    if (callee->locals)
        memcpy(local + into->locals, callee->local, callee->locals * sizeof *local);
    into->reg_kind = kind;
    into->reg_name = name;
    into->local = local;
    into->regs = into->reg_room = regs;
    into->locals = locals;
}

static void returns_to_else(struct clone *c, struct slri_block *block);

// A RETURN that ends the callee's body becomes the result's assignment.
static void returns_to_results(struct clone *c, struct slri_block *body, const struct slri_instr *call)
{
    if (!body || !body->count || c->out_of_memory)
        return;
    struct slri_instr *last = &body->instr[body->count - 1];
    if (last->op == SLRI_OP_IF) {
        returns_to_results(c, last->body[0], call);
        returns_to_results(c, last->body[1], call);
    }
    if (last->op != SLRI_OP_RETURN)
        return;
    struct slri_instr returned = *last;
    body->count--;
    if (call->dst != SLRI_NO_REG && returned.a != SLRI_NO_REG)
        append_move(c, body, call->dst, returned.a, returned.where);
}

static bool finds_return(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    const struct slri_instr **found = user;
    (void)e;
    *found = in->op == SLRI_OP_RETURN ? in : *found;
    return *found != NULL;
}

// A call begins with its registers and locals at zero, wherever it is put in.
static void start_anew(struct clone *c, struct slri_block *to, const struct slri_instr *call)
{
    for (uint32_t i = 0; i < call->callee->locals; i++) {
        struct slri_instr *zero = append(c, to, SLRI_OP_ZERO, SLRI_VOID, call->where);
        slri_reg at = slri_function_add_reg(c->e->scratch, &c->k->function, SLRI_I64, NULL);
        c->out_of_memory |= at == SLRI_NO_REG;
        if (c->out_of_memory)
            return;
        zero->op = SLRI_OP_CONST, zero->kind = SLRI_I64, zero->dst = at;
        zero = append(c, to, SLRI_OP_ZERO, SLRI_VOID, call->where);
        if (!zero)
            return;
        zero->root = (struct slri_root){SLRI_ROOT_LOCAL, c->first_local + i};
        zero->a = at;
        zero->imm = call->callee->local[i].type->bytes;
    }
}

static void put_in(struct clone *c, struct slri_block *to, const struct slri_instr *call)
{
    struct clone inner = {.e = c->e, .k = c->k, .from = call->callee, .call = call};
    inner.first_reg = c->k->function.regs;
    inner.first_local = c->k->function.locals;
    adopt(&inner, call->callee);
    if (!inner.out_of_memory)
        for (uint32_t i = 0; i < call->callee->params; i++)
            append_move(&inner, to, map_reg(&inner, call->callee->param[i].reg), call->arg[i].reg, call->where);
    if (!inner.out_of_memory)
        start_anew(&inner, to, call);
    struct slri_block *body = inner.out_of_memory ? NULL : clone_block(&inner, call->callee->body);
    if (!inner.out_of_memory) {
        returns_to_else(&inner, body);
        returns_to_results(&inner, body, call);
        slri_c_any(c->e, body, finds_return, &inner.refused);
    }
    for (uint32_t i = 0; body && i < body->count; i++) {
        struct slri_instr *made = append(&inner, to, body->instr[i].op, body->instr[i].kind, body->instr[i].where);
        if (made)
            *made = body->instr[i];
    }
    c->refused = inner.refused ? inner.refused : c->refused;
    c->out_of_memory |= inner.out_of_memory;
}

static struct slri_block *clone_block(struct clone *c, const struct slri_block *block)
{
    struct slri_block *made = slri_block_create(c->e->scratch);
    c->out_of_memory |= !made;
    for (uint32_t i = 0; block && i < block->count && !c->out_of_memory; i++) {
        struct slri_instr copy = block->instr[i];
        clone_parts(c, &copy);
        if (copy.op == SLRI_OP_CALL && !c->out_of_memory && copy.callee->uses & (SLRI_USES_BARRIER | SLRI_USES_WARP)) {
            put_in(c, made, &copy);
            continue;
        }
        struct slri_instr *to = append(c, made, copy.op, copy.kind, copy.where);
        if (to)
            *to = copy;
    }
    return made;
}

// ---- returns -------------------------------------------------------------------------------------------------------

static bool always_returns(const struct slri_block *block)
{
    if (!block || !block->count)
        return false;
    const struct slri_instr *last = &block->instr[block->count - 1];
    return last->op == SLRI_OP_RETURN ||
           (last->op == SLRI_OP_IF && always_returns(last->body[0]) && always_returns(last->body[1]));
}

// Moves what stands behind instruction `at` to the end of `to`.
static void move_rest(struct clone *c, struct slri_block *block, uint32_t at, struct slri_block *to)
{
    for (uint32_t i = at + 1; i < block->count; i++) {
        struct slri_instr *made = append(c, to, block->instr[i].op, block->instr[i].kind, block->instr[i].where);
        if (made)
            *made = block->instr[i];
    }
    block->count = at + 1;
}

static void returns_to_else(struct clone *c, struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count && !c->out_of_memory; i++) {
        struct slri_instr *in = &block->instr[i];
        if (in->op == SLRI_OP_RETURN)
            block->count = i + 1; // nothing behind it is reached
        if (in->op != SLRI_OP_IF)
            continue;
        returns_to_else(c, in->body[0]);
        returns_to_else(c, in->body[1]);
        int other = always_returns(in->body[0]) ? 1 : always_returns(in->body[1]) ? 0 : -1;
        if (other < 0)
            continue;
        if (!in->body[other])
            in->body[other] = slri_block_create(c->e->scratch);
        c->out_of_memory |= !in->body[other];
        if (!c->out_of_memory)
            move_rest(c, block, i, in->body[other]);
        returns_to_else(c, in->body[other]);
    }
}

static bool is_prepared_return(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    (void)e, (void)user;
    return in->op == SLRI_OP_RETURN;
}

// A return at the very end of the kernel says nothing.
static void drop_last_returns(struct slri_block *block)
{
    if (!block || !block->count)
        return;
    struct slri_instr *last = &block->instr[block->count - 1];
    if (last->op == SLRI_OP_RETURN) {
        block->count--;
        drop_last_returns(block);
    } else if (last->op == SLRI_OP_IF) {
        drop_last_returns(last->body[0]);
        drop_last_returns(last->body[1]);
    }
}

// ---- conditions ----------------------------------------------------------------------------------------------------

// `if (r) { ...; r = more; } if (r) body` (or, of ||, with else for both) is what && becomes when it is lowered. Nobody
// else reads r: the second IF goes to the end of the first one's side, where the new condition is tested alone.
static bool is_second_half(const struct slri_c_kernel *k, const struct slri_instr *first,
                           const struct slri_instr *second, int *side)
{
    if (first->op != SLRI_OP_IF || second->op != SLRI_OP_IF || first->a != second->a || k->function.reg_name[first->a])
        return false;
    bool then_empty = !first->body[0] || !first->body[0]->count, else_empty = !first->body[1] || !first->body[1]->count;
    if (then_empty == else_empty)
        return false;
    *side = then_empty;
    const struct slri_block *other = second->body[!*side], *more = first->body[*side];
    return (!other || !other->count) && more->instr[more->count - 1].dst == first->a &&
           slri_c_mentions(k->function.body, first->a) == 4;
}

static void take_out(struct slri_block *block, uint32_t at)
{
    memmove(&block->instr[at], &block->instr[at + 1], (block->count - at - 1) * sizeof *block->instr);
    block->count--;
}

// Of a && b && c the first two are a condition of their own, which is moved into the second's: `if (r) { ... } q = r;
// if (q) ...`, once c has gone into that last IF. Nobody else reads q: the IF may ask r itself.
static void skip_move(const struct slri_c_kernel *k, struct slri_block *block, uint32_t at)
{
    const struct slri_instr *in = &block->instr[at];
    if (at + 2 < block->count && in->op == SLRI_OP_IF && in[1].op == SLRI_OP_MOVE && in[1].a == in->a &&
        in[2].op == SLRI_OP_IF && in[2].a == in[1].dst && !k->function.reg_name[in[1].dst] &&
        slri_c_mentions(k->function.body, in[1].dst) == 2) {
        block->instr[at + 2].a = in->a;
        take_out(block, at + 1);
    }
}

// From the end: of a chain the last condition goes first.
static void split_conditions(struct clone *c, struct slri_block *block)
{
    for (uint32_t i = block ? block->count : 0; i-- > 0 && !c->out_of_memory;) {
        struct slri_instr *in = &block->instr[i];
        int side;
        skip_move(c->k, block, i);
        if (i + 1 < block->count && is_second_half(c->k, in, in + 1, &side)) {
            struct slri_block *to = in->body[side];
            slri_reg again = slri_function_add_reg(c->e->scratch, &c->k->function, SLRI_I32, NULL);
            struct slri_instr *made = append(c, to, SLRI_OP_IF, SLRI_VOID, in[1].where);
            c->out_of_memory |= again == SLRI_NO_REG;
            if (c->out_of_memory)
                return;
            *made = in[1];
            to->instr[to->count - 2].dst = made->a = again;
            take_out(block, i + 1);
        }
        for (int part = 0; part < 3; part++)
            split_conditions(c, in->body[part]);
        for (uint32_t m = 0; m < in->cases; m++)
            split_conditions(c, in->match[m].body);
    }
}

// ---- indices -------------------------------------------------------------------------------------------------------

// Under a condition of the lane nothing is linear: `i < n ? in[i] : 0` would gather. So a temporary that is made of
// integers alone, by what cannot fault, is made before the condition.
static bool may_go_ahead(const struct clone *c, const struct slri_block *body, const struct slri_instr *in)
{
    bool is_index = in->op == SLRI_OP_CONST || in->op == SLRI_OP_MOVE || in->op == SLRI_OP_CONVERT ||
                    in->op == SLRI_OP_ADD || in->op == SLRI_OP_SUB || in->op == SLRI_OP_MUL || in->op == SLRI_OP_SHL;
    if (!is_index || slri_kind_is_float(in->kind) || c->k->function.reg_name[in->dst] ||
        c->k->value[in->dst].defs != 1 || slri_c_mentions(body, in->dst) != c->k->value[in->dst].mentions)
        return false;
    const slri_reg operand[] = {in->a, in->b};
    for (int i = 0; i < 2; i++)
        if (operand[i] != SLRI_NO_REG &&
            (slri_c_assigned(c->e, body, operand[i]).count || slri_kind_is_float(c->k->function.reg_kind[operand[i]])))
            return false;
    return true;
}

static void insert(struct clone *c, struct slri_block *block, uint32_t at, struct slri_instr in)
{
    if (!append(c, block, in.op, in.kind, in.where))
        return;
    memmove(&block->instr[at + 1], &block->instr[at], (block->count - 1 - at) * sizeof *block->instr);
    block->instr[at] = in;
}

static void indices_ahead(struct clone *c, struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count && !c->out_of_memory; i++) {
        for (int part = 0; part < 3; part++)
            indices_ahead(c, block->instr[i].body[part]);
        for (uint32_t m = 0; m < block->instr[i].cases; m++)
            indices_ahead(c, block->instr[i].match[m].body);
        if (block->instr[i].op != SLRI_OP_IF)
            continue;
        struct slri_block *side[] = {block->instr[i].body[0], block->instr[i].body[1]};
        if (!side[0] || !side[1] || !side[0]->count || !side[1]->count)
            continue; // it may be a range of lanes
        for (int part = 0; part < 2; part++)
            for (uint32_t j = 0; j < side[part]->count && !c->out_of_memory;) {
                struct slri_instr in = side[part]->instr[j];
                if (in.dst == SLRI_NO_REG || !may_go_ahead(c, side[part], &in)) {
                    j++;
                    continue;
                }
                take_out(side[part], j);
                insert(c, block, i++, in);
            }
    }
}

// ---- all -----------------------------------------------------------------------------------------------------------

slr_status slri_c_prepare(struct slri_c_emitter *e, struct slri_c_kernel *k)
{
    const struct slri_function *from = k->entry->function;
    struct clone clone = {.e = e, .k = k, .from = from};
    k->function = *from;
    k->function.reg_room = k->function.regs; // what is added goes to arrays of its own
    k->function.body = clone_block(&clone, from->body);
    if (!clone.out_of_memory) {
        returns_to_else(&clone, k->function.body);
        drop_last_returns(k->function.body);
        split_conditions(&clone, k->function.body);
        clone.out_of_memory |= !slri_c_count_values(e, k);
        indices_ahead(&clone, k->function.body);
    }
    if (clone.out_of_memory)
        return SLRI_FAIL(NO_MEMORY, "no memory to emit %s as C", k->entry->name);
    if (clone.refused)
        return SLRI_FAIL(
            UNSUPPORTED,
            "%s:%u: a return inside a loop or a switch, in a function with barriers or warp functions: the compiled "
            "CPU engine needs the return at the function's end; cpu?engine=interpreted runs it",
            e->module->file[clone.refused->where.file], clone.refused->where.line);
    bool returns = slri_c_any(e, k->function.body, is_prepared_return, NULL);
    bool meets = from->uses & (SLRI_USES_BARRIER | SLRI_USES_WARP);
    k->one_nest = returns && !meets;
    k->leaves = returns && meets;
    return SLR_OK;
}
