// SPDX-License-Identifier: Apache-2.0
// Expressions whose value is a scalar.
#include "lang/lower/lower.h"

static slri_reg of_variable(struct slri_body *body, const struct slri_expr *expr)
{
    if (expr->op == SLRI_EXPR_VARIABLE && slri_in_register(expr->symbol))
        return slri_variable_of(body, expr->symbol)->reg;
    return slri_emit_load(body, slri_lower_place(body, expr), expr->type->kind, expr->where);
}

static slri_reg of_unary(struct slri_body *body, const struct slri_expr *expr)
{
    slri_reg a = slri_lower_scalar(body, expr->left), reg = slri_emit_reg(body, expr->type->kind, NULL);
    enum slri_kind kind = slri_kind_in_register(expr->type->kind); // of a half: its sign is the float's
    struct slri_instr *instr = slri_emit_instr(body, expr->instr, kind, expr->where);
    instr->dst = reg;
    instr->a = a;
    return reg;
}

static slri_reg lower_binary(struct slri_body *body, const struct slri_expr *expr)
{
    slri_reg a = slri_lower_scalar(body, expr->left), b = slri_lower_scalar(body, expr->right);
    slri_reg reg = slri_emit_arithmetic(body, expr->instr, expr->left->type->kind, a, b, expr->where);
    if (expr->index == SLRI_DIVISOR_IS_NOT_ZERO) // of integers in emitted text: the last instruction divides
        body->block->instr[body->block->count - 1].imm = expr->index;
    return reg;
}

// ---- branches ------------------------------------------------------------------------------------------------------

static void emit_if(struct slri_body *body, slri_reg test, struct slri_block *yes, struct slri_block *no,
                    struct slri_where where)
{
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_IF, SLRI_VOID, where);
    instr->a = test;
    instr->body[0] = yes;
    instr->body[1] = no;
}

// 0 or 1
static slri_reg truth_value(struct slri_body *body, const struct slri_expr *expr, struct slri_where where)
{
    bool compares = expr->op == SLRI_EXPR_BINARY && expr->instr >= SLRI_OP_EQ && expr->instr <= SLRI_OP_GE;
    slri_reg reg = slri_lower_scalar(body, expr);
    if (compares || expr->op == SLRI_EXPR_AND || expr->op == SLRI_EXPR_OR)
        return reg;
    slri_reg zero = slri_emit_const(body, SLRI_I32, 0, where);
    return slri_emit_binary(body, SLRI_OP_NE, SLRI_I32, reg, zero, where);
}

// dst = left; if (dst) dst = right != 0, and the other way round for ||.
static slri_reg of_logical(struct slri_body *body, const struct slri_expr *expr)
{
    slri_reg reg = slri_emit_reg(body, SLRI_I32, NULL);
    slri_emit_move(body, reg, truth_value(body, expr->left, expr->where), expr->where);
    struct slri_block *outer = body->block, *more = slri_emit_block(body), *none = slri_emit_block(body);
    body->block = more;
    slri_emit_move(body, reg, truth_value(body, expr->right, expr->where), expr->where);
    body->block = outer;
    bool is_and = expr->op == SLRI_EXPR_AND;
    emit_if(body, reg, is_and ? more : none, is_and ? NULL : more, expr->where);
    return reg;
}

static slri_reg lower_choice(struct slri_body *body, const struct slri_expr *expr)
{
    if (expr->left->op == SLRI_EXPR_CONST)
        return slri_lower_scalar(body, expr->left->bits ? expr->right : expr->third);
    slri_reg test = slri_lower_scalar(body, expr->left), reg = slri_emit_reg(body, expr->type->kind, NULL);
    struct slri_block *outer = body->block, *yes = slri_emit_block(body), *no = slri_emit_block(body);
    body->block = yes;
    slri_emit_move(body, reg, slri_lower_scalar(body, expr->right), expr->where);
    body->block = no;
    slri_emit_move(body, reg, slri_lower_scalar(body, expr->third), expr->where);
    body->block = outer;
    emit_if(body, test, yes, no, expr->where);
    return reg;
}

// ---- pointers as values --------------------------------------------------------------------------------------------

static void offsets_of_both(struct slri_body *body, const struct slri_expr *expr, slri_reg *a, slri_reg *b)
{
    struct slri_address left = slri_lower_pointer(body, expr->left);
    struct slri_address right = slri_lower_pointer(body, expr->right);
    if (!slri_same_root(&left.ref, &right.ref))
        SLRI_LOWER_ERROR(body, expr->where, POINTER_ROOTS_DIFFER, "two pointers are compared: one into %s, one into %s",
                         left.ref.name, right.ref.name);
    *a = slri_lower_offset(body, &left, expr->where);
    *b = slri_lower_offset(body, &right, expr->where);
}

