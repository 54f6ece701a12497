// SPDX-License-Identifier: Apache-2.0
// Calls of functions of the source.
#include "lang/check/advice.h"
#include "lang/check/check.h"

#include <string.h>

bool slri_check_argument_count(struct slri_unit *unit, const struct slri_token *name, uint32_t has, uint32_t needs)
{
    if (has == needs)
        return true;
    SLRI_ERROR(unit, name->where, WRONG_ARGUMENT_COUNT, "'%s' takes %u argument%s, but got %u", name->text, needs,
               needs == 1 ? "" : "s", has);
    return false;
}

static struct slri_expr *unknown_function(struct slri_unit *unit, const struct slri_token *name)
{
    static const char *const of_heap[] = {"malloc", "calloc", "realloc", "free"};
    for (size_t i = 0; i < sizeof of_heap / sizeof *of_heap; i++)
        if (slri_token_is(name, of_heap[i])) {
            SLRI_ERROR(unit, name->where, DYNAMIC_ALLOCATION, "'%s'", name->text);
            return slri_make_error(unit, name->where);
        }
    SLRI_ERROR(unit, name->where, UNKNOWN_FUNCTION, "there is no function '%s'", name->text);
    SLRI_ADVISE(unit, slri_advise_function(unit, name->text));
    return slri_make_error(unit, name->where);
}

static uint32_t tallest(struct slri_expr **arg, uint32_t args)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < args; i++)
        most = arg[i]->height > most ? arg[i]->height : most;
    return most;
}

static bool convert_arguments(struct slri_unit *unit, const struct slri_func *func, struct slri_expr **arg)
{
    bool is_right = true;
    for (uint32_t i = 0; i < func->params; i++) {
        const char *what = slri_unit_format(unit, "argument %u of '%s'", i + 1, func->name);
        arg[i] = slri_convert(unit, arg[i], func->param[i]->type, what);
        is_right &= arg[i]->op != SLRI_EXPR_ERROR;
    }
    return is_right;
}

static struct slri_expr *call_function(struct slri_unit *unit, const struct slri_token *name, struct slri_func *func,
                                       struct slri_expr **arg, uint32_t args)
{
    if (func->is_ring || func->is_kernel) {
        SLRI_ERROR(unit, name->where, HANDLER_CALLED, "'%s' is a %s", name->text,
                   func->is_ring ? "__ring__ handler" : "__global__ kernel");
        return slri_make_error(unit, name->where);
    }
    if (!slri_check_argument_count(unit, name, args, func->params) || !convert_arguments(unit, func, arg))
        return slri_make_error(unit, name->where);
    struct slri_expr *made = slri_make(unit, SLRI_EXPR_CALL, func->result, name->where, NULL, NULL);
    made->callee = func;
    made->args = args;
    made->height = tallest(arg, args) + 1;
    made->arg = slri_unit_take(unit, (args + 1) * sizeof(struct slri_expr *));
    if (args)
        memcpy(made->arg, arg, args * sizeof(struct slri_expr *));
    return made;
}

struct slri_expr *slri_make_call(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg,
                                 uint32_t args)
{
    const struct slri_symbol *symbol = slri_lookup(unit, name->text, SLRI_SPACE_NAMES);
    if (symbol && symbol->kind == SLRI_SYMBOL_FUNCTION)
        return call_function(unit, name, symbol->func, arg, args);
    if (symbol) {
        SLRI_ERROR(unit, name->where, NOT_A_FUNCTION, "'%s' is not a function", name->text);
        return slri_make_error(unit, name->where);
    }
    struct slri_expr *made = slri_make_builtin(unit, name, arg, args);
    if (!made)
        return unknown_function(unit, name);
    made->height = tallest(arg, args) + 1;
    return made;
}
