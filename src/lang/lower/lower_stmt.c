// SPDX-License-Identifier: Apache-2.0
// Statements: control flow as IR's tree.
#include "lang/lower/lower.h"

// Lowers a list into a block of its own; says whether its end is reached.
static bool into(struct slri_body *body, struct slri_block *block, const struct slri_stmt *list)
{
    struct slri_block *outer = body->block;
    body->block = block;
    body->left = false;
    slri_lower_list(body, list);
    bool falls = !body->left;
    body->block = outer;
    body->left = false;
    return falls;
}

// ---- declarations and return ---------------------------------------------------------------------------------------

// A variable without an initialiser begins as zero, and is marked, so that a checker can tell.
static slri_reg unset(struct slri_body *body, enum slri_kind kind, struct slri_where where)
{
    slri_reg value = slri_emit_const(body, kind, 0, where);
    body->block->instr[body->block->count - 1].is_unset = true;
    return value;
}

static void lower_declare(struct slri_body *body, const struct slri_stmt *stmt)
{
    const struct slri_symbol *symbol = stmt->symbol;
    const struct slri_type *type = symbol->type;
    if (symbol->is_known && slri_in_register(symbol))
        return; // every use of it is the constant
    struct slri_variable *variable = slri_variable_of(body, symbol);
    if (type->kind == SLRI_POINTER) {
        if (stmt->value)
            slri_lower_point(body, symbol, slri_lower_pointer(body, stmt->value), stmt->where);
        else
            slri_emit_move(body, variable->reg, slri_emit_const(body, SLRI_I64, 0, stmt->where), stmt->where);
    } else if (slri_type_is_scalar(type)) {
        slri_reg value = stmt->value ? slri_lower_scalar(body, stmt->value) : unset(body, type->kind, stmt->where);
        if (slri_in_register(symbol))
            slri_lower_assign_variable(body, symbol, value, stmt->where);
        else
            slri_emit_store(body, variable->at, type->kind, value, stmt->where);
    } else {
        slri_lower_init(body, variable->at, stmt->init, stmt->where);
    }
}

static slri_reg return_pointer(struct slri_body *body, const struct slri_expr *value)
{
    struct slri_address at = slri_lower_pointer(body, value);
    struct slri_special *special = body->special;
    if (at.ref.root.kind == SLRI_ROOT_LOCAL)
        SLRI_LOWER_ERROR(body, value->where, POINTER_RETURN, "'%s' returns a pointer into %s, which ends with it",
                         body->func->name, at.ref.name);
    else if (special->returns_pointer && !slri_same_root(&special->result, &at.ref))
        SLRI_LOWER_ERROR(body, value->where, POINTER_ROOTS_DIFFER, "'%s' returns pointers into %s and into %s",
                         body->func->name, special->result.name, at.ref.name);
    if (!special->returns_pointer)
        special->result = at.ref;
    special->returns_pointer = true;
    return slri_lower_offset(body, &at, value->where);
}

static void lower_return(struct slri_body *body, const struct slri_stmt *stmt)
{
    slri_reg value = SLRI_NO_REG;
    const struct slri_type *type = stmt->value ? stmt->value->type : NULL;
    if (type && type->kind == SLRI_STRUCT) {
        struct slri_ref ref = {.root = {SLRI_ROOT_PARAM, 0}, .bytes = type->bytes, .name = "the result"};
        slri_emit_copy(body, slri_address_of(ref, type->bytes), slri_lower_place(body, stmt->value), type->bytes,
                       type->align, stmt->where);
    } else if (type && type->kind == SLRI_POINTER) {
        value = return_pointer(body, stmt->value);
    } else if (type) {
        value = slri_lower_scalar(body, stmt->value);
    }
    slri_emit_instr(body, SLRI_OP_RETURN, body->ir->result, stmt->where)->a = value;
    body->left = true;
}

// ---- branches ------------------------------------------------------------------------------------------------------

static void lower_if(struct slri_body *body, const struct slri_stmt *stmt)
{
    if (stmt->value->op == SLRI_EXPR_CONST) {
        slri_lower_list(body, stmt->value->bits ? stmt->body : stmt->other);
        return;
    }
    slri_reg test = slri_lower_scalar(body, stmt->value);
    struct slri_block *yes = slri_emit_block(body), *no = stmt->other ? slri_emit_block(body) : NULL;
    bool falls = into(body, yes, stmt->body);
    falls |= no ? into(body, no, stmt->other) : true;
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_IF, SLRI_VOID, stmt->where);
    instr->a = test;
    instr->body[0] = yes;
    instr->body[1] = no;
    body->left = !falls;
}

