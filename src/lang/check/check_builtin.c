// SPDX-License-Identifier: Apache-2.0
// What the language has built in: the math table, atomics, ring_reply and its like, and ring_instance.
#include "lang/check/check.h"
#include "ir/math/functions.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

// ---- constants -----------------------------------------------------------------------------------------------------

enum { ORDER = 100, SCOPE = 200 }; // so that an order given as a scope is found out

static const struct {
    const char *name;
    int value;
} constants[] = {
    {"false", 0},
    {"true", 1},
    {"nullptr", 0}, // to compare pointers with
    {"NULL", 0},
    {"warpSize", SLRI_WARP_THREADS},
    {"__NV_ATOMIC_RELAXED", ORDER + SLRI_RELAXED},
    {"__NV_ATOMIC_ACQUIRE", ORDER + SLRI_ACQUIRE},
    {"__NV_ATOMIC_RELEASE", ORDER + SLRI_RELEASE},
    {"__NV_ATOMIC_ACQ_REL", ORDER + SLRI_ACQ_REL},
    {"__NV_ATOMIC_SEQ_CST", ORDER + SLRI_SEQ_CST},
    {"__NV_THREAD_SCOPE_THREAD", SCOPE + SLRI_SCOPE_BLOCK},
    {"__NV_THREAD_SCOPE_BLOCK", SCOPE + SLRI_SCOPE_BLOCK},
    {"__NV_THREAD_SCOPE_DEVICE", SCOPE + SLRI_SCOPE_DEVICE},
    {"__NV_THREAD_SCOPE_SYSTEM", SCOPE + SLRI_SCOPE_SYSTEM},
};

struct slri_expr *slri_make_builtin_constant(struct slri_unit *unit, const struct slri_token *name)
{
    for (size_t i = 0; i < COUNT(constants); i++)
        if (strcmp(name->text, constants[i].name) == 0)
            return slri_make_const(unit, SLRI_I32, (uint64_t)constants[i].value, name->where);
    bool is_infinity = slri_token_is(name, "__slri_infinity"); // what <math.h> makes of INFINITY and NAN
    if (is_infinity || slri_token_is(name, "__slri_nan"))
        return slri_make_const(unit, SLRI_F32, is_infinity ? 0x7f800000 : 0x7fc00000, name->where);
    return NULL;
}

// ---- math ----------------------------------------------------------------------------------------------------------

static enum slri_kind kind_of_math(enum slri_math_type type)
{
    static const enum slri_kind kinds[] = {
        [SLRI_MATH_NONE] = SLRI_VOID, [SLRI_MATH_F32] = SLRI_F32, [SLRI_MATH_F64] = SLRI_F64,
        [SLRI_MATH_I32] = SLRI_I32,   [SLRI_MATH_U32] = SLRI_U32, [SLRI_MATH_I64] = SLRI_I64,
        [SLRI_MATH_U64] = SLRI_U64,
    };
    return kinds[type];
}

// The overload of that name for arguments whose common kind is `kind`: the exact one, else the first that is wider,
// else the last. SLRI_MATH_COUNT: there is no function of that name.
static uint32_t find_math(const char *name, enum slri_kind kind)
{
    uint32_t found = SLRI_MATH_COUNT;
    bool fits = false;
    for (uint32_t row = 0; row < SLRI_MATH_COUNT; row++) {
        if (strcmp(slri_math_functions[row].name, name) != 0)
            continue;
        enum slri_kind takes = kind_of_math(slri_math_functions[row].args[0]);
        if (takes == kind)
            return row;
        if (!fits)
            found = row;
        fits |= takes > kind;
    }
    return found;
}

