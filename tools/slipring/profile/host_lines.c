// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "profile/host_lines.h"

#include "memory.h"
#include "profile/line_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of one file with machine code, the one asked about last.
typedef struct opened {
    char *path;
    line_table *table; // NULL: it has no lines
} opened;

static const opened *open_table(opened *kept, const char *path)
{
    if (kept->path != NULL && strcmp(kept->path, path) == 0)
        return kept;
    free(kept->path);
    line_table_free(kept->table);
    *kept = (opened){strdup(path), line_table_open(path)};
    return kept;
}

static void close_table(opened *kept)
{
    free(kept->path);
    line_table_free(kept->table);
}

static host_line *line_of(host_lines *all, const char *file, uint32_t line, uint64_t offset)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->lines[i].line == line && all->lines[i].offset == offset && strcmp(all->lines[i].file, file) == 0)
            return &all->lines[i];
    all->lines = memory_grow(all->lines, all->count + 1, sizeof *all->lines);
    all->lines[all->count] = (host_line){.file = strdup(file), .line = line, .offset = offset};
    return &all->lines[all->count++];
}

static void add_row(host_line *line, const slr_profile_row *row)
{
    if (strcmp(row->name, "launch") == 0 || strcmp(row->name, "recorded launch") == 0) {
        line->launches += row->n;
        line->kernels_ns += row->total_ns;
    } else if (strcmp(row->name, "wait") == 0) {
        line->waits += row->n;
        line->waits_ns += row->total_ns;
    } else if (strcmp(row->name, "allocation") == 0) {
        line->allocations += row->n;
        line->allocated_bytes += row->bytes;
    } else {
        line->copies += row->n;
        line->copied_bytes += row->bytes;
        line->copies_ns += row->total_ns;
    }
}

uint64_t host_line_ns(const host_line *line)
{
    return line->kernels_ns + line->copies_ns + line->waits_ns;
}

static int by_falling_time(const void *a, const void *b)
{
    uint64_t x = host_line_ns(a), y = host_line_ns(b);
    return (x < y) - (x > y);
}

void host_lines_make(const slr_profile_row *rows, size_t count, host_lines *out)
{
    opened kept = {0};
    *out = (host_lines){0};
    for (size_t i = 0; i < count; i++) {
        const slr_profile_row *row = &rows[i];
        const char *file = row->file;
        uint32_t line = row->lines[0].line;
        if (row->kind != SLR_PROFILE_CALLER || *file == '\0')
            continue;
        const opened *code = row->offset != 0 ? open_table(&kept, row->file) : NULL;
        if (code != NULL && code->table != NULL)
            line = line_table_find_loaded(code->table, row->offset, &file);
        add_row(line_of(out, line != 0 ? file : row->file, line, line != 0 ? 0 : row->offset), row);
    }
    close_table(&kept);
    if (out->count > 1)
        qsort(out->lines, out->count, sizeof *out->lines, by_falling_time);
}

void host_lines_free(host_lines *of)
{
    for (size_t i = 0; i < of->count; i++)
        free(of->lines[i].file);
    free(of->lines);
}

uint32_t host_lines_find(uint64_t offset, char *file, size_t bytes)
{
    const char *source;
    line_table *table = line_table_open(file);
    uint32_t line = table != NULL ? line_table_find_loaded(table, offset, &source) : 0;
    if (line != 0)
        snprintf(file, bytes, "%s", source);
    line_table_free(table);
    return line;
}
