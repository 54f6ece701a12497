// SPDX-License-Identifier: Apache-2.0
// Initialisers: braces, elided braces and designators become a flat list of (offset, value).
#include "lang/check/check.h"

// What is being filled. `pending` is an expression that was read before it was known whether it is a whole struct or,
// with braces elided, the first of its members.
struct filler {
    struct slri_unit *unit;
    struct slri_init *init;
    struct slri_expr *pending;
};

static void fill(struct filler *filler, const struct slri_type *type, uint64_t offset);

static void add_item(struct filler *filler, uint64_t offset, struct slri_expr *value)
{
    struct slri_init_item *item = slri_unit_take(filler->unit, sizeof *item);
    *item = (struct slri_init_item){.offset = offset, .value = value};
    *filler->init->last = item;
    filler->init->last = &item->next;
    filler->init->is_constant &= value->op == SLRI_EXPR_CONST;
}

static void fill_scalar(struct filler *filler, const struct slri_type *type, uint64_t offset)
{
    struct slri_unit *unit = filler->unit;
    struct slri_expr *value = filler->pending;
    filler->pending = NULL;
    bool braced = !value && slri_accept(unit, "{");
    if (!value)
        value = slri_parse_assignment(unit);
    if (braced) {
        slri_accept(unit, ",");
        slri_expect(unit, "}", "after the value");
    }
    value = slri_convert(unit, value, type, "the value");
    if (value->op != SLRI_EXPR_ERROR)
        add_item(filler, offset, value);
}

static void fill_string(struct filler *filler, const struct slri_type *type, uint64_t offset)
{
    const struct slri_token *token = slri_advance(filler->unit);
    if (type->count && token->length > type->count)
        SLRI_ERROR(filler->unit, token->where, BAD_INITIALIZER, "%u characters for an array of %llu", token->length,
                   (unsigned long long)type->count);
    for (uint32_t i = 0; i < token->length && (!type->count || i < type->count); i++) {
        uint64_t bits = slri_value_of_int(SLRI_I32, (signed char)token->text[i]);
        struct slri_expr *value = slri_make_const(filler->unit, SLRI_I32, bits, token->where);
        add_item(filler, offset + i, slri_to_kind(filler->unit, value, type->of->kind));
    }
}

static bool is_string_for(const struct slri_token *token, const struct slri_type *type)
{
    return token->kind == SLRI_TOKEN_STRING && type->kind == SLRI_ARRAY &&
           (type->of->kind == SLRI_I8 || type->of->kind == SLRI_U8);
}

// A string, in braces or not, where an array of char is to be filled; its length with the 0 that ends it, else 0.
static uint64_t try_string(struct filler *filler, const struct slri_type *type, uint64_t offset)
{
    struct slri_unit *unit = filler->unit;
    bool braced = slri_is(unit, "{");
    const struct slri_token *token = slri_peek_at(unit, braced ? 1 : 0);
    if (filler->pending || !is_string_for(token, type))
        return 0;
    if (braced)
        slri_advance(unit);
    fill_string(filler, type, offset);
    if (braced)
        slri_expect(unit, "}", "after the string");
    return (uint64_t)token->length + 1;
}

// ---- aggregates ----------------------------------------------------------------------------------------------------

static uint64_t members(const struct slri_type *type)
{
    if (type->kind == SLRI_STRUCT)
        return type->fields;
    return type->count ? type->count : SLRI_TYPE_MAX_BYTES / type->of->bytes;
}

static void fill_member(struct filler *filler, const struct slri_type *type, uint64_t offset, uint64_t index)
{
    if (type->kind == SLRI_STRUCT)
        fill(filler, type->field[index].type, offset + type->field[index].offset);
    else
        fill(filler, type->of, offset + index * type->of->bytes);
}

static bool at_designator(const struct slri_unit *unit)
{
    return slri_is(unit, ".") || slri_is(unit, "[");
}

// One step of a designator: the index of the member or element.
static bool parse_designator(struct slri_unit *unit, const struct slri_type *type, uint64_t *index)
{
    struct slri_where where = slri_peek(unit)->where;
    if (slri_accept(unit, "[")) {
        int64_t value = 0;
        bool is_known = slri_parse_constant(unit, "a designator", &value);
        slri_expect(unit, "]", "after the designator");
        bool fits = type->kind == SLRI_ARRAY && value >= 0 && (uint64_t)value < members(type);
        if (is_known && !fits)
            SLRI_ERROR(unit, where, BAD_INITIALIZER, "no element %lld in %s", (long long)value,
                       slri_unit_spell(unit, type));
        *index = (uint64_t)value;
        return is_known && fits;
    }
    slri_advance(unit);
    if (!slri_is_name(unit)) {
        slri_unexpected(unit, "a member's name");
        return false;
    }
    const struct slri_field *field = slri_find_field(unit, type, slri_advance(unit));
    *index = field ? (uint64_t)(field - type->field) : 0;
    return field != NULL;
}

