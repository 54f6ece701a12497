// SPDX-License-Identifier: Apache-2.0
// Places and pointers: roots, offsets, and the checks that keep every access inside its root.
#include "lang/lower/lower.h"

struct slri_address slri_address_of(struct slri_ref ref, uint64_t valid)
{
    return (struct slri_address){.ref = ref, .base = SLRI_NO_REG, .valid = valid};
}

static struct slri_address nowhere(void)
{
    return slri_address_of((struct slri_ref){.bytes = SLRI_UNBOUNDED, .name = "nothing"}, SLRI_UNBOUNDED);
}

bool slri_same_root(const struct slri_ref *a, const struct slri_ref *b)
{
    bool unknown = a->root.kind == SLRI_ROOT_NONE || b->root.kind == SLRI_ROOT_NONE; // reported already
    return unknown || (a->root.kind == b->root.kind && a->root.index == b->root.index);
}

static void check_roots(struct slri_body *body, const struct slri_ref *a, const struct slri_ref *b,
                        struct slri_where where, const char *what)
{
    if (!slri_same_root(a, b))
        SLRI_LOWER_ERROR(body, where, POINTER_ROOTS_DIFFER, "%s: one into %s, one into %s", what, a->name, b->name);
}

struct slri_address slri_make_temporary(struct slri_body *body, const struct slri_type *type)
{
    struct slri_ref ref = {.bytes = type->bytes, .name = "a temporary"};
    ref.root = (struct slri_root){SLRI_ROOT_LOCAL, slri_emit_local(body, NULL, type)};
    return slri_address_of(ref, type->bytes);
}

// ---- offsets and checks --------------------------------------------------------------------------------------------

slri_reg slri_lower_offset(struct slri_body *body, const struct slri_address *at, struct slri_where where)
{
    if (at->base == SLRI_NO_REG)
        return slri_emit_const(body, SLRI_I64, at->offset, where);
    if (at->offset == 0)
        return at->base;
    slri_reg more = slri_emit_const(body, SLRI_I64, at->offset, where);
    return slri_emit_binary(body, SLRI_OP_ADD, SLRI_I64, at->base, more, where);
}

// The address with its offset in one register, to be used more than once.
static struct slri_address settled(struct slri_body *body, struct slri_address at, struct slri_where where)
{
    at.base = slri_lower_offset(body, &at, where);
    at.offset = 0;
    return at;
}

static struct slri_address forward(struct slri_address at, uint64_t bytes)
{
    at.offset += bytes;
    at.valid = at.valid == SLRI_UNBOUNDED ? at.valid : at.valid > bytes ? at.valid - bytes : 0;
    return at;
}

// ---- the messages of a batch ---------------------------------------------------------------------------------------

slri_reg slri_emit_messages(struct slri_body *body, struct slri_where where)
{
    slri_reg count = slri_emit_reg(body, SLRI_U32, NULL);
    slri_emit_instr(body, SLRI_OP_MESSAGES, SLRI_U32, where)->dst = count;
    return count;
}

static slri_reg count_as_index(struct slri_body *body, struct slri_where where)
{
    return slri_emit_convert(body, slri_emit_messages(body, where), SLRI_U32, SLRI_I64, where);
}

// The first offset at which `bytes` do not lie in messages of `each`.
static slri_reg limit_of_messages(struct slri_body *body, uint64_t each, uint64_t bytes, struct slri_where where)
{
    slri_reg size = slri_emit_const(body, SLRI_I64, each, where), count = count_as_index(body, where);
    slri_reg all = slri_emit_binary(body, SLRI_OP_MUL, SLRI_I64, count, size, where);
    slri_reg less = slri_emit_const(body, SLRI_I64, bytes - 1, where);
    return slri_emit_binary(body, SLRI_OP_SUB, SLRI_I64, all, less, where);
}

