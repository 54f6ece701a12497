// SPDX-License-Identifier: Apache-2.0
// Calls: of the source's functions, of math, of atomics and of the runtime.
#include "lang/lower/lower.h"
#include "ir/math/functions.h"

// ---- functions -----------------------------------------------------------------------------------------------------

struct passed { // an argument on its way
    slri_reg reg;
    struct slri_address at; // of a pointer or a struct
};

static bool is_memory(const struct slri_type *type)
{
    return type->kind == SLRI_POINTER || type->kind == SLRI_STRUCT;
}

// A struct goes by the address of a copy that is the callee's own.
static struct slri_address pass_struct(struct slri_body *body, const struct slri_expr *arg)
{
    struct slri_address from = slri_lower_place(body, arg);
    struct slri_address copy = slri_make_temporary(body, arg->type);
    slri_emit_copy(body, copy, from, arg->type->bytes, arg->type->align, arg->where);
    return copy;
}

static struct passed pass(struct slri_body *body, const struct slri_expr *arg)
{
    struct passed made = {.reg = SLRI_NO_REG};
    if (arg->type->kind == SLRI_STRUCT)
        made.at = pass_struct(body, arg);
    else if (arg->type->kind == SLRI_POINTER)
        made.at = slri_lower_pointer(body, arg);
    else
        made.reg = slri_lower_scalar(body, arg);
    if (is_memory(arg->type))
        made.reg = slri_lower_offset(body, &made.at, arg->where);
    return made;
}

static bool is_of_caller(const struct slri_ref *ref)
{
    return ref->root.kind == SLRI_ROOT_LOCAL || ref->root.kind == SLRI_ROOT_PARAM;
}

// What the callee is specialised on: two pointers into one local of the caller stay pointers into one object.
static struct slri_key key_of(const struct passed *passed, const struct slri_expr *const *arg, uint32_t index)
{
    const struct slri_ref *ref = &passed[index].at.ref;
    uint64_t object = arg[index]->type->kind == SLRI_POINTER ? arg[index]->type->of->bytes : arg[index]->type->bytes;
    struct slri_key key = {.root = ref->root, .bytes = ref->bytes, .same_as = UINT32_MAX};
    key.valid = ref->bytes != SLRI_UNBOUNDED && passed[index].at.valid >= object ? object : 0;
    if (!is_of_caller(ref))
        return key;
    key.root = (struct slri_root){SLRI_ROOT_PARAM, 0};
    for (uint32_t i = 0; i < index && key.same_as == UINT32_MAX; i++)
        if (is_memory(arg[i]->type) && is_of_caller(&passed[i].at.ref) && slri_same_root(&passed[i].at.ref, ref))
            key.same_as = i;
    return key;
}

// What the callee returned, in the caller's words.
static struct slri_address returned(const struct slri_special *special, const struct passed *passed, slri_reg reg)
{
    struct slri_ref ref = special->result;
    if (ref.root.kind == SLRI_ROOT_PARAM)
        ref = passed[ref.root.index].at.ref; // a pointer is returned, so that no hidden parameter shifts the others
    struct slri_address at = slri_address_of(ref, 0);
    at.base = reg;
    if (!special->returns_pointer || ref.root.kind == SLRI_ROOT_NONE)
        at.ref.bytes = SLRI_UNBOUNDED;
    return at;
}

static bool all_known(const struct passed *passed, const struct slri_expr *call)
{
    for (uint32_t i = 0; i < call->args; i++)
        if (is_memory(call->arg[i]->type) && passed[i].at.ref.root.kind == SLRI_ROOT_NONE)
            return false;
    return true;
}

static void emit_call(struct slri_body *body, const struct slri_expr *call, const struct slri_special *special,
                      const struct passed *passed, const struct slri_address *result, slri_reg dst)
{
    uint32_t hidden = result ? 1 : 0;
    struct slri_arg *arg = slri_unit_take(body->unit, (call->args + 2) * sizeof *arg);
    if (result) {
        arg[0].reg = slri_lower_offset(body, result, call->where);
        arg[0].root = result->ref.root;
    }
    for (uint32_t i = 0; i < call->args; i++) {
        arg[i + hidden].reg = passed[i].reg;
        if (special->ir->param[i + hidden].is_memory)
            arg[i + hidden].root = passed[i].at.ref.root;
    }
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_CALL, special->ir->result, call->where);
    instr->dst = dst;
    instr->args = call->args + hidden;
    instr->arg = arg;
    instr->callee = special->ir;
}

