// SPDX-License-Identifier: Apache-2.0
// A growing text with JSON's quotes and commas.
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct json *to, const char *text, size_t length)
{
    if (to->lacks_memory)
        return;
    if (to->length + length + 1 > to->room) {
        size_t room = 2 * (to->length + length + 1);
        char *larger = realloc(to->text, room);
        if (!larger) {
            to->lacks_memory = true;
            return;
        }
        to->text = larger;
        to->room = room;
    }
    memcpy(to->text + to->length, text, length);
    to->length += length;
    to->text[to->length] = '\0';
}

static void put_quoted(struct json *to, const char *text)
{
    put(to, "\"", 1);
    for (; *text; ++text) {
        unsigned char c = (unsigned char)*text;
        char escape[8];
        if (c >= 0x20 && c != '"' && c != '\\') {
            put(to, text, 1);
            continue;
        }
        snprintf(escape, sizeof escape, "\\u%04x", c);
        put(to, escape, 6);
    }
    put(to, "\"", 1);
}

static void begin(struct json *to, const char *key)
{
    if (to->wants_comma)
        put(to, ",", 1);
    if (key) {
        put_quoted(to, key);
        put(to, ":", 1);
    }
    to->wants_comma = true;
}

void json_open(struct json *to, const char *key, char bracket)
{
    begin(to, key);
    put(to, &bracket, 1);
    to->wants_comma = false;
}

void json_close(struct json *to, char bracket)
{
    put(to, &bracket, 1);
    to->wants_comma = true;
}

void json_text(struct json *to, const char *key, const char *value)
{
    begin(to, key);
    if (value)
        put_quoted(to, value);
    else
        put(to, "null", 4);
}

void json_number(struct json *to, const char *key, double value)
{
    char text[32];
    begin(to, key);
    snprintf(text, sizeof text, "%.17g", value);
    put(to, text, strlen(text));
}

char *json_take(struct json *of)
{
    if (!of->lacks_memory)
        return of->text;
    free(of->text);
    return NULL;
}
