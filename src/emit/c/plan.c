// SPDX-License-Identifier: Apache-2.0
// Levels and linear registers. Both are assumed at first (all uniform, all linear) and taken back where an instruction
// contradicts, until nothing changes: what is left holds.
#include "emit/c/plan.h"

#include <string.h>

// ---- mentions ------------------------------------------------------------------------------------------------------

static uint32_t mentions_in(const struct slri_instr *in, slri_reg reg)
{
    uint32_t count = (in->dst == reg) + (in->a == reg) + (in->b == reg) + (in->c == reg);
    for (uint32_t i = 0; i < in->args; i++)
        count += in->arg[i].reg == reg;
    for (int part = 0; part < 3; part++)
        count += in->body[part] ? slri_c_mentions(in->body[part], reg) : 0;
    for (uint32_t i = 0; i < in->cases; i++)
        count += slri_c_mentions(in->match[i].body, reg);
    return count;
}

uint32_t slri_c_mentions(const struct slri_block *block, slri_reg reg)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < block->count; i++)
        count += mentions_in(&block->instr[i], reg);
    return count;
}

struct finding {
    slri_reg reg;
    struct slri_c_assigned assigned;
};

static bool finds_assignment(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    struct finding *finding = user;
    (void)e;
    if (in->dst == finding->reg)
        finding->assigned = (struct slri_c_assigned){finding->assigned.count + 1, in};
    return false;
}

struct slri_c_assigned slri_c_assigned(const struct slri_c_emitter *e, const struct slri_block *block, slri_reg reg)
{
    struct finding finding = {.reg = reg};
    slri_c_any(e, block, finds_assignment, &finding);
    return finding.assigned;
}

static void count_in(struct slri_c_kernel *k, const struct slri_instr *in)
{
    const slri_reg operand[] = {in->dst, in->a, in->b, in->c};
    for (int i = 0; i < 4; i++)
        if (operand[i] != SLRI_NO_REG)
            k->value[operand[i]].mentions++;
    for (uint32_t i = 0; i < in->args; i++)
        k->value[in->arg[i].reg].mentions++;
    if (in->dst == SLRI_NO_REG)
        return;
    struct slri_c_value *value = &k->value[in->dst];
    value->def = value->defs++ ? NULL : in;
}

static bool counts(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    (void)e;
    count_in(user, in);
    return false;
}

// ---- linear registers ----------------------------------------------------------------------------------------------

static bool is_integer(enum slri_kind kind)
{
    return kind >= SLRI_I32 && kind <= SLRI_U64;
}

static bool is_word(enum slri_kind kind)
{
    return kind == SLRI_I32 || kind == SLRI_U32;
}

static uint8_t level_of(const struct slri_c_kernel *k, slri_reg reg)
{
    return reg == SLRI_NO_REG ? SLRI_LEVEL_UNIFORM : k->value[reg].level;
}

static bool is_wide_register(const struct slri_c_kernel *k, slri_reg reg)
{
    return !is_word(k->function.reg_kind[reg]);
}

// One linear operand and one of the row; two linear ones where `both`.
static bool mixes(const struct slri_c_kernel *k, const struct slri_instr *in, bool both)
{
    bool a = slri_c_is_linear(k, in->a), b = slri_c_is_linear(k, in->b);
    bool a_fits = a || level_of(k, in->a) < SLRI_LEVEL_LANE, b_fits = b || level_of(k, in->b) < SLRI_LEVEL_LANE;
    return a_fits && b_fits && (a || b) && (both || !(a && b));
}

