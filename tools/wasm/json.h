// SPDX-License-Identifier: Apache-2.0
/// JSON into memory that JavaScript then reads as a string.
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
    char *text; // NULL: nothing was written yet
    size_t length, room;
    bool lacks_memory, wants_comma;
};

void json_open(struct json *to, const char *key, char bracket); // '{' or '['; `key` NULL: in an array, or the first
void json_close(struct json *to, char bracket);
void json_text(struct json *to, const char *key, const char *value); // NULL: null
void json_number(struct json *to, const char *key, double value);

/// The text with its NUL, the caller's to free; NULL: there was no memory.
char *json_take(struct json *of);

#endif
