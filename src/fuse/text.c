// SPDX-License-Identifier: Apache-2.0
// A list of operations as a kernel in the subset of CUDA C.
#include "fuse/ops.h"

#include <stdio.h>

#define NAME_BYTES 24

struct writing {
    const struct slri_ops *ops;
    struct slri_text *out;
    const char *indent; // of the body's lines
};

static slr_scalar type_of_operand(const struct slri_ops *ops, struct slri_value value)
{
    return value.is_input ? ops->input[value.index].type : ops->step[value.index].type;
}

static const struct slri_ops_step *last_of(const struct slri_ops *ops)
{
    return &ops->step[ops->steps - 1];
}

static const struct slri_ops_step *end_of(const struct slri_ops *ops)
{
    return slri_ops_is_end(last_of(ops)->op) ? last_of(ops) : NULL;
}

static void name_value(const struct slri_ops *ops, struct slri_value value, char name[NAME_BYTES])
{
    bool is_number = value.is_input && ops->input[value.index].extent == SLR_NUMBER;
    snprintf(name, NAME_BYTES, "%s%u", is_number ? "in" : value.is_input ? "x" : "v", value.index);
}

// ---- the value of one element --------------------------------------------------------------------------------------

static void load(struct writing *w, uint32_t input)
{
    static const char *const at[] = {
        [SLR_EACH] = "i", [SLR_EACH_COLUMN] = "i % columns", [SLR_EACH_ROW] = "i / columns"};
    const slr_fusion_input *is = &w->ops->input[input];
    if (is->extent == SLR_NUMBER)
        return;
    slri_text_printf(w->out, "%sconst %s x%u = in%u[%s];\n", w->indent, slri_scalar_spelling(is->type), input, input,
                     at[is->extent]);
}

static void write_step(struct writing *w, uint32_t index)
{
    const struct slri_ops_step *step = &w->ops->step[index];
    char name[3][NAME_BYTES] = {{0}};
    const char *const operand[] = {name[0], name[1], name[2]};
    for (uint32_t k = 0; k < step->operands; ++k) {
        name_value(w->ops, step->operand[k], name[k]);
    }
    slri_text_printf(w->out, "%sconst %s v%u = ", w->indent, slri_scalar_spelling(step->type), index);
    slri_ops_write_formula(step, type_of_operand(w->ops, step->operand[0]), operand, w->out);
    slri_text_printf(w->out, "; // %s\n", slri_ops_name(step->op, step->activation));
    if (step->is_kept && index + 1 < w->ops->steps)
        slri_text_printf(w->out, "%skept%u[i] = v%u;\n", w->indent, index, index);
}

// All but the end. `value` is the name of the end's operand, or of the last result.
static void write_element(struct writing *w, const char *indent, char value[NAME_BYTES])
{
    const struct slri_ops *ops = w->ops;
    uint32_t steps = ops->steps - (end_of(ops) != NULL);
    w->indent = indent;
    for (uint32_t i = 0; i < ops->inputs; ++i) // before anything is stored: an output may be an input's buffer
        load(w, i);
    for (uint32_t i = 0; i < steps; ++i)
        write_step(w, i);
    const struct slri_value result = end_of(ops) ? end_of(ops)->operand[0] : (struct slri_value){false, ops->steps - 1};
    name_value(ops, result, value);
}

// ---- the frame -----------------------------------------------------------------------------------------------------

// Whether the input has as many elements as `out` in a square matrix, but other threads read an element of it than the
// one that writes this element of `out`. `__restrict__` makes a launch refuse one buffer for both. `out` has none,
// as it may replace other inputs.
static bool is_across(const struct slri_ops *ops, uint32_t input)
{
    const struct slri_ops_step *end = end_of(ops);
    const slr_extent extent = ops->input[input].extent;
    if (!end || end->op == SLR_OP_SOFTMAX)
        return false;
    return end->axis == SLR_ALONG_ROW ? extent == SLR_EACH_COLUMN
                                      : end->axis == SLR_ALONG_COLUMN && extent == SLR_EACH_ROW;
}

static void write_parameters(struct writing *w)
{
    const struct slri_ops *ops = w->ops;
    for (uint32_t i = 0; i < ops->inputs; ++i) {
        const char *type = slri_scalar_spelling(ops->input[i].type);
        if (ops->input[i].extent == SLR_NUMBER)
            slri_text_printf(w->out, "%s in%u, ", type, i);
        else
            slri_text_printf(w->out, "const %s *%sin%u, ", type, is_across(ops, i) ? "__restrict__ " : "", i);
    }
    for (uint32_t i = 0; i + 1 < ops->steps; ++i)
        if (ops->step[i].is_kept)
            slri_text_printf(w->out, "%s *kept%u, ", slri_scalar_spelling(ops->step[i].type), i);
    const char *type = slri_scalar_spelling(last_of(ops)->type);
    if (end_of(ops) && end_of(ops)->axis == SLR_ALL)
        slri_text_printf(w->out, "%s *partial, unsigned *ticket, ", type);
    slri_text_printf(w->out, "%s *out, int n%s)\n{\n", type, ops->has_columns ? ", int columns" : "");
}