static slri_reg of_pointer_diff(struct slri_body *body, const struct slri_expr *expr)
{
    slri_reg a, b;
    offsets_of_both(body, expr, &a, &b);
    slri_reg bytes = slri_emit_binary(body, SLRI_OP_SUB, SLRI_I64, a, b, expr->where);
    slri_reg size = slri_emit_const(body, SLRI_I64, expr->left->type->of->bytes, expr->where);
    return slri_emit_binary(body, SLRI_OP_DIV, SLRI_I64, bytes, size, expr->where);
}

static slri_reg of_pointer_compare(struct slri_body *body, const struct slri_expr *expr)
{
    slri_reg a, b;
    offsets_of_both(body, expr, &a, &b);
    return slri_emit_binary(body, expr->instr, SLRI_I64, a, b, expr->where);
}

// ---- assignment ----------------------------------------------------------------------------------------------------

void slri_lower_assign_variable(struct slri_body *body, const struct slri_symbol *symbol, slri_reg value,
                                struct slri_where where)
{
    slri_emit_move(body, slri_variable_of(body, symbol)->reg, value, where);
}

static slri_reg of_assign(struct slri_body *body, const struct slri_expr *expr)
{
    const struct slri_expr *left = expr->left;
    slri_reg value = slri_lower_scalar(body, expr->right);
    if (left->op == SLRI_EXPR_VARIABLE && slri_in_register(left->symbol)) {
        slri_lower_assign_variable(body, left->symbol, value, expr->where);
        return slri_variable_of(body, left->symbol)->reg;
    }
    slri_emit_store(body, slri_lower_place(body, left), left->type->kind, value, expr->where);
    return value;
}

// old `op` right in the kind `work`, as the left operand's type.
static slri_reg updated(struct slri_body *body, const struct slri_expr *expr, slri_reg old, slri_reg right)
{
    enum slri_kind kind = expr->left->type->kind;
    slri_reg a = slri_emit_convert(body, old, kind, expr->work, expr->where);
    slri_reg result = slri_emit_arithmetic(body, expr->instr, expr->work, a, right, expr->where);
    return slri_emit_convert(body, result, expr->work, kind, expr->where);
}

static slri_reg update_variable(struct slri_body *body, const struct slri_expr *expr, bool wanted)
{
    const struct slri_symbol *symbol = expr->left->symbol;
    slri_reg reg = slri_variable_of(body, symbol)->reg, old = reg;
    slri_reg right = slri_lower_scalar(body, expr->right);
    if (expr->post && wanted) {
        old = slri_emit_reg(body, symbol->type->kind, NULL);
        slri_emit_move(body, old, reg, expr->where);
    }
    slri_lower_assign_variable(body, symbol, updated(body, expr, reg, right), expr->where);
    return old;
}

static slri_reg of_update(struct slri_body *body, const struct slri_expr *expr, bool wanted)
{
    const struct slri_expr *left = expr->left;
    if (left->op == SLRI_EXPR_VARIABLE && slri_in_register(left->symbol))
        return update_variable(body, expr, wanted);
    struct slri_address at = slri_lower_place(body, left);
    slri_emit_check(body, &at, left->type->bytes, expr->where);
    at.base = slri_lower_offset(body, &at, expr->where);
    at.offset = 0;
    slri_reg right = slri_lower_scalar(body, expr->right);
    slri_reg old = slri_emit_load(body, at, left->type->kind, expr->where);
    slri_reg now = updated(body, expr, old, right);
    slri_emit_store(body, at, left->type->kind, now, expr->where);
    return expr->post ? old : now;
}

// ---- all -----------------------------------------------------------------------------------------------------------

static slri_reg of_instance(struct slri_body *body, const struct slri_expr *expr)
{
    slri_reg reg = slri_emit_reg(body, SLRI_U32, NULL);
    slri_emit_instr(body, SLRI_OP_INSTANCE, SLRI_U32, expr->where)->dst = reg;
    return reg;
}

static slri_reg of_clock(struct slri_body *body, const struct slri_expr *expr)
{
    slri_reg reg = slri_emit_reg(body, SLRI_U64, NULL);
    slri_emit_instr(body, SLRI_OP_CLOCK, SLRI_U64, expr->where)->dst = reg;
    return reg;
}

