// SPDX-License-Identifier: Apache-2.0
// Accesses: whole words at multiples of 4. What is narrower lies in the word that holds it.
#include "ir/pass/words_internal.h"

typedef struct slri_words_pair pair;
typedef struct slri_word word;

#define UNROLLED 16 // words that COPY and ZERO write one by one; more are a loop

slri_reg slri_words_offset(struct slri_words *w, word at)
{
    return slri_lower_convert(&w->l, SLRI_I64, slri_words_reg_of(w, slri_words_as(w, SLRI_U32, at)));
}

word slri_words_get(struct slri_words *w, struct slri_root root, word at)
{
    return slri_words_of(w, slri_lower_load(&w->l, SLRI_U32, slri_words_place(w, root), slri_words_offset(w, at)));
}

void slri_words_put(struct slri_words *w, struct slri_root root, word at, word value)
{
    slri_reg of = slri_words_reg_of(w, slri_words_as(w, SLRI_U32, value));
    slri_lower_store(&w->l, SLRI_U32, slri_words_place(w, root), slri_words_offset(w, at), of);
}

static word next(struct slri_words *w, word at)
{
    return SLRI_WORDS_OP(w, ADD, at, slri_words_u32(4));
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

static word get_narrow(struct slri_words *w, struct slri_root root, word at, uint32_t bytes)
{
    word of = slri_words_get(w, root, word_at(w, at));
    return SLRI_WORDS_OP(w, SHR, of, shift_at(w, at, bytes));
}

static bool is_own(struct slri_root root)
{
    return root.kind == SLRI_ROOT_LOCAL || root.kind == SLRI_ROOT_PARAM;
}

static void put_narrow(struct slri_words *w, struct slri_root root, word at, word value, uint32_t bytes)
{
    word shift = shift_at(w, at, bytes), ones = slri_words_u32(bytes == 1 ? 0xff : 0xffff), holder = word_at(w, at);
    word mask = SLRI_WORDS_OP(w, SHL, ones, shift);
    word there = SLRI_WORDS_OP(w, SHL, SLRI_WORDS_OP(w, AND, value, ones), shift);
    word others = slri_words_op(w, SLRI_OP_NOT, SLRI_U32, mask, mask);
    if (is_own(root)) {
        word old = slri_words_get(w, root, holder);
        slri_words_put(w, root, holder, SLRI_WORDS_OP(w, OR, SLRI_WORDS_OP(w, AND, old, others), there));
        return;
    }
    struct slri_words_swap swap = {.root = root, .at = holder, .order = SLRI_RELAXED, .scope = SLRI_SCOPE_DEVICE};
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
        word of = get_narrow(w, in->root, at, bytes);
        if (in->kind == SLRI_BOOL)
            of = SLRI_WORDS_OP(w, AND, of, slri_words_u32(0xff));
        if (slri_kind_is_half(in->kind))
            return slri_words_one(
                slri_words_half_value(w, in->kind, SLRI_WORDS_OP(w, AND, of, slri_words_u32(0xffff))));
        return slri_words_one(slri_words_narrow(w, in->kind, of));
    }
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
    if (in->kind == SLRI_F64) {
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
        put_narrow(w, in->root, at, slri_words_as(w, SLRI_U32, of), bytes);
    }
    if (in->is_volatile)
        mark_volatile(w, from);
}

// ---- COPY and ZERO -------------------------------------------------------------------------------------------------

struct transfer {
    const struct slri_instr *in;
    word to, from;
};

static word plus(struct slri_words *w, word at, word by)
{
    return SLRI_WORDS_OP(w, ADD, at, by);
}

static void move_word(struct slri_words *w, const struct transfer *t, word by)
{
    word value = t->in->op == SLRI_OP_ZERO ? slri_words_u32(0) : slri_words_get(w, t->in->root2, plus(w, t->from, by));
    slri_words_put(w, t->in->root, plus(w, t->to, by), value);
}

static void move_byte(struct slri_words *w, const struct transfer *t, word by)
{
    word value = t->in->op == SLRI_OP_ZERO ? slri_words_u32(0) : get_narrow(w, t->in->root2, plus(w, t->from, by), 1);
    put_narrow(w, t->in->root, plus(w, t->to, by), value, 1);
}

typedef void move(struct slri_words *w, const struct transfer *t, word by);

static void move_all(struct slri_words *w, const struct transfer *t, uint32_t first, uint32_t end, uint32_t step,
                     move *one)
{
    if ((end - first) / step <= (step == 1 ? 3 : UNROLLED)) {
        for (uint32_t at = first; at < end; at += step)
            one(w, t, slri_words_u32(at));
        return;
    }
    word by = slri_words_new(w, SLRI_U32);
    struct slri_block *behind = slri_words_for(w, by, first, end, step);
    one(w, t, by);
    w->l.block = behind;
}

static void move_words(struct slri_words *w, const struct transfer *t, uint32_t bytes)
{
    move_all(w, t, 0, bytes / 4 * 4, 4, move_word);
    move_all(w, t, bytes / 4 * 4, bytes, 1, move_byte);
}

// Both begin at a multiple of 4: where that is not known, it is asked.
void slri_words_copy(struct slri_words *w, const struct slri_instr *in)
{
    const bool copies = in->op == SLRI_OP_COPY;
    struct transfer t = {.in = in, .to = slri_words_read(w, in->a).low};
    bool is_known = w->now->reg[in->a].zeros == 2;
    if (copies) {
        t.from = slri_words_read(w, in->b).low;
        is_known = is_known && w->now->reg[in->b].zeros == 2;
    }
    if (is_known || in->imm < 4) {
        if (is_known)
            move_words(w, &t, (uint32_t)in->imm);
        else
            move_all(w, &t, 0, (uint32_t)in->imm, 1, move_byte);
        return;
    }
    struct slri_block *other = NULL;
    word both = copies ? SLRI_WORDS_OP(w, OR, t.to, t.from) : t.to,
         low = SLRI_WORDS_OP(w, AND, both, slri_words_u32(3));
    struct slri_block *behind = slri_lower_if(&w->l, slri_words_reg_of(w, slri_words_is_zero(w, low)), &other);
    move_words(w, &t, (uint32_t)in->imm);
    w->l.block = other;
    move_all(w, &t, 0, (uint32_t)in->imm, 1, move_byte);
    w->l.block = behind;
}
