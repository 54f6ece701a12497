// SPDX-License-Identifier: Apache-2.0
// What an integer expression may be, so that an index that cannot leave its array is not checked at run time.
// Interval arithmetic on counters of counted loops; whatever might wrap is given up.
#include "lang/lower/lower.h"

struct range {
    int64_t least, most;
};

static bool kind_range(enum slri_kind kind, struct range *out)
{
    uint32_t bits = slri_kind_bytes(kind) * 8;
    if (kind == SLRI_BOOL)
        *out = (struct range){0, 1};
    else if (slri_kind_is_float(kind) || kind == SLRI_U64 || !slri_kind_is_scalar(kind))
        return false;
    else if (slri_kind_is_signed(kind))
        *out = (struct range){-(INT64_C(1) << (bits - 2)) * 2, ((INT64_C(1) << (bits - 2)) - 1) * 2 + 1};
    else
        *out = (struct range){0, (INT64_C(1) << bits) - 1};
    return true;
}

static bool fits(const struct range *range, enum slri_kind kind)
{
    struct range all;
    if (kind == SLRI_U64)
        return range->least >= 0;
    return kind_range(kind, &all) && range->least >= all.least && range->most <= all.most;
}

static bool corners(enum slri_op op, const struct range *a, const struct range *b, struct range *out)
{
    int64_t corner[4];
    bool wraps = false;
    for (int i = 0; i < 4; i++) {
        int64_t x = i & 1 ? a->most : a->least, y = i & 2 ? b->most : b->least;
        wraps |= op == SLRI_OP_ADD   ? __builtin_add_overflow(x, y, &corner[i])
                 : op == SLRI_OP_SUB ? __builtin_sub_overflow(x, y, &corner[i])
                                     : __builtin_mul_overflow(x, y, &corner[i]);
    }
    *out = (struct range){corner[0], corner[0]};
    for (int i = 1; i < 4; i++) {
        out->least = corner[i] < out->least ? corner[i] : out->least;
        out->most = corner[i] > out->most ? corner[i] : out->most;
    }
    return !wraps;
}

static bool range_of(struct slri_body *body, const struct slri_expr *expr, struct range *out)
{
    return slri_range_of(body, expr, &out->least, &out->most);
}

// The right operand is a constant above 0 and the left is not negative: C's / % >> are then monotone.
static bool by_constant(enum slri_op op, const struct range *a, const struct range *b, struct range *out)
{
    bool is_constant = b->least == b->most && b->least > 0 && a->least >= 0;
    if (!is_constant)
        return false;
    int64_t c = b->least;
    if (op == SLRI_OP_REM)
        *out = (struct range){0, a->most < c - 1 ? a->most : c - 1};
    else if (op == SLRI_OP_DIV)
        *out = (struct range){a->least / c, a->most / c};
    else
        *out = (struct range){a->least >> (c & 63), a->most >> (c & 63)};
    return op != SLRI_OP_SHR || c < 64;
}

// Nothing is known of a U64 above INT64_MAX, so that % of one is bounded by its divisor alone.
static bool unsigned_remainder(const struct slri_expr *expr, const struct range *b, struct range *out)
{
    if (expr->instr != SLRI_OP_REM || slri_kind_is_signed(expr->type->kind) || b->least != b->most || b->least <= 0)
        return false;
    *out = (struct range){0, b->least - 1};
    return true;
}

static bool masked(const struct range *a, bool has_a, const struct range *b, bool has_b, struct range *out)
{
    bool by_a = has_a && a->least >= 0, by_b = has_b && b->least >= 0;
    int64_t most = by_a ? a->most : INT64_MAX;
    *out = (struct range){0, by_b && b->most < most ? b->most : most};
    return by_a || by_b;
}

static bool of_binary(struct slri_body *body, const struct slri_expr *expr, struct range *out)
{
    struct range a = {0, 0}, b = {0, 0};
    enum slri_op op = expr->instr;
    if (op >= SLRI_OP_EQ && op <= SLRI_OP_GE) {
        *out = (struct range){0, 1};
        return true;
    }
    bool has_a = range_of(body, expr->left, &a), has_b = range_of(body, expr->right, &b);
    if (op == SLRI_OP_AND)
        return masked(&a, has_a, &b, has_b, out);
    if (has_b && unsigned_remainder(expr, &b, out))
        return true;
    if (!has_a || !has_b)
        return false;
    if (op == SLRI_OP_ADD || op == SLRI_OP_SUB || op == SLRI_OP_MUL)
        return corners(op, &a, &b, out);
    bool divides = op == SLRI_OP_DIV || op == SLRI_OP_REM || op == SLRI_OP_SHR;
    return divides && by_constant(op, &a, &b, out);
}

static bool of_cast(struct slri_body *body, const struct slri_expr *expr, struct range *out)
{
    return slri_type_is_integer(expr->left->type) && range_of(body, expr->left, out);
}

