// SPDX-License-Identifier: Apache-2.0
#include "lang/check/advice.h"
#include "lang/check/skip.h"

#include <string.h>

enum { HEADERS_NAMED = 3 };

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define IS_ANY(token, words) slri_token_is_any(token, words, COUNT(words))

// ---- how far it goes -----------------------------------------------------------------------------------------------

static const struct slri_token *token_at(const struct slri_unit *unit, uint32_t at)
{
    return &unit->front->token[at];
}

static bool is_end(const struct slri_unit *unit, uint32_t at)
{
    return token_at(unit, at)->kind == SLRI_TOKEN_END;
}

static int step_of(const struct slri_token *token)
{
    static const char *const open[] = {"(", "[", "{"}, *const close[] = {")", "]", "}"};
    return IS_ANY(token, open) ? 1 : IS_ANY(token, close) ? -1 : 0;
}

// Behind the bracket that closes the one at `at`.
static uint32_t behind_bracket(const struct slri_unit *unit, uint32_t at)
{
    int depth = 0;
    for (; !is_end(unit, at); at++) {
        depth += step_of(token_at(unit, at));
        if (depth <= 0)
            return at + 1;
    }
    return at;
}

// How many < it closes.
static int closes(const struct slri_token *token)
{
    return slri_token_is(token, ">") + 2 * slri_token_is(token, ">>") + 3 * slri_token_is(token, ">>>");
}

// Behind the > that closes the < at `at`.
static uint32_t behind_angle(const struct slri_unit *unit, uint32_t at)
{
    int depth = 0;
    for (; !is_end(unit, at); at++) {
        const struct slri_token *token = token_at(unit, at);
        depth += slri_token_is(token, "<");
        depth -= closes(token);
        if (depth <= 0 || slri_token_is(token, ";") || slri_token_is(token, "{"))
            return at + 1;
    }
    return at;
}

struct outline { // of a declaration
    uint32_t begin, end;
    uint32_t body;       // its { or the end
    uint32_t parameters; // the ( behind the function's name, or the end
    uint32_t equals;     // its =, or the end
    bool has_body;       // of a function: it ends with }
};

static bool is_attribute(const struct slri_token *token)
{
    static const char *const words[] = {"__launch_bounds__", "__attribute__", "__align__",        "alignas",
                                        "__declspec",        "decltype",      "__cluster_dims__", "__maxnreg__"};
    return IS_ANY(token, words);
}

// (*name) and (*name[: of a pointer to a function or an array.
static bool is_pointer(const struct slri_unit *unit, uint32_t at)
{
    for (uint32_t i = 0; i < 3; i++)
        if (is_end(unit, at + i))
            return false;
    return slri_token_is(token_at(unit, at), "(") && slri_token_is(token_at(unit, at + 1), "*") &&
           token_at(unit, at + 2)->kind == SLRI_TOKEN_NAME &&
           (slri_token_is(token_at(unit, at + 3), ")") || slri_token_is(token_at(unit, at + 3), "["));
}

// Whether the ( at `at` may begin parameters: behind a name, k<float>, or operator+.
static bool is_named(const struct slri_unit *unit, uint32_t begin, uint32_t at)
{
    if (at == begin || is_pointer(unit, at))
        return false;
    const struct slri_token *before = token_at(unit, at - 1);
    return (before->kind == SLRI_TOKEN_NAME && !is_attribute(before)) || closes(before) ||
           (at >= begin + 2 && slri_token_is(token_at(unit, at - 2), "operator"));
}

// A function ends with its }, all else with a ;.
static struct outline outline_of(const struct slri_unit *unit, uint32_t begin)
{
    struct outline o = {.begin = begin, .end = begin};
    uint32_t at = begin;
    bool is_space = slri_token_is(token_at(unit, begin), "namespace");
    o.body = o.parameters = o.equals = UINT32_MAX;
    while (!is_end(unit, at)) {
        const struct slri_token *token = token_at(unit, at);
        if (slri_token_is(token, ";") || slri_token_is(token, "}")) {
            at += slri_token_is(token, ";");
            break;
        }
        if (slri_token_is(token, "{")) {
            bool ends = (o.parameters != UINT32_MAX && o.equals == UINT32_MAX) || is_space;
            o.body = o.body == UINT32_MAX ? at : o.body;
            at = behind_bracket(unit, at);
            o.has_body = ends;
            if (ends)
                break;
            continue;
        }
        if (slri_token_is(token, "=") && o.equals == UINT32_MAX)
            o.equals = at;
        if (slri_token_is(token, "(") && is_named(unit, begin, at) && o.parameters == UINT32_MAX &&
            o.equals == UINT32_MAX && o.body == UINT32_MAX)
            o.parameters = at;
        at = step_of(token) > 0 ? behind_bracket(unit, at) : at + 1;
    }
    o.end = at > begin ? at : at + !is_end(unit, at);
    o.body = o.body < o.end ? o.body : o.end;
    o.parameters = o.parameters < o.end ? o.parameters : o.end;
    o.equals = o.equals < o.end ? o.equals : o.end;
    return o;
}

