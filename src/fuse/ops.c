// SPDX-License-Identifier: Apache-2.0
// A list of operations: every operand is found, every type is checked, and an unknown operation is an error.
#include "fuse/ops.h"

#include "base/status.h"
#include "device/device.h"
#include "fuse/fuse.h"

#include <string.h>

// ---- operations ----------------------------------------------------------------------------------------------------

enum takes { ANY = 1, FLOATS };
enum gives { SAME, TRUTH, ITS_TYPE, OF_SECOND };

static const struct {
    const char *name;
    uint8_t operands, takes, gives;
    bool is_end;
    bool numbers; // the second and third operand are numbers, unless the list says otherwise
} known[] = {
    [SLR_OP_ADD] = {"add", 2, ANY, SAME, false, false},
    [SLR_OP_SUBTRACT] = {"subtract", 2, ANY, SAME, false, false},
    [SLR_OP_MULTIPLY] = {"multiply", 2, ANY, SAME, false, false},
    [SLR_OP_DIVIDE] = {"divide", 2, ANY, SAME, false, false},
    [SLR_OP_MINIMUM] = {"minimum", 2, ANY, SAME, false, false},
    [SLR_OP_MAXIMUM] = {"maximum", 2, ANY, SAME, false, false},
    [SLR_OP_FMA] = {"fma", 3, ANY, SAME, false, false},
    [SLR_OP_SCALE] = {"scale", 2, ANY, SAME, false, true},
    [SLR_OP_NEGATE] = {"negate", 1, ANY, SAME, false, false},
    [SLR_OP_ABS] = {"abs", 1, ANY, SAME, false, false},
    [SLR_OP_SQRT] = {"sqrt", 1, FLOATS, SAME, false, false},
    [SLR_OP_EXP] = {"exp", 1, FLOATS, SAME, false, false},
    [SLR_OP_LOG] = {"log", 1, FLOATS, SAME, false, false},
    [SLR_OP_ACTIVATION] = {"activation", 1, FLOATS, SAME, false, false},
    [SLR_OP_SUM] = {"sum", 1, ANY, SAME, true, false},
    [SLR_OP_LARGEST] = {"largest", 1, ANY, SAME, true, false},
    [SLR_OP_SMALLEST] = {"smallest", 1, ANY, SAME, true, false},
    [SLR_OP_SOFTMAX] = {"softmax", 1, FLOATS, SAME, true, false},
    [SLR_OP_SCALE_BIAS] = {"scale_bias", 3, ANY, SAME, false, true},
    [SLR_OP_CLAMP] = {"clamp", 3, ANY, SAME, false, true},
    [SLR_OP_EQUAL] = {"equal", 2, ANY, TRUTH, false, false},
    [SLR_OP_NOT_EQUAL] = {"not_equal", 2, ANY, TRUTH, false, false},
    [SLR_OP_LESS] = {"less", 2, ANY, TRUTH, false, false},
    [SLR_OP_LESS_EQUAL] = {"less_equal", 2, ANY, TRUTH, false, false},
    [SLR_OP_GREATER] = {"greater", 2, ANY, TRUTH, false, false},
    [SLR_OP_GREATER_EQUAL] = {"greater_equal", 2, ANY, TRUTH, false, false},
    [SLR_OP_SELECT] = {"select", 3, ANY, OF_SECOND, false, false},
    [SLR_OP_CAST] = {"cast", 1, ANY, ITS_TYPE, false, false},
};
#define KNOWN (sizeof known / sizeof *known)

static bool is_known(slr_op op)
{
    return (size_t)op < KNOWN && known[op].name;
}

bool slri_ops_is_end(slr_op op)
{
    return is_known(op) && known[op].is_end;
}

const char *slri_ops_name(slr_op op, slr_activation activation)
{
    static const char *const activations[] = {
        [SLR_RELU] = "relu", [SLR_SIGMOID] = "sigmoid", [SLR_TANH] = "tanh",
        [SLR_GELU] = "gelu", [SLR_SILU] = "silu",       [SLR_LEAKY_RELU] = "leaky_relu"};
    return op == SLR_OP_ACTIVATION ? activations[activation] : known[op].name;
}

static const char *name_of(const struct slri_ops_step *step)
{
    return slri_ops_name(step->op, step->activation);
}

