// SPDX-License-Identifier: Apache-2.0
// What the language has built in for the threads of a block: their place, barriers, fences, warps, vectors, printf.
#include "abi/handler.h"
#include "lang/check/check.h"
#include "ir/format.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

// ---- places --------------------------------------------------------------------------------------------------------

static const struct {
    const char *name;
    enum slri_builtin x;
} places[] = {
    {"threadIdx", SLRI_BUILTIN_THREAD_X},
    {"blockIdx", SLRI_BUILTIN_BLOCK_X},
    {"blockDim", SLRI_BUILTIN_BLOCK_DIM_X},
    {"gridDim", SLRI_BUILTIN_GRID_DIM_X},
};

bool slri_names_place(const struct slri_token *name)
{
    for (size_t i = 0; i < COUNT(places); i++)
        if (slri_token_is(name, places[i].name))
            return true;
    return false;
}

struct slri_expr *slri_make_place(struct slri_unit *unit, const struct slri_token *name,
                                  const struct slri_token *member)
{
    uint32_t builtin = 0;
    for (size_t i = 0; i < COUNT(places); i++)
        if (slri_token_is(name, places[i].name))
            builtin = places[i].x;
    char letter = member->text[0];
    if (letter < 'x' || letter > 'z' || member->text[1]) {
        SLRI_ERROR(unit, member->where, UNKNOWN_BUILTIN_MEMBER, "'%s' has no member '%s'", name->text, member->text);
        return slri_make_error(unit, name->where);
    }
    struct slri_expr *made =
        slri_make(unit, SLRI_EXPR_BUILTIN, slri_type_of(unit->types, SLRI_U32), name->where, NULL, NULL);
    made->index = builtin + (uint32_t)(letter - 'x');
    return made;
}

// ---- vectors -------------------------------------------------------------------------------------------------------

static struct slri_expr *make_literal(struct slri_unit *unit, const struct slri_type *type, struct slri_where where,
                                      struct slri_expr *const *member)
{
    struct slri_init *init = slri_unit_take(unit, sizeof *init);
    *init = (struct slri_init){.type = type, .last = &init->first};
    for (uint32_t i = 0; i < type->fields; i++) {
        struct slri_init_item *item = slri_unit_take(unit, sizeof *item);
        *item = (struct slri_init_item){.offset = type->field[i].offset, .value = member[i]};
        *init->last = item;
        init->last = &item->next;
    }
    struct slri_expr *made = slri_make(unit, SLRI_EXPR_LITERAL, type, where, NULL, NULL);
    made->init = init;
    return made;
}

struct slri_expr *slri_make_whole_place(struct slri_unit *unit, const struct slri_token *name)
{
    static const char *const letters[] = {"x", "y", "z"};
    bool is_extent = slri_token_is(name, "blockDim") || slri_token_is(name, "gridDim");
    const struct slri_type *type = slri_type_vector(unit->types, is_extent ? "dim3" : "uint3");
    if (!type)
        slri_unit_give_up(unit, SLR_NO_MEMORY);
    struct slri_expr *member[3];
    for (int i = 0; i < 3; i++) {
        struct slri_token letter = {.kind = SLRI_TOKEN_NAME, .text = letters[i], .where = name->where};
        member[i] = slri_make_place(unit, name, &letter);
    }
    return make_literal(unit, type, name->where, member);
}

struct slri_expr *slri_make_vector(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg,
                                   uint32_t args)
{
    const struct slri_type *type =
        strncmp(name->text, "make_", 5) == 0 ? slri_type_vector(unit->types, name->text + 5) : NULL;
    if (!type)
        return NULL;
    if (!slri_check_argument_count(unit, name, args, type->fields))
        return slri_make_error(unit, name->where);
    for (uint32_t i = 0; i < args; i++) {
        const char *what = slri_unit_format(unit, "argument %u of '%s'", i + 1, name->text);
        arg[i] = slri_convert(unit, arg[i], type->field[i].type, what);
        if (arg[i]->op == SLRI_EXPR_ERROR)
            return arg[i];
    }
    return make_literal(unit, type, name->where, arg);
}

