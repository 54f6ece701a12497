// SPDX-License-Identifier: Apache-2.0
// Operators on values: arithmetic, comparison, logic, choice, assignment.
#include "lang/check/check.h"

#include <string.h>

static bool either_failed(const struct slri_expr *left, const struct slri_expr *right)
{
    return left->op == SLRI_EXPR_ERROR || right->op == SLRI_EXPR_ERROR;
}

static struct slri_expr *bad_operands(struct slri_unit *unit, const struct slri_token *token,
                                      const struct slri_expr *left, const struct slri_expr *right)
{
    SLRI_ERROR(unit, token->where, WRONG_OPERANDS, "'%s' between %s and %s", token->text,
               slri_unit_spell(unit, left->type), slri_unit_spell(unit, right->type));
    return slri_make_error(unit, token->where);
}

// ---- unary ---------------------------------------------------------------------------------------------------------

static struct slri_expr *logical_not(struct slri_unit *unit, struct slri_where where, struct slri_expr *expr)
{
    expr = slri_truth(unit, expr);
    if (expr->op == SLRI_EXPR_ERROR)
        return expr;
    if (expr->op == SLRI_EXPR_CONST)
        return slri_make_const(unit, SLRI_I32, expr->bits == 0, where);
    struct slri_expr *zero = slri_make_const(unit, SLRI_I32, 0, where);
    struct slri_expr *test = slri_make(unit, SLRI_EXPR_BINARY, slri_type_of(unit->types, SLRI_I32), where,
                                       slri_to_kind(unit, expr, SLRI_I32), zero);
    test->instr = SLRI_OP_EQ;
    return test;
}

struct slri_expr *slri_make_unary(struct slri_unit *unit, const struct slri_token *token, struct slri_expr *expr)
{
    if (slri_token_is(token, "!"))
        return logical_not(unit, token->where, expr);
    expr = slri_rvalue(unit, expr);
    if (expr->op == SLRI_EXPR_ERROR)
        return expr;
    bool is_complement = slri_token_is(token, "~");
    if (!slri_type_is_scalar(expr->type)) {
        SLRI_ERROR(unit, token->where, WRONG_OPERANDS, "'%s' of %s", token->text, slri_unit_spell(unit, expr->type));
        return slri_make_error(unit, token->where);
    }
    if (is_complement && slri_kind_is_float(expr->type->kind)) {
        SLRI_ERROR(unit, token->where, FLOAT_OPERAND, "'~' of %s", slri_unit_spell(unit, expr->type));
        return slri_make_error(unit, token->where);
    }
    enum slri_kind kind = slri_kind_in_register(expr->type->kind);
    expr = slri_to_kind(unit, expr, kind);
    enum slri_op instr = is_complement ? SLRI_OP_NOT : SLRI_OP_NEG;
    if (slri_token_is(token, "+"))
        return slri_make_cast(unit, slri_type_of(unit->types, kind), expr, token->where);
    if (expr->op == SLRI_EXPR_CONST)
        return slri_make_const(unit, kind, slri_fold_unary(instr, kind, expr->bits), token->where);
    struct slri_expr *made = slri_make(unit, SLRI_EXPR_UNARY, expr->type, token->where, expr, NULL);
    made->instr = instr;
    return made;
}

// ---- binary --------------------------------------------------------------------------------------------------------

static bool is_comparison(enum slri_op instr)
{
    return instr >= SLRI_OP_EQ && instr <= SLRI_OP_GE;
}

static bool needs_integers(enum slri_op instr)
{
    return instr >= SLRI_OP_REM && instr <= SLRI_OP_XOR;
}

static bool is_shift(enum slri_op instr)
{
    return instr == SLRI_OP_SHL || instr == SLRI_OP_SHR;
}

static struct slri_expr *make_scaled(struct slri_unit *unit, const struct slri_token *token, struct slri_expr *pointer,
                                     struct slri_expr *index, bool negative)
{
    index = slri_to_index(unit, index);
    if (negative)
        index = slri_make_unary(
            unit, &(struct slri_token){.kind = SLRI_TOKEN_PUNCT, .text = "-", .where = index->where}, index);
    if (either_failed(pointer, index))
        return slri_make_error(unit, token->where);
    return slri_make(unit, SLRI_EXPR_POINTER_ADD, pointer->type, token->where, pointer, index);
}