void slri_emit_message_check(struct slri_body *body, const struct slri_expr *expr, slri_reg index)
{
    const bool is_constant = expr->op == SLRI_EXPR_CONST;
    if (is_constant && expr->bits >= SLRI_BATCH_MESSAGES)
        SLRI_LOWER_ERROR(body, expr->where, INDEX_OUTSIDE_EXTENT, "message %lld of at most %u", (long long)expr->bits,
                         SLRI_BATCH_MESSAGES);
    if (slri_is_of_messages(body, expr) || (is_constant && expr->bits == 0)) // there is one
        return;
    slri_reg count = count_as_index(body, expr->where);
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_INDEX, SLRI_I64, expr->where);
    instr->a = index;
    instr->b = count;
    instr->name = "the messages";
}

// ---- checks --------------------------------------------------------------------------------------------------------

void slri_emit_check(struct slri_body *body, struct slri_address *at, uint64_t bytes, struct slri_where where)
{
    const struct slri_ref *ref = &at->ref;
    if (ref->bytes == SLRI_UNBOUNDED || at->valid >= bytes)
        return;
    bool never = bytes > ref->bytes;
    bool outside = at->base == SLRI_NO_REG && !never && at->offset > ref->bytes - bytes;
    bool is_counted = slri_root_is_messages(ref->root);
    if (never || outside)
        SLRI_LOWER_ERROR(body, where, INDEX_OUTSIDE_EXTENT, "%llu bytes at offset %lld of %s, which has %llu",
                         (unsigned long long)bytes, (long long)at->offset, ref->name, (unsigned long long)ref->bytes);
    if (!never && (at->base != SLRI_NO_REG || is_counted)) {
        slri_reg limit =
            is_counted ? limit_of_messages(body, ref->bytes / SLRI_BATCH_MESSAGES, bytes, where) : SLRI_NO_REG;
        *at = settled(body, *at, where);
        struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_INDEX, SLRI_I64, where);
        instr->a = at->base;
        instr->b = limit;
        instr->imm = is_counted ? 0 : ref->bytes - bytes + 1;
        instr->name = ref->name;
        instr->indexed_bytes = (uint32_t)bytes;
    }
    at->valid = bytes;
}

slri_reg slri_emit_load(struct slri_body *body, struct slri_address at, enum slri_kind kind, struct slri_where where)
{
    slri_emit_check(body, &at, slri_kind_bytes(kind), where);
    slri_reg offset = slri_lower_offset(body, &at, where), reg = slri_emit_reg(body, kind, NULL);
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_LOAD, kind, where);
    instr->dst = reg;
    instr->a = offset;
    instr->root = at.ref.root;
    instr->is_volatile = at.is_volatile;
    return reg;
}

void slri_emit_store(struct slri_body *body, struct slri_address at, enum slri_kind kind, slri_reg value,
                     struct slri_where where)
{
    slri_emit_check(body, &at, slri_kind_bytes(kind), where);
    slri_reg offset = slri_lower_offset(body, &at, where);
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_STORE, kind, where);
    instr->a = offset;
    instr->b = value;
    instr->root = at.ref.root;
    instr->is_volatile = at.is_volatile;
}

// How far a root lies at multiples of an alignment: a message is aligned to 8 (abi/handler.h), and memory of a caller
// may be a part of one.
static uint32_t most_align(struct slri_root root)
{
    return root.kind == SLRI_ROOT_STATE || root.kind == SLRI_ROOT_MESSAGE || root.kind == SLRI_ROOT_PARAM ? 8 : 16;
}

void slri_emit_copy(struct slri_body *body, struct slri_address to, struct slri_address from, uint64_t bytes,
                    uint32_t align, struct slri_where where)
{
    uint32_t most = most_align(to.ref.root), other = most_align(from.ref.root);
    most = most < other ? most : other;
    slri_emit_check(body, &to, bytes, where);
    slri_emit_check(body, &from, bytes, where);
    slri_reg a = slri_lower_offset(body, &to, where), b = slri_lower_offset(body, &from, where);
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_COPY, SLRI_VOID, where);
    instr->a = a;
    instr->b = b;
    instr->root = to.ref.root;
    instr->root2 = from.ref.root;
    instr->imm = bytes;
    instr->align = (uint8_t)(align < most ? align : most);
}