const char *slri_scalar_spelling(slr_scalar type)
{
    static const char *const spelling[] = {
        [SLR_BOOL] = "bool",    [SLR_I8] = "signed char",     [SLR_U8] = "unsigned char",
        [SLR_I16] = "short",    [SLR_U16] = "unsigned short", [SLR_I32] = "int",
        [SLR_U32] = "unsigned", [SLR_I64] = "long long",      [SLR_U64] = "unsigned long long",
        [SLR_F32] = "float",    [SLR_F64] = "double"};
    return spelling[type];
}

static bool is_wide(slr_scalar type)
{
    return type >= SLR_I32 && type <= SLR_F64;
}

// ---- operands ------------------------------------------------------------------------------------------------------

struct resolving {
    struct slri_ops *ops;
    uint32_t next_input; // that SLR_NEXT takes
};

static slr_scalar type_of(const struct slri_ops *ops, struct slri_value value)
{
    return value.is_input ? ops->input[value.index].type : ops->step[value.index].type;
}

static slr_status take_input(struct resolving *at, uint32_t input, bool number, struct slri_value *out)
{
    struct slri_ops *ops = at->ops;
    if (input >= 3 * SLRI_OPS_MOST)
        return SLRI_FAIL(INVALID, "slr_fuse: step %u reads input %u; there are at most %u", ops->steps, input,
                         3 * SLRI_OPS_MOST);
    for (; ops->inputs <= input; ++ops->inputs)
        if (!ops->input[ops->inputs].type)
            ops->input[ops->inputs].type = ops->dtype;
    if (!ops->input[input].extent)
        ops->input[input].extent = number ? SLR_NUMBER : SLR_EACH;
    if (at->next_input <= input)
        at->next_input = input + 1;
    *out = (struct slri_value){true, input};
    return SLR_OK;
}

static slr_status resolve_operand(struct resolving *at, struct slri_ops_step *step, uint32_t place, uint32_t given)
{
    uint32_t steps = at->ops->steps;
    struct slri_value *out = &step->operand[place];
    bool number = place != 0 && known[step->op].numbers;
    if (given == SLR_NEXT && place == 0 && steps != 0) {
        *out = (struct slri_value){false, steps - 1};
        return SLR_OK;
    }
    if (given == SLR_NEXT)
        return take_input(at, at->next_input, number, out);
    if (given < SLR_STEP(0))
        return take_input(at, given - 1, number, out);
    if (given - SLR_STEP(0) >= steps)
        return SLRI_FAIL(INVALID, "slr_fuse: step %u (%s) reads step %u, which is not before it", steps, name_of(step),
                         given - SLR_STEP(0));
    *out = (struct slri_value){false, given - SLR_STEP(0)};
    return SLR_OK;
}

// ---- types ---------------------------------------------------------------------------------------------------------

static slr_status check_types(const struct slri_ops *ops, const struct slri_ops_step *step)
{
    slr_scalar first = type_of(ops, step->operand[step->op == SLR_OP_SELECT]);
    for (uint32_t k = step->op == SLR_OP_SELECT; k < step->operands; ++k) {
        slr_scalar type = type_of(ops, step->operand[k]);
        if (type != first)
            return SLRI_FAIL(INVALID, "slr_fuse: step %u (%s) combines %s and %s; cast one of them first", ops->steps,
                             name_of(step), slri_scalar_spelling(first), slri_scalar_spelling(type));
    }
    if (known[step->op].takes == FLOATS && first != SLR_F32 && first != SLR_F64)
        return SLRI_FAIL(INVALID, "slr_fuse: step %u (%s) needs float or double, but gets %s; cast it first",
                         ops->steps, name_of(step), slri_scalar_spelling(first));
    return SLR_OK;
}

static slr_status set_type(const struct slri_ops *ops, struct slri_ops_step *step, const slr_fusion_step *given)
{
    SLRI_TRY(check_types(ops, step));
    switch (known[step->op].gives) {
    case TRUTH:
        step->type = SLR_I32;
        break;
    case ITS_TYPE:
        if (!is_wide(given->type))
            return SLRI_FAIL(INVALID, "slr_fuse: step %u casts to type %d; expected SLR_I32 to SLR_F64", ops->steps,
                             (int)given->type);
        step->type = given->type;
        break;
    default:
        step->type = type_of(ops, step->operand[known[step->op].gives == OF_SECOND]);
    }
    return SLR_OK;
}

