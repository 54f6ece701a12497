// SPDX-License-Identifier: Apache-2.0
// Specifiers, declarators, structs and enums.
#include "lang/check/advice.h"
#include "lang/check/check.h"
#include "lang/check/skip.h"

#include <string.h>

static const struct {
    const char *text;
    uint32_t word;
} words[] = {
    {"void", SLRI_WORD_VOID},
    {"_Bool", SLRI_WORD_BOOL},
    {"bool", SLRI_WORD_BOOL},
    {"char", SLRI_WORD_CHAR},
    {"short", SLRI_WORD_SHORT},
    {"int", SLRI_WORD_INT},
    {"long", SLRI_WORD_LONG},
    {"float", SLRI_WORD_FLOAT},
    {"double", SLRI_WORD_DOUBLE},
    {"signed", SLRI_WORD_SIGNED},
    {"unsigned", SLRI_WORD_UNSIGNED},
    {"const", SLRI_WORD_CONST},
    {"volatile", SLRI_WORD_VOLATILE},
    {"constexpr", SLRI_WORD_CONST}, // of C23 and C++: what is asked of it is checked where it is used
    {"typedef", SLRI_WORD_TYPEDEF},
    {"static", SLRI_WORD_STATIC},
    {"extern", SLRI_WORD_EXTERN},
    {"inline", SLRI_WORD_INLINE},
    {"__inline__", SLRI_WORD_INLINE},
    {"__forceinline__", SLRI_WORD_INLINE},
    {"__noinline__", SLRI_WORD_INLINE},
    {"__device__", SLRI_WORD_DEVICE},
    {"__host__", SLRI_WORD_HOST},
    {"__ring__", SLRI_WORD_RING},
    {"__ring_block__", SLRI_WORD_RING_BLOCK},
    {"__ring_batch__", SLRI_WORD_RING_BATCH},
    {"__global__", SLRI_WORD_GLOBAL},
    {"__shared__", SLRI_WORD_SHARED},
    {"__constant__", SLRI_WORD_CONSTANT},
    {"restrict", SLRI_WORD_RESTRICT},
    {"__restrict__", SLRI_WORD_RESTRICT},
    {"__restrict", SLRI_WORD_RESTRICT},
};

static const struct {
    const char *name;
    enum slri_kind kind;
} known_types[] = {
    {"int8_t", SLRI_I8},     {"uint8_t", SLRI_U8},   {"int16_t", SLRI_I16},        {"uint16_t", SLRI_U16},
    {"int32_t", SLRI_I32},   {"uint32_t", SLRI_U32}, {"int64_t", SLRI_I64},        {"uint64_t", SLRI_U64},
    {"half", SLRI_F16},      {"__half", SLRI_F16},   {"__nv_bfloat16", SLRI_BF16}, {"nv_bfloat16", SLRI_BF16},
    {"uint", SLRI_U32},      {"ushort", SLRI_U16},   {"ulong", SLRI_U64},          {"size_t", SLRI_U64},
    {"ptrdiff_t", SLRI_I64}, {"intptr_t", SLRI_I64}, {"uintptr_t", SLRI_U64},
};