static struct slri_expr *make_math(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg,
                                   uint32_t args)
{
    enum slri_kind common = SLRI_I32;
    if (find_math(name->text, common) == SLRI_MATH_COUNT)
        return NULL;
    for (uint32_t i = 0; i < args; i++) {
        arg[i] = slri_rvalue(unit, arg[i]);
        if (slri_type_is_scalar(arg[i]->type))
            common = slri_kind_common(common, arg[i]->type->kind);
    }
    common = slri_kind_in_register(common); // of halves: float's
    uint32_t row = find_math(name->text, common);
    const struct slri_math_function *function = &slri_math_functions[row];
    if (!slri_check_argument_count(unit, name, args, function->arity))
        return slri_make_error(unit, name->where);
    const struct slri_type *result = slri_type_of(unit->types, kind_of_math(function->result));
    struct slri_expr *made = slri_make(unit, SLRI_EXPR_MATH, result, name->where, NULL, NULL);
    made->index = row;
    made->args = args;
    made->arg = slri_unit_take(unit, (args + 1) * sizeof(struct slri_expr *));
    for (uint32_t i = 0; i < args; i++) {
        const char *what = slri_unit_format(unit, "argument %u of '%s'", i + 1, name->text);
        made->arg[i] = slri_convert(unit, arg[i], slri_type_of(unit->types, kind_of_math(function->args[i])), what);
        if (made->arg[i]->op == SLRI_EXPR_ERROR)
            return made->arg[i];
    }
    return made;
}

// sincosf and its like.
static struct slri_expr *make_parts(struct slri_unit *unit, const struct slri_token *name, uint32_t row,
                                    struct slri_expr **arg, uint32_t args)
{
    const struct slri_math_parts *parts = &slri_math_parts[row];
    const struct slri_math_function *part = slri_math_functions;
    uint32_t written = parts->written[1] == SLRI_MATH_COUNT ? 1 : 2;
    if (!slri_check_argument_count(unit, name, args, 1 + written))
        return slri_make_error(unit, name->where);
    enum slri_kind result = parts->first == SLRI_MATH_COUNT ? SLRI_VOID : kind_of_math(part[parts->first].result);
    struct slri_expr *made =
        slri_make(unit, SLRI_EXPR_MATH_PARTS, slri_type_of(unit->types, result), name->where, NULL, NULL);
    made->index = row;
    made->args = args;
    made->arg = slri_unit_take(unit, args * sizeof(struct slri_expr *));
    for (uint32_t i = 0; i < args; i++) {
        enum slri_kind kind = kind_of_math(i ? part[parts->written[i - 1]].result : part[parts->written[0]].args[0]);
        const struct slri_type *type = slri_type_of(unit->types, kind);
        const char *what = slri_unit_format(unit, "argument %u of '%s'", i + 1, name->text);
        if (i && !(type = slri_type_pointer(unit->types, type, false, false)))
            slri_unit_give_up(unit, SLR_NO_MEMORY);
        made->arg[i] = slri_convert(unit, slri_rvalue(unit, arg[i]), type, what);
        if (made->arg[i]->op == SLRI_EXPR_ERROR)
            return made->arg[i];
    }
    return made;
}

// ---- atomics -------------------------------------------------------------------------------------------------------

enum form { LOAD, STORE, RMW, EXCHANGE, CLASSIC_RMW, CLASSIC_CAS, EMITTED_CAS };

static const struct {
    enum form form;
    uint32_t args; // of which the first `values` are pointer and values
    uint32_t values;
    enum slri_op instr;
    bool writes;
} forms[] = {
    [LOAD] = {LOAD, 3, 1, SLRI_OP_ATOMIC_LOAD, false},
    [STORE] = {STORE, 4, 2, SLRI_OP_ATOMIC_STORE, true},
    [RMW] = {RMW, 4, 2, SLRI_OP_ATOMIC_RMW, true},
    [EXCHANGE] = {EXCHANGE, 7, 3, SLRI_OP_ATOMIC_CAS, true},
    [CLASSIC_RMW] = {CLASSIC_RMW, 2, 2, SLRI_OP_ATOMIC_RMW, true},
    [CLASSIC_CAS] = {CLASSIC_CAS, 3, 3, SLRI_OP_ATOMIC_CAS, true},
    [EMITTED_CAS] = {EMITTED_CAS, 5, 3, SLRI_OP_ATOMIC_CAS, true},
};

