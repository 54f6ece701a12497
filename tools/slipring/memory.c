// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include "say.h"
#include "verbs.h"

#include <stdint.h>
#include <stdlib.h>

static void *or_end(void *memory, size_t count, size_t bytes)
{
    if (memory != NULL)
        return memory;
    say("out of memory: %zu times %zu bytes asked", count, bytes);
    exit(EXIT_FAILED);
}

void *memory_take(size_t count, size_t bytes)
{
    return or_end(calloc(count > 0 ? count : 1, bytes > 0 ? bytes : 1), count, bytes);
}

void *memory_grow(void *memory, size_t count, size_t bytes)
{
    void *grown = count <= SIZE_MAX / bytes ? realloc(memory, count * bytes) : NULL;
    return or_end(grown, count, bytes);
}