static bool may_be_linear(const struct slri_c_kernel *k, const struct slri_c_emitter *e, const struct slri_instr *in)
{
    uint64_t literal;
    if (!is_integer(in->kind) || k->value[in->dst].defs != 1)
        return false;
    switch (in->op) {
    case SLRI_OP_BUILTIN:
        return in->imm == SLRI_BUILTIN_THREAD_X;
    case SLRI_OP_MOVE:
        return slri_c_is_linear(k, in->a);
    case SLRI_OP_CONVERT:
        return slri_c_is_linear(k, in->a) && is_integer(k->function.reg_kind[in->a]);
    case SLRI_OP_ADD:
    case SLRI_OP_SUB:
        return mixes(k, in, is_word(in->kind));
    case SLRI_OP_MUL:
        return mixes(k, in, false);
    case SLRI_OP_SHL:
        return slri_c_is_linear(k, in->a) && slri_c_is_literal(e, in->b, &literal);
    default:
        return false;
    }
}

static uint8_t greater(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

// ---- how far an instruction's result is shared ---------------------------------------------------------------------

static uint8_t result_level(const struct slri_c_kernel *k, const struct slri_instr *in)
{
    uint8_t level = greater(level_of(k, in->a), greater(level_of(k, in->b), level_of(k, in->c)));
    for (uint32_t i = 0; i < in->args; i++)
        level = greater(level, level_of(k, in->arg[i].reg));
    if (in->op == SLRI_OP_BUILTIN && in->imm == SLRI_BUILTIN_THREAD_X)
        return SLRI_LEVEL_LANE;
    if (in->op == SLRI_OP_BUILTIN && (in->imm == SLRI_BUILTIN_THREAD_Y || in->imm == SLRI_BUILTIN_THREAD_Z))
        return k->leaves ? SLRI_LEVEL_LANE : SLRI_LEVEL_ROW; // a row whose threads have returned computes nothing
    if (in->op == SLRI_OP_BARRIER)
        return SLRI_LEVEL_UNIFORM;
    if (in->op == SLRI_OP_WARP)
        return SLRI_LEVEL_LANE;
    if (in->op == SLRI_OP_CALL || (in->op >= SLRI_OP_ATOMIC_LOAD && in->op <= SLRI_OP_ATOMIC_CAS))
        return SLRI_LEVEL_LANE;
    if (in->op == SLRI_OP_LOAD && in->is_volatile)
        return SLRI_LEVEL_LANE; // each thread reads it
    if (in->op == SLRI_OP_LOAD && (in->root.kind == SLRI_ROOT_LOCAL || in->root.kind == SLRI_ROOT_PARAM))
        return SLRI_LEVEL_LANE; // a thread's own memory
    return level;
}

// Levels of what a loop or switch holds that jumps: BREAK of this one, CONTINUE of this one, RETURN of all.
static uint8_t jumps(const struct slri_c_kernel *k, const struct slri_block *block, uint8_t level, bool breaks,
                     bool continues)
{
    uint8_t most = SLRI_LEVEL_UNIFORM;
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if ((in->op == SLRI_OP_BREAK && breaks) || (in->op == SLRI_OP_CONTINUE && continues) ||
            in->op == SLRI_OP_RETURN)
            most = greater(most, level);
        bool is_loop = in->op == SLRI_OP_LOOP, is_switch = in->op == SLRI_OP_SWITCH;
        uint8_t inner = in->op == SLRI_OP_IF || is_switch ? greater(level, level_of(k, in->a)) : level;
        for (int part = 0; part < 3; part++)
            most = greater(most, jumps(k, in->body[part], inner, breaks && !is_loop, continues && !is_loop));
        for (uint32_t m = 0; m < in->cases; m++)
            most = greater(most, jumps(k, in->match[m].body, inner, false, continues));
    }
    return most;
}

bool slri_c_meets_in(const struct slri_instr *in)
{
    bool meets = in->op == SLRI_OP_BARRIER || in->op == SLRI_OP_WARP;
    for (int part = 0; part < 3; part++)
        meets |= slri_c_meets(in->body[part]);
    for (uint32_t i = 0; i < in->cases; i++)
        meets |= slri_c_meets(in->match[i].body);
    return meets;
}

bool slri_c_meets(const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++)
        if (slri_c_meets_in(&block->instr[i]))
            return true;
    return false;
}