static struct slri_expr *of_pointers(struct slri_unit *unit, enum slri_op instr, const struct slri_token *token,
                                     struct slri_expr *left, struct slri_expr *right)
{
    if (left->type->of != right->type->of)
        return bad_operands(unit, token, left, right);
    if (instr == SLRI_OP_SUB)
        return slri_make(unit, SLRI_EXPR_POINTER_DIFF, slri_type_of(unit->types, SLRI_I64), token->where, left, right);
    if (!is_comparison(instr))
        return bad_operands(unit, token, left, right);
    struct slri_expr *made =
        slri_make(unit, SLRI_EXPR_POINTER_COMPARE, slri_type_of(unit->types, SLRI_I32), token->where, left, right);
    made->instr = instr;
    return made;
}

static struct slri_expr *is_null(struct slri_unit *unit, struct slri_where where, struct slri_expr *pointer,
                                 bool negated)
{
    const struct slri_type *type = slri_type_of(unit->types, SLRI_I32);
    struct slri_expr *made = slri_make(unit, SLRI_EXPR_PRESENT, type, where, pointer, NULL);
    return negated ? logical_not(unit, where, made) : made;
}

static struct slri_expr *with_pointer(struct slri_unit *unit, enum slri_op instr, const struct slri_token *token,
                                      struct slri_expr *left, struct slri_expr *right)
{
    bool on_left = left->type->kind == SLRI_POINTER, on_right = right->type->kind == SLRI_POINTER;
    if (on_left && on_right)
        return of_pointers(unit, instr, token, left, right);
    const struct slri_expr *other = on_left ? right : left;
    bool with_null = other->op == SLRI_EXPR_CONST && other->bits == 0;
    if (with_null && (instr == SLRI_OP_EQ || instr == SLRI_OP_NE))
        return is_null(unit, token->where, on_left ? left : right, instr == SLRI_OP_EQ);
    if (is_comparison(instr) && other->op == SLRI_EXPR_CONST) {
        SLRI_ERROR(unit, token->where, POINTER_COMPARISON, "%s is a pointer, and no pointer is null here",
                   slri_expr_name(unit, on_left ? left : right));
        return slri_make_error(unit, token->where);
    }
    if (slri_type_is_integer(other->type) && instr == SLRI_OP_ADD)
        return make_scaled(unit, token, on_left ? left : right, on_left ? right : left, false);
    if (slri_type_is_integer(other->type) && instr == SLRI_OP_SUB && on_left)
        return make_scaled(unit, token, left, right, true);
    return bad_operands(unit, token, left, right);
}

// Both operands in the kind that the operation works in; a shift's count in its left operand's.
static bool balance(struct slri_unit *unit, enum slri_op instr, const struct slri_token *token, struct slri_expr **left,
                    struct slri_expr **right, enum slri_kind *kind)
{
    if (!slri_type_is_scalar((*left)->type) || !slri_type_is_scalar((*right)->type)) {
        bad_operands(unit, token, *left, *right);
        return false;
    }
    bool floats = slri_kind_is_float((*left)->type->kind) || slri_kind_is_float((*right)->type->kind);
    if (needs_integers(instr) && floats) {
        SLRI_ERROR(unit, token->where, FLOAT_OPERAND, "'%s' between %s and %s", token->text,
                   slri_unit_spell(unit, (*left)->type), slri_unit_spell(unit, (*right)->type));
        return false;
    }
    *kind = is_shift(instr) ? slri_kind_in_register((*left)->type->kind)
                            : slri_kind_common((*left)->type->kind, (*right)->type->kind);
    return true;
}

// What is known now to go wrong at run time.
static bool check_right(struct slri_unit *unit, enum slri_op instr, const struct slri_token *token, enum slri_kind kind,
                        const struct slri_expr *right)
{
    if (right->op != SLRI_EXPR_CONST || slri_kind_is_float(kind))
        return true;
    if ((instr == SLRI_OP_DIV || instr == SLRI_OP_REM) && right->bits == 0) {
        SLRI_ERROR(unit, token->where, DIVISION_BY_ZERO, "'%s' by a constant that is 0", token->text);
        return false;
    }
    int64_t count = slri_value_to_int(right->type->kind, right->bits);
    if (is_shift(instr) && (count < 0 || count >= (int64_t)slri_kind_bytes(kind) * 8)) {
        SLRI_ERROR(unit, token->where, SHIFT_OUT_OF_RANGE, "a shift of %s by %lld",
                   slri_unit_spell(unit, slri_type_of(unit->types, kind)), (long long)count);
        return false;
    }
    return true;
}

