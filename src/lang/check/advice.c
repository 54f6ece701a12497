// SPDX-License-Identifier: Apache-2.0
// The nearest name, and what stands for a function of the host in a handler.
#include "lang/check/advice.h"
#include "lang/check/check.h"
#include "ir/math/functions.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

// ---- the nearest name ----------------------------------------------------------------------------------------------

#define LONGEST 40 // of names that are compared

struct nearest {
    const char *name, *best;
    uint32_t distance;
};

// Letters put in, left out, taken for another, or exchanged with the next (Damerau, "optimal string alignment").
static uint32_t distance_of(const char *a, const char *b)
{
    uint32_t row[3][LONGEST + 1], *before = row[0], *last = row[1], *now = row[2];
    size_t length = strlen(b);
    for (uint32_t k = 0; k <= length; k++)
        last[k] = k;
    for (uint32_t i = 1; a[i - 1]; i++) {
        now[0] = i;
        for (uint32_t k = 1; k <= length; k++) {
            uint32_t best = last[k - 1] + (a[i - 1] != b[k - 1]);
            best = last[k] + 1 < best ? last[k] + 1 : best;
            best = now[k - 1] + 1 < best ? now[k - 1] + 1 : best;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] && before[k - 2] + 1 < best)
                best = before[k - 2] + 1;
            now[k] = best;
        }
        uint32_t *spare = before;
        before = last, last = now, now = spare;
    }
    return last[length];
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_same_but_for_case(const char *a, const char *b)
{
    for (; *a && lower(*a) == lower(*b); a++, b++)
        continue;
    return lower(*a) == lower(*b);
}

static void consider(struct nearest *n, const char *candidate)
{
    if (!candidate || !*candidate || strlen(candidate) > LONGEST || strlen(n->name) > LONGEST ||
        strncmp(candidate, "__slri", 6) == 0 || strcmp(candidate, n->name) == 0)
        return;
    uint32_t distance = is_same_but_for_case(n->name, candidate) ? 1 : distance_of(n->name, candidate);
    if (distance >= n->distance)
        return;
    n->distance = distance;
    n->best = candidate;
}

// A letter in three or four may be wrong, two in more.
static struct nearest begin(const char *name)
{
    size_t length = strlen(name);
    return (struct nearest){.name = name, .distance = length < 3 ? 0 : length < 5 ? 2 : 3};
}

static const char *meant(struct slri_unit *unit, const struct nearest *n)
{
    return n->best ? slri_unit_format(unit, "did you mean '%s'?", n->best) : NULL;
}

static const char *const own_functions[] = {"ring_reply",
                                            "ring_reply_to",
                                            "ring_send",
                                            "ring_send_at",
                                            "ring_instance",
                                            "printf",
                                            "assert",
                                            "__trap",
                                            "__syncthreads",
                                            "__syncthreads_count",
                                            "__syncthreads_and",
                                            "__syncthreads_or",
                                            "__threadfence",
                                            "__threadfence_block",
                                            "__threadfence_system",
                                            "atomicAdd",
                                            "atomicSub",
                                            "atomicAnd",
                                            "atomicOr",
                                            "atomicXor",
                                            "atomicMin",
                                            "atomicMax",
                                            "atomicExch",
                                            "atomicInc",
                                            "atomicDec",
                                            "atomicCAS",
                                            "__ldg"};

static bool is_math(const char *name)
{
    for (uint32_t i = 0; i < SLRI_MATH_COUNT; i++)
        if (strcmp(slri_math_functions[i].name, name) == 0)
            return true;
    return false;
}

static void consider_functions(struct slri_unit *unit, struct nearest *n)
{
    for (const struct slri_symbol *at = unit->scope; at; at = at->in_scope)
        if (at->kind == SLRI_SYMBOL_FUNCTION && !at->func->is_ring && !at->func->is_kernel)
            consider(n, at->name);
    for (size_t i = 0; i < COUNT(own_functions); i++)
        consider(n, own_functions[i]);
    for (uint32_t i = 0; i < SLRI_WARP_COUNT; i++)
        consider(n, slri_warp_functions[i].name);
    for (uint32_t i = 0; i < SLRI_MATH_COUNT; i++)
        consider(n, slri_math_functions[i].name);
}

// ---- functions -----------------------------------------------------------------------------------------------------

