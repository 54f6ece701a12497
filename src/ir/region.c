// SPDX-License-Identifier: Apache-2.0
// Memory that is freed all at once: chunks handed out from front to back.
#include "ir/ir.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 16u
#define CHUNK_BYTES 65536u

struct chunk {
    _Alignas(ALIGNMENT) struct chunk *next;
    size_t used, room; // of the bytes behind this header
};

struct slri_region {
    struct chunk *chunk; // the one being filled, then the full ones
};

struct slri_region *slri_region_create(void)
{
    return calloc(1, sizeof(struct slri_region));
}

static struct chunk *chunk_create(size_t bytes)
{
    size_t room = bytes < CHUNK_BYTES ? CHUNK_BYTES : bytes;
    struct chunk *chunk = calloc(1, sizeof *chunk + room); // zeroed once, here: nothing is handed out twice
    if (chunk)
        chunk->room = room;
    return chunk;
}

// A request larger than a chunk goes behind the one being filled, whose rest stays in use.
static bool add_chunk(struct slri_region *region, size_t bytes, struct chunk **out)
{
    struct chunk *chunk = chunk_create(bytes);
    if (!chunk)
        return false;
    if (bytes > CHUNK_BYTES && region->chunk) {
        chunk->next = region->chunk->next;
        region->chunk->next = chunk;
    } else {
        chunk->next = region->chunk;
        region->chunk = chunk;
    }
    *out = chunk;
    return true;
}

void *slri_region_take(struct slri_region *region, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct chunk *chunk = region->chunk;
    if ((!chunk || chunk->room - chunk->used < rounded) && !add_chunk(region, rounded, &chunk))
        return NULL;
    unsigned char *memory = (unsigned char *)(chunk + 1) + chunk->used;
    chunk->used += rounded;
    return memory;
}

const char *slri_region_text(struct slri_region *region, const char *text, size_t length)
{
    char *copy = length < SIZE_MAX ? slri_region_take(region, length + 1) : NULL;
    if (copy && length)
        memcpy(copy, text, length);
    return copy;
}

void slri_region_destroy(struct slri_region *region)
{
    if (!region)
        return;
    for (struct chunk *chunk = region->chunk, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(region);
}
