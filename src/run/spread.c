// SPDX-License-Identifier: Apache-2.0
// A result varies where an operand does, or where the instruction itself gives each thread its own. Sums of values that
// grow evenly grow evenly.
#include "run/spread.h"

// Memory of the thread's own, which a row's threads do not share.
static bool is_own(struct slri_root root)
{
    return root.kind == SLRI_ROOT_LOCAL || root.kind == SLRI_ROOT_PARAM;
}

static enum slri_spread spread_of(const struct slri_spread_value *values, slri_reg reg)
{
    return reg == SLRI_NO_REG ? SLRI_SPREAD_SAME : values[reg].spread;
}

static enum slri_spread most_spread(const struct slri_spread_value *values, const struct slri_instr *in)
{
    const slri_reg operands[] = {in->a, in->b, in->c};
    enum slri_spread most = SLRI_SPREAD_SAME;
    for (uint32_t i = 0; i < 3; ++i)
        most = spread_of(values, operands[i]) > most ? spread_of(values, operands[i]) : most;
    for (uint32_t i = 0; i < in->args; ++i)
        most = spread_of(values, in->arg[i].reg) > most ? spread_of(values, in->arg[i].reg) : most;
    return most;
}

static bool makes_varying(const struct slri_instr *in)
{
    bool is_atomic = in->op >= SLRI_OP_ATOMIC_LOAD && in->op <= SLRI_OP_ATOMIC_CAS;
    return is_atomic || in->op == SLRI_OP_WARP || in->op == SLRI_OP_CLOCK ||
           (in->op == SLRI_OP_LOAD && is_own(in->root));
}

static bool is_access(const struct slri_instr *in)
{
    return in->op == SLRI_OP_LOAD || in->op == SLRI_OP_STORE ||
           (in->op >= SLRI_OP_ATOMIC_LOAD && in->op <= SLRI_OP_ATOMIC_CAS);
}

static struct slri_spread_value linear(int64_t step)
{
    return (struct slri_spread_value){.spread = SLRI_SPREAD_LINEAR, .step = step};
}

// Of the sum, the difference or the product of integers; SLRI_SPREAD_VARYING: it is none.
static struct slri_spread_value spread_of_sum(const struct slri_spread_value *values, const struct slri_instr *in)
{
    const struct slri_spread_value a = values[in->a],
                                   b = in->b == SLRI_NO_REG ? (struct slri_spread_value){0} : values[in->b];
    const int64_t of_a = a.spread == SLRI_SPREAD_LINEAR ? a.step : 0,
                  of_b = b.spread == SLRI_SPREAD_LINEAR ? b.step : 0;
    switch (in->op) {
    case SLRI_OP_MOVE:
    case SLRI_OP_CONVERT:
        return linear(of_a);
    case SLRI_OP_ADD:
        return linear((int64_t)((uint64_t)of_a + (uint64_t)of_b));
    case SLRI_OP_SUB:
        return linear((int64_t)((uint64_t)of_a - (uint64_t)of_b));
    case SLRI_OP_MUL:
        if (a.spread == SLRI_SPREAD_SAME)
            return linear(a.known ? (int64_t)((uint64_t)of_b * a.bits) : 0);
        if (b.spread == SLRI_SPREAD_SAME)
            return linear(b.known ? (int64_t)((uint64_t)of_a * b.bits) : 0);
        break;
    default:
        break;
    }
    return (struct slri_spread_value){.spread = SLRI_SPREAD_VARYING};
}

struct slri_spread_value slri_spread_of(const struct slri_spread_value *values, const struct slri_instr *in)
{
    const enum slri_spread operands = most_spread(values, in);
    if (makes_varying(in) || operands == SLRI_SPREAD_VARYING)
        return (struct slri_spread_value){.spread = SLRI_SPREAD_VARYING};
    if (in->op == SLRI_OP_BUILTIN && in->imm == SLRI_BUILTIN_THREAD_X)
        return linear(1);
    if (operands == SLRI_SPREAD_SAME)
        return (struct slri_spread_value){.spread = SLRI_SPREAD_SAME};
    return slri_kind_is_float(in->kind) ? (struct slri_spread_value){.spread = SLRI_SPREAD_VARYING}
                                        : spread_of_sum(values, in);
}

bool slri_spread_scatters(const struct slri_spread_value *values, const struct slri_instr *in)
{
    if (!is_access(in) || is_own(in->root) || in->a == SLRI_NO_REG)
        return false;
    const struct slri_spread_value at = values[in->a];
    return at.spread == SLRI_SPREAD_VARYING ||
           (at.spread == SLRI_SPREAD_LINEAR && at.step != (int64_t)slri_kind_bytes(in->kind));
}
