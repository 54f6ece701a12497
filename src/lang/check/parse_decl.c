// SPDX-License-Identifier: Apache-2.0
// Declarations: of variables, tables, typedefs and functions.
#include "lang/check/advice.h"
#include "lang/check/check.h"
#include "ir/math/slr_math.h"

#include "ir/math/slr_half.h"
#include "lang/check/skip.h"

#include <string.h>

// ---- tables --------------------------------------------------------------------------------------------------------

static void put_scalar(unsigned char *to, enum slri_kind kind, uint64_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    if (slri_kind_is_half(kind))
        bits = kind == SLRI_F16 ? slri_f16_to_bits(value) : slri_bf16_to_bits(value);
    memcpy(to, &bits, slri_kind_bytes(kind)); // little-endian, as all hosts here
}

static const unsigned char *table_bytes(struct slri_unit *unit, const struct slri_init *init)
{
    unsigned char *data = slri_unit_take(unit, init->type->bytes);
    for (const struct slri_init_item *item = init->first; item; item = item->next)
        put_scalar(data + item->offset, item->value->type->kind, item->value->bits);
    return data;
}

static struct slri_const *next_table(struct slri_unit *unit)
{
    if (unit->constants == unit->constant_room) {
        uint32_t room = unit->constant_room ? 2 * unit->constant_room : 8;
        struct slri_const *larger = slri_unit_take(unit, room * sizeof *larger);
        if (unit->constants)
            memcpy(larger, unit->constant, unit->constants * sizeof *larger);
        unit->constant = larger;
        unit->constant_room = room;
    }
    return &unit->constant[unit->constants++];
}

static void add_table(struct slri_unit *unit, struct slri_symbol *symbol, const struct slri_init *init)
{
    const char *name = unit->function ? slri_unit_format(unit, "%s__%u", symbol->name, unit->constants) : symbol->name;
    symbol->kind = SLRI_SYMBOL_TABLE;
    symbol->type = init->type;
    if (init->type->bytes > SLRI_TABLE_MAX_BYTES) {
        SLRI_ERROR(unit, symbol->where, TYPE_TOO_LARGE, "the table '%s' has %llu bytes, at most %llu are possible",
                   symbol->name, (unsigned long long)init->type->bytes, (unsigned long long)SLRI_TABLE_MAX_BYTES);
        return;
    }
    symbol->index = unit->constants;
    *next_table(unit) = (struct slri_const){.name = name, .type = init->type, .data = table_bytes(unit, init)};
}

static void learn_value(struct slri_symbol *symbol, const struct slri_init *init)
{
    if (!symbol->is_const || symbol->is_volatile || !slri_type_is_scalar(symbol->type) || !init->is_constant ||
        !init->first)
        return;
    symbol->is_known = true;
    symbol->bits = init->first->value->bits;
}

// ---- shared memory -------------------------------------------------------------------------------------------------

static uint32_t add_shared(struct slri_unit *unit, const struct slri_symbol *symbol)
{
    if (unit->shareds == unit->shared_room) {
        uint32_t room = unit->shared_room ? 2 * unit->shared_room : 8;
        struct slri_shared *larger = slri_unit_take(unit, room * sizeof *larger);
        if (unit->shareds)
            memcpy(larger, unit->shared, unit->shareds * sizeof *larger);
        unit->shared = larger;
        unit->shared_room = room;
    }
    unit->shared[unit->shareds] = (struct slri_shared){symbol->name, symbol->type, symbol->where};
    return unit->shareds++;
}

// All that is `extern` is one memory, whose elements are what the declaration says.
static void declare_dynamic(struct slri_unit *unit, struct slri_symbol *symbol, const struct slri_declarator *made)
{
    symbol->is_dynamic = true;
    if (made->type->kind != SLRI_ARRAY || made->type->count != 0)
        SLRI_ERROR(unit, symbol->where, BAD_SHARED, "'%s' is extern, but not an array without a size", symbol->name);
}