// ---- what it is ----------------------------------------------------------------------------------------------------

// Whether one of the words stands in front of the body, the parameters and the value.
static bool has_word(const struct slri_unit *unit, const struct outline *o, const char *const *words, size_t count)
{
    uint32_t end = o->body < o->equals ? o->body : o->equals;
    end = o->parameters < end ? o->parameters : end;
    for (uint32_t at = o->begin; at < end; at++)
        if (slri_token_is_any(token_at(unit, at), words, count))
            return true;
    return false;
}

#define HAS(unit, o, ...)                                                                                              \
    has_word(unit, o, (const char *const[]){__VA_ARGS__}, COUNT(((const char *const[]){__VA_ARGS__})))

static const struct slri_token *name_before(const struct slri_unit *unit, const struct outline *o, uint32_t end)
{
    const struct slri_token *name = NULL;
    for (uint32_t at = o->begin; at<end; at = step_of(token_at(unit, at))> 0 ? behind_bracket(unit, at) : at + 1)
        if (token_at(unit, at)->kind == SLRI_TOKEN_NAME)
            name = token_at(unit, at);
    return name;
}

// k of k<float>(, operator of operator+(.
static const struct slri_token *function_name(const struct slri_unit *unit, const struct outline *o)
{
    uint32_t at = o->parameters - 1;
    for (int depth = closes(token_at(unit, at)); depth > 0 && at > o->begin;) {
        at--;
        depth += closes(token_at(unit, at)) - slri_token_is(token_at(unit, at), "<");
    }
    while (at > o->begin && token_at(unit, at)->kind != SLRI_TOKEN_NAME)
        at--;
    return token_at(unit, at);
}

static const struct slri_token *name_of(const struct slri_unit *unit, const struct outline *o)
{
    static const char *const kinds[] = {"struct", "class", "union", "enum", "namespace"};
    uint32_t second = o->begin + 1;
    while (second < o->end && is_attribute(token_at(unit, second)))
        second = behind_bracket(unit, second + 1);
    const struct slri_token *next = token_at(unit, second);
    if (o->parameters < o->end)
        return function_name(unit, o);
    if (IS_ANY(token_at(unit, o->begin), kinds) && next->kind == SLRI_TOKEN_NAME)
        return slri_token_is(next, "class") ? token_at(unit, second + 1) : next;
    uint32_t end = o->equals < o->end ? o->equals : o->end;
    for (uint32_t at = o->begin; at<end; at = step_of(token_at(unit, at))> 0 ? behind_bracket(unit, at) : at + 1)
        if (is_pointer(unit, at))
            return token_at(unit, at + 2);
        else if (slri_token_is(token_at(unit, at), ",")) // of several it is the first
            end = at;
    return name_before(unit, o, end);
}

static struct slri_item classify(const struct slri_unit *unit, const struct outline *o)
{
    struct slri_item item = {.end = o->end, .name = name_of(unit, o), .what = "the declaration"};
    item.is_ring = HAS(unit, o, "__ring__", "__ring_block__", "__ring_batch__");
    item.is_kernel = HAS(unit, o, "__global__");
    item.is_device = item.is_kernel || item.is_ring || HAS(unit, o, "__device__", "__constant__", "__shared__");
    bool is_function = o->parameters < o->end, is_host = HAS(unit, o, "__host__");
    static const char *const of_types[] = {"struct", "enum", "typedef", "union", "_Static_assert", "static_assert"};
    if (is_function)
        item.what = item.is_kernel ? "the kernel" : item.is_device ? "the device function" : "the function";
    if (item.is_device || (IS_ANY(token_at(unit, o->begin), of_types) && !is_function))
        return item;
    if (is_function &&
        (is_host || !HAS(unit, o, "static", "inline", "__inline__", "__forceinline__", "__noinline__"))) {
        item.what = "the host function";
        item.code = SLRI_K_HOST_CODE;
    } else if (!is_function && !HAS(unit, o, "const", "constexpr")) {
        item.what = "the host variable";
        item.code = SLRI_K_GLOBAL_VARIABLE;
    }
    return item;
}