static bool check_callee(struct slri_body *body, const struct slri_expr *call)
{
    const struct slri_func *func = call->callee;
    if (func->is_left_out)
        SLRI_LOWER_ERROR(body, call->where, LEFT_OUT, "'%s' in line %u was skipped", func->name, func->where.line);
    else if (!func->is_defined)
        SLRI_LOWER_ERROR(body, call->where, UNKNOWN_FUNCTION, "'%s' is declared and never defined", func->name);
    else if (func->is_lowering)
        SLRI_LOWER_ERROR(body, call->where, RECURSION, "'%s' calls itself%s", func->name,
                         func == body->func ? "" : ", through other functions");
    return func->is_defined && !func->is_lowering && !func->is_left_out;
}

slri_reg slri_lower_call(struct slri_body *body, const struct slri_expr *call, struct slri_address *memory)
{
    enum slri_kind kind = call->type->kind;
    slri_reg dst = SLRI_NO_REG;
    if (slri_kind_is_scalar(kind) || kind == SLRI_POINTER)
        dst = slri_emit_reg(body, kind == SLRI_POINTER ? SLRI_I64 : kind, NULL);
    if (!check_callee(body, call))
        return dst;
    struct passed *passed = slri_unit_take(body->unit, (call->args + 1) * sizeof *passed);
    for (uint32_t i = 0; i < call->args; i++)
        passed[i] = pass(body, call->arg[i]);
    if (!all_known(passed, call))
        return dst;
    struct slri_key *key = slri_unit_take(body->unit, (call->args + 1) * sizeof *key);
    for (uint32_t i = 0; i < call->args; i++)
        if (is_memory(call->arg[i]->type))
            key[i] = key_of(passed, (const struct slri_expr *const *)call->arg, i);
    struct slri_special *special = slri_specialise(body->all, call->callee, key);
    if (special->is_broken && body->unit->is_foreign) // where it was said, it may have been taken back
        SLRI_LOWER_ERROR(body, call->where, LEFT_OUT, "'%s' cannot be used like this", call->callee->name);
    slri_merge_reply(body, special->reply, call->where);
    if (kind == SLRI_STRUCT)
        *memory = slri_make_temporary(body, call->type);
    emit_call(body, call, special, passed, kind == SLRI_STRUCT ? memory : NULL, dst);
    if (kind == SLRI_POINTER && memory)
        *memory = returned(special, passed, dst);
    return dst;
}

slri_reg slri_lower_math(struct slri_body *body, const struct slri_expr *expr)
{
    struct slri_arg *arg = slri_unit_take(body->unit, (expr->args + 1) * sizeof *arg);
    for (uint32_t i = 0; i < expr->args; i++)
        arg[i].reg = slri_lower_scalar(body, expr->arg[i]);
    slri_reg reg = slri_emit_reg(body, expr->type->kind, NULL);
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_MATH, expr->type->kind, expr->where);
    instr->dst = reg;
    instr->imm = expr->index;
    instr->args = expr->args;
    instr->arg = arg;
    return reg;
}

static slri_reg emit_math(struct slri_body *body, enum slri_math_id function, enum slri_kind kind, slri_reg of,
                          struct slri_where where)
{
    struct slri_arg *arg = slri_unit_take(body->unit, sizeof *arg);
    arg->reg = of;
    slri_reg reg = slri_emit_reg(body, kind, NULL);
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_MATH, kind, where);
    instr->dst = reg;
    instr->imm = function;
    instr->args = 1;
    instr->arg = arg;
    return reg;
}

// What is given back is computed before anything is written: a pointer may lead to the argument.
slri_reg slri_lower_math_parts(struct slri_body *body, const struct slri_expr *expr)
{
    const struct slri_math_parts *parts = &slri_math_parts[expr->index];
    slri_reg x = slri_lower_scalar(body, expr->arg[0]);
    slri_reg first =
        parts->first == SLRI_MATH_COUNT ? SLRI_NO_REG : emit_math(body, parts->first, expr->type->kind, x, expr->where);
    for (uint32_t i = 1; i < expr->args; i++) {
        enum slri_kind kind = expr->arg[i]->type->of->kind;
        struct slri_address at = slri_lower_pointer(body, expr->arg[i]);
        slri_emit_check(body, &at, slri_kind_bytes(kind), expr->where);
        slri_emit_store(body, at, kind, emit_math(body, parts->written[i - 1], kind, x, expr->where), expr->where);
    }
    return first;
}

