// SPDX-License-Identifier: Apache-2.0
// Finds the launches in a file's host code.
#include "lang/host/host_value.h"

#include "base/text.h"

#include <string.h>

enum { LAUNCHES_MAX = 256, ARGUMENTS_MAX = 64, TEXT_BYTES = 120, HALVINGS_MAX = 24 };
#define EFFORT UINT64_C(400000)           // tokens that are looked at for a launch,
#define EFFORT_OF_FILE UINT64_C(10000000) // and for all: a second at most, in a file that is made to be slow

static bool is(const struct slri_unit *unit, uint32_t at, const char *text)
{
    return at < unit->front->tokens && slri_token_is(&unit->front->token[at], text);
}

// In a function's body is what lies in the outermost { } behind a ).
static void find_bodies(struct slri_host_reader *r)
{
    const struct slri_unit *unit = r->unit;
    uint32_t body = 0, depth = 0;
    for (uint32_t at = 1; at < unit->front->tokens; at++) {
        bool is_function = is(unit, at - 1, ")") || is(unit, at - 1, "const") || is(unit, at - 1, "noexcept");
        if (is(unit, at, "{")) {
            depth += body != 0;
            if (body == 0 && is_function)
                body = at, depth = 1;
        }
        r->body[at] = body;
        if (is(unit, at, "}") && body != 0 && --depth == 0)
            body = 0;
    }
}

// The >>> that closes the <<< at `at`; 0: there is none.
static uint32_t find_end(const struct slri_host_reader *r, uint32_t at)
{
    for (at++; at + 1 < r->unit->front->tokens && !is(r->unit, at, ";"); at++) {
        if (is(r->unit, at, ">>>"))
            return at;
        if (is(r->unit, at, "(") || is(r->unit, at, "{"))
            at = slri_host_close(r, at);
    }
    return 0;
}

struct place { // of a launch among the tokens
    uint32_t name, open, end, arguments, close;
};

static void read_once(struct slri_host_reader *r, const struct place *p, struct slri_host_launch *out)
{
    uint32_t grid = p->open + 1, block = slri_host_argument_end(r, grid, p->end) + 1,
             shared = block < p->end ? slri_host_argument_end(r, block, p->end) + 1 : p->end;
    uint64_t given = r->left < EFFORT ? r->left : EFFORT;
    r->effort = given;
    r->is_grid = false;
    if (block >= p->end || !slri_host_dims(r, block, shared - 1 < p->end ? shared - 1 : p->end, out->block))
        memset(out->block, 0, sizeof out->block);
    r->is_grid = true;
    if (!slri_host_dims(r, grid, block - 1, out->grid))
        memset(out->grid, 0, sizeof out->grid);
    r->is_grid = false;
    if (shared < p->end)
        out->shared_bytes = slri_host_value(r, shared, slri_host_argument_end(r, shared, p->end));
    uint32_t at = p->arguments + 1;
    for (out->arguments = 0; at < p->close && out->arguments < ARGUMENTS_MAX; out->arguments++) {
        uint32_t end = slri_host_argument_end(r, at, p->close);
        struct slri_host_argument *argument = &out->argument[out->arguments];
        argument->bytes = slri_host_bytes(r, at, end);
        argument->number = argument->bytes ? (struct slri_host_number){0} : slri_host_value(r, at, end);
        at = end + 1;
    }
    r->left -= given - r->effort;
}

static bool is_large(const struct slri_host_launch *launch)
{
    uint64_t bytes = 0;
    double threads = launch->grid[0] ? 1 : 0;
    for (int i = 0; i < 3; i++)
        threads *= (double)launch->grid[i] * (launch->block[0] ? launch->block[i] : i == 0 ? 256 : 1);
    for (uint32_t i = 0; i < launch->arguments; i++)
        bytes += launch->argument[i].bytes < SLRI_HOST_BYTES ? launch->argument[i].bytes : SLRI_HOST_BYTES;
    return threads > (double)SLRI_HOST_THREADS || bytes > SLRI_HOST_BYTES;
}

static bool has_sizes(const struct slri_host_reader *r)
{
    for (uint32_t i = 0; i < r->roots; i++)
        if (r->is_size[i])
            return true;
    return false;
}

static void read_launch(struct slri_host_reader *r, const struct place *p, struct slri_host_launch *out)
{
    r->roots = r->halvings = r->depth = 0;
    read_once(r, p, out);
    while (is_large(out) && has_sizes(r) && r->halvings < HALVINGS_MAX) {
        r->halvings++;
        read_once(r, p, out);
    }
    if (is_large(out) && r->halvings > 0) { // that was no help
        r->halvings = 0;
        read_once(r, p, out);
    }
    out->halvings = r->halvings;
}

static const char *spell(const struct slri_host_reader *r, const struct place *p)
{
    struct slri_text text = SLRI_TEXT_INIT;
    for (uint32_t at = p->name; at <= p->close && text.length < TEXT_BYTES; at++) {
        const struct slri_token *token = &r->unit->front->token[at], *before = token - 1;
        bool is_word = token->kind != SLRI_TOKEN_PUNCT, was_word = before->kind != SLRI_TOKEN_PUNCT;
        bool is_tight = strchr("(),[].;", *token->text) || strchr("([.&!", *before->text) ||
                        slri_token_is(token, "<<<") || slri_token_is(before, "<<<") || slri_token_is(token, ">>>");
        if (at > p->name && ((is_word && was_word) || !is_tight))
            slri_text_puts(&text, " ");
        slri_text_puts(&text, token->kind == SLRI_TOKEN_STRING ? "\"...\"" : token->text);
    }
    if (text.length >= TEXT_BYTES)
        slri_text_puts(&text, " ...");
    const char *kept = slri_region_text(r->unit->region, slri_text_view(&text), text.length);
    slri_text_free(&text);
    return kept ? kept : "";
}

static bool find_place(const struct slri_host_reader *r, const struct slri_module *module, uint32_t at,
                       struct place *out)
{
    if (!is(r->unit, at, "<<<") || at == 0)
        return false;
    const struct slri_token *name = &r->unit->front->token[at - 1];
    bool is_kernel = false;
    for (uint32_t i = 0; i < module->entries; i++)
        is_kernel |= module->entry[i].kind == SLRI_ENTRY_KERNEL && strcmp(module->entry[i].name, name->text) == 0;
    *out = (struct place){.name = at - 1, .open = at, .end = find_end(r, at)};
    out->arguments = out->end + 1;
    if (!is_kernel || out->end == 0 || !is(r->unit, out->arguments, "("))
        return false;
    out->close = slri_host_close(r, out->arguments);
    return true;
}

void slri_host_read(struct slri_unit *unit, struct slri_module *module)
{
    struct slri_host_reader r = {.unit = unit, .left = EFFORT_OF_FILE};
    struct place place;
    for (uint32_t at = 0; at < unit->front->tokens && module->launches < LAUNCHES_MAX; at++) {
        if (!is(unit, at, "<<<"))
            continue;
        if (!r.body) {
            r.body = slri_unit_take(unit, unit->front->tokens * sizeof *r.body);
            module->launch = slri_unit_take(unit, LAUNCHES_MAX * sizeof *module->launch);
            find_bodies(&r);
        }
        if (!find_place(&r, module, at, &place))
            continue;
        struct slri_host_launch *launch = &module->launch[module->launches++];
        launch->kernel = unit->front->token[place.name].text;
        launch->where = unit->front->token[place.name].where;
        launch->argument = slri_unit_take(unit, ARGUMENTS_MAX * sizeof *launch->argument);
        launch->text = spell(&r, &place);
        read_launch(&r, &place, launch);
    }
}
