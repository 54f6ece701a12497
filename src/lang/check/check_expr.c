// SPDX-License-Identifier: Apache-2.0
// Nodes, values and conversions.
#include "lang/check/check.h"

static uint32_t height_of(const struct slri_expr *expr)
{
    return expr ? expr->height : 0;
}

struct slri_expr *slri_make_error(struct slri_unit *unit, struct slri_where where)
{
    struct slri_expr *expr = slri_unit_take(unit, sizeof *expr);
    *expr = (struct slri_expr){.op = SLRI_EXPR_ERROR, .where = where, .type = slri_type_of(unit->types, SLRI_I32)};
    return expr;
}

struct slri_expr *slri_make(struct slri_unit *unit, enum slri_expr_op op, const struct slri_type *type,
                            struct slri_where where, struct slri_expr *left, struct slri_expr *right)
{
    uint32_t below = height_of(left) > height_of(right) ? height_of(left) : height_of(right);
    if (below >= SLRI_HEIGHT_LIMIT) {
        SLRI_ERROR(unit, where, NESTING_TOO_DEEP, "more than %d operations in one expression", SLRI_HEIGHT_LIMIT);
        return slri_make_error(unit, where);
    }
    struct slri_expr *expr = slri_unit_take(unit, sizeof *expr);
    *expr =
        (struct slri_expr){.op = op, .type = type, .where = where, .left = left, .right = right, .height = below + 1};
    return expr;
}

struct slri_expr *slri_make_const(struct slri_unit *unit, enum slri_kind kind, uint64_t bits, struct slri_where where)
{
    struct slri_expr *expr = slri_make(unit, SLRI_EXPR_CONST, slri_type_of(unit->types, kind), where, NULL, NULL);
    expr->bits = bits;
    return expr;
}

struct slri_expr *slri_make_symbol(struct slri_unit *unit, struct slri_symbol *symbol, struct slri_where where)
{
    if (symbol->kind == SLRI_SYMBOL_CONSTANT)
        return slri_make_const(unit, symbol->type->kind, symbol->bits, where);
    struct slri_expr *expr = slri_make(unit, SLRI_EXPR_VARIABLE, symbol->type, where, NULL, NULL);
    expr->symbol = symbol;
    expr->is_lvalue = true;
    expr->is_const = symbol->is_const;
    expr->is_volatile = symbol->is_volatile;
    if (symbol->kind == SLRI_SYMBOL_SHARED && symbol->is_dynamic && symbol->type->kind == SLRI_ARRAY)
        return slri_rvalue(unit, expr); // of open extent: it is never more than a pointer
    return expr;
}

const char *slri_expr_name(struct slri_unit *unit, const struct slri_expr *expr)
{
    if (expr->op == SLRI_EXPR_VARIABLE)
        return slri_unit_format(unit, "'%s'", expr->symbol->name);
    if (expr->op == SLRI_EXPR_FIELD)
        return slri_unit_format(unit, "the member '%s'", expr->field->name);
    if (expr->op == SLRI_EXPR_CALL)
        return slri_unit_format(unit, "the result of '%s'", expr->callee->name);
    return expr->op == SLRI_EXPR_SUBSCRIPT ? "the element" : "this";
}

// ---- values --------------------------------------------------------------------------------------------------------

struct slri_expr *slri_rvalue(struct slri_unit *unit, struct slri_expr *expr)
{
    if (expr->type->kind == SLRI_VOID) {
        SLRI_ERROR(unit, expr->where, VOID_VALUE, "%s is void", slri_expr_name(unit, expr));
        return slri_make_error(unit, expr->where);
    }
    if (expr->type->kind == SLRI_ARRAY) {
        const struct slri_type *type =
            slri_type_pointer(unit->types, expr->type->of, expr->is_const, expr->is_volatile);
        if (!type)
            slri_unit_give_up(unit, SLR_NO_MEMORY);
        slri_take_address(expr);
        return slri_make(unit, SLRI_EXPR_DECAY, type, expr->where, expr, NULL);
    }
    if (expr->op == SLRI_EXPR_VARIABLE && expr->symbol->is_known)
        return slri_make_const(unit, expr->type->kind, expr->symbol->bits, expr->where);
    return expr;
}