// ---- elements ------------------------------------------------------------------------------------------------------

static slri_reg scaled(struct slri_body *body, slri_reg index, uint64_t bytes, struct slri_where where)
{
    if (bytes == 1)
        return index;
    slri_reg size = slri_emit_const(body, SLRI_I64, bytes, where);
    return slri_emit_binary(body, SLRI_OP_MUL, SLRI_I64, index, size, where);
}

// The address `index` elements on, of which nothing is known to lie inside the root.
static struct slri_address advanced(struct slri_body *body, struct slri_address at, const struct slri_expr *index,
                                    uint64_t bytes)
{
    if (index->op == SLRI_EXPR_CONST) {
        bool backward = (int64_t)index->bits < 0;
        at = forward(at, index->bits * bytes);
        at.valid = backward && at.valid != SLRI_UNBOUNDED ? 0 : at.valid;
        return at;
    }
    slri_reg step = scaled(body, slri_lower_scalar(body, index), bytes, index->where);
    at.base =
        at.base == SLRI_NO_REG ? step : slri_emit_binary(body, SLRI_OP_ADD, SLRI_I64, at.base, step, index->where);
    at.valid = 0;
    return at;
}

// One of the messages of a batch, whose number is checked as an array's index is.
static struct slri_address message_element(struct slri_body *body, struct slri_address at,
                                           const struct slri_expr *index, uint64_t bytes)
{
    if (index->op == SLRI_EXPR_CONST && index->bits == 0)
        return at;
    slri_reg reg = slri_lower_scalar(body, index);
    slri_emit_message_check(body, index, reg);
    at.base = scaled(body, reg, bytes, index->where);
    at.valid = bytes;
    return at;
}

// What `expr`, an array, is called.
static const char *array_name(struct slri_body *body, const struct slri_expr *expr)
{
    while (expr->op == SLRI_EXPR_SUBSCRIPT || expr->op == SLRI_EXPR_DECAY)
        expr = expr->left;
    if (expr->op == SLRI_EXPR_VARIABLE)
        return slri_unit_format(body->unit, "'%s'", expr->symbol->name);
    return expr->op == SLRI_EXPR_FIELD ? slri_unit_format(body->unit, "'%s'", expr->field->name) : "an array";
}

static void check_index(struct slri_body *body, slri_reg index, const struct slri_expr *expr, uint64_t extent,
                        const struct slri_expr *array)
{
    int64_t least, most;
    if (slri_range_of(body, expr, &least, &most) && least >= 0 && (uint64_t)most < extent)
        return;
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_INDEX, SLRI_I64, expr->where);
    instr->a = index;
    instr->imm = extent;
    instr->name = array_name(body, array);
}

// `past`: 1 where only the address is wanted, so that the one past the last element is allowed.
static struct slri_address element(struct slri_body *body, const struct slri_expr *expr, uint64_t past)
{
    const struct slri_type *array = expr->left->type, *of = array->of;
    const struct slri_expr *index = expr->right;
    struct slri_address at = slri_lower_place(body, expr->left);
    uint64_t extent = array->count + past;
    bool is_inside = at.valid >= array->bytes;
    if (index->op == SLRI_EXPR_CONST) {
        if (index->bits >= extent)
            SLRI_LOWER_ERROR(body, index->where, INDEX_OUTSIDE_EXTENT, "element %lld of %s", (long long)index->bits,
                             slri_unit_spell(body->unit, array));
        at = forward(at, index->bits * of->bytes);
    } else {
        slri_reg reg = slri_lower_scalar(body, index);
        check_index(body, reg, index, extent, expr->left);
        slri_reg step = scaled(body, reg, of->bytes, index->where);
        at.base =
            at.base == SLRI_NO_REG ? step : slri_emit_binary(body, SLRI_OP_ADD, SLRI_I64, at.base, step, index->where);
        at.valid = past ? 0 : of->bytes;
    }
    at.valid = is_inside || at.ref.bytes == SLRI_UNBOUNDED ? at.valid : 0;
    return at;
}

// ---- places --------------------------------------------------------------------------------------------------------