uint8_t slri_c_control_level(const struct slri_c_kernel *k, const struct slri_instr *in)
{
    uint8_t level = level_of(k, in->a);
    if (in->op == SLRI_OP_LOOP)
        level = greater(level, jumps(k, in->body[1], SLRI_LEVEL_UNIFORM, true, true));
    for (uint32_t m = 0; m < in->cases; m++)
        level = greater(level, jumps(k, in->match[m].body, SLRI_LEVEL_UNIFORM, true, false));
    // Where the rows meet they run together: what is the same in a row is computed for each lane that is there.
    return level == SLRI_LEVEL_ROW && slri_c_meets_in(in) ? SLRI_LEVEL_LANE : level;
}

// ---- narrowing -----------------------------------------------------------------------------------------------------

static const enum slri_op negated[] = {
    [SLRI_OP_EQ] = SLRI_OP_NE, [SLRI_OP_NE] = SLRI_OP_EQ, [SLRI_OP_LT] = SLRI_OP_GE,
    [SLRI_OP_LE] = SLRI_OP_GT, [SLRI_OP_GT] = SLRI_OP_LE, [SLRI_OP_GE] = SLRI_OP_LT,
};
static const enum slri_op swapped[] = {
    [SLRI_OP_EQ] = SLRI_OP_EQ, [SLRI_OP_NE] = SLRI_OP_NE, [SLRI_OP_LT] = SLRI_OP_GT,
    [SLRI_OP_LE] = SLRI_OP_GE, [SLRI_OP_GT] = SLRI_OP_LT, [SLRI_OP_GE] = SLRI_OP_LE,
};

static bool stride_is_one(const struct slri_c_kernel *k, slri_reg reg);

bool slri_c_narrows(const struct slri_c_kernel *k, const struct slri_instr *in, struct slri_c_narrowing *out)
{
    const struct slri_instr *compare = in->op == SLRI_OP_IF ? k->value[in->a].def : NULL;
    if (!compare || compare->op < SLRI_OP_EQ || compare->op > SLRI_OP_GE || !is_integer(compare->kind) ||
        compare->kind == SLRI_U64)
        return false;
    bool then_empty = !in->body[0] || !in->body[0]->count, else_empty = !in->body[1] || !in->body[1]->count;
    bool on_left = slri_c_is_linear(k, compare->a);
    if (then_empty == else_empty || on_left == slri_c_is_linear(k, compare->b))
        return false;
    *out = (struct slri_c_narrowing){.compare = compare, .body = in->body[then_empty]};
    out->op = on_left ? compare->op : swapped[compare->op];
    out->op = then_empty ? negated[out->op] : out->op;
    out->lane = on_left ? compare->a : compare->b;
    out->bound = on_left ? compare->b : compare->a;
    // Ranges of lanes differ from row to row: where all rows meet, masks say who is there.
    return out->op != SLRI_OP_NE && level_of(k, out->bound) < SLRI_LEVEL_LANE && stride_is_one(k, out->lane) &&
           (k->rows == 1 || !slri_c_meets(out->body));
}

// ---- the search ----------------------------------------------------------------------------------------------------

struct search {
    struct slri_c_emitter *e;
    struct slri_c_kernel *k;
    bool changed;
};

static void raise_level(struct search *s, slri_reg reg, uint8_t level)
{
    struct slri_c_value *value = &s->k->value[reg];
    s->changed |= level > value->level;
    value->level = greater(value->level, level);
}

static void refuse_linear(struct search *s, slri_reg reg)
{
    s->changed |= s->k->value[reg].linear;
    s->k->value[reg].linear = false;
}

// What is assigned under a narrowing, and mentioned elsewhere, differs among lanes.
static bool escapes(const struct search *s, slri_reg reg, const struct slri_block *body)
{
    return slri_c_mentions(body, reg) != s->k->value[reg].mentions;
}

// `control`: of what stands around; `narrowed`: the innermost narrowing around, or NULL.
static void visit_block(struct search *s, const struct slri_block *block, uint8_t control,
                        const struct slri_block *narrowed);

