// SPDX-License-Identifier: Apache-2.0
// The formula of each operation. In a formula @1 is the first operand, @f the suffix of float's functions and numbers.
#include "fuse/ops.h"

struct formula {
    const char *floats, *integers;
};

static const struct formula formulas[] = {
    [SLR_OP_ADD] = {"@1 + @2", "@1 + @2"},
    [SLR_OP_SUBTRACT] = {"@1 - @2", "@1 - @2"},
    [SLR_OP_MULTIPLY] = {"@1 * @2", "@1 * @2"},
    [SLR_OP_DIVIDE] = {"@1 / @2", "@1 / @2"},
    [SLR_OP_MINIMUM] = {"fmin@f(@1, @2)", "min(@1, @2)"},
    [SLR_OP_MAXIMUM] = {"fmax@f(@1, @2)", "max(@1, @2)"},
    [SLR_OP_FMA] = {"fma@f(@1, @2, @3)", "@1 * @2 + @3"},
    [SLR_OP_SCALE] = {"@1 * @2", "@1 * @2"},
    [SLR_OP_NEGATE] = {"-@1", "-@1"},
    [SLR_OP_ABS] = {"fabs@f(@1)", "abs(@1)"},
    [SLR_OP_SQRT] = {"sqrt@f(@1)", ""},
    [SLR_OP_EXP] = {"exp@f(@1)", ""},
    [SLR_OP_LOG] = {"log@f(@1)", ""},
    [SLR_OP_SUM] = {"@1 + @2", "@1 + @2"},
    [SLR_OP_LARGEST] = {"fmax@f(@1, @2)", "max(@1, @2)"},
    [SLR_OP_SMALLEST] = {"fmin@f(@1, @2)", "min(@1, @2)"},
    [SLR_OP_SOFTMAX] = {"", ""}, // text.c
    [SLR_OP_SCALE_BIAS] = {"@1 * @2 + @3", "@1 * @2 + @3"},
    [SLR_OP_CLAMP] = {"fmin@f(fmax@f(@1, @2), @3)", "min(max(@1, @2), @3)"},
    [SLR_OP_EQUAL] = {"@1 == @2", "@1 == @2"},
    [SLR_OP_NOT_EQUAL] = {"@1 != @2", "@1 != @2"},
    [SLR_OP_LESS] = {"@1 < @2", "@1 < @2"},
    [SLR_OP_LESS_EQUAL] = {"@1 <= @2", "@1 <= @2"},
    [SLR_OP_GREATER] = {"@1 > @2", "@1 > @2"},
    [SLR_OP_GREATER_EQUAL] = {"@1 >= @2", "@1 >= @2"},
    [SLR_OP_SELECT] = {"@1 != 0 ? @2 : @3", "@1 != 0 ? @2 : @3"},
};

static const char *const activations[] = {
    [SLR_RELU] = "@1 < 0.0@f ? 0.0@f : @1",
    [SLR_SIGMOID] = "1.0@f / (1.0@f + exp@f(-@1))",
    [SLR_TANH] = "tanh@f(@1)",
    [SLR_GELU] = "0.5@f * @1 * (1.0@f + erf@f(@1 * 0.7071067811865476@f))",
    [SLR_SILU] = "@1 / (1.0@f + exp@f(-@1))",
    [SLR_LEAKY_RELU] = "@1 < 0.0@f ? @1 / 100.0@f : @1",
};

static bool is_float(slr_scalar type)
{
    return type == SLR_F32 || type == SLR_F64;
}

static const char *formula_of(const struct slri_ops_step *step, slr_scalar operand_type)
{
    bool is_unsigned = operand_type == SLR_U32 || operand_type == SLR_U64;
    if (step->op == SLR_OP_ACTIVATION)
        return activations[step->activation];
    if (step->op == SLR_OP_ABS && is_unsigned)
        return "@1";
    return is_float(operand_type) ? formulas[step->op].floats : formulas[step->op].integers;
}

void slri_ops_write_formula(const struct slri_ops_step *step, slr_scalar operand_type, const char *const *operand,
                            struct slri_text *out)
{
    if (step->op == SLR_OP_CAST) {
        slri_text_printf(out, "(%s)%s", slri_scalar_spelling(step->type), operand[0]);
        return;
    }
    const char *text = formula_of(step, operand_type);
    for (; *text; ++text) {
        if (*text != '@')
            slri_text_append(out, text, 1);
        else if (*++text != 'f')
            slri_text_puts(out, operand[*text - '1']);
        else if (operand_type == SLR_F32)
            slri_text_puts(out, "f");
    }
}