static struct slri_address place_of_shared(struct slri_body *body, const struct slri_symbol *symbol)
{
    struct slri_ref ref = {.root = {SLRI_ROOT_SHARED, symbol->index}, .bytes = symbol->type->bytes};
    ref.name = slri_unit_format(body->unit, "the shared '%s'", symbol->name);
    if (symbol->is_dynamic) {
        ref.root = (struct slri_root){SLRI_ROOT_DYNAMIC, 0};
        ref.bytes = SLRI_UNBOUNDED;
    }
    return slri_address_of(ref, ref.bytes);
}

static struct slri_address place_of_global(struct slri_body *body, const struct slri_symbol *symbol)
{
    struct slri_ref ref = {.root = {SLRI_ROOT_GLOBAL, symbol->index}, .bytes = symbol->type->bytes};
    ref.name = slri_unit_format(body->unit, "the variable '%s'", symbol->name);
    return slri_address_of(ref, ref.bytes);
}

static struct slri_address place_of_symbol(struct slri_body *body, const struct slri_symbol *symbol)
{
    if (symbol->kind == SLRI_SYMBOL_VARIABLE)
        return slri_variable_of(body, symbol)->at;
    if (symbol->kind == SLRI_SYMBOL_SHARED)
        return place_of_shared(body, symbol);
    if (symbol->kind == SLRI_SYMBOL_GLOBAL)
        return place_of_global(body, symbol);
    struct slri_ref ref = {.root = {SLRI_ROOT_CONST, symbol->index}, .bytes = symbol->type->bytes};
    ref.name = slri_unit_format(body->unit, "the table '%s'", symbol->name);
    return slri_address_of(ref, ref.bytes);
}

static struct slri_address place_of_field(struct slri_body *body, const struct slri_expr *expr)
{
    struct slri_address at = slri_lower_place(body, expr->left);
    at.offset += expr->field->offset;
    if (at.valid != SLRI_UNBOUNDED)
        at.valid = at.valid >= expr->left->type->bytes ? expr->type->bytes : 0;
    return at;
}

static struct slri_address place_of_choice(struct slri_body *body, const struct slri_expr *expr)
{
    struct slri_address made = slri_make_temporary(body, expr->type);
    slri_reg test = slri_lower_scalar(body, expr->left);
    struct slri_block *outer = body->block, *yes = slri_emit_block(body), *no = slri_emit_block(body);
    body->block = yes;
    slri_emit_copy(body, made, slri_lower_place(body, expr->right), expr->type->bytes, expr->type->align, expr->where);
    body->block = no;
    slri_emit_copy(body, made, slri_lower_place(body, expr->third), expr->type->bytes, expr->type->align, expr->where);
    body->block = outer;
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_IF, SLRI_VOID, expr->where);
    instr->a = test;
    instr->body[0] = yes;
    instr->body[1] = no;
    return made;
}

static struct slri_address place_of_value(struct slri_body *body, const struct slri_expr *expr)
{
    struct slri_address at = nowhere(), from;
    switch (expr->op) {
    case SLRI_EXPR_CALL:
        slri_lower_call(body, expr, &at);
        return at;
    case SLRI_EXPR_COND:
        return place_of_choice(body, expr);
    case SLRI_EXPR_COMMA:
        slri_lower_effect(body, expr->left);
        return slri_lower_place(body, expr->right);
    case SLRI_EXPR_ASSIGN:
        from = slri_lower_place(body, expr->right);
        at = slri_lower_place(body, expr->left);
        slri_emit_copy(body, at, from, expr->type->bytes, expr->type->align, expr->where);
        return at;
    case SLRI_EXPR_LITERAL:
        at = slri_make_temporary(body, expr->type);
        slri_lower_init(body, at, expr->init, expr->where);
        return at;
    default:
        return at;
    }
}

// Whether that is where the messages of a batch begin, each of so many bytes.
static bool is_first_message(const struct slri_address *at, uint64_t bytes)
{
    return slri_root_is_messages(at->ref.root) && at->base == SLRI_NO_REG && at->offset == 0 &&
           at->ref.bytes == bytes * SLRI_BATCH_MESSAGES;
}

