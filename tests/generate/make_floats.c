// SPDX-License-Identifier: Apache-2.0
// The same program without a double, for languages that have none: its doubles are floats, those of a message, a state
// and a reply are integers of their size, and functions that only such a language makes of others are others.
#include "maker.h"

#include <ctype.h>
#include <string.h>

static const char *const words[][2] = {{"double", "float"},   {"double2", "float2"}, {"sqrt", "sqrtf"},
                                       {"floor", "floorf"},   {"ceil", "ceilf"},     {"fmin", "fminf"},
                                       {"fmax", "fmaxf"},     {"exp", "expf"},       {"nextafter", "nextafterf"},
                                       {"normcdff", "fabsf"}, {"lgammaf", "truncf"}, {"tgamma", "rintf"},
                                       {"rhypotf", "fminf"}};

static void put_word(slri_text *out, const char *word, size_t length, bool in_struct)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i][0]) == length && strncmp(word, words[i][0], length) == 0) {
            slri_text_puts(out, i == 0 && in_struct ? "long long" : words[i][1]);
            return;
        }
    slri_text_append(out, word, length);
}

// "2.0" is a double.
static void put_number(slri_text *out, const char *number, size_t length)
{
    bool is_hex = length > 1 && number[1] == 'x';
    slri_text_append(out, number, length);
    if (!is_hex && memchr(number, '.', length) && number[length - 1] != 'f')
        slri_text_puts(out, "f");
}

// Of the host's layout.
static bool begins_message(const char *line)
{
    static const char *const names[] = {"struct in_", "struct state_", "struct reply_"};
    for (int i = 0; i < 3; i++)
        if (strncmp(line, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

void make_floats(program *of)
{
    slri_text made = SLRI_TEXT_INIT;
    bool in_struct = false;
    for (const char *at = slri_text_view(&of->text); *at;) {
        size_t length = 1;
        in_struct = (in_struct || begins_message(at)) && *at != '}';
        if (isdigit((unsigned char)*at)) {
            while (isalnum((unsigned char)at[length]) || at[length] == '.' ||
                   ((at[length] == '-' || at[length] == '+') && at[length - 1] == 'e' && at[1] != 'x'))
                length++;
            put_number(&made, at, length);
        } else if (isalpha((unsigned char)*at) || *at == '_') {
            while (isalnum((unsigned char)at[length]) || at[length] == '_')
                length++;
            put_word(&made, at, length, in_struct);
        } else {
            slri_text_append(&made, at, 1);
        }
        at += length;
    }
    slri_text_free(&of->text);
    of->text = made;
}