static bool of_choice(struct slri_body *body, const struct slri_expr *expr, struct range *out)
{
    struct range a, b;
    if (!range_of(body, expr->right, &a) || !range_of(body, expr->third, &b))
        return false;
    *out = (struct range){a.least < b.least ? a.least : b.least, a.most > b.most ? a.most : b.most};
    return true;
}

// A block has at most 1024 threads, or what __launch_bounds__ says, along x and y, and 64 along z.
static bool of_builtin(const struct slri_body *body, const struct slri_expr *expr, struct range *out)
{
    bool is_index = expr->index <= SLRI_BUILTIN_THREAD_Z;
    if (!is_index && (expr->index < SLRI_BUILTIN_BLOCK_DIM_X || expr->index > SLRI_BUILTIN_BLOCK_DIM_Z))
        return false;
    bool along_z = expr->index == SLRI_BUILTIN_THREAD_Z || expr->index == SLRI_BUILTIN_BLOCK_DIM_Z;
    int64_t most = along_z ? SLRI_BLOCK_MAX_Z : SLRI_BLOCK_MAX_THREADS;
    if (body->func->is_kernel && body->func->max_threads && body->func->max_threads < most)
        most = body->func->max_threads;
    *out = is_index ? (struct range){0, most - 1} : (struct range){1, most};
    return true;
}

static bool of_node(struct slri_body *body, const struct slri_expr *expr, struct range *out)
{
    const struct slri_variable *variable;
    int64_t value;
    switch (expr->op) {
    case SLRI_EXPR_CONST:
        value = slri_value_to_int(expr->type->kind, expr->bits);
        *out = (struct range){value, value};
        return expr->type->kind != SLRI_U64 || value >= 0;
    case SLRI_EXPR_VARIABLE:
        variable = slri_in_register(expr->symbol) ? slri_variable_of(body, expr->symbol) : NULL;
        if (!variable || !variable->is_ranged)
            return false;
        *out = (struct range){variable->least, variable->most};
        return true;
    case SLRI_EXPR_BUILTIN:
        return of_builtin(body, expr, out);
    case SLRI_EXPR_CAST:
        return of_cast(body, expr, out);
    case SLRI_EXPR_BINARY:
        return of_binary(body, expr, out);
    case SLRI_EXPR_COND:
        return of_choice(body, expr, out);
    default:
        return false;
    }
}

bool slri_range_of(struct slri_body *body, const struct slri_expr *expr, int64_t *least, int64_t *most)
{
    struct range range, all;
    enum slri_kind kind = expr->type->kind;
    if (!slri_type_is_integer(expr->type))
        return false;
    if (!of_node(body, expr, &range) || !fits(&range, kind)) {
        if (!kind_range(kind, &all))
            return false;
        range = all;
    }
    *least = range.least;
    *most = range.most;
    return true;
}

// ---- counted loops -------------------------------------------------------------------------------------------------

// The range that `for (i = start; ...` gives its counter first.
static bool start_of(struct slri_body *body, const struct slri_stmt *loop, struct range *out)
{
    const struct slri_stmt *last = loop->start;
    for (; last; last = last->next) {
        const struct slri_expr *value = NULL;
        if (last->kind == SLRI_STMT_DECLARE && last->symbol == loop->untouched)
            value = last->value;
        else if (last->kind == SLRI_STMT_EXPR && last->value->op == SLRI_EXPR_ASSIGN && !last->next &&
                 last->value->left->op == SLRI_EXPR_VARIABLE && last->value->left->symbol == loop->untouched)
            value = last->value->right;
        if (value)
            return range_of(body, value, out);
    }
    return false;
}

// By how much the step changes the counter: a constant, else 0.
static int64_t stride_of(const struct slri_expr *step)
{
    bool is_counting = step->op == SLRI_EXPR_UPDATE && step->right->op == SLRI_EXPR_CONST &&
                       (step->instr == SLRI_OP_ADD || step->instr == SLRI_OP_SUB) &&
                       step->work == step->left->type->kind;
    if (!is_counting || slri_kind_is_float(step->work))
        return 0;
    int64_t by = slri_value_to_int(step->work, step->right->bits);
    if (by == INT64_MIN)
        return 0;
    return step->instr == SLRI_OP_ADD ? by : -by;
}

// A bound that is itself computed without assigning anything.
static bool is_pure(const struct slri_expr *expr)
{
    if (!expr || expr->op == SLRI_EXPR_CONST || expr->op == SLRI_EXPR_VARIABLE || expr->op == SLRI_EXPR_BUILTIN)
        return true;
    bool is_plain = expr->op == SLRI_EXPR_BINARY || expr->op == SLRI_EXPR_CAST || expr->op == SLRI_EXPR_FIELD ||
                    expr->op == SLRI_EXPR_DEREF || expr->op == SLRI_EXPR_SUBSCRIPT;
    return is_plain && is_pure(expr->left) && is_pure(expr->right);
}

