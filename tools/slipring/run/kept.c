// SPDX-License-Identifier: Apache-2.0
// A text is its length, doubled, plus 1 for JSON that is no string; then its bytes.
#include "run/kept.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_MESSAGES = 1024, FULL_MESSAGES = 1 << 16, FULL_BYTES = 1 << 24 };

static void append(kept_row *row, const void *from, size_t bytes)
{
    if (row->used + bytes > row->capacity) {
        row->capacity = 2 * (row->used + bytes);
        row->bytes = memory_grow(row->bytes, row->capacity, 1);
    }
    memcpy(row->bytes + row->used, from, bytes);
    row->used += bytes;
}

void kept_row_clear(kept_row *row)
{
    row->used = 0;
}

void kept_row_add(kept_row *row, key_text text)
{
    uint32_t head = (uint32_t)text.bytes * 2 + text.is_number; // a record has INTAKE_MAX bytes at most
    append(row, &head, sizeof head);
    append(row, text.text, text.bytes);
}

void kept_row_free(kept_row *row)
{
    free(row->bytes);
    *row = (kept_row){0};
}

void kept_open(kept *kept, uint32_t parts)
{
    *kept = (struct kept){.parts = parts, .capacity = FIRST_MESSAGES};
    kept->at = memory_take(kept->capacity, sizeof *kept->at);
}

void kept_close(kept *kept)
{
    free(kept->at);
    kept_row_free(&kept->texts);
}

void kept_add(kept *kept, const kept_row *row)
{
    if (kept->count == kept->capacity) {
        kept->capacity *= 2;
        kept->at = memory_grow(kept->at, kept->capacity, sizeof *kept->at);
    }
    kept->at[kept->count++] = kept->texts.used;
    append(&kept->texts, row->bytes, row->used);
}

void kept_get(const kept *kept, uint64_t number, key_text *out)
{
    const char *from = kept->texts.bytes + kept->at[number - kept->first];
    for (uint32_t i = 0; i < kept->parts; i++) {
        uint32_t head;
        memcpy(&head, from, sizeof head);
        out[i] = (key_text){from + sizeof head, head / 2, head & 1};
        from += sizeof head + head / 2;
    }
}

bool kept_is_full(const kept *kept)
{
    return kept->count >= FULL_MESSAGES || kept->texts.used >= FULL_BYTES;
}

void kept_clear(kept *kept, uint64_t next)
{
    kept->first = next;
    kept->count = 0;
    kept_row_clear(&kept->texts);
}