// ---- barriers and fences -------------------------------------------------------------------------------------------

static const struct barrier {
    const char *name;
    enum slri_barrier kind;
} barriers[] = {
    {"__syncthreads", SLRI_BARRIER_SYNC},
    {"__syncthreads_count", SLRI_BARRIER_COUNT},
    {"__syncthreads_and", SLRI_BARRIER_AND},
    {"__syncthreads_or", SLRI_BARRIER_OR},
};

static struct slri_expr *make_barrier(struct slri_unit *unit, const struct barrier *barrier,
                                      const struct slri_token *name, struct slri_expr **arg, uint32_t args)
{
    bool combines = barrier->kind != SLRI_BARRIER_SYNC;
    if (!slri_check_argument_count(unit, name, args, combines ? 1 : 0))
        return slri_make_error(unit, name->where);
    struct slri_expr *value = combines ? slri_truth(unit, arg[0]) : NULL;
    if (value && value->op == SLRI_EXPR_ERROR)
        return value;
    const struct slri_type *type = slri_type_of(unit->types, combines ? SLRI_I32 : SLRI_VOID);
    struct slri_expr *made = slri_make(unit, SLRI_EXPR_BARRIER, type, name->where, value, NULL);
    made->index = barrier->kind;
    return made;
}

static const struct {
    const char *name;
    enum slri_scope scope;
} fences[] = {
    {"__threadfence_block", SLRI_SCOPE_BLOCK},
    {"__threadfence", SLRI_SCOPE_DEVICE},
    {"__threadfence_system", SLRI_SCOPE_SYSTEM},
};

static struct slri_expr *make_block_fence(struct slri_unit *unit, enum slri_scope scope, const struct slri_token *name,
                                          uint32_t args)
{
    if (!slri_check_argument_count(unit, name, args, 0))
        return slri_make_error(unit, name->where);
    struct slri_expr *made =
        slri_make(unit, SLRI_EXPR_FENCE, slri_type_of(unit->types, SLRI_VOID), name->where, NULL, NULL);
    made->order = SLRI_SEQ_CST; // as CUDA defines it
    made->scope = scope;
    return made;
}

// ---- warps ---------------------------------------------------------------------------------------------------------

// What may be left out, as C++'s default arguments have it.
static uint32_t add_defaults(struct slri_unit *unit, enum slri_warp warp, const struct slri_token *name,
                             struct slri_expr **arg, uint32_t args, struct slri_expr **out)
{
    bool shuffles = warp >= SLRI_WARP_SHUFFLE && warp <= SLRI_WARP_SHUFFLE_XOR;
    for (uint32_t i = 0; i < args; i++)
        out[i] = arg[i];
    if (warp == SLRI_WARP_SYNC && args == 0)
        out[args++] = slri_make_const(unit, SLRI_U32, UINT32_MAX, name->where);
    if (shuffles && args == 3)
        out[args++] = slri_make_const(unit, SLRI_I32, SLRI_WARP_THREADS, name->where);
    return args;
}

static bool warp_takes(enum slri_warp warp, const struct slri_type *type)
{
    bool reduces = warp >= SLRI_WARP_REDUCE_ADD && warp <= SLRI_WARP_REDUCE_XOR;
    if (reduces)
        return type->kind == SLRI_I32 || type->kind == SLRI_U32;
    return slri_type_is_scalar(type);
}

static enum slri_kind kind_of_letter(char letter, enum slri_kind value)
{
    return letter == 'U'   ? SLRI_U32
           : letter == 'I' ? SLRI_I32
           : letter == 'F' ? SLRI_F32
           : letter == 'K' ? value
                           : SLRI_VOID;
}

