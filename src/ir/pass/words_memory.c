// SPDX-License-Identifier: Apache-2.0
// Accesses: whole words at multiples of 4. What is narrower lies in the word that holds it.
#include "ir/pass/words_internal.h"

typedef struct slri_words_pair pair;
typedef struct slri_word word;

#define UNROLLED 16 // words that COPY and ZERO write one by one; more are a loop

slri_reg slri_words_offset(struct slri_words *w, word at)
{
    return w->options.all_widths
               ? slri_words_reg_of(w, slri_words_as(w, SLRI_I64, at))
               : slri_lower_convert(&w->l, SLRI_I64, slri_words_reg_of(w, slri_words_as(w, SLRI_U32, at)));
}

static word plus(struct slri_words *w, word at, word by)
{
    return at.kind == SLRI_U32 ? slri_words_low(w, SLRI_OP_ADD, at, by)
                               : slri_words_op(w, SLRI_OP_ADD, at.kind, at, by);
}

static word next(struct slri_words *w, word at)
{
    return plus(w, at, slri_words_u32(4));
}

static word load_of(struct slri_words *w, enum slri_kind kind, struct slri_root root, word at)
{
    return slri_words_of(w, slri_lower_load(&w->l, kind, slri_words_place(w, root), slri_words_offset(w, at)));
}

static void store_of(struct slri_words *w, enum slri_kind kind, struct slri_root root, word at, word value)
{
    slri_reg of = slri_words_reg_of(w, slri_words_as(w, slri_kind_in_register(kind), value));
    slri_lower_store(&w->l, kind, slri_words_place(w, root), slri_words_offset(w, at), of);
}

word slri_words_get(struct slri_words *w, struct slri_root root, word at)
{
    return load_of(w, SLRI_U32, root, at);
}

void slri_words_put(struct slri_words *w, struct slri_root root, word at, word value)
{
    store_of(w, SLRI_U32, root, at, value);
}

// ---- narrow ones ---------------------------------------------------------------------------------------------------

static word word_at(struct slri_words *w, word at)
{
    return SLRI_WORDS_OP(w, AND, at, slri_words_u32(~UINT32_C(3)));
}

// By how many bits the narrow one at `at` is above the lowest of its word.
static word shift_at(struct slri_words *w, word at, uint32_t bytes)
{
    return SLRI_WORDS_OP(w, SHL, SLRI_WORDS_OP(w, AND, at, slri_words_u32(bytes == 1 ? 3 : 2)), slri_words_u32(3));
}

// What memory holds of that kind, as an integer.
static enum slri_kind held_as(enum slri_kind kind)
{
    return kind == SLRI_BOOL ? SLRI_U8 : slri_kind_is_half(kind) ? SLRI_U16 : kind;
}

static word get_narrow(struct slri_words *w, struct slri_root root, word at, enum slri_kind kind)
{
    if (w->options.all_widths)
        return load_of(w, kind, root, at);
    word of = slri_words_get(w, root, word_at(w, at));
    return slri_words_narrow(w, kind, SLRI_WORDS_OP(w, SHR, of, shift_at(w, at, slri_kind_bytes(kind))));
}

static void put_narrow(struct slri_words *w, struct slri_root root, word at, word value, uint32_t bytes)
{
    if (w->options.all_widths) {
        store_of(w, bytes == 1 ? SLRI_U8 : SLRI_U16, root, at, value);
        return;
    }
    value = slri_words_as(w, SLRI_U32, value);
    word shift = shift_at(w, at, bytes), ones = slri_words_u32(bytes == 1 ? 0xff : 0xffff), holder = word_at(w, at);
    word mask = SLRI_WORDS_OP(w, SHL, ones, shift);
    word there = SLRI_WORDS_OP(w, SHL, SLRI_WORDS_OP(w, AND, value, ones), shift);
    word others = slri_words_op(w, SLRI_OP_NOT, SLRI_U32, mask, mask);
    if (slri_root_is_own(root)) {
        word old = slri_words_get(w, root, holder);
        slri_words_put(w, root, holder, SLRI_WORDS_OP(w, OR, SLRI_WORDS_OP(w, AND, old, others), there));
        return;
    }
    struct slri_words_swap swap = {.root = root, .kind = SLRI_U32, .at = holder, .scope = SLRI_SCOPE_DEVICE};
    slri_words_begin_swap(w, &swap);
    slri_words_end_swap(w, &swap, SLRI_WORDS_OP(w, OR, SLRI_WORDS_OP(w, AND, swap.seen, others), there));
}