static void declare_static_shared(struct slri_unit *unit, struct slri_symbol *symbol,
                                  const struct slri_declarator *made)
{
    bool is_open = made->type->kind == SLRI_ARRAY && made->type->count == 0;
    if (is_open)
        SLRI_ERROR(unit, symbol->where, EXTENT_NOT_CONSTANT, "'%s' has no size and is not extern", symbol->name);
    else if (!slri_type_is_complete(made->type))
        SLRI_ERROR(unit, symbol->where, INCOMPLETE_TYPE, "'%s' has the type %s", symbol->name,
                   slri_unit_spell(unit, made->type));
    else if (made->type->bytes > SLRI_SHARED_MAX_BYTES)
        SLRI_ERROR(unit, symbol->where, TYPE_TOO_LARGE, "'%s' has %llu bytes, a block has %llu for such objects",
                   symbol->name, (unsigned long long)made->type->bytes, (unsigned long long)SLRI_SHARED_MAX_BYTES);
    else
        symbol->index = add_shared(unit, symbol);
}

static void parse_shared(struct slri_unit *unit, const struct slri_specifiers *base, const struct slri_declarator *made)
{
    struct slri_symbol *symbol = slri_declare(unit, SLRI_SYMBOL_SHARED, made->name->text, made->name->where);
    symbol->type = made->type;
    symbol->is_volatile = made->is_volatile;
    if (made->is_function || made->type->kind == SLRI_POINTER)
        SLRI_ERROR(unit, symbol->where, POINTER_IN_MEMORY, "'%s' is a %s", symbol->name,
                   made->is_function ? "function" : "pointer in shared memory");
    else if (base->words & SLRI_WORD_EXTERN)
        declare_dynamic(unit, symbol, made);
    else if (!unit->function)
        SLRI_ERROR(unit, symbol->where, BAD_SHARED, "'%s' is outside a function and not extern", symbol->name);
    else
        declare_static_shared(unit, symbol, made);
    if (slri_is(unit, "=")) {
        SLRI_ERROR(unit, slri_peek(unit)->where, BAD_SHARED, "'%s' has an initialiser", symbol->name);
        unit->panic = true;
    }
}

// ---- typedefs ------------------------------------------------------------------------------------------------------

static void declare_typedef(struct slri_unit *unit, struct slri_specifiers *base, const struct slri_declarator *made)
{
    const struct slri_symbol *before = slri_lookup(unit, made->name->text, SLRI_SPACE_NAMES);
    if (made->is_function) {
        SLRI_ERROR(unit, made->name->where, FUNCTION_POINTER, "'%s' names the type of a function", made->name->text);
        return;
    }
    if (made->align || base->align) // C gives the name that alignment and the struct's size, which fit each other badly
        SLRI_ERROR(unit, made->name->where, ATTRIBUTE, "the typedef '%s' has an alignment: put it on the struct",
                   made->name->text);
    if (before && before->kind == SLRI_SYMBOL_TYPEDEF && before->depth == unit->depth && before->type == made->type)
        return; // C allows the same one again
    if (base->unnamed && base->unnamed == made->type) {
        base->unnamed->name = made->name->text;
        base->unnamed = NULL;
    }
    struct slri_symbol *symbol = slri_declare(unit, SLRI_SYMBOL_TYPEDEF, made->name->text, made->name->where);
    symbol->type = made->type;
    symbol->is_const = made->is_const;
    symbol->is_volatile = made->is_volatile;
}

// ---- variables -----------------------------------------------------------------------------------------------------

