// SPDX-License-Identifier: Apache-2.0
// PTX as NVRTC writes it, statement by statement. What is not known is an error: nothing is guessed.
#include "tests/ptx/inside.h"
#include "tests/ptx/scan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum symbol_kind { REGISTERS, ONE_REGISTER, MEMORY, SHARED, FRAME, PARAMETER };

struct symbol {
    char name[256];
    enum symbol_kind kind;
    uint32_t depth; // of braces
    uint32_t index, count, bytes;
    uint64_t value;
};

struct label {
    char name[64];
    uint32_t ins;
};

struct parser {
    struct ptx_image *image;
    struct ptx_scan scan;
    struct symbol *symbol;
    uint32_t symbols, symbol_room, depth, text;
    struct label *label;
    uint32_t labels, label_room;
    struct wait {
        uint32_t ins;
        char name[64];
    } * wait; // branches whose label comes later
    uint32_t waits, wait_room;
    bool in_function, after_label, failed;
};

void *ptx_keep(struct ptx_image *image, void *piece)
{
    image->kept = realloc(image->kept, (image->keeps + 1) * sizeof *image->kept);
    return image->kept[image->keeps++] = piece;
}

static bool fail(struct parser *p, const char *what)
{
    if (!p->failed)
        fprintf(stderr, "ptx: line %u: %s: %s\n", p->scan.begun, what, p->scan.text);
    p->failed = true;
    return false;
}

#define GROW(list, count, room)                                                                                        \
    if ((count) == (room))                                                                                             \
    (list) = realloc((list), ((room) = (room) ? 2 * (room) : 64) * sizeof *(list))

static struct ptx_function *function_of(struct parser *p)
{
    return &p->image->function[p->image->functions - 1];
}

// ---- symbols -------------------------------------------------------------------------------------------------------

static struct symbol *declare(struct parser *p, const char *name, enum symbol_kind kind)
{
    GROW(p->symbol, p->symbols, p->symbol_room);
    struct symbol *made = &p->symbol[p->symbols++];
    *made = (struct symbol){.kind = kind, .depth = p->depth, .count = 1};
    snprintf(made->name, sizeof made->name, "%s", name);
    return made;
}

static const struct symbol *find(const struct parser *p, const char *name)
{
    for (uint32_t i = p->symbols; i-- > 0;)
        if (p->symbol[i].kind != REGISTERS && strcmp(p->symbol[i].name, name) == 0)
            return &p->symbol[i];
    return NULL;
}

// "%r12" is the thirteenth of "%r<44>".
static bool find_register(const struct parser *p, const char *name, struct ptx_operand *out)
{
    const struct symbol *one = find(p, name);
    if (one && one->kind == ONE_REGISTER) {
        *out = (struct ptx_operand){.kind = PTX_REGISTER, .bytes = (uint8_t)one->bytes, .index = one->index};
        return true;
    }
    size_t length = strlen(name);
    while (length > 0 && isdigit((unsigned char)name[length - 1]))
        --length;
    for (uint32_t i = p->symbols; i-- > 0 && name[length];) {
        const struct symbol *s = &p->symbol[i];
        if (s->kind != REGISTERS || strlen(s->name) != length || strncmp(s->name, name, length) != 0)
            continue;
        unsigned long number = strtoul(name + length, NULL, 10);
        *out = (struct ptx_operand){
            .kind = PTX_REGISTER, .bytes = (uint8_t)s->bytes, .index = s->index + (uint32_t)number};
        return number < s->count;
    }
    return false;
}

static bool find_special(const char *name, struct ptx_operand *out)
{
    static const struct {
        const char *name;
        uint8_t bytes, index;
    } special[] = {{"%tid.x", 4, PTX_TID},       {"%tid.y", 4, PTX_TID + 1},       {"%tid.z", 4, PTX_TID + 2},
                   {"%ntid.x", 4, PTX_NTID},     {"%ntid.y", 4, PTX_NTID + 1},     {"%ntid.z", 4, PTX_NTID + 2},
                   {"%ctaid.x", 4, PTX_CTAID},   {"%ctaid.y", 4, PTX_CTAID + 1},   {"%ctaid.z", 4, PTX_CTAID + 2},
                   {"%nctaid.x", 4, PTX_NCTAID}, {"%nctaid.y", 4, PTX_NCTAID + 1}, {"%nctaid.z", 4, PTX_NCTAID + 2},
                   {"%laneid", 4, PTX_LANE},     {"%warpid", 4, PTX_WARP_INDEX},   {"%globaltimer", 8, PTX_TIMER},
                   {"%clock64", 8, PTX_CLOCK},   {"%clock", 4, PTX_CLOCK}};
    for (size_t i = 0; i < sizeof special / sizeof *special; ++i)
        if (strcmp(name, special[i].name) == 0) {
            *out = (struct ptx_operand){.kind = PTX_SPECIAL, .bytes = special[i].bytes, .index = special[i].index};
            return true;
        }
    return false;
}

