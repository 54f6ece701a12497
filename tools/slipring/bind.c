// SPDX-License-Identifier: Apache-2.0
// Bindings from the command line: finds a value for each parameter, and fills buffers.
#include "bind.h"

#include "checksum.h"
#include "memory.h"
#include "number.h"
#include "say.h"
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_MAX = 1 << 30 }; // elements that zeros:COUNT takes

typedef struct bytes {
    unsigned char *data;
    size_t count, capacity;
} bytes;

static void append(bytes *bytes, const void *from, size_t count)
{
    if (bytes->count + count > bytes->capacity) {
        bytes->capacity = 2 * (bytes->count + count);
        bytes->data = memory_grow(bytes->data, bytes->capacity, 1);
    }
    memcpy(bytes->data + bytes->count, from, count);
    bytes->count += count;
}

// What a parameter is, in the words of an error message.
static const char *describe(const slr_parameter *parameter, char *to, size_t size)
{
    if (!parameter->is_buffer)
        snprintf(to, size, "%s=VALUE (%s)", parameter->name, number_takes(parameter->scalar));
    else
        snprintf(to, size, "%s=FILE or %s=zeros:COUNT (elements of %llu bytes)", parameter->name, parameter->name,
                 (unsigned long long)parameter->element_bytes);
    return to;
}

// `option` stands in messages.
static int read_file(const char *option, const char *path, bytes *out)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        say("%s: cannot read '%s': %s", option, path, strerror(errno));
        return EXIT_FAILED;
    }
    char piece[65536];
    size_t got;
    while ((got = fread(piece, 1, sizeof piece, file)) > 0)
        append(out, piece, got);
    int failed = ferror(file);
    fclose(file);
    append(out, "", 1);
    out->count--; // the NUL is not part of it, but strtok stops there
    if (failed)
        say("%s: reading '%s' failed", option, path);
    return failed ? EXIT_FAILED : EXIT_DONE;
}

