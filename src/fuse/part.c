// SPDX-License-Identifier: Apache-2.0
// Reading a kernel: its index, its guard, and whether the rest is for one element.
#include "fuse/part.h"

#include "base/status.h"

#include <stdio.h>
#include <string.h>

struct reading {
    struct slri_part *part;
    const struct slri_function *function;
    char *why;
};

#define REFUSE(at, ...) (snprintf((at)->why, 200, __VA_ARGS__), false)

// ---- what registers hold -------------------------------------------------------------------------------------------

static bool is_word(enum slri_kind kind)
{
    return kind >= SLRI_I32 && kind <= SLRI_U64;
}

static bool is_wide_kind(enum slri_kind kind)
{
    return kind == SLRI_I64 || kind == SLRI_U64;
}

static struct slri_register *held_by(const struct slri_part *part, slri_reg reg)
{
    return &part->reg[reg];
}

static void count_writes(const struct slri_part *part, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; ++i) {
        const struct slri_instr *instr = &block->instr[i];
        if (instr->dst != SLRI_NO_REG)
            ++held_by(part, instr->dst)->writes;
        for (int k = 0; k < 3; ++k)
            count_writes(part, instr->body[k]);
        for (uint32_t k = 0; k < instr->cases; ++k)
            count_writes(part, instr->match[k].body);
    }
}

static struct slri_register held_of_builtin(uint64_t builtin)
{
    switch (builtin) {
    case SLRI_BUILTIN_THREAD_X:
        return (struct slri_register){.held = SLRI_HELD_THREAD};
    case SLRI_BUILTIN_BLOCK_X:
        return (struct slri_register){.held = SLRI_HELD_BLOCK};
    case SLRI_BUILTIN_BLOCK_DIM_X:
        return (struct slri_register){.held = SLRI_HELD_THREADS};
    case SLRI_BUILTIN_GRID_DIM_X:
        return (struct slri_register){.held = SLRI_HELD_BLOCKS};
    default:
        return (struct slri_register){.held = SLRI_HELD_ANY};
    }
}

// Whether a and b hold these, in either order.
static bool are(const struct slri_register *a, const struct slri_register *b, enum slri_held one, enum slri_held other)
{
    return (a->held == one && b->held == other) || (a->held == other && b->held == one);
}

static struct slri_register held_of_product(const struct slri_instr *instr, const struct slri_register *a,
                                            const struct slri_register *b)
{
    bool is_wide = is_wide_kind(instr->kind);
    if (are(a, b, SLRI_HELD_BLOCK, SLRI_HELD_THREADS))
        return (struct slri_register){.held = SLRI_HELD_BASE, .is_wide = is_wide};
    if (are(a, b, SLRI_HELD_BLOCKS, SLRI_HELD_THREADS))
        return (struct slri_register){.held = SLRI_HELD_STRIDE, .is_wide = is_wide};
    if (are(a, b, SLRI_HELD_INDEX, SLRI_HELD_CONST) && instr->kind == SLRI_I64)
        return (struct slri_register){.held = SLRI_HELD_OFFSET, .imm = a->held == SLRI_HELD_CONST ? a->imm : b->imm};
    if (instr->kind == SLRI_I64 && b->held == SLRI_HELD_CONST && a->writes <= 1)
        return (struct slri_register){.held = SLRI_HELD_PLACE, .imm = b->imm, .of = instr->a};
    return (struct slri_register){.held = SLRI_HELD_ANY};
}

static struct slri_register held_of_sum(const struct slri_instr *instr, const struct slri_register *a,
                                        const struct slri_register *b)
{
    bool is_wide = is_wide_kind(instr->kind);
    const struct slri_register *base = a->held == SLRI_HELD_BASE ? a : b;
    const struct slri_register *stride = a->held == SLRI_HELD_STRIDE ? a : b;
    if (are(a, b, SLRI_HELD_BASE, SLRI_HELD_THREAD) && base->is_wide == is_wide)
        return (struct slri_register){.held = SLRI_HELD_INDEX, .is_wide = is_wide};
    if (are(a, b, SLRI_HELD_INDEX, SLRI_HELD_STRIDE) && stride->is_wide <= is_wide)
        return (struct slri_register){.held = SLRI_HELD_NEXT, .is_wide = is_wide};
    bool a_is_place = a->held == SLRI_HELD_OFFSET || a->held == SLRI_HELD_PLACE;
    if (a->held == SLRI_HELD_CONST && a->imm == 0 && (b->held == SLRI_HELD_OFFSET || b->held == SLRI_HELD_PLACE))
        return *b;
    if (b->held == SLRI_HELD_CONST && b->imm == 0 && a_is_place)
        return *a;
    return (struct slri_register){.held = SLRI_HELD_ANY};
}