// The value of a vote is a condition; all others are numbers.
static bool convert_warp_arguments(struct slri_unit *unit, enum slri_warp warp, const struct slri_token *name,
                                   struct slri_expr **arg, uint32_t args, enum slri_kind value)
{
    bool votes = warp >= SLRI_WARP_BALLOT && warp <= SLRI_WARP_ANY, is_right = true;
    for (uint32_t i = 0; i < args; i++) {
        const char *what = slri_unit_format(unit, "argument %u of '%s'", i + 1, name->text);
        enum slri_kind kind = kind_of_letter(slri_warp_functions[warp].args[i], value);
        arg[i] = votes && i == 1 ? slri_to_kind(unit, slri_truth(unit, arg[i]), SLRI_I32)
                                 : slri_convert(unit, arg[i], slri_type_of(unit->types, kind), what);
        is_right &= arg[i]->op != SLRI_EXPR_ERROR;
    }
    return is_right;
}

static struct slri_expr *make_warp(struct slri_unit *unit, enum slri_warp warp, const struct slri_token *name,
                                   struct slri_expr **given, uint32_t args)
{
    const struct slri_warp_function *function = &slri_warp_functions[warp];
    struct slri_expr **arg = slri_unit_take(unit, (args + 2) * sizeof(struct slri_expr *));
    args = add_defaults(unit, warp, name, given, args, arg);
    if (!slri_check_argument_count(unit, name, args, (uint32_t)strlen(function->args)))
        return slri_make_error(unit, name->where);
    enum slri_kind value = SLRI_VOID, arg_kind = SLRI_VOID;
    if (strchr(function->args, 'K')) {
        arg[1] = slri_rvalue(unit, arg[1]);
        if (arg[1]->op == SLRI_EXPR_ERROR)
            return arg[1];
        arg_kind = arg[1]->type->kind;
        value = slri_kind_in_register(arg_kind);
        if (!warp_takes(warp, slri_type_of(unit->types, slri_type_is_scalar(arg[1]->type) ? value : SLRI_VOID))) {
            SLRI_ERROR(unit, arg[1]->where, WRONG_TYPE, "'%s' of %s", name->text, slri_unit_spell(unit, arg[1]->type));
            return slri_make_error(unit, name->where);
        }
    }
    if (!convert_warp_arguments(unit, warp, name, arg, args, value))
        return slri_make_error(unit, name->where);
    enum slri_kind result = kind_of_letter(function->result, value);
    if (function->result == 'K' && slri_kind_is_half(arg_kind))
        result = arg_kind; // a half stays one
    const struct slri_type *type = slri_type_of(unit->types, result);
    struct slri_expr *made = slri_make(unit, SLRI_EXPR_WARP, type, name->where, NULL, NULL);
    made->index = warp;
    made->work = value;
    made->arg = arg;
    made->args = args;
    return made;
}

// ---- printf, assert, __trap ----------------------------------------------------------------------------------------

static void make_format_room(struct slri_unit *unit, uint32_t formats)
{
    uint32_t room = unit->format_room ? unit->format_room : 8;
    while (room < formats)
        room *= 2;
    if (room == unit->format_room)
        return;
    struct slri_format *larger = slri_unit_take(unit, room * sizeof *larger);
    if (unit->formats)
        memcpy(larger, unit->format, unit->formats * sizeof *larger);
    unit->format = larger;
    unit->format_room = room;
}

static uint32_t add_format(struct slri_unit *unit, const char *text)
{
    for (uint32_t i = 0; i < unit->formats; i++)
        if (unit->format[i].text == text) // interned
            return i;
    make_format_room(unit, unit->formats + 1);
    unit->format[unit->formats] = (struct slri_format){text};
    return unit->formats++;
}

// Numbers in front of it that emitted text does not name have no text.
static uint32_t put_format(struct slri_unit *unit, const char *text, uint32_t number)
{
    make_format_room(unit, number + 1);
    for (; unit->formats <= number; unit->formats++)
        unit->format[unit->formats] = (struct slri_format){""};
    unit->format[number] = (struct slri_format){text};
    return number;
}