// What stands wrong in any object's declaration; the type is then int, so that uses of the name say nothing more.
static void check_object(struct slri_unit *unit, struct slri_declarator *made, bool has_init)
{
    bool is_open = made->type->kind == SLRI_ARRAY && made->type->count == 0;
    if (made->is_function)
        SLRI_ERROR(unit, made->name->where, BAD_DECLARATION, "the function '%s' is declared here", made->name->text);
    else if (is_open && !has_init)
        SLRI_ERROR(unit, made->name->where, EXTENT_NOT_CONSTANT, "'%s' has neither a size nor values",
                   made->name->text);
    else if (!is_open && !slri_type_is_complete(made->type))
        SLRI_ERROR(unit, made->name->where, INCOMPLETE_TYPE, "'%s' has the type %s", made->name->text,
                   slri_unit_spell(unit, made->type));
    else
        return;
    made->type = slri_type_of(unit->types, SLRI_I32);
    unit->panic = made->is_function || unit->panic;
}

static void check_local_bytes(struct slri_unit *unit, const struct slri_symbol *symbol)
{
    uint64_t before = unit->local_bytes;
    if (symbol->type->kind == SLRI_STRUCT || symbol->type->kind == SLRI_ARRAY)
        unit->local_bytes += symbol->type->bytes;
    if (unit->local_bytes > SLRI_LOCALS_MAX_BYTES && before <= SLRI_LOCALS_MAX_BYTES)
        SLRI_ERROR(unit, symbol->where, TYPE_TOO_LARGE, "with '%s' the function's locals have %llu bytes, at most %llu",
                   symbol->name, (unsigned long long)unit->local_bytes, (unsigned long long)SLRI_LOCALS_MAX_BYTES);
}

static struct slri_stmt *add_declaration(struct slri_unit *unit, struct slri_stmt ***last, struct slri_symbol *symbol)
{
    struct slri_stmt *stmt = slri_unit_take(unit, sizeof *stmt);
    *stmt = (struct slri_stmt){.kind = SLRI_STMT_DECLARE, .where = symbol->where, .symbol = symbol};
    **last = stmt;
    *last = &stmt->next;
    return stmt;
}

static void place_local(struct slri_unit *unit, struct slri_symbol *symbol, struct slri_init *init, bool is_static,
                        struct slri_stmt ***last)
{
    bool is_memory = symbol->type->kind == SLRI_STRUCT || symbol->type->kind == SLRI_ARRAY;
    if (is_static && (!init || !init->is_constant))
        SLRI_ERROR(unit, symbol->where, NOT_CONSTANT, "the static table '%s' needs constant values", symbol->name);
    if (init && init->is_constant && symbol->is_const && (is_static || is_memory)) {
        add_table(unit, symbol, init);
        learn_value(symbol, init);
        return;
    }
    check_local_bytes(unit, symbol);
    struct slri_stmt *stmt = add_declaration(unit, last, symbol);
    if (is_memory)
        stmt->init = init;
    else if (init)
        stmt->value = init->first ? init->first->value : slri_make_error(unit, symbol->where);
    if (init)
        learn_value(symbol, init);
}

static void parse_local_object(struct slri_unit *unit, const struct slri_specifiers *base, struct slri_declarator *made,
                               struct slri_stmt ***last)
{
    bool has_init = slri_is(unit, "="), is_static = base->words & (SLRI_WORD_STATIC | SLRI_WORD_CONSTANT);
    check_object(unit, made, has_init);
    struct slri_symbol *symbol = slri_declare(unit, SLRI_SYMBOL_VARIABLE, made->name->text, made->name->where);
    symbol->type = made->type;
    symbol->is_const = made->is_const;
    symbol->is_volatile = made->is_volatile;
    symbol->index = unit->function->variables++;
    if (is_static && !made->is_const) {
        SLRI_ERROR(unit, symbol->where, STATIC_LOCAL, "'%s' would keep its value from message to message",
                   symbol->name);
        is_static = false;
    }
    struct slri_init *init = NULL;
    if (!unit->panic && slri_accept(unit, "=")) {
        init = slri_parse_init(unit, symbol->type);
        symbol->type = init->type;
    }
    if (!unit->panic)
        place_local(unit, symbol, init, is_static, last);
}