// ---- operands ------------------------------------------------------------------------------------------------------

static bool take_number(const char *word, uint64_t *out)
{
    char *end = NULL;
    if (word[0] == '0' && (word[1] == 'f' || word[1] == 'd'))
        *out = strtoull(word + 2, &end, 16);
    else if (word[0] == '-')
        *out = (uint64_t)strtoll(word, &end, 0);
    else
        *out = strtoull(word, &end, 0);
    return end != word && (*end == '\0' || strcmp(end, "U") == 0);
}

static bool take_symbol(struct parser *p, const char *word, struct ptx_operand *out)
{
    const struct symbol *s = find(p, word);
    if (!s || s->kind == ONE_REGISTER)
        return false;
    *out = (struct ptx_operand){.kind = s->kind == FRAME ? PTX_FRAME : PTX_VALUE, .bytes = 8, .value = s->value};
    if (s->kind == PARAMETER) // of a kernel: it lies where the launch has it
        *out = (struct ptx_operand){.kind = PTX_SPECIAL, .bytes = 8, .index = UINT32_MAX, .value = s->value};
    return true;
}

static bool take_operand(struct parser *p, const char **at, struct ptx_operand *out)
{
    char word[256];
    bool inverted = ptx_take(at, "!");
    if (!ptx_word(at, word, sizeof word))
        return false;
    bool found = true;
    if (strcmp(word, "_") == 0)
        *out = (struct ptx_operand){.kind = PTX_SINK};
    else if (isdigit((unsigned char)word[0]) || word[0] == '-') {
        *out = (struct ptx_operand){.kind = PTX_VALUE, .bytes = 8};
        found = take_number(word, &out->value);
    } else
        found = find_register(p, word, out) || find_special(word, out) || take_symbol(p, word, out);
    out->inverted = inverted;
    return found || fail(p, "an operand that is not known");
}

// [register], [symbol+4]: the place, and how far behind it.
static bool take_address(struct parser *p, const char **at, struct ptx_ins *ins)
{
    struct ptx_operand *place = &ins->op[ins->operands++], *behind = &ins->op[ins->operands++];
    char word[256];
    *behind = (struct ptx_operand){.kind = PTX_VALUE, .bytes = 8};
    if (!take_operand(p, at, place))
        return false;
    if (ptx_take(at, "+") && (!ptx_word(at, word, sizeof word) || !take_number(word, &behind->value)))
        return fail(p, "an offset that is no number");
    return ptx_take(at, "]") || fail(p, "an address without an end");
}

static bool take_vector(struct parser *p, const char **at, struct ptx_ins *ins)
{
    ins->op[ins->operands++] = (struct ptx_operand){.kind = PTX_NONE};
    uint32_t count = 0;
    do
        if (count == 4 || !take_operand(p, at, &ins->part[count++]))
            return fail(p, "a vector of more than four");
    while (ptx_take(at, ","));
    ins->vector = (uint8_t)count;
    return ptx_take(at, "}") || fail(p, "a vector without an end");
}

static bool take_operands(struct parser *p, const char *at, struct ptx_ins *ins)
{
    while (*at) {
        if (ins->operands > PTX_OPERANDS - 1)
            return fail(p, "too many operands");
        if (ptx_take(&at, "[")) {
            if (ins->operands > PTX_OPERANDS - 2 || !take_address(p, &at, ins))
                return fail(p, "an address");
        } else if (ptx_take(&at, "{")) {
            if (!take_vector(p, &at, ins))
                return false;
        } else if (!take_operand(p, &at, &ins->op[ins->operands++]))
            return false;
        if (!ptx_take(&at, ",") && !ptx_take(&at, "|"))
            return *at == '\0' || fail(p, "what stands behind the operands");
    }
    return true;
}

// ---- instructions --------------------------------------------------------------------------------------------------

