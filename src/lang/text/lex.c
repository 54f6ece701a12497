// SPDX-License-Identifier: Apache-2.0
// The lexer: C11's preprocessing tokens, without trigraphs. Bytes of zero were made spaces when the file was loaded, so
// that the end of the text is where the terminator stands.
#include "lang/text/preprocess.h"

#include <string.h>

#define INTERN_BUCKETS 16384u

struct slri_interned {
    struct slri_interned *next;
    size_t length;
    const char *text;
};

static uint32_t bucket_of_lex(const char *text, size_t length)
{
    uint32_t hash = 2166136261u; // FNV-1a
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return (hash ^ hash >> 16) % INTERN_BUCKETS;
}

const char *slri_intern(struct slri_pp *pp, const char *text, size_t length)
{
    if (!pp->interned)
        pp->interned = slri_pp_take(pp, INTERN_BUCKETS * sizeof *pp->interned);
    struct slri_interned **bucket = &pp->interned[bucket_of_lex(text, length)];
    for (struct slri_interned *entry = *bucket; entry; entry = entry->next)
        if (entry->length == length && memcmp(entry->text, text, length) == 0)
            return entry->text;
    struct slri_interned *entry = slri_pp_take(pp, sizeof *entry);
    entry->text = slri_region_text(pp->front->region, text, length);
    if (!entry->text)
        slri_pp_give_up(pp, SLR_NO_MEMORY);
    entry->length = length;
    entry->next = *bucket;
    *bucket = entry;
    return entry->text;
}

// ---- characters ----------------------------------------------------------------------------------------------------

struct cursor {
    const char *at, *line_start;
    uint32_t line, file;
};

struct lexer {
    struct slri_pp *pp;
    struct cursor cursor;
    char *spelling; // of the lexeme being read; room for the whole text
    size_t length;
    const struct slri_lexeme *before[2]; // the last lexeme and the one before it, for #include <name>
};

// A backslash at the end of a line joins the next one to it.
static void skip_splices(struct cursor *cursor)
{
    while (cursor->at[0] == '\\') {
        size_t newline = cursor->at[1] == '\r' ? 2 : 1;
        if (cursor->at[newline] != '\n')
            return;
        cursor->at += newline + 1;
        cursor->line_start = cursor->at;
        cursor->line++;
    }
}

static char peek(struct cursor *cursor)
{
    skip_splices(cursor);
    return *cursor->at;
}

static char advance(struct cursor *cursor)
{
    char c = peek(cursor);
    if (!c)
        return c;
    cursor->at++;
    if (c == '\n') {
        cursor->line_start = cursor->at;
        cursor->line++;
    }
    return c;
}

static char second(struct cursor cursor)
{
    advance(&cursor);
    return peek(&cursor);
}

static struct slri_where place(struct cursor *cursor)
{
    skip_splices(cursor);
    return (struct slri_where){cursor->file, cursor->line, (uint32_t)(cursor->at - cursor->line_start) + 1};
}

static void collect(struct lexer *lexer)
{
    lexer->spelling[lexer->length++] = advance(&lexer->cursor);
}

