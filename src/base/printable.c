// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"

#include <slipring/status.h>

#include <stdbool.h>
#include <string.h>

size_t slri_utf8_bytes(const char *text, size_t left, uint32_t *code)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    const unsigned char *at = (const unsigned char *)text;
    for (size_t bytes = 1; bytes <= 4 && bytes <= left; bytes++) {
        if ((at[0] & forms[bytes - 1].mask) != forms[bytes - 1].lead)
            continue;
        uint32_t number = at[0] & (unsigned char)~forms[bytes - 1].mask;
        for (size_t i = 1; i < bytes; i++) {
            if ((at[i] & 0xc0) != 0x80)
                return 0;
            number = number << 6 | (at[i] & 0x3f);
        }
        bool is_surrogate = number >= 0xd800 && number <= 0xdfff;
        *code = number;
        return number >= forms[bytes - 1].least && number <= 0x10ffff && !is_surrogate ? bytes : 0;
    }
    return 0;
}

// What a terminal obeys instead of showing it, or lets other text look like what it is not: controls (C0 but tab and
// line feed, DEL, C1), and characters that change the direction of text, or end a line unseen (UAX 9, UTR 36).
static bool is_shown(uint32_t code)
{
    if (code < 0x20)
        return code == '\t' || code == '\n';
    if (code < 0x7f)
        return true;
    return code >= 0xa0 && code != 0x061c && code != 0x200e && code != 0x200f && !(code >= 0x2028 && code <= 0x202e) &&
           !(code >= 0x2066 && code <= 0x2069) && code != 0xfeff;
}

struct printer {
    char *out;
    size_t room, length;
};

// All of the piece or, from the first that has no room, nothing.
static void put_printable(struct printer *to, const char *piece, size_t bytes)
{
    if (to->length + bytes < to->room)
        memcpy(to->out + to->length, piece, bytes);
    else if (to->length < to->room) {
        to->out[to->length] = '\0';
        to->room = 0;
    }
    to->length += bytes;
}

size_t slr_text_printable(const char *text, size_t bytes, char *out, size_t room)
{
    static const char digit[] = "0123456789abcdef";
    struct printer to = {out, out ? room : 0, 0};
    for (size_t at = 0; at < bytes;) {
        uint32_t code = 0;
        size_t wide = slri_utf8_bytes(text + at, bytes - at, &code);
        if (wide != 0 && is_shown(code)) {
            put_printable(&to, text + at, wide);
            at += wide;
            continue;
        }
        for (size_t end = at + (wide ? wide : 1); at < end; at++) {
            const unsigned char byte = (unsigned char)text[at];
            put_printable(&to, (const char[]){'\\', 'x', digit[byte >> 4], digit[byte & 15]}, 4);
        }
    }
    if (to.room > 0)
        to.out[to.length] = '\0';
    return to.length;
}