// Words that newcomers from CUDA and C++ write, and that are not in the subset. Those that C does not reserve are
// ordinary names once they are declared.
static const struct {
    const char *text;
    unsigned code;
    const char *what;
    bool is_free; // not reserved in C
} foreign[] = {
    {"__managed__", SLRI_K_GLOBAL_VARIABLE, "__managed__ memory is outside the subset", false},
    {"__attribute__", SLRI_K_ATTRIBUTE, "an attribute here", false},
    {"__align__", SLRI_K_ATTRIBUTE, "an alignment here", false},
    {"_Alignas", SLRI_K_ATTRIBUTE, "an alignment here", false},
    {"alignas", SLRI_K_ATTRIBUTE, "an alignment here", true},
    {"asm", SLRI_K_INLINE_ASSEMBLY, "inline assembly", true},
    {"__asm__", SLRI_K_INLINE_ASSEMBLY, "inline assembly", false},
    {"_Atomic", SLRI_K_UNSUPPORTED_FEATURE, "_Atomic: use __nv_atomic_load_n and __nv_atomic_store_n", false},
    {"_Complex", SLRI_K_UNSUPPORTED_TYPE, "complex numbers", false},
    {"__int128", SLRI_K_UNSUPPORTED_TYPE, "__int128", false},
    {"texture", SLRI_K_UNSUPPORTED_TYPE, "textures", true},
    {"cudaTextureObject_t", SLRI_K_UNSUPPORTED_TYPE, "textures", true},
    {"union", SLRI_K_UNSUPPORTED_TYPE, "unions; to see a float's bits use __float_as_uint", false},
    {"goto", SLRI_K_GOTO, "goto", false},
    {"va_list", SLRI_K_VARARGS, "variable arguments", true},
    {"template", SLRI_K_CPLUSPLUS, "templates", true},
    {"class", SLRI_K_CPLUSPLUS, "classes", true},
    {"namespace", SLRI_K_CPLUSPLUS, "namespaces", true},
    {"using", SLRI_K_CPLUSPLUS, "using", true},
    {"auto", SLRI_K_CPLUSPLUS, "auto", false},
    {"new", SLRI_K_DYNAMIC_ALLOCATION, "new", true},
    {"delete", SLRI_K_DYNAMIC_ALLOCATION, "delete", true},
    {"try", SLRI_K_CPLUSPLUS, "exceptions", true},
    {"throw", SLRI_K_CPLUSPLUS, "exceptions", true},
    {"dynamic_cast", SLRI_K_CPLUSPLUS, "dynamic_cast", true},
    {"operator", SLRI_K_CPLUSPLUS, "operator overloading", true},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool report_foreign(struct slri_unit *unit, bool may_be_name)
{
    const struct slri_token *token = slri_peek(unit);
    for (size_t i = 0; i < COUNT(foreign); i++) {
        if (unit->panic || !slri_token_is(token, foreign[i].text))
            continue;
        if (foreign[i].is_free && (may_be_name || slri_lookup(unit, token->text, SLRI_SPACE_NAMES)))
            return false;
        slri_report_error(unit->front, token->where, foreign[i].code, "not in the subset: %s", foreign[i].what);
        unit->panic = true;
        slri_unit_after_error(unit);
        return true;
    }
    return false;
}

bool slri_report_foreign(struct slri_unit *unit)
{
    return report_foreign(unit, false);
}

static uint32_t word_of(const struct slri_token *token)
{
    for (size_t i = 0; i < COUNT(words); i++)
        if (slri_token_is(token, words[i].text))
            return words[i].word;
    return 0;
}

// A typedef's qualifiers are added to `out`.
static const struct slri_type *named_type(const struct slri_unit *unit, const struct slri_token *token,
                                          struct slri_specifiers *out)
{
    if (token->kind != SLRI_TOKEN_NAME)
        return NULL;
    const struct slri_symbol *symbol = slri_lookup(unit, token->text, SLRI_SPACE_NAMES);
    if (symbol) {
        out->is_const |= symbol->kind == SLRI_SYMBOL_TYPEDEF && symbol->is_const;
        out->is_volatile |= symbol->kind == SLRI_SYMBOL_TYPEDEF && symbol->is_volatile;
        return symbol->kind == SLRI_SYMBOL_TYPEDEF ? symbol->type : NULL;
    }
    for (size_t i = 0; i < COUNT(known_types); i++)
        if (strcmp(token->text, known_types[i].name) == 0)
            return slri_type_of(unit->types, known_types[i].kind);
    symbol = slri_lookup(unit, token->text, SLRI_SPACE_TAGS); // as in C++, where a tag alone names the type
    if (symbol && symbol->left_out_code)
        return NULL;
    return symbol ? symbol->type : slri_type_vector(unit->types, token->text);
}

static bool starts_outlet(const struct slri_unit *unit)
{
    return slri_token_is(slri_peek(unit), "ring_to") && !slri_lookup(unit, slri_peek(unit)->text, SLRI_SPACE_NAMES);
}

bool slri_starts_type(const struct slri_unit *unit)
{
    struct slri_specifiers unused = {0};
    const struct slri_token *token = slri_peek(unit);
    return word_of(token) || slri_token_is(token, "struct") || slri_token_is(token, "enum") || starts_outlet(unit) ||
           slri_starts_alignment(unit) || named_type(unit, token, &unused);
}

bool slri_is_name(const struct slri_unit *unit)
{
    static const char *const keywords[] = {"if",     "else",    "for",   "while",  "do",       "switch",
                                           "case",   "default", "break", "return", "continue", "sizeof",
                                           "struct", "enum",    "union", "goto",   "typedef"};
    const struct slri_token *token = slri_peek(unit);
    if (token->kind != SLRI_TOKEN_NAME || word_of(token))
        return false;
    for (size_t i = 0; i < COUNT(keywords); i++)
        if (strcmp(token->text, keywords[i]) == 0)
            return false;
    return true;
}

// ---- structs and enums ---------------------------------------------------------------------------------------------

struct field_list {
    struct slri_field *field;
    uint32_t count, room;
};

static bool is_text(const struct slri_specifiers *base, const struct slri_type *type)
{
    bool plain = (base->words & SLRI_WORDS_OF_TYPES) == SLRI_WORD_CHAR;
    return plain && type->kind == SLRI_ARRAY && type->of->kind == SLRI_I8;
}

static void add_field(struct slri_unit *unit, struct field_list *list, const struct slri_specifiers *base,
                      const struct slri_declarator *made)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->field[i].name == made->name->text)
            SLRI_ERROR(unit, made->name->where, REDEFINITION, "the struct has a member '%s' already", made->name->text);
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 8;
        struct slri_field *larger = slri_unit_take(unit, list->room * sizeof *larger);
        if (list->count)
            memcpy(larger, list->field, list->count * sizeof *larger);
        list->field = larger;
    }
    list->field[list->count++] = (struct slri_field){.name = made->name->text,
                                                     .type = made->type,
                                                     .align = made->align > base->align ? made->align : base->align,
                                                     .is_volatile = made->is_volatile,
                                                     .is_text = is_text(base, made->type)};
}