struct slri_expr *slri_to_kind(struct slri_unit *unit, struct slri_expr *expr, enum slri_kind kind)
{
    if (expr->op == SLRI_EXPR_ERROR || expr->type->kind == kind)
        return expr;
    if (expr->op == SLRI_EXPR_CONST)
        return slri_make_const(unit, kind, slri_fold_convert(expr->type->kind, kind, expr->bits), expr->where);
    return slri_make(unit, SLRI_EXPR_CAST, slri_type_of(unit->types, kind), expr->where, expr, NULL);
}

struct slri_expr *slri_truth(struct slri_unit *unit, struct slri_expr *expr)
{
    expr = slri_rvalue(unit, expr);
    if (expr->op == SLRI_EXPR_ERROR)
        return expr;
    if (expr->type->kind == SLRI_POINTER)
        return slri_make(unit, SLRI_EXPR_PRESENT, slri_type_of(unit->types, SLRI_I32), expr->where, expr, NULL);
    if (!slri_type_is_scalar(expr->type)) {
        SLRI_ERROR(unit, expr->where, WRONG_TYPE, "%s has the type %s, but must be a number",
                   slri_expr_name(unit, expr), slri_unit_spell(unit, expr->type));
        return slri_make_error(unit, expr->where);
    }
    enum slri_kind kind = expr->type->kind;
    if (expr->op == SLRI_EXPR_CONST)
        return slri_make_const(unit, SLRI_I32, !slri_value_is_zero(kind, expr->bits), expr->where);
    if (slri_kind_in_register(kind) == SLRI_I32)
        return expr;
    struct slri_expr *zero = slri_make_const(unit, kind, 0, expr->where);
    struct slri_expr *test =
        slri_make(unit, SLRI_EXPR_BINARY, slri_type_of(unit->types, SLRI_I32), expr->where, expr, zero);
    test->instr = SLRI_OP_NE;
    return test;
}

struct slri_expr *slri_to_index(struct slri_unit *unit, struct slri_expr *expr)
{
    expr = slri_rvalue(unit, expr);
    if (expr->op == SLRI_EXPR_ERROR || slri_type_is_integer(expr->type))
        return slri_to_kind(unit, expr, SLRI_I64);
    SLRI_ERROR(unit, expr->where, WRONG_TYPE, "an index must be an integer, but %s has the type %s",
               slri_expr_name(unit, expr), slri_unit_spell(unit, expr->type));
    return slri_make_error(unit, expr->where);
}

// ---- conversions ---------------------------------------------------------------------------------------------------

static struct slri_expr *pointer_as(struct slri_unit *unit, struct slri_expr *expr, const struct slri_type *type,
                                    struct slri_where where)
{
    if (expr->type->is_const && !type->is_const) {
        SLRI_ERROR(unit, where, CONST_VIOLATED, "%s is a %s, and cannot lose its const", slri_expr_name(unit, expr),
                   slri_unit_spell(unit, expr->type));
        return slri_make_error(unit, where);
    }
    return slri_make(unit, SLRI_EXPR_CAST, type, where, expr, NULL);
}

static struct slri_expr *mismatch(struct slri_unit *unit, struct slri_expr *expr, const struct slri_type *type,
                                  const char *what)
{
    bool is_null = type->kind == SLRI_POINTER && expr->op == SLRI_EXPR_CONST && expr->bits == 0;
    if (is_null)
        SLRI_ERROR(unit, expr->where, POINTER_ROOT_UNKNOWN, "%s is a null pointer", what);
    else
        SLRI_ERROR(unit, expr->where, WRONG_TYPE, "%s has the type %s, but must be %s", what,
                   slri_unit_spell(unit, expr->type), slri_unit_spell(unit, type));
    return slri_make_error(unit, expr->where);
}