// INDEX compared with what is not: the guard, or its contrary.
static struct slri_register held_of_comparison(const struct slri_instr *instr, const struct slri_register *a,
                                               const struct slri_register *b)
{
    bool is_left = a->held == SLRI_HELD_INDEX && b->held != SLRI_HELD_INDEX;
    bool is_right = b->held == SLRI_HELD_INDEX && a->held != SLRI_HELD_INDEX;
    slri_reg bound = is_left ? instr->b : instr->a;
    bool below = (is_left && instr->op == SLRI_OP_LT) || (is_right && instr->op == SLRI_OP_GT);
    bool past = (is_left && instr->op == SLRI_OP_GE) || (is_right && instr->op == SLRI_OP_LE);
    if ((!below && !past) || !is_word(instr->kind))
        return (struct slri_register){.held = SLRI_HELD_ANY};
    return (struct slri_register){
        .held = below ? SLRI_HELD_GUARD : SLRI_HELD_PAST, .of = bound, .imm = (uint64_t)instr->kind};
}

// guard == 0, as `!` is lowered.
static struct slri_register held_of_equality(const struct slri_register *a, const struct slri_register *b)
{
    struct slri_register made = *a;
    bool is_guard = a->held == SLRI_HELD_GUARD || a->held == SLRI_HELD_PAST;
    if (!is_guard || b->held != SLRI_HELD_CONST || b->imm != 0)
        return (struct slri_register){.held = SLRI_HELD_ANY};
    made.held = a->held == SLRI_HELD_GUARD ? SLRI_HELD_PAST : SLRI_HELD_GUARD;
    return made;
}

static struct slri_register held_of_copy(const struct slri_instr *instr, const struct slri_register *a)
{
    bool moves_words = instr->op == SLRI_OP_MOVE || is_word(instr->kind);
    bool narrows = a->is_wide && instr->op == SLRI_OP_CONVERT && !is_wide_kind(instr->kind);
    bool is_index = a->held >= SLRI_HELD_THREAD && a->held <= SLRI_HELD_NEXT && !narrows;
    if (moves_words && (is_index || instr->op == SLRI_OP_MOVE))
        return *a;
    return (struct slri_register){.held = SLRI_HELD_ANY};
}

static struct slri_register held_after(const struct slri_part *part, const struct slri_instr *instr)
{
    const struct slri_register none = {.held = SLRI_HELD_ANY};
    const struct slri_register *a = instr->a == SLRI_NO_REG ? &none : held_by(part, instr->a);
    const struct slri_register *b = instr->b == SLRI_NO_REG ? &none : held_by(part, instr->b);
    switch (instr->op) {
    case SLRI_OP_BUILTIN:
        return held_of_builtin(instr->imm);
    case SLRI_OP_CONST:
        return (struct slri_register){.held = SLRI_HELD_CONST, .imm = instr->imm};
    case SLRI_OP_MOVE:
    case SLRI_OP_CONVERT:
        return held_of_copy(instr, a);
    case SLRI_OP_MUL:
        return held_of_product(instr, a, b);
    case SLRI_OP_ADD:
        return held_of_sum(instr, a, b);
    case SLRI_OP_LT:
    case SLRI_OP_LE:
    case SLRI_OP_GT:
    case SLRI_OP_GE:
        return held_of_comparison(instr, a, b);
    case SLRI_OP_EQ:
        return held_of_equality(a, b);
    default:
        return none;
    }
}

// What is assigned once holds the same wherever it is read.
static void note(const struct slri_part *part, const struct slri_instr *instr)
{
    if (instr->dst == SLRI_NO_REG || held_by(part, instr->dst)->writes != 1)
        return;
    struct slri_register made = held_after(part, instr);
    made.writes = 1;
    *held_by(part, instr->dst) = made;
}

