// SPDX-License-Identifier: Apache-2.0
/// The formats of `slipring run`.
#ifndef FORMAT_H
#define FORMAT_H

#include "run/reader.h"
#include "run/writer.h"

typedef struct format {
    const char *name;
    const char *suffixes[3]; // of files, until NULL
    const reader_kind *reader;
    const writer_kind *writer;
} format;

/// The format of that name, of which `length` characters are looked at; NULL: none.
const format *format_named(const char *name, size_t length);

/// The format that a file's suffix says; NULL: none, or `path` is NULL.
const format *format_of(const char *path);

#endif
