// SPDX-License-Identifier: Apache-2.0
// What a source declares for the tuner. Its lines are pragmas, which other compilers pass over:
//
//     #pragma slipring tune TILE = 8, 16, 32        values that the macro TILE may have
//     #pragma slipring require TILE * ROWS <= 1024  what must hold of a choice
//     #pragma slipring block matmul = TILE, TILE    the threads of a block of kernel matmul
//     #pragma slipring items matmul = TILE, ROWS    how many of a launch's threads a block does
//
// They are read at the end of the source, with the macros as they are then. So is the macro SLIPRING_SELECT: where it
// is not 0, short branches are without jumps (ir/pass/select.h).
#include "lang/text/preprocess.h"

#include <string.h>

enum { VALUES_LIMIT = 64, TUNABLES_LIMIT = 16, LAUNCHES_LIMIT = 64, BLOCK_LIMIT = 1024, ITEMS_LIMIT = 1 << 20 };

void slri_tuning_note(struct slri_pp *pp, struct slri_lexeme *line, struct slri_where where)
{
    struct slri_declared *made = slri_pp_take(pp, sizeof *made);
    *made = (struct slri_declared){.where = where, .line = line};
    *(pp->last_declared ? &pp->last_declared->next : &pp->declared) = made;
    pp->last_declared = made;
}

static bool bad(struct slri_pp *pp, struct slri_where where, const char *what)
{
    slri_pp_error(pp, where, SLRI_K_BAD_TUNING, "#pragma slipring: %s", what);
    return false;
}

static void *take(struct slri_pp *pp, size_t bytes)
{
    void *room = slri_region_take(pp->front->region, bytes);
    if (!room)
        slri_pp_give_up(pp, SLR_NO_MEMORY);
    return room;
}

static bool is_sign(const struct slri_lexeme *at, const char *text)
{
    return at && at->kind == SLRI_LEXEME_PUNCT && strcmp(at->text, text) == 0;
}

// Takes the part up to a comma outside of parentheses off the list. NULL: nothing stands there.
static struct slri_lexeme *cut_part(struct slri_lexeme **list)
{
    struct slri_lexeme *first = *list, *last = NULL, *at = first;
    int depth = 0;
    for (; at && (depth > 0 || !is_sign(at, ",")); last = at, at = at->next)
        depth += is_sign(at, "(") - is_sign(at, ")");
    *list = at ? at->next : NULL;
    if (!last)
        return NULL;
    last->next = NULL;
    return first;
}

// The values of a list of expressions, `most` at the most. 0 after a report.
static uint32_t read_values(struct slri_pp *pp, const struct slri_declared *line, struct slri_lexeme *list,
                            uint32_t most, int64_t *out)
{
    uint32_t count = 0;
    while (list) {
        struct slri_where where = list->where;
        bool ends_in_comma = false;
        for (const struct slri_lexeme *at = list; at; at = at->next)
            ends_in_comma = is_sign(at, ",");
        struct slri_lexeme *part = cut_part(&list);
        if (!part || count == most || (!list && ends_in_comma)) {
            bad(pp, where, count == most ? "too many values" : "a value is missing");
            return 0;
        }
        if (!slri_condition_value(pp, part, line->where, &out[count++]))
            return 0;
    }
    if (count == 0)
        bad(pp, line->where, "a value is missing");
    return count;
}

// "NAME =": the name, and *rest behind it. NULL after a report.
static const struct slri_lexeme *read_name(struct slri_pp *pp, const struct slri_declared *line,
                                           struct slri_lexeme **rest)
{
    struct slri_lexeme *name = line->line->next;
    if (!name || name->kind != SLRI_LEXEME_NAME || !is_sign(name->next, "=")) {
        bad(pp, name ? name->where : line->where, "NAME = is missing");
        return NULL;
    }
    *rest = name->next->next;
    return name;
}

// ---- lines ---------------------------------------------------------------------------------------------------------

static void sort_values(int64_t *value, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && value[k] < value[k - 1]; k--) {
            int64_t other = value[k];
            value[k] = value[k - 1];
            value[k - 1] = other;
        }
}

static bool has_twins(const int64_t *sorted, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (sorted[i] == sorted[i - 1])
            return true;
    return false;
}

static bool read_tune(struct slri_pp *pp, struct slri_tuning *to, const struct slri_declared *line)
{
    struct slri_lexeme *rest;
    const struct slri_lexeme *name = read_name(pp, line, &rest);
    int64_t value[VALUES_LIMIT], now;
    uint32_t count = name ? read_values(pp, line, rest, VALUES_LIMIT, value) : 0;
    if (count == 0)
        return false;
    if (!slri_macro_find(pp, name->text))
        return bad(pp, name->where, "no macro has this name");
    for (uint32_t i = 0; i < to->tunables; i++)
        if (strcmp(to->tunable[i].name, name->text) == 0)
            return bad(pp, name->where, "this macro has its values already");
    if (to->tunables == TUNABLES_LIMIT)
        return bad(pp, name->where, "more than 16 macros");
    sort_values(value, count);
    if (has_twins(value, count))
        return bad(pp, name->where, "a value stands there twice");
    struct slri_lexeme *use = slri_pp_copy(pp, name, name->where);
    if (!slri_condition_value(pp, use, line->where, &now))
        return false;
    int64_t *kept = take(pp, count * sizeof *kept);
    memcpy(kept, value, count * sizeof *kept);
    to->tunable[to->tunables++] = (struct slri_tunable){name->text, kept, count, now, line->where.line};
    return true;
}

