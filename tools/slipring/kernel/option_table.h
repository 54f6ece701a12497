// SPDX-License-Identifier: Apache-2.0
/// The options of a verb as a table: where each value goes, and who reads it.
#ifndef OPTION_TABLE_H
#define OPTION_TABLE_H

#include "kernel/source_options.h"

/// Takes the value of `option`, "--block". Returns -1, or the exit code that a mistake makes.
typedef int option_take(const char *option, const char *text, void *to);

typedef struct option_row {
    const char *name;  ///< "block"; NULL behind the last
    option_take *take; ///< NULL: it has no value, and the bool at `to` becomes true
    void *to;
} option_row;

enum { OPTION_ROWS = 24 }; // at most, with the end

/// Reads the options of `rows`, --help, and unless `source` is NULL those of files. Returns -1 where the verb shall go
/// on, with optind at what follows, else the exit code.
int option_table_read(int argc, char **argv, const option_row *rows, source_options *source, const char *help);

option_take option_take_text;       ///< const char *
option_take option_take_list;       ///< run_list
option_take option_take_u32;        ///< uint32_t
option_take option_take_u64;        ///< uint64_t
option_take option_take_shape;      ///< uint32_t[3]: X,Y,Z
option_take option_take_size;       ///< uint64_t[3]: NxMxK
option_take option_take_capability; ///< uint32_t

/// FILE.cu and NAME behind the options, both needed. Returns -1, or the exit code that a mistake makes.
int option_table_file_and_name(int argc, char **argv, const char **file, const char **name);

#endif
