// SPDX-License-Identifier: Apache-2.0
// A word beside each register of each thread says what its value comes from; beside each 8 bytes of local memory, which
// of them have been given no value. A variable without a value may be copied; using it is the finding.
#include "check/watch.h"

#include <string.h>

struct step {
    struct slri_run *run;
    struct slri_check_lane *lane;
    const struct slri_interp_thread *thread;
    const struct slri_code *code;
    const union slri_scalar *reg;
    uint64_t *value; // of the innermost frame's registers
};

static uint64_t *words_at(const struct slri_check_lane *lane, const struct slri_interp_thread *thread, const void *at)
{
    return lane->value + ((const unsigned char *)at - thread->stack) / 8;
}

uint64_t slri_values_of(const struct slri_check_lane *lane, const struct slri_interp_thread *thread, slri_reg reg)
{
    return words_at(lane, thread, thread->frame->reg)[reg];
}

uint32_t slri_slot_at(const struct slri_run *run, uint32_t binding, uint64_t offset)
{
    for (uint32_t i = 0; i < run->slots; i++)
        if (run->slot[i].binding == binding && run->slot[i].offset == offset)
            return i;
    return UINT32_MAX;
}

void slri_values_open(struct slri_run *run, struct slri_check_lane *lane)
{
    const uint32_t index = run->entry->function->index;
    uint64_t *value = lane->value + sizeof(struct slri_frame) / 8;
    memset(lane->value, 0, run->flat->function[index].frame_bytes);
    for (uint32_t i = 0; i < run->entry->bindings; i++) {
        const struct slri_binding_info *info = &run->entry->binding[i];
        uint32_t slot = info->is_buffer ? UINT32_MAX : slri_slot_at(run, i, 0);
        if (info->reg != SLRI_NO_REG && slot != UINT32_MAX)
            value[info->reg] = SLRI_FROM_SLOT(slot);
    }
}

// ---- local memory --------------------------------------------------------------------------------------------------

bool slri_values_local(struct slri_check_lane *lane, const struct slri_interp_thread *thread, const unsigned char *at,
                       uint64_t bytes)
{
    bool is_unset = bytes > 0;
    for (uint64_t i = 0; i < bytes; i++) {
        uint64_t offset = (uint64_t)(at + i - thread->stack);
        is_unset &= lane->value[offset / 8] >> offset % 8 & 1;
    }
    return is_unset;
}

void slri_values_set_local(struct slri_check_lane *lane, const struct slri_interp_thread *thread,
                           const unsigned char *at, uint64_t bytes, bool is_unset)
{
    for (uint64_t i = 0; i < bytes; i++) {
        uint64_t offset = (uint64_t)(at + i - thread->stack), bit = UINT64_C(1) << offset % 8;
        uint64_t *word = &lane->value[offset / 8];
        *word = is_unset ? *word | bit : *word & ~bit;
    }
}

// ---- findings ------------------------------------------------------------------------------------------------------

static bool find(struct step *s, unsigned code, uint64_t from)
{
    slri_run_weigh(s->run, &(struct slri_evidence){code, from, UINT32_MAX, false, &s->lane->place, NULL});
    return slri_findings_add(s->run->findings, code, slri_run_where(s->run, s->code), &s->lane->place, NULL, NULL);
}

// The register's value matters here. Once it has been said, what follows from it is not said again.
static uint64_t use(struct step *s, slri_reg reg)
{
    uint64_t *value = &s->value[reg];
    if ((*value & SLRI_FROM_NOTHING) && find(s, SLRI_C_UNSET_VARIABLE, 0)) {
        char by[SLRI_WORDS_BYTES];
        const char *name = slri_words_register(s->run, s->code, reg);
        slri_findings_say(s->run->findings, "%s%s%s is used uninitialised, by %s", name ? "'" : "a variable",
                          name ? name : "", name ? "'" : "", slri_words_thread(s->run, &s->lane->place, by));
    }
    *value &= ~SLRI_FROM_NOTHING;
    return *value;
}