static bool read_require(struct slri_pp *pp, struct slri_tuning *to, const struct slri_declared *line)
{
    int64_t value;
    if (!line->line->next)
        return bad(pp, line->where, "the condition is missing");
    if (slri_condition_value(pp, line->line->next, line->where, &value) && value == 0)
        to->is_allowed = false;
    return true;
}

static struct slri_tuned_launch *launch_of(struct slri_pp *pp, struct slri_tuning *to, const struct slri_lexeme *name)
{
    for (uint32_t i = 0; i < to->launches; i++)
        if (strcmp(to->launch[i].kernel, name->text) == 0)
            return &to->launch[i];
    if (to->launches == LAUNCHES_LIMIT) {
        bad(pp, name->where, "more than 64 kernels");
        return NULL;
    }
    to->launch[to->launches] = (struct slri_tuned_launch){.kernel = name->text, .where = name->where};
    return &to->launch[to->launches++];
}

// Three numbers from 1 to `most`; those that are left out are 1.
static bool read_extent(struct slri_pp *pp, struct slri_tuning *to, const struct slri_declared *line, bool is_block)
{
    struct slri_lexeme *rest;
    const struct slri_lexeme *name = read_name(pp, line, &rest);
    int64_t value[3] = {1, 1, 1};
    struct slri_tuned_launch *launch;
    if (!name || read_values(pp, line, rest, 3, value) == 0 || !(launch = launch_of(pp, to, name)))
        return false;
    uint32_t *extent = is_block ? launch->block : launch->items;
    if (extent[0])
        return bad(pp, name->where, "this kernel has such a line already");
    for (int i = 0; i < 3; i++) {
        bool fits = value[i] >= 1 && value[i] <= (is_block ? BLOCK_LIMIT : ITEMS_LIMIT);
        // What a choice that is not allowed would make is not looked at.
        extent[i] = fits ? (uint32_t)value[i] : 1;
        if (!fits && to->is_allowed)
            return bad(pp, name->where,
                       is_block ? "a block has 1 to 1,024 threads along each side" : "items are 1 to 2^20");
    }
    return true;
}

// ---- all of them ---------------------------------------------------------------------------------------------------

static bool is_word(const struct slri_declared *line, const char *word)
{
    return line->line && line->line->kind == SLRI_LEXEME_NAME && strcmp(line->line->text, word) == 0;
}

static bool read_line(struct slri_pp *pp, struct slri_tuning *to, const struct slri_declared *line)
{
    return is_word(line, "tune")    ? read_tune(pp, to, line)
           : is_word(line, "block") ? read_extent(pp, to, line, true)
           : is_word(line, "items") ? read_extent(pp, to, line, false)
                                    : is_word(line, "require") || bad(pp, line->line ? line->line->where : line->where,
                                                                      "not tune, require, block or items");
}

// Whether a macro that other compilers know nothing of is not 0.
static bool is_set(struct slri_pp *pp, const char *name)
{
    struct slri_lexeme use = {.kind = SLRI_LEXEME_NAME, .length = (uint32_t)strlen(name), .where = {0, 1, 1}};
    int64_t value;
    use.text = slri_intern(pp, name, use.length);
    return slri_macro_find(pp, use.text) &&
           slri_condition_value(pp, slri_pp_copy(pp, &use, use.where), use.where, &value) && value != 0;
}

void slri_tuning_read(struct slri_pp *pp)
{
    const bool asks_select = pp->front->asks_select;
    pp->front->selects = is_set(pp, SLRI_SELECT_MACRO);
    pp->front->asks_select = asks_select;
    pp->front->guards = is_set(pp, SLRI_GUARD_MACRO);
    if (!pp->declared)
        return;
    struct slri_tuning *made = take(pp, sizeof *made);
    made->tunable = take(pp, TUNABLES_LIMIT * sizeof *made->tunable);
    made->launch = take(pp, LAUNCHES_LIMIT * sizeof *made->launch);
    made->is_allowed = true;
    for (const struct slri_declared *line = pp->declared; line; line = line->next)
        if (is_word(line, "require")) // before what only holds for what is allowed
            (void)read_require(pp, made, line);
    for (const struct slri_declared *line = pp->declared; line; line = line->next)
        (void)read_line(pp, made, line); // what is wrong is in the report
    pp->front->tuning = made;
}
