// SPDX-License-Identifier: Apache-2.0
#include "emit/spirv/words.h"

#include <stdlib.h>
#include <string.h>

uint32_t slri_w_id(struct slri_w *w)
{
    return ++w->next;
}

static bool make_room(struct slri_w *w, struct slri_w_part *part, size_t words)
{
    if (part->count + words <= part->room)
        return !w->out_of_memory;
    size_t room = (part->count + words) * 2 + 64;
    uint32_t *larger = realloc(part->word, room * sizeof *larger);
    w->out_of_memory |= !larger;
    if (!larger)
        return false;
    part->word = larger;
    part->room = room;
    return true;
}

void slri_w_add(struct slri_w *w, struct slri_w_part *part, const uint32_t *word, size_t count)
{
    if (count == 0 || !make_room(w, part, count))
        return;
    memcpy(part->word + part->count, word, count * sizeof *word);
    part->count += count;
}

void slri_w_put(struct slri_w *w, struct slri_w_part *part, enum slri_w_op op, const uint32_t *operand, size_t count)
{
    slri_w_add(w, part, &(uint32_t){(uint32_t)(count + 1) << 16 | (uint32_t)op}, 1);
    slri_w_add(w, part, operand, count);
}

void slri_w_put_text(struct slri_w *w, struct slri_w_part *part, enum slri_w_op op, const uint32_t *before,
                     size_t count, const char *text, const struct slri_w_part *behind)
{
    size_t length = strlen(text), words = length / 4 + 1, ids = behind ? behind->count : 0;
    slri_w_add(w, part, &(uint32_t){(uint32_t)(1 + count + words + ids) << 16 | (uint32_t)op}, 1);
    slri_w_add(w, part, before, count);
    for (size_t at = 0; at < words; at++) {
        uint32_t word = 0;
        for (size_t byte = 0; byte < 4 && at * 4 + byte < length; byte++)
            word |= (uint32_t)(unsigned char)text[at * 4 + byte] << 8 * byte;
        slri_w_add(w, part, &word, 1);
    }
    if (behind)
        slri_w_add(w, part, behind->word, behind->count);
}

static uint32_t hash(enum slri_w_op op, uint32_t type, const uint32_t *operand, uint32_t count)
{
    uint32_t h = ((uint32_t)op * 31 + type) * 0x9e3779b1u;
    for (uint32_t i = 0; i < count; i++)
        h = (h ^ operand[i]) * 0x01000193u;
    return h ^ h >> 15;
}

// The instruction at `at` of the globals: a type has its result first, a constant its type.
static bool is_same(const struct slri_w *w, uint32_t at, enum slri_w_op op, uint32_t type, const uint32_t *operand,
                    uint32_t count)
{
    const uint32_t *in = w->globals.word + at;
    uint32_t head = type ? 3 : 2;
    return in[0] == ((head + count) << 16 | (uint32_t)op) && (!type || in[1] == type) &&
           (!count || memcmp(in + head, operand, count * sizeof *operand) == 0);
}

uint32_t slri_w_once(struct slri_w *w, enum slri_w_op op, uint32_t type, const uint32_t *operand, uint32_t count)
{
    if (w->out_of_memory)
        return 1;
    uint32_t *newest = &w->newest[hash(op, type, operand, count) % SLRI_W_CHAINS];
    for (uint32_t link = *newest; link; link = w->links.word[link])
        if (is_same(w, w->links.word[link - 1], op, type, operand, count))
            return w->globals.word[w->links.word[link - 1] + (type ? 2 : 1)];
    const uint32_t id = slri_w_id(w), head = (count + (type ? 3 : 2)) << 16 | (uint32_t)op;
    slri_w_add(w, &w->links, (const uint32_t[]){(uint32_t)w->globals.count, *newest}, 2);
    *newest = (uint32_t)w->links.count - 1;
    slri_w_add(w, &w->globals, &head, 1);
    slri_w_add(w, &w->globals, &type, type ? 1 : 0);
    slri_w_add(w, &w->globals, &id, 1);
    slri_w_add(w, &w->globals, operand, count);
    return id;
}

void slri_w_capability(struct slri_w *w, uint32_t capability)
{
    for (size_t at = 0; at < w->capabilities.count; at += 2)
        if (w->capabilities.word[at + 1] == capability)
            return;
    slri_w_put(w, &w->capabilities, SLRI_W_Capability, &capability, 1);
}

void slri_w_destroy(struct slri_w *w)
{
    struct slri_w_part *all[] = {&w->capabilities, &w->modes,     &w->strings, &w->decorations, &w->globals,
                                 &w->functions,    &w->variables, &w->code,    &w->interface,   &w->links};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->word);
}
