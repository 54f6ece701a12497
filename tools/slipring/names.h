// SPDX-License-Identifier: Apache-2.0
#ifndef NAMES_H
#define NAMES_H

#include <stddef.h>

/// Adds a name to a list for people, "a, b", within `bytes`; what does not fit becomes an ellipsis.
void names_add(char *to, size_t bytes, const char *name);

#endif
