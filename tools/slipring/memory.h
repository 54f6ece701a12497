// SPDX-License-Identifier: Apache-2.0
/// Memory for a command: given, or the command ends with a message. (The library never ends a program; this is one.)
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

/// `count` elements of `bytes` bytes each, zeroed, to free().
void *memory_take(size_t count, size_t bytes);

/// Makes what memory_take gave larger. The new part is not zeroed.
void *memory_grow(void *memory, size_t count, size_t bytes);

#endif
