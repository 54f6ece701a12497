// SPDX-License-Identifier: Apache-2.0
// What is known of offsets while they are written. Drivers that translate instruction by instruction take the time of
// each: so sums and products with what is known are not written, and the offset of a word becomes its
// number. An offset of 64 bits into an array becomes one of 32, by its parts.
#include "emit/spirv/internal.h"

#include <string.h>

#define DEPTH 8 // of sums that are looked through

static struct slri_s_known known_of(const struct slri_s *s, uint32_t id)
{
    return id < s->knowns ? s->known[id] : (struct slri_s_known){0};
}

static void note(struct slri_s *s, uint32_t id, struct slri_s_known what)
{
    if (id >= s->knowns) {
        const uint32_t room = 2 * id + 256;
        struct slri_s_known *grown = slri_s_take(s, room, sizeof *grown);
        if (!grown)
            return;
        if (s->knowns)
            memcpy(grown, s->known, s->knowns * sizeof *grown);
        s->known = grown;
        s->knowns = room;
    }
    s->known[id] = what;
}

void slri_s_note_constant(struct slri_s *s, uint32_t id, uint64_t value)
{
    note(s, id, (struct slri_s_known){.op = SLRI_W_Constant, .a = (uint32_t)value, .b = (uint32_t)(value >> 32)});
}

void slri_s_keep_whole(struct slri_s *s, uint32_t id)
{
    struct slri_s_known known = known_of(s, id);
    if (known.op != SLRI_W_IAdd && known.op != SLRI_W_IMul)
        return;
    known.is_whole = true;
    note(s, id, known);
}

// An offset with ~3. The mask need not be written where only the number of the word is asked for.
void slri_s_note_aligned(struct slri_s *s, uint32_t id, const uint32_t *operand)
{
    note(s, id, (struct slri_s_known){.op = SLRI_W_BitwiseAnd, .a = operand[0], .b = operand[1]});
}

// What stands under a conversion wraps at 32 bits, and what it becomes does not.
void slri_s_note_made(struct slri_s *s, enum slri_w_op op, uint32_t id, const uint32_t *operand)
{
    if (op == SLRI_W_IAdd || op == SLRI_W_IMul) {
        note(s, id, (struct slri_s_known){.op = op, .a = operand[0], .b = operand[1]});
    } else if (op == SLRI_W_SConvert || op == SLRI_W_UConvert) {
        slri_s_keep_whole(s, operand[0]);
        note(s, id, (struct slri_s_known){.op = op, .a = operand[0]});
    }
}

static bool is_constant(const struct slri_s *s, uint32_t id, uint64_t *out)
{
    const struct slri_s_known known = known_of(s, id);
    *out = known.a | (uint64_t)known.b << 32;
    return known.op == SLRI_W_Constant;
}

// The pass of words has folded what the program computes; this is of offsets, which are made here.
uint32_t slri_s_fold(struct slri_s *s, enum slri_w_op op, uint32_t type, const uint32_t *operand)
{
    uint64_t value, more;
    if (op != SLRI_W_IAdd && op != SLRI_W_IMul)
        return 0;
    const bool second = is_constant(s, operand[1], &value);
    if (!second && !is_constant(s, operand[0], &value))
        return 0;
    const uint32_t a = operand[!second];
    const struct slri_s_known known = known_of(s, a);
    if (value == (op == SLRI_W_IMul ? 1 : 0))
        return a;
    if (op != SLRI_W_IAdd || known.op != SLRI_W_IAdd || !is_constant(s, known.b, &more))
        return 0;
    const uint32_t bytes = type == slri_s_uint(s, 4) ? 4 : 8;
    const uint32_t sum = SLRI_MAKE(s, IAdd, type, known.a, slri_s_bits(s, bytes, more + value));
    if (known.is_whole)
        slri_s_keep_whole(s, sum);
    return sum;
}

// ---- the low word of 64 bits ---------------------------------------------------------------------------------------

static uint32_t narrow_of(struct slri_s *s, uint32_t id, int depth)
{
    const struct slri_s_known known = known_of(s, id);
    const uint32_t u32 = slri_s_uint(s, 4);
    if (known.op == SLRI_W_Constant)
        return slri_s_u32(s, known.a);
    if (known.op == SLRI_W_SConvert || known.op == SLRI_W_UConvert) // from 32 bits: there are none of less
        return known.a;
    if ((known.op != SLRI_W_IAdd && known.op != SLRI_W_IMul) || depth == DEPTH)
        return SLRI_MAKE(s, UConvert, u32, id);
    const uint32_t a = narrow_of(s, known.a, depth + 1), part[2] = {a, narrow_of(s, known.b, depth + 1)};
    return slri_s_make(s, known.op, u32, part, 2);
}

uint32_t slri_s_narrow_of(struct slri_s *s, uint32_t id)
{
    return narrow_of(s, id, 0);
}

// ---- the number of a word ------------------------------------------------------------------------------------------

// Whether it is known to be a multiple of 4 by its parts, and may be taken apart.
static bool is_of_words(const struct slri_s *s, uint32_t id, int depth)
{
    const struct slri_s_known known = known_of(s, id);
    uint64_t value;
    if (known.op == SLRI_W_Constant)
        return known.a % 4 == 0;
    if (known.is_whole)
        return false;
    if (known.op == SLRI_W_IMul)
        return is_constant(s, known.b, &value) && value % 4 == 0;
    if (known.op == SLRI_W_BitwiseAnd)
        return true;
    return known.op == SLRI_W_IAdd && depth < DEPTH && is_of_words(s, known.a, depth + 1) &&
           is_of_words(s, known.b, depth + 1);
}

// Once a block. An offset is less than 4 GiB, so what is above that was never there. A constant may be negative.
uint32_t slri_s_word_of(struct slri_s *s, uint32_t id)
{
    struct slri_s_known known = known_of(s, id);
    const uint32_t u32 = slri_s_uint(s, 4);
    uint64_t value;
    if (known.op == SLRI_W_Constant)
        return slri_s_u32(s, (uint32_t)((int32_t)known.a / 4));
    if (known.word_in == s->blocks)
        return known.word;
    const bool is_of_parts = is_of_words(s, id, 0);
    if (is_of_parts && known.op == SLRI_W_IAdd) {
        const uint32_t a = slri_s_word_of(s, known.a);
        known.word = SLRI_MAKE(s, IAdd, u32, a, slri_s_word_of(s, known.b));
    } else if (is_of_parts && known.op == SLRI_W_IMul) {
        is_constant(s, known.b, &value);
        known.word = SLRI_MAKE(s, IMul, u32, known.a, slri_s_u32(s, (uint32_t)value / 4));
    } else {
        const uint32_t whole = known.op == SLRI_W_BitwiseAnd ? known.a : id;
        known.word = SLRI_MAKE(s, ShiftRightLogical, u32, whole, slri_s_u32(s, 2));
    }
    known.word_in = s->blocks;
    note(s, id, known);
    return known.word;
}