static void note_all(const struct slri_part *part, const struct slri_block *block, uint32_t first)
{
    for (uint32_t i = first; block && i < block->count; ++i) {
        const struct slri_instr *instr = &block->instr[i];
        note(part, instr);
        for (int k = 0; k < 3; ++k)
            note_all(part, instr->body[k], 0);
        for (uint32_t k = 0; k < instr->cases; ++k)
            note_all(part, instr->match[k].body, 0);
    }
}

// ---- the guard -----------------------------------------------------------------------------------------------------

// The instruction of the block that assigns the register, or NULL.
static const struct slri_instr *writer_of(const struct slri_block *block, slri_reg reg)
{
    for (uint32_t i = 0; i < block->count; ++i)
        if (block->instr[i].dst == reg)
            return &block->instr[i];
    return NULL;
}

// Whether `index < n` written out, the index of kind `kind`, converts n so.
static bool converts_so(enum slri_kind n, enum slri_kind kind)
{
    uint32_t from = slri_kind_bytes(n), to = slri_kind_bytes(kind);
    return is_word(n) && (to > from || (to == from && (slri_kind_is_signed(n) || !slri_kind_is_signed(kind))));
}

// The constant in 64 bits.
static uint64_t extended(enum slri_kind kind, uint64_t bits)
{
    uint32_t unused = 64 - 8 * slri_kind_bytes(kind);
    bits <<= unused;
    return slri_kind_is_signed(kind) ? (uint64_t)((int64_t)bits >> unused) : bits >> unused;
}

static bool take_bound(struct reading *at, const struct slri_block *block, const struct slri_register *guard)
{
    struct slri_part *part = at->part;
    const struct slri_instr *writer = writer_of(block, guard->of);
    slri_reg from = writer && writer->op == SLRI_OP_CONVERT ? writer->a : guard->of;
    part->kind = (enum slri_kind)guard->imm;
    part->bound = UINT32_MAX;
    if (held_by(part, from)->held == SLRI_HELD_CONST && converts_so(at->function->reg_kind[from], part->kind)) {
        part->bound_value = extended(at->function->reg_kind[from], held_by(part, from)->imm);
        return true;
    }
    for (uint32_t i = 0; i < part->entry->bindings; ++i)
        if (!part->entry->binding[i].is_buffer && part->entry->binding[i].reg == from &&
            held_by(part, from)->writes == 0 && converts_so(at->function->reg_kind[from], part->kind)) {
            part->bound = i;
            return true;
        }
    return REFUSE(at, "its guard compares the index with a number that is not a parameter");
}

static bool is_return(const struct slri_block *block)
{
    return block && block->count == 1 && block->instr[0].op == SLRI_OP_RETURN;
}

static bool ends_at(const struct slri_block *block, uint32_t i)
{
    return i == block->count || (i + 1 == block->count && block->instr[i].op == SLRI_OP_RETURN);
}

static bool take_if(struct reading *at, const struct slri_block *top, uint32_t i)
{
    struct slri_part *part = at->part;
    const struct slri_instr *branch = &top->instr[i];
    const struct slri_register *condition = held_by(part, branch->a);
    bool has_else = branch->body[1] && branch->body[1]->count;
    part->before = top;
    part->before_count = i;
    if (condition->held == SLRI_HELD_GUARD && !has_else && ends_at(top, i + 1)) {
        part->body = branch->body[0];
        part->body_first = 0;
    } else if (condition->held == SLRI_HELD_PAST && !has_else && is_return(branch->body[0])) {
        part->body = top;
        part->body_first = i + 1;
    } else {
        return REFUSE(at, "it is not guarded by `index < n` alone");
    }
    return take_bound(at, top, condition);
}

// Whether the block only computes numbers for the counter.
static bool is_for_counter(const struct slri_part *part, const struct slri_block *block, slri_reg counter)
{
    for (uint32_t i = 0; i < block->count; ++i) {
        const struct slri_instr *instr = &block->instr[i];
        bool computes = instr->op <= SLRI_OP_CONVERT || instr->op == SLRI_OP_BUILTIN;
        if (!computes || (instr->dst != counter && held_by(part, instr->dst)->writes != 1))
            return false;
    }
    return true;
}

