// SPDX-License-Identifier: Apache-2.0
// Words of emitted text (check_emitted.c): each is one instruction, or a place that is not checked.
#include "lang/lower/lower.h"

struct slri_address slri_lower_at(struct slri_body *body, const struct slri_expr *expr)
{
    bool is_pointer = expr->left->type->kind == SLRI_POINTER;
    struct slri_address at = is_pointer ? slri_lower_pointer(body, expr->left) : slri_lower_place(body, expr->left);
    at.base = slri_lower_scalar(body, expr->right);
    at.offset = 0;
    at.valid = SLRI_UNBOUNDED;
    return at;
}

slri_reg slri_lower_offset_of(struct slri_body *body, const struct slri_expr *expr)
{
    struct slri_address at = slri_lower_pointer(body, expr->left);
    return slri_lower_offset(body, &at, expr->where);
}

void slri_lower_emitted(struct slri_body *body, const struct slri_expr *expr)
{
    if (expr->instr == SLRI_OP_INDEX) {
        bool is_fixed = expr->right->op == SLRI_EXPR_CONST;
        slri_reg index = slri_lower_scalar(body, expr->left);
        slri_reg extent = is_fixed ? SLRI_NO_REG : slri_lower_scalar(body, expr->right);
        struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_INDEX, SLRI_I64, expr->where);
        instr->a = index;
        instr->b = extent;
        instr->imm = is_fixed ? expr->right->bits : 0;
        return;
    }
    struct slri_address at = slri_lower_pointer(body, expr->left);
    if (expr->instr == SLRI_OP_STORE) {
        at.is_volatile = expr->left->type->is_volatile;
        slri_emit_store(body, at, expr->left->type->of->kind, slri_lower_scalar(body, expr->right), expr->where);
        return;
    }
    if (expr->instr == SLRI_OP_COPY) {
        slri_emit_copy(body, at, slri_lower_pointer(body, expr->right), expr->third->bits, expr->index, expr->where);
        return;
    }
    slri_reg offset = slri_lower_offset(body, &at, expr->where);
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_ZERO, SLRI_VOID, expr->where);
    instr->a = offset;
    instr->root = at.ref.root;
    instr->imm = expr->right->bits;
}
