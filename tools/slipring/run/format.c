// SPDX-License-Identifier: Apache-2.0
#include "run/format.h"

#include <string.h>

static const format formats[] = {
    {"csv", {".csv"}, &csv_reader, &csv_writer},
    {"ndjson", {".ndjson", ".jsonl"}, &json_reader, &json_writer},
    {"raw", {".raw", ".bin"}, &raw_reader, &raw_writer},
};

enum { FORMATS = sizeof formats / sizeof *formats };

const format *format_named(const char *name, size_t length)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (strlen(formats[i].name) == length && strncmp(formats[i].name, name, length) == 0)
            return &formats[i];
    }
    return NULL;
}

const format *format_of(const char *path)
{
    const char *suffix = path != NULL ? strrchr(path, '.') : NULL;
    for (size_t i = 0; suffix != NULL && i < FORMATS; i++) {
        for (size_t k = 0; formats[i].suffixes[k] != NULL; k++) {
            if (strcmp(formats[i].suffixes[k], suffix) == 0)
                return &formats[i];
        }
    }
    return NULL;
}