static struct ptx_place place_of(const struct symbol *s)
{
    return (struct ptx_place){(uint32_t)s->value, s->bytes};
}

static bool take_places(struct parser *p, const char **at, struct ptx_place *place, uint32_t *count)
{
    char word[256];
    while (ptx_word(at, word, sizeof word) && strcmp(word, ")") != 0) {
        if (strcmp(word, ",") == 0)
            continue;
        const struct symbol *s = find(p, word);
        if (!s || s->kind != FRAME || *count == 16)
            return fail(p, "an argument that is none");
        place[(*count)++] = place_of(s);
    }
    return true;
}

static bool take_call(struct parser *p, const char *at, struct ptx_ins *ins)
{
    struct ptx_call *call = ptx_keep(p->image, calloc(1, sizeof *call));
    uint32_t results = 0;
    ins->call = call;
    if (ptx_take(&at, "(") && (!take_places(p, &at, &call->result, &results) || results != 1 || !ptx_take(&at, ",")))
        return fail(p, "a call's result");
    ptx_word(&at, call->callee, sizeof call->callee);
    if (ptx_take(&at, ",") && (!ptx_take(&at, "(") || !take_places(p, &at, call->argument, &call->arguments)))
        return fail(p, "a call's arguments");
    return *at == '\0' || fail(p, "a call of what is not named");
}

static bool take_guard(struct parser *p, const char **at, struct ptx_ins *ins)
{
    char word[256];
    if (!ptx_take(at, "@"))
        return true;
    bool inverted = ptx_take(at, "!");
    if (!ptx_word(at, word, sizeof word) || !find_register(p, word, &ins->guard))
        return fail(p, "a guard that is no register");
    ins->guard.inverted = inverted;
    return true;
}

static bool take_instruction(struct parser *p)
{
    struct ptx_image *image = p->image;
    const char *at = p->scan.text;
    char opcode[256];
    GROW(image->ins, image->count, image->room);
    struct ptx_ins *ins = &image->ins[image->count];
    *ins = (struct ptx_ins){.line = p->scan.begun, .is_target = p->after_label};
    ins->words = ptx_keep(image, strcpy(malloc(strlen(at) + 1), at));
    p->after_label = false;
    if (!p->in_function || !take_guard(p, &at, ins) || !ptx_word(&at, opcode, sizeof opcode))
        return fail(p, "no instruction");
    if (!ptx_decode(ins, opcode))
        return fail(p, "an instruction that is not known");
    ++image->count;
    while (*at == ' ')
        ++at;
    if (ins->kind == PTX_CALL)
        return take_call(p, at, ins);
    if (ins->kind != PTX_BRA) {
        bool taken = take_operands(p, at, ins);
        if (ins->kind == PTX_ALU && ins->vector != 0)
            ins->kind = ins->op[0].kind == PTX_NONE ? PTX_UNPACK : PTX_PACK;
        return taken;
    }
    GROW(p->wait, p->waits, p->wait_room);
    struct wait *wait = &p->wait[p->waits++];
    wait->ins = image->count - 1;
    return ptx_word(&at, wait->name, sizeof wait->name) || fail(p, "a branch to nowhere");
}

// ---- declarations --------------------------------------------------------------------------------------------------

static uint32_t behind(uint32_t bytes, uint32_t align)
{
    return (bytes + align - 1) / align * align;
}

static bool declare_registers(struct parser *p, const char *at, struct ptx_type type)
{
    char name[256], word[64];
    do {
        uint64_t count = 1;
        if (!ptx_word(&at, name, sizeof name))
            return fail(p, "registers without a name");
        bool many = ptx_take(&at, "<");
        if (many && (!ptx_word(&at, word, sizeof word) || !take_number(word, &count) || !ptx_take(&at, ">")))
            return fail(p, "how many registers");
        struct symbol *made = declare(p, name, many ? REGISTERS : ONE_REGISTER);
        made->bytes = type.class == PTX_PRED ? 1 : type.bytes;
        made->count = (uint32_t)count;
        made->index = function_of(p)->registers;
        function_of(p)->registers += (uint32_t)count;
    } while (ptx_take(&at, ","));
    return *at == '\0' || fail(p, "registers");
}

// .global .align 4 .b8 name[12] = {...}
struct declared {
    enum ptx_space space;
    struct ptx_type type;
    uint32_t align, count;
    char name[256];
    bool is_extern;
};

