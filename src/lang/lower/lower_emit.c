// SPDX-License-Identifier: Apache-2.0
// Instructions, registers and variables: the lowering's building blocks.
#include "lang/lower/lower.h"

#include <string.h>

bool slri_lower_is_news(struct slri_lowering *all, struct slri_where where, unsigned code)
{
    for (const struct slri_reported *at = all->reported; at; at = at->next)
        if (at->code == code && memcmp(&at->where, &where, sizeof where) == 0)
            return false;
    struct slri_reported *made = slri_unit_take(all->unit, sizeof *made);
    *made = (struct slri_reported){.where = where, .code = code, .next = all->reported};
    all->reported = made;
    return true;
}

void slri_lower_enter(struct slri_body *body, struct slri_where where)
{
    if (body->all->depth++ < SLRI_LOWER_DEPTH_LIMIT)
        return;
    SLRI_ERROR(body->unit, where, NESTING_TOO_DEEP, "calls and expressions are nested more than %d deep",
               SLRI_LOWER_DEPTH_LIMIT);
    slri_unit_give_up(body->unit, SLR_OK);
}

void slri_lower_leave(struct slri_body *body)
{
    body->all->depth--;
}

struct slri_instr *slri_emit_instr(struct slri_body *body, enum slri_op op, enum slri_kind kind,
                                   struct slri_where where)
{
    if (++body->all->instructions > SLRI_MODULE_MAX_INSTRUCTIONS) {
        SLRI_ERROR(body->unit, where, KERNEL_TOO_LARGE, "more than %u instructions", SLRI_MODULE_MAX_INSTRUCTIONS);
        slri_unit_give_up(body->unit, SLR_OK);
    }
    struct slri_instr *instr = slri_block_append(body->all->region, body->block, op, kind, where);
    if (!instr)
        slri_unit_give_up(body->unit, SLR_NO_MEMORY);
    return instr;
}

struct slri_block *slri_emit_block(struct slri_body *body)
{
    struct slri_block *block = slri_block_create(body->all->region);
    if (!block)
        slri_unit_give_up(body->unit, SLR_NO_MEMORY);
    return block;
}

slri_reg slri_emit_reg(struct slri_body *body, enum slri_kind kind, const char *name)
{
    slri_reg reg = slri_function_add_reg(body->all->region, body->ir, slri_kind_in_register(kind), name);
    if (reg == SLRI_NO_REG)
        slri_unit_give_up(body->unit, SLR_NO_MEMORY);
    return reg;
}

slri_reg slri_emit_const(struct slri_body *body, enum slri_kind kind, uint64_t bits, struct slri_where where)
{
    kind = slri_kind_in_register(kind);
    slri_reg reg = slri_emit_reg(body, kind, NULL);
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_CONST, kind, where);
    instr->dst = reg;
    instr->imm = bits;
    return reg;
}

slri_reg slri_emit_binary(struct slri_body *body, enum slri_op op, enum slri_kind kind, slri_reg a, slri_reg b,
                          struct slri_where where)
{
    bool compares = op >= SLRI_OP_EQ && op <= SLRI_OP_GE;
    slri_reg reg = slri_emit_reg(body, compares ? SLRI_I32 : kind, NULL);
    struct slri_instr *instr = slri_emit_instr(body, op, kind, where);
    instr->dst = reg;
    instr->a = a;
    instr->b = b;
    return reg;
}

slri_reg slri_emit_arithmetic(struct slri_body *body, enum slri_op op, enum slri_kind kind, slri_reg a, slri_reg b,
                              struct slri_where where)
{
    slri_reg reg = slri_emit_binary(body, op, slri_kind_in_register(kind), a, b, where);
    bool compares = op >= SLRI_OP_EQ && op <= SLRI_OP_GE;
    return slri_kind_is_half(kind) && !compares ? slri_emit_convert(body, reg, SLRI_F32, kind, where) : reg;
}

// A temporary that the last instruction has just made becomes the variable itself, without a MOVE.
static bool retarget(struct slri_body *body, slri_reg to, slri_reg from)
{
    const struct slri_function *ir = body->ir;
    struct slri_instr *last = body->block->count ? &body->block->instr[body->block->count - 1] : NULL;
    if (!last || last->dst != from || ir->reg_name[from] || ir->reg_kind[from] != ir->reg_kind[to])
        return false;
    last->dst = to;
    return true;
}

