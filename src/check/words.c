// SPDX-License-Identifier: Apache-2.0
// How findings name memory, threads and variables.
#include "check/watch.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct words {
    char *text;
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void put(struct words *words, const char *format, ...)
{
    size_t room = SLRI_WORDS_BYTES - words->length;
    va_list values;
    va_start(values, format);
    int length = vsnprintf(words->text + words->length, room, format, values);
    va_end(values);
    if (length > 0)
        words->length += (size_t)length < room ? (size_t)length : room - 1;
}

// The member of a struct that a byte is in, or NULL: padding.
static const struct slri_field *field_at(const struct slri_type *type, uint64_t offset)
{
    for (uint32_t i = 0; i < type->fields; i++)
        if (offset >= type->field[i].offset && offset - type->field[i].offset < type->field[i].type->bytes)
            return &type->field[i];
    return NULL;
}

static void put_inner(struct words *words, const struct slri_type *type, uint64_t offset)
{
    while (type->kind == SLRI_ARRAY || type->kind == SLRI_STRUCT) {
        if (type->kind == SLRI_ARRAY) {
            put(words, "[%lld]", (long long)(offset / type->of->bytes));
            offset %= type->of->bytes;
            type = type->of;
            continue;
        }
        const struct slri_field *field = field_at(type, offset);
        if (field == NULL)
            return;
        put(words, ".%s", field->name);
        offset -= field->offset;
        type = field->type;
    }
}

static int64_t floor_divide(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

static const struct slri_type *type_of(const struct slri_run *run, struct slri_root root)
{
    return root.kind == SLRI_ROOT_SHARED    ? run->module->shared[root.index].type
           : root.kind == SLRI_ROOT_CONST   ? run->module->constant[root.index].type
           : root.kind == SLRI_ROOT_GLOBAL  ? run->module->global[root.index].type
           : root.kind == SLRI_ROOT_BINDING ? run->entry->binding[root.index].type
           : root.kind == SLRI_ROOT_STATE   ? run->entry->state
           : root.kind == SLRI_ROOT_MESSAGE ? run->entry->message
                                            : NULL;
}

const char *slri_words_root(const struct slri_run *run, struct slri_root root)
{
    switch (root.kind) {
    case SLRI_ROOT_SHARED:
        return run->module->shared[root.index].name;
    case SLRI_ROOT_CONST:
        return run->module->constant[root.index].name;
    case SLRI_ROOT_GLOBAL:
        return run->module->global[root.index].name;
    case SLRI_ROOT_BINDING:
        return run->entry->binding[root.index].name;
    case SLRI_ROOT_STATE:
        return "state";
    case SLRI_ROOT_MESSAGE:
        return "message";
    case SLRI_ROOT_DYNAMIC:
        return "the extern shared memory";
    default:
        return "a local array";
    }
}

const char *slri_words_element(const struct slri_run *run, struct slri_root root, uint64_t offset,
                               char out[SLRI_WORDS_BYTES])
{
    struct words words = {.text = out};
    const struct slri_type *type = type_of(run, root);
    put(&words, "%s", slri_words_root(run, root));
    if (type == NULL || type->bytes == 0) {
        put(&words, ", byte %lld", (long long)offset);
        return out;
    }
    bool is_buffer = root.kind == SLRI_ROOT_BINDING && run->entry->binding[root.index].is_buffer;
    bool is_row = type->kind == SLRI_ARRAY && (int64_t)offset >= 0 && offset < type->bytes;
    if (is_row || (!is_buffer && type->kind == SLRI_STRUCT)) {
        put_inner(&words, type, offset);
        return out;
    }
    const struct slri_type *element = type->kind == SLRI_ARRAY && !is_buffer ? type->of : type;
    int64_t index = floor_divide((int64_t)offset, (int64_t)element->bytes);
    put(&words, "[%lld]", (long long)index);
    put_inner(&words, element, (uint64_t)((int64_t)offset - index * (int64_t)element->bytes));
    return out;
}

const char *slri_words_thread(const struct slri_run *run, const struct slri_check_thread *at,
                              char out[SLRI_WORDS_BYTES])
{
    const uint32_t *t = at->thread, *b = at->block;
    bool is_flat =
        run->grid->block[1] == 1 && run->grid->block[2] == 1 && run->grid->grid[1] == 1 && run->grid->grid[2] == 1;
    if (run->entry->kind == SLRI_ENTRY_RING)
        snprintf(out, SLRI_WORDS_BYTES, "message %u", b[0]);
    else if (run->entry->kind == SLRI_ENTRY_BATCH)
        snprintf(out, SLRI_WORDS_BYTES, "the messages from %u on", b[0]);
    else if (run->entry->kind == SLRI_ENTRY_BLOCK)
        snprintf(out, SLRI_WORDS_BYTES, "thread %u of message %u's block", t[0], b[0]);
    else if (is_flat)
        snprintf(out, SLRI_WORDS_BYTES, "thread %u of block %u", t[0], b[0]);
    else
        snprintf(out, SLRI_WORDS_BYTES, "thread (%u, %u, %u) of block (%u, %u, %u)", t[0], t[1], t[2], b[0], b[1],
                 b[2]);
    return out;
}

// Which function an instruction belongs to: they lie one behind the other.
static const struct slri_function *function_of(const struct slri_run *run, const struct slri_code *code)
{
    uint32_t at = (uint32_t)(code - run->flat->code), best = 0;
    for (uint32_t i = 0; i < run->module->functions; i++)
        if (run->flat->function[i].start <= at && run->flat->function[i].start >= run->flat->function[best].start)
            best = i;
    return run->module->function[best];
}

const char *slri_words_register(const struct slri_run *run, const struct slri_code *code, slri_reg reg)
{
    const struct slri_function *function = function_of(run, code);
    return reg < function->regs ? function->reg_name[reg] : NULL;
}
