// SPDX-License-Identifier: Apache-2.0
// Names of variables and types in source.
#include "fuse/print.h"

#include "ir/math/functions.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// By another name of the source, or by a function of the language.
static bool is_name_taken(const struct slri_name_list *names, const char *name)
{
    for (uint32_t i = 0; i < SLRI_MATH_COUNT; ++i)
        if (strcmp(slri_math_functions[i].name, name) == 0)
            return true;
    for (uint32_t i = 0; i < names->count; ++i)
        if (strcmp(names->name[i], name) == 0)
            return true;
    return false;
}

static const char *add_name(struct slri_name_list *names, const char *name)
{
    if (names->count == names->room) {
        uint32_t room = names->room ? 2 * names->room : 32;
        const char **grown = slri_region_take(names->region, room * sizeof *grown);
        if (!grown) {
            names->out_of_memory = true;
            return "x";
        }
        if (names->count)
            memcpy(grown, names->name, names->count * sizeof *grown);
        names->name = grown;
        names->room = room;
    }
    const char *kept = slri_region_text(names->region, name, strlen(name));
    names->out_of_memory = names->out_of_memory || !kept;
    return kept ? names->name[names->count++] = kept : "x";
}

const char *slri_name_unique(struct slri_name_list *names, const char *wanted)
{
    char name[160];
    snprintf(name, sizeof name, "%.128s", wanted);
    for (uint32_t i = 2; is_name_taken(names, name); ++i)
        snprintf(name, sizeof name, "%.128s_%u", wanted, i);
    return add_name(names, name);
}

const char *slri_kind_source(enum slri_kind kind)
{
    static const char *const source[] = {[SLRI_VOID] = "void",      [SLRI_BOOL] = "bool",
                                         [SLRI_I8] = "signed char", [SLRI_U8] = "unsigned char",
                                         [SLRI_I16] = "short",      [SLRI_U16] = "unsigned short",
                                         [SLRI_I32] = "int",        [SLRI_U32] = "unsigned",
                                         [SLRI_I64] = "long long",  [SLRI_U64] = "unsigned long long",
                                         [SLRI_F32] = "float",      [SLRI_F64] = "double"};
    return (size_t)kind < sizeof source / sizeof *source && source[kind] ? source[kind] : "void";
}

bool slri_mentions_name(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += length) {
        bool begins = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
        if (begins && !isalnum((unsigned char)at[length]) && at[length] != '_')
            return true;
    }
    return false;
}