static void write_head(struct writing *w)
{
    const struct slri_ops *ops = w->ops;
    const struct slri_ops_step *end = end_of(ops);
    slri_text_puts(w->out, "// Fused by slipring:");
    for (uint32_t i = 0; i < ops->steps; ++i)
        slri_text_printf(w->out, "%s %s", i ? "," : "", slri_ops_name(ops->step[i].op, ops->step[i].activation));
    slr_fusion_info info;
    slri_ops_count(ops, &info);
    slri_text_printf(w->out, ".\n// %llu bytes an element instead of %llu.\n",
                     (unsigned long long)info.bytes_an_element, (unsigned long long)info.bytes_apart);
    slri_text_puts(w->out, "// For the same bits everywhere compile it with nvcc --fmad=false.\n");
    bool in_blocks = end && end->axis != SLR_ALONG_COLUMN;
    char bounds[40] = "";
    if (in_blocks)
        snprintf(bounds, sizeof bounds, "__launch_bounds__(%d) ", SLRI_OPS_THREADS);
    slri_text_printf(w->out, "__global__ void %s%s(", bounds, ops->name);
    write_parameters(w);
}

static void write_plain(struct writing *w)
{
    char value[NAME_BYTES];
    slri_text_puts(w->out, "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) {\n");
    write_element(w, "        ", value);
    slri_text_printf(w->out, "        out[i] = %s;\n    }\n}\n", value);
}

// ---- ends ----------------------------------------------------------------------------------------------------------

// What an end begins with: no value changes.
static const char *start_of(slr_op op, slr_scalar type)
{
    static const char *const largest[] = {[SLR_I32] = "-2147483647 - 1",
                                          [SLR_U32] = "0u",
                                          [SLR_I64] = "-9223372036854775807ll - 1",
                                          [SLR_U64] = "0ull",
                                          [SLR_F32] = "__int_as_float(-8388608)",
                                          [SLR_F64] = "__longlong_as_double(-4503599627370496ll)"};
    static const char *const smallest[] = {[SLR_I32] = "2147483647",
                                           [SLR_U32] = "4294967295u",
                                           [SLR_I64] = "9223372036854775807ll",
                                           [SLR_U64] = "18446744073709551615ull",
                                           [SLR_F32] = "__int_as_float(2139095040)",
                                           [SLR_F64] = "__longlong_as_double(9218868437227405312ll)"};
    return op == SLR_OP_SUM ? "0" : op == SLR_OP_SMALLEST ? smallest[type] : largest[type];
}

static void write_combination(struct writing *w, slr_op op, slr_scalar type, const char *to, const char *with)
{
    const struct slri_ops_step step = {.op = op, .type = type};
    const char *const operand[] = {to, with};
    slri_text_printf(w->out, "%s = ", to);
    slri_ops_write_formula(&step, type, operand, w->out);
    slri_text_puts(w->out, ";\n");
}

// The values `own` of a block's threads, in an order that only the number of threads determines, in part[0].
static void write_tree(struct writing *w, slr_op op, slr_scalar type, const char *indent)
{
    slri_text_printf(w->out,
                     "%spart[t] = own;\n"
                     "%s__syncthreads();\n"
                     "%sfor (int s = %d; s > 0; s >>= 1) {\n"
                     "%s    if (t < s && t + s < blockDim.x)\n"
                     "%s        ",
                     indent, indent, indent, SLRI_OPS_THREADS / 2, indent, indent);
    write_combination(w, op, type, "part[t]", "part[t + s]");
    slri_text_printf(w->out, "%s    __syncthreads();\n%s}\n", indent, indent);
}

static void write_block_head(struct writing *w, slr_scalar type)
{
    slri_text_printf(w->out,
                     "    __shared__ %s part[%d];\n    const unsigned t = threadIdx.x;\n"
                     "    if (n < 0%s)\n        n = 0;\n", // indices are unsigned below
                     slri_scalar_spelling(type), SLRI_OPS_THREADS, w->ops->has_columns ? " || columns < 0" : "");
}