static int parse_numbers(const char *option, const slr_parameter *parameter, const char *path, bytes *text, bytes *out)
{
    char *rest = (char *)text->data;
    size_t count = 0;
    for (char *word; (word = strtok_r(rest, " \t\r\n,", &rest)) != NULL;) {
        uint64_t value;
        count++;
        if (!number_parse(parameter->scalar, word, &value)) {
            say("%s: '%s': number %zu, '%.64s', is not %s", option, path, count, word, number_takes(parameter->scalar));
            return EXIT_FAILED;
        }
        append(out, &value, number_bytes(parameter->scalar));
    }
    return EXIT_DONE;
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

// The contents of a buffer, by what the command line says.
static int load(const char *option, const slr_parameter *parameter, const char *value, bytes *out)
{
    if (ends_in(value, ".bin"))
        return read_file(option, value, out);
    if (parameter->scalar == 0) {
        say("%s: '%s' holds structs: give a .bin file, or zeros, not '%s'", option, parameter->name, value);
        return EXIT_USAGE;
    }
    bytes text = {0};
    int end = read_file(option, value, &text);
    if (end == EXIT_DONE)
        end = parse_numbers(option, parameter, value, &text, out);
    free(text.data);
    return end;
}

static int bind_zeros(const slr_parameter *parameter, const char *count_text, slr_device *device, slr_binding *out)
{
    uint32_t count;
    if (!number_parse(SLR_U32, count_text, &count) || count == 0 || count > BUFFER_MAX)
        return say_usage("--bind: %s=zeros:%s: the count is not in the range 1 to %d", parameter->name, count_text,
                         BUFFER_MAX);
    slr_status status = slr_buffer_create(device, count * parameter->element_bytes, &out->buffer);
    return status == SLR_OK ? EXIT_DONE : say_failure(status, parameter->name);
}

int bind_load(const char *option, const slr_parameter *parameter, const char *path, unsigned char **data, size_t *count)
{
    bytes contents = {0};
    int end = load(option, parameter, path, &contents);
    if (end == EXIT_DONE && (contents.count == 0 || contents.count % parameter->element_bytes != 0)) {
        say("%s: '%s' has %zu bytes, which is not a multiple of the element size, %llu bytes", option, path,
            contents.count, (unsigned long long)parameter->element_bytes);
        end = EXIT_FAILED;
    }
    *data = contents.data;
    *count = contents.count;
    return end;
}

static int bind_file(const slr_parameter *parameter, const char *path, slr_device *device, slr_binding *out)
{
    unsigned char *data;
    size_t bytes;
    int end = bind_load("--bind", parameter, path, &data, &bytes);
    if (end == EXIT_DONE) {
        slr_status status = slr_buffer_create(device, bytes, &out->buffer);
        if (status == SLR_OK)
            status = slr_buffer_write(out->buffer, 0, data, bytes);
        end = status == SLR_OK ? EXIT_DONE : say_failure(status, path);
    }
    free(data);
    return end;
}

static int bind_scalar(const slr_parameter *parameter, const char *text, uint64_t *value, slr_binding *out)
{
    if (!number_parse(parameter->scalar, text, value))
        return say_usage("--bind: %s: '%s' is not %s", parameter->name, text, number_takes(parameter->scalar));
    out->scalar = value;
    out->bytes = parameter->element_bytes;
    return EXIT_DONE;
}

// The value that was given for a name, NULL where there is none; the last one counts.
static const char *value_of(const run_list *given, const char *name)
{
    const char *value = NULL;
    size_t length = strlen(name);
    for (uint32_t i = 0; i < given->count; i++) {
        if (strncmp(given->items[i], name, length) == 0 && given->items[i][length] == '=')
            value = given->items[i] + length + 1;
    }
    return value;
}

static int check_names(const slr_handler_info *handler, const run_list *given)
{
    for (uint32_t i = 0; i < given->count; i++) {
        size_t length = strcspn(given->items[i], "=");
        bool known = false;
        for (uint32_t p = 0; p < handler->parameter_count; p++) {
            const char *name = handler->parameters[p].name;
            known = known || (strlen(name) == length && strncmp(name, given->items[i], length) == 0);
        }
        if (given->items[i][length] != '=')
            return say_usage("--bind '%s': NAME=VALUE or NAME=FILE is meant", given->items[i]);
        if (!known)
            return say_usage("--bind '%s': handler %s has no parameter with that name", given->items[i], handler->name);
    }
    return EXIT_DONE;
}

static int check_complete(const slr_handler_info *handler, const run_list *given)
{
    int end = EXIT_DONE;
    for (uint32_t p = 0; p < handler->parameter_count; p++) {
        char text[256];
        if (value_of(given, handler->parameters[p].name) != NULL)
            continue;
        say("handler %s needs --bind %s", handler->name, describe(&handler->parameters[p], text, sizeof text));
        end = EXIT_USAGE;
    }
    return end;
}

// A command has one ring kernel: what it would send has nowhere to go.
static int check_outlets(const slr_handler_info *handler)
{
    for (uint32_t p = 0; p < handler->parameter_count; p++) {
        if (handler->parameters[p].is_outlet)
            return say_usage("handler %s sends through '%s' to another ring kernel; this command has only one",
                             handler->name, handler->parameters[p].name);
    }
    return EXIT_DONE;
}

int bindings_make(bindings *bindings, slr_device *device, const slr_handler_info *handler, const run_list *given)
{
    static const char zeros[] = "zeros:";
    *bindings = (struct bindings){.count = handler->parameter_count};
    int end = check_outlets(handler);
    if (end == EXIT_DONE)
        end = check_names(handler, given);
    if (end == EXIT_DONE)
        end = check_complete(handler, given);
    bindings->items = memory_take(bindings->count, sizeof *bindings->items);
    bindings->scalars = memory_take(bindings->count, sizeof *bindings->scalars);
    for (uint32_t p = 0; p < bindings->count && end == EXIT_DONE; p++) {
        const slr_parameter *parameter = &handler->parameters[p];
        const char *value = value_of(given, parameter->name);
        slr_binding *item = &bindings->items[p];
        item->name = parameter->name;
        if (!parameter->is_buffer)
            end = bind_scalar(parameter, value, &bindings->scalars[p], item);
        else if (strncmp(value, zeros, sizeof zeros - 1) == 0)
            end = bind_zeros(parameter, value + sizeof zeros - 1, device, item);
        else
            end = bind_file(parameter, value, device, item);
    }
    return end;
}

static slr_status add_buffer(slr_buffer *buffer, uint64_t *sum)
{
    unsigned char piece[65536];
    uint64_t size = slr_buffer_size(buffer);
    slr_status status = SLR_OK;
    *sum = checksum(*sum, &size, sizeof size);
    for (uint64_t at = 0; at < size && status == SLR_OK; at += sizeof piece) {
        uint64_t now = size - at < sizeof piece ? size - at : sizeof piece;
        status = slr_buffer_read(buffer, at, piece, now);
        *sum = status == SLR_OK ? checksum(*sum, piece, now) : *sum;
    }
    return status;
}

slr_status bindings_checksum(const bindings *bindings, uint64_t *out)
{
    slr_status status = SLR_OK;
    *out = CHECKSUM_START;
    for (uint32_t i = 0; i < bindings->count && status == SLR_OK; i++) {
        const slr_binding *item = &bindings->items[i];
        *out = checksum(*out, item->name, strlen(item->name) + 1);
        if (item->buffer != NULL)
            status = add_buffer(item->buffer, out);
        else
            *out = checksum(*out, item->scalar, item->bytes);
    }
    return status;
}

void bindings_free(bindings *bindings)
{
    for (uint32_t i = 0; i < bindings->count; i++)
        slr_buffer_destroy(bindings->items[i].buffer);
    free(bindings->items);
    free(bindings->scalars);
}