static slr_status set_activation(const struct slri_ops *ops, struct slri_ops_step *step, const slr_fusion_desc *desc,
                                 const slr_fusion_step *given)
{
    if (step->op != SLR_OP_ACTIVATION)
        return SLR_OK;
    step->activation = given->activation ? given->activation : desc->activation ? desc->activation : SLR_RELU;
    if (step->activation < SLR_RELU || step->activation > SLR_LEAKY_RELU)
        return SLRI_FAIL(INVALID, "slr_fuse: step %u has activation %d, which is not an slr_activation", ops->steps,
                         (int)step->activation);
    return SLR_OK;
}

static slr_status set_axis(struct slri_ops *ops, struct slri_ops_step *step, const slr_fusion_step *given)
{
    step->axis = given->axis;
    if (step->op == SLR_OP_SOFTMAX && step->axis == SLR_ALL)
        step->axis = SLR_ALONG_ROW;
    bool along_rows_only = step->op == SLR_OP_SOFTMAX && step->axis != SLR_ALONG_ROW;
    if (step->axis > SLR_ALONG_COLUMN || along_rows_only || (step->axis && !slri_ops_is_end(step->op)))
        return SLRI_FAIL(INVALID, "slr_fuse: step %u (%s) has axis %d; expected %s", ops->steps, name_of(step),
                         (int)given->axis, along_rows_only ? "SLR_ALONG_ROW" : "one of an end");
    ops->has_columns = ops->has_columns || step->axis != SLR_ALL;
    return SLR_OK;
}

// ---- the list ------------------------------------------------------------------------------------------------------

static slr_status add_step(struct resolving *at, const slr_fusion_desc *desc, const slr_fusion_step *given)
{
    struct slri_ops *ops = at->ops;
    if (!is_known(given->op))
        return SLRI_FAIL(INVALID, "slr_fuse: step %u is operation %d, which is not an slr_op", ops->steps,
                         (int)given->op);
    struct slri_ops_step step = {.op = given->op, .operands = known[given->op].operands, .is_kept = given->keep != 0};
    SLRI_TRY(set_activation(ops, &step, desc, given)); // first: messages name it
    if (ops->steps && slri_ops_is_end(ops->step[ops->steps - 1].op))
        return SLRI_FAIL(UNSUPPORTED,
                         "slr_fuse: step %u (%s) comes after %s, which needs all elements first: end the list there, "
                         "and put the rest into a launch of its own",
                         ops->steps, name_of(&step), name_of(&ops->step[ops->steps - 1]));
    for (uint32_t k = 0; k < step.operands; ++k)
        SLRI_TRY(resolve_operand(at, &step, k, given->operand[k]));
    SLRI_TRY(set_type(ops, &step, given));
    SLRI_TRY(set_axis(ops, &step, given));
    ops->step[ops->steps++] = step;
    return SLR_OK;
}

static bool is_read(const struct slri_ops *ops, struct slri_value value)
{
    for (uint32_t i = 0; i < ops->steps; ++i)
        for (uint32_t k = 0; k < ops->step[i].operands; ++k)
            if (ops->step[i].operand[k].is_input == value.is_input && ops->step[i].operand[k].index == value.index)
                return true;
    return false;
}

// What nobody reads was meant for something: the kernel would compute it for nothing, or want a buffer for nothing.
static slr_status check_use(const struct slri_ops *ops, uint32_t given_inputs)
{
    uint32_t inputs = ops->inputs > given_inputs ? ops->inputs : given_inputs;
    for (uint32_t i = 0; i + 1 < ops->steps; ++i)
        if (!ops->step[i].is_kept && !is_read(ops, (struct slri_value){false, i}))
            return SLRI_FAIL(INVALID,
                             "slr_fuse: no step reads the result of step %u (%s): read it by SLR_STEP(%u), set its "
                             "keep, or remove the step",
                             i, name_of(&ops->step[i]), i);
    for (uint32_t i = 0; i < inputs; ++i)
        if (!is_read(ops, (struct slri_value){true, i}))
            return SLRI_FAIL(INVALID,
                             "slr_fuse: no step reads input %u of %u: read it by SLR_INPUT(%u), or number the inputs "
                             "without it",
                             i, inputs, i);
    return SLR_OK;
}