// ---- LOAD and STORE ------------------------------------------------------------------------------------------------

static void mark_volatile(struct slri_words *w, uint32_t from)
{
    for (uint32_t i = from; i < w->l.block->count; i++)
        if (w->l.block->instr[i].op == SLRI_OP_LOAD || w->l.block->instr[i].op == SLRI_OP_STORE)
            w->l.block->instr[i].is_volatile = true;
}

static pair loaded(struct slri_words *w, const struct slri_instr *in, word at)
{
    const uint32_t bytes = slri_kind_bytes(in->kind);
    if (bytes < 4) {
        word of = get_narrow(w, in->root, at, held_as(in->kind));
        if (in->kind == SLRI_BOOL)
            of = slri_words_narrow(w, SLRI_BOOL, of);
        else if (slri_kind_is_half(in->kind))
            of = slri_words_half_value(w, in->kind, slri_words_as(w, SLRI_U32, of));
        return slri_words_one(of);
    }
    if (w->options.all_widths)
        return slri_words_one(load_of(w, in->kind, in->root, at));
    word low = slri_words_get(w, in->root, at);
    if (bytes == 4)
        return slri_words_one(slri_words_from_bits(w, in->kind, low));
    if (in->kind == SLRI_F64) {
        word high = slri_words_as(w, SLRI_I32, slri_words_get(w, in->root, next(w, at)));
        return slri_words_one(slri_words_call(w, SLRI_MATH_HILOINT2DOUBLE, high, slri_words_as(w, SLRI_I32, low)));
    }
    pair out = slri_words_one(low);
    if (w->now->reg[in->dst].high)
        out.high = slri_words_get(w, in->root, next(w, at));
    return out;
}

void slri_words_load_at(struct slri_words *w, const struct slri_instr *in, word at)
{
    uint32_t from = w->l.block->count;
    pair value = loaded(w, in, at);
    if (in->is_volatile)
        mark_volatile(w, from);
    slri_words_write(w, in->dst, value);
}

void slri_words_store(struct slri_words *w, const struct slri_instr *in)
{
    const uint32_t bytes = slri_kind_bytes(in->kind), from = w->l.block->count;
    word at = slri_words_read(w, in->a).low;
    pair value = slri_words_read(w, in->b);
    if (bytes >= 4 && w->options.all_widths) {
        store_of(w, in->kind, in->root, at, value.low);
    } else if (in->kind == SLRI_F64) {
        slri_words_put(w, in->root, at, slri_words_call(w, SLRI_MATH_DOUBLE2LOINT, value.low, value.low));
        slri_words_put(w, in->root, next(w, at), slri_words_call(w, SLRI_MATH_DOUBLE2HIINT, value.low, value.low));
    } else if (bytes == 8) {
        slri_words_put(w, in->root, at, value.low);
        slri_words_put(w, in->root, next(w, at), value.high);
    } else if (bytes == 4) {
        slri_words_put(w, in->root, at, slri_words_bits(w, value.low));
    } else {
        word of = slri_kind_is_half(in->kind) ? slri_words_half_bits(w, in->kind, value.low)
                  : in->kind == SLRI_BOOL     ? slri_words_op(w, SLRI_OP_NE, SLRI_U32, value.low, slri_words_u32(0))
                                              : value.low;
        put_narrow(w, in->root, at, of, bytes);
    }
    if (in->is_volatile)
        mark_volatile(w, from);
}

// ---- COPY and ZERO -------------------------------------------------------------------------------------------------

struct transfer {
    const struct slri_instr *in;
    word to, from;
};

static void move_piece(struct slri_words *w, const struct transfer *t, word by, uint32_t bytes)
{
    const struct slri_instr *in = t->in;
    const enum slri_kind kind = bytes == 1 ? SLRI_U8 : bytes == 2 ? SLRI_U16 : bytes == 4 ? SLRI_U32 : SLRI_U64;
    word to = plus(w, t->to, by), value = slri_words_const(slri_kind_in_register(kind), 0);
    if (in->op == SLRI_OP_COPY && bytes < 4)
        value = get_narrow(w, in->root2, plus(w, t->from, by), kind);
    else if (in->op == SLRI_OP_COPY)
        value = load_of(w, kind, in->root2, plus(w, t->from, by));
    if (bytes < 4)
        put_narrow(w, in->root, to, value, bytes);
    else
        store_of(w, kind, in->root, to, value);
}

