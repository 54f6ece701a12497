// SPDX-License-Identifier: Apache-2.0
// Reading the line of a kernel case.
#include "kernel_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cts_type types[] = {
    {"i8", 1, 'i'},  {"u8", 1, 'u'},  {"i16", 2, 'i'}, {"u16", 2, 'u'}, {"i32", 4, 'i'}, {"u32", 4, 'u'},
    {"i64", 8, 'i'}, {"u64", 8, 'u'}, {"f16", 2, 'f'}, {"f32", 4, 'f'}, {"f64", 8, 'f'},
};

static const cts_type *find_type(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, text, length) == 0)
            return &types[i];
    return NULL;
}

static bool take_shape(const char *text, uint32_t out[3])
{
    char *end = NULL;
    for (int i = 0; i < 3; i++) {
        out[i] = (uint32_t)strtoul(text, &end, 10);
        if (*end != 'x')
            return *end == '\0' && out[i] > 0;
        text = end + 1;
    }
    return false;
}

static uint32_t take_values(const char *text, double *out)
{
    uint32_t count = 0;
    for (char *end = NULL; count < CTS_VALUES; text = end + 1) {
        out[count] = strtod(text, &end);
        if (end == text)
            return 0;
        count++;
        if (*end != ',')
            return *end == '\0' ? count : 0;
    }
    return 0;
}

static bool take_argument(const char *text, cts_launch *out)
{
    const char *type = strchr(text, ':') + 1, *value = strchr(text, '=');
    if (out->args == CTS_ARGS || (size_t)(type - text) > sizeof out->arg->name)
        return false;
    cts_argument *made = &out->arg[out->args++];
    memcpy(made->name, text, (size_t)(type - text) - 1);
    size_t length = strcspn(type, "[=");
    made->type = find_type(type, length);
    if (type[length] == '[') {
        made->count = (uint32_t)strtoul(type + length + 1, NULL, 10);
        snprintf(made->fill, sizeof made->fill, "%s", value ? value + 1 : "zero");
        return made->type && made->count > 0;
    }
    made->values = value ? take_values(value + 1, made->value) : 0;
    return made->type && made->values > 0;
}

static bool take_expectation(const char *text, size_t name, cts_launch *out)
{
    for (uint32_t i = 0; i < out->args; i++)
        if (strlen(out->arg[i].name) == name && memcmp(out->arg[i].name, text, name) == 0) {
            out->arg[i].expects = take_values(text + name + 2, out->arg[i].expected);
            return out->arg[i].expects > 0;
        }
    return false;
}

static bool take_word(const char *word, cts_launch *out)
{
    const char *same = strstr(word, "==");
    if (same)
        return take_expectation(word, (size_t)(same - word), out);
    if (strchr(word, ':'))
        return take_argument(word, out);
    if (strncmp(word, "grid=", 5) == 0)
        return take_shape(word + 5, out->grid);
    if (strncmp(word, "block=", 6) == 0)
        return take_shape(word + 6, out->block);
    if (strncmp(word, "shared=", 7) == 0)
        return sscanf(word + 7, "%u", &out->shared_bytes) == 1;
    if (strncmp(word, "times=", 6) == 0)
        return sscanf(word + 6, "%u", &out->times) == 1;
    if (strncmp(word, "ulp=", 4) == 0) {
        out->is_bounded = true;
        return sscanf(word + 4, "%" SCNu64, &out->ulp) == 1;
    }
    if (strncmp(word, "abs=", 4) == 0) {
        out->is_bounded = true;
        return sscanf(word + 4, "%lf", &out->off) == 1;
    }
    out->faults = strcmp(word, "ends=FAULT") == 0;
    return out->faults;
}

// The words up to the end of the line, and of those that go on with it.
void cts_parse_launch(cts *c, cts_launch *out)
{
    const char *at = c->what->line;
    *out = (cts_launch){.grid = {1, 1, 1}, .block = {1, 1, 1}, .times = 1};
    for (;;) {
        char word[128];
        at += strspn(at, " ");
        if (strncmp(at, "\n//:  ", 6) == 0) {
            at += 6;
            continue;
        }
        size_t length = strcspn(at, " \n");
        if (length == 0)
            return;
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (strcmp(word, ":") != 0 && (length >= sizeof word || !take_word(word, out)))
            cts_leave(c, CTS_FAILED, "the case's line is not understood at '%s'", word);
        at += length;
    }
}
