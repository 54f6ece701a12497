// SPDX-License-Identifier: Apache-2.0
// `slipring kernel fuse --ops`: a list of operations as one kernel.
#include "kernel/fuse.h"

#include "memory.h"
#include "say.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    slr_op op;
    slr_activation activation;
} operations[] = {
    {"add", SLR_OP_ADD, 0},
    {"subtract", SLR_OP_SUBTRACT, 0},
    {"multiply", SLR_OP_MULTIPLY, 0},
    {"divide", SLR_OP_DIVIDE, 0},
    {"minimum", SLR_OP_MINIMUM, 0},
    {"maximum", SLR_OP_MAXIMUM, 0},
    {"fma", SLR_OP_FMA, 0},
    {"scale", SLR_OP_SCALE, 0},
    {"scale_bias", SLR_OP_SCALE_BIAS, 0},
    {"clamp", SLR_OP_CLAMP, 0},
    {"negate", SLR_OP_NEGATE, 0},
    {"abs", SLR_OP_ABS, 0},
    {"sqrt", SLR_OP_SQRT, 0},
    {"exp", SLR_OP_EXP, 0},
    {"log", SLR_OP_LOG, 0},
    {"relu", SLR_OP_ACTIVATION, SLR_RELU},
    {"sigmoid", SLR_OP_ACTIVATION, SLR_SIGMOID},
    {"tanh", SLR_OP_ACTIVATION, SLR_TANH},
    {"gelu", SLR_OP_ACTIVATION, SLR_GELU},
    {"silu", SLR_OP_ACTIVATION, SLR_SILU},
    {"leaky_relu", SLR_OP_ACTIVATION, SLR_LEAKY_RELU},
    {"select", SLR_OP_SELECT, 0},
    {"equal", SLR_OP_EQUAL, 0},
    {"not_equal", SLR_OP_NOT_EQUAL, 0},
    {"less", SLR_OP_LESS, 0},
    {"less_equal", SLR_OP_LESS_EQUAL, 0},
    {"greater", SLR_OP_GREATER, 0},
    {"greater_equal", SLR_OP_GREATER_EQUAL, 0},
    {"sum", SLR_OP_SUM, 0},
    {"largest", SLR_OP_LARGEST, 0},
    {"smallest", SLR_OP_SMALLEST, 0},
    {"softmax", SLR_OP_SOFTMAX, 0},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static const struct {
    const char *name;
    slr_scalar type;
} dtypes[] = {{"float", SLR_F32}, {"double", SLR_F64}, {"int", SLR_I32},
              {"uint", SLR_U32},  {"long", SLR_I64},   {"ulong", SLR_U64}};

int fuse_take_dtype(const char *text, slr_scalar *out)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (strcmp(dtypes[i].name, text) == 0) {
            *out = dtypes[i].type;
            return -1;
        }
    }
    return say_unknown("type", text, &dtypes[0].name, sizeof *dtypes, sizeof dtypes / sizeof *dtypes);
}

static int take_operation(const char *name, slr_fusion_step *out)
{
    for (size_t i = 0; i < OPERATIONS; i++) {
        if (strcmp(operations[i].name, name) == 0) {
            *out = (slr_fusion_step){.op = operations[i].op, .activation = operations[i].activation};
            return -1;
        }
    }
    return say_unknown("operation", name, &operations[0].name, sizeof *operations, OPERATIONS);
}

int fuse_take_operations(const char *text, slr_fusion_step **steps, uint32_t *count)
{
    char *names = memory_take(strlen(text) + 1, 1), *next = names;
    int end = -1;
    memcpy(names, text, strlen(text));
    while (next != NULL && end == -1) {
        char *comma = strchr(next, ',');
        if (comma != NULL)
            *comma++ = '\0';
        *steps = memory_grow(*steps, *count + 1u, sizeof **steps);
        end = take_operation(next, &(*steps)[(*count)++]);
        next = comma;
    }
    free(names);
    return end;
}