// Each block writes its own part; the last block to do so combines the parts in the order of the blocks.
static void write_over_all(struct writing *w, const struct slri_ops_step *end)
{
    const char *type = slri_scalar_spelling(end->type), *start = start_of(end->op, end->type);
    char value[NAME_BYTES];
    write_block_head(w, end->type);
    slri_text_printf(w->out,
                     "    %s own = %s;\n"
                     "    for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x) {\n",
                     type, start);
    write_element(w, "        ", value);
    slri_text_puts(w->out, "        ");
    write_combination(w, end->op, end->type, "own", value);
    slri_text_puts(w->out, "    }\n");
    write_tree(w, end->op, end->type, "    ");
    slri_text_printf(w->out,
                     "    int last = 0; // whether all other blocks have written their parts\n"
                     "    if (t == 0) {\n"
                     "        partial[blockIdx.x] = part[0];\n"
                     "        __threadfence();\n"
                     "        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;\n"
                     "        __threadfence();\n"
                     "    }\n"
                     "    if (!__syncthreads_or(last))\n"
                     "        return;\n"
                     "    own = %s;\n"
                     "    for (unsigned k = t; k < gridDim.x; k += blockDim.x)\n"
                     "        ",
                     start);
    write_combination(w, end->op, end->type, "own", "partial[k]");
    write_tree(w, end->op, end->type, "    ");
    slri_text_puts(w->out, "    if (t == 0)\n        out[0] = part[0];\n}\n");
}

static void write_row_loop(struct writing *w)
{
    slri_text_puts(w->out, "    for (unsigned row = blockIdx.x; row < n / columns; row += gridDim.x) {\n");
}

#define EACH_OF_ROW                                                                                                    \
    "        for (unsigned k = t; k < columns; k += blockDim.x) {\n            const unsigned i = row * columns + "    \
    "k;\n"

static void write_along_row(struct writing *w, const struct slri_ops_step *end)
{
    char value[NAME_BYTES];
    write_block_head(w, end->type);
    write_row_loop(w);
    slri_text_printf(w->out, "        %s own = %s;\n" EACH_OF_ROW, slri_scalar_spelling(end->type),
                     start_of(end->op, end->type));
    write_element(w, "            ", value);
    slri_text_puts(w->out, "            ");
    write_combination(w, end->op, end->type, "own", value);
    slri_text_puts(w->out, "        }\n");
    write_tree(w, end->op, end->type, "        ");
    slri_text_puts(w->out,
                   "        if (t == 0)\n            out[row] = part[0];\n        __syncthreads();\n    }\n}\n");
}

static void write_along_column(struct writing *w, const struct slri_ops_step *end)
{
    char value[NAME_BYTES];
    slri_text_printf(w->out,
                     "    const int column = blockIdx.x * blockDim.x + threadIdx.x;\n"
                     "    if (column < columns) {\n"
                     "        %s own = %s;\n"
                     "        for (int row = 0; row < n / columns; ++row) {\n"
                     "            const int i = row * columns + column;\n",
                     slri_scalar_spelling(end->type), start_of(end->op, end->type));
    write_element(w, "            ", value);
    slri_text_puts(w->out, "            ");
    write_combination(w, end->op, end->type, "own", value);
    slri_text_puts(w->out, "        }\n        out[column] = own;\n    }\n}\n");
}

// Each element is computed once and waits in `out`, where only its own thread reads it.
static void write_softmax(struct writing *w, const struct slri_ops_step *end)
{
    const char *type = slri_scalar_spelling(end->type), *suffix = end->type == SLR_F32 ? "f" : "";
    char value[NAME_BYTES];
    write_block_head(w, end->type);
    write_row_loop(w);
    slri_text_printf(w->out, "        %s own = %s;\n" EACH_OF_ROW, type, start_of(SLR_OP_LARGEST, end->type));
    write_element(w, "            ", value);
    slri_text_printf(w->out, "            out[i] = %s;\n            ", value);
    write_combination(w, SLR_OP_LARGEST, end->type, "own", value);
    slri_text_puts(w->out, "        }\n");
    write_tree(w, SLR_OP_LARGEST, end->type, "        ");
    slri_text_printf(w->out,
                     "        const %s largest = part[0];\n"
                     "        __syncthreads();\n"
                     "        own = 0;\n" EACH_OF_ROW "            const %s e = exp%s(out[i] - largest);\n"
                     "            out[i] = e;\n"
                     "            own = own + e;\n"
                     "        }\n",
                     type, type, suffix);
    write_tree(w, SLR_OP_SUM, end->type, "        ");
    slri_text_puts(w->out, "        const ");
    slri_text_printf(w->out,
                     "%s sum = part[0];\n"
                     "        __syncthreads();\n" EACH_OF_ROW "            out[i] = out[i] / sum;\n"
                     "        }\n"
                     "    }\n"
                     "}\n",
                     type);
}

void slri_ops_write(const struct slri_ops *ops, struct slri_text *out)
{
    struct writing w = {.ops = ops, .out = out};
    const struct slri_ops_step *end = end_of(ops);
    write_head(&w);
    if (!end)
        write_plain(&w);
    else if (end->op == SLR_OP_SOFTMAX)
        write_softmax(&w, end);
    else if (end->axis == SLR_ALL)
        write_over_all(&w, end);
    else if (end->axis == SLR_ALONG_ROW)
        write_along_row(&w, end);
    else
        write_along_column(&w, end);
}
