// SPDX-License-Identifier: Apache-2.0
// Attributes: those that align, and those that change nothing that a program does.
#include "lang/check/parse.h"

#define ALIGN_MAX 128 // bytes: as memory of devices is aligned at least
#define COUNT(array) (sizeof(array) / sizeof *(array))

bool slri_starts_alignment(const struct slri_unit *unit)
{
    static const char *const starts[] = {"__align__", "_Alignas", "alignas", "__attribute__"};
    const struct slri_token *token = slri_peek(unit);
    if (token->kind != SLRI_TOKEN_NAME || !slri_token_is(slri_peek_at(unit, 1), "("))
        return false;
    for (size_t i = 0; i < COUNT(starts); i++)
        if (slri_token_is(token, starts[i]))
            return !slri_lookup(unit, token->text, SLRI_SPACE_NAMES); // alignas may be somebody's name in C
    return false;
}

// A number of bytes, or the type whose alignment it is to be.
static void take_alignment(struct slri_unit *unit, uint32_t *align)
{
    struct slri_where where = slri_peek(unit)->where;
    int64_t bytes = 0;
    if (slri_starts_type(unit)) {
        const struct slri_type *type = slri_parse_type_name(unit);
        bytes = type ? type->align : 0;
    } else if (!slri_parse_constant(unit, "an alignment", &bytes)) {
        return;
    }
    if (bytes < 1 || bytes > ALIGN_MAX || (bytes & (bytes - 1)))
        SLRI_ERROR(unit, where, VALUE_OUT_OF_RANGE, "an alignment of %lld bytes; expected a power of two up to %d",
                   (long long)bytes, ALIGN_MAX);
    else if (bytes > *align)
        *align = (uint32_t)bytes;
}

// What tells a compiler nothing that changes what a program does.
static bool is_harmless(const struct slri_token *token)
{
    static const char *const words[] = {"unused",       "used",         "always_inline", "noinline",
                                        "__unused__",   "may_alias",    "__may_alias__", "hot",
                                        "maybe_unused", "__noinline__", "flatten",       "cold"};
    for (size_t i = 0; i < COUNT(words); i++)
        if (slri_token_is(token, words[i]))
            return true;
    return false;
}

static void take_attribute(struct slri_unit *unit, uint32_t *align)
{
    const struct slri_token *word = slri_peek(unit);
    if (slri_token_is(word, "aligned") || slri_token_is(word, "__aligned__")) {
        slri_advance(unit);
        if (!slri_accept(unit, "(")) {
            *align = *align > 16 ? *align : 16; // the largest that anything needs
            return;
        }
        take_alignment(unit, align);
        slri_expect(unit, ")", "after the alignment");
    } else if (is_harmless(word)) {
        slri_advance(unit);
    } else if (!unit->panic) {
        SLRI_ERROR(unit, word->where, ATTRIBUTE, "not in the subset: the attribute '%s'", word->text);
        unit->panic = true;
    }
}

void slri_accept_alignment(struct slri_unit *unit, uint32_t *align)
{
    while (!unit->panic && slri_starts_alignment(unit)) {
        bool is_list = slri_token_is(slri_advance(unit), "__attribute__");
        slri_advance(unit); // the ( that slri_starts_alignment has seen
        if (!is_list) {
            take_alignment(unit, align);
        } else if (slri_expect(unit, "(", "after __attribute__(")) {
            do
                take_attribute(unit, align);
            while (!unit->panic && slri_accept(unit, ","));
            slri_expect(unit, ")", "after the attributes");
        }
        slri_expect(unit, ")", "after the alignment");
    }
}
