// SPDX-License-Identifier: Apache-2.0
// Kinds, and building: what every writer of IR calls. The rules it must keep are in ir_verify.c.
#include "ir/ir.h"

#include <string.h>

static const struct {
    uint32_t bytes;
    const char *spelling;
} kinds[SLRI_KIND_COUNT] = {[SLRI_VOID] = {0, "void"},
#define KIND_ROW(name, size, c_spelling) [SLRI_##name] = {size, c_spelling},
                            SLRI_KIND_LIST(KIND_ROW)
#undef KIND_ROW
};

uint32_t slri_kind_bytes(enum slri_kind kind)
{
    return (unsigned)kind < SLRI_KIND_COUNT ? kinds[kind].bytes : 0;
}

const char *slri_kind_spelling(enum slri_kind kind)
{
    return (unsigned)kind < SLRI_KIND_COUNT ? kinds[kind].spelling : "memory";
}

enum slri_kind slri_kind_in_register(enum slri_kind kind)
{
    if (slri_kind_is_half(kind))
        return SLRI_F32;
    return kind >= SLRI_BOOL && kind <= SLRI_U16 ? SLRI_I32 : kind;
}

static uint32_t root_uses(struct slri_root root)
{
    return root.kind == SLRI_ROOT_SHARED    ? SLRI_USES_SHARED
           : root.kind == SLRI_ROOT_DYNAMIC ? SLRI_USES_DYNAMIC
           : root.kind == SLRI_ROOT_GLOBAL  ? SLRI_USES_GLOBAL
           : slri_root_is_messages(root)    ? SLRI_USES_BATCH
                                            : 0;
}

void slri_module_begin_globals(const struct slri_module *module, unsigned char *memory)
{
    for (uint32_t i = 0; i < module->globals; i++) {
        const struct slri_global *global = &module->global[i];
        if (global->data)
            memcpy(memory + global->offset, global->data, global->type->bytes);
        else
            memset(memory + global->offset, 0, global->type->bytes);
    }
}

const struct slri_warp_function slri_warp_functions[SLRI_WARP_COUNT] = {
#define WARP_ROW(name, spelling, args, result) [SLRI_WARP_##name] = {spelling, args, result},
    SLRI_WARP_LIST(WARP_ROW)
#undef WARP_ROW
};

uint32_t slri_instr_uses(const struct slri_instr *instr)
{
    uint32_t of_roots = root_uses(instr->root) | root_uses(instr->root2);
    switch (instr->op) {
    case SLRI_OP_BUILTIN:
        return SLRI_USES_PLACE;
    case SLRI_OP_BARRIER:
        return SLRI_USES_BARRIER;
    case SLRI_OP_WARP:
        return SLRI_USES_WARP | (slri_warp_is_matrix(instr->imm) ? SLRI_USES_MATRIX : 0);
    case SLRI_OP_PRINT:
        return SLRI_USES_PRINT;
    case SLRI_OP_REPLY:
    case SLRI_OP_SEND:
        return (slri_replies_to_one(instr) ? SLRI_USES_BATCH : SLRI_USES_REPLY) | of_roots;
    case SLRI_OP_MESSAGES:
        return SLRI_USES_BATCH;
    case SLRI_OP_INSTANCE:
        return SLRI_USES_INSTANCE;
    default:
        return of_roots;
    }
}

uint32_t slri_entry_may_use(enum slri_entry_kind kind)
{
    if (kind == SLRI_ENTRY_KERNEL)
        return SLRI_USES_PLACE | SLRI_USES_BARRIER | SLRI_USES_SHARED | SLRI_USES_DYNAMIC | SLRI_USES_WARP |
               SLRI_USES_MATRIX | SLRI_USES_PRINT | SLRI_USES_GLOBAL;
    if (kind == SLRI_ENTRY_BATCH)
        return SLRI_USES_BATCH | SLRI_USES_INSTANCE | SLRI_USES_PRINT;
    uint32_t of_handlers = SLRI_USES_REPLY | SLRI_USES_INSTANCE | SLRI_USES_PRINT;
    if (kind == SLRI_ENTRY_BLOCK)
        return of_handlers | SLRI_USES_PLACE | SLRI_USES_BARRIER | SLRI_USES_SHARED | SLRI_USES_WARP | SLRI_USES_MATRIX;
    return of_handlers;
}

struct slri_block *slri_block_create(struct slri_region *region)
{
    return slri_region_take(region, sizeof(struct slri_block));
}

