// SPDX-License-Identifier: Apache-2.0
// A module's words as assembly. Knows what the writer writes; another opcode is shown by its number.
#include "emit/spirv/spirv.h"
#include "emit/spirv/words.h"

#include <stdlib.h>
#include <string.h>

static const struct opcode {
    const char *name, *operands;
    uint32_t number;
} opcodes[] = {
#define OPCODE(name, number, operands) {#name, operands, number},
    SLRI_W_LIST(OPCODE)
#undef OPCODE
};

static const struct {
    const char *group, *name;
    uint32_t number;
} numbers[] = {
#define NUMBER(group, name, number) {#group, #name, number},
    SLRI_W_NUMBERS(NUMBER)
#undef NUMBER
};

struct reader {
    const uint32_t *at, *end;
    struct slri_text *out;
    uint32_t *type_of; // of each id, its type
    uint32_t *width;   // of a type: its bits, and above them whether it is a float
    uint32_t bound, type, decoration;
};
#define IS_FLOAT 0x100u

static const struct opcode *opcode_of(uint32_t number)
{
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (opcodes[i].number == number)
            return &opcodes[i];
    return NULL;
}

static void put_name(struct reader *r, const char *group, uint32_t number)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i].number == number && strcmp(numbers[i].group, group) == 0) {
            slri_text_printf(r->out, " %s", numbers[i].name);
            return;
        }
    }
    slri_text_printf(r->out, " !%u", number);
}

static void put_float(struct reader *r, uint64_t bits, int width)
{
    int fraction = width == 64 ? 52 : 23, bias = width == 64 ? 1023 : 127, digits = width == 64 ? 13 : 6;
    uint64_t part = bits & ((UINT64_C(1) << fraction) - 1);
    int exponent = (int)(bits >> fraction) & (2 * bias + 1);
    slri_text_printf(r->out, " %s0x%d.%0*llxp%+d", bits >> (width - 1) & 1 ? "-" : "", exponent != 0, digits,
                     (unsigned long long)(width == 64 ? part : part << 1), exponent ? exponent - bias : 1 - bias);
}

// One value of the type, of a word or two.
static void put_value(struct reader *r, uint32_t type)
{
    uint32_t width = type < r->bound ? r->width[type] : 32;
    uint64_t bits = *r->at++;
    if ((width & 0xff) == 64 && r->at < r->end)
        bits |= (uint64_t)*r->at++ << 32;
    if (width & IS_FLOAT)
        put_float(r, bits, width & 0xff);
    else
        slri_text_printf(r->out, " %llu", (unsigned long long)bits);
}

static void put_string(struct reader *r)
{
    slri_text_puts(r->out, " \"");
    for (bool ends = false; !ends && r->at < r->end; r->at++) {
        for (int byte = 0; byte < 4 && !ends; byte++) {
            char c = (char)(*r->at >> 8 * byte);
            ends = c == 0;
            if (!ends)
                slri_text_printf(r->out, c == '"' || c == '\\' ? "\\%c" : "%c", c);
        }
    }
    slri_text_puts(r->out, "\"");
}

static void put_access(struct reader *r)
{
    uint32_t mask = *r->at++;
    const char *before = " ";
    for (uint32_t bit = 1; bit && bit <= mask; bit <<= 1) {
        if (!(mask & bit))
            continue;
        slri_text_puts(r->out, before);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            if (strcmp(numbers[i].group, "ACCESS") == 0 && numbers[i].number == bit)
                slri_text_puts(r->out, numbers[i].name);
        before = "|";
    }
    if (mask & SLRI_ACCESS_Aligned && r->at < r->end)
        slri_text_printf(r->out, " %u", *r->at++);
}

static void put_operand(struct reader *r, char kind)
{
    static const char *const groups[128] = {
        ['A'] = "ADDRESSING", ['M'] = "MODEL",   ['E'] = "EXECUTION",  ['x'] = "MODE",
        ['c'] = "CAP",        ['S'] = "STORAGE", ['d'] = "DECORATION", ['e'] = "GLSL"};
    if (kind == 'd')
        r->decoration = *r->at;
    if (groups[(unsigned char)kind])
        put_name(r, groups[(unsigned char)kind], *r->at++);
    else if (kind == 'i')
        slri_text_printf(r->out, " %%%u", *r->at++);
    else if (kind == 'l')
        slri_text_printf(r->out, " %u", *r->at++);
    else if (kind == 'N')
        slri_text_puts(r->out, r->at++ ? " None" : "");
    else if (kind == 'o')
        slri_text_printf(r->out, " %s", opcode_of(*r->at++)->name);
    else if (kind == 's')
        put_string(r);
    else if (kind == 'm')
        put_access(r);
    else
        while (r->at < r->end) {
            if (kind == 'v' || kind == 'p')
                put_value(r, r->type);
            else if (kind == 'D' && r->decoration == SLRI_DECORATION_BuiltIn)
                put_name(r, "BUILTIN", *r->at++);
            if (kind == 'p' || kind == '+')
                slri_text_printf(r->out, " %%%u", *r->at++);
            else if (r->at < r->end && kind != 'v')
                slri_text_printf(r->out, " %u", *r->at++);
        }
}

static void note_type(struct reader *r, const uint32_t *in, uint32_t op)
{
    if ((op == SLRI_W_TypeInt || op == SLRI_W_TypeFloat) && in[1] < r->bound)
        r->width[in[1]] = in[2] | (op == SLRI_W_TypeFloat ? IS_FLOAT : 0);
    if (op == SLRI_W_Switch && in[1] < r->bound)
        r->type = r->type_of[in[1]];
}

static void put_instruction(struct reader *r, const uint32_t *in)
{
    const struct opcode *op = opcode_of(in[0] & 0xffff);
    r->at = in + 1;
    r->end = in + (in[0] >> 16);
    if (!op) {
        slri_text_printf(r->out, "; opcode %u\n", in[0] & 0xffff);
        return;
    }
    const char *operand = op->operands;
    r->type = 0;
    if (*operand == 'T') {
        r->type = *r->at++;
        operand++;
    }
    if (*operand == 'R') {
        uint32_t id = *r->at++;
        if (id < r->bound)
            r->type_of[id] = r->type;
        slri_text_printf(r->out, "%%%u = ", id);
        operand++;
    }
    slri_text_printf(r->out, "Op%s", op->name);
    if (r->type)
        slri_text_printf(r->out, " %%%u", r->type);
    note_type(r, in, op->number);
    for (; *operand && r->at < r->end; operand++)
        put_operand(r, *operand);
    slri_text_puts(r->out, "\n");
}

void slri_spirv_disassemble(const uint32_t *word, size_t words, struct slri_text *out)
{
    struct reader r = {.out = out, .bound = words > 5 ? word[3] : 0};
    r.type_of = calloc(r.bound + 1, sizeof *r.type_of);
    r.width = calloc(r.bound + 1, sizeof *r.width);
    out->out_of_memory |= !r.type_of || !r.width;
    if (words > 5)
        slri_text_printf(out, "; SPIR-V\n; Version: %u.%u\n; Bound: %u\n", word[1] >> 16, word[1] >> 8 & 0xff, word[3]);
    for (size_t at = 5; !out->out_of_memory && at < words && word[at] >> 16 && at + (word[at] >> 16) <= words;
         at += word[at] >> 16)
        put_instruction(&r, word + at);
    free(r.type_of);
    free(r.width);
}