static const struct atomic {
    const char *name;
    enum form form;
    enum slri_rmw rmw;
} atomics[] = {
    {"__nv_atomic_load_n", LOAD, SLRI_RMW_ADD},
    {"__nv_atomic_store_n", STORE, SLRI_RMW_ADD},
    {"__nv_atomic_exchange_n", RMW, SLRI_RMW_EXCHANGE},
    {"__nv_atomic_fetch_add", RMW, SLRI_RMW_ADD},
    {"__nv_atomic_fetch_sub", RMW, SLRI_RMW_SUB},
    {"__nv_atomic_fetch_and", RMW, SLRI_RMW_AND},
    {"__nv_atomic_fetch_or", RMW, SLRI_RMW_OR},
    {"__nv_atomic_fetch_xor", RMW, SLRI_RMW_XOR},
    {"__nv_atomic_fetch_min", RMW, SLRI_RMW_MIN},
    {"__nv_atomic_fetch_max", RMW, SLRI_RMW_MAX},
    {"__nv_atomic_compare_exchange_n", EXCHANGE, SLRI_RMW_EXCHANGE},
    {"atomicAdd", CLASSIC_RMW, SLRI_RMW_ADD},
    {"atomicSub", CLASSIC_RMW, SLRI_RMW_SUB},
    {"atomicAnd", CLASSIC_RMW, SLRI_RMW_AND},
    {"atomicOr", CLASSIC_RMW, SLRI_RMW_OR},
    {"atomicXor", CLASSIC_RMW, SLRI_RMW_XOR},
    {"atomicMin", CLASSIC_RMW, SLRI_RMW_MIN},
    {"atomicMax", CLASSIC_RMW, SLRI_RMW_MAX},
    {"atomicExch", CLASSIC_RMW, SLRI_RMW_EXCHANGE},
    {"atomicInc", CLASSIC_RMW, SLRI_RMW_INCREMENT},
    {"atomicDec", CLASSIC_RMW, SLRI_RMW_DECREMENT},
    {"atomicCAS", CLASSIC_CAS, SLRI_RMW_EXCHANGE},
    {"__slri_cas", EMITTED_CAS, SLRI_RMW_EXCHANGE},
};

// A constant of one of the two families; 0 where it is none (reported).
static uint8_t parse_family(struct slri_unit *unit, const struct slri_expr *expr, int family, const char *what,
                            bool *is_right)
{
    int64_t value = expr->op == SLRI_EXPR_CONST && slri_type_is_integer(expr->type)
                        ? slri_value_to_int(expr->type->kind, expr->bits) - family
                        : -1;
    if (value >= 0 && value <= SLRI_SEQ_CST)
        return (uint8_t)value;
    if (expr->op != SLRI_EXPR_ERROR)
        SLRI_ERROR(unit, expr->where, NOT_CONSTANT, "needed is %s", what);
    *is_right = false;
    return 0;
}

static uint8_t parse_order(struct slri_unit *unit, const struct slri_expr *expr, bool *is_right)
{
    return parse_family(unit, expr, ORDER, "a memory order such as __NV_ATOMIC_ACQUIRE", is_right);
}

static uint8_t parse_scope(struct slri_unit *unit, const struct slri_expr *expr, bool *is_right)
{
    return parse_family(unit, expr, SCOPE, "a scope such as __NV_THREAD_SCOPE_SYSTEM", is_right);
}

// One order that is as strong as both, for a compare-exchange whose failure asks for its own.
static uint8_t join_orders(uint8_t a, uint8_t b)
{
    if (a == b || b == SLRI_RELAXED)
        return a;
    if (a == SLRI_RELAXED)
        return b;
    return a == SLRI_SEQ_CST || b == SLRI_SEQ_CST ? SLRI_SEQ_CST : SLRI_ACQ_REL;
}