// for (i = index; i < n; i += stride): the counter is assigned twice.
static bool take_loop(struct reading *at, const struct slri_block *top, uint32_t i)
{
    struct slri_part *part = at->part;
    const struct slri_instr *loop = &top->instr[i];
    slri_reg counter = SLRI_NO_REG;
    struct slri_register start = {0};
    for (uint32_t k = 0; k < i && counter == SLRI_NO_REG; ++k) {
        if (top->instr[k].dst == SLRI_NO_REG || held_by(part, top->instr[k].dst)->writes != 2)
            continue;
        start = held_after(part, &top->instr[k]);
        counter = start.held == SLRI_HELD_INDEX ? top->instr[k].dst : SLRI_NO_REG;
    }
    if (counter == SLRI_NO_REG || loop->do_while || loop->a == SLRI_NO_REG || !ends_at(top, i + 1))
        return REFUSE(at, "its loop is not a grid-stride loop alone: for (i = index; i < n; i += stride)");
    start.writes = 2;
    *held_by(part, counter) = start;
    note_all(part, loop->body[0], 0);
    note_all(part, loop->body[2], 0);
    const struct slri_block *step = loop->body[2];
    const struct slri_instr *last = step && step->count ? &step->instr[step->count - 1] : NULL;
    if (!last || last->dst != counter || held_after(part, last).held != SLRI_HELD_NEXT ||
        held_by(part, loop->a)->held != SLRI_HELD_GUARD || !is_for_counter(part, loop->body[0], counter) ||
        !is_for_counter(part, step, counter))
        return REFUSE(at, "its loop is not a grid-stride loop: for (i = index; i < n; i += stride)");
    part->form = SLRI_PART_STRIDE;
    part->before = top;
    part->before_count = i;
    part->body = loop->body[1];
    part->body_first = 0;
    const struct slri_register guard = *held_by(part, loop->a);
    return take_bound(at, writer_of(loop->body[0], guard.of) ? loop->body[0] : top, &guard);
}

static bool find_guard(struct reading *at)
{
    const struct slri_block *top = at->function->body;
    for (uint32_t i = 0; i < top->count; ++i) {
        const struct slri_instr *instr = &top->instr[i];
        note(at->part, instr);
        if (instr->op == SLRI_OP_IF)
            return take_if(at, top, i);
        if (instr->op == SLRI_OP_LOOP)
            return take_loop(at, top, i);
    }
    return REFUSE(at, "it has no guard `index < n`");
}

static void find_width(struct slri_part *part)
{
    for (uint32_t i = 0; i < part->entry->function->regs; ++i)
        if (part->reg[i].held == SLRI_HELD_INDEX)
            part->is_wide = part->is_wide || part->reg[i].is_wide;
}

// ---- the body ------------------------------------------------------------------------------------------------------

static bool walk_block(const struct slri_block *block, uint32_t first, uint32_t end, uint32_t depth,
                       slri_part_visit *visit, void *user)
{
    for (uint32_t i = first; block && i < end; ++i) {
        const struct slri_instr *instr = &block->instr[i];
        if (!visit(user, instr, depth))
            return false;
        for (int k = 0; k < 3; ++k)
            if (instr->body[k] && !walk_block(instr->body[k], 0, instr->body[k]->count, depth + 1, visit, user))
                return false;
        for (uint32_t k = 0; k < instr->cases; ++k)
            if (!walk_block(instr->match[k].body, 0, instr->match[k].body->count, depth + 1, visit, user))
                return false;
    }
    return true;
}

bool slri_part_walk(const struct slri_part *part, slri_part_visit *visit, void *user)
{
    return walk_block(part->before, 0, part->before_count, 0, visit, user) &&
           walk_block(part->body, part->body_first, part->body->count, 0, visit, user);
}

bool slri_part_is_address(const struct slri_part *part, const struct slri_instr *instr)
{
    if (instr->dst == SLRI_NO_REG)
        return false;
    enum slri_held held = held_by(part, instr->dst)->held;
    return held == SLRI_HELD_INDEX || held == SLRI_HELD_OFFSET || held == SLRI_HELD_PLACE || held == SLRI_HELD_NEXT ||
           held == SLRI_HELD_GUARD || held == SLRI_HELD_PAST;
}