// A declarator that must have a name.
static bool parse_declared(struct slri_unit *unit, struct slri_specifiers *base, struct slri_declarator *made)
{
    if (!slri_parse_declarator(unit, base, made))
        return false;
    if (!made->name) {
        slri_unexpected(unit, "a name");
        return false;
    }
    return true;
}

void slri_parse_local(struct slri_unit *unit, struct slri_stmt ***last)
{
    struct slri_specifiers base;
    struct slri_declarator made;
    const uint32_t of_files = SLRI_WORD_EXTERN | SLRI_WORD_DEVICE | SLRI_WORD_HOST | SLRI_WORDS_OF_HANDLERS |
                              SLRI_WORD_INLINE | SLRI_WORD_GLOBAL;
    if (!slri_parse_specifiers(unit, &base) || slri_accept(unit, ";"))
        return;
    bool is_shared = base.words & SLRI_WORD_SHARED;
    if (base.words & of_files & (is_shared ? ~(uint32_t)SLRI_WORD_EXTERN : UINT32_MAX))
        SLRI_ERROR(unit, base.where, BAD_DECLARATION, "a function specifier inside a function");
    do {
        if (!parse_declared(unit, &base, &made))
            return;
        if (base.words & SLRI_WORD_TYPEDEF)
            declare_typedef(unit, &base, &made);
        else if (is_shared)
            parse_shared(unit, &base, &made);
        else
            parse_local_object(unit, &base, &made, last);
    } while (!unit->panic && slri_accept(unit, ","));
    slri_expect(unit, ";", "after the declaration");
}

// ---- variables of the program --------------------------------------------------------------------------------------

// What is `__device__`, unless it is a const table, and what is `__constant__` and has no values.
static bool is_program_variable(const struct slri_specifiers *base, const struct slri_declarator *made, bool has_init)
{
    if (base->words & SLRI_WORD_EXTERN)
        return false;
    if (base->words & SLRI_WORD_CONSTANT)
        return !has_init;
    return base->words & SLRI_WORD_DEVICE && !(made->is_const && has_init);
}

static void add_program_variable(struct slri_unit *unit, struct slri_symbol *symbol, const struct slri_init *init)
{
    if (symbol->type->bytes > SLRI_GLOBALS_MAX_BYTES - unit->global_bytes) {
        SLRI_ERROR(unit, symbol->where, TYPE_TOO_LARGE, "with '%s' the file's variables have more than %llu bytes",
                   symbol->name, (unsigned long long)SLRI_GLOBALS_MAX_BYTES);
        return;
    }
    if (unit->globals == unit->global_room) {
        uint32_t room = unit->global_room ? 2 * unit->global_room : 8;
        struct slri_global *larger = slri_unit_take(unit, room * sizeof *larger);
        if (unit->globals)
            memcpy(larger, unit->global, unit->globals * sizeof *larger);
        unit->global = larger;
        unit->global_room = room;
    }
    symbol->index = unit->globals;
    unit->global[unit->globals++] = (struct slri_global){.name = symbol->name,
                                                         .type = symbol->type,
                                                         .data = init ? table_bytes(unit, init) : NULL,
                                                         .is_constant = symbol->is_const,
                                                         .offset = unit->global_bytes};
    unit->global_bytes += (symbol->type->bytes + 63) / 64 * 64;
}