static uint64_t operands(const struct step *s)
{
    bool is_binary = s->code->op >= SLRI_CODE_ADD_I32;
    return s->value[s->code->a] | (is_binary ? s->value[s->code->b] : 0);
}

static void overflowed(struct step *s, const char *op, int64_t a, int64_t b, enum slri_kind kind)
{
    char by[SLRI_WORDS_BYTES];
    if (find(s, SLRI_C_OVERFLOW, operands(s)))
        slri_findings_say(s->run->findings, "%lld %s %lld does not fit in %s, in %s", (long long)a, op, (long long)b,
                          kind == SLRI_I32 ? "an int" : "a 64-bit integer",
                          slri_words_thread(s->run, &s->lane->place, by));
}

static void check_overflow(struct step *s)
{
    const union slri_scalar a = s->reg[s->code->a], b = s->reg[s->code->b];
    int64_t wide;
    int32_t narrow;
    switch (s->code->op) {
#define CHECK(OP, KIND, member, to, function, sign)                                                                    \
    case SLRI_CODE_##OP##_##KIND:                                                                                      \
        if (function(a.member, b.member, &to))                                                                         \
            overflowed(s, sign, a.member, b.member, SLRI_##KIND);                                                      \
        break;
        CHECK(ADD, I32, i32, narrow, __builtin_add_overflow, "+")
        CHECK(SUB, I32, i32, narrow, __builtin_sub_overflow, "-")
        CHECK(MUL, I32, i32, narrow, __builtin_mul_overflow, "*")
        CHECK(ADD, I64, i64, wide, __builtin_add_overflow, "+")
        CHECK(SUB, I64, i64, wide, __builtin_sub_overflow, "-")
        CHECK(MUL, I64, i64, wide, __builtin_mul_overflow, "*")
#undef CHECK
    case SLRI_CODE_DIV_I32:
    case SLRI_CODE_REM_I32:
        if (a.i32 == INT32_MIN && b.i32 == -1)
            overflowed(s, s->code->op == SLRI_CODE_DIV_I32 ? "/" : "%", a.i32, b.i32, SLRI_I32);
        break;
    case SLRI_CODE_DIV_I64:
    case SLRI_CODE_REM_I64:
        if (a.i64 == INT64_MIN && b.i64 == -1)
            overflowed(s, s->code->op == SLRI_CODE_DIV_I64 ? "/" : "%", a.i64, b.i64, SLRI_I64);
        break;
    default:
        break;
    }
}

static void check_negation(struct step *s)
{
    const union slri_scalar a = s->reg[s->code->a];
    if (s->code->op == SLRI_CODE_NEG_I32 && a.i32 == INT32_MIN)
        overflowed(s, "-", 0, a.i32, SLRI_I32);
    if (s->code->op == SLRI_CODE_NEG_I64 && a.i64 == INT64_MIN)
        overflowed(s, "-", 0, a.i64, SLRI_I64);
}

static void check_shift(struct step *s, unsigned kind)
{
    char by[SLRI_WORDS_BYTES];
    bool is_wide = kind == SLRI_I64 || kind == SLRI_U64;
    int64_t count = is_wide ? s->reg[s->code->b].i64 : s->reg[s->code->b].i32, bits = is_wide ? 64 : 32;
    if ((count < 0 || count >= bits) && find(s, SLRI_C_SHIFT, operands(s)))
        slri_findings_say(s->run->findings, "a value of %lld bits is shifted by %lld, in %s", (long long)bits,
                          (long long)count, slri_words_thread(s->run, &s->lane->place, by));
}

// ---- what a run teaches --------------------------------------------------------------------------------------------

static uint8_t axes_of(uint64_t from)
{
    return (uint8_t)((from & SLRI_FROM_AXES) >> 1);
}

static void learn_pair(struct slri_lessons *lessons, uint64_t a, uint64_t b, bool is_product)
{
    if (!(b & SLRI_FROM_SLOTS) || (b & SLRI_FROM_AXES))
        return;
    uint32_t slot = (uint32_t)__builtin_ctzll((b & SLRI_FROM_SLOTS) >> 4);
    if (is_product)
        lessons->pitch[slot] |= axes_of(a);
    else if ((a & SLRI_FROM_AXES) && !(a & SLRI_FROM_GRID))
        lessons->nears[slot] = true;
    else if (axes_of(a) & (axes_of(a) - 1))
        lessons->total[slot] |= axes_of(a);
    else if (a & SLRI_FROM_AXES)
        lessons->bound[slot] |= axes_of(a);
    else if (!(a & SLRI_FROM_SLOTS))
        lessons->loops[slot] = true;
}

static void learn_operands(struct step *s, uint64_t a, uint64_t b)
{
    unsigned op = s->code->op;
    bool compares = op >= SLRI_CODE_EQ_I32 && op <= SLRI_CODE_GE_F64;
    bool multiplies = op >= SLRI_CODE_MUL_I32 && op <= SLRI_CODE_MUL_U64;
    if (!compares && !multiplies)
        return;
    learn_pair(s->run->lessons, a, b, multiplies);
    learn_pair(s->run->lessons, b, a, multiplies);
    s->run->lessons->compared |= compares ? (a | b) & SLRI_FROM_BUFFERS : 0;
}

static void learn_address(struct step *s, uint64_t from)
{
    for (uint32_t i = 0; i < SLRI_SOURCES_MAX && (from & SLRI_FROM_BUFFERS); i++)
        s->run->lessons->indexes[i] |= (from & SLRI_FROM_BUFFER(i)) != 0;
}

// ---- steps ---------------------------------------------------------------------------------------------------------

static uint64_t use_arguments(struct step *s)
{
    uint64_t from = 0;
    for (uint32_t i = 0; i < s->code->a; i++)
        from |= use(s, s->run->flat->arg[s->code->b + i].from);
    return from;
}

// Of a shuffle a lane's own value may have none: idx = __shfl_sync(mask, idx, 0), where lane 0 alone has given it one.
static uint64_t use_in_warp(struct step *s)
{
    bool shuffles = s->code->imm >= SLRI_WARP_SHUFFLE && s->code->imm <= SLRI_WARP_SHUFFLE_XOR;
    uint64_t from = 0;
    for (uint32_t i = 0; i < s->code->a; i++) {
        uint32_t reg = s->run->flat->arg[s->code->b + i].from;
        from |= shuffles && i == 1 ? s->value[reg] & ~SLRI_FROM_NOTHING : use(s, reg);
    }
    return from;
}

// The local bytes that an access touches, or NULL where it touches others, or none that are there.
static const unsigned char *local_at(const struct step *s, unsigned table, uint32_t root, slri_reg offset,
                                     uint64_t bytes)
{
    if (table != SLRI_SPANS_OF_FRAME)
        return NULL;
    return slri_span_place(&s->thread->frame->span[root], s->reg[offset].i64, bytes);
}

static uint64_t from_memory(const struct step *s, uint64_t bytes)
{
    const struct slri_code *code = s->code;
    if (code->table == SLRI_SPANS_OF_FRAME) {
        const unsigned char *at = local_at(s, code->table, code->root, code->a, bytes);
        return at && slri_values_local(s->lane, s->thread, at, bytes) ? SLRI_FROM_NOTHING : 0;
    }
    uint32_t first = slri_span_of_binding(s->run->module, 0), index = code->root - first;
    if (code->root < first)
        return 0;
    if (s->run->entry->binding[index].is_buffer)
        return index < SLRI_SOURCES_MAX ? SLRI_FROM_BUFFER(index) : 0;
    uint32_t slot = slri_slot_at(s->run, index, s->reg[code->a].u64);
    return slot == UINT32_MAX ? 0 : SLRI_FROM_SLOT(slot);
}

static void step_memory(struct step *s, bool is_load, uint64_t bytes)
{
    const struct slri_code *code = s->code;
    learn_address(s, use(s, code->a));
    if (is_load) {
        s->value[code->dst] = from_memory(s, bytes);
        return;
    }
    const unsigned char *at = local_at(s, code->table, code->root, code->a, bytes);
    if (at != NULL)
        slri_values_set_local(s->lane, s->thread, at, bytes, s->value[code->b] & SLRI_FROM_NOTHING);
    else
        use(s, code->b);
}

static void step_copy(struct step *s)
{
    const struct slri_code *code = s->code;
    const unsigned char *to = local_at(s, code->table, code->root, code->a, code->imm);
    const unsigned char *from = local_at(s, code->table2, code->u.root2, code->b, code->imm);
    learn_address(s, use(s, code->a));
    learn_address(s, use(s, code->b));
    for (uint64_t i = 0; to != NULL && i < code->imm; i++)
        slri_values_set_local(s->lane, s->thread, to + i, 1,
                              from != NULL && slri_values_local(s->lane, s->thread, from + i, 1));
    if (to == NULL && from != NULL && slri_values_local(s->lane, s->thread, from, code->imm)) {
        if (find(s, SLRI_C_UNSET_VARIABLE, 0))
            slri_findings_say(s->run->findings, "a struct is copied while uninitialised");
        slri_values_set_local(s->lane, s->thread, from, code->imm, false);
    }
}

static void step_zero(struct step *s)
{
    const unsigned char *to = local_at(s, s->code->table, s->code->root, s->code->a, s->code->imm);
    if (to != NULL)
        slri_values_set_local(s->lane, s->thread, to, s->code->imm, s->code->order);
}

static void step_call(struct step *s)
{
    const struct slri_flat *flat = s->run->flat;
    unsigned char *frame = s->thread->frame->end;
    uint64_t *value = words_at(s->lane, s->thread, frame);
    memset(value, 0, flat->function[s->code->imm].frame_bytes);
    value += sizeof(struct slri_frame) / 8;
    for (uint32_t i = 0; i < s->code->a; i++) {
        const struct slri_code_arg *arg = &flat->arg[s->code->b + i];
        value[arg->to] = s->value[arg->from];
    }
}

static void step_return(struct step *s)
{
    const struct slri_frame *frame = s->thread->frame;
    if (frame->caller != NULL && frame->dst != SLRI_NO_REG)
        words_at(s->lane, s->thread, frame->caller->reg)[frame->dst] =
            s->code->a == SLRI_NO_REG ? 0 : s->value[s->code->a];
}

static void step_atomic(struct step *s)
{
    const struct slri_code *code = s->code;
    learn_address(s, use(s, code->a));
    if (code->op != SLRI_CODE_ATOMIC_LOAD)
        use(s, code->b);
    if (code->op == SLRI_CODE_ATOMIC_CAS)
        use(s, code->u.c);
    if (code->dst != SLRI_NO_REG)
        s->value[code->dst] = from_memory(s, slri_kind_bytes((enum slri_kind)code->kind)) & ~SLRI_FROM_NOTHING;
}

// Nothing times blockDim.x is nothing, whatever that is.
static uint64_t of_product(const struct step *s, uint64_t a, uint64_t b)
{
    unsigned op = s->code->op;
    bool is_short = op == SLRI_CODE_MUL_I32 || op == SLRI_CODE_MUL_U32;
    const union slri_scalar x = s->reg[s->code->a], y = s->reg[s->code->b];
    if (!is_short && op != SLRI_CODE_MUL_I64 && op != SLRI_CODE_MUL_U64)
        return a | b;
    return (is_short ? x.u32 : x.u64) == 0 ? a : (is_short ? y.u32 : y.u64) == 0 ? b : a | b;
}

static void step_arithmetic(struct step *s)
{
    const struct slri_code *code = s->code;
    unsigned kind = SLRI_I32 + (code->op - SLRI_CODE_NEG_I32) % 6;
    uint64_t a = use(s, code->a);
    if (code->op < SLRI_CODE_ADD_I32) {
        check_negation(s);
        s->value[code->dst] = a;
        return;
    }
    uint64_t b = use(s, code->b);
    learn_operands(s, a, b);
    if (code->op >= SLRI_CODE_SHL_I32 && code->op <= SLRI_CODE_SHR_F64)
        check_shift(s, kind);
    else
        check_overflow(s);
    s->value[code->dst] = of_product(s, a, b);
}

static void step_plain(struct step *s)
{
    const struct slri_code *code = s->code;
    switch (code->op) {
    case SLRI_CODE_CONST32:
    case SLRI_CODE_CONST64:
        s->value[code->dst] = code->order ? SLRI_FROM_NOTHING : 0;
        break;
    case SLRI_CODE_MOVE:
        s->value[code->dst] = s->value[code->a];
        break;
    case SLRI_CODE_COPY:
        step_copy(s);
        break;
    case SLRI_CODE_ZERO:
        step_zero(s);
        break;
    case SLRI_CODE_INDEX:
        learn_address(s, use(s, code->a));
        break;
    case SLRI_CODE_PRINT:
        use_arguments(s);
        break;
    case SLRI_CODE_MATH:
    case SLRI_CODE_WARP: {
        uint64_t from = code->op == SLRI_CODE_WARP ? use_in_warp(s) : use_arguments(s);
        if (code->dst != SLRI_NO_REG)
            s->value[code->dst] = from;
        break;
    }
    case SLRI_CODE_BUILTIN:
        s->value[code->dst] = code->imm < SLRI_BUILTIN_BLOCK_DIM_X  ? SLRI_FROM_AXIS(code->imm % 3)
                              : code->imm < SLRI_BUILTIN_GRID_DIM_X ? SLRI_FROM_BLOCK_DIM
                                                                    : SLRI_FROM_GRID_DIM;
        if (code->imm >= SLRI_BUILTIN_BLOCK_X && code->imm < SLRI_BUILTIN_BLOCK_DIM_X)
            s->value[code->dst] |= SLRI_FROM_GRID;
        if (code->imm < SLRI_BUILTIN_BLOCK_X)
            s->value[code->dst] |= SLRI_FROM_THREAD;
        break;
    case SLRI_CODE_PRESENT:
        s->value[code->dst] = 0;
        break;
    case SLRI_CODE_BARRIER:
        if (code->a != SLRI_NO_REG)
            use(s, code->a);
        if (code->dst != SLRI_NO_REG)
            s->value[code->dst] = 0;
        break;
    case SLRI_CODE_CALL:
        step_call(s);
        break;
    case SLRI_CODE_RETURN:
        step_return(s);
        break;
    case SLRI_CODE_JUMP_IF_ZERO:
    case SLRI_CODE_SWITCH32:
    case SLRI_CODE_SWITCH64:
        use(s, code->a);
        break;
    default:
        break;
    }
}

static uint64_t bytes_of(unsigned memory_kind) // counted from BOOL
{
    return slri_kind_bytes((enum slri_kind)(SLRI_BOOL + memory_kind));
}

void slri_values_step(struct slri_run *run, struct slri_check_lane *lane, const struct slri_interp_thread *thread,
                      const struct slri_code *code)
{
    struct step s = {.run = run, .lane = lane, .thread = thread, .code = code, .reg = thread->frame->reg};
    s.value = words_at(lane, thread, thread->frame->reg);
    unsigned op = code->op;
    if (op <= SLRI_CODE_GE_F64)
        step_arithmetic(&s);
    else if (op <= SLRI_CODE_LOAD_BF16)
        step_memory(&s, true, bytes_of(op - SLRI_CODE_LOAD_BOOL));
    else if (op <= SLRI_CODE_STORE_BF16)
        step_memory(&s, false, bytes_of(op - SLRI_CODE_STORE_BOOL));
    else if (op <= SLRI_CODE_FROM_F64_BF16)
        s.value[code->dst] = use(&s, code->a);
    else if (op >= SLRI_CODE_ATOMIC_LOAD && op <= SLRI_CODE_ATOMIC_CAS)
        step_atomic(&s);
    else
        step_plain(&s);
}