static void report_pointer_member(struct slri_unit *unit, const struct slri_declarator *made)
{
    const char *name = made->name->text;
    SLRI_ERROR(unit, made->name->where, POINTER_IN_MEMORY, "the member '%s' is a pointer (%s)", name,
               slri_unit_spell(unit, made->type));
    SLRI_ADVISE(unit, slri_unit_format(unit,
                                       "write %s %s[N] for N values in the struct, or bind a buffer and keep an index "
                                       "into it: structs and arrays cannot hold pointers",
                                       slri_unit_spell(unit, made->type->of), name));
}

static bool check_field(struct slri_unit *unit, const struct slri_declarator *made)
{
    struct slri_where where = made->name->where;
    const char *name = made->name->text;
    if (made->type->kind == SLRI_POINTER)
        report_pointer_member(unit, made);
    else if (made->is_function)
        SLRI_ERROR(unit, where, CPLUSPLUS, "the member '%s' is a function", name);
    else if (!slri_type_is_complete(made->type))
        SLRI_ERROR(unit, where, INCOMPLETE_TYPE, "the member '%s' has the type %s, whose size is not known", name,
                   slri_unit_spell(unit, made->type));
    else
        return true;
    return false;
}

static void parse_fields(struct slri_unit *unit, struct field_list *list)
{
    struct slri_specifiers base;
    if (!slri_parse_specifiers(unit, &base))
        return;
    do {
        struct slri_declarator made;
        if (!slri_parse_declarator(unit, &base, &made))
            return;
        if (!made.name) {
            slri_unexpected(unit, "the member's name");
            return;
        }
        if (slri_is(unit, ":")) {
            SLRI_ERROR(unit, slri_peek(unit)->where, UNSUPPORTED_FEATURE, "'%s' is a bit-field", made.name->text);
            unit->panic = true;
            return;
        }
        if (check_field(unit, &made))
            add_field(unit, list, &base, &made);
    } while (slri_accept(unit, ","));
    slri_expect(unit, ";", "after the member");
}

static struct slri_symbol *tag_symbol(struct slri_unit *unit, const struct slri_token *tag, bool defines)
{
    struct slri_symbol *symbol = slri_lookup(unit, tag->text, SLRI_SPACE_TAGS);
    if (symbol && (!defines || (symbol->depth == unit->depth && symbol->incomplete)))
        return symbol;
    symbol = slri_declare(unit, SLRI_SYMBOL_TAG, tag->text, tag->where);
    symbol->incomplete = slri_type_struct(unit->types, tag->text);
    if (!symbol->incomplete)
        slri_unit_give_up(unit, SLR_NO_MEMORY);
    symbol->type = symbol->incomplete;
    return symbol;
}