static void parse_program_variable(struct slri_unit *unit, struct slri_declarator *made, bool has_init)
{
    if (made->type->kind == SLRI_POINTER) {
        SLRI_ERROR(unit, made->name->where, POINTER_IN_MEMORY, "'%s' is a pointer at file scope", made->name->text);
        made->type = slri_type_of(unit->types, SLRI_I32);
    }
    check_object(unit, made, has_init);
    struct slri_symbol *symbol = slri_declare(unit, SLRI_SYMBOL_GLOBAL, made->name->text, made->name->where);
    symbol->type = made->type;
    symbol->is_const = made->is_const;
    symbol->is_volatile = made->is_volatile;
    struct slri_init *init = slri_accept(unit, "=") ? slri_parse_init(unit, symbol->type) : NULL;
    if (unit->panic)
        return;
    if (init)
        symbol->type = init->type;
    if (init && init->type->bytes > SLRI_TABLE_MAX_BYTES)
        SLRI_ERROR(unit, symbol->where, TYPE_TOO_LARGE, "'%s' has %llu bytes, at most %llu are possible with values",
                   symbol->name, (unsigned long long)init->type->bytes, (unsigned long long)SLRI_TABLE_MAX_BYTES);
    else if (init && !init->is_constant)
        SLRI_ERROR(unit, symbol->where, NOT_CONSTANT, "the initial values of '%s' are not all constants", symbol->name);
    else
        add_program_variable(unit, symbol, init);
}

static void parse_global(struct slri_unit *unit, const struct slri_specifiers *base, struct slri_declarator *made)
{
    bool has_init = slri_is(unit, "=");
    if (is_program_variable(base, made, has_init)) {
        parse_program_variable(unit, made, has_init);
        return;
    }
    struct slri_where where = made->name->where;
    const char *name = made->name->text;
    bool is_pointer = made->type->kind == SLRI_POINTER;
    if (is_pointer)
        SLRI_ERROR(unit, where, POINTER_IN_MEMORY, "'%s' is a pointer at file scope", name);
    else if (!made->is_const)
        SLRI_ERROR(unit, where, GLOBAL_VARIABLE, "'%s' is a variable outside the state", name);
    else if (!has_init && unit->is_foreign)
        SLRI_ERROR(unit, where, GLOBAL_VARIABLE, "the values of '%s' come from the host", name);
    else if (!has_init)
        SLRI_ERROR(unit, where, BAD_INITIALIZER, "the table '%s' has no values", name);
    else
        check_object(unit, made, has_init);
    struct slri_symbol *symbol = slri_declare(unit, SLRI_SYMBOL_TABLE, name, where);
    symbol->type = is_pointer ? slri_type_of(unit->types, SLRI_I32) : made->type;
    symbol->is_const = made->is_const;
    symbol->is_volatile = made->is_volatile;
    if (!slri_accept(unit, "="))
        return;
    struct slri_init *init = slri_parse_init(unit, symbol->type);
    symbol->type = init->type;
    if (unit->panic || is_pointer)
        return;
    if (!init->is_constant)
        SLRI_ERROR(unit, where, NOT_CONSTANT, "the values of the table '%s' are not all constants", name);
    else
        add_table(unit, symbol, init);
    learn_value(symbol, init);
}

// ---- functions -----------------------------------------------------------------------------------------------------

static bool same_signature(const struct slri_func *func, const struct slri_declarator *made)
{
    if (func->result != made->type || func->params != made->params)
        return false;
    for (uint32_t i = 0; i < made->params; i++)
        if (func->param[i]->type != made->param[i]->type)
            return false;
    return true;
}

static struct slri_func *find_function(struct slri_unit *unit, const struct slri_declarator *made)
{
    struct slri_symbol *symbol = slri_lookup(unit, made->name->text, SLRI_SPACE_NAMES);
    if (symbol && symbol->kind == SLRI_SYMBOL_FUNCTION && same_signature(symbol->func, made))
        return symbol->func;
    struct slri_func *func = slri_unit_take(unit, sizeof *func);
    symbol = slri_declare(unit, SLRI_SYMBOL_FUNCTION, made->name->text, made->name->where);
    *func =
        (struct slri_func){.name = symbol->name, .where = symbol->where, .result = made->type, .params = made->params};
    func->param = made->param;
    symbol->func = func;
    *unit->last_function = func;
    unit->last_function = &func->next;
    return func;
}