struct slri_expr *slri_make_binary(struct slri_unit *unit, enum slri_op instr, const struct slri_token *token,
                                   struct slri_expr *left, struct slri_expr *right)
{
    left = slri_rvalue(unit, left);
    right = slri_rvalue(unit, right);
    if (either_failed(left, right))
        return slri_make_error(unit, token->where);
    if (left->type->kind == SLRI_POINTER || right->type->kind == SLRI_POINTER)
        return with_pointer(unit, instr, token, left, right);
    enum slri_kind kind = SLRI_I32;
    if (!balance(unit, instr, token, &left, &right, &kind) || !check_right(unit, instr, token, kind, right))
        return slri_make_error(unit, token->where);
    left = slri_to_kind(unit, left, kind);
    right = slri_to_kind(unit, right, kind);
    enum slri_kind result = is_comparison(instr) ? SLRI_I32 : kind;
    uint64_t bits = 0;
    if (left->op == SLRI_EXPR_CONST && right->op == SLRI_EXPR_CONST &&
        slri_fold_binary(instr, kind, left->bits, right->bits, &bits))
        return slri_make_const(unit, result, bits, token->where);
    struct slri_expr *made =
        slri_make(unit, SLRI_EXPR_BINARY, slri_type_of(unit->types, result), token->where, left, right);
    made->instr = instr;
    return made;
}

// ---- logic and choice ----------------------------------------------------------------------------------------------

struct slri_expr *slri_make_logical(struct slri_unit *unit, enum slri_expr_op op, struct slri_where where,
                                    struct slri_expr *left, struct slri_expr *right)
{
    left = slri_truth(unit, left);
    right = slri_truth(unit, right);
    if (either_failed(left, right))
        return slri_make_error(unit, where);
    bool decided = left->op == SLRI_EXPR_CONST && (left->bits != 0) == (op == SLRI_EXPR_OR);
    if (decided)
        return slri_make_const(unit, SLRI_I32, op == SLRI_EXPR_OR, where);
    if (left->op == SLRI_EXPR_CONST && right->op == SLRI_EXPR_CONST)
        return slri_make_const(unit, SLRI_I32, right->bits != 0, where);
    return slri_make(unit, op, slri_type_of(unit->types, SLRI_I32), where, left, right);
}

static const struct slri_type *choice_type(struct slri_unit *unit, const struct slri_type *yes,
                                           const struct slri_type *no)
{
    if (slri_type_is_scalar(yes) && slri_type_is_scalar(no))
        return slri_type_of(unit->types, slri_kind_common(yes->kind, no->kind));
    if (yes->kind == SLRI_POINTER && no->kind == SLRI_POINTER && yes->of == no->of) {
        const struct slri_type *type =
            slri_type_pointer(unit->types, yes->of, yes->is_const || no->is_const, yes->is_volatile || no->is_volatile);
        if (!type)
            slri_unit_give_up(unit, SLR_NO_MEMORY);
        return type;
    }
    return yes == no ? yes : NULL;
}

struct slri_expr *slri_make_cond(struct slri_unit *unit, struct slri_where where, struct slri_expr *test,
                                 struct slri_expr *yes, struct slri_expr *no)
{
    test = slri_truth(unit, test);
    bool both_void = yes->type->kind == SLRI_VOID && no->type->kind == SLRI_VOID;
    if (!both_void) {
        yes = slri_rvalue(unit, yes);
        no = slri_rvalue(unit, no);
    }
    if (test->op == SLRI_EXPR_ERROR || either_failed(yes, no))
        return slri_make_error(unit, where);
    const struct slri_type *type = choice_type(unit, yes->type, no->type);
    if (!type) {
        SLRI_ERROR(unit, where, WRONG_OPERANDS, "'?:' chooses between %s and %s", slri_unit_spell(unit, yes->type),
                   slri_unit_spell(unit, no->type));
        return slri_make_error(unit, where);
    }
    if (!both_void) {
        yes = slri_convert(unit, yes, type, "the value");
        no = slri_convert(unit, no, type, "the value");
    }
    if (test->op == SLRI_EXPR_CONST && (test->bits ? yes : no)->op == SLRI_EXPR_CONST)
        return test->bits ? yes : no;
    struct slri_expr *made = slri_make(unit, SLRI_EXPR_COND, type, where, yes, no);
    made->third = no;
    made->right = yes;
    made->left = test;
    made->height = test->height >= made->height ? test->height + 1 : made->height;
    return made;
}