static void parse_struct_body(struct slri_unit *unit, struct slri_type *type, struct slri_where where)
{
    struct field_list list = {0};
    uint64_t total = 0;
    uint32_t errors = slri_report_errors(unit->front);
    while (!slri_is(unit, "}") && slri_peek(unit)->kind != SLRI_TOKEN_END) {
        parse_fields(unit, &list);
        if (unit->panic)
            slri_recover(unit);
    }
    slri_expect(unit, "}", "at the end of the struct");
    slri_accept_alignment(unit, &type->align);
    for (uint32_t i = 0; i < list.count; i++)
        total += list.field[i].type->bytes + list.field[i].align; // each at most a GiB, and fewer than 2^32 of them
    if (total > SLRI_TYPE_MAX_BYTES) {
        SLRI_ERROR(unit, where, TYPE_TOO_LARGE, "this struct has %llu bytes", (unsigned long long)total);
        list.count = list.count ? 1 : 0;
    }
    if (list.count == 0 && slri_report_errors(unit->front) == errors)
        SLRI_ERROR(unit, where, EMPTY_STRUCT, "this struct has no members");
    slri_type_complete(type, list.field, list.count);
}

static const struct slri_type *parse_struct(struct slri_unit *unit, struct slri_specifiers *out)
{
    struct slri_where where = slri_advance(unit)->where;
    uint32_t align = 1;
    slri_accept_alignment(unit, &align);
    const struct slri_token *tag = slri_is_name(unit) && !unit->panic ? slri_advance(unit) : NULL;
    bool defines = slri_is(unit, "{");
    if (!tag && !defines) {
        slri_unexpected(unit, "the struct's name or its members in {}");
        return NULL;
    }
    struct slri_symbol *symbol = tag ? tag_symbol(unit, tag, defines) : NULL;
    if (symbol && symbol->left_out_code && !defines) {
        slri_report_skipped(unit, symbol, tag->where);
        unit->panic = true;
        return NULL;
    }
    struct slri_type *made = symbol ? symbol->incomplete : slri_type_struct(unit->types, "");
    if (!symbol && !made)
        slri_unit_give_up(unit, SLR_NO_MEMORY);
    if (symbol && symbol->type->kind != SLRI_STRUCT)
        SLRI_ERROR(unit, tag->where, WRONG_TYPE, "'%s' is the name of an enum", tag->text);
    if (defines && symbol)
        symbol->incomplete = NULL; // a second body, also one inside this one, is a redefinition
    if (defines && made) {
        made->align = align;
        if (slri_enter(unit)) {
            slri_advance(unit);
            parse_struct_body(unit, made, where);
        }
        slri_leave(unit);
    }
    out->unnamed = symbol ? NULL : made;
    return symbol ? symbol->type : made;
}

static void parse_enumerator(struct slri_unit *unit, int64_t *next)
{
    if (!slri_is_name(unit)) {
        slri_unexpected(unit, "the name of a constant");
        return;
    }
    const struct slri_token *name = slri_advance(unit);
    if (slri_accept(unit, "="))
        slri_parse_constant(unit, "an enum constant", next);
    if (*next < INT32_MIN || *next > INT32_MAX) {
        SLRI_ERROR(unit, name->where, VALUE_OUT_OF_RANGE, "'%s' is %lld, which does not fit int", name->text,
                   (long long)*next);
        *next = 0;
    }
    struct slri_symbol *symbol = slri_declare(unit, SLRI_SYMBOL_CONSTANT, name->text, name->where);
    symbol->is_known = true;
    symbol->bits = slri_value_of_int(SLRI_I32, (*next)++);
}

static const struct slri_type *parse_enum(struct slri_unit *unit)
{
    slri_advance(unit);
    const struct slri_type *type = slri_type_of(unit->types, SLRI_I32);
    if (slri_is(unit, "class"))
        slri_report_foreign(unit);
    const struct slri_token *tag = slri_is_name(unit) ? slri_advance(unit) : NULL;
    if (tag && !slri_is(unit, "{")) {
        if (!slri_lookup(unit, tag->text, SLRI_SPACE_TAGS))
            SLRI_ERROR(unit, tag->where, UNKNOWN_NAME, "there is no enum %s", tag->text);
        return type;
    }
    if (tag)
        slri_declare(unit, SLRI_SYMBOL_TAG, tag->text, tag->where);
    if (!slri_expect(unit, "{", "after enum"))
        return NULL;
    int64_t next = 0;
    do
        parse_enumerator(unit, &next);
    while (!unit->panic && slri_accept(unit, ",") && !slri_is(unit, "}"));
    if (!slri_expect(unit, "}", "at the end of the enum"))
        slri_skip_braces(unit);
    return unit->panic ? NULL : type;
}

// ---- specifiers ----------------------------------------------------------------------------------------------------

