// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <stdio.h>
#include <string.h>

void names_add(char *to, size_t bytes, const char *name)
{
    size_t length = strlen(to);
    if (length + strlen(name) + 8 < bytes)
        snprintf(to + length, bytes - length, "%s%s", length > 0 ? ", " : "", name);
    else if (length + 6 < bytes && (length < 3 || strcmp(to + length - 3, "...") != 0))
        snprintf(to + length, bytes - length, "%s...", length > 0 ? ", " : "");
}