// An argument as its conversion takes it: numbers keep their value, and only integers become integers.
static struct slri_expr *convert_printed(struct slri_unit *unit, const struct slri_conversion *conversion,
                                         struct slri_expr *value)
{
    value = slri_rvalue(unit, value);
    if (value->op == SLRI_EXPR_ERROR)
        return value;
    bool fits =
        slri_type_is_scalar(value->type) && (conversion->kind == SLRI_F64) == slri_kind_is_float(value->type->kind);
    if (fits)
        return slri_to_kind(unit, value, conversion->kind);
    SLRI_ERROR(unit, value->where, BAD_PRINT, "%s has the type %s, and is printed by %.*s", slri_expr_name(unit, value),
               slri_unit_spell(unit, value->type), (int)conversion->length, conversion->start);
    return slri_make_error(unit, value->where);
}

struct slri_expr *slri_make_print(struct slri_unit *unit, const struct slri_token *name, const struct slri_token *text,
                                  uint32_t format, struct slri_expr **arg, uint32_t args)
{
    struct slri_expr *made =
        slri_make(unit, SLRI_EXPR_PRINT, slri_type_of(unit->types, SLRI_I32), name->where, NULL, NULL);
    struct slri_conversion conversion;
    const char *at = text->text;
    made->arg = slri_unit_take(unit, (args + 1) * sizeof(struct slri_expr *));
    while (slri_format_next(&at, &conversion)) {
        bool is_known = conversion.kind != SLRI_VOID;
        if (!is_known || made->args == args) {
            SLRI_ERROR(unit, text->where, BAD_PRINT, is_known ? "no value for %.*s" : "'%.*s' is not known here",
                       (int)conversion.length, conversion.start);
            return slri_make_error(unit, name->where);
        }
        made->arg[made->args] = convert_printed(unit, &conversion, arg[made->args]);
        const struct slri_expr *value = made->arg[made->args++];
        if (value->op == SLRI_EXPR_ERROR)
            return slri_make_error(unit, name->where);
        made->height = value->height >= made->height ? value->height + 1 : made->height;
    }
    if (made->args < args || args > SLRI_PRINT_MAX_VALUES) {
        SLRI_ERROR(unit, text->where, BAD_PRINT, "%u values for %u conversions, of which %d are possible", args,
                   made->args, SLRI_PRINT_MAX_VALUES);
        return slri_make_error(unit, name->where);
    }
    made->index = format == UINT32_MAX ? add_format(unit, text->text) : put_format(unit, text->text, format);
    return made;
}

static struct slri_expr *make_trap(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg,
                                   uint32_t args)
{
    bool asserts = slri_token_is(name, "assert");
    if (!slri_check_argument_count(unit, name, args, asserts ? 1 : 0))
        return slri_make_error(unit, name->where);
    struct slri_expr *value = asserts ? slri_truth(unit, arg[0]) : NULL;
    if (value && value->op == SLRI_EXPR_ERROR)
        return value;
    struct slri_expr *made =
        slri_make(unit, SLRI_EXPR_TRAP, slri_type_of(unit->types, SLRI_VOID), name->where, value, NULL);
    made->index = asserts ? SLRI_FAULT_ASSERT : SLRI_FAULT_TRAP;
    return made;
}

struct slri_expr *slri_make_block_builtin(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg,
                                          uint32_t args)
{
    for (size_t i = 0; i < COUNT(barriers); i++)
        if (slri_token_is(name, barriers[i].name))
            return make_barrier(unit, &barriers[i], name, arg, args);
    for (size_t i = 0; i < COUNT(fences); i++)
        if (slri_token_is(name, fences[i].name))
            return make_block_fence(unit, fences[i].scope, name, args);
    for (int warp = 0; warp < SLRI_WARP_COUNT; warp++)
        if (slri_token_is(name, slri_warp_functions[warp].name))
            return make_warp(unit, (enum slri_warp)warp, name, arg, args);
    if (slri_token_is(name, "assert") || slri_token_is(name, "__trap"))
        return make_trap(unit, name, arg, args);
    if (slri_token_is(name, "__ldg") && slri_check_argument_count(unit, name, args, 1))
        return slri_make_deref(unit, name->where, arg[0]);
    return slri_make_vector(unit, name, arg, args);
}
