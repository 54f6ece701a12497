// SPDX-License-Identifier: Apache-2.0
// vprintf(format, arguments): what printf of a kernel becomes. An argument takes its own alignment.
#include "tests/ptx/inside.h"

#include <stdio.h>
#include <string.h>

struct pieces {
    struct ptx_lane *lane;
    uintptr_t format, argument;
};

static char next_char(struct pieces *p)
{
    char c;
    ptx_read_bytes(p->lane, p->format, &c, 1);
    p->format += c != '\0';
    return c;
}

static uint64_t next_argument(struct pieces *p, unsigned bytes)
{
    uint64_t value = 0;
    p->argument = (p->argument + bytes - 1) / bytes * bytes;
    ptx_read_bytes(p->lane, p->argument, &value, bytes);
    p->argument += bytes;
    return value;
}

static void print_string(struct pieces *p, const char *specifier)
{
    struct pieces text = {p->lane, next_argument(p, 8), 0};
    char word[256];
    unsigned used = 0;
    while (used < sizeof word - 1 && (word[used] = next_char(&text)) != '\0')
        ++used;
    word[used] = '\0';
    printf(specifier, word);
}

// From behind the % to behind the conversion.
static void print_one(struct pieces *p)
{
    char specifier[32] = "%";
    unsigned used = 1, longs = 0;
    char c;
    while ((c = next_char(p)) != '\0' && !strchr("diuoxXcsfFeEgGaAp%", c) && used < 24) {
        longs += c == 'l' || c == 'z' || c == 'j';
        if (!strchr("lhzj", c))
            specifier[used++] = c;
    }
    if (c == 's' || c == '%') {
        specifier[used] = c;
        c == 's' ? print_string(p, specifier) : (void)putchar('%');
    } else if (c != '\0' && strchr("fFeEgGaA", c)) {
        uint64_t bits = next_argument(p, 8);
        double value;
        memcpy(&value, &bits, sizeof value);
        specifier[used] = c;
        printf(specifier, value);
    } else if (c == 'c') {
        specifier[used] = c;
        printf(specifier, (int)next_argument(p, 4));
    } else if (c != '\0') {
        bool is_signed = c == 'd' || c == 'i', is_wide = longs != 0 || c == 'p';
        uint64_t value = next_argument(p, is_wide ? 8 : 4);
        strcpy(specifier + used, c == 'p' ? "llx" : "ll ");
        if (c != 'p')
            specifier[used + 2] = c;
        printf(specifier,
               is_signed && !is_wide ? (unsigned long long)(int64_t)(int32_t)value : (unsigned long long)value);
    }
}

void ptx_print(struct ptx_lane *lane, const struct ptx_call *call)
{
    uint64_t argument[2];
    char c;
    for (unsigned i = 0; i < 2; ++i)
        memcpy(&argument[i], lane->frame + call->argument[i].at, 8);
    struct pieces p = {lane, argument[0], argument[1]};
    while ((c = next_char(&p)) != '\0')
        c == '%' ? print_one(&p) : (void)putchar(c);
    memset(lane->frame + call->result.at, 0, call->result.bytes);
}
