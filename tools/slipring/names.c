// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 63 }; // of a name that is compared

void names_add(char *to, size_t bytes, const char *name)
{
    size_t length = strlen(to);
    if (length + strlen(name) + 8 < bytes)
        snprintf(to + length, bytes - length, "%s%s", length > 0 ? ", " : "", name);
    else if (length + 6 < bytes && (length < 3 || strcmp(to + length - 3, "...") != 0))
        snprintf(to + length, bytes - length, "%s...", length > 0 ? ", " : "");
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

// How many letters must be put in, taken out, exchanged or swapped with their neighbour: the distance of Damerau
// (CACM 7, 1964), where no letter is changed twice.
static size_t distance(const char *a, const char *b)
{
    size_t long_a = strlen(a), long_b = strlen(b), rows[3][LONGEST + 1];
    if (long_a > LONGEST || long_b > LONGEST)
        return SIZE_MAX;
    for (size_t i = 0; i <= long_a; i++) {
        size_t *row = rows[i % 3], *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= long_b; j++) {
            if (i == 0) {
                row[j] = j;
                continue;
            }
            row[j] = least(least(row[j - 1], before[j]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], two_before[j - 2] + 1);
        }
    }
    return rows[long_a % 3][long_b];
}

const char *names_nearest(const char *word, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t best = strlen(word) < 6 ? 1 : strlen(word) / 3; // a third of the word may be wrong, and one letter always
    for (size_t i = 0; i < count; i++) {
        const char *name = names[i];
        bool may_be = *name != '\0' && *word != '\0' && (*word == name[0] || *word == name[1]);
        if (!may_be) // few mistake the beginning: gpu is no cpu
            continue;
        size_t away = distance(word, names[i]);
        if (away < best || (away == best && nearest == NULL)) {
            best = away;
            nearest = names[i];
        }
    }
    return nearest;
}

void names_guess(char *to, size_t bytes, const char *word, const char *has, const char *const *names, size_t count)
{
    const char *nearest = names_nearest(word, names, count);
    char list[NAMES_GUESS_BYTES - 128] = "";
    for (size_t i = 0; i < count; i++)
        names_add(list, sizeof list, names[i]);
    if (count == 0)
        *to = '\0';
    else if (nearest != NULL)
        snprintf(to, bytes, "; %s: %s; did you mean '%.63s'?", has, list, nearest);
    else
        snprintf(to, bytes, "; %s: %s", has, list);
}
