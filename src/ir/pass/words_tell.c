// SPDX-License-Identifier: Apache-2.0
// What a kernel tells the host: its first fault, and what it prints (engine/printed.h). Both are written to buffers
// that stand behind the entry's own.
#include "ir/pass/words_internal.h"

typedef struct slri_word word;

static struct slri_words_swap swap_at(const struct slri_words *w, uint32_t buffer, uint32_t at)
{
    return (struct slri_words_swap){.root = {SLRI_ROOT_BINDING, w->kernel->bindings + buffer},
                                    .kind = SLRI_U32,
                                    .at = slri_words_u32(at),
                                    .scope = SLRI_SCOPE_DEVICE};
}

// The first thread's is told; its thread goes on.
void slri_words_trap(struct slri_words *w, uint32_t fault)
{
    struct slri_words_swap first = swap_at(w, SLRI_WORDS_FAULTED, 0);
    if (!w->options.tells) {
        slri_lower_append(&w->l, SLRI_OP_TRAP, SLRI_VOID)->imm = fault;
        return;
    }
    if (!w->options.faults)
        return;
    first.seen = slri_words_u32(0);
    word was = slri_words_cas(w, &first, slri_words_u32(fault));
    struct slri_block *behind = slri_lower_if(&w->l, slri_words_reg_of(w, slri_words_is_zero(w, was)), NULL);
    slri_words_put(w, first.root, slri_words_u32(4), slri_words_u32(w->l.where.file));
    slri_words_put(w, first.root, slri_words_u32(8), slri_words_u32(w->l.where.line));
    w->l.block = behind;
}

static word has_room(struct slri_words *w, word room, word used, word words)
{
    return slri_words_op(w, SLRI_OP_LE, SLRI_U32, words, SLRI_WORDS_OP(w, SUB, room, used));
}

// A record: its format, how many values it has, and these, each as two words, low first, however wide it is.
static void put_record(struct slri_words *w, const struct slri_instr *in, struct slri_root to, word at)
{
    word next = SLRI_WORDS_OP(w, ADD, SLRI_WORDS_OP(w, SHL, at, slri_words_u32(3)), slri_words_u32(16));
    slri_words_put(w, to, next, slri_words_u32((uint32_t)in->imm));
    slri_words_put(w, to, SLRI_WORDS_OP(w, ADD, next, slri_words_u32(4)), slri_words_u32(in->args));
    for (uint32_t i = 0; i < in->args; i++) {
        struct slri_words_pair value = slri_words_read(w, in->arg[i].reg);
        const bool is_wide = slri_kind_bytes(w->source->reg_kind[in->arg[i].reg]) == 8;
        if (slri_kind_bytes(value.low.kind) == 8)
            value = slri_words_split(w, value.low);
        next = SLRI_WORDS_OP(w, ADD, next, slri_words_u32(8));
        slri_words_put(w, to, next, slri_words_bits(w, value.low));
        slri_words_put(w, to, SLRI_WORDS_OP(w, ADD, next, slri_words_u32(4)), is_wide ? value.high : slri_words_u32(0));
    }
}

// Where the buffer has room for its record; else it is counted as lost. Without a buffer nobody hears it.
void slri_words_print(struct slri_words *w, const struct slri_instr *in)
{
    struct slri_words_swap used = swap_at(w, SLRI_WORDS_PRINTED, 0), lost = swap_at(w, SLRI_WORDS_PRINTED, 4);
    const word words = slri_words_u32(in->args + 1), is_there = slri_words_new(w, SLRI_I32);
    struct slri_instr *present = slri_lower_append(&w->l, SLRI_OP_PRESENT, SLRI_VOID);
    present->root = used.root;
    present->dst = is_there.reg;
    struct slri_block *behind = slri_lower_if(&w->l, is_there.reg, NULL), *is_full;
    const word room = slri_words_get(w, used.root, slri_words_u32(8));
    slri_words_begin_swap(w, &used);
    const word fits = has_room(w, room, used.seen, words);
    const word taken = SLRI_WORDS_OP(w, AND, words, slri_words_mask(w, fits));
    slri_words_end_swap(w, &used, SLRI_WORDS_OP(w, ADD, used.seen, taken));
    slri_lower_if(&w->l, slri_words_reg_of(w, fits), &is_full);
    put_record(w, in, used.root, used.seen);
    w->l.block = is_full;
    slri_words_begin_swap(w, &lost);
    slri_words_end_swap(w, &lost, SLRI_WORDS_OP(w, ADD, lost.seen, slri_words_u32(1)));
    w->l.block = behind;
}