static void move_all(struct slri_words *w, const struct transfer *t, uint32_t first, uint32_t end, uint32_t bytes)
{
    if ((end - first) / bytes <= (bytes < 4 && !w->options.all_widths ? 3 : UNROLLED)) {
        for (uint32_t at = first; at < end; at += bytes)
            move_piece(w, t, slri_words_u32(at), bytes);
        return;
    }
    word by = slri_words_new(w, SLRI_U32);
    struct slri_block *behind = slri_words_for(w, by, first, end, bytes);
    move_piece(w, t, by, bytes);
    w->l.block = behind;
}

static void move_by(struct slri_words *w, const struct transfer *t, uint32_t step)
{
    const uint32_t bytes = (uint32_t)t->in->imm, whole = bytes / step * step;
    move_all(w, t, 0, whole, step);
    move_all(w, t, whole, bytes, 1);
}

// Of a type's numbers, the narrowest.
static uint32_t least_of(const struct slri_type *type)
{
    uint32_t least = type->kind == SLRI_ARRAY ? least_of(type->of) : slri_kind_bytes(type->kind);
    for (uint32_t i = 0; type->kind == SLRI_STRUCT && i < type->fields; i++) {
        const uint32_t field = least_of(type->field[i].type);
        least = least && least < field ? least : field;
    }
    return least;
}

// Where a root's memory begins, at least: a buffer at a multiple of its element's alignment and of 4, all else of 8.
static uint32_t align_of(const struct slri_words *w, struct slri_root root)
{
    const uint32_t element = root.kind == SLRI_ROOT_BINDING ? w->kernel->binding[root.index].type->align : 8;
    return !w->options.all_widths || element < 4 ? 4 : element;
}

// Whether a copy may ask it for numbers of 8 bytes: buffers, and shared memory, where other accesses than of 8 bytes
// would leave no atomics of them. What a thread has of its own is only asked so where it is of such numbers: Vulkan may
// keep it as words.
static bool likes_eights(const struct slri_words *w, struct slri_root root)
{
    const struct slri_type *type = root.kind == SLRI_ROOT_LOCAL   ? w->source->local[root.index].type
                                   : root.kind == SLRI_ROOT_CONST ? w->l.from->constant[root.index].type
                                                                  : NULL;
    return type ? least_of(type) == 8 : root.kind != SLRI_ROOT_PARAM;
}

// Bytes that it may take at a time, as far as is known before it runs.
static uint32_t step_at(const struct slri_words *w, const struct slri_instr *in, slri_reg at, struct slri_root root)
{
    const uint32_t lies_on = 1u << w->now->reg[at].zeros, align = align_of(w, root), bytes = (uint32_t)in->imm & 7;
    const uint32_t step = lies_on < align ? lies_on : align;
    return step >= 8 && bytes == 0 ? 8 : step >= 4 ? 4 : step;
}

// By words where both offsets are multiples of 4: where that is not known, it is asked.
void slri_words_copy(struct slri_words *w, const struct slri_instr *in)
{
    struct transfer t = {.in = in, .to = slri_words_read(w, in->a).low};
    uint32_t step = step_at(w, in, in->a, in->root);
    bool by_eights = likes_eights(w, in->root);
    word both = t.to;
    if (in->op == SLRI_OP_COPY) {
        const uint32_t other = step_at(w, in, in->b, in->root2);
        t.from = slri_words_read(w, in->b).low;
        both = slri_words_op(w, SLRI_OP_OR, both.kind, both, t.from);
        step = other < step ? other : step;
        by_eights |= likes_eights(w, in->root2);
    }
    if (step >= 4 || in->imm < 4) {
        move_by(w, &t, step == 8 && !by_eights ? 4 : step);
        return;
    }
    struct slri_block *other = NULL;
    word low = SLRI_WORDS_OP(w, AND, slri_words_as(w, SLRI_U32, both), slri_words_u32(3));
    struct slri_block *behind = slri_lower_if(&w->l, slri_words_reg_of(w, slri_words_is_zero(w, low)), &other);
    move_by(w, &t, 4);
    w->l.block = other;
    move_by(w, &t, step);
    w->l.block = behind;
}