static slri_reg lower_builtin(struct slri_body *body, const struct slri_expr *expr)
{
    slri_reg reg = slri_emit_reg(body, SLRI_U32, NULL);
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_BUILTIN, SLRI_U32, expr->where);
    instr->dst = reg;
    instr->imm = expr->index;
    return reg;
}

static slri_reg of_barrier(struct slri_body *body, const struct slri_expr *expr)
{
    slri_reg value = expr->left ? slri_lower_scalar(body, expr->left) : SLRI_NO_REG;
    slri_reg reg = expr->left ? slri_emit_reg(body, SLRI_I32, NULL) : SLRI_NO_REG;
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_BARRIER, SLRI_VOID, expr->where);
    instr->dst = reg;
    instr->a = value;
    instr->imm = expr->index;
    return reg;
}

static slri_reg of_warp(struct slri_body *body, const struct slri_expr *expr)
{
    struct slri_arg *arg = slri_unit_take(body->unit, (expr->args + 1) * sizeof *arg);
    for (uint32_t i = 0; i < expr->args; i++)
        arg[i].reg = slri_lower_scalar(body, expr->arg[i]);
    slri_reg reg = expr->type->kind == SLRI_VOID ? SLRI_NO_REG : slri_emit_reg(body, expr->type->kind, NULL);
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_WARP, expr->work, expr->where);
    instr->dst = reg;
    instr->imm = expr->index;
    instr->args = expr->args;
    instr->arg = arg;
    return reg;
}

// Only a buffer may be none; what points into a handler's state or message says that its author thinks otherwise.
static slri_reg of_present(struct slri_body *body, const struct slri_expr *expr)
{
    struct slri_address at = slri_lower_pointer(body, expr->left);
    enum slri_root_kind kind = at.ref.root.kind;
    if (kind == SLRI_ROOT_STATE || kind == SLRI_ROOT_MESSAGE || kind == SLRI_ROOT_CONST)
        SLRI_LOWER_ERROR(body, expr->where, POINTER_COMPARISON, "%s is a pointer, and no pointer is null here",
                         slri_expr_name(body->unit, expr->left));
    if (kind != SLRI_ROOT_BINDING)
        return slri_emit_const(body, SLRI_I32, 1, expr->where);
    slri_reg reg = slri_emit_reg(body, SLRI_I32, NULL);
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_PRESENT, SLRI_VOID, expr->where);
    instr->dst = reg;
    instr->root = at.ref.root;
    return reg;
}

// As C has it, the number of conversions: CUDA's printf returns the number of its arguments.
static slri_reg of_print(struct slri_body *body, const struct slri_expr *expr)
{
    struct slri_arg *arg = slri_unit_take(body->unit, (expr->args + 1) * sizeof *arg);
    for (uint32_t i = 0; i < expr->args; i++)
        arg[i].reg = slri_lower_scalar(body, expr->arg[i]);
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_PRINT, SLRI_VOID, expr->where);
    instr->imm = expr->index;
    instr->args = expr->args;
    instr->arg = arg;
    return slri_emit_const(body, SLRI_I32, expr->args, expr->where);
}

static void lower_trap(struct slri_body *body, const struct slri_expr *expr)
{
    struct slri_block *outer = body->block, *trap = slri_emit_block(body);
    slri_reg holds = expr->left ? slri_lower_scalar(body, expr->left) : SLRI_NO_REG;
    body->block = expr->left ? trap : outer;
    slri_emit_instr(body, SLRI_OP_TRAP, SLRI_VOID, expr->where)->imm = expr->index;
    body->block = outer;
    if (expr->left)
        emit_if(body, holds, slri_emit_block(body), trap, expr->where);
}

static slri_reg lower_cast(struct slri_body *body, const struct slri_expr *expr)
{
    slri_reg from = slri_lower_scalar(body, expr->left);
    return slri_emit_convert(body, from, expr->left->type->kind, expr->type->kind, expr->where);
}

