// SPDX-License-Identifier: Apache-2.0
// Arguments of a launch from the command line: numbers, buffers that are generated, and buffers out of files.
#include "kernel/kernel.h"

#include "bind.h"
#include "memory.h"
#include "number.h"
#include "number_half.h"
#include "say.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_MAX = 1 << 30, TYPE_MAX = 128 };

// One parameter and what the command line says of it.
typedef struct subject {
    const slr_parameter *parameter;
    const char *type; // of an element, or of the value
    const char *value;
    uint32_t index;
} subject;

// ---- what is in a buffer -------------------------------------------------------------------------------------------

// Integers take the low bytes of `whole`, which come first on every machine that this runs on.
static void put(slr_scalar scalar, unsigned char *to, double real, uint64_t whole)
{
    float single = (float)real;
    uint16_t half = scalar == SLR_BF16 ? 0x7f80 : 0x7c00; // an infinity: of what is too large for a half
    if (scalar == SLR_F16 || scalar == SLR_BF16) {
        (void)number_to_half(scalar, real, &half);
        memcpy(to, &half, sizeof half);
    } else if (scalar == SLR_F64)
        memcpy(to, &real, sizeof real);
    else if (scalar == SLR_F32)
        memcpy(to, &single, sizeof single);
    else if (scalar == SLR_BOOL)
        *to = whole % 2;
    else
        memcpy(to, &whole, number_bytes(scalar));
}

static void fill_iota(const subject *s, unsigned char *to, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        put(s->parameter->scalar, to + i * s->parameter->element_bytes, (double)i, i);
}

// The same numbers each time: from 0 to below 1, or whole ones from 0 to 99.
static void fill_random(const subject *s, unsigned char *to, uint64_t count)
{
    uint64_t random = s->index + 1;
    for (uint64_t i = 0; i < count; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u; // Knuth's MMIX
        put(s->parameter->scalar, to + i * s->parameter->element_bytes, (double)(random >> 40) / (1 << 24),
            (random >> 33) % 100);
    }
}

static const struct fill {
    const char *name;
    void (*fill)(const subject *s, unsigned char *to, uint64_t count); // NULL: as it is made, zero
} fills[] = {{"zero", NULL}, {"none", NULL}, {"iota", fill_iota}, {"random", fill_random}};

static const struct fill *fill_named(const char *name)
{
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
        if (strcmp(fills[i].name, name) == 0)
            return &fills[i];
    return NULL;
}

// ---- buffers -------------------------------------------------------------------------------------------------------

static const struct alias {
    const char *name;
    slr_scalar scalar;
} aliases[] = {
    {"bool", SLR_BOOL},          {"char", SLR_I8},       {"unsigned char", SLR_U8},  {"short", SLR_I16},
    {"unsigned short", SLR_U16}, {"int", SLR_I32},       {"unsigned", SLR_U32},      {"unsigned int", SLR_U32},
    {"long", SLR_I64},           {"long long", SLR_I64}, {"unsigned long", SLR_U64}, {"unsigned long long", SLR_U64},
    {"float", SLR_F32},          {"double", SLR_F64},    {"half", SLR_F16},          {"__half", SLR_F16},
    {"__nv_bfloat16", SLR_BF16}};

static bool is_type(const subject *s, const char *name, size_t length)
{
    if (length == 0 || (strlen(s->type) == length && strncmp(s->type, name, length) == 0))
        return true;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strlen(aliases[i].name) == length && strncmp(aliases[i].name, name, length) == 0)
            return aliases[i].scalar == s->parameter->scalar;
    return false;
}

static int make_buffer(const subject *s, slr_device *device, const void *data, uint64_t count, slr_buffer **out)
{
    uint64_t bytes = count * s->parameter->element_bytes;
    if (device == NULL)
        return EXIT_DONE;
    slr_status status = slr_buffer_create(device, bytes, out);
    if (status == SLR_OK && data != NULL)
        status = slr_buffer_write(*out, 0, data, bytes);
    return status == SLR_OK ? EXIT_DONE : say_failure(status, s->parameter->name);
}

// `want` 0: as many elements as the file has.
static int take_file(const subject *s, slr_device *device, const char *path, uint64_t want, slr_buffer **out,
                     uint64_t *elements)
{
    unsigned char *data;
    size_t bytes;
    int end = bind_load("--arg", s->parameter, path, &data, &bytes);
    *elements = bytes / s->parameter->element_bytes;
    if (end == EXIT_DONE && want > 0 && want != *elements)
        end = say_usage("--arg %s: '%s' has %llu elements, not %llu", s->parameter->name, path,
                        (unsigned long long)*elements, (unsigned long long)want);
    if (end == EXIT_DONE)
        end = make_buffer(s, device, data, *elements, out);
    free(data);
    return end;
}