static struct slri_address place_of(struct slri_body *body, const struct slri_expr *expr, uint64_t past)
{
    struct slri_address at;
    switch (expr->op) {
    case SLRI_EXPR_VARIABLE:
        return place_of_symbol(body, expr->symbol);
    case SLRI_EXPR_DEREF:
        return slri_lower_pointer(body, expr->left);
    case SLRI_EXPR_FIELD:
        return place_of_field(body, expr);
    case SLRI_EXPR_SUBSCRIPT:
        if (expr->left->type->kind == SLRI_ARRAY)
            return element(body, expr, past);
        at = slri_lower_pointer(body, expr->left);
        if ((past == 0 || slri_is_of_messages(body, expr->right)) && is_first_message(&at, expr->type->bytes))
            return message_element(body, at, expr->right, expr->type->bytes);
        return advanced(body, at, expr->right, expr->type->bytes);
    default:
        return place_of_value(body, expr);
    }
}

struct slri_address slri_lower_place(struct slri_body *body, const struct slri_expr *expr)
{
    slri_lower_enter(body, expr->where);
    struct slri_address at = place_of(body, expr, 0);
    at.is_volatile = expr->is_volatile; // whatever it lies in
    slri_lower_leave(body);
    return at;
}

// ---- pointers ------------------------------------------------------------------------------------------------------

static struct slri_address pointer_in(struct slri_body *body, const struct slri_expr *expr)
{
    const struct slri_variable *variable = slri_variable_of(body, expr->symbol);
    if (variable->has_root)
        return variable->at;
    SLRI_LOWER_ERROR(body, expr->where, POINTER_ROOT_UNKNOWN, "'%s' is used before it points into anything",
                     expr->symbol->name);
    return nowhere();
}

static struct slri_address pointer_choice(struct slri_body *body, const struct slri_expr *expr)
{
    slri_reg test = slri_lower_scalar(body, expr->left), reg = slri_emit_reg(body, SLRI_I64, NULL);
    struct slri_block *outer = body->block, *blocks[2] = {slri_emit_block(body), slri_emit_block(body)};
    struct slri_address at[2];
    for (int i = 0; i < 2; i++) {
        body->block = blocks[i];
        at[i] = slri_lower_pointer(body, i == 0 ? expr->right : expr->third);
        slri_emit_move(body, reg, slri_lower_offset(body, &at[i], expr->where), expr->where);
    }
    body->block = outer;
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_IF, SLRI_VOID, expr->where);
    instr->a = test;
    instr->body[0] = blocks[0];
    instr->body[1] = blocks[1];
    check_roots(body, &at[0].ref, &at[1].ref, expr->where, "'?:' chooses between two pointers");
    at[0].valid = at[0].valid < at[1].valid ? at[0].valid : at[1].valid;
    at[0].base = reg;
    at[0].offset = 0;
    return at[0];
}

// A variable that is set once keeps what is known of its value; one at a constant place needs no register.
void slri_lower_point(struct slri_body *body, const struct slri_symbol *symbol, struct slri_address at,
                      struct slri_where where)
{
    struct slri_variable *variable = slri_variable_of(body, symbol);
    bool is_first = !variable->has_root || variable->at.ref.root.kind == SLRI_ROOT_NONE;
    bool is_constant = symbol->assignments == 0 && at.base == SLRI_NO_REG;
    if (!is_first)
        check_roots(body, &variable->at.ref, &at.ref, where,
                    slri_unit_format(body->unit, "'%s' is given two pointers", symbol->name));
    if (!is_constant)
        slri_emit_move(body, variable->reg, slri_lower_offset(body, &at, where), where);
    if (!is_first)
        return;
    variable->has_root = true;
    variable->at = slri_address_of(at.ref, symbol->assignments ? 0 : at.valid);
    variable->at.base = is_constant ? SLRI_NO_REG : variable->reg;
    variable->at.offset = is_constant ? at.offset : 0;
}