// After a designator has named a member inside `type`, the values that follow go on inside `type`, as C has it.
static void fill_designated(struct filler *filler, const struct slri_type *type, uint64_t offset, uint64_t *index)
{
    struct slri_unit *unit = filler->unit;
    if (!parse_designator(unit, type, index)) {
        unit->panic = true;
        return;
    }
    const struct slri_type *inner = type->kind == SLRI_STRUCT ? type->field[*index].type : type->of;
    uint64_t inner_offset =
        offset + (type->kind == SLRI_STRUCT ? type->field[*index].offset : *index * type->of->bytes);
    if (!at_designator(unit)) {
        slri_expect(unit, "=", "after the designator");
        if (!unit->panic)
            fill(filler, inner, inner_offset);
        return;
    }
    uint64_t at = 0;
    if (slri_enter(unit))
        fill_designated(filler, inner, inner_offset, &at);
    slri_leave(unit);
    while (!unit->panic && ++at < members(inner) && slri_is(unit, ",") && !slri_token_is(slri_peek_at(unit, 1), "}") &&
           !slri_token_is(slri_peek_at(unit, 1), ".") && !slri_token_is(slri_peek_at(unit, 1), "[")) {
        slri_advance(unit);
        fill_member(filler, inner, inner_offset, at);
    }
}

// From after { to past }. Returns the number of elements that an open array gets.
static uint64_t fill_braced(struct filler *filler, const struct slri_type *type, uint64_t offset)
{
    struct slri_unit *unit = filler->unit;
    uint64_t index = 0, most = 0;
    while (!unit->panic && !slri_is(unit, "}")) {
        if (at_designator(unit)) {
            fill_designated(filler, type, offset, &index);
        } else if (index < members(type)) {
            fill_member(filler, type, offset, index);
        } else {
            SLRI_ERROR(unit, slri_peek(unit)->where, BAD_INITIALIZER, "more values than %s holds",
                       slri_unit_spell(unit, type));
            unit->panic = true;
        }
        most = ++index > most ? index : most;
        if (unit->panic || !slri_accept(unit, ","))
            break;
    }
    if (!slri_expect(unit, "}", "at the end of the initialiser"))
        slri_skip_braces(unit);
    return most;
}

// Braces elided: takes as many values as the aggregate has members.
static void fill_elided(struct filler *filler, const struct slri_type *type, uint64_t offset)
{
    struct slri_unit *unit = filler->unit;
    for (uint64_t index = 0; index < members(type) && !unit->panic; index++) {
        bool more =
            index == 0 || (slri_is(unit, ",") && !slri_token_is(slri_peek_at(unit, 1), "}") &&
                           !slri_token_is(slri_peek_at(unit, 1), ".") && !slri_token_is(slri_peek_at(unit, 1), "["));
        if (!more)
            return;
        if (index)
            slri_advance(unit);
        fill_member(filler, type, offset, index);
    }
}

static void add_whole(struct filler *filler, const struct slri_type *type, uint64_t offset)
{
    struct slri_expr *value = slri_convert(filler->unit, filler->pending, type, "the value");
    if (value->op != SLRI_EXPR_ERROR)
        add_item(filler, offset, value);
}

static void fill_aggregate(struct filler *filler, const struct slri_type *type, uint64_t offset)
{
    struct slri_unit *unit = filler->unit;
    if (try_string(filler, type, offset))
        return;
    if (!filler->pending && slri_accept(unit, "{")) {
        fill_braced(filler, type, offset);
    } else {
        if (!filler->pending)
            filler->pending = slri_parse_assignment(unit);
        bool is_whole = filler->pending->type == type && type->kind == SLRI_STRUCT;
        if (filler->pending->op == SLRI_EXPR_ERROR)
            filler->pending = NULL;
        else if (is_whole)
            add_whole(filler, type, offset);
        else
            fill_elided(filler, type, offset);
        if (is_whole)
            filler->pending = NULL;
    }
}

static void fill(struct filler *filler, const struct slri_type *type, uint64_t offset)
{
    struct slri_unit *unit = filler->unit;
    if (slri_enter(unit)) {
        if (type->kind == SLRI_STRUCT || type->kind == SLRI_ARRAY)
            fill_aggregate(filler, type, offset);
        else
            fill_scalar(filler, type, offset);
    }
    slri_leave(unit);
}

// ---- whole ---------------------------------------------------------------------------------------------------------

// `T t[] = ...`: the initialiser gives the length.
static void fill_open(struct filler *filler, const struct slri_type *type)
{
    struct slri_unit *unit = filler->unit;
    struct slri_where where = slri_peek(unit)->where;
    uint64_t count = try_string(filler, type, 0);
    if (count == 0 && slri_expect(unit, "{", "to begin the array's values"))
        count = fill_braced(filler, type, 0);
    if (count == 0 && !unit->panic)
        SLRI_ERROR(unit, where, BAD_INITIALIZER, "an array without a size and without values");
    filler->init->type = slri_type_array(unit->types, type->of, count ? count : 1);
    if (!filler->init->type)
        slri_unit_give_up(unit, SLR_NO_MEMORY);
}

struct slri_init *slri_parse_init(struct slri_unit *unit, const struct slri_type *type)
{
    struct slri_init *init = slri_unit_take(unit, sizeof *init);
    init->type = type;
    init->last = &init->first;
    init->is_constant = true;
    struct filler filler = {.unit = unit, .init = init};
    if (type->kind == SLRI_ARRAY && type->count == 0)
        fill_open(&filler, type);
    else if (type->kind == SLRI_ARRAY && !slri_is(unit, "{") && !is_string_for(slri_peek(unit), type))
        slri_unexpected(unit, "the array's values in {}");
    else
        fill(&filler, type, 0);
    return init;
}