static void visit_control(struct search *s, const struct slri_instr *in, uint8_t control,
                          const struct slri_block *narrowed)
{
    struct slri_c_narrowing narrowing;
    if (control < SLRI_LEVEL_LANE && slri_c_narrows(s->k, in, &narrowing)) {
        visit_block(s, narrowing.body, control, narrowing.body);
        return;
    }
    control = greater(control, slri_c_control_level(s->k, in));
    for (int part = 0; part < 3; part++)
        visit_block(s, in->body[part], control, narrowed);
    for (uint32_t m = 0; m < in->cases; m++)
        visit_block(s, in->match[m].body, control, narrowed);
}

static void visit_block(struct search *s, const struct slri_block *block, uint8_t control,
                        const struct slri_block *narrowed)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (in->dst != SLRI_NO_REG) {
            bool linear = control < SLRI_LEVEL_LANE && may_be_linear(s->k, s->e, in);
            raise_level(s, in->dst, greater(control, result_level(s->k, in)));
            if (narrowed && escapes(s, in->dst, narrowed))
                raise_level(s, in->dst, SLRI_LEVEL_LANE), linear = false;
            if (!linear)
                refuse_linear(s, in->dst);
        }
        if (in->body[0] || in->body[1] || in->cases)
            visit_control(s, in, control, narrowed);
    }
}

// ---- what follows for linear registers -----------------------------------------------------------------------------

static bool planned_literal_of(const struct slri_c_emitter *e, slri_reg reg, int64_t *value)
{
    uint64_t bits;
    bool known = slri_c_is_literal(e, reg, &bits);
    *value = known ? (int64_t)bits : 0;
    return known;
}

// Strides that fit in 31 bits: so that no product with a lane overflows.
static void set_stride(struct slri_c_value *value, bool known, int64_t stride)
{
    value->stride_known = known && stride > -(INT64_C(1) << 31) && stride < INT64_C(1) << 31;
    value->stride = value->stride_known ? stride : 0;
}

static void derive_sum(struct slri_c_kernel *k, const struct slri_instr *in, struct slri_c_value *value)
{
    const struct slri_c_value *a = &k->value[in->a], *b = &k->value[in->b];
    bool has_a = slri_c_is_linear(k, in->a), has_b = slri_c_is_linear(k, in->b);
    int64_t sign = in->op == SLRI_OP_SUB ? -1 : 1;
    set_stride(value, (!has_a || a->stride_known) && (!has_b || b->stride_known),
               (has_a ? a->stride : 0) + sign * (has_b ? b->stride : 0));
}

static void derive_product(const struct slri_c_emitter *e, struct slri_c_kernel *k, const struct slri_instr *in,
                           struct slri_c_value *value)
{
    slri_reg lane = slri_c_is_linear(k, in->a) ? in->a : in->b, factor = lane == in->a ? in->b : in->a;
    int64_t by;
    bool known = planned_literal_of(e, factor, &by);
    if (in->op == SLRI_OP_SHL) {
        int64_t count = by & (value->wide ? 63 : 31);
        by = count < 31 ? INT64_C(1) << count : INT64_MAX; // which does not fit
    }
    known = known && by > -(INT64_C(1) << 31) && by < INT64_C(1) << 31;
    set_stride(value, known && k->value[lane].stride_known, known ? by * k->value[lane].stride : 0);
}

static void raise_base(struct slri_c_kernel *k, const struct slri_instr *in, uint8_t level)
{
    struct slri_c_value *value = &k->value[in->dst];
    const slri_reg operand[] = {in->a, in->b};
    value->base_level = greater(value->base_level, level);
    for (int i = 0; i < 2; i++)
        if (operand[i] != SLRI_NO_REG)
            value->base_level =
                greater(value->base_level,
                        slri_c_is_linear(k, operand[i]) ? k->value[operand[i]].base_level : level_of(k, operand[i]));
}