static bool take_word_of(struct declared *d, const char *word)
{
    static const struct {
        const char *name;
        enum ptx_space space;
    } space[] = {{".global", PTX_GLOBAL},
                 {".shared", PTX_SHARED},
                 {".const", PTX_CONST},
                 {".local", PTX_LOCAL},
                 {".param", PTX_PARAM}};
    for (size_t i = 0; i < sizeof space / sizeof *space; ++i)
        if (strcmp(word, space[i].name) == 0) {
            d->space = space[i].space;
            return true;
        }
    d->is_extern |= strcmp(word, ".extern") == 0;
    if (strcmp(word, ".visible") == 0 || strcmp(word, ".extern") == 0 || strcmp(word, ".weak") == 0 ||
        strcmp(word, ".ptr") == 0)
        return true;
    return ptx_find_type(word + 1, &d->type);
}

// Up to what follows the name and its brackets.
static bool take_declared(struct parser *p, const char **at, struct declared *d)
{
    char word[256];
    *d = (struct declared){.count = 1};
    while (ptx_word(at, word, sizeof word) && word[0] == '.') {
        uint64_t number = 0;
        if (strcmp(word, ".align") != 0) {
            if (!take_word_of(d, word))
                return fail(p, "a declaration that is not known");
            continue;
        }
        if (!ptx_word(at, word, sizeof word) || !take_number(word, &number))
            return fail(p, "an alignment");
        d->align = (uint32_t)number;
    }
    snprintf(d->name, sizeof d->name, "%s", word);
    if (d->align < d->type.bytes)
        d->align = d->type.bytes;
    while (ptx_take(at, "[")) {
        uint64_t count = 0;
        if (ptx_take(at, "]"))
            return true; // as long as the launch says
        if (!ptx_word(at, word, sizeof word) || !take_number(word, &count) || !ptx_take(at, "]"))
            return fail(p, "how many elements");
        d->count *= (uint32_t)count;
    }
    return d->type.bytes != 0 || fail(p, "a declaration without a type");
}

static bool fill(struct parser *p, const char *at, const struct declared *d, unsigned char *bytes)
{
    char word[64];
    bool braces = ptx_take(&at, "{");
    for (uint32_t i = 0; i < d->count && *at; ++i) {
        uint64_t value = 0;
        if (!ptx_word(&at, word, sizeof word) || !take_number(word, &value))
            return fail(p, "a value that is no number");
        memcpy(bytes + (size_t)i * d->type.bytes, &value, d->type.bytes);
        if (!ptx_take(&at, ","))
            break;
    }
    return !braces || ptx_take(&at, "}") || fail(p, "values without an end");
}

static bool declare_variable(struct parser *p, const char *at)
{
    struct declared d;
    if (!take_declared(p, &at, &d))
        return false;
    uint32_t bytes = d.count * d.type.bytes;
    if (d.space == PTX_SHARED) {
        uint32_t place = behind(p->image->shared_bytes, d.align);
        if (!d.is_extern)
            p->image->shared_bytes = place + bytes;
        declare(p, d.name, SHARED)->value = d.is_extern ? PTX_DYNAMIC_AT : place;
        return p->image->shared_bytes <= PTX_DYNAMIC_AT || fail(p, "too much shared memory");
    }
    if (p->in_function && (d.space == PTX_LOCAL || d.space == PTX_PARAM)) {
        struct ptx_function *f = function_of(p);
        struct symbol *made = declare(p, d.name, FRAME);
        made->value = behind(f->frame_bytes, d.align);
        made->bytes = bytes;
        f->frame_bytes = (uint32_t)made->value + bytes;
        return true;
    }
    if (d.space != PTX_GLOBAL && d.space != PTX_CONST)
        return fail(p, "a variable that has no place");
    unsigned char *memory = ptx_keep(p->image, aligned_alloc(128, behind(bytes + 1, 128)));
    memset(memory, 0, bytes);
    declare(p, d.name, MEMORY)->value = (uintptr_t)memory;
    return !ptx_take(&at, "=") || fill(p, at, &d, memory);
}

// ---- functions -----------------------------------------------------------------------------------------------------

