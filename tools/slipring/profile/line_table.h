// SPDX-License-Identifier: Apache-2.0
/// Which source line a place in a machine-code file is from: its DWARF line table, versions 2 to 5.
#ifndef LINE_TABLE_H
#define LINE_TABLE_H

#include <stdint.h>

typedef struct line_table line_table;

/// NULL: the file cannot be read, is no ELF file of 64 bits in this machine's order, or has no line table.
line_table *line_table_open(const char *path);
void line_table_free(line_table *table);

/// The line of what lies `offset` bytes into the file; 0: none is known. `*file` is valid as long as the table.
uint32_t line_table_find(const line_table *table, uint64_t offset, const char **file);

/// Likewise of what lies `offset` bytes from where the loader put the file's first byte.
uint32_t line_table_find_loaded(const line_table *table, uint64_t offset, const char **file);

#endif