// In the order of the text: what a linear register is made of was derived before.
static bool derives(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    struct slri_c_kernel *k = user;
    if (in->dst == SLRI_NO_REG || !slri_c_is_linear(k, in->dst))
        return false;
    struct slri_c_value *value = &k->value[in->dst];
    value->wide = is_wide_register(k, in->dst);
    if (in->op == SLRI_OP_BUILTIN)
        set_stride(value, true, 1);
    else if (in->op == SLRI_OP_MOVE || in->op == SLRI_OP_CONVERT)
        set_stride(value, k->value[in->a].stride_known, k->value[in->a].stride);
    else if (in->op == SLRI_OP_ADD || in->op == SLRI_OP_SUB)
        derive_sum(k, in, value);
    else
        derive_product(e, k, in, value);
    return false;
}

// While searching, strides are not derived yet: followed through what adds and converts.
static bool stride_is_one(const struct slri_c_kernel *k, slri_reg reg)
{
    const struct slri_instr *in = k->value[reg].def;
    for (int depth = 0; in && depth < 64; depth++) {
        if (in->op == SLRI_OP_BUILTIN)
            return true;
        bool has_a = slri_c_is_linear(k, in->a), has_b = in->op == SLRI_OP_ADD && slri_c_is_linear(k, in->b);
        bool passes =
            in->op == SLRI_OP_MOVE || in->op == SLRI_OP_CONVERT || in->op == SLRI_OP_ADD || in->op == SLRI_OP_SUB;
        if (!passes || has_a == has_b)
            return false;
        in = k->value[has_a ? in->a : in->b].def;
    }
    return false;
}

// Under a control of the row the parts are of the row too.
static void bases_under_control(struct slri_c_kernel *k, const struct slri_block *block, uint8_t control)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        struct slri_c_narrowing narrowing;
        uint8_t inner = control;
        if (in->dst != SLRI_NO_REG && slri_c_is_linear(k, in->dst))
            raise_base(k, in, control);
        if (slri_c_narrows(k, in, &narrowing)) { // its range of lanes is the row's
            k->value[in->a].silent = k->value[in->a].mentions == 2;
            inner = greater(control, k->rows > 1 ? SLRI_LEVEL_ROW : SLRI_LEVEL_UNIFORM);
        } else if (in->body[0] || in->body[1] || in->cases)
            inner = greater(control, slri_c_control_level(k, in));
        for (int part = 0; part < 3; part++)
            bases_under_control(k, in->body[part], inner);
        for (uint32_t m = 0; m < in->cases; m++)
            bases_under_control(k, in->match[m].body, inner);
    }
}

// ---- what is computed again rather than kept -----------------------------------------------------------------------

// Of a register with one definition: all that the definition is made of is fixed for the thread, or is uniform and has
// one definition too, which then stands before every use of either.
static bool is_fixed(const struct slri_c_emitter *e, const struct slri_c_kernel *k, slri_reg reg)
{
    uint64_t literal;
    const struct slri_c_value *value = &k->value[reg];
    return slri_c_is_literal(e, reg, &literal) || value->again ||
           (value->level == SLRI_LEVEL_UNIFORM && value->defs <= 1);
}

static bool finds_again(const struct slri_c_emitter *e, const struct slri_instr *in, void *user)
{
    struct slri_c_kernel *k = user;
    if (in->dst == SLRI_NO_REG || k->value[in->dst].level != SLRI_LEVEL_ROW || k->value[in->dst].defs != 1 ||
        !is_integer(in->kind))
        return false;
    bool is_cheap = in->op == SLRI_OP_BUILTIN || in->op == SLRI_OP_ADD || in->op == SLRI_OP_SUB ||
                    in->op == SLRI_OP_MUL || in->op == SLRI_OP_MOVE ||
                    (in->op == SLRI_OP_CONVERT && is_integer(k->function.reg_kind[in->a]));
    k->value[in->dst].again =
        is_cheap && (in->a == SLRI_NO_REG || is_fixed(e, k, in->a)) && (in->b == SLRI_NO_REG || is_fixed(e, k, in->b));
    return false;
}

// ---- at which level an instruction runs ----------------------------------------------------------------------------