// Room for one more of `size` bytes: the old array stays in the region, so that growing costs twice the memory at most.
static void *grow(struct slri_region *region, void *array, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return array;
    uint32_t larger = *room ? 2 * *room : 8;
    void *copy = slri_region_take(region, larger * size);
    if (copy && count)
        memcpy(copy, array, count * size);
    if (copy)
        *room = larger;
    return copy;
}

struct slri_instr *slri_block_append(struct slri_region *region, struct slri_block *block, enum slri_op op,
                                     enum slri_kind kind, struct slri_where where)
{
    struct slri_instr *instr = grow(region, block->instr, block->count, &block->room, sizeof *instr);
    if (!instr)
        return NULL;
    block->instr = instr;
    instr += block->count++;
    *instr = (struct slri_instr){.op = op,
                                 .kind = kind,
                                 .where = where,
                                 .dst = SLRI_NO_REG,
                                 .a = SLRI_NO_REG,
                                 .b = SLRI_NO_REG,
                                 .c = SLRI_NO_REG};
    return instr;
}

slri_reg slri_function_add_reg(struct slri_region *region, struct slri_function *function, enum slri_kind kind,
                               const char *name)
{
    uint32_t room = function->reg_room;
    enum slri_kind *reg_kind = grow(region, function->reg_kind, function->regs, &room, sizeof *reg_kind);
    room = function->reg_room;
    const char **reg_name = grow(region, function->reg_name, function->regs, &room, sizeof *reg_name);
    if (!reg_kind || !reg_name)
        return SLRI_NO_REG;
    function->reg_kind = reg_kind;
    function->reg_name = reg_name;
    function->reg_room = room;
    reg_kind[function->regs] = kind;
    reg_name[function->regs] = name;
    return function->regs++;
}

void slri_block_each(const struct slri_block *block, slri_visit *visit, void *user)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        visit(in, user);
        for (int part = 0; part < 3; part++)
            slri_block_each(in->body[part], visit, user);
        for (uint32_t c = 0; c < in->cases; c++)
            slri_block_each(in->match[c].body, visit, user);
    }
}

bool slri_instr_waits(const struct slri_instr *instr)
{
    bool calls = instr->op == SLRI_OP_CALL && (instr->callee->uses & (SLRI_USES_BARRIER | SLRI_USES_WARP));
    return instr->op == SLRI_OP_BARRIER || instr->op == SLRI_OP_WARP || calls;
}

// `breaks`: BREAK leaves what is asked about; `continues`: CONTINUE does.
static bool leaves(const struct slri_instr *in, bool breaks, bool continues)
{
    if (in->op == SLRI_OP_RETURN || (in->op == SLRI_OP_BREAK && breaks) || (in->op == SLRI_OP_CONTINUE && continues))
        return true;
    bool is_loop = in->op == SLRI_OP_LOOP, is_switch = in->op == SLRI_OP_SWITCH;
    for (int part = 0; part < 3; part++)
        for (uint32_t i = 0; in->body[part] && i < in->body[part]->count; i++)
            if (leaves(&in->body[part]->instr[i], breaks && !is_loop, continues && !is_loop))
                return true;
    for (uint32_t c = 0; c < in->cases; c++)
        for (uint32_t i = 0; i < in->match[c].body->count; i++)
            if (leaves(&in->match[c].body->instr[i], breaks && !is_switch, continues))
                return true;
    return false;
}

bool slri_instr_leaves(const struct slri_instr *instr)
{
    return leaves(instr, true, true);
}

bool slri_instr_returns(const struct slri_instr *instr)
{
    return leaves(instr, false, false);
}

bool slri_instr_has_jumps(const struct slri_instr *branch)
{
    for (int part = 0; part < 3; part++)
        for (uint32_t i = 0; branch->body[part] && i < branch->body[part]->count; i++)
            if (slri_instr_leaves(&branch->body[part]->instr[i]))
                return true;
    return false;
}

static bool has_wait(const struct slri_instr *in)
{
    bool found = slri_instr_waits(in);
    for (int part = 0; part < 3; part++)
        for (uint32_t i = 0; in->body[part] && i < in->body[part]->count && !found; i++)
            found = has_wait(&in->body[part]->instr[i]);
    for (uint32_t c = 0; c < in->cases; c++)
        for (uint32_t i = 0; i < in->match[c].body->count && !found; i++)
            found = has_wait(&in->match[c].body->instr[i]);
    return found;
}

bool slri_instr_is_plain(const struct slri_instr *instr)
{
    return !slri_instr_leaves(instr) && !has_wait(instr);
}
