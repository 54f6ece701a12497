// SPDX-License-Identifier: Apache-2.0
// Names with `*` for any characters, and `?` for one.
#include "cts.h"

bool cts_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *tried = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            tried = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++tried;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