// A load cannot release, and a store cannot acquire.
static bool check_order(struct slri_unit *unit, const struct slri_token *name, enum form form, uint8_t order)
{
    bool is_wrong = (form == LOAD && (order == SLRI_RELEASE || order == SLRI_ACQ_REL)) ||
                    (form == STORE && (order == SLRI_ACQUIRE || order == SLRI_ACQ_REL));
    if (is_wrong)
        SLRI_ERROR(unit, name->where, WRONG_TYPE, "'%s' cannot have this memory order", name->text);
    return !is_wrong;
}

static bool atomic_takes_floats(const struct atomic *atomic)
{
    bool adds = atomic->rmw == SLRI_RMW_ADD || atomic->rmw == SLRI_RMW_EXCHANGE;
    return (atomic->form == CLASSIC_RMW || atomic->form == RMW) && adds;
}

static bool check_atomic_pointer(struct slri_unit *unit, const struct atomic *atomic, const struct slri_token *name,
                                 struct slri_expr *pointer)
{
    bool writes = forms[atomic->form].writes;
    const struct slri_type *type = pointer->type;
    if (pointer->op == SLRI_EXPR_ERROR)
        return false;
    enum slri_kind kind = type->kind == SLRI_POINTER ? type->of->kind : SLRI_VOID;
    bool fits = kind >= SLRI_I32 && kind <= SLRI_U64;
    bool takes_floats = atomic_takes_floats(atomic), of_u32 = atomic->rmw >= SLRI_RMW_INCREMENT;
    if (of_u32 ? kind != SLRI_U32 : !fits && !(takes_floats && (kind == SLRI_F32 || kind == SLRI_F64)))
        SLRI_ERROR(unit, pointer->where, WRONG_TYPE, "'%s' works on %s, not on %s", name->text,
                   of_u32         ? "unsigned int"
                   : takes_floats ? "numbers of 32 and 64 bits"
                                  : "integers of 32 and 64 bits",
                   slri_unit_spell(unit, type));
    else if (writes && type->is_const)
        SLRI_ERROR(unit, pointer->where, CONST_VIOLATED, "'%s' writes to a %s", name->text,
                   slri_unit_spell(unit, type));
    else
        return true;
    return false;
}

static bool parse_atomic_orders(struct slri_unit *unit, const struct atomic *atomic, const struct slri_token *name,
                                struct slri_expr *made, struct slri_expr **arg)
{
    bool is_right = true;
    made->order = SLRI_RELAXED;
    made->scope = SLRI_SCOPE_DEVICE;
    if (atomic->form == CLASSIC_RMW || atomic->form == CLASSIC_CAS) {
        size_t bare = strlen(atomic->name);
        made->scope = !name->text[bare]                          ? SLRI_SCOPE_DEVICE
                      : strcmp(name->text + bare, "_block") == 0 ? SLRI_SCOPE_BLOCK
                                                                 : SLRI_SCOPE_SYSTEM;
        return true;
    }
    uint32_t at = atomic->form == EXCHANGE ? 4 : forms[atomic->form].values;
    made->order = parse_order(unit, arg[at], &is_right);
    if (atomic->form == EXCHANGE)
        made->order = join_orders(made->order, parse_order(unit, arg[++at], &is_right));
    made->scope = parse_scope(unit, arg[at + 1], &is_right);
    return is_right && check_order(unit, name, atomic->form, made->order);
}