// A kernel's parameters lie one behind another, a function's in its frame.
static bool take_parameters(struct parser *p, const char **at, struct ptx_place *place, uint32_t *count, uint32_t most)
{
    struct ptx_function *f = function_of(p);
    while (!ptx_take(at, ")")) {
        struct declared d;
        if (*count == most || !take_declared(p, at, &d))
            return fail(p, "parameters");
        uint32_t bytes = d.count * d.type.bytes, begin = behind(f->frame_bytes, d.align);
        struct symbol *made = declare(p, d.name, f->is_entry ? PARAMETER : FRAME);
        made->value = begin;
        made->bytes = bytes;
        f->frame_bytes = begin + bytes;
        place[(*count)++] = (struct ptx_place){begin, bytes};
        ptx_take(at, ",");
    }
    return true;
}

static bool begin_function(struct parser *p)
{
    const char *at = p->scan.text;
    char word[256] = "";
    struct ptx_image *image = p->image;
    image->function = realloc(image->function, (image->functions + 1) * sizeof *image->function);
    struct ptx_function *f = &image->function[image->functions++];
    *f = (struct ptx_function){.is_known = p->scan.has_body, .begin = image->count, .text = p->text};
    p->depth = 1;
    while (ptx_word(&at, word, sizeof word) && word[0] == '.') {
        f->is_entry |= strcmp(word, ".entry") == 0;
        f->is_visible |= strcmp(word, ".visible") == 0 || strcmp(word, ".weak") == 0;
    }
    uint32_t results = 0;
    if (strcmp(word, "(") == 0 &&
        (!take_parameters(p, &at, &f->result, &results, 1) || !ptx_word(&at, word, sizeof word)))
        return fail(p, "a function's result");
    f->name = ptx_keep(image, strcpy(malloc(strlen(word) + 1), word));
    if (ptx_take(&at, "(") && !take_parameters(p, &at, f->parameter, &f->parameters, PTX_MOST_PARAMETERS))
        return false;
    p->in_function = f->is_known;
    return true; // .maxntid and the like are for who launches
}

static bool end_function(struct parser *p)
{
    struct ptx_function *f = function_of(p);
    f->end = p->image->count;
    f->frame_bytes = behind(f->frame_bytes, 16);
    for (uint32_t w = 0; w < p->waits; ++w) {
        uint32_t i = 0;
        while (i < p->labels && strcmp(p->label[i].name, p->wait[w].name) != 0)
            ++i;
        if (i == p->labels || p->label[i].ins == f->end)
            return fail(p, "a branch to a label that is not there");
        p->image->ins[p->wait[w].ins].target = p->label[i].ins;
    }
    p->labels = p->waits = 0;
    p->in_function = false;
    return true;
}

static void close_scope(struct parser *p)
{
    while (p->symbols > 0 && p->symbol[p->symbols - 1].depth == p->depth)
        --p->symbols;
    --p->depth;
}

static bool declare_in(struct parser *p)
{
    const char *at = p->scan.text;
    char word[256];
    struct ptx_type type;
    if (ptx_take(&at, ".pragma"))
        return true;
    if (!ptx_take(&at, ".reg"))
        return declare_variable(p, at);
    if (!p->in_function || !ptx_word(&at, word, sizeof word) || !ptx_find_type(word + 1, &type))
        return fail(p, "registers of a type that is not known");
    return declare_registers(p, at, type);
}

static bool take_statement(struct parser *p, enum ptx_statement statement)
{
    switch (statement) {
    case PTX_OPENS:
        ++p->depth;
        return true;
    case PTX_CLOSES:
        if (p->depth == 1 && !end_function(p))
            return false;
        close_scope(p);
        return true;
    case PTX_LABEL:
        GROW(p->label, p->labels, p->label_room);
        p->label[p->labels].ins = p->image->count;
        snprintf(p->label[p->labels++].name, sizeof p->label->name, "%s", p->scan.text);
        p->after_label = true;
        return true;
    case PTX_HEADER:
        if (!begin_function(p))
            return false;
        if (!p->in_function)
            close_scope(p);
        return true;
    case PTX_DECLARES:
        return declare_in(p);
    case PTX_INSTRUCTION:
        return take_instruction(p);
    default:
        return true;
    }
}

bool ptx_parse(struct ptx_image *image, const char *text, uint32_t number)
{
    struct parser p = {.image = image, .scan = {.at = text, .line = 1}, .text = number};
    enum ptx_statement statement;
    while ((statement = ptx_next(&p.scan)) != PTX_END && take_statement(&p, statement))
        continue;
    ptx_scan_end(&p.scan);
    free(p.symbol);
    free(p.label);
    free(p.wait);
    return !p.failed;
}
