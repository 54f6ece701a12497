// SPDX-License-Identifier: Apache-2.0
// Atomics of integers, and loops around a CAS for what a device has no operation for.
#include "ir/pass/words_internal.h"

typedef struct slri_word word;

static struct slri_instr *append(struct slri_words *w, enum slri_op op, enum slri_kind kind, struct slri_root root,
                                 slri_reg at, uint8_t order, uint8_t scope)
{
    struct slri_instr *in = slri_lower_append(&w->l, op, kind);
    in->root = slri_words_place(w, root);
    in->a = at;
    in->order = order;
    in->scope = scope;
    return in;
}

// What the memory's integer is of, and a value as that.
static enum slri_kind integer_of(const struct slri_words *w, enum slri_kind kind)
{
    if (!w->options.all_widths)
        return SLRI_U32;
    return kind == SLRI_F32 ? SLRI_U32 : kind == SLRI_F64 ? SLRI_U64 : kind;
}

static word held(struct slri_words *w, enum slri_kind kind, word value)
{
    return slri_words_as(w, kind, slri_kind_is_float(value.kind) ? slri_words_bits(w, value) : value);
}

// A failed CAS gives what is there, and the next turn begins with that. The first turn costs no fuel.
void slri_words_begin_swap(struct slri_words *w, struct slri_words_swap *swap)
{
    swap->seen = slri_words_new(w, swap->kind);
    slri_reg at = slri_words_offset(w, swap->at);
    append(w, SLRI_OP_ATOMIC_LOAD, swap->kind, swap->root, at, SLRI_RELAXED, swap->scope)->dst = swap->seen.reg;
    swap->behind = w->l.block;
    struct slri_block *test = slri_lower_block(&w->l), *body = slri_lower_block(&w->l);
    struct slri_instr *loop = slri_lower_append(&w->l, SLRI_OP_LOOP, SLRI_VOID);
    loop->body[0] = test;
    loop->body[1] = body;
    w->l.block = body;
}

word slri_words_cas(struct slri_words *w, const struct slri_words_swap *swap, word value)
{
    const slri_reg seen = slri_words_reg_of(w, swap->seen), to = slri_words_reg_of(w, value);
    const slri_reg at = slri_words_offset(w, swap->at), now = slri_lower_reg(&w->l, swap->kind);
    struct slri_instr *in = append(w, SLRI_OP_ATOMIC_CAS, swap->kind, swap->root, at, swap->order, swap->scope);
    in->dst = now;
    in->b = seen;
    in->c = to;
    return slri_words_of(w, now);
}

void slri_words_end_swap(struct slri_words *w, struct slri_words_swap *swap, word value)
{
    word now = slri_words_cas(w, swap, value), same = slri_words_op(w, SLRI_OP_EQ, swap->kind, now, swap->seen);
    struct slri_block *behind = slri_lower_if(&w->l, slri_words_reg_of(w, same), NULL);
    slri_lower_append(&w->l, SLRI_OP_BREAK, SLRI_VOID);
    w->l.block = behind;
    slri_words_set(w, swap->seen, now);
    w->l.block = swap->behind;
}

// ---- read-modify-write ---------------------------------------------------------------------------------------------

static bool is_plain(const struct slri_words *w, enum slri_kind kind, uint64_t rmw)
{
    switch ((enum slri_rmw)rmw) {
    case SLRI_RMW_EXCHANGE:
        return true;
    case SLRI_RMW_MIN:
    case SLRI_RMW_MAX:
        return kind == SLRI_U32 || (w->options.all_widths && !slri_kind_is_float(kind));
    case SLRI_RMW_INCREMENT:
    case SLRI_RMW_DECREMENT:
        return false;
    default:
        return !slri_kind_is_float(kind);
    }
}

static word lesser(struct slri_words *w, enum slri_kind kind, word a, word b, word old, word given)
{
    word mask = slri_words_mask(w, slri_words_op(w, SLRI_OP_LT, kind, a, b));
    return slri_words_pick(w, mask, given, old);
}

