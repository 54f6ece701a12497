// SPDX-License-Identifier: Apache-2.0
#include "utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

size_t utf8_bytes(const unsigned char *at, size_t left)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t bytes = 1; bytes <= 4 && bytes <= left; bytes++) {
        if ((at[0] & forms[bytes - 1].mask) != forms[bytes - 1].lead)
            continue;
        uint32_t code = at[0] & (unsigned char)~forms[bytes - 1].mask;
        for (size_t i = 1; i < bytes; i++) {
            if ((at[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (at[i] & 0x3f);
        }
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        return code >= forms[bytes - 1].least && code <= 0x10ffff && !surrogate ? bytes : 0;
    }
    return 0;
}

size_t utf8_json(const unsigned char *at, size_t left, char out[UTF8_JSON_MOST], size_t *wide)
{
    *wide = utf8_bytes(at, left);
    if (*wide == 0 || *at < 0x20 || *at == 0x7f) {
        *wide = 1;
        return (size_t)snprintf(out, UTF8_JSON_MOST, "\\u%04x", *at);
    }
    const size_t quoted = *at == '"' || *at == '\\';
    out[0] = '\\';
    memcpy(out + quoted, at, *wide);
    return *wide + quoted;
}