static struct slri_item cplusplus(const struct slri_unit *unit, uint32_t begin)
{
    uint32_t at = begin;
    bool is_template = slri_token_is(token_at(unit, at), "template");
    while (slri_token_is(token_at(unit, at), "template"))
        at = slri_token_is(token_at(unit, at + 1), "<") ? behind_angle(unit, at + 1) : at + 1;
    struct outline o = outline_of(unit, at);
    struct slri_item item = {.end = o.end, .name = name_of(unit, &o), .code = SLRI_K_CPLUSPLUS};
    item.is_kernel = HAS(unit, &o, "__global__");
    item.what = item.is_kernel ? "the kernel template" : is_template ? "the template" : "what C++ has and C has not,";
    return item;
}

struct slri_item slri_look_at_item(const struct slri_unit *unit)
{
    static const char *const words[] = {"template", "class", "namespace", "using"};
    if (IS_ANY(slri_peek(unit), words))
        return cplusplus(unit, unit->at);
    struct outline o = outline_of(unit, unit->at);
    struct slri_item item = classify(unit, &o);
    if (HAS(unit, &o, "operator"))
        item.code = SLRI_K_CPLUSPLUS;
    return item;
}

bool slri_is_foreign_file(const struct slri_front *front)
{
    for (uint32_t i = 0; i < front->tokens; i++)
        if (slri_token_is(&front->token[i], "__global__"))
            return true;
    return false;
}

// ---- leaving out ---------------------------------------------------------------------------------------------------

bool slri_is_outside(const struct slri_unit *unit, unsigned code)
{
    bool is_unknown = code == SLRI_K_UNKNOWN_NAME || code == SLRI_K_UNKNOWN_FUNCTION;
    return (code >= SLRI_K_GOTO && code <= SLRI_K_ATTRIBUTE) ||
           (code >= SLRI_K_POINTER_ROOT_UNKNOWN && code <= SLRI_K_LEFT_OUT) ||
           (is_unknown && unit->missing_headers); // it may have been declared there
}

static const char *reason_of(unsigned code)
{
    switch (code) {
    case SLRI_K_HOST_CODE:
        return "it is the host's: neither __device__ nor static";
    case SLRI_K_GLOBAL_VARIABLE:
        return "it is a variable of the host";
    default:
        return "it is C++";
    }
}

void slri_list_skipped(struct slri_unit *unit, const struct slri_skipped *skipped)
{
    if (unit->skippeds == unit->skipped_room) {
        uint32_t room = unit->skipped_room ? 2 * unit->skipped_room : 16;
        struct slri_skipped *larger = slri_unit_take(unit, room * sizeof *larger);
        if (unit->skippeds)
            memcpy(larger, unit->skipped, unit->skippeds * sizeof *larger);
        unit->skipped = larger;
        unit->skipped_room = room;
    }
    unit->skipped[unit->skippeds++] = *skipped;
}

static void mark(struct slri_unit *unit, struct slri_symbol *symbol, unsigned code, const char *why)
{
    if (symbol->kind == SLRI_SYMBOL_FUNCTION)
        symbol->func->is_left_out = true;
    if (symbol->kind != SLRI_SYMBOL_TAG)
        symbol->kind = SLRI_SYMBOL_LEFT_OUT;
    symbol->left_out_code = code;
    symbol->left_out_why = why;
    (void)unit;
}

// A name that is declared already in this file keeps its meaning unless this is the definition of the same function.
static void mark_name(struct slri_unit *unit, const struct slri_token *name, unsigned code, const char *why)
{
    struct slri_symbol *symbol = slri_lookup(unit, name->text, SLRI_SPACE_NAMES);
    struct slri_symbol *tag = slri_lookup(unit, name->text, SLRI_SPACE_TAGS);
    if (tag)
        mark(unit, tag, code, why);
    if (!symbol)
        symbol = slri_declare(unit, SLRI_SYMBOL_LEFT_OUT, name->text, name->where);
    mark(unit, symbol, code, why);
}

void slri_skip_item(struct slri_unit *unit, const struct slri_item *item, unsigned code, const char *why)
{
    const struct slri_token *first = slri_peek(unit);
    struct slri_skipped made = {.what = item->what, .why = why ? why : reason_of(code), .is_kernel = item->is_kernel};
    made.name = item->name ? item->name->text : first->text;
    made.where = item->name ? item->name->where : first->where;
    made.code = code;
    slri_list_skipped(unit, &made);
    if (item->name)
        mark_name(unit, item->name, code, made.why);
    unit->at = item->end;
    unit->panic = false;
}