static const struct {
    const char *name, *advice;
} of_host[] = {
    {"memcpy", "assign the value, *to = *from, or copy the elements in a loop"},
    {"memmove", "assign the value, *to = *from, or copy the elements in a loop"},
    {"memset", "assign zeros, *to = (struct name){0}, or set the elements in a loop"},
    {"fprintf", "write printf(\"...\", numbers): the output goes to slr_device_desc.on_print"},
    {"puts", "write printf(\"...\\n\")"},
    {"putchar", "write printf(\"%c\", c)"},
    {"rand", "keep a generator in the state: self->random = self->random * 1664525u + 1013904223u"},
    {"random", "keep a generator in the state: self->random = self->random * 1664525u + 1013904223u"},
    {"srand", "keep a generator in the state, and give its seed with slr_ring_desc.initial_state or a message"},
    {"time", "send the time in the message: a handler has no clock"},
    {"clock", "send the time in the message: a handler has no clock"},
    {"gettimeofday", "send the time in the message: a handler has no clock"},
    {"clock_gettime", "send the time in the message: a handler has no clock"},
    {"sleep", "return: a handler runs for each message and never waits"},
    {"usleep", "return: a handler runs for each message and never waits"},
    {"exit", "write assert(condition) or __trap(), which fault the message"},
    {"abort", "write assert(condition) or __trap(), which fault the message"},
    {"fopen", "send the data in messages, or bind a buffer: a handler has no files"},
    {"fread", "send the data in messages, or bind a buffer: a handler has no files"},
    {"fwrite", "reply with the data, and let the host write it: a handler has no files"},
    {"scanf", "send the data in messages: a handler has no input"},
    {"strlen", "store the length with the text, and loop over its characters"},
    {"strcmp", "compare the characters in a loop"},
    {"strcpy", "copy the characters in a loop"},
    {"cudaMalloc", "create the buffer on the host, and pass it as a parameter"},
    {"cudaMemcpy", "copy on the host side, in a stream"},
    {"slr_send",
     "write ring_send(outlet, &message), with ring_to(struct message) outlet as a parameter of the handler"},
    {"slr_reply", "write ring_reply(&answer)"},
};

const char *slri_advise_function(struct slri_unit *unit, const char *name)
{
    for (size_t i = 0; i < COUNT(of_host); i++)
        if (strcmp(of_host[i].name, name) == 0)
            return of_host[i].advice;
    struct nearest n = begin(name);
    consider_functions(unit, &n);
    return meant(unit, &n);
}

const char *slri_advise_std(struct slri_unit *unit, const char *name)
{
    static const char *const containers[] = {"vector",        "array", "string", "map",
                                             "unordered_map", "deque", "list",   "set"};
    if (strcmp(name, "cout") == 0 || strcmp(name, "cerr") == 0)
        return "write printf(\"...\", numbers)";
    if (is_math(name))
        return slri_unit_format(unit, "write %s(...), without std::", name);
    for (size_t i = 0; i < COUNT(containers); i++)
        if (strcmp(name, containers[i]) == 0)
            return "use an array of fixed size in the state or on the stack, or a buffer from the host";
    return NULL;
}

// ---- names ---------------------------------------------------------------------------------------------------------

// Of which header a name is that others forget to include; NULL: of none.
static const char *header_of(const char *name)
{
    static const struct {
        const char *name, *header;
    } macros[] = {{"INT_MAX", "limits.h"},    {"INT_MIN", "limits.h"},    {"UINT_MAX", "limits.h"},
                  {"LONG_MAX", "limits.h"},   {"CHAR_BIT", "limits.h"},   {"FLT_MAX", "float.h"},
                  {"FLT_MIN", "float.h"},     {"FLT_EPSILON", "float.h"}, {"DBL_MAX", "float.h"},
                  {"DBL_EPSILON", "float.h"}, {"INFINITY", "math.h"},     {"NAN", "math.h"},
                  {"M_PI", "math.h"},         {"INT32_MAX", "stdint.h"},  {"UINT32_MAX", "stdint.h"},
                  {"INT64_MAX", "stdint.h"},  {"UINT64_MAX", "stdint.h"}};
    for (size_t i = 0; i < COUNT(macros); i++)
        if (strcmp(macros[i].name, name) == 0)
            return macros[i].header;
    return NULL;
}

static bool is_in_handler(const struct slri_unit *unit)
{
    return unit->function && unit->function->is_ring;
}

