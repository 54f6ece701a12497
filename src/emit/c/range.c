// SPDX-License-Identifier: Apache-2.0
// Which values a register can have, so that indices which cannot wrap are not written twice. Intervals of all values
// that it ever has, grown until they hold; a counted loop's counter is kept by the loop's test.
#include "emit/c/plan.h"

#define ROUNDS 80 // a shift that halves comes to rest in 64

struct interval {
    int64_t least, most;
    bool any;
};

struct ranges {
    struct slri_c_emitter *e;
    struct slri_c_kernel *k;
    bool changed, widen;
};

static const struct interval everything = {INT64_MIN, INT64_MAX, true};

static struct interval of_kind(enum slri_kind kind)
{
    uint32_t bits = 8 * slri_kind_bytes(kind);
    if (kind == SLRI_BOOL)
        return (struct interval){0, 1, false};
    if (bits == 0 || bits == 64 || slri_kind_is_float(kind))
        return everything;
    if (slri_kind_is_signed(kind))
        return (struct interval){-(INT64_C(1) << (bits - 1)), (INT64_C(1) << (bits - 1)) - 1, false};
    return (struct interval){0, (INT64_C(1) << bits) - 1, false};
}

static bool fits(struct interval value, enum slri_kind kind)
{
    struct interval all = of_kind(kind);
    if (kind == SLRI_U64)
        return !value.any && value.least >= 0;
    return !value.any && value.least >= all.least && value.most <= all.most;
}

static struct interval value_of(const struct ranges *r, slri_reg reg)
{
    const struct slri_c_value *value = &r->k->value[reg];
    uint64_t bits;
    if (slri_c_is_literal(r->e, reg, &bits))
        return (struct interval){(int64_t)bits, (int64_t)bits, r->k->function.reg_kind[reg] == SLRI_U64 && bits >> 63};
    if (!value->defs || value->any)
        return of_kind(r->k->function.reg_kind[reg]);
    return (struct interval){value->least, value->most, false};
}

// ---- operators -----------------------------------------------------------------------------------------------------

static bool combine(enum slri_op op, int64_t x, int64_t y, int64_t *out)
{
    return op == SLRI_OP_ADD   ? __builtin_add_overflow(x, y, out)
           : op == SLRI_OP_SUB ? __builtin_sub_overflow(x, y, out)
                               : __builtin_mul_overflow(x, y, out);
}

static struct interval corners(enum slri_op op, struct interval a, struct interval b)
{
    struct interval out = {INT64_MAX, INT64_MIN, false};
    for (int i = 0; i < 4; i++) {
        int64_t value;
        if (combine(op, i & 1 ? a.most : a.least, i & 2 ? b.most : b.least, &value))
            return everything;
        out.least = value < out.least ? value : out.least;
        out.most = value > out.most ? value : out.most;
    }
    return out;
}

// By a constant above 0, of what is not negative.
static struct interval by_constant(enum slri_op op, struct interval a, struct interval b)
{
    if (a.any || b.any || a.least < 0 || b.least != b.most || b.least <= 0)
        return everything;
    if (op == SLRI_OP_DIV)
        return (struct interval){a.least / b.least, a.most / b.least, false};
    if (op == SLRI_OP_REM)
        return (struct interval){0, a.most < b.least ? a.most : b.least - 1, false};
    if (b.least > 31) // of words modulo 32
        return (struct interval){0, a.most, false};
    return (struct interval){a.least >> b.least, a.most >> b.least, false};
}

static struct interval of_and(struct interval a, struct interval b)
{
    bool by_a = !a.any && a.least >= 0, by_b = !b.any && b.least >= 0;
    if (!by_a && !by_b)
        return everything;
    return (struct interval){0, by_a && (!by_b || a.most < b.most) ? a.most : b.most, false};
}