static const char *why_failed(struct slri_unit *unit, uint32_t errors, unsigned *code)
{
    uint32_t chosen = errors;
    while (chosen + 1 < slri_report_errors(unit->front) &&
           !slri_is_outside(unit, slri_report_code(unit->front, chosen)))
        chosen++;
    *code = slri_report_code(unit->front, chosen);
    const char *why = slri_unit_format(unit, "line %u: SLR-K%03u: %s", slri_report_where(unit->front, chosen).line,
                                       *code, slri_report_message(unit->front, chosen));
    bool is_unknown = *code == SLRI_K_UNKNOWN_NAME || *code == SLRI_K_UNKNOWN_FUNCTION;
    if (!is_unknown || !unit->missing_headers)
        return why;
    return slri_unit_format(unit, "%s (perhaps of a header that was not found: %s; -I names its folder)", why,
                            unit->missing_headers);
}

void slri_skip_failed(struct slri_unit *unit, const struct slri_item *item, uint32_t errors,
                      struct slri_func *const *made)
{
    if (slri_report_errors(unit->front) == errors)
        return;
    bool is_left_out = unit->is_foreign && !item->is_ring;
    if (!is_left_out || (unit->is_strict && item->is_device))
        return;
    unsigned code;
    const char *why = why_failed(unit, errors, &code);
    slri_report_drop(unit->front, errors);
    slri_skip_item(unit, item, code, why);
    for (struct slri_func *func = *made; func; func = func->next) // behind a broken struct its name may be another
        func->is_left_out = true;
}

bool slri_skip_function(struct slri_unit *unit, struct slri_func *func, uint32_t errors)
{
    bool may = unit->is_foreign && !func->is_ring;
    if (slri_report_errors(unit->front) == errors || !may || (unit->is_strict && func->is_device))
        return false;
    struct slri_skipped made = {.name = func->name, .where = func->where, .is_kernel = func->is_kernel};
    made.what = func->is_kernel ? "the kernel" : func->is_device ? "the device function" : "the function";
    made.why = why_failed(unit, errors, &made.code);
    slri_report_drop(unit->front, errors);
    slri_list_skipped(unit, &made);
    func->is_left_out = true;
    return true;
}

// The headers that were not found: "'a.h', 'b.h'"; NULL: none. A name that is not known may be declared in one of them.
static const char *list_missing_headers(struct slri_unit *unit)
{
    const char *names = NULL;
    for (uint32_t i = 0, listed = 0; i < unit->skippeds; i++) {
        const struct slri_skipped *one = &unit->skipped[i];
        if (one->code != SLRI_K_INCLUDE_NOT_FOUND)
            continue;
        if (++listed > HEADERS_NAMED)
            return slri_unit_format(unit, "%s, ...", names);
        names = slri_unit_format(unit, "%s%s'%s'", names ? names : "", names ? ", " : "", one->name);
    }
    return names;
}

void slri_skip_headers(struct slri_unit *unit)
{
    struct slri_front *front = unit->front;
    uint32_t kept = 0;
    for (uint32_t i = 0; unit->is_foreign && i < slri_report_errors(front); i++)
        kept += slri_report_code(front, i) != SLRI_K_INCLUDE_NOT_FOUND &&
                slri_report_code(front, i) != SLRI_K_MACRO_REDEFINED;
    if (!unit->is_foreign || kept) // what else is wrong is said, and so are they
        return;
    for (uint32_t i = 0; i < slri_report_errors(front); i++) {
        bool is_header = slri_report_code(front, i) == SLRI_K_INCLUDE_NOT_FOUND;
        struct slri_skipped made = {.what = is_header ? "the header" : "the earlier definition of the macro"};
        made.code = slri_report_code(front, i);
        made.where = slri_report_where(front, i);
        const char *message = slri_report_message(front, i); // "there is no file 'NAME'"; a name may hold quotes, too
        const char *name = message + strcspn(message, "'"), *end = strrchr(message, '\'');
        made.name = slri_unit_format(unit, "%.*s", end > name ? (int)(end - name - 1) : 0, name + 1);
        made.why = is_header ? "it was not found" : "this line redefines it";
        slri_list_skipped(unit, &made);
    }
    unit->missing_headers = list_missing_headers(unit);
    slri_report_drop(front, 0);
}

void slri_report_skipped(struct slri_unit *unit, const struct slri_symbol *symbol, struct slri_where where)
{
    bool outside = slri_is_outside(unit, symbol->left_out_code);
    slri_report_error(unit->front, where, outside ? symbol->left_out_code : (unsigned)SLRI_K_LEFT_OUT,
                      "'%s' in line %u was skipped: %s", symbol->name, symbol->where.line, symbol->left_out_why);
    SLRI_ADVISE(unit, slri_advise_left_out(unit, symbol));
    slri_unit_after_error(unit);
}