static int generate(const subject *s, slr_device *device, const struct fill *fill, uint64_t count, slr_buffer **out)
{
    if (fill->fill == NULL || device == NULL)
        return make_buffer(s, device, NULL, count, out);
    if (s->parameter->scalar == 0)
        return say_usage("--arg %s: elements of type %s can be 'zero' or come from a .bin file, not '%s'",
                         s->parameter->name, s->type, fill->name);
    unsigned char *data = memory_take(count, s->parameter->element_bytes);
    fill->fill(s, data, count);
    int end = make_buffer(s, device, data, count, out);
    free(data);
    return end;
}

// TYPE[COUNT], TYPE[COUNT]:FILL, TYPE[COUNT]:FILE, FILE, or NULL.
static int take_buffer(const subject *s, slr_device *device, slr_buffer **out, uint64_t *elements)
{
    if (strcmp(s->value, "NULL") == 0)
        return EXIT_DONE;
    const char *open = strchr(s->value, '['), *close = open != NULL ? strchr(open, ']') : NULL;
    if (close == NULL || (close[1] != '\0' && close[1] != ':'))
        return take_file(s, device, s->value, 0, out, elements);
    if (!is_type(s, s->value, (size_t)(open - s->value)))
        return say_usage("--arg %s: its elements are %s, not %.*s", s->parameter->name, s->type, (int)(open - s->value),
                         s->value);
    char text[32];
    uint64_t count;
    snprintf(text, sizeof text, "%.*s", (int)(close - open - 1), open + 1);
    if (!number_parse(SLR_U64, text, &count) || count == 0 || count > ELEMENTS_MAX)
        return say_usage("--arg %s: '%s' is not a count from 1 to %d", s->parameter->name, text, ELEMENTS_MAX);
    *elements = count;
    const char *contents = close[1] == ':' ? close + 2 : "zero";
    const struct fill *fill = fill_named(contents);
    return fill != NULL ? generate(s, device, fill, count, out) : take_file(s, device, contents, count, out, elements);
}

// ---- values --------------------------------------------------------------------------------------------------------

static int take_number(const subject *s, slr_arg *out)
{
    slr_scalar scalar = s->parameter->scalar;
    union {
        uint64_t bits;
        float single;
        double real;
    } value = {0};
    if (!number_parse(scalar, s->value, &value))
        return say_usage("--arg %s: '%s' is not %s", s->parameter->name, s->value, number_takes(scalar));
    unsigned unused = 64 - 8 * (unsigned)number_bytes(scalar);
    if (scalar == SLR_F32)
        *out = slr_arg_float((double)value.single);
    else if (scalar == SLR_F64)
        *out = slr_arg_float(value.real);
    else if (scalar == SLR_I8 || scalar == SLR_I16 || scalar == SLR_I32 || scalar == SLR_I64)
        *out = slr_arg_signed((int64_t)(value.bits << unused) >> unused);
    else
        *out = slr_arg_unsigned(value.bits);
    return EXIT_DONE;
}

static int take_struct(const subject *s, slr_arg *out, void **memory)
{
    unsigned char *data;
    size_t bytes;
    int end = bind_load("--arg", s->parameter, s->value, &data, &bytes);
    *memory = data;
    if (end == EXIT_DONE && bytes != s->parameter->element_bytes)
        end = say_usage("--arg %s: '%s' has %zu bytes, and %s has %llu", s->parameter->name, s->value, bytes, s->type,
                        (unsigned long long)s->parameter->element_bytes);
    *out = slr_arg_bytes(data, (uint32_t)bytes);
    return end;
}

// ---- all -----------------------------------------------------------------------------------------------------------

uint32_t kernel_find_parameter(const slr_function_info *kernel, const char *name, size_t length)
{
    for (uint32_t p = 0; p < kernel->parameter_count; p++)
        if (strlen(kernel->parameters[p].name) == length && strncmp(kernel->parameters[p].name, name, length) == 0)
            return p;
    return UINT32_MAX;
}