static slri_reg scalar_of(struct slri_body *body, const struct slri_expr *expr)
{
    switch (expr->op) {
    case SLRI_EXPR_CONST:
        return slri_emit_const(body, expr->type->kind, expr->bits, expr->where);
    case SLRI_EXPR_UNARY:
        return of_unary(body, expr);
    case SLRI_EXPR_BINARY:
        return lower_binary(body, expr);
    case SLRI_EXPR_AND:
    case SLRI_EXPR_OR:
        return of_logical(body, expr);
    case SLRI_EXPR_COND:
        return lower_choice(body, expr);
    case SLRI_EXPR_COMMA:
        slri_lower_effect(body, expr->left);
        return slri_lower_scalar(body, expr->right);
    case SLRI_EXPR_CAST:
        return lower_cast(body, expr);
    case SLRI_EXPR_OFFSET:
        return slri_lower_offset_of(body, expr);
    case SLRI_EXPR_POINTER_DIFF:
        return of_pointer_diff(body, expr);
    case SLRI_EXPR_POINTER_COMPARE:
        return of_pointer_compare(body, expr);
    case SLRI_EXPR_ASSIGN:
        return of_assign(body, expr);
    case SLRI_EXPR_UPDATE:
        return of_update(body, expr, true);
    case SLRI_EXPR_CALL:
        return slri_lower_call(body, expr, NULL);
    case SLRI_EXPR_MATH:
        return slri_lower_math(body, expr);
    case SLRI_EXPR_MATH_PARTS:
        return slri_lower_math_parts(body, expr);
    case SLRI_EXPR_ATOMIC:
        return slri_lower_atomic(body, expr);
    case SLRI_EXPR_EXCHANGE:
        return slri_lower_exchange(body, expr);
    case SLRI_EXPR_INSTANCE:
        return of_instance(body, expr);
    case SLRI_EXPR_MESSAGES:
        return slri_emit_messages(body, expr->where);
    case SLRI_EXPR_CLOCK:
        return of_clock(body, expr);
    case SLRI_EXPR_BUILTIN:
        return lower_builtin(body, expr);
    case SLRI_EXPR_WARP:
        return of_warp(body, expr);
    case SLRI_EXPR_PRESENT:
        return of_present(body, expr);
    case SLRI_EXPR_PRINT:
        return of_print(body, expr);
    case SLRI_EXPR_BARRIER:
        return of_barrier(body, expr);
    default:
        return of_variable(body, expr);
    }
}

slri_reg slri_lower_scalar(struct slri_body *body, const struct slri_expr *expr)
{
    slri_lower_enter(body, expr->where);
    slri_reg reg = scalar_of(body, expr);
    slri_lower_leave(body);
    return reg;
}

static void choice_effect(struct slri_body *body, const struct slri_expr *expr)
{
    slri_reg test = slri_lower_scalar(body, expr->left);
    struct slri_block *outer = body->block, *yes = slri_emit_block(body), *no = slri_emit_block(body);
    body->block = yes;
    slri_lower_effect(body, expr->right);
    body->block = no;
    slri_lower_effect(body, expr->third);
    body->block = outer;
    emit_if(body, test, yes, no, expr->where);
}

static void effect_of(struct slri_body *body, const struct slri_expr *expr)
{
    if (expr->op == SLRI_EXPR_COMMA) {
        slri_lower_effect(body, expr->left);
        slri_lower_effect(body, expr->right);
    } else if (expr->op == SLRI_EXPR_CAST && expr->type->kind == SLRI_VOID) {
        slri_lower_effect(body, expr->left);
    } else if (expr->op == SLRI_EXPR_FENCE) {
        slri_lower_fence(body, expr);
    } else if (expr->op == SLRI_EXPR_TRAP) {
        lower_trap(body, expr);
    } else if (expr->op == SLRI_EXPR_EMITTED) {
        slri_lower_emitted(body, expr);
    } else if (expr->op == SLRI_EXPR_REPLY) {
        slri_lower_reply(body, expr);
    } else if (expr->op == SLRI_EXPR_SEND) {
        slri_lower_send(body, expr);
    } else if (expr->op == SLRI_EXPR_COND && expr->type->kind == SLRI_VOID) {
        choice_effect(body, expr);
    } else if (expr->op == SLRI_EXPR_CALL && expr->type->kind == SLRI_VOID) {
        slri_lower_call(body, expr, NULL);
    } else if (expr->op == SLRI_EXPR_UPDATE && slri_type_is_scalar(expr->type)) {
        of_update(body, expr, false);
    } else if (expr->type->kind == SLRI_POINTER) {
        slri_lower_pointer(body, expr);
    } else if (slri_type_is_scalar(expr->type) || expr->op == SLRI_EXPR_MATH_PARTS || expr->op == SLRI_EXPR_ATOMIC ||
               expr->op == SLRI_EXPR_BARRIER || expr->op == SLRI_EXPR_WARP) {
        slri_lower_scalar(body, expr);
    } else {
        slri_lower_place(body, expr);
    }
}

void slri_lower_effect(struct slri_body *body, const struct slri_expr *expr)
{
    slri_lower_enter(body, expr->where);
    effect_of(body, expr);
    slri_lower_leave(body);
}