static struct slri_address assigned(struct slri_body *body, const struct slri_expr *expr)
{
    struct slri_address at = slri_lower_pointer(body, expr->right);
    slri_lower_point(body, expr->left->symbol, at, expr->where);
    return slri_variable_of(body, expr->left->symbol)->at;
}

struct slri_address slri_lower_update_pointer(struct slri_body *body, const struct slri_expr *expr)
{
    struct slri_address at = pointer_in(body, expr->left);
    slri_reg reg = slri_variable_of(body, expr->left->symbol)->reg, old = reg;
    if (at.ref.root.kind == SLRI_ROOT_NONE)
        return at;
    if (expr->post) {
        old = slri_emit_reg(body, SLRI_I64, NULL);
        slri_emit_move(body, old, reg, expr->where);
    }
    struct slri_address next = advanced(body, at, expr->right, expr->type->of->bytes);
    slri_emit_move(body, reg, slri_lower_offset(body, &next, expr->where), expr->where);
    at.base = old;
    at.offset = 0;
    return at;
}

static struct slri_address pointer_of(struct slri_body *body, const struct slri_expr *expr)
{
    struct slri_address at = nowhere();
    switch (expr->op) {
    case SLRI_EXPR_VARIABLE:
        return pointer_in(body, expr);
    case SLRI_EXPR_DECAY:
        return slri_lower_place(body, expr->left);
    case SLRI_EXPR_ADDRESS:
        return place_of(body, expr->left, 1);
    case SLRI_EXPR_AT:
        return slri_lower_at(body, expr);
    case SLRI_EXPR_CAST:
        return slri_lower_pointer(body, expr->left);
    case SLRI_EXPR_POINTER_ADD:
        return advanced(body, slri_lower_pointer(body, expr->left), expr->right, expr->type->of->bytes);
    case SLRI_EXPR_COND:
        return pointer_choice(body, expr);
    case SLRI_EXPR_COMMA:
        slri_lower_effect(body, expr->left);
        return slri_lower_pointer(body, expr->right);
    case SLRI_EXPR_ASSIGN:
        return assigned(body, expr);
    case SLRI_EXPR_UPDATE:
        return slri_lower_update_pointer(body, expr);
    case SLRI_EXPR_CALL:
        slri_lower_call(body, expr, &at);
        return at;
    default:
        return at;
    }
}

struct slri_address slri_lower_pointer(struct slri_body *body, const struct slri_expr *expr)
{
    slri_lower_enter(body, expr->where);
    struct slri_address at = pointer_of(body, expr);
    slri_lower_leave(body);
    return at;
}

// ---- initialisers --------------------------------------------------------------------------------------------------

static bool covers_all(const struct slri_init *init)
{
    uint64_t end = 0;
    for (const struct slri_init_item *item = init->first; item; item = item->next) {
        if (item->offset != end)
            return false;
        end += item->value->type->bytes;
    }
    return end == init->type->bytes;
}

static void emit_zero(struct slri_body *body, struct slri_address at, uint64_t bytes, bool is_unset,
                      struct slri_where where)
{
    slri_reg offset = slri_lower_offset(body, &at, where);
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_ZERO, SLRI_VOID, where);
    instr->a = offset;
    instr->root = at.ref.root;
    instr->imm = bytes;
    instr->is_unset = is_unset;
}

// `init` NULL: all zero, so that every executor starts from the same.
void slri_lower_init(struct slri_body *body, struct slri_address at, const struct slri_init *init,
                     struct slri_where where)
{
    if (!init || !covers_all(init))
        emit_zero(body, at, at.ref.bytes, !init, where);
    for (const struct slri_init_item *item = init ? init->first : NULL; item; item = item->next) {
        const struct slri_type *type = item->value->type;
        if (type->kind == SLRI_STRUCT)
            slri_emit_copy(body, forward(at, item->offset), slri_lower_place(body, item->value), type->bytes,
                           type->align, where);
        else
            slri_emit_store(body, forward(at, item->offset), type->kind, slri_lower_scalar(body, item->value),
                            item->value->where);
    }
}
