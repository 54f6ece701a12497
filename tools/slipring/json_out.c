// SPDX-License-Identifier: Apache-2.0
#include "json_out.h"

#include "utf8.h"

#include <math.h>
#include <string.h>

static bool on_line(const json_out *out)
{
    return out->line != 0 && out->depth >= out->line;
}

// Valid JSON of any bytes: what is no UTF-8 becomes U+FFFD, and control characters do not reach a terminal.
static void put_string(json_out *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
    putc('"', out->to);
    while (at < end) {
        size_t wide = utf8_bytes(at, (size_t)(end - at));
        bool is_c1 = wide == 2 && at[0] == 0xc2 && at[1] < 0xa0;
        if (wide == 0)
            fputs("\\ufffd", out->to);
        else if (*at == '"' || *at == '\\')
            fprintf(out->to, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f || is_c1)
            fprintf(out->to, "\\u%04x", is_c1 ? at[1] : at[0]);
        else
            fwrite(at, 1, wide, out->to);
        at += wide ? wide : 1;
    }
    putc('"', out->to);
}

static void new_line(json_out *out)
{
    if (!on_line(out))
        fprintf(out->to, "\n%*s", (int)(2 * out->depth), "");
}

// What stands in front of a value.
static void begin_value(json_out *out, const char *key)
{
    if (out->depth > 0) {
        if (out->filled[out->depth])
            fputs(on_line(out) ? ", " : ",", out->to);
        out->filled[out->depth] = true;
        new_line(out);
    }
    if (key == NULL)
        return;
    put_string(out, key);
    fputs(": ", out->to);
}

static void open(json_out *out, const char *key, char bracket)
{
    begin_value(out, key);
    putc(bracket, out->to);
    if (out->depth + 1 < JSON_OUT_DEPTH)
        out->depth++;
    out->filled[out->depth] = false;
}

static void end(json_out *out, char bracket)
{
    bool filled = out->filled[out->depth], line = on_line(out);
    out->depth--;
    if (filled && !line)
        new_line(out);
    if (out->line > out->depth)
        out->line = 0;
    putc(bracket, out->to);
    if (out->depth == 0)
        putc('\n', out->to);
}

void json_out_object(json_out *out, const char *key)
{
    open(out, key, '{');
}

void json_out_array(json_out *out, const char *key)
{
    open(out, key, '[');
}

void json_out_line(json_out *out, const char *key)
{
    open(out, key, '{');
    if (out->line == 0)
        out->line = out->depth;
}

void json_out_end_object(json_out *out)
{
    end(out, '}');
}

void json_out_end_array(json_out *out)
{
    end(out, ']');
}

void json_out_text(json_out *out, const char *key, const char *text)
{
    begin_value(out, key);
    put_string(out, text);
}

void json_out_bool(json_out *out, const char *key, bool value)
{
    begin_value(out, key);
    fputs(value ? "true" : "false", out->to);
}

void json_out_integer(json_out *out, const char *key, uint64_t value)
{
    begin_value(out, key);
    fprintf(out->to, "%llu", (unsigned long long)value);
}

void json_out_real(json_out *out, const char *key, double value)
{
    begin_value(out, key);
    if (isfinite(value))
        fprintf(out->to, "%.6g", value);
    else
        fputs("null", out->to);
}