// ---- atomics -------------------------------------------------------------------------------------------------------

static slri_reg emit_atomic(struct slri_body *body, const struct slri_expr *expr, const slri_reg value[2])
{
    enum slri_kind kind = expr->arg[0]->type->of->kind;
    struct slri_address at = slri_lower_pointer(body, expr->arg[0]);
    slri_emit_check(body, &at, slri_kind_bytes(kind), expr->where);
    slri_reg offset = slri_lower_offset(body, &at, expr->where);
    slri_reg dst = expr->instr == SLRI_OP_ATOMIC_STORE ? SLRI_NO_REG : slri_emit_reg(body, kind, NULL);
    struct slri_instr *instr = slri_emit_instr(body, expr->instr, kind, expr->where);
    instr->dst = dst;
    instr->a = offset;
    instr->b = value[0];
    instr->c = value[1];
    instr->root = at.ref.root;
    instr->imm = expr->instr == SLRI_OP_ATOMIC_RMW ? expr->index : 0;
    instr->order = expr->order;
    instr->scope = expr->scope;
    return dst;
}

slri_reg slri_lower_atomic(struct slri_body *body, const struct slri_expr *expr)
{
    slri_reg value[2] = {SLRI_NO_REG, SLRI_NO_REG};
    for (uint32_t i = 1; i < expr->args; i++)
        value[i - 1] = slri_lower_scalar(body, expr->arg[i]);
    return emit_atomic(body, expr, value);
}

// bool compare_exchange(p, expected, desired): what was there goes to *expected where it is not what was expected.
slri_reg slri_lower_exchange(struct slri_body *body, const struct slri_expr *expr)
{
    enum slri_kind kind = expr->arg[0]->type->of->kind;
    struct slri_address expected = slri_lower_pointer(body, expr->arg[1]);
    slri_emit_check(body, &expected, slri_kind_bytes(kind), expr->where);
    expected.base = slri_lower_offset(body, &expected, expr->where);
    expected.offset = 0;
    slri_reg desired = slri_lower_scalar(body, expr->arg[2]);
    slri_reg value[2] = {slri_emit_load(body, expected, kind, expr->where), desired};
    slri_reg old = emit_atomic(body, expr, value);
    slri_reg is_same = slri_emit_binary(body, SLRI_OP_EQ, kind, old, value[0], expr->where);
    struct slri_block *outer = body->block, *none = slri_emit_block(body), *differs = slri_emit_block(body);
    body->block = differs;
    slri_emit_store(body, expected, kind, old, expr->where);
    body->block = outer;
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_IF, SLRI_VOID, expr->where);
    instr->a = is_same;
    instr->body[0] = none;
    instr->body[1] = differs;
    return is_same;
}

void slri_lower_fence(struct slri_body *body, const struct slri_expr *expr)
{
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_FENCE, SLRI_VOID, expr->where);
    instr->order = expr->order;
    instr->scope = expr->scope;
}

// ---- replies -------------------------------------------------------------------------------------------------------

void slri_merge_reply(struct slri_body *body, const struct slri_type *reply, struct slri_where where)
{
    const struct slri_type *before = body->special->reply;
    if (reply && before && reply != before)
        SLRI_LOWER_ERROR(body, where, REPLY_TYPE_DIFFERS, "a reply of the type %s, and before it one of %s",
                         slri_unit_spell(body->unit, reply), slri_unit_spell(body->unit, before));
    if (!before)
        body->special->reply = reply;
}

void slri_lower_reply(struct slri_body *body, const struct slri_expr *expr)
{
    const struct slri_type *type = expr->left->type->of;
    slri_merge_reply(body, type, expr->where);
    slri_reg to = expr->right ? slri_lower_scalar(body, expr->right) : SLRI_NO_REG;
    if (expr->right && !body->unit->front->source->is_emitted) // which has the check
        slri_emit_message_check(body, expr->right, slri_emit_convert(body, to, SLRI_U32, SLRI_I64, expr->where));
    struct slri_address at = slri_lower_pointer(body, expr->left);
    slri_emit_check(body, &at, type->bytes, expr->where);
    slri_reg offset = slri_lower_offset(body, &at, expr->where);
    struct slri_instr *instr = slri_emit_instr(body, SLRI_OP_REPLY, SLRI_VOID, expr->where);
    instr->a = offset;
    instr->b = to;
    instr->root = at.ref.root;
}