static struct interval of_builtin(const struct slri_c_kernel *k, uint64_t builtin)
{
    if (builtin <= SLRI_BUILTIN_THREAD_Z)
        return (struct interval){0, (int64_t)k->block[builtin] - 1, false};
    bool is_x = builtin == SLRI_BUILTIN_BLOCK_X || builtin == SLRI_BUILTIN_GRID_DIM_X;
    return (struct interval){0, is_x ? INT32_MAX : 65535, false}; // CUDA's limits, which every launch keeps
}

static struct interval exact(const struct ranges *r, const struct slri_instr *in)
{
    struct interval a = in->a == SLRI_NO_REG ? everything : value_of(r, in->a);
    struct interval b = in->b == SLRI_NO_REG ? everything : value_of(r, in->b);
    switch (in->op) {
    case SLRI_OP_CONST:
        return value_of(r, in->dst).any ? of_kind(in->kind) : value_of(r, in->dst);
    case SLRI_OP_MOVE:
    case SLRI_OP_CONVERT:
        return slri_kind_is_float(r->k->function.reg_kind[in->a]) ? everything : a;
    case SLRI_OP_ADD:
    case SLRI_OP_SUB:
    case SLRI_OP_MUL:
        return a.any || b.any ? everything : corners(in->op, a, b);
    case SLRI_OP_DIV:
    case SLRI_OP_REM:
    case SLRI_OP_SHR:
        return by_constant(in->op, a, b);
    case SLRI_OP_SHL:
        if (a.any || b.any || b.least != b.most || b.least < 0 || b.least > 31)
            return everything;
        return corners(SLRI_OP_MUL, a, (struct interval){INT64_C(1) << b.least, INT64_C(1) << b.least, false});
    case SLRI_OP_AND:
        return of_and(a, b);
    case SLRI_OP_BUILTIN:
        return of_builtin(r->k, in->imm);
    case SLRI_OP_LOAD:
        return of_kind(in->kind);
    default:
        return in->op >= SLRI_OP_EQ && in->op <= SLRI_OP_GE ? (struct interval){0, 1, false} : everything;
    }
}

// ---- counters ------------------------------------------------------------------------------------------------------

static const struct slri_instr *only_assignment(const struct slri_block *block, slri_reg reg)
{
    const struct slri_instr *found = NULL;
    for (uint32_t i = 0; block && i < block->count; i++)
        if (block->instr[i].dst == reg) {
            if (found)
                return NULL;
            found = &block->instr[i];
        }
    return found;
}

static bool assigns(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    (void)e;
    return in->dst == *(slri_reg *)user;
}

// for (; i < bound; i += constant) whose body leaves i alone.
static bool finds_counters(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    struct slri_c_kernel *k = user;
    if (in->op != SLRI_OP_LOOP || in->do_while || in->a == SLRI_NO_REG)
        return false;
    const struct slri_instr *test = only_assignment(in->body[0], in->a);
    if (!test || (test->op != SLRI_OP_LT && test->op != SLRI_OP_LE) || slri_kind_is_float(test->kind))
        return false;
    const struct slri_instr *step = only_assignment(in->body[2], test->a);
    uint64_t by;
    slri_reg counter = test->a;
    if (!step || step->op != SLRI_OP_ADD || step->a != counter || !slri_c_is_literal(e, step->b, &by) ||
        (int64_t)by <= 0 || (int64_t)by > INT32_MAX || slri_c_any(e, in->body[0], assigns, &counter) ||
        slri_c_any(e, in->body[1], assigns, &counter))
        return false;
    if (k->counter)
        k->counter[k->counters] = (struct slri_c_counter){step, test->b, (int64_t)by - (test->op == SLRI_OP_LT)};
    k->counters++;
    return false;
}

static struct interval counted(const struct ranges *r, const struct slri_instr *in, struct interval value)
{
    for (uint32_t i = 0; i < r->k->counters; i++) {
        int64_t most;
        struct interval bound = value_of(r, r->k->counter[i].bound);
        if (r->k->counter[i].step == in && !value.any && !bound.any &&
            !__builtin_add_overflow(bound.most, r->k->counter[i].beyond, &most) && most < value.most)
            value.most = most > value.least ? most : value.least;
    }
    return value;
}