static void lower_switch(struct slri_body *body, const struct slri_stmt *stmt)
{
    uint32_t cases = 0, at = 0;
    for (const struct slri_stmt_case *one = stmt->match; one; one = one->next)
        cases++;
    slri_reg value = slri_lower_scalar(body, stmt->value);
    struct slri_case *match = slri_unit_take(body->unit, (cases + 1) * sizeof *match);
    for (const struct slri_stmt_case *one = stmt->match; one; one = one->next, at++) {
        match[at] = (struct slri_case){.is_default = one->is_default, .value = one->bits};
        match[at].body = slri_emit_block(body);
        into(body, match[at].body, one->body);
    }
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_SWITCH, stmt->value->type->kind, stmt->where);
    instr->a = value;
    instr->cases = cases;
    instr->match = match;
}

// ---- loops ---------------------------------------------------------------------------------------------------------

static struct slri_block *lower_step(struct slri_body *body, const struct slri_expr *step)
{
    struct slri_block *outer = body->block, *block = slri_emit_block(body);
    body->block = block;
    slri_lower_effect(body, step);
    body->block = outer;
    return block;
}

// The block that computes the condition; `test` is NO_REG where it always holds.
static struct slri_block *lower_test(struct slri_body *body, const struct slri_expr *value, slri_reg *test)
{
    struct slri_block *outer = body->block, *block = slri_emit_block(body);
    bool always = !value || (value->op == SLRI_EXPR_CONST && value->bits != 0);
    body->block = block;
    *test = always ? SLRI_NO_REG : slri_lower_scalar(body, value);
    body->block = outer;
    return block;
}

static void lower_loop(struct slri_body *body, const struct slri_stmt *stmt)
{
    slri_lower_list(body, stmt->start);
    slri_reg test = SLRI_NO_REG;
    struct slri_block *inner = slri_emit_block(body), *before = lower_test(body, stmt->value, &test);
    struct slri_variable *counter = stmt->untouched ? slri_variable_of(body, stmt->untouched) : NULL;
    slri_range_loop(body, stmt);
    into(body, inner, stmt->body);
    if (counter)
        counter->is_ranged = counter->is_of_messages = false;
    struct slri_block *step = stmt->step ? lower_step(body, stmt->step) : NULL;
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_LOOP, SLRI_VOID, stmt->where);
    instr->a = test;
    instr->do_while = stmt->do_while;
    instr->body[0] = before;
    instr->body[1] = inner;
    instr->body[2] = step;
    body->left = test == SLRI_NO_REG && !stmt->has_break;
}

// ---- all -----------------------------------------------------------------------------------------------------------

static void lower_statement(struct slri_body *body, const struct slri_stmt *stmt)
{
    switch (stmt->kind) {
    case SLRI_STMT_EXPR:
        slri_lower_effect(body, stmt->value);
        break;
    case SLRI_STMT_DECLARE:
        lower_declare(body, stmt);
        break;
    case SLRI_STMT_BLOCK:
        slri_lower_list(body, stmt->body);
        break;
    case SLRI_STMT_IF:
        lower_if(body, stmt);
        break;
    case SLRI_STMT_LOOP:
        lower_loop(body, stmt);
        break;
    case SLRI_STMT_SWITCH:
        lower_switch(body, stmt);
        break;
    case SLRI_STMT_BREAK:
        slri_emit_jump(body, SLRI_OP_BREAK, stmt->where);
        break;
    case SLRI_STMT_CONTINUE:
        slri_emit_jump(body, SLRI_OP_CONTINUE, stmt->where);
        break;
    case SLRI_STMT_RETURN:
        lower_return(body, stmt);
        break;
    }
}

void slri_lower_list(struct slri_body *body, const struct slri_stmt *list)
{
    for (const struct slri_stmt *stmt = list; stmt && !body->left; stmt = stmt->next) {
        slri_lower_enter(body, stmt->where);
        lower_statement(body, stmt);
        slri_lower_leave(body);
    }
}