static struct slri_expr *make_atomic(struct slri_unit *unit, const struct atomic *atomic, const struct slri_token *name,
                                     struct slri_expr **arg, uint32_t args)
{
    if (!slri_check_argument_count(unit, name, args, forms[atomic->form].args))
        return slri_make_error(unit, name->where);
    for (uint32_t i = 0; i < args; i++)
        arg[i] = slri_rvalue(unit, arg[i]);
    if (!check_atomic_pointer(unit, atomic, name, arg[0]))
        return slri_make_error(unit, name->where);
    const struct slri_type *type = arg[0]->type->of;
    bool is_exchange = atomic->form == EXCHANGE, is_store = atomic->form == STORE;
    enum slri_kind result = is_exchange ? SLRI_BOOL : is_store ? SLRI_VOID : type->kind;
    struct slri_expr *made = slri_make(unit, is_exchange ? SLRI_EXPR_EXCHANGE : SLRI_EXPR_ATOMIC,
                                       slri_type_of(unit->types, result), name->where, NULL, NULL);
    made->instr = forms[atomic->form].instr;
    made->index = atomic->rmw;
    made->args = forms[atomic->form].values;
    made->arg = slri_unit_take(unit, made->args * sizeof(struct slri_expr *));
    bool is_right = parse_atomic_orders(unit, atomic, name, made, arg);
    for (uint32_t i = 0; i < made->args; i++) {
        bool is_expected = is_exchange && i == 1;
        const char *what = slri_unit_format(unit, "argument %u of '%s'", i + 1, name->text);
        const struct slri_type *needed = is_expected ? slri_type_pointer(unit->types, type, false, false) : type;
        if (!needed)
            slri_unit_give_up(unit, SLR_NO_MEMORY);
        made->arg[i] = i == 0 ? arg[0] : slri_convert(unit, arg[i], needed, what);
        is_right &= made->arg[i]->op != SLRI_EXPR_ERROR;
    }
    return is_right ? made : slri_make_error(unit, name->where);
}

static struct slri_expr *make_fence(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg,
                                    uint32_t args)
{
    bool is_right = slri_check_argument_count(unit, name, args, 2);
    struct slri_expr *made =
        slri_make(unit, SLRI_EXPR_FENCE, slri_type_of(unit->types, SLRI_VOID), name->where, NULL, NULL);
    if (is_right) {
        made->order = parse_order(unit, arg[0], &is_right);
        made->scope = parse_scope(unit, arg[1], &is_right);
    }
    return is_right ? made : slri_make_error(unit, name->where);
}

// ---- the runtime ---------------------------------------------------------------------------------------------------

// `to` NULL: ring_reply, else ring_reply_to.
static struct slri_expr *make_reply(struct slri_unit *unit, const struct slri_token *name, struct slri_expr *to,
                                    struct slri_expr *pointer)
{
    if (to)
        to = slri_convert(unit, slri_rvalue(unit, to), slri_type_of(unit->types, SLRI_U32),
                          "the message of ring_reply_to");
    pointer = slri_rvalue(unit, pointer);
    if (pointer->op == SLRI_EXPR_ERROR || (to && to->op == SLRI_EXPR_ERROR))
        return slri_make_error(unit, name->where);
    if (pointer->type->kind != SLRI_POINTER || pointer->type->of->kind == SLRI_ARRAY ||
        !slri_type_is_complete(pointer->type->of)) {
        SLRI_ERROR(unit, pointer->where, BAD_REPLY, "a reply is given by a pointer to a struct or a number, not by %s",
                   slri_unit_spell(unit, pointer->type));
        return slri_make_error(unit, name->where);
    }
    return slri_make(unit, SLRI_EXPR_REPLY, slri_type_of(unit->types, SLRI_VOID), name->where, pointer, to);
}