static void check_function_words(struct slri_unit *unit, const struct slri_specifiers *base,
                                 const struct slri_declarator *made)
{
    const uint32_t of_device = SLRI_WORD_DEVICE | SLRI_WORDS_OF_HANDLERS | SLRI_WORD_GLOBAL;
    bool is_host = base->words & SLRI_WORD_HOST ? !(base->words & of_device)
                                                : !(base->words & (of_device | SLRI_WORD_STATIC | SLRI_WORD_INLINE));
    if (is_host)
        SLRI_ERROR(unit, made->name->where, HOST_CODE, "'%s' is a host function: it is neither __device__ nor static",
                   made->name->text);
    if (is_host)
        SLRI_ADVISE(unit, "write __device__ in front of it");
    if (made->type->kind == SLRI_ARRAY || (made->type->kind == SLRI_STRUCT && !slri_type_is_complete(made->type)))
        SLRI_ERROR(unit, made->name->where, INCOMPLETE_TYPE, "'%s' returns %s", made->name->text,
                   slri_unit_spell(unit, made->type));
}

static void declare_parameters(struct slri_unit *unit, struct slri_func *func)
{
    for (uint32_t i = 0; i < func->params; i++) {
        struct slri_symbol *param = func->param[i];
        if (!param->name) {
            SLRI_ERROR(unit, param->where, BAD_DECLARATION, "parameter %u of '%s' has no name", i + 1, func->name);
            continue;
        }
        struct slri_symbol *symbol = slri_declare(unit, SLRI_SYMBOL_VARIABLE, param->name, param->where);
        symbol->type = param->type;
        symbol->is_const = param->is_const;
        symbol->is_volatile = param->is_volatile;
        symbol->is_restrict = param->is_restrict;
        func->param[i] = symbol;
        symbol->index = func->variables++;
    }
}

// Notes what the preprocessor took away between two tokens: the first that stood behind `open`.
static void note_removed(const struct slri_front *front, struct slri_func *func, uint32_t open, uint32_t close)
{
    uint32_t low = 0, high = front->removeds;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (front->removed[middle].token <= open)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == front->removeds || front->removed[low].token > close)
        return;
    func->removed_from = front->removed[low].from;
    func->removed_to = front->removed[low].to;
}

static void parse_function_body(struct slri_unit *unit, struct slri_func *func)
{
    uint32_t open = unit->at;
    unit->function = func;
    unit->local_bytes = 0;
    slri_open_scope(unit);
    declare_parameters(unit, func);
    func->body = slri_parse_block(unit);
    slri_close_scope(unit);
    note_removed(unit->front, func, open, unit->at ? unit->at - 1 : 0);
    const struct slri_token *end = &unit->front->token[unit->at ? unit->at - 1 : 0];
    if (!unit->panic && func->result->kind != SLRI_VOID && slri_falls_through(func->body))
        SLRI_ERROR(unit, end->where, MISSING_RETURN, "'%s' returns %s, but this end is reached without a return",
                   func->name, slri_unit_spell(unit, func->result));
    unit->function = NULL;
    unit->loop = unit->breakable = NULL;
}

static void take_launch_bounds(struct slri_unit *unit, const struct slri_specifiers *base, struct slri_func *func)
{
    if (!base->has_bounds)
        return;
    if (!func->is_kernel && !func->is_block)
        SLRI_ERROR(unit, base->where, ATTRIBUTE,
                   "__launch_bounds__ is only for __global__ kernels, and '%s' is not one", func->name);
    else if (func->is_block && (base->max_threads == 0 || base->max_threads > SLRI_BLOCK_MAX_THREADS))
        SLRI_ERROR(unit, base->where, VALUE_OUT_OF_RANGE, "a block of %u threads; expected 1 to %d", base->max_threads,
                   SLRI_BLOCK_MAX_THREADS);
    func->max_threads = base->max_threads;
    func->min_blocks = base->min_blocks;
}

