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