// `instance` NULL: ring_send, else ring_send_at.
static struct slri_expr *make_send(struct slri_unit *unit, const struct slri_token *name, struct slri_expr *outlet,
                                   struct slri_expr *instance, struct slri_expr *message)
{
    outlet = slri_rvalue(unit, outlet);
    message = slri_rvalue(unit, message);
    if (instance)
        instance = slri_convert(unit, slri_rvalue(unit, instance), slri_type_of(unit->types, SLRI_U32),
                                "the instance of ring_send_at");
    if (outlet->op == SLRI_EXPR_ERROR || message->op == SLRI_EXPR_ERROR ||
        (instance && instance->op == SLRI_EXPR_ERROR))
        return slri_make_error(unit, name->where);
    if (!slri_type_is_outlet(outlet->type))
        SLRI_ERROR(unit, outlet->where, BAD_SEND, "the first argument of '%s' is a ring_to(struct message), not a %s",
                   name->text, slri_unit_spell(unit, outlet->type));
    else if (message->type->kind != SLRI_POINTER || message->type->of != outlet->type->of->of)
        SLRI_ERROR(unit, message->where, BAD_SEND, "the message is given by a pointer to a %s, not by a %s",
                   slri_unit_spell(unit, outlet->type->of->of), slri_unit_spell(unit, message->type));
    else {
        struct slri_expr *made =
            slri_make(unit, SLRI_EXPR_SEND, slri_type_of(unit->types, SLRI_VOID), name->where, outlet, message);
        made->third = instance;
        return made;
    }
    return slri_make_error(unit, name->where);
}

static struct slri_expr *make_instance(struct slri_unit *unit, const struct slri_token *name, uint32_t args)
{
    if (!slri_check_argument_count(unit, name, args, 0))
        return slri_make_error(unit, name->where);
    return slri_make(unit, SLRI_EXPR_INSTANCE, slri_type_of(unit->types, SLRI_U32), name->where, NULL, NULL);
}

// atomicAdd, and of CUDA's own names also atomicAdd_block and atomicAdd_system.
static bool names_atomic(const struct atomic *atomic, const struct slri_token *name)
{
    size_t bare = strlen(atomic->name);
    if (strncmp(name->text, atomic->name, bare) != 0)
        return false;
    const char *rest = name->text + bare;
    bool is_classic = atomic->form == CLASSIC_RMW || atomic->form == CLASSIC_CAS;
    return !*rest || (is_classic && (strcmp(rest, "_block") == 0 || strcmp(rest, "_system") == 0));
}

struct slri_expr *slri_make_builtin(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg,
                                    uint32_t args)
{
    struct slri_expr *emitted =
        unit->front->source->is_emitted ? slri_make_emitted_builtin(unit, name, arg, args) : NULL;
    if (emitted)
        return emitted;
    if (slri_token_is(name, "ring_reply"))
        return slri_check_argument_count(unit, name, args, 1) ? make_reply(unit, name, NULL, arg[0])
                                                              : slri_make_error(unit, name->where);
    if (slri_token_is(name, "ring_reply_to"))
        return slri_check_argument_count(unit, name, args, 2) ? make_reply(unit, name, arg[0], arg[1])
                                                              : slri_make_error(unit, name->where);
    if (slri_token_is(name, "ring_send"))
        return slri_check_argument_count(unit, name, args, 2) ? make_send(unit, name, arg[0], NULL, arg[1])
                                                              : slri_make_error(unit, name->where);
    if (slri_token_is(name, "ring_send_at"))
        return slri_check_argument_count(unit, name, args, 3) ? make_send(unit, name, arg[0], arg[1], arg[2])
                                                              : slri_make_error(unit, name->where);
    if (slri_token_is(name, "ring_instance"))
        return make_instance(unit, name, args);
    if (slri_token_is(name, "__nv_atomic_thread_fence"))
        return make_fence(unit, name, arg, args);
    for (size_t i = 0; i < COUNT(atomics); i++)
        if (names_atomic(&atomics[i], name) && (atomics[i].form != EMITTED_CAS || unit->front->source->is_emitted))
            return make_atomic(unit, &atomics[i], name, arg, args);
    for (uint32_t row = 0; row < SLRI_MATH_PARTS; row++)
        if (slri_token_is(name, slri_math_parts[row].name))
            return make_parts(unit, name, row, arg, args);
    struct slri_expr *of_block = slri_make_block_builtin(unit, name, arg, args);
    return of_block ? of_block : make_math(unit, name, arg, args);
}