static void parse_function(struct slri_unit *unit, const struct slri_specifiers *base, struct slri_declarator *made)
{
    check_function_words(unit, base, made);
    struct slri_func *func = find_function(unit, made);
    func->is_ring |= (base->words & SLRI_WORDS_OF_HANDLERS) != 0;
    func->is_block |= (base->words & SLRI_WORD_RING_BLOCK) != 0;
    func->is_batch |= (base->words & SLRI_WORD_RING_BATCH) != 0;
    func->is_kernel |= (base->words & SLRI_WORD_GLOBAL) != 0;
    func->is_device |= (base->words & (SLRI_WORD_GLOBAL | SLRI_WORD_DEVICE)) != 0;
    take_launch_bounds(unit, base, func);
    if (!slri_is(unit, "{"))
        return;
    if (func->is_defined)
        SLRI_ERROR(unit, made->name->where, REDEFINITION, "'%s' is already defined in line %u", func->name,
                   func->where.line);
    func->is_defined = true;
    func->where = made->name->where;
    func->param = made->param;
    func->variables = 0;
    if (func->is_ring)
        slri_check_handler(unit, func);
    if (func->is_kernel)
        slri_check_kernel(unit, func);
    parse_function_body(unit, func);
}

// ---- the file ------------------------------------------------------------------------------------------------------

static void parse_file_declaration(struct slri_unit *unit)
{
    struct slri_specifiers base;
    struct slri_declarator made;
    if (!slri_parse_specifiers(unit, &base) || slri_accept(unit, ";"))
        return;
    do {
        if (!parse_declared(unit, &base, &made))
            return;
        if (base.words & SLRI_WORD_TYPEDEF) {
            declare_typedef(unit, &base, &made);
        } else if (base.words & SLRI_WORD_SHARED) {
            parse_shared(unit, &base, &made);
        } else if (made.is_function) {
            parse_function(unit, &base, &made);
            if (unit->at && slri_token_is(&unit->front->token[unit->at - 1], "}"))
                return;
        } else {
            parse_global(unit, &base, &made);
        }
    } while (!unit->panic && slri_accept(unit, ","));
    slri_expect(unit, ";", "after the declaration");
}

// extern "C", with or without braces. Returns true if it was next; what it holds is read as if it stood alone.
static bool accept_linkage(struct slri_unit *unit, uint32_t *open)
{
    if (!slri_is(unit, "extern") || slri_peek_at(unit, 1)->kind != SLRI_TOKEN_STRING)
        return false;
    slri_advance(unit);
    slri_advance(unit);
    *open += slri_accept(unit, "{");
    return true;
}

static void parse_item(struct slri_unit *unit)
{
    struct slri_item item = slri_look_at_item(unit);
    if (item.code && (unit->is_foreign || item.code != SLRI_K_CPLUSPLUS)) {
        slri_skip_item(unit, &item, item.code, NULL);
        return;
    }
    uint32_t errors = slri_report_errors(unit->front);
    struct slri_func *const *made = unit->last_function;
    unit->is_trying = unit->is_foreign;
    if (!slri_parse_assertion(unit))
        parse_file_declaration(unit);
    unit->is_trying = false;
    slri_skip_failed(unit, &item, errors, made);
    slri_unit_after_error(unit);
}

void slri_parse_unit(struct slri_unit *unit)
{
    uint32_t open = 0; // braces of extern "C"
    unit->is_foreign = slri_is_foreign_file(unit->front);
    slri_skip_headers(unit);
    unit->last_function = &unit->functions;
    while (slri_peek(unit)->kind != SLRI_TOKEN_END) {
        if (accept_linkage(unit, &open) || slri_accept(unit, ";"))
            continue;
        if (slri_is(unit, "}")) {
            if (open == 0)
                slri_unexpected(unit, "a declaration");
            open -= open > 0;
            slri_advance(unit);
            unit->panic = false;
        } else {
            parse_item(unit);
        }
        if (unit->panic)
            slri_recover(unit);
    }
}