void slri_emit_move(struct slri_body *body, slri_reg to, slri_reg from, struct slri_where where)
{
    if (to == from || retarget(body, to, from))
        return;
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_MOVE, body->ir->reg_kind[to], where);
    instr->dst = to;
    instr->a = from;
}

// Does every value of `has` keep its bits in the register of `wants`?
static bool keeps_value(enum slri_kind has, enum slri_kind wants)
{
    if (has == wants || wants == slri_kind_in_register(has))
        return true;
    if (slri_kind_in_register(has) != SLRI_I32 || slri_kind_in_register(wants) != SLRI_I32 || has == SLRI_I32)
        return false;
    bool wider = slri_kind_bytes(wants) > slri_kind_bytes(has);
    return has == SLRI_BOOL || (wider && (slri_kind_is_signed(wants) || !slri_kind_is_signed(has)));
}

slri_reg slri_emit_convert(struct slri_body *body, slri_reg from, enum slri_kind has, enum slri_kind wants,
                           struct slri_where where)
{
    if (keeps_value(has, wants))
        return from;
    if (wants == SLRI_BOOL) { // not a narrowing: 0.5 and 256 are true
        slri_reg zero = slri_emit_const(body, slri_kind_in_register(has), 0, where);
        return slri_emit_binary(body, SLRI_OP_NE, slri_kind_in_register(has), from, zero, where);
    }
    slri_reg reg = slri_emit_reg(body, wants, NULL);
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_CONVERT, wants, where);
    instr->dst = reg;
    instr->a = from;
    return reg;
}

void slri_emit_jump(struct slri_body *body, enum slri_op op, struct slri_where where)
{
    slri_emit_instr(body, op, SLRI_VOID, where);
    body->left = true;
}

// ---- locals and variables ------------------------------------------------------------------------------------------

uint32_t slri_emit_local(struct slri_body *body, const char *name, const struct slri_type *type)
{
    struct slri_function *ir = body->ir;
    uint64_t before = body->local_bytes;
    body->local_bytes += type->bytes;
    if (body->local_bytes > SLRI_LOCALS_MAX_BYTES && before <= SLRI_LOCALS_MAX_BYTES)
        SLRI_LOWER_ERROR(body, body->func->where, TYPE_TOO_LARGE, "the locals of '%s' need more than %llu bytes",
                         body->func->name, (unsigned long long)SLRI_LOCALS_MAX_BYTES);
    if (ir->locals == body->local_room) {
        body->local_room = body->local_room ? 2 * body->local_room : 8;
        struct slri_local *larger = slri_unit_take(body->unit, body->local_room * sizeof *larger);
        if (ir->locals)
            memcpy(larger, ir->local, ir->locals * sizeof *larger);
        ir->local = larger;
    }
    ir->local[ir->locals] = (struct slri_local){.name = name, .type = type};
    return ir->locals++;
}

bool slri_in_register(const struct slri_symbol *symbol)
{
    return symbol->kind == SLRI_SYMBOL_VARIABLE && slri_type_is_scalar(symbol->type) && !symbol->address_taken &&
           !symbol->is_volatile;
}

// Made when first met, because a jump may pass over a declaration.
struct slri_variable *slri_variable_of(struct slri_body *body, const struct slri_symbol *symbol)
{
    struct slri_variable *variable = &body->variable[symbol->index];
    if (variable->is_made)
        return variable;
    variable->is_made = true;
    variable->reg = SLRI_NO_REG;
    if (slri_in_register(symbol)) {
        variable->reg = slri_emit_reg(body, symbol->type->kind, symbol->name);
    } else if (symbol->type->kind == SLRI_POINTER) {
        variable->reg = slri_emit_reg(body, SLRI_I64, symbol->name);
    } else {
        struct slri_ref ref = {.bytes = symbol->type->bytes};
        ref.root = (struct slri_root){SLRI_ROOT_LOCAL, slri_emit_local(body, symbol->name, symbol->type)};
        ref.name = slri_unit_format(body->unit, "the local '%s'", symbol->name);
        variable->at = slri_address_of(ref, ref.bytes);
        variable->at.is_volatile = symbol->is_volatile;
    }
    return variable;
}