struct slri_expr *slri_convert(struct slri_unit *unit, struct slri_expr *expr, const struct slri_type *type,
                               const char *what)
{
    expr = slri_rvalue(unit, expr);
    if (expr->op == SLRI_EXPR_ERROR)
        return expr;
    if (slri_type_is_scalar(type) && slri_type_is_scalar(expr->type))
        return slri_to_kind(unit, expr, type->kind);
    if (expr->type == type && expr->is_volatile) { // a struct: C copies it as it likes, and C++ not at all
        SLRI_ERROR(unit, expr->where, UNSUPPORTED_FEATURE, "a copy of %s, which is volatile: copy its members",
                   slri_expr_name(unit, expr));
        return slri_make_error(unit, expr->where);
    }
    if (expr->type == type)
        return expr;
    if (type->kind == SLRI_POINTER && expr->type->kind == SLRI_POINTER && type->of == expr->type->of) {
        if (!expr->type->is_volatile || type->is_volatile)
            return pointer_as(unit, expr, type, expr->where);
        SLRI_ERROR(unit, expr->where, CONST_VIOLATED, "%s is a %s, and loses its volatile only by a cast",
                   slri_expr_name(unit, expr), slri_unit_spell(unit, expr->type));
        return slri_make_error(unit, expr->where);
    }
    return mismatch(unit, expr, type, what);
}

// Pointers may be cast between scalars of one size, and from arrays to their elements: every byte keeps its alignment,
// and what it means is the same on every target.
static bool may_reinterpret(const struct slri_type *from, const struct slri_type *to)
{
    while (from->kind == SLRI_ARRAY)
        from = from->of;
    while (to->kind == SLRI_ARRAY)
        to = to->of;
    return from == to || (slri_type_is_scalar(from) && slri_type_is_scalar(to) && from->bytes == to->bytes);
}

// In kernels also what CUDA code does for wide accesses and to share one memory: between numbers and vectors of any
// size. That what is reached is aligned is then the kernel's to see to, as in CUDA.
static bool may_widen(const struct slri_unit *unit, const struct slri_type *from, const struct slri_type *to)
{
    while (from->kind == SLRI_ARRAY)
        from = from->of;
    while (to->kind == SLRI_ARRAY)
        to = to->of;
    bool plain = (slri_type_is_scalar(from) || from->kind == SLRI_STRUCT) &&
                 (slri_type_is_scalar(to) || to->kind == SLRI_STRUCT);
    return plain && unit->function && !unit->function->is_ring;
}

struct slri_expr *slri_make_cast(struct slri_unit *unit, const struct slri_type *type, struct slri_expr *expr,
                                 struct slri_where where)
{
    if (expr->op == SLRI_EXPR_ERROR)
        return expr;
    if (type->kind == SLRI_VOID)
        return slri_make(unit, SLRI_EXPR_CAST, type, where, expr, NULL);
    expr = slri_rvalue(unit, expr);
    if (expr->op == SLRI_EXPR_ERROR)
        return expr;
    if (slri_type_is_scalar(type) && slri_type_is_scalar(expr->type)) {
        if (expr->op == SLRI_EXPR_CONST)
            return slri_to_kind(unit, expr, type->kind);
        return slri_make(unit, SLRI_EXPR_CAST, type, where, expr, NULL);
    }
    bool pointers = type->kind == SLRI_POINTER && expr->type->kind == SLRI_POINTER;
    if (pointers && (expr->op == SLRI_EXPR_AT || may_reinterpret(expr->type->of, type->of) ||
                     may_widen(unit, expr->type->of, type->of)))
        return pointer_as(unit, expr, type, where);
    if (type->kind == SLRI_POINTER || expr->type->kind == SLRI_POINTER)
        SLRI_ERROR(unit, where, POINTER_CAST, "a cast from %s to %s", slri_unit_spell(unit, expr->type),
                   slri_unit_spell(unit, type));
    else
        SLRI_ERROR(unit, where, WRONG_TYPE, "a cast from %s to %s", slri_unit_spell(unit, expr->type),
                   slri_unit_spell(unit, type));
    return slri_make_error(unit, where);
}