static enum slri_kind integer_kind(uint32_t set)
{
    bool is_unsigned = set & SLRI_WORD_UNSIGNED;
    if (set & SLRI_WORD_CHAR)
        return is_unsigned ? SLRI_U8 : SLRI_I8;
    if (set & SLRI_WORD_SHORT)
        return is_unsigned ? SLRI_U16 : SLRI_I16;
    if (set & SLRI_WORD_LONG)
        return is_unsigned ? SLRI_U64 : SLRI_I64;
    return is_unsigned ? SLRI_U32 : SLRI_I32;
}

// The kind that the words of a type make together; VOID where they make none (and the words are not `void`).
static enum slri_kind kind_of_words(uint32_t set, uint32_t longs)
{
    static const struct {
        uint32_t set;
        enum slri_kind kind;
    } alone[] = {{SLRI_WORD_BOOL, SLRI_BOOL}, {SLRI_WORD_FLOAT, SLRI_F32}, {SLRI_WORD_DOUBLE, SLRI_F64}};
    for (size_t i = 0; i < COUNT(alone); i++)
        if (set & alone[i].set)
            return set == alone[i].set ? alone[i].kind : SLRI_VOID;
    uint32_t sizes = set & (SLRI_WORD_CHAR | SLRI_WORD_SHORT | SLRI_WORD_LONG);
    bool two_sizes = sizes & (sizes - 1), two_signs = (set & SLRI_WORD_SIGNED) && (set & SLRI_WORD_UNSIGNED);
    bool bad_char = (set & SLRI_WORD_CHAR) && (set & SLRI_WORD_INT);
    return two_sizes || two_signs || bad_char || longs > 2 || (set & SLRI_WORD_VOID) ? SLRI_VOID : integer_kind(set);
}

static const struct slri_type *type_of_words(struct slri_unit *unit, uint32_t set, uint32_t longs,
                                             struct slri_where where)
{
    enum slri_kind kind = kind_of_words(set, longs);
    if (kind == SLRI_VOID && set == (SLRI_WORD_LONG | SLRI_WORD_DOUBLE))
        SLRI_ERROR(unit, where, UNSUPPORTED_TYPE, "long double");
    else if (kind == SLRI_VOID && set != SLRI_WORD_VOID)
        SLRI_ERROR(unit, where, BAD_TYPE, "these words make no type");
    return slri_type_of(unit->types, kind == SLRI_VOID && set != SLRI_WORD_VOID ? SLRI_I32 : kind);
}

static uint32_t parse_bound(struct slri_unit *unit, const char *what)
{
    int64_t value = 0;
    struct slri_where where = slri_peek(unit)->where;
    if (slri_parse_constant(unit, what, &value) && (value < 0 || value > UINT32_MAX))
        SLRI_ERROR(unit, where, VALUE_OUT_OF_RANGE, "%s is %lld", what, (long long)value);
    return (uint32_t)value;
}

// __launch_bounds__(most threads a block, least blocks a multiprocessor, most blocks a cluster): the last is not kept.
bool slri_accept_launch_bounds(struct slri_unit *unit, struct slri_specifiers *out)
{
    if (!slri_accept(unit, "__launch_bounds__"))
        return false;
    out->has_bounds = true;
    if (!slri_expect(unit, "(", "after __launch_bounds__"))
        return false;
    out->max_threads = parse_bound(unit, "the threads of a block");
    if (slri_accept(unit, ","))
        out->min_blocks = parse_bound(unit, "the blocks of a multiprocessor");
    if (slri_accept(unit, ","))
        parse_bound(unit, "the blocks of a cluster");
    return slri_expect(unit, ")", "after the bounds");
}

// `ring_to(struct alarm)`: a handler's parameter through which it sends.
static const struct slri_type *parse_outlet(struct slri_unit *unit)
{
    struct slri_where where = slri_advance(unit)->where;
    struct slri_specifiers message = {0};
    bool good = slri_expect(unit, "(", "after ring_to") && slri_enter(unit) && slri_parse_specifiers(unit, &message);
    slri_leave(unit);
    if (!good || !slri_expect(unit, ")", "after the message's type"))
        return NULL;
    if (message.type->kind != SLRI_STRUCT || !slri_type_is_complete(message.type)) {
        SLRI_ERROR(unit, where, BAD_OUTLET, "ring_to of %s", slri_unit_spell(unit, message.type));
        return slri_type_of(unit->types, SLRI_I32);
    }
    const struct slri_type *type = slri_type_outlet(unit->types, message.type);
    if (!type)
        slri_unit_give_up(unit, SLR_NO_MEMORY);
    return type;
}

