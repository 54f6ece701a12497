// SPDX-License-Identifier: Apache-2.0
// What the language has built in for the threads of a block: their place, barriers, fences.
#include "kernel/check.h"

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

static struct slri_expr *make_fence(struct slri_unit *unit, enum slri_scope scope, const struct slri_token *name,
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

struct slri_expr *slri_make_block_builtin(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg,
                                          uint32_t args)
{
    for (size_t i = 0; i < COUNT(barriers); i++)
        if (slri_token_is(name, barriers[i].name))
            return make_barrier(unit, &barriers[i], name, arg, args);
    for (size_t i = 0; i < COUNT(fences); i++)
        if (slri_token_is(name, fences[i].name))
            return make_fence(unit, fences[i].scope, name, args);
    return NULL;
}