bool slri_part_access(const struct slri_part *part, const struct slri_instr *instr, struct slri_access *out)
{
    const struct slri_register *place = held_by(part, instr->a);
    uint64_t size = part->entry->binding[instr->root.index].type->bytes;
    *out = (struct slri_access){.binding = instr->root.index,
                                .is_store = instr->op == SLRI_OP_STORE,
                                .index = SLRI_NO_REG,
                                .to = SLRI_TO_OTHER};
    bool is_index = place->held == SLRI_HELD_INDEX && size == 1;
    if (is_index || (place->held == SLRI_HELD_OFFSET && place->imm == size)) {
        out->to = SLRI_TO_ELEMENT;
        return true;
    }
    if (place->held == SLRI_HELD_CONST && place->imm % size == 0) {
        out->imm = place->imm / size;
        return true;
    }
    out->index = place->of;
    if (size == 1 && place->held == SLRI_HELD_ANY) {
        out->index = instr->a;
        return true;
    }
    return place->held == SLRI_HELD_PLACE && place->imm == size;
}

static const char *why_not_op(const struct slri_instr *instr)
{
    switch (instr->op) {
    case SLRI_OP_COPY:
        return "it copies structs";
    case SLRI_OP_ZERO:
        return "it has a local array or struct";
    case SLRI_OP_ATOMIC_LOAD:
    case SLRI_OP_ATOMIC_STORE:
    case SLRI_OP_ATOMIC_RMW:
    case SLRI_OP_ATOMIC_CAS:
    case SLRI_OP_FENCE:
        return "it has atomics or fences, so its threads work together";
    case SLRI_OP_BARRIER:
        return "it has a barrier: what comes after must wait for all its threads";
    case SLRI_OP_WARP:
        return "it has warp functions, so its threads work together";
    case SLRI_OP_PRESENT:
        return "it asks whether a buffer is there";
    case SLRI_OP_PRINT:
        return "it prints";
    case SLRI_OP_TRAP:
        return "it has an assertion or a trap";
    case SLRI_OP_RETURN:
        return "it returns in the middle, and what comes after must still be done";
    default:
        return NULL;
    }
}

static bool is_scalar_binding(const struct slri_part *part, const struct slri_instr *instr)
{
    const struct slri_binding_info *binding = &part->entry->binding[instr->root.index];
    return binding->is_buffer && binding->type->kind <= SLRI_F64 && binding->type->kind == instr->kind;
}

static bool look_at_access(struct reading *at, const struct slri_instr *instr)
{
    struct slri_access access;
    if (instr->root.kind != SLRI_ROOT_BINDING)
        return REFUSE(at, "it uses memory that is no buffer: a local array, a table, shared memory or a variable");
    const char *name = at->part->entry->binding[instr->root.index].name;
    if (!is_scalar_binding(at->part, instr))
        return REFUSE(at, "the elements of '%s' are structs, halves or read as another type", name);
    if (instr->is_volatile)
        return REFUSE(at, "'%s' is volatile", name);
    if (!slri_part_access(at->part, instr, &access))
        return REFUSE(at, "'%s' is accessed by a computed address", name);
    return true;
}

// In a function that the body calls, only numbers go in and come out.
static bool look_in_callee(void *user, const struct slri_instr *instr, uint32_t depth)
{
    struct reading *at = user;
    const char *not = instr->op == SLRI_OP_RETURN ? NULL : why_not_op(instr);
    (void)depth;
    if (not )
        return REFUSE(at, "in a function that it calls: %s", not );
    if (instr->op == SLRI_OP_LOAD || instr->op == SLRI_OP_STORE)
        return REFUSE(at, "a function that it calls uses memory");
    return instr->op != SLRI_OP_CALL ||
           walk_block(instr->callee->body, 0, instr->callee->body->count, 0, look_in_callee, user);
}

static bool look_at(void *user, const struct slri_instr *instr, uint32_t depth)
{
    struct reading *at = user;
    const char *not = why_not_op(instr);
    (void)depth;
    if (not )
        return REFUSE(at, "%s", not );
    if (instr->op == SLRI_OP_LOAD || instr->op == SLRI_OP_STORE)
        return look_at_access(at, instr);
    for (uint32_t i = 0; instr->op == SLRI_OP_CALL && i < instr->args; ++i)
        if (instr->arg[i].root.kind != SLRI_ROOT_NONE || instr->callee->param[i].is_memory)
            return REFUSE(at, "it passes pointers to '%s'", instr->callee->name);
    return instr->op != SLRI_OP_CALL ||
           walk_block(instr->callee->body, 0, instr->callee->body->count, 0, look_in_callee, user);
}