// Not <ctype.h>'s: those depend on the application's locale.
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name_part(char c)
{
    return is_name_start(c) || is_digit(c);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

// ---- what stands between lexemes -----------------------------------------------------------------------------------

static void skip_line_comment(struct cursor *cursor)
{
    while (peek(cursor) && peek(cursor) != '\n')
        advance(cursor);
}

static void skip_block_comment(struct lexer *lexer)
{
    struct cursor *cursor = &lexer->cursor;
    struct slri_where start = place(cursor);
    advance(cursor);
    advance(cursor);
    while (peek(cursor) && !(peek(cursor) == '*' && second(*cursor) == '/'))
        advance(cursor);
    if (!peek(cursor)) {
        slri_pp_error(lexer->pp, start, SLRI_K_UNTERMINATED_COMMENT, "this comment does not end");
        return;
    }
    advance(cursor);
    advance(cursor);
}

// Sets what the next lexeme has to know about it.
static void skip_space(struct lexer *lexer, struct slri_lexeme *next)
{
    struct cursor *cursor = &lexer->cursor;
    for (;;) {
        char c = peek(cursor);
        if (c == '\n') {
            next->first_on_line = true;
            advance(cursor);
        } else if (is_space(c)) {
            next->space_before = true;
            advance(cursor);
        } else if (c == '/' && second(*cursor) == '/') {
            skip_line_comment(cursor);
        } else if (c == '/' && second(*cursor) == '*') {
            next->space_before = true;
            skip_block_comment(lexer);
        } else {
            return;
        }
    }
}

// ---- lexemes -------------------------------------------------------------------------------------------------------

static enum slri_lexeme_kind read_name_lex(struct lexer *lexer)
{
    while (is_name_part(peek(&lexer->cursor)))
        collect(lexer);
    return SLRI_LEXEME_NAME;
}

static enum slri_lexeme_kind read_number(struct lexer *lexer)
{
    struct cursor *cursor = &lexer->cursor;
    for (;;) {
        char c = peek(cursor);
        bool is_exponent = c && strchr("eEpP", c);
        if (!is_name_part(c) && c != '.')
            return SLRI_LEXEME_NUMBER;
        collect(lexer);
        if (is_exponent && (peek(cursor) == '+' || peek(cursor) == '-'))
            collect(lexer);
    }
}

static enum slri_lexeme_kind read_quoted(struct lexer *lexer, char quote, uint8_t *problem)
{
    struct cursor *cursor = &lexer->cursor;
    collect(lexer);
    while (peek(cursor) != quote) {
        if (!peek(cursor) || peek(cursor) == '\n') {
            *problem = SLRI_K_UNTERMINATED_STRING;
            return SLRI_LEXEME_OTHER;
        }
        bool is_escape = peek(cursor) == '\\';
        collect(lexer);
        if (is_escape && peek(cursor) && peek(cursor) != '\n')
            collect(lexer);
    }
    collect(lexer);
    return quote == '"' ? SLRI_LEXEME_STRING : SLRI_LEXEME_CHAR;
}

static enum slri_lexeme_kind read_header_lex(struct lexer *lexer, uint8_t *problem)
{
    while (peek(&lexer->cursor) && peek(&lexer->cursor) != '\n') {
        collect(lexer);
        if (lexer->spelling[lexer->length - 1] == '>')
            return SLRI_LEXEME_HEADER;
    }
    *problem = SLRI_K_UNTERMINATED_STRING;
    return SLRI_LEXEME_OTHER;
}

// Longest first. The digraphs of C are the tokens that they stand for.
static const struct {
    char spelling[5], meaning[3];
} punctuators[] = {
    {"%:%:", "##"}, {"...", ""}, {"<<=", ""}, {">>=", ""}, {"<<<", ""}, {">>>", ""}, {"->", ""},  {"++", ""},
    {"--", ""},     {"<<", ""},  {">>", ""},  {"<=", ""},  {">=", ""},  {"==", ""},  {"!=", ""},  {"&&", ""},
    {"||", ""},     {"*=", ""},  {"/=", ""},  {"%=", ""},  {"+=", ""},  {"-=", ""},  {"&=", ""},  {"^=", ""},
    {"|=", ""},     {"##", ""},  {"<:", "["}, {":>", "]"}, {"<%", "{"}, {"%>", "}"}, {"%:", "#"}, {"[", ""},
    {"]", ""},      {"(", ""},   {")", ""},   {"{", ""},   {"}", ""},   {".", ""},   {"&", ""},   {"*", ""},
    {"+", ""},      {"-", ""},   {"~", ""},   {"!", ""},   {"/", ""},   {"%", ""},   {"<", ""},   {">", ""},
    {"^", ""},      {"|", ""},   {"?", ""},   {":", ""},   {";", ""},   {"=", ""},   {",", ""},   {"#", ""},
};

static bool read_punctuator(struct lexer *lexer)
{
    char ahead[5] = "";
    struct cursor cursor = lexer->cursor;
    for (int i = 0; i < 4; i++)
        ahead[i] = advance(&cursor);
    for (size_t i = 0; i < sizeof punctuators / sizeof punctuators[0]; i++) {
        const char *spelling = punctuators[i].spelling, *meaning = punctuators[i].meaning;
        size_t length = strlen(spelling);
        if (ahead[0] != spelling[0] || memcmp(ahead, spelling, length) != 0)
            continue;
        for (size_t skipped = 0; skipped < length; skipped++)
            advance(&lexer->cursor);
        const char *text = *meaning ? meaning : spelling;
        lexer->length = strlen(text);
        memcpy(lexer->spelling, text, lexer->length);
        return true;
    }
    return false;
}

// One error a character, not one for each byte of its UTF-8.
static void read_unknown(struct lexer *lexer)
{
    collect(lexer);
    while (((unsigned char)peek(&lexer->cursor) & 0xC0) == 0x80)
        collect(lexer);
}

static bool is_header_next(const struct lexer *lexer)
{
    const struct slri_lexeme *directive = lexer->before[0], *hash = lexer->before[1];
    return hash && hash->first_on_line && hash->text == lexer->pp->word.hash &&
           directive->text == lexer->pp->word.include && !directive->first_on_line;
}

static enum slri_lexeme_kind read_kind(struct lexer *lexer, struct slri_lexeme *lexeme)
{
    char c = peek(&lexer->cursor);
    if (!c)
        return SLRI_LEXEME_END_OF_FILE;
    if (is_name_start(c))
        return read_name_lex(lexer);
    if (is_digit(c) || (c == '.' && is_digit(second(lexer->cursor))))
        return read_number(lexer);
    if (c == '"' || c == '\'')
        return read_quoted(lexer, c, &lexeme->problem);
    if (c == '<' && !lexeme->first_on_line && is_header_next(lexer))
        return read_header_lex(lexer, &lexeme->problem);
    if (read_punctuator(lexer))
        return SLRI_LEXEME_PUNCT;
    read_unknown(lexer);
    lexeme->problem = SLRI_K_BAD_CHARACTER;
    return SLRI_LEXEME_OTHER;
}

static struct slri_lexeme *read_lexeme(struct lexer *lexer, bool is_first)
{
    struct slri_lexeme *lexeme = slri_pp_lexeme(lexer->pp, place(&lexer->cursor));
    lexeme->first_on_line = is_first;
    skip_space(lexer, lexeme);
    lexeme->where = place(&lexer->cursor);
    lexer->length = 0;
    lexeme->kind = read_kind(lexer, lexeme);
    lexeme->text = slri_intern(lexer->pp, lexer->spelling, lexer->length);
    lexeme->length = (uint32_t)lexer->length;
    lexer->before[1] = lexer->before[0];
    lexer->before[0] = lexeme;
    return lexeme;
}

struct slri_lexeme *slri_lex(struct slri_pp *pp, const char *text, uint32_t file)
{
    if (strncmp(text, "\xEF\xBB\xBF", 3) == 0) // a byte order mark
        text += 3;
    struct lexer lexer = {.pp = pp, .cursor = {text, text, 1, file}, .spelling = slri_pp_take(pp, strlen(text) + 8)};
    struct slri_list list = {0};
    do
        slri_list_append(&list, read_lexeme(&lexer, !list.first));
    while (list.last->kind != SLRI_LEXEME_END_OF_FILE);
    return list.first;
}