// What the word becomes: `old` and the result are its bits.
static word combined(struct slri_words *w, const struct slri_instr *in, word old, word given)
{
    const word one = slri_words_u32(1);
    word was = slri_words_from_bits(w, in->kind, old), bits = slri_words_bits(w, given);
    switch ((enum slri_rmw)in->imm) {
    case SLRI_RMW_ADD:
    case SLRI_RMW_SUB:
        return slri_words_bits(
            w, slri_words_op(w, in->imm == SLRI_RMW_ADD ? SLRI_OP_ADD : SLRI_OP_SUB, in->kind, was, given));
    case SLRI_RMW_MIN:
        return lesser(w, in->kind, given, was, old, bits);
    case SLRI_RMW_MAX:
        return lesser(w, in->kind, was, given, old, bits);
    case SLRI_RMW_INCREMENT: {
        word stays = slri_words_mask(w, SLRI_WORDS_OP(w, LT, old, bits));
        return SLRI_WORDS_OP(w, AND, SLRI_WORDS_OP(w, ADD, old, one), stays);
    }
    default: { // DECREMENT
        word begins = SLRI_WORDS_OP(w, GT, old, bits);
        word any = slri_words_op(w, SLRI_OP_OR, SLRI_I32, begins, slri_words_is_zero(w, old));
        return slri_words_pick(w, slri_words_mask(w, any), bits, SLRI_WORDS_OP(w, SUB, old, one));
    }
    }
}

static void put_rmw(struct slri_words *w, const struct slri_instr *in, word at)
{
    word given = slri_words_read(w, in->b).low;
    word old;
    const enum slri_kind kind = integer_of(w, in->kind);
    if (is_plain(w, in->kind, in->imm)) {
        slri_reg by = slri_words_reg_of(w, held(w, kind, given)), offset = slri_words_offset(w, at);
        slri_reg dst = slri_lower_reg(&w->l, kind);
        struct slri_instr *made = append(w, SLRI_OP_ATOMIC_RMW, kind, in->root, offset, in->order, in->scope);
        made->dst = dst;
        made->b = by;
        made->imm = in->imm;
        old = slri_words_of(w, dst);
    } else {
        struct slri_words_swap swap = {
            .root = in->root, .kind = kind, .at = at, .order = in->order, .scope = in->scope};
        slri_words_begin_swap(w, &swap);
        slri_words_end_swap(w, &swap, combined(w, in, swap.seen, given));
        old = swap.seen;
    }
    slri_words_write(w, in->dst, slri_words_one(slri_words_from_bits(w, in->kind, old)));
}

void slri_words_atomic(struct slri_words *w, const struct slri_instr *in)
{
    if (slri_kind_bytes(in->kind) == 8 && !w->options.all_widths) {
        slri_words_refuse(w, in, "an atomic of 64 bits is", "use one of 32 bits, or two words and a lock");
        return;
    }
    word at = slri_words_read(w, in->a).low;
    if (in->op == SLRI_OP_ATOMIC_RMW) {
        put_rmw(w, in, at);
        return;
    }
    const enum slri_kind kind = integer_of(w, in->kind);
    slri_reg b = SLRI_NO_REG, c = SLRI_NO_REG, dst = SLRI_NO_REG;
    if (in->b != SLRI_NO_REG)
        b = slri_words_reg_of(w, held(w, kind, slri_words_read(w, in->b).low));
    if (in->c != SLRI_NO_REG)
        c = slri_words_reg_of(w, held(w, kind, slri_words_read(w, in->c).low));
    slri_reg offset = slri_words_offset(w, at);
    if (in->op != SLRI_OP_ATOMIC_STORE)
        dst = slri_lower_reg(&w->l, kind);
    struct slri_instr *made = append(w, in->op, kind, in->root, offset, in->order, in->scope);
    made->dst = dst;
    made->b = b;
    made->c = c;
    if (dst != SLRI_NO_REG)
        slri_words_write(w, in->dst, slri_words_one(slri_words_from_bits(w, in->kind, slri_words_of(w, dst))));
}