// BREAK and CONTINUE of the body itself would leave out what comes after it.
static bool leaves(const struct slri_block *block, bool in_loop, bool in_switch)
{
    for (uint32_t i = 0; block && i < block->count; ++i) {
        const struct slri_instr *instr = &block->instr[i];
        if ((instr->op == SLRI_OP_BREAK && !in_loop && !in_switch) || (instr->op == SLRI_OP_CONTINUE && !in_loop))
            return true;
        bool loop = in_loop || instr->op == SLRI_OP_LOOP;
        for (int k = 0; k < 3; ++k)
            if (leaves(instr->body[k], loop, in_switch))
                return true;
        for (uint32_t k = 0; k < instr->cases; ++k)
            if (leaves(instr->match[k].body, loop, true))
                return true;
    }
    return false;
}

static bool touches_memory(const struct slri_part *part)
{
    for (uint32_t i = 0; i < part->before_count; ++i) {
        const struct slri_instr *instr = &part->before->instr[i];
        if (instr->op == SLRI_OP_LOAD || instr->op == SLRI_OP_STORE)
            return true;
    }
    return false;
}

// A loop's turns would share what is assigned before it and in it.
static bool carries_over(const struct slri_part *part)
{
    for (uint32_t i = 0; part->form == SLRI_PART_STRIDE && i < part->before_count; ++i) {
        slri_reg reg = part->before->instr[i].dst;
        if (reg != SLRI_NO_REG && held_by(part, reg)->held != SLRI_HELD_INDEX && held_by(part, reg)->writes > 1)
            return true;
    }
    for (uint32_t i = 0; part->form == SLRI_PART_STRIDE && i < part->entry->bindings; ++i)
        if (part->entry->binding[i].reg != SLRI_NO_REG && held_by(part, part->entry->binding[i].reg)->writes)
            return true;
    return false;
}

static bool writes_index(const struct slri_part *part)
{
    for (uint32_t i = 0; i < part->entry->function->regs; ++i)
        if (part->reg[i].held == SLRI_HELD_INDEX && part->reg[i].writes > 1 + (part->form == SLRI_PART_STRIDE))
            return true;
    return false;
}

static bool read_kernel(struct reading *at)
{
    struct slri_part *part = at->part;
    if (part->entry->kind != SLRI_ENTRY_KERNEL)
        return REFUSE(at, "it is a handler, not a kernel");
    if (part->module->raw)
        return REFUSE(at, "it is a raw source, which slipring does not read");
    if (part->entry->shareds || (at->function->uses & (SLRI_USES_SHARED | SLRI_USES_DYNAMIC)))
        return REFUSE(at, "it uses shared memory, so its threads work together");
    for (uint32_t i = 0; i < part->entry->bindings; ++i)
        if (part->entry->binding[i].type->kind > SLRI_F64)
            return REFUSE(at, "'%s' is of structs or halves", part->entry->binding[i].name);
    count_writes(part, at->function->body);
    for (uint32_t i = 0; i < part->entry->bindings; ++i) // a buffer's offset register is 0 on entry
        if (part->entry->binding[i].is_buffer && held_by(part, part->entry->binding[i].reg)->writes == 0)
            held_by(part, part->entry->binding[i].reg)->held = SLRI_HELD_CONST;
    if (!find_guard(at))
        return false;
    note_all(part, part->body, part->body_first);
    find_width(part);
    if (touches_memory(part))
        return REFUSE(at, "it accesses memory before its guard");
    if (carries_over(part) || writes_index(part) || (part->body->count && leaves(part->body, false, false)))
        return REFUSE(at, "one element depends on another, or leaves the loop");
    return slri_part_walk(part, look_at, at);
}

slr_status slri_part_read(const struct slri_module *module, const struct slri_entry *entry, struct slri_region *region,
                          struct slri_part *out, char why[200])
{
    *out = (struct slri_part){.module = module, .entry = entry};
    out->reg = slri_region_take(region, (entry->function->regs + 1) * sizeof *out->reg);
    if (!out->reg)
        return SLRI_FAIL(NO_MEMORY, "no memory to read kernel %s", entry->name);
    struct reading at = {.part = out, .function = entry->function, .why = why};
    return read_kernel(&at) ? SLR_OK : SLRI_FAIL(UNSUPPORTED, "kernel %s: %s", entry->name, why);
}