// Takes one word, or a whole struct or enum; false where the specifiers end, or in a panic.
static bool take_specifier(struct slri_unit *unit, struct slri_specifiers *out, uint32_t *longs)
{
    const struct slri_token *token = slri_peek(unit);
    uint32_t word = word_of(token);
    bool has_type = out->type || (out->words & SLRI_WORDS_OF_TYPES);
    if (slri_starts_alignment(unit)) {
        slri_accept_alignment(unit, &out->align);
        return !unit->panic;
    }
    if (report_foreign(unit, has_type))
        return false;
    if (word) {
        *longs += word == SLRI_WORD_LONG;
        out->words |= word;
        slri_advance(unit);
    } else if (slri_accept_launch_bounds(unit, out)) {
        return true;
    } else if (!has_type && slri_token_is(token, "struct")) {
        out->type = parse_struct(unit, out);
    } else if (!has_type && slri_token_is(token, "enum")) {
        out->type = parse_enum(unit);
    } else if (!has_type && starts_outlet(unit)) {
        out->type = parse_outlet(unit);
    } else if (!has_type && named_type(unit, token, out)) {
        out->type = named_type(unit, slri_advance(unit), out);
    } else {
        return false;
    }
    return !unit->panic;
}

static void report_missing_type(struct slri_unit *unit)
{
    if (unit->panic)
        return;
    const struct slri_token *token = slri_peek(unit);
    const struct slri_symbol *symbol = slri_is_name(unit) ? slri_lookup(unit, token->text, SLRI_SPACE_NAMES) : NULL;
    if (symbol && symbol->kind == SLRI_SYMBOL_LEFT_OUT) {
        slri_report_skipped(unit, symbol, token->where);
        unit->panic = true;
    } else if (slri_is_name(unit)) {
        SLRI_ERROR(unit, token->where, UNKNOWN_NAME, "'%s' is not the name of a type", token->text);
        SLRI_ADVISE(unit, slri_advise_type(unit, token->text));
        unit->panic = true;
    } else {
        slri_unexpected(unit, "a type");
    }
}

bool slri_parse_specifiers(struct slri_unit *unit, struct slri_specifiers *out)
{
    *out = (struct slri_specifiers){.where = slri_peek(unit)->where};
    uint32_t longs = 0;
    while (take_specifier(unit, out, &longs))
        continue;
    if (unit->panic)
        return false;
    out->is_const |= (out->words & (SLRI_WORD_CONST | SLRI_WORD_CONSTANT)) != 0;
    out->is_volatile |= (out->words & SLRI_WORD_VOLATILE) != 0;
    uint32_t set = out->words & SLRI_WORDS_OF_TYPES;
    if (out->type && set)
        SLRI_ERROR(unit, out->where, BAD_TYPE, "two types in one declaration");
    else if (set)
        out->type = type_of_words(unit, set, longs, out->where);
    if (!out->type)
        report_missing_type(unit);
    return out->type != NULL;
}

// ---- declarators ---------------------------------------------------------------------------------------------------

static const struct slri_type *make_array(struct slri_unit *unit, const struct slri_type *of, uint64_t count,
                                          struct slri_where where)
{
    if (of->kind == SLRI_POINTER)
        SLRI_ERROR(unit, where, POINTER_IN_MEMORY, "an array of %s", slri_unit_spell(unit, of));
    else if (!slri_type_is_complete(of))
        SLRI_ERROR(unit, where, INCOMPLETE_TYPE, "an array of %s, whose size is not known", slri_unit_spell(unit, of));
    else if (count > SLRI_TYPE_MAX_BYTES / of->bytes)
        SLRI_ERROR(unit, where, TYPE_TOO_LARGE, "an array of %llu %s", (unsigned long long)count,
                   slri_unit_spell(unit, of));
    else {
        const struct slri_type *type = slri_type_array(unit->types, of, count);
        if (!type)
            slri_unit_give_up(unit, SLR_NO_MEMORY);
        return type;
    }
    return slri_type_array(unit->types, slri_type_of(unit->types, SLRI_I32), 1);
}

static const struct slri_type *parse_extents(struct slri_unit *unit, const struct slri_type *type)
{
    if (!slri_is(unit, "["))
        return type;
    struct slri_where where = slri_advance(unit)->where;
    int64_t count = 0;
    bool is_open = slri_is(unit, "]");
    if (!is_open) {
        struct slri_where at = slri_peek(unit)->where;
        if (!slri_parse_constant(unit, "an array's extent", &count))
            count = 1;
        else if (count <= 0)
            SLRI_ERROR(unit, at, EXTENT_NOT_CONSTANT, "an array of %lld elements", (long long)count);
        count = count <= 0 ? 1 : count;
    }
    slri_expect(unit, "]", "after the array's extent");
    const struct slri_type *of = type;
    if (slri_enter(unit) && !unit->panic)
        of = parse_extents(unit, type);
    slri_leave(unit);
    return make_array(unit, of, (uint64_t)count, where);
}

