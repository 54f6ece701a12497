// SPDX-License-Identifier: Apache-2.0
// A string that grows by doubling.
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Room for `bytes` more and the NUL; false, and remembered, if there is none.
static bool reserve(slri_text *text, size_t bytes)
{
    if (text->out_of_memory || bytes > SIZE_MAX / 4 - text->length) {
        text->out_of_memory = true;
        return false;
    }
    size_t needed = text->length + bytes + 1;
    if (needed <= text->capacity)
        return true;
    size_t capacity = needed > 128 ? needed + needed / 2 : 128;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->out_of_memory = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void slri_text_append(slri_text *text, const char *piece, size_t bytes)
{
    if (!reserve(text, bytes))
        return;
    if (bytes)
        memcpy(text->data + text->length, piece, bytes);
    text->length += bytes;
    text->data[text->length] = '\0';
}

void slri_text_puts(slri_text *text, const char *piece)
{
    slri_text_append(text, piece, strlen(piece));
}

void slri_text_printf(slri_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) {
        text->out_of_memory = true; // the only way in which these formats fail
        return;
    }
    if (!reserve(text, (size_t)length))
        return;
    va_start(arguments, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

const char *slri_text_view(const slri_text *text)
{
    return text->data ? text->data : "";
}

void slri_text_clear(slri_text *text)
{
    text->length = 0;
    text->out_of_memory = false;
    if (text->data)
        text->data[0] = '\0';
}

char *slri_text_take(slri_text *text)
{
    slri_text_append(text, "", 0); // an empty text is "" too
    char *taken = NULL;
    if (!text->out_of_memory) {
        taken = text->data;
        text->data = NULL;
    }
    slri_text_free(text);
    return taken;
}

void slri_text_free(slri_text *text)
{
    free(text->data);
    *text = (slri_text)SLRI_TEXT_INIT;
}

// ---- fields of a fixed size ----------------------------------------------------------------------------------------

enum { LEAST_PATH = 48 }; // bytes that stay of a path

static const char dots[] = "...";

struct run_of_text {
    size_t at, bytes;
};

// The longest word with a slash in it; of no bytes if there is none.
static struct run_of_text longest_path(const char *text)
{
    static const char around[] = " \t\n'\"`()<>,;";
    struct run_of_text longest = {0, 0};
    for (size_t at = 0; text[at] != '\0';) {
        size_t bytes = strcspn(text + at, around);
        bool is_path = memchr(text + at, '/', bytes) || memchr(text + at, '\\', bytes);
        if (is_path && bytes > longest.bytes)
            longest = (struct run_of_text){at, bytes};
        at += bytes + strspn(text + at + bytes, around);
    }
    return longest;
}

static bool is_within_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

// Appends to `to`, of which `used` bytes are taken. The number taken then; what does not fit is left out.
static size_t put_piece(char *to, size_t room, size_t used, const char *piece, size_t bytes)
{
    if (bytes > room - 1 - used) {
        bytes = room - 1 - used;
        while (bytes > 0 && is_within_character(piece[bytes]))
            bytes--;
    }
    memcpy(to + used, piece, bytes);
    return used + bytes;
}

void slri_text_fit(char *to, size_t room, const char *text)
{
    const size_t bytes = strlen(text), mark = sizeof dots - 1;
    const struct run_of_text path = longest_path(text);
    size_t from = bytes, until = bytes; // of what is left out
    if (bytes >= room && path.bytes > LEAST_PATH + mark) {
        size_t excess = bytes - (room - 1) + mark, most = path.bytes - LEAST_PATH;
        size_t left_out = excess < most ? excess : most;
        from = path.at + (path.bytes - left_out) / 4; // more of its end stays
        until = from + left_out;
        while (from > path.at && is_within_character(text[from]))
            from--;
        while (is_within_character(text[until]))
            until++;
    }
    const bool is_cut = until > from, is_long = from + (is_cut ? mark : 0) + bytes - until >= room;
    const size_t end = is_long && room > mark ? room - mark : room; // where the dots of its end begin
    size_t used = put_piece(to, end, 0, text, from);
    if (is_cut)
        used = put_piece(to, end, used, dots, mark);
    used = put_piece(to, end, used, text + until, bytes - until);
    if (is_long && room > mark)
        used = put_piece(to, room, used, dots, mark);
    to[used] = '\0';
}
