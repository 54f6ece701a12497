// SPDX-License-Identifier: Apache-2.0
// What is known of offsets while they are written. Drivers that translate instruction by instruction take the time of
// each: so sums and products of 32 bits with what is known are not written, and the offset of a word becomes its
// number. An offset of 64 bits into an array becomes one of 32, by its parts.
#include "emit/spirv/internal.h"

#include <string.h>

#define DEPTH 8 // of sums that are looked through

static struct slri_s_known *known_of(struct slri_s *s, uint32_t id)
{
    static struct slri_s_known none;
    return id < s->knowns ? &s->known[id] : &none;
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

void slri_s_note_constant(struct slri_s *s, uint32_t id, uint32_t value)
{
    note(s, id, (struct slri_s_known){.is = SLRI_S_CONSTANT, .a = value});
}

static bool is_constant(struct slri_s *s, uint32_t id, uint32_t *out)
{
    const struct slri_s_known *known = known_of(s, id);
    *out = known->a;
    return known->is == SLRI_S_CONSTANT;
}

void slri_s_note_made(struct slri_s *s, enum slri_w_op op, uint32_t type, uint32_t id, const uint32_t *operand)
{
    const bool is_wide = !s->words && type == slri_s_uint(s, 8);
    uint32_t mask;
    if (!is_wide && type != slri_s_uint(s, 4))
        return;
    if (op == SLRI_W_IAdd || op == SLRI_W_IMul)
        note(s, id, (struct slri_s_known){op == SLRI_W_IAdd ? SLRI_S_SUM : SLRI_S_PRODUCT, operand[0], operand[1]});
    else if (!is_wide && op == SLRI_W_BitwiseAnd && is_constant(s, operand[1], &mask) && mask % 4 == 0)
        note(s, id, (struct slri_s_known){.is = SLRI_S_MULTIPLE});
    else if (is_wide && (op == SLRI_W_SConvert || op == SLRI_W_UConvert)) // there are none of less than 32 bits
        note(s, id, (struct slri_s_known){.is = SLRI_S_WIDENED, .a = operand[0]});
}

static uint32_t add_constant(struct slri_s *s, uint32_t a, uint32_t value)
{
    const struct slri_s_known known = *known_of(s, a);
    uint32_t more;
    if (value == 0)
        return a;
    if (known.is == SLRI_S_SUM && is_constant(s, known.b, &more))
        return SLRI_MAKE(s, IAdd, slri_s_uint(s, 4), known.a, slri_s_u32(s, more + value));
    return 0;
}

// The pass of words has folded what the program computes; this is of offsets, which are made here.
uint32_t slri_s_fold(struct slri_s *s, enum slri_w_op op, uint32_t type, const uint32_t *operand, size_t count)
{
    uint32_t value;
    if (count != 2 || type != slri_s_uint(s, 4) || (op != SLRI_W_IAdd && op != SLRI_W_IMul))
        return 0;
    const bool first = is_constant(s, operand[0], &value), second = is_constant(s, operand[1], &value);
    if (!first && !second)
        return 0;
    const uint32_t a = operand[!second], b = operand[second];
    is_constant(s, b, &value);
    return op == SLRI_W_IAdd ? add_constant(s, a, value) : value == 1 ? a : 0;
}

// ---- the low word of 64 bits ---------------------------------------------------------------------------------------

static uint32_t narrow_of(struct slri_s *s, uint32_t id, int depth)
{
    const struct slri_s_known known = *known_of(s, id);
    const uint32_t u32 = slri_s_uint(s, 4);
    if (known.is == SLRI_S_CONSTANT)
        return slri_s_u32(s, known.a);
    if (known.is == SLRI_S_WIDENED)
        return known.a;
    if (known.is == SLRI_S_UNKNOWN || depth == DEPTH)
        return SLRI_MAKE(s, UConvert, u32, id);
    const uint32_t a = narrow_of(s, known.a, depth + 1), b = narrow_of(s, known.b, depth + 1);
    return known.is == SLRI_S_SUM ? SLRI_MAKE(s, IAdd, u32, a, b) : SLRI_MAKE(s, IMul, u32, a, b);
}

uint32_t slri_s_narrow_of(struct slri_s *s, uint32_t id)
{
    return narrow_of(s, id, 0);
}

// ---- the number of a word ------------------------------------------------------------------------------------------

static bool is_of_words(struct slri_s *s, uint32_t id, int depth)
{
    const struct slri_s_known *known = known_of(s, id);
    uint32_t value;
    switch (known->is) {
    case SLRI_S_CONSTANT:
        return known->a % 4 == 0;
    case SLRI_S_MULTIPLE:
        return true;
    case SLRI_S_PRODUCT:
        return is_constant(s, known->b, &value) && value % 4 == 0;
    case SLRI_S_SUM:
        return depth < DEPTH && is_of_words(s, known->a, depth + 1) && is_of_words(s, known->b, depth + 1);
    default:
        return false;
    }
}

// Once a block.
static uint32_t word_of_multiple(struct slri_s *s, uint32_t id)
{
    struct slri_s_known known = *known_of(s, id);
    if (known.b == s->blocks)
        return known.a;
    known.a = SLRI_MAKE(s, ShiftRightLogical, slri_s_uint(s, 4), id, slri_s_u32(s, 2));
    known.b = s->blocks;
    note(s, id, known);
    return known.a;
}

// An offset is less than 4 GiB, so what is above that was never there. A constant may be negative.
static uint32_t word_of(struct slri_s *s, uint32_t id)
{
    const struct slri_s_known known = *known_of(s, id);
    const uint32_t u32 = slri_s_uint(s, 4);
    uint32_t value;
    if (known.is == SLRI_S_CONSTANT)
        return slri_s_u32(s, (uint32_t)((int32_t)known.a / 4));
    if (known.is == SLRI_S_MULTIPLE)
        return word_of_multiple(s, id);
    if (known.is == SLRI_S_SUM) {
        const uint32_t a = word_of(s, known.a);
        return SLRI_MAKE(s, IAdd, u32, a, word_of(s, known.b));
    }
    is_constant(s, known.b, &value);
    return SLRI_MAKE(s, IMul, u32, known.a, slri_s_u32(s, value / 4));
}

uint32_t slri_s_word_of(struct slri_s *s, uint32_t offset)
{
    return is_of_words(s, offset, 0) ? word_of(s, offset)
                                     : SLRI_MAKE(s, ShiftRightLogical, slri_s_uint(s, 4), offset, slri_s_u32(s, 2));
}