// To what the declarator is of so far.
static const struct slri_type *make_pointer(struct slri_unit *unit, const struct slri_type *of,
                                            const struct slri_declarator *made)
{
    const struct slri_type *type = slri_type_pointer(unit->types, of, made->is_const, made->is_volatile);
    if (!type)
        slri_unit_give_up(unit, SLR_NO_MEMORY);
    return type;
}

static void parse_stars(struct slri_unit *unit, struct slri_declarator *out)
{
    while (slri_is(unit, "*")) {
        struct slri_where where = slri_advance(unit)->where;
        if (out->type->kind == SLRI_POINTER)
            SLRI_ERROR(unit, where, POINTER_IN_MEMORY, "a pointer to a pointer");
        else
            out->type = make_pointer(unit, out->type, out);
        out->is_const = out->is_restrict = out->is_volatile = false;
        if (slri_is(unit, "volatile")) {
            SLRI_ERROR(unit, slri_peek(unit)->where, UNSUPPORTED_FEATURE, "a pointer that is volatile itself");
            slri_advance(unit);
        }
        for (uint32_t word; (word = word_of(slri_peek(unit)) & (SLRI_WORD_CONST | SLRI_WORD_RESTRICT)) != 0;) {
            out->is_const |= word == SLRI_WORD_CONST;
            out->is_restrict |= word == SLRI_WORD_RESTRICT;
            slri_advance(unit);
        }
    }
}

static struct slri_symbol *parse_parameter(struct slri_unit *unit)
{
    struct slri_specifiers base;
    struct slri_declarator made;
    if (!slri_parse_specifiers(unit, &base) || !slri_parse_declarator(unit, &base, &made))
        return NULL;
    struct slri_symbol *symbol = slri_unit_take(unit, sizeof *symbol);
    *symbol = (struct slri_symbol){.kind = SLRI_SYMBOL_VARIABLE, .type = made.type, .is_const = made.is_const};
    symbol->is_volatile = made.is_volatile;
    symbol->is_restrict = made.is_restrict;
    symbol->name = made.name ? made.name->text : NULL;
    symbol->where = made.name ? made.name->where : base.where;
    if (made.is_function)
        SLRI_ERROR(unit, symbol->where, FUNCTION_POINTER, "a parameter that is a function");
    if (slri_is(unit, "=")) {
        SLRI_ERROR(unit, slri_peek(unit)->where, CPLUSPLUS, "a parameter with a default value");
        unit->panic = true;
    }
    if (made.type->kind == SLRI_ARRAY) { // as C has it: a pointer to the first element
        symbol->type = make_pointer(unit, made.type->of, &made);
        symbol->is_const = symbol->is_volatile = false;
    } else if (made.type->kind == SLRI_VOID || !slri_type_is_complete(made.type)) {
        SLRI_ERROR(unit, symbol->where, INCOMPLETE_TYPE, "a parameter of the type %s",
                   slri_unit_spell(unit, made.type));
        symbol->type = slri_type_of(unit->types, SLRI_I32);
    }
    return symbol;
}

#define PARAMETERS_LIMIT 127 // C promises that many

static void parse_parameters(struct slri_unit *unit, struct slri_declarator *out)
{
    struct slri_symbol *param[PARAMETERS_LIMIT];
    slri_advance(unit);
    bool is_empty = slri_is(unit, ")") ||
                    (slri_is(unit, "void") && slri_token_is(slri_peek_at(unit, 1), ")") && slri_advance(unit));
    while (!is_empty && !unit->panic) {
        if (slri_is(unit, "...")) {
            SLRI_ERROR(unit, slri_peek(unit)->where, VARARGS, "a function with variable arguments");
            unit->panic = true;
        } else if (out->params == PARAMETERS_LIMIT) {
            SLRI_ERROR(unit, slri_peek(unit)->where, BAD_DECLARATION, "more than %d parameters", PARAMETERS_LIMIT);
            unit->panic = true;
        } else if ((param[out->params] = parse_parameter(unit)) != NULL) {
            out->params++;
        }
        if (unit->panic || !slri_accept(unit, ","))
            break;
    }
    slri_expect(unit, ")", "after the parameters");
    out->is_function = true;
    out->param = slri_unit_take(unit, (out->params + 1) * sizeof *param);
    if (out->params)
        memcpy(out->param, param, out->params * sizeof *param);
}