uint8_t slri_c_need(const struct slri_c_kernel *k, const struct slri_instr *in)
{
    struct slri_c_narrowing narrowing;
    switch (in->op) {
    case SLRI_OP_IF:
        return slri_c_narrows(k, in, &narrowing) ? SLRI_LEVEL_LANE : slri_c_control_level(k, in);
    case SLRI_OP_LOOP:
    case SLRI_OP_SWITCH:
        return slri_c_control_level(k, in);
    case SLRI_OP_INDEX: // in kernels not written at all
        return level_of(k, in->a);
    case SLRI_OP_BREAK:
    case SLRI_OP_CONTINUE:
    case SLRI_OP_BARRIER:
    case SLRI_OP_FENCE:
        return SLRI_LEVEL_UNIFORM;
    case SLRI_OP_STORE:
    case SLRI_OP_COPY:
    case SLRI_OP_ZERO:
    case SLRI_OP_CALL:
    case SLRI_OP_ATOMIC_LOAD:
    case SLRI_OP_ATOMIC_STORE:
    case SLRI_OP_ATOMIC_RMW:
    case SLRI_OP_ATOMIC_CAS:
        return SLRI_LEVEL_LANE;
    default:
        return in->dst == SLRI_NO_REG         ? SLRI_LEVEL_LANE
               : slri_c_is_linear(k, in->dst) ? k->value[in->dst].base_level
                                              : level_of(k, in->dst);
    }
}

// ---- all -----------------------------------------------------------------------------------------------------------

// One thread after the other, in one loop: everything is the thread's own.
static void plan_one_nest(struct slri_c_kernel *k)
{
    for (slri_reg reg = 0; reg < k->function.regs; reg++)
        k->value[reg].level = k->value[reg].defs ? SLRI_LEVEL_LANE : SLRI_LEVEL_UNIFORM;
}

// A parameter that differs among threads is an array, because it begins with what was given.
static void keep_parameters(struct slri_c_kernel *k)
{
    for (uint32_t i = 0; i < k->entry->bindings; i++) {
        slri_reg reg = k->entry->binding[i].reg;
        if (reg != SLRI_NO_REG && k->value[reg].level != SLRI_LEVEL_UNIFORM)
            k->value[reg].many_lane_nests = k->value[reg].many_row_nests = true;
    }
}

bool slri_c_count_values(struct slri_c_emitter *e, struct slri_c_kernel *k)
{
    k->value = slri_region_take(e->scratch, (k->function.regs + 1) * sizeof *k->value);
    if (!k->value)
        return false;
    for (uint32_t i = 0; i < k->entry->bindings; i++)
        if (k->entry->binding[i].reg != SLRI_NO_REG)
            k->value[k->entry->binding[i].reg].defs++; // on entry
    slri_c_any(e, k->function.body, counts, k);
    return true;
}

bool slri_c_plan(struct slri_c_emitter *e, struct slri_c_kernel *k)
{
    k->home = slri_region_take(e->scratch, (k->function.locals + 1) * sizeof *k->home);
    if (!k->home || !slri_c_count_values(e, k))
        return false;
    if (k->one_nest) {
        plan_one_nest(k);
        keep_parameters(k);
        return true;
    }
    for (slri_reg reg = 0; reg < k->function.regs; reg++)
        k->value[reg].linear = true;
    struct search search = {.e = e, .k = k, .changed = true};
    while (search.changed) {
        search.changed = false;
        visit_block(&search, k->function.body, SLRI_LEVEL_UNIFORM, NULL);
    }
    if (!slri_c_ranges(e, k))
        return false;
    slri_c_any(e, k->function.body, derives, k);
    bases_under_control(k, k->function.body, SLRI_LEVEL_UNIFORM);
    keep_parameters(k);
    slri_c_any(e, k->function.body, finds_again, k);
    for (slri_reg reg = 0; reg < k->function.regs; reg++)
        k->value[reg].safe = k->value[reg].wide && slri_c_never_wraps(k, reg);
    return true;
}
