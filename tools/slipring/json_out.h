// SPDX-License-Identifier: Apache-2.0
/// JSON on its way out: objects and arrays written as they come. For what must be built without jansson, which reads.
#ifndef JSON_OUT_H
#define JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_OUT_DEPTH = 16 };

typedef struct json_out {
    FILE *to;
    unsigned depth;
    unsigned line; // the depth from which on all stands on one line; 0: nowhere
    bool filled[JSON_OUT_DEPTH];
} json_out;

/// `key` is the member's name; NULL in an array, and for the whole. An object or an array that has begun is ended.
void json_out_object(json_out *out, const char *key);
void json_out_array(json_out *out, const char *key);
void json_out_line(json_out *out, const char *key); ///< an object on one line, with all that is in it
void json_out_end_object(json_out *out);
void json_out_end_array(json_out *out);

void json_out_text(json_out *out, const char *key, const char *text); ///< UTF-8
void json_out_bool(json_out *out, const char *key, bool value);
void json_out_integer(json_out *out, const char *key, uint64_t value);
void json_out_real(json_out *out, const char *key, double value); ///< six digits; null where it is no number

#endif