static slr_status take_inputs(const slr_fusion_desc *desc, struct slri_ops *ops)
{
    if (desc->input_count > 3 * SLRI_OPS_MOST || (desc->input_count && !desc->inputs))
        return SLRI_FAIL(INVALID, "slr_fusion_desc: input_count is %u, but %s", desc->input_count,
                         desc->inputs ? "at most 192 are possible" : "inputs is NULL");
    for (uint32_t i = 0; i < desc->input_count; ++i) {
        const slr_fusion_input *input = &desc->inputs[i];
        if ((input->type && !is_wide(input->type)) || (uint32_t)input->extent > SLR_EACH_ROW)
            return SLRI_FAIL(INVALID,
                             "slr_fusion_desc: input %u has type %d and extent %d; expected SLR_I32 to "
                             "SLR_F64, and an slr_extent",
                             i, (int)input->type, (int)input->extent);
        ops->input[i] = *input;
        ops->has_columns = ops->has_columns || input->extent >= SLR_EACH_COLUMN;
    }
    return SLR_OK;
}

slr_status slri_ops_resolve(const slr_fusion_desc *desc, struct slri_ops *out)
{
    *out = (struct slri_ops){.name = desc->name ? desc->name : "fused", .dtype = desc->dtype ? desc->dtype : SLR_F32};
    if ((!desc->ops && !desc->steps) || (desc->ops && desc->steps))
        return SLRI_FAIL(INVALID, "slr_fusion_desc: set ops or steps, and only one of them");
    if (desc->op_count == 0 || desc->op_count > SLRI_OPS_MOST)
        return SLRI_FAIL(INVALID, "slr_fusion_desc.op_count is %u; expected 1 to %u", desc->op_count, SLRI_OPS_MOST);
    if (!is_wide(out->dtype))
        return SLRI_FAIL(INVALID, "slr_fusion_desc.dtype is %d; expected SLR_I32 to SLR_F64", (int)desc->dtype);
    SLRI_TRY(slri_fused_check_name(out->name));
    SLRI_TRY(take_inputs(desc, out));
    struct resolving at = {.ops = out};
    for (uint32_t i = 0; i < desc->op_count; ++i) {
        const slr_fusion_step chain = {.op = desc->ops ? desc->ops[i] : (slr_op)0};
        SLRI_TRY(add_step(&at, desc, desc->ops ? &chain : &desc->steps[i]));
    }
    return check_use(out, desc->input_count);
}

// ---- figures -------------------------------------------------------------------------------------------------------

static uint64_t bytes_of_input(const slr_fusion_input *input)
{
    return input->extent == SLR_EACH ? slri_scalar_bytes(input->type) : 0;
}

// Of a step's result: an end has fewer than one for each element, but for soft-max.
static uint64_t bytes_of_result(const struct slri_ops_step *step)
{
    return slri_ops_is_end(step->op) && step->op != SLR_OP_SOFTMAX ? 0 : slri_scalar_bytes(step->type);
}

static uint64_t bytes_of_operand(const struct slri_ops *ops, struct slri_value operand)
{
    return operand.is_input ? bytes_of_input(&ops->input[operand.index])
                            : slri_scalar_bytes(ops->step[operand.index].type);
}

// Whether an earlier operand of the step is the same value.
static bool is_read_before(const struct slri_ops_step *step, uint32_t k)
{
    for (uint32_t i = 0; i < k; ++i)
        if (step->operand[i].is_input == step->operand[k].is_input && step->operand[i].index == step->operand[k].index)
            return true;
    return false;
}

void slri_ops_count(const struct slri_ops *ops, slr_fusion_info *out)
{
    *out = (slr_fusion_info){.launches = 1, .launches_apart = ops->steps, .outputs = 1};
    for (uint32_t i = 0; i < ops->inputs; ++i) {
        out->inputs += ops->input[i].extent != SLR_NUMBER;
        out->bytes_an_element += bytes_of_input(&ops->input[i]);
    }
    for (uint32_t i = 0; i < ops->steps; ++i) {
        const struct slri_ops_step *step = &ops->step[i];
        bool is_last = i + 1 == ops->steps;
        out->outputs += step->is_kept && !is_last;
        out->bytes_an_element += step->is_kept || is_last ? bytes_of_result(step) : 0;
        out->bytes_apart += bytes_of_result(step);
        for (uint32_t k = 0; k < step->operands; ++k)
            out->bytes_apart += is_read_before(step, k) ? 0 : bytes_of_operand(ops, step->operand[k]);
    }
    out->bound = out->bytes_an_element ? (double)out->bytes_apart / (double)out->bytes_an_element : 1;
}