const char *slri_advise_name(struct slri_unit *unit, const char *name)
{
    static const char *const places[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "true", "false"};
    const char *header = header_of(name);
    if (header)
        return slri_unit_format(unit, "write #include <%s> at the top of the file", header);
    if (is_in_handler(unit) && (strcmp(name, "self") == 0 || strcmp(name, "state") == 0) &&
        !slri_handler_has_state(unit->function))
        return slri_unit_format(unit,
                                "declare the state as the first parameter: void %s(struct state *%s, const struct ...)",
                                unit->function->name, name);
    struct nearest n = begin(name);
    for (const struct slri_symbol *at = unit->scope; at; at = at->in_scope)
        if (at->kind != SLRI_SYMBOL_FUNCTION && at->kind != SLRI_SYMBOL_TAG && at->kind != SLRI_SYMBOL_TYPEDEF &&
            at->kind != SLRI_SYMBOL_LEFT_OUT)
            consider(&n, at->name);
    for (size_t i = 0; i < COUNT(places); i++)
        consider(&n, places[i]);
    return meant(unit, &n);
}

const char *slri_advise_type(struct slri_unit *unit, const char *name)
{
    static const char *const types[] = {"int",      "float",   "double",  "char",     "short",     "long",
                                        "unsigned", "void",    "bool",    "uint8_t",  "int8_t",    "uint16_t",
                                        "int16_t",  "int32_t", "int64_t", "uint32_t", "uint64_t",  "size_t",
                                        "const",    "struct",  "static",  "return",   "__shared__"};
    struct nearest n = begin(name);
    if (strcmp(name, "ring") == 0 || strcmp(name, "__ring") == 0)
        return "write __ring__";
    for (const struct slri_symbol *at = unit->scope; at; at = at->in_scope)
        if (at->kind == SLRI_SYMBOL_TYPEDEF || at->kind == SLRI_SYMBOL_TAG)
            consider(&n, at->name);
    for (size_t i = 0; i < COUNT(types); i++)
        consider(&n, types[i]);
    return meant(unit, &n);
}

const char *slri_advise_member(struct slri_unit *unit, const struct slri_type *type, const char *name)
{
    struct nearest n = begin(name);
    if (type->kind == SLRI_POINTER && type->of->kind == SLRI_STRUCT)
        return slri_unit_format(unit, "write ->%s: the left side is a pointer", name);
    for (uint32_t i = 0; type->kind == SLRI_STRUCT && i < type->fields; i++)
        consider(&n, type->field[i].name);
    return meant(unit, &n);
}

// ---- what was left out ---------------------------------------------------------------------------------------------

const char *slri_advise_left_out(struct slri_unit *unit, const struct slri_symbol *symbol)
{
    if (symbol->left_out_code == SLRI_K_HOST_CODE)
        return slri_unit_format(
            unit, "write __device__ in front of '%s' in line %u: handlers and kernels cannot call host functions",
            symbol->name, symbol->where.line);
    if (symbol->left_out_code != SLRI_K_GLOBAL_VARIABLE)
        return NULL;
    if (is_in_handler(unit))
        return slri_unit_format(unit,
                                "keep '%s' in the state, the handler's first parameter (struct state *self): self->%s; "
                                "or make it a parameter after the message",
                                symbol->name, symbol->name);
    return slri_unit_format(unit,
                            "take '%s' as a parameter, or write __device__ or __constant__ in front of it in line %u",
                            symbol->name, symbol->where.line);
}

// ---- a handler's message -------------------------------------------------------------------------------------------

const char *slri_advise_message(struct slri_unit *unit, const struct slri_symbol *param)
{
    const struct slri_type *type = param->type;
    const struct slri_type *of = type->kind == SLRI_POINTER ? type->of : type;
    const char *name = param->name ? param->name : "in";
    if (of->kind == SLRI_STRUCT && !slri_type_is_complete(of)) {
        struct nearest n = begin(of->name);
        for (const struct slri_symbol *at = unit->scope; at; at = at->in_scope)
            if (at->kind == SLRI_SYMBOL_TAG)
                consider(&n, at->name);
        return n.best ? meant(unit, &n) : slri_unit_format(unit, "define struct %s above the handler", of->name);
    }
    if (of->kind == SLRI_STRUCT && of->name && *of->name)
        return slri_unit_format(unit, "write const struct %s *%s: a message is a pointer to a const struct", of->name,
                                name);
    if (slri_type_is_scalar(of))
        return slri_unit_format(unit,
                                "write struct message { %s value; }; and const struct message *%s: a message is a "
                                "pointer to a const struct",
                                slri_unit_spell(unit, of), name);
    return NULL;
}

const char *slri_advise_state(struct slri_unit *unit, const struct slri_symbol *param)
{
    const struct slri_type *of = param->type->of;
    const char *name = param->name ? param->name : "self";
    if (!slri_type_is_scalar(of))
        return slri_advise_message(unit, param); // a struct that is missing, or misspelt
    return slri_unit_format(
        unit, "write struct state { %s value; }; and struct state *%s: the state is a pointer to a struct",
        slri_unit_spell(unit, of), name);
}