// ---- the search ----------------------------------------------------------------------------------------------------

static bool grows(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    struct ranges *r = user;
    (void)e;
    if (in->dst == SLRI_NO_REG)
        return false;
    struct slri_c_value *value = &r->k->value[in->dst];
    enum slri_kind kind = r->k->function.reg_kind[in->dst];
    struct interval made = counted(r, in, exact(r, in));
    if (!fits(made, in->op == SLRI_OP_CONVERT ? in->kind : kind))
        made = in->op == SLRI_OP_CONVERT ? of_kind(in->kind) : of_kind(kind);
    if (value->some && (value->any || (made.least >= value->least && made.most <= value->most && !made.any)))
        return false;
    r->changed = true;
    if (r->widen || made.any) {
        struct interval all = of_kind(kind);
        made = all;
    }
    value->least = value->some && value->least < made.least ? value->least : made.least;
    value->most = value->some && value->most > made.most ? value->most : made.most;
    value->any = made.any;
    value->some = true;
    return false;
}

// Whether the result as computed without end fits its kind, so that it does not wrap.
static bool notes_exact(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    struct ranges *r = user;
    (void)e;
    if (in->dst != SLRI_NO_REG)
        r->k->value[in->dst].exact =
            fits(exact(r, in), in->op == SLRI_OP_CONVERT ? in->kind : r->k->function.reg_kind[in->dst]);
    return false;
}

bool slri_c_ranges(struct slri_c_emitter *e, struct slri_c_kernel *k)
{
    slri_c_any(e, k->function.body, finds_counters, k);
    k->counter = slri_region_take(e->scratch, (k->counters + 1) * sizeof *k->counter);
    if (!k->counter)
        return false;
    k->counters = 0;
    slri_c_any(e, k->function.body, finds_counters, k);
    for (uint32_t i = 0; i < k->entry->bindings; i++) {
        slri_reg reg = k->entry->binding[i].reg;
        if (reg == SLRI_NO_REG)
            continue;
        struct interval all =
            k->entry->binding[i].is_buffer ? (struct interval){0, 0, false} : of_kind(k->function.reg_kind[reg]);
        k->value[reg].some = true;
        k->value[reg].any = all.any;
        k->value[reg].least = all.least;
        k->value[reg].most = all.most;
    }
    struct ranges ranges = {.e = e, .k = k, .changed = true};
    for (int round = 0; ranges.changed; round++) {
        ranges.changed = false;
        ranges.widen = round >= ROUNDS;
        slri_c_any(e, k->function.body, grows, &ranges);
    }
    slri_c_any(e, k->function.body, notes_exact, &ranges);
    return true;
}

// ---- what linear registers ask -------------------------------------------------------------------------------------

bool slri_c_never_wraps(const struct slri_c_kernel *k, slri_reg reg)
{
    const struct slri_instr *in = k->value[reg].def;
    if (in->op == SLRI_OP_BUILTIN)
        return true;
    // 64-bit sums and products wrap alike in both spellings; only a widening must see the wrap.
    bool widens = in->op == SLRI_OP_CONVERT && slri_kind_bytes(k->function.reg_kind[in->a]) < 8;
    if (!slri_kind_is_float(in->kind) && slri_kind_bytes(k->function.reg_kind[reg]) == 8 && !widens)
        return (!slri_c_is_linear(k, in->a) || slri_c_never_wraps(k, in->a)) &&
               (!slri_c_is_linear(k, in->b) || slri_c_never_wraps(k, in->b));
    return k->value[reg].exact && (!slri_c_is_linear(k, in->a) || slri_c_never_wraps(k, in->a)) &&
           (!slri_c_is_linear(k, in->b) || slri_c_never_wraps(k, in->b));
}
