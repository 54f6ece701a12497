// SPDX-License-Identifier: Apache-2.0
// What reaches into memory: & * . -> and [].
#include "lang/check/advice.h"
#include "lang/check/check.h"

static const struct slri_type *pointer_to(struct slri_unit *unit, const struct slri_expr *place)
{
    const struct slri_type *type = slri_type_pointer(unit->types, place->type, place->is_const, place->is_volatile);
    if (!type)
        slri_unit_give_up(unit, SLR_NO_MEMORY);
    return type;
}

void slri_take_address(struct slri_expr *expr)
{
    while (expr->op == SLRI_EXPR_FIELD || (expr->op == SLRI_EXPR_SUBSCRIPT && expr->left->type->kind == SLRI_ARRAY))
        expr = expr->left;
    if (expr->op == SLRI_EXPR_VARIABLE)
        expr->symbol->address_taken = true;
}

struct slri_expr *slri_make_address(struct slri_unit *unit, struct slri_where where, struct slri_expr *expr)
{
    if (expr->op == SLRI_EXPR_ERROR)
        return expr;
    if (!expr->is_lvalue)
        SLRI_ERROR(unit, where, ADDRESS_OF, "%s has no address", slri_expr_name(unit, expr));
    else if (expr->type->kind == SLRI_POINTER)
        SLRI_ERROR(unit, where, POINTER_IN_MEMORY, "%s is a pointer, and its own address cannot be taken",
                   slri_expr_name(unit, expr));
    else {
        slri_take_address(expr);
        return slri_make(unit, SLRI_EXPR_ADDRESS, pointer_to(unit, expr), where, expr, NULL);
    }
    return slri_make_error(unit, where);
}

struct slri_expr *slri_make_deref(struct slri_unit *unit, struct slri_where where, struct slri_expr *expr)
{
    expr = slri_rvalue(unit, expr);
    if (expr->op == SLRI_EXPR_ERROR)
        return expr;
    if (expr->type->kind != SLRI_POINTER) {
        SLRI_ERROR(unit, where, NOT_A_POINTER, "%s has the type %s", slri_expr_name(unit, expr),
                   slri_unit_spell(unit, expr->type));
        return slri_make_error(unit, where);
    }
    if (!slri_type_is_complete(expr->type->of)) {
        SLRI_ERROR(unit, where, INCOMPLETE_TYPE, "%s points to %s, which is an incomplete type",
                   slri_expr_name(unit, expr), slri_unit_spell(unit, expr->type->of));
        return slri_make_error(unit, where);
    }
    struct slri_expr *made = slri_make(unit, SLRI_EXPR_DEREF, expr->type->of, where, expr, NULL);
    made->is_lvalue = true;
    made->is_const = expr->type->is_const;
    made->is_volatile = expr->type->is_volatile;
    return made;
}

const struct slri_field *slri_find_field(struct slri_unit *unit, const struct slri_type *type,
                                         const struct slri_token *name)
{
    if (type->kind != SLRI_STRUCT) {
        SLRI_ERROR(unit, name->where, UNKNOWN_MEMBER, "no member '%s' in a %s", name->text,
                   slri_unit_spell(unit, type));
        SLRI_ADVISE(unit, slri_advise_member(unit, type, name->text));
        return NULL;
    }
    for (uint32_t i = 0; i < type->fields; i++)
        if (type->field[i].name == name->text ||
            (type->is_vector && slri_token_is(name, type->field[i].name))) // not interned: no source spelled them
            return &type->field[i];
    SLRI_ERROR(unit, name->where, UNKNOWN_MEMBER, "%s has no member '%s'", slri_unit_spell(unit, type), name->text);
    SLRI_ADVISE(unit, slri_advise_member(unit, type, name->text));
    return NULL;
}

struct slri_expr *slri_make_field(struct slri_unit *unit, struct slri_where where, struct slri_expr *expr,
                                  const struct slri_token *name)
{
    if (expr->op == SLRI_EXPR_ERROR)
        return expr;
    const struct slri_field *field = slri_find_field(unit, expr->type, name);
    if (!field)
        return slri_make_error(unit, where);
    struct slri_expr *made = slri_make(unit, SLRI_EXPR_FIELD, field->type, where, expr, NULL);
    made->field = field;
    made->is_lvalue = expr->is_lvalue;
    made->is_const = expr->is_const;
    made->is_volatile = expr->is_volatile || field->is_volatile;
    return made;
}

struct slri_expr *slri_make_subscript(struct slri_unit *unit, struct slri_where where, struct slri_expr *expr,
                                      struct slri_expr *index)
{
    bool swapped = slri_type_is_scalar(expr->type) && !slri_type_is_scalar(index->type); // C's 2[table]
    struct slri_expr *base = swapped ? index : expr;
    index = slri_to_index(unit, swapped ? expr : index);
    if (base->op == SLRI_EXPR_ERROR || index->op == SLRI_EXPR_ERROR)
        return slri_make_error(unit, where);
    bool is_array = base->type->kind == SLRI_ARRAY;
    if (!is_array && base->type->kind != SLRI_POINTER) {
        SLRI_ERROR(unit, where, NOT_A_POINTER, "%s has the type %s, which has no elements", slri_expr_name(unit, base),
                   slri_unit_spell(unit, base->type));
        return slri_make_error(unit, where);
    }
    if (!slri_type_is_complete(base->type->of)) {
        SLRI_ERROR(unit, where, INCOMPLETE_TYPE, "elements of the incomplete type %s",
                   slri_unit_spell(unit, base->type->of));
        return slri_make_error(unit, where);
    }
    struct slri_expr *made = slri_make(unit, SLRI_EXPR_SUBSCRIPT, base->type->of, where, base, index);
    made->is_lvalue = true;
    made->is_const = is_array ? base->is_const : base->type->is_const;
    made->is_volatile = is_array ? base->is_volatile : base->type->is_volatile;
    return made;
}