// ---- assignment ----------------------------------------------------------------------------------------------------

// Of p.at[2].x it is `p` that changes.
static void note_change(struct slri_expr *target)
{
    while (target->op == SLRI_EXPR_FIELD ||
           (target->op == SLRI_EXPR_SUBSCRIPT && target->left->type->kind == SLRI_ARRAY))
        target = target->left;
    if (target->op == SLRI_EXPR_VARIABLE)
        target->symbol->is_changed = true;
}

static bool check_target(struct slri_unit *unit, struct slri_where where, struct slri_expr *left)
{
    if (left->op == SLRI_EXPR_ERROR)
        return false;
    if (!left->is_lvalue)
        SLRI_ERROR(unit, where, NOT_AN_LVALUE, "%s is not something that can be assigned to",
                   slri_expr_name(unit, left));
    else if (left->is_const)
        SLRI_ERROR(unit, where, CONST_VIOLATED, "%s is const", slri_expr_name(unit, left));
    else if (left->type->kind == SLRI_ARRAY)
        SLRI_ERROR(unit, where, WRONG_TYPE, "%s is an array (%s): assign its elements", slri_expr_name(unit, left),
                   slri_unit_spell(unit, left->type));
    else if (left->type->kind == SLRI_STRUCT && left->is_volatile)
        SLRI_ERROR(unit, where, UNSUPPORTED_FEATURE,
                   "an assignment to all of %s, which is volatile: assign its members", slri_expr_name(unit, left));
    else {
        if (left->op == SLRI_EXPR_VARIABLE)
            left->symbol->assignments++;
        note_change(left);
        return true;
    }
    return false;
}

struct slri_expr *slri_make_assign(struct slri_unit *unit, struct slri_where where, struct slri_expr *left,
                                   struct slri_expr *right)
{
    if (!check_target(unit, where, left))
        return slri_make_error(unit, where);
    right = slri_convert(unit, right, left->type, "the value");
    if (right->op == SLRI_EXPR_ERROR)
        return right;
    return slri_make(unit, SLRI_EXPR_ASSIGN, left->type, where, left, right);
}

static struct slri_expr *update_pointer(struct slri_unit *unit, enum slri_op instr, const struct slri_token *token,
                                        struct slri_expr *left, struct slri_expr *right, bool post)
{
    struct slri_expr *made = right;
    if (instr == SLRI_OP_ADD || instr == SLRI_OP_SUB)
        made = make_scaled(unit, token, left, right, instr == SLRI_OP_SUB);
    else
        return bad_operands(unit, token, left, right);
    if (made->op == SLRI_EXPR_ERROR)
        return made;
    struct slri_expr *update = slri_make(unit, SLRI_EXPR_UPDATE, left->type, token->where, left, made->right);
    update->instr = SLRI_OP_ADD;
    update->post = post;
    return update;
}

struct slri_expr *slri_make_update(struct slri_unit *unit, enum slri_op instr, const struct slri_token *token,
                                   struct slri_expr *left, struct slri_expr *right, bool post)
{
    right = slri_rvalue(unit, right);
    if (!check_target(unit, token->where, left) || right->op == SLRI_EXPR_ERROR)
        return slri_make_error(unit, token->where);
    if (left->type->kind == SLRI_POINTER)
        return update_pointer(unit, instr, token, left, right, post);
    struct slri_expr *value = left;
    enum slri_kind work = SLRI_I32;
    if (!balance(unit, instr, token, &value, &right, &work) || !check_right(unit, instr, token, work, right))
        return slri_make_error(unit, token->where);
    struct slri_expr *made =
        slri_make(unit, SLRI_EXPR_UPDATE, left->type, token->where, left, slri_to_kind(unit, right, work));
    made->instr = instr;
    made->work = work;
    made->post = post;
    return made;
}
