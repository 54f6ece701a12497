// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "profile/timed_lines.h"

#include "memory.h"
#include "profile/line_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct opened { // a file with code, once
    uint64_t inode;
    const char *path;
    line_table *table; // NULL: it has none
    bool is_gone;
} opened;

typedef struct making {
    const sampling *from;
    timed_lines *out;
    opened *files;
    size_t file_count;
} making;

static bool is_file(const char *path, uint64_t inode)
{
    struct stat of;
    return stat(path, &of) == 0 && (uint64_t)of.st_ino == inode;
}

static const opened *file_of(making *m, const sampling_map *map)
{
    for (size_t i = 0; i < m->file_count; i++)
        if (m->files[i].inode == map->inode && strcmp(m->files[i].path, map->path) == 0)
            return &m->files[i];
    bool is_there = is_file(map->path, map->inode);
    m->files = memory_grow(m->files, m->file_count + 1, sizeof *m->files);
    opened *made = &m->files[m->file_count++];
    *made =
        (opened){map->inode, map->path, is_there ? line_table_open(map->path) : NULL, *map->path == '/' && !is_there};
    return made;
}

// What was last mapped there before.
static const sampling_map *map_of(const sampling *from, const sampling_sample *sample)
{
    for (size_t i = from->map_count; i-- > 0;) {
        const sampling_map *map = &from->maps[i];
        if (map->process == sample->process && map->at_ns <= sample->at_ns && sample->address >= map->address &&
            sample->address - map->address < map->bytes)
            return map;
    }
    return NULL;
}

static void add_line(timed_lines *to, const char *file, uint32_t line)
{
    for (size_t i = 0; i < to->count; i++)
        if (to->lines[i].line == line && strcmp(to->lines[i].file, file) == 0) {
            to->lines[i].samples++;
            return;
        }
    to->lines = memory_grow(to->lines, to->count + 1, sizeof *to->lines);
    to->lines[to->count++] = (timed_line){strdup(file), line, 1};
}

// As the emitter of C names what is no line of the user's (src/emit/c).
static bool is_generated(const char *file)
{
    static const char mark[] = "slipring: ";
    return strncmp(file, mark, sizeof mark - 1) == 0;
}

static int by_samples(const void *a, const void *b)
{
    const timed_line *x = a, *y = b;
    return x->samples != y->samples ? (x->samples < y->samples) - (x->samples > y->samples)
                                    : (x->line > y->line) - (x->line < y->line);
}

void timed_lines_make(const sampling *from, uint32_t process, timed_lines *out)
{
    making m = {.from = from, .out = out};
    *out = (timed_lines){.lost = from->lost};
    memcpy(out->why_not, from->why_not, sizeof out->why_not);
    for (size_t i = 0; i < from->sample_count; i++) {
        const sampling_sample *sample = &from->samples[i];
        const char *file = "";
        if (sample->process != process)
            continue;
        const sampling_map *map = map_of(from, sample);
        const opened *code = map != NULL ? file_of(&m, map) : NULL;
        uint32_t line = code != NULL && code->table != NULL
                            ? line_table_find(code->table, sample->address - map->address + map->offset, &file)
                            : 0;
        out->samples++;
        if (line != 0 && is_generated(file))
            out->generated++;
        else if (line != 0)
            add_line(out, file, line);
        else
            ++*(code != NULL && code->is_gone ? &out->gone : &out->elsewhere);
    }
    for (size_t i = 0; i < m.file_count; i++)
        line_table_free(m.files[i].table);
    free(m.files);
    if (out->count > 0)
        qsort(out->lines, out->count, sizeof *out->lines, by_samples);
}

void timed_lines_free(timed_lines *of)
{
    for (size_t i = 0; i < of->count; i++)
        free(of->lines[i].file);
    free(of->lines);
}
