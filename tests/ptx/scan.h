// SPDX-License-Identifier: Apache-2.0
// PTX as statements, and their words.
#ifndef TESTS_PTX_SCAN_H
#define TESTS_PTX_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_statement { PTX_END, PTX_OPENS, PTX_CLOSES, PTX_LABEL, PTX_LINE, PTX_HEADER, PTX_DECLARES, PTX_INSTRUCTION };

struct ptx_scan {
    const char *at;
    uint32_t line, begun; // `begun`: where the statement is
    char *text;           // the statement, blanks as one space, without its end
    size_t room;
    bool has_body; // of a header
};

enum ptx_statement ptx_next(struct ptx_scan *scan);
void ptx_scan_end(struct ptx_scan *scan);

// The next word, number or mark, copied; false at the end.
bool ptx_word(const char **at, char *word, size_t room);
// Takes it if it is next.
bool ptx_take(const char **at, const char *word);

#endif
