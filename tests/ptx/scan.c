// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/scan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void skip_blank(struct ptx_scan *scan)
{
    for (;; ++scan->at) {
        if (scan->at[0] == '/' && scan->at[1] == '/')
            scan->at += strcspn(scan->at, "\n");
        scan->line += *scan->at == '\n';
        if (!isspace((unsigned char)*scan->at))
            return;
    }
}

static void put(struct ptx_scan *scan, size_t *used, char c)
{
    if (*used + 2 > scan->room) {
        scan->room = scan->room ? 2 * scan->room : 256;
        scan->text = realloc(scan->text, scan->room);
    }
    scan->text[(*used)++] = c;
    scan->text[*used] = '\0';
}

static bool is_line(const char *at)
{
    static const char *const word[] = {".version", ".target", ".address_size", ".file", ".loc ", ".section"};
    for (size_t i = 0; i < sizeof word / sizeof *word; ++i)
        if (strncmp(at, word[i], strlen(word[i])) == 0)
            return true;
    return false;
}

static bool has_word(const char *text, const char *word)
{
    const char *found = strstr(text, word);
    return found && !isalnum((unsigned char)found[strlen(word)]);
}

// Up to what ends it: a header's is the brace of its body.
static enum ptx_statement take_rest(struct ptx_scan *scan)
{
    size_t used = 0;
    bool lines = is_line(scan->at), quoted = false;
    for (; *scan->at; ++scan->at) {
        if (!quoted && scan->at[0] == '/' && scan->at[1] == '/')
            scan->at += strcspn(scan->at, "\n");
        char c = *scan->at;
        quoted ^= c == '"';
        bool is_header =
            used != 0 && scan->text[0] == '.' && (has_word(scan->text, ".entry") || has_word(scan->text, ".func"));
        if (c == ';' || (lines && c == '\n') || (is_header && c == '{') || (c == ':' && scan->text[0] == '$'))
            break;
        scan->line += c == '\n';
        if (!isspace((unsigned char)c))
            put(scan, &used, c);
        else if (used != 0 && scan->text[used - 1] != ' ')
            put(scan, &used, ' ');
    }
    while (used != 0 && scan->text[used - 1] == ' ')
        scan->text[--used] = '\0';
    scan->has_body = *scan->at == '{';
    scan->line += *scan->at == '\n';
    char end = *scan->at;
    scan->at += *scan->at != '\0';
    if (lines)
        return PTX_LINE;
    if (end == ':')
        return PTX_LABEL;
    if (scan->text[0] != '.')
        return PTX_INSTRUCTION;
    return has_word(scan->text, ".entry") || has_word(scan->text, ".func") ? PTX_HEADER : PTX_DECLARES;
}

enum ptx_statement ptx_next(struct ptx_scan *scan)
{
    size_t used = 0;
    skip_blank(scan);
    scan->begun = scan->line;
    put(scan, &used, ' ');
    scan->text[0] = '\0';
    switch (*scan->at) {
    case '\0':
        return PTX_END;
    case '{':
        ++scan->at;
        return PTX_OPENS;
    case '}':
        ++scan->at;
        return PTX_CLOSES;
    case ';':
        ++scan->at;
        return PTX_LINE; // an empty one
    default:
        return take_rest(scan);
    }
}

void ptx_scan_end(struct ptx_scan *scan)
{
    free(scan->text);
}

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

bool ptx_word(const char **at, char *word, size_t room)
{
    while (**at == ' ')
        ++*at;
    size_t used = 0;
    if (**at == '-' && isdigit((unsigned char)(*at)[1]))
        word[used++] = *(*at)++;
    while (is_of_word(**at) && used + 1 < room)
        word[used++] = *(*at)++;
    if (used == 0 && **at)
        word[used++] = *(*at)++; // a mark
    word[used] = '\0';
    return used != 0;
}

bool ptx_take(const char **at, const char *word)
{
    const char *behind = *at;
    char next[256];
    if (!ptx_word(&behind, next, sizeof next) || strcmp(next, word) != 0)
        return false;
    *at = behind;
    return true;
}
