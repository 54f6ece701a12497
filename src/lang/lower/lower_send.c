// SPDX-License-Identifier: Apache-2.0
// ring_send and ring_send_at: the outlet is a binding of the entry, which its pointer's root says.
#include "lang/lower/lower.h"

// What stands for an outlet in a function that nothing calls has the root of a parameter: it is left out again.
static uint32_t outlet_of(struct slri_body *body, const struct slri_expr *expr)
{
    struct slri_root root = slri_lower_pointer(body, expr).ref.root;
    if (root.kind != SLRI_ROOT_BINDING && root.kind != SLRI_ROOT_PARAM && root.kind != SLRI_ROOT_NONE)
        SLRI_LOWER_ERROR(body, expr->where, BAD_OUTLET, "a pointer to memory is not an output channel");
    return root.index;
}

void slri_lower_send(struct slri_body *body, const struct slri_expr *expr)
{
    const struct slri_type *type = expr->right->type->of;
    uint32_t outlet = outlet_of(body, expr->left);
    slri_reg instance = expr->third ? slri_lower_scalar(body, expr->third)
                                    : slri_emit_const(body, SLRI_U32, SLRI_OWN_INSTANCE, expr->where);
    struct slri_address at = slri_lower_pointer(body, expr->right);
    slri_emit_check(body, &at, type->bytes, expr->where);
    slri_reg offset = slri_lower_offset(body, &at, expr->where);
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_SEND, SLRI_VOID, expr->where);
    instr->a = offset;
    instr->b = instance;
    instr->root = at.ref.root;
    instr->imm = (uint64_t)outlet << 32 | type->bytes;
}