// The counter keeps its order under the conversion, or (to an unsigned kind) does where it is not negative.
static bool keeps_order(const struct slri_type *has, enum slri_kind wants)
{
    struct range all;
    if (!slri_kind_is_signed(wants))
        return slri_kind_bytes(wants) >= has->bytes;
    return kind_range(has->kind, &all) && fits(&all, wants);
}

// The condition's comparison, with the counter on its left; the counter may be converted to another kind on the way.
static bool bound_of(struct slri_body *body, const struct slri_stmt *loop, enum slri_op *op, struct range *out,
                     bool *is_unsigned)
{
    const struct slri_expr *test = loop->value;
    if (!test || test->op != SLRI_EXPR_BINARY || test->instr < SLRI_OP_EQ || test->instr > SLRI_OP_GE)
        return false;
    const struct slri_expr *left = test->left;
    enum slri_kind kind = left->type->kind;
    if (!slri_type_is_integer(left->type))
        return false;
    if (left->op == SLRI_EXPR_CAST)
        left = left->left;
    *is_unsigned = !slri_kind_is_signed(kind);
    *op = test->instr;
    return left->op == SLRI_EXPR_VARIABLE && left->symbol == loop->untouched && keeps_order(left->type, kind) &&
           is_pure(test->right) && range_of(body, test->right, out);
}

static bool counting_up(enum slri_op op, int64_t stride, const struct range *start, const struct range *bound,
                        struct range *out)
{
    if (op == SLRI_OP_NE && (stride != 1 || start->most > bound->least))
        return false;
    if (op != SLRI_OP_LT && op != SLRI_OP_LE && op != SLRI_OP_NE)
        return false;
    if (op != SLRI_OP_LE && bound->most == INT64_MIN)
        return false;
    *out = (struct range){start->least, op == SLRI_OP_LE ? bound->most : bound->most - 1};
    return true;
}

static bool counting_down(enum slri_op op, const struct range *start, const struct range *bound, struct range *out)
{
    if ((op != SLRI_OP_GT && op != SLRI_OP_GE) || bound->least == INT64_MAX)
        return false;
    *out = (struct range){op == SLRI_OP_GE ? bound->least : bound->least + 1, start->most};
    return true;
}

// For a counter that one step takes beyond its range still fits its type: it then never wraps round into it.
static bool stays(const struct range *range, int64_t stride, enum slri_kind kind)
{
    struct range next = *range;
    bool wraps = stride > 0 ? __builtin_add_overflow(range->most, stride, &next.most)
                            : __builtin_add_overflow(range->least, stride, &next.least);
    return !wraps && fits(&next, kind);
}

static const struct slri_expr *without_casts(const struct slri_expr *expr)
{
    while (expr->op == SLRI_EXPR_CAST && slri_type_is_integer(expr->type) && expr->type->bytes >= 4)
        expr = expr->left;
    return expr;
}

static const struct slri_variable *register_of(struct slri_body *body, const struct slri_expr *expr)
{
    expr = without_casts(expr);
    bool is_variable = expr->op == SLRI_EXPR_VARIABLE && slri_in_register(expr->symbol);
    return is_variable ? slri_variable_of(body, expr->symbol) : NULL;
}

// Whether the condition's bound is how many messages there are.
static bool counts_messages(struct slri_body *body, const struct slri_expr *test)
{
    const struct slri_variable *variable = register_of(body, test->right);
    return variable && variable->is_messages;
}

bool slri_is_of_messages(struct slri_body *body, const struct slri_expr *expr)
{
    const struct slri_variable *variable = register_of(body, expr);
    return variable && variable->is_of_messages;
}

void slri_range_loop(struct slri_body *body, const struct slri_stmt *loop)
{
    const struct slri_symbol *symbol = loop->untouched;
    struct range start, bound, range;
    enum slri_op op;
    bool is_unsigned;
    if (!symbol || loop->do_while || !slri_in_register(symbol) || !slri_type_is_integer(symbol->type))
        return;
    int64_t stride = stride_of(loop->step);
    if (!stride || !start_of(body, loop, &start) || !bound_of(body, loop, &op, &bound, &is_unsigned))
        return;
    bool is_known = stride > 0 ? counting_up(op, stride, &start, &bound, &range)
                               : !is_unsigned && counting_down(op, &start, &bound, &range);
    if (stride < 0 && is_unsigned && !slri_kind_is_signed(symbol->type->kind))
        is_known = counting_down(op, &start, &bound, &range);
    if (is_known && is_unsigned && start.least < 0)
        is_known = false;
    if (!is_known || range.least > range.most || !stays(&range, stride, symbol->type->kind))
        return;
    struct slri_variable *variable = slri_variable_of(body, symbol);
    variable->is_ranged = true;
    variable->least = range.least;
    variable->most = range.most;
    variable->is_of_messages = stride > 0 && op != SLRI_OP_LE && range.least >= 0 && counts_messages(body, loop->value);
}
