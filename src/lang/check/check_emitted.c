// SPDX-License-Identifier: Apache-2.0
// Words of emitted text: what the IR can say and the language cannot. They are known only in text that an emitter wrote
// (slri_source.is_emitted), because no index of theirs is checked.
//
//   __slri_at(x, offset)    a pointer `offset` bytes into what x points into, or into x itself; to be cast
//   __slri_offset(p)        how far p points into that
//   __slri_put(p, value)    *p = value, without narrowing it first
//   __slri_zero(p, bytes)  __slri_copy(to, from, bytes, alignment)
//   __slri_index(i, extent) the fault of an index
//   __slri_clock()          ticks of the device's counter
//   __slri_messages()       how many messages a call has
//   __slri_divide(a / b)    the same, or a % b, of a b that is not zero: no fault is looked for
//   __slri_cas(p, old, new, order, scope)
//   __slri_assert()         the fault of an assertion
//   __slri_float(bits) __slri_double(bits)
//   __slri_print(number, text, ...)  printf with a text that has that number
#include "lang/check/check.h"
#include "abi/handler.h"

static struct slri_expr *make_at(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg)
{
    struct slri_expr *of = arg[0], *offset = slri_to_index(unit, arg[1]);
    if (of->op == SLRI_EXPR_ERROR || offset->op == SLRI_EXPR_ERROR)
        return slri_make_error(unit, name->where);
    if (slri_type_is_scalar(of->type))
        slri_take_address(of);
    const struct slri_type *type = slri_type_pointer(unit->types, slri_type_of(unit->types, SLRI_U8), false, false);
    if (!type)
        slri_unit_give_up(unit, SLR_NO_MEMORY);
    return slri_make(unit, SLRI_EXPR_AT, type, name->where, of, offset);
}

static struct slri_expr *make_offset(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg)
{
    struct slri_expr *of = slri_rvalue(unit, arg[0]);
    return slri_make(unit, SLRI_EXPR_OFFSET, slri_type_of(unit->types, SLRI_I64), name->where, of, NULL);
}

// The bits of a constant, or an error.
static struct slri_expr *make_bits(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg,
                                   enum slri_kind kind)
{
    if (arg[0]->op != SLRI_EXPR_CONST)
        return slri_make_error(unit, name->where);
    return slri_make_const(unit, kind, arg[0]->bits, name->where);
}

static struct slri_expr *make_float(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg)
{
    return make_bits(unit, name, arg, SLRI_F32);
}

static struct slri_expr *make_double(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg)
{
    return make_bits(unit, name, arg, SLRI_F64);
}

static struct slri_expr *make_memory(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg,
                                     enum slri_op instr)
{
    struct slri_expr *at = slri_rvalue(unit, arg[0]), *value = slri_rvalue(unit, arg[1]);
    if (at->op == SLRI_EXPR_ERROR || value->op == SLRI_EXPR_ERROR)
        return slri_make_error(unit, name->where);
    struct slri_expr *made =
        slri_make(unit, SLRI_EXPR_EMITTED, slri_type_of(unit->types, SLRI_VOID), name->where, at, value);
    made->instr = instr;
    return made;
}

static struct slri_expr *make_put(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg)
{
    return make_memory(unit, name, arg, SLRI_OP_STORE);
}

static struct slri_expr *make_zero(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg)
{
    return make_memory(unit, name, arg, SLRI_OP_ZERO);
}

static struct slri_expr *make_copy(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg)
{
    struct slri_expr *made = make_memory(unit, name, arg, SLRI_OP_COPY);
    made->third = slri_rvalue(unit, arg[2]);
    made->index = arg[3]->op == SLRI_EXPR_CONST ? (uint32_t)arg[3]->bits : 0;
    return made;
}

static struct slri_expr *make_index(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg)
{
    return make_memory(unit, name, arg, SLRI_OP_INDEX);
}

static struct slri_expr *make_divide(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg)
{
    (void)unit, (void)name;
    struct slri_expr *of = arg[0];
    if (of->op == SLRI_EXPR_BINARY && (of->instr == SLRI_OP_DIV || of->instr == SLRI_OP_REM))
        of->index = SLRI_DIVISOR_IS_NOT_ZERO;
    return of;
}

static struct slri_expr *make_clock(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg)
{
    (void)arg;
    return slri_make(unit, SLRI_EXPR_CLOCK, slri_type_of(unit->types, SLRI_U64), name->where, NULL, NULL);
}

static struct slri_expr *make_messages(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg)
{
    (void)arg;
    return slri_make(unit, SLRI_EXPR_MESSAGES, slri_type_of(unit->types, SLRI_U32), name->where, NULL, NULL);
}

static struct slri_expr *make_assert(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg)
{
    (void)arg;
    struct slri_expr *made =
        slri_make(unit, SLRI_EXPR_TRAP, slri_type_of(unit->types, SLRI_VOID), name->where, NULL, NULL);
    made->index = SLRI_FAULT_ASSERT;
    return made;
}

#define FORMATS_LIMIT (1u << 20)

uint32_t slri_parse_format_number(struct slri_unit *unit, const struct slri_token *name)
{
    if (!unit->front->source->is_emitted || !slri_token_is(name, "__slri_print"))
        return UINT32_MAX;
    const struct slri_expr *number = slri_parse_assignment(unit);
    if (number->op != SLRI_EXPR_CONST || number->bits >= FORMATS_LIMIT || !slri_expect(unit, ",", "after a number"))
        return UINT32_MAX;
    return (uint32_t)number->bits;
}

struct slri_expr *slri_make_emitted_builtin(struct slri_unit *unit, const struct slri_token *name,
                                            struct slri_expr **arg, uint32_t args)
{
    static const struct {
        const char *name;
        uint32_t args;
        struct slri_expr *(*make)(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg);
    } words[] = {
        {"__slri_at", 2, make_at},         {"__slri_offset", 1, make_offset}, {"__slri_put", 2, make_put},
        {"__slri_zero", 2, make_zero},     {"__slri_copy", 4, make_copy},     {"__slri_index", 2, make_index},
        {"__slri_float", 1, make_float},   {"__slri_double", 1, make_double}, {"__slri_assert", 0, make_assert},
        {"__slri_divide", 1, make_divide}, {"__slri_clock", 0, make_clock},   {"__slri_messages", 0, make_messages},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (slri_token_is(name, words[i].name))
            return slri_check_argument_count(unit, name, args, words[i].args) ? words[i].make(unit, name, arg)
                                                                              : slri_make_error(unit, name->where);
    return NULL;
}