// (*name)[16] and (*__restrict__ name)[16].
static bool starts_array_pointer(const struct slri_unit *unit)
{
    uint32_t at = 2;
    if (unit->panic || !slri_is(unit, "(") || !slri_token_is(slri_peek_at(unit, 1), "*"))
        return false;
    while (word_of(slri_peek_at(unit, at)) & (SLRI_WORD_CONST | SLRI_WORD_RESTRICT))
        at++;
    at += slri_peek_at(unit, at)->kind == SLRI_TOKEN_NAME;
    return slri_token_is(slri_peek_at(unit, at), ")") && slri_token_is(slri_peek_at(unit, at + 1), "[");
}

// What C has for a parameter a[][16], and for a pointer to a row.
static void parse_array_pointer(struct slri_unit *unit, struct slri_declarator *out)
{
    bool is_const = false;
    slri_advance(unit);
    slri_advance(unit);
    for (uint32_t word; (word = word_of(slri_peek(unit)) & (SLRI_WORD_CONST | SLRI_WORD_RESTRICT)) != 0;) {
        is_const |= word == SLRI_WORD_CONST;
        out->is_restrict |= word == SLRI_WORD_RESTRICT;
        slri_advance(unit);
    }
    out->name = slri_is_name(unit) ? slri_advance(unit) : NULL;
    slri_expect(unit, ")", "after the pointer");
    struct slri_where where = slri_peek(unit)->where;
    const struct slri_type *row = unit->panic ? out->type : parse_extents(unit, out->type);
    if (row->kind == SLRI_ARRAY && !slri_type_is_complete(row))
        SLRI_ERROR(unit, where, INCOMPLETE_TYPE, "a pointer to %s, whose size is not known",
                   slri_unit_spell(unit, row));
    out->type = make_pointer(unit, row, out);
    out->is_const = is_const;
    out->is_volatile = false;
}

static void parse_suffix(struct slri_unit *unit, struct slri_declarator *out)
{
    if (slri_is(unit, "(") && slri_token_is(slri_peek_at(unit, 1), "*")) {
        SLRI_ERROR(unit, slri_peek(unit)->where, FUNCTION_POINTER, "a pointer to a function or to an array");
        unit->panic = true;
    } else if (slri_is(unit, "(") && out->name) {
        parse_parameters(unit, out);
    } else {
        out->type = parse_extents(unit, out->type);
    }
}

static void advise_pointer(struct slri_unit *unit, const struct slri_declarator *made)
{
    const struct slri_token *next = slri_peek_at(unit, 1);
    const char *name = next->kind == SLRI_TOKEN_NAME ? next->text : "name";
    SLRI_ADVISE(unit, slri_unit_format(unit, "write a pointer, %s%s *%s, and %s->member",
                                       made->is_const ? "const " : "", slri_unit_spell(unit, made->type), name, name));
}

bool slri_parse_declarator(struct slri_unit *unit, const struct slri_specifiers *base, struct slri_declarator *out)
{
    *out = (struct slri_declarator){.type = base->type, .is_const = base->is_const, .is_volatile = base->is_volatile};
    if (slri_enter(unit)) {
        parse_stars(unit, out);
        if (slri_is(unit, "&") || slri_is(unit, "&&")) {
            SLRI_ERROR(unit, slri_peek(unit)->where, CPLUSPLUS, "a reference");
            advise_pointer(unit, out);
            unit->panic = true;
        }
        if (starts_array_pointer(unit)) {
            parse_array_pointer(unit, out);
        } else {
            out->name = slri_is_name(unit) && !unit->panic ? slri_advance(unit) : NULL;
            parse_suffix(unit, out);
        }
        slri_accept_alignment(unit, &out->align);
        if (slri_is(unit, "asm"))
            slri_report_foreign(unit);
    }
    slri_leave(unit);
    return !unit->panic;
}

const struct slri_type *slri_parse_type_name(struct slri_unit *unit)
{
    struct slri_specifiers base;
    struct slri_declarator made;
    if (!slri_parse_specifiers(unit, &base) || !slri_parse_declarator(unit, &base, &made))
        return NULL;
    if (made.name) {
        SLRI_ERROR(unit, made.name->where, UNEXPECTED_TOKEN, "expected a type alone, found the name '%s' after it",
                   made.name->text);
        unit->panic = true;
        return NULL;
    }
    return made.type;
}