static int check_names(const slr_function_info *kernel, const run_list *given, const char **values)
{
    for (uint32_t i = 0; i < given->count; i++) {
        size_t length = strcspn(given->items[i], "=");
        if (given->items[i][length] != '=')
            return say_usage("--arg '%s': NAME=VALUE, NAME=TYPE[COUNT]:FILL or NAME=FILE is meant", given->items[i]);
        uint32_t p = kernel_find_parameter(kernel, given->items[i], length);
        if (p == UINT32_MAX)
            return say_usage(
                "--arg '%s': kernel %s has no parameter with that name; 'slipring kernel list' shows its parameters",
                given->items[i], kernel->name);
        values[p] = given->items[i] + length + 1;
    }
    return EXIT_DONE;
}

// "const float *" is a buffer of "float".
static const char *element_type(const slr_function_info *kernel, uint32_t index, char *to)
{
    const char *type = kernel->types[index];
    size_t length = strlen(type), skip = kernel->parameters[index].is_buffer && strncmp(type, "const ", 6) == 0 ? 6 : 0;
    if (kernel->parameters[index].is_buffer)
        length -= 2; // " *"
    snprintf(to, TYPE_MAX, "%.*s", (int)(length - skip), type + skip);
    return to;
}

static void say_missing(const slr_function_info *kernel, const subject *s)
{
    const char *name = s->parameter->name;
    if (s->parameter->is_buffer)
        say("kernel %s needs --arg '%s=%s[COUNT]:zero' (or iota, random, FILE), or --arg %s=FILE", kernel->name, name,
            s->type, name);
    else if (s->parameter->scalar == 0)
        say("kernel %s needs --arg %s=FILE.bin, the %llu bytes of a %s", kernel->name, name,
            (unsigned long long)s->parameter->element_bytes, s->type);
    else
        say("kernel %s needs --arg %s=VALUE (%s)", kernel->name, name, number_takes(s->parameter->scalar));
}

static int take(kernel_arguments *arguments, slr_device *device, const subject *s)
{
    uint32_t i = s->index;
    if (!s->parameter->is_buffer)
        return s->parameter->scalar != 0 ? take_number(s, &arguments->items[i])
                                         : take_struct(s, &arguments->items[i], &arguments->memory[i]);
    int end = take_buffer(s, device, &arguments->buffers[i], &arguments->elements[i]);
    arguments->items[i] = slr_arg_buffer(arguments->buffers[i]);
    return end;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

int kernel_arguments_make(kernel_arguments *arguments, slr_device *device, const slr_function_info *kernel,
                          const run_list *given, bool needs_all)
{
    uint32_t count = kernel->parameter_count;
    *arguments = (kernel_arguments){.count = count};
    arguments->items = memory_take(count + 1, sizeof *arguments->items);
    arguments->buffers = memory_take(count + 1, sizeof *arguments->buffers);
    arguments->elements = memory_take(count + 1, sizeof *arguments->elements);
    arguments->memory = memory_take(count + 1, sizeof *arguments->memory);
    arguments->is_given = memory_take(count + 1, sizeof *arguments->is_given);
    arguments->is_unset = memory_take(count + 1, sizeof *arguments->is_unset);
    const char **values = memory_take(count + 1, sizeof *values);
    int end = check_names(kernel, given, values);
    bool complete = true;
    for (uint32_t i = 0; i < count && end == EXIT_DONE; i++) {
        char type[TYPE_MAX];
        subject s = {&kernel->parameters[i], element_type(kernel, i, type), values[i], i};
        bool is_made = s.value != NULL && !needs_all && s.parameter->is_buffer && strcmp(s.value, "none") == 0;
        if (is_made)
            s.value = NULL;
        arguments->is_given[i] = s.value != NULL;
        arguments->is_unset[i] = is_made || (s.value != NULL && s.parameter->is_buffer && ends_with(s.value, ":none"));
        if (s.value == NULL && needs_all)
            say_missing(kernel, &s);
        else if (s.value != NULL && complete)
            end = take(arguments, device, &s);
        complete = complete && (s.value != NULL || !needs_all);
    }
    free(values);
    return end == EXIT_DONE && !complete ? EXIT_USAGE : end;
}

void kernel_arguments_free(kernel_arguments *arguments)
{
    for (uint32_t i = 0; i < arguments->count; i++) {
        slr_buffer_destroy(arguments->buffers[i]);
        free(arguments->memory[i]);
    }
    free(arguments->items);
    free(arguments->buffers);
    free(arguments->elements);
    free(arguments->memory);
    free(arguments->is_given);
    free(arguments->is_unset);
}
