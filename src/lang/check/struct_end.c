// SPDX-License-Identifier: Apache-2.0
// The ; that is forgotten behind a struct's definition. To the grammar the next declaration then belongs to it, and
// what is wrong is found out far away, or not at all: in a file with host code the two are left out as one.
#include "lang/check/advice.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct slri_token *token_after(const struct slri_front *front, uint32_t at)
{
    return &front->token[at < front->tokens ? at : front->tokens - 1];
}

static uint32_t behind_words(const struct slri_front *front, uint32_t at)
{
    static const char *const words[] = {"__ring__", "__ring_block__",  "__ring_batch__", "__global__", "__device__",
                                        "__host__", "static",          "inline",         "__inline__", "const",
                                        "extern",   "__forceinline__", "__noinline__"};
    while (at < front->tokens && slri_token_is_any(token_after(front, at), words, COUNT(words)))
        at++;
    return at;
}

// Whether what stands there is a type, so that a struct in front of it is one too many.
static bool is_type(const struct slri_token *token)
{
    static const char *const types[] = {"struct", "union", "enum", "typedef",  "void",   "int",   "float", "double",
                                        "char",   "short", "long", "unsigned", "signed", "_Bool", "bool"};
    return slri_token_is_any(token, types, COUNT(types));
}

#define DEEPEST 64 // braces in braces: what lies deeper is left to the grammar

// The definition that begins at `at`, a struct's, has closed before `next`.
static void check_end(struct slri_front *front, uint32_t at, uint32_t next)
{
    const struct slri_token *kind = token_after(front, at), *name = token_after(front, at + 1),
                            *close = token_after(front, next - 1);
    bool is_named = !slri_token_is(name, "{");
    if (next >= front->tokens || close->where.line == token_after(front, next)->where.line ||
        !is_type(token_after(front, behind_words(front, next))))
        return;
    slri_report_error(front, close->where, SLRI_K_UNEXPECTED_TOKEN, "expected ';' after the definition of %s%s%s",
                      kind->text, is_named ? " " : "", is_named ? name->text : "");
    slri_report_advise(front, "write }; here");
}

void slri_check_struct_ends(struct slri_front *front)
{
    static const char *const kinds[] = {"struct", "union", "enum"};
    uint32_t begun[DEEPEST] = {0}, depth = 0; // by braces that are open: 1 + where their struct begins; 0: another's
    for (uint32_t at = 0; at < front->tokens; at++) {
        if (slri_token_is(token_after(front, at), "}")) {
            depth -= depth > 0;
            if (depth < DEEPEST && begun[depth] != 0)
                check_end(front, begun[depth] - 1, at + 1);
            if (depth < DEEPEST)
                begun[depth] = 0;
        }
        if (!slri_token_is(token_after(front, at), "{"))
            continue;
        bool is_named = at > 1 && slri_token_is_any(token_after(front, at - 2), kinds, COUNT(kinds));
        bool is_bare = at > 0 && slri_token_is_any(token_after(front, at - 1), kinds, COUNT(kinds));
        if (depth < DEEPEST)
            begun[depth] = is_bare ? at : is_named ? at - 1 : 0;
        depth++;
    }
}
