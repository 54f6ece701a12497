// SPDX-License-Identifier: Apache-2.0
// A module's words as assembly. Knows what the writer writes; another opcode is shown by its number.
#include "emit/spirv/spirv.h"
#include "emit/spirv/words.h"

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
    uint32_t float32, float64; // ids of types
    uint32_t type, decoration; // of the instruction
};

static const struct opcode *opcode_of(uint32_t number)
{
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (opcodes[i].number == number)
            return &opcodes[i];
    return NULL;
}

static void put_name(struct reader *r, const char *before, const char *group, uint32_t number)
{
    const size_t count = sizeof numbers / sizeof *numbers;
    size_t i = 0;
    while (i < count && (numbers[i].number != number || strcmp(numbers[i].group, group) != 0))
        i++;
    slri_text_puts(r->out, before);
    if (i < count)
        slri_text_puts(r->out, numbers[i].name);
    else
        slri_text_printf(r->out, "!%u", number);
}

static void put_float(struct reader *r, uint64_t bits, int width)
{
    int fraction = width == 64 ? 52 : 23, bias = width == 64 ? 1023 : 127, digits = width == 64 ? 13 : 6;
    uint64_t part = bits & ((UINT64_C(1) << fraction) - 1);
    int exponent = (int)(bits >> fraction) & (2 * bias + 1);
    slri_text_printf(r->out, " %s0x%d.%0*llxp%+d", bits >> (width - 1) & 1 ? "-" : "", exponent != 0, digits,
                     (unsigned long long)(width == 64 ? part : part << 1), exponent ? exponent - bias : 1 - bias);
}

// What is left of the instruction, which is a value of its type: one word or two.
static void put_value(struct reader *r)
{
    const bool is_wide = r->end - r->at > 1;
    const uint64_t bits = r->at[0] | (is_wide ? (uint64_t)r->at[1] << 32 : 0);
    r->at = r->end;
    if (r->type == r->float32 || r->type == r->float64)
        put_float(r, bits, is_wide ? 64 : 32);
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
        put_name(r, before, "ACCESS", bit);
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
        put_name(r, " ", groups[(unsigned char)kind], *r->at++);
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
    else if (kind == 'v')
        put_value(r);
    else if (kind == 'D' && r->decoration == SLRI_DECORATION_BuiltIn)
        put_name(r, " ", "BUILTIN", *r->at++);
    else
        for (; r->at < r->end; r->at++) { // of a pair the second is an id
            const bool is_id = kind == '+' || (kind == 'p' && (r->end - r->at) % 2 == 1);
            slri_text_printf(r->out, is_id ? " %%%u" : " %u", *r->at);
        }
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
    r->type = *operand == 'T' ? *r->at++ : 0;
    operand += *operand == 'T';
    if (*operand == 'R') {
        slri_text_printf(r->out, "%%%u = ", *r->at++);
        operand++;
    }
    slri_text_printf(r->out, "Op%s", op->name);
    if (r->type)
        slri_text_printf(r->out, " %%%u", r->type);
    if (op->number == SLRI_W_TypeFloat)
        *(in[2] == 64 ? &r->float64 : &r->float32) = in[1];
    for (; *operand && r->at < r->end; operand++)
        put_operand(r, *operand);
    slri_text_puts(r->out, "\n");
}

void slri_spirv_disassemble(const uint32_t *word, size_t words, struct slri_text *out)
{
    struct reader r = {.out = out};
    if (words > 5)
        slri_text_printf(out, "; SPIR-V\n; Version: %u.%u\n; Bound: %u\n", word[1] >> 16, word[1] >> 8 & 0xff, word[3]);
    for (size_t at = 5; at < words && word[at] >> 16 && at + (word[at] >> 16) <= words; at += word[at] >> 16)
        put_instruction(&r, word + at);
}
