// SPDX-License-Identifier: Apache-2.0
// What a __ring__ handler must look like: the state if it has one, the message, then bindings. And a __global__ kernel:
// values and pointers.
#include "lang/check/advice.h"
#include "lang/check/check.h"

static bool is_struct_pointer(const struct slri_type *type, bool to_const)
{
    return type->kind == SLRI_POINTER && type->of->kind == SLRI_STRUCT && slri_type_is_complete(type->of) &&
           type->is_const == to_const;
}

bool slri_handler_has_state(const struct slri_func *func)
{
    return func->params > 0 && is_struct_pointer(func->param[0]->type, false);
}

// What host and device exchange in messages has types that the host's C has too.
static bool holds_half(const struct slri_type *type)
{
    while (type->kind == SLRI_ARRAY || type->kind == SLRI_POINTER)
        type = type->of;
    for (uint32_t i = 0; type->kind == SLRI_STRUCT && i < type->fields; i++)
        if (holds_half(type->field[i].type))
            return true;
    return slri_kind_is_half(type->kind);
}

static void check_halves(struct slri_unit *unit, const struct slri_func *func)
{
    for (uint32_t i = 0; i < func->params; i++)
        if (holds_half(func->param[i]->type))
            SLRI_ERROR(unit, func->param[i]->where, HALF_IN_HANDLER, "parameter %u of '%s' holds a half", i + 1,
                       func->name);
}

static void check_binding(struct slri_unit *unit, const struct slri_symbol *param)
{
    const struct slri_type *type = param->type;
    const struct slri_type *element = type->kind == SLRI_POINTER ? type->of : type;
    bool is_struct = element->kind == SLRI_STRUCT && type->kind == SLRI_POINTER && slri_type_is_complete(element);
    if (!slri_type_is_scalar(element) && !is_struct && !slri_type_is_outlet(type))
        SLRI_ERROR(unit, param->where, BAD_BINDING_PARAMETER, "'%s' has the type %s", param->name ? param->name : "it",
                   slri_unit_spell(unit, type));
}

uint32_t slri_handler_message(const struct slri_func *func)
{
    return slri_handler_has_state(func) ? 1 : 0;
}

uint32_t slri_handler_bindings_at(const struct slri_func *func)
{
    return slri_handler_message(func) + (func->is_batch ? 2 : 1);
}

// What another handler has not: the number of its messages; and what it has not itself.
static void check_batch(struct slri_unit *unit, const struct slri_func *func)
{
    uint32_t at = slri_handler_message(func) + 1;
    const struct slri_type *type = at < func->params ? func->param[at]->type : NULL;
    if (func->is_block)
        SLRI_ERROR(unit, func->where, UNSUPPORTED_FEATURE, "'%s' is both __ring_block__ and __ring_batch__",
                   func->name);
    if (!type || (type->kind != SLRI_I32 && type->kind != SLRI_U32))
        SLRI_ERROR(unit, type ? func->param[at]->where : func->where, BAD_BATCH,
                   "'%s' is not given how many messages it has", func->name);
    for (uint32_t i = at + 1; i < func->params; i++)
        if (slri_type_is_outlet(func->param[i]->type)) {
            SLRI_ERROR(unit, func->param[i]->where, BAD_BATCH, "'%s' is an output channel", func->param[i]->name);
            SLRI_ADVISE(unit, "write __ring__: a handler of many messages has no output channels; or reply with "
                              "ring_reply_to, and let slr_route pass the replies on");
        }
}

void slri_check_handler(struct slri_unit *unit, const struct slri_func *func)
{
    uint32_t message = slri_handler_message(func);
    if (func->result->kind != SLRI_VOID)
        SLRI_ERROR(unit, func->where, HANDLER_RETURNS, "the handler '%s' returns %s", func->name,
                   slri_unit_spell(unit, func->result));
    if (message >= func->params) {
        SLRI_ERROR(unit, func->where, BAD_MESSAGE_PARAMETER, "the handler '%s' has no message", func->name);
        if (func->params > 0) // the message itself was taken for the state
            SLRI_ADVISE(unit, slri_advise_message(unit, func->param[0]));
        return;
    }
    const struct slri_symbol *param = func->param[message];
    bool is_message = is_struct_pointer(param->type, true);
    bool is_state = !is_message && message == 0 && param->type->kind == SLRI_POINTER && !param->type->is_const;
    if (is_state)
        SLRI_ERROR(unit, param->where, BAD_STATE_PARAMETER, "the first parameter of '%s' has the type %s", func->name,
                   slri_unit_spell(unit, param->type));
    else if (!is_message)
        SLRI_ERROR(unit, param->where, BAD_MESSAGE_PARAMETER, "parameter %u of '%s' is a %s", message + 1, func->name,
                   slri_unit_spell(unit, param->type));
    if (!is_message)
        SLRI_ADVISE(unit, is_state ? slri_advise_state(unit, param) : slri_advise_message(unit, param));
    if (func->is_batch)
        check_batch(unit, func);
    for (uint32_t i = slri_handler_bindings_at(func); i < func->params; i++)
        check_binding(unit, func->param[i]);
    check_halves(unit, func);
}

static void check_kernel_parameter(struct slri_unit *unit, const struct slri_symbol *param)
{
    const struct slri_type *type = param->type;
    const struct slri_type *of = type->kind == SLRI_POINTER ? type->of : type;
    while (type->kind == SLRI_POINTER && of->kind == SLRI_ARRAY)
        of = of->of;
    bool is_outlet = slri_type_is_outlet(type);
    if (is_outlet || (!slri_type_is_scalar(of) && (of->kind != SLRI_STRUCT || !slri_type_is_complete(of))))
        SLRI_ERROR(unit, param->where, BAD_KERNEL_PARAMETER, "'%s' has the type %s", param->name ? param->name : "it",
                   slri_unit_spell(unit, type));
}

void slri_check_kernel(struct slri_unit *unit, const struct slri_func *func)
{
    if (func->is_ring)
        SLRI_ERROR(unit, func->where, HANDLER_CALLED, "'%s' is both a __ring__ handler and a __global__ kernel",
                   func->name);
    if (func->result->kind != SLRI_VOID)
        SLRI_ERROR(unit, func->where, KERNEL_RETURNS, "the kernel '%s' returns %s", func->name,
                   slri_unit_spell(unit, func->result));
    for (uint32_t i = 0; i < func->params; i++)
        check_kernel_parameter(unit, func->param[i]);
}
